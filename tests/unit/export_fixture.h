/* What the tests of exporters share: a corpus in a temporary folder, streams to put in, exports as text. */
#ifndef LODE_TESTS_EXPORT_FIXTURE_H
#define LODE_TESTS_EXPORT_FIXTURE_H

#include "cmocka_all.h"
#include "temporary.h"
#include "random_stream.h"

#include "export/export.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	char folder[64];
	char corpus[96];
	char result[96];
	unsigned streams; /* added so far: the next one's id */
	unsigned corpora;
};

/* A stream and its dictionary, together. */
struct whole {
	struct lode_dictionary dictionary;
	struct lode_stream stream;
};

static inline void init_whole(struct whole *whole, const char *name)
{
	assert_int_equal(lode_dictionary_init(&whole->dictionary), 0);
	lode_stream_init(&whole->stream, &whole->dictionary);
	whole->stream.name = lode_strings_add(&whole->dictionary.frames.strings, name, strlen(name));
}

static inline void release_whole(struct whole *whole)
{
	lode_stream_release(&whole->stream);
	lode_dictionary_release(&whole->dictionary);
}

static inline int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	if (temporary_folder(fixture->folder, sizeof(fixture->folder)) < 0)
		return -1;
	snprintf(fixture->corpus, sizeof(fixture->corpus), "%s/corpus", fixture->folder);
	snprintf(fixture->result, sizeof(fixture->result), "%s/result", fixture->folder);
	setenv("TMPDIR", fixture->folder, 1);
	*state = fixture;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *fixture = *state;
	int code = temporary_remove(fixture->folder);

	unsetenv("TMPDIR");
	free(fixture);
	return code;
}

/* From here on a new, empty corpus. */
static inline void next_corpus(struct fixture *fixture)
{
	snprintf(fixture->corpus, sizeof(fixture->corpus), "%s/corpus%u", fixture->folder, ++fixture->corpora);
}

static inline void add_stream(struct fixture *fixture, struct whole *whole)
{
	struct lode_corpus *corpus;
	struct lode_error error;
	char id[33];

	assert_int_equal(lode_stream_sort(&whole->stream), 0);
	snprintf(id, sizeof(id), "%032x", ++fixture->streams);
	assert_int_equal(lode_corpus_open(&corpus, fixture->corpus, LODE_CORPUS_CREATE, &error), 0);
	assert_int_equal(lode_corpus_add(corpus, id, "test", &whole->stream, 0, 1, &error), 1);
	lode_corpus_close(corpus);
}

/* Exports to the file `result` as the command does. */
static inline int export_file(struct fixture *fixture, const char *format,
			      const struct lode_export_options *options, struct lode_error *error)
{
	const struct lode_exporter *exporter = lode_exporter_find(format, error);
	struct lode_corpus *corpus;
	struct lode_output output;
	int code = lode_corpus_open(&corpus, fixture->corpus, LODE_CORPUS_READ, error);

	if (code < 0)
		return code;
	code = lode_output_open(&output, fixture->result, error);
	if (code == 0) {
		code = lode_export_corpus(corpus, exporter, options, &output, error);
		if (code == 0)
			code = lode_output_finish(&output, error);
		else
			lode_output_abandon(&output);
	}
	lode_corpus_close(corpus);
	return code;
}

/* The whole file with a NUL behind it; the caller's to free. */
static inline char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	size_t capacity = 1 << 16, used = 0;
	char *text = malloc(capacity);

	assert_non_null(file);
	while (!feof(file)) {
		if (used + 1 == capacity)
			text = realloc(text, capacity *= 2);
		used += fread(text + used, 1, capacity - used - 1, file);
	}
	fclose(file);
	text[used] = '\0';
	*size = used;
	return text;
}

static inline char *export_bytes(struct fixture *fixture, const char *format,
				 const struct lode_export_options *options, size_t *size)
{
	static const struct lode_export_options none;
	struct lode_error error = { "" };
	int code = export_file(fixture, format, options ? options : &none, &error);

	if (code < 0)
		fail_msg("%s: %s", format, error.text);
	return read_file(fixture->result, size);
}

static inline char *export_text(struct fixture *fixture, const char *format,
				const struct lode_export_options *options)
{
	size_t size;

	return export_bytes(fixture, format, options, &size);
}

/* How many files the folder holds whose names say that they are unfinished. */
static inline int count_leftovers(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int count = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)))
		count += strstr(entry->d_name, ".part") != NULL;
	closedir(folder);
	return count;
}

static inline uint32_t string_id(struct whole *whole, const char *text)
{
	return lode_strings_add(&whole->dictionary.frames.strings, text, strlen(text));
}

/* The stack of frames that are set apart by bars. */
static inline uint32_t stack_of(struct whole *whole, const char *text)
{
	uint32_t node = 0;

	while (*text) {
		size_t length = strcspn(text, "|");
		uint32_t frame = lode_frames_parse(&whole->dictionary.frames, text, length);

		node = lode_stack_tree_child(&whole->dictionary.tree, node, frame);
		text += length + (text[length] == '|');
	}
	return node;
}

static inline void add_event(struct whole *whole, enum lode_event_type type, uint64_t t, uint64_t cost,
			     uint32_t pid, uint32_t tid, const char *stack)
{
	struct lode_event event = {
		.t = t,
		.cost = cost,
		.thread = lode_stream_thread(&whole->stream, pid, tid),
		.stack = stack_of(whole, stack),
		.waker = LODE_NONE,
		.cpu = LODE_NO_CPU,
	};

	assert_int_equal(lode_stream_add_event(&whole->stream, type, &event), 0);
}

/* Costs whose sums fit everywhere, and tids that distinguish threads. */
static inline void tame(struct whole *whole)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		struct lode_events *events = &whole->stream.events[type];

		for (size_t i = 0; i < events->count; i++) {
			events->t[i] %= 1ull << 50;
			events->cost[i] %= 1ull << 40;
			events->delay[i] %= 1ull << 40;
		}
	}
	for (size_t i = 0; i < whole->stream.thread_count; i++)
		whole->stream.threads[i].tid = (uint32_t)(100 + i);
}

static inline void random_whole(struct whole *whole, uint64_t *seed, size_t size)
{
	init_whole(whole, "random");
	assert_int_equal(random_stream(&whole->stream, seed, size), 0);
	tame(whole);
}

/* Everything that can go wrong in a text, in every place that has one. */
static inline void odd_whole(struct whole *whole)
{
	static const char *const odd[] = {
		"q\"uote",
		"back\\slash",
		"new\nline",
		"nul\x01\x1f\x7f",
		"<script>alert(1)</script>",
		"wrong \xff\xfe utf-8",
		"\xed\xa0\x80 surrogate",
		"cut \xe2\x82",
		"\xf0\x9f\x94\xa5 fine",
		"semi;colon",
		"",
	};

	init_whole(whole, "odd \xff \"stream\"\n");
	whole->stream.host = string_id(whole, "h\xc0st");
	assert_int_equal(lode_stream_set_attribute(&whole->stream, "k\"\xff", "v\\\n", LODE_ATTRIBUTE_TEXT), 0);
	assert_int_equal(lode_stream_set_attribute(&whole->stream, "n", "not a number", LODE_ATTRIBUTE_NUMBER), 0);
	for (uint32_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		for (int type = 0; type < LODE_EVENT_TYPES; type++) {
			add_event(whole, (enum lode_event_type)type, i, type == LODE_CALL ? 0 : i + 1, 7, 7 + i,
				  odd[i]);
			whole->stream.events[type].name[i] = string_id(whole, odd[i]);
			whole->stream.events[type].stack[i] =
				lode_stack_tree_child(&whole->dictionary.tree, whole->stream.events[type].stack[i],
						      lode_frames_add(&whole->dictionary.frames,
								      lode_frames_module(&whole->dictionary.frames,
											 odd[i], strlen(odd[i])),
								      odd[i], strlen(odd[i])));
		}
		whole->stream.threads[i].name = string_id(whole, odd[i]);
		assert_int_equal(lode_stream_add_symptom(&whole->stream,
							 &(struct lode_symptom){ i, string_id(whole, odd[i]), i,
										 10 + i }),
				 0);
	}
	for (size_t i = 1; i < whole->dictionary.frames.module_count; i++) {
		whole->dictionary.frames.modules[i].path = string_id(whole, "/p\xffth/\"");
		whole->dictionary.frames.modules[i].build_id = string_id(whole, "ab\ncd");
	}
}

/* Sum of the costs of one type, as the stream in memory has them. */
static inline uint64_t sum_costs(const struct whole *whole, enum lode_event_type type)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < whole->stream.events[type].count; i++)
		sum += whole->stream.events[type].cost[i];
	return sum;
}

#endif
