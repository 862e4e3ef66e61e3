/* The chains of one stream: see area_chains.h. */
#include "scope/area_chains.h"

#include "base/starts_with.h"
#include "scope/own_frames.h"
#include "scope/process_names.h"
#include "scope/scope_index.h"
#include "trace/gpu_threads.h"
#include "trace/objects.h"

#include <string.h>

int lode_area_chains_make(struct lode_area_chains *maker, const struct lode_stream *stream,
			  const struct lode_idle_stacks *idle, const struct lode_wait_kinds *kinds,
			  struct lode_chains *chains)
{
	*maker = (struct lode_area_chains){
		.stream = stream,
		.kinds = kinds,
		.chains = chains,
		.places = lode_own_nodes(stream->dictionary, idle),
		.processes = lode_process_names(stream),
	};
	return maker->places && maker->processes ? 0 : LODE_SYSTEM;
}

void lode_area_chains_release(struct lode_area_chains *maker)
{
	lode_crowds_release(&maker->crowds);
	lode_free(maker->places);
	lode_free(maker->processes);
	lode_free(maker->open);
	memset(maker, 0, sizeof(*maker));
}

/* The link of a thread in a state. */
static struct lode_chain_link thread_link(const struct lode_area_chains *maker, uint32_t before, uint32_t thread,
					  enum lode_state state)
{
	return (struct lode_chain_link){
		.before = before,
		.process = maker->processes[thread],
		.thread = maker->stream->threads[thread].name,
		.state = state,
	};
}

/* The link of a thread that waits: for what, and who has it. */
static struct lode_chain_link wait_link(const struct lode_area_chains *maker, uint32_t before,
					const struct lode_events *waits, size_t i)
{
	struct lode_chain_link link =
		thread_link(maker, before, waits->thread[i], lode_wait_kind(maker->kinds, waits, i));
	uint32_t holder = lode_events_holder(waits, i);

	link.object = lode_events_object(waits, i);
	if (holder < maker->stream->thread_count) {
		link.holder = maker->stream->threads[holder].name;
		link.holder_process = maker->processes[holder];
	}
	return link;
}

/*
 * The same where no other link follows: who ended the wait, if nobody is known to have had what it was for. Whoever ends the
 * wait for a lock gave it away.
 */
static struct lode_chain_link woken_link(const struct lode_area_chains *maker, uint32_t before,
					 const struct lode_events *waits, size_t i)
{
	struct lode_chain_link link = wait_link(maker, before, waits, i);
	const char *object =
		lode_strings_get(&maker->stream->dictionary->frames.strings, lode_events_object(waits, i));
	int is_lock = link.state == LODE_STATE_LOCK && lode_object_kind_of(object) == LODE_OBJECT_LOCK;
	uint32_t waker = waits->waker[i];

	if (!link.holder && (link.state == LODE_STATE_REPLY || link.state == LODE_STATE_CHILD || is_lock) &&
	    waker < maker->stream->thread_count) {
		link.holder = maker->stream->threads[waker].name;
		link.holder_process = maker->processes[waker];
	}
	return link;
}

/* The link of a thread without a processor: who had that for most of the time, and with whom it was woken. */
static struct lode_chain_link ready_link(const struct lode_area_chains *maker, uint32_t before,
					 const struct lode_part *part)
{
	struct lode_chain_link link =
		thread_link(maker, before, maker->stream->events[part->type].thread[part->event], LODE_STATE_READY);
	uint64_t time = 0;
	uint32_t behind = maker->processors
				  ? lode_processors_most_alike(maker->processors, maker->processes,
							       (enum lode_event_type)part->type, part->event,
							       part->t, part->t + part->cost, &time)
				  : LODE_NONE;

	if (behind < maker->stream->thread_count && time >= part->cost / 2) {
		link.holder = maker->stream->threads[behind].name;
		link.holder_process = maker->processes[behind];
	}
	if (part->type == LODE_WAIT && maker->crowds.objects)
		link.object = maker->crowds.objects[part->event];
	return link;
}

/* Traces are no groups: each is another. */
uint32_t lode_area_chains_context(const struct lode_area_chains *maker, const struct lode_events *events, size_t i)
{
	uint32_t context = lode_events_context(events, i);

	return context && !lode_starts_with(lode_strings_get(&maker->stream->dictionary->frames.strings, context),
					    LODE_CONTEXT_OF_TRACE)
		       ? context
		       : 0;
}

/* ---- critical paths ---- */

/* The own function that waits. Above what a stream of a GPU waits for stands the call of CUDA that it comes from. */
static uint32_t place_of(const struct lode_area_chains *maker, const struct lode_events *waits, size_t i)
{
	const struct lode_stack_tree *tree = &maker->stream->dictionary->tree;
	uint32_t node = waits->stack[i];

	if (lode_thread_is_gpu(&maker->stream->threads[waits->thread[i]]))
		node = tree->nodes[tree->nodes[node].parent].parent;
	return maker->places[node];
}

static int open_wait(struct lode_area_chains *maker, size_t *depth, const struct lode_part *stepped)
{
	const struct lode_events *waits = &maker->stream->events[LODE_WAIT];
	struct lode_chain_link link =
		wait_link(maker, *depth ? maker->open[*depth - 1].chain : LODE_NONE, waits, stepped->event);
	uint32_t chain;

	link.place = place_of(maker, waits, stepped->event);
	chain = lode_chains_link(maker->chains, &link);
	if (chain == LODE_NONE || LODE_GROW(maker->open, maker->open_capacity, *depth + 1) < 0)
		return LODE_SYSTEM;
	maker->open[(*depth)++] =
		(struct lode_open_wait){ stepped->event, chain, lode_add_saturating(stepped->t, stepped->cost) };
	return 0;
}

/* Whether a part is one of a wait that was stepped into: no event tells what the thread did that it waited for. */
static int is_gap(const struct lode_area_chains *maker, size_t depth, const struct lode_part *part)
{
	return depth && part->type == LODE_WAIT && maker->open[depth - 1].event == part->event;
}

/*
 * In a gap that thread ran, or it is not known what it did. Then the wait is waited out with itself, behind those around it.
 * Returns the thread that ran, or LODE_NONE.
 */
static uint32_t who_runs(const struct lode_area_chains *maker, const struct lode_part *part)
{
	return maker->index && part->unsampled ? lode_walked_thread(maker->index, part->event, part->t) : LODE_NONE;
}

/*
 * A row of one part inside of the first `depth` open waits. It is seen in the outermost of them, the wait of the
 * symptom's thread. A thread without a processor is seen itself: nobody it keeps waiting is to blame.
 */
static struct lode_chain_row row_of_part(const struct lode_area_chains *maker, uint32_t symptom,
					 const struct lode_part *part, size_t depth)
{
	int outside = depth && !lode_part_is_ready(maker->stream, part);
	const struct lode_events *events = &maker->stream->events[outside ? LODE_WAIT : part->type];
	uint32_t event = outside ? maker->open[0].event : part->event;

	return (struct lode_chain_row){
		.symptom = symptom,
		.cost = part->cost,
		.events = 1,
		.longest = part->cost,
		.longest_t = events->t[event],
		.longest_tid = maker->stream->threads[events->thread[event]].tid,
	};
}

/* `link` is the last of the row's chain. */
static int add_path_row(struct lode_area_chains *maker, const struct lode_chain_link *link,
			struct lode_chain_row *row)
{
	row->chain = lode_chains_link(maker->chains, link);
	if (row->chain == LODE_NONE)
		return LODE_SYSTEM;
	return maker->into ? LODE_APPEND(maker->into->items, maker->into->count, maker->into->capacity, *row)
			   : lode_chains_add(maker->chains, row);
}

static int add_gap(struct lode_area_chains *maker, uint32_t symptom, const struct lode_part *part, size_t depth,
		   uint32_t thread)
{
	struct lode_chain_link link = thread_link(maker, maker->open[depth - 1].chain, thread, LODE_STATE_RUNNING);
	struct lode_chain_row row = row_of_part(maker, symptom, part, depth);

	return add_path_row(maker, &link, &row);
}

static int add_part(struct lode_area_chains *maker, uint32_t symptom, const struct lode_part *part, size_t depth)
{
	uint32_t before = depth ? maker->open[depth - 1].chain : LODE_NONE;
	const struct lode_events *events = &maker->stream->events[part->type];
	uint32_t thread = events->thread[part->event];
	struct lode_chain_link link;
	struct lode_chain_row row = row_of_part(maker, symptom, part, depth);

	if (lode_part_is_ready(maker->stream, part))
		link = ready_link(maker, before, part);
	else if (part->type == LODE_WAIT)
		link = woken_link(maker, before, events, part->event);
	else
		link = thread_link(maker, before, thread, LODE_STATE_RUNNING);
	row.stack = events->stack[part->event];
	row.context = lode_area_chains_context(maker, events, part->event);
	return add_path_row(maker, &link, &row);
}

/* A part inside of the first `depth` open waits. */
static int add_any(struct lode_area_chains *maker, uint32_t symptom, const struct lode_part *part, size_t depth)
{
	int gap = is_gap(maker, depth, part);
	uint32_t thread = gap && !lode_part_is_ready(maker->stream, part) ? who_runs(maker, part) : LODE_NONE;

	if (thread != LODE_NONE)
		return add_gap(maker, symptom, part, depth, thread);
	return add_part(maker, symptom, part, depth - (size_t)gap);
}

int lode_area_chains_path(struct lode_area_chains *maker, uint32_t symptom, const struct lode_parts *path,
			  size_t first, const struct lode_parts *stepped)
{
	const struct lode_part *parts = path->items;

	size_t depth = 0, next = 0;

	for (size_t i = first; i < path->count; i++) {
		uint64_t t = parts[i].t;

		for (; depth && maker->open[depth - 1].end <= t; depth--)
			;
		for (; next < stepped->count && stepped->items[next].t <= t; next++)
			if (lode_add_saturating(stepped->items[next].t, stepped->items[next].cost) > t &&
			    open_wait(maker, &depth, &stepped->items[next]) < 0)
				return LODE_SYSTEM;
		if ((!maker->is_wanted || maker->is_wanted(maker->context, &parts[i])) &&
		    add_any(maker, symptom, &parts[i], depth) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* ---- without symptoms ---- */

/* `cost` of event `i`, which is its own, or its time on the run queue. */
static int add_row(struct lode_area_chains *maker, const struct lode_chain_link *link,
		   const struct lode_events *events, size_t i, uint64_t cost)
{
	uint64_t weight = lode_events_weight(events, i);
	struct lode_chain_row row = { .stack = events->stack[i],
				      .context = lode_area_chains_context(maker, events, i),
				      .cost = lode_weighted(cost, weight),
				      .events = weight,
				      .longest = cost,
				      .longest_t = events->t[i],
				      .longest_tid = maker->stream->threads[events->thread[i]].tid };

	row.chain = lode_chains_link(maker->chains, link);
	return row.chain == LODE_NONE ? LODE_SYSTEM : lode_chains_add(maker->chains, &row);
}

uint32_t lode_area_chains_wait(struct lode_area_chains *maker, const struct lode_events *waits, size_t i)
{
	struct lode_chain_link link = woken_link(maker, LODE_NONE, waits, i);

	return lode_chains_link(maker->chains, &link);
}

int lode_area_chains_ready(struct lode_area_chains *maker, const struct lode_events *events, size_t i)
{
	struct lode_chain_link link = thread_link(maker, LODE_NONE, events->thread[i], LODE_STATE_READY);

	return events->delay && events->delay[i] ? add_row(maker, &link, events, i, events->delay[i]) : 0;
}

int lode_area_chains_event(struct lode_area_chains *maker, enum lode_event_type type,
			   const struct lode_events *events, size_t i)
{
	struct lode_chain_link link =
		type == LODE_WAIT ? woken_link(maker, LODE_NONE, events, i)
				  : thread_link(maker, LODE_NONE, events->thread[i], LODE_STATE_RUNNING);

	if (type != LODE_CALL && add_row(maker, &link, events, i, events->cost[i]) < 0)
		return LODE_SYSTEM;
	return lode_area_chains_ready(maker, events, i);
}

int lode_area_chains_set_apart(struct lode_area_chains *maker, enum lode_state state,
			       const struct lode_events *events, size_t i)
{
	struct lode_chain_link link = thread_link(maker, LODE_NONE, events->thread[i], state);
	uint64_t weight = lode_events_weight(events, i);
	struct lode_chain_row row = { .cost = lode_weighted(events->cost[i], weight),
				      .events = weight,
				      .longest = events->cost[i],
				      .longest_t = events->t[i],
				      .longest_tid = maker->stream->threads[events->thread[i]].tid };

	row.chain = lode_chains_link(maker->chains, &link);
	return row.chain == LODE_NONE ? LODE_SYSTEM : lode_chains_add(maker->chains, &row);
}
