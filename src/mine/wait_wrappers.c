/* A program's own ways to wait: see wait_wrappers.h. Of each function a few callers are kept; that many make it one. */
#include "mine/wait_wrappers.h"

#include <string.h>

/* Ways to wait that call each other, at most. */
#define MAX_WRAPPERS 4

static void add_caller(uint32_t callers[LODE_WRAPPER_CALLERS], uint32_t frame)
{
	for (unsigned i = 0; i < LODE_WRAPPER_CALLERS; i++) {
		if (!callers[i])
			callers[i] = frame + 1;
		if (callers[i] == frame + 1)
			return;
	}
}

int lode_wait_wrappers_make(struct lode_wait_wrappers *wrappers, const struct lode_dictionary *dictionary,
			    const uint32_t *own)
{
	const struct lode_stack_tree *tree = &dictionary->tree;

	wrappers->callers = lode_calloc(dictionary->frames.count + 1, sizeof(*wrappers->callers));
	if (!wrappers->callers)
		return LODE_SYSTEM;
	for (uint32_t node = 1; node < tree->count; node++) {
		uint32_t caller = own[node] == node ? own[tree->nodes[node].parent] : 0;

		if (caller && tree->nodes[caller].frame != tree->nodes[node].frame)
			add_caller(wrappers->callers[tree->nodes[node].frame], tree->nodes[caller].frame);
	}
	return 0;
}

void lode_wait_wrappers_release(struct lode_wait_wrappers *wrappers)
{
	lode_free(wrappers->callers);
	memset(wrappers, 0, sizeof(*wrappers));
}

/* Whether the function at `node` has so many callers, which are no more than are kept. */
static int has_callers(const struct lode_wait_wrappers *wrappers, const struct lode_dictionary *dictionary,
		       uint32_t node, unsigned count)
{
	return wrappers->callers[dictionary->tree.nodes[node].frame][count - 1] != 0;
}

uint32_t lode_wait_caller(const struct lode_wait_wrappers *wrappers, const struct lode_dictionary *dictionary,
			  const uint32_t *own, uint32_t node)
{
	const struct lode_stack_tree *tree = &dictionary->tree;
	uint32_t caller = own[tree->nodes[node].parent], above = caller;

	/* What waits itself may be called by the others only in part. */
	if (!caller || !has_callers(wrappers, dictionary, node, 2))
		return caller;
	for (unsigned i = 0; above && i < MAX_WRAPPERS; i++) {
		if (!has_callers(wrappers, dictionary, above, LODE_WRAPPER_CALLERS))
			return above;
		above = own[tree->nodes[above].parent];
	}
	return caller;
}
