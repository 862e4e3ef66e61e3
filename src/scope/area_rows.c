/* The rows of an area: see area_mapping.h. */
#include "scope/area_mapping.h"

int lode_area_is_inside(const struct lode_area_mapping *mapping, uint64_t t, uint32_t stack)
{
	return t >= mapping->from && t <= mapping->to && (!mapping->match || mapping->match[stack]) &&
	       (!mapping->exclude || !mapping->exclude[stack]);
}

int lode_area_has_thread(const struct lode_area_mapping *mapping, uint32_t thread)
{
	return (!mapping->threads || mapping->any_thread || mapping->threads[thread]) &&
	       (!mapping->groups.fits || mapping->groups.fits[thread]);
}

static struct lode_area_row *row_of(struct lode_area_sums *sums, uint32_t stack)
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

/* Adds `weight` events like this one, which ended at `end`; remembers the costliest, and the earliest of equal ones. */
int lode_area_add(struct lode_area_mapping *mapping, struct lode_area_sums *sums, uint32_t stack, uint64_t t,
		  uint64_t cost, uint64_t weight, uint32_t thread, uint64_t end)
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
uint64_t lode_area_event_end(const struct lode_events *events, size_t i)
{
	uint64_t end = lode_add_saturating(events->t[i], events->cost[i]);

	return events->delay ? lode_add_saturating(end, events->delay[i]) : end;
}

/* Whose rows event `i` is added to. */
enum lode_area_row_set lode_area_row_set_of(const struct lode_area_mapping *mapping, int type,
					    const struct lode_events *events, size_t i)
{
	static const enum lode_area_row_set sets[] = {
		[LODE_WAIT_COUNTS] = LODE_AREA_COUNTED,
		[LODE_WAIT_IDLE] = LODE_AREA_IDLE,
		[LODE_WAIT_FOR_WORK] = LODE_AREA_FOR_WORK,
	};

	if (!mapping->idle || mapping->plan->options->include_idle)
		return LODE_AREA_COUNTED;
	if (type == LODE_WAIT)
		return sets[lode_wait_class(&mapping->classes, events, i)];
	return lode_idle_event(mapping->idle, events->stack[i], events->waker_stack[i]) ? LODE_AREA_IDLE
											: LODE_AREA_COUNTED;
}

void lode_area_count_stacks(struct lode_area_mapping *mapping, const struct lode_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		mapping->partial->occurrences[events->stack[i]] += lode_events_weight(events, i);
}

void lode_area_count_input(struct lode_area_mapping *mapping, int type, const struct lode_events *events)
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

/* The stack that event `i` counts under; what does not count keeps its own. */
uint32_t lode_area_counted_stack(const struct lode_area_mapping *mapping, int type, enum lode_area_row_set set,
				 const struct lode_events *events, size_t i)
{
	if (mapping->contexts.nodes && set == LODE_AREA_COUNTED)
		return mapping->contexts.nodes[lode_events_context(events, i)];
	if (mapping->groups.nodes && set == LODE_AREA_COUNTED)
		return mapping->groups.nodes[events->thread[i]];
	return type == LODE_WAIT && set == LODE_AREA_COUNTED ? lode_area_object_stack(&mapping->objects, events, i)
							     : events->stack[i];
}

int lode_area_is_wanted(const struct lode_area_mapping *mapping, int type, const struct lode_events *events,
			size_t i, uint64_t t)
{
	return lode_area_is_inside(mapping, t, events->stack[i]) &&
	       lode_area_has_thread(mapping, events->thread[i]) &&
	       lode_area_context_fits(&mapping->contexts, events, i) &&
	       lode_area_object_fits(&mapping->objects, type == LODE_WAIT ? lode_events_object(events, i) : 0);
}

unsigned lode_area_context_column(const struct lode_area_mapping *mapping)
{
	return mapping->kinds || mapping->contexts.fits || mapping->contexts.nodes ? LODE_CONTEXT : 0;
}
