/*
 * The call tree of V8's CPU profiles: nodes with an id, a function and a parent, which
 * `.cpuprofile` files hold as a whole and traces of Chrome in pieces.
 *
 * A node names its children (`children`) or its parent (`parent`). The root,
 * `(root)`, says nothing and is no frame.
 */
#ifndef LODE_IMPORT_V8_NODES_H
#define LODE_IMPORT_V8_NODES_H

#include "base/array.h"
#include "base/hash_index.h"
#include "import/json_profile.h"
#include "import/stack_memo.h"

/* A function: `callFrame` of all nodes that are written alike. */
struct lode_v8_call {
	struct lode_json_value text; /* functionName, url */
	uint32_t frame;              /* LODE_NONE: not made yet */
	int is_idle, is_root;
};

/* What a sample needs of its node, apart from the rest: all of them stay in the cache. */
struct lode_v8_leaf {
	uint32_t stack; /* LODE_NONE: not made yet */
	int is_idle;
};

struct lode_v8_node {
	uint64_t id;
	uint64_t parent_id; /* UINT64_MAX: not given here */
	uint32_t parent;    /* LODE_NONE: a root */
	uint32_t depth;
	uint32_t call; /* among the calls */
	struct lode_json_value children;
};

struct lode_v8_nodes {
	struct lode_json_import *import;
	LODE_ARRAY(struct lode_v8_node);
	struct lode_v8_leaf *leaves; /* of the items */
	size_t leaf_capacity;
	size_t counted;          /* how many of the first items have ids that count from 1, as V8 writes them */
	struct lode_index index; /* of the others, by id */
	struct lode_v8_call *calls;
	size_t call_capacity;
	struct lode_stack_memo call_memo; /* from the text to the number of a call, which is that of its item */
	uint32_t *chain;                  /* from a node up to one whose stack is known */
	size_t chain_capacity;
	uint64_t cut; /* stacks too deep */
};

/* A struct with only `import` set is an empty tree. */
void lode_v8_nodes_release(struct lode_v8_nodes *nodes);
/*
 * Adds a list of nodes and joins them with their parents, which may have come with an earlier list.
 * Returns 0, or a negative code with a sentence in the import's error.
 */
int lode_v8_nodes_add(struct lode_v8_nodes *nodes, struct lode_json_value list);
/* The leaf of a sample, with its stack made. The same. */
int lode_v8_nodes_find(struct lode_v8_nodes *nodes, struct lode_json_value id, struct lode_v8_leaf *leaf);
/*
 * The same in two steps, for many samples: the number of a node, LODE_NONE for one that is not in the tree, and some
 * samples later its leaf, which is in the cache by then.
 */
uint32_t lode_v8_nodes_number(const struct lode_v8_nodes *nodes, uint64_t id);
int lode_v8_nodes_leaf(struct lode_v8_nodes *nodes, uint32_t number, struct lode_v8_leaf *leaf);

#endif
