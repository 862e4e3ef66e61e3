/*
 * Copies of user stacks, unwound: for programs without frame pointers. Each copy
 * becomes a stack of addresses, like those that are walked in the kernel, once
 * the mappings of its process are known; equal ones are one stack.
 */
#ifndef LODE_RECORD_COPIES_H
#define LODE_RECORD_COPIES_H

#include "record/stacks.h"

/* A copy, or what became of it. */
struct lode_record_copied {
	uint64_t id;
	uint64_t user; /* id of its stack; 0 while it is a copy, and when nothing came of it */
	struct lode_record_copy *copy; /* NULL when it is unwound */
	uint32_t tid;
	uint32_t kind;
	uint32_t batch; /* in which it came */
};

struct lode_record_copies {
	struct lode_record_stacks *stacks;
	struct lode_record_copied *items; /* in the order of coming */
	size_t count;
	size_t capacity;
	size_t unwound; /* as far as here */
	struct lode_index index; /* by id */
	size_t limit; /* of items; then those that no record can name any more are dropped */
	uint32_t batch;
	int handed;          /* something else came since the last copy: the next one begins a batch */
	uint64_t complete;   /* stacks that were unwound to their root */
	uint64_t cut;        /* that go on behind what was copied */
	uint64_t lost_way;   /* where no rule was known for some function, or it made no sense */
};

/* `stacks` must outlive it. */
void lode_record_copies_init(struct lode_record_copies *copies, struct lode_record_stacks *stacks);
void lode_record_copies_release(struct lode_record_copies *copies);
/* Takes a copy of `copy`. Returns 0 or LODE_SYSTEM. */
int lode_record_copies_add(struct lode_record_copies *copies, const struct lode_record_copy *copy);
/* In place of the id of a copy the id of its stack; 0, and a missing one, stay. Returns 0 or LODE_SYSTEM. */
int lode_record_copies_resolve(struct lode_record_copies *copies, uint64_t *id);
/* Counts what was not unwound. */
void lode_record_copies_note(const struct lode_record_copies *copies, struct lode_notes *notes);

#endif
