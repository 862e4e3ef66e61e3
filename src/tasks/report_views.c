/*
 * The views of a report that other commands make: see report_views.h. Each is called as lode serve and people call it, by
 * words, so that all show the same.
 */
#include "tasks/report_views.h"

#include "base/memory.h"
#include "base/text_list.h"
#include "tasks/inner_call.h"

#include <inttypes.h>
#include <string.h>

extern const struct lode_command lode_command_scope, lode_command_latency, lode_command_coverage;

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

const struct lode_report_view lode_report_symptoms = { "scope", &lode_command_scope,
						       LIST("--page-data", "--top=5") };
const struct lode_report_view lode_report_latency = { "latency", &lode_command_latency, LIST("--page-data") };
const struct lode_report_view lode_report_coverage = { "coverage", &lode_command_coverage, LIST("--json") };

static int knows(const struct lode_report_view *view, const char *name)
{
	const struct lode_option *option = view->command->options;

	while (option->name && strcmp(option->name, name) != 0)
		option++;
	return option->name != NULL;
}

static void add_list(const struct lode_report_view *view, const char *option, const struct lode_option_list *list,
		     struct lode_text_list *words)
{
	for (size_t i = 0; i < list->count && knows(view, option); i++)
		lode_text_list_add(words, lode_format("--%s=%s", option, list->items[i]));
}

/* Not --memory: the report's own holds for everything in this process. */
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
}

int lode_report_view_make(const struct lode_report_view *view, const struct lode_call *call,
			  const struct lode_area_settings *area, const struct lode_progress *progress,
			  struct lode_buffer *json, struct lode_error *error)
{
	struct lode_text_list words = { 0 };
	int code;

	for (size_t i = 0; view->words[i]; i++)
		lode_text_list_add(&words, lode_strdup(view->words[i]));
	add_options(view, area, &words);
	lode_text_list_add(&words, lode_strdup("--"));
	for (size_t i = 0; i < call->operand_count; i++)
		lode_text_list_add(&words, lode_strdup(call->operands[i]));
	code = words.failed ? lode_fail_memory(error)
			    : lode_call_inner(call, view->command, words.count, words.items, progress, json, error);
	lode_text_list_release(&words);
	return code;
}
