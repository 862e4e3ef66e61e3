/* Random streams for property tests: see random_stream.h. */
#include "random_stream.h"
#include "trace/script_modules.h"

#include <stdio.h>
#include <string.h>

static const char *const odd_texts[] = {
	"main",
	"app!main",
	"libc.so.6!read",
	"kernel!schedule",
	"operator!=",
	"!leading",
	"a b c",
	"x;y",
	"q\"uote",
	"new\nline",
	"\xc3\xa4\xc3\xb6",
	"<b>html</b>",
	"std::vector<int>::operator!()",
	"0x1234",
	"",
	"back\\slash",
	"ext4!ext4_read",
	"perf-12.map!jit",
	"tab\there",
	"[vdso]!clock",
	"libfoo.so!a!b",
};

static uint32_t random_frame(struct lode_dictionary *dictionary, uint64_t *seed)
{
	char text[64];

	if (random_below(seed, 2)) {
		const char *odd = odd_texts[random_below(seed, sizeof(odd_texts) / sizeof(odd_texts[0]))];

		return lode_frames_parse(&dictionary->frames, odd, strlen(odd));
	}
	snprintf(text, sizeof(text), "m%u!f%u", (unsigned)random_below(seed, 5), (unsigned)random_below(seed, 50));
	return lode_frames_parse(&dictionary->frames, text, strlen(text));
}

static uint32_t random_stack(struct lode_dictionary *dictionary, uint64_t *seed)
{
	uint32_t node = (uint32_t)random_below(seed, dictionary->tree.count);
	size_t more = random_below(seed, 4);

	while (more-- && node != LODE_NONE)
		node = lode_stack_tree_child(&dictionary->tree, node, random_frame(dictionary, seed));
	return node;
}

static uint32_t random_thread(struct lode_stream *stream, uint64_t *seed)
{
	uint32_t pid = random_below(seed, 4) ? (uint32_t)random_below(seed, 5) : LODE_NO_PID;

	return lode_stream_thread(stream, pid, (uint32_t)random_below(seed, 20));
}

static int random_event(struct lode_stream *stream, enum lode_event_type type, uint64_t *seed)
{
	struct lode_strings *strings = &stream->dictionary->frames.strings;
	struct lode_event event = {
		.t = random_number(seed),
		.cost = type == LODE_CALL ? 0 : random_number(seed),
		.thread = random_thread(stream, seed),
		.stack = random_stack(stream->dictionary, seed),
		.waker = LODE_NONE,
		.cpu = random_below(seed, 2) ? (uint16_t)random_below(seed, 300) : LODE_NO_CPU,
		.name = type == LODE_CALL ? lode_strings_add(strings, "openat", 6) : 0,
	};

	if (type != LODE_RUN)
		event.delay = random_below(seed, 2) ? random_number(seed) : 0;
	if (type == LODE_WAIT && random_below(seed, 2)) {
		/* In plain events a waker is a tid only: the first thread that has it. */
		uint32_t thread = random_thread(stream, seed);

		event.waker = lode_stream_tid(stream, stream->threads[thread].tid);
		event.waker_stack = random_stack(stream->dictionary, seed);
	}
	if (type == LODE_WAIT && !random_below(seed, 3)) {
		uint32_t thread = random_thread(stream, seed);
		const char *object = random_below(seed, 2) ? "lock:a" : "tcp:[::1]:80";

		event.object = lode_strings_add(strings, object, strlen(object));
		event.holder = random_below(seed, 2) ? lode_stream_tid(stream, stream->threads[thread].tid)
						     : LODE_NONE;
	}
	if (!random_below(seed, 4)) {
		const char *context = random_below(seed, 2) ? "SELECT \"a\"" : "trace:1 span:2";

		event.context = lode_strings_add(strings, context, strlen(context));
	}
	return lode_stream_add_event(stream, type, &event);
}

static int random_head(struct lode_stream *stream, uint64_t *seed)
{
	struct lode_strings *strings = &stream->dictionary->frames.strings;
	int code = 0;

	stream->name = lode_strings_add(strings, "str\"eam", 7);
	stream->host = random_below(seed, 2) ? lode_strings_add(strings, "host", 4) : 0;
	if (random_below(seed, 2))
		code |= lode_stream_set_attribute(stream, "version", "4.2", LODE_ATTRIBUTE_TEXT);
	if (random_below(seed, 2))
		code |= lode_stream_set_attribute(stream, "files", "1200", LODE_ATTRIBUTE_NUMBER);
	if (random_below(seed, 2))
		code |= lode_stream_set_attribute(stream, "warm", "true", LODE_ATTRIBUTE_BOOL);
	for (size_t i = random_below(seed, 4); i--;) {
		struct lode_symptom symptom = { .thread = random_thread(stream, seed),
						.t0 = random_below(seed, 1000) };

		symptom.t1 = symptom.t0 + random_below(seed, 1000);
		symptom.name = random_below(seed, 2) ? lode_strings_add(strings, "open folder", 11) : 0;
		code |= lode_stream_add_symptom(stream, &symptom);
	}
	for (size_t i = 0; i < stream->thread_count; i++)
		if (random_below(seed, 3) == 0)
			stream->threads[i].name = lode_strings_add(strings, "worker", 6);
	for (size_t i = random_below(seed, 2) * stream->thread_count; i--;)
		stream->threads[i].totals = (struct lode_thread_totals){
			random_below(seed, 3), random_below(seed, 1000), random_number(seed),
			random_number(seed),   random_number(seed),
		};
	return code;
}

int random_stream(struct lode_stream *stream, uint64_t *seed, size_t size)
{
	int code = 0;

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		for (size_t i = random_below(seed, size + 1); i-- && !code;)
			code = random_event(stream, type, seed);
	if (!code)
		code = random_head(stream, seed);
	if (!code && stream->dictionary->frames.module_count > 1 && random_below(seed, 2)) {
		stream->dictionary->frames.modules[1].kind = LODE_KIND_KERNEL;
		stream->dictionary->frames.modules[1].language = LODE_CODE_JAVA;
	}
	return code ? code : lode_stream_sort(stream);
}

/* ---- equality, by meaning ---- */

static int texts_equal(const struct lode_stream *a, uint32_t i, const struct lode_stream *b, uint32_t j)
{
	return strcmp(lode_strings_get(&a->dictionary->frames.strings, i),
		      lode_strings_get(&b->dictionary->frames.strings, j)) == 0;
}

static int frames_equal(const struct lode_stream *a, uint32_t i, const struct lode_stream *b, uint32_t j)
{
	const struct lode_frames *x = &a->dictionary->frames, *y = &b->dictionary->frames;

	return strcmp(lode_frames_function(x, i), lode_frames_function(y, j)) == 0 &&
	       strcmp(lode_frames_module_name(x, i), lode_frames_module_name(y, j)) == 0 &&
	       x->modules[x->items[i].module].kind == y->modules[y->items[j].module].kind &&
	       x->modules[x->items[i].module].language == y->modules[y->items[j].module].language;
}

static int stacks_equal(const struct lode_stream *a, uint32_t i, const struct lode_stream *b, uint32_t j)
{
	while (i && j) {
		const struct lode_stack_node *x = &a->dictionary->tree.nodes[i], *y = &b->dictionary->tree.nodes[j];

		if (!frames_equal(a, x->frame, b, y->frame))
			return 0;
		i = x->parent;
		j = y->parent;
	}
	return i == j;
}

static int threads_equal(const struct lode_stream *a, uint32_t i, const struct lode_stream *b, uint32_t j)
{
	if (i == LODE_NONE || j == LODE_NONE)
		return i == j;
	return a->threads[i].pid == b->threads[j].pid && a->threads[i].tid == b->threads[j].tid &&
	       texts_equal(a, a->threads[i].name, b, b->threads[j].name) &&
	       !memcmp(&a->threads[i].totals, &b->threads[j].totals, sizeof(a->threads[i].totals));
}

static int events_equal(const struct lode_stream *a, const struct lode_stream *b, int type, size_t i)
{
	struct lode_event x = lode_events_get(&a->events[type], i), y = lode_events_get(&b->events[type], i);

	return x.t == y.t && x.cost == y.cost && x.delay == y.delay && x.cpu == y.cpu && x.weight == y.weight &&
	       threads_equal(a, x.thread, b, y.thread) && threads_equal(a, x.waker, b, y.waker) &&
	       stacks_equal(a, x.stack, b, y.stack) && stacks_equal(a, x.waker_stack, b, y.waker_stack) &&
	       texts_equal(a, x.name, b, y.name) && texts_equal(a, x.object, b, y.object) &&
	       threads_equal(a, x.holder, b, y.holder) && texts_equal(a, x.context, b, y.context);
}

static int heads_equal(const struct lode_stream *a, const struct lode_stream *b)
{
	if (!texts_equal(a, a->name, b, b->name) || !texts_equal(a, a->host, b, b->host) ||
	    a->attribute_count != b->attribute_count || a->symptom_count != b->symptom_count)
		return 0;
	for (size_t i = 0; i < a->attribute_count; i++)
		if (!texts_equal(a, a->attributes[i].key, b, b->attributes[i].key) ||
		    !texts_equal(a, a->attributes[i].value, b, b->attributes[i].value) ||
		    a->attributes[i].type != b->attributes[i].type)
			return 0;
	for (size_t i = 0; i < a->symptom_count; i++)
		if (!threads_equal(a, a->symptoms[i].thread, b, b->symptoms[i].thread) ||
		    !texts_equal(a, a->symptoms[i].name, b, b->symptoms[i].name) ||
		    a->symptoms[i].t0 != b->symptoms[i].t0 || a->symptoms[i].t1 != b->symptoms[i].t1)
			return 0;
	return 1;
}

int streams_equal(const struct lode_stream *a, const struct lode_stream *b)
{
	if (!heads_equal(a, b)) {
		fprintf(stderr, "heads differ\n");
		return 0;
	}
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		if (a->events[type].count != b->events[type].count) {
			fprintf(stderr, "%s events: %zu and %zu\n", lode_event_type_name(type),
				a->events[type].count, b->events[type].count);
			return 0;
		}
		for (size_t i = 0; i < a->events[type].count; i++) {
			if (!events_equal(a, b, type, i)) {
				fprintf(stderr, "%s event %zu differs\n", lode_event_type_name(type), i);
				return 0;
			}
		}
	}
	return 1;
}
