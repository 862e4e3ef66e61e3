/*
 * From the options of an area to a plan: texts are read once, for all streams.
 */
#include "base/units.h"
#include "scope/area_stream.h"
#include "scope/symptom_claims.h"
#include "scope/where.h"

#include <string.h>

static int parse_end(const char *span, const char *text, uint64_t missing, uint64_t *t, struct lode_error *error)
{
	if (*text == '+')
		text++;
	if (!*text) {
		*t = missing;
		return 0;
	}
	return lode_duration_parse_in(span, text, t, error);
}

/* `A..B`, either may be missing; `+A..+B` counts from each stream's start. */
static int parse_time(struct lode_area_plan *plan, const char *text, struct lode_error *error)
{
	const char *dots = text ? strstr(text, "..") : NULL;
	char *from;
	int code;

	plan->to = UINT64_MAX;
	if (!text)
		return 0;
	if (!dots || (dots > text && dots[2] && (*text == '+') != (dots[2] == '+')))
		return lode_fail(error, LODE_USAGE,
				 "'%s' is not a time span; write '2s..5s' for times in the clock of the events, "
				 "'+2s..+5s' from the start of a stream",
				 text);
	from = lode_strndup(text, (size_t)(dots - text));
	if (!from)
		return lode_fail_memory(error);
	plan->relative = *text == '+' || dots[2] == '+';
	code = parse_end(text, from, 0, &plan->from, error);
	if (!code)
		code = parse_end(text, dots + 2, UINT64_MAX, &plan->to, error);
	lode_free(from);
	if (!code && plan->from > plan->to)
		return lode_fail(error, LODE_USAGE, "'%s' ends before it begins; put the earlier time first", text);
	return code;
}

enum lode_scope lode_area_scope(const struct lode_area_options *options, const struct lode_corpus_list *list)
{
	if (options->scope != LODE_SCOPE_AUTO)
		return options->scope;
	if (options->symptoms && options->symptoms[0])
		return LODE_SCOPE_CRITICAL_PATH;
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].symptoms)
			return LODE_SCOPE_CRITICAL_PATH;
	return LODE_SCOPE_ALL;
}

int lode_area_plan_make(struct lode_area_plan *plan, const struct lode_area_options *options,
			const struct lode_corpus_list *list, struct lode_error *error)
{
	int code = lode_where_check(options->where, error);

	plan->options = options;
	plan->kinds = options->kinds ? options->kinds : 1u << LODE_RUN | 1u << LODE_WAIT;
	if (!code)
		code = parse_time(plan, options->time, error);
	if (!code)
		code = lode_symptom_rules_parse(&plan->rules, options->symptoms, error);
	if (code)
		return code;
	plan->scope = lode_area_scope(options, list);
	if (plan->rules.count && plan->scope == LODE_SCOPE_ALL)
		return lode_fail(
			error, LODE_USAGE,
			"a symptom says where to look, scope 'all' looks everywhere; leave out one of them");
	if (options->ready && plan->scope != LODE_SCOPE_ALL && plan->scope != LODE_SCOPE_CRITICAL_PATH)
		return lode_fail(
			error, LODE_USAGE,
			"the time on the run queue is known of whole streams and of critical paths; use scope "
			"'all' or 'critical-path'");
	if (options->by_symptom && plan->scope == LODE_SCOPE_ALL)
		return lode_fail(
			error, LODE_USAGE,
			"scope 'all' looks at whole streams, not at one symptom; use scope 'graph', 'thread' "
			"or 'critical-path'");
	return plan->scope == LODE_SCOPE_ALL ? 0 : lode_symptom_claims_make(&plan->claims, plan, list, error);
}

void lode_area_plan_release(struct lode_area_plan *plan)
{
	lode_symptom_claims_free(plan->claims);
	lode_symptom_rules_release(&plan->rules);
}
