/* Many streams at once: all or none, each once, whatever fails on the way. */
#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "base/file.h"
#include "base/memory.h"
#include "store/corpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STREAMS 5

struct fixture {
	char path[64];
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_error error;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	uint64_t seed = 43;

	if (temporary_folder(fixture->path, sizeof(fixture->path)) < 0 ||
	    lode_dictionary_init(&fixture->dictionary) < 0)
		return -1;
	lode_stream_init(&fixture->stream, &fixture->dictionary);
	*state = fixture;
	return random_stream(&fixture->stream, &seed, 50);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	temporary_remove(fixture->path);
	lode_stream_release(&fixture->stream);
	lode_dictionary_release(&fixture->dictionary);
	free(fixture);
	return 0;
}

/* Writes a draft; ids differ by their first digit. */
static void prepare(struct fixture *fixture, struct lode_corpus *corpus, struct lode_corpus_arrival *arrival,
		    unsigned number)
{
	char *path;

	memset(arrival, 0, sizeof(*arrival));
	snprintf(arrival->entry.id, sizeof(arrival->entry.id), "%x123456789abcdef0123456789abcdef", number);
	arrival->entry.source = "test";
	assert_int_equal(lode_corpus_describe(&fixture->stream, &arrival->entry), 0);
	path = lode_corpus_draft(corpus, arrival->entry.id);
	assert_int_equal(lode_store_write(path, 0600, &fixture->stream, 1, &fixture->error), 0);
	arrival->path = path;
	arrival->stream = &fixture->stream;
}

static void release(struct lode_corpus_arrival *arrivals, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_int_not_equal(access(arrivals[i].path, F_OK), 0);
		lode_free((char *)(uintptr_t)arrivals[i].path);
	}
}

/* As many files as rows, and each can be read. */
static size_t count_whole(struct lode_corpus *corpus)
{
	struct lode_corpus_list list;
	struct lode_error error;
	size_t count;

	assert_int_equal(lode_corpus_streams(corpus, &list, &error), 0);
	for (size_t i = 0; i < list.count; i++)
		assert_int_equal(lode_store_verify(list.items[i].path, &error), 0);
	count = list.count;
	lode_corpus_list_release(&list);
	return count;
}

static void each_is_added_once(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_arrival arrivals[4];
	struct lode_corpus *corpus;

	assert_int_equal(lode_corpus_open(&corpus, fixture->path, LODE_CORPUS_CREATE, &fixture->error), 0);
	prepare(fixture, corpus, &arrivals[0], 1);
	assert_int_equal(lode_corpus_place_all(corpus, arrivals, 1, &fixture->error), 0);
	release(arrivals, 1);
	prepare(fixture, corpus, &arrivals[0], 2);
	prepare(fixture, corpus, &arrivals[1], 1); /* is there */
	prepare(fixture, corpus, &arrivals[2], 2); /* comes with it */
	prepare(fixture, corpus, &arrivals[3], 3);
	assert_int_equal(lode_corpus_place_all(corpus, arrivals, 4, &fixture->error), 0);
	assert_int_equal(arrivals[0].is_new, 1);
	assert_int_equal(arrivals[1].is_new, 0);
	assert_int_equal(arrivals[2].is_new, 0);
	assert_int_equal(arrivals[3].is_new, 1);
	release(arrivals, 4);
	assert_int_equal(count_whole(corpus), 3);
	lode_corpus_close(corpus);
}

static size_t count_files(struct fixture *fixture)
{
	char command[160], text[16] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "ls %s/streams | wc -l", fixture->path);
	pipe = popen(command, "r");
	assert_non_null(fgets(text, sizeof(text), pipe));
	pclose(pipe);
	return (size_t)atoi(text);
}

/* Each operation on a file fails once: none of the streams is there then, and nothing is left of them. */
static void a_failure_leaves_none(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_arrival arrivals[STREAMS];
	struct lode_corpus *corpus;
	int code = -1;

	assert_int_equal(lode_corpus_open(&corpus, fixture->path, LODE_CORPUS_CREATE, &fixture->error), 0);
	for (uint64_t nth = 1; code; nth++) {
		for (unsigned i = 0; i < STREAMS; i++)
			prepare(fixture, corpus, &arrivals[i], i);
		lode_file_fail_at(nth, 0, ENOSPC);
		code = lode_corpus_place_all(corpus, arrivals, STREAMS, &fixture->error);
		lode_file_fail_at(0, 0, 0);
		assert_true(nth < 100);
		assert_int_equal(count_whole(corpus), code ? 0 : STREAMS);
		assert_int_equal(count_files(fixture), code ? 0 : STREAMS);
		release(arrivals, STREAMS);
	}
	lode_corpus_close(corpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_is_added_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_failure_leaves_none, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
