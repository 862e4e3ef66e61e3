/* Time ready in an area: see area_mapping.h. */
#include "scope/area_mapping.h"

/* Of calls only preemptions have any. */
static int is_ready_event(const struct lode_area_mapping *mapping, int type, const struct lode_events *events,
			  size_t i)
{
	return events->delay[i] && (type == LODE_WAIT || events->name[i] == mapping->preemption);
}

void lode_area_count_ready(struct lode_area_mapping *mapping, int type, const struct lode_events *events)
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
int lode_area_add_ready(struct lode_area_mapping *mapping, int type, const struct lode_events *events)
{
	lode_area_count_ready(mapping, type, events);
	for (size_t i = 0; type != LODE_RUN && i < events->count; i++) {
		uint64_t delay = events->delay[i];
		uint64_t t = type == LODE_WAIT ? lode_add_saturating(events->t[i], events->cost[i]) : events->t[i];

		if (is_ready_event(mapping, type, events, i) && lode_area_is_inside(mapping, t, events->stack[i]) &&
		    lode_area_has_thread(mapping, events->thread[i]) &&
		    lode_area_context_fits(&mapping->contexts, events, i) &&
		    lode_area_add(mapping, &mapping->sums[LODE_WAIT][LODE_AREA_COUNTED], events->stack[i], t,
				  delay, lode_events_weight(events, i), events->thread[i],
				  lode_add_saturating(t, delay)) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}
