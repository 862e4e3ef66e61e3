/*
 * The call tree of V8's CPU profiles: nodes with an id, a function and a parent, which
 * `.cpuprofile` files hold as a whole and traces of Chrome in pieces.
 *
 * A node names its children (`children`) or its parent (`parent`). The root,
 * `(root)`, says nothing and is no frame.
 */
#ifndef LODE_IMPORT_V8_NODES_H
#define LODE_IMPORT_V8_NODES_H

#include "base/hash_index.h"
#include "import/json_profile.h"

struct lode_v8_node {
	uint64_t id;
	struct lode_json_value call; /* the frame: functionName, url */
	struct lode_json_value children;
	uint64_t parent_id; /* UINT64_MAX: not given here */
	uint32_t parent;    /* LODE_NONE: a root */
	uint32_t stack;     /* LODE_NONE: not made yet */
	uint32_t depth;
	int is_idle;
};

struct lode_v8_nodes {
	struct lode_json_import *import;
	struct lode_v8_node *items;
	size_t count;
	size_t capacity;
	struct lode_index index; /* by id */
	uint32_t *chain;         /* from a node up to one whose stack is known */
	size_t chain_capacity;
	uint64_t cut; /* frames too deep */
};

/* A struct with only `import` set is an empty tree. */
void lode_v8_nodes_release(struct lode_v8_nodes *nodes);
/*
 * Adds a list of nodes and joins them with their parents, which may have come with an earlier list.
 * Returns 0, or a negative code with a sentence in the import's error.
 */
int lode_v8_nodes_add(struct lode_v8_nodes *nodes, struct lode_json_value list);
/* The node of a sample, with its stack made. The same. */
int lode_v8_nodes_find(struct lode_v8_nodes *nodes, struct lode_json_value id, const struct lode_v8_node **node);

#endif
