/* The fields of `lode scope --json`, lines and page: see scope_result.h. */
#include "result/field_choices.h"
#include "result/field_rows.h"
#include "result/scope_result.h"

/* ---- parts, which scope_json.c writes ---- */

static const char *part_choice(unsigned number)
{
	static const char *const names[] = { "run", "wait", "ready" };

	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}

static const char *step_choice(unsigned number)
{
	return number ? NULL : "wait";
}

static const struct lode_field part_rows[] = {
	FIELD_BY_HAND("tid", LODE_SHAPE_ONE, LODE_FIELD_U32, "Thread."),
	FIELD_BY_HAND("t", LODE_SHAPE_ONE, LODE_FIELD_U64, "Start, in ns."),
	FIELD_BY_HAND("cost_ns", LODE_SHAPE_ONE, LODE_FIELD_U64, "Length of the part that counts."),
	FIELD_BY_HAND("waker", LODE_SHAPE_ONE, LODE_FIELD_U32, "Of a wait: the thread that ended it, where known.",
		      FIELD_OPTIONAL),
	FIELD_BY_HAND("interrupt", LODE_SHAPE_ONE, LODE_FIELD_BOOL,
		      "Of a wait: an interrupt ended it, so nothing is known behind it.", FIELD_OPTIONAL),
	FIELD_BY_HAND("object", LODE_SHAPE_ONE, LODE_FIELD_TEXT,
		      "Of a wait: what it was for, `kind:name`, where known.", FIELD_OPTIONAL),
	FIELD_BY_HAND("holder", LODE_SHAPE_ONE, LODE_FIELD_U32,
		      "Of a wait: the thread that held the object, where known.", FIELD_OPTIONAL),
	FIELD_BY_HAND("context", LODE_SHAPE_ONE, LODE_FIELD_TEXT,
		      "The request or query that it belonged to, where known.", FIELD_OPTIONAL),
	FIELD_BY_HAND("behind", LODE_SHAPE_ONE, LODE_FIELD_U32,
		      "Of time on the run queue: the thread that had the processor, where known.", FIELD_OPTIONAL),
	FIELD_BY_HAND("queued", LODE_SHAPE_ONE, LODE_FIELD_BOOL,
		      "It is time on the run queue: after the wait itself, or preempted.", FIELD_OPTIONAL),
};
static const struct lode_fields part_head = FIELD_TABLE_BY_HAND("ScopePartHead", part_rows);

static const struct lode_field path_rows[] = {
	FIELD_BY_HAND("type", LODE_SHAPE_ONE, LODE_FIELD_TEXT, "What the thread did.", FIELD_CHOICE(part_choice)),
	FIELD_ALL_OF(part_head),
	FIELD_BY_HAND("stack", LODE_SHAPE_LIST, LODE_FIELD_TEXT, "Its stack, root first."),
};
static const struct lode_fields path = FIELD_TABLE_BY_HAND("ScopePart", path_rows);

static const struct lode_field step_rows[] = {
	FIELD_BY_HAND("type", LODE_SHAPE_ONE, LODE_FIELD_TEXT, "What the thread did.", FIELD_CHOICE(step_choice)),
	FIELD_ALL_OF(part_head),
	FIELD_BY_HAND("stack", LODE_SHAPE_LIST, LODE_FIELD_TEXT, "Stack of the wait."),
	FIELD_BY_HAND("waker_stack", LODE_SHAPE_LIST, LODE_FIELD_TEXT,
		      "Stack of the waker when it ended the wait; empty: not known."),
};
static const struct lode_fields step = FIELD_TABLE_BY_HAND("ScopeStep", step_rows);

static const struct lode_field page_path_rows[] = {
	FIELD_BY_HAND("type", LODE_SHAPE_ONE, LODE_FIELD_TEXT, "What the thread did.", FIELD_CHOICE(part_choice)),
	FIELD_ALL_OF(part_head),
	FIELD_BY_HAND("stack", LODE_SHAPE_ONE, LODE_FIELD_U32, "Its stack, root first. A number of `stacks`."),
};
static const struct lode_fields page_path = FIELD_TABLE_BY_HAND("ScopePagePart", page_path_rows);

static const struct lode_field page_step_rows[] = {
	FIELD_BY_HAND("type", LODE_SHAPE_ONE, LODE_FIELD_TEXT, "What the thread did.", FIELD_CHOICE(step_choice)),
	FIELD_ALL_OF(part_head),
	FIELD_BY_HAND("stack", LODE_SHAPE_ONE, LODE_FIELD_U32, "Stack of the wait. A number of `stacks`."),
	FIELD_BY_HAND("waker_stack", LODE_SHAPE_ONE, LODE_FIELD_U32,
		      "Stack of the waker when it ended the wait; 0: not known. A number of `stacks`."),
};
static const struct lode_fields page_step = FIELD_TABLE_BY_HAND("ScopePageStep", page_step_rows);

/* ---- a symptom ---- */

#define TABLE_OF struct lode_scope_result_thread
static const struct lode_field thread_rows[] = {
	FIELD_U32(tid, "Thread."),
	FIELD_TEXT(name, "Its name, where known.", FIELD_OPTIONAL),
	FIELD_U64(parts, "Its parts; of a thread or a graph, events."),
	FIELD_U64(run_ns, "CPU time of these."),
	FIELD_U64(wait_ns, "Waiting of these, with the run queue after waits."),
	FIELD_U64(ready_ns, "Preempted, of these."),
	FIELD_OBJECT(timeline, lode_timeline_fields,
		     "How much of its parts is in the symptom, by time, in 30 slices from t0 to t1."),
};
static const struct lode_fields thread = FIELD_TABLE("ScopeThread", thread_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_scope_thread_name
static const struct lode_field name_rows[] = {
	FIELD_U32(tid, "Thread."),
	FIELD_TEXT(name, "Its name."),
};
static const struct lode_fields thread_name = FIELD_TABLE("ScopeThreadName", name_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_scope_thread_names
static const struct lode_field names_rows[] = {
	FIELD_OBJECTS(threads, thread_name, "Threads that have a name."),
};
static const struct lode_fields thread_names = FIELD_TABLE("ScopeThreadNames", names_rows);
#undef TABLE_OF

#define PATH  "Its events; of a critical path the parts in order of time, whose lengths and unknown_ns are t1 - t0."
#define STEPS "Of a critical path: the waits that it went through to their wakers."

#define TABLE_OF struct lode_scope_throttled
static const struct lode_field throttled_rows[] = {
	FIELD_TEXT(cgroup, "Its path."),
	FIELD_U64(time_ns, "How long."),
};
static const struct lode_fields throttled = FIELD_TABLE("ScopeThrottled", throttled_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_scope_host
static const struct lode_field host_rows[] = {
	FIELD_TEXT(host, "Its name."),
	FIELD_TEXT(stream, "Id of the stream that was recorded there."),
	FIELD_I64(offset_ns,
		  "How far its clock is ahead of that of this stream; times here are those of this stream."),
	FIELD_U64(error_ns, "By how much that may be wrong."),
	FIELD_DOUBLE(drift_ppm, "By how many millionths its clock runs faster; 0: that makes no difference."),
	FIELD_U64(exchanges, "Exchanges of messages that tell so."),
	FIELD_U64(waits, "Waits, of both hosts, that a thread of the other one ended."),
	FIELD_U32(first_tid, "What is added to the numbers of its threads here; names end in @ and the host."),
};
static const struct lode_fields joined_host = FIELD_TABLE("ScopeHost", host_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_scope_symptom
static const struct lode_field head_rows[] = {
	FIELD_TEXT(stream, "Name of the stream."),
	FIELD_TEXT(id, "Id of the stream."),
	FIELD_TEXT(name, "Name of the symptom.", FIELD_OPTIONAL),
	FIELD_U32(pid, "Process, where known.", FIELD_OPTIONAL_IF(has_pid)),
	FIELD_U32(tid, "The thread that was too slow."),
	FIELD_TEXT(thread, "Name of the thread, where known.", FIELD_OPTIONAL),
	FIELD_U64(t0, "Start of the symptom, in ns."),
	FIELD_U64(t1, "Its end."),
	FIELD_TEXT(scope, "Which events count.", FIELD_CHOICE(lode_choice_scope)),
	FIELD_U64(events, "Events in it."),
	FIELD_U64(edges, "Pairs of a wait and an event of the thread that ended it."),
};
static const struct lode_fields head = FIELD_TABLE("ScopeHead", head_rows);

static const struct lode_field tail_rows[] = {
	FIELD_WRITTEN(states, LODE_SHAPE_MAP, LODE_FIELD_U64,
		      "How long the path was in which state, ns by its name; they add up to its length.",
		      FIELD_OPTIONAL),
	FIELD_U64(running_kernel_ns, "Of the path: running in the kernel, which is part of `running`.",
		  FIELD_OPTIONAL_IF(is_path)),
	FIELD_DOUBLE(stolen_percent,
		     "Share of the time of all processors that the hypervisor gave to other machines while the "
		     "stream was "
		     "recorded, if it did.",
		     FIELD_OPTIONAL_IF(is_stolen)),
	FIELD_OBJECT(throttled, throttled,
		     "The control group that used up its quota, if one did while the stream was recorded, and for "
		     "how long then.",
		     FIELD_OPTIONAL_IF(is_throttled)),
	FIELD_U64(unknown_ns, "Time that no event explains."),
	FIELD_BOOL(thinned, "True: not every wait of this stream was recorded; unknown_ns may be such waits.",
		   FIELD_OPTIONAL),
	FIELD_OBJECTS(hosts, joined_host,
		      "Other hosts that were recorded, too, and that its threads talk to by TCP.",
		      FIELD_OPTIONAL_IF(has_hosts)),
	FIELD_U64(threads_total, "Threads that have parts in the scope."),
	FIELD_OBJECTS(threads, thread, "The busiest of them, at most 20, and when they did what."),
};
static const struct lode_fields tail = FIELD_TABLE("ScopeTail", tail_rows);

static const struct lode_field symptom_rows[] = {
	FIELD_ALL_OF(head),
	FIELD_WRITTEN(path, LODE_SHAPE_LIST, LODE_FIELD_OBJECT, PATH, .fields = &path),
	FIELD_WRITTEN(steps, LODE_SHAPE_LIST, LODE_FIELD_OBJECT, STEPS, .fields = &step, FIELD_OPTIONAL),
	FIELD_ALL_OF(tail),
};
const struct lode_fields lode_scope_fields = FIELD_TABLE("ScopeSymptom", symptom_rows);

static const struct lode_field page_symptom_rows[] = {
	FIELD_ALL_OF(head),
	FIELD_WRITTEN(path, LODE_SHAPE_LIST, LODE_FIELD_OBJECT, PATH, .fields = &page_path),
	FIELD_WRITTEN(steps, LODE_SHAPE_LIST, LODE_FIELD_OBJECT, STEPS, .fields = &page_step, FIELD_OPTIONAL),
	FIELD_ALL_OF(tail),
	FIELD_OBJECT(facts, thread_names, "Names of its threads."),
};
const struct lode_fields lode_scope_page_symptom_fields = FIELD_TABLE("ScopePageSymptom", page_symptom_rows);
#undef TABLE_OF

/* ---- the page ---- */

#define TABLE_OF struct lode_scope_stacks
static const struct lode_field stacks_rows[] = {
	FIELD_WRITTEN_TEXTS(names, "Frames."),
	FIELD_WRITTEN_NUMBERS(
		nodes, "Three numbers a stack: how much its number is larger than that of the stack before it "
		       "(from 0) and than that of its caller (0: none), and the place of its innermost frame in "
		       "`names`."),
	FIELD_PART(facts, lode_frame_facts_fields),
};
static const struct lode_fields stacks = FIELD_TABLE("SharedStacks", stacks_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_scope_page_result
static const struct lode_field page_rows[] = {
	FIELD_U64(symptoms_total, "Symptoms there are."),
	FIELD_WRITTEN(symptoms, LODE_SHAPE_LIST, LODE_FIELD_OBJECT, "The longest of them; stacks are numbers.",
		      .fields = &lode_scope_page_symptom_fields),
	FIELD_OBJECT(stacks, stacks, "The stacks of all symptoms, each once."),
};
const struct lode_fields lode_scope_page_fields = FIELD_TABLE("ScopeResult", page_rows);
#undef TABLE_OF
