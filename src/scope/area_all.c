/*
 * Scope `all`: events are read block by block and then dropped. Waits of threads without work are counted separately, by
 * the idle rules and by where a thread waits for work (work_waits.h). For the latter the waits are read twice.
 */
#include "scope/area_mapping.h"

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

/* Scope all in a stream with symptoms, whose paths are needed to tell what waits for work. */
static int add_beside_symptoms(struct lode_area_mapping *mapping, struct lode_error *error)
{
	struct lode_stream *stream = &mapping->partial->stream;
	unsigned context = lode_area_context_column(mapping);
	const unsigned columns[LODE_EVENT_TYPES] = { LODE_AREA_PART_COLUMNS | context,
						     LODE_AREA_PART_COLUMNS | context |
							     lode_area_chain_columns(mapping),
						     LODE_AREA_CALL_COLUMNS | context };
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
		lode_area_count_stacks(mapping, &stream->events[type]);
		if (add_block(mapping, type, &stream->events[type]) < 0)
			code = lode_fail_memory(error);
	}
	lode_scope_index_free(index);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_events_release(&stream->events[type]);
	return code;
}

int lode_area_map_all(struct lode_area_mapping *mapping, struct lode_error *error)
{
	int code = lode_area_learn_classes(mapping, 0, error);

	if (!code)
		code = lode_area_show_threads(mapping, error);
	if (code)
		return code;
	return mapping->classes.work && mapping->partial->stream.symptom_count
		       ? add_beside_symptoms(mapping, error)
		       : lode_area_map_blocks(mapping, 1, error);
}
