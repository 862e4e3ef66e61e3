/*
 * The map step of the area of interest: from the events of one stream to rows.
 *
 * With scope `all`, events are read block by block and then dropped. For the
 * scopes that start from a symptom, the needed columns of the whole stream are
 * loaded, the parts of all symptoms are merged, so that what two symptoms share
 * counts once, and each part is added to the row of its stack.
 *
 * Every event of the symptom's own thread and of a critical path belongs to the
 * symptom, so nothing of it is idle. In the whole graph, and with scope `all`,
 * waits of threads without work are counted separately, by the idle rules and by
 * where a thread waits for work (work_waits.h). For the latter the waits are read
 * twice.
 */
#include "scope/area_stream.h"

#include "scope/area_cache.h"
#include "scope/area_chains.h"
#include "scope/area_objects.h"
#include "scope/frame_filter.h"
#include "scope/symptom_claims.h"
#include "scope/wait_classes.h"
#include "scope/where.h"
#include "trace/slot_sampling.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_COLUMNS (LODE_T | LODE_COST | LODE_THREAD | LODE_STACK | LODE_WAKER_STACK | LODE_WEIGHT | LODE_OBJECT)
#define PART_COLUMNS (WAIT_COLUMNS | LODE_DELAY | LODE_WAKER)
#define CALL_COLUMNS                                                                                              \
	(LODE_T | LODE_COST | LODE_DELAY | LODE_THREAD | LODE_STACK | LODE_NAME |                                 \
	 LODE_WEIGHT) /* derived symptoms look at calls, critical paths at preemptions */

/* Waits as lode_wait_classes_count wants them. */
#define CLASS_COLUMNS                                                                                             \
	(LODE_T | LODE_COST | LODE_DELAY | LODE_THREAD | LODE_STACK | LODE_WAKER | LODE_WAKER_STACK | LODE_WEIGHT)

/* Where an event goes. */
enum row_set {
	ROWS_COUNTED,
	ROWS_IDLE,
	ROWS_FOR_WORK,
	ROW_SETS,
};

/* Rows that are being filled. */
struct sums {
	struct lode_area_rows *rows;
	uint32_t *places;                 /* by node: number of its row plus one; 0: none yet */
	struct lode_area_kept_list *kept; /* NULL: only rows are wanted */
	uint32_t symptom;                 /* whose rows they are, where these are wanted apart */
	size_t begin;                     /* its first row */
};

struct mapping {
	const struct lode_area_plan *plan;
	const struct lode_corpus_entry *entry;
	struct lode_area_partial *partial;
	struct lode_store *store;
	struct lode_idle_stacks *idle; /* NULL: nothing is */
	struct lode_wait_classes classes;
	struct lode_wait_kinds *kinds; /* where chains are wanted */
	struct lode_area_chains chains;
	struct lode_processors *processors; /* the same, on paths */
	uint8_t *match;                     /* by node; NULL: all match */
	uint8_t *exclude;
	struct lode_area_objects objects;
	struct sums sums[LODE_AREA_KINDS][ROW_SETS];
	struct lode_slot_sampling sampling; /* the slots of time that it was recorded in */
	uint32_t preemption;                /* the name of such calls; LODE_NONE: there are none */
	uint64_t from;
	uint64_t to;
};

/* ---- adding to rows ---- */

static int is_inside(const struct mapping *mapping, uint64_t t, uint32_t stack)
{
	return t >= mapping->from && t <= mapping->to && (!mapping->match || mapping->match[stack]) &&
	       (!mapping->exclude || !mapping->exclude[stack]);
}

static struct lode_area_row *row_of(struct sums *sums, uint32_t stack)
{
	struct lode_area_rows *rows = sums->rows;

	if (sums->places[stack])
		return &rows->items[sums->places[stack] - 1];
	if (LODE_GROW(rows->items, rows->capacity, rows->count + 1) < 0)
		return NULL;
	rows->items[rows->count] = (struct lode_area_row){ .stack = stack, .stream = sums->symptom };
	sums->places[stack] = (uint32_t)++rows->count;
	return &rows->items[rows->count - 1];
}

static int keep(struct lode_area_kept_list *kept, uint32_t stack, uint64_t t, uint64_t cost, uint32_t thread)
{
	return LODE_APPEND(kept->items, kept->count, kept->capacity,
			   (struct lode_area_kept){ t, cost, stack, thread });
}

/* The random sums of a row, where the stream was recorded in slots. */
static int spread_of(struct lode_area_rows *rows, struct lode_area_row *row, float **spread)
{
	if (!row->spread) {
		if (LODE_GROW(rows->spreads, rows->spread_capacity, rows->spread_count + 1) < 0)
			return LODE_SYSTEM;
		rows->spreads[rows->spread_count] = (struct lode_area_spread){ { 0 } };
		row->spread = (uint32_t)++rows->spread_count;
	}
	*spread = rows->spreads[row->spread - 1].sums;
	return 0;
}

/* Adds so many events like this one, which ended at `end`; the costliest, and of equal ones the earliest, is remembered. */
static int add(struct mapping *mapping, struct sums *sums, uint32_t stack, uint64_t t, uint64_t cost,
	       uint64_t weight, uint32_t thread, uint64_t end)
{
	struct lode_area_row *row = row_of(sums, stack);
	float *spread = NULL;

	if (!row || (mapping->sampling.count && spread_of(sums->rows, row, &spread) < 0))
		return LODE_SYSTEM;
	if (!row->events || cost > row->longest) {
		row->longest = cost;
		row->longest_t = t;
		row->longest_thread = mapping->partial->stream.threads[thread].tid;
	}
	row->cost = lode_add_saturating(row->cost, lode_weighted(cost, weight));
	row->variance += lode_slot_sampling_add(&mapping->sampling, end, cost, weight, spread);
	row->events += weight;
	sums->rows->cost = lode_add_saturating(sums->rows->cost, lode_weighted(cost, weight));
	sums->rows->events += weight;
	return sums->kept ? keep(sums->kept, stack, t, cost, thread) : 0;
}

/* When an event was over; its delay is only there where the stream was recorded in slots. */
static uint64_t end_of(const struct lode_events *events, size_t i)
{
	uint64_t end = lode_add_saturating(events->t[i], events->cost[i]);

	return events->delay ? lode_add_saturating(end, events->delay[i]) : end;
}

/* Whose rows event `i` is added to. */
static enum row_set row_set_of(const struct mapping *mapping, int type, const struct lode_events *events, size_t i)
{
	static const enum row_set sets[] = {
		[LODE_WAIT_COUNTS] = ROWS_COUNTED,
		[LODE_WAIT_IDLE] = ROWS_IDLE,
		[LODE_WAIT_FOR_WORK] = ROWS_FOR_WORK,
	};

	if (!mapping->idle || mapping->plan->options->include_idle)
		return ROWS_COUNTED;
	if (type == LODE_WAIT)
		return sets[lode_wait_class(&mapping->classes, events, i)];
	return lode_idle_event(mapping->idle, events->stack[i], events->waker_stack[i]) ? ROWS_IDLE : ROWS_COUNTED;
}

static void count_stacks(struct mapping *mapping, const struct lode_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		mapping->partial->occurrences[events->stack[i]] += lode_events_weight(events, i);
}

static void count_input(struct mapping *mapping, int type, const struct lode_events *events)
{
	uint64_t cost = mapping->partial->input_cost[type], count = mapping->partial->input_events[type];

	for (size_t i = 0; i < events->count; i++) {
		cost = lode_add_saturating(cost, lode_events_cost(events, i));
		count += lode_events_weight(events, i);
	}
	mapping->partial->input_cost[type] = cost;
	mapping->partial->input_events[type] = count;
	mapping->partial->recorded_events[type] += events->count;
}

/* ---- objects ---- */

/* The stack that event `i` counts under; what does not count keeps its own. */
static uint32_t counted_stack(const struct mapping *mapping, int type, enum row_set set,
			      const struct lode_events *events, size_t i)
{
	return type == LODE_WAIT && set == ROWS_COUNTED ? lode_area_object_stack(&mapping->objects, events, i)
							: events->stack[i];
}

static int is_wanted(const struct mapping *mapping, int type, const struct lode_events *events, size_t i,
		     uint64_t t)
{
	return is_inside(mapping, t, events->stack[i]) &&
	       lode_area_object_fits(&mapping->objects, type == LODE_WAIT ? lode_events_object(events, i) : 0);
}

/* ---- chains ---- */

/* What chains need besides what rows do. */
#define CHAIN_COLUMNS (LODE_DELAY | LODE_WAKER | LODE_OBJECT | LODE_HOLDER)

static unsigned chain_columns(const struct mapping *mapping)
{
	return mapping->kinds ? CHAIN_COLUMNS : 0;
}

static int is_wanted_part(void *context, const struct lode_part *part)
{
	const struct mapping *mapping = context;

	return is_wanted(mapping, part->type, &mapping->partial->stream.events[part->type], part->event, part->t);
}

static int prepare_chains(struct mapping *mapping, struct lode_error *error)
{
	struct lode_area_partial *partial = mapping->partial;
	int code;

	if (!mapping->plan->options->chains || !mapping->idle || mapping->plan->options->by_symptom)
		return 0;
	code = lode_wait_kinds_make(&mapping->kinds, &partial->stream, mapping->idle, error);
	if (code)
		return code;
	if (lode_area_chains_make(&mapping->chains, &partial->stream, mapping->idle, mapping->kinds,
				  &partial->chains) < 0)
		return lode_fail_memory(error);
	mapping->chains.is_wanted = is_wanted_part;
	mapping->chains.context = mapping;
	return 0;
}

/* One event without a symptom. */
static int add_event_to_chains(struct mapping *mapping, int type, const struct lode_events *events, size_t i)
{
	enum row_set set = type == LODE_CALL ? ROWS_COUNTED : row_set_of(mapping, type, events, i);

	if (set == ROWS_COUNTED)
		return lode_area_chains_event(&mapping->chains, (enum lode_event_type)type, events, i);
	return lode_area_chains_set_apart(&mapping->chains, set == ROWS_IDLE ? LODE_STATE_IDLE : LODE_STATE_WORK,
					  events, i);
}

/* Without symptoms: all that threads did, each event by itself; of calls the preemptions. */
static int add_to_chains(struct mapping *mapping, int type, const struct lode_events *events)
{
	for (size_t i = 0; mapping->kinds && i < events->count; i++)
		if ((type != LODE_CALL || events->name[i] == mapping->preemption) &&
		    is_wanted(mapping, type, events, i, events->t[i]) &&
		    add_event_to_chains(mapping, type, events, i) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* ---- ready time ---- */

/* Of calls only preemptions have any. */
static int is_ready_event(const struct mapping *mapping, int type, const struct lode_events *events, size_t i)
{
	return events->delay[i] && (type == LODE_WAIT || events->name[i] == mapping->preemption);
}

static void count_ready(struct mapping *mapping, int type, const struct lode_events *events)
{
	struct lode_area_partial *partial = mapping->partial;

	for (size_t i = 0; type != LODE_RUN && i < events->count; i++) {
		uint64_t weight = lode_events_weight(events, i);

		if (!is_ready_event(mapping, type, events, i))
			continue;
		partial->input_events[LODE_WAIT] += weight;
		partial->input_cost[LODE_WAIT] = lode_add_saturating(partial->input_cost[LODE_WAIT],
								     lode_weighted(events->delay[i], weight));
		partial->recorded_events[LODE_WAIT]++;
	}
}

/* The time on the run queue after waits, and of preemptions, in place of the events themselves. */
static int add_ready_block(struct mapping *mapping, int type, const struct lode_events *events)
{
	count_ready(mapping, type, events);
	for (size_t i = 0; type != LODE_RUN && i < events->count; i++) {
		uint64_t delay = events->delay[i];
		uint64_t t = type == LODE_WAIT ? lode_add_saturating(events->t[i], events->cost[i]) : events->t[i];

		if (is_ready_event(mapping, type, events, i) && is_inside(mapping, t, events->stack[i]) &&
		    add(mapping, &mapping->sums[LODE_WAIT][ROWS_COUNTED], events->stack[i], t, delay,
			lode_events_weight(events, i), events->thread[i], lode_add_saturating(t, delay)) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* ---- scope all ---- */

static int add_block(struct mapping *mapping, int type, const struct lode_events *events)
{
	if (add_to_chains(mapping, type, events) < 0)
		return LODE_SYSTEM;
	if (mapping->plan->options->ready)
		return add_ready_block(mapping, type, events);
	if (type >= LODE_AREA_KINDS)
		return 0;
	count_input(mapping, type, events);
	if (!(mapping->plan->kinds & 1u << type))
		return 0;
	for (size_t i = 0; i < events->count; i++) {
		enum row_set set;

		if (!is_wanted(mapping, type, events, i, events->t[i]))
			continue;
		set = row_set_of(mapping, type, events, i);
		if (add(mapping, &mapping->sums[type][set], counted_stack(mapping, type, set, events, i),
			events->t[i], events->cost[i], lode_events_weight(events, i), events->thread[i],
			end_of(events, i)) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* Reads all blocks; without `rows` only to count stacks. */
static int add_blocks(struct mapping *mapping, int rows, struct lode_error *error)
{
	int ready = mapping->plan->options->ready;
	unsigned columns = WAIT_COLUMNS | LODE_WAKER | (mapping->sampling.count || ready ? LODE_DELAY : 0);
	struct lode_events events = { 0 };
	int code = 0, types = mapping->kinds || ready ? LODE_EVENT_TYPES : LODE_AREA_KINDS;

	columns |= chain_columns(mapping);

	for (size_t i = 0; !code && i < lode_store_blocks(mapping->store); i++) {
		enum lode_event_type type = lode_store_block(mapping->store, i)->type;
		int counts = rows && (int)type < types;

		code = lode_store_events(mapping->store, i,
					 !counts             ? LODE_STACK | LODE_WEIGHT
					 : type == LODE_CALL ? CALL_COLUMNS
							     : columns,
					 &events, error);
		if (code)
			break;
		count_stacks(mapping, &events);
		if (counts && add_block(mapping, (int)type, &events) < 0)
			code = lode_fail_memory(error);
	}
	lode_events_release(&events);
	return code;
}

/* ---- which waits count ---- */

/* Shows the threads of all stored events to the kinds of waits: these may be waited for. */
static int show_threads(struct mapping *mapping, struct lode_error *error)
{
	struct lode_events events = { 0 };
	int code = 0;

	for (size_t i = 0; mapping->kinds && !code && i < lode_store_blocks(mapping->store); i++) {
		if (lode_store_block(mapping->store, i)->type >= LODE_AREA_KINDS)
			continue;
		code = lode_store_events(mapping->store, i, LODE_THREAD, &events, error);
		if (!code)
			lode_wait_kinds_see(mapping->kinds, &events);
	}
	lode_events_release(&events);
	return code;
}

/* Shows the blocks of one type to the classes. */
static int show_blocks(struct mapping *mapping, enum lode_event_type type, unsigned columns,
		       struct lode_error *error)
{
	struct lode_events events = { 0 };
	int code = 0;

	for (size_t i = 0; !code && i < lode_store_blocks(mapping->store); i++) {
		if (lode_store_block(mapping->store, i)->type != type)
			continue;
		code = lode_store_events(mapping->store, i, columns, &events, error);
		if (code)
			break;
		if (type == LODE_RUN)
			lode_wait_classes_see_runs(&mapping->classes, &events);
		else if (lode_wait_classes_count(&mapping->classes, &events) < 0)
			code = lode_fail_memory(error);
	}
	lode_events_release(&events);
	return code;
}

static int show_stored(struct mapping *mapping, struct lode_error *error)
{
	int code = show_blocks(mapping, LODE_WAIT, CLASS_COLUMNS, error);

	if (!code && lode_wait_classes_need_runs(&mapping->classes))
		code = show_blocks(mapping, LODE_RUN, LODE_COST | LODE_THREAD | LODE_WEIGHT, error);
	return code;
}

static int show_loaded(struct mapping *mapping, struct lode_error *error)
{
	const struct lode_events *events = mapping->partial->stream.events;

	lode_wait_classes_see_runs(&mapping->classes, &events[LODE_RUN]);
	return lode_wait_classes_count(&mapping->classes, &events[LODE_WAIT]) < 0 ? lode_fail_memory(error) : 0;
}

/*
 * Finds where threads wait for work and which are idle, unless nothing is to be counted separately; `loaded`: the events
 * are in memory.
 */
static int learn_classes(struct mapping *mapping, int loaded, struct lode_error *error)
{
	const struct lode_area_options *options = mapping->plan->options;
	int code;

	if (!mapping->idle || options->include_idle || options->include_work_waits || options->ready ||
	    !(mapping->plan->kinds & 1u << LODE_WAIT))
		return 0;
	code = lode_wait_classes_begin(&mapping->classes, &mapping->partial->stream, mapping->idle, error);
	if (!code)
		code = loaded ? show_loaded(mapping, error) : show_stored(mapping, error);
	if (!code && lode_wait_classes_settle(&mapping->classes) < 0)
		code = lode_fail_memory(error);
	return code;
}

/* ---- the scopes of symptoms ---- */

/*
 * The parts of a critical path tile the symptom, so each represents itself: what was not recorded
 * is time that the path does not know. In the other scopes each event represents others like it. Of
 * the graph this counts those that a recorded wait leads to; what only others lead to is missing.
 */
static uint64_t part_weight(const struct mapping *mapping, const struct lode_events *events, size_t event)
{
	return mapping->plan->scope == LODE_SCOPE_CRITICAL_PATH ? 1 : lode_events_weight(events, event);
}

static int add_part(struct mapping *mapping, const struct lode_part *part, const uint8_t *own)
{
	const struct lode_events *events = &mapping->partial->stream.events[part->type];
	uint32_t thread = events->thread[part->event];
	enum row_set set = mapping->plan->scope == LODE_SCOPE_GRAPH && !own[thread]
				   ? row_set_of(mapping, part->type, events, part->event)
				   : ROWS_COUNTED;

	int kind = mapping->plan->options->ready ? LODE_WAIT : part->type;

	if (!(mapping->plan->kinds & 1u << kind) || !is_wanted(mapping, part->type, events, part->event, part->t))
		return 0;
	return add(mapping, &mapping->sums[kind][set],
		   counted_stack(mapping, part->type, set, events, part->event), part->t, part->cost,
		   part_weight(mapping, events, part->event), thread, end_of(events, part->event));
}

/* An event counts once in `events` of its row, also where several parts of it are on the path. */
static int add_parts(struct mapping *mapping, const struct lode_parts *parts, const uint8_t *own)
{
	for (size_t i = 0; i < parts->count; i++) {
		const struct lode_part *part = &parts->items[i];
		struct lode_part whole = *part;

		while (i + 1 < parts->count && parts->items[i + 1].type == part->type &&
		       parts->items[i + 1].event == part->event)
			whole.cost = lode_add_saturating(whole.cost, parts->items[++i].cost);
		if (add_part(mapping, &whole, own) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* Marks all threads with the tid of `thread`: one may be recorded under several. */
static void mark_own(const struct lode_stream *stream, uint32_t thread, uint8_t *own)
{
	for (size_t i = 0; i < stream->thread_count; i++)
		own[i] |= stream->threads[i].tid == stream->threads[thread].tid;
}

/* What comes next belongs to another symptom. */
static void begin_rows(struct mapping *mapping, uint32_t symptom)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		for (int set = 0; set < ROW_SETS; set++) {
			struct sums *sums = &mapping->sums[kind][set];

			for (size_t i = sums->begin; i < sums->rows->count; i++)
				sums->places[sums->rows->items[i].stack] = 0;
			sums->begin = sums->rows->count;
			sums->symptom = symptom;
		}
}

/* Adds what the parts come to, and empties them. */
static int settle(struct mapping *mapping, struct lode_parts *parts, const uint8_t *own)
{
	int code = lode_parts_unite(parts);

	if (code == 0)
		code = add_parts(mapping, parts, own);
	parts->count = 0;
	return code;
}

/* How the time of a symptom is accounted for: `parts` from `first` on are its path. */
static struct lode_area_account account_for(const struct mapping *mapping, const struct lode_parts *parts,
					    size_t first, uint64_t unknown)
{
	struct lode_area_account account = { .unknown = unknown };

	for (size_t i = first; i < parts->count; i++) {
		const struct lode_part *part = &parts->items[i];
		const struct lode_events *events = &mapping->partial->stream.events[part->type];
		uint64_t *sum = &account.running;

		if (lode_part_is_ready(&mapping->partial->stream, part))
			sum = &account.ready;
		else if (part->type == LODE_WAIT)
			sum = mapping->idle && lode_idle_event(mapping->idle, events->stack[part->event],
							       events->waker_stack[part->event])
				      ? &account.idling
				      : &account.waiting;
		*sum = lode_add_saturating(*sum, part->cost);
	}
	return account;
}

static void add_account(struct lode_area_account *to, const struct lode_area_account *more)
{
	to->unknown = lode_add_saturating(to->unknown, more->unknown);
	to->running = lode_add_saturating(to->running, more->running);
	to->waiting = lode_add_saturating(to->waiting, more->waiting);
	to->idling = lode_add_saturating(to->idling, more->idling);
	to->ready = lode_add_saturating(to->ready, more->ready);
}

/* No stack is to blame for the time that a thread was ready: it is only accounted for, unless it is asked for. */
static void choose_parts(const struct mapping *mapping, struct lode_parts *parts, size_t first)
{
	int wanted = mapping->plan->options->ready;
	size_t kept = first;

	for (size_t i = first; i < parts->count; i++)
		if (lode_part_is_ready(&mapping->partial->stream, &parts->items[i]) == wanted)
			parts->items[kept++] = parts->items[i];
	parts->count = kept;
}

/* A symptom by itself: its rows follow those of the one before. */
static int settle_one(struct mapping *mapping, const struct lode_symptom *symptom, uint32_t number,
		      struct lode_parts *parts, const struct lode_area_account *account)
{
	struct lode_area_partial *partial = mapping->partial;
	uint8_t *own = lode_calloc(partial->stream.thread_count + 1, 1);
	int code;

	if (!own)
		return LODE_SYSTEM;
	mark_own(&partial->stream, symptom->thread, own);
	partial->each[number] = (struct lode_area_symptom){
		.name = symptom->name,
		.tid = partial->stream.threads[symptom->thread].tid,
		.t0 = symptom->t0,
		.t1 = symptom->t1 > symptom->t0 ? symptom->t1 : symptom->t0,
	};
	partial->each_account[number] = *account;
	begin_rows(mapping, number);
	code = settle(mapping, parts, own);
	lode_free(own);
	return code;
}

static int add_symptoms(struct mapping *mapping, const struct lode_symptom *symptoms, size_t count,
			struct lode_error *error)
{
	struct lode_area_partial *partial = mapping->partial;
	struct lode_scope_index *index = NULL;
	struct lode_parts parts = { 0 }, stepped = { 0 };
	uint8_t *own = lode_calloc(partial->stream.thread_count + 1, 1);
	int code = own ? lode_scope_index_make(&index, &partial->stream, error) : lode_fail_memory(error);
	int apart = mapping->plan->options->by_symptom;

	if (!code && apart) {
		partial->each = lode_calloc(count + 1, sizeof(*partial->each));
		partial->each_account = lode_calloc(count + 1, sizeof(*partial->each_account));
		if (!partial->each || !partial->each_account)
			code = lode_fail_memory(error);
	}
	if (!code && mapping->idle)
		lode_scope_index_interrupts(index, lode_idle_interrupts(mapping->idle));
	if (!code && mapping->classes.work)
		code = lode_wait_classes_mark_paths(&mapping->classes, index,
						    partial->stream.events[LODE_WAIT].count, symptoms, count,
						    error);
	for (size_t i = 0; !code && i < count; i++) {
		uint64_t length = symptoms[i].t1 > symptoms[i].t0 ? symptoms[i].t1 - symptoms[i].t0 : 0;
		struct lode_scope_result result = { 0 };
		struct lode_area_account account = { 0 };
		size_t first = parts.count;

		stepped.count = 0;
		code = mapping->kinds && mapping->plan->scope == LODE_SCOPE_CRITICAL_PATH
			       ? lode_critical_path(index, &symptoms[i], &parts, &stepped, &result.unknown, error)
			       : lode_scope_symptom(index, &symptoms[i], mapping->plan->scope, &parts, &result,
						    error);
		if (!code && mapping->kinds && mapping->plan->scope == LODE_SCOPE_CRITICAL_PATH &&
		    lode_area_chains_path(&mapping->chains, (uint32_t)i, &parts, first, &stepped) < 0)
			code = lode_fail_memory(error);
		if (!own[symptoms[i].thread])
			mark_own(&partial->stream, symptoms[i].thread, own);
		partial->symptoms++;
		partial->delay = lode_add_saturating(partial->delay, length);
		if (!code && mapping->plan->scope == LODE_SCOPE_CRITICAL_PATH) {
			account = account_for(mapping, &parts, first, result.unknown);
			choose_parts(mapping, &parts, first);
		}
		add_account(&partial->account, &account);
		if (length > partial->longest_delay)
			partial->longest_delay = length;
		if (!code && apart && settle_one(mapping, &symptoms[i], (uint32_t)i, &parts, &account) < 0)
			code = lode_fail_memory(error);
	}
	if (!code && settle(mapping, &parts, own) < 0)
		code = lode_fail_memory(error);
	lode_parts_release(&parts);
	lode_parts_release(&stepped);
	lode_scope_index_free(index);
	lode_free(own);
	return code;
}

static int derive_and_add(struct mapping *mapping, struct lode_error *error)
{
	const struct lode_stream *stream = &mapping->partial->stream;
	struct lode_symptom *symptoms;
	size_t count, all;
	int code = lode_symptoms_of(&mapping->plan->rules, stream,
				    mapping->plan->options->include_idle ? NULL : mapping->idle, &symptoms, &count,
				    error);

	if (code)
		return code;
	all = count;
	if (lode_symptom_claims_apply(mapping->plan->claims, mapping->entry, stream, symptoms, &count) < 0)
		code = lode_fail_memory(error);
	mapping->partial->repeated = all - count;
	if (!code)
		code = add_symptoms(mapping, symptoms, count, error);
	lode_free(symptoms);
	return code;
}

static int add_scope(struct mapping *mapping, struct lode_error *error)
{
	struct lode_stream *stream = &mapping->partial->stream;
	unsigned cpu = mapping->kinds ? LODE_CPU : 0;
	const unsigned columns[LODE_EVENT_TYPES] = { PART_COLUMNS, PART_COLUMNS | chain_columns(mapping) | cpu,
						     CALL_COLUMNS | cpu };
	int code = lode_store_load_events(mapping->store, stream, columns, error);

	if (!code && mapping->kinds)
		code = lode_processors_make(&mapping->processors, stream, error);
	mapping->chains.processors = mapping->processors;
	if (code)
		return code;
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		count_stacks(mapping, &stream->events[type]);
		if (mapping->plan->options->ready)
			count_ready(mapping, type, &stream->events[type]);
		else if (type < LODE_AREA_KINDS)
			count_input(mapping, type, &stream->events[type]);
		if (mapping->kinds && type < LODE_AREA_KINDS)
			lode_wait_kinds_see(mapping->kinds, &stream->events[type]);
	}
	if (mapping->plan->scope == LODE_SCOPE_GRAPH)
		code = learn_classes(mapping, 1, error);
	if (!code)
		code = derive_and_add(mapping, error);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_events_release(&stream->events[type]);
	return code;
}

/* Scope all in a stream with symptoms, whose paths are needed to tell what waits for work. */
static int add_beside_symptoms(struct mapping *mapping, struct lode_error *error)
{
	struct lode_stream *stream = &mapping->partial->stream;
	const unsigned columns[LODE_EVENT_TYPES] = { PART_COLUMNS, PART_COLUMNS | chain_columns(mapping),
						     CALL_COLUMNS };
	struct lode_scope_index *index = NULL;
	int code = lode_store_load_events(mapping->store, stream, columns, error);

	if (!code)
		code = lode_scope_index_make(&index, stream, error);
	if (!code) {
		lode_scope_index_interrupts(index, lode_idle_interrupts(mapping->idle));
		code = lode_wait_classes_mark_paths(&mapping->classes, index, stream->events[LODE_WAIT].count,
						    stream->symptoms, stream->symptom_count, error);
	}
	for (int type = 0; !code && type < LODE_EVENT_TYPES; type++) {
		count_stacks(mapping, &stream->events[type]);
		if (add_block(mapping, type, &stream->events[type]) < 0)
			code = lode_fail_memory(error);
	}
	lode_scope_index_free(index);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_events_release(&stream->events[type]);
	return code;
}

static int add_everything(struct mapping *mapping, struct lode_error *error)
{
	int code = learn_classes(mapping, 0, error);

	if (!code)
		code = show_threads(mapping, error);
	if (code)
		return code;
	return mapping->classes.work && mapping->partial->stream.symptom_count ? add_beside_symptoms(mapping, error)
									       : add_blocks(mapping, 1, error);
}

/* ---- slots ---- */

/* Looks for the slots of time in which the stream was recorded. */
static int find_slots(struct mapping *mapping, struct lode_error *error)
{
	const struct lode_strings *strings = &mapping->partial->dictionary.frames.strings;
	struct lode_events events = { 0 };
	int code = 0;

	if (!lode_slot_sampling_is_possible(strings))
		return 0;
	for (size_t i = 0; !code && i < lode_store_blocks(mapping->store); i++) {
		if (lode_store_block(mapping->store, i)->type != LODE_CALL)
			continue;
		code = lode_store_events(mapping->store, i, LODE_T | LODE_DELAY | LODE_NAME, &events, error);
		if (!code && lode_slot_sampling_see(&mapping->sampling, &events, strings) < 0)
			code = lode_fail_memory(error);
	}
	lode_slot_sampling_settle(&mapping->sampling, strtoull(mapping->entry->id, NULL, 16));
	lode_events_release(&events);
	return code;
}

/* ---- one stream ---- */

static int prepare(struct mapping *mapping, struct lode_error *error)
{
	const struct lode_area_options *options = mapping->plan->options;
	struct lode_area_partial *partial = mapping->partial;
	const struct lode_dictionary *dictionary = &partial->dictionary;
	size_t nodes = dictionary->tree.count;
	int failed = 0;

	failed |= lode_stacks_match(dictionary, options->match, &mapping->match) < 0;
	failed |= lode_stacks_match(dictionary, options->exclude, &mapping->exclude) < 0;
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		mapping->sums[kind][ROWS_COUNTED].rows = &partial->rows[kind];
		mapping->sums[kind][ROWS_COUNTED].kept = mapping->plan->keep ? &partial->kept[kind] : NULL;
		mapping->sums[kind][ROWS_IDLE].rows = &partial->idle[kind];
		mapping->sums[kind][ROWS_FOR_WORK].rows = &partial->work; /* only waits come here */
		for (int set = 0; set < ROW_SETS; set++) {
			mapping->sums[kind][set].places = lode_calloc(nodes, sizeof(uint32_t));
			failed |= !mapping->sums[kind][set].places;
		}
	}
	if (failed)
		return lode_fail_memory(error);
	failed = options->idle ? lode_idle_stacks_make(&mapping->idle, options->idle, dictionary, error) : 0;
	mapping->classes.idle = mapping->idle;
	mapping->preemption =
		lode_strings_find(&dictionary->frames.strings, LODE_PREEMPTION, sizeof(LODE_PREEMPTION) - 1);
	return failed ? failed : prepare_chains(mapping, error);
}

static void set_time(struct mapping *mapping, uint64_t first_t)
{
	const struct lode_area_plan *plan = mapping->plan;

	mapping->from = plan->relative ? lode_add_saturating(first_t, plan->from) : plan->from;
	mapping->to = plan->relative ? lode_add_saturating(first_t, plan->to) : plan->to;
}

static int read_head(struct mapping *mapping, struct lode_error *error)
{
	struct lode_area_partial *partial = mapping->partial;
	int code = lode_store_head(mapping->store, &partial->stream, error);

	if (!code)
		code = lode_area_objects_make(&mapping->objects, mapping->store, &partial->stream,
					      mapping->plan->options, error);
	if (code)
		return code;
	partial->occurrences = lode_calloc(partial->dictionary.tree.count, sizeof(*partial->occurrences));
	if (!partial->occurrences)
		return lode_fail_memory(error);
	partial->wanted = lode_where_fits(&partial->stream, mapping->plan->options->where);
	return 0;
}

static int map_events(struct mapping *mapping, struct lode_error *error)
{
	int code;

	if (!mapping->partial->wanted)
		return add_blocks(mapping, 0, error);
	code = prepare(mapping, error);
	if (!code)
		code = find_slots(mapping, error);
	if (code)
		return code;
	set_time(mapping, mapping->entry->first_t);
	return mapping->plan->scope == LODE_SCOPE_ALL ? add_everything(mapping, error) : add_scope(mapping, error);
}

/* From the cache where it is there. */
static int map_stream(struct mapping *mapping, struct lode_error *error)
{
	const struct lode_corpus_entry *entry = mapping->entry;
	struct lode_map_key key;
	int code = read_head(mapping, error), kept, found;

	if (code)
		return code;
	kept = lode_area_cache_key(mapping->plan, entry, mapping->store, mapping->partial, &key);
	found = kept > 0 ? lode_area_cache_find(entry->cache, &key, mapping->partial) : 0;
	if (kept < 0 || found < 0)
		return lode_fail_memory(error);
	if (found)
		return 0;
	code = map_events(mapping, error);
	if (!code && kept)
		lode_area_cache_put(entry->cache, &key, mapping->partial);
	return code;
}

static int fill_partial(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry,
			struct lode_area_partial *partial, struct lode_error *error)
{
	struct mapping mapping = { .plan = plan, .entry = entry, .partial = partial };
	int code;

	memset(partial, 0, sizeof(*partial));
	if (lode_dictionary_init(&partial->dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&partial->stream, &partial->dictionary);
	code = lode_store_open(&mapping.store, entry->path, error);
	if (code)
		return code;
	code = map_stream(&mapping, error);
	lode_store_close(mapping.store);
	lode_slot_sampling_release(&mapping.sampling);
	lode_area_chains_release(&mapping.chains);
	lode_wait_kinds_free(mapping.kinds);
	lode_processors_free(mapping.processors);
	lode_wait_classes_release(&mapping.classes);
	lode_idle_stacks_free(mapping.idle);
	lode_area_objects_release(&mapping.objects);
	lode_free(mapping.match);
	lode_free(mapping.exclude);
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		for (int set = 0; set < ROW_SETS; set++)
			lode_free(mapping.sums[kind][set].places);
	return code;
}

int lode_area_stream_if_readable(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry,
				 struct lode_area_partial *partial, struct lode_error *error)
{
	struct lode_error own = { "" };
	int code = fill_partial(plan, entry, partial, &own);

	if (!code)
		return 0;
	if (plan->options->strict || !lode_stream_is_unreadable(entry, code))
		return lode_fail(error, code, "%s", own.text);
	lode_area_partial_release(partial);
	*partial = (struct lode_area_partial){ .unread = code, .reason = lode_strdup(own.text) };
	return partial->reason ? 0 : lode_fail_memory(error);
}

void lode_area_partial_release(struct lode_area_partial *partial)
{
	lode_free(partial->reason);
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		lode_area_rows_release(&partial->rows[kind]);
		lode_area_rows_release(&partial->idle[kind]);
		lode_free(partial->kept[kind].items);
	}
	lode_area_rows_release(&partial->work);
	lode_chains_release(&partial->chains);
	lode_free(partial->occurrences);
	lode_free(partial->each);
	lode_free(partial->each_account);
	lode_stream_release(&partial->stream);
	lode_dictionary_release(&partial->dictionary);
}

/* ---- for the cache alone ---- */

/* The key depends on no stack. */
static int is_kept(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry,
		   struct lode_area_partial *partial)
{
	struct lode_store *store = NULL;
	struct lode_cached_map found;
	struct lode_map_key key;
	int kept = 0;

	lode_stream_init(&partial->stream, &partial->dictionary);
	if (lode_store_open(&store, entry->path, NULL) < 0)
		return 0;
	if (!lode_store_brief_head(store, &partial->stream, NULL)) {
		partial->wanted = lode_where_fits(&partial->stream, plan->options->where);
		kept = lode_area_cache_key(plan, entry, store, partial, &key) > 0 &&
		       lode_map_cache_find(entry->cache, &key, &found);
	}
	if (kept)
		lode_cached_map_release(&found);
	lode_store_close(store);
	return kept;
}

void lode_area_stream_keep(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry)
{
	struct lode_area_partial partial = { 0 };
	int kept;

	if (lode_dictionary_init(&partial.dictionary) < 0)
		return;
	kept = is_kept(plan, entry, &partial);
	lode_area_partial_release(&partial);
	if (kept)
		return;
	fill_partial(plan, entry, &partial, NULL);
	lode_area_partial_release(&partial);
}
