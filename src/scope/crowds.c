/*
 * Crowds: see crowds.h. Waits are sorted by what they have in common and by their ends; those of a crowd follow one another.
 * How many there are differs from time to time, so all crowds of one kind have the mean as their size: texts that differ in a
 * number would tell findings apart that are the same.
 */
#include "scope/crowds.h"

#include "base/buffer.h"
#include "base/starts_with.h"
#include "scope/scope_index.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "crowd:"

/* One wait that a thread ended. */
struct wakeup {
	uint32_t object; /* or 0 */
	uint32_t stack;  /* where the object is 0 */
	uint32_t process;
	uint32_t name;
	uint32_t waker; /* group of its tid */
	uint32_t wait;
	uint64_t end;
};

#define COMPARE(field)                                                                                            \
	do {                                                                                                      \
		if (a->field != b->field)                                                                         \
			return a->field < b->field ? -1 : 1;                                                      \
	} while (0)

/* Whether they are of one kind: 0, or their order. */
static int compare_kinds(const struct wakeup *a, const struct wakeup *b)
{
	COMPARE(object);
	COMPARE(stack);
	COMPARE(process);
	COMPARE(name);
	return 0;
}

static int compare_wakeups(const void *left, const void *right)
{
	const struct wakeup *a = left, *b = right;
	int order = compare_kinds(a, b);

	if (order)
		return order;
	COMPARE(waker);
	COMPARE(end);
	COMPARE(wait);
	return 0;
}

static size_t list_wakeups(const struct lode_stream *stream, const uint32_t *groups, const uint32_t *processes,
			   struct wakeup *wakeups)
{
	const struct lode_events *waits = &stream->events[LODE_WAIT];
	size_t count = 0;

	for (size_t i = 0; i < waits->count; i++) {
		uint32_t object = lode_events_object(waits, i);

		if (waits->waker[i] != LODE_NONE)
			wakeups[count++] = (struct wakeup){
				.object = object,
				.stack = object ? 0 : waits->stack[i],
				.process = processes[waits->thread[i]],
				.name = stream->threads[waits->thread[i]].name,
				.waker = groups[waits->waker[i]],
				.wait = (uint32_t)i,
				.end = lode_event_end(waits, (uint32_t)i),
			};
	}
	return count;
}

/* One behind the last of the crowd that begins with number `first`. */
static size_t end_of_crowd(const struct wakeup *wakeups, size_t count, size_t first)
{
	size_t end = first + 1;

	while (end < count && !compare_kinds(&wakeups[end], &wakeups[first]) &&
	       wakeups[end].waker == wakeups[first].waker && wakeups[end].end - wakeups[first].end <= LODE_CROWD_NS)
		end++;
	return end;
}

static int add_text(struct lode_stream *stream, const struct wakeup *kind, size_t size, uint32_t *text)
{
	struct lode_strings *strings = &stream->dictionary->frames.strings;
	struct lode_buffer buffer = { 0 };

	lode_buffer_print(&buffer, PREFIX "%zu %s", size, lode_strings_get(strings, kind->object));
	*text = buffer.failed ? LODE_NONE : lode_strings_add(strings, buffer.bytes, buffer.size);
	lode_buffer_release(&buffer);
	return *text == LODE_NONE ? LODE_SYSTEM : 0;
}

/* The crowds of one kind, from number `first` to before `end`. */
static int name_crowds(struct lode_crowds *crowds, struct lode_stream *stream, const struct wakeup *wakeups,
		       size_t first, size_t end)
{
	size_t members = 0, count = 0;
	uint32_t text;

	for (size_t i = first, next; i < end; i = next) {
		next = end_of_crowd(wakeups, end, i);
		if (next - i >= LODE_MIN_CROWD) {
			members += next - i;
			count++;
		}
	}
	if (!count)
		return 0;
	if (add_text(stream, &wakeups[first], (members + count / 2) / count, &text) < 0)
		return LODE_SYSTEM;
	for (size_t i = first, next; i < end; i = next) {
		next = end_of_crowd(wakeups, end, i);
		for (size_t k = i; next - i >= LODE_MIN_CROWD && k < next; k++)
			crowds->objects[wakeups[k].wait] = text;
	}
	return 0;
}

int lode_crowds_make(struct lode_crowds *crowds, struct lode_stream *stream, const uint32_t *processes)
{
	size_t group_count, count, waits = stream->events[LODE_WAIT].count;
	uint32_t *groups = lode_threads_by_tid(stream, &group_count);
	struct wakeup *wakeups = lode_calloc(waits + 1, sizeof(*wakeups));
	int code;

	crowds->objects = lode_calloc(waits + 1, sizeof(*crowds->objects));
	code = groups && wakeups && crowds->objects ? 0 : LODE_SYSTEM;
	count = code ? 0 : list_wakeups(stream, groups, processes, wakeups);
	if (count)
		qsort(wakeups, count, sizeof(*wakeups), compare_wakeups);
	for (size_t i = 0, end; !code && i < count; i = end) {
		for (end = i + 1; end < count && !compare_kinds(&wakeups[end], &wakeups[i]); end++)
			;
		code = name_crowds(crowds, stream, wakeups, i, end);
	}
	lode_free(groups);
	lode_free(wakeups);
	return code;
}

void lode_crowds_release(struct lode_crowds *crowds)
{
	lode_free(crowds->objects);
	memset(crowds, 0, sizeof(*crowds));
}

const char *lode_crowd_of(const char *text, unsigned *size)
{
	char *end;

	if (!lode_starts_with(text, PREFIX))
		return NULL;
	*size = (unsigned)strtoul(text + strlen(PREFIX), &end, 10);
	return *end == ' ' ? end + 1 : NULL;
}
