/*
 * lode scope: what kept a thread from being done earlier. For each symptom the
 * critical path, the wait graph or the thread's own events. Streams are looked at while
 * the result is written; JSON leaves as it is made.
 */
#include "tasks/analysis.h"
#include "tasks/source.h"
#include "result/scope_longest.h"
#include "result/scope_walk.h"
#include "scope/where.h"
#include "text/symptom_list.h"

/* Symptoms, and lines of each, that are shown unless more are asked for. */
#define TOP   10
#define LINES 20
/* Symptoms in a page. */
#define PAGE_TOP 50

struct settings {
	struct lode_area_settings area; /* scope, symptoms, where, idle_rules, jobs */
	struct lode_option_list streams;
	uint64_t top;
	int all;
	struct lode_result_settings result;
};

#define FIELD(field) offsetof(struct settings, field)
#define AREA(field)  LODE_AREA_FIELD(FIELD(area), field)

static const struct lode_option options[] = {
	LODE_CHOICE("scope", 0, AREA(scope), "SCOPE", "what counts (default: critical-path)", lode_scope_choice),
	LODE_SYMPTOM_OPTION(FIELD(area)),
	LODE_WHERE_OPTION(FIELD(area)),
	LODE_STREAM_OPTION(FIELD(streams)),
	LODE_LIST("idle-rules", 0, AREA(idle_rules), "FILE",
		  "more rules for which wakers are interrupts; see lode-idle(5)"),
	LODE_NUMBER("top", 'n', FIELD(top), "N", "show so many symptoms or paths, the longest (text: 10)", 1, 0),
	LODE_FLAG("all", 'a', FIELD(all), "show all symptoms and all of each"),
	LODE_FLAG("json", 0, FIELD(result.json), "write all of it as JSON, one line a symptom"),
	LODE_FLAG("page-data", 0, FIELD(result.page_data),
		  "write what the page shows as JSON: the longest symptoms"),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE",
		  "write to FILE instead of standard output; a page if it ends in .html"),
	LODE_JOBS_OPTION(AREA(jobs)),
	LODE_NO_MORE_OPTIONS,
};

/* What the forms get. */
struct scopes {
	struct lode_source source;
	struct lode_symptom_rules rules;
	struct lode_corpus_list list;
	struct lode_scope_walk walk;
};

/* Hands the streams that are asked for to `take`. */
static int walk(struct scopes *scopes,
		int (*take)(void *to, struct lode_scope_report *report, struct lode_error *error), void *to,
		struct lode_error *error)
{
	scopes->walk.take = take;
	scopes->walk.context = to;
	return lode_scope_walk(&scopes->walk, &scopes->list, error);
}

/* ---- forms ---- */

static size_t most_symptoms(const struct settings *settings, size_t usual)
{
	return settings->all ? SIZE_MAX : settings->top ? settings->top : usual;
}

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct scopes *scopes = result;
	struct lode_symptom_list list = {
		.look = &analysis->look,
		.most = most_symptoms(settings, TOP),
		.lines = settings->all ? 0 : LINES,
		/* Only a path can be the same, and who wants to see all gets all. */
		.together = scopes->walk.options.scope == LODE_SCOPE_CRITICAL_PATH && !settings->all,
	};
	int code = walk(scopes, lode_symptom_list_add, &list, error);

	if (!code)
		lode_symptom_list_text(&list, &output->buffer);
	lode_symptom_list_release(&list);
	return code;
}

static int add_json(void *to, struct lode_scope_report *report, struct lode_error *error)
{
	return lode_scope_json(report, to, error);
}

static int write_json(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	(void)analysis;
	return walk(result, add_json, output, error);
}

static int write_page(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	struct lode_scope_longest page = { .most = most_symptoms(analysis->call->settings, PAGE_TOP) };
	int code = walk(result, lode_scope_longest_add, &page, error);

	if (!code)
		lode_scope_longest_json(&page, &output->buffer);
	lode_scope_longest_release(&page);
	return code;
}

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .flows = 1, .write = write_json },
	{ .name = "html", .extension = ".html", .kind = LODE_FORM_PAGE, .write = write_page },
	{ .name = NULL },
};

/* ---- the whole ---- */

static int open_scopes(struct scopes *scopes, struct lode_analysis *analysis, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	const struct lode_area_settings *area = &settings->area;
	int code = lode_source_operands(&scopes->source, analysis->call, area, error);

	if (!code)
		code = lode_where_check(area->where.items, error);
	if (!code)
		code = lode_symptom_rules_parse(&scopes->rules, area->symptoms.items, error);
	if (!code)
		code = lode_source_streams(&scopes->source, &settings->streams, &scopes->list, error);
	scopes->walk = (struct lode_scope_walk){
		.path = scopes->source.path,
		.options = {
			.scope = lode_scope_chosen(area->scope, LODE_SCOPE_CRITICAL_PATH),
			.rules = &scopes->rules,
			.where = area->where.items,
			.idle = scopes->source.rules,
		},
		.jobs = (unsigned)area->jobs,
		.progress = analysis->work.progress,
	};
	return code;
}

static int scope(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct lode_call *call = analysis->call;
	struct scopes scopes = { 0 };
	int code = open_scopes(&scopes, analysis, error);

	if (!code)
		code = lode_analysis_write(analysis, &scopes, error);
	if (!code && scopes.walk.without && !call->quiet)
		lode_call_say(call, LODE_YELLOW, "%llu of %llu streams have no symptom",
			      (unsigned long long)scopes.walk.without, (unsigned long long)scopes.walk.streams);
	lode_corpus_list_release(&scopes.list);
	lode_symptom_rules_release(&scopes.rules);
	lode_source_close(&scopes.source);
	return code;
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(result),
	.hold = LODE_HOLD_FILES,
	.forms = forms,
	.make = scope,
};

const struct lode_command lode_command_scope = {
	.name = "scope",
	.summary = "show what kept a thread from being done earlier",
	.usage = "[OPTIONS] CORPUS...",
	.about = "For each symptom, a thread that was too slow from one moment to another: its critical path,\n"
		 "what it ran and waited for, and what the threads that woke it were doing meanwhile; or all of\n"
		 "the wait graph, or the thread's own events. Symptoms come with the streams or are looked for.",
	.examples = "  lode scope corpus\n"
		    "  lode scope corpus --symptom 'thread ui' --stream laptop-17\n"
		    "  lode scope corpus --symptom 'wait > 200ms in app!lock' --scope graph\n"
		    "  lode scope --json corpus | jq -c '[.stream, .unknown_ns]'\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
