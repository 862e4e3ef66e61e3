/* Results on their way out: see result_output.h. */
#include "tasks/result_output.h"

#include "base/output.h"
#include "tasks/output_ending.h"
#include "page/page.h"

#include <string.h>

int lode_results_write(const struct lode_call *call, const char *path, const struct lode_buffer *results,
		       struct lode_error *error)
{
	struct lode_output output;
	int code;

	if (!path || !strcmp(path, "-")) {
		/* The work is done; a reader that goes away ends it without a word. */
		call->host->hold(call->host, LODE_STOP_AT_ONCE);
		return lode_call_show(call, results, error);
	}
	if (results->failed)
		return lode_fail_memory(error);
	code = lode_output_open(&output, path, error);
	if (code)
		return code;
	lode_buffer_add(&output.buffer, results->bytes, results->size);
	return lode_output_finish(&output, error);
}

int lode_results_page(const struct lode_call *call, const char *path, const char *what,
		      const struct lode_buffer *json, struct lode_error *error)
{
	struct lode_buffer page = { 0 }, title = { 0 };
	int code = lode_page_is_there(error);

	if (code)
		return code;
	lode_buffer_print(&title, "lode %s %s", call->command->name, what);
	if (title.failed || json->failed)
		code = lode_fail_memory(error);
	if (!code) {
		lode_page_write(&page, title.bytes, call->command->name, json);
		code = lode_results_write(call, path, &page, error);
	}
	lode_buffer_release(&title);
	lode_buffer_release(&page);
	return code;
}
