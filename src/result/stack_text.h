/*
 * Stack text: stacks as lists of JSON strings, `"app!main","app!load"`, fast.
 *
 * Each frame is quoted once and each node knows the length of its whole text, so
 * a stack is copied piece by piece from its leaf to its root, from the end of
 * its place to the start, without looking at a character again. Memory: the
 * frames' texts and eight bytes per node.
 */
#ifndef LODE_RESULT_STACK_TEXT_H
#define LODE_RESULT_STACK_TEXT_H

#include "base/error.h"
#include "trace/dictionary.h"

struct lode_stack_text {
	struct lode_buffer quoted; /* `"frame",` of all frames, one after the other */
	size_t *starts;            /* of frame i in it; one more than frames */
	size_t *lengths;           /* of node i's text, a comma behind each frame */
};

/* Makes the texts for all frames and nodes of `dictionary`, which must not grow while they are used. */
int lode_stack_text_init(struct lode_stack_text *text, const struct lode_dictionary *dictionary,
			 struct lode_error *error);
void lode_stack_text_release(struct lode_stack_text *text);
/*
 * Writes the stack at `at`, where there must be room for lengths[node] bytes,
 * and returns the end, behind the last frame's quote.
 */
char *lode_stack_text_put(const struct lode_stack_text *text, const struct lode_stack_tree *tree, uint32_t node,
			  char *at);

#endif
