/* What an analysis reads: see source.h. */
#include "tasks/source.h"

#include "scope/host_joins.h"
#include "scope/slow_requests.h"

#include "base/clock.h"
#include "base/memory.h"
#include "tasks/streams.h"
#include "store/map_cache.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Events of a stream below which reading them takes no longer than looking for what is kept. */
#define WORTH_KEEPING 10000

/* Adds CORPUS/idle.rules of each corpus that has it. */
static int add_own_rules(struct lode_source *source, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; !code && i < lode_corpus_count(source->corpus); i++) {
		char *own = lode_format("%s/idle.rules", lode_corpus_path(lode_corpus_member(source->corpus, i)));

		if (!own)
			code = lode_fail_memory(error);
		else if (!access(own, F_OK))
			code = lode_idle_rules_add(source->rules, own, 1, error);
		lode_free(own);
	}
	return code;
}

/* The built-in idle rules, those of the corpora (CORPUS/idle.rules), those of the command line. */
static int load_rules(struct lode_source *source, const struct lode_area_settings *settings,
		      struct lode_error *error)
{
	int code = lode_idle_rules_load(&source->rules, NULL, error);

	if (!code)
		code = add_own_rules(source, error);
	for (size_t i = 0; !code && i < settings->idle_rules.count; i++)
		code = lode_idle_rules_add(source->rules, settings->idle_rules.items[i], 0, error);
	return code;
}

/* Lets analyses of the corpus keep their work beside it, unless the settings forbid it. */
static int use_cache(struct lode_source *source, const struct lode_area_settings *settings,
		     struct lode_error *error)
{
	/* Processes of one job hand over all of their work. */
	const struct lode_map_cache_options options = {
		.least_events = lode_host_launched(source->host) ? 0 : WORTH_KEEPING,
		.read_only = source->host->keep == LODE_KEEP_NOTHING,
	};

	if (settings->no_cache)
		return 0;
	return lode_corpus_use_cache(source->corpus, &options) < 0 ? lode_fail_memory(error) : 0;
}

int lode_source_open(struct lode_source *source, char *const *names, size_t count,
		     const struct lode_area_settings *settings, const struct lode_host *host,
		     struct lode_error *error)
{
	int code;

	*source = (struct lode_source){ .path = names[0], .host = host };
	code = lode_corpus_open_all(&source->corpus, names, count, error);
	if (!code && lode_corpus_count(source->corpus) > 1)
		source->path = lode_corpus_title(source->corpus);
	if (!code && settings)
		code = use_cache(source, settings, error);
	return code || !settings ? code : load_rules(source, settings, error);
}

int lode_source_operands(struct lode_source *source, const struct lode_call *call,
			 const struct lode_area_settings *settings, struct lode_error *error)
{
	return lode_source_open(source, call->operands, call->operand_count, settings, call->host, error);
}

void lode_source_close(struct lode_source *source)
{
	lode_host_joins_free(source->joins);
	lode_idle_rules_free(source->rules);
	lode_corpus_close(source->corpus);
	memset(source, 0, sizeof(*source));
}

int lode_source_streams(struct lode_source *source, const struct lode_option_list *names,
			struct lode_corpus_list *list, struct lode_error *error)
{
	size_t kept = 0;
	int code;

	memset(list, 0, sizeof(*list));
	code = lode_corpus_streams(source->corpus, list, error);
	if (!code)
		code = lode_streams_check(names, list, source->path, error);
	for (size_t i = 0; i < list->count; i++)
		if (lode_stream_asked_for(names, &list->items[i]))
			list->items[kept++] = list->items[i];
	list->count = kept;
	return code;
}

void lode_source_note(struct lode_source *source, struct lode_notes *notes)
{
	struct lode_corpus_list list = { 0 };

	if (lode_corpus_count(source->corpus) > 1 && !lode_corpus_streams(source->corpus, &list, NULL))
		lode_notes_add(notes, list.repeated, "streams are in several of the corpora and count once", NULL);
	lode_corpus_list_release(&list);
}

struct collecting {
	struct lode_source *source;
	struct lode_area_reading *reading;
};

static int keep_area(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	const struct collecting *collecting = context;

	return lode_area_keep(collecting->source->corpus, &collecting->reading->options, rank, error);
}

static int join_area(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	const struct collecting *collecting = context;

	return lode_area_collect(collecting->source->corpus, &collecting->reading->options, rank,
				 &collecting->reading->area, error);
}

/* Whether the options or the streams of `list` say what was slow. */
static int is_said(const struct lode_area_settings *settings, const struct lode_corpus_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].symptoms)
			return 1;
	return settings->scope || settings->by_symptom;
}

static int say_slow(struct lode_source *source, const struct lode_area_settings *settings,
		    const char *const **symptoms, struct lode_error *error)
{
	int length = snprintf(source->slow, sizeof(source->slow), "request > %s", settings->slow);

	if (settings->symptoms.count)
		return lode_fail(error, LODE_USAGE,
				 "'--slow' and '--symptom' both say what was slow; leave out one of them");
	if (length < 0 || (size_t)length >= sizeof(source->slow))
		return lode_fail(error, LODE_USAGE, "'--slow' needs a time such as 10ms, not '%s'", settings->slow);
	source->slow_rules[0] = source->slow;
	*symptoms = source->slow_rules;
	return 0;
}

int lode_source_symptoms(struct lode_source *source, const struct lode_area_settings *settings,
			 const char *const **symptoms, struct lode_error *error)
{
	static const char *const slowest[] = { "request > 99%", NULL };
	struct lode_corpus_list list = { 0 };
	int code = 0, found = 0;

	if (settings->slow)
		return say_slow(source, settings, symptoms, error);
	*symptoms = settings->symptoms.count ? settings->symptoms.items : source->implied;
	if (settings->symptoms.count || source->asked)
		return 0;
	code = lode_corpus_streams(source->corpus, &list, error);
	if (!code && !is_said(settings, &list))
		found = lode_slow_requests_possible(&list, settings->where.items, source->rules, error);
	lode_corpus_list_release(&list);
	if (code || found < 0)
		return code ? code : found;
	source->asked = 1;
	source->implied = *symptoms = found ? slowest : NULL;
	return 0;
}

int lode_source_joins(struct lode_source *source, struct lode_error *error)
{
	if (source->has_joins)
		return 0;
	source->has_joins = 1;
	return lode_host_joins_find(&source->joins, source->corpus, error);
}

int lode_source_area(struct lode_source *source, const struct lode_area_settings *settings, unsigned kinds,
		     struct lode_work *work, struct lode_area_reading *reading, struct lode_error *error)
{
	uint64_t began = lode_now();
	const char *const *symptoms;
	int code;

	memset(reading, 0, sizeof(*reading));
	code = lode_source_symptoms(source, settings, &symptoms, error);
	if (!code && lode_scope_chosen(settings->scope, LODE_SCOPE_AUTO) != LODE_SCOPE_ALL)
		code = lode_source_joins(source, error);
	if (code)
		return code;
	if (symptoms && symptoms == source->implied && !work->call->quiet)
		lode_call_say(
			work->call, LODE_YELLOW,
			"nobody says what was slow: the slowest 1%% of requests are looked at; '--scope all' "
			"looks at everything");
	lode_source_note(source, &work->notes);
	reading->options = (struct lode_area_options){
		.scope = lode_scope_chosen(settings->scope, LODE_SCOPE_AUTO),
		.symptoms = symptoms,
		.match = settings->match.items,
		.exclude = settings->exclude.items,
		.where = settings->where.items,
		.time = settings->time,
		.idle = source->rules,
		.joins = source->joins,
		.include_idle = settings->include_idle,
		.include_work_waits = settings->include_work_waits,
		.by_symptom = settings->by_symptom,
		.chains = settings->chains,
		.ready = settings->ready,
		.by = settings->by,
		.kinds = kinds,
		.strict = settings->strict,
		.jobs = (unsigned)settings->jobs,
		.notes = &work->notes,
		.progress = work->progress,
	};
	code = lode_host_share(source->host, source->corpus,
			       &(struct lode_shared_work){ keep_area, join_area,
							   &(struct collecting){ source, reading } },
			       error);
	reading->time = lode_now() - began;
	return code;
}

void lode_area_reading_release(struct lode_area_reading *reading)
{
	lode_area_release(&reading->area);
}
