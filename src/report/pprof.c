/*
 * Exporter `pprof`: profile.proto, gzip, for `go tool pprof` and all that reads it.
 *
 * Four values a sample: samples and cpu nanoseconds, waits and wait nanoseconds.
 * One sample for each thread and stack, labelled with the thread's name, tid, pid
 * and, when there are several, its stream; times are lost, and so are calls and
 * wakers (calls are counted). A module is a mapping, a frame a function and a
 * location without an address.
 *
 * A protobuf message is a row of fields in any order, so each message leaves as
 * soon as it is known and the tables of strings, functions and locations, which
 * are those of the dictionary, come last; nothing is held but one thread's sums.
 * protobuf-c would want the whole message in memory first.
 */
#include "report/export.h"
#include "report/renumber.h"
#include "report/spool.h"

#include "base/json.h"

#include <string.h>
#include <zlib.h>

#define PLAIN_PIECE (64u << 10)

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_DEFAULT_TYPE = 14,

	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,

	SAMPLE_LOCATIONS = 1,
	SAMPLE_VALUES = 2,
	SAMPLE_LABEL = 3,

	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	LABEL_NUMBER = 3,

	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,

	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_LINE = 4,

	LINE_FUNCTION = 1,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
};

/* The strings that are ours; the rest of the table is the dictionary's. */
enum text {
	TEXT_SAMPLES,
	TEXT_CPU,
	TEXT_WAITS,
	TEXT_WAIT,
	TEXT_COUNT,
	TEXT_NANOSECONDS,
	TEXT_THREAD,
	TEXT_TID,
	TEXT_PID,
	TEXT_STREAM,
	TEXTS,
};

static const char *const texts[TEXTS] = {
	"samples", "cpu", "waits", "wait", "count", "nanoseconds", "thread", "tid", "pid", "stream",
};

/* The values of one sample, in the order of the sample types. */
struct sums {
	uint64_t values[4];
};

struct writer {
	struct lode_export *export;
	struct lode_dictionary dictionary;
	struct lode_spool spool;
	uint32_t strings[TEXTS];
	struct lode_renumber nodes; /* of one thread */
	struct sums *sums;	    /* of each numbered node */
	size_t sums_capacity;
	struct lode_buffer message; /* being built */
	struct lode_buffer inner;   /* a message inside it */
	struct lode_buffer plain;   /* on the way into gzip */
	z_stream stream;
};

/* ---- gzip ---- */

static void *zlib_alloc(void *context, unsigned count, unsigned size)
{
	(void)context;
	return lode_calloc(count, size);
}

static void zlib_free(void *context, void *memory)
{
	(void)context;
	lode_free(memory);
}

static int pack(struct writer *writer, int flush, struct lode_error *error)
{
	struct lode_buffer *packed = &writer->export->output->buffer;
	z_stream *stream = &writer->stream;
	int state, code;

	if (writer->plain.failed)
		return lode_fail_memory(error);
	stream->next_in = (unsigned char *)writer->plain.bytes;
	stream->avail_in = (unsigned)writer->plain.size;
	do {
		char *room = lode_buffer_room(packed, PLAIN_PIECE);

		if (!room)
			return lode_fail_memory(error);
		stream->next_out = (unsigned char *)room;
		stream->avail_out = PLAIN_PIECE;
		state = deflate(stream, flush);
		packed->size += PLAIN_PIECE - stream->avail_out;
		code = lode_output_flow(writer->export->output, error);
	} while (code == 0 && (flush == Z_FINISH ? state == Z_OK : stream->avail_out == 0));
	lode_buffer_clear(&writer->plain);
	return code;
}

static int plain_flow(struct writer *writer, struct lode_error *error)
{
	return writer->plain.size < PLAIN_PIECE && !writer->plain.failed ? 0
									 : pack(writer, Z_NO_FLUSH, error);
}

/* ---- protobuf ---- */

static void put_number(struct lode_buffer *buffer, unsigned field, uint64_t number)
{
	lode_buffer_varint(buffer, field << 3);
	lode_buffer_varint(buffer, number);
}

static void put_bytes(struct lode_buffer *buffer, unsigned field, const void *bytes, size_t size)
{
	lode_buffer_varint(buffer, field << 3 | 2);
	lode_buffer_varint(buffer, size);
	lode_buffer_add(buffer, bytes, size);
}

/* Moves the message that was built into the profile. */
static int put_message(struct writer *writer, unsigned field, struct lode_error *error)
{
	put_bytes(&writer->plain, field, writer->message.bytes, writer->message.size);
	writer->plain.failed |= writer->message.failed | writer->inner.failed;
	lode_buffer_clear(&writer->message);
	return plain_flow(writer, error);
}

/* Moves the inner message into the one that is being built. */
static void put_inner(struct writer *writer, unsigned field)
{
	put_bytes(&writer->message, field, writer->inner.bytes, writer->inner.size);
	writer->message.failed |= writer->inner.failed;
	lode_buffer_clear(&writer->inner);
}

/* Numbers are signed there. */
static uint64_t as_signed(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : number;
}

static int put_value_type(struct writer *writer, unsigned field, enum text type, enum text unit,
			  struct lode_error *error)
{
	put_number(&writer->message, VALUE_TYPE_TYPE, writer->strings[type]);
	put_number(&writer->message, VALUE_TYPE_UNIT, writer->strings[unit]);
	return put_message(writer, field, error);
}

/* ---- samples ---- */

static int add_list(struct writer *writer, uint32_t thread, enum lode_event_type type,
		    struct lode_error *error)
{
	struct lode_spool_cursor cursor;
	struct lode_spool_record record;
	size_t at = type == LODE_RUN ? 0 : 2;
	int code = lode_spool_start(&writer->spool, thread, type, &cursor, error);

	while (code == 0 && lode_spool_next(&cursor, &record)) {
		uint32_t known = writer->nodes.count;
		uint32_t number = lode_renumber_get(&writer->nodes, record.stack);
		struct sums *sums;

		if (lode_grow(&writer->sums, &writer->sums_capacity, (size_t)number + 1, sizeof(*sums)) < 0)
			return lode_fail_memory(error);
		sums = &writer->sums[number];
		if (number == known)
			memset(sums, 0, sizeof(*sums));
		sums->values[at]++;
		sums->values[at + 1] = lode_add_saturating(sums->values[at + 1], record.cost);
	}
	return code;
}

static void put_label_text(struct writer *writer, enum text key, uint32_t string)
{
	put_number(&writer->inner, LABEL_KEY, writer->strings[key]);
	put_number(&writer->inner, LABEL_TEXT, string);
	put_inner(writer, SAMPLE_LABEL);
}

static void put_label_number(struct writer *writer, enum text key, uint64_t number)
{
	put_number(&writer->inner, LABEL_KEY, writer->strings[key]);
	put_number(&writer->inner, LABEL_NUMBER, number);
	put_inner(writer, SAMPLE_LABEL);
}

static void put_labels(struct writer *writer, const struct lode_stream *stream, uint32_t thread)
{
	const struct lode_thread *item = &stream->threads[thread];

	if (item->name)
		put_label_text(writer, TEXT_THREAD, item->name);
	put_label_number(writer, TEXT_TID, item->tid);
	if (item->pid != LODE_NO_PID)
		put_label_number(writer, TEXT_PID, item->pid);
	if (writer->export->count > 1 && stream->name)
		put_label_text(writer, TEXT_STREAM, stream->name);
}

/* Locations go from the leaf to the root, which is how the tree is walked. */
static int put_sample(struct writer *writer, const struct lode_stream *stream, uint32_t thread,
		      uint32_t number, struct lode_error *error)
{
	const struct lode_stack_tree *tree = &writer->dictionary.tree;

	for (uint32_t node = writer->nodes.ids[number]; node; node = tree->nodes[node].parent)
		lode_buffer_varint(&writer->inner, (uint64_t)tree->nodes[node].frame + 1);
	put_inner(writer, SAMPLE_LOCATIONS);
	for (size_t i = 0; i < 4; i++)
		lode_buffer_varint(&writer->inner, as_signed(writer->sums[number].values[i]));
	put_inner(writer, SAMPLE_VALUES);
	put_labels(writer, stream, thread);
	return put_message(writer, PROFILE_SAMPLE, error);
}

static int write_thread(struct writer *writer, const struct lode_stream *stream, uint32_t thread,
			struct lode_error *error)
{
	int code = lode_renumber_start(&writer->nodes, writer->dictionary.tree.count, error);

	if (code == 0)
		code = add_list(writer, thread, LODE_RUN, error);
	if (code == 0)
		code = add_list(writer, thread, LODE_WAIT, error);
	for (uint32_t i = 0; i < writer->nodes.count && code == 0; i++)
		code = put_sample(writer, stream, thread, i, error);
	return code;
}

static int write_stream(struct writer *writer, size_t i, struct lode_error *error)
{
	const struct lode_corpus_entry *entry = writer->export->entries[i];
	struct lode_export_stream source;
	int code = lode_export_open(writer->export, i, &writer->dictionary, &source, error);

	if (code < 0)
		return code;
	if (lode_export_wants(writer->export, LODE_CALL))
		lode_notes_add(writer->export->options->notes, entry->events[LODE_CALL],
			       "calls, which this format has no place for", entry->name);
	code = lode_spool_fill(&writer->spool, writer->export, &source, 1u << LODE_RUN | 1u << LODE_WAIT, 0,
			       error);
	if (code == 0) {
		for (uint32_t thread = 0; thread < source.stream.thread_count && code == 0; thread++)
			code = write_thread(writer, &source.stream, thread, error);
		lode_spool_release(&writer->spool);
	}
	lode_export_close(&source);
	return code;
}

/* ---- tables ---- */

static int write_mappings(struct writer *writer, struct lode_error *error)
{
	const struct lode_frames *frames = &writer->dictionary.frames;
	int code = 0;

	for (size_t i = 1; i < frames->module_count && code == 0; i++) {
		const struct lode_module *module = &frames->modules[i];

		put_number(&writer->message, MAPPING_ID, i);
		put_number(&writer->message, MAPPING_FILE, module->path ? module->path : module->name);
		if (module->build_id)
			put_number(&writer->message, MAPPING_BUILD_ID, module->build_id);
		put_number(&writer->message, MAPPING_HAS_FUNCTIONS, 1);
		code = put_message(writer, PROFILE_MAPPING, error);
	}
	return code;
}

static int write_frame(struct writer *writer, uint32_t frame, struct lode_error *error)
{
	const struct lode_frame *item = &writer->dictionary.frames.items[frame];
	uint64_t id = (uint64_t)frame + 1;
	int code;

	put_number(&writer->message, FUNCTION_ID, id);
	put_number(&writer->message, FUNCTION_NAME, item->function);
	put_number(&writer->message, FUNCTION_SYSTEM_NAME, item->function);
	put_number(&writer->message, FUNCTION_FILE, writer->dictionary.frames.modules[item->module].name);
	code = put_message(writer, PROFILE_FUNCTION, error);
	if (code < 0)
		return code;
	put_number(&writer->message, LOCATION_ID, id);
	if (item->module)
		put_number(&writer->message, LOCATION_MAPPING, item->module);
	put_number(&writer->inner, LINE_FUNCTION, id);
	put_inner(writer, LOCATION_LINE);
	return put_message(writer, PROFILE_LOCATION, error);
}

/* Strings are UTF-8 there; bytes that are not become U+FFFD. */
static void put_utf8(struct lode_buffer *buffer, const struct lode_string *string)
{
	const unsigned char *bytes = (const unsigned char *)string->text;

	for (size_t at = 0; at < string->length;) {
		size_t step = lode_utf8_length(bytes + at, string->length - at);

		lode_buffer_add(buffer, step ? string->text + at : "\xef\xbf\xbd", step ? step : 3);
		at += step ? step : 1;
	}
}

static int write_tables(struct writer *writer, struct lode_error *error)
{
	const struct lode_frames *frames = &writer->dictionary.frames;
	int code = write_mappings(writer, error);

	for (uint32_t i = 0; i < frames->count && code == 0; i++)
		code = write_frame(writer, i, error);
	for (size_t i = 0; i < frames->strings.count && code == 0; i++) {
		put_utf8(&writer->message, &frames->strings.items[i]);
		code = put_message(writer, PROFILE_STRING, error);
	}
	return code;
}

/* ---- the profile ---- */

static int write_types(struct writer *writer, struct lode_error *error)
{
	int code = put_value_type(writer, PROFILE_SAMPLE_TYPE, TEXT_SAMPLES, TEXT_COUNT, error);

	if (code == 0)
		code = put_value_type(writer, PROFILE_SAMPLE_TYPE, TEXT_CPU, TEXT_NANOSECONDS, error);
	if (code == 0)
		code = put_value_type(writer, PROFILE_SAMPLE_TYPE, TEXT_WAITS, TEXT_COUNT, error);
	if (code == 0)
		code = put_value_type(writer, PROFILE_SAMPLE_TYPE, TEXT_WAIT, TEXT_NANOSECONDS, error);
	return code;
}

/* How long it took, what a sample stands for on average, and which value to show first. */
static int write_summary(struct writer *writer, struct lode_error *error)
{
	const struct lode_export *export = writer->export;
	uint64_t runs = 0, run_cost = 0, duration = 0;
	int code = 0;

	for (size_t i = 0; i < export->count; i++) {
		const struct lode_corpus_entry *entry = export->entries[i];
		uint64_t span = entry->last_t - entry->first_t;

		duration = span > duration ? span : duration;
		runs = lode_add_saturating(runs, entry->events[LODE_RUN]);
		run_cost = lode_add_saturating(run_cost, entry->cost[LODE_RUN]);
	}
	if (!lode_export_wants(export, LODE_RUN))
		runs = 0;
	put_number(&writer->plain, PROFILE_DURATION, as_signed(duration));
	put_number(&writer->plain, PROFILE_DEFAULT_TYPE, writer->strings[runs ? TEXT_CPU : TEXT_WAIT]);
	if (runs) {
		code = put_value_type(writer, PROFILE_PERIOD_TYPE, TEXT_CPU, TEXT_NANOSECONDS, error);
		put_number(&writer->plain, PROFILE_PERIOD, as_signed(run_cost / runs));
	}
	return code;
}

static int write_profile(struct writer *writer, struct lode_error *error)
{
	int code = write_types(writer, error);

	if (code == 0)
		code = write_summary(writer, error);
	for (size_t i = 0; i < writer->export->count && code == 0; i++)
		code = write_stream(writer, i, error);
	if (code == 0)
		code = write_tables(writer, error);
	if (code == 0)
		code = pack(writer, Z_FINISH, error);
	return code;
}

static int init(struct writer *writer, struct lode_error *error)
{
	struct lode_strings *strings = &writer->dictionary.frames.strings;

	for (int i = 0; i < TEXTS; i++) {
		writer->strings[i] = lode_strings_add(strings, texts[i], strlen(texts[i]));
		if (writer->strings[i] == LODE_NONE)
			return lode_fail_memory(error);
	}
	writer->stream.zalloc = zlib_alloc;
	writer->stream.zfree = zlib_free;
	/* 15 bits of window and 16 for a gzip header. */
	if (deflateInit2(&writer->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return lode_fail_memory(error);
	return 0;
}

static int write_all(struct lode_export *export, struct lode_error *error)
{
	struct writer writer = {.export = export};
	int code;

	if (lode_dictionary_init(&writer.dictionary) < 0)
		return lode_fail_memory(error);
	code = init(&writer, error);
	if (code == 0) {
		code = write_profile(&writer, error);
		deflateEnd(&writer.stream);
	}
	lode_dictionary_release(&writer.dictionary);
	lode_renumber_release(&writer.nodes);
	lode_free(writer.sums);
	lode_buffer_release(&writer.message);
	lode_buffer_release(&writer.inner);
	lode_buffer_release(&writer.plain);
	return code;
}

const struct lode_exporter lode_exporter_pprof = {
	.name = "pprof",
	.description = "profile.proto, for go tool pprof: cpu and wait time of each thread's stacks",
	.extension = ".pb.gz",
	.binary = 1,
	.passes = 1,
	.write = write_all,
};
