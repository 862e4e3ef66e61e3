/*
 * Redaction: see redact.h.
 *
 * What is secret gets a new string, a hash, and the fields point to that. Then every string that no other field points to is
 * overwritten: what is not known to be harmless goes. A hash is that of the key and of the hash of key and text, as in HMAC.
 */
#include "trace/redact.h"

#include "base/sha256.h"
#include "base/starts_with.h"
#include "trace/script_modules.h"

#include <string.h>

#define HASH_DIGITS 12

/* How a text is hashed. */
enum manner {
	WHOLE,
	ENDING, /* all but its ending: `server.py` */
	PATHS,  /* parts between slashes, if there are slashes */
	OBJECT, /* what stands behind the kind */
	MANNERS
};

struct redaction {
	struct lode_strings *strings;
	const char *key;
	size_t old;                 /* strings that were there before */
	uint32_t *hashes[MANNERS];  /* by old string; 0: not made yet */
	unsigned char *is_harmless; /* by old string: some field points to it still */
	int failed;
};

/* ---- texts ---- */

static void add_hash(const struct redaction *redaction, const char *text, size_t length, struct lode_buffer *to)
{
	struct lode_buffer message = { 0 };
	char digest[LODE_SHA256_TEXT];

	lode_buffer_text(&message, redaction->key);
	lode_buffer_byte(&message, '\0');
	lode_buffer_add(&message, text, length);
	to->failed |= message.failed;
	if (!message.failed) {
		lode_sha256(message.bytes, message.size, digest);
		lode_buffer_clear(&message);
		lode_buffer_text(&message, redaction->key);
		lode_buffer_byte(&message, '\0');
		lode_buffer_text(&message, digest);
		to->failed |= message.failed;
	}
	if (!message.failed) {
		lode_sha256(message.bytes, message.size, digest);
		lode_buffer_byte(to, 'h');
		lode_buffer_add(to, digest, HASH_DIGITS);
	}
	lode_buffer_release(&message);
}

static void add_paths(const struct redaction *redaction, const char *text, struct lode_buffer *to)
{
	while (*text) {
		size_t length = strcspn(text, "/");

		if (length)
			add_hash(redaction, text, length, to);
		text += length;
		if (*text)
			lode_buffer_byte(to, *text++);
	}
}

static void add_text(const struct redaction *redaction, enum manner manner, const char *text,
		     struct lode_buffer *to)
{
	const char *dot = manner == ENDING ? strrchr(text, '.') : NULL,
		   *colon = manner == OBJECT ? strchr(text, ':') : NULL;

	if (manner == PATHS && !strchr(text, '/')) {
		lode_buffer_text(to, text);
	} else if (manner == PATHS) {
		add_paths(redaction, text, to);
	} else if (dot && dot > text) {
		add_hash(redaction, text, (size_t)(dot - text), to);
		lode_buffer_text(to, dot);
	} else if (colon) {
		lode_buffer_add(to, text, (size_t)(colon + 1 - text));
		add_hash(redaction, colon + 1, strlen(colon + 1), to);
	} else {
		add_hash(redaction, text, strlen(text), to);
	}
}

/* The string that takes the place of one of before; "" stays. */
static uint32_t hashed(struct redaction *redaction, enum manner manner, uint32_t string)
{
	struct lode_buffer text = { 0 };
	uint32_t made;

	if (!string || string >= redaction->old)
		return string;
	if (redaction->hashes[manner][string])
		return redaction->hashes[manner][string];
	add_text(redaction, manner, lode_strings_get(redaction->strings, string), &text);
	made = text.failed ? LODE_NONE : lode_strings_add(redaction->strings, text.bytes, text.size);
	lode_buffer_release(&text);
	if (made == LODE_NONE) {
		redaction->failed = 1;
		return 0;
	}
	if (made < redaction->old)
		redaction->is_harmless[made] = 1;
	redaction->hashes[manner][string] = made;
	return made;
}

static void keep(struct redaction *redaction, uint32_t string)
{
	if (string < redaction->old)
		redaction->is_harmless[string] = 1;
}

/* ---- fields ---- */

static int is_script(const struct lode_module *module)
{
	return module->language != LODE_CODE_NATIVE;
}

static void redact_frames(struct redaction *redaction, struct lode_frames *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		struct lode_frame *frame = &frames->items[i];

		if (is_script(&frames->modules[frame->module]))
			frame->function = hashed(redaction, WHOLE, frame->function);
		else
			keep(redaction, frame->function);
	}
	for (size_t i = 0; i < frames->module_count; i++) {
		struct lode_module *module = &frames->modules[i];

		if (is_script(module))
			module->name = hashed(redaction, ENDING, module->name);
		else
			keep(redaction, module->name);
		module->path = hashed(redaction, PATHS, module->path);
		keep(redaction, module->build_id);
	}
}

static int is_host(const char *key)
{
	static const char *const keys[] = { "host", "hostname", "host.name", "host.id", "host.ip", "k8s.node.name" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!strcmp(keys[i], key))
			return 1;
	return 0;
}

static void redact_attributes(struct redaction *redaction, struct lode_stream *stream)
{
	for (size_t i = 0; i < stream->attribute_count; i++) {
		struct lode_attribute *attribute = &stream->attributes[i];
		const char *key = lode_strings_get(redaction->strings, attribute->key);
		int is_secret = is_host(key) || lode_starts_with(key, LODE_COMMAND);

		keep(redaction, attribute->key);
		if (attribute->type == LODE_ATTRIBUTE_TEXT)
			attribute->value = hashed(redaction, is_secret ? WHOLE : PATHS, attribute->value);
		else
			keep(redaction, attribute->value);
	}
}

static void redact_events(struct redaction *redaction, struct lode_events *events)
{
	for (size_t i = 0; i < events->count; i++) {
		if (events->name)
			keep(redaction, events->name[i]);
		if (events->object)
			events->object[i] = hashed(redaction, OBJECT, events->object[i]);
		if (events->context)
			events->context[i] = hashed(redaction, WHOLE, events->context[i]);
	}
}

/* ---- all ---- */

static void overwrite_rest(struct redaction *redaction)
{
	for (size_t i = 1; i < redaction->old; i++)
		if (!redaction->is_harmless[i])
			redaction->strings->items[i] = (struct lode_string){ "", 0 };
}

static void redact(struct redaction *redaction, struct lode_stream *stream)
{
	stream->name = hashed(redaction, PATHS, stream->name);
	stream->host = hashed(redaction, WHOLE, stream->host);
	redact_attributes(redaction, stream);
	redact_frames(redaction, &stream->dictionary->frames);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		redact_events(redaction, &stream->events[type]);
	for (size_t i = 0; i < stream->thread_count; i++)
		stream->threads[i].name = hashed(redaction, PATHS, stream->threads[i].name);
	for (size_t i = 0; i < stream->symptom_count; i++)
		stream->symptoms[i].name = hashed(redaction, PATHS, stream->symptoms[i].name);
	overwrite_rest(redaction);
}

int lode_stream_redact(struct lode_stream *stream, const char *key)
{
	struct lode_strings *strings = &stream->dictionary->frames.strings;
	struct redaction redaction = { .strings = strings, .key = key, .old = strings->count };

	redaction.is_harmless = lode_calloc(strings->count, 1);
	redaction.failed = !redaction.is_harmless;
	for (int manner = 0; manner < MANNERS; manner++) {
		redaction.hashes[manner] = lode_calloc(strings->count, sizeof(uint32_t));
		redaction.failed |= !redaction.hashes[manner];
	}
	if (!redaction.failed)
		redact(&redaction, stream);
	for (int manner = 0; manner < MANNERS; manner++)
		lode_free(redaction.hashes[manner]);
	lode_free(redaction.is_harmless);
	return redaction.failed ? LODE_SYSTEM : 0;
}
