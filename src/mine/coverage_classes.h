/*
 * Which signatures match which stacks, in a form in which unions cost little.
 * Private to coverage.
 *
 * Stacks that exactly the same signatures match are one class. Classes are nodes
 * of a prefix tree over numbers of signatures (the stack tree serves): class 0
 * is matched by none, and the way up from a class names its signatures.
 */
#ifndef LODE_MINE_COVERAGE_CLASSES_H
#define LODE_MINE_COVERAGE_CLASSES_H

#include "mine/coverage.h"

/* One signature in one stream of the area. */
struct lode_revealing {
	uint32_t stream;
	uint32_t item;
	uint64_t cost[2];
	uint64_t events;
};

struct lode_coverage_classes {
	struct lode_stack_tree tree; /* of classes; frames are numbers of items, as they were given */
	uint32_t *of_node[2];        /* by kind and node of the area: its class */
	uint64_t *cost;              /* by class: of exactly these signatures */
	uint64_t *events;
	size_t *starts; /* by item, one more: its classes in `members` */
	uint32_t *members;
	struct lode_revealing *revealings; /* by item, then by stream */
	size_t *item_starts;               /* by item, one more: its revealings */
	uint32_t *by_stream;               /* numbers of revealings by stream, then by item */
	size_t *stream_starts;             /* by stream, one more */
	size_t revealing_count;
	size_t revealing_capacity;
	size_t count;      /* items */
	uint32_t *by_cost; /* items by cost, largest first, then by name */
	uint32_t *rank;    /* by item: its place there */
};

/* `items` say which signature each is; their sums are filled in. Returns 0 or LODE_SYSTEM; release in either
 * case (zeroed before). */
int lode_coverage_classes_make(struct lode_coverage_classes *classes, const struct lode_area *area,
			       const struct lode_signatures *signatures, struct lode_covering *items, size_t count);
void lode_coverage_classes_release(struct lode_coverage_classes *classes);

/* What is revealed, and what that covers. */
struct lode_covered {
	uint8_t *items;   /* 1: revealed */
	uint8_t *classes; /* 1: counted in `cost` */
	size_t left;      /* items that are not revealed */
	uint64_t cost;
	uint64_t events;
};

/* Returns 0 or LODE_SYSTEM; release in either case. */
int lode_covered_init(struct lode_covered *covered, const struct lode_coverage_classes *classes);
/* Back to nothing. */
void lode_covered_clear(struct lode_covered *covered, const struct lode_coverage_classes *classes);
void lode_covered_release(struct lode_covered *covered);
/* Reveals an item; 1 when it was not revealed before. */
int lode_covered_reveal(struct lode_covered *covered, const struct lode_coverage_classes *classes, uint32_t item);

/* The curves, levels and ratios of a coverage. Returns 0 or LODE_SYSTEM. */
int lode_coverage_openings(struct lode_coverage *coverage, const struct lode_area *area,
			   const struct lode_coverage_classes *classes);

#endif
