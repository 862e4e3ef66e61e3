/*
 * Joining latencies of consecutive streams, within a process or as messages between several, against merging the streams one by
 * one: the same, to the byte.
 */
#include "cmocka_all.h"
#include "job_fixture.h"
#include "merge_fixture.h"
#include "random_calls.h"

#include "latency/latency_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 100
#else
#define ROUNDS 1000
#endif
#define MOST 9 /* streams */

/* ---- random streams ---- */

static uint64_t *random_numbers(size_t count, uint64_t *seed)
{
	uint64_t *numbers = lode_calloc(count + 1, sizeof(*numbers));

	assert_non_null(numbers);
	for (size_t i = 0; i < count; i++)
		numbers[i] = random_number(seed);
	return numbers;
}

static void random_partial(struct lode_latency_partial *partial, uint64_t *seed)
{
	char name[] = "stream-0";

	memset(partial, 0, sizeof(*partial));
	if (!random_below(seed, 6)) {
		partial->unread = LODE_BAD_INPUT;
		partial->reason = lode_strdup("is cut off");
		return;
	}
	assert_int_equal(lode_dictionary_init(&partial->dictionary), 0);
	lode_stream_init(&partial->stream, &partial->dictionary);
	name[7] = (char)('0' + random_below(seed, 10));
	partial->stream.name = lode_strings_add(&partial->dictionary.frames.strings, name, strlen(name));
	random_calls(&partial->stream, seed);
	assert_int_equal(lode_latency_partial_add(partial, NULL), 0);
	partial->wanted = random_below(seed, 5) != 0;
	partial->slept = random_numbers(partial->chains.count, seed);
	partial->queued = random_numbers(partial->chains.count, seed);
	/* Fractions whose sums depend on their order. */
	for (size_t i = 0; i < partial->chains.count; i++)
		partial->nodes[i].variance = (double)random_number(seed) * (double)random_number(seed) / 3;
	if (!random_below(seed, 3))
		partial->unsure = random_numbers(partial->dictionary.tree.count, seed);
	partial->lost.placed = random_below(seed, 9);
	partial->lost.unplaced = random_below(seed, 9);
}

struct input {
	struct lode_latency_partial partials[MOST];
	struct lode_corpus_entry entries[MOST];
};

static void make_input(struct input *input, size_t count, uint64_t *seed)
{
	memset(input, 0, sizeof(*input));
	for (size_t i = 0; i < count; i++) {
		random_partial(&input->partials[i], seed);
		memset(input->entries[i].id, 'a' + (int)i, sizeof(input->entries[i].id) - 1);
		input->entries[i].name = "a name";
	}
}

static void release_input(struct input *input, size_t count)
{
	for (size_t i = 0; i < count; i++)
		lode_latency_partial_release(&input->partials[i]);
}

/* ---- comparing ---- */

static void assert_sketches_equal(const struct lode_latency *a, const struct lode_latency *b)
{
	for (uint32_t node = 0; node < a->node_count; node++) {
		struct lode_sketch_step left[512], right[512];
		uint32_t steps = lode_sketch_steps(&a->sketch, node, left);

		assert_int_equal(lode_sketch_steps(&b->sketch, node, right), steps);
		if (steps)
			assert_memory_equal(left, right, steps * sizeof(*left));
	}
}

static void assert_equal(const struct lode_latency *a, const struct lode_latency *b)
{
	assert_dictionaries_equal(&a->dictionary, &b->dictionary);
	assert_int_equal(a->stream_count, b->stream_count);
	for (size_t i = 0; i < a->stream_count; i++) {
		assert_string_equal(a->streams[i].id, b->streams[i].id);
		assert_int_equal(a->streams[i].name, b->streams[i].name);
	}
	assert_int_equal(a->node_count, b->node_count);
	assert_memory_equal(a->nodes, b->nodes, a->node_count * sizeof(*a->nodes));
	assert_memory_equal(a->own, b->own, a->node_count * sizeof(*a->own));
	assert_int_equal(a->row_count, b->row_count);
	if (a->row_count)
		assert_memory_equal(a->rows, b->rows, a->row_count * sizeof(*a->rows));
	assert_sketches_equal(a, b);
	assert_memory_equal(&a->input, &b->input, sizeof(a->input));
	assert_int_equal(a->instances, b->instances);
	assert_int_equal(a->placed, b->placed);
	assert_int_equal(a->unplaced, b->unplaced);
	assert_int_equal(a->unread.count, b->unread.count);
	for (size_t i = 0; i < a->unread.count; i++)
		assert_string_equal(a->unread.items[i].id, b->unread.items[i].id);
}

/* ---- the tests ---- */

static void merge_one_by_one(struct lode_latency_merge *merge, const struct input *input, size_t first, size_t last)
{
	for (size_t i = first; i < last; i++)
		assert_int_equal(lode_latency_merge_stream(merge, &input->partials[i], &input->entries[i]), 0);
}

/* Streams first..last-1: in two parts, each made in the same way, or one by one. */
static void merge_in_parts(struct lode_latency_merge *merge, const struct input *input, size_t first, size_t last,
			   uint64_t *seed)
{
	struct lode_latency_merge part = { 0 };
	size_t middle = random_split(first, last, seed);

	if (middle == first) {
		merge_one_by_one(merge, input, first, last);
		return;
	}
	merge_in_parts(merge, input, first, middle, seed);
	assert_int_equal(lode_latency_merge_init(&part), 0);
	merge_in_parts(&part, input, middle, last, seed);
	assert_int_equal(lode_latency_merge_join(merge, &part), 0);
	lode_latency_merge_release(&part);
}

/* Finishes both and compares them. */
static void compare_and_release(struct lode_latency_merge *a, struct lode_latency_merge *b)
{
	struct lode_latency one = { 0 }, other = { 0 };

	assert_int_equal(lode_latency_merge_finish(a, &one), 0);
	assert_int_equal(lode_latency_merge_finish(b, &other), 0);
	assert_equal(&one, &other);
	lode_latency_release(&one);
	lode_latency_release(&other);
	lode_latency_merge_release(a);
	lode_latency_merge_release(b);
}

static void parts_joined_are_the_streams_one_by_one(void **state)
{
	static struct input input;
	uint64_t seed = 21;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct lode_latency_merge whole = { 0 }, joined = { 0 };
		size_t count = random_below(&seed, MOST + 1);

		make_input(&input, count, &seed);
		assert_int_equal(lode_latency_merge_init(&whole), 0);
		assert_int_equal(lode_latency_merge_init(&joined), 0);
		merge_one_by_one(&whole, &input, 0, count);
		merge_in_parts(&joined, &input, 0, count, &seed);
		compare_and_release(&whole, &joined);
		release_input(&input, count);
	}
}

struct shares {
	struct lode_latency_merge merges[JOB_MOST];
};

static int gather(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	struct shares *shares = context;

	return lode_latency_merge_gather(&shares->merges[rank->number], rank, 0, error);
}

static void processes_gather_the_streams_one_by_one(void **state)
{
	static struct job job;
	static struct shares shares;
	static struct input input;
	uint64_t seed = 22;

	(void)state;
	for (int round = 0; round < ROUNDS / 5; round += ONE_IN) {
		struct lode_latency_merge whole = { 0 };
		size_t count = random_below(&seed, MOST + 1), start = 0;
		unsigned processes = 1 + (unsigned)random_below(&seed, JOB_MOST);

		make_input(&input, count, &seed);
		memset(&shares, 0, sizeof(shares));
		assert_int_equal(lode_latency_merge_init(&whole), 0);
		merge_one_by_one(&whole, &input, 0, count);
		for (unsigned i = 0; i < processes; i++) {
			size_t end = i + 1 < processes ? start + random_below(&seed, count - start + 1) : count;

			assert_int_equal(lode_latency_merge_init(&shares.merges[i]), 0);
			merge_one_by_one(&shares.merges[i], &input, start, end);
			start = end;
		}
		job_run(&job, processes, 1, gather, &shares);
		for (unsigned i = 0; i < processes; i++)
			assert_int_equal(job.processes[i].code, 0);
		compare_and_release(&whole, &shares.merges[0]);
		for (unsigned i = 1; i < processes; i++)
			lode_latency_merge_release(&shares.merges[i]);
		release_input(&input, count);
	}
}

/* A message that is cut short is refused; one with a wrong byte is refused, or joined without harm. */
static void damaged_messages_do_no_harm(void **state)
{
	static struct input input;
	uint64_t seed = 23;

	(void)state;
	for (int round = 0; round < ROUNDS / 10; round++) {
		struct lode_latency_merge merge = { 0 };
		struct lode_buffer message = { 0 };

		make_input(&input, 4, &seed);
		assert_int_equal(lode_latency_merge_init(&merge), 0);
		merge_one_by_one(&merge, &input, 0, 4);
		lode_latency_message_write(&merge, &message);
		assert_false(message.failed);
		assert_int_equal(message.size % 8, 0);
		for (int try = 0; try < 20; try++) {
			struct lode_latency_merge to = { 0 };
			struct lode_latency_message received;
			size_t place = random_below(&seed, message.size);
			char right = message.bytes[place];

			message.bytes[place] = (char)(right ^ (1 << random_below(&seed, 8)));
			assert_int_equal(lode_latency_merge_init(&to), 0);
			if (!lode_latency_message_read(&received, lode_cursor(message.bytes, message.size)))
				assert_int_equal(lode_latency_merge_join(&to, &received.merge), 0);
			lode_latency_message_release(&received);
			lode_latency_merge_release(&to);
			message.bytes[place] = right;
			assert_int_equal(lode_latency_message_read(&received, lode_cursor(message.bytes, place)),
					 LODE_BAD_INPUT);
			lode_latency_message_release(&received);
		}
		lode_buffer_release(&message);
		lode_latency_merge_release(&merge);
		release_input(&input, 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_joined_are_the_streams_one_by_one),
		cmocka_unit_test(processes_gather_the_streams_one_by_one),
		cmocka_unit_test(damaged_messages_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
