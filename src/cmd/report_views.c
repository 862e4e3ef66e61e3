/*
 * The views of a report that other commands make: see report_views.h. Each command runs as
 * a job, as it does for lode serve, so that both show the same.
 */
#include "cmd/report_views.h"

#include "base/memory.h"
#include "serve/jobs.h"
#include "serve/routes.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define LIST(...)     ((const char *const[]){ __VA_ARGS__, NULL })
#define BETWEEN_LOOKS 20000 /* us */

const struct lode_report_view lode_report_symptoms = { "scope", LIST("scope", "@", "--page-data", "--top=5"),
						       LIST("symptom", "where", "idle-rules", "jobs", "memory",
							    "strict") };
const struct lode_report_view lode_report_latency = { "latency", LIST("latency", "@", "--page-data"),
						      LIST("where", "match", "include-idle", "include-work-waits",
							   "idle-rules", "jobs", "memory", "strict") };
const struct lode_report_view lode_report_coverage = { "coverage", LIST("coverage", "@", "--json"),
						       LIST("symptom", "where", "include-idle", "idle-rules",
							    "jobs", "memory", "strict") };

static int knows(const struct lode_report_view *view, const char *option)
{
	size_t i = 0;

	while (view->options[i] && strcmp(view->options[i], option) != 0)
		i++;
	return view->options[i] != NULL;
}

static void add_list(const struct lode_report_view *view, const char *option, const struct lode_option_list *list,
		     struct lode_text_list *words)
{
	for (size_t i = 0; i < list->count && knows(view, option); i++)
		lode_text_list_add(words, lode_format("--%s=%s", option, list->items[i]));
}

static void add_options(const struct lode_report_view *view, const struct lode_area_settings *area,
			struct lode_text_list *words)
{
	add_list(view, "symptom", &area->symptoms, words);
	add_list(view, "where", &area->where, words);
	add_list(view, "match", &area->match, words);
	add_list(view, "idle-rules", &area->idle_rules, words);
	if (area->include_idle && knows(view, "include-idle"))
		lode_text_list_add(words, lode_strdup("--include-idle"));
	if (area->include_work_waits && knows(view, "include-work-waits"))
		lode_text_list_add(words, lode_strdup("--include-work-waits"));
	if (area->jobs)
		lode_text_list_add(words, lode_format("--jobs=%" PRIu64, area->jobs));
	if (area->strict)
		lode_text_list_add(words, lode_strdup("--strict"));
	if (area->memory)
		lode_text_list_add(words, lode_format("--memory=%s", area->memory));
}

/* What a command says begins with the program's name, as what this one says will. */
static int fail(const struct lode_job_view *state, struct lode_error *error)
{
	const char *text = state->message.bytes, prefix[] = "lode: ";
	size_t size = state->message.size,
	       skip = size > strlen(prefix) && !memcmp(text, prefix, strlen(prefix)) ? strlen(prefix) : 0;

	while (size > skip && text[size - 1] == '\n')
		size--;
	return lode_fail(error, LODE_SYSTEM, "%.*s", (int)(size - skip), text + skip);
}

static int wait_for(struct lode_jobs *jobs, const struct lode_text_list *words,
		    const struct lode_progress *progress, struct lode_buffer *json, struct lode_error *error)
{
	for (;;) {
		struct lode_job_view state;
		int code = lode_jobs_ask(jobs, words->items, &state, error);

		if (!code && state.state == LODE_JOB_FAILED)
			code = fail(&state, error);
		if (!code && state.state == LODE_JOB_DONE)
			lode_buffer_add(json, lode_shared_result_bytes(state.result),
					lode_shared_result_size(state.result));
		lode_job_view_release(&state);
		if (code || state.state == LODE_JOB_DONE)
			return code;
		if (lode_progress_report(progress, state.phase, "", state.done, state.total))
			return lode_fail(error, LODE_SYSTEM, "report: was stopped");
		usleep(BETWEEN_LOOKS);
	}
}

static void add_command(const struct lode_report_view *view, const struct lode_call *call,
			struct lode_text_list *words)
{
	for (size_t i = 0; view->words[i]; i++) {
		int is_corpora = strcmp(view->words[i], "@") == 0;

		if (!is_corpora)
			lode_text_list_add(words, lode_strdup(view->words[i]));
		for (size_t k = 0; is_corpora && k < call->operand_count; k++)
			lode_text_list_add(words, lode_strdup(call->operands[k]));
	}
}

int lode_report_view_make(const struct lode_report_view *view, const struct lode_call *call,
			  const struct lode_area_settings *area, const struct lode_progress *progress,
			  struct lode_buffer *json, struct lode_error *error)
{
	struct lode_text_list words = { 0 };
	struct lode_jobs *jobs;
	int code = lode_jobs_make(&jobs, call->operands[0], LODE_JOBS_KEEP_CACHE, error);

	if (code)
		return code;
	add_command(view, call, &words);
	add_options(view, area, &words);
	code = words.failed ? lode_fail_memory(error) : wait_for(jobs, &words, progress, json, error);
	lode_text_list_release(&words);
	lode_jobs_free(jobs);
	return code;
}
