/* What a hunt leaves behind: see hunt_results.h. */
#include "tasks/hunt/hunt_results.h"

#include "base/memory.h"
#include "tasks/attributes.h"
#include "tasks/result_output.h"
#include "export/graphs.h"
#include "page/hunt_page.h"
#include "page/page.h"
#include "text/hunt_text.h"

#include <string.h>

int lode_hunt_results_init(struct lode_hunt_results *results, const struct lode_call *call,
			   struct lode_error *error)
{
	int code;

	*results = (struct lode_hunt_results){ .call = call };
	code = lode_hunt_outputs_read(call->settings, &results->outputs, error);
	return !code && results->outputs.html ? lode_page_is_there(error) : code;
}

int lode_hunt_results_open(struct lode_hunt_results *results, struct lode_error *error)
{
	return results->outputs.corpus
		       ? lode_corpus_open(&results->corpus, results->outputs.corpus, LODE_CORPUS_RECORD, error)
		       : 0;
}

void lode_hunt_results_changed(struct lode_hunt_results *results, uint32_t experiment)
{
	if (results->outputs.json)
		lode_hunt_line(&results->report, experiment, &results->steps);
}

/* ---- the corpus ---- */

static int store_streams(struct lode_hunt_results *results, struct lode_error *error)
{
	const struct lode_hunt_settings *settings = results->call->settings;
	const char *target = results->report.target;
	const char *name = settings->name ? settings->name : target;
	int code = lode_hunt_archive_results(results->archive, results->report.search, error);

	for (size_t i = 0; !code && i < lode_hunt_archive_count(results->archive); i++) {
		struct lode_stream *stream = lode_hunt_archive_stream(results->archive, i);

		stream->name = lode_strings_add(&stream->dictionary->frames.strings, name, strlen(name));
		if (stream->name == LODE_NONE ||
		    lode_stream_set_attribute(stream, "command", target, LODE_ATTRIBUTE_TEXT) < 0 ||
		    lode_attributes_apply(&settings->attributes, stream) < 0)
			code = lode_fail_memory(error);
	}
	return code ? code : lode_hunt_archive_store(results->archive, results->corpus, target, error);
}

/* ---- files ---- */

static int write_file(const struct lode_hunt_results *results, const char *path,
		      void (*write)(const struct lode_hunt_report *report, struct lode_buffer *buffer),
		      struct lode_error *error)
{
	struct lode_buffer buffer = { 0 };
	int code;

	if (!path)
		return 0;
	write(&results->report, &buffer);
	code = lode_results_write(results->call, path, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

/* The steps were kept as they came. */
static int write_steps(struct lode_hunt_results *results, struct lode_error *error)
{
	if (!results->outputs.json)
		return 0;
	lode_hunt_summary(&results->report, &results->steps);
	return lode_results_write(results->call, results->outputs.json, &results->steps, error);
}

int lode_hunt_results_write(struct lode_hunt_results *results, struct lode_error *error)
{
	int code = results->archive ? store_streams(results, error) : 0;

	if (!code)
		code = write_file(results, results->outputs.dot, lode_hunt_dot, error);
	if (!code)
		code = write_file(results, results->outputs.html, lode_hunt_html, error);
	if (!code)
		code = write_file(results, results->outputs.text, lode_hunt_text, error);
	return code ? code : write_steps(results, error);
}

int lode_hunt_results_show(struct lode_hunt_results *results, struct lode_error *error)
{
	const struct lode_hunt_settings *settings = results->call->settings;

	results->report.ascii = !results->call->out.look.utf8;
	return write_file(results, "-",
			  settings->json  ? lode_hunt_summary
			  : settings->all ? lode_hunt_text
					  : lode_hunt_answer,
			  error);
}

void lode_hunt_results_release(struct lode_hunt_results *results)
{
	lode_buffer_release(&results->steps);
	lode_hunt_archive_destroy(results->archive);
	lode_corpus_close(results->corpus);
}
