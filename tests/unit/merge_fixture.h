/* What tests of joined results (latencies, areas) share: equal dictionaries, and where to split streams. */
#ifndef LODE_TESTS_MERGE_FIXTURE_H
#define LODE_TESTS_MERGE_FIXTURE_H

#include "cmocka_all.h"
#include "random_stream.h"

#include "trace/dictionary.h"

static void assert_dictionaries_equal(const struct lode_dictionary *a, const struct lode_dictionary *b)
{
	assert_int_equal(a->frames.strings.count, b->frames.strings.count);
	for (size_t i = 0; i < a->frames.strings.count; i++) {
		assert_int_equal(a->frames.strings.items[i].length, b->frames.strings.items[i].length);
		assert_memory_equal(a->frames.strings.items[i].text, b->frames.strings.items[i].text,
				    a->frames.strings.items[i].length);
	}
	assert_int_equal(a->frames.module_count, b->frames.module_count);
	for (size_t i = 0; i < a->frames.module_count; i++) {
		assert_int_equal(a->frames.modules[i].name, b->frames.modules[i].name);
		assert_int_equal(a->frames.modules[i].path, b->frames.modules[i].path);
		assert_int_equal(a->frames.modules[i].build_id, b->frames.modules[i].build_id);
		assert_int_equal(a->frames.modules[i].kind, b->frames.modules[i].kind);
	}
	assert_int_equal(a->frames.count, b->frames.count);
	assert_memory_equal(a->frames.items, b->frames.items, a->frames.count * sizeof(*a->frames.items));
	assert_int_equal(a->tree.count, b->tree.count);
	assert_memory_equal(a->tree.nodes, b->tree.nodes, a->tree.count * sizeof(*a->tree.nodes));
}

/* Where to split the streams first..last-1 into two parts, of which the second may be empty; `first`: they stay together. */
static size_t random_split(size_t first, size_t last, uint64_t *seed)
{
	size_t middle = first + random_below(seed, last - first + 1);

	if (last - first < 2 || random_below(seed, 4) == 0)
		return first;
	return middle == first ? first + 1 : middle;
}

#endif
