/* The fields of `lode latency --json`, and of its --instances: see latency_result.h. */
#include "result/field_rows.h"
#include "result/latency_result.h"

#define TABLE_OF struct lode_latency_sums
static const struct lode_field input_rows[] = {
	FIELD_U64(streams, "Streams."),
	FIELD_U64(threads, "Threads."),
	FIELD_U64(events, "Events."),
	FIELD_U64(instances, "Calls that were inferred."),
};
static const struct lode_fields input = FIELD_TABLE("LatencyInput", input_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_heat_row_values
static const struct lode_field heat_row_rows[] = {
	FIELD_U64(rank, "Rank of the context."),
	FIELD_U64(hottest, "Which of its frames takes most."),
	FIELD_LIST_AS("own_ns", cells, LODE_FIELD_U64, "Time of each of its frames."),
};
static const struct lode_fields heat_row = FIELD_TABLE("LatencyHeatRow", heat_row_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_heat_values
static const struct lode_field heat_rows[] = {
	FIELD_U64(most_ns, "The largest value in it."),
	FIELD_U64(rows_total, "Rows that all contexts would make: those that take any time."),
	FIELD_OBJECTS(rows, heat_row, "A row a context, the first 10 unless top says otherwise."),
};
static const struct lode_fields heat = FIELD_TABLE("LatencyHeat", heat_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_latency_context
static const struct lode_field context_rows[] = {
	FIELD_WRITTEN_TEXTS(frames, "The calling context, root first; its last frame is the function."),
	FIELD_U64(count, "Calls."),
	FIELD_U64(conservative_ns, "Time for sure within calls, in all."),
	FIELD_U64(aggressive_ns, "Time at most within calls, in all."),
	FIELD_U64(estimate_ns, "The estimate between them: calls begin and end midway between samples."),
	FIELD_U64(low_ns, "Lower end of the 95% interval of estimate_ns."),
	FIELD_U64(high_ns, "Upper end of it."),
	FIELD_U64(own_ns, "Estimated time without callees."),
	FIELD_U64(waited_ns, "Waiting within the calls."),
	FIELD_U64(idle_ns, "The part of it that is idle."),
	FIELD_U64(mean_ns, "Estimated time a call."),
	FIELD_U64(median_ns, "Half of the calls took at most this."),
	FIELD_U64(p90_ns, "90% took at most this."),
	FIELD_U64(p99_ns, "99% took at most this."),
	FIELD_U64(longest_ns, "The longest call."),
	FIELD_DOUBLE(own_mean_ns, "With --mean: own time from means, as the paper has it.",
		     FIELD_OPTIONAL_IF(has_own_mean), FIELD_MAYBE_NULL),
};
static const struct lode_fields context = FIELD_TABLE("LatencyContext", context_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_latency_result
static const struct lode_field latency_rows[] = {
	FIELD_OBJECT(input, input, "What was read."),
	FIELD_PART(unread, lode_unread_part_fields),
	FIELD_U64(own_ns, "Time of all contexts, without what is counted separately."),
	FIELD_U64(idle_ns, "Idle time, counted separately."),
	FIELD_U64(contexts_total, "Contexts there are."),
	FIELD_WRITTEN(layers, LODE_SHAPE_MAP, LODE_FIELD_U64, "Time by whose code it is."),
	FIELD_WRITTEN(states, LODE_SHAPE_MAP, LODE_FIELD_U64,
		      "States that the threads were in, ns per stream; those that occur. Absent if there are no "
		      "waits, or more than "
		      "5 million events.",
		      FIELD_OPTIONAL),
	FIELD_OBJECT(heat, heat, "The heat map of the first contexts."),
	FIELD_OBJECTS(contexts, context, "Contexts, those with the most own time first."),
	FIELD_PART(calls, lode_call_tree_part_fields),
};
const struct lode_fields lode_latency_fields = FIELD_TABLE("LatencyResult", latency_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_latency_call
static const struct lode_field call_rows[] = {
	FIELD_TEXT(stream, "Name of the stream."),
	FIELD_U32(pid, "Process, where known.", FIELD_OPTIONAL_IF(has_pid)),
	FIELD_U32(tid, "Thread."),
	FIELD_U64(begin, "Estimated begin, in ns."),
	FIELD_U64(end, "Estimated end."),
	FIELD_U64(conservative_ns, "Time for sure."),
	FIELD_U64(aggressive_ns, "Time at most."),
	FIELD_U64(estimate_ns, "The estimate between them."),
	FIELD_U64(waited_ns, "Waiting within it."),
	FIELD_U64(seen, "Events that saw it."),
	FIELD_U64(samples, "CPU samples among them."),
	FIELD_WRITTEN_TEXTS(frames, "Its calling context, root first."),
};
const struct lode_fields lode_latency_call_fields = FIELD_TABLE("LatencyCall", call_rows);
#undef TABLE_OF
