/* Call chains: see call_chains.h. */
#include "latency/call_chains.h"

/* What a node is followed by. */
#define NOTHING 0          /* no child so far; the root is nobody's child */
#define PARTS   LODE_NONE  /* it ends a chain: several children, or an event's whole stack */

static void mark_stacks(const struct lode_stream *stream, uint32_t *next)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		for (size_t i = 0; i < stream->events[type].count; i++)
			next[stream->events[type].stack[i]] = PARTS;
}

uint32_t *lode_call_chains(const struct lode_stream *stream)
{
	const struct lode_stack_tree *tree = &stream->dictionary->tree;
	uint32_t *next = lode_calloc(tree->count, sizeof(*next));

	if (!next)
		return NULL;
	mark_stacks(stream, next);
	next[0] = PARTS;
	/* Children have larger numbers than their parents, so what follows a node is final when it is reached. */
	for (size_t i = tree->count; i-- > 0;) {
		uint32_t *above = &next[tree->nodes[i].parent];

		if (next[i] == NOTHING || next[i] == PARTS)
			next[i] = (uint32_t)i;
		if (i)
			*above = *above == NOTHING ? next[i] : PARTS;
	}
	return next;
}
