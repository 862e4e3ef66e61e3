/* The forms in which lode explain writes its result, a struct lode_explain_report. */
#include "export/graphs.h"
#include "page/explain_page.h"
#include "tasks/explain_options.h"
#include "text/explain_text.h"

LODE_FORM_WRITER(write_text, lode_explain_text)

static int write_json(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	struct lode_explain_report *report = result;

	(void)error;
	report->for_page = lode_analysis_is(analysis, LODE_FORM_PAGE);
	report->page = report->for_page ? lode_explain_page(report) : (struct lode_written){ 0 };
	lode_explain_json(report, &output->buffer);
	return 0;
}

LODE_FORM_WRITER(write_picture, lode_explain_svg)

LODE_FORM_WRITER(write_graph, lode_explain_dot)

const struct lode_form lode_explain_forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = "svg", .extension = ".svg", .kind = LODE_FORM_OTHER, .write = write_picture },
	{ .name = "html", .extension = ".html", .kind = LODE_FORM_PAGE, .write = write_json },
	{ .name = "dot", .extension = ".dot", .kind = LODE_FORM_OTHER, .write = write_graph },
	{ .name = NULL },
};
