/*
 * lode explain: why some runs are slow and others not. Reads a table, or makes one
 * of a corpus, explains it (src/explain/) and shows it (src/text/, src/result/, src/export/);
 * here is what the options mean and where the result goes.
 */
#include "base/memory.h"
#include "tasks/analysis.h"
#include "tasks/source.h"
#include "trace/corpus_names.h"
#include "explain/corpus_table.h"
#include "explain/table_read.h"
#include "export/graphs.h"
#include "page/explain_page.h"
#include "text/explain_text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct settings {
	const char *x;
	const char *y;
	const char *clusters;
	const char *method;
	const char *functions;
	const char *tree;
	uint64_t depth;
	const char *max_error;
	uint64_t folds;
	uint64_t seed;
	const char *features;
	const char *rows;
	struct lode_area_settings area;
	struct lode_result_settings result;
};

static const char *method_choice(size_t i)
{
	return i < 2 ? (i ? "spectral" : "klinear") : NULL;
}

static const char *functions_choice(size_t i)
{
	return i < LODE_FAMILIES ? lode_family_name((enum lode_family)i) : NULL;
}

static const char *tree_choice(size_t i)
{
	return i < 2 ? (i ? "optimal" : "cart") : NULL;
}

static const char *features_choice(size_t i)
{
	return i < LODE_CORPUS_FEATURES ? lode_corpus_features_name((enum lode_corpus_features)i) : NULL;
}

static const char *rows_choice(size_t i)
{
	return i < 2 ? (i ? "symptoms" : "streams") : NULL;
}

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_TEXT("x", 'x', FIELD(x), "A,B", "columns, or attributes of streams, that y is a function of"),
	LODE_TEXT("y", 'y', FIELD(y), "C",
		  "what is to be explained: a column; of a corpus delay, run, wait, span or an attribute"),
	LODE_TEXT("clusters", 'k', FIELD(clusters), "K|auto|smallest",
		  "number of functions (default: auto); smallest: as few as --max-error allows"),
	LODE_CHOICE("method", 'm', FIELD(method), "NAME", "how functions are looked for (default: klinear)",
		    method_choice),
	LODE_CHOICE("functions", 'f', FIELD(functions), "KIND", "kinds of functions (default: linear)",
		    functions_choice),
	LODE_CHOICE("tree", 't', FIELD(tree), "KIND", "how the tree is made (default: cart)", tree_choice),
	LODE_NUMBER("depth", 0, FIELD(depth), "N", "deepest optimal tree (default: 4)", 1, 4),
	LODE_TEXT("max-error", 0, FIELD(max_error), "E|E%",
		  "mean square error, or relative error, that is still an explanation"),
	LODE_NUMBER("folds", 0, FIELD(folds), "N", "folds of the cross-validation, 1 for none (default: 10)", 1, 255),
	LODE_NUMBER("seed", 0, FIELD(seed), "N", "start of the random numbers (default: 0)", 0, 0),
	LODE_CHOICE("features", 0, FIELD(features), "KIND",
		    "what is known of the streams of a corpus (default: calls)", features_choice),
	LODE_CHOICE("rows", 0, FIELD(rows), "WHAT", "what of a corpus is a row (default: streams)", rows_choice),
	LODE_AREA_OPTIONS_FROM(FIELD(area), "all; critical-path with --symptom; graph with --rows symptoms"),
	LODE_FLAG("json", 0, FIELD(result.json), "write the result as JSON"),
	LODE_FLAG("page-data", 0, FIELD(result.page_data), "write what the page shows as JSON: more points, and words"),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE",
		  "write to FILE; .svg, .html, .dot and .json make it a picture, a page, a graph, JSON"),
	LODE_NO_MORE_OPTIONS,
};

/* ---- options ---- */

/* Which choice it is; the first where none was made. */
static unsigned chosen(const char *value, const char *(*choice)(size_t i))
{
	unsigned i = 0;

	while (value && choice(i) && strcmp(choice(i), value))
		i++;
	return i;
}

/* A table has no events to look at. */
static int refuse_area(const struct settings *settings, struct lode_error *error)
{
	const struct lode_area_settings *area = &settings->area;

	if (!settings->features && !settings->rows && !area->scope && !area->symptoms.count && !area->match.count &&
	    !area->exclude.count && !area->where.count && !area->time && !area->include_idle &&
	    !area->include_work_waits &&
	    !area->idle_rules.count)
		return 0;
	return lode_fail(error, LODE_USAGE,
			 "explain: '--features', '--rows' and the options that say where to look are for a corpus, and "
			 "this is a table. See 'lode help explain'.");
}

/* Latencies are those of whole streams. */
static int refuse_narrow_latency(const struct settings *settings, struct lode_error *error)
{
	const struct lode_area_settings *area = &settings->area;

	if (chosen(settings->features, features_choice) != LODE_FEATURES_LATENCY ||
	    (!area->scope && !area->match.count && !area->exclude.count && !area->time))
		return 0;
	return lode_fail(error, LODE_USAGE,
			 "explain: '--features latency' looks at whole streams; leave out '--scope', '--match', "
			 "'--exclude' and '--time'. See 'lode help explain'.");
}

static int read_options(const struct settings *settings, int is_corpus, struct lode_explain_options *how,
			struct lode_error *error)
{
	int code;

	if (!settings->x || (!settings->y && !is_corpus))
		return lode_fail(error, LODE_USAGE,
				 "explain: '--%s' is missing; say which column %s. See 'lode help explain'.",
				 settings->x ? "y" : "x",
				 settings->x ? "is to be explained" : "y is a function of");
	how->method = (enum lode_method)chosen(settings->method, method_choice);
	how->family = (enum lode_family)chosen(settings->functions, functions_choice);
	how->tree = (enum lode_tree_kind)chosen(settings->tree, tree_choice);
	if (settings->depth)
		how->depth = (unsigned)settings->depth;
	if (settings->folds)
		how->folds = settings->folds == 1 ? 0 : (unsigned)settings->folds;
	how->seed = settings->seed;
	how->jobs = (unsigned)settings->area.jobs;
	code = is_corpus ? refuse_narrow_latency(settings, error) : refuse_area(settings, error);
	if (code == 0)
		code = lode_explain_clusters(settings->clusters, how, error);
	if (code == 0)
		code = lode_explain_max_error(settings->max_error, how, error);
	return code < 0 ? code : lode_explain_check(how, error);
}

/* ---- forms ---- */

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	(void)analysis, (void)error;
	lode_explain_text(result, &output->buffer);
	return 0;
}

static int write_json(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	struct lode_explain_report *report = result;

	(void)error;
	report->page = lode_analysis_is(analysis, LODE_FORM_PAGE) ? lode_explain_page_json : NULL;
	lode_explain_json(report, &output->buffer);
	return 0;
}

static int write_picture(struct lode_analysis *analysis, void *result, struct lode_output *output,
			 struct lode_error *error)
{
	(void)analysis, (void)error;
	lode_explain_svg(result, &output->buffer);
	return 0;
}

static int write_graph(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	(void)analysis, (void)error;
	lode_explain_dot(result, &output->buffer);
	return 0;
}

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = "svg", .extension = ".svg", .kind = LODE_FORM_OTHER, .write = write_picture },
	{ .name = "html", .extension = ".html", .kind = LODE_FORM_PAGE, .write = write_json },
	{ .name = "dot", .extension = ".dot", .kind = LODE_FORM_OTHER, .write = write_graph },
	{ .name = NULL },
};

/* ---- all together ---- */

/* Says on standard error what a person must know beside the result. Exit status 1 where a bound was broken. */
static int conclude(const struct lode_call *call, const struct lode_explain_options *how,
		    const struct lode_explanation *explanation)
{
	double is = how->max_error_relative ? 100 * explanation->relative_error : explanation->mean_square;

	if (explanation->within)
		return 0;
	if (how->smallest)
		lode_call_say(call, LODE_YELLOW, "%u functions are not within the bound: their %s error is %.4g%s",
			 explanation->clusters, how->max_error_relative ? "relative" : "mean square",
			 (how->max_error_relative ? 100 : 1) * explanation->clustering_error,
			 how->max_error_relative ? "%" : "");
	else if (!explanation->explained)
		lode_call_say(call, LODE_YELLOW, "no tree tells the clusters apart");
	else
		lode_call_say(call, LODE_YELLOW, "no tree within the bound: the %s error is %.4g%s",
			 how->max_error_relative ? "relative" : "mean square", is,
			 how->max_error_relative ? "%" : "");
	return LODE_FOUND;
}

/* Explains and writes it; input->auxiliary is freed. `area`: of a corpus, else NULL. */
static int explain_input(struct lode_analysis *analysis, struct lode_explain_input *input, const struct lode_area *area,
		   const struct lode_explain_options *how, struct lode_error *error)
{
	struct lode_explanation explanation;
	struct lode_explain_report report = {
		.input = input,
		.explanation = &explanation,
		.area = area,
		.width = analysis->look.width,
		.ascii = !analysis->look.utf8,
	};
	int code = lode_explain(input, how, &explanation, error);

	if (code == 0) {
		analysis->title = input->name;
		code = lode_analysis_write(analysis, &report, error);
		if (code == 0)
			code = conclude(analysis->call, how, &explanation);
		lode_explanation_release(&explanation);
	}
	lode_free(input->auxiliary);
	return code;
}

static int read_table(const char *path, struct lode_data_table *table, struct lode_error *error)
{
	struct lode_input *input;
	int code = lode_input_open(&input, path, error);

	if (code < 0)
		return code;
	code = lode_data_table_read(table, input, error);
	lode_input_close(input);
	return code;
}

static int explain_table(struct lode_analysis *analysis, const struct lode_explain_options *how,
			 struct lode_error *error)
{
	const struct lode_call *call = analysis->call;
	const struct settings *settings = call->settings;
	struct lode_explain_input input;
	struct lode_data_table table;
	int code = read_table(call->operands[0], &table, error);

	if (code < 0)
		return code;
	code = lode_explain_columns(&input, &table, call->operands[0], settings->x, settings->y, error);
	if (code == 0)
		code = explain_input(analysis, &input, NULL, how, error);
	lode_data_table_release(&table);
	return code;
}

/* Makes the table of a corpus. The area stays with the caller, who may want to name its streams. */
static int collect_table(const struct settings *settings, struct lode_source *source, struct lode_work *work,
			 struct lode_area_reading *reading, struct lode_data_table *table,
			 struct lode_explain_input *input, struct lode_error *error)
{
	struct lode_area_settings where = settings->area;
	struct lode_corpus_table_options how = {
		.x = settings->x,
		.y = settings->y,
		.features = (enum lode_corpus_features)chosen(settings->features, features_choice),
		.by_symptom = chosen(settings->rows, rows_choice) == 1,
		.where = settings->area.where.items,
		.idle = settings->area.include_idle ? NULL : source->rules,
		.include_work_waits = settings->area.include_work_waits,
		.jobs = (unsigned)settings->area.jobs,
		.notes = &work->notes,
		.progress = work->progress,
	};
	int code;

	/* What makes a run slow need not lie on the critical path: who holds a lock and waits in turn does not. */
	where.by_symptom = how.by_symptom;
	if (!where.scope && how.by_symptom)
		where.scope = lode_scope_name(LODE_SCOPE_GRAPH);
	else if (!where.scope && !where.symptoms.count)
		where.scope = lode_scope_name(LODE_SCOPE_ALL);
	code = lode_source_area(source, &where, 0, work, reading, error);
	return code ? code : lode_corpus_table_make(source->corpus, &reading->area, &how, table, input, error);
}

static int explain_corpus(struct lode_analysis *analysis, const struct lode_explain_options *how,
			  struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_area_reading reading = { 0 };
	struct lode_explain_input input;
	struct lode_data_table table;
	struct lode_source source;
	int code = lode_source_operands(&source, analysis->call, &settings->area, error);

	if (code == 0)
		code = collect_table(settings, &source, &analysis->work, &reading, &table, &input, error);
	lode_work_pause(&analysis->work);
	if (code == 0) {
		code = explain_input(analysis, &input, &reading.area, how, error);
		lode_data_table_release(&table);
	}
	lode_area_reading_release(&reading);
	lode_source_close(&source);
	return code;
}

/* A table or a corpus that is not there is wrong input in either case. */
static int look_at(const char *path, int *is_folder, struct lode_error *error)
{
	struct stat status;
	int found = !stat(path, &status);

	*is_folder = (found && S_ISDIR(status.st_mode)) || (!found && lode_corpus_name_is_list(path));
	if (*is_folder)
		return 0;
	if (found || errno != ENOENT || !strcmp(path, "-"))
		return 0;
	return lode_fail(error, LODE_BAD_INPUT, "%s: cannot be read: %s; name a table or a corpus", path,
			 strerror(errno));
}

static int explain(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct lode_call *call = analysis->call;
	struct lode_explain_options how;
	int is_corpus;
	int code = look_at(call->operands[0], &is_corpus, error);

	lode_explain_defaults(&how);
	how.notes = &analysis->work.notes;
	if (code == 0 && !is_corpus && call->operand_count > 1)
		code = lode_fail(error, LODE_USAGE, "explain: '%s' is a table, and only corpora are joined; name one table. "
				 "See 'lode help explain'.", call->operands[0]);
	if (code == 0)
		code = read_options(call->settings, is_corpus, &how, error);
	if (code < 0)
		return code;
	return is_corpus ? explain_corpus(analysis, &how, error) : explain_table(analysis, &how, error);
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(result),
	.forms = forms,
	.make = explain,
};

const struct lode_command lode_command_explain = {
	.name = "explain",
	.summary = "tell why some runs are slow and others not",
	.usage = "[OPTIONS] --x A,B [--y C] TABLE|CORPUS...",
	.about = "TABLE (CSV or ARFF, packed or not) has a row for each run; of CORPUS, each stream is one. Finds the\n"
		 "few functions of x that y follows, and a small tree over all other columns, or over the functions\n"
		 "that were called, that says which runs follow which.",
	.examples = "  lode explain runs.csv --x size --y time\n"
		    "  lode explain runs.csv.gz --x size,depth --y time --clusters 3 --functions auto\n"
		    "  lode explain runs.arff --x size --y time -o runs.svg\n"
		    "  lode explain corpus --x size\n"
		    "  lode explain corpus --x size --y time_ms --features patterns\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "TABLE|CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
