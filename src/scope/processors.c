/*
 * Who had the processor: see processors.h. The intervals in which threads ran, sorted by CPU and start; those of a span
 * are found by a search for the first that reaches into it.
 */
#include "scope/processors.h"

#include "base/bisect.h"
#include "scope/segments.h"

#include <stdlib.h>

/* A processor on which threads ran for less than this part of the time on another is none of theirs: one they began on. */
#define RARELY_USED 20

struct interval {
	uint64_t start;
	uint64_t end;
	uint64_t reach; /* the latest end so far on this CPU: recordings of others may overlap */
	uint32_t thread;
	uint16_t cpu;
};

/* A moment at which a thread left its CPU, and when it had one again. */
struct absence {
	uint64_t left;
	uint64_t back;
	uint32_t group;
	uint32_t thread;
	uint16_t cpu;
};

struct lode_processors {
	const struct lode_stream *stream;
	uint32_t *groups;
	size_t group_count;
	struct interval *items;
	size_t count;
	size_t capacity;
};

static int compare_intervals(const void *left, const void *right)
{
	const struct interval *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* ---- absences ---- */

/* The waits, or the preemptions of the calls, one after another. */
struct absence_reader {
	const struct lode_events *events;
	int type;
	uint32_t preemption; /* the name of such calls */
	size_t next;
};

static int is_absence(const struct absence_reader *reader, size_t i)
{
	return reader->type == LODE_WAIT || reader->events->name[i] == reader->preemption;
}

static struct absence_reader read_absences(const struct lode_stream *stream, int type)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	return (struct absence_reader){
		.events = &stream->events[type],
		.type = type,
		.preemption = lode_strings_find(strings, LODE_PREEMPTION, sizeof(LODE_PREEMPTION) - 1),
	};
}

static void skip_others(struct absence_reader *reader)
{
	while (reader->next < reader->events->count && !is_absence(reader, reader->next))
		reader->next++;
}

/* Numbers of absences by group become the places where those of a group begin. */
static void count_absences(const struct lode_processors *processors, int type, size_t *places)
{
	struct absence_reader reader = read_absences(processors->stream, type);

	for (skip_others(&reader); reader.next < reader.events->count; reader.next++, skip_others(&reader))
		places[processors->groups[reader.events->thread[reader.next]] + 1]++;
}

/* Of absences of a group that begin together, the shorter one comes first. */
static void place_absence(struct absence *absences, size_t first, size_t place, struct absence absence)
{
	for (; place > first && absences[place - 1].left == absence.left && absences[place - 1].back > absence.back;
	     place--)
		absences[place] = absences[place - 1];
	absences[place] = absence;
}

/*
 * All absences by group, then by time. Events are in the order of time, so waits and preemptions only have to be
 * merged, and dealt out to their groups. `ends`: by group where its absences begin; then where they end.
 */
static void deal_absences(const struct lode_processors *processors, size_t *ends, const size_t *starts,
			  struct absence *absences)
{
	struct absence_reader readers[2] = { read_absences(processors->stream, LODE_WAIT),
					     read_absences(processors->stream, LODE_CALL) };

	for (;;) {
		struct absence_reader *reader = &readers[0];
		const struct lode_events *events;
		uint32_t group;
		size_t i;

		skip_others(&readers[0]);
		skip_others(&readers[1]);
		if (readers[0].next == readers[0].events->count ||
		    (readers[1].next < readers[1].events->count &&
		     readers[1].events->t[readers[1].next] < readers[0].events->t[readers[0].next]))
			reader = &readers[1];
		events = reader->events;
		i = reader->next++;
		if (i >= events->count)
			return;
		group = processors->groups[events->thread[i]];
		place_absence(absences, starts[group], ends[group]++,
			      (struct absence){
				      .left = events->t[i],
				      .back = lode_event_over(events, reader->type, (uint32_t)i),
				      .group = group,
				      .thread = events->thread[i],
				      .cpu = events->cpu[i],
			      });
	}
}

/* What lies between two absences of a thread it ran. */
static int add_intervals(struct lode_processors *processors, const struct absence *absences, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++) {
		struct interval interval = {
			.start = absences[i].back,
			.end = absences[i + 1].left,
			.thread = absences[i].thread,
			.cpu = absences[i].cpu,
		};

		if (absences[i + 1].group == absences[i].group && interval.cpu != LODE_NO_CPU &&
		    interval.end > interval.start &&
		    LODE_APPEND(processors->items, processors->count, processors->capacity, interval) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* ---- intervals ---- */

/* Whether some thread was ready, on a CPU that is known: else nobody asks who had it. */
static int has_ready_time(const struct lode_stream *stream)
{
	int ready = 0, known = 0;

	for (int type = LODE_WAIT; type <= LODE_CALL && !(ready && known); type++) {
		const struct lode_events *events = &stream->events[type];

		for (size_t i = 0; i < events->count && !(ready && known); i++) {
			ready |= events->delay[i] != 0;
			known |= events->cpu[i] != LODE_NO_CPU;
		}
	}
	return ready && known;
}

/* Whether the columns are there, and no event was left out. */
static int is_told(const struct lode_stream *stream)
{
	const struct lode_events *waits = &stream->events[LODE_WAIT], *calls = &stream->events[LODE_CALL];

	return waits->cpu && waits->delay && !lode_events_thinned(waits) &&
	       (!calls->count || (calls->cpu && calls->delay && calls->name)) && has_ready_time(stream);
}

/* By group and time; their number goes to `count`. NULL when memory has run out. */
static struct absence *make_absences(const struct lode_processors *processors, size_t *count)
{
	size_t groups = processors->group_count;
	size_t *starts = lode_calloc(2 * (groups + 1), sizeof(*starts)),
	       *ends = starts ? starts + groups + 1 : NULL;
	struct absence *absences = NULL;

	if (!starts)
		return NULL;
	count_absences(processors, LODE_WAIT, starts);
	count_absences(processors, LODE_CALL, starts);
	for (size_t i = 0; i < groups; i++) {
		starts[i + 1] += starts[i];
		ends[i] = starts[i];
	}
	*count = starts[groups];
	absences = lode_calloc(*count + 1, sizeof(*absences));
	if (absences)
		deal_absences(processors, ends, starts, absences);
	lode_free(starts);
	return absences;
}

static int find_intervals(struct lode_processors *processors)
{
	size_t count = 0;
	struct absence *absences = make_absences(processors, &count);
	int code;

	if (!absences)
		return LODE_SYSTEM;
	code = add_intervals(processors, absences, count);
	if (!code && processors->count)
		qsort(processors->items, processors->count, sizeof(*processors->items), compare_intervals);
	for (size_t i = 0; !code && i < processors->count; i++) {
		struct interval *item = &processors->items[i];

		item->reach = item->end;
		if (i && item[-1].cpu == item->cpu && item[-1].reach > item->reach)
			item->reach = item[-1].reach;
	}
	lode_free(absences);
	return code;
}

int lode_processors_make(struct lode_processors **result, const struct lode_stream *stream,
			 struct lode_error *error)
{
	struct lode_processors *processors = lode_calloc(1, sizeof(*processors));

	*result = NULL;
	if (!processors)
		return lode_fail_memory(error);
	processors->stream = stream;
	processors->groups = lode_threads_by_tid(stream, &processors->group_count);
	if (!processors->groups || (is_told(stream) && find_intervals(processors) < 0)) {
		lode_processors_free(processors);
		return lode_fail_memory(error);
	}
	*result = processors;
	return 0;
}

void lode_processors_free(struct lode_processors *processors)
{
	if (!processors)
		return;
	lode_free(processors->groups);
	lode_free(processors->items);
	lode_free(processors);
}

/* For how long threads ran on the processor of interval `*i`, which moves on to the next one's first. */
static uint64_t busy_time(const struct lode_processors *processors, size_t *i)
{
	uint16_t cpu = processors->items[*i].cpu;
	uint64_t time = 0;

	for (; *i < processors->count && processors->items[*i].cpu == cpu; ++*i)
		time = lode_add_saturating(time, processors->items[*i].end - processors->items[*i].start);
	return time;
}

uint32_t lode_processors_count(const struct lode_processors *processors)
{
	uint64_t most = 0, time;
	uint32_t count = 0;

	for (size_t i = 0; i < processors->count;) {
		time = busy_time(processors, &i);
		most = time > most ? time : most;
	}
	for (size_t i = 0; i < processors->count;)
		count += busy_time(processors, &i) >= most / RARELY_USED;
	return count;
}

int lode_processors_visit(const struct lode_processors *processors, enum lode_event_type type, uint32_t event,
			  uint64_t t0, uint64_t t1, int (*take)(void *context, uint32_t thread, uint64_t time),
			  void *context)
{
	const struct lode_events *events = &processors->stream->events[type];
	const struct interval *items = processors->items;
	uint32_t own;
	uint16_t cpu;
	size_t i;
	int code = 0;

	if (!processors->count)
		return 0;
	own = processors->groups[events->thread[event]];
	cpu = events->cpu[event];
	i = LODE_BISECT(k, 0, processors->count,
			items[k].cpu < cpu || (items[k].cpu == cpu && items[k].reach <= t0));
	for (; !code && i < processors->count && items[i].cpu == cpu && items[i].start < t1; i++) {
		uint64_t start = items[i].start > t0 ? items[i].start : t0;
		uint64_t end = items[i].end < t1 ? items[i].end : t1;

		if (processors->groups[items[i].thread] != own && end > start)
			code = take(context, items[i].thread, end - start);
	}
	return code;
}

/* ---- the one that ran longest ---- */

#define MAX_CANDIDATES 16

struct longest {
	const struct lode_processors *processors;
	const uint32_t *processes; /* names, by thread, where threads with the same names are one; NULL: they are not */
	uint32_t threads[MAX_CANDIDATES]; /* the first that are seen; more than these share a queue seldom */
	uint64_t times[MAX_CANDIDATES];
	size_t count;
};

static int is_same(const struct longest *longest, uint32_t a, uint32_t b)
{
	const struct lode_thread *threads = longest->processors->stream->threads;
	const uint32_t *groups = longest->processors->groups;

	if (groups[a] == groups[b])
		return 1;
	return longest->processes && threads[a].name && threads[a].name == threads[b].name &&
	       longest->processes[a] == longest->processes[b];
}

static int add_time(void *context, uint32_t thread, uint64_t time)
{
	struct longest *longest = context;
	size_t i = 0;

	while (i < longest->count && !is_same(longest, longest->threads[i], thread))
		i++;
	if (i == MAX_CANDIDATES)
		return 0;
	if (i == longest->count) {
		longest->threads[longest->count] = thread;
		longest->times[longest->count++] = 0;
	}
	longest->times[i] += time;
	return 0;
}

uint32_t lode_processors_most_alike(const struct lode_processors *processors, const uint32_t *processes,
				    enum lode_event_type type, uint32_t event, uint64_t t0, uint64_t t1,
				    uint64_t *time)
{
	struct longest longest = { .processors = processors, .processes = processes };
	size_t most = 0;

	*time = 0;
	lode_processors_visit(processors, type, event, t0, t1, add_time, &longest);
	for (size_t i = 1; i < longest.count; i++)
		if (longest.times[i] > longest.times[most])
			most = i;
	if (!longest.count)
		return LODE_NONE;
	*time = longest.times[most];
	return longest.threads[most];
}

uint32_t lode_processors_most(const struct lode_processors *processors, enum lode_event_type type, uint32_t event,
			      uint64_t t0, uint64_t t1, uint64_t *time)
{
	return lode_processors_most_alike(processors, NULL, type, event, t0, t1, time);
}
