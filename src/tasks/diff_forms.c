/* The forms of lode diff: see diff_forms.h. */
#include "tasks/diff_forms.h"

#include "export/checks_forms.h"
#include "export/graphs.h"
#include "export/latency_export.h"
#include "text/diff_text.h"

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	const struct lode_diff_settings *settings = analysis->call->settings;

	(void)error;
	lode_diff_text(result, settings->latency.all_frames, &analysis->look, &output->buffer);
	return 0;
}

static int write_folded(struct lode_analysis *analysis, void *result, struct lode_output *output,
			struct lode_error *error)
{
	return lode_diff_folded(result, output, &analysis->work.notes, error);
}

static int write_json(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	(void)analysis;
	return lode_diff_json(result, output, error);
}

static int write_graph(struct lode_analysis *analysis, void *result, struct lode_output *output,
		       struct lode_error *error)
{
	const struct lode_diff_settings *settings = analysis->call->settings;
	const struct lode_diff_report *report = result;

	(void)error;
	lode_diff_dot(report, report->least, settings->latency.all_frames, &output->buffer);
	return 0;
}

#define CHECKS_WRITER(name, put)                                                                                  \
	static int name(struct lode_analysis *analysis, void *result, struct lode_output *output,                 \
			struct lode_error *error)                                                                 \
	{                                                                                                         \
		(void)analysis, (void)error;                                                                      \
		put(((const struct lode_diff_report *)result)->checks, &output->buffer);                          \
		return 0;                                                                                         \
	}

CHECKS_WRITER(write_markdown, lode_checks_markdown)
CHECKS_WRITER(write_junit, lode_checks_junit)
CHECKS_WRITER(write_sarif, lode_checks_sarif)

int lode_diff_form_needs_gate(const struct lode_form *form)
{
	return form->write == write_markdown || form->write == write_junit || form->write == write_sarif;
}

const struct lode_form lode_diff_forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .flows = 1, .write = write_json },
	{ .name = "html", .extension = ".html", .kind = LODE_FORM_PAGE, .write = write_json },
	{ .name = "dot", .extension = ".dot", .kind = LODE_FORM_OTHER, .write = write_graph },
	{ .name = "folded", .extension = ".folded", .kind = LODE_FORM_OTHER, .flows = 1, .write = write_folded },
	{ .name = "markdown", .extension = ".md", .kind = LODE_FORM_OTHER, .write = write_markdown },
	{ .name = "junit", .extension = ".xml", .kind = LODE_FORM_OTHER, .write = write_junit },
	{ .name = "sarif", .extension = ".sarif", .kind = LODE_FORM_OTHER, .write = write_sarif },
	{ .name = NULL },
};

const char *lode_diff_form_choice(size_t i)
{
	return lode_form_name(lode_diff_forms, i);
}
