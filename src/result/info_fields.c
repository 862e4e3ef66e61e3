/* The fields of `lode info --json`: see info_result.h. */
#include "result/field_choices.h"
#include "result/field_rows.h"
#include "result/info_result.h"
#include "trace/script_modules.h"

static const char *module_kind_choice(unsigned number)
{
	return number < LODE_KINDS ? lode_kind_name((enum lode_kind)number) : NULL;
}

static const char *module_language_choice(unsigned number)
{
	return number < LODE_CODE_LANGUAGES ? lode_code_language_name((enum lode_code_language)number) : NULL;
}

#define TABLE_OF struct lode_info_result_module
static const struct lode_field module_rows[] = {
	FIELD_TEXT(name, "Name as in frames."),
	FIELD_TEXT(kind, "What it is.", FIELD_CHOICE(module_kind_choice)),
	FIELD_TEXT(language, "Language of its functions; native: machine code, or not known.",
		   FIELD_CHOICE(module_language_choice)),
	FIELD_TEXT(path, "Its file; empty: not known."),
	FIELD_TEXT(build_id, "Build-id in hexadecimal; empty: not known."),
	FIELD_U64(run_events, "CPU samples whose innermost function is in it."),
	FIELD_U64(run_ns, "Their CPU time."),
};
static const struct lode_fields module = FIELD_TABLE("InfoModule", module_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_info_no_stack
static const struct lode_field no_stack_rows[] = {
	FIELD_U64(run_events, "How many."),
	FIELD_U64(run_ns, "Their CPU time."),
};
static const struct lode_fields no_stack = FIELD_TABLE("InfoNoStack", no_stack_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_thread_totals
static const struct lode_field exact_rows[] = {
	FIELD_U64(waits, "How often it blocked."),
	FIELD_U64(preemptions, "How often it lost its processor though it could have run."),
	FIELD_U64(waited_ns, "Time blocked."),
	FIELD_U64(run_ns, "Time run."),
	FIELD_U64(queued_ns, "Time in the run queue."),
};
static const struct lode_fields exact = FIELD_TABLE("ThreadTotals", exact_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_info_result_thread
static const struct lode_field thread_rows[] = {
	FIELD_U32_AS("pid", number.pid, "Process; null: not known.", FIELD_NULLABLE_UNLESS(number.has_pid)),
	FIELD_U32_AS("tid", number.tid, "Thread."),
	FIELD_TEXT(name, "Its name; empty: not known."),
	FIELD_OBJECT(events, lode_event_counts_fields, "Events by type."),
	FIELD_OBJECT(cost_ns, lode_event_costs_fields, "Time by type of event."),
	FIELD_OBJECT(exact, exact,
		     "What the kernel counted while the thread was recorded, whatever was recorded of it; only "
		     "where that is "
		     "known.",
		     FIELD_OPTIONAL_IF(has_exact)),
	FIELD_OBJECT(timeline, lode_timeline_fields, "What was done in each slice of time.",
		     FIELD_OPTIONAL_IF(has_timeline)),
};
static const struct lode_fields thread = FIELD_TABLE("InfoThread", thread_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_info_result_symptom
static const struct lode_field symptom_rows[] = {
	FIELD_U32_AS("pid", number.pid, "Process; null: not known.", FIELD_NULLABLE_UNLESS(number.has_pid)),
	FIELD_U32_AS("tid", number.tid, "The thread that was too slow."),
	FIELD_TEXT(name, "What it was doing."),
	FIELD_U64(t0, "Start, in ns."),
	FIELD_U64(t1, "End, in ns."),
};
static const struct lode_fields symptom = FIELD_TABLE("InfoSymptom", symptom_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_info_result_stream
static const struct lode_field stream_rows[] = {
	FIELD_TEXT(id, "Id of the stream; empty for a file outside of a corpus."),
	FIELD_TEXT(name, "Name of the stream."),
	FIELD_TEXT(host, "Host; empty: not known."),
	FIELD_TEXT(source, "The recording it was read from."),
	FIELD_TEXT(path, "Its stream file."),
	FIELD_U64(bytes, "Size of that file."),
	FIELD_OBJECT(events, lode_event_counts_fields, "Events by type."),
	FIELD_OBJECT(cost_ns, lode_event_costs_fields, "Time by type of event."),
	FIELD_U64(first_t, "Start of the first event, in ns."),
	FIELD_U64(last_t, "End of the last event, in ns."),
	FIELD_U64(added, "When its file was written: seconds since 1970. Absent for a file outside of a corpus.",
		  FIELD_OPTIONAL),
	FIELD_U64(stacks, "Distinct stacks of its events."),
	FIELD_WRITTEN(attrs, LODE_SHAPE_MAP, LODE_FIELD_SCALAR, "Attributes of the stream by key."),
	FIELD_OBJECTS(threads, thread, "Its threads; the 20 busiest of all streams have a timeline.",
		      FIELD_OPTIONAL_IF(has_threads)),
	FIELD_OBJECTS(symptoms, symptom, "Its symptoms."),
	FIELD_OBJECT(timeline, lode_timeline_fields, "What was done in each slice of time.",
		     FIELD_OPTIONAL_IF(has_timeline)),
};
static const struct lode_fields stream = FIELD_TABLE("InfoStream", stream_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_info_result_object
static const struct lode_field waited_rows[] = {
	FIELD_TEXT(object, "What it is, `kind:name`."),
	FIELD_U64(waits, "Waits for it."),
	FIELD_U64(wait_ns, "Their time."),
};
static const struct lode_fields waited = FIELD_TABLE("InfoObject", waited_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_info_result
static const struct lode_field info_rows[] = {
	FIELD_TEXT(path, "The corpus or file, as it was named."),
	FIELD_TEXT(kind, "What it is.", FIELD_CHOICE(lode_choice_path_kind)),
	FIELD_OBJECT(events, lode_event_counts_fields, "Events by type."),
	FIELD_OBJECT(cost_ns, lode_event_costs_fields, "Time by type of event."),
	FIELD_U64(bytes, "Size of the stream files."),
	FIELD_U64(threads, "Threads in all streams."),
	FIELD_U64(symptoms, "Symptoms in all streams."),
	FIELD_U64(stacks, "Distinct stacks of events; like modules and threads absent with --brief.",
		  FIELD_OPTIONAL_IF(is_whole)),
	FIELD_U64(stack_nodes, "Nodes of the tree of all stacks.", FIELD_OPTIONAL_IF(is_whole)),
	FIELD_U64(frames, "Distinct frames.", FIELD_OPTIONAL_IF(is_whole)),
	FIELD_OBJECTS(modules, module, "Modules, those with the most CPU time first.", FIELD_OPTIONAL_IF(is_whole)),
	FIELD_OBJECT(no_stack, no_stack, "CPU samples without a stack.", FIELD_OPTIONAL_IF(is_whole)),
	FIELD_OBJECTS(objects, waited, "What threads waited for, longest first, where that is known.",
		      FIELD_OPTIONAL_IF(has_objects)),
	FIELD_PART(activity, lode_activity_part_fields),
	FIELD_OBJECTS(streams, stream, "The streams, by name."),
};
const struct lode_fields lode_info_fields = FIELD_TABLE("InfoResult", info_rows);
#undef TABLE_OF
