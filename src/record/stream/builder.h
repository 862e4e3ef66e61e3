/*
 * Builder: turns what a recorder hands over into a stream. The sink of a
 * recorder; the owner of the stream may store its events and empty them at any
 * time between two calls (lode_builder_refresh first).
 */
#ifndef LODE_RECORD_STREAM_BUILDER_H
#define LODE_RECORD_STREAM_BUILDER_H

#include "process/process_groups.h"
#include "record/recorder.h"
#include "record/stream/stack_nodes.h"
#include "record/stream/thread_totals.h"
#include "record/stream/record_contexts.h"
#include "record/stream/record_objects.h"
#include "trace/stream.h"

/* Limits that were passed, a bit each, by a thread from t0 to t1. */
struct lode_limit_exceeded {
	uint64_t t0;
	uint64_t t1;
	uint32_t limits;
	uint32_t pid;
	uint32_t tid;
};

/* What became of a thread and its two stacks; as a waker or as the one that the record is of. */
struct lode_builder_known {
	uint64_t user;
	uint64_t kernel;
	uint32_t pid;
	uint32_t tid;
	uint32_t waker; /* whether it was requested as a waker */
	uint32_t age;   /* the builder's when it was found; 0: none is held here */
	uint32_t thread;
	uint32_t stack;
	uint32_t end;    /* of the user's stack: enum lode_stack_end */
	uint32_t module; /* of its root, where it is not whole */
	int guessed;
	int lacks_words;
};

/* A power of two: some stacks of some hundred threads. */
#define LODE_BUILDER_KNOWN 4096

struct lode_builder {
	struct lode_dictionary dictionary;
	struct lode_stream stream; /* over it */
	struct lode_process_images images;
	struct lode_processes processes;
	struct lode_record_stacks stacks;
	struct lode_record_totals totals;
	struct lode_record_objects objects;
	struct lode_record_contexts contexts;
	struct lode_process_groups groups;
	struct lode_builder_known *known; /* LODE_BUILDER_KNOWN of them; see builder.c */
	uint32_t age;                     /* of what is known; what is of another holds no more */
	uint64_t period;                  /* of a CPU sample */
	uint32_t preempt;                 /* string */
	uint8_t *named;                   /* by thread: it is gone, and has its last name */
	size_t named_count;
	size_t named_capacity;
	uint32_t *calls; /* strings, by number of system call; 0: not requested yet */
	size_t call_count;
	size_t call_capacity;
	struct lode_limit_exceeded *fired;
	size_t fired_count;
	size_t fired_capacity;
	uint64_t ends[LODE_STACK_ENDS]; /* of events with a user's stack, by how that ends */
	uint64_t lack_words;            /* events whose user's stack lacks the functions of a language */
	uint64_t guessed;               /* events whose user's stack is guessed in part */
	uint64_t *broken;               /* events whose user's stack is not whole, by the module of its root */
	size_t broken_count;
	size_t broken_capacity;
	uint64_t unexplained; /* waits whose waker was not seen */
	uint64_t open;        /* waits that were not over at the end */
	uint64_t preemptions;
	uint64_t system_calls;
	uint64_t late;      /* events recorded only because they were long (LODE_RECORD_LATE), */
	uint64_t late_bare; /* and those of them without a user's stack */
	uint64_t events;    /* so far */
};

/*
 * `symbolizer` must outlive it; `kallsyms` as in stack_nodes.h. `period`: nanoseconds
 * that a CPU sample represents. Returns 0 or LODE_SYSTEM; release it in either case.
 */
int lode_builder_init(struct lode_builder *builder, struct lode_symbolizer *symbolizer, const char *kallsyms,
		      uint64_t period);
void lode_builder_release(struct lode_builder *builder);
/* Takes ownership of the contents of `processes` and their images, and leaves both empty. */
void lode_builder_adopt(struct lode_builder *builder, struct lode_processes *processes);
/* Whether a record reports exceeded limits. Fills `fired` then. */
int lode_record_fired(const struct lode_record *record, struct lode_limit_exceeded *fired);
/* Leaves out the limits that were passed up to `t`. */
void lode_builder_forget_fired(struct lode_builder *builder, uint64_t t);
/* The sink to give to a recorder; valid as long as the builder. */
struct lode_recorder_sink lode_builder_sink(struct lode_builder *builder);
/*
 * Brings the names of the stream's threads up to date, and forgets what nothing can refer to any more at the time `t`:
 * processes and threads that have been gone for seconds. Returns 0 or LODE_SYSTEM.
 */
int lode_builder_refresh(struct lode_builder *builder, uint64_t t);
/* Counts what was lost or cut into `notes`; at the end, once. */
void lode_builder_note(const struct lode_builder *builder, struct lode_notes *notes);

#endif
