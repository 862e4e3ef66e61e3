/*
 * lode scope: what kept a thread from finishing earlier. For each symptom the critical
 * path, the wait graph or the thread's own events. Streams are processed while the
 * result is written; JSON is written as it is produced.
 */
#include "scope/where.h"
#include "tasks/gain_options.h"
#include "tasks/scope_forms.h"
#include "tasks/scope_without.h"

#define FIELD(field) offsetof(struct lode_scope_settings, field)
#define AREA(field)  LODE_AREA_FIELD(FIELD(area), field)

static const struct lode_option options[] = {
	LODE_CHOICE("scope", 0, AREA(scope), "SCOPE", "what counts (default: critical-path)", lode_scope_choice),
	LODE_SYMPTOM_OPTION(FIELD(area)),
	LODE_WHERE_OPTION(FIELD(area)),
	LODE_STREAM_OPTION(FIELD(streams)),
	LODE_TEXT(
		"without", 0, FIELD(without), "PATTERN[=50%]",
		"say how much earlier symptoms would end without the events of PATTERN, or with them shorter by a "
		"share: a function, 'caller;callee' (* and ?), or an id of the last 'lode mine'"),
	LODE_CPUS_OPTION(FIELD(cpus)),
	LODE_LIST("idle-rules", 0, AREA(idle_rules), "FILE",
		  "additional rules for which wakers are interrupts; see lode-idle(5)"),
	LODE_NUMBER("top", 'n', FIELD(top), "N", "show the N longest symptoms or paths (text: 10)", 1, 0),
	LODE_FLAG("all", 'a', FIELD(all), "show all symptoms, and all lines of each"),
	LODE_FLAG("json", 0, FIELD(result.json), "write everything as JSON, one line per symptom"),
	LODE_FLAG("page-data", 0, FIELD(result.page_data),
		  "write the content of the page as JSON: the longest symptoms"),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE",
		  "write to FILE instead of standard output; a page if it ends in .html"),
	LODE_JOBS_OPTION(AREA(jobs)),
	LODE_MEMORY_OPTION(AREA(memory)),
	LODE_STRICT_OPTION(AREA(strict)),
	LODE_NO_MORE_OPTIONS,
};

static int open_scopes(struct lode_scope_streams *scopes, struct lode_analysis *analysis, struct lode_error *error)
{
	const struct lode_scope_settings *settings = analysis->call->settings;
	const struct lode_area_settings *area = &settings->area;
	const char *const *symptoms = NULL;
	int code = lode_source_operands(&scopes->source, analysis->call, area, error);

	if (!code)
		code = lode_where_check_threads(area->where.items, error);
	if (!code)
		code = lode_source_symptoms(&scopes->source, area, &symptoms, error);
	if (!code)
		code = lode_symptom_rules_parse(&scopes->rules, symptoms, error);
	if (!code)
		code = lode_source_joins(&scopes->source, error);
	if (!code)
		code = lode_source_streams(&scopes->source, &settings->streams, &scopes->list, error);
	scopes->walk = (struct lode_scope_walk){
		.path = scopes->source.path,
		.options = {
			.scope = lode_scope_chosen(area->scope, LODE_SCOPE_CRITICAL_PATH),
			.rules = &scopes->rules,
			.where = area->where.items,
			.idle = scopes->source.rules,
			.joins = scopes->source.joins,
		},
		.jobs = (unsigned)area->jobs,
		.strict = area->strict,
		.notes = &analysis->work.notes,
		.progress = analysis->work.progress,
	};
	return code;
}

static const struct lode_form *forms_of(const void *of)
{
	return ((const struct lode_scope_settings *)of)->without ? lode_scope_without_forms : lode_scope_forms;
}

static int scope(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct lode_call *call = analysis->call;
	const struct lode_scope_settings *settings = call->settings;
	struct lode_scope_streams scopes = { 0 };
	int code;

	if (settings->without)
		return lode_scope_without(analysis, error);
	if (settings->cpus)
		return lode_fail(error, LODE_USAGE,
				 "scope: '--cpus' is for replays; give '--without', too. See 'lode help scope'.");
	code = open_scopes(&scopes, analysis, error);
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
	.memory = FIELD(area.memory),
	.hold = LODE_HOLD_FILES,
	.forms_of = forms_of,
	.make = scope,
};

const struct lode_command lode_command_scope = {
	.name = "scope",
	.summary = "show what kept a thread from finishing earlier",
	.usage = "[OPTIONS] CORPUS...",
	.about = "Shows, for each symptom (a thread that was too slow between two points in time), its critical "
		 "path: what it ran and waited for, and what the threads that woke it were doing meanwhile; or "
		 "the whole wait graph, or the thread's own events. Symptoms are stored with the streams, or "
		 "found by --symptom.",
	.examples = "  lode scope corpus\n"
		    "  lode scope corpus --symptom 'thread ui' --stream laptop-17\n"
		    "  lode scope corpus --symptom 'wait > 200ms in app!lock' --scope graph\n"
		    "  # what it would gain to fix something\n"
		    "  lode scope corpus --without app!read_index\n"
		    "  lode scope corpus --without 'app!refresh;libc*!read=50%'\n"
		    "  lode scope --json corpus | jq -c '[.stream, .unknown_ns]'\n",
	.options = options,
	.settings_size = sizeof(struct lode_scope_settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
