/* The fields of what threads did: see activity_result.h. */
#include "result/activity_result.h"
#include "result/field_rows.h"

#define TABLE_OF struct lode_activity_process
static const struct lode_field process_rows[] = {
	FIELD_TEXT(process, "Name of the process; empty: unknown."),
	FIELD_U64(processes, "How many of this name."),
	FIELD_U64(threads, "Their threads."),
	FIELD_U64(interval_ns, "Time that the threads were recorded; the sum of all states."),
	FIELD_U64(running_ns, "On a processor."),
	FIELD_U64(running_user_ns,
		  "Of this, in the program's own code, as samples tell; of threads without samples nothing.",
		  FIELD_OPTIONAL_IF(is_sampled)),
	FIELD_U64(running_kernel_ns, "And in the kernel.", FIELD_OPTIONAL_IF(is_sampled)),
	FIELD_U64(ready_ns, "Preempted, or on the run queue after a wait."),
	FIELD_WRITTEN(waiting_ns, LODE_SHAPE_MAP, LODE_FIELD_U64, "Blocked, by what for."),
	FIELD_U64(idle_ns, "Waits of threads that have nothing to do."),
	FIELD_U64(not_recorded_ns, "Time in no known state."),
};
static const struct lode_fields process = FIELD_TABLE("ActivityProcess", process_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_activity_longest
static const struct lode_field longest_rows[] = {
	FIELD_TEXT(stream, "Id of the stream."),
	FIELD_U32(tid, "Its thread."),
	FIELD_U64(t, "Its start."),
};
static const struct lode_fields longest_request = FIELD_TABLE("ActivityLongest", longest_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_activity_loop
static const struct lode_field loop_rows[] = {
	FIELD_TEXT(process, "Name of the process."),
	FIELD_TEXT(thread, "Name of the thread."),
	FIELD_TEXT(frame, "Where its outer loop waits."),
	FIELD_U64(count, "Requests."),
	FIELD_U64(time_ns, "Sum of their lengths."),
	FIELD_U64(median_ns, "Half of them took at most this long."),
	FIELD_U64(p95_ns, "95 % of them did."),
	FIELD_U64(p99_ns, "99 % of them did."),
	FIELD_U64(longest_ns, "The longest."),
	FIELD_OBJECT(longest, longest_request, "Where the longest is."),
};
static const struct lode_fields loop = FIELD_TABLE("ActivityLoop", loop_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_activity_result
static const struct lode_field activity_rows[] = {
	FIELD_OBJECTS(states, process,
		      "States of processes, busiest first; absent with --brief and for a stream file.",
		      FIELD_OPTIONAL_IF(any)),
	FIELD_OBJECTS(
		requests, loop,
		"Loops that wait for work, and the requests between these waits; those with the most time first.",
		FIELD_OPTIONAL_IF(any)),
};
const struct lode_fields lode_activity_part_fields = FIELD_TABLE("Activity", activity_rows);
#undef TABLE_OF
