/*
 * How often functions occur and call one another in all stacks of a corpus: what
 * the weights of StackMine's similarity (section VI.C) are made of.
 *
 *	Uni(f)      1 - stacks that include f / stacks
 *	FBi(f1,f2)  1 - occurrences of f1 that call f2 / occurrences of f1 with a callee
 *	BBi(f1,f2)  1 - occurrences of f2 called by f1 / occurrences of f2 with a caller
 *
 * Counted over events, not over distinct stacks; an occurrence is a place in a
 * stack, so a recursive function occurs several times in one. What was never
 * seen (a pair that is no caller and callee, as patterns have them) has a count
 * of 0 and the weight 1.
 */
#ifndef LODE_MINE_CALL_COUNTS_H
#define LODE_MINE_CALL_COUNTS_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "trace/stack_tree.h"

struct lode_call_counts;

/* `occurrences`: by node, events with exactly this stack. NULL when memory has run out. */
struct lode_call_counts *lode_call_counts_make(const struct lode_stack_tree *tree, const uint64_t *occurrences,
					       size_t frames);
void lode_call_counts_free(struct lode_call_counts *counts);
double lode_call_uni(const struct lode_call_counts *counts, uint32_t f);
/* LODE_NONE for either means the end of a segment: 1. */
double lode_call_fbi(const struct lode_call_counts *counts, uint32_t f1, uint32_t f2);
double lode_call_bbi(const struct lode_call_counts *counts, uint32_t f1, uint32_t f2);

/*
 * For another process (base/message.h): appends the counts of some frames, rising, and of calls between them; there they are
 * numbered from 0. Failure shows in the buffer.
 */
void lode_call_counts_write(const struct lode_call_counts *counts, const uint32_t *frames, size_t frame_count,
			    struct lode_buffer *message);
/* NULL when memory has run out, or with the cursor marked. */
struct lode_call_counts *lode_call_counts_read(struct lode_cursor *message);

#endif
