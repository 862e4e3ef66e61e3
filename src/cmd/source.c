/* What an analysis reads: see source.h. */
#include "cmd/source.h"

#include "base/memory.h"
#include "cmd/streams.h"
#include "trace/map_cache.h"

#include <string.h>
#include <unistd.h>

/* Events of a stream below which reading them takes no longer than looking for what is kept. */
#define WORTH_KEEPING 10000

/* The built-in idle rules, those of the corpus (CORPUS/idle.rules), those of the command line. */
static int load_rules(struct lode_source *source, const struct lode_area_settings *settings, struct lode_error *error)
{
	const char **paths = lode_calloc(settings->idle_rules.count + 2, sizeof(*paths));
	char *own = lode_format("%s/idle.rules", lode_corpus_path(source->corpus));
	size_t count = 0;
	int code;

	if (!paths || !own) {
		code = lode_fail_memory(error);
	} else {
		if (!access(own, F_OK))
			paths[count++] = own;
		for (size_t i = 0; i < settings->idle_rules.count; i++)
			paths[count++] = settings->idle_rules.items[i];
		code = lode_idle_rules_load(&source->rules, paths, error);
	}
	lode_free(own);
	lode_free(paths);
	return code;
}

/* Lets analyses of the corpus keep their work beside it, unless the settings forbid it. */
static int use_cache(struct lode_source *source, const struct lode_area_settings *settings, struct lode_error *error)
{
	const struct lode_map_cache_options options = { .least_events = WORTH_KEEPING };

	if (settings->no_cache)
		return 0;
	return lode_corpus_use_cache(source->corpus, &options) < 0 ? lode_fail_memory(error) : 0;
}

int lode_source_open(struct lode_source *source, const char *path, const struct lode_area_settings *settings,
		     struct lode_error *error)
{
	int code;

	*source = (struct lode_source){ .path = path };
	code = lode_corpus_open(&source->corpus, path, LODE_CORPUS_READ, error);
	if (!code && settings)
		code = use_cache(source, settings, error);
	return code || !settings ? code : load_rules(source, settings, error);
}

void lode_source_close(struct lode_source *source)
{
	lode_idle_rules_free(source->rules);
	lode_corpus_close(source->corpus);
	memset(source, 0, sizeof(*source));
}

int lode_source_streams(struct lode_source *source, const struct lode_option_list *names,
			struct lode_corpus_list *list, struct lode_error *error)
{
	int code;

	memset(list, 0, sizeof(*list));
	code = lode_corpus_streams(source->corpus, list, error);
	return code ? code : lode_streams_check(names, list, source->path, error);
}

int lode_source_area(struct lode_source *source, const struct lode_area_settings *settings, unsigned kinds,
		     struct lode_work *work, struct lode_area_reading *reading, struct lode_error *error)
{
	uint64_t began = lode_now();
	int code;

	memset(reading, 0, sizeof(*reading));
	reading->options = (struct lode_area_options){
		.scope = lode_scope_chosen(settings->scope, LODE_SCOPE_AUTO),
		.symptoms = settings->symptoms.items,
		.match = settings->match.items,
		.exclude = settings->exclude.items,
		.where = settings->where.items,
		.time = settings->time,
		.idle = source->rules,
		.include_idle = settings->include_idle,
		.include_work_waits = settings->include_work_waits,
		.by_symptom = settings->by_symptom,
		.kinds = kinds,
		.jobs = (unsigned)settings->jobs,
		.notes = &work->notes,
		.progress = &work->bar.progress,
	};
	code = lode_area_collect(source->corpus, &reading->options, &reading->area, error);
	reading->time = lode_now() - began;
	return code;
}

void lode_area_reading_release(struct lode_area_reading *reading)
{
	lode_area_release(&reading->area);
}
