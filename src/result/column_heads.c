/* Heads of results that have their numbers in columns: see column_heads.h. */
#include "result/column_heads.h"

#include "result/field_rows.h"
#include "result/frame_facts.h"

static const char *type_choice(unsigned number)
{
	static const char *const names[] = { "f64", "u32", "u8" };

	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}

#define TABLE_OF struct lode_column_head
static const struct lode_field column_rows[] = {
	FIELD_TEXT(name, "Name of the column."),
	FIELD_TEXT(type, "Kind of its numbers, little endian.", FIELD_CHOICE(type_choice)),
	FIELD_U64(offset, "Its first byte, from the start of the first column."),
	FIELD_U64(count, "How many numbers it has."),
	FIELD_U64(
		coded_bytes,
		"Only in files of lode report: the column is coded in this many bytes (src/page/page_columns.h).",
		FIELD_OPTIONAL_IF(coded)),
	FIELD_U64(planes, "In files: byte by byte, all lowest bytes first, so many.", FIELD_OPTIONAL,
		  FIELD_AT_LEAST(1)),
	FIELD_TEXTS(steps, "Of a coded column: it holds zigzag differences from the number before plus those of these columns.",
		    FIELD_OPTIONAL_IF(predicted)),
};
const struct lode_fields lode_column_head_fields = FIELD_TABLE("ColumnHead", column_rows);
#undef TABLE_OF

/* Behind the fields of a head, unless a file has them once for all. */
static const struct lode_field stacks_rows[] = {
	FIELD_BY_HAND("names", LODE_SHAPE_LIST, LODE_FIELD_TEXT, "Frames; node_frame has their places."),
	FIELD_ALL_OF(lode_frame_facts_fields),
	FIELD_BY_HAND("columns", LODE_SHAPE_LIST, LODE_FIELD_OBJECT, "The columns of numbers behind this head.",
		      .fields = &lode_column_head_fields),
};
static const struct lode_fields stacks = FIELD_TABLE_BY_HAND("HeadStacks", stacks_rows);

/* ---- a stream ---- */

#define TABLE_OF struct lode_stream_head_thread
static const struct lode_field thread_rows[] = {
	FIELD_U32(tid, "Thread."),
	FIELD_U32(pid, "Process; null: not known.", FIELD_NULLABLE_UNLESS(has_pid)),
	FIELD_TEXT(name, "Its name; empty: not known."),
};
static const struct lode_fields thread = FIELD_TABLE("StreamThread", thread_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_stream_head_symptom
static const struct lode_field symptom_rows[] = {
	FIELD_U32(thread, "Place in `threads`."),
	FIELD_TEXT(name, "What it was doing."),
	FIELD_U64(t0, "Start."),
	FIELD_U64(t1, "End."),
	FIELD_U64(unknown_ns, "Time that no event explains."),
	FIELD_U64(path_first, "First place of its critical path in the path columns."),
	FIELD_U64(path_count, "Parts of its critical path."),
};
static const struct lode_fields symptom = FIELD_TABLE("StreamSymptom", symptom_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_stream_head
static const struct lode_field stream_rows[] = {
	FIELD_TEXT(stream, "Name of the stream."),
	FIELD_TEXT(id, "Its id."),
	FIELD_TEXT(host, "Host; empty: not known."),
	FIELD_TEXT(start_ns, "What all times count from, as text: too large for a double.", FIELD_DIGITS),
	FIELD_U64(span_ns, "From the first to the last event."),
	FIELD_WRITTEN(attributes, LODE_SHAPE_MAP, LODE_FIELD_SCALAR, "Attributes of the stream by key."),
	FIELD_OBJECTS(threads, thread, "Threads; events name them by place."),
	FIELD_OBJECTS(symptoms, symptom, "Symptoms with their critical paths."),
	FIELD_TEXTS(states, "States of threads; the column wait_state has their places."),
	FIELD_TEXTS(
		objects,
		"What waits were for, `kind:name`; the column wait_object has their places plus 1, 0: not known."),
	FIELD_TEXTS(contexts, "Requests that events belonged to; the columns run_context and wait_context have "
			      "their places plus 1."),
};
const struct lode_fields lode_stream_head_fields = FIELD_TABLE("StreamHeadFields", stream_rows);
#undef TABLE_OF

static const struct lode_field whole_stream_rows[] = {
	FIELD_ALL_OF(lode_stream_head_fields),
	FIELD_ALL_OF(stacks),
};
const struct lode_fields lode_stream_fields = FIELD_TABLE_BY_HAND("StreamHead", whole_stream_rows);

/* ---- a profile ---- */

#define TABLE_OF struct lode_profile_head
static const struct lode_field profile_rows[] = {
	FIELD_U64(streams, "Streams in it."),
	FIELD_U64(stacks_cut, "Stacks of less than a hundred-thousandth, counted for their callers."),
};
const struct lode_fields lode_profile_head_fields = FIELD_TABLE("ProfileHeadFields", profile_rows);
#undef TABLE_OF

static const struct lode_field whole_profile_rows[] = {
	FIELD_ALL_OF(lode_profile_head_fields),
	FIELD_ALL_OF(stacks),
};
const struct lode_fields lode_profile_fields = FIELD_TABLE_BY_HAND("ProfileHead", whole_profile_rows);
