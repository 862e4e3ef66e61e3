/* A limit on memory: blocks outside of it hold what they should, and results do not change. */
#include "same_results.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/sort_rows.h"
#include "base/spill.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCKS 40
#define LIMIT  300000

/* A block and what it must hold, which is outside of what is tested. */
struct pair {
	unsigned char *block;
	unsigned char *expected;
	size_t size;
};

static void fill(struct pair *pair, size_t from, uint64_t *seed)
{
	for (size_t i = from; i < pair->size; i++)
		pair->block[i] = pair->expected[i] = (unsigned char)random_next(seed);
}

static size_t random_size(uint64_t *seed)
{
	return 1 + random_below(seed, random_below(seed, 3) ? 5000 : 400000);
}

static void replace(struct pair *pair, uint64_t *seed)
{
	int zeroed = random_below(seed, 2) != 0;

	lode_free(pair->block);
	pair->size = random_size(seed);
	pair->expected = realloc(pair->expected, pair->size);
	pair->block = zeroed ? lode_calloc(1, pair->size) : lode_alloc(pair->size);
	assert_non_null(pair->block);
	for (size_t i = 0; zeroed && i < pair->size; i++)
		assert_int_equal(pair->block[i], 0);
	fill(pair, 0, seed);
}

static void resize(struct pair *pair, uint64_t *seed)
{
	size_t before = pair->size;

	pair->size = random_size(seed);
	pair->expected = realloc(pair->expected, pair->size);
	pair->block = lode_realloc(pair->block, pair->size, 1);
	assert_non_null(pair->block);
	fill(pair, before < pair->size ? before : pair->size, seed);
}

static void blocks_hold_what_was_written(void **state)
{
	struct pair pairs[BLOCKS] = { 0 };
	struct lode_spill_counts counts;
	uint64_t seed = 5;

	(void)state;
	assert_int_equal(lode_spill_limit(LIMIT, NULL), 0);
	for (int i = 0; i < TEST_ROUNDS(4000); i++) {
		struct pair *pair = &pairs[random_below(&seed, BLOCKS)];

		assert_true(!pair->size || memcmp(pair->block, pair->expected, pair->size) == 0);
		if (!pair->block || random_below(&seed, 2))
			replace(pair, &seed);
		else
			resize(pair, &seed);
	}
	counts = lode_spill_counts();
	assert_true(counts.spilled > LIMIT);
	assert_true(counts.most >= counts.spilled);
	/* Small blocks stay in memory, large ones only below five eighths of the limit. */
	assert_true(lode_memory_held() < LIMIT / 8 * 5 + BLOCKS * 65536);
	lode_spill_limit(0, NULL);
	for (int i = 0; i < BLOCKS; i++) {
		assert_true(!pairs[i].size || memcmp(pairs[i].block, pairs[i].expected, pairs[i].size) == 0);
		lode_free(pairs[i].block);
		free(pairs[i].expected);
	}
	assert_int_equal(lode_spill_counts().spilled, 0);
}

static void pages_leave_memory_above_the_limit(void **state)
{
	struct lode_spill_counts counts;
	unsigned char *blocks[8];

	(void)state;
	assert_int_equal(lode_spill_limit(64 << 20, NULL), 0);
	for (int i = 0; i < 8; i++) {
		blocks[i] = lode_alloc(32 << 20);
		assert_non_null(blocks[i]);
		memset(blocks[i], i + 1, 32 << 20);
	}
	counts = lode_spill_counts();
	assert_true(counts.spilled >= 7u * (32 << 20));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_int_equal(counts.resident, 0); /* sanitizers take more for themselves */
#endif
	for (int i = 0; i < 8; i++)
		for (size_t k = 0; k < 32 << 20; k += 1 << 16)
			assert_int_equal(blocks[i][k], i + 1);
	for (int i = 0; i < 8; i++)
		lode_free(blocks[i]);
	lode_spill_limit(0, NULL);
}

static void what_lasts_leaves_memory_first(void **state)
{
	void *first, *lasting, *other;

	(void)state;
	assert_int_equal(lode_spill_limit(64 << 20, NULL), 0);
	first = lode_alloc(20 << 20);
	assert_int_equal(lode_spill_counts().spilled, 0);
	lode_memory_set_lasting(1);
	lasting = lode_alloc(10 << 20);
	lode_memory_set_lasting(0);
	assert_int_equal(lode_spill_counts().spilled, 10 << 20);
	other = lode_alloc(10 << 20);
	assert_int_equal(lode_spill_counts().spilled, 10 << 20);
	assert_true(first && lasting && other);
	lode_free(lasting);
	lode_free(first);
	lode_free(other);
	assert_true(lode_spill_counts().whole >= 40 << 20);
	lode_spill_limit(0, NULL);
}

/* ---- pieces ---- */

#define PIECES 30

struct pieces {
	size_t bytes;
	atomic_int now, most; /* pieces at a time */
	size_t merged;
};

static int map_piece(void *context, size_t i, void *partial, struct lode_error *error)
{
	struct pieces *pieces = context;
	int now = atomic_fetch_add(&pieces->now, 1) + 1, most = atomic_load(&pieces->most);
	void *block = lode_alloc(pieces->bytes);

	(void)i;
	(void)partial;
	(void)error;
	while (now > most && !atomic_compare_exchange_weak(&pieces->most, &most, now))
		;
	assert_non_null(block);
	usleep(2000);
	lode_free(block);
	atomic_fetch_sub(&pieces->now, 1);
	return 0;
}

static int merge_piece(void *context, size_t i, void *partial, struct lode_error *error)
{
	struct pieces *pieces = context;

	(void)partial;
	(void)error;
	assert_int_equal(pieces->merged, i);
	pieces->merged++;
	return 0;
}

static void release_piece(void *partial)
{
	(void)partial;
}

static int most_at_a_time(size_t bytes)
{
	struct pieces pieces = { .bytes = bytes };
	const struct lode_in_order work = { 8, map_piece, merge_piece, release_piece, &pieces };

	assert_int_equal(lode_parallel_in_order(4, PIECES, &work, NULL), 0);
	assert_int_equal(pieces.merged, PIECES);
	return atomic_load(&pieces.most);
}

static void only_as_many_pieces_as_fit_are_worked_on(void **state)
{
	(void)state;
	assert_int_equal(lode_spill_limit(64 << 20, NULL), 0);
	/* Of the 40 MiB that blocks in memory may take. */
	assert_int_equal(most_at_a_time(30 << 20), 1);
	assert_in_range(most_at_a_time(15 << 20), 1, 2);
	assert_true(most_at_a_time(100000) > 1);
	assert_int_equal(lode_spill_counts().most, 0);
	assert_in_range(lode_spill_counts().piece, 30 << 20, 31 << 20);
	/* One that never fits is worked on all the same. */
	assert_int_equal(most_at_a_time(100 << 20), 1);
	assert_in_range(lode_spill_counts().piece, 100 << 20, 101 << 20);
	lode_spill_limit(0, NULL);
	assert_true(most_at_a_time(100 << 20) > 1);
}

static void a_folder_in_memory_is_refused_with_a_sentence(void **state)
{
	struct lode_error error = { "" };

	(void)state;
	if (access("/dev/shm", W_OK))
		skip();
	setenv("TMPDIR", "/dev/shm", 1);
	assert_int_equal(lode_spill_limit(1 << 20, NULL), 0);
	/* The file is open since the tests before, unless this one runs alone. */
	if (!lode_alloc(10 << 20)) {
		lode_fail_memory(&error);
		assert_non_null(strstr(error.text,
				       "--memory 2MB is used up, and /dev/shm has no room for 11 MB more "
				       "(it is in memory itself)"));
	}
	lode_spill_limit(0, NULL);
	lode_fail_memory(&error);
	assert_non_null(strstr(error.text, "memory ran out"));
	unsetenv("TMPDIR");
}

/* ---- sorting ---- */

struct row {
	uint32_t key;
	uint32_t place;
	uint64_t more;
};

static void rows_are_sorted_and_keep_their_order(void **state)
{
	uint64_t seed = 9;

	(void)state;
	for (int round = 0; round < TEST_ROUNDS(3000); round++) {
		size_t count = random_below(&seed, 60), keys = 1 + random_below(&seed, 20),
		       run = random_below(&seed, 20);
		struct row *rows = lode_calloc(count, sizeof(*rows));

		for (size_t i = 0; i < count; i++)
			rows[i] = (struct row){ (uint32_t)random_below(&seed, keys), (uint32_t)i, i * i };
		assert_int_equal(lode_sort_rows(&rows, count, sizeof(*rows), keys, run), 0);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(rows[i].more, (uint64_t)rows[i].place * rows[i].place);
		for (size_t i = 1; i < count; i++)
			assert_true(rows[i - 1].key < rows[i].key ||
				    (rows[i - 1].key == rows[i].key && rows[i - 1].place < rows[i].place));
		lode_free(rows);
	}
}

/* ---- analyses ---- */

static void analyses_give_the_same_with_a_limit(void **state)
{
	char folder[64];
	struct lode_corpus *corpus;
	struct lode_error error;

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	assert_int_equal(lode_corpus_open(&corpus, folder, LODE_CORPUS_CREATE, &error), 0);
	for (int i = 0; i < 40; i++)
		add_random_stream(corpus, i, 77 + (uint64_t)i);
	for (unsigned jobs = 1; jobs < 4; jobs++) {
		struct lode_area_options scope = { .scope = LODE_SCOPE_ALL, .jobs = jobs };
		struct lode_latency_options how = { .jobs = jobs };
		struct lode_area area, limited_area;
		struct lode_latency latency, limited_latency;

		assert_int_equal(lode_area_collect(corpus, &scope, NULL, &area, &error), 0);
		assert_int_equal(lode_latency_collect(corpus, &how, NULL, &latency, &error), 0);
		assert_int_equal(lode_spill_limit(1000, NULL), 0);
		assert_int_equal(lode_area_collect(corpus, &scope, NULL, &limited_area, &error), 0);
		assert_int_equal(lode_latency_collect(corpus, &how, NULL, &limited_latency, &error), 0);
		assert_true(lode_spill_counts().most > 0);
		lode_spill_limit(0, NULL);
		require_same_area(&area, &limited_area);
		require_same_latency(&latency, &limited_latency);
		lode_area_release(&area);
		lode_area_release(&limited_area);
		lode_latency_release(&latency);
		lode_latency_release(&limited_latency);
	}
	lode_corpus_close(corpus);
	temporary_remove(folder);
}

int main(void)
{
#ifdef TEST_EMULATED
	/* It would keep a table of all the pages for which addresses are reserved, 24 GB of it. */
	puts("skipped: an emulator has no room for so many addresses");
	return 77;
#endif
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_in_memory_is_refused_with_a_sentence),
		cmocka_unit_test(blocks_hold_what_was_written),
		cmocka_unit_test(pages_leave_memory_above_the_limit),
		cmocka_unit_test(what_lasts_leaves_memory_first),
		cmocka_unit_test(only_as_many_pieces_as_fit_are_worked_on),
		cmocka_unit_test(rows_are_sorted_and_keep_their_order),
		cmocka_unit_test(analyses_give_the_same_with_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
