/*
 * The options that say where to look: see area_options.h.
 */
#include "cmd/area_options.h"

#include "base/memory.h"
#include "cmd/progress.h"
#include "trace/map_cache.h"

#include <string.h>
#include <unistd.h>

const char *lode_scope_choice(size_t i)
{
	return i + LODE_SCOPE_ALL < LODE_SCOPES ? lode_scope_name((enum lode_scope)(i + LODE_SCOPE_ALL)) : NULL;
}

static enum lode_scope chosen_scope(const char *name)
{
	for (int scope = LODE_SCOPE_ALL; name && scope < LODE_SCOPES; scope++)
		if (!strcmp(name, lode_scope_name((enum lode_scope)scope)))
			return (enum lode_scope)scope;
	return LODE_SCOPE_AUTO;
}

int lode_area_rules(struct lode_corpus *corpus, const struct lode_area_settings *settings,
		    struct lode_idle_rules **rules, struct lode_error *error)
{
	const char **paths = lode_calloc(settings->idle_rules.count + 2, sizeof(*paths));
	char *own = lode_format("%s/idle.rules", lode_corpus_path(corpus));
	size_t count = 0;
	int code;

	if (!paths || !own) {
		code = lode_fail_memory(error);
	} else {
		if (!access(own, F_OK))
			paths[count++] = own;
		for (size_t i = 0; i < settings->idle_rules.count; i++)
			paths[count++] = settings->idle_rules.items[i];
		code = lode_idle_rules_load(rules, paths, error);
	}
	lode_free(own);
	lode_free(paths);
	return code;
}

/* Events of a stream below which reading them takes no longer than looking for what is kept. */
#define WORTH_KEEPING 10000

int lode_area_use_cache(struct lode_corpus *corpus, const struct lode_area_settings *settings,
			struct lode_error *error)
{
	const struct lode_map_cache_options options = { .least_events = WORTH_KEEPING };

	if (settings->no_cache)
		return 0;
	return lode_corpus_use_cache(corpus, &options) < 0 ? lode_fail_memory(error) : 0;
}

int lode_area_read(struct lode_corpus *corpus, const struct lode_area_settings *settings, unsigned kinds,
		   struct lode_notes *notes, const struct lode_progress *progress,
		   struct lode_area_reading *reading, struct lode_error *error)
{
	uint64_t began = lode_now();
	int code;

	memset(reading, 0, sizeof(*reading));
	code = lode_area_use_cache(corpus, settings, error);
	if (!code)
		code = lode_area_rules(corpus, settings, &reading->rules, error);
	if (code)
		return code;
	reading->options = (struct lode_area_options){
		.scope = chosen_scope(settings->scope),
		.symptoms = settings->symptoms.items,
		.match = settings->match.items,
		.exclude = settings->exclude.items,
		.where = settings->where.items,
		.time = settings->time,
		.idle = reading->rules,
		.include_idle = settings->include_idle,
		.include_work_waits = settings->include_work_waits,
		.by_symptom = settings->by_symptom,
		.kinds = kinds,
		.jobs = (unsigned)settings->jobs,
		.notes = notes,
		.progress = progress,
	};
	code = lode_area_collect(corpus, &reading->options, &reading->area, error);
	if (code) {
		lode_idle_rules_free(reading->rules);
		reading->rules = NULL;
	}
	reading->time = lode_now() - began;
	return code;
}

void lode_area_reading_release(struct lode_area_reading *reading)
{
	lode_area_release(&reading->area);
	lode_idle_rules_free(reading->rules);
}
