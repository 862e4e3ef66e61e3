/* What the tests of importers share: an import of text or bytes, reported as text again. */
#ifndef LODE_TESTS_IMPORT_FIXTURE_H
#define LODE_TESTS_IMPORT_FIXTURE_H

#include "cmocka_all.h"
#include "random_stream.h"

#include "base/buffer.h"
#include "import/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct lode_importer lode_importer_events;
extern const struct lode_importer lode_importer_folded;
extern const struct lode_importer lode_importer_perf_script;
extern const struct lode_importer lode_importer_pprof;

struct imported {
	int code;
	struct lode_error error;
	struct lode_buffer text; /* what was delivered, a line an event; NUL-terminated */
	struct lode_buffer ids;  /* the same with the numbers of all frames and stacks */
	struct lode_notes notes;
	unsigned streams;
	uint64_t asked; /* allocations up to the first stream; see disarm_and_describe */
};

static inline const char *string_text(const struct lode_stream *stream, uint32_t string)
{
	return lode_strings_get(&stream->dictionary->frames.strings, string);
}

static inline void describe_stack(struct lode_buffer *buffer, const struct lode_stream *stream, uint32_t node)
{
	uint32_t depth = lode_stack_tree_depth(&stream->dictionary->tree, node);
	uint32_t *frames = calloc(depth + 1, sizeof(*frames));

	lode_stack_tree_frames(&stream->dictionary->tree, node, frames, depth);
	for (uint32_t i = 0; i < depth; i++) {
		lode_buffer_text(buffer, i ? "|" : "");
		lode_frames_text(&stream->dictionary->frames, frames[i], buffer);
	}
	free(frames);
}

static inline void describe_thread(struct lode_buffer *buffer, const struct lode_stream *stream, uint32_t thread)
{
	if (thread == LODE_NONE)
		lode_buffer_text(buffer, "-");
	else if (stream->threads[thread].pid == LODE_NO_PID)
		lode_buffer_print(buffer, "%u", stream->threads[thread].tid);
	else
		lode_buffer_print(buffer, "%u/%u", stream->threads[thread].pid, stream->threads[thread].tid);
}

/* `run T+COST THREAD [delay=N] [cpu=N] [name=N] [waker=THREAD] [object=TEXT] [holder=THREAD] [context=TEXT] STACK [< WAKER STACK]` */
static inline void describe_event(struct lode_buffer *buffer, const struct lode_stream *stream, int type, size_t i)
{
	struct lode_event event = lode_events_get(&stream->events[type], i);

	lode_buffer_print(buffer, "%s %" PRIu64 "+%" PRIu64 " ", lode_event_type_name((enum lode_event_type)type),
			  event.t, event.cost);
	describe_thread(buffer, stream, event.thread);
	if (event.delay)
		lode_buffer_print(buffer, " delay=%" PRIu64, event.delay);
	if (event.cpu != LODE_NO_CPU)
		lode_buffer_print(buffer, " cpu=%u", event.cpu);
	if (event.name)
		lode_buffer_print(buffer, " name=%s", string_text(stream, event.name));
	if (event.waker != LODE_NONE) {
		lode_buffer_text(buffer, " waker=");
		describe_thread(buffer, stream, event.waker);
	}
	if (event.object)
		lode_buffer_print(buffer, " object=%s", string_text(stream, event.object));
	if (event.holder != LODE_NONE) {
		lode_buffer_text(buffer, " holder=");
		describe_thread(buffer, stream, event.holder);
	}
	if (event.context)
		lode_buffer_print(buffer, " context=%s", string_text(stream, event.context));
	lode_buffer_byte(buffer, ' ');
	describe_stack(buffer, stream, event.stack);
	if (event.waker_stack) {
		lode_buffer_text(buffer, " < ");
		describe_stack(buffer, stream, event.waker_stack);
	}
	lode_buffer_byte(buffer, '\n');
}

static inline void describe_head(struct lode_buffer *buffer, const struct lode_stream *stream)
{
	const struct lode_frames *frames = &stream->dictionary->frames;

	lode_buffer_print(buffer, "stream %s %s\n", string_text(stream, stream->name),
			  string_text(stream, stream->host));
	for (size_t i = 0; i < stream->attribute_count; i++)
		lode_buffer_print(buffer, "attribute %s=%s %d\n", string_text(stream, stream->attributes[i].key),
				  string_text(stream, stream->attributes[i].value), stream->attributes[i].type);
	for (size_t i = 0; i < stream->thread_count; i++) {
		if (!stream->threads[i].name)
			continue;
		lode_buffer_text(buffer, "thread ");
		describe_thread(buffer, stream, (uint32_t)i);
		lode_buffer_print(buffer, " %s\n", string_text(stream, stream->threads[i].name));
	}
	for (size_t i = 1; i < frames->module_count; i++) {
		const struct lode_module *module = &frames->modules[i];

		if (module->path || module->build_id ||
		    module->kind != lode_kind_guess(string_text(stream, module->name),
						    strlen(string_text(stream, module->name))))
			lode_buffer_print(buffer, "module %s %s %s %s\n", string_text(stream, module->name),
					  lode_kind_name((enum lode_kind)module->kind),
					  string_text(stream, module->path), string_text(stream, module->build_id));
	}
}

static inline void describe_ids(struct lode_buffer *buffer, const struct lode_stream *stream)
{
	const struct lode_dictionary *dictionary = stream->dictionary;

	for (size_t i = 0; i < dictionary->frames.strings.count; i++)
		lode_buffer_print(buffer, "%s\n", string_text(stream, (uint32_t)i));
	for (size_t i = 0; i < dictionary->frames.count; i++)
		lode_buffer_print(buffer, "%u!%u\n", dictionary->frames.items[i].module,
				  dictionary->frames.items[i].function);
	for (size_t i = 0; i < dictionary->tree.count; i++)
		lode_buffer_print(buffer, "%u;%u\n", dictionary->tree.nodes[i].parent,
				  dictionary->tree.nodes[i].frame);
}

static inline int describe_stream(void *context, struct lode_stream *stream, unsigned ordinal,
				  struct lode_error *error)
{
	struct imported *imported = context;

	(void)error;
	assert_int_equal(ordinal, imported->streams);
	imported->streams++;
	describe_head(&imported->text, stream);
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		for (size_t i = 0; i < stream->events[type].count; i++) {
			assert_true(i == 0 || stream->events[type].t[i - 1] <= stream->events[type].t[i]);
			describe_event(&imported->text, stream, type, i);
		}
	}
	for (size_t i = 0; i < stream->symptom_count; i++) {
		const struct lode_symptom *symptom = &stream->symptoms[i];

		lode_buffer_print(&imported->text, "symptom %" PRIu64 "-%" PRIu64 " ", symptom->t0, symptom->t1);
		describe_thread(&imported->text, stream, symptom->thread);
		lode_buffer_print(&imported->text, " %s\n", string_text(stream, symptom->name));
	}
	describe_ids(&imported->ids, stream);
	return 0;
}

/* The same where memory fails (lode_memory_fail_at) until something is delivered. */
static inline int disarm_and_describe(void *context, struct lode_stream *stream, unsigned ordinal,
				      struct lode_error *error)
{
	struct imported *imported = context;

	if (!ordinal)
		imported->asked = lode_memory_asked();
	lode_memory_fail_at(0, 0);
	return describe_stream(context, stream, ordinal, error);
}

/* An import where allocation `nth` failed says so, or delivered what `whole` has, with which none failed. */
static inline void require_all_or_an_error(const char *name, uint64_t nth, const struct imported *whole,
					   const struct imported *imported)
{
	if (imported->code < 0 && !*imported->error.text)
		fail_msg("%s, allocation %" PRIu64 ": it fails without a sentence", name, nth);
	if (imported->code >= 0 &&
	    (imported->streams != whole->streams || strcmp(imported->text.bytes, whole->text.bytes) != 0))
		fail_msg("%s, allocation %" PRIu64 ": it delivers something else:\n%s", name, nth,
			 imported->text.bytes);
}

static inline int drop_stream(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	(void)context;
	(void)stream;
	(void)ordinal;
	(void)error;
	return 0;
}

/* `options` may be NULL. The result must be released. */
static inline void release_imported(struct imported *imported)
{
	lode_notes_release(&imported->notes);
	lode_buffer_release(&imported->text);
	lode_buffer_release(&imported->ids);
}

static inline void import_once(struct imported *imported, const struct lode_importer *importer, const void *bytes,
			       size_t size, struct lode_import_options own)
{
	struct lode_import_sink sink = { describe_stream, imported };
	struct lode_input *input;

	memset(imported, 0, sizeof(*imported));
	lode_notes_init(&imported->notes);
	own.notes = &imported->notes;
	assert_int_equal(lode_input_memory(&input, "dir/x.y.gz", bytes, size, &imported->error), 0);
	imported->code = importer->read(input, &own, &sink, &imported->error);
	lode_input_close(input);
	lode_buffer_byte(&imported->text, '\0');
	lode_buffer_byte(&imported->ids, '\0');
}

/* An import with one job is repeated with several, which change nothing. */
static inline void import_bytes(struct imported *imported, const struct lode_importer *importer, const void *bytes,
				size_t size, const struct lode_import_options *options)
{
	struct lode_import_options own = options ? *options : (struct lode_import_options){ .jobs = 1 };

	import_once(imported, importer, bytes, size, own);
	for (unsigned jobs = 2; own.jobs == 1 && jobs <= 3; jobs++) {
		struct lode_import_options more = own;
		struct imported again;

		more.jobs = jobs;
		import_once(&again, importer, bytes, size, more);
		assert_int_equal(again.code, imported->code);
		assert_string_equal(again.error.text, imported->error.text);
		assert_string_equal(again.text.bytes, imported->text.bytes);
		assert_string_equal(again.ids.bytes, imported->ids.bytes);
		release_imported(&again);
	}
}

/* The import of `text` gives `expected`. */
static inline void assert_import(const struct lode_importer *importer, const char *text,
				 const struct lode_import_options *options, const char *expected)
{
	struct imported imported;

	import_bytes(&imported, importer, text, strlen(text), options);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	assert_string_equal(imported.text.bytes, expected);
	release_imported(&imported);
}

/* The importer is the one that is chosen for the text. */
static inline void assert_chosen(const struct lode_importer *importer, const char *text)
{
	struct lode_import_options options = { 0 };
	struct lode_error error;
	struct lode_input *input;

	assert_int_equal(lode_input_memory(&input, "x", text, strlen(text), &error), 0);
	assert_ptr_equal(lode_import_choose(input, &options, &error), importer);
	lode_input_close(input);
}

/* The import fails as bad input, with `part` in the sentence. */
static inline void assert_bad(const struct lode_importer *importer, const char *text, const char *part)
{
	struct imported imported;

	import_bytes(&imported, importer, text, strlen(text), NULL);
	if (imported.code != LODE_BAD_INPUT || !strstr(imported.error.text, part))
		fail_msg("`%s` gave %d `%s`, which has no `%s`", text, imported.code, imported.error.text, part);
	release_imported(&imported);
}

static inline uint64_t note_count(const struct imported *imported, const char *part)
{
	uint64_t count = 0;

	for (size_t i = 0; i < imported->notes.count; i++)
		if (strstr(imported->notes.items[i].what, part))
			count += imported->notes.items[i].count;
	return count;
}

/* The import of `text` counts `count` notes with `part` in their words. */
static inline void assert_note(const struct lode_importer *importer, const char *text, const char *part,
			       uint64_t count)
{
	struct imported imported;

	import_bytes(&imported, importer, text, strlen(text), NULL);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	assert_int_equal(note_count(&imported, part), count);
	release_imported(&imported);
}

static inline int import_and_drop(const struct lode_importer *importer, const void *bytes, size_t size,
				  unsigned jobs)
{
	struct lode_import_options options = { .jobs = jobs };
	struct lode_import_sink sink = { drop_stream, NULL };
	struct lode_error error = { "" };
	struct lode_input *input = NULL;
	int code = lode_input_memory(&input, "x", bytes, size, &error);

	if (code == 0)
		code = importer->read(input, &options, &sink, &error);
	lode_input_close(input);
	assert_true(code == 0 || (code < 0 && error.text[0]));
	return code;
}

/* Bytes changed, lost, doubled: nothing may crash, and a failure has its sentence. */
static inline void try_damaged(const struct lode_importer *importer, const void *bytes, size_t size, int rounds)
{
	uint64_t seed = 77 + size;

	for (int round = 0; round < rounds; round++) {
		unsigned char *bad = malloc(2 * size + 1);
		size_t left = size;

		memcpy(bad, bytes, size);
		for (uint64_t changes = 1 + random_below(&seed, 6); changes; changes--) {
			size_t at = random_below(&seed, left),
			       length = random_below(&seed, left - at < 40 ? left - at : 40);

			switch (random_below(&seed, 4)) {
			case 0:
				bad[at] = (unsigned char)random_next(&seed);
				break;
			case 1:
				bad[at] ^= (unsigned char)(1u << random_below(&seed, 8));
				break;
			case 2:
				memmove(bad + at, bad + at + length, left - at - length);
				left -= length;
				break;
			default:
				if (left + length <= 2 * size) {
					memmove(bad + at + length, bad + at, left - at);
					left += length;
				}
			}
			if (!left)
				break;
		}
		{ /* an exact copy, so that a read behind its end is seen */
			unsigned char *exact = malloc(left ? left : 1);

			memcpy(exact, bad, left);
			importer->sniff(exact, left < LODE_SNIFF_BYTES ? left : LODE_SNIFF_BYTES, "x");
			import_and_drop(importer, exact, left, 1);
			free(exact);
		}
		free(bad);
	}
}

/* Every allocation fails once, and from some point on for good: an error, no leak. */
static inline void try_without_memory(const struct lode_importer *importer, const void *bytes, size_t size)
{
	for (int for_good = 0; for_good < 2; for_good++) {
		uint64_t nth = 0, failures = 0;

		do {
			lode_memory_fail_at(++nth, for_good);
			failures += import_and_drop(importer, bytes, size, 1) == LODE_SYSTEM;
		} while (lode_memory_asked() >= nth);
		lode_memory_fail_at(0, 0);
		assert_true(failures > 10);
	}
}

#endif
