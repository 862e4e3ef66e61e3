/*
 * One generated stream: its host, its attributes, then the events of its threads.
 *
 * A stream depends on the model and its own number alone, so that streams can be
 * made in any order and on any thread.
 */
#include "synth/synth_host.h"

#include <stdio.h>
#include <string.h>

/* Length of a symptom: at least a seventh of the mean, at most seven and a half times as long. */
static uint64_t plan_delay(struct lode_random *random, uint64_t mean)
{
	uint64_t delay = mean / 7 + lode_synth_random_duration(random, mean - mean / 7);

	return delay < mean * 15 / 2 ? delay : mean * 15 / 2;
}

/* Symptoms are spread evenly over the streams. */
static size_t count_symptoms(const struct lode_synth_options *options, size_t number)
{
	return (size_t)((number + 1) * options->symptoms / options->streams -
			number * options->symptoms / options->streams);
}

static int plan_symptoms(struct lode_synth_host *host)
{
	const struct lode_synth_options *options = &host->timeline.model->options;

	host->symptom_count = count_symptoms(options, host->number);
	host->delays = lode_calloc(host->symptom_count + 1, sizeof(*host->delays));
	host->shares = lode_calloc(options->bugs + 1, sizeof(*host->shares));
	if (!host->delays || !host->shares)
		return LODE_SYSTEM;
	host->length = 2 * LODE_SYNTH_SECOND;
	for (size_t i = 0; i < host->symptom_count; i++) {
		host->delays[i] = plan_delay(&host->timeline.random, options->delay);
		host->length += host->delays[i] / 4 * 5;
	}
	return 0;
}

/* Name, host and attributes; what the host has decides how stacks look. */
static int describe(struct lode_synth_host *host)
{
	static const char *const versions[] = { "4.0", "4.1", "4.2" };
	struct lode_stream *stream = host->timeline.stream;
	struct lode_random *random = &host->timeline.random;
	struct lode_synth_translator *translator = &host->timeline.translator;
	const char *version = versions[lode_synth_random_below(random, 3)];
	char name[32];

	translator->emulates = lode_synth_random_percent(random, 50);
	translator->scans = lode_synth_random_percent(random, 40);
	snprintf(name, sizeof(name), LODE_SYNTH_STREAM_NAME, host->number);
	stream->name = stream->host = lode_strings_add(&stream->dictionary->frames.strings, name, strlen(name));
	if (stream->name == LODE_NONE ||
	    lode_stream_set_attribute(stream, "version", version, LODE_ATTRIBUTE_TEXT) < 0 ||
	    lode_stream_set_number(stream, "bits", translator->emulates ? 64 : 32) < 0 ||
	    lode_stream_set_attribute(stream, "scanner", translator->scans ? "true" : "false",
				      LODE_ATTRIBUTE_BOOL) < 0 ||
	    lode_stream_set_number(stream, "files", 100 + lode_synth_random_duration(random, 5000)) < 0)
		return LODE_SYSTEM;
	return 0;
}

/* The threads of the UI part; the idle task, which has no events of its own, is the first. */
static void set_up_threads(struct lode_synth_host *host)
{
	const struct lode_synth_model *model = host->timeline.model;
	struct lode_synth_timeline *timeline = &host->timeline;

	host->pid = (uint32_t)lode_synth_random_between(&timeline->random, 2000, 30000);
	timeline->idle_task = lode_synth_actor(timeline, &model->kernel, 0, 0, "swapper", 0).thread;
	host->ui = lode_synth_actor(timeline, &model->ui, host->pid, host->pid, "folio", host->begin);
	host->worker = lode_synth_actor(timeline, &model->worker, host->pid, host->pid + 1, "folio-worker/a",
					host->begin);
	host->holder = lode_synth_actor(timeline, &model->worker, host->pid, host->pid + 2, "folio-worker/b",
					host->begin);
}

/* Room for all events at once, so that nothing is moved. */
static int reserve(struct lode_stream *stream, uint64_t waits, uint64_t runs)
{
	if (lode_events_reserve(&stream->events[LODE_WAIT], waits + 1, LODE_ALL_COLUMNS) < 0)
		return LODE_SYSTEM;
	return lode_events_reserve(&stream->events[LODE_RUN], runs + 1, LODE_ALL_COLUMNS);
}

static int add_events(struct lode_synth_host *host)
{
	const struct lode_synth_options *options = &host->timeline.model->options;
	uint64_t waits = (options->events * options->waits + 50) / 100, runs = options->events - waits;
	struct lode_synth_timeline *timeline = &host->timeline;

	if (describe(host) < 0 || plan_symptoms(host) < 0 || reserve(timeline->stream, waits, runs) < 0)
		return LODE_SYSTEM;
	set_up_threads(host);
	lode_synth_write_ui(host);
	lode_synth_add_noise(host, waits > timeline->waits ? waits - timeline->waits : 0,
			     runs > timeline->runs ? runs - timeline->runs : 0);
	host->made->events = timeline->waits + timeline->runs;
	return timeline->failed ? LODE_SYSTEM : lode_stream_sort(timeline->stream);
}

int lode_synth_stream(const struct lode_synth_model *model, size_t number, struct lode_stream *stream,
		      struct lode_synth_cost *costs, struct lode_synth_made *made, struct lode_error *error)
{
	struct lode_synth_host host = {
		.timeline = { .model = model,
			      .stream = stream,
			      .random = lode_synth_random_for(model->options.seed, 4, number) },
		.number = number,
		.costs = costs,
		.made = made,
	};
	int code;

	memset(costs, 0, model->options.bugs * sizeof(*costs));
	memset(made, 0, sizeof(*made));
	host.begin = LODE_SYNTH_SECOND * lode_synth_random_between(&host.timeline.random, 1000, 100000);
	code = lode_synth_translator_init(&host.timeline.translator, model, stream->dictionary);
	if (!code)
		code = add_events(&host);
	lode_synth_translator_release(&host.timeline.translator);
	lode_free(host.delays);
	lode_free(host.shares);
	return code < 0 ? lode_fail_memory(error) : 0;
}
