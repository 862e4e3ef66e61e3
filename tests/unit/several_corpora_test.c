/* Several corpora as one: the same results as of one corpus with all their streams. */
#include "same_results.h"

#include "store/corpus_deal.h"
#include "store/corpus_names.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define STREAMS 9
#define CORPORA 4

struct fixture {
	char folder[64];
	struct lode_error error;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	return temporary_folder(fixture->folder, sizeof(fixture->folder));
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	temporary_remove(fixture->folder);
	free(fixture);
	return 0;
}

static char *path_in(const struct fixture *fixture, const char *name)
{
	char *path = malloc(256);

	snprintf(path, 256, "%s/%s", fixture->folder, name);
	return path;
}

static struct lode_corpus *open_one(struct fixture *fixture, const char *name, enum lode_corpus_mode mode)
{
	char *path = path_in(fixture, name);
	struct lode_corpus *corpus;

	assert_int_equal(lode_corpus_open(&corpus, path, mode, &fixture->error), 0);
	free(path);
	return corpus;
}

/* All streams into `whole`, and each into one or more of the parts; at least one part stays empty at times. */
static size_t deal_streams(struct fixture *fixture, uint64_t *seed)
{
	struct lode_corpus *whole = open_one(fixture, "whole", LODE_CORPUS_CREATE), *parts[CORPORA];
	size_t repeated = 0;
	char name[32];

	for (int k = 0; k < CORPORA; k++) {
		snprintf(name, sizeof(name), "part-%d", k);
		parts[k] = open_one(fixture, name, LODE_CORPUS_CREATE);
	}
	for (int i = 0; i < STREAMS; i++) {
		int first = (int)random_below(seed, CORPORA - 1), second = (int)random_below(seed, CORPORA);

		add_random_stream(whole, i, 31 + (uint64_t)i);
		add_random_stream(parts[first], i, 31 + (uint64_t)i);
		if (second != first && random_below(seed, 3) == 0) {
			add_random_stream(parts[second], i, 31 + (uint64_t)i);
			repeated++;
		}
	}
	lode_corpus_close(whole);
	for (int k = 0; k < CORPORA; k++)
		lode_corpus_close(parts[k]);
	return repeated;
}

static struct lode_corpus *open_parts(struct fixture *fixture)
{
	char *pattern = path_in(fixture, "part-*");
	char *const names[] = { pattern };
	struct lode_corpus *corpus;

	assert_int_equal(lode_corpus_open_all(&corpus, names, 1, &fixture->error), 0);
	assert_int_equal(lode_corpus_count(corpus), CORPORA);
	free(pattern);
	return corpus;
}

static void require_same_results(struct fixture *fixture, struct lode_corpus *whole, struct lode_corpus *parts)
{
	for (int scope = LODE_SCOPE_ALL; scope < LODE_SCOPES; scope++) {
		struct lode_area_options options = { .scope = (enum lode_scope)scope,
						     .by_symptom = scope == LODE_SCOPE_GRAPH };
		struct lode_area a, b;

		assert_int_equal(lode_area_collect(whole, &options, NULL, &a, &fixture->error), 0);
		assert_int_equal(lode_area_collect(parts, &options, NULL, &b, &fixture->error), 0);
		require_same_area(&a, &b);
		lode_area_release(&a);
		lode_area_release(&b);
	}
	{
		const struct lode_latency_options options = { 0 };
		struct lode_latency a, b;

		assert_int_equal(lode_latency_collect(whole, &options, NULL, &a, &fixture->error), 0);
		assert_int_equal(lode_latency_collect(parts, &options, NULL, &b, &fixture->error), 0);
		require_same_latency(&a, &b);
		lode_latency_release(&a);
		lode_latency_release(&b);
	}
}

static void several_corpora_give_the_results_of_one(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 17;

	for (int round = 0; round < 20; round++) {
		size_t repeated = deal_streams(fixture, &seed);
		struct lode_corpus *whole = open_one(fixture, "whole", LODE_CORPUS_READ);
		struct lode_corpus *parts = open_parts(fixture);
		struct lode_corpus_list list = { 0 };

		assert_int_equal(lode_corpus_streams(parts, &list, &fixture->error), 0);
		assert_int_equal(list.count, STREAMS);
		assert_int_equal(list.repeated, repeated);
		lode_corpus_list_release(&list);
		require_same_results(fixture, whole, parts);
		lode_corpus_close(whole);
		lode_corpus_close(parts);
		temporary_remove(fixture->folder);
		assert_int_equal(mkdir(fixture->folder, 0700), 0);
	}
}

struct dealt {
	const struct lode_corpus_entry *entries;
	pthread_mutex_t lock;
	uint64_t next;  /* of the shared queue */
	int owners[40]; /* by stream: how often it was kept */
	uint64_t smallest;
	int is_sorted; /* none was larger than one before it */
};

static uint64_t take(void *context)
{
	struct dealt *dealt = context;
	uint64_t number;

	pthread_mutex_lock(&dealt->lock);
	number = dealt->next++;
	pthread_mutex_unlock(&dealt->lock);
	return number;
}

static void keep(void *context, size_t i)
{
	struct dealt *dealt = context;

	pthread_mutex_lock(&dealt->lock);
	dealt->owners[i]++;
	dealt->is_sorted &= dealt->entries[i].file_size <= dealt->smallest;
	dealt->smallest = dealt->entries[i].file_size;
	pthread_mutex_unlock(&dealt->lock);
}

/* Each stream is kept once, by however many processes and threads, with a queue or without; the largest first. */
static void streams_are_dealt_once_and_the_largest_first(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct lode_corpus_entry entries[40];
		struct lode_corpus_list list = { .items = entries, .count = random_below(&seed, 41) };
		struct dealt dealt = { .entries = entries, .lock = PTHREAD_MUTEX_INITIALIZER, .is_sorted = 1 };
		struct lode_job_rank rank = { .count = 1 + (unsigned)random_below(&seed, 9), .context = &dealt };
		unsigned jobs = 1 + (unsigned)random_below(&seed, 3);

		memset(entries, 0, sizeof(entries));
		for (size_t i = 0; i < list.count; i++)
			entries[i].file_size = random_below(&seed, 1u << 20);
		rank.take = random_below(&seed, 2) ? take : NULL;
		for (rank.number = 0; rank.number < rank.count; rank.number++) {
			dealt.smallest = UINT64_MAX;
			assert_int_equal(lode_corpus_deal(&list, &rank, jobs, keep, &dealt), 0);
		}
		for (size_t i = 0; i < list.count; i++)
			assert_int_equal(dealt.owners[i], 1);
		assert_true(jobs > 1 || dealt.is_sorted);
	}
}

static void a_file_names_one_corpus_a_line(void **state)
{
	static const char text[] = "# a comment\n a \n\n\tb/c\r\nnot[there\nlast";
	static const char *const expected[] = { "a", "b/c" };
	struct fixture *fixture = *state;
	struct lode_text_list names = { 0 };

	/* A pattern that nothing fits is reported, with what was read before it. */
	assert_int_equal(lode_corpus_names_read(&names, "list", text, sizeof(text) - 1, &fixture->error),
			 LODE_BAD_INPUT);
	assert_int_equal(names.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(names.items[i], expected[i]);
	lode_text_list_release(&names);
	assert_int_equal(lode_corpus_names_read(&names, "list", "#\n \n", 4, &fixture->error), LODE_BAD_INPUT);
	assert_int_equal(lode_corpus_names_read(&names, "list", "@other\n", 7, &fixture->error), LODE_BAD_INPUT);
	assert_int_equal(lode_corpus_names_read(&names, "list", "a\0b\n", 4, &fixture->error), LODE_BAD_INPUT);
	assert_non_null(strstr(fixture->error.text, "list:1:"));
	lode_text_list_release(&names);
}

static void what_is_not_there_is_reported(void **state)
{
	static char none[] = "/nowhere/none*", list[] = "@/nowhere/list", corpus_path[] = "/nowhere/corpus";
	static char *const wrong[] = { none, list, corpus_path };
	struct fixture *fixture = *state;
	struct lode_corpus *corpus;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		fixture->error.text[0] = '\0';
		assert_true(lode_corpus_open_all(&corpus, &wrong[i], 1, &fixture->error) < 0);
		assert_null(corpus);
		assert_non_null(strstr(fixture->error.text, "/nowhere/"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_corpora_give_the_results_of_one),
		cmocka_unit_test(streams_are_dealt_once_and_the_largest_first),
		cmocka_unit_test(a_file_names_one_corpus_a_line),
		cmocka_unit_test(what_is_not_there_is_reported),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
