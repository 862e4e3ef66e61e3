/* Results of streams that are kept beside a corpus: the same with and without, whatever happens to what is kept. */
#include "same_results.h"

#include "scope/activity.h"
#include "store/map_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define STREAMS 7

struct fixture {
	char folder[64];
	struct lode_error error;
};

static void add_streams(struct fixture *fixture, int first, int end)
{
	struct lode_corpus *corpus;

	assert_int_equal(lode_corpus_open(&corpus, fixture->folder, LODE_CORPUS_CREATE, &fixture->error), 0);
	for (int i = first; i < end; i++)
		add_random_stream(corpus, i, 11 + (uint64_t)i);
	lode_corpus_close(corpus);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (temporary_folder(fixture->folder, sizeof(fixture->folder)) < 0)
		return -1;
	add_streams(fixture, 0, STREAMS);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	temporary_remove(fixture->folder);
	free(fixture);
	return 0;
}

static char *cache_folder(const struct fixture *fixture)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/cache", fixture->folder);
	return path;
}

/* ---- one run ---- */

enum { WITHOUT, WITH };

struct run {
	struct lode_corpus *corpus;
	struct lode_area area;
	struct lode_latency latency;
	struct lode_activity activity;
	struct lode_map_cache_counts counts;
	int code;
};

static struct lode_corpus *open_corpus(struct fixture *fixture, int with, uint64_t limit)
{
	struct lode_map_cache_options options = { .limit = limit };
	struct lode_corpus *corpus;

	assert_int_equal(lode_corpus_open(&corpus, fixture->folder, LODE_CORPUS_READ, &fixture->error), 0);
	if (with)
		assert_int_equal(lode_corpus_use_cache(corpus, &options), 0);
	return corpus;
}

static void run_area(struct fixture *fixture, int with, const struct lode_area_options *options, struct run *run)
{
	run->corpus = open_corpus(fixture, with, 0);
	run->code = lode_area_collect(run->corpus, options, NULL, &run->area, &fixture->error);
	if (with)
		run->counts = lode_map_cache_counts(lode_corpus_cache(run->corpus));
	lode_corpus_close(run->corpus);
}

static void run_latency(struct fixture *fixture, int with, const struct lode_latency_options *options,
			struct run *run)
{
	run->corpus = open_corpus(fixture, with, 0);
	run->code = lode_latency_collect(run->corpus, options, NULL, &run->latency, &fixture->error);
	if (with)
		run->counts = lode_map_cache_counts(lode_corpus_cache(run->corpus));
	lode_corpus_close(run->corpus);
}

static void run_states(struct fixture *fixture, int with, const struct lode_activity_options *options,
		       struct run *run)
{
	struct lode_corpus_list list = { 0 };

	run->corpus = open_corpus(fixture, with, 0);
	assert_int_equal(lode_corpus_streams(run->corpus, &list, &fixture->error), 0);
	run->code = lode_activity_collect(&run->activity, &list, options, &fixture->error);
	lode_corpus_list_release(&list);
	if (with)
		run->counts = lode_map_cache_counts(lode_corpus_cache(run->corpus));
	lode_corpus_close(run->corpus);
}

static void require_same_states(const struct lode_activity *a, const struct lode_activity *b)
{
	assert_int_equal(a->states.count, b->states.count);
	for (size_t i = 0; i < a->states.count; i++) {
		const struct lode_process_states *left = &a->states.items[i], *right = &b->states.items[i];

		assert_string_equal(lode_strings_get(&a->states.names, left->process),
				    lode_strings_get(&b->states.names, right->process));
		assert_memory_equal(&left->threads, &right->threads,
				    sizeof(*left) - offsetof(struct lode_process_states, threads));
	}
}

/* ---- damage ---- */

static void damage_file(const char *path, uint64_t *seed)
{
	struct stat status;
	int fd = open(path, O_RDWR);
	unsigned char byte;
	off_t at;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	if (random_below(seed, 4) == 0) {
		assert_int_equal(ftruncate(fd, (off_t)random_below(seed, (uint64_t)status.st_size)), 0);
	} else {
		at = (off_t)random_below(seed, (uint64_t)status.st_size);
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= (unsigned char)(1 + random_below(seed, 255));
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
}

static int damage_all(const char *folder, uint64_t *seed)
{
	DIR *listing = opendir(folder);
	struct dirent *entry;
	char path[512];
	int count = 0;

	assert_non_null(listing);
	while ((entry = readdir(listing)))
		if (entry->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
			damage_file(path, seed);
			count++;
		}
	closedir(listing);
	return count;
}

/* ---- the same with and without ---- */

static void areas_are_the_same_with_and_without(void **state)
{
	struct fixture *fixture = *state;
	const char *const symptoms[] = { "wait > 5us", NULL }, *const where[] = { "version=1", NULL };
	const char *const match[] = { "*a*", NULL };
	struct lode_idle_rules *rules;
	int compared = 0;

	assert_int_equal(lode_idle_rules_load(&rules, NULL, &fixture->error), 0);
	temporary_remove(cache_folder(fixture));
	for (int i = 0; i < 512; i += TEST_SANITIZED ? 7 : 1) {
		struct lode_area_options options = {
			.scope = (enum lode_scope)(LODE_SCOPE_ALL + i % (LODE_SCOPES - LODE_SCOPE_ALL)),
			.symptoms = i & 4 ? symptoms : NULL,
			.where = i & 8 ? where : NULL,
			.match = i & 16 ? match : NULL,
			.idle = i & 32 ? rules : NULL,
			.by_symptom = i >> 6 & 1,
			.include_work_waits = i >> 5 & i >> 2 & 1,
			.include_idle = i >> 5 & i >> 3 & 1,
			.time = i & 128 ? "+100ns..+300us" : NULL,
			.kinds = i & 256 ? 1u << LODE_WAIT : 0,
			.jobs = 1 + (unsigned)i % 3,
		};
		struct run without, cold, warm;

		run_area(fixture, WITHOUT, &options, &without);
		run_area(fixture, WITH, &options, &cold);
		run_area(fixture, WITH, &options, &warm);
		assert_int_equal(cold.code, without.code);
		assert_int_equal(warm.code, without.code);
		if (without.code)
			continue;
		require_same_area(&without.area, &cold.area);
		require_same_area(&without.area, &warm.area);
		assert_int_equal(warm.counts.found, STREAMS);
		assert_int_equal(warm.counts.put, 0);
		lode_area_release(&without.area);
		lode_area_release(&cold.area);
		lode_area_release(&warm.area);
		compared++;
	}
	assert_true(compared > TEST_ROUNDS(100));
	lode_idle_rules_free(rules);
}

static void latencies_are_the_same_with_and_without(void **state)
{
	struct fixture *fixture = *state;
	const char *const where[] = { "version=1", NULL };
	struct lode_idle_rules *rules;

	assert_int_equal(lode_idle_rules_load(&rules, NULL, &fixture->error), 0);
	temporary_remove(cache_folder(fixture));
	for (int i = 0; i < 16; i++) {
		struct lode_latency_options options = {
			.where = i & 1 ? where : NULL,
			.idle = i & 2 ? rules : NULL,
			.aggressive_end = i >> 2 & 1,
			.include_work_waits = i >> 3,
			.jobs = 2,
		};
		struct run without, cold, warm;

		run_latency(fixture, WITHOUT, &options, &without);
		run_latency(fixture, WITH, &options, &cold);
		run_latency(fixture, WITH, &options, &warm);
		assert_int_equal(without.code, 0);
		require_same_latency(&without.latency, &cold.latency);
		require_same_latency(&without.latency, &warm.latency);
		assert_int_equal(warm.counts.found, without.latency.stream_count);
		assert_int_equal(warm.counts.put, 0);
		lode_latency_release(&without.latency);
		lode_latency_release(&cold.latency);
		lode_latency_release(&warm.latency);
	}
	lode_idle_rules_free(rules);
}

static void states_are_the_same_with_and_without(void **state)
{
	struct fixture *fixture = *state;
	const char *const where[] = { "version=1", NULL }, *const threads[] = { "thread=*1*", NULL };
	struct lode_idle_rules *rules;

	assert_int_equal(lode_idle_rules_load(&rules, NULL, &fixture->error), 0);
	for (int i = 0; i < 6; i++) {
		struct lode_activity_options options = {
			.where = i % 3 == 1   ? where
				 : i % 3 == 2 ? threads
					      : NULL,
			.idle = i < 3 ? rules : NULL,
			.states_only = 1,
			.jobs = 2,
		};
		struct run without, cold, warm;
		uint64_t seed = 3 + (uint64_t)i;

		temporary_remove(cache_folder(fixture));
		run_states(fixture, WITHOUT, &options, &without);
		run_states(fixture, WITH, &options, &cold);
		run_states(fixture, WITH, &options, &warm);
		assert_int_equal(without.code, 0);
		assert_true(i % 3 || without.activity.states.count);
		require_same_states(&without.activity, &cold.activity);
		require_same_states(&without.activity, &warm.activity);
		assert_true(i % 3 == 1 || warm.counts.found == STREAMS);
		assert_int_equal(warm.counts.put, 0);
		lode_activity_release(&cold.activity);
		lode_activity_release(&warm.activity);
		damage_all(cache_folder(fixture), &seed);
		run_states(fixture, WITH, &options, &warm);
		require_same_states(&without.activity, &warm.activity);
		lode_activity_release(&warm.activity);
		lode_activity_release(&without.activity);
	}
	lode_idle_rules_free(rules);
}

/* ---- what changes ---- */

/* Which symptoms of a stream count may depend on other streams of its host. */
static void symptoms_that_count_elsewhere_are_distinguished(struct fixture *fixture)
{
	const struct lode_area_options options = { .scope = LODE_SCOPE_CRITICAL_PATH };
	struct run without, run;

	run_area(fixture, WITHOUT, &options, &without);
	run_area(fixture, WITH, &options, &run);
	require_same_area(&without.area, &run.area);
	lode_area_release(&run.area);
	lode_area_release(&without.area);
}

static void only_new_and_changed_streams_are_read_again(void **state)
{
	struct fixture *fixture = *state;
	const struct lode_area_options options = { .scope = LODE_SCOPE_ALL };
	struct lode_corpus *corpus;
	struct run run, without;

	temporary_remove(cache_folder(fixture));
	run_area(fixture, WITH, &options, &run);
	assert_int_equal(run.counts.put, STREAMS);
	lode_area_release(&run.area);

	symptoms_that_count_elsewhere_are_distinguished(fixture);
	add_streams(fixture, STREAMS, STREAMS + 2);
	symptoms_that_count_elsewhere_are_distinguished(fixture);
	run_area(fixture, WITH, &options, &run);
	assert_int_equal(run.counts.found, STREAMS);
	assert_int_equal(run.counts.put, 2);
	lode_area_release(&run.area);

	assert_int_equal(lode_corpus_open(&corpus, fixture->folder, LODE_CORPUS_WRITE, &fixture->error), 0);
	add_random_stream(corpus, 3, 999); /* in place of another */
	assert_int_equal(lode_corpus_remove(corpus, "00000000000000000000000000000008", &fixture->error), 1);
	assert_int_equal(lode_corpus_remove(corpus, "00000000000000000000000000000009", &fixture->error), 1);
	lode_corpus_close(corpus);
	symptoms_that_count_elsewhere_are_distinguished(fixture);
	run_area(fixture, WITHOUT, &options, &without);
	run_area(fixture, WITH, &options, &run);
	assert_int_equal(run.counts.found, STREAMS - 1);
	assert_int_equal(run.counts.put, 1);
	require_same_area(&without.area, &run.area);
	lode_area_release(&run.area);
	lode_area_release(&without.area);
}

/* ---- entries that are damaged ---- */

static void damaged_entries_are_made_again(void **state)
{
	struct fixture *fixture = *state;
	const struct lode_area_options area_options = { .scope = LODE_SCOPE_CRITICAL_PATH, .by_symptom = 1 };
	const struct lode_latency_options latency_options = { .jobs = 1 };
	struct run area, latency, run;
	uint64_t seed = 5;

	temporary_remove(cache_folder(fixture));
	run_area(fixture, WITHOUT, &area_options, &area);
	run_latency(fixture, WITHOUT, &latency_options, &latency);
	for (int round = 0; round < 50; round++) {
		run_area(fixture, WITH, &area_options, &run);
		assert_int_equal(run.code, 0);
		assert_int_equal(run.counts.put, STREAMS);
		require_same_area(&area.area, &run.area);
		lode_area_release(&run.area);
		run_latency(fixture, WITH, &latency_options, &run);
		assert_int_equal(run.counts.put, STREAMS);
		require_same_latency(&latency.latency, &run.latency);
		lode_latency_release(&run.latency);
		assert_int_equal(damage_all(cache_folder(fixture), &seed), 2 * STREAMS);
	}
	lode_area_release(&area.area);
	lode_latency_release(&latency.latency);
}

static void a_folder_that_cannot_be_written_changes_nothing(void **state)
{
	struct fixture *fixture = *state;
	const struct lode_area_options options = { .scope = LODE_SCOPE_ALL };
	struct run without, run;
	int fd;

	temporary_remove(cache_folder(fixture));
	fd = open(cache_folder(fixture), O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	run_area(fixture, WITHOUT, &options, &without);
	run_area(fixture, WITH, &options, &run);
	assert_int_equal(run.code, 0);
	assert_int_equal(run.counts.put, 0);
	require_same_area(&without.area, &run.area);
	lode_area_release(&without.area);
	lode_area_release(&run.area);
	assert_int_equal(unlink(cache_folder(fixture)), 0);
}

/* ---- reading only ---- */

static struct timespec time_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_mtim;
}

static void collect_read_only(struct fixture *fixture, struct lode_map_cache_counts *counts)
{
	const struct lode_map_cache_options options = { .read_only = 1 };
	const struct lode_area_options how = { .scope = LODE_SCOPE_ALL };
	struct lode_corpus *corpus;
	struct lode_area area;

	assert_int_equal(lode_corpus_open(&corpus, fixture->folder, LODE_CORPUS_READ, &fixture->error), 0);
	assert_int_equal(lode_corpus_use_cache(corpus, &options), 0);
	assert_int_equal(lode_area_collect(corpus, &how, NULL, &area, &fixture->error), 0);
	*counts = lode_map_cache_counts(lode_corpus_cache(corpus));
	lode_area_release(&area);
	lode_corpus_close(corpus);
}

/* What is there is used; nothing is put, removed or marked as used, whole or not. */
static void a_cache_that_is_only_read_stays_as_it_is(void **state)
{
	struct fixture *fixture = *state;
	const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	const struct lode_area_options options = { .scope = LODE_SCOPE_ALL };
	struct lode_map_cache_counts counts;
	struct dirent *entry;
	char path[512];
	struct run run;
	DIR *listing;
	int files = 0;

	temporary_remove(cache_folder(fixture));
	collect_read_only(fixture, &counts);
	assert_int_equal(access(cache_folder(fixture), F_OK), -1);
	run_area(fixture, WITH, &options, &run);
	lode_area_release(&run.area);
	listing = opendir(cache_folder(fixture));
	while ((entry = readdir(listing))) {
		snprintf(path, sizeof(path), "%s/%s", cache_folder(fixture), entry->d_name);
		if (entry->d_name[0] == '.')
			continue;
		if (files++ == 0)
			assert_int_equal(truncate(path, 60), 0);
		assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	}
	assert_int_equal(files, STREAMS);
	collect_read_only(fixture, &counts);
	assert_int_equal(counts.found, STREAMS - 1);
	assert_int_equal(counts.put, 0);
	rewinddir(listing);
	for (files = 0; (entry = readdir(listing));) {
		snprintf(path, sizeof(path), "%s/%s", cache_folder(fixture), entry->d_name);
		if (entry->d_name[0] == '.')
			continue;
		assert_int_equal(time_of(path).tv_sec, 1000);
		files++;
	}
	closedir(listing);
	assert_int_equal(files, STREAMS);
	temporary_remove(cache_folder(fixture));
}

/* ---- limits ---- */

static uint64_t size_of_folder(const char *folder, int *count)
{
	DIR *listing = opendir(folder);
	struct dirent *entry;
	struct stat status;
	uint64_t size = 0;

	*count = 0;
	assert_non_null(listing);
	while ((entry = readdir(listing)))
		if (entry->d_name[0] != '.' && !fstatat(dirfd(listing), entry->d_name, &status, 0)) {
			size += (uint64_t)status.st_size;
			++*count;
		}
	closedir(listing);
	return size;
}

static void what_was_not_used_for_longest_goes_first(void **state)
{
	struct fixture *fixture = *state;
	char path[512], kept[512] = "";
	DIR *listing;
	struct dirent *entry;
	const struct lode_area_options options = { .scope = LODE_SCOPE_ALL },
				       other = { .scope = LODE_SCOPE_ALL, .kinds = 1u << LODE_RUN };
	struct lode_area area;
	struct lode_corpus *corpus;
	struct run run;
	uint64_t size;
	int count;

	temporary_remove(cache_folder(fixture));
	run_area(fixture, WITH, &options, &run);
	lode_area_release(&run.area);
	size = size_of_folder(cache_folder(fixture), &count);
	assert_int_equal(count, STREAMS);
	/* All but one were used long ago. */
	listing = opendir(cache_folder(fixture));
	while ((entry = readdir(listing))) {
		const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", cache_folder(fixture), entry->d_name);
		if (!*kept)
			memcpy(kept, path, sizeof(kept));
		else
			assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	}
	closedir(listing);
	corpus = open_corpus(fixture, WITH, size);
	assert_int_equal(lode_area_collect(corpus, &other, NULL, &area, &fixture->error), 0);
	lode_area_release(&area);
	lode_corpus_close(corpus);
	assert_true(size_of_folder(cache_folder(fixture), &count) <= size);
	assert_true(count > 0);
	assert_int_equal(access(kept, F_OK), 0);
}

/* ---- failing ---- */

static void memory_that_runs_out_is_an_error_or_nothing_is_kept(void **state)
{
	struct fixture *fixture = *state;
	const struct lode_area_options options = { .scope = LODE_SCOPE_GRAPH, .jobs = 1 };
	struct run without;

	run_area(fixture, WITHOUT, &options, &without);
	for (int warm = 0; warm < 2; warm++) {
		uint64_t asked = 1;

		for (uint64_t nth = 1; nth <= asked; nth += nth < TEST_ROUNDS(100) ? 1 : 37) {
			struct lode_corpus *corpus = open_corpus(fixture, WITH, 0);
			struct lode_area area;
			int code;

			if (!warm)
				temporary_remove(cache_folder(fixture));
			lode_memory_fail_at(nth, 0);
			code = lode_area_collect(corpus, &options, NULL, &area, &fixture->error);
			asked = lode_memory_asked();
			lode_memory_fail_at(0, 0);
			if (!code) {
				require_same_area(&without.area, &area);
				lode_area_release(&area);
			} else {
				assert_int_equal(code, LODE_SYSTEM);
			}
			lode_corpus_close(corpus);
		}
	}
	lode_area_release(&without.area);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(areas_are_the_same_with_and_without),
		cmocka_unit_test(latencies_are_the_same_with_and_without),
		cmocka_unit_test(states_are_the_same_with_and_without),
		cmocka_unit_test(only_new_and_changed_streams_are_read_again),
		cmocka_unit_test(damaged_entries_are_made_again),
		cmocka_unit_test(a_folder_that_cannot_be_written_changes_nothing),
		cmocka_unit_test(a_cache_that_is_only_read_stays_as_it_is),
		cmocka_unit_test(what_was_not_used_for_longest_goes_first),
		cmocka_unit_test(memory_that_runs_out_is_an_error_or_nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
