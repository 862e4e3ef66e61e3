/*
 * A stream for the page: see stream_page.h. Threads are distinguished by tid alone, as in
 * scopes: a thread may be recorded under (pid, tid) and under its tid.
 */
#include "page/stream_page.h"

#include "page/page_stacks.h"
#include "page/wait_causes.h"
#include "result/column_heads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The events of one type in the order of the page: by thread, then by time. Of calls only preemptions. */
struct order {
	uint32_t *first;  /* of thread i; one more than threads */
	uint32_t *events; /* which event is at a place */
	uint32_t *places; /* and where an event is; LODE_NONE: the page does not have it */
	size_t count;
};

struct writing {
	struct lode_scope_report *report;
	struct lode_page_columns columns;
	struct order orders[LODE_EVENT_TYPES];
	struct lode_page_causes causes;
	uint32_t *threads; /* the first thread of the same tid */
	uint64_t start;    /* what times count from */
	uint64_t span;
	struct lode_page_stacks *shared; /* whose numbers stacks get; NULL: they keep their own */
	struct lode_dictionary_map map;
	size_t *parts_before; /* in the path columns: of the symptoms that are in the head */
	struct lode_error *error;
};

static int find_threads(struct writing *writing)
{
	struct lode_stream *stream = &writing->report->stream;

	writing->threads = lode_calloc(stream->thread_count + 1, sizeof(*writing->threads));
	if (!writing->threads)
		return lode_fail_memory(writing->error);
	for (uint32_t i = 0; i < stream->thread_count; i++)
		writing->threads[i] = lode_stream_tid(stream, stream->threads[i].tid);
	return 0;
}

/* Makes room for the events of a type; other calls than preemptions get no place. */
static int begin_order(struct order *order, const struct lode_page_causes *causes,
		       const struct lode_stream *stream, enum lode_event_type type)
{
	size_t count = stream->events[type].count;

	order->first = lode_calloc(stream->thread_count + 1, sizeof(*order->first));
	order->events = lode_calloc(count + 1, sizeof(*order->events));
	order->places = lode_calloc(count + 1, sizeof(*order->places));
	if (!order->first || !order->events || !order->places)
		return LODE_SYSTEM;
	for (uint32_t i = 0; type == LODE_CALL && i < count; i++)
		if (!lode_page_causes_preempted(causes, stream, i))
			order->places[i] = LODE_NONE;
	return 0;
}

/* Counting sort by thread; events are in order of time already. */
static int find_order(struct writing *writing, enum lode_event_type type)
{
	const struct lode_stream *stream = &writing->report->stream;
	const struct lode_events *events = &stream->events[type];
	struct order *order = &writing->orders[type];
	uint32_t *next = lode_calloc(stream->thread_count + 1, sizeof(*next));

	if (!next || begin_order(order, &writing->causes, stream, type) < 0) {
		lode_free(next);
		return lode_fail_memory(writing->error);
	}
	for (size_t i = 0; i < events->count; i++)
		if (order->places[i] != LODE_NONE)
			order->first[writing->threads[events->thread[i]] + 1]++;
	for (size_t i = 0; i < stream->thread_count; i++)
		order->first[i + 1] += order->first[i];
	order->count = order->first[stream->thread_count];
	memcpy(next, order->first, stream->thread_count * sizeof(*next));
	for (uint32_t i = 0; i < events->count; i++) {
		uint32_t place;

		if (order->places[i] == LODE_NONE)
			continue;
		place = next[writing->threads[events->thread[i]]]++;
		order->events[place] = i;
		order->places[i] = place;
	}
	lode_free(next);
	return 0;
}

/* ---- columns ---- */

static void put_times(struct writing *writing, enum lode_event_type type, const char *name, const uint64_t *values,
		      uint64_t start)
{
	size_t count = writing->orders[type].count;
	double *column = lode_page_columns_f64(&writing->columns, name, count);

	for (size_t i = 0; column && i < count; i++)
		column[i] = (double)(values[writing->orders[type].events[i]] - start);
}

static void put_numbers(struct writing *writing, enum lode_event_type type, const char *name,
			const uint32_t *values)
{
	size_t count = writing->orders[type].count;
	uint32_t *column = lode_page_columns_u32(&writing->columns, name, count);

	for (size_t i = 0; column && i < count; i++)
		column[i] = values[writing->orders[type].events[i]];
}

static void put_stacks(struct writing *writing, enum lode_event_type type, const char *name, const uint32_t *values)
{
	size_t count = writing->orders[type].count;
	uint32_t *column = lode_page_columns_u32(&writing->columns, name, count);

	for (size_t i = 0; column && i < count; i++) {
		uint32_t stack = values[writing->orders[type].events[i]];

		column[i] = writing->shared ? writing->map.nodes[stack] : stack;
	}
}

static void put_firsts(struct writing *writing, enum lode_event_type type, const char *name)
{
	size_t count = writing->report->stream.thread_count + 1;
	uint32_t *column = lode_page_columns_u32(&writing->columns, name, count);

	if (column)
		memcpy(column, writing->orders[type].first, count * sizeof(*column));
}

/* Threads of events: the first ones of their tids. */
static void put_threads(struct writing *writing, enum lode_event_type type, const char *name,
			const uint32_t *values)
{
	size_t count = writing->orders[type].count;
	uint32_t *column = lode_page_columns_u32(&writing->columns, name, count);

	for (size_t i = 0; column && i < count; i++) {
		uint32_t thread = values[writing->orders[type].events[i]];

		column[i] = thread == LODE_NONE ? LODE_NONE : writing->threads[thread];
	}
}

/* Instead of the waker of a wait that no thread ended: an interrupt did, or a timer. */
#define INTERRUPT (LODE_NONE - 1)

static void put_wakers(struct writing *writing)
{
	const uint32_t *wakers = writing->report->stream.events[LODE_WAIT].waker;
	size_t count = writing->orders[LODE_WAIT].count;
	uint32_t *column = lode_page_columns_u32(&writing->columns, "wait_waker", count);

	for (size_t i = 0; column && i < count; i++) {
		uint32_t wait = writing->orders[LODE_WAIT].events[i], thread = wakers[wait];

		if (lode_wake_ends_chain(writing->report->index, wait))
			column[i] = INTERRUPT;
		else
			column[i] = thread == LODE_NONE ? LODE_NONE : writing->threads[thread];
	}
}

/* CPUs, where any is known. */
static void put_cpus(struct writing *writing, enum lode_event_type type, const char *name)
{
	const uint16_t *cpus = writing->report->stream.events[type].cpu;
	size_t count = writing->orders[type].count, known = 0;
	uint32_t *column;

	for (size_t i = 0; cpus && i < count && !known; i++)
		known = cpus[writing->orders[type].events[i]] != LODE_NO_CPU;
	column = known ? lode_page_columns_u32(&writing->columns, name, count) : NULL;
	for (size_t i = 0; column && i < count; i++) {
		uint16_t cpu = cpus[writing->orders[type].events[i]];

		column[i] = cpu == LODE_NO_CPU ? LODE_NONE : cpu;
	}
}

/* Places of texts plus 1, where there are some. */
static void put_texts(struct writing *writing, enum lode_event_type type, const char *name, const uint32_t *values,
		      const struct lode_page_texts *texts)
{
	size_t count = writing->orders[type].count;
	uint32_t *column = values && texts->count ? lode_page_columns_u32(&writing->columns, name, count) : NULL;

	for (size_t i = 0; column && i < count; i++)
		column[i] = texts->places[values[writing->orders[type].events[i]]];
}

/* What waits were for, who held it and who had the processor after them. */
static void put_causes(struct writing *writing)
{
	const struct lode_events *waits = &writing->report->stream.events[LODE_WAIT];
	const struct order *order = &writing->orders[LODE_WAIT];
	uint8_t *states = lode_page_columns_u8(&writing->columns, "wait_state", order->count);

	for (size_t i = 0; states && i < order->count; i++)
		states[i] = writing->causes.states[order->events[i]];
	put_texts(writing, LODE_WAIT, "wait_object", waits->object, &writing->causes.objects);
	if (writing->causes.objects.count && writing->report->holders)
		put_threads(writing, LODE_WAIT, "wait_holder", writing->report->holders);
	put_texts(writing, LODE_WAIT, "wait_context", waits->context, &writing->causes.contexts);
	if (writing->causes.behind[LODE_WAIT])
		put_threads(writing, LODE_WAIT, "wait_behind", writing->causes.behind[LODE_WAIT]);
}

/* Preemptions: ready, but another thread had the processor. */
static void put_preemptions(struct writing *writing)
{
	const struct lode_events *calls = &writing->report->stream.events[LODE_CALL];

	put_times(writing, LODE_CALL, "ready_t", calls->t, writing->start);
	put_times(writing, LODE_CALL, "ready_cost", calls->delay, 0);
	put_stacks(writing, LODE_CALL, "ready_stack", calls->stack);
	put_firsts(writing, LODE_CALL, "ready_first");
	put_cpus(writing, LODE_CALL, "ready_cpu");
	if (writing->causes.behind[LODE_CALL])
		put_threads(writing, LODE_CALL, "ready_behind", writing->causes.behind[LODE_CALL]);
}

static void put_events(struct writing *writing)
{
	const struct lode_events *runs = &writing->report->stream.events[LODE_RUN];
	const struct lode_events *waits = &writing->report->stream.events[LODE_WAIT];

	put_times(writing, LODE_RUN, "run_t", runs->t, writing->start);
	put_times(writing, LODE_RUN, "run_cost", runs->cost, 0);
	put_stacks(writing, LODE_RUN, "run_stack", runs->stack);
	put_firsts(writing, LODE_RUN, "run_first");
	put_cpus(writing, LODE_RUN, "run_cpu");
	put_texts(writing, LODE_RUN, "run_context", runs->context, &writing->causes.contexts);
	put_times(writing, LODE_WAIT, "wait_t", waits->t, writing->start);
	put_times(writing, LODE_WAIT, "wait_cost", waits->cost, 0);
	put_times(writing, LODE_WAIT, "wait_delay", waits->delay, 0);
	put_stacks(writing, LODE_WAIT, "wait_stack", waits->stack);
	put_stacks(writing, LODE_WAIT, "wait_waker_stack", waits->waker_stack);
	put_wakers(writing);
	put_firsts(writing, LODE_WAIT, "wait_first");
	put_cpus(writing, LODE_WAIT, "wait_cpu");
	put_causes(writing);
	if (lode_events_thinned(waits))
		put_numbers(writing, LODE_WAIT, "wait_weight", waits->weight);
	put_preemptions(writing);
}

static size_t path_length(const struct lode_scope_report *report)
{
	size_t length = 0;

	for (size_t i = 0; i < report->count; i++)
		length += report->items[i].parts.count;
	return length;
}

static void put_paths(struct writing *writing)
{
	const struct lode_scope_report *report = writing->report;
	size_t length = path_length(report), at = 0;
	/* A column's place may move when the next one is made: each is filled before that. */
	double *t = lode_page_columns_f64(&writing->columns, "path_t", length);

	for (size_t i = 0; t && i < report->count; i++)
		for (size_t k = 0; k < report->items[i].parts.count; k++)
			t[at++] = (double)(report->items[i].parts.items[k].t - writing->start);
	double *cost = lode_page_columns_f64(&writing->columns, "path_cost", length);

	at = 0;
	for (size_t i = 0; cost && i < report->count; i++)
		for (size_t k = 0; k < report->items[i].parts.count; k++)
			cost[at++] = (double)report->items[i].parts.items[k].cost;
	uint32_t *events = lode_page_columns_u32(&writing->columns, "path_event", length);

	at = 0;
	for (size_t i = 0; events && i < report->count; i++)
		for (size_t k = 0; k < report->items[i].parts.count; k++) {
			const struct lode_part *part = &report->items[i].parts.items[k];

			events[at++] = writing->orders[part->type].places[part->event];
		}
	uint8_t *types = lode_page_columns_u8(&writing->columns, "path_type", length);

	at = 0;
	for (size_t i = 0; types && i < report->count; i++)
		for (size_t k = 0; k < report->items[i].parts.count; k++)
			types[at++] = report->items[i].parts.items[k].type;
}

/* Each event begins near the end of the one before it; what a wait ends with is the run queue. */
static void code_columns(struct lode_page_columns *columns)
{
	lode_page_columns_predict(columns, "run_t", "run_cost", NULL);
	lode_page_columns_predict(columns, "wait_t", "wait_cost", "wait_delay");
	lode_page_columns_predict(columns, "ready_t", "ready_cost", NULL);
	lode_page_columns_predict(columns, "path_t", "path_cost", NULL);
	lode_page_columns_code(columns);
}

/* ---- the head ---- */

static int write_attributes(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_stream *stream = self->from;

	lode_json_object(json);
	for (size_t i = 0; i < stream->attribute_count; i++)
		lode_attribute_json(&stream->attributes[i], &stream->dictionary->frames.strings, json);
	lode_json_object_end(json);
	return 0;
}

static int make_thread(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_stream *stream = list->from;
	const struct lode_thread *thread = &stream->threads[i];

	*(struct lode_stream_head_thread *)item = (struct lode_stream_head_thread){
		.tid = thread->tid,
		.has_pid = thread->pid != LODE_NO_PID,
		.pid = thread->pid,
		.name = lode_strings_get(&stream->dictionary->frames.strings, thread->name),
	};
	return 1;
}

/* What a list of texts is made from. */
struct text_source {
	const struct writing *writing;
	const struct lode_page_texts *texts;
};

static int make_text(const struct lode_list *list, size_t i, void *item)
{
	const struct text_source *source = list->from;

	*(const char **)item =
		lode_strings_get(&source->writing->report->dictionary.frames.strings, source->texts->strings[i]);
	return 1;
}

static int make_state(const struct lode_list *list, size_t i, void *item)
{
	(void)list;
	*(const char **)item = lode_state_key((enum lode_state)i);
	return 1;
}

/* Called in order: paths follow one another in the columns. */
static int make_symptom(const struct lode_list *list, size_t i, void *item)
{
	const struct writing *writing = list->from;
	const struct lode_scope_report *report = writing->report;
	const struct lode_scope_found *found = &report->items[i];

	*(struct lode_stream_head_symptom *)item = (struct lode_stream_head_symptom){
		.thread = writing->threads[found->symptom.thread],
		.name = lode_strings_get(&report->dictionary.frames.strings, found->symptom.name),
		.t0 = found->symptom.t0 - writing->start,
		.t1 = found->symptom.t1 - writing->start,
		.unknown_ns = found->result.unknown,
		.path_first = *writing->parts_before,
		.path_count = found->parts.count,
	};
	*writing->parts_before += found->parts.count;
	return 1;
}

static void head_json(struct writing *writing, struct lode_buffer *buffer)
{
	const struct lode_scope_report *report = writing->report;
	const struct lode_frames *frames = &report->dictionary.frames;
	struct lode_json json = { .buffer = buffer };
	struct text_source objects = { writing, &writing->causes.objects };
	struct text_source contexts = { writing, &writing->causes.contexts };
	size_t parts_before = 0;
	char start[24];
	struct lode_stream_head head = {
		.stream = lode_strings_get(&frames->strings, report->stream.name),
		.id = report->entry->id,
		.host = lode_strings_get(&frames->strings, report->stream.host),
		.start_ns = start,
		.span_ns = writing->span,
		.attributes = { .write = write_attributes, .from = &report->stream },
		.threads = { report->stream.thread_count, &report->stream, 0, make_thread },
		.symptoms = { report->count, writing, 0, make_symptom },
		.states = { LODE_STATES, writing, 0, make_state },
		.objects = { writing->causes.objects.count, &objects, 0, make_text },
		.contexts = { writing->causes.contexts.count, &contexts, 0, make_text },
	};

	snprintf(start, sizeof(start), "%" PRIu64, writing->start);
	/* Only while the head is written. cppcheck-suppress autoVariables */
	writing->parts_before = &parts_before;
	lode_json_object(&json);
	lode_fields_members(&lode_stream_head_fields, &head, &json);
	writing->parts_before = NULL;
	if (!writing->shared)
		lode_page_stacks_write(&report->dictionary, NULL, 0, report->idle, &writing->columns, &json);
	else
		code_columns(&writing->columns);
	lode_page_columns_json(&writing->columns, &json);
	lode_json_object_end(&json);
}

int lode_stream_page(struct lode_scope_report *report, struct lode_page_stacks *shared, struct lode_buffer *out,
		     struct lode_error *error)
{
	struct writing writing = { .report = report, .shared = shared, .error = error };
	struct lode_buffer head = { 0 };
	uint64_t last;
	int code = find_threads(&writing);

	for (size_t i = 0; i < report->count && !code; i++)
		code = lode_scope_report_find(report, i, error);
	if (!code)
		code = lode_page_causes_make(&writing.causes, report, error);
	for (enum lode_event_type type = LODE_RUN; type <= LODE_CALL && !code; type++)
		code = find_order(&writing, type);
	if (!code && shared)
		code = lode_page_stacks_share(shared, &report->dictionary, &writing.map, error);
	if (!code) {
		lode_stream_span(&report->stream, &writing.start, &last);
		writing.span = last - writing.start;
		put_events(&writing);
		put_paths(&writing);
		head_json(&writing, &head);
		lode_page_columns_pack(&writing.columns, &head, out);
		if (out->failed)
			code = lode_fail_memory(error);
	}
	lode_buffer_release(&head);
	lode_page_columns_release(&writing.columns);
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		lode_free(writing.orders[type].first);
		lode_free(writing.orders[type].events);
		lode_free(writing.orders[type].places);
	}
	lode_page_causes_release(&writing.causes);
	lode_free(writing.threads);
	lode_dictionary_map_release(&writing.map);
	return code;
}
