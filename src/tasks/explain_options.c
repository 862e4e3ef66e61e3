/* The options of lode explain: see explain_options.h. */
#include "tasks/explain_options.h"

LODE_CHOICES(method_choice, "klinear", "spectral")

static const char *functions_choice(size_t i)
{
	return i < LODE_FAMILIES ? lode_family_name((enum lode_family)i) : NULL;
}

LODE_CHOICES(tree_choice, "cart", "optimal")

static const char *features_choice(size_t i)
{
	return i < LODE_CORPUS_FEATURES ? lode_corpus_features_name((enum lode_corpus_features)i) : NULL;
}

LODE_CHOICES(rows_choice, "streams", "symptoms", "requests")

#define FIELD(field) offsetof(struct lode_explain_settings, field)

const struct lode_option lode_explain_table[] = {
	LODE_TEXT("x", 'x', FIELD(x), "A,B", "columns, or attributes of streams, that y is a function of"),
	LODE_TEXT("y", 'y', FIELD(y), "C",
		  "what to explain: a column; for a corpus delay, run, wait, span or an attribute"),
	LODE_TEXT("clusters", 'k', FIELD(clusters), "K|auto|smallest",
		  "number of functions (default: auto); smallest: as few as --max-error allows"),
	LODE_CHOICE("method", 'm', FIELD(method), "NAME", "how to search for functions (default: klinear)",
		    method_choice),
	LODE_CHOICE("functions", 'f', FIELD(functions), "KIND",
		    "kinds of functions (default: linear and, where no column separates those, auto)",
		    functions_choice),
	LODE_CHOICE("tree", 't', FIELD(tree), "KIND", "how to build the tree (default: cart)", tree_choice),
	LODE_NUMBER("depth", 0, FIELD(depth), "N", "maximum depth of an optimal tree (default: 4)", 1, 4),
	LODE_TEXT("max-error", 0, FIELD(max_error), "E|E%",
		  "mean square error, or relative error, that is still an explanation"),
	LODE_NUMBER("folds", 0, FIELD(folds), "N", "folds of the cross-validation, 1 for none (default: 10)", 1,
		    255),
	LODE_NUMBER("seed", 0, FIELD(seed), "N", "seed of the random numbers (default: 0)", 0, 0),
	LODE_CHOICE("features", 0, FIELD(features), "KIND", "what the tree of a corpus can test (default: calls)",
		    features_choice),
	LODE_CHOICE("rows", 0, FIELD(rows), "WHAT", "what a row of a corpus is (default: streams)", rows_choice),
	LODE_AREA_OPTIONS_FROM(FIELD(area),
			       "all; critical-path with --symptom; graph with --rows symptoms or requests"),
	LODE_FLAG("json", 0, FIELD(result.json), "write the result as JSON"),
	LODE_FLAG("page-data", 0, FIELD(result.page_data),
		  "write the content of the page as JSON: more points, and words"),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE",
		  "write to FILE: a picture (.svg), a page (.html), a graph (.dot) or JSON (.json)"),
	LODE_NO_MORE_OPTIONS,
};

/* A table has no events to look at. */
static int refuse_area(const struct lode_explain_settings *settings, struct lode_error *error)
{
	const struct lode_area_settings *area = &settings->area;

	if (!settings->features && !settings->rows && !area->scope && !area->symptoms.count && !area->slow &&
	    !area->match.count && !area->exclude.count && !area->where.count && !area->time &&
	    !area->include_idle && !area->include_work_waits && !area->idle_rules.count)
		return 0;
	return lode_fail(
		error, LODE_USAGE,
		"explain: '--features', '--rows' and the options that say where to look are for a corpus, and "
		"this is a table. See 'lode help explain'.");
}

/* Latencies are those of whole streams. */
static int refuse_narrow_latency(const struct lode_explain_settings *settings, struct lode_error *error)
{
	const struct lode_area_settings *area = &settings->area;

	if (lode_option_choice(settings->features, features_choice) != LODE_FEATURES_LATENCY ||
	    (!area->scope && !area->match.count && !area->exclude.count && !area->time))
		return 0;
	return lode_fail(error, LODE_USAGE,
			 "explain: '--features latency' looks at whole streams; leave out '--scope', '--match', "
			 "'--exclude' and '--time'. See 'lode help explain'.");
}

/* Symptoms have a start, which will do for an x. */
static int rows_are_symptoms(const struct lode_explain_settings *settings)
{
	return lode_option_choice(settings->rows, rows_choice) != 0;
}

int lode_explain_settle(const struct lode_explain_settings *settings, int is_corpus,
			struct lode_explain_options *how, struct lode_error *error)
{
	int code;

	if ((!settings->x && !rows_are_symptoms(settings)) || (!settings->y && !is_corpus))
		return lode_fail(error, LODE_USAGE,
				 "explain: '--%s' is missing; say which column %s. See 'lode help explain'.",
				 settings->x ? "y" : "x",
				 settings->x ? "is to be explained" : "y is a function of");
	how->method = (enum lode_method)lode_option_choice(settings->method, method_choice);
	how->family = (enum lode_family)lode_option_choice(settings->functions, functions_choice);
	how->tree = (enum lode_tree_kind)lode_option_choice(settings->tree, tree_choice);
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

struct lode_corpus_table_options lode_explain_corpus_rows(const struct lode_explain_settings *settings,
							  struct lode_area_settings *where)
{
	static const char *requests[] = { "request", NULL };
	int by_symptom = rows_are_symptoms(settings);

	*where = settings->area;
	if (lode_option_choice(settings->rows, rows_choice) == 2 && !where->symptoms.count && !where->slow)
		where->symptoms = (struct lode_option_list){ .items = requests, .count = 1 };
	where->by_symptom = by_symptom;
	/* What makes a run slow need not be on the critical path: who holds a lock and waits in turn is not. */
	if (!where->scope && by_symptom)
		where->scope = lode_scope_name(LODE_SCOPE_GRAPH);
	else if (!where->scope && !where->symptoms.count && !where->slow)
		where->scope = lode_scope_name(LODE_SCOPE_ALL);
	return (struct lode_corpus_table_options){
		.x = settings->x,
		.y = settings->y,
		.features = (enum lode_corpus_features)lode_option_choice(settings->features, features_choice),
		.by_symptom = by_symptom,
		.where = settings->area.where.items,
		.include_work_waits = settings->area.include_work_waits,
		.jobs = (unsigned)settings->area.jobs,
	};
}
