/*
 * Which waits of a stream count: see area_mapping.h. What decides is in wait_classes.h; here the events of a
 * stream are shown to it, from memory or block by block.
 */
#include "scope/area_mapping.h"

/* Waits as lode_wait_classes_count wants them. */
#define CLASS_COLUMNS                                                                                             \
	(LODE_T | LODE_COST | LODE_DELAY | LODE_THREAD | LODE_STACK | LODE_WAKER | LODE_WAKER_STACK |             \
	 LODE_WEIGHT | LODE_OBJECT)

/* Shows the threads of all stored events to the kinds of waits: these may be waited for. */
int lode_area_show_threads(struct lode_area_mapping *mapping, struct lode_error *error)
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
static int show_blocks(struct lode_area_mapping *mapping, enum lode_event_type type, unsigned columns,
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

static int show_stored(struct lode_area_mapping *mapping, struct lode_error *error)
{
	int code = show_blocks(mapping, LODE_WAIT, CLASS_COLUMNS, error);

	if (!code && lode_wait_classes_need_runs(&mapping->classes))
		code = show_blocks(mapping, LODE_RUN, LODE_COST | LODE_THREAD | LODE_WEIGHT, error);
	return code;
}

static int show_loaded(struct lode_area_mapping *mapping, struct lode_error *error)
{
	const struct lode_events *events = mapping->partial->stream.events;

	lode_wait_classes_see_runs(&mapping->classes, &events[LODE_RUN]);
	return lode_wait_classes_count(&mapping->classes, &events[LODE_WAIT]) < 0 ? lode_fail_memory(error) : 0;
}

/* Whether something is to be counted separately for more than the names of its functions. */
int lode_area_learns_classes(const struct lode_area_mapping *mapping)
{
	const struct lode_area_options *options = mapping->plan->options;

	return mapping->idle && !options->include_idle && !options->include_work_waits && !options->ready &&
	       mapping->plan->kinds & 1u << LODE_WAIT;
}

/* Finds where threads wait for work and which are idle, where that is asked for; `loaded`: the events are in memory. */
int lode_area_learn_classes(struct lode_area_mapping *mapping, int loaded, struct lode_error *error)
{
	int code;

	if (!lode_area_learns_classes(mapping))
		return 0;
	code = lode_wait_classes_begin(&mapping->classes, &mapping->partial->stream, mapping->idle, error);
	if (!code)
		code = loaded ? show_loaded(mapping, error) : show_stored(mapping, error);
	if (!code && lode_wait_classes_settle(&mapping->classes) < 0)
		code = lode_fail_memory(error);
	return code;
}
