/* Facts of a stream that Lode itself wrote: see exported_facts.h. */
#include "import/exported_facts.h"
#include "trace/script_modules.h"

#include <string.h>

/* The string for a text; 0 for none, LODE_NONE when memory has run out. */
static uint32_t string_of(struct lode_json_import *import, struct lode_json_value text)
{
	const char *bytes = lode_json_string(text, &import->text);

	return bytes ? lode_strings_add(&import->dictionary.frames.strings, bytes, strlen(bytes)) : LODE_NONE;
}

/* Numbers and booleans as they are written. */
static const char *value_text(struct lode_json_import *import, struct lode_json_value value)
{
	if (lode_json_kind(value) == LODE_JSON_TEXT)
		return lode_json_string(value, &import->file);
	lode_buffer_clear(&import->file);
	lode_buffer_add(&import->file, value.at, lode_json_length(value));
	lode_buffer_byte(&import->file, '\0');
	return import->file.failed ? NULL : import->file.bytes;
}

static int read_attributes(struct lode_json_import *import, struct lode_json_value attributes)
{
	struct lode_json_walk walk = lode_json_walk(attributes);
	struct lode_json_value key, value;

	while (lode_json_kind(attributes) == LODE_JSON_OBJECT && lode_json_member(&walk, &key, &value)) {
		enum lode_json_kind kind = lode_json_kind(value);
		const char *name = lode_json_string(key, &import->text), *text = value_text(import, value);
		enum lode_attribute_type type = kind == LODE_JSON_NUMBER ? LODE_ATTRIBUTE_NUMBER
						: kind == LODE_JSON_TEXT ? LODE_ATTRIBUTE_TEXT
									 : LODE_ATTRIBUTE_BOOL;

		if (kind == LODE_JSON_OBJECT || kind == LODE_JSON_ARRAY || kind == LODE_JSON_NULL)
			continue;
		if (!name || !text || lode_stream_set_attribute(&import->stream, name, text, type) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int read_module(struct lode_json_import *import, struct lode_json_value object)
{
	struct lode_frames *frames = &import->dictionary.frames;
	const char *name = lode_json_string(lode_json_get(object, "name"), &import->text);
	uint32_t module = name ? lode_frames_module(frames, name, strlen(name)) : LODE_NONE;
	uint32_t path = string_of(import, lode_json_get(object, "path"));
	uint32_t build_id = string_of(import, lode_json_get(object, "build_id"));

	if (module == LODE_NONE || path == LODE_NONE || build_id == LODE_NONE)
		return LODE_SYSTEM;
	if (!module)
		return 0;
	frames->modules[module].path = path;
	frames->modules[module].build_id = build_id;
	for (int kind = 0; kind < LODE_KINDS; kind++)
		if (lode_json_is_text(lode_json_get(object, "kind"), lode_kind_name((enum lode_kind)kind)))
			frames->modules[module].kind = (uint8_t)kind;
	for (int language = 0; language < LODE_CODE_LANGUAGES; language++)
		if (lode_json_is_text(lode_json_get(object, "language"),
				      lode_code_language_name((enum lode_code_language)language)))
			frames->modules[module].language = (uint8_t)language;
	return 0;
}

static int read_thread_totals(struct lode_json_import *import, struct lode_json_value object)
{
	static const char *const keys[] = { "pid", "tid", "waits", "preemptions", "waited", "run", "queued" };
	struct lode_json_value values[7];
	uint64_t pid, tid;
	uint32_t thread;

	lode_json_get_all(object, keys, values, 7);
	pid = lode_json_u64_or(values[0], LODE_NO_PID);
	tid = lode_json_u64_or(values[1], UINT64_MAX);
	if (tid > UINT32_MAX || pid > LODE_NO_PID)
		return 0;
	thread = lode_stream_thread(&import->stream, (uint32_t)pid, (uint32_t)tid);
	if (thread == LODE_NONE)
		return LODE_SYSTEM;
	import->stream.threads[thread].totals = (struct lode_thread_totals){
		.waits = lode_json_u64_or(values[2], 0),
		.preemptions = lode_json_u64_or(values[3], 0),
		.waited_ns = lode_json_u64_or(values[4], 0),
		.run_ns = lode_json_u64_or(values[5], 0),
		.queued_ns = lode_json_u64_or(values[6], 0),
	};
	return 0;
}

static int read_each(struct lode_json_import *import, struct lode_json_value list,
		     int (*read)(struct lode_json_import *import, struct lode_json_value object))
{
	struct lode_json_walk walk = lode_json_walk(list);
	struct lode_json_value object;

	while (lode_json_kind(list) == LODE_JSON_ARRAY && lode_json_item(&walk, &object))
		if (read(import, object) < 0)
			return LODE_SYSTEM;
	return 0;
}

int lode_exported_facts_read(struct lode_json_import *import, struct lode_json_value facts,
			     struct lode_exported_facts *read)
{
	static const char *const keys[] = { "exporter", "start_ns", "stream",     "host",  "attributes",
					    "modules",  "streams",  "no_process", "totals" };
	struct lode_json_value values[9];
	uint32_t name, host;

	lode_json_get_all(facts, keys, values, 9);
	read->is_lode = lode_json_is_text(values[0], "lode");
	if (!read->is_lode)
		return 0;
	read->start = lode_json_u64_or(values[1], 0);
	read->no_process = values[7];
	lode_notes_add(import->options->notes, lode_json_u64_or(values[6], 0),
		       "streams that were exported into one file: they come back as one", NULL);
	name = string_of(import, values[2]);
	host = string_of(import, values[3]);
	if (name == LODE_NONE || host == LODE_NONE || read_attributes(import, values[4]) < 0 ||
	    read_each(import, values[5], read_module) < 0 || read_each(import, values[8], read_thread_totals) < 0)
		return lode_fail_memory(import->error);
	import->stream.name = import->options->stream_name ? 0 : name;
	import->stream.host = host;
	return 0;
}
