/*
 * Joining areas of consecutive streams, within a process or as messages between several, against merging the streams one by
 * one: the same, to the byte.
 */
#include "cmocka_all.h"
#include "job_fixture.h"
#include "merge_fixture.h"
#include "random_stream.h"

#include "scope/area_merge.h"
#include "scope/area_message.h"

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

static void random_rows(struct lode_area_rows *rows, const struct lode_area_partial *partial, uint64_t *seed)
{
	size_t nodes = partial->dictionary.tree.count;

	rows->count = random_below(seed, 12);
	rows->spread_count = random_below(seed, rows->count + 1);
	rows->items = lode_calloc(rows->count, sizeof(*rows->items));
	rows->spreads = lode_calloc(rows->spread_count, sizeof(*rows->spreads));
	assert_true(rows->items && rows->spreads);
	for (size_t i = 0; i < rows->count; i++) {
		rows->items[i] = (struct lode_area_row){
			.stack = (uint32_t)random_below(seed, nodes),
			.stream = partial->each ? (uint32_t)random_below(seed, partial->symptoms) : 0,
			.cost = random_number(seed),
			.events = random_number(seed),
			.variance = (double)random_below(seed, 1000) / 7,
			.longest = random_number(seed),
			.spread = (uint32_t)random_below(seed, rows->spread_count + 1),
		};
		rows->cost = lode_add_saturating(rows->cost, rows->items[i].cost);
		rows->events += rows->items[i].events;
	}
	for (size_t i = 0; i < rows->spread_count; i++)
		rows->spreads[i].sums[0] = (float)random_below(seed, 1000) / 3;
}

static void random_symptoms(struct lode_area_partial *partial, int by_symptom, uint64_t *seed)
{
	partial->symptoms = random_below(seed, 4);
	partial->repeated = random_below(seed, 2);
	partial->delay = random_number(seed);
	partial->account.waiting = random_number(seed);
	if (!by_symptom || !partial->symptoms)
		return;
	partial->each = lode_calloc(partial->symptoms, sizeof(*partial->each));
	partial->each_account = lode_calloc(partial->symptoms, sizeof(*partial->each_account));
	assert_true(partial->each && partial->each_account);
	for (uint64_t i = 0; i < partial->symptoms; i++) {
		size_t strings = partial->dictionary.frames.strings.count;

		partial->each[i].name = (uint32_t)random_below(seed, strings);
		partial->each[i].t1 = random_number(seed);
		partial->each_account[i].idling = random_number(seed);
	}
}

static void random_partial(struct lode_area_partial *partial, int by_symptom, uint64_t *seed)
{
	static const char *const reasons[] = { "", "cut off", "the checksum of a block is wrong" };

	memset(partial, 0, sizeof(*partial));
	if (!random_below(seed, 5)) { /* a stream that is left out */
		partial->unread = random_below(seed, 2) ? LODE_BAD_INPUT : LODE_SYSTEM;
		partial->reason = lode_strdup(reasons[random_below(seed, 3)]);
		return;
	}
	assert_int_equal(lode_dictionary_init(&partial->dictionary), 0);
	lode_stream_init(&partial->stream, &partial->dictionary);
	assert_int_equal(random_stream(&partial->stream, seed, random_below(seed, 20)), 0);
	partial->wanted = random_below(seed, 4) != 0;
	partial->occurrences = lode_calloc(partial->dictionary.tree.count, sizeof(*partial->occurrences));
	assert_non_null(partial->occurrences);
	for (size_t i = 0; i < partial->dictionary.tree.count; i++)
		partial->occurrences[i] = random_below(seed, 100);
	random_symptoms(partial, by_symptom, seed);
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		/* With by_symptom a stream without symptoms has no rows. */
		if (!by_symptom || partial->each) {
			random_rows(&partial->rows[kind], partial, seed);
			random_rows(&partial->idle[kind], partial, seed);
		}
		partial->input_events[kind] = random_number(seed);
		partial->recorded_events[kind] = random_number(seed);
		partial->input_cost[kind] = random_number(seed);
	}
	if (!by_symptom || partial->each)
		random_rows(&partial->work, partial, seed);
}

/* ---- comparing ---- */

static void assert_rows_equal(const struct lode_area_rows *a, const struct lode_area_rows *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->spread_count, b->spread_count);
	assert_int_equal(a->cost, b->cost);
	assert_int_equal(a->events, b->events);
	if (a->count)
		assert_memory_equal(a->items, b->items, a->count * sizeof(*a->items));
	if (a->spread_count)
		assert_memory_equal(a->spreads, b->spreads, a->spread_count * sizeof(*a->spreads));
}

static void assert_streams_equal(const struct lode_area_stream *a, const struct lode_area_stream *b)
{
	for (size_t i = 0; i < a->attribute_count; i++) {
		assert_int_equal(a->attributes[i].key, b->attributes[i].key);
		assert_int_equal(a->attributes[i].value, b->attributes[i].value);
		assert_int_equal(a->attributes[i].type, b->attributes[i].type);
	}
	assert_string_equal(a->id, b->id);
	assert_int_equal(a->name, b->name);
	assert_int_equal(a->host, b->host);
	assert_memory_equal(&a->attribute_count, &b->attribute_count,
			    sizeof(*a) - offsetof(struct lode_area_stream, attribute_count));
}

static void assert_equal(const struct lode_area_merge *a, const struct lode_area_merge *b)
{
	const struct lode_area *one = &a->area, *other = &b->area;

	assert_dictionaries_equal(&one->dictionary, &other->dictionary);
	assert_int_equal(a->node_count, b->node_count);
	assert_memory_equal(one->occurrences, other->occurrences, a->node_count * sizeof(*one->occurrences));
	assert_int_equal(one->stream_count, other->stream_count);
	for (size_t i = 0; i < one->stream_count; i++)
		assert_streams_equal(&one->streams[i], &other->streams[i]);
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		assert_rows_equal(&one->rows[kind], &other->rows[kind]);
		assert_rows_equal(&one->idle[kind], &other->idle[kind]);
		assert_int_equal(one->input_events[kind], other->input_events[kind]);
		assert_int_equal(one->recorded_events[kind], other->recorded_events[kind]);
		assert_int_equal(one->input_cost[kind], other->input_cost[kind]);
	}
	assert_rows_equal(&one->work, &other->work);
	assert_int_equal(one->unread.count, other->unread.count);
	for (size_t i = 0; i < one->unread.count; i++) {
		assert_string_equal(one->unread.items[i].id, other->unread.items[i].id);
		assert_string_equal(one->unread.items[i].name, other->unread.items[i].name);
		assert_string_equal(one->unread.items[i].reason, other->unread.items[i].reason);
		assert_int_equal(one->unread.items[i].code, other->unread.items[i].code);
	}
	assert_int_equal(a->wanted, b->wanted);
	assert_int_equal(a->without, b->without);
	assert_int_equal(a->repeated, b->repeated);
}

/* ---- the test ---- */

struct input {
	struct lode_area_partial partials[MOST];
	struct lode_corpus_entry entries[MOST];
	int by_symptom;
};

static void merge_one_by_one(struct lode_area_merge *merge, const struct input *input, size_t first, size_t last)
{
	for (size_t i = first; i < last; i++)
		assert_int_equal(lode_area_merge_stream(merge, &input->partials[i], &input->entries[i],
							input->by_symptom),
				 0);
}

/* Streams first..last-1: in two parts, each made in the same way, or one by one. */
static void merge_in_parts(struct lode_area_merge *merge, const struct input *input, size_t first, size_t last,
			   uint64_t *seed)
{
	struct lode_area_merge part = { 0 };
	size_t middle = random_split(first, last, seed);

	if (middle == first) {
		merge_one_by_one(merge, input, first, last);
		return;
	}
	merge_in_parts(merge, input, first, middle, seed);
	assert_int_equal(lode_area_merge_init(&part), 0);
	merge_in_parts(&part, input, middle, last, seed);
	assert_int_equal(lode_area_merge_join(merge, &part), 0);
	lode_area_merge_release(&part);
}

static struct input *make_input(size_t count, int by_symptom, uint64_t *seed)
{
	struct input *input = calloc(1, sizeof(*input));

	assert_non_null(input);
	input->by_symptom = by_symptom;
	for (size_t i = 0; i < count; i++) {
		random_partial(&input->partials[i], by_symptom, seed);
		memset(input->entries[i].id, 'a' + (int)i, sizeof(input->entries[i].id) - 1);
		input->entries[i].name = i % 2 ? "host-1" : "";
		input->entries[i].first_t = random_number(seed);
	}
	return input;
}

static void free_input(struct input *input, size_t count)
{
	for (size_t i = 0; i < count; i++)
		lode_area_partial_release(&input->partials[i]);
	free(input);
}

static void parts_joined_are_the_streams_one_by_one(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct lode_area_merge whole = { 0 }, joined = { 0 };
		size_t count = random_below(&seed, MOST + 1);
		struct input *input = make_input(count, round % 2, &seed);

		assert_int_equal(lode_area_merge_init(&whole), 0);
		assert_int_equal(lode_area_merge_init(&joined), 0);
		merge_one_by_one(&whole, input, 0, count);
		merge_in_parts(&joined, input, 0, count, &seed);
		assert_equal(&whole, &joined);
		lode_area_merge_release(&whole);
		lode_area_merge_release(&joined);
		free_input(input, count);
	}
}

/* ---- several processes ---- */

struct shares {
	const struct input *input;
	size_t starts[JOB_MOST + 1]; /* by process, one more: its first stream */
	struct lode_area_merge merges[JOB_MOST];
	unsigned failing; /* processes that fail by themselves, as bits */
};

static int gather(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	struct shares *shares = context;
	int code = 0;

	if (shares->failing >> rank->number & 1)
		code = lode_fail(error, LODE_BAD_INPUT, "process %u cannot read", rank->number);
	return lode_area_merge_gather(&shares->merges[rank->number], rank, code, error);
}

/* Each process has some of the streams, some have none. */
static void deal(struct shares *shares, const struct input *input, size_t streams, unsigned processes,
		 uint64_t *seed)
{
	memset(shares, 0, sizeof(*shares));
	shares->input = input;
	for (unsigned i = 1; i < processes; i++)
		shares->starts[i] = shares->starts[i - 1] + random_below(seed, streams - shares->starts[i - 1] + 1);
	shares->starts[processes] = streams;
	for (unsigned i = 0; i < processes; i++) {
		assert_int_equal(lode_area_merge_init(&shares->merges[i]), 0);
		merge_one_by_one(&shares->merges[i], input, shares->starts[i], shares->starts[i + 1]);
	}
}

static void release_shares(struct shares *shares, unsigned processes)
{
	for (unsigned i = 0; i < processes; i++)
		lode_area_merge_release(&shares->merges[i]);
}

static void processes_gather_the_streams_one_by_one(void **state)
{
	static struct job job;
	static struct shares shares;
	uint64_t seed = 12;

	(void)state;
	for (int round = 0; round < ROUNDS / 5; round += ONE_IN) {
		struct lode_area_merge whole = { 0 };
		size_t count = random_below(&seed, MOST + 1);
		unsigned processes = 1 + (unsigned)random_below(&seed, JOB_MOST);
		struct input *input = make_input(count, round % 2, &seed);

		assert_int_equal(lode_area_merge_init(&whole), 0);
		merge_one_by_one(&whole, input, 0, count);
		deal(&shares, input, count, processes, &seed);
		job_run(&job, processes, 1, gather, &shares);
		for (unsigned i = 0; i < processes; i++)
			assert_int_equal(job.processes[i].code, 0);
		assert_equal(&whole, &shares.merges[0]);
		lode_area_merge_release(&whole);
		release_shares(&shares, processes);
		free_input(input, count);
	}
}

static void of_several_failures_the_first_in_order_counts(void **state)
{
	static struct job job;
	static struct shares shares;
	uint64_t seed = 13;

	(void)state;
	for (int round = 0; round < 100; round += ONE_IN) {
		unsigned processes = 2 + (unsigned)random_below(&seed, JOB_MOST - 1), first = 0;
		struct input *input = make_input(3, 0, &seed);
		char sentence[64];

		deal(&shares, input, 3, processes, &seed);
		shares.failing = 1 + (unsigned)random_below(&seed, (1u << processes) - 1);
		while (!(shares.failing >> first & 1))
			first++;
		job_run(&job, processes, 1, gather, &shares);
		snprintf(sentence, sizeof(sentence), "process %u cannot read", first);
		assert_int_equal(job.processes[0].code, LODE_BAD_INPUT);
		assert_string_equal(job.processes[0].error.text, sentence);
		release_shares(&shares, processes);
		free_input(input, 3);
	}
}

/* ---- damage ---- */

/* A message that is cut short is refused; one with a wrong byte is refused, or joined without harm. */
static void damaged_messages_do_no_harm(void **state)
{
	uint64_t seed = 14;

	(void)state;
	for (int round = 0; round < ROUNDS / 5; round++) {
		struct lode_area_merge merge = { 0 };
		struct lode_buffer message = { 0 };
		struct input *input = make_input(3, round % 2, &seed);
		size_t size;

		assert_int_equal(lode_area_merge_init(&merge), 0);
		merge_one_by_one(&merge, input, 0, 3);
		lode_area_message_write(&merge, &message);
		assert_false(message.failed);
		assert_int_equal(message.size % 8, 0);
		size = random_below(&seed, message.size);
		for (int damage = 0; damage < 20; damage++) {
			struct lode_area_message received;
			size_t place = random_below(&seed, message.size);
			char right = message.bytes[place];
			int code;

			message.bytes[place] = (char)(right ^ (1 << random_below(&seed, 8)));
			code = lode_area_message_read(&received, lode_cursor(message.bytes, message.size));
			assert_true(!code || code == LODE_BAD_INPUT);
			if (!code)
				assert_int_equal(lode_area_merge_join(&merge, &received.merge), 0);
			lode_area_message_release(&received);
			message.bytes[place] = right;
			assert_int_equal(lode_area_message_read(&received, lode_cursor(message.bytes, size)),
					 LODE_BAD_INPUT);
			lode_area_message_release(&received);
		}
		lode_buffer_release(&message);
		lode_area_merge_release(&merge);
		free_input(input, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_joined_are_the_streams_one_by_one),
		cmocka_unit_test(processes_gather_the_streams_one_by_one),
		cmocka_unit_test(of_several_failures_the_first_in_order_counts),
		cmocka_unit_test(damaged_messages_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
