/*
 * Address spaces: which file is mapped where, for each process, at the current
 * time. Changes and queries come in order of time.
 *
 * A space is a balanced tree of mappings. A fork costs nothing: both processes
 * share the tree, and a change copies the path to it. Each change gives a space
 * a new version; equal versions are equal mappings.
 */
#ifndef LODE_PROCESS_ADDRESS_SPACES_H
#define LODE_PROCESS_ADDRESS_SPACES_H

#include "base/memory.h"

/* Mappings kept at a time, over all processes; further ones are dropped and counted. */
#define LODE_MAPPINGS_LIMIT (4u << 20)

struct lode_mapping {
	uint64_t start;
	uint64_t end;    /* first address behind it */
	uint64_t offset; /* of `start` in the file */
	uint32_t image;
};

struct lode_space {
	uint32_t root;  /* node; 0: nothing is mapped */
	uint32_t owner; /* nodes of this owner are its alone */
	uint32_t version;
};

struct lode_spaces {
	struct lode_space_node *nodes; /* node 0 is not used */
	size_t count;
	size_t capacity;
	uint32_t free; /* chain of nodes for reuse, by their left */
	size_t live;
	uint32_t owners; /* given out so far */
	uint32_t versions;
	uint64_t random;
	uint64_t dropped; /* mappings beyond the limit */
};

/* Returns 0 or LODE_SYSTEM. */
int lode_spaces_init(struct lode_spaces *spaces);
void lode_spaces_release(struct lode_spaces *spaces);

/* A space without mappings. */
struct lode_space lode_space_empty(struct lode_spaces *spaces);
/* Empties a space. */
void lode_space_clear(struct lode_spaces *spaces, struct lode_space *space);
/* A copy for a child process. */
struct lode_space lode_space_fork(struct lode_spaces *spaces, struct lode_space *parent);
/* Maps; what was mapped there before goes. An empty or wrapping range does nothing. Returns 0 or LODE_SYSTEM.
 */
int lode_space_map(struct lode_spaces *spaces, struct lode_space *space, const struct lode_mapping *mapping);
/* Unmaps a range. Returns 0 or LODE_SYSTEM. */
int lode_space_unmap(struct lode_spaces *spaces, struct lode_space *space, uint64_t start, uint64_t end);
/* The mapping at an address, valid until the next change; NULL when there is none. */
const struct lode_mapping *lode_space_find(const struct lode_spaces *spaces, const struct lode_space *space,
					   uint64_t address);

/* The last mapping that begins at or below an address; NULL when there is none. */
const struct lode_mapping *lode_space_below(const struct lode_spaces *spaces, const struct lode_space *space,
					    uint64_t address);

/* Calls `visit` for each mapping, by address, until it returns something else than 0, which is returned. */
int lode_space_walk(const struct lode_spaces *spaces, const struct lode_space *space,
		    int (*visit)(void *context, const struct lode_mapping *mapping), void *context);
/* Mappings from the root of the tree to its deepest leaf; for tests. */
uint32_t lode_space_depth(const struct lode_spaces *spaces, const struct lode_space *space);
/*
 * Frees the nodes that no space reaches any more: nodes that a process shares with a process it
 * forked belong to neither. Usage: begin, one mark for each space that is still used, end. Numbers of nodes in use stay.
 */
struct lode_space_marks {
	unsigned char *reached; /* by node */
};

/* Returns 0, or LODE_SYSTEM and then nothing may follow. */
int lode_space_marks_begin(const struct lode_spaces *spaces, struct lode_space_marks *marks);
void lode_space_marks_add(const struct lode_spaces *spaces, struct lode_space_marks *marks,
			  const struct lode_space *space);
void lode_space_marks_end(struct lode_spaces *spaces, struct lode_space_marks *marks);
/* Bytes of all spaces together. */
size_t lode_spaces_bytes(const struct lode_spaces *spaces);

#endif
