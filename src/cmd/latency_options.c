/*
 * The options that `lode latency` and `lode diff` share: see latency_options.h.
 */
#include "cmd/latency_options.h"

#include "cmd/streams.h"

#include <string.h>

static int check_streams(struct lode_corpus *corpus, const struct lode_option_list *names,
			 struct lode_error *error)
{
	struct lode_corpus_list list = { 0 };
	int code = lode_corpus_streams(corpus, &list, error);

	if (!code)
		code = lode_streams_check(names, &list, lode_corpus_path(corpus), error);
	lode_corpus_list_release(&list);
	return code;
}

int lode_latency_open(struct lode_latency_reading *reading, const char *path,
		      const struct lode_latency_settings *settings, struct lode_work *work,
		      struct lode_error *error)
{
	int code;

	memset(reading, 0, sizeof(*reading));
	code = lode_corpus_open(&reading->corpus, path, LODE_CORPUS_READ, error);
	if (!code)
		code = check_streams(reading->corpus, &settings->streams, error);
	if (!code)
		code = lode_area_rules(reading->corpus, &settings->area, &reading->rules, error);
	reading->options = (struct lode_latency_options){
		.where = settings->area.where.items,
		.streams = settings->streams.items,
		.idle = settings->area.include_idle ? NULL : reading->rules,
		.jobs = (unsigned)settings->area.jobs,
		.notes = &work->notes,
		.progress = &work->bar.progress,
	};
	return code;
}

int lode_latency_read(struct lode_latency_reading *reading, const char *path,
		      const struct lode_latency_settings *settings, struct lode_work *work,
		      struct lode_error *error)
{
	int code = lode_latency_open(reading, path, settings, work, error);

	return code ? code
		    : lode_latency_collect(reading->corpus, &reading->options, &reading->latency, error);
}

void lode_latency_reading_release(struct lode_latency_reading *reading)
{
	lode_latency_release(&reading->latency);
	lode_idle_rules_free(reading->rules);
	lode_corpus_close(reading->corpus);
}
