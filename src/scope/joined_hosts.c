/* Joining a stream with those of other hosts: see host_joins.h. */
#include "scope/host_candidates.h"
#include "scope/host_drift.h"

#include "base/starts_with.h"
#include "store/unread_streams.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void close_host(struct lode_joined_host *host)
{
	if (host->store)
		lode_store_close(host->store);
	host->store = NULL;
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_events_release(&host->stream.events[type]);
}

void lode_joined_hosts_release(struct lode_joined_hosts *hosts)
{
	for (size_t i = 0; i < hosts->count; i++) {
		close_host(&hosts->items[i]);
		lode_stream_release(&hosts->items[i].stream);
		lode_free(hosts->items[i].threads);
	}
	lode_free(hosts->connections);
	memset(hosts, 0, sizeof(*hosts));
}

const struct lode_joined_host *lode_joined_host_of(const struct lode_joined_hosts *hosts, uint32_t tid)
{
	size_t number = tid / LODE_HOST_TIDS;

	return number && number <= hosts->count ? &hosts->items[number - 1] : NULL;
}

/* ---- threads ---- */

/* Whether the numbers of all threads leave room for those of other hosts. */
static int has_small_numbers(const struct lode_stream *stream, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct lode_thread *thread = &stream->threads[i];

		if (thread->tid >= LODE_HOST_TIDS || (thread->pid != LODE_NO_PID && thread->pid >= LODE_HOST_TIDS))
			return 0;
	}
	return 1;
}

/* `NAME@HOST`; 0 stays 0. LODE_NONE when memory has run out. */
static uint32_t name_at(struct lode_strings *strings, uint32_t name, const char *host)
{
	char *text;
	uint32_t number;

	if (!name)
		return 0;
	text = lode_format("%s@%s", lode_strings_get(strings, name), host);
	number = text ? lode_strings_add(strings, text, strlen(text)) : LODE_NONE;
	lode_free(text);
	return number;
}

/* What the kernel runs when there is nothing to run is nobody on any host. */
static uint32_t add_thread(struct lode_stream *stream, const struct lode_thread *thread, uint32_t more,
			   const char *host)
{
	struct lode_strings *strings = &stream->dictionary->frames.strings;
	uint32_t pid = thread->pid == LODE_NO_PID ? LODE_NO_PID : thread->pid + more, added, name;

	if (!thread->tid)
		return lode_stream_tid(stream, 0);
	name = name_at(strings, thread->name, host);
	added = name == LODE_NONE ? LODE_NONE : lode_stream_thread(stream, pid, thread->tid + more);
	if (added != LODE_NONE)
		stream->threads[added].name = name;
	return added;
}

static int add_threads(struct lode_joined_host *host, struct lode_stream *stream, uint32_t more)
{
	host->threads = lode_calloc(host->stream.thread_count + 1, sizeof(*host->threads));
	for (size_t i = 0; host->threads && i < host->stream.thread_count; i++) {
		host->threads[i] = add_thread(stream, &host->stream.threads[i], more, host->entry->host);
		if (host->threads[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return host->threads ? 0 : LODE_SYSTEM;
}

/* What its processes were started as. */
static int add_commands(const struct lode_joined_host *host, struct lode_stream *stream, uint32_t more)
{
	struct lode_strings *strings = &stream->dictionary->frames.strings;

	for (size_t i = 0; i < host->stream.attribute_count; i++) {
		const char *key = lode_strings_get(strings, host->stream.attributes[i].key);
		char number[32];
		uint32_t name;

		if (!lode_starts_with(key, LODE_COMMAND))
			continue;
		snprintf(number, sizeof(number), LODE_COMMAND "%lu",
			 strtoul(key + strlen(LODE_COMMAND), NULL, 10) + more);
		name = name_at(strings, host->stream.attributes[i].value, host->entry->host);
		if (name == LODE_NONE || lode_stream_set_text(stream, number, lode_strings_get(strings, name)) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* ---- opening ---- */

static int open_host(struct lode_joined_hosts *hosts, const struct lode_host_candidate *candidate,
		     struct lode_stream *stream, struct lode_error *error)
{
	struct lode_joined_host *host = &hosts->items[hosts->count];
	uint32_t more = (uint32_t)(hosts->count + 1) * LODE_HOST_TIDS;
	int code;

	lode_stream_init(&host->stream, stream->dictionary);
	host->entry = candidate->entry;
	hosts->count++;
	code = lode_store_open(&host->store, candidate->entry->path, error);
	if (!code)
		code = lode_store_head(host->store, &host->stream, error);
	/* A damaged stream is not joined; who looks at it by itself is told. */
	if ((code && lode_stream_is_unreadable(candidate->entry, code)) ||
	    (!code && !has_small_numbers(&host->stream, host->stream.thread_count))) {
		close_host(host);
		return 0;
	}
	if (code)
		return code;
	return add_threads(host, stream, more) < 0 || add_commands(host, stream, more) < 0 ? lode_fail_memory(error)
											   : 0;
}

static int is_open(const struct lode_joined_hosts *hosts, const struct lode_host_candidate *candidate)
{
	for (size_t i = 0; i < hosts->count; i++)
		if (!strcmp(hosts->items[i].entry->id, candidate->entry->id))
			return 1;
	return 0;
}

/* Opens what `from` meets. */
static int open_neighbours(struct lode_joined_hosts *hosts, const struct lode_host_joins *joins,
			   const struct lode_host_candidate *own, const struct lode_host_candidate *from,
			   struct lode_stream *stream, struct lode_error *error)
{
	uint32_t *numbers;
	size_t count;
	int code = lode_host_neighbours(joins, from, &numbers, &count) < 0 ? lode_fail_memory(error) : 0;

	for (size_t i = 0; !code && i < count && hosts->count < LODE_JOINED_HOSTS; i++) {
		const struct lode_host_candidate *candidate = &joins->items[numbers[i]];

		/* Several corpora may have the same stream. */
		if (strcmp(candidate->entry->id, own->entry->id) != 0 && !is_open(hosts, candidate))
			code = open_host(hosts, candidate, stream, error);
	}
	lode_free(numbers);
	return code;
}

/* Numbers the connections of which both ends are there. */
static int number_connections(struct lode_joined_hosts *hosts, const struct lode_strings *strings)
{
	struct lode_connection_ends ends = { 0 };
	int code = lode_connection_ends_add(&ends, strings, 0);

	hosts->connections = lode_calloc(strings->count + 1, sizeof(*hosts->connections));
	for (size_t i = 0; !code && hosts->connections && i < ends.count; i++) {
		const struct lode_connection_end *other = lode_connection_ends_find(&ends, &ends.items[i]);
		uint32_t *number = &hosts->connections[ends.items[i].string];

		if (!other || *number)
			continue;
		*number = hosts->connections[other->string];
		if (!*number)
			*number = hosts->connections[other->string] = (uint32_t)++hosts->connection_count;
	}
	lode_connection_ends_release(&ends);
	return hosts->connections ? code : LODE_SYSTEM;
}

int lode_joined_hosts_open(struct lode_joined_hosts *hosts, const struct lode_host_joins *joins,
			   const struct lode_corpus_entry *entry, struct lode_stream *stream,
			   struct lode_error *error)
{
	const struct lode_host_candidate *own = lode_host_candidate_find(joins, entry->id);
	int code;

	memset(hosts, 0, sizeof(*hosts));
	hosts->own_threads = stream->thread_count;
	if (!own || !has_small_numbers(stream, stream->thread_count))
		return 0;
	code = open_neighbours(hosts, joins, own, own, stream, error);
	for (size_t i = 0; !code && i < hosts->count; i++)
		code = open_neighbours(hosts, joins, own,
				       lode_host_candidate_find(joins, hosts->items[i].entry->id), stream, error);
	if (!code && hosts->count && number_connections(hosts, &stream->dictionary->frames.strings) < 0)
		code = lode_fail_memory(error);
	return code;
}

/* ---- events ---- */

/* By connection: whether the other host's end is the one that was asked. */
static uint8_t *find_clients(const struct lode_joined_host *host, const struct lode_host_turns *other)
{
	const struct lode_strings *strings = &host->stream.dictionary->frames.strings;
	uint8_t *is_client = lode_calloc(other->connections + 1, 1);
	struct lode_connection_end end;

	for (size_t c = 1; is_client && c <= other->connections; c++) {
		/* The first is what was before the first wait. */
		uint32_t wait = other->starts[c] + 1 < other->starts[c + 1]
					? other->items[other->starts[c] + 1].wait
					: LODE_NONE;

		is_client[c] =
			wait != LODE_NONE &&
			lode_connection_parse(lode_strings_get(strings, host->stream.events[LODE_WAIT].name[wait]),
					      &end) &&
			!lode_connection_is_client(&end);
	}
	return is_client;
}

/* From its clock to that of `stream`; which of its events are in the time of that. NULL: no memory. */
static uint8_t *shift(const struct lode_joined_host *host, struct lode_events *events, const uint64_t span[2])
{
	uint8_t *wanted = lode_calloc(events->count + 1, 1);

	for (size_t i = 0; wanted && i < events->count; i++) {
		int64_t t = (int64_t)(lode_without_drift(&host->clock.drift, events->t[i]) -
				      (uint64_t)host->clock.offset);
		uint64_t end = lode_add_saturating(events->t[i], events->cost ? events->cost[i] : 0);

		if (end > (uint64_t)1 << 61 || t < 0)
			continue;
		end = end - events->t[i] + (uint64_t)t;
		events->t[i] = (uint64_t)t;
		wanted[i] = end >= span[0] && (uint64_t)t <= span[1];
	}
	return wanted;
}

static void renumber(const struct lode_joined_host *host, struct lode_events *events, uint32_t number)
{
	for (size_t i = 0; i < events->count; i++) {
		events->thread[i] = host->threads[events->thread[i]];
		if (events->waker && events->waker[i] != LODE_NONE)
			events->waker[i] = host->threads[events->waker[i]];
		if (events->holder && events->holder[i] != LODE_NONE)
			events->holder[i] = host->threads[events->holder[i]];
		if (events->cpu && events->cpu[i] != LODE_NO_CPU)
			events->cpu[i] = (uint16_t)(events->cpu[i] % LODE_HOST_CPUS + number * LODE_HOST_CPUS);
	}
}

/* Unless a thread of its own process ended it. */
static int set_waker(const struct lode_stream *stream, struct lode_events *waits, uint32_t wait, uint32_t thread,
		     uint32_t waker)
{
	const struct lode_thread *threads = stream->threads;

	if (waits->waker[wait] != LODE_NONE && threads[waits->waker[wait]].pid == threads[thread].pid &&
	    threads[thread].pid != LODE_NO_PID)
		return 0;
	waits->waker[wait] = waker;
	waits->waker_stack[wait] = 0;
	return 1;
}

/* Gives the waits of both their wakers. The events of the host have threads of `stream` already, its turns do not. */
static int set_wakers(struct lode_joined_host *host, struct lode_stream *stream, const struct lode_host_turns *own,
		      const struct lode_host_turns *other)
{
	struct lode_events *waits = &stream->events[LODE_WAIT], *others = &host->stream.events[LODE_WAIT];
	struct lode_host_clock behind = host->clock;
	uint32_t *ours = lode_host_turns_match(own, other, &host->clock), *theirs;

	behind.offset = -behind.offset;
	theirs = lode_host_turns_match(other, own, &behind);
	for (size_t i = 0; ours && theirs && i < own->count; i++)
		if (ours[i] != LODE_NONE)
			host->waits += (size_t)set_waker(stream, waits, own->items[i].wait, own->items[i].thread,
							 host->threads[other->items[ours[i]].thread]);
	for (size_t i = 0; ours && theirs && i < other->count; i++)
		if (theirs[i] != LODE_NONE)
			host->waits += (size_t)set_waker(stream, others, other->items[i].wait,
							 host->threads[other->items[i].thread],
							 own->items[theirs[i]].thread);
	lode_free(ours);
	lode_free(theirs);
	return ours && theirs ? 0 : LODE_SYSTEM;
}

static int add_events(struct lode_joined_host *host, struct lode_stream *stream, const uint64_t span[2])
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		struct lode_events *events = &host->stream.events[type];
		uint8_t *wanted = shift(host, events, span);
		int code = wanted ? lode_events_append(&stream->events[type], events, wanted) : LODE_SYSTEM;

		lode_free(wanted);
		if (code < 0 || lode_events_sort(&stream->events[type]) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int join(struct lode_joined_host *host, struct lode_stream *stream, uint32_t number,
		const struct lode_host_turns *own, struct lode_host_turns *other, const uint64_t span[2])
{
	uint8_t *is_client = find_clients(host, other);
	int found = is_client ? lode_host_clock_find_drifting(own, other, is_client, &host->clock) : LODE_SYSTEM;

	lode_free(is_client);
	if (found <= 0) {
		host->clock.exchanges = 0;
		return found;
	}
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		renumber(host, &host->stream.events[type], number);
	return set_wakers(host, stream, own, other) < 0 || add_events(host, stream, span) < 0 ? LODE_SYSTEM : 0;
}

/* One host. The last to first moments of the stream's own are `span`. */
static int load_host(struct lode_joined_hosts *hosts, size_t i, struct lode_stream *stream,
		     const unsigned columns[LODE_EVENT_TYPES], const uint64_t span[2], struct lode_error *error)
{
	struct lode_joined_host *host = &hosts->items[i];
	struct lode_host_turns own = { 0 }, other = { 0 };
	int code = lode_store_load_events(host->store, &host->stream, columns, error);

	if (code && lode_stream_is_unreadable(host->entry, code)) {
		close_host(host);
		return 0;
	}
	if (!code && (lode_host_turns_make(&own, stream, hosts->connections, hosts->connection_count) < 0 ||
		      lode_host_turns_make(&other, &host->stream, hosts->connections, hosts->connection_count) < 0 ||
		      join(host, stream, (uint32_t)i + 1, &own, &other, span) < 0))
		code = lode_fail_memory(error);
	lode_host_turns_release(&own);
	lode_host_turns_release(&other);
	close_host(host);
	return code;
}

int lode_joined_hosts_load(struct lode_joined_hosts *hosts, struct lode_stream *stream,
			   const unsigned columns[LODE_EVENT_TYPES], struct lode_error *error)
{
	uint64_t span[2];
	int code = 0;

	lode_stream_span(stream, &span[0], &span[1]);
	for (size_t i = 0; !code && i < hosts->count; i++)
		if (hosts->items[i].store)
			code = load_host(hosts, i, stream, columns, span, error);
	return code;
}
