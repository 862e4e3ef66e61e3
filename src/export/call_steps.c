/* Call steps: see call_steps.h. */
#include "export/call_steps.h"

#include "latency/instances.h"
#include "latency/lost_callers.h"
#include "scope/frame_filter.h"
#include "scope/where.h"

#include <string.h>

struct order {
	const struct lode_stack_tree *tree;
	struct lode_spool instances; /* a list per thread, as they end */
	struct lode_spool *steps;
	struct lode_spool_record *open; /* instances that have ended, going backwards, but not begun */
	size_t open_count;
	size_t open_capacity;
	uint8_t *fits; /* by node; NULL: all */
	struct lode_error *error;
};

/* ---- all instances, as they end ---- */

static int take(void *context, const struct lode_instance *instance)
{
	struct order *order = context;
	struct lode_spool_record record = {
		.t = instance->begin,
		.cost = lode_instance_estimate(instance),
		.delay = instance->waited,
		.stack = instance->node,
		.weight = 1,
	};

	if (order->fits && !order->fits[instance->node])
		return 0;
	return lode_spool_add(&order->instances, instance->thread, &record, order->error);
}

static int load(struct lode_export_stream *source, struct lode_error *error)
{
	const unsigned basic = LODE_T | LODE_THREAD | LODE_STACK;
	const unsigned columns[LODE_EVENT_TYPES] = {
		[LODE_RUN] = basic | LODE_COST | LODE_WEIGHT,
		[LODE_WAIT] = basic | LODE_COST | LODE_DELAY,
		[LODE_CALL] = basic | LODE_DELAY,
	};

	return lode_store_load_events(source->store, &source->stream, columns, error);
}

/* The same calls as in sums of contexts. */
static int find_callers(struct lode_stream *stream, struct lode_error *error)
{
	struct lode_lost_callers lost = { 0 };
	int code = lode_lost_callers_find(stream, &lost);

	lode_lost_callers_release(&lost);
	return code < 0 ? lode_fail_memory(error) : 0;
}

static int infer(struct order *order, struct lode_export *export, struct lode_export_stream *source)
{
	struct lode_instances_input input;
	uint64_t events = 0;
	int code = load(source, order->error);

	if (code == 0 && lode_where_keep_threads(&source->stream, export->options->where) < 0)
		code = lode_fail_memory(order->error);
	if (code == 0)
		code = find_callers(&source->stream, order->error);
	if (code == 0 && lode_stacks_match(source->stream.dictionary, export->options->match, &order->fits) < 0)
		code = lode_fail_memory(order->error);
	if (code == 0)
		code = lode_instances_infer(&source->stream, take, order, &input, order->error);
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		events += source->stream.events[type].count;
		lode_events_release(&source->stream.events[type]);
	}
	if (code == 0)
		lode_notes_add(export->options->notes, input.no_stack,
			       "events without a stack, which have no latency", NULL);
	return code ? code : lode_export_progress(export, events, order->error);
}

/* ---- from the last end to the first begin ---- */

static int put_step(struct order *order, uint32_t thread, const struct lode_spool_record *instance, int ends)
{
	struct lode_spool_record step = *instance;

	step.name = (uint32_t)ends;
	if (ends)
		step.t = instance->t + instance->cost;
	return lode_spool_add(order->steps, thread, &step, order->error);
}

/* The instances that are open, from the innermost one up to one of `node`, begin. */
static int begin_until(struct order *order, uint32_t thread, uint32_t node)
{
	int code = 0;

	while (code == 0 && order->open_count && order->open[order->open_count - 1].stack != node)
		code = put_step(order, thread, &order->open[--order->open_count], 0);
	return code;
}

static int order_thread(struct order *order, uint32_t thread)
{
	struct lode_spool_cursor cursor;
	struct lode_spool_record instance;
	int code = 0;

	lode_spool_start_last(&order->instances, thread, &cursor);
	while (code == 0 && lode_spool_previous(&cursor, &instance)) {
		code = begin_until(order, thread, order->tree->nodes[instance.stack].parent);
		if (code == 0)
			code = put_step(order, thread, &instance, 1);
		if (code == 0 && LODE_APPEND(order->open, order->open_count, order->open_capacity, instance) < 0)
			code = lode_fail_memory(order->error);
	}
	return code ? code : begin_until(order, thread, 0);
}

static int make_steps(struct order *order, struct lode_export *export, struct lode_export_stream *source)
{
	size_t threads = source->stream.thread_count;
	int code = lode_spool_open(&order->instances, threads, order->error);

	if (code < 0)
		return code;
	code = infer(order, export, source);
	if (code == 0)
		code = lode_spool_seal(&order->instances, order->error);
	for (uint32_t i = 0; code == 0 && i < threads; i++)
		code = order_thread(order, i);
	lode_spool_release(&order->instances);
	return code;
}

int lode_call_steps_make(struct lode_call_steps *calls, struct lode_export *export,
			 struct lode_export_stream *source, struct lode_error *error)
{
	struct order order = { .tree = &source->stream.dictionary->tree, .steps = &calls->steps, .error = error };
	int code = lode_spool_open(&calls->steps, source->stream.thread_count, error);

	if (code < 0)
		return code;
	code = make_steps(&order, export, source);
	if (code == 0)
		code = lode_spool_seal(&calls->steps, error);
	lode_free(order.open);
	lode_free(order.fits);
	if (code < 0)
		lode_call_steps_release(calls);
	return code;
}

void lode_call_steps_release(struct lode_call_steps *calls)
{
	lode_spool_release(&calls->steps);
}

/* ---- reading ---- */

void lode_call_steps_start(struct lode_call_steps *calls, uint32_t thread, struct lode_spool_cursor *cursor)
{
	lode_spool_start_last(&calls->steps, thread, cursor);
}

int lode_call_steps_next(struct lode_spool_cursor *cursor, struct lode_call_step *step)
{
	struct lode_spool_record record;

	if (!lode_spool_previous(cursor, &record))
		return 0;
	*step = (struct lode_call_step){
		.t = record.t,
		.duration = record.cost,
		.waited = record.delay,
		.node = record.stack,
		.ends = (int)record.name,
	};
	return 1;
}

/* ---- as samples ---- */

static int put_sample(struct lode_spool *spool, uint32_t thread, uint64_t t, uint64_t end, uint32_t node,
		      struct lode_error *error)
{
	struct lode_spool_record record = {
		.t = t,
		.cost = node ? end - t : 0,
		.stack = node,
		.waker = LODE_NONE,
		.weight = 1,
	};

	return lode_spool_add(spool, (size_t)thread * LODE_EVENT_TYPES + LODE_RUN, &record, error);
}

static int put_samples(struct lode_spool *spool, struct lode_call_steps *calls, uint32_t thread,
		       const struct lode_stack_tree *tree, struct lode_error *error)
{
	struct lode_spool_cursor cursor;
	struct lode_call_step step;
	uint32_t node = 0, depth = 0;
	uint64_t since = 0;
	int code = 0;

	lode_call_steps_start(calls, thread, &cursor);
	for (int first = 1; code == 0 && lode_call_steps_next(&cursor, &step); first = 0) {
		if (!first && step.t > since)
			code = put_sample(spool, thread, since, step.t, node, error);
		since = step.t;
		depth += step.ends ? -1u : 1u;
		node = !depth ? 0 : step.ends ? tree->nodes[step.node].parent : step.node;
	}
	if (code == 0 && lode_call_steps_count(calls, thread))
		code = put_sample(spool, thread, since, since, 0, error);
	return code;
}

int lode_call_steps_samples(struct lode_spool *spool, struct lode_export *export,
			    struct lode_export_stream *source, struct lode_error *error)
{
	uint32_t threads = source->stream.thread_count;
	struct lode_call_steps calls;
	int code = lode_call_steps_make(&calls, export, source, error);

	if (code < 0)
		return code;
	code = lode_spool_open(spool, (size_t)threads * LODE_EVENT_TYPES, error);
	if (code == 0) {
		for (uint32_t i = 0; code == 0 && i < threads; i++)
			code = put_samples(spool, &calls, i, &source->stream.dictionary->tree, error);
		if (code == 0)
			code = lode_spool_seal(spool, error);
		if (code < 0)
			lode_spool_release(spool);
	}
	lode_call_steps_release(&calls);
	return code;
}
