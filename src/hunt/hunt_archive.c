/* Hunt archive: see hunt_archive.h. The meter's names of processes and threads begin with their numbers. */
#include "hunt/hunt_archive.h"

#include "base/id_array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread of the meter, and of the stream. */
struct thread {
	uint32_t number;
	uint32_t thread;
};

struct host {
	uint32_t number;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	uint32_t *frames; /* by function; LODE_NONE: not requested yet */
	size_t frame_capacity;
	struct thread *threads;
	size_t thread_count;
	size_t thread_capacity;
	struct lode_index thread_index; /* by the meter's number */
};

struct lode_hunt_archive {
	struct lode_meter *meter;
	struct host **hosts;
	size_t count;
	size_t capacity;
};

int lode_hunt_archive_create(struct lode_hunt_archive **archive, struct lode_meter *meter, struct lode_error *error)
{
	*archive = lode_calloc(1, sizeof(**archive));
	if (!*archive)
		return lode_fail_memory(error);
	(*archive)->meter = meter;
	return 0;
}

static void release_host(struct host *host)
{
	lode_stream_release(&host->stream);
	lode_dictionary_release(&host->dictionary);
	lode_free(host->frames);
	lode_free(host->threads);
	lode_index_release(&host->thread_index);
	lode_free(host);
}

void lode_hunt_archive_destroy(struct lode_hunt_archive *archive)
{
	if (!archive)
		return;
	for (size_t i = 0; i < archive->count; i++)
		release_host(archive->hosts[i]);
	lode_free(archive->hosts);
	lode_free(archive);
}

/* ---- numbers ---- */

static const char *name_of(struct lode_hunt_archive *archive, enum lode_focus_axis axis, uint32_t number)
{
	const char *name = archive->meter->operations->name(archive->meter, axis, number);

	return name ? name : "";
}

static struct host *add_host(struct lode_hunt_archive *archive, uint32_t number)
{
	struct host *host = lode_calloc(1, sizeof(*host));
	const char *name;

	if (!host)
		return NULL;
	host->number = number;
	if (lode_dictionary_init(&host->dictionary) < 0 ||
	    LODE_GROW(archive->hosts, archive->capacity, archive->count + 1) < 0) {
		release_host(host);
		return NULL;
	}
	lode_stream_init(&host->stream, &host->dictionary);
	archive->hosts[archive->count++] = host;
	name = name_of(archive, LODE_AXIS_HOST, number);
	host->stream.host = lode_strings_add(&host->dictionary.frames.strings, name, strlen(name));
	return host->stream.host == LODE_NONE ? NULL : host;
}

static struct host *find_host(struct lode_hunt_archive *archive, uint32_t number)
{
	for (size_t i = 0; i < archive->count; i++)
		if (archive->hosts[i]->number == number)
			return archive->hosts[i];
	return add_host(archive, number);
}

static uint32_t find_thread(const struct host *host, uint32_t number)
{
	uint32_t id = LODE_INDEX_FIND(i, &host->thread_index, lode_hash_pair(number, 0),
				      host->threads[i].number == number);

	return id == LODE_NONE ? LODE_NONE : host->threads[id].thread;
}

static uint32_t add_thread(struct lode_hunt_archive *archive, struct host *host, uint32_t process, uint32_t number)
{
	struct lode_strings *strings = &host->dictionary.frames.strings;
	unsigned long pid = strtoul(name_of(archive, LODE_AXIS_PROCESS, process), NULL, 10), tid;
	uint32_t thread, text;
	char *name;

	tid = strtoul(name_of(archive, LODE_AXIS_THREAD, number), &name, 10);
	while (*name == ' ')
		name++;
	text = lode_strings_add(strings, name, strlen(name));
	thread = lode_stream_thread(&host->stream, (uint32_t)pid, (uint32_t)tid);
	if (text == LODE_NONE || thread == LODE_NONE ||
	    LODE_INDEX_APPEND(&host->thread_index, lode_hash_pair(number, 0), host->threads, host->thread_count,
			      host->thread_capacity, (struct thread){ number, thread }) < 0)
		return LODE_NONE;
	host->stream.threads[thread].name = text;
	return thread;
}

static uint32_t thread_of(struct lode_hunt_archive *archive, struct host *host, uint32_t process, uint32_t number)
{
	uint32_t thread = find_thread(host, number);

	return thread != LODE_NONE ? thread : add_thread(archive, host, process, number);
}

static uint32_t frame_of(struct lode_hunt_archive *archive, struct host *host, uint32_t function)
{
	uint32_t *place = lode_id_place(&host->frames, &host->frame_capacity, function);
	const char *name = lode_program_function(archive->meter->program, function)->name;

	if (place && *place == LODE_NONE)
		*place = lode_frames_parse(&host->dictionary.frames, name, strlen(name));
	return place ? *place : LODE_NONE;
}

static uint32_t stack_of(struct lode_hunt_archive *archive, struct host *host, const uint32_t *functions,
			 size_t depth)
{
	uint32_t node = 0;

	for (size_t i = 0; i < depth && node != LODE_NONE; i++) {
		uint32_t frame = frame_of(archive, host, functions[i]);

		node = frame == LODE_NONE ? LODE_NONE : lode_stack_tree_child(&host->dictionary.tree, node, frame);
	}
	return node;
}

/* ---- samples ---- */

int lode_hunt_archive_sample(void *context, const struct lode_meter_sample *sample)
{
	struct lode_hunt_archive *archive = context;
	struct host *host = find_host(archive, sample->host);
	struct lode_event event = { .t = sample->t, .cost = sample->weight, .waker = LODE_NONE, .cpu = LODE_NO_CPU };

	if (!host)
		return LODE_SYSTEM;
	event.thread = thread_of(archive, host, sample->process, sample->thread);
	event.stack = stack_of(archive, host, sample->functions, sample->depth);
	if (event.thread == LODE_NONE || event.stack == LODE_NONE)
		return LODE_SYSTEM;
	return lode_stream_add_event(&host->stream, sample->counts == LODE_CPU_BOUND ? LODE_RUN : LODE_WAIT,
				     &event);
}

/* ---- results ---- */

/* The functions by whose experiments one was reached, the outermost first, and its own. Returns how many. */
static size_t way_to(const struct lode_history *history, uint32_t id, uint32_t *functions, size_t most)
{
	size_t count = 0;

	for (; id != LODE_NONE && count < most; id = history->experiments[id].parent) {
		uint32_t function = history->experiments[id].focus.function;

		if (function != LODE_NONE && (!count || functions[count - 1] != function))
			functions[count++] = function;
	}
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t other = functions[i];

		functions[i] = functions[count - 1 - i];
		functions[count - 1 - i] = other;
	}
	return count;
}

static uint32_t thread_of_focus(const struct host *host, const struct lode_focus *focus)
{
	uint32_t thread = focus->thread == LODE_NONE ? LODE_NONE : find_thread(host, focus->thread);

	return thread == LODE_NONE && host->stream.thread_count ? 0 : thread;
}

static int archive_result(struct lode_hunt_archive *archive, struct host *host, const struct lode_search *search,
			  uint32_t id)
{
	const struct lode_history *history = lode_search_history(search);
	const struct lode_experiment *experiment = &history->experiments[id];
	const char *name = lode_hypothesis_name(experiment->hypothesis);
	struct lode_event event = { .t = experiment->found, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	uint32_t *functions = lode_calloc(history->count + 1, sizeof(*functions));
	size_t depth = functions ? way_to(history, id, functions, history->count) : 0;
	int code = LODE_SYSTEM;

	event.thread = thread_of_focus(host, &experiment->focus);
	event.name = lode_strings_add(&host->dictionary.frames.strings, name, strlen(name));
	event.stack = functions ? stack_of(archive, host, functions, depth) : LODE_NONE;
	if (event.thread == LODE_NONE)
		code = 0; /* nothing was sampled: there is no thread that it could belong to */
	else if (event.name != LODE_NONE && event.stack != LODE_NONE)
		code = lode_stream_add_event(&host->stream, LODE_CALL, &event);
	lode_free(functions);
	return code;
}

static int set_number(struct lode_stream *stream, const char *key, double number)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6g", number);
	return lode_stream_set_attribute(stream, key, text, LODE_ATTRIBUTE_NUMBER);
}

/* `hunt: CPUbound app!main` = 0.98 */
static int set_result(struct lode_hunt_archive *archive, struct host *host,
		      const struct lode_experiment *experiment)
{
	char *key = lode_format("hunt: %s %s", lode_hypothesis_name(experiment->hypothesis),
				lode_program_function(archive->meter->program, experiment->focus.function)->name);
	int code = key ? set_number(&host->stream, key, experiment->value) : LODE_SYSTEM;

	lode_free(key);
	return code;
}

static int archive_results_of_host(struct lode_hunt_archive *archive, struct host *host,
				   const struct lode_search *search)
{
	const struct lode_history *history = lode_search_history(search);
	uint64_t found = 0;
	int code = 0;

	for (uint32_t id = 0; !code && id < history->count; id++) {
		const struct lode_experiment *experiment = &history->experiments[id];
		struct lode_focus plain = lode_focus_whole();

		if (!experiment->found ||
		    (experiment->focus.host != LODE_NONE && experiment->focus.host != host->number))
			continue;
		found++;
		plain.function = experiment->focus.function;
		code = archive_result(archive, host, search, id);
		if (!code && plain.function != LODE_NONE && lode_focus_equal(&plain, &experiment->focus))
			code = set_result(archive, host, experiment);
	}
	return code ? code : set_number(&host->stream, "bottlenecks", (double)found);
}

int lode_hunt_archive_results(struct lode_hunt_archive *archive, const struct lode_search *search,
			      struct lode_error *error)
{
	for (size_t i = 0; i < archive->count; i++)
		if (archive_results_of_host(archive, archive->hosts[i], search) < 0)
			return lode_fail_memory(error);
	return 0;
}

/* ---- the end ---- */

size_t lode_hunt_archive_count(const struct lode_hunt_archive *archive)
{
	return archive->count;
}

struct lode_stream *lode_hunt_archive_stream(struct lode_hunt_archive *archive, size_t i)
{
	return &archive->hosts[i]->stream;
}

int lode_hunt_archive_store(struct lode_hunt_archive *archive, struct lode_corpus *corpus, const char *source,
			    struct lode_error *error)
{
	for (size_t i = 0; i < archive->count; i++) {
		struct lode_stream *stream = &archive->hosts[i]->stream;
		char id[33];
		int code = lode_stream_draw_id(id, error);

		if (!code && lode_stream_sort(stream) < 0)
			code = lode_fail_memory(error);
		if (!code)
			code = lode_corpus_add(corpus, id, source, stream, 0, 1, error);
		if (code < 0)
			return code;
	}
	return 0;
}
