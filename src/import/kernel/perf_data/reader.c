/*
 * Reader: see reader.h.
 *
 * One loop (`walk`) serves files, pipes and what comes out of compressed
 * records: it takes whole records from the bytes it gets and says how many bytes
 * that were. Where a record's size is wrong nothing after it can be found: what
 * was read so far is kept and the rest is counted as lost.
 */
#include "import/kernel/perf_data/reader.h"

#include "import/import_common.h"

#include <stdio.h>

/* Tracepoint formats in a pipe are taken whole; this is more than a kernel has. */
#define TRACING_LIMIT (256u << 20)
/* Bytes of a pipe that are looked at together. */
#define PIPE_WINDOW (1u << 20)

int lode_perf_reader_init(struct lode_perf_reader *reader, struct lode_input *input,
			  const struct lode_import_options *options, struct lode_perf_facts *facts,
			  struct lode_perf_pipeline *pipeline)
{
	memset(reader, 0, sizeof(*reader));
	reader->input = input;
	reader->options = options;
	reader->facts = facts;
	reader->pipeline = pipeline;
	return lode_perf_decoder_init(&reader->decoder, facts);
}

void lode_perf_reader_release(struct lode_perf_reader *reader)
{
	lode_perf_decoder_release(&reader->decoder);
	lode_perf_unpack_release(&reader->unpack);
}

/* ---- batches ---- */

/* A file is read in place: the input is skipped up to there. A pipe's window is skipped when all of it was seen. */
static int report_progress(struct lode_perf_reader *reader, struct lode_error *error)
{
	if (reader->in_place) {
		lode_input_skip(reader->input, (size_t)(reader->place - reader->skipped_to));
		reader->skipped_to = reader->place;
	}
	return lode_import_progress(reader->input, reader->options, error);
}

static int hand_batch(struct lode_perf_reader *reader, int round, int last, struct lode_error *error)
{
	struct lode_perf_batch *batch = lode_perf_pipeline_batch(reader->pipeline);

	batch->round = round;
	batch->last = last;
	if (lode_perf_facts_freeze(reader->facts) < 0 || lode_perf_pipeline_hand(reader->pipeline) < 0)
		return lode_fail_memory(error);
	reader->decoder.batch = lode_perf_pipeline_batch(reader->pipeline);
	return report_progress(reader, error);
}

/* ---- records of perf ---- */

/* HEADER_ATTR: 8 attribute, whose size is 4 bytes into it; then ids. */
static int handle_attribute(struct lode_perf_reader *reader, const unsigned char *record, size_t size)
{
	size_t attribute = size >= 16 ? perf_u32(record + 12) : 0;
	int code;

	if (attribute < 64 || attribute > size - 8) {
		reader->decoder.counts.bad_records++;
		return 0;
	}
	code = lode_perf_facts_add_event(reader->facts, record + 8, attribute);
	if (code == LODE_BAD_INPUT) {
		reader->decoder.counts.bad_records++;
		return 0;
	}
	if (code < 0)
		return code;
	return lode_perf_facts_add_ids(reader->facts, reader->facts->events.count - 1, record + 8 + attribute,
				       (size - 8 - attribute) / 8);
}

/* HEADER_TRACING_DATA: 8 size (u32); the formats follow the record, padded to 8 bytes. */
static int handle_tracing(struct lode_perf_reader *reader, const unsigned char *record, size_t size, size_t left)
{
	size_t formats = size >= 12 ? perf_u32(record + 8) : 0;

	if (!formats || formats > TRACING_LIMIT) {
		reader->decoder.counts.bad_records++;
		return 0;
	}
	if (formats > left - size) {
		reader->wanted = size + formats;
		return 0;
	}
	reader->skip = (formats + 7) & ~(size_t)7;
	return lode_perf_facts_feature(reader->facts, PERF_FEATURE_TRACING_DATA, record + size, formats);
}

/* EVENT_UPDATE: 8 what (2: name), 16 id, 24 name. */
static int handle_update(struct lode_perf_reader *reader, const unsigned char *record, size_t size)
{
	const struct lode_perf_event *event;
	const char *name;

	if (size <= 24 || perf_u64(record + 8) != 2 || lode_perf_facts_is_late(reader->facts))
		return 0;
	event = lode_perf_facts_event(reader->facts, perf_u64(record + 16));
	if (!event)
		return 0;
	name = lode_arena_text(&reader->facts->arena, (const char *)record + 24,
			       strnlen((const char *)record + 24, size - 24));
	if (!name)
		return LODE_SYSTEM;
	reader->facts->events.items[event - reader->facts->events.items].name = name;
	return 0;
}

static int walk(void *context, const unsigned char *bytes, size_t size, size_t *used, struct lode_error *error);

/* COMPRESSED: 8 packed bytes. COMPRESSED2: 8 size, 16 packed bytes, padded. */
static int handle_compressed(struct lode_perf_reader *reader, const unsigned char *record, size_t size,
			     struct lode_error *error)
{
	size_t head = perf_u32(record) == PERF_COMPRESSED2 ? 16 : 8;
	size_t packed = size - 8;
	int code;

	if (head == 16)
		packed = size >= 16 ? (size_t)perf_u64(record + 8) : 0;
	if (reader->unpacking || size < head || packed > size - head) {
		reader->decoder.counts.bad_records++;
		return 0;
	}
	reader->unpacking = 1;
	code = lode_perf_unpack(&reader->unpack, record + head, packed, walk, reader,
				lode_input_name(reader->input), reader->place, error);
	reader->unpacking = 0;
	return code;
}

/* The records that perf writes itself. `left` bytes are available from the record on. */
static int handle_own(struct lode_perf_reader *reader, const unsigned char *record, size_t size, size_t left,
		      struct lode_error *error)
{
	int code = 0;

	switch (perf_u32(record)) {
	case PERF_FINISHED_ROUND:
		return reader->decoder.batch->entries.count ? hand_batch(reader, 1, 0, error) : 0;
	case PERF_COMPRESSED:
	case PERF_COMPRESSED2:
		return handle_compressed(reader, record, size, error);
	case PERF_HEADER_ATTR:
		code = handle_attribute(reader, record, size);
		break;
	case PERF_HEADER_TRACING_DATA:
		code = handle_tracing(reader, record, size, left);
		break;
	case PERF_HEADER_BUILD_ID:
		code = lode_perf_facts_build_id(reader->facts, record, size);
		break;
	case PERF_EVENT_UPDATE:
		code = handle_update(reader, record, size);
		break;
	case PERF_HEADER_FEATURE: /* 8 number, 16 what the section would hold */
		if (size >= 16 && perf_u64(record + 8) < PERF_FEATURES)
			code = lode_perf_facts_feature(reader->facts, (unsigned)perf_u64(record + 8), record + 16,
						       size - 16);
		break;
	case PERF_AUXTRACE: /* 8 size of what follows the record */
		reader->decoder.counts.aux++;
		reader->skip = size >= 16 ? perf_u64(record + 8) : 0;
		break;
	default:
		reader->decoder.counts.unknown += perf_u32(record) > PERF_LAST_KNOWN;
	}
	return code < 0 ? lode_fail_memory(error) : 0;
}

static int handle_record(struct lode_perf_reader *reader, const unsigned char *record, size_t size, size_t left,
			 struct lode_error *error)
{
	uint32_t type = perf_u32(record);

	if (type >= PERF_HEADER_ATTR)
		return handle_own(reader, record, size, left, error);
	if (type == PERF_RECORD_SAMPLE && lode_perf_facts_freeze(reader->facts) < 0)
		return lode_fail_memory(error);
	reader->decoder.is_lasting = lode_input_is_whole(reader->input) && !reader->unpacking;
	if (lode_perf_decode(&reader->decoder, record, size) < 0)
		return lode_fail_memory(error);
	if (reader->decoder.batch->entries.count >= LODE_PERF_BATCH_ENTRIES ||
	    reader->decoder.batch->copy_bytes >= LODE_PERF_BATCH_COPY_BYTES)
		return hand_batch(reader, 0, 0, error);
	return 0;
}

/* ---- the loop ---- */

static int walk(void *context, const unsigned char *bytes, size_t size, size_t *used, struct lode_error *error)
{
	struct lode_perf_reader *reader = context;
	uint64_t start = reader->place;
	size_t at = 0;
	int code = 0;

	while (code == 0 && !reader->damaged) {
		size_t left = size - at, length;

		if (reader->skip) {
			length = reader->skip < left ? (size_t)reader->skip : left;
			reader->skip -= length;
			at += length;
			if (reader->skip)
				break;
			continue;
		}
		if (left < sizeof(struct perf_event_header))
			break;
		length = perf_u16(bytes + at + 6);
		reader->damaged = length < sizeof(struct perf_event_header);
		if (reader->damaged || length > left)
			break;
		if (!reader->unpacking)
			reader->place = start + at;
		reader->wanted = 0;
		code = handle_record(reader, bytes + at, length, left, error);
		if (reader->wanted)
			break;
		at += length;
	}
	if (!reader->unpacking)
		reader->place = start + at;
	*used = at;
	return code;
}

/* What could not be read, and where it begins. */
static void note_rest(struct lode_perf_reader *reader, uint64_t bytes)
{
	const char *what = reader->damaged ? "bytes after a damaged record not read"
					   : "bytes of a record that the end of the file cut off";
	char place[300];

	snprintf(place, sizeof(place), "%s: byte %llu", lode_input_name(reader->input),
		 (unsigned long long)reader->place);
	if (reader->damaged || bytes)
		lode_notes_add(reader->options->notes, bytes ? bytes : 1, what, place);
	lode_notes_add(reader->options->notes, reader->unpack.held,
		       "bytes of a record that the end of the compressed records cut off", NULL);
}

int lode_perf_reader_end(struct lode_perf_reader *reader, struct lode_error *error)
{
	lode_perf_counts_note(&reader->decoder.counts, reader->options->notes);
	return hand_batch(reader, 1, 1, error);
}

int lode_perf_reader_file(struct lode_perf_reader *reader, const unsigned char *bytes, size_t size, uint64_t place,
			  struct lode_error *error)
{
	size_t used;
	int code;

	reader->in_place = 1;
	reader->place = reader->skipped_to = place;
	reader->decoder.batch = lode_perf_pipeline_batch(reader->pipeline);
	code = walk(reader, bytes, size, &used, error);
	if (code == 0)
		note_rest(reader, size - used);
	return code;
}

int lode_perf_reader_more(struct lode_perf_reader *reader, struct lode_input *input, struct lode_error *error)
{
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_whole(input, &bytes, &size, error);

	if (code < 0)
		return code;
	/* Each file has its own end, and its own stream of compressed records. */
	lode_perf_unpack_release(&reader->unpack);
	memset(&reader->unpack, 0, sizeof(reader->unpack));
	reader->input = input;
	reader->skip = 0;
	reader->wanted = 0;
	reader->damaged = 0;
	return lode_perf_reader_file(reader, bytes, size, 0, error);
}

int lode_perf_reader_pipe(struct lode_perf_reader *reader, struct lode_error *error)
{
	size_t wanted = PIPE_WINDOW;

	reader->place = PERF_PIPE_BYTES;
	reader->decoder.batch = lode_perf_pipeline_batch(reader->pipeline);
	for (;;) {
		const unsigned char *bytes;
		size_t size, used;
		int code = lode_input_peek(reader->input, wanted, &bytes, &size, error);

		if (code < 0)
			return code;
		if (size > wanted)
			size = wanted; /* a mapped pipe shows all of itself */
		code = walk(reader, bytes, size, &used, error);
		if (code < 0)
			return code;
		lode_input_skip(reader->input, used);
		if (reader->damaged || (!used && size < wanted)) {
			note_rest(reader, size - used);
			return lode_perf_reader_end(reader, error);
		}
		wanted = used ? PIPE_WINDOW : 2 * wanted;
		if (reader->wanted > wanted)
			wanted = reader->wanted;
	}
}
