/* Call chains: see call_chains.h. */
#include "latency/call_chains.h"

#include "base/error.h"

#include <string.h>

/* What is known of a node. */
#define HAS_CHILD 1u
#define IS_END    2u /* several children, or an event's whole stack */

static void mark_stacks(const struct lode_stream *stream, uint8_t *marks)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		for (size_t i = 0; i < stream->events[type].count; i++)
			marks[stream->events[type].stack[i]] |= IS_END;
}

static void mark_ends(const struct lode_stack_tree *tree, uint8_t *marks)
{
	marks[0] |= IS_END;
	for (size_t i = 1; i < tree->count; i++) {
		uint8_t *parent = &marks[tree->nodes[i].parent];

		*parent |= *parent & HAS_CHILD ? IS_END : HAS_CHILD;
	}
	for (size_t i = 1; i < tree->count; i++)
		if (!(marks[i] & HAS_CHILD))
			marks[i] |= IS_END;
}

/* A chain goes on behind a node that is no end, and a new one begins behind an end. */
static int number(struct lode_call_chains *chains, const struct lode_stack_tree *tree, const uint8_t *marks)
{
	size_t ends = 0;

	for (size_t i = 0; i < tree->count; i++)
		ends += marks[i] / IS_END;
	chains->of = lode_calloc(tree->count, sizeof(*chains->of));
	chains->ends = lode_calloc(ends, sizeof(*chains->ends));
	if (!chains->of || !chains->ends)
		return LODE_SYSTEM;
	chains->count = 1;
	for (size_t i = 1; i < tree->count; i++) {
		uint32_t parent = tree->nodes[i].parent;

		chains->of[i] = marks[parent] & IS_END ? (uint32_t)chains->count++ : chains->of[parent];
		chains->ends[chains->of[i]] = (uint32_t)i;
	}
	return 0;
}

int lode_call_chains_find(struct lode_call_chains *chains, const struct lode_stream *stream)
{
	const struct lode_stack_tree *tree = &stream->dictionary->tree;
	uint8_t *marks = lode_calloc(tree->count, 1);
	int code = marks ? 0 : LODE_SYSTEM;

	memset(chains, 0, sizeof(*chains));
	if (!code) {
		mark_stacks(stream, marks);
		mark_ends(tree, marks);
		code = number(chains, tree, marks);
	}
	lode_free(marks);
	return code;
}

int lode_call_chains_restore(struct lode_call_chains *chains, const struct lode_stack_tree *tree,
			     const uint32_t *ends, size_t count)
{
	uint8_t *marks = lode_calloc(tree->count, 1);
	size_t known = 0;
	int code = marks ? 0 : LODE_SYSTEM;

	memset(chains, 0, sizeof(*chains));
	for (size_t i = 0; !code && i < count; i++)
		if (ends[i] < tree->count)
			marks[ends[i]] = IS_END;
	if (!code) {
		mark_ends(tree, marks);
		for (size_t i = 0; i < tree->count; i++)
			known += marks[i] / IS_END;
		code = known == count ? number(chains, tree, marks) : LODE_BAD_INPUT;
	}
	if (!code && memcmp(chains->ends, ends, count * sizeof(*ends)) != 0)
		code = LODE_BAD_INPUT;
	lode_free(marks);
	return code;
}

void lode_call_chains_release(struct lode_call_chains *chains)
{
	lode_free(chains->of);
	lode_free(chains->ends);
	memset(chains, 0, sizeof(*chains));
}
