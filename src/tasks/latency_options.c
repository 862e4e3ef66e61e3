/*
 * The options that `lode latency` and `lode diff` share: see latency_options.h.
 */
#include "tasks/latency_options.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* ---- how results are written ---- */

#define TOP 10

size_t lode_latency_top(const struct lode_latency_settings *settings, const struct lode_analysis *analysis)
{
	if (settings->top)
		return settings->top;
	return settings->all || lode_analysis_is(analysis, LODE_FORM_JSON) ? 0 : TOP;
}

int lode_latency_tree_min(const struct lode_latency_settings *settings, const char *command, uint64_t whole,
			  uint64_t *least, struct lode_error *error)
{
	const char *text = settings->tree_min ? settings->tree_min : "1%";
	char *rest;
	double share;

	if (!strchr(text, '%'))
		return lode_duration_parse_in("--tree-min", text, least, error);
	share = strtod(text, &rest);
	if (rest == text || strcmp(rest, "%") || !(share >= 0 && share <= 100))
		return lode_fail(error, LODE_USAGE,
				 "%s: '--tree-min' needs a share such as '0.5%%' or a time such as '30ms', "
				 "not '%s'. See 'lode help %s'.",
				 command, text, command);
	*least = (uint64_t)(share / 100 * (double)whole);
	return 0;
}

int lode_latency_check(const struct lode_latency_settings *settings, const char *command,
		       enum lode_latency_rule *rule, struct lode_error *error)
{
	uint64_t least;
	int code = lode_latency_tree_min(settings, command, 0, &least, error);

	*rule = (enum lode_latency_rule)lode_option_choice(settings->rule, lode_latency_rule_name);
	if (!code && settings->rule && !settings->mean)
		return lode_fail(error, LODE_USAGE,
				 "%s: '--rule' needs '--mean'. "
				 "See 'lode help %s'.",
				 command, command);
	return code;
}

/* ---- reading ---- */

int lode_latency_open(struct lode_latency_reading *reading, char *const *names, size_t count,
		      const struct lode_latency_settings *settings, struct lode_work *work,
		      struct lode_error *error)
{
	struct lode_corpus_list list = { 0 };
	int code;

	memset(reading, 0, sizeof(*reading));
	code = lode_source_open(&reading->source, names, count, &settings->area, work->call->host, error);
	if (!code)
		code = lode_source_streams(&reading->source, &settings->streams, &list, error);
	lode_notes_add(&work->notes, list.repeated, "streams are in several of the corpora and count once", NULL);
	lode_corpus_list_release(&list);
	reading->options = (struct lode_latency_options){
		.where = settings->area.where.items,
		.streams = settings->streams.items,
		.idle = settings->area.include_idle ? NULL : reading->source.rules,
		.include_work_waits = settings->area.include_work_waits,
		.keep_plumbing = settings->all_frames,
		.aggressive_end = settings->aggressive_end,
		.strict = settings->area.strict,
		.jobs = (unsigned)settings->area.jobs,
		.notes = &work->notes,
		.progress = work->progress,
	};
	return code;
}

static int keep(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	struct lode_latency_reading *reading = context;

	return lode_latency_keep(reading->source.corpus, &reading->options, rank, error);
}

static int join(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	struct lode_latency_reading *reading = context;

	return lode_latency_collect(reading->source.corpus, &reading->options, rank, &reading->latency, error);
}

int lode_latency_read(struct lode_latency_reading *reading, struct lode_error *error)
{
	return lode_host_share(reading->source.host, reading->source.corpus,
			       &(struct lode_shared_work){ keep, join, reading }, error);
}

void lode_latency_reading_release(struct lode_latency_reading *reading)
{
	lode_latency_release(&reading->latency);
	lode_source_close(&reading->source);
}
