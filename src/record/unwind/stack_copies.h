/*
 * Copies of user stacks, unwound in the program: of programs whose unwind tables are not
 * in the kernel yet, or of all when that is requested. Each copy becomes a stack of
 * addresses, like those that are walked in the kernel.
 */
#ifndef LODE_RECORD_UNWIND_STACK_COPIES_H
#define LODE_RECORD_UNWIND_STACK_COPIES_H

#include "base/buffer.h"
#include "base/hash_index.h"
#include "process/process_unwinder.h"
#include "record/bpf/records.h"

/* A copy, or what became of it. */
struct lode_stack_copy {
	uint64_t id;
	size_t bytes;   /* its copy, while it is not unwound */
	uint32_t stack; /* that it became; LODE_NONE until then */
	uint32_t tid;
	uint32_t kind;
	uint32_t batch; /* in which it came */
	uint32_t chain_count;
	uint64_t *chain; /* of languages (language_words.h), while it is not unwound; NULL: none */
};

struct lode_stack_copies {
	struct lode_process_unwinder *unwinder;
	struct lode_stack_copy *items; /* in the order of coming */
	size_t count;
	size_t capacity;
	size_t unwound;                    /* as far as here */
	struct lode_index index;           /* by id */
	struct lode_buffer bytes;          /* of the copies of this batch, behind those that had to wait */
	struct lode_record_stack **stacks; /* distinct, each as large as it must be */
	size_t stack_count;
	size_t stack_capacity;
	struct lode_index stack_index; /* by id */
	size_t limit;                  /* of items; then those that no record can name any more are dropped */
	uint32_t batch;
	uint64_t dropped; /* copies beyond what a batch may have */
	uint64_t known;   /* until then the unwinder knows what processes did: set by the owner */
	int handed;       /* records came since the last copy: the next one begins a batch */
};

/* `unwinder` must outlive it, and knows the processes as of the latest record. */
void lode_stack_copies_init(struct lode_stack_copies *copies, struct lode_process_unwinder *unwinder);
void lode_stack_copies_release(struct lode_stack_copies *copies);
/*
 * Unwinds what came before and no record has named, where records were handed over since.
 * Returns 0 or LODE_SYSTEM.
 */
int lode_stack_copies_begin(struct lode_stack_copies *copies);
/* Takes a copy of `copy`. Unwinds nothing where lode_stack_copies_begin came first. Returns 0 or LODE_SYSTEM. */
int lode_stack_copies_add(struct lode_stack_copies *copies, const struct lode_record_copy *copy);
/* The chain of a copy that came. Returns 0 or LODE_SYSTEM. */
int lode_stack_copies_add_chain(struct lode_stack_copies *copies, const struct lode_record_stack *chain);
/*
 * The stack that a copy became, unwound now if it was not before; valid until the next
 * call. NULL, with 0, when the copy is not known. Returns 0 or LODE_SYSTEM.
 */
int lode_stack_copies_find(struct lode_stack_copies *copies, uint64_t id, const struct lode_record_stack **stack);

#endif
