/*
 * Stacks by name: see stack_order.h.
 *
 * The order is that of a walk over the tree that visits a caller before its callees and
 * callees by name. Frames are sorted by name once; nodes are then brought into the order of
 * their frames and dealt to their callers, which keeps that order. A node's place is that of
 * its caller, and behind it all that its earlier siblings have below them.
 */
#include "latency/stack_order.h"

#include "base/id_array.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* By the names of their modules, then of their functions. */
static int order_frames(const struct lode_frames *frames, uint32_t a, uint32_t b)
{
	int order = strcmp(lode_frames_module_name(frames, a), lode_frames_module_name(frames, b));

	return order ? order : strcmp(lode_frames_function(frames, a), lode_frames_function(frames, b));
}

int lode_stacks_compare(const struct lode_dictionary *dictionary, uint32_t a, uint32_t b)
{
	const struct lode_stack_node *nodes = dictionary->tree.nodes;
	uint32_t depth_a = lode_stack_tree_depth(&dictionary->tree, a);
	uint32_t depth_b = lode_stack_tree_depth(&dictionary->tree, b);
	int shorter = depth_a < depth_b ? -1 : depth_a > depth_b;

	for (; depth_a > depth_b; depth_a--)
		a = nodes[a].parent;
	for (; depth_b > depth_a; depth_b--)
		b = nodes[b].parent;
	if (a == b)
		return shorter;
	while (nodes[a].parent != nodes[b].parent) {
		a = nodes[a].parent;
		b = nodes[b].parent;
	}
	return order_frames(&dictionary->frames, nodes[a].frame, nodes[b].frame);
}

static int compare_frames(const void *left, const void *right, void *context)
{
	return order_frames(context, *(const uint32_t *)left, *(const uint32_t *)right);
}

struct ordering {
	const struct lode_stack_tree *tree;
	uint32_t *frames;   /* by name */
	uint32_t *starts;   /* by frame: where its next node goes */
	uint32_t *by_frame; /* nodes but the root in the order of their frames' names */
	uint32_t *below;    /* by node: itself and all below it */
	uint32_t *next;     /* by node: the place of its next callee */
	uint32_t *places;
};

static void sort_nodes(struct ordering *ordering, size_t frames)
{
	const struct lode_stack_tree *tree = ordering->tree;
	uint32_t sum = 0;

	for (size_t i = 1; i < tree->count; i++)
		ordering->starts[tree->nodes[i].frame]++;
	for (size_t i = 0; i < frames; i++) {
		uint32_t *start = &ordering->starts[ordering->frames[i]], count = *start;

		*start = sum;
		sum += count;
	}
	for (size_t i = 1; i < tree->count; i++)
		ordering->by_frame[ordering->starts[tree->nodes[i].frame]++] = (uint32_t)i;
}

/*
 * Callers have lower numbers than their callees, but here callees come by name: what is
 * below the earlier siblings is added up first, the place of the caller when it is known.
 */
static void place_nodes(struct ordering *ordering)
{
	const struct lode_stack_tree *tree = ordering->tree;

	for (size_t i = tree->count; i-- > 0;) {
		ordering->below[i]++;
		ordering->next[i] = 1;
		if (i)
			ordering->below[tree->nodes[i].parent] += ordering->below[i];
	}
	for (size_t i = 0; i + 1 < tree->count; i++) {
		uint32_t node = ordering->by_frame[i], parent = tree->nodes[node].parent;

		ordering->places[node] = ordering->next[parent];
		ordering->next[parent] += ordering->below[node];
	}
	for (size_t i = 1; i < tree->count; i++)
		ordering->places[i] += ordering->places[tree->nodes[i].parent];
}

uint32_t *lode_stack_order(const struct lode_dictionary *dictionary)
{
	size_t nodes = dictionary->tree.count, frames = dictionary->frames.count;
	struct ordering ordering = {
		.tree = &dictionary->tree,
		.frames = lode_ids_sorted(frames, compare_frames, (void *)(uintptr_t)&dictionary->frames),
		.starts = lode_calloc(frames, sizeof(uint32_t)),
		.by_frame = lode_calloc(nodes, sizeof(uint32_t)),
		.below = lode_calloc(nodes, sizeof(uint32_t)),
		.next = lode_calloc(nodes, sizeof(uint32_t)),
		.places = lode_calloc(nodes, sizeof(uint32_t)),
	};

	if (ordering.frames && ordering.starts && ordering.by_frame && ordering.below && ordering.next &&
	    ordering.places) {
		sort_nodes(&ordering, frames);
		place_nodes(&ordering);
	} else {
		lode_free(ordering.places);
		ordering.places = NULL;
	}
	lode_free(ordering.frames);
	lode_free(ordering.starts);
	lode_free(ordering.by_frame);
	lode_free(ordering.below);
	lode_free(ordering.next);
	return ordering.places;
}
