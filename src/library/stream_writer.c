/* Streams that programs write: see lode/write.h. */
#include "base/memory.h"
#include "library/public_error.h"
#include "store/corpus.h"

#include <lode/write.h>
#include <string.h>

struct liblode_writer {
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	int saved;
};

static uint32_t add_string(struct liblode_writer *writer, const char *text)
{
	return text ? lode_strings_add(&writer->dictionary.frames.strings, text, strlen(text)) : 0;
}

static int begin(struct liblode_writer *writer, const char *name, const char *host)
{
	if (lode_dictionary_init(&writer->dictionary) < 0)
		return LODE_SYSTEM;
	lode_stream_init(&writer->stream, &writer->dictionary);
	writer->stream.name = add_string(writer, name);
	writer->stream.host = add_string(writer, host);
	return writer->stream.name == LODE_NONE || writer->stream.host == LODE_NONE ? LODE_SYSTEM : 0;
}

int liblode_writer_open(struct liblode_writer **writer, const char *name, const char *host,
			struct liblode_error *error)
{
	struct lode_error sentence = { "" };
	int code = 0;

	*writer = lode_calloc(1, sizeof(**writer));
	if (!*writer || begin(*writer, name, host) < 0) {
		code = lode_fail_memory(&sentence);
		liblode_writer_close(*writer);
		*writer = NULL;
	}
	return lode_public_error(error, code, &sentence);
}

void liblode_writer_close(struct liblode_writer *writer)
{
	if (!writer)
		return;
	lode_stream_release(&writer->stream);
	lode_dictionary_release(&writer->dictionary);
	lode_free(writer);
}

uint32_t liblode_writer_thread(struct liblode_writer *writer, uint32_t pid, uint32_t tid, const char *name)
{
	uint32_t thread = lode_stream_thread(&writer->stream, pid, tid), text = add_string(writer, name);

	if (thread == LODE_NONE || text == LODE_NONE)
		return LIBLODE_NONE;
	if (name)
		writer->stream.threads[thread].name = text;
	return thread;
}

uint32_t liblode_writer_stack(struct liblode_writer *writer, uint32_t caller, const char *module,
			      const char *function)
{
	struct lode_frames *frames = &writer->dictionary.frames;
	uint32_t place, frame;

	if (caller >= writer->dictionary.tree.count)
		return LIBLODE_NONE;
	place = module && *module ? lode_frames_module(frames, module, strlen(module)) : 0;
	frame = place == LODE_NONE ? LODE_NONE : lode_frames_add(frames, place, function, strlen(function));
	return frame == LODE_NONE ? LIBLODE_NONE : lode_stack_tree_child(&writer->dictionary.tree, caller, frame);
}

/* ---- what was given ---- */

static int has_thread(const struct liblode_writer *writer, uint32_t thread)
{
	return thread < writer->stream.thread_count;
}

/* Returns 0, or LODE_USAGE with a sentence. */
static int check_event(const struct liblode_writer *writer, int type, const struct liblode_event *event,
		       struct lode_error *error)
{
	size_t stacks = writer->dictionary.tree.count;

	if ((unsigned)type >= LODE_EVENT_TYPES)
		return lode_fail(error, LODE_USAGE, "%d is not a type of events", type);
	if (!has_thread(writer, event->thread) ||
	    (event->waker != LIBLODE_NONE && !has_thread(writer, event->waker)) ||
	    (event->holder != LIBLODE_NONE && !has_thread(writer, event->holder)))
		return lode_fail(error, LODE_USAGE,
				 "an event has a thread that liblode_writer_thread did not give");
	if (event->stack >= stacks || event->waker_stack >= stacks)
		return lode_fail(error, LODE_USAGE, "an event has a stack that liblode_writer_stack did not give");
	return 0;
}

static int add_event(struct liblode_writer *writer, enum liblode_event_type type, const struct liblode_event *from,
		     struct lode_error *error)
{
	struct lode_event event = {
		.t = from->t,
		.cost = from->cost,
		.delay = from->delay,
		.thread = from->thread,
		.stack = from->stack,
		.waker = from->waker,
		.waker_stack = from->waker_stack,
		.name = add_string(writer, from->name),
		.cpu = from->cpu,
		.weight = from->weight,
		.object = add_string(writer, from->object),
		.holder = from->object ? from->holder : LODE_NONE,
		.context = add_string(writer, from->context),
	};

	if (event.name == LODE_NONE || event.object == LODE_NONE || event.context == LODE_NONE ||
	    lode_stream_add_event(&writer->stream, (enum lode_event_type)type, &event) < 0)
		return lode_fail_memory(error);
	return 0;
}

int liblode_writer_event(struct liblode_writer *writer, enum liblode_event_type type,
			 const struct liblode_event *event, struct liblode_error *error)
{
	struct lode_error sentence = { "" };
	struct liblode_event whole = LIBLODE_EVENT_INIT;
	int code;

	/* An older caller's has no later fields. */
	if (event->size < sizeof(event->size) || event->size > sizeof(whole))
		code = lode_fail(&sentence, LODE_USAGE, "begin a struct liblode_event with LIBLODE_EVENT_INIT");
	else
		code = (memcpy(&whole, event, event->size), check_event(writer, (int)type, &whole, &sentence));
	if (!code)
		code = add_event(writer, type, &whole, &sentence);
	return lode_public_error(error, code, &sentence);
}

int liblode_writer_symptom(struct liblode_writer *writer, uint32_t thread, uint64_t t0, uint64_t t1,
			   const char *name, struct liblode_error *error)
{
	struct lode_symptom symptom = { .thread = thread, .name = add_string(writer, name), .t0 = t0, .t1 = t1 };
	struct lode_error sentence = { "" };
	int code = 0;

	if (!has_thread(writer, thread) || t1 < t0)
		code = lode_fail(&sentence, LODE_USAGE,
				 "a symptom has an unknown thread, or ends before it begins");
	else if (symptom.name == LODE_NONE || lode_stream_add_symptom(&writer->stream, &symptom) < 0)
		code = lode_fail_memory(&sentence);
	return lode_public_error(error, code, &sentence);
}

int liblode_writer_attribute(struct liblode_writer *writer, const char *key, const char *text,
			     struct liblode_error *error)
{
	struct lode_error sentence = { "" };
	int code = lode_stream_set_text(&writer->stream, key, text) < 0 ? lode_fail_memory(&sentence) : 0;

	return lode_public_error(error, code, &sentence);
}

static int save(struct liblode_writer *writer, const char *path, struct lode_error *error)
{
	struct lode_corpus *corpus;
	char id[33];
	int code;

	if (writer->saved)
		return lode_fail(error, LODE_USAGE, "this stream is in a corpus already; open another writer");
	if (lode_stream_sort(&writer->stream) < 0)
		return lode_fail_memory(error);
	code = lode_stream_draw_id(id, error);
	if (!code)
		code = lode_corpus_open(&corpus, path, LODE_CORPUS_CREATE, error);
	if (code < 0)
		return code;
	code = lode_corpus_add(corpus, id, "liblode", &writer->stream, 0, 1, error);
	lode_corpus_close(corpus);
	writer->saved = code >= 0;
	return code < 0 ? code : 0;
}

int liblode_writer_save(struct liblode_writer *writer, const char *corpus, struct liblode_error *error)
{
	struct lode_error sentence = { "" };

	return lode_public_error(error, save(writer, corpus, &sentence), &sentence);
}
