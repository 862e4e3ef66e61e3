/*
 * Address spaces: see address_spaces.h.
 *
 * The tree is a treap: sorted by start, a heap by random priority that starts from a secret, so that it is
 * balanced no matter what a stranger maps, and recursion stays shallow (with four million mappings a depth of
 * 100 is less likely than a hardware failure). Mappings of a tree never overlap. All work is done by two
 * operations: split a tree at an address (a mapping across it is cut in two) and join two adjacent trees.
 * Mapping a range is: split before it, split behind it, drop what is between, join with the new one.
 *
 * A node whose owner is the space's may be changed in place; any other may be in the tree of another process
 * and is copied first. A fork gives new owners to both sides, which makes all nodes so far shared for good. It
 * is not noticed when all spaces with such a node are gone, so occasionally the nodes that are still reachable
 * are marked, and the others are freed.
 */
#include "process/address_spaces.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"

#include <string.h>

struct lode_space_node {
	struct lode_mapping mapping;
	uint32_t priority;
	uint32_t left;
	uint32_t right;
	uint32_t owner;
};

int lode_spaces_init(struct lode_spaces *spaces)
{
	memset(spaces, 0, sizeof(*spaces));
	/* Secret, so that nobody can choose mappings that make a deep tree. */
	spaces->random = lode_hash_u64(lode_now());
	spaces->count = 1;
	return LODE_GROW(spaces->nodes, spaces->capacity, 1);
}

void lode_spaces_release(struct lode_spaces *spaces)
{
	lode_free(spaces->nodes);
	memset(spaces, 0, sizeof(*spaces));
}

static uint32_t random_priority(struct lode_spaces *spaces)
{
	return (uint32_t)(lode_splitmix64(&spaces->random) >> 32);
}

/* A node to fill; 0 when memory has run out. May move all nodes. */
static uint32_t new_node(struct lode_spaces *spaces)
{
	uint32_t node = spaces->free;

	if (node) {
		spaces->free = spaces->nodes[node].left;
	} else {
		if (LODE_GROW(spaces->nodes, spaces->capacity, spaces->count + 1) < 0)
			return 0;
		node = (uint32_t)spaces->count++;
	}
	spaces->live++;
	return node;
}

static void free_node(struct lode_spaces *spaces, uint32_t node)
{
	spaces->nodes[node].left = spaces->free;
	spaces->free = node;
	spaces->live--;
}

/* `node` itself where it is the owner's, else a copy of it that is; 0 when memory has run out. */
static uint32_t own(struct lode_spaces *spaces, uint32_t node, uint32_t owner)
{
	uint32_t copy;

	if (spaces->nodes[node].owner == owner)
		return node;
	copy = new_node(spaces);
	if (!copy)
		return 0;
	spaces->nodes[copy] = spaces->nodes[node];
	spaces->nodes[copy].owner = owner;
	return copy;
}

/* Frees the nodes of a tree that no other tree can share. */
static void drop(struct lode_spaces *spaces, uint32_t node, uint32_t owner)
{
	uint32_t left, right;

	/* A node of another owner has no node of this one below it. */
	if (!node || spaces->nodes[node].owner != owner)
		return;
	left = spaces->nodes[node].left;
	right = spaces->nodes[node].right;
	free_node(spaces, node);
	drop(spaces, left, owner);
	drop(spaces, right, owner);
}

/* Joins two trees, all of `left` before all of `right`. Returns 0 or LODE_SYSTEM. */
static int join(struct lode_spaces *spaces, uint32_t left, uint32_t right, uint32_t owner, uint32_t *root)
{
	uint32_t node, below;
	int code;

	if (!left || !right) {
		*root = left ? left : right;
		return 0;
	}
	if (spaces->nodes[left].priority >= spaces->nodes[right].priority) {
		node = own(spaces, left, owner);
		code = node ? join(spaces, spaces->nodes[node].right, right, owner, &below) : LODE_SYSTEM;
		if (code == 0)
			spaces->nodes[node].right = below;
	} else {
		node = own(spaces, right, owner);
		code = node ? join(spaces, left, spaces->nodes[node].left, owner, &below) : LODE_SYSTEM;
		if (code == 0)
			spaces->nodes[node].left = below;
	}
	*root = node;
	return code;
}

/* Cuts the mapping of `node`, which is the owner's, at `address`; the upper part becomes a separate tree.
 */
static int cut(struct lode_spaces *spaces, uint32_t node, uint64_t address, uint32_t owner, uint32_t *upper)
{
	uint32_t part = new_node(spaces);
	struct lode_space_node *lower;

	if (!part)
		return LODE_SYSTEM;
	lower = &spaces->nodes[node];
	spaces->nodes[part] = *lower;
	spaces->nodes[part].owner = owner;
	spaces->nodes[part].priority = random_priority(spaces);
	spaces->nodes[part].left = spaces->nodes[part].right = 0;
	spaces->nodes[part].mapping.offset += address - lower->mapping.start;
	spaces->nodes[part].mapping.start = address;
	lower->mapping.end = address;
	*upper = part;
	return 0;
}

/* Splits a tree into addresses below `address` and the rest. Returns 0 or LODE_SYSTEM. */
static int split(struct lode_spaces *spaces, uint32_t root, uint64_t address, uint32_t owner, uint32_t *left,
		 uint32_t *right)
{
	uint32_t node, below, upper;
	int code;

	*left = *right = 0;
	if (!root)
		return 0;
	node = own(spaces, root, owner);
	if (!node)
		return LODE_SYSTEM;
	if (spaces->nodes[node].mapping.start >= address) {
		*right = node;
		code = split(spaces, spaces->nodes[node].left, address, owner, left, &below);
		spaces->nodes[node].left = below;
		return code;
	}
	*left = node;
	code = split(spaces, spaces->nodes[node].right, address, owner, &below, right);
	spaces->nodes[node].right = below;
	if (code < 0 || spaces->nodes[node].mapping.end <= address)
		return code;
	if (cut(spaces, node, address, owner, &upper) < 0)
		return LODE_SYSTEM;
	return join(spaces, upper, *right, owner, right);
}

struct lode_space lode_space_empty(struct lode_spaces *spaces)
{
	return (struct lode_space){ 0, ++spaces->owners, 0 };
}

void lode_space_clear(struct lode_spaces *spaces, struct lode_space *space)
{
	drop(spaces, space->root, space->owner);
	space->root = 0;
	space->version = 0;
}

struct lode_space lode_space_fork(struct lode_spaces *spaces, struct lode_space *parent)
{
	struct lode_space child = *parent;

	parent->owner = ++spaces->owners;
	child.owner = ++spaces->owners;
	return child;
}

/* Replaces [start, end) by `middle`, a tree or 0. */
static int replace(struct lode_spaces *spaces, struct lode_space *space, uint64_t start, uint64_t end,
		   uint32_t middle)
{
	uint32_t left, rest, gone, right;

	if (split(spaces, space->root, start, space->owner, &left, &rest) < 0 ||
	    split(spaces, rest, end, space->owner, &gone, &right) < 0)
		return LODE_SYSTEM;
	drop(spaces, gone, space->owner);
	if (join(spaces, left, middle, space->owner, &left) < 0)
		return LODE_SYSTEM;
	space->version = ++spaces->versions;
	return join(spaces, left, right, space->owner, &space->root);
}

int lode_space_map(struct lode_spaces *spaces, struct lode_space *space, const struct lode_mapping *mapping)
{
	uint32_t node;

	if (mapping->end <= mapping->start)
		return 0;
	if (spaces->live >= LODE_MAPPINGS_LIMIT) {
		spaces->dropped++;
		return 0;
	}
	node = new_node(spaces);
	if (!node)
		return LODE_SYSTEM;
	spaces->nodes[node] = (struct lode_space_node){ *mapping, random_priority(spaces), 0, 0, space->owner };
	return replace(spaces, space, mapping->start, mapping->end, node);
}

int lode_space_unmap(struct lode_spaces *spaces, struct lode_space *space, uint64_t start, uint64_t end)
{
	if (end <= start || !space->root)
		return 0;
	return replace(spaces, space, start, end, 0);
}

const struct lode_mapping *lode_space_find(const struct lode_spaces *spaces, const struct lode_space *space,
					   uint64_t address)
{
	uint32_t node = space->root;

	while (node) {
		const struct lode_mapping *mapping = &spaces->nodes[node].mapping;

		if (address < mapping->start)
			node = spaces->nodes[node].left;
		else if (address >= mapping->end)
			node = spaces->nodes[node].right;
		else
			return mapping;
	}
	return NULL;
}

const struct lode_mapping *lode_space_below(const struct lode_spaces *spaces, const struct lode_space *space,
					    uint64_t address)
{
	const struct lode_mapping *below = NULL;
	uint32_t node = space->root;

	while (node) {
		const struct lode_mapping *mapping = &spaces->nodes[node].mapping;

		if (address < mapping->start) {
			node = spaces->nodes[node].left;
		} else {
			below = mapping;
			node = spaces->nodes[node].right;
		}
	}
	return below;
}

static uint32_t depth_of(const struct lode_spaces *spaces, uint32_t node)
{
	uint32_t left = node ? depth_of(spaces, spaces->nodes[node].left) : 0;
	uint32_t right = node ? depth_of(spaces, spaces->nodes[node].right) : 0;

	return node ? 1 + (left > right ? left : right) : 0;
}

uint32_t lode_space_depth(const struct lode_spaces *spaces, const struct lode_space *space)
{
	return depth_of(spaces, space->root);
}

static int walk(const struct lode_spaces *spaces, uint32_t node,
		int (*visit)(void *context, const struct lode_mapping *mapping), void *context)
{
	int code;

	if (!node)
		return 0;
	code = walk(spaces, spaces->nodes[node].left, visit, context);
	if (!code)
		code = visit(context, &spaces->nodes[node].mapping);
	return code ? code : walk(spaces, spaces->nodes[node].right, visit, context);
}

int lode_space_walk(const struct lode_spaces *spaces, const struct lode_space *space,
		    int (*visit)(void *context, const struct lode_mapping *mapping), void *context)
{
	return walk(spaces, space->root, visit, context);
}

/* ---- unreachable nodes ---- */

int lode_space_marks_begin(const struct lode_spaces *spaces, struct lode_space_marks *marks)
{
	marks->reached = lode_calloc(spaces->count, 1);
	return marks->reached ? 0 : LODE_SYSTEM;
}

/* Below a node that is marked all are. */
static void mark(const struct lode_spaces *spaces, unsigned char *reached, uint32_t node)
{
	if (!node || reached[node])
		return;
	reached[node] = 1;
	mark(spaces, reached, spaces->nodes[node].left);
	mark(spaces, reached, spaces->nodes[node].right);
}

void lode_space_marks_add(const struct lode_spaces *spaces, struct lode_space_marks *marks,
			  const struct lode_space *space)
{
	mark(spaces, marks->reached, space->root);
}

void lode_space_marks_end(struct lode_spaces *spaces, struct lode_space_marks *marks)
{
	while (spaces->count > 1 && !marks->reached[spaces->count - 1])
		spaces->count--;
	spaces->free = 0;
	spaces->live = spaces->count - 1;
	/* Low numbers are used first. */
	for (size_t node = spaces->count - 1; node > 0; node--)
		if (!marks->reached[node])
			free_node(spaces, (uint32_t)node);
	lode_free(marks->reached);
}

size_t lode_spaces_bytes(const struct lode_spaces *spaces)
{
	return spaces->capacity * sizeof(*spaces->nodes);
}
