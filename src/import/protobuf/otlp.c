/*
 * OpenTelemetry's profiles (opentelemetry.proto.profiles.v1development): ProfilesData, or the request
 * that an exporter sends, which has the same fields. Protobuf; JSON is turned into that
 * first (otlp_json.h).
 *
 * A profile has one kind of value, recognized by its name as with pprof (pprof_values.h): CPU time or counted
 * samples are runs, `off_cpu` and the like are waits. A sample (otlp_samples.h) is a stack with attributes, values and
 * time stamps. With time stamps each is an event; a wait ended then (agents report a wait
 * when the thread runs again), except in our own exports, where it began. Without them
 * a sample is one event, and the events of a thread tile a line of time as with pprof.
 *
 * Attributes of samples say whose they are: `thread.id`, `thread.name`, `process.pid` (also of the
 * resource) and `cpu.logical_number`; others are counted in a note. Attributes that all
 * resources share are those of the stream; `host.name` is its host. Resources of several
 * hosts or services (`service.name`), and streams that we exported, are streams of their own,
 * each read in a pass.
 */
#include "base/array.h"
#include "import/exported_facts.h"
#include "import/frame_memo.h"
#include "import/protobuf/otlp_json.h"
#include "import/protobuf/otlp_older.h"
#include "import/protobuf/otlp_samples.h"
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
	KEY_VALUE_KEY_INDEX = 3, /* from version 1.10 on */
	SCOPE_PROFILES_PROFILE = 2,
	PROFILE_TYPE = 1,
	PROFILE_TIME = 3,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
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

struct reading {
	struct lode_json_import import; /* dictionary, stream and room for strings; there may be no JSON */
	struct lode_otlp_tables tables;
	struct lode_otlp_samples samples;
	struct lode_exported_facts facts;
	struct lode_buffer encoded;   /* JSON as protobuf */
	struct lode_buffer rewritten; /* an older version as the newest */
	LODE_ARRAY(struct resource) resources;
	struct lode_frame_memo streams; /* from host and name to the number of a stream */
	LODE_ARRAY(struct shared_attribute) shared;
	uint64_t skipped; /* profiles */
	char skipped_type[64];
};

/* ---- resources ---- */

/* Keys and values of texts are there themselves, or as numbers of strings in the dictionary. */
static int read_attribute(struct reading *reading, struct lode_cursor message, struct lode_cursor *key,
			  struct lode_otlp_value *value)
{
	struct lode_protobuf_field field;
	struct lode_span text;
	int code = 0;

	*key = lode_cursor("", 0);
	*value = (struct lode_otlp_value){ 0 };
	while (code == 0 && lode_protobuf_next(&message, &field)) {
		if (field.number == KEY_VALUE_KEY && field.wire == LODE_WIRE_BYTES) {
			*key = field.bytes;
		} else if (field.number == KEY_VALUE_VALUE && field.wire == LODE_WIRE_BYTES) {
			code = lode_otlp_value(&reading->tables, field.bytes, value);
		} else if (field.number == KEY_VALUE_KEY_INDEX && field.wire == LODE_WIRE_VARINT && field.value) {
			code = lode_otlp_string(&reading->tables, field.value, &text);
			*key = code == 0 ? lode_cursor(text.text, text.length) : *key;
		}
	}
	return code;
}

/* The next attribute of a resource. Returns 1, 0 at the end, or a negative code with a sentence. */
static int next_attribute(struct reading *reading, struct lode_cursor *resource, struct lode_cursor *key,
			  struct lode_otlp_value *value)
{
	struct lode_protobuf_field field;
	int code;

	while (lode_protobuf_next(resource, &field)) {
		if (field.number != RESOURCE_ATTRIBUTE || field.wire != LODE_WIRE_BYTES)
			continue;
		code = read_attribute(reading, field.bytes, key, value);
		return code < 0 ? code : 1;
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

/* What tells the streams of a file apart: a host and a service, or the name of one that we exported. */
struct stream_key {
	struct lode_otlp_value host, service, name;
};

/* The stream that a resource belongs to. */
static int number_stream(struct reading *reading, const struct stream_key *parts, uint32_t *stream)
{
	struct lode_buffer *key = &reading->import.text;
	uint64_t hash;

	lode_buffer_clear(key);
	lode_buffer_add(key, parts->name.text ? parts->name.text : "", parts->name.length);
	lode_buffer_byte(key, '\0');
	lode_buffer_add(key, parts->host.text ? parts->host.text : "", parts->host.length);
	lode_buffer_byte(key, '\0');
	if (!parts->name.text && parts->service.text)
		lode_buffer_add(key, parts->service.text, parts->service.length);
	if (key->failed)
		return lode_fail_memory(reading->import.error);
	hash = lode_hash_bytes(key->bytes, key->size);
	*stream = lode_frame_memo_find(&reading->streams, key->bytes, key->size, hash);
	if (*stream != LODE_NONE)
		return 0;
	*stream = (uint32_t)reading->streams.count;
	if (*stream == STREAM_LIMIT)
		return lode_json_reject(reading->tables.import,
					"it has resources of more than 1024 hosts, services or streams; split it");
	return lode_frame_memo_add(&reading->streams, key->bytes, key->size, hash, *stream) < 0
		       ? lode_fail_memory(reading->import.error)
		       : 0;
}

static int add_resource(struct reading *reading, struct lode_cursor message)
{
	struct stream_key parts = { .host = { 0 } };
	struct lode_otlp_value value;
	struct lode_cursor part = resource_of(message), key;
	struct resource resource = { .message = message, .pid = LODE_NO_PID };
	int code;

	while ((code = next_attribute(reading, &part, &key, &value)) > 0) {
		if (lode_protobuf_is(key, "host.name"))
			parts.host = value;
		else if (lode_protobuf_is(key, "service.name"))
			parts.service = value;
		else if (lode_protobuf_is(key, "lode.stream"))
			parts.name = value;
		else if (lode_protobuf_is(key, "process.pid") && value.number >= 0 && value.number < LODE_NO_PID)
			resource.pid = (uint32_t)value.number;
	}
	if (code < 0 || part.failed)
		return code < 0 ? code : lode_otlp_fail_damaged(&reading->tables);
	code = number_stream(reading, &parts, &resource.stream);
	if (code < 0)
		return code;
	if (LODE_PUSH(&reading->resources, resource) < 0)
		return lode_fail_memory(reading->import.error);
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
		return lode_fail_memory(reading->import.error);
	for (size_t i = 0; i < reading->shared.count; i++) {
		struct shared_attribute *shared = &reading->shared.items[i];

		if (shared->key == name) {
			shared->count += shared->value == text && shared->type == value->type;
			return 0;
		}
	}
	if (reading->shared.count == 256) /* more would be no description */
		return 0;
	if (LODE_PUSH(&reading->shared, (struct shared_attribute){ name, text, value->type, 1 }) < 0)
		return lode_fail_memory(reading->import.error);
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
	int code;

	while ((code = next_attribute(reading, &part, &key, &value)) > 0) {
		if (lode_protobuf_is(key, "lode.facts"))
			code = read_facts(reading, &value);
		else if (lode_protobuf_is(key, "host.name") && value.text) {
			reading->import.stream.host = string_of(reading, value.text, value.length);
			code = reading->import.stream.host == LODE_NONE ? lode_fail_memory(reading->import.error)
									: 0;
		} else if (value.is_known && !lode_protobuf_is(key, "process.pid") &&
			   !lode_protobuf_is(key, "lode.stream"))
			code = share_attribute(reading, key, &value);
		if (code < 0)
			break;
	}
	return code;
}

/* Those that all resources of the stream have. Our own exports keep them apart from those that others see. */
static int set_attributes(struct reading *reading, size_t resources)
{
	const struct lode_strings *strings = &reading->import.dictionary.frames.strings;

	for (size_t i = 0; !reading->facts.is_lode && i < reading->shared.count; i++) {
		const struct shared_attribute *shared = &reading->shared.items[i];

		if (shared->count == resources &&
		    lode_stream_set_attribute(&reading->import.stream, lode_strings_get(strings, shared->key),
					      lode_strings_get(strings, shared->value), shared->type) < 0)
			return lode_fail_memory(reading->import.error);
	}
	return 0;
}

/* ---- profiles ---- */

static int read_kind(struct reading *reading, struct lode_cursor message, struct lode_pprof_value *value)
{
	uint64_t numbers[VALUE_UNIT + 1] = { 0 };
	int code;

	lode_protobuf_numbers(message, numbers, VALUE_UNIT + 1);
	code = lode_otlp_string(&reading->tables, numbers[VALUE_TYPE], &value->type);
	return code < 0 ? code : lode_otlp_string(&reading->tables, numbers[VALUE_UNIT], &value->unit);
}

/* What the profile's values are. Returns 1 when they are time, 0 when not, or a negative code. */
static int describe(struct reading *reading, struct lode_cursor message, struct lode_otlp_profile *profile)
{
	struct lode_pprof_value period_type = { .unit = { "", 0 } };
	struct lode_protobuf_field field;
	double count_ns = reading->import.options->unit_ns;
	uint64_t period = 0;
	int code = 0;

	*profile = (struct lode_otlp_profile){ .value = { .type = { "", 0 }, .unit = { "", 0 } } };
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
		count_ns = (double)period * lode_pprof_unit(period_type.unit);
	if (!lode_pprof_choose(&profile->value, 1, count_ns, reading->import.options->kind_is_wait))
		return 0;
	profile->type = profile->value.use == LODE_PPROF_WAIT ? LODE_WAIT : LODE_RUN;
	profile->time_is_end = profile->type == LODE_WAIT && !reading->facts.is_lode;
	return 1;
}

static int read_profile(struct reading *reading, struct lode_cursor message, uint32_t pid)
{
	struct lode_otlp_profile profile;
	int code = describe(reading, message, &profile);

	if (code == 0) {
		if (!reading->skipped++)
			snprintf(reading->skipped_type, sizeof(reading->skipped_type), "%.*s",
				 (int)(profile.value.type.length < 60 ? profile.value.type.length : 60),
				 profile.value.type.text);
		return 0;
	}
	if (code < 0)
		return code;
	lode_otlp_samples_set_pid(&reading->samples, pid);
	return lode_otlp_samples_add(&reading->samples, &profile, message);
}

static int read_scope(struct reading *reading, struct lode_cursor message, uint32_t pid)
{
	struct lode_protobuf_field field;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field))
		if (field.number == SCOPE_PROFILES_PROFILE && field.wire == LODE_WIRE_BYTES)
			code = read_profile(reading, field.bytes, pid);
	return code < 0 ? code : message.failed ? lode_otlp_fail_damaged(&reading->tables) : 0;
}

static int read_resource(struct reading *reading, const struct resource *resource)
{
	struct lode_cursor message = resource->message;
	struct lode_protobuf_field field;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field))
		if (field.number == RESOURCE_PROFILES_SCOPE && field.wire == LODE_WIRE_BYTES)
			code = read_scope(reading, field.bytes, resource->pid);
	return code < 0 ? code : message.failed ? lode_otlp_fail_damaged(&reading->tables) : 0;
}

/* ---- the whole ---- */

static int fill_stream(struct reading *reading, uint32_t stream)
{
	size_t count = 0;
	int code = lode_otlp_tables_reset(&reading->tables);

	if (code == 0)
		code = lode_otlp_samples_reset(&reading->samples);
	reading->shared.count = 0;
	reading->facts = (struct lode_exported_facts){ 0 };
	for (size_t i = 0; code == 0 && i < reading->resources.count; i++)
		if (reading->resources.items[i].stream == stream) {
			code = read_resource_attributes(reading, &reading->resources.items[i]);
			count++;
		}
	if (code == 0)
		code = set_attributes(reading, count);
	for (size_t i = 0; code == 0 && i < reading->resources.count; i++)
		if (reading->resources.items[i].stream == stream)
			code = read_resource(reading, &reading->resources.items[i]);
	if (code == 0 && lode_import_note_addresses(&reading->import.stream, &reading->tables.addresses) < 0)
		code = lode_fail_memory(reading->import.error);
	return code;
}

static int read_stream(struct reading *reading, uint32_t stream, const struct lode_import_sink *sink)
{
	struct lode_json_import *import = &reading->import;
	int code;

	if (lode_dictionary_init(&import->dictionary) < 0)
		return lode_fail_memory(reading->import.error);
	lode_stream_init(&import->stream, &import->dictionary);
	code = fill_stream(reading, stream);
	if (code == 0 && (lode_stream_event_count(&import->stream) || reading->facts.is_lode))
		code = lode_import_deliver(import->input, import->options, sink, &import->stream, stream,
					   import->error);
	lode_import_end(&import->stream);
	return code;
}

static int read_part(struct reading *reading, struct lode_cursor data, uint32_t part,
		     int (*read)(struct reading *reading, struct lode_cursor message))
{
	struct lode_protobuf_field field;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&data, &field))
		if (field.wire == LODE_WIRE_BYTES && field.number == part)
			code = read(reading, field.bytes);
	return code < 0 ? code : data.failed ? lode_otlp_fail_damaged(&reading->tables) : 0;
}

static int load_dictionary(struct reading *reading, struct lode_cursor message)
{
	return lode_otlp_tables_load(&reading->tables, message);
}

/* Its dictionary is of the new data then. */
static int rewrite_older(struct reading *reading, struct lode_cursor *data)
{
	enum lode_otlp_version version = lode_otlp_version(*data);
	int code;

	if (version == LODE_OTLP_NEWEST)
		return 0;
	code = lode_otlp_rewrite(&reading->tables, version, *data, &reading->rewritten);
	if (code < 0)
		return code;
	*data = lode_cursor(reading->rewritten.bytes, reading->rewritten.size);
	reading->tables.from_zero = version == LODE_OTLP_1_7;
	lode_otlp_tables_clear(&reading->tables);
	return read_part(reading, *data, DATA_DICTIONARY, load_dictionary);
}

/* The dictionary comes first: though it follows the resources in the file, their attributes refer to it. */
static int read_parts(struct reading *reading, struct lode_cursor data)
{
	int code = read_part(reading, data, DATA_DICTIONARY, load_dictionary);

	if (code == 0)
		code = rewrite_older(reading, &data);
	return code < 0 ? code : read_part(reading, data, DATA_RESOURCE_PROFILES, add_resource);
}

static void add_notes(const struct reading *reading)
{
	struct lode_notes *notes = reading->import.options->notes;

	lode_notes_add(notes, reading->samples.labels,
		       "attributes of samples, other than thread, process and CPU, left out", NULL);
	lode_notes_add(notes, reading->samples.links, "links of samples to spans, left out", NULL);
	lode_notes_add(notes, reading->samples.negative, "values below 0 or too large, left out", NULL);
	lode_notes_add(notes, reading->skipped, "profiles whose values are not times, left out",
		       reading->skipped_type);
	lode_notes_add(notes, reading->samples.timeless,
		       "samples without a time, put one after another on their thread", NULL);
	lode_notes_add(notes, reading->tables.cut, LODE_CUT_AT_ROOT, NULL);
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
	if (!reading->samples.events && !is_lode)
		return lode_json_reject(
			reading->tables.import,
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
	lode_otlp_samples_release(&reading->samples);
	lode_otlp_tables_release(&reading->tables);
	lode_buffer_release(&reading->import.text);
	lode_buffer_release(&reading->import.file);
	lode_buffer_release(&reading->encoded);
	lode_buffer_release(&reading->rewritten);
	lode_frame_memo_release(&reading->streams);
	lode_free(reading->resources.items);
	lode_free(reading->shared.items);
}

static int read_input(struct lode_input *input, const struct lode_import_options *options,
		      const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reading reading = { .import = { .input = input, .options = options, .error = error } };
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_whole(input, &bytes, &size, error);

	reading.tables.import = &reading.import;
	reading.samples.tables = &reading.tables;
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
