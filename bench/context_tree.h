/*
 * The tree of contexts that an instrumented program moves in, for truth.c and own_times.c: one
 * node a function in a context, found by its caller's node and its address. Included once a
 * program; nothing of it is instrumented.
 */
#ifndef LODE_BENCH_CONTEXT_TREE_H
#define LODE_BENCH_CONTEXT_TREE_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define QUIET     __attribute__((no_instrument_function))
#define MAX_NODES (1u << 22)
#define MAX_PLACE (1u << 24) /* of the table that finds them */
#define MAX_DEPTH (1u << 16)

struct node {
	void *function;
	uint32_t parent;
	uint32_t last; /* child that was called last */
	uint64_t calls;
	uint64_t total;
	uint32_t kinds; /* of events that showed it; for truth.c */
};

static struct node *nodes;
static uint32_t node_count = 1, *places;

static QUIET uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static QUIET void *room(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

static QUIET void tree_open(void)
{
	nodes = room(MAX_NODES * sizeof(*nodes));
	places = room(MAX_PLACE * sizeof(*places));
}

static QUIET uint32_t child_of(uint32_t parent, void *function)
{
	uint64_t hash = ((uint64_t)(uintptr_t)function ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15u;

	if (nodes[parent].last && nodes[nodes[parent].last].function == function)
		return nodes[parent].last;
	for (uint32_t at = (uint32_t)(hash >> 40);; at = (at + 1) % MAX_PLACE) {
		uint32_t node = places[at];

		if (!node) {
			if (node_count == MAX_NODES)
				abort();
			node = places[at] = node_count++;
			nodes[node] = (struct node){ .function = function, .parent = parent };
		}
		if (nodes[node].parent == parent && nodes[node].function == function)
			return nodes[parent].last = node;
	}
}

#endif
