/*
 * Weighted trees of the miner.
 *
 * A tree lies in arrays in preorder, so that a subtree is a range of nodes and
 * going through all that stands below a node is one loop. The step from the tree
 * of a prefix to that of the prefix with one more function x goes through the
 * ranges below the topmost nodes of x twice: once to count what each function
 * would cost, and once to merge the ranges into a new tree without the functions
 * that would cost too little. A node is topmost when it lies behind the end of
 * the last topmost node of its label.
 *
 * Children of a node are found by going through a list: most nodes have very few.
 * Those right below the root, which can be many, are found by label.
 */
#include "mine/miner_tree.h"

#include "base/error.h"

#include <string.h>

/* Labels above a node that are remembered as possible covers of its label. */
#define ABOVE 32
#define NOT_MET 255

int miner_room_init(struct miner_room *room, size_t nodes, size_t labels, size_t height)
{
	memset(room, 0, sizeof(*room));
	room->last_end = lode_calloc(labels, sizeof(*room->last_end));
	room->map = lode_calloc(labels, sizeof(*room->map));
	room->sum = lode_calloc(labels, sizeof(*room->sum));
	room->weight = lode_calloc(labels, sizeof(*room->weight));
	room->last = lode_calloc(labels, sizeof(*room->last));
	room->top = lode_calloc(labels, sizeof(*room->top));
	room->on_path = lode_calloc(labels, sizeof(*room->on_path));
	room->above = lode_calloc(labels, ABOVE * sizeof(*room->above));
	room->above_count = lode_calloc(labels, sizeof(*room->above_count));
	room->high = lode_calloc(labels, sizeof(*room->high));
	room->label = lode_calloc(nodes, sizeof(*room->label));
	room->parent = lode_calloc(nodes, sizeof(*room->parent));
	room->child = lode_calloc(nodes, sizeof(*room->child));
	room->sibling = lode_calloc(nodes, sizeof(*room->sibling));
	room->cost = lode_calloc(nodes, sizeof(*room->cost));
	room->stack_end = lode_calloc(height + 1, sizeof(*room->stack_end));
	room->stack_node = lode_calloc(height + 1, sizeof(*room->stack_node));
	if (!room->last_end || !room->map || !room->sum || !room->weight || !room->last || !room->top ||
	    !room->on_path || !room->high || !room->above || !room->above_count || !room->label || !room->parent ||
	    !room->child || !room->sibling || !room->cost || !room->stack_end || !room->stack_node)
		return LODE_SYSTEM;
	return 0;
}

void miner_room_release(struct miner_room *room)
{
	lode_free(room->last_end);
	lode_free(room->map);
	lode_free(room->sum);
	lode_free(room->weight);
	lode_free(room->last);
	lode_free(room->top);
	lode_free(room->on_path);
	lode_free(room->above);
	lode_free(room->above_count);
	lode_free(room->high);
	lode_free(room->label);
	lode_free(room->parent);
	lode_free(room->child);
	lode_free(room->sibling);
	lode_free(room->cost);
	lode_free(room->stack_end);
	lode_free(room->stack_node);
	memset(room, 0, sizeof(*room));
}

void miner_tree_release(struct miner_tree *tree)
{
	lode_free(tree->label);
	lode_free(tree->end);
	lode_free(tree->cost);
	lode_free(tree->next);
	lode_free(tree->names);
	lode_free(tree->total);
	lode_free(tree->first);
	lode_free(tree->covered);
	memset(tree, 0, sizeof(*tree));
}

int miner_tree_reserve(struct miner_tree *tree, size_t nodes, size_t labels)
{
	if (nodes > tree->node_capacity) {
		size_t capacity = nodes + nodes / 4;

		lode_free(tree->label);
		lode_free(tree->end);
		lode_free(tree->cost);
		lode_free(tree->next);
		tree->label = lode_alloc(capacity * sizeof(*tree->label));
		tree->end = lode_alloc(capacity * sizeof(*tree->end));
		tree->cost = lode_alloc(capacity * sizeof(*tree->cost));
		tree->next = lode_alloc(capacity * sizeof(*tree->next));
		tree->node_capacity = 0;
		if (!tree->label || !tree->end || !tree->cost || !tree->next)
			return LODE_SYSTEM;
		tree->node_capacity = capacity;
	}
	if (labels > tree->label_capacity) {
		size_t capacity = labels + labels / 4;

		lode_free(tree->names);
		lode_free(tree->total);
		lode_free(tree->first);
		lode_free(tree->covered);
		tree->names = lode_alloc(capacity * sizeof(*tree->names));
		tree->total = lode_alloc(capacity * sizeof(*tree->total));
		tree->first = lode_alloc(capacity * sizeof(*tree->first));
		tree->covered = lode_alloc(capacity * sizeof(*tree->covered));
		tree->label_capacity = 0;
		if (!tree->names || !tree->total || !tree->first || !tree->covered)
			return LODE_SYSTEM;
		tree->label_capacity = capacity;
	}
	return 0;
}

static void count_range(const struct miner_tree *from, uint32_t first, uint32_t last, struct miner_room *room)
{
	for (uint32_t i = first; i < last; i++) {
		uint32_t label = from->label[i];

		room->weight[label] += from->cost[i];
		if (i < room->last_end[label])
			continue;
		room->last_end[label] = from->end[i];
		room->sum[label] = miner_add(room->sum[label], from->cost[i]);
	}
}

uint32_t miner_tree_count(const struct miner_tree *from, uint32_t label, uint64_t threshold,
			  struct miner_room *room)
{
	uint32_t kept = 0;

	memset(room->last_end, 0, from->labels * sizeof(*room->last_end));
	memset(room->sum, 0, from->labels * sizeof(*room->sum));
	memset(room->weight, 0, from->labels * sizeof(*room->weight));
	if (label == LODE_NONE)
		count_range(from, 0, from->nodes, room);
	else
		for (uint32_t i = from->first[label]; i != LODE_NONE; i = from->next[i])
			count_range(from, i + 1, from->end[i], room);
	room->all_weight = 0;
	for (uint32_t i = 0; i < from->labels; i++) {
		int stays = room->sum[i] >= threshold;

		room->map[i] = stays ? kept : LODE_NONE;
		room->all_weight += stays ? room->weight[i] : 0;
		kept += stays;
	}
	return kept;
}

/* New node below `parent` (LODE_NONE: at the top) or the one that is there. */
static uint32_t place(struct miner_room *room, uint32_t *count, uint32_t parent, uint32_t label)
{
	uint32_t *link = parent == LODE_NONE ? &room->top[label] : &room->child[parent];
	uint32_t node = *link;

	if (parent != LODE_NONE)
		for (; node != LODE_NONE && room->label[node] != label; node = room->sibling[node])
			;
	if (node != LODE_NONE)
		return node;
	node = (*count)++;
	room->label[node] = label;
	room->parent[node] = parent;
	room->child[node] = LODE_NONE;
	room->sibling[node] = parent == LODE_NONE ? LODE_NONE : *link;
	room->cost[node] = 0;
	*link = node;
	return node;
}

static uint32_t merge_range(const struct miner_tree *from, uint32_t first, uint32_t last, int fold, uint32_t count,
			    struct miner_room *room)
{
	uint32_t depth = 0;

	room->stack_node[0] = LODE_NONE;
	room->stack_end[0] = last;
	for (uint32_t i = first; i < last; i++) {
		uint32_t label = room->map[from->label[i]], node;

		if (label == LODE_NONE)
			continue;
		while (i >= room->stack_end[depth])
			depth--;
		if (fold) {
			if (i < room->last_end[from->label[i]])
				continue;
			room->last_end[from->label[i]] = from->end[i];
		}
		node = place(room, &count, room->stack_node[depth], label);
		room->cost[node] = miner_add(room->cost[node], from->cost[i]);
		if (from->end[i] > i + 1) {
			depth++;
			room->stack_node[depth] = node;
			room->stack_end[depth] = from->end[i];
		}
	}
	return count;
}

/* Puts the new nodes below those right below the root into preorder. */
static void put_in_order(struct miner_tree *to, struct miner_room *room)
{
	uint32_t place_next = 0, height = 0;

	for (uint32_t top = 0; top < to->labels; top++) {
		uint32_t node = room->top[top], depth = 0;

		if (node == LODE_NONE)
			continue;
		for (;;) {
			to->label[place_next] = room->label[node];
			to->cost[place_next] = room->cost[node];
			room->stack_node[depth++] = place_next++;
			if (depth > height)
				height = depth;
			if (room->child[node] != LODE_NONE) {
				node = room->child[node];
				continue;
			}
			while (depth) {
				to->end[room->stack_node[--depth]] = place_next;
				if (room->sibling[node] != LODE_NONE || !depth)
					break;
				node = room->parent[node];
			}
			node = room->sibling[node];
			if (node == LODE_NONE)
				break;
		}
	}
	to->height = height;
}

int miner_tree_make(struct miner_tree *to, const struct miner_tree *from, uint32_t label, int fold,
		    struct miner_room *room)
{
	uint32_t labels = 0, nodes = 0;

	for (uint32_t i = 0; i < from->labels; i++)
		labels += room->map[i] != LODE_NONE;
	if (fold)
		memset(room->last_end, 0, from->labels * sizeof(*room->last_end));
	memset(room->top, 0xff, labels * sizeof(*room->top));
	if (label == LODE_NONE)
		nodes = merge_range(from, 0, from->nodes, fold, 0, room);
	else
		for (uint32_t i = from->first[label]; i != LODE_NONE; i = from->next[i])
			nodes = merge_range(from, i + 1, from->end[i], fold, nodes, room);
	if (miner_tree_reserve(to, nodes, labels) < 0)
		return LODE_SYSTEM;
	to->nodes = nodes;
	to->labels = labels;
	for (uint32_t i = 0; i < from->labels; i++)
		if (room->map[i] != LODE_NONE) {
			to->names[room->map[i]] = from->names[i];
			to->total[room->map[i]] = room->sum[i];
		}
	put_in_order(to, room);
	return 0;
}

void miner_tree_cut(struct miner_tree *tree, uint32_t count)
{
	tree->nodes -= count;
	tree->height -= count;
	memmove(tree->label, tree->label + count, tree->nodes * sizeof(*tree->label));
	memmove(tree->cost, tree->cost + count, tree->nodes * sizeof(*tree->cost));
	for (uint32_t i = 0; i < tree->nodes; i++)
		tree->end[i] = tree->end[i + count] - count;
}

void miner_tree_recount(struct miner_tree *tree, const struct miner_room *room)
{
	memcpy(tree->total, room->sum, tree->labels * sizeof(*tree->total));
}

int miner_tree_copy(struct miner_tree *to, const struct miner_tree *from)
{
	if (miner_tree_reserve(to, from->nodes, from->labels) < 0)
		return LODE_SYSTEM;
	to->nodes = from->nodes;
	to->labels = from->labels;
	to->height = from->height;
	memcpy(to->label, from->label, from->nodes * sizeof(*to->label));
	memcpy(to->end, from->end, from->nodes * sizeof(*to->end));
	memcpy(to->cost, from->cost, from->nodes * sizeof(*to->cost));
	memcpy(to->next, from->next, from->nodes * sizeof(*to->next));
	memcpy(to->names, from->names, from->labels * sizeof(*to->names));
	memcpy(to->total, from->total, from->labels * sizeof(*to->total));
	memcpy(to->first, from->first, from->labels * sizeof(*to->first));
	memcpy(to->covered, from->covered, from->labels * sizeof(*to->covered));
	return 0;
}

/* Keeps of the labels that stood above all earlier topmost nodes those that stand above this one. */
static void narrow(struct miner_room *room, const struct miner_tree *tree, uint32_t label, uint32_t depth)
{
	uint32_t *above = room->above + (size_t)label * ABOVE, kept = 0;

	if (room->above_count[label] == NOT_MET) {
		for (uint32_t i = depth; i > 0 && kept < ABOVE; i--)
			above[kept++] = tree->label[room->stack_node[i - 1]];
	} else {
		for (uint32_t i = 0; i < room->above_count[label]; i++)
			if (room->on_path[above[i]])
				above[kept++] = above[i];
	}
	room->above_count[label] = (uint8_t)kept;
}

void miner_tree_survey(struct miner_tree *tree, struct miner_room *room)
{
	uint32_t depth = 0;

	memset(room->on_path, 0, tree->labels);
	memset(room->above_count, NOT_MET, tree->labels);
	memset(room->high, 0, tree->labels * sizeof(*room->high));
	for (uint32_t i = 0; i < tree->nodes; i++) {
		uint32_t label = tree->label[i];

		for (; depth && i >= tree->end[room->stack_node[depth - 1]]; depth--)
			room->on_path[tree->label[room->stack_node[depth - 1]]] = 0;
		if (room->on_path[label])
			continue;
		if (room->above_count[label] == NOT_MET)
			tree->first[label] = i;
		else
			tree->next[room->last[label]] = i;
		room->last[label] = i;
		tree->next[i] = LODE_NONE;
		if (room->above_count[label])
			narrow(room, tree, label, depth);
		room->high[label] += (double)tree->cost[i] * (1 - (double)depth);
		room->on_path[label] = 1;
		room->stack_node[depth++] = i;
	}
	for (uint32_t i = 0; i < tree->labels; i++)
		tree->covered[i] = room->above_count[i] > 0;
}
