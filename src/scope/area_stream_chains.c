/* The chains beside the rows of a stream: see area_mapping.h. area_chains.c makes them. */
#include "scope/area_mapping.h"

/* What chains need besides what rows do. */
#define CHAIN_COLUMNS (LODE_DELAY | LODE_WAKER | LODE_OBJECT | LODE_HOLDER)

unsigned lode_area_chain_columns(const struct lode_area_mapping *mapping)
{
	return mapping->kinds ? CHAIN_COLUMNS : 0;
}

static int is_wanted_part(void *context, const struct lode_part *part)
{
	const struct lode_area_mapping *mapping = context;

	return lode_area_is_wanted(mapping, part->type, &mapping->partial->stream.events[part->type], part->event,
				   part->t);
}

int lode_area_prepare_chains(struct lode_area_mapping *mapping, struct lode_error *error)
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
static int add_event_to_chains(struct lode_area_mapping *mapping, int type, const struct lode_events *events,
			       size_t i)
{
	enum lode_area_row_set set = type == LODE_CALL ? LODE_AREA_COUNTED
						       : lode_area_row_set_of(mapping, type, events, i);

	if (set == LODE_AREA_COUNTED && type == LODE_WAIT && mapping->walks)
		return lode_area_walks_add(mapping->walks, i);
	if (set == LODE_AREA_COUNTED)
		return lode_area_chains_event(&mapping->chains, (enum lode_event_type)type, events, i);
	return lode_area_chains_set_apart(&mapping->chains,
					  set == LODE_AREA_IDLE ? LODE_STATE_IDLE : LODE_STATE_WORK, events, i);
}

/* Without symptoms: all that threads did; of calls the preemptions. */
int lode_area_add_to_chains(struct lode_area_mapping *mapping, int type, const struct lode_events *events)
{
	for (size_t i = 0; mapping->kinds && i < events->count; i++)
		if ((type != LODE_CALL || events->name[i] == mapping->preemption) &&
		    lode_area_is_wanted(mapping, type, events, i, events->t[i]) &&
		    add_event_to_chains(mapping, type, events, i) < 0)
			return LODE_SYSTEM;
	return 0;
}
