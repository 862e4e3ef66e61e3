/* Address spaces, against an array of pages. */
#include "cmocka_all.h"
#include "random_stream.h"
#include "process/address_spaces.h"

#include <stdlib.h>
#include <string.h>

/* ---- address spaces, against an array of pages ---- */

#define PAGES  64
#define SPACES 5

struct page {
	uint32_t image; /* 0: not mapped */
	uint64_t offset;
};

/* Mappings in the order that a fixed generator of priorities would turn into a list. */
static void no_order_of_mappings_makes_a_deep_tree(void **state)
{
	enum { COUNT = 20000 };
	uint64_t random = 0x2545f4914f6cdd1d;
	uint32_t *priorities = calloc(COUNT, sizeof(*priorities));
	struct lode_spaces spaces;
	struct lode_space spaces_of[3];

	(void)state;
	assert_int_equal(lode_spaces_init(&spaces), 0);
	for (size_t i = 0; i < COUNT; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		priorities[i] = (uint32_t)(random >> 16);
	}
	for (int order = 0; order < 3; order++) {
		spaces_of[order] = lode_space_empty(&spaces);
		for (size_t i = 0; i < COUNT; i++) {
			/* By the rank of the priority, upwards, or downwards. */
			uint64_t rank = order == 0 ? priorities[i] : order == 1 ? i : COUNT - i;
			struct lode_mapping mapping = { rank * 16, rank * 16 + 8, 0, 1 };

			assert_int_equal(lode_space_map(&spaces, &spaces_of[order], &mapping), 0);
		}
		assert_true(lode_space_depth(&spaces, &spaces_of[order]) < 100);
	}
	lode_spaces_release(&spaces);
	free(priorities);
}

static void check_space(const struct lode_spaces *spaces, const struct lode_space *space, const struct page *pages)
{
	for (uint64_t i = 0; i < PAGES; i++) {
		const struct lode_mapping *mapping = lode_space_find(spaces, space, i * 10 + 5);

		assert_int_equal(mapping ? mapping->image : 0, pages[i].image);
		if (mapping)
			assert_int_equal(i * 10 - mapping->start + mapping->offset, pages[i].offset);
	}
}

static void map_pages(struct lode_spaces *spaces, struct lode_space *space, struct page *pages, uint32_t image)
{
	uint64_t start = (uint64_t)rand() % PAGES, end = start + 1 + (uint64_t)rand() % (PAGES - start),
		 offset = (uint64_t)rand();
	struct lode_mapping mapping = { start * 10, end * 10, offset, image };

	if (image)
		assert_int_equal(lode_space_map(spaces, space, &mapping), 0);
	else
		assert_int_equal(lode_space_unmap(spaces, space, start * 10, end * 10), 0);
	for (uint64_t i = start; i < end; i++)
		pages[i] = (struct page){ image, image ? offset + (i - start) * 10 : 0 };
}

/* Frees what no space reaches; what is left is no more than mappings that some space has. */
static void collect(struct lode_spaces *spaces, const struct lode_space *space)
{
	struct lode_space_marks marks;

	assert_int_equal(lode_space_marks_begin(spaces, &marks), 0);
	for (int i = 0; i < SPACES; i++)
		lode_space_marks_add(spaces, &marks, &space[i]);
	lode_space_marks_end(spaces, &marks);
	assert_true(spaces->live <= SPACES * PAGES);
	assert_true(spaces->live < spaces->count);
}

static void address_spaces_agree_with_an_array_of_pages(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct page pages[SPACES][PAGES] = { 0 };
		struct lode_space space[SPACES];
		struct lode_spaces spaces;

		srand(seed);
		assert_int_equal(lode_spaces_init(&spaces), 0);
		for (int i = 0; i < SPACES; i++)
			space[i] = lode_space_empty(&spaces);
		for (uint32_t step = 1; step < 600; step++) {
			int i = rand() % SPACES, j = rand() % SPACES;

			if (step % 7 == 0 && i != j) {
				lode_space_clear(&spaces, &space[j]);
				space[j] = lode_space_fork(&spaces, &space[i]);
				memcpy(pages[j], pages[i], sizeof(pages[i]));
				assert_int_equal(space[i].version, space[j].version);
			} else {
				map_pages(&spaces, &space[i], pages[i], step % 5 ? step : 0);
			}
			if (seed % 2 && step % 13 == 0)
				collect(&spaces, space);
			for (i = 0; i < SPACES; i++)
				check_space(&spaces, &space[i], pages[i]);
		}
		assert_true(spaces.live < SPACES * PAGES * 20);
		collect(&spaces, space);
		for (int i = 0; i < SPACES; i++)
			check_space(&spaces, &space[i], pages[i]);
		for (int i = 0; i < SPACES; i++)
			lode_space_clear(&spaces, &space[i]);
		collect(&spaces, space);
		assert_int_equal(spaces.live, 0);
		lode_spaces_release(&spaces);
	}
}

static void millions_of_forks_and_mappings_take_no_more_than_their_share(void **state)
{
	struct lode_space parent, child;
	struct lode_spaces spaces;

	(void)state;
	assert_int_equal(lode_spaces_init(&spaces), 0);
	parent = lode_space_empty(&spaces);
	child = lode_space_empty(&spaces);
	for (uint64_t i = 0; i < 1000000 / ONE_IN; i++) {
		struct lode_mapping mapping = { (i * 7919 % 1000003) * 16, (i * 7919 % 1000003) * 16 + 16, 0, 1 };

		assert_int_equal(lode_space_map(&spaces, &parent, &mapping), 0);
		if (i % 3 == 0) {
			lode_space_clear(&spaces, &child);
			child = lode_space_fork(&spaces, &parent);
		}
	}
	assert_true(spaces.live <= LODE_MAPPINGS_LIMIT + 100);
	lode_spaces_release(&spaces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_of_mappings_makes_a_deep_tree),
		cmocka_unit_test(address_spaces_agree_with_an_array_of_pages),
		cmocka_unit_test(millions_of_forks_and_mappings_take_no_more_than_their_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
