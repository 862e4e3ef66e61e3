/*
 * Exporter `otlp`: OpenTelemetry's profiles (ProfilesData of opentelemetry.proto.profiles.v1development,
 * protobuf), as collectors and backends take them.
 *
 * A stream is a resource with its host and attributes, and a profile each of its runs (`cpu`) and waits
 * (`off_cpu`), in nanoseconds. A sample is a stack of a thread with a value and a time for each event;
 * events that follow each other with the same thread, stack, waker and CPU share one. Times are as
 * recorded: where the recorder's clock was no calendar, they count from its own start; that of a wait is
 * its beginning. Attributes of ours (`lode.…`) hold what the format does not know: wakers with their
 * stack, and the facts of the stream (stream_facts.h). Calls, symptoms and times on the run queue are not
 * stored.
 *
 * The tables of the dictionary are ours: strings, functions, locations (one per frame) and stacks have the
 * numbers that they have here; they come last, when all are known. A message must know its size
 * before it, so a resource is built in memory, and ends when it has grown too large for that: the next one
 * goes on with the same stream.
 */
#include "export/export.h"
#include "export/stream_facts.h"

#include "base/protobuf_out.h"

#include <stdio.h>

/* Numbers of fields. */
enum {
	DATA_RESOURCE_PROFILES = 1,
	DATA_DICTIONARY = 2,
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION = 2,
	DICTIONARY_FUNCTION = 3,
	DICTIONARY_LINK = 4,
	DICTIONARY_STRING = 5,
	DICTIONARY_ATTRIBUTE = 6,
	DICTIONARY_STACK = 7,
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPE = 2,
	RESOURCE_ATTRIBUTE = 1,
	KEY_VALUE_KEY = 1,
	KEY_VALUE_VALUE = 2,
	ANY_TEXT = 1,
	ANY_NUMBER = 3,
	SCOPE_PROFILES_SCOPE = 1,
	SCOPE_PROFILES_PROFILE = 2,
	SCOPE_NAME = 1,
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_ID = 7,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_VALUES = 4,
	SAMPLE_TIMES = 5,
	MAPPING_FILE = 4,
	MAPPING_ATTRIBUTES = 5,
	LOCATION_MAPPING = 1,
	LOCATION_LINE = 3,
	LINE_FUNCTION = 1,
	FUNCTION_NAME = 1,
	STACK_LOCATIONS = 1,
	ATTRIBUTE_KEY = 1,
	ATTRIBUTE_VALUE = 2,
};

/* Bytes of samples after which a resource ends, and events that a sample may have. */
#define RESOURCE_BYTES (32u << 20)
#define SAMPLE_EVENTS  4096

enum text {
	TEXT_CPU,
	TEXT_OFF_CPU,
	TEXT_NANOSECONDS,
	TEXT_THREAD_ID,
	TEXT_THREAD_NAME,
	TEXT_PID,
	TEXT_BUILD_ID,
	TEXT_MODULE,
	TEXT_CPU_NUMBER,
	TEXT_WAKER,
	TEXT_WAKER_PID,
	TEXT_WAKER_NAME,
	TEXT_WAKER_STACK,
	TEXT_OBJECT,
	TEXT_HOLDER,
	TEXT_HOLDER_PID,
	TEXT_HOLDER_NAME,
	TEXT_CONTEXT,
	TEXTS,
};

static const char *const texts[TEXTS] = {
	"cpu",
	"off_cpu",
	"nanoseconds",
	"thread.id",
	"thread.name",
	"process.pid",
	"process.executable.build_id.gnu",
	"lode.module",
	"cpu.logical_number",
	"lode.waker.thread.id",
	"lode.waker.process.pid",
	"lode.waker.thread.name",
	"lode.waker.stack_index",
	"lode.object",
	"lode.holder.thread.id",
	"lode.holder.process.pid",
	"lode.holder.thread.name",
	"lode.context",
};

struct writer {
	struct lode_export *export;
	uint32_t strings[TEXTS];
	const struct lode_corpus_entry *entry; /* the stream being written */
	const struct lode_stream *stream;
	enum lode_event_type type;
	uint32_t *attributes; /* by thread: number of its first attribute; 0: it has none yet */
	uint32_t *wakers;     /* the same as a waker, */
	uint32_t *holders;    /* and as a holder */
	uint32_t *objects;    /* by string: number of its attribute as an object; 0: it has none yet */
	size_t object_count;
	size_t object_capacity;
	uint32_t *contexts; /* the same as a context */
	size_t context_count;
	size_t context_capacity;
	uint32_t *cpus; /* by CPU: number of its attribute */
	uint32_t attribute_count;
	uint8_t *used;          /* by stack: a sample has it */
	uint32_t *waker_stacks; /* by stack: number of its attribute as that of a waker */
	size_t used_count;
	size_t used_capacity;
	size_t waker_capacity;
	struct lode_buffer attribute_table; /* fields of the dictionary */
	struct lode_buffer profile;         /* being built: its samples */
	struct lode_buffer inner;
	struct lode_buffer value;
	struct lode_buffer outer;
	struct lode_event sample; /* the current one: the last event of it */
	size_t events;
	uint64_t delays; /* events with time on the run queue */
	struct lode_buffer values;
	struct lode_buffer times;
};

static const char *text_of(const struct writer *writer, uint32_t string)
{
	return lode_strings_get(&writer->export->dictionary.frames.strings, string);
}

/* ---- attributes ---- */

/* Adds an attribute to the table: a text, or a number where there is none. */
static void add_attribute(struct writer *writer, enum text key, const char *text, uint64_t number)
{
	if (text)
		lode_protobuf_put_text(&writer->value, ANY_TEXT, text);
	else
		lode_protobuf_put_number(&writer->value, ANY_NUMBER, number);
	lode_protobuf_put_number(&writer->inner, ATTRIBUTE_KEY, writer->strings[key]);
	lode_protobuf_put_message(&writer->inner, ATTRIBUTE_VALUE, &writer->value);
	lode_protobuf_put_message(&writer->attribute_table, DICTIONARY_ATTRIBUTE, &writer->inner);
	writer->attribute_count++;
}

/*
 * The attributes of a thread are three that follow each other, as far as it has them: number, process, name; `keys` are
 * theirs. `places` has where they begin, by thread.
 */
static void put_thread_attributes(struct writer *writer, uint32_t thread, const enum text keys[3],
				  uint32_t *places, struct lode_buffer *packed)
{
	const struct lode_thread *item = &writer->stream->threads[thread];
	uint32_t count = 1 + (item->pid != LODE_NO_PID) + (item->name != 0);

	if (!places[thread]) {
		places[thread] = writer->attribute_count;
		add_attribute(writer, keys[0], NULL, item->tid);
		if (item->pid != LODE_NO_PID)
			add_attribute(writer, keys[1], NULL, item->pid);
		if (item->name)
			add_attribute(writer, keys[2], text_of(writer, item->name), 0);
	}
	for (uint32_t i = 0; i < count; i++)
		lode_buffer_varint(packed, places[thread] + i);
}

static void put_cpu_attribute(struct writer *writer, uint16_t cpu, struct lode_buffer *packed)
{
	if (cpu == LODE_NO_CPU)
		return;
	if (!writer->cpus[cpu]) {
		writer->cpus[cpu] = writer->attribute_count;
		add_attribute(writer, TEXT_CPU_NUMBER, NULL, cpu);
	}
	lode_buffer_varint(packed, writer->cpus[cpu]);
}

static void put_waker_stack(struct writer *writer, uint32_t stack, struct lode_buffer *packed)
{
	if (!stack)
		return;
	writer->used[stack] = 1;
	if (!writer->waker_stacks[stack]) {
		writer->waker_stacks[stack] = writer->attribute_count;
		add_attribute(writer, TEXT_WAKER_STACK, NULL, stack);
	}
	lode_buffer_varint(packed, writer->waker_stacks[stack]);
}

/* `numbers`: by string, of its attribute with this key. */
static void put_text_attribute(struct writer *writer, enum text key, uint32_t string, uint32_t *numbers,
			       struct lode_buffer *packed)
{
	if (!numbers[string]) {
		numbers[string] = writer->attribute_count;
		add_attribute(writer, key, text_of(writer, string), 0);
	}
	lode_buffer_varint(packed, numbers[string]);
}

static void put_object(struct writer *writer, const struct lode_event *event, struct lode_buffer *packed)
{
	static const enum text holder_keys[] = { TEXT_HOLDER, TEXT_HOLDER_PID, TEXT_HOLDER_NAME };

	if (!event->object)
		return;
	put_text_attribute(writer, TEXT_OBJECT, event->object, writer->objects, packed);
	if (event->holder != LODE_NONE)
		put_thread_attributes(writer, event->holder, holder_keys, writer->holders, packed);
}

/* ---- samples ---- */

static void end_sample(struct writer *writer)
{
	static const enum text thread_keys[] = { TEXT_THREAD_ID, TEXT_PID, TEXT_THREAD_NAME };
	static const enum text waker_keys[] = { TEXT_WAKER, TEXT_WAKER_PID, TEXT_WAKER_NAME };
	const struct lode_event *event = &writer->sample;
	struct lode_buffer *sample = &writer->inner;
	struct lode_buffer packed = { 0 };

	if (!writer->events)
		return;
	writer->events = 0;
	writer->used[event->stack] = 1;
	put_thread_attributes(writer, event->thread, thread_keys, writer->attributes, &packed);
	put_cpu_attribute(writer, event->cpu, &packed);
	if (event->waker != LODE_NONE) {
		put_thread_attributes(writer, event->waker, waker_keys, writer->wakers, &packed);
		put_waker_stack(writer, event->waker_stack, &packed);
	}
	put_object(writer, event, &packed);
	if (event->context)
		put_text_attribute(writer, TEXT_CONTEXT, event->context, writer->contexts, &packed);
	if (event->stack)
		lode_protobuf_put_number(sample, SAMPLE_STACK, event->stack);
	lode_protobuf_put_message(sample, SAMPLE_ATTRIBUTES, &packed);
	lode_protobuf_put_message(sample, SAMPLE_VALUES, &writer->values);
	lode_protobuf_put_message(sample, SAMPLE_TIMES, &writer->times);
	lode_protobuf_put_message(&writer->profile, PROFILE_SAMPLE, sample);
	lode_buffer_release(&packed);
}

static int is_same_sample(const struct lode_event *a, const struct lode_event *b)
{
	return a->thread == b->thread && a->stack == b->stack && a->waker == b->waker &&
	       a->waker_stack == b->waker_stack && a->cpu == b->cpu && a->object == b->object &&
	       a->holder == b->holder && a->context == b->context;
}

static void add_event(struct writer *writer, const struct lode_event *event)
{
	uint64_t cost = lode_weighted(event->cost, event->weight ? event->weight : 1);

	if (writer->events && (!is_same_sample(event, &writer->sample) || writer->events == SAMPLE_EVENTS))
		end_sample(writer);
	writer->sample = *event;
	writer->delays += event->delay != 0;
	writer->events++;
	lode_buffer_varint(&writer->values, cost > INT64_MAX ? INT64_MAX : cost);
	lode_buffer_u64(&writer->times, event->t);
}

/* ---- resources ---- */

static void put_key_value(struct writer *writer, struct lode_buffer *resource, const char *key, const char *text)
{
	lode_protobuf_put_text(&writer->value, ANY_TEXT, text);
	lode_protobuf_put_text(&writer->inner, KEY_VALUE_KEY, key);
	lode_protobuf_put_message(&writer->inner, KEY_VALUE_VALUE, &writer->value);
	lode_protobuf_put_message(resource, RESOURCE_ATTRIBUTE, &writer->inner);
}

static void put_resource(struct writer *writer, struct lode_buffer *resource)
{
	const struct lode_stream *stream = writer->stream;
	struct lode_buffer facts = { 0 };

	lode_stream_facts_put(&facts, stream, 0);
	lode_buffer_byte(&facts, '\0');
	if (facts.failed)
		resource->failed = 1;
	else
		put_key_value(writer, resource, "lode.facts", facts.bytes);
	lode_buffer_release(&facts);
	put_key_value(writer, resource, "lode.stream", writer->entry->name);
	if (*writer->entry->host)
		put_key_value(writer, resource, "host.name", writer->entry->host);
	for (size_t i = 0; i < stream->attribute_count; i++)
		put_key_value(writer, resource, text_of(writer, stream->attributes[i].key),
			      text_of(writer, stream->attributes[i].value));
}

/* 16 bytes: the stream's id, with the kind in the last one. */
static void put_profile_id(struct writer *writer, struct lode_buffer *profile)
{
	unsigned char id[16] = { 0 };
	unsigned digit;

	for (size_t i = 0; i < sizeof(id) && sscanf(writer->entry->id + 2 * i, "%2x", &digit) == 1; i++)
		id[i] = (unsigned char)digit;
	id[15] ^= (unsigned char)writer->type;
	lode_protobuf_put_bytes(profile, PROFILE_ID, id, sizeof(id));
}

/* Writes what there is of the profile as a separate resource. */
static int end_profile(struct writer *writer, struct lode_error *error)
{
	const struct lode_corpus_entry *entry = writer->entry;
	struct lode_buffer *profile = &writer->profile, *outer = &writer->outer, resource = { 0 }, scope = { 0 };

	end_sample(writer);
	if (!profile->size && !profile->failed)
		return 0;
	lode_protobuf_put_number(&writer->inner, VALUE_TYPE,
				 writer->strings[writer->type == LODE_RUN ? TEXT_CPU : TEXT_OFF_CPU]);
	lode_protobuf_put_number(&writer->inner, VALUE_UNIT, writer->strings[TEXT_NANOSECONDS]);
	lode_protobuf_put_message(profile, PROFILE_TYPE, &writer->inner);
	lode_protobuf_put_fixed64(profile, PROFILE_TIME, entry->first_t);
	lode_protobuf_put_number(profile, PROFILE_DURATION, entry->last_t - entry->first_t);
	put_profile_id(writer, profile);
	put_resource(writer, &resource);
	lode_protobuf_put_text(&writer->inner, SCOPE_NAME, "lode");
	lode_protobuf_put_message(&scope, SCOPE_PROFILES_SCOPE, &writer->inner);
	lode_protobuf_put_message(&scope, SCOPE_PROFILES_PROFILE, profile);
	lode_protobuf_put_message(outer, RESOURCE_PROFILES_RESOURCE, &resource);
	lode_protobuf_put_message(outer, RESOURCE_PROFILES_SCOPE, &scope);
	lode_protobuf_put_message(&writer->export->output->buffer, DATA_RESOURCE_PROFILES, outer);
	lode_buffer_release(&resource);
	lode_buffer_release(&scope);
	return lode_output_flow(writer->export->output, error);
}

static int handle_block(void *context, enum lode_event_type type, const struct lode_events *events,
			struct lode_error *error)
{
	struct writer *writer = context;

	(void)type;
	for (size_t i = 0; i < events->count; i++) {
		struct lode_event event = lode_events_get(events, i);
		int code;

		add_event(writer, &event);
		if (writer->profile.size >= RESOURCE_BYTES && (code = end_profile(writer, error)) < 0)
			return code;
	}
	return 0;
}

/* Room for the strings that the dictionary has come to hold, */
static int grow_numbers(uint32_t **numbers, size_t *before, size_t *capacity, size_t count)
{
	if (lode_grow(numbers, capacity, count, sizeof(**numbers)) < 0)
		return LODE_SYSTEM;
	memset(*numbers + *before, 0, (count - *before) * sizeof(**numbers));
	*before = count;
	return 0;
}

static int grow_texts(struct writer *writer)
{
	size_t count = writer->export->dictionary.frames.strings.count;

	if (grow_numbers(&writer->objects, &writer->object_count, &writer->object_capacity, count) < 0)
		return LODE_SYSTEM;
	return grow_numbers(&writer->contexts, &writer->context_count, &writer->context_capacity, count);
}

/* and for its stacks. */
static int grow_stacks(struct writer *writer)
{
	size_t count = writer->export->dictionary.tree.count, more = count - writer->used_count;

	if (lode_grow(&writer->used, &writer->used_capacity, count, 1) < 0 ||
	    lode_grow(&writer->waker_stacks, &writer->waker_capacity, count, sizeof(*writer->waker_stacks)) < 0)
		return LODE_SYSTEM;
	memset(writer->used + writer->used_count, 0, more);
	memset(writer->waker_stacks + writer->used_count, 0, more * sizeof(*writer->waker_stacks));
	writer->used_count = count;
	return 0;
}

static int write_stream(void *context, struct lode_export_stream *source, struct lode_error *error)
{
	static const enum lode_event_type types[] = { LODE_RUN, LODE_WAIT };
	struct writer *writer = context;
	int code = 0;

	writer->stream = &source->stream;
	writer->entry = source->entry;
	writer->attributes = lode_calloc(source->stream.thread_count, sizeof(*writer->attributes));
	writer->wakers = lode_calloc(source->stream.thread_count, sizeof(*writer->wakers));
	writer->holders = lode_calloc(source->stream.thread_count, sizeof(*writer->holders));
	if (!writer->attributes || !writer->wakers || !writer->holders || grow_stacks(writer) < 0 ||
	    grow_texts(writer) < 0)
		code = lode_fail_memory(error);
	for (size_t i = 0; i < 2 && code == 0; i++) {
		writer->type = types[i];
		code = lode_export_blocks(writer->export, source, 1u << types[i], LODE_ALL_COLUMNS, handle_block,
					  writer, error);
		if (code == 0)
			code = end_profile(writer, error);
	}
	lode_free(writer->attributes);
	lode_free(writer->wakers);
	lode_free(writer->holders);
	return code;
}

/* ---- the dictionary ---- */

static void put_module(struct writer *writer, const struct lode_module *module)
{
	struct lode_buffer packed = { 0 };

	lode_protobuf_put_number(&writer->outer, MAPPING_FILE, module->path ? module->path : module->name);
	lode_buffer_varint(&packed, writer->attribute_count);
	add_attribute(writer, TEXT_MODULE, text_of(writer, module->name), 0);
	if (module->build_id) {
		lode_buffer_varint(&packed, writer->attribute_count);
		add_attribute(writer, TEXT_BUILD_ID, text_of(writer, module->build_id), 0);
	}
	lode_protobuf_put_message(&writer->outer, MAPPING_ATTRIBUTES, &packed);
	lode_buffer_release(&packed);
}

/* Number 0 of each table is the zero value: module 0 is none, and so is stack 0. Frames begin at 1. */
static void put_modules(struct writer *writer, struct lode_buffer *dictionary)
{
	const struct lode_frames *frames = &writer->export->dictionary.frames;

	for (uint32_t i = 0; i < frames->module_count; i++) {
		if (i)
			put_module(writer, &frames->modules[i]);
		lode_protobuf_put_message(dictionary, DICTIONARY_MAPPING, &writer->outer);
	}
}

static void put_frames(struct writer *writer, struct lode_buffer *dictionary)
{
	const struct lode_frames *frames = &writer->export->dictionary.frames;

	lode_protobuf_put_message(dictionary, DICTIONARY_LOCATION, &writer->outer);
	lode_protobuf_put_message(dictionary, DICTIONARY_FUNCTION, &writer->outer);
	for (uint32_t i = 0; i < frames->count; i++) {
		lode_protobuf_put_number(&writer->outer, FUNCTION_NAME, frames->items[i].function);
		lode_protobuf_put_message(dictionary, DICTIONARY_FUNCTION, &writer->outer);
		lode_protobuf_put_number(&writer->inner, LINE_FUNCTION, (uint64_t)i + 1);
		if (frames->items[i].module)
			lode_protobuf_put_number(&writer->outer, LOCATION_MAPPING, frames->items[i].module);
		lode_protobuf_put_message(&writer->outer, LOCATION_LINE, &writer->inner);
		lode_protobuf_put_message(dictionary, DICTIONARY_LOCATION, &writer->outer);
	}
}

/* Leaf first. Of stacks that no sample has only the number is left. */
static void put_stacks(struct writer *writer, struct lode_buffer *dictionary)
{
	const struct lode_stack_tree *tree = &writer->export->dictionary.tree;

	for (uint32_t i = 0; i < tree->count; i++) {
		for (uint32_t node = i < writer->used_count && writer->used[i] ? i : 0; node;
		     node = tree->nodes[node].parent)
			lode_buffer_varint(&writer->inner, (uint64_t)tree->nodes[node].frame + 1);
		if (writer->inner.size)
			lode_protobuf_put_message(&writer->outer, STACK_LOCATIONS, &writer->inner);
		lode_protobuf_put_message(dictionary, DICTIONARY_STACK, &writer->outer);
	}
}

static int write_dictionary(struct writer *writer, struct lode_error *error)
{
	const struct lode_strings *strings = &writer->export->dictionary.frames.strings;
	struct lode_buffer dictionary = { 0 };

	put_modules(writer, &dictionary);
	put_frames(writer, &dictionary);
	put_stacks(writer, &dictionary);
	lode_protobuf_put_message(&dictionary, DICTIONARY_LINK, &writer->outer);
	for (size_t i = 0; i < strings->count; i++)
		lode_protobuf_put_bytes(&dictionary, DICTIONARY_STRING, strings->items[i].text,
					strings->items[i].length);
	lode_buffer_add(&dictionary, writer->attribute_table.bytes, writer->attribute_table.size);
	dictionary.failed |= writer->attribute_table.failed;
	lode_protobuf_put_message(&writer->export->output->buffer, DATA_DICTIONARY, &dictionary);
	lode_buffer_release(&dictionary);
	return lode_output_flow(writer->export->output, error);
}

/* ---- the whole ---- */

static int init(struct writer *writer, struct lode_error *error)
{
	writer->cpus = lode_calloc(LODE_NO_CPU, sizeof(*writer->cpus));
	if (!writer->cpus || lode_export_add_strings(writer->export, texts, TEXTS, writer->strings) < 0)
		return lode_fail_memory(error);
	lode_protobuf_put_message(&writer->attribute_table, DICTIONARY_ATTRIBUTE, &writer->inner);
	writer->attribute_count = 1;
	return 0;
}

static void release(struct writer *writer)
{
	lode_free(writer->used);
	lode_free(writer->cpus);
	lode_free(writer->waker_stacks);
	lode_free(writer->objects);
	lode_free(writer->contexts);
	lode_buffer_release(&writer->attribute_table);
	lode_buffer_release(&writer->profile);
	lode_buffer_release(&writer->inner);
	lode_buffer_release(&writer->value);
	lode_buffer_release(&writer->outer);
	lode_buffer_release(&writer->values);
	lode_buffer_release(&writer->times);
}

static int write_all(struct lode_export *export, struct lode_error *error)
{
	struct writer writer = { .export = export };
	int code;

	code = init(&writer, error);
	if (code == 0)
		code = lode_export_streams(export, write_stream, &writer, error);
	if (code == 0)
		code = write_dictionary(&writer, error);
	lode_notes_add(export->options->notes, writer.delays,
		       "times on the run queue, which this format cannot store", NULL);
	release(&writer);
	return code;
}

const struct lode_exporter lode_exporter_otlp = {
	.name = "otlp",
	.description = "OpenTelemetry profiles (protobuf): cpu and off_cpu time of threads, with times",
	.extension = ".otlp",
	.binary = 1,
	.has_no_calls = 1,
	.passes = 1,
	.write = write_all,
};
