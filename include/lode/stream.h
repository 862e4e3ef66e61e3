/*
 * The events of one stream, as columns. Arrays and texts belong to the stream and stay where they are until
 * it is closed, so that they can be read in place. Once its columns are loaded, several threads may read a stream.
 *
 * Times and costs are nanoseconds. A stack is a node of the stack tree: its frame is that of the node, its caller's the
 * one of the parent, up to node 0, the empty stack; a parent's number is smaller than its children's.
 */
#ifndef LIBLODE_STREAM_H
#define LIBLODE_STREAM_H

#include <lode/corpus.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LIBLODE_NONE   UINT32_MAX
#define LIBLODE_NO_CPU UINT16_MAX

struct liblode_stream;

/* The columns of all events of one type, ordered by t. */
struct liblode_events {
	size_t size; /* sizeof(struct liblode_events), set by the caller */
	size_t count;
	const uint64_t *t;      /* start */
	const uint64_t *cost;   /* ns: of a run what the sample represents, of a wait its length, of a call 0 */
	const uint64_t *delay;  /* run-queue time behind it; 0 when unknown */
	const uint32_t *thread; /* index of liblode_stream_thread */
	const uint32_t *stack;  /* node; 0: no stack */
	const uint32_t *waker;  /* thread; LIBLODE_NONE when unknown */
	const uint32_t *waker_stack; /* node; 0 when unknown */
	const uint32_t *name;        /* of liblode_stream_string; 0: none */
	const uint16_t *cpu;         /* LIBLODE_NO_CPU when unknown */
	const uint32_t *weight;      /* how many such events each represents; NULL: 1 each */
	const uint32_t *object;  /* what a wait was for, `kind:name`, of liblode_stream_string; 0 when unknown */
	const uint32_t *holder;  /* the thread that held the object; LIBLODE_NONE when unknown */
	const uint32_t *context; /* the request it belonged to, of liblode_stream_string; 0 when unknown */
};

struct liblode_thread {
	size_t size;  /* sizeof(struct liblode_thread), set by the caller */
	uint32_t pid; /* LIBLODE_NONE when unknown */
	uint32_t tid;
	const char *name; /* "" when unknown */
};

struct liblode_symptom {
	size_t size; /* sizeof(struct liblode_symptom), set by the caller */
	uint32_t thread;
	uint64_t t0;
	uint64_t t1;
	const char *name; /* "" when it has none */
};

struct liblode_frame {
	size_t size;          /* sizeof(struct liblode_frame), set by the caller */
	const char *module;   /* "" when unknown */
	const char *function; /* 0xOFFSET without a symbol */
};

struct liblode_attribute {
	size_t size; /* sizeof(struct liblode_attribute), set by the caller */
	const char *key;
	const char *value; /* a number as it was written; "true", "false" */
	int is_text;       /* neither number nor truth value */
};

/* A node of the stack tree; node 0 has the frame LIBLODE_NONE. This struct does not grow. */
struct liblode_stack_node {
	uint32_t parent;
	uint32_t frame;
};

/* Opens a stream file: names, threads, frames and stacks, not yet the events. */
LIBLODE_API int liblode_stream_open(struct liblode_stream **stream, const char *path, struct liblode_error *error);
LIBLODE_API void liblode_stream_close(struct liblode_stream *stream); /* NULL is fine */

LIBLODE_API const char *liblode_stream_name(const struct liblode_stream *stream);
LIBLODE_API const char *liblode_stream_host(const struct liblode_stream *stream);

/* The events of a type; the first call for a type loads them. */
LIBLODE_API int liblode_stream_events(struct liblode_stream *stream, enum liblode_event_type type,
				      struct liblode_events *events, struct liblode_error *error);

/* How many there are; and the i-th: returns LIBLODE_USAGE where there is none. */
LIBLODE_API size_t liblode_stream_thread_count(const struct liblode_stream *stream);
LIBLODE_API int liblode_stream_thread(const struct liblode_stream *stream, size_t i, struct liblode_thread *thread);
LIBLODE_API size_t liblode_stream_symptom_count(const struct liblode_stream *stream);
LIBLODE_API int liblode_stream_symptom(const struct liblode_stream *stream, size_t i,
				       struct liblode_symptom *symptom);
LIBLODE_API size_t liblode_stream_attribute_count(const struct liblode_stream *stream);
LIBLODE_API int liblode_stream_attribute(const struct liblode_stream *stream, size_t i,
					 struct liblode_attribute *attribute);
LIBLODE_API size_t liblode_stream_frame_count(const struct liblode_stream *stream);
LIBLODE_API int liblode_stream_frame(const struct liblode_stream *stream, size_t i, struct liblode_frame *frame);
/* The name of an event; "" where there is none. */
LIBLODE_API const char *liblode_stream_string(const struct liblode_stream *stream, uint32_t id);
/* The stack tree. */
LIBLODE_API const struct liblode_stack_node *liblode_stream_stacks(const struct liblode_stream *stream,
								   size_t *count);

#ifdef __cplusplus
}
#endif
#endif
