/* Stream: see stream.h. */
#include "trace/stream.h"

#include "base/hex.h"
#include "base/starts_with.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

void lode_stream_init(struct lode_stream *stream, struct lode_dictionary *dictionary)
{
	memset(stream, 0, sizeof(*stream));
	stream->dictionary = dictionary;
}

void lode_stream_release(struct lode_stream *stream)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_events_release(&stream->events[type]);
	lode_index_release(&stream->thread_index);
	lode_index_release(&stream->tid_index);
	lode_free(stream->attributes);
	lode_free(stream->threads);
	lode_free(stream->symptoms);
	memset(stream, 0, sizeof(*stream));
}

int lode_stream_draw_id(char id[33], struct lode_error *error)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return lode_fail(error, LODE_SYSTEM, "no random number for the stream: %s", strerror(errno));
	lode_hex(id, bytes, sizeof(bytes));
	return 0;
}

static uint32_t find_tid(const struct lode_stream *stream, uint32_t tid)
{
	uint64_t hash = lode_hash_pair(tid, 1);

	return LODE_INDEX_FIND(i, &stream->tid_index, hash, stream->threads[i].tid == tid);
}

static uint32_t fail_thread(struct lode_stream *stream)
{
	stream->failed = 1;
	return LODE_NONE;
}

uint32_t lode_stream_find_thread(const struct lode_stream *stream, uint32_t pid, uint32_t tid)
{
	return LODE_INDEX_FIND(i, &stream->thread_index, lode_hash_pair(pid, tid),
			       stream->threads[i].pid == pid && stream->threads[i].tid == tid);
}

uint32_t lode_stream_thread(struct lode_stream *stream, uint32_t pid, uint32_t tid)
{
	uint64_t hash = lode_hash_pair(pid, tid);
	uint32_t id;

	if (stream->failed)
		return LODE_NONE;
	id = lode_stream_find_thread(stream, pid, tid);
	if (id != LODE_NONE)
		return id;
	id = (uint32_t)stream->thread_count;
	if (LODE_GROW(stream->threads, stream->thread_capacity, stream->thread_count + 1) < 0 ||
	    lode_index_insert(&stream->thread_index, hash, id) < 0)
		return fail_thread(stream);
	if (find_tid(stream, tid) == LODE_NONE &&
	    lode_index_insert(&stream->tid_index, lode_hash_pair(tid, 1), id) < 0)
		return fail_thread(stream);
	stream->threads[stream->thread_count++] = (struct lode_thread){ .pid = pid, .tid = tid };
	return id;
}

uint32_t lode_stream_tid(struct lode_stream *stream, uint32_t tid)
{
	uint32_t id = stream->failed ? LODE_NONE : find_tid(stream, tid);

	return id != LODE_NONE ? id : lode_stream_thread(stream, LODE_NO_PID, tid);
}

int lode_thread_is_idle_task(const struct lode_stream *stream, const struct lode_thread *thread)
{
	return !thread->tid &&
	       lode_starts_with(lode_strings_get(&stream->dictionary->frames.strings, thread->name), "swapper");
}

uint8_t *lode_idle_tasks(const struct lode_stream *stream)
{
	uint8_t *are = lode_calloc(stream->thread_count + 1, 1);

	for (size_t i = 0; are && i < stream->thread_count; i++)
		are[i] = (uint8_t)lode_thread_is_idle_task(stream, &stream->threads[i]);
	return are;
}

/* Marks the stream where something was not added. */
static int mark(struct lode_stream *stream, int code)
{
	stream->failed |= code < 0;
	return code;
}

int lode_stream_add_event(struct lode_stream *stream, enum lode_event_type type, const struct lode_event *event)
{
	if (event->thread == LODE_NONE || event->stack == LODE_NONE || event->waker_stack == LODE_NONE ||
	    event->name == LODE_NONE || event->object == LODE_NONE || event->context == LODE_NONE)
		return mark(stream, LODE_SYSTEM);
	return mark(stream, lode_events_add(&stream->events[type], event));
}

int lode_stream_add_symptom(struct lode_stream *stream, const struct lode_symptom *symptom)
{
	if (symptom->thread == LODE_NONE || symptom->name == LODE_NONE)
		return mark(stream, LODE_SYSTEM);
	return mark(stream,
		    LODE_APPEND(stream->symptoms, stream->symptom_count, stream->symptom_capacity, *symptom));
}

int lode_stream_set_attribute(struct lode_stream *stream, const char *key, const char *value,
			      enum lode_attribute_type type)
{
	struct lode_strings *strings = &stream->dictionary->frames.strings;
	struct lode_attribute attribute = {
		.key = lode_strings_add(strings, key, strlen(key)),
		.value = lode_strings_add(strings, value, strlen(value)),
		.type = (uint8_t)type,
	};

	if (attribute.key == LODE_NONE || attribute.value == LODE_NONE)
		return mark(stream, LODE_SYSTEM);
	for (size_t i = 0; i < stream->attribute_count; i++) {
		if (stream->attributes[i].key == attribute.key) {
			stream->attributes[i] = attribute;
			return 0;
		}
	}
	return mark(stream, LODE_APPEND(stream->attributes, stream->attribute_count, stream->attribute_capacity,
					attribute));
}

int lode_stream_set_text(struct lode_stream *stream, const char *key, const char *text)
{
	return lode_stream_set_attribute(stream, key, text, LODE_ATTRIBUTE_TEXT);
}

int lode_stream_set_number(struct lode_stream *stream, const char *key, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	return lode_stream_set_attribute(stream, key, text, LODE_ATTRIBUTE_NUMBER);
}

void lode_attribute_json(const struct lode_attribute *attribute, const struct lode_strings *strings,
			 struct lode_json *json)
{
	const char *value = lode_strings_get(strings, attribute->value);

	lode_json_key(json, lode_strings_get(strings, attribute->key));
	if (attribute->type == LODE_ATTRIBUTE_BOOL)
		lode_json_bool(json, !strcmp(value, "true"));
	else if (attribute->type == LODE_ATTRIBUTE_NUMBER && lode_json_is_number(value))
		lode_json_raw(json, value, strlen(value));
	else
		lode_json_text(json, value);
}

int lode_stream_thinned(const struct lode_stream *stream)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		if (lode_events_thinned(&stream->events[type]))
			return 1;
	return 0;
}

size_t lode_stream_event_count(const struct lode_stream *stream)
{
	size_t count = 0;

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		count += stream->events[type].count;
	return count;
}

void lode_stream_span(const struct lode_stream *stream, uint64_t *first, uint64_t *last)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &stream->events[type];

		for (size_t i = 0; i < events->count; i++) {
			/* Of `call` events no more than their times may have been read. */
			uint64_t cost = events->cost ? events->cost[i] : 0;
			uint64_t delay = events->delay ? events->delay[i] : 0;
			uint64_t end = lode_add_saturating(lode_add_saturating(events->t[i], cost), delay);

			low = events->t[i] < low ? events->t[i] : low;
			high = end > high ? end : high;
		}
	}
	for (size_t i = 0; i < stream->symptom_count; i++) {
		low = stream->symptoms[i].t0 < low ? stream->symptoms[i].t0 : low;
		high = stream->symptoms[i].t1 > high ? stream->symptoms[i].t1 : high;
	}
	*first = low <= high ? low : 0;
	*last = high;
}

int lode_stream_sort(struct lode_stream *stream)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		if (lode_events_sort(&stream->events[type]) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* ---- merging ---- */

static int merge_threads(struct lode_stream *stream, const struct lode_stream *part, const uint32_t *strings,
			 uint32_t *map)
{
	for (size_t i = 0; i < part->thread_count; i++) {
		const struct lode_thread *thread = &part->threads[i];

		map[i] = lode_stream_thread(stream, thread->pid, thread->tid);
		if (map[i] == LODE_NONE)
			return LODE_SYSTEM;
		if (thread->name)
			stream->threads[map[i]].name = strings[thread->name];
		if (lode_thread_has_totals(thread))
			stream->threads[map[i]].totals = thread->totals;
	}
	return 0;
}

static int merge_events(struct lode_stream *stream, const struct lode_stream *part,
			const struct lode_dictionary_map *map, const uint32_t *threads)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &part->events[type];
		size_t wanted = stream->events[type].count + events->count;
		unsigned columns = lode_events_columns(&stream->events[type]) | lode_events_columns(events);

		if (events->count && lode_events_reserve(&stream->events[type], wanted, columns) < 0)
			return LODE_SYSTEM;
		for (size_t i = 0; i < events->count; i++) {
			struct lode_event event = lode_events_get(events, i);

			event.thread = threads[event.thread];
			event.stack = map->nodes[event.stack];
			event.waker = event.waker == LODE_NONE ? LODE_NONE : threads[event.waker];
			event.waker_stack = map->nodes[event.waker_stack];
			event.name = map->strings[event.name];
			event.object = map->strings[event.object];
			event.context = map->strings[event.context];
			event.holder = event.holder == LODE_NONE ? LODE_NONE : threads[event.holder];
			if (lode_events_add(&stream->events[type], &event) < 0)
				return LODE_SYSTEM;
		}
	}
	return 0;
}

static int merge_head(struct lode_stream *stream, const struct lode_stream *part,
		      const struct lode_dictionary_map *map, const uint32_t *threads)
{
	const struct lode_strings *strings = &part->dictionary->frames.strings;

	for (size_t i = 0; i < part->attribute_count; i++) {
		const struct lode_attribute *attribute = &part->attributes[i];

		if (lode_stream_set_attribute(stream, lode_strings_get(strings, attribute->key),
					      lode_strings_get(strings, attribute->value), attribute->type) < 0)
			return LODE_SYSTEM;
	}
	for (size_t i = 0; i < part->symptom_count; i++) {
		struct lode_symptom symptom = part->symptoms[i];

		symptom.thread = threads[symptom.thread];
		symptom.name = map->strings[symptom.name];
		if (lode_stream_add_symptom(stream, &symptom) < 0)
			return LODE_SYSTEM;
	}
	if (!stream->name)
		stream->name = map->strings[part->name];
	if (!stream->host)
		stream->host = map->strings[part->host];
	return 0;
}

int lode_stream_merge(struct lode_stream *stream, const struct lode_stream *part)
{
	struct lode_dictionary_map map = { 0 };
	uint32_t *threads = lode_calloc(part->thread_count, sizeof(*threads));
	int code = LODE_SYSTEM;

	if (threads && lode_dictionary_merge(stream->dictionary, part->dictionary, &map) == 0 &&
	    merge_threads(stream, part, map.strings, threads) == 0 &&
	    merge_events(stream, part, &map, threads) == 0 && merge_head(stream, part, &map, threads) == 0)
		code = 0;
	lode_dictionary_map_release(&map);
	lode_free(threads);
	return code;
}

/* ---- copying ---- */

static uint32_t copy_string(struct lode_stream *to, const struct lode_stream *from, uint32_t string)
{
	struct lode_string text = from->dictionary->frames.strings.items[string];

	return lode_strings_add(&to->dictionary->frames.strings, text.text, text.length);
}

static int copy_threads(struct lode_stream *to, const struct lode_stream *from)
{
	for (size_t i = 0; i < from->thread_count; i++) {
		uint32_t thread = lode_stream_thread(to, from->threads[i].pid, from->threads[i].tid);
		uint32_t name = copy_string(to, from, from->threads[i].name);

		if (thread != i || name == LODE_NONE)
			return LODE_SYSTEM;
		to->threads[thread].name = name;
		to->threads[thread].totals = from->threads[i].totals;
	}
	return 0;
}

int lode_stream_copy_head(struct lode_stream *to, const struct lode_stream *from, const char *but)
{
	const struct lode_strings *strings = &from->dictionary->frames.strings;

	to->name = copy_string(to, from, from->name);
	to->host = copy_string(to, from, from->host);
	if (to->name == LODE_NONE || to->host == LODE_NONE || copy_threads(to, from) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < from->attribute_count; i++) {
		const struct lode_attribute *attribute = &from->attributes[i];
		const char *key = lode_strings_get(strings, attribute->key);

		if (but && !strcmp(key, but))
			continue;
		if (lode_stream_set_attribute(to, key, lode_strings_get(strings, attribute->value),
					      attribute->type) < 0)
			return LODE_SYSTEM;
	}
	for (size_t i = 0; i < from->symptom_count; i++) {
		struct lode_symptom symptom = from->symptoms[i];

		symptom.name = copy_string(to, from, symptom.name);
		if (symptom.name == LODE_NONE || lode_stream_add_symptom(to, &symptom) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}
