/* Small worlds for the tests of mining: a dictionary, and how often each of its stacks was seen. */
#ifndef LODE_TESTS_MINE_FIXTURE_H
#define LODE_TESTS_MINE_FIXTURE_H

#include "cmocka_all.h"

#include "random_stream.h"
#include "trace/dictionary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
	struct lode_dictionary dictionary;
	uint64_t *occurrences; /* by node */
};

static inline uint32_t world_frame(struct world *world, const char *text)
{
	uint32_t frame = lode_frames_parse(&world->dictionary.frames, text, strlen(text));

	assert_int_not_equal(frame, LODE_NONE);
	return frame;
}

/* Adds a stack, a frame a word of `text`, that was seen `times`; returns its node. */
static inline uint32_t world_stack(struct world *world, const char *text, uint64_t times)
{
	struct lode_stack_tree *tree = &world->dictionary.tree;
	char *copy = strdup(text), *rest = copy, *word;
	size_t before = tree->count;
	uint32_t node = 0;

	while ((word = strtok_r(rest, " ", &rest))) {
		node = lode_stack_tree_child(tree, node, world_frame(world, word));
		assert_int_not_equal(node, LODE_NONE);
	}
	free(copy);
	world->occurrences = realloc(world->occurrences, tree->count * sizeof(*world->occurrences));
	for (size_t i = before; i < tree->count; i++)
		world->occurrences[i] = 0;
	world->occurrences[node] += times;
	return node;
}

static inline void world_start(struct world *world)
{
	assert_int_equal(lode_dictionary_init(&world->dictionary), 0);
	world->occurrences = calloc(1, sizeof(*world->occurrences));
}

static inline void world_stop(struct world *world)
{
	lode_dictionary_release(&world->dictionary);
	free(world->occurrences);
}

/* A name of up to three words of a small vocabulary, in one of several spellings; or none at all. */
static inline void random_name(uint64_t *seed, char *name, size_t size)
{
	static const char *const vocabulary[] = { "Get", "read", "FILE", "Lock", "x", "größe" };
	static const char *const separators[] = { "", "_", "::", "7" };
	size_t words = random_below(seed, 9) ? 1 + random_below(seed, 3) : 0;

	snprintf(name, size, "%s%s", random_below(seed, 3) ? "" : "lib!", words ? "" : "0x7");
	for (size_t i = 0; i < words; i++) {
		size_t length = strlen(name);

		snprintf(name + length, size - length, "%s%s", i ? separators[random_below(seed, 4)] : "",
			 vocabulary[random_below(seed, 6)]);
	}
}

static inline void random_world(struct world *world, uint64_t *seed, size_t frames, size_t nodes)
{
	struct lode_dictionary *dictionary = &world->dictionary;
	char name[128];

	world_start(world);
	for (size_t i = 0; i < frames; i++) {
		random_name(seed, name, sizeof(name));
		world_frame(world, name);
	}
	for (size_t i = 0; i < nodes; i++) {
		size_t newest = dictionary->tree.count - 1;
		uint32_t parent = (uint32_t)(random_below(seed, 2) ? random_below(seed, newest + 1) : newest);
		uint32_t frame = (uint32_t)random_below(seed, dictionary->frames.count);

		assert_int_not_equal(lode_stack_tree_child(&dictionary->tree, parent, frame), LODE_NONE);
	}
	world->occurrences = realloc(world->occurrences, dictionary->tree.count * sizeof(*world->occurrences));
	for (size_t i = 0; i < dictionary->tree.count; i++)
		world->occurrences[i] = random_below(seed, 4);
}

#endif
