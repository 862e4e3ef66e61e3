/*
 * OpenTelemetry's profiles (opentelemetry.proto.profiles.v1development): ProfilesData, or the request
 * that an exporter sends, which has the same fields. Protobuf; JSON is turned into that
 * first (otlp_json.h).
 *
 * A profile has one kind of value, recognized by its name as with pprof (pprof_values.h): CPU time or counted
 * samples are runs, `off_cpu` and the like are waits. A sample is a stack with attributes, values and
 * time stamps. With time stamps each is an event; a wait ended then (agents report a wait
 * when the thread runs again), except in our own exports, where it began. Without them
 * a sample is one event, and the events of a thread tile a line of time as with pprof.
 *
 * Attributes of samples say whose they are: `thread.id`, `thread.name`, `process.pid` (also of the
 * resource) and `cpu.logical_number`; others are counted in a note. Attributes that all
 * resources share are those of the stream; `host.name` is its host. Resources of several
 * hosts, and streams that we exported, are streams of their own, each read in a pass.
 */
#include "import/exported_facts.h"
#include "import/frame_memo.h"
#include "import/otlp_json.h"
#include "import/otlp_tables.h"
#include "import/pprof_values.h"
#include "import/import_common.h"

#include "base/memory.h"

#include <stdio.h>

/* Numbers of fields. */
enum {
	DATA_RESOURCE_PROFILES = 1,
	DATA_DICTIONARY = 2,
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPE = 2,
	RESOURCE_ATTRIBUTE = 1,
	KEY_VALUE_KEY = 1,
	KEY_VALUE_VALUE = 2,
	SCOPE_PROFILES_PROFILE = 2,
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_TIME = 3,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_LINK = 3,
	SAMPLE_VALUES = 4,
	SAMPLE_TIMES = 5,
};

/* Streams that one file may hold. */
#define STREAM_LIMIT 1024

/* A resource and the stream it belongs to. */
struct resource {
	struct lode_cursor message;
	uint32_t stream;
	uint32_t pid;
};

/* An attribute that some resources of the stream have. */
struct shared_attribute {
	uint32_t key, value;
	enum lode_attribute_type type;
	size_t count; /* resources with this value */
};

/* Whose a sample is, and what woke it. */
struct who {
	uint32_t pid, tid, name, waker, waker_pid, waker_name;
	uint16_t cpu;
	uint64_t waker_stack;
	int has_tid;
};

struct profile {
	struct lode_pprof_value value;
	enum lode_event_type type;
	uint64_t start;
};

/* What an attribute of the dictionary says of a sample. */
struct known_attribute {
	uint32_t number;
	uint8_t meaning; /* enum meaning */
};

/*
 * What the attributes of a sample come to: samples of a thread have the same ones, byte for byte. The key has these bytes
 * where they fit: those in the file have long left the cache.
 */
struct known_threads {
	uint64_t key[2];
	const unsigned char *bytes; /* NULL: none yet */
	size_t size;
	uint64_t labels; /* attributes that are of no use */
	uint32_t thread, waker, waker_stack;
	uint16_t cpu;
};

/* A set of attributes takes the place that another one had. */
#define KNOWN_THREADS_BITS 12
#define KNOWN_THREADS      (1u << KNOWN_THREADS_BITS)

struct reading {
	struct lode_json_import import; /* dictionary, stream and room for strings; there may be no JSON */
	struct lode_otlp_tables tables;
	struct known_attribute *known; /* by attribute */
	size_t known_count;
	struct known_threads *threads; /* by hash */
	uint32_t threads_pid;          /* of the resource that they are of */
	struct lode_exported_facts facts;
	struct lode_buffer encoded; /* JSON as protobuf */
	struct resource *resources;
	size_t resource_count;
	size_t resource_capacity;
	struct lode_frame_memo streams; /* from host and name to the number of a stream */
	struct shared_attribute *shared;
	size_t shared_count;
	size_t shared_capacity;
	uint64_t *ends; /* by thread: where its next event without a time begins */
	size_t end_count;
	size_t end_capacity;
	uint64_t events, labels, links, negative, skipped, timeless;
	char skipped_type[64];
};

static int fail_memory(struct reading *reading)
{
	return lode_fail_memory(reading->import.error);
}

static int fail_damaged(struct reading *reading)
{
	return lode_otlp_fail(&reading->tables, "it is damaged or cut off");
}

/* ---- resources ---- */

/* The next attribute of a resource. Returns 0 at the end. */
static int next_attribute(struct lode_cursor *resource, struct lode_cursor *key, struct lode_otlp_value *value)
{
	struct lode_protobuf_field field, inner;

	while (lode_protobuf_next(resource, &field)) {
		if (field.number != RESOURCE_ATTRIBUTE || field.wire != LODE_WIRE_BYTES)
			continue;
		*key = lode_cursor("", 0);
		*value = (struct lode_otlp_value){ 0 };
		while (lode_protobuf_next(&field.bytes, &inner)) {
			if (inner.number == KEY_VALUE_KEY && inner.wire == LODE_WIRE_BYTES)
				*key = inner.bytes;
			else if (inner.number == KEY_VALUE_VALUE && inner.wire == LODE_WIRE_BYTES)
				lode_otlp_value(inner.bytes, value);
		}
		return 1;
	}
	return 0;
}

/* The part of a resource's profiles that describes it. */
static struct lode_cursor resource_of(struct lode_cursor message)
{
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&message, &field))
		if (field.number == RESOURCE_PROFILES_RESOURCE && field.wire == LODE_WIRE_BYTES)
			return field.bytes;
	return lode_cursor("", 0);
}

/* The stream that a resource belongs to: one for each host, and for each stream we exported. */
static int number_stream(struct reading *reading, const struct lode_otlp_value *host,
			 const struct lode_otlp_value *name, uint32_t *stream)
{
	struct lode_buffer *key = &reading->import.text;
	uint64_t hash;

	lode_buffer_clear(key);
	lode_buffer_add(key, name->text ? name->text : "", name->length);
	lode_buffer_byte(key, '\0');
	lode_buffer_add(key, host->text ? host->text : "", host->length);
	if (key->failed)
		return fail_memory(reading);
	hash = lode_hash_bytes(key->bytes, key->size);
	*stream = lode_frame_memo_find(&reading->streams, key->bytes, key->size, hash);
	if (*stream != LODE_NONE)
		return 0;
	*stream = (uint32_t)reading->streams.count;
	if (*stream == STREAM_LIMIT)
		return lode_otlp_fail(&reading->tables,
				      "it has resources of more than 1024 hosts or streams; split it");
	return lode_frame_memo_add(&reading->streams, key->bytes, key->size, hash, *stream) < 0
		       ? fail_memory(reading)
		       : 0;
}

static int add_resource(struct reading *reading, struct lode_cursor message)
{
	struct lode_otlp_value value, host = { 0 }, name = { 0 };
	struct lode_cursor part = resource_of(message), key;
	struct resource resource = { .message = message, .pid = LODE_NO_PID };
	int code;

	while (next_attribute(&part, &key, &value)) {
		if (lode_otlp_is(key, "host.name"))
			host = value;
		else if (lode_otlp_is(key, "lode.stream"))
			name = value;
		else if (lode_otlp_is(key, "process.pid") && value.number >= 0 && value.number < LODE_NO_PID)
			resource.pid = (uint32_t)value.number;
	}
	if (part.failed)
		return fail_damaged(reading);
	code = number_stream(reading, &host, &name, &resource.stream);
	if (code < 0)
		return code;
	if (lode_grow(&reading->resources, &reading->resource_capacity, reading->resource_count + 1,
		      sizeof(*reading->resources)) < 0)
		return fail_memory(reading);
	reading->resources[reading->resource_count++] = resource;
	return 0;
}

/* ---- attributes of the stream ---- */

static uint32_t string_of(struct reading *reading, const char *text, size_t length)
{
	return lode_strings_add(&reading->import.dictionary.frames.strings, text, length);
}

static uint32_t value_string(struct reading *reading, const struct lode_otlp_value *value)
{
	char text[40];

	if (value->type == LODE_ATTRIBUTE_TEXT)
		return string_of(reading, value->text ? value->text : "", value->length);
	if (value->type == LODE_ATTRIBUTE_BOOL)
		snprintf(text, sizeof(text), "%s", value->number ? "true" : "false");
	else if (value->is_fraction)
		snprintf(text, sizeof(text), "%.17g", value->fraction);
	else
		snprintf(text, sizeof(text), "%lld", (long long)value->number);
	return string_of(reading, text, strlen(text));
}

static int share_attribute(struct reading *reading, struct lode_cursor key, const struct lode_otlp_value *value)
{
	uint32_t name = string_of(reading, (const char *)key.next, lode_cursor_left(&key)),
		 text = value_string(reading, value);

	if (name == LODE_NONE || text == LODE_NONE)
		return fail_memory(reading);
	for (size_t i = 0; i < reading->shared_count; i++) {
		struct shared_attribute *shared = &reading->shared[i];

		if (shared->key == name) {
			shared->count += shared->value == text && shared->type == value->type;
			return 0;
		}
	}
	if (reading->shared_count == 256) /* more would be no description */
		return 0;
	if (lode_grow(&reading->shared, &reading->shared_capacity, reading->shared_count + 1,
		      sizeof(*reading->shared)) < 0)
		return fail_memory(reading);
	reading->shared[reading->shared_count++] = (struct shared_attribute){ name, text, value->type, 1 };
	return 0;
}

/* What `lode export` wrote, as JSON in a text; damaged facts are none. */
static int read_facts(struct reading *reading, const struct lode_otlp_value *value)
{
	struct lode_json_value root;
	struct lode_error ignored;

	if (!value->text || lode_json_check("lode.facts", value->text, value->length, &root, &ignored) < 0)
		return 0;
	return lode_exported_facts_read(&reading->import, root, &reading->facts);
}

static int read_resource_attributes(struct reading *reading, const struct resource *resource)
{
	struct lode_cursor part = resource_of(resource->message), key;
	struct lode_otlp_value value;
	int code = 0;

	while (code == 0 && next_attribute(&part, &key, &value)) {
		if (lode_otlp_is(key, "lode.facts"))
			code = read_facts(reading, &value);
		else if (lode_otlp_is(key, "host.name") && value.text) {
			reading->import.stream.host = string_of(reading, value.text, value.length);
			code = reading->import.stream.host == LODE_NONE ? fail_memory(reading) : 0;
		} else if (value.is_known && !lode_otlp_is(key, "process.pid") && !lode_otlp_is(key, "lode.stream"))
			code = share_attribute(reading, key, &value);
	}
	return code;
}

/* Those that all resources of the stream have. Our own exports keep them apart from those that others see. */
static int set_attributes(struct reading *reading, size_t resources)
{
	const struct lode_strings *strings = &reading->import.dictionary.frames.strings;

	for (size_t i = 0; !reading->facts.is_lode && i < reading->shared_count; i++) {
		const struct shared_attribute *shared = &reading->shared[i];

		if (shared->count == resources &&
		    lode_stream_set_attribute(&reading->import.stream, lode_strings_get(strings, shared->key),
					      lode_strings_get(strings, shared->value), shared->type) < 0)
			return fail_memory(reading);
	}
	return 0;
}

/* ---- samples ---- */

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
					"lode.waker.stack_index" };

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
	LABEL
};

/* Reads an attribute of the dictionary, once: samples name the same few thousand over and over. */
static int look_at(struct reading *reading, uint64_t attribute, struct known_attribute *known)
{
	struct lode_otlp_value value;
	struct lode_cursor key;
	int code = lode_otlp_attribute(&reading->tables, attribute, &key, &value);

	if (code < 0)
		return code;
	known->meaning = LABEL;
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
		if (lode_otlp_is(key, meanings[i]))
			known->meaning = (uint8_t)(i + 1);
	if (known->meaning == THREAD_NAME || known->meaning == WAKER_NAME) {
		if (!value.text)
			known->meaning = LABEL;
		else if ((known->number = string_of(reading, value.text, value.length)) == LODE_NONE)
			return fail_memory(reading);
	} else {
		known->number = small_number(&value, LODE_NONE);
	}
	return 0;
}

static int read_attribute(struct reading *reading, uint64_t attribute, struct who *who)
{
	struct known_attribute unknown = { 0 },
			       *known = attribute < reading->known_count ? &reading->known[attribute] : &unknown;
	uint32_t number;
	int code = known->meaning == NOT_LOOKED_AT ? look_at(reading, attribute, known) : 0;

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
	default:
		reading->labels += attribute != 0;
	}
	return 0;
}

static int find_thread(struct reading *reading, uint32_t pid, uint32_t tid, uint32_t name, uint32_t *thread)
{
	struct lode_stream *stream = &reading->import.stream;

	*thread = lode_stream_thread(stream, pid, tid);
	if (*thread == LODE_NONE)
		return fail_memory(reading);
	if (name && !stream->threads[*thread].name)
		stream->threads[*thread].name = name;
	return 0;
}

static int find_threads(struct reading *reading, const struct who *who, struct lode_event *event)
{
	uint32_t tid = who->has_tid ? who->tid : who->pid == LODE_NO_PID ? 0 : who->pid;
	int code = find_thread(reading, who->pid, tid, who->name, &event->thread);

	event->cpu = who->cpu;
	event->waker = LODE_NONE;
	if (code < 0 || who->waker == LODE_NONE)
		return code;
	code = find_thread(reading, who->waker_pid, who->waker, who->waker_name, &event->waker);
	if (code < 0)
		return code;
	return lode_otlp_stack(&reading->tables, who->waker_stack, &event->waker_stack);
}

/* What a sample consists of. */
struct sample {
	uint64_t stack;
	struct lode_cursor attributes; /* packed, in one field as they nearly always are; else read into `who` at once */
	int has_attributes, has_who;
	struct who who;
	struct lode_cursor values, times; /* packed numbers; lists of single ones are not written by anybody */
	uint64_t value;                   /* a single one */
	size_t value_count;
	uint64_t time;
	int has_time;
};

static int read_attributes(struct reading *reading, struct lode_protobuf_field *field, struct who *who)
{
	uint64_t attribute;
	int more = 1, code = 0;

	while (code == 0 && lode_protobuf_number(field, &more, &attribute))
		code = read_attribute(reading, attribute, who);
	return code;
}

/* Attributes in one field are put aside for find_known, others are read. */
static int take_attributes(struct reading *reading, struct lode_protobuf_field *field, struct sample *sample)
{
	struct lode_protobuf_field first = { .wire = LODE_WIRE_BYTES, .bytes = sample->attributes };
	int code = 0;

	if (field->wire == LODE_WIRE_BYTES && !sample->has_attributes && !sample->has_who) {
		sample->attributes = field->bytes;
		sample->has_attributes = 1;
		return 0;
	}
	if (sample->has_attributes)
		code = read_attributes(reading, &first, &sample->who);
	sample->has_attributes = 0;
	sample->has_who = 1;
	return code < 0 ? code : read_attributes(reading, field, &sample->who);
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
static int find_known(struct reading *reading, struct lode_cursor attributes, const struct who *nobody,
		      struct lode_event *event)
{
	struct lode_protobuf_field field = { .wire = LODE_WIRE_BYTES, .bytes = attributes };
	const unsigned char *bytes = attributes.next;
	size_t size = lode_cursor_left(&attributes);
	uint64_t key[2], labels = reading->labels;
	struct known_threads *known;
	struct who who;
	int code;

	make_key(bytes, size, key);
	known = &reading->threads[lode_hash_u64(key[0] + lode_hash_u64(key[1])) >> (64 - KNOWN_THREADS_BITS)];
	if (known->key[0] == key[0] && known->key[1] == key[1] && known->size == size && known->bytes &&
	    (size <= 16 || memcmp(known->bytes, bytes, size) == 0)) {
		event->thread = known->thread;
		event->waker = known->waker;
		event->waker_stack = known->waker_stack;
		event->cpu = known->cpu;
		reading->labels += known->labels;
		return 0;
	}
	who = *nobody;
	if ((code = read_attributes(reading, &field, &who)) < 0 || (code = find_threads(reading, &who, event)) < 0)
		return code;
	*known = (struct known_threads){ { key[0], key[1] },       bytes,         size,
					 reading->labels - labels, event->thread, event->waker,
					 event->waker_stack,       event->cpu };
	return 0;
}

static int read_sample(struct reading *reading, struct lode_cursor message, struct sample *sample)
{
	struct lode_protobuf_field field;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field)) {
		switch (field.number) {
		case SAMPLE_STACK:
			sample->stack = field.value;
			break;
		case SAMPLE_ATTRIBUTES:
			code = take_attributes(reading, &field, sample);
			break;
		case SAMPLE_LINK:
			reading->links += field.value != 0;
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
	return code < 0 ? code : message.failed ? fail_damaged(reading) : 0;
}

/* Where the next event of a thread begins, for samples without times. */
static uint64_t *end_of(struct reading *reading, uint32_t thread, uint64_t start)
{
	if (lode_grow(&reading->ends, &reading->end_capacity, (size_t)thread + 1, sizeof(*reading->ends)) < 0)
		return NULL;
	while (reading->end_count <= thread)
		reading->ends[reading->end_count++] = start;
	return &reading->ends[thread];
}

static int add_event(struct reading *reading, const struct profile *profile, struct lode_event *event,
		     int64_t value, const uint64_t *time)
{
	if (value < 0 || !lode_pprof_cost(value, profile->value.scale, &event->cost)) {
		reading->negative++;
		return 0;
	}
	if (time) {
		event->t = *time;
		if (profile->type == LODE_WAIT && !reading->facts.is_lode)
			event->t -= event->cost < event->t ? event->cost : event->t;
	} else {
		uint64_t *end = end_of(reading, event->thread, profile->start);

		if (!end)
			return fail_memory(reading);
		event->t = *end;
		*end = lode_add_saturating(*end, event->cost);
		reading->timeless++;
	}
	reading->events++;
	return lode_stream_add_event(&reading->import.stream, profile->type, event) < 0 ? fail_memory(reading) : 0;
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
static int add_timed(struct reading *reading, const struct profile *profile, struct sample *sample,
		     struct lode_event *event, size_t values)
{
	size_t times = lode_cursor_left(&sample->times) / 8, i = 0;
	uint64_t value = values ? sample->value : 1, t = sample->time;
	int code = 0;

	if (!times)
		times = 1;
	if (values > 1 && values != times)
		return lode_otlp_fail(&reading->tables, "a sample has more values than times, or fewer");
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
		code = add_event(reading, profile, event, (int64_t)share, &t);
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

static int add_plain(struct reading *reading, const struct profile *profile, const struct plain_sample *sample,
		     const struct who *nobody)
{
	const struct lode_otlp_tables *tables = &reading->tables;
	struct lode_event event = { 0 };
	int code = find_known(reading, sample->attributes, nobody, &event);

	if (code < 0)
		return code;
	if (sample->stack < tables->stacks.count && tables->nodes[sample->stack] != LODE_NONE)
		event.stack = tables->nodes[sample->stack];
	else if ((code = lode_otlp_stack(&reading->tables, sample->stack, &event.stack)) < 0)
		return code;
	return add_event(reading, profile, &event, (int64_t)sample->value, sample->has_time ? &sample->time : NULL);
}

static int add_any(struct reading *reading, const struct profile *profile, struct lode_cursor message,
		   const struct who *nobody)
{
	struct sample sample = { .who = *nobody, .values = lode_cursor("", 0), .times = lode_cursor("", 0) };
	struct lode_event event = { 0 };
	int code = read_sample(reading, message, &sample);
	size_t values;

	if (code < 0)
		return code;
	code = sample.has_attributes ? find_known(reading, sample.attributes, &sample.who, &event)
				     : find_threads(reading, &sample.who, &event);
	if (code < 0 || (code = lode_otlp_stack(&reading->tables, sample.stack, &event.stack)) < 0)
		return code;
	values = count_values(&sample);
	if (sample.has_time)
		return add_timed(reading, profile, &sample, &event, values);
	for (size_t i = 0; code == 0 && i < values; i++)
		code = add_event(reading, profile, &event,
				 (int64_t)(lode_cursor_left(&sample.values) ? lode_cursor_varint(&sample.values)
									    : sample.value),
				 NULL);
	return code;
}

static int add_sample(struct reading *reading, const struct profile *profile, struct lode_cursor message,
		      const struct who *nobody)
{
	struct plain_sample sample;

	return read_plain(message, &sample) ? add_plain(reading, profile, &sample, nobody)
					    : add_any(reading, profile, message, nobody);
}

/* ---- profiles ---- */

static int read_kind(struct reading *reading, struct lode_cursor message, struct lode_pprof_value *value)
{
	struct lode_protobuf_field field;
	uint64_t type = 0, unit = 0;
	int code;

	while (lode_protobuf_next(&message, &field)) {
		if (field.number == VALUE_TYPE && field.wire == LODE_WIRE_VARINT)
			type = field.value;
		else if (field.number == VALUE_UNIT && field.wire == LODE_WIRE_VARINT)
			unit = field.value;
	}
	code = lode_otlp_string(&reading->tables, type, &value->type, &value->type_length);
	return code < 0 ? code : lode_otlp_string(&reading->tables, unit, &value->unit, &value->unit_length);
}

/* What the profile's values are. Returns 1 when they are time, 0 when not, or a negative code. */
static int describe(struct reading *reading, struct lode_cursor message, struct profile *profile)
{
	struct lode_pprof_value period_type = { .unit = "" };
	struct lode_protobuf_field field;
	double count_ns = reading->import.options->unit_ns;
	uint64_t period = 0;
	int code = 0;

	*profile = (struct profile){ .value = { .type = "", .unit = "" } };
	while (code == 0 && lode_protobuf_next(&message, &field)) {
		if (field.number == PROFILE_TYPE && field.wire == LODE_WIRE_BYTES)
			code = read_kind(reading, field.bytes, &profile->value);
		else if (field.number == PROFILE_PERIOD_TYPE && field.wire == LODE_WIRE_BYTES)
			code = read_kind(reading, field.bytes, &period_type);
		else if (field.number == PROFILE_PERIOD && field.wire == LODE_WIRE_VARINT)
			period = field.value;
		else if (field.number == PROFILE_TIME)
			profile->start = field.value;
	}
	if (code < 0)
		return code;
	if (!(count_ns > 0))
		count_ns = (double)period * lode_pprof_unit(period_type.unit, period_type.unit_length);
	if (!lode_pprof_choose(&profile->value, 1, count_ns, reading->import.options->kind_is_wait))
		return 0;
	profile->type = profile->value.use == LODE_PPROF_WAIT ? LODE_WAIT : LODE_RUN;
	return 1;
}

static int read_profile(struct reading *reading, struct lode_cursor message, uint32_t pid)
{
	struct who nobody = { .pid = pid, .waker = LODE_NONE, .waker_pid = LODE_NO_PID, .cpu = LODE_NO_CPU };
	struct lode_protobuf_field field;
	struct profile profile;
	int code = describe(reading, message, &profile);

	if (code == 0) {
		if (!reading->skipped++)
			snprintf(reading->skipped_type, sizeof(reading->skipped_type), "%.*s",
				 (int)(profile.value.type_length < 60 ? profile.value.type_length : 60),
				 profile.value.type);
		return 0;
	}
	if (pid != reading->threads_pid)
		memset(reading->threads, 0, KNOWN_THREADS * sizeof(*reading->threads));
	reading->threads_pid = pid;
	for (code = code < 0 ? code : 0; code == 0 && lode_protobuf_next(&message, &field);)
		if (field.number == PROFILE_SAMPLE && field.wire == LODE_WIRE_BYTES)
			code = add_sample(reading, &profile, field.bytes, &nobody);
	return code < 0 ? code : message.failed ? fail_damaged(reading) : 0;
}

static int read_scope(struct reading *reading, struct lode_cursor message, uint32_t pid)
{
	struct lode_protobuf_field field;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field))
		if (field.number == SCOPE_PROFILES_PROFILE && field.wire == LODE_WIRE_BYTES)
			code = read_profile(reading, field.bytes, pid);
	return code < 0 ? code : message.failed ? fail_damaged(reading) : 0;
}

static int read_resource(struct reading *reading, const struct resource *resource)
{
	struct lode_cursor message = resource->message;
	struct lode_protobuf_field field;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field))
		if (field.number == RESOURCE_PROFILES_SCOPE && field.wire == LODE_WIRE_BYTES)
			code = read_scope(reading, field.bytes, resource->pid);
	return code < 0 ? code : message.failed ? fail_damaged(reading) : 0;
}

/* ---- the whole ---- */

static int fill_stream(struct reading *reading, uint32_t stream)
{
	size_t count = 0;
	int code = lode_otlp_tables_reset(&reading->tables);

	lode_free(reading->known);
	lode_free(reading->threads);
	reading->known_count = reading->tables.attributes.count;
	reading->known = lode_calloc(reading->known_count + 1, sizeof(*reading->known));
	reading->threads = lode_calloc(KNOWN_THREADS, sizeof(*reading->threads));
	if (code == 0 && (!reading->known || !reading->threads))
		code = fail_memory(reading);
	reading->shared_count = reading->end_count = 0;
	reading->facts = (struct lode_exported_facts){ 0 };
	for (size_t i = 0; code == 0 && i < reading->resource_count; i++)
		if (reading->resources[i].stream == stream) {
			code = read_resource_attributes(reading, &reading->resources[i]);
			count++;
		}
	if (code == 0)
		code = set_attributes(reading, count);
	for (size_t i = 0; code == 0 && i < reading->resource_count; i++)
		if (reading->resources[i].stream == stream)
			code = read_resource(reading, &reading->resources[i]);
	return code;
}

static int read_stream(struct reading *reading, uint32_t stream, const struct lode_import_sink *sink)
{
	struct lode_json_import *import = &reading->import;
	int code;

	if (lode_dictionary_init(&import->dictionary) < 0)
		return fail_memory(reading);
	lode_stream_init(&import->stream, &import->dictionary);
	code = fill_stream(reading, stream);
	if (code == 0 && (lode_stream_event_count(&import->stream) || reading->facts.is_lode))
		code = lode_import_deliver(import->input, import->options, sink, &import->stream, stream,
					   import->error);
	lode_import_end(&import->stream);
	return code;
}

static int read_parts(struct reading *reading, struct lode_cursor data)
{
	struct lode_protobuf_field field;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&data, &field)) {
		if (field.wire != LODE_WIRE_BYTES)
			continue;
		if (field.number == DATA_DICTIONARY)
			code = lode_otlp_tables_load(&reading->tables, field.bytes);
		else if (field.number == DATA_RESOURCE_PROFILES)
			code = add_resource(reading, field.bytes);
	}
	return code < 0 ? code : data.failed ? fail_damaged(reading) : 0;
}

static void add_notes(const struct reading *reading)
{
	struct lode_notes *notes = reading->import.options->notes;

	lode_notes_add(notes, reading->labels,
		       "attributes of samples, other than thread, process and CPU, left out", NULL);
	lode_notes_add(notes, reading->links, "links of samples to spans, left out", NULL);
	lode_notes_add(notes, reading->negative, "values below 0 or too large, left out", NULL);
	lode_notes_add(notes, reading->skipped, "profiles whose values are not times, left out",
		       reading->skipped_type);
	lode_notes_add(notes, reading->timeless, "samples without a time, put one after another on their thread",
		       NULL);
	lode_notes_add(notes, reading->tables.cut, "stacks beyond the deepest that Lode keeps, cut off", NULL);
}

static int read_data(struct reading *reading, struct lode_cursor data, const struct lode_import_sink *sink)
{
	int code = read_parts(reading, data), is_lode = 0;

	for (uint32_t i = 0; code == 0 && i < reading->streams.count; i++) {
		code = read_stream(reading, i, sink);
		is_lode |= reading->facts.is_lode;
	}
	if (code < 0)
		return code;
	if (!reading->events && !is_lode)
		return lode_otlp_fail(
			&reading->tables,
			reading->skipped
				? "none of its profiles is of CPU time, counted samples with a period or waits; "
				  "if its counts are CPU samples, give their period with --unit samples=10ms"
				: "it has no samples");
	add_notes(reading);
	return 0;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	return lode_otlp_sniff(bytes, size);
}

static void release(struct reading *reading)
{
	lode_otlp_tables_release(&reading->tables);
	lode_buffer_release(&reading->import.text);
	lode_buffer_release(&reading->import.file);
	lode_buffer_release(&reading->encoded);
	lode_frame_memo_release(&reading->streams);
	lode_free(reading->resources);
	lode_free(reading->shared);
	lode_free(reading->ends);
	lode_free(reading->known);
	lode_free(reading->threads);
}

static int read_input(struct lode_input *input, const struct lode_import_options *options,
		      const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reading reading = { .import = { .input = input, .options = options, .error = error } };
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_whole(input, &bytes, &size, error);

	reading.tables.import = &reading.import;
	if (code == 0 && lode_otlp_is_json(bytes, size)) {
		code = lode_otlp_encode(lode_input_name(input), bytes, size, &reading.encoded, error);
		bytes = (const unsigned char *)reading.encoded.bytes;
		size = reading.encoded.size;
	}
	if (code == 0)
		code = read_data(&reading, lode_cursor(bytes ? (const void *)bytes : "", size), sink);
	release(&reading);
	return code;
}

const struct lode_importer lode_importer_otlp = {
	.name = "otlp",
	.description = "OpenTelemetry profiles (OTLP), protobuf or JSON",
	.sniff = sniff,
	.read = read_input,
};
