/*
 * The first tree of the miner: all stacks, in preorder, without what costs
 * nothing and without functions whose total cost is below the threshold.
 *
 * The stack tree is put into preorder as it is, with a label for every frame
 * number; the miner's own step from tree to tree then drops and merges.
 */
#include "mine/miner_search.h"

#include "base/error.h"

#include <string.h>

/* The stack tree with costs of subtrees and links downwards. */
struct links {
	const struct lode_stack_node *nodes;
	size_t count;
	uint64_t *cost;  /* by node: of all stacks through it */
	uint32_t *child; /* by node: the first that costs anything, or LODE_NONE */
	uint32_t *sibling;
	uint32_t *places; /* by depth: preorder number of the node on the path */
	size_t labels;    /* largest frame number and 1 */
	size_t height;
};

static int links_init(struct links *links, const struct lode_miner_input *input)
{
	memset(links, 0, sizeof(*links));
	links->nodes = input->tree->nodes;
	links->count = input->tree->count;
	links->cost = lode_alloc(links->count * sizeof(*links->cost));
	links->child = lode_alloc(links->count * sizeof(*links->child));
	links->sibling = lode_calloc(links->count, sizeof(*links->sibling));
	if (!links->cost || !links->child || !links->sibling)
		return LODE_SYSTEM;
	memcpy(links->cost, input->cost, links->count * sizeof(*links->cost));
	memset(links->child, 0xff, links->count * sizeof(*links->child));
	return 0;
}

static void links_release(struct links *links)
{
	lode_free(links->cost);
	lode_free(links->child);
	lode_free(links->sibling);
	lode_free(links->places);
}

/* Parents have smaller numbers than children: up in one pass, and down in another, for the depths. */
static int link_down(struct links *links)
{
	uint32_t *depth = lode_calloc(links->count, sizeof(*depth));

	if (!depth)
		return LODE_SYSTEM;
	for (size_t i = links->count - 1; i > 0; i--) {
		uint32_t parent = links->nodes[i].parent;

		if (!links->cost[i])
			continue;
		links->cost[parent] = miner_add(links->cost[parent], links->cost[i]);
		links->sibling[i] = links->child[parent];
		links->child[parent] = (uint32_t)i;
	}
	for (size_t i = 1; i < links->count; i++) {
		depth[i] = depth[links->nodes[i].parent] + 1;
		if (depth[i] > links->height)
			links->height = depth[i];
		if (links->nodes[i].frame >= links->labels)
			links->labels = (size_t)links->nodes[i].frame + 1;
	}
	lode_free(depth);
	links->places = lode_alloc((links->height + 1) * sizeof(*links->places));
	return links->places ? 0 : LODE_SYSTEM;
}

static void put_in_preorder(const struct links *links, struct miner_tree *tree)
{
	uint32_t node = links->child[0], depth = 0, place = 0;

	while (node != LODE_NONE) {
		tree->nodes[place] = (struct miner_node){ links->cost[node], links->nodes[node].frame, 0 };
		links->places[depth++] = place++;
		if (links->child[node] != LODE_NONE) {
			node = links->child[node];
			continue;
		}
		for (;;) {
			tree->nodes[links->places[--depth]].end = place;
			if (links->sibling[node] != LODE_NONE || !depth)
				break;
			node = links->nodes[node].parent;
		}
		node = links->sibling[node];
	}
	tree->count = place;
}

static int make_plain(struct miner_tree *plain, const struct lode_miner_input *input)
{
	struct links links;
	int code = links_init(&links, input);

	if (!code)
		code = link_down(&links);
	if (!code)
		code = miner_tree_reserve(plain, links.count, links.labels);
	if (!code) {
		put_in_preorder(&links, plain);
		plain->labels = (uint32_t)links.labels;
		plain->height = (uint32_t)links.height;
		for (uint32_t i = 0; i < plain->labels; i++)
			plain->label[i].name = i;
	}
	links_release(&links);
	return code;
}

int miner_root_make(struct miner_tree *root, const struct lode_miner_input *input)
{
	struct miner_room room = { 0 };
	struct miner_tree plain = { 0 };
	int code = make_plain(&plain, input);

	if (!code)
		code = miner_room_init(&room, plain.count, plain.labels, plain.height);
	if (!code) {
		miner_tree_count(&plain, LODE_NONE, input->threshold, &room);
		code = miner_tree_make(root, &plain, LODE_NONE, &room);
	}
	miner_room_release(&room);
	miner_tree_release(&plain);
	return code;
}
