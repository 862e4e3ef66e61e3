/* Streams for programs that use the library: see lode/stream.h. */
#include "base/memory.h"
#include "library/public_error.h"
#include "store/store.h"

#include <lode/stream.h>

struct liblode_stream {
	struct lode_store *store;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	int loaded[LODE_EVENT_TYPES];
};

_Static_assert(sizeof(struct liblode_stack_node) == sizeof(struct lode_stack_node), "nodes are read in place");
_Static_assert(LIBLODE_NONE == LODE_NO_PID, "one number for what is not known");
_Static_assert(LIBLODE_NO_CPU == LODE_NO_CPU, "one number for what is not known");

static int open_stream(struct liblode_stream *opened, const char *path, struct lode_error *error)
{
	int code;

	if (lode_dictionary_init(&opened->dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&opened->stream, &opened->dictionary);
	code = lode_store_open(&opened->store, path, error);
	return code ? code : lode_store_head(opened->store, &opened->stream, error);
}

int liblode_stream_open(struct liblode_stream **stream, const char *path, struct liblode_error *error)
{
	struct lode_error sentence = { "" };
	int code;

	*stream = lode_calloc(1, sizeof(**stream));
	code = *stream ? open_stream(*stream, path, &sentence) : lode_fail_memory(&sentence);
	if (code) {
		liblode_stream_close(*stream);
		*stream = NULL;
	}
	return lode_public_error(error, code, &sentence);
}

void liblode_stream_close(struct liblode_stream *stream)
{
	if (!stream)
		return;
	lode_store_close(stream->store);
	lode_stream_release(&stream->stream);
	lode_dictionary_release(&stream->dictionary);
	lode_free(stream);
}

static const char *text_of(const struct liblode_stream *stream, uint32_t id)
{
	return lode_strings_get(&stream->dictionary.frames.strings, id);
}

const char *liblode_stream_name(const struct liblode_stream *stream)
{
	return text_of(stream, stream->stream.name);
}

const char *liblode_stream_host(const struct liblode_stream *stream)
{
	return text_of(stream, stream->stream.host);
}

static int load(struct liblode_stream *stream, enum liblode_event_type type, struct lode_error *error)
{
	unsigned columns[LODE_EVENT_TYPES] = { 0 };
	int code;

	if (stream->loaded[type])
		return 0;
	columns[type] = LODE_ALL_COLUMNS;
	stream->stream.events[type].count = 0; /* what an earlier try left */
	code = lode_store_load_events(stream->store, &stream->stream, columns, error);
	stream->loaded[type] = !code;
	return code;
}

int liblode_stream_events(struct liblode_stream *stream, enum liblode_event_type type,
			  struct liblode_events *events, struct liblode_error *error)
{
	struct lode_error sentence = { "" };
	const struct lode_events *columns;
	struct liblode_events whole;
	int code;

	if ((unsigned)type >= LODE_EVENT_TYPES)
		return lode_public_error(error,
					 lode_fail(&sentence, LODE_USAGE, "%d is not a type of events", (int)type),
					 &sentence);
	code = load(stream, type, &sentence);
	if (code)
		return lode_public_error(error, code, &sentence);
	columns = &stream->stream.events[type];
	whole = (struct liblode_events){
		.count = columns->count,
		.t = columns->t,
		.cost = columns->cost,
		.delay = columns->delay,
		.thread = columns->thread,
		.stack = columns->stack,
		.waker = columns->waker,
		.waker_stack = columns->waker_stack,
		.name = columns->name,
		.cpu = columns->cpu,
		.weight = columns->weight,
		.object = columns->object,
		.holder = columns->holder,
		.context = columns->context,
	};
	if (!lode_public_copy(events, &whole, sizeof(whole)))
		return lode_public_error(error, 0, &sentence);
	return lode_public_error(error,
				 lode_fail(&sentence, LODE_USAGE, "set 'size' of struct liblode_events first"),
				 &sentence);
}

size_t liblode_stream_thread_count(const struct liblode_stream *stream)
{
	return stream->stream.thread_count;
}

int liblode_stream_thread(const struct liblode_stream *stream, size_t i, struct liblode_thread *thread)
{
	const struct lode_thread *from = stream->stream.threads + i;
	struct liblode_thread whole;

	if (i >= stream->stream.thread_count)
		return LIBLODE_USAGE;
	whole = (struct liblode_thread){ .pid = from->pid, .tid = from->tid, .name = text_of(stream, from->name) };
	return lode_public_copy(thread, &whole, sizeof(whole));
}

size_t liblode_stream_symptom_count(const struct liblode_stream *stream)
{
	return stream->stream.symptom_count;
}

int liblode_stream_symptom(const struct liblode_stream *stream, size_t i, struct liblode_symptom *symptom)
{
	const struct lode_symptom *from = stream->stream.symptoms + i;
	struct liblode_symptom whole;

	if (i >= stream->stream.symptom_count)
		return LIBLODE_USAGE;
	whole = (struct liblode_symptom){
		.thread = from->thread,
		.t0 = from->t0,
		.t1 = from->t1,
		.name = text_of(stream, from->name),
	};
	return lode_public_copy(symptom, &whole, sizeof(whole));
}

size_t liblode_stream_attribute_count(const struct liblode_stream *stream)
{
	return stream->stream.attribute_count;
}

int liblode_stream_attribute(const struct liblode_stream *stream, size_t i, struct liblode_attribute *attribute)
{
	const struct lode_attribute *from = stream->stream.attributes + i;
	struct liblode_attribute whole;

	if (i >= stream->stream.attribute_count)
		return LIBLODE_USAGE;
	whole = (struct liblode_attribute){
		.key = text_of(stream, from->key),
		.value = text_of(stream, from->value),
		.is_text = from->type == LODE_ATTRIBUTE_TEXT,
	};
	return lode_public_copy(attribute, &whole, sizeof(whole));
}

size_t liblode_stream_frame_count(const struct liblode_stream *stream)
{
	return stream->dictionary.frames.count;
}

int liblode_stream_frame(const struct liblode_stream *stream, size_t i, struct liblode_frame *frame)
{
	const struct lode_frames *frames = &stream->dictionary.frames;
	struct liblode_frame whole;

	if (i >= frames->count)
		return LIBLODE_USAGE;
	whole = (struct liblode_frame){
		.module = lode_frames_module_name(frames, (uint32_t)i),
		.function = lode_frames_function(frames, (uint32_t)i),
	};
	return lode_public_copy(frame, &whole, sizeof(whole));
}

const char *liblode_stream_string(const struct liblode_stream *stream, uint32_t id)
{
	return id < stream->dictionary.frames.strings.count ? text_of(stream, id) : "";
}

const struct liblode_stack_node *liblode_stream_stacks(const struct liblode_stream *stream, size_t *count)
{
	*count = stream->dictionary.tree.count;
	return (const struct liblode_stack_node *)stream->dictionary.tree.nodes;
}
