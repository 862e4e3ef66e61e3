/*
 * A sample is a stack with attributes, values and time stamps. The attributes name its thread; the same sets
 * come over and over, so that what they come to is kept by their bytes.
 */
#include "import/protobuf/otlp_samples.h"

#include "base/memory.h"

/* Numbers of fields. */
enum {
	PROFILE_SAMPLE = 2,
	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_LINK = 3,
	SAMPLE_VALUES = 4,
	SAMPLE_TIMES = 5,
};

/* Whose a sample is, and what woke it. */
struct who {
	uint32_t pid, tid, name, waker, waker_pid, waker_name;
	uint32_t object, holder, holder_pid, holder_name, context;
	uint16_t cpu;
	uint64_t waker_stack;
	int has_tid;
};

/* What an attribute of the dictionary says of a sample. */
struct lode_otlp_known_attribute {
	uint32_t number;
	uint8_t meaning; /* enum meaning */
};

/*
 * What the attributes of a sample come to: samples of a thread have the same ones, byte for byte. The key has these bytes
 * where they fit: those in the file have long left the cache.
 */
struct lode_otlp_known_threads {
	uint64_t key[2];
	const unsigned char *bytes; /* NULL: none yet */
	size_t size;
	uint64_t labels; /* attributes that are of no use */
	uint32_t thread, waker, waker_stack, object, holder, context;
	uint16_t cpu;
};

/* A set of attributes takes the place that another one had. */
#define KNOWN_THREADS_BITS 12
#define KNOWN_THREADS      (1u << KNOWN_THREADS_BITS)

/* ---- whose a sample is ---- */

static struct who no_thread(const struct lode_otlp_samples *samples)
{
	return (struct who){ .pid = samples->pid,
			     .waker = LODE_NONE,
			     .waker_pid = LODE_NO_PID,
			     .holder = LODE_NONE,
			     .holder_pid = LODE_NO_PID,
			     .cpu = LODE_NO_CPU };
}

static uint32_t small_number(const struct lode_otlp_value *value, uint32_t otherwise)
{
	return value->type == LODE_ATTRIBUTE_NUMBER && !value->is_fraction && value->number >= 0 &&
			       value->number < UINT32_MAX
		       ? (uint32_t)value->number
		       : otherwise;
}

/* Which attributes of a sample are of use, by name. The order is that of enum meaning, behind its first. */
static const char *const meanings[] = { "thread.id",
					"process.pid",
					"cpu.logical_number",
					"thread.name",
					"lode.waker.thread.id",
					"lode.waker.process.pid",
					"lode.waker.thread.name",
					"lode.waker.stack_index",
					"lode.object",
					"lode.holder.thread.id",
					"lode.holder.process.pid",
					"lode.holder.thread.name",
					"lode.context" };

enum meaning {
	NOT_LOOKED_AT,
	TID,
	PID,
	PROCESSOR,
	THREAD_NAME,
	WAKER_TID,
	WAKER_PID,
	WAKER_NAME,
	WAKER_STACK,
	OBJECT,
	HOLDER_TID,
	HOLDER_PID,
	HOLDER_NAME,
	CONTEXT,
	LABEL
};

/* Reads an attribute of the dictionary, once: samples name the same few thousand over and over. */
static int look_at(struct lode_otlp_samples *samples, uint64_t attribute, struct lode_otlp_known_attribute *known)
{
	struct lode_otlp_value value;
	struct lode_cursor key;
	int code = lode_otlp_attribute(samples->tables, attribute, &key, &value);

	if (code < 0)
		return code;
	known->meaning = LABEL;
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
		if (lode_protobuf_is(key, meanings[i]))
			known->meaning = (uint8_t)(i + 1);
	if (known->meaning == THREAD_NAME || known->meaning == WAKER_NAME || known->meaning == HOLDER_NAME ||
	    known->meaning == OBJECT || known->meaning == CONTEXT) {
		if (!value.text)
			known->meaning = LABEL;
		else if ((known->number = lode_strings_add(&samples->tables->import->dictionary.frames.strings,
							   value.text, value.length)) == LODE_NONE)
			return lode_fail_memory(samples->tables->import->error);
	} else {
		known->number = small_number(&value, LODE_NONE);
	}
	return 0;
}

static int read_attribute(struct lode_otlp_samples *samples, uint64_t attribute, struct who *who)
{
	struct lode_otlp_known_attribute unknown = { 0 }, *known = attribute < samples->known_count
									   ? &samples->known[attribute]
									   : &unknown;
	uint32_t number;
	int code = known->meaning == NOT_LOOKED_AT ? look_at(samples, attribute, known) : 0;

	if (code < 0)
		return code;
	number = known->number;
	switch ((enum meaning)known->meaning) {
	case TID:
		who->tid = number == LODE_NONE ? 0 : number;
		who->has_tid = 1;
		break;
	case PID:
		who->pid = number == LODE_NONE ? who->pid : number;
		break;
	case PROCESSOR:
		who->cpu = number < LODE_NO_CPU ? (uint16_t)number : LODE_NO_CPU;
		break;
	case THREAD_NAME:
		who->name = number;
		break;
	case WAKER_TID:
		who->waker = number;
		break;
	case WAKER_PID:
		who->waker_pid = number == LODE_NONE ? LODE_NO_PID : number;
		break;
	case WAKER_NAME:
		who->waker_name = number;
		break;
	case WAKER_STACK:
		who->waker_stack = number == LODE_NONE ? 0 : number;
		break;
	case OBJECT:
		who->object = number;
		break;
	case HOLDER_TID:
		who->holder = number;
		break;
	case HOLDER_PID:
		who->holder_pid = number == LODE_NONE ? LODE_NO_PID : number;
		break;
	case HOLDER_NAME:
		who->holder_name = number;
		break;
	case CONTEXT:
		who->context = number;
		break;
	default:
		samples->labels += attribute != 0;
	}
	return 0;
}

static int find_thread(struct lode_otlp_samples *samples, uint32_t pid, uint32_t tid, uint32_t name,
		       uint32_t *thread)
{
	struct lode_stream *stream = &samples->tables->import->stream;

	*thread = lode_stream_thread(stream, pid, tid);
	if (*thread == LODE_NONE)
		return lode_fail_memory(samples->tables->import->error);
	if (name && !stream->threads[*thread].name)
		stream->threads[*thread].name = name;
	return 0;
}

static int find_threads(struct lode_otlp_samples *samples, const struct who *who, struct lode_event *event)
{
	uint32_t tid = who->has_tid ? who->tid : who->pid == LODE_NO_PID ? 0 : who->pid;
	int code = find_thread(samples, who->pid, tid, who->name, &event->thread);

	event->cpu = who->cpu;
	event->waker = LODE_NONE;
	event->object = who->object;
	event->context = who->context;
	event->holder = LODE_NONE;
	if (code == 0 && who->object && who->holder != LODE_NONE)
		code = find_thread(samples, who->holder_pid, who->holder, who->holder_name, &event->holder);
	if (code < 0 || who->waker == LODE_NONE)
		return code;
	code = find_thread(samples, who->waker_pid, who->waker, who->waker_name, &event->waker);
	if (code < 0)
		return code;
	return lode_otlp_stack(samples->tables, who->waker_stack, &event->waker_stack);
}

static int read_attributes(struct lode_otlp_samples *samples, struct lode_protobuf_field *field, struct who *who)
{
	uint64_t attribute;
	int more = 1, code = 0;

	while (code == 0 && lode_protobuf_number(field, &more, &attribute))
		code = read_attribute(samples, attribute, who);
	return code;
}

/* Up to 16 bytes, two keys of one size being equal where the bytes are; a hash of more. */
static void make_key(const unsigned char *bytes, size_t size, uint64_t key[2])
{
	uint32_t first, last;

	key[1] = 0;
	if (size > 16) {
		key[0] = lode_hash_bytes(bytes, size);
	} else if (size >= 8) {
		memcpy(&key[0], bytes, 8);
		memcpy(&key[1], bytes + size - 8, 8);
	} else if (size >= 4) {
		memcpy(&first, bytes, 4);
		memcpy(&last, bytes + size - 4, 4);
		key[0] = first | (uint64_t)last << 32;
	} else {
		key[0] = size ? (uint64_t)(bytes[0] | bytes[size / 2] << 8 | bytes[size - 1] << 16) : 0;
	}
}

/* The threads of a sample with its attributes in one field. */
static int find_known(struct lode_otlp_samples *samples, struct lode_cursor attributes, struct lode_event *event)
{
	struct lode_protobuf_field field = { .wire = LODE_WIRE_BYTES, .bytes = attributes };
	const unsigned char *bytes = attributes.next;
	size_t size = lode_cursor_left(&attributes);
	uint64_t key[2], labels = samples->labels;
	struct lode_otlp_known_threads *known;
	struct who who;
	int code;

	make_key(bytes, size, key);
	known = &samples->threads[lode_hash_u64(key[0] + lode_hash_u64(key[1])) >> (64 - KNOWN_THREADS_BITS)];
	if (known->key[0] == key[0] && known->key[1] == key[1] && known->size == size && known->bytes &&
	    (size <= 16 || memcmp(known->bytes, bytes, size) == 0)) {
		event->thread = known->thread;
		event->waker = known->waker;
		event->waker_stack = known->waker_stack;
		event->object = known->object;
		event->holder = known->holder;
		event->context = known->context;
		event->cpu = known->cpu;
		samples->labels += known->labels;
		return 0;
	}
	who = no_thread(samples);
	if ((code = read_attributes(samples, &field, &who)) < 0 || (code = find_threads(samples, &who, event)) < 0)
		return code;
	*known = (struct lode_otlp_known_threads){ { key[0], key[1] },       bytes,         size,
						   samples->labels - labels, event->thread, event->waker,
						   event->waker_stack,       event->object, event->holder,
						   event->context,           event->cpu };
	return 0;
}

/* ---- samples ---- */

/* What a sample consists of. */
struct sample {
	uint64_t stack;
	struct lode_cursor attributes; /* packed, in one field as they nearly always are; else read into `who` at once */
	int has_attributes, has_who;
	struct who who;
	struct lode_cursor values, times; /* packed numbers; no exporter writes lists of single ones */
	uint64_t value;                   /* a single one */
	size_t value_count;
	uint64_t time;
	int has_time;
};

/* Attributes in one field are put aside for find_known, others are read. */
static int decode_attributes(struct lode_otlp_samples *samples, struct lode_protobuf_field *field,
			     struct sample *sample)
{
	struct lode_protobuf_field first = { .wire = LODE_WIRE_BYTES, .bytes = sample->attributes };
	int code = 0;

	if (field->wire == LODE_WIRE_BYTES && !sample->has_attributes && !sample->has_who) {
		sample->attributes = field->bytes;
		sample->has_attributes = 1;
		return 0;
	}
	if (sample->has_attributes)
		code = read_attributes(samples, &first, &sample->who);
	sample->has_attributes = 0;
	sample->has_who = 1;
	return code < 0 ? code : read_attributes(samples, field, &sample->who);
}

static int read_sample(struct lode_otlp_samples *samples, struct lode_cursor message, struct sample *sample)
{
	struct lode_protobuf_field field;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field)) {
		switch (field.number) {
		case SAMPLE_STACK:
			sample->stack = field.value;
			break;
		case SAMPLE_ATTRIBUTES:
			code = decode_attributes(samples, &field, sample);
			break;
		case SAMPLE_LINK:
			samples->links += field.value != 0;
			break;
		case SAMPLE_VALUES:
			if (field.wire == LODE_WIRE_BYTES)
				sample->values = field.bytes;
			else
				sample->value = field.value;
			sample->value_count = 1;
			break;
		case SAMPLE_TIMES:
			if (field.wire == LODE_WIRE_BYTES)
				sample->times = field.bytes;
			else
				sample->time = field.value;
			sample->has_time = 1;
		}
	}
	return code < 0 ? code : message.failed ? lode_otlp_fail_damaged(samples->tables) : 0;
}

static int add_event(struct lode_otlp_samples *samples, const struct lode_otlp_profile *profile,
		     struct lode_event *event, int64_t value, const uint64_t *time)
{
	if (value < 0 || !lode_pprof_cost(value, profile->value.scale, &event->cost)) {
		samples->negative++;
		return 0;
	}
	if (time) {
		event->t = *time;
		if (profile->time_is_end)
			event->t -= event->cost < event->t ? event->cost : event->t;
	} else {
		uint64_t *end = LODE_PLACE(&samples->ends, event->thread, profile->start);

		if (!end)
			return lode_fail_memory(samples->tables->import->error);
		event->t = *end;
		*end = lode_add_saturating(*end, event->cost);
		samples->timeless++;
	}
	samples->events++;
	return lode_stream_add_event(&samples->tables->import->stream, profile->type, event) < 0
		       ? lode_fail_memory(samples->tables->import->error)
		       : 0;
}

/* The numbers of values and times. */
static size_t count_values(const struct sample *sample)
{
	struct lode_cursor values = sample->values;
	size_t count = 0;

	while (lode_cursor_left(&values)) {
		lode_cursor_varint(&values);
		count++;
	}
	return count ? count : sample->value_count;
}

/* A value for each time; where there are none a time counts once; a single value is shared by all times. */
static int add_timed(struct lode_otlp_samples *samples, const struct lode_otlp_profile *profile,
		     struct sample *sample, struct lode_event *event, size_t values)
{
	size_t times = lode_cursor_left(&sample->times) / 8, i = 0;
	uint64_t value = values ? sample->value : 1, t = sample->time;
	int code = 0;

	if (!times)
		times = 1;
	if (values > 1 && values != times)
		return lode_json_reject(samples->tables->import, "a sample has more values than times, or fewer");
	if (values == 1 && lode_cursor_left(&sample->values))
		value = lode_cursor_varint(&sample->values);
	for (; code == 0 && i < times; i++) {
		uint64_t share = value;

		if (lode_cursor_left(&sample->times))
			t = lode_cursor_u64(&sample->times);
		if (values > 1) {
			share = lode_cursor_varint(&sample->values);
		} else if (values == 1 && times > 1 && (int64_t)value > 0) {
			share = value / times + (i < value % times);
		}
		code = add_event(samples, profile, event, (int64_t)share, &t);
	}
	return code;
}

/* A sample as nearly all are: fields in their order, each once, with one value and at most one time. */
struct plain_sample {
	uint64_t stack, value, time;
	struct lode_cursor attributes;
	int has_attributes, has_value, has_time;
};

/* Fields of it, with their wire type. */
enum {
	TAG_STACK = SAMPLE_STACK << 3 | LODE_WIRE_VARINT,
	TAG_ATTRIBUTES = SAMPLE_ATTRIBUTES << 3 | LODE_WIRE_BYTES,
	TAG_VALUES = SAMPLE_VALUES << 3 | LODE_WIRE_BYTES,
	TAG_TIMES = SAMPLE_TIMES << 3 | LODE_WIRE_BYTES,
};

/* Returns whether the sample is a plain one. */
static int read_plain(struct lode_cursor message, struct plain_sample *sample)
{
	unsigned last = 0;

	sample->stack = 0;
	sample->has_attributes = sample->has_value = sample->has_time = 0;
	while (lode_cursor_left(&message)) {
		unsigned tag = lode_cursor_u8(&message), size;
		const unsigned char *bytes;

		if (tag <= last)
			return 0;
		last = tag;
		if (tag == TAG_STACK) {
			sample->stack = lode_cursor_varint(&message);
			continue;
		}
		size = lode_cursor_u8(&message);
		bytes = size < 0x80 ? lode_cursor_bytes(&message, size) : NULL;
		if (!bytes)
			return 0;
		if (tag == TAG_ATTRIBUTES) {
			sample->attributes = lode_cursor(bytes, size);
			sample->has_attributes = 1;
		} else if (tag == TAG_VALUES) {
			struct lode_cursor value = lode_cursor(bytes, size);

			sample->value = lode_cursor_varint(&value);
			sample->has_value = !value.failed && !lode_cursor_left(&value);
		} else if (tag == TAG_TIMES && size == 8) {
			struct lode_cursor time = lode_cursor(bytes, size);

			sample->time = lode_cursor_u64(&time);
			sample->has_time = 1;
		} else {
			return 0;
		}
	}
	return !message.failed && sample->has_attributes && sample->has_value;
}

static int add_plain(struct lode_otlp_samples *samples, const struct lode_otlp_profile *profile,
		     const struct plain_sample *sample)
{
	const struct lode_otlp_tables *tables = samples->tables;
	struct lode_event event = { 0 };
	int code = find_known(samples, sample->attributes, &event);

	if (code < 0)
		return code;
	if (sample->stack < tables->stacks.count && tables->nodes[sample->stack] != LODE_NONE)
		event.stack = tables->nodes[sample->stack];
	else if ((code = lode_otlp_stack(samples->tables, sample->stack, &event.stack)) < 0)
		return code;
	return add_event(samples, profile, &event, (int64_t)sample->value, sample->has_time ? &sample->time : NULL);
}

static int add_any(struct lode_otlp_samples *samples, const struct lode_otlp_profile *profile,
		   struct lode_cursor message)
{
	struct sample sample = { .who = no_thread(samples),
				 .values = lode_cursor("", 0),
				 .times = lode_cursor("", 0) };
	struct lode_event event = { 0 };
	int code = read_sample(samples, message, &sample);
	size_t values;

	if (code < 0)
		return code;
	code = sample.has_attributes ? find_known(samples, sample.attributes, &event)
				     : find_threads(samples, &sample.who, &event);
	if (code < 0 || (code = lode_otlp_stack(samples->tables, sample.stack, &event.stack)) < 0)
		return code;
	values = count_values(&sample);
	if (sample.has_time)
		return add_timed(samples, profile, &sample, &event, values);
	for (size_t i = 0; code == 0 && i < values; i++)
		code = add_event(samples, profile, &event,
				 (int64_t)(lode_cursor_left(&sample.values) ? lode_cursor_varint(&sample.values)
									    : sample.value),
				 NULL);
	return code;
}

static int add_sample(struct lode_otlp_samples *samples, const struct lode_otlp_profile *profile,
		      struct lode_cursor message)
{
	struct plain_sample sample;

	return read_plain(message, &sample) ? add_plain(samples, profile, &sample)
					    : add_any(samples, profile, message);
}

/* The loop is here, and not with the other fields of a profile, so that the above is compiled into it. */
int lode_otlp_samples_add(struct lode_otlp_samples *samples, const struct lode_otlp_profile *profile,
			  struct lode_cursor message)
{
	struct lode_protobuf_field field;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field))
		if (field.number == PROFILE_SAMPLE && field.wire == LODE_WIRE_BYTES)
			code = add_sample(samples, profile, field.bytes);
	return code < 0 ? code : message.failed ? lode_otlp_fail_damaged(samples->tables) : 0;
}

void lode_otlp_samples_set_pid(struct lode_otlp_samples *samples, uint32_t pid)
{
	if (pid != samples->pid)
		memset(samples->threads, 0, KNOWN_THREADS * sizeof(*samples->threads));
	samples->pid = pid;
}

int lode_otlp_samples_reset(struct lode_otlp_samples *samples)
{
	lode_free(samples->known);
	lode_free(samples->threads);
	samples->known_count = samples->tables->attributes.count;
	samples->known = lode_calloc(samples->known_count + 1, sizeof(*samples->known));
	samples->threads = lode_calloc(KNOWN_THREADS, sizeof(*samples->threads));
	samples->ends.count = 0;
	return samples->known && samples->threads ? 0 : lode_fail_memory(samples->tables->import->error);
}

void lode_otlp_samples_release(struct lode_otlp_samples *samples)
{
	lode_free(samples->ends.items);
	lode_free(samples->known);
	lode_free(samples->threads);
}
