/* Results on their way out: see results.h. */
#include "cmd/results.h"

#include "base/output.h"
#include "cmd/signals.h"

#include <string.h>

int lode_results_write(const struct lode_call *call, const char *path, const struct lode_buffer *results,
		       struct lode_error *error)
{
	struct lode_output output;
	int code;

	if (!path || !strcmp(path, "-")) {
		lode_signals_release(); /* the work is done; a reader that goes away ends it without a word */
		return lode_show(&call->out, results, error);
	}
	if (results->failed)
		return lode_fail_memory(error);
	code = lode_output_open(&output, path, error);
	if (code)
		return code;
	lode_buffer_add(&output.buffer, results->bytes, results->size);
	return lode_output_finish(&output, error);
}
