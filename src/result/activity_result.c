/* Fills what threads did as plain values: see activity_result.h. */
#include "result/activity_result.h"

static int write_waits(const struct lode_written *self, struct lode_json *json)
{
	const uint64_t *ns = self->from;

	lode_json_object(json);
	for (int state = 0; state < LODE_STATES; state++)
		if (lode_state_is_wait((enum lode_state)state) && state != LODE_STATE_IDLE)
			lode_json_key_u64(json, lode_state_key((enum lode_state)state), ns[state]);
	lode_json_object_end(json);
	return 0;
}

struct lode_written lode_written_waits(const uint64_t *ns)
{
	return (struct lode_written){ .write = write_waits, .from = ns };
}

static int write_states(const struct lode_written *self, struct lode_json *json)
{
	const uint64_t *ns = self->from;

	lode_json_object(json);
	for (int state = 0; state < LODE_STATES; state++)
		if (ns[state])
			lode_json_key_u64(json, lode_state_key((enum lode_state)state), ns[state]);
	lode_json_object_end(json);
	return 0;
}

struct lode_written lode_written_states(const uint64_t *ns)
{
	return (struct lode_written){ .write = ns ? write_states : NULL, .from = ns };
}

static int make_process(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_state_table *table = list->from;
	const struct lode_process_states *row = &table->items[i];

	*(struct lode_activity_process *)item = (struct lode_activity_process){
		.process = lode_strings_get(&table->names, row->process),
		.processes = row->processes,
		.threads = row->threads,
		.interval_ns = row->interval,
		.running_ns = row->ns[LODE_STATE_RUNNING],
		.is_sampled = row->running.user || row->running.kernel,
		.running_user_ns = row->running.user,
		.running_kernel_ns = row->running.kernel,
		.ready_ns = row->ns[LODE_STATE_READY],
		.waiting_ns = lode_written_waits(row->ns),
		.idle_ns = row->ns[LODE_STATE_IDLE],
		.not_recorded_ns = row->ns[LODE_STATE_NOT_RECORDED],
	};
	return 1;
}

static int make_loop(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_activity_result *result = list->from;
	const struct lode_loop_table *table = &result->activity->loops;
	const struct lode_loop *loop = &table->items[i];

	*(struct lode_activity_loop *)item = (struct lode_activity_loop){
		.process = lode_strings_get(&table->names, loop->process),
		.thread = lode_strings_get(&table->names, loop->thread),
		.frame = lode_strings_get(&table->names, loop->frame),
		.count = loop->count,
		.time_ns = loop->time,
		.median_ns = lode_loop_quantile(loop, 50),
		.p95_ns = lode_loop_quantile(loop, 95),
		.p99_ns = lode_loop_quantile(loop, 99),
		.longest_ns = loop->longest,
		.longest = { result->list->items[loop->longest_stream].id, loop->longest_tid, loop->longest_t },
	};
	return 1;
}

void lode_activity_result_make(struct lode_activity_result *result, const struct lode_activity *activity,
			       const struct lode_corpus_list *list)
{
	*result = (struct lode_activity_result){ .any = activity != NULL, .activity = activity, .list = list };
	if (!activity)
		return;
	result->states = (struct lode_list){ activity->states.count, &activity->states, 0, make_process };
	result->requests = (struct lode_list){ activity->loops.count, result, 0, make_loop };
}
