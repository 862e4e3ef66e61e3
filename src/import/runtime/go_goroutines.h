/*
 * What both forms of Go execution traces share: goroutines as threads, tables of strings and stacks, and the
 * steps of goroutines, put in order of time at the end and joined into waits.
 */
#ifndef LODE_IMPORT_GO_GOROUTINES_H
#define LODE_IMPORT_GO_GOROUTINES_H

#include "base/array.h"
#include "base/cursor.h"
#include "base/hash_index.h"
#include "import/import.h"

/* Things of the file by their number: a string or a stack, where it is, and what became of it. */
struct lode_go_item {
	uint64_t id;
	struct lode_cursor at;
	uint64_t count; /* bytes, or frames */
	uint32_t memo;  /* LODE_NONE: not made yet */
};

struct lode_go_table {
	LODE_ARRAY(struct lode_go_item);
	struct lode_index index;
};

enum lode_go_step_kind {
	LODE_GO_STARTS,
	LODE_GO_BLOCKS,
	LODE_GO_YIELDS,
	LODE_GO_ENDS,
	LODE_GO_IS_UNBLOCKED,
	LODE_GO_IS_SAMPLED,
	LODE_GO_ENTERS_SYSCALL,
	LODE_GO_LEAVES_SYSCALL,
	LODE_GO_LEAVES_BLOCKED, /* a system call for which its processor was given to others: a wait */
};

struct lode_go_step {
	uint64_t t; /* ns */
	uint32_t order;
	uint32_t thread;
	uint32_t waker; /* LODE_NONE: none */
	uint32_t stack; /* of the waker where it is unblocked */
	enum lode_go_step_kind kind;
};

/* A goroutine in a system call. */
struct lode_go_call {
	uint64_t t;
	uint32_t stack;
	int open;
};

struct lode_goroutines {
	const struct lode_import_options *options;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_go_table strings;
	struct lode_go_table stacks;
	uint64_t frequency; /* ticks a second */
	LODE_ARRAY(struct lode_go_step) steps;
	LODE_ARRAY(struct lode_go_call) calls; /* by thread */
	uint32_t syscall_name;
	uint64_t samples;
	uint64_t cut;
};

int lode_goroutines_init(struct lode_goroutines *goroutines, const struct lode_import_options *options);
void lode_goroutines_release(struct lode_goroutines *goroutines);

/* Adds to a table; a number that is there already keeps what it has. Returns 0 or LODE_SYSTEM. */
int lode_go_table_add(struct lode_go_table *table, uint64_t id, struct lode_cursor at, uint64_t count);
void lode_go_table_clear(struct lode_go_table *table);

/* The thread of a goroutine, LODE_NONE for number 0 (no goroutine). Returns 0 or LODE_SYSTEM. */
int lode_go_thread(struct lode_goroutines *goroutines, uint64_t goroutine, uint32_t *thread);
/* Names a goroutine after the outermost function of the stack `id`. Returns 0 or LODE_SYSTEM. */
int lode_go_name(struct lode_goroutines *goroutines, uint32_t thread, uint64_t id);

/* Steps; a thread of LODE_NONE makes none. `stack` is a number of the table. Return 0 or LODE_SYSTEM. */
int lode_go_step(struct lode_goroutines *goroutines, enum lode_go_step_kind kind, uint64_t ticks, uint32_t thread,
		 uint32_t waker, uint64_t stack);
/* Puts all steps in order and makes events of them. Returns 0 or LODE_SYSTEM. */
int lode_goroutines_finish(struct lode_goroutines *goroutines);

#endif
