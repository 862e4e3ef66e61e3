/*
 * Writing a stream: threads and stacks, then events, in any order of time, and in the end all of it into a corpus. For
 * recorders of your own; recordings of other tools are imported (run.h). A writer may be used by one thread at a time.
 */
#ifndef LIBLODE_WRITE_H
#define LIBLODE_WRITE_H

#include <lode/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

struct liblode_writer;

/* An event. Begin with LIBLODE_EVENT_INIT, which knows nothing, and set what is known; times are nanoseconds. */
struct liblode_event {
	size_t size; /* sizeof(struct liblode_event) */
	uint64_t t;
	uint64_t cost;        /* of a run what the sample represents, of a wait its length */
	uint64_t delay;       /* run-queue time behind it */
	uint32_t thread;      /* of liblode_writer_thread */
	uint32_t stack;       /* of liblode_writer_stack; 0: none */
	uint32_t waker;       /* thread; LIBLODE_NONE: unknown */
	uint32_t waker_stack; /* 0: unknown */
	uint32_t holder;      /* the thread that held the object; LIBLODE_NONE: unknown */
	uint32_t weight;      /* how many such events it represents */
	uint16_t cpu;         /* LIBLODE_NO_CPU: unknown */
	const char *name;     /* of a call, such as `sys_enter_read`; NULL: none */
	const char *object;   /* what a wait was for, `kind:name`; NULL: unknown */
	const char *context;  /* the request it belonged to; NULL: unknown */
};

#define LIBLODE_EVENT_INIT                                                                                        \
	{                                                                                                         \
		sizeof(struct liblode_event), 0, 0, 0, 0, 0, LIBLODE_NONE, 0, LIBLODE_NONE, 1, LIBLODE_NO_CPU, 0, \
			0, 0                                                                                      \
	}

/* A new, empty stream. `host`: NULL when unknown. */
LIBLODE_API int liblode_writer_open(struct liblode_writer **writer, const char *name, const char *host,
				    struct liblode_error *error);
LIBLODE_API void liblode_writer_close(struct liblode_writer *writer); /* NULL is fine */

/* The thread with these numbers, added if it is new. `name`: NULL when unknown. LIBLODE_NONE when memory has run out. */
LIBLODE_API uint32_t liblode_writer_thread(struct liblode_writer *writer, uint32_t pid, uint32_t tid,
					   const char *name);
/*
 * The stack on which a function was called from stack `caller` (0: from nowhere); the same number for the same stack.
 * `module`: NULL or "" when unknown. LIBLODE_NONE when there is no such caller, or memory has run out.
 */
LIBLODE_API uint32_t liblode_writer_stack(struct liblode_writer *writer, uint32_t caller, const char *module,
					  const char *function);
/* Adds what is given. An event of a thread or stack that was never added is wrong usage. */
LIBLODE_API int liblode_writer_event(struct liblode_writer *writer, enum liblode_event_type type,
				     const struct liblode_event *event, struct liblode_error *error);
/* A time in which a thread was too slow: what analyses begin with. `name`: NULL when it has none. */
LIBLODE_API int liblode_writer_symptom(struct liblode_writer *writer, uint32_t thread, uint64_t t0, uint64_t t1,
				       const char *name, struct liblode_error *error);
/* Something else about the stream; one with the same key is replaced. */
LIBLODE_API int liblode_writer_attribute(struct liblode_writer *writer, const char *key, const char *text,
					 struct liblode_error *error);

/* Adds the stream to a corpus, which is created if it does not exist: all of it or nothing. Once for each writer. */
LIBLODE_API int liblode_writer_save(struct liblode_writer *writer, const char *corpus, struct liblode_error *error);

#ifdef __cplusplus
}
#endif
#endif
