/* The forms of lode latency: see latency_forms.h. */
#include "tasks/latency_forms.h"

#include "export/export.h"
#include "export/graphs.h"
#include "export/latency_export.h"
#include "text/latency_text.h"

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	const struct lode_latency_command_settings *settings = analysis->call->settings;
	struct lode_latency_inferred *inferred = result;

	(void)error;
	lode_latency_text(&inferred->report, settings->latency.all_frames, &analysis->look, &output->buffer);
	return 0;
}

static int write_json(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	(void)analysis;
	return lode_latency_json(&((struct lode_latency_inferred *)result)->report, output, error);
}

static int write_graph(struct lode_analysis *analysis, void *result, struct lode_output *output,
		       struct lode_error *error)
{
	const struct lode_latency_command_settings *settings = analysis->call->settings;
	struct lode_latency_inferred *inferred = result;

	(void)error;
	lode_latency_dot(&inferred->report, inferred->report.least, settings->latency.all_frames, &output->buffer);
	return 0;
}

static int write_folded(struct lode_analysis *analysis, void *result, struct lode_output *output,
			struct lode_error *error)
{
	struct lode_latency_inferred *inferred = result;

	return lode_latency_folded(&inferred->report, output, &analysis->work.notes, error);
}

static int write_pprof(struct lode_analysis *analysis, void *result, struct lode_output *output,
		       struct lode_error *error)
{
	struct lode_latency_inferred *inferred = result;

	(void)analysis;
	return lode_latency_pprof(&inferred->reading.latency, inferred->report.contexts, output, error);
}

static int write_instances(struct lode_analysis *analysis, void *result, struct lode_output *output,
			   struct lode_error *error)
{
	const struct lode_latency_command_settings *settings = analysis->call->settings;
	struct lode_latency_inferred *inferred = result;

	return lode_latency_instances_write(inferred->reading.source.corpus, &inferred->reading.options,
					    settings->latency.area.match.items,
					    lode_analysis_is(analysis, LODE_FORM_JSON), output, error);
}

/* Calls on a timeline, in the format of a viewer: the exporter of the form's name. */
static int write_timeline(struct lode_analysis *analysis, void *result, struct lode_output *output,
			  struct lode_error *error)
{
	const struct lode_latency_command_settings *settings = analysis->call->settings;
	const struct lode_exporter *exporter = lode_exporter_find(analysis->form->name, error);
	struct lode_latency_inferred *inferred = result;
	struct lode_export_options how = {
		.streams = inferred->reading.options.streams,
		.where = inferred->reading.options.where,
		.inferred = 1,
		.match = settings->latency.area.match.items,
		.notes = inferred->reading.options.notes,
		.progress = inferred->reading.options.progress,
	};

	return exporter ? lode_export_corpus(inferred->reading.source.corpus, exporter, &how, output, error)
			: LODE_USAGE;
}

/* ---- which there are ---- */

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .flows = 1, .write = write_json },
	{ .name = "html", .extension = ".html", .kind = LODE_FORM_PAGE, .write = write_json },
	{ .name = "dot", .extension = ".dot", .kind = LODE_FORM_OTHER, .write = write_graph },
	{ .name = "folded", .extension = ".folded", .kind = LODE_FORM_OTHER, .flows = 1, .write = write_folded },
	{ .name = "pprof",
	  .extension = ".pb.gz",
	  .kind = LODE_FORM_OTHER,
	  .flows = 1,
	  .binary = 1,
	  .write = write_pprof },
	{ .name = "speedscope",
	  .extension = ".speedscope.json",
	  .kind = LODE_FORM_OTHER,
	  .flows = 1,
	  .write = write_timeline },
	{ .name = "firefox",
	  .extension = ".profile.json",
	  .kind = LODE_FORM_OTHER,
	  .flows = 1,
	  .write = write_timeline },
	{ .name = "chrome", .extension = ".trace.json", .kind = LODE_FORM_OTHER, .flows = 1, .write = write_timeline },
	{ .name = NULL },
};

/* Instances are lines with tabs between their fields, regardless of the file's name. */
static const struct lode_form instance_forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .flows = 1, .write = write_instances },
	{ .name = "json", .kind = LODE_FORM_JSON, .flows = 1, .write = write_instances },
	{ .name = "tsv", .extension = ".tsv", .kind = LODE_FORM_OTHER, .flows = 1, .write = write_instances },
	{ .name = NULL },
};

const char *lode_latency_form_choice(size_t i)
{
	return lode_form_name(forms, i);
}

const struct lode_form *lode_latency_forms(const void *settings)
{
	return ((const struct lode_latency_command_settings *)settings)->instances ? instance_forms : forms;
}

int lode_latency_form_is_flat(const struct lode_form *form)
{
	return form->write == write_instances || form->write == write_timeline;
}

/* What is not ranked cannot be cut or ranked otherwise. */
static int check_ranking(const struct lode_latency_command_settings *settings, const char *what,
			 struct lode_error *error)
{
	if (settings->latency.top || settings->latency.mean)
		return lode_fail(error, LODE_USAGE,
				 "latency: %s, not ranked; leave out '%s'. See 'lode help latency'.", what,
				 settings->latency.top ? "--top" : "--mean");
	return 0;
}

int lode_latency_form_check(const struct lode_latency_command_settings *settings, const struct lode_form *form,
			    struct lode_error *error)
{
	if (settings->instances && settings->latency.result.page_data)
		return lode_fail(error, LODE_USAGE,
				 "latency: '--instances' and '--page-data' contradict each other; give one of "
				 "them. See 'lode help latency'.");
	if (settings->instances && settings->latency.result.format)
		return lode_fail(error, LODE_USAGE,
				 "latency: '--instances' writes lines, or JSON with '--json'; leave out "
				 "'--format %s'. See 'lode help latency'.",
				 settings->latency.result.format);
	if (settings->instances)
		return check_ranking(settings, "instances are written as they end", error);
	if (form->write == write_timeline)
		return check_ranking(settings, "calls on a timeline are written as they were", error);
	return form->write == write_folded || form->write == write_pprof
		       ? check_ranking(settings, "a profile holds all contexts", error)
		       : 0;
}
