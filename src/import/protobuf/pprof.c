/*
 * pprof (profile.proto, usually in gzip).
 *
 * The reader is our own because the libraries build the whole message as
 * objects: protobuf-c needs 68 times the message's size in memory. Here the
 * message stays where it is, in a mapping. A first pass notes where strings,
 * mappings, functions and locations are (pprof_tables.h), a second one turns each sample into
 * an event; a location is parsed into frames when it is first met.
 *
 * A sample has several values (pprof_values.h): CPU time becomes a run, the times of waits a
 * wait each; where no value is CPU time, a count times the period. Some profilers write
 * nonsense as their period; counts are then taken as they are. Labels (pprof_labels.h) say
 * whose sample it is. Samples have no time: the events of a thread are placed one after
 * another, as with folded stacks, from the start of the profile on, unless a label has a time
 * stamp. A label `stream`, which our own exporter writes, separates streams: each is read in
 * a separate pass.
 */
#include "base/array.h"
#include "import/protobuf/pprof_fields.h"
#include "import/protobuf/pprof_frames.h"
#include "import/protobuf/pprof_labels.h"
#include "import/protobuf/pprof_tables.h"
#include "import/protobuf/pprof_values.h"
#include "import/import_common.h"
#include "import/stack_memo.h"

#include <stdio.h>
#include <string.h>

struct reader {
	struct lode_pprof_tables tables;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_pprof_frames frames;
	struct lode_stack_memo memo;    /* stacks by the bytes of their locations */
	struct lode_stack_memo threads; /* threads by the bytes of their labels */
	struct lode_cursor packed;      /* the locations of the current sample, unless it has them otherwise */
	uint64_t hash;                  /* theirs */
	int has_packed;
	struct lode_stack_memo_item labels_met; /* of the current sample, as a key of `threads`; no bytes: they cannot be */
	uint64_t labels_hash;
	LODE_ARRAY(uint64_t) stack; /* locations of a sample, leaf first */

	struct lode_pprof_value *uses; /* what each value is used for */
	size_t used;                   /* how many are used */
	int64_t *values;               /* of a sample */
	int odd_period;                /* it makes no sense: counts are taken as nanoseconds */
	uint64_t samples;
	LODE_ARRAY(uint64_t) ends; /* by thread: where its next event begins */
	struct lode_pprof_labels labels;
	int splits;           /* samples of several streams, as our exporter writes them: one at a time is read */
	uint64_t stream_key;  /* string that names the label of streams */
	uint64_t stream_only; /* string: the stream that is read */
	uint64_t stream_met;  /* that of the current sample; 0: it has none */
	uint64_t negative;
};

/* ---- which value ---- */

static int set_type_attribute(struct reader *reader, const char *key, const struct lode_pprof_kind *pair)
{
	struct lode_span type, unit;
	char *text;
	int code = lode_pprof_string_get(&reader->tables, pair->type, &type);

	if (code == 0)
		code = lode_pprof_string_get(&reader->tables, pair->unit, &unit);
	if (code < 0 || (!type.length && !unit.length))
		return code;
	text = lode_format("%.*s/%.*s", (int)(type.length < 1000 ? type.length : 1000), type.text,
			   (int)(unit.length < 1000 ? unit.length : 1000), unit.text);
	if (!text)
		return lode_fail_memory(reader->tables.error);
	code = lode_stream_set_attribute(&reader->stream, key, text, LODE_ATTRIBUTE_TEXT);
	lode_free(text);
	return code < 0 ? lode_fail_memory(reader->tables.error) : 0;
}

static int fail_no_time(struct reader *reader)
{
	return lode_fail(reader->tables.error, LODE_BAD_INPUT,
			 "%s: none of its values is a time or a count with a period in time; "
			 "a profile of memory cannot be imported; if its counts are CPU samples, "
			 "give their period with --unit samples=10ms",
			 lode_input_name(reader->tables.input));
}

/* A period above this one, and above the profile's own duration, is no time between samples. */
#define LONGEST_PERIOD_NS 60e9

/* Nanoseconds that one count represents; 0 when unknown. */
static double scale_of_counts(struct reader *reader, struct lode_span unit)
{
	double period = lode_pprof_unit(unit) * (double)reader->tables.period;

	if (reader->tables.options->unit_ns > 0)
		return reader->tables.options->unit_ns;
	reader->odd_period = period > LONGEST_PERIOD_NS && period > (double)reader->tables.duration;
	return reader->odd_period ? 1 : period;
}

static int describe_values(struct reader *reader)
{
	reader->uses = lode_calloc(reader->tables.types.count + 1, sizeof(*reader->uses));
	reader->values = lode_calloc(reader->tables.types.count + 1, sizeof(*reader->values));
	if (!reader->uses || !reader->values)
		return lode_fail_memory(reader->tables.error);
	for (size_t i = 0; i < reader->tables.types.count; i++) {
		struct lode_span type, unit;
		int code;

		if ((code = lode_pprof_string_get(&reader->tables, reader->tables.types.items[i].type, &type)) < 0 ||
		    (code = lode_pprof_string_get(&reader->tables, reader->tables.types.items[i].unit, &unit)) < 0)
			return code;
		reader->uses[i] = (struct lode_pprof_value){
			.type = type,
			.unit = unit,
			.is_default = reader->tables.default_type &&
				      reader->tables.types.items[i].type == reader->tables.default_type,
		};
	}
	return 0;
}

static int is_used_count(const struct lode_pprof_value *value)
{
	return value->use != LODE_PPROF_SKIP && lode_pprof_unit(value->unit) == 0;
}

/* Notes what --unit and the period did not do, and the values that have no place here. */
static void note_values(struct reader *reader)
{
	const char *name = lode_input_name(reader->tables.input);
	int counts = 0;
	char example[400];

	for (size_t i = 0; i < reader->tables.types.count; i++)
		counts |= is_used_count(&reader->uses[i]);
	reader->odd_period &= counts;
	if (!counts && reader->tables.options->unit_ns > 0)
		lode_notes_add(reader->tables.options->notes, 1,
			       "profiles of times, to which --unit does not apply", name);
	for (size_t i = 0; i < reader->tables.types.count; i++) {
		const struct lode_pprof_value *value = &reader->uses[i];

		if (value->use == LODE_PPROF_SKIP && !lode_span_is(value->unit, "count")) {
			snprintf(example, sizeof(example), "%.250s: %.*s", name,
				 (int)(value->type.length < 100 ? value->type.length : 100), value->type.text);
			lode_notes_add(reader->tables.options->notes, 1, "kinds of values that are not imported",
				       example);
		}
		if (value->use == LODE_PPROF_WALL)
			lode_notes_add(reader->tables.options->notes, 1,
				       "profiles of CPU and wall time, of which the difference is taken as waits",
				       name);
	}
}

static int choose_values(struct reader *reader)
{
	struct lode_span unit;
	int code = describe_values(reader);

	if (code < 0 || (code = lode_pprof_string_get(&reader->tables, reader->tables.period_type.unit, &unit)) < 0)
		return code;
	reader->used = lode_pprof_choose(reader->uses, reader->tables.types.count, scale_of_counts(reader, unit),
					 reader->tables.options->kind_is_wait);
	if (!reader->used)
		return fail_no_time(reader);
	note_values(reader);
	return 0;
}

/* What was taken, as attributes of the stream. */
static int set_sample_types(struct reader *reader)
{
	int code = 0;

	for (size_t i = 0, written = 0; i < reader->tables.types.count && code == 0; i++)
		if (reader->uses[i].use != LODE_PPROF_SKIP) {
			char key[32];

			snprintf(key, sizeof(key), written ? "sample_type_%zu" : "sample_type", written + 1);
			written++;
			code = set_type_attribute(reader, key, &reader->tables.types.items[i]);
		}
	return code;
}

/* ---- second pass: samples ---- */

/* The numbers of a field: locations into `stack`, values into `values`. */
static int read_numbers(struct reader *reader, struct lode_protobuf_field *field, size_t *values)
{
	uint64_t number;
	int more = 1;

	while (lode_protobuf_number(field, &more, &number)) {
		if (field->number == 2) {
			if (*values < reader->tables.types.count)
				reader->values[*values] = (int64_t)number;
			++*values;
		} else if (lode_pprof_append(&reader->tables, &reader->stack.items, &reader->stack.count,
					     &reader->stack.capacity, number) < 0) {
			return LODE_SYSTEM;
		}
	}
	return 0;
}

/* Most samples have their locations in one row of bytes. */
static void put_aside(struct reader *reader, struct lode_cursor packed, uint64_t hash)
{
	reader->packed = packed;
	reader->hash = hash;
	reader->has_packed = 1;
}

/* Parses the locations that were put aside. */
static int read_packed(struct reader *reader, uint64_t at)
{
	struct lode_protobuf_field field = { .number = 1, .wire = LODE_WIRE_BYTES, .bytes = reader->packed };
	int code = reader->has_packed ? read_numbers(reader, &field, NULL) : 0;

	reader->has_packed = 0;
	if (code == 0 && field.bytes.failed)
		return lode_pprof_fail_damaged(&reader->tables, at, "a sample ends too early");
	return code;
}

/* The stack of the current sample. */
static int get_stack(struct reader *reader, uint64_t at, uint32_t *node)
{
	size_t size = lode_cursor_left(&reader->packed);
	const struct lode_stack_memo_item *known;
	struct lode_stack_memo_item item;
	uint64_t cut = reader->frames.cut;
	int code;

	if (!reader->has_packed || size >= UINT32_MAX)
		return (code = read_packed(reader, at)) < 0
			       ? code
			       : lode_pprof_frames_stack(&reader->frames, reader->stack.items, reader->stack.count,
							 at, node);
	known = lode_stack_memo_find(&reader->memo, reader->packed.next, size, reader->hash);
	if (known) {
		reader->frames.cut += (uint64_t)known->is_cut;
		*node = known->node;
		return 0;
	}
	if ((code = read_packed(reader, at)) < 0 ||
	    (code = lode_pprof_frames_stack(&reader->frames, reader->stack.items, reader->stack.count, at, node)) <
		    0)
		return code;
	item = (struct lode_stack_memo_item){ reader->packed.next, (uint32_t)size, *node,
					      reader->frames.cut > cut };
	return lode_stack_memo_add(&reader->memo, &item, reader->hash) < 0 ? lode_fail_memory(reader->tables.error)
									   : 0;
}

static int read_label(struct reader *reader, struct lode_cursor message, struct lode_pprof_who *who)
{
	enum { KEY = 1, TEXT, NUMBER, FIELDS };
	uint64_t numbers[FIELDS] = { 0 };
	struct lode_protobuf_field field;
	struct lode_span key, value;
	struct lode_pprof_label label;
	int code;

	while (lode_protobuf_next(&message, &field))
		if (field.number < FIELDS && field.wire != LODE_WIRE_BYTES)
			numbers[field.number] = field.value;
	if (message.failed)
		return lode_pprof_fail_damaged(&reader->tables, lode_pprof_place(&reader->tables, &message),
					       "a message ends too early");
	if ((code = lode_pprof_string_get(&reader->tables, numbers[KEY], &key)) < 0 ||
	    (code = lode_pprof_string_get(&reader->tables, numbers[TEXT], &value)) < 0)
		return code;
	if (reader->splits && numbers[KEY] == reader->stream_key) {
		reader->stream_met = numbers[TEXT];
		return 0;
	}
	label = (struct lode_pprof_label){ key, value, (int64_t)numbers[NUMBER] };
	return lode_pprof_labels_add(&reader->labels, &label, who) < 0 ? lode_fail_memory(reader->tables.error) : 0;
}

/* Different labels of threads that are remembered; time stamps, which never come again, are not among them. */
#define REMEMBERED_THREADS 65536

/*
 * The thread that the labels from `bytes` to the end of the sample say, if they were met before. Otherwise they are kept
 * as a key for remember_thread.
 */
static int recall_thread(struct reader *reader, const unsigned char *bytes, size_t size, uint32_t *thread)
{
	const struct lode_stack_memo_item *known;

	reader->labels_met = (struct lode_stack_memo_item){ 0 };
	if (reader->splits || size >= UINT32_MAX)
		return 0;
	reader->labels_hash = lode_hash_bytes(bytes, size);
	known = lode_stack_memo_find(&reader->threads, bytes, size, reader->labels_hash);
	if (!known) {
		reader->labels_met = (struct lode_stack_memo_item){ .bytes = bytes, .size = (uint32_t)size };
		return 0;
	}
	*thread = known->node;
	return 1;
}

/* Labels that say only whose sample it is mean the same thread the next time. */
static int remember_thread(struct reader *reader, const struct lode_pprof_who *who, uint32_t thread)
{
	if (!reader->labels_met.bytes || who->has_others || who->end || reader->threads.count >= REMEMBERED_THREADS)
		return 0;
	reader->labels_met.node = thread;
	return lode_stack_memo_add(&reader->threads, &reader->labels_met, reader->labels_hash) < 0
		       ? lode_fail_memory(reader->tables.error)
		       : 0;
}

/* A sample whose stack is about to be looked up. */
struct ahead {
	uint64_t at;
	struct lode_cursor rest;   /* what follows the locations, or all of it */
	struct lode_cursor packed; /* the locations, where they come first */
	uint64_t hash;             /* theirs */
	int has_packed;
};

/* Fills it in place: copying a struct that was just written makes the processor wait. */
static void look_ahead(const struct reader *reader, struct lode_cursor message, struct ahead *ahead)
{
	struct lode_protobuf_field field;

	ahead->at = lode_pprof_place(&reader->tables, &message);
	ahead->rest = message;
	ahead->has_packed = lode_protobuf_next(&message, &field) && field.number == 1 &&
			    field.wire == LODE_WIRE_BYTES;
	ahead->hash = 0;
	if (!ahead->has_packed)
		return;
	ahead->rest = message;
	ahead->packed = field.bytes;
	ahead->hash = lode_hash_bytes(field.bytes.next, lode_cursor_left(&field.bytes));
}

enum {
	TAG_VALUES = 2 << 3 | LODE_WIRE_BYTES,
	TAG_LABEL = 3 << 3 | LODE_WIRE_BYTES,
};

/*
 * A sample as most are: its locations, then its values, then labels of a thread that is known, or none. Returns whether it
 * is one; where not, it is still to be read.
 */
static int read_plain(struct reader *reader, const struct ahead *ahead, uint32_t *thread)
{
	struct lode_cursor message = ahead->rest, values;
	const unsigned char *bytes;
	size_t size;

	*thread = LODE_NONE;
	if (!ahead->has_packed || lode_cursor_u8(&message) != TAG_VALUES)
		return 0;
	size = lode_cursor_u8(&message);
	bytes = size < 0x80 ? lode_cursor_bytes(&message, size) : NULL;
	if (!bytes)
		return 0;
	values = lode_cursor(bytes, size);
	for (size_t i = 0; i < reader->tables.types.count; i++)
		reader->values[i] = (int64_t)lode_cursor_varint(&values);
	if (values.failed || lode_cursor_left(&values))
		return 0;
	size = lode_cursor_left(&message);
	if (size && (*message.next != TAG_LABEL || !recall_thread(reader, message.next, size, thread)))
		return 0;
	reader->labels_met.bytes = NULL;
	reader->stream_met = 0;
	reader->stack.count = 0;
	put_aside(reader, ahead->packed, ahead->hash);
	return 1;
}

/* Reads what follows the locations. `*thread` becomes that of the labels where it is known, else LODE_NONE. */
static int read_sample(struct reader *reader, const struct ahead *ahead, struct lode_pprof_who *who,
		       uint32_t *thread)
{
	struct lode_cursor message = ahead->rest;
	uint64_t at = ahead->at;
	struct lode_protobuf_field field;
	const unsigned char *start = message.next;
	size_t values = 0;
	int code = 0, labels = 0;

	*thread = LODE_NONE;
	reader->stack.count = 0;
	reader->has_packed = 0;
	reader->stream_met = 0;
	reader->labels_met.bytes = NULL;
	if (ahead->has_packed)
		put_aside(reader, ahead->packed, ahead->hash);
	for (; code == 0 && lode_protobuf_next(&message, &field); start = message.next) {
		if (field.number != 3 && labels)
			reader->labels_met.bytes = NULL; /* more than labels */
		if (field.number == 3 && field.wire == LODE_WIRE_BYTES) {
			if (!labels++ && recall_thread(reader, start, (size_t)(message.end - start), thread))
				break;
			code = read_label(reader, field.bytes, who);
		} else if (field.number == 1 && field.wire == LODE_WIRE_BYTES && !reader->has_packed &&
			   !reader->stack.count)
			put_aside(reader, field.bytes,
				  lode_hash_bytes(field.bytes.next, lode_cursor_left(&field.bytes)));
		else if (field.number == 1 && reader->has_packed && (code = read_packed(reader, at)) < 0)
			break;
		else if (field.number == 1 || field.number == 2)
			code = read_numbers(reader, &field, &values);
		if (field.wire == LODE_WIRE_BYTES && field.bytes.failed)
			message.failed = 1;
	}
	if (code < 0)
		return code;
	if (message.failed)
		return lode_pprof_fail_damaged(&reader->tables, lode_pprof_place(&reader->tables, &message),
					       "a sample ends too early");
	if (values != reader->tables.types.count)
		return lode_pprof_fail_damaged(&reader->tables, at,
					       "a sample does not have one value for each type");
	return 0;
}

/* What a sample is worth. */
struct worth {
	uint64_t run;
	uint64_t wait; /* of its own values */
	uint64_t wall;
	int has_run;
};

static int add_event(struct reader *reader, enum lode_event_type type, const struct lode_event *sample,
		     uint64_t cost, uint64_t end, uint64_t at)
{
	struct lode_event event = *sample;
	uint64_t *next = &reader->ends.items[event.thread];

	event.cost = cost;
	event.t = *next;
	if (__builtin_add_overflow(*next, cost, next))
		return lode_pprof_fail_damaged(&reader->tables, at,
					       "the costs add up to more than 64 bits of nanoseconds");
	if (end >= cost && end)
		event.t = end - cost;
	return lode_stream_add_event(&reader->stream, type, &event) < 0 ? lode_fail_memory(reader->tables.error)
									: 0;
}

/* The thread's line of time, which begins with the profile. */
static int reach_thread(struct reader *reader, uint32_t thread)
{
	if (thread == LODE_NONE || !LODE_PLACE(&reader->ends, thread, reader->tables.time))
		return lode_fail_memory(reader->tables.error);
	return 0;
}

/* Waits become events, runs and wall time are added up. A value of 0 is nothing where others may be more. */
static int handle_values(struct reader *reader, const struct lode_event *sample, uint64_t end, uint64_t at,
			 struct worth *worth)
{
	for (size_t i = 0; i < reader->tables.types.count; i++) {
		const struct lode_pprof_value *use = &reader->uses[i];
		uint64_t cost;
		int code = 0;

		if (use->use == LODE_PPROF_SKIP || (!reader->values[i] && reader->used > 1))
			continue;
		if (reader->values[i] < 0) {
			reader->negative++;
			continue;
		}
		if (!lode_pprof_cost(reader->values[i], use->scale, &cost))
			return lode_pprof_fail_damaged(
				&reader->tables, at,
				"the cost of a sample is too large for 64 bits of nanoseconds");
		if (use->use == LODE_PPROF_WAIT) {
			worth->wait = lode_add_saturating(worth->wait, cost);
			if ((code = add_event(reader, LODE_WAIT, sample, cost, end, at)) < 0)
				return code;
		}
		if (use->use == LODE_PPROF_WALL)
			worth->wall = cost;
		if (use->use == LODE_PPROF_RUN) {
			worth->run = cost;
			worth->has_run = 1;
		}
	}
	return 0;
}

static int add_sample(struct reader *reader, const struct ahead *ahead)
{
	struct lode_event event = { .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	struct lode_pprof_who who = lode_pprof_nobody();
	uint64_t at = ahead->at;
	struct worth worth = { 0 };
	uint64_t known;
	int code = read_plain(reader, ahead, &event.thread) ? 0 : read_sample(reader, ahead, &who, &event.thread);

	if (code == 0 && reader->splits && reader->stream_met != reader->stream_only)
		return 0;
	if (code < 0 || (code = get_stack(reader, at, &event.stack)) < 0)
		return code;
	if (event.thread == LODE_NONE) {
		event.thread = lode_pprof_labels_thread(&reader->labels, &reader->stream, &who);
		if ((code = reach_thread(reader, event.thread)) < 0 ||
		    (code = remember_thread(reader, &who, event.thread)) < 0)
			return code;
	}
	reader->samples++;
	code = handle_values(reader, &event, who.end, at, &worth);
	if (code == 0 && worth.has_run)
		code = add_event(reader, LODE_RUN, &event, worth.run, who.end, at);
	known = lode_add_saturating(worth.run, worth.wait);
	if (code == 0 && worth.wall > known)
		code = add_event(reader, LODE_WAIT, &event, worth.wall - known,
				 who.end > known ? who.end - known : 0, at);
	return code;
}

/* Samples that are looked up together: while one waits for memory, so do the others. */
#define BATCH 32

static int add_batch(struct reader *reader, const struct ahead *batch, size_t count)
{
	int code = 0;

	for (size_t i = 0; i < count; i++)
		lode_stack_memo_prefetch(&reader->memo, batch[i].hash);
	for (size_t i = 0; i < count; i++)
		lode_stack_memo_prefetch_item(&reader->memo, batch[i].hash);
	for (size_t i = 0; i < count; i++)
		lode_stack_memo_prefetch_bytes(&reader->memo, batch[i].hash);
	for (size_t i = 0; i < count && code == 0; i++)
		code = add_sample(reader, &batch[i]);
	return code;
}

static int add_samples(struct reader *reader)
{
	struct lode_cursor message = lode_cursor(reader->tables.bytes, reader->tables.size);
	struct lode_protobuf_field field;
	struct ahead batch[BATCH];
	size_t count = 0;
	uint64_t reported = 0;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field)) {
		if (field.number != SAMPLE || field.wire != LODE_WIRE_BYTES)
			continue;
		look_ahead(reader, field.bytes, &batch[count++]);
		if (count < BATCH)
			continue;
		code = add_batch(reader, batch, count);
		count = 0;
		if (code == 0 && lode_pprof_place(&reader->tables, &message) - reported >= 1u << 20) {
			reported = lode_pprof_place(&reader->tables, &message);
			code = lode_import_progress_at(reader->tables.input, reader->tables.options, reported,
						       reader->tables.size, reader->tables.error);
		}
	}
	return code < 0 ? code : add_batch(reader, batch, count);
}

/* ---- the importer ---- */

static int set_number(struct reader *reader, const char *key, uint64_t number)
{
	char text[24];

	if (!number)
		return 0;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	if (lode_stream_set_attribute(&reader->stream, key, text, LODE_ATTRIBUTE_NUMBER) < 0)
		return lode_fail_memory(reader->tables.error);
	return 0;
}

/* All comments as one attribute, a line each. */
static int set_comments(struct reader *reader)
{
	struct lode_buffer buffer = { 0 };
	int code = 0;

	for (size_t i = 0; i < reader->tables.comments.count && code == 0 && buffer.size < 1u << 20; i++) {
		struct lode_span comment;

		code = lode_pprof_string_get(&reader->tables, reader->tables.comments.items[i], &comment);
		if (i)
			lode_buffer_byte(&buffer, '\n');
		lode_buffer_add(&buffer, comment.text, comment.length);
	}
	lode_buffer_byte(&buffer, '\0');
	if (code == 0 && (buffer.failed || (reader->tables.comments.count &&
					    lode_stream_set_attribute(&reader->stream, "comment", buffer.bytes,
								      LODE_ATTRIBUTE_TEXT) < 0)))
		code = lode_fail_memory(reader->tables.error);
	lode_buffer_release(&buffer);
	return code;
}

static int set_attributes(struct reader *reader)
{
	int code;

	if ((code = set_number(reader, "duration_ns", reader->tables.duration)) < 0 ||
	    (code = set_number(reader, "period", reader->tables.period)) < 0 ||
	    (code = set_type_attribute(reader, "period_type", &reader->tables.period_type)) < 0)
		return code;
	return set_comments(reader);
}

static int note_period(struct reader *reader)
{
	struct lode_span unit;
	char example[400];
	int code = reader->odd_period
			   ? lode_pprof_string_get(&reader->tables, reader->tables.period_type.unit, &unit)
			   : 0;

	if (code < 0 || !reader->odd_period)
		return code;
	snprintf(example, sizeof(example), "%.250s: %llu %.*s; give the true one with --unit samples=10ms",
		 lode_input_name(reader->tables.input), (unsigned long long)reader->tables.period,
		 (int)(unit.length < 20 ? unit.length : 20), unit.text);
	lode_notes_add(reader->tables.options->notes, reader->samples,
		       "samples of a profile whose period is implausible, each count taken as 1 ns", example);
	return 0;
}

static int report_notes(struct reader *reader)
{
	struct lode_notes *notes = reader->tables.options->notes;
	const char *name = lode_input_name(reader->tables.input);
	const struct lode_pprof_label *lost;
	uint64_t count;
	char example[400];

	if (lode_pprof_labels_finish(&reader->labels, reader->samples, &reader->stream, &lost, &count) < 0)
		return lode_fail_memory(reader->tables.error);
	snprintf(example, sizeof(example), "%.250s: %.*s", name,
		 lost ? (int)(lost->key.length < 100 ? lost->key.length : 100) : 0, lost ? lost->key.text : "");
	lode_notes_add(notes, count, "labels that differ between samples, which are not kept", example);
	lode_notes_add(notes, reader->negative, "negative values, which are left out", name);
	lode_notes_add(notes, reader->frames.cut, LODE_CUT_AT_ROOT, name);
	return 0;
}

static int read_stream(struct reader *reader, const struct lode_import_sink *sink, unsigned ordinal)
{
	int code;

	if ((code = set_sample_types(reader)) < 0 || (code = add_samples(reader)) < 0 ||
	    (code = set_attributes(reader)) < 0 || (code = note_period(reader)) < 0 ||
	    (code = report_notes(reader)) < 0)
		return code;
	if (lode_import_note_addresses(&reader->stream, &reader->frames.addresses) < 0)
		return lode_fail_memory(reader->tables.error);
	return lode_import_deliver(reader->tables.input, reader->tables.options, sink, &reader->stream, ordinal,
				   reader->tables.error);
}

/* ---- several streams ---- */

/* Streams, and bytes of samples that are read again and again, one time for each stream. */
#define MAX_STREAMS 1024
#define SPLIT_BYTES (1ull << 31)

/* The number of the string `stream`; 0: there is none, or it is another's label of that name. */
static uint64_t find_stream_key(struct reader *reader)
{
	if (reader->tables.types.count != 4 || !lode_span_is(reader->uses[1].type, "cpu") ||
	    !lode_span_is(reader->uses[2].type, "waits") || !lode_span_is(reader->uses[3].type, "wait"))
		return 0;
	for (uint64_t i = 1; i < reader->tables.strings.count; i++) {
		struct lode_cursor text = lode_pprof_message_at(&reader->tables, reader->tables.strings.items[i]);

		if (lode_cursor_left(&text) == 6 && memcmp(text.next, "stream", 6) == 0)
			return i;
	}
	return 0;
}

/* Which stream a sample is of. */
static int stream_of(struct reader *reader, struct lode_cursor sample, uint64_t *stream)
{
	struct lode_protobuf_field field;
	int code = 0;

	*stream = 0;
	while (code == 0 && lode_protobuf_next(&sample, &field)) {
		uint64_t key;

		if (field.number != 3 || field.wire != LODE_WIRE_BYTES)
			continue;
		code = lode_pprof_read_number(&reader->tables, field.bytes, 1, &key);
		if (code == 0 && key == reader->stream_key)
			code = lode_pprof_read_number(&reader->tables, field.bytes, 2, stream);
	}
	return code;
}

/* The streams of all samples, in the order in which they are met; few, since each costs a pass. */
static int find_streams(struct reader *reader, uint64_t **streams, size_t *count, size_t *capacity)
{
	struct lode_cursor message = lode_cursor(reader->tables.bytes, reader->tables.size);
	size_t most = (size_t)(SPLIT_BYTES / (reader->tables.size + 1));
	struct lode_protobuf_field field;
	int code = 0;

	most = most < MAX_STREAMS ? most : MAX_STREAMS;
	while (code == 0 && *count <= most && lode_protobuf_next(&message, &field)) {
		uint64_t stream;
		size_t i = 0;

		if (field.number != SAMPLE || field.wire != LODE_WIRE_BYTES)
			continue;
		code = stream_of(reader, field.bytes, &stream);
		while (i < *count && (*streams)[i] != stream)
			i++;
		if (code == 0 && i == *count)
			code = lode_pprof_append(&reader->tables, streams, count, capacity, stream);
	}
	reader->splits = *count > 1 && *count <= most;
	return code;
}

/* Starts with an empty dictionary and stream again. */
static int start_again(struct reader *reader)
{
	lode_import_end(&reader->stream);
	lode_pprof_labels_release(&reader->labels);
	lode_pprof_frames_forget(&reader->frames);
	lode_stack_memo_release(&reader->memo);
	lode_stack_memo_release(&reader->threads);
	reader->ends.count = 0;
	reader->samples = reader->negative = 0;
	lode_stream_init(&reader->stream, &reader->dictionary);
	return lode_dictionary_init(&reader->dictionary) < 0 ? lode_fail_memory(reader->tables.error) : 0;
}

static int name_stream(struct reader *reader)
{
	struct lode_span name;
	int code = lode_pprof_string_get(&reader->tables, reader->stream_only, &name);

	if (code < 0 || !name.length)
		return code;
	reader->stream.name = lode_strings_add(&reader->dictionary.frames.strings, name.text, name.length);
	return reader->stream.name == LODE_NONE ? lode_fail_memory(reader->tables.error) : 0;
}

static int read_streams(struct reader *reader, const struct lode_import_sink *sink)
{
	uint64_t *streams = NULL;
	size_t count = 0, capacity = 0;
	int code = find_streams(reader, &streams, &count, &capacity);

	if (code == 0 && !reader->splits)
		code = read_stream(reader, sink, 0);
	for (size_t i = 0; code == 0 && reader->splits && i < count; i++) {
		reader->stream_only = streams[i];
		if ((code = start_again(reader)) == 0 && (code = name_stream(reader)) == 0)
			code = read_stream(reader, sink, (unsigned)i);
	}
	lode_free(streams);
	return code;
}

static int read_all(struct reader *reader, const struct lode_import_sink *sink)
{
	int code;

	if ((code = lode_pprof_tables_read(&reader->tables)) < 0 || (code = choose_values(reader)) < 0)
		return code;
	reader->stream_key = find_stream_key(reader);
	return reader->stream_key ? read_streams(reader, sink) : read_stream(reader, sink, 0);
}

static void release(struct reader *reader)
{
	lode_pprof_tables_release(&reader->tables);
	lode_pprof_frames_release(&reader->frames);
	lode_stack_memo_release(&reader->memo);
	lode_stack_memo_release(&reader->threads);
	lode_free(reader->stack.items);
	lode_free(reader->uses);
	lode_free(reader->values);
	lode_free(reader->ends.items);
	lode_pprof_labels_release(&reader->labels);
	lode_import_end(&reader->stream);
}

static int read_pprof(struct lode_input *input, const struct lode_import_options *options,
		      const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .tables = { .input = input, .options = options, .error = error } };
	int code = lode_import_begin(input, &reader.tables.bytes, &reader.tables.size, &reader.stream,
				     &reader.dictionary, error);

	if (code < 0)
		return code;
	reader.frames.tables = &reader.tables;
	reader.frames.dictionary = &reader.dictionary;
	code = read_all(&reader, sink);
	release(&reader);
	return code;
}

const struct lode_importer lode_importer_pprof = {
	.name = "pprof",
	.description = "pprof profiles (profile.proto)",
	.sniff = lode_pprof_sniff,
	.read = read_pprof,
};
