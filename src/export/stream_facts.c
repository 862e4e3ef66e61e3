/* Facts of a stream for formats that have no place for them: see stream_facts.h. */
#include "export/stream_facts.h"

#include "base/json.h"
#include "trace/script_modules.h"

#include <string.h>

static const char *text_of(const struct lode_stream *stream, uint32_t string)
{
	return lode_strings_get(&stream->dictionary->frames.strings, string);
}

static void put_attribute(struct lode_json *json, const struct lode_stream *stream,
			  const struct lode_attribute *attribute)
{
	const char *value = text_of(stream, attribute->value);

	lode_json_key(json, text_of(stream, attribute->key));
	if (attribute->type == LODE_ATTRIBUTE_BOOL)
		lode_json_bool(json, strcmp(value, "true") == 0);
	else if (attribute->type == LODE_ATTRIBUTE_NUMBER && lode_json_is_number(value))
		lode_json_raw(json, value, strlen(value));
	else
		lode_json_text(json, value);
}

/* Only what the name of the module does not say. */
static void put_module(struct lode_json *json, const struct lode_stream *stream, const struct lode_module *module)
{
	const struct lode_string *name = &stream->dictionary->frames.strings.items[module->name];
	enum lode_kind guess = lode_kind_guess(name->text, name->length);
	enum lode_code_language language = lode_code_language_guess(name->text, name->length);

	if (module->kind == guess && module->language == language && !module->path && !module->build_id)
		return;
	lode_json_object(json);
	lode_json_key_text(json, "name", name->text);
	if (module->kind != guess)
		lode_json_key_text(json, "kind", lode_kind_name((enum lode_kind)module->kind));
	if (module->language != language)
		lode_json_key_text(json, "language",
				   lode_code_language_name((enum lode_code_language)module->language));
	if (module->path)
		lode_json_key_text(json, "path", text_of(stream, module->path));
	if (module->build_id)
		lode_json_key_text(json, "build_id", text_of(stream, module->build_id));
	lode_json_object_end(json);
}

/* What threads did in total, where that is known. */
static void put_totals(struct lode_json *json, const struct lode_stream *stream)
{
	lode_json_array(json);
	for (size_t i = 0; i < stream->thread_count; i++) {
		const struct lode_thread *thread = &stream->threads[i];

		if (!lode_thread_has_totals(thread))
			continue;
		lode_json_object(json);
		if (thread->pid != LODE_NO_PID)
			lode_json_key_u64(json, "pid", thread->pid);
		lode_json_key_u64(json, "tid", thread->tid);
		lode_json_key_u64(json, "waits", thread->totals.waits);
		lode_json_key_u64(json, "preemptions", thread->totals.preemptions);
		lode_json_key_u64(json, "waited", thread->totals.waited_ns);
		lode_json_key_u64(json, "run", thread->totals.run_ns);
		lode_json_key_u64(json, "queued", thread->totals.queued_ns);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

void lode_stream_facts_put(struct lode_buffer *buffer, const struct lode_stream *stream, uint64_t start)
{
	const struct lode_frames *frames = &stream->dictionary->frames;
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_text(&json, "exporter", "lode");
	lode_json_key_text(&json, "stream", text_of(stream, stream->name));
	if (stream->host)
		lode_json_key_text(&json, "host", text_of(stream, stream->host));
	if (start)
		lode_json_key_u64(&json, "start_ns", start);
	lode_json_key_object(&json, "attributes");
	for (size_t i = 0; i < stream->attribute_count; i++)
		put_attribute(&json, stream, &stream->attributes[i]);
	lode_json_object_end(&json);
	lode_json_key_array(&json, "no_process");
	for (size_t i = 0; i < stream->thread_count; i++)
		if (stream->threads[i].pid == LODE_NO_PID)
			lode_json_u64(&json, stream->threads[i].tid);
	lode_json_array_end(&json);
	lode_json_key(&json, "totals");
	put_totals(&json, stream);
	lode_json_key_array(&json, "modules");
	for (size_t i = 1; i < frames->module_count; i++)
		put_module(&json, stream, &frames->modules[i]);
	lode_json_array_end(&json);
	lode_json_object_end(&json);
}

void lode_stream_facts_put_several(struct lode_buffer *buffer, size_t streams)
{
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_text(&json, "exporter", "lode");
	lode_json_key_u64(&json, "streams", streams);
	lode_json_object_end(&json);
}
