/*
 * Scope `all`: waits of threads without work are counted separately, by the idle rules and by where a thread waits for work
 * (work_waits.h).
 *
 * Events are read block by block and then dropped, the waits twice, to learn which are for work. Where chains are wanted, all
 * are loaded, because waits are followed through other threads (area_walks.h); so are those of streams with symptoms, whose
 * paths tell what is no wait for work.
 */
#include "scope/area_mapping.h"

/* Waits of larger streams are not followed: they would take more memory, about 60 bytes an event, than may be there. */
#define MAX_FOLLOWED_EVENTS (8u << 20)

static int add_block(struct lode_area_mapping *mapping, int type, const struct lode_events *events)
{
	if (lode_area_add_to_chains(mapping, type, events) < 0)
		return LODE_SYSTEM;
	if (mapping->plan->options->ready)
		return lode_area_add_ready(mapping, type, events);
	if (type >= LODE_AREA_KINDS)
		return 0;
	lode_area_count_input(mapping, type, events);
	if (!(mapping->plan->kinds & 1u << type))
		return 0;
	for (size_t i = 0; i < events->count; i++) {
		enum lode_area_row_set set;

		if (!lode_area_is_wanted(mapping, type, events, i, events->t[i]))
			continue;
		set = lode_area_row_set_of(mapping, type, events, i);
		if (lode_area_add(mapping, &mapping->sums[type][set],
				  lode_area_counted_stack(mapping, type, set, events, i), events->t[i],
				  events->cost[i], lode_events_weight(events, i), events->thread[i],
				  lode_area_event_end(events, i)) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* Reads all blocks; without `rows` only to count stacks. */
int lode_area_map_blocks(struct lode_area_mapping *mapping, int rows, struct lode_error *error)
{
	int ready = mapping->plan->options->ready;
	unsigned context = lode_area_context_column(mapping);
	unsigned columns = LODE_AREA_WAIT_COLUMNS | LODE_WAKER |
			   (mapping->sampling.count || ready ? LODE_DELAY : 0);
	struct lode_events events = { 0 };
	int code = 0, types = mapping->kinds || ready ? LODE_EVENT_TYPES : LODE_AREA_KINDS;

	columns |= lode_area_chain_columns(mapping) | context;
	for (size_t i = 0; !code && i < lode_store_blocks(mapping->store); i++) {
		enum lode_event_type type = lode_store_block(mapping->store, i)->type;
		int counts = rows && (int)type < types;

		code = lode_store_events(mapping->store, i,
					 !counts             ? LODE_STACK | LODE_WEIGHT
					 : type == LODE_CALL ? LODE_AREA_CALL_COLUMNS | context
							     : columns,
					 &events, error);
		if (code)
			break;
		lode_area_count_stacks(mapping, &events);
		if (counts && add_block(mapping, (int)type, &events) < 0)
			code = lode_fail_memory(error);
	}
	lode_events_release(&events);
	return code;
}

/* ---- loaded ---- */

static int load(struct lode_area_mapping *mapping, struct lode_error *error)
{
	unsigned context = lode_area_context_column(mapping), more = lode_area_chain_columns(mapping);
	const unsigned columns[LODE_EVENT_TYPES] = { LODE_AREA_PART_COLUMNS | context,
						     LODE_AREA_PART_COLUMNS | context | more,
						     LODE_AREA_CALL_COLUMNS | context };

	return lode_store_load_events(mapping->store, &mapping->partial->stream, columns, error);
}

static int mark_paths(struct lode_area_mapping *mapping, struct lode_scope_index *index, struct lode_error *error)
{
	const struct lode_stream *stream = &mapping->partial->stream;

	if (!mapping->classes.work || !stream->symptom_count)
		return 0;
	return lode_wait_classes_mark_paths(&mapping->classes, index, stream->events[LODE_WAIT].count,
					    stream->symptoms, stream->symptom_count, error);
}

/* The time of the waits that count. */
static uint64_t time_of_waits(const struct lode_area_mapping *mapping)
{
	const struct lode_events *waits = &mapping->partial->stream.events[LODE_WAIT];
	uint64_t total = 0;

	for (size_t i = 0; i < waits->count; i++)
		if (lode_area_is_wanted(mapping, LODE_WAIT, waits, i, waits->t[i]) &&
		    lode_area_row_set_of(mapping, LODE_WAIT, waits, i) == LODE_AREA_COUNTED)
			total = lode_add_saturating(total, lode_events_cost(waits, i));
	return total;
}

static int add_loaded(struct lode_area_mapping *mapping, struct lode_scope_index *index, int follow)
{
	struct lode_stream *stream = &mapping->partial->stream;
	struct lode_area_walks walks = { 0 };
	int code = 0;

	if (follow) {
		mapping->chains.index = index;
		mapping->walks = &walks;
		lode_area_walks_begin(&walks, &mapping->chains, index, time_of_waits(mapping));
	}
	for (int type = 0; !code && type < LODE_EVENT_TYPES; type++) {
		lode_area_count_stacks(mapping, &stream->events[type]);
		code = add_block(mapping, type, &stream->events[type]);
	}
	if (!code)
		code = lode_area_walks_end(&walks);
	lode_area_walks_release(&walks);
	mapping->walks = NULL;
	mapping->chains.index = NULL;
	return code;
}

static int map_loaded(struct lode_area_mapping *mapping, int follow, struct lode_error *error)
{
	struct lode_stream *stream = &mapping->partial->stream;
	struct lode_scope_index *index = NULL;
	int code = load(mapping, error);

	if (!code)
		code = lode_area_learn_classes(mapping, 1, error);
	for (int type = 0; !code && mapping->kinds && type < LODE_AREA_KINDS; type++)
		lode_wait_kinds_see(mapping->kinds, &stream->events[type]);
	if (!code)
		code = lode_scope_index_make(&index, stream, error);
	if (!code && mapping->idle)
		lode_scope_index_interrupts(index, lode_idle_interrupts(mapping->idle));
	if (!code)
		code = mark_paths(mapping, index, error);
	if (!code && add_loaded(mapping, index, follow) < 0)
		code = lode_fail_memory(error);
	lode_scope_index_free(index);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_events_release(&stream->events[type]);
	return code;
}

/* ---- either ---- */

static int is_small(const struct lode_store *store)
{
	uint64_t events = 0;

	for (size_t i = 0; i < lode_store_blocks(store); i++)
		events += lode_store_block(store, i)->count;
	return events <= MAX_FOLLOWED_EVENTS;
}

int lode_area_map_all(struct lode_area_mapping *mapping, struct lode_error *error)
{
	int follow = mapping->kinds && is_small(mapping->store), code;

	if (follow || (lode_area_learns_classes(mapping) && mapping->partial->stream.symptom_count))
		return map_loaded(mapping, follow, error);
	code = lode_area_learn_classes(mapping, 0, error);
	if (!code)
		code = lode_area_show_threads(mapping, error);
	return code ? code : lode_area_map_blocks(mapping, 1, error);
}
