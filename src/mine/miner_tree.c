/*
 * Weighted trees of the miner.
 *
 * A tree is in arrays in preorder, so that a subtree is a range of nodes and
 * going through everything below a node is one loop. The step from the tree
 * of a prefix to that of the prefix with one more function x goes through the
 * ranges below the topmost nodes of x twice: once to count what each function
 * would cost, and once to merge the ranges into a new tree without the functions
 * that would cost too little. A node is topmost when it is beyond the end of
 * the last topmost node of its label.
 *
 * Children of a node are found by walking a list: most nodes have very few. Those
 * right below the root, which can be many, are found by label.
 */
#include "mine/miner_tree.h"

#include "base/error.h"

#include <string.h>

/* Labels above a node that are remembered as possible covers of its label. */
#define ABOVE   32
#define NOT_MET UINT16_MAX

int miner_room_init(struct miner_room *room, size_t nodes, size_t labels, size_t height)
{
	memset(room, 0, sizeof(*room));
	room->tally = lode_calloc(labels, sizeof(*room->tally));
	room->last_end = lode_calloc(labels, sizeof(*room->last_end));
	room->map = lode_calloc(labels, sizeof(*room->map));
	room->top = lode_calloc(labels, sizeof(*room->top));
	room->sight = lode_calloc(labels, sizeof(*room->sight));
	room->above = lode_calloc(labels, ABOVE * sizeof(*room->above));
	room->loose = lode_calloc(nodes, sizeof(*room->loose));
	room->path = lode_calloc(height + 1, sizeof(*room->path));
	if (!room->tally || !room->last_end || !room->map || !room->top || !room->sight || !room->above ||
	    !room->loose || !room->path)
		return LODE_SYSTEM;
	return 0;
}

void miner_room_release(struct miner_room *room)
{
	lode_free(room->tally);
	lode_free(room->last_end);
	lode_free(room->map);
	lode_free(room->top);
	lode_free(room->sight);
	lode_free(room->above);
	lode_free(room->loose);
	lode_free(room->path);
	memset(room, 0, sizeof(*room));
}

void miner_tree_release(struct miner_tree *tree)
{
	lode_free(tree->nodes);
	lode_free(tree->next);
	lode_free(tree->label);
	memset(tree, 0, sizeof(*tree));
}

static int reserve_nodes(struct miner_tree *tree, size_t count)
{
	size_t capacity = count + count / 4;

	if (count <= tree->node_capacity)
		return 0;
	tree->node_capacity = 0;
	lode_free(tree->nodes);
	lode_free(tree->next);
	tree->nodes = lode_calloc(capacity, sizeof(*tree->nodes));
	tree->next = lode_calloc(capacity, sizeof(*tree->next));
	if (!tree->nodes || !tree->next)
		return LODE_SYSTEM;
	tree->node_capacity = capacity;
	return 0;
}

int miner_tree_reserve(struct miner_tree *tree, size_t nodes, size_t labels)
{
	if (reserve_nodes(tree, nodes) < 0)
		return LODE_SYSTEM;
	if (labels <= tree->label_capacity)
		return 0;
	tree->label_capacity = 0;
	lode_free(tree->label);
	tree->label = lode_calloc(labels + labels / 4, sizeof(*tree->label));
	if (!tree->label)
		return LODE_SYSTEM;
	tree->label_capacity = labels + labels / 4;
	return 0;
}

int miner_tree_copy(struct miner_tree *to, const struct miner_tree *from)
{
	if (miner_tree_reserve(to, from->count, from->labels) < 0)
		return LODE_SYSTEM;
	to->count = from->count;
	to->labels = from->labels;
	to->height = from->height;
	memcpy(to->nodes, from->nodes, from->count * sizeof(*to->nodes));
	memcpy(to->next, from->next, from->count * sizeof(*to->next));
	memcpy(to->label, from->label, from->labels * sizeof(*to->label));
	return 0;
}

static void count_range(const struct miner_tree *from, uint32_t first, uint32_t last, struct miner_room *room)
{
	const struct miner_node *nodes = from->nodes;
	struct miner_tally *tally = room->tally;
	uint32_t *last_end = room->last_end;

	for (uint32_t i = first; i < last; i++) {
		uint32_t label = nodes[i].label;

		if (i < last_end[label]) {
			tally[label].rest += nodes[i].cost;
			continue;
		}
		last_end[label] = nodes[i].end;
		tally[label].sum = miner_add(tally[label].sum, nodes[i].cost);
	}
}

uint32_t miner_tree_count(const struct miner_tree *from, uint32_t label, uint64_t threshold,
			  struct miner_room *room)
{
	memset(room->tally, 0, from->labels * sizeof(*room->tally));
	memset(room->last_end, 0, from->labels * sizeof(*room->last_end));
	if (label == LODE_NONE)
		count_range(from, 0, from->count, room);
	else
		for (uint32_t i = from->label[label].first; i != LODE_NONE; i = from->next[i])
			count_range(from, i + 1, from->nodes[i].end, room);
	room->all_weight = 0;
	room->kept = 0;
	for (uint32_t i = 0; i < from->labels; i++) {
		const struct miner_tally *tally = &room->tally[i];
		int stays = tally->sum >= threshold;

		room->map[i] = stays ? room->kept++ : LODE_NONE;
		room->all_weight += stays ? tally->sum + tally->rest : 0;
	}
	return room->kept;
}

/* The node with `label` below `parent` (LODE_NONE: right below the root); if it is new it is node `next`. */
static uint32_t place(struct miner_room *room, uint32_t next, uint32_t parent, uint32_t label)
{
	struct miner_loose_node *loose = room->loose;
	uint32_t *link = parent == LODE_NONE ? &room->top[label] : &loose[parent].child;
	uint32_t node = *link;

	if (parent != LODE_NONE)
		while (node != LODE_NONE && loose[node].label != label)
			node = loose[node].sibling;
	if (node != LODE_NONE)
		return node;
	loose[next] =
		(struct miner_loose_node){ 0, label, parent, LODE_NONE, parent == LODE_NONE ? LODE_NONE : *link };
	*link = next;
	return next;
}

/* Adds a range of the source to the new tree, which has `count` nodes; returns how many it has then. */
static uint32_t merge_range(const struct miner_tree *from, uint32_t first, uint32_t last, uint32_t count,
			    struct miner_room *room)
{
	struct miner_step *path = room->path;
	uint32_t depth = 0;

	path[0] = (struct miner_step){ LODE_NONE, last };
	for (uint32_t i = first; i < last; i++) {
		const struct miner_node *source = &from->nodes[i];
		uint32_t label = room->map[source->label], node;

		if (label == LODE_NONE)
			continue;
		while (i >= path[depth].end)
			depth--;
		node = place(room, count, path[depth].node, label);
		count += node == count;
		room->loose[node].cost = miner_add(room->loose[node].cost, source->cost);
		if (source->end > i + 1)
			path[++depth] = (struct miner_step){ node, source->end };
	}
	return count;
}

/* Puts a node of the new tree and all below it into preorder, from place `count`; returns the next place. */
static uint32_t put_in_order(struct miner_tree *to, uint32_t top, uint32_t count, struct miner_room *room)
{
	const struct miner_loose_node *node = &room->loose[top];
	uint32_t depth = 0;

	for (;;) {
		to->nodes[count] = (struct miner_node){ node->cost, node->label, 0 };
		room->path[depth++].node = count++;
		if (depth > to->height)
			to->height = depth;
		if (node->child != LODE_NONE) {
			node = &room->loose[node->child];
			continue;
		}
		for (;;) {
			to->nodes[room->path[--depth].node].end = count;
			if (!depth)
				return count;
			if (node->sibling != LODE_NONE)
				break;
			node = &room->loose[node->parent];
		}
		node = &room->loose[node->sibling];
	}
}

int miner_tree_make(struct miner_tree *to, const struct miner_tree *from, uint32_t label, struct miner_room *room)
{
	uint32_t nodes = 0;

	if (room->kept)
		memset(room->top, 0xff, room->kept * sizeof(*room->top));
	if (label == LODE_NONE)
		nodes = merge_range(from, 0, from->count, 0, room);
	else
		for (uint32_t i = from->label[label].first; i != LODE_NONE; i = from->next[i])
			nodes = merge_range(from, i + 1, from->nodes[i].end, nodes, room);
	if (miner_tree_reserve(to, nodes, room->kept) < 0)
		return LODE_SYSTEM;
	to->count = nodes;
	to->labels = room->kept;
	to->height = 0;
	for (uint32_t i = 0; i < from->labels; i++)
		if (room->map[i] != LODE_NONE)
			to->label[room->map[i]] =
				(struct miner_label){ .total = room->tally[i].sum, .name = from->label[i].name };
	nodes = 0;
	for (uint32_t i = 0; i < to->labels; i++)
		if (room->top[i] != LODE_NONE)
			nodes = put_in_order(to, room->top[i], nodes, room);
	return 0;
}

void miner_tree_cut(struct miner_tree *tree, uint32_t count)
{
	tree->count -= count;
	tree->height -= count;
	for (uint32_t i = 0; i < tree->count; i++) {
		tree->nodes[i] = tree->nodes[i + count];
		tree->nodes[i].end -= count;
	}
}

void miner_tree_recount(struct miner_tree *tree, const struct miner_room *room)
{
	for (uint32_t i = 0; i < tree->labels; i++)
		tree->label[i].total = room->tally[i].sum;
}

/* Of the labels above all earlier topmost nodes, keeps those above this one. */
static void narrow(struct miner_room *room, const struct miner_tree *tree, uint32_t label, uint32_t depth)
{
	struct miner_sight *sight = &room->sight[label];
	uint32_t *above = room->above + (size_t)label * ABOVE, kept = 0;

	if (sight->above_count == NOT_MET) {
		while (depth > 0 && kept < ABOVE)
			above[kept++] = tree->nodes[room->path[--depth].node].label;
	} else {
		for (uint32_t i = 0; i < sight->above_count; i++)
			if (room->sight[above[i]].on_path)
				above[kept++] = above[i];
	}
	sight->above_count = (uint16_t)kept;
}

/* Node `i` is topmost; `depth` topmost nodes are above it. */
static void see_topmost(struct miner_tree *tree, uint32_t i, uint32_t depth, struct miner_room *room)
{
	uint32_t label = tree->nodes[i].label;
	struct miner_sight *sight = &room->sight[label];

	if (sight->above_count == NOT_MET)
		tree->label[label].first = i;
	else
		tree->next[sight->last] = i;
	tree->next[i] = LODE_NONE;
	tree->label[label].inner |= tree->nodes[i].end > i + 1;
	sight->last = i;
	sight->high += (double)tree->nodes[i].cost * (1 - (double)depth);
	if (sight->above_count)
		narrow(room, tree, label, depth);
	sight->on_path = 1;
	room->path[depth] = (struct miner_step){ i, tree->nodes[i].end };
}

void miner_tree_survey(struct miner_tree *tree, struct miner_room *room)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < tree->labels; i++) {
		room->sight[i] = (struct miner_sight){ 0, LODE_NONE, 0, NOT_MET };
		tree->label[i].inner = 0;
	}
	for (uint32_t i = 0; i < tree->count; i++) {
		for (; depth && i >= room->path[depth - 1].end; depth--)
			room->sight[tree->nodes[room->path[depth - 1].node].label].on_path = 0;
		if (!room->sight[tree->nodes[i].label].on_path)
			see_topmost(tree, i, depth++, room);
	}
	for (uint32_t i = 0; i < tree->labels; i++)
		tree->label[i].covered = room->sight[i].above_count > 0;
}
