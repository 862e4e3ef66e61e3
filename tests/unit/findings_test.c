/*
 * Chains of critical paths against a slow search for the waits around each part, findings by hand, and that
 * findings are disjoint and add up to all time.
 */
#include "random_corpus.h"
#include "small_stream.h"

#include "mine/findings.h"
#include "result/finding_words.h"
#include "scope/area_chains.h"

#include <stdlib.h>

/* ---- chains against a slow search ---- */

struct tally {
	struct lode_buffer keys[4096];
	uint64_t costs[4096];
	size_t count;
};

static void tally_add(struct tally *tally, const struct lode_buffer *key, uint64_t cost)
{
	size_t i = 0;

	while (i < tally->count &&
	       (tally->keys[i].size != key->size || memcmp(tally->keys[i].bytes, key->bytes, key->size) != 0))
		i++;
	if (i == tally->count) {
		assert_true(i < 4096);
		tally->count++;
		lode_buffer_add(&tally->keys[i], key->bytes, key->size);
	}
	tally->costs[i] += cost;
}

static void tally_release(struct tally *tally)
{
	for (size_t i = 0; i < tally->count; i++)
		lode_buffer_release(&tally->keys[i]);
	free(tally);
}

static uint64_t tally_cost(const struct tally *tally, const struct lode_buffer *key)
{
	for (size_t i = 0; i < tally->count; i++)
		if (tally->keys[i].size == key->size && !memcmp(tally->keys[i].bytes, key->bytes, key->size))
			return tally->costs[i];
	return 0;
}

/* Names of threads from the first to the last, then the stack. */
static void key_of_row(const struct lode_chains *chains, const struct lode_chain_row *row, struct lode_buffer *key)
{
	uint32_t names[64];
	size_t count = 0;

	for (uint32_t i = row->chain; i != LODE_NONE; i = chains->links[i].before) {
		assert_true(count < 64);
		names[count++] = chains->links[i].thread;
	}
	lode_buffer_clear(key);
	while (count--)
		lode_buffer_print(key, "%u ", names[count]);
	lode_buffer_print(key, "stack %u state %d", row->stack,
			  chains->links[row->chain].state == LODE_STATE_READY);
}

/* The same, from all waits that were stepped into and cover the part. */
static void key_of_part(const struct lode_stream *stream, const struct lode_part *part,
			const struct lode_parts *stepped, struct lode_buffer *key)
{
	const struct lode_events *events = &stream->events[part->type];

	lode_buffer_clear(key);
	for (size_t i = 0; i < stepped->count; i++) {
		const struct lode_part *wait = &stepped->items[i];

		if (wait->t <= part->t && part->t < wait->t + wait->cost &&
		    (part->type != LODE_WAIT || wait->event != part->event))
			lode_buffer_print(key, "%u ",
					  stream->threads[stream->events[LODE_WAIT].thread[wait->event]].name);
	}
	lode_buffer_print(key, "%u stack %u state %d", stream->threads[events->thread[part->event]].name,
			  events->stack[part->event], lode_part_is_ready(stream, part));
}

static int want_all(void *context, const struct lode_part *part)
{
	(void)context;
	(void)part;
	return 1;
}

static void name_threads(struct small_stream *small)
{
	for (size_t i = 0; i < small->stream.thread_count; i++) {
		char name[16];

		snprintf(name, sizeof(name), "t%u", small->stream.threads[i].tid);
		small->stream.threads[i].name =
			lode_strings_add(&small->dictionary.frames.strings, name, strlen(name));
	}
}

static void compare_path(struct small_stream *small, const struct lode_idle_stacks *idle,
			 const struct lode_symptom *symptom)
{
	struct tally *slow = calloc(1, sizeof(*slow)), *fast = calloc(1, sizeof(*fast));
	struct lode_parts parts = { 0 }, stepped = { 0 };
	struct lode_area_chains maker;
	struct lode_chains chains = { 0 };
	struct lode_scope_index *index;
	struct lode_wait_kinds *kinds;
	struct lode_buffer key = { 0 };
	uint64_t unknown;

	assert_int_equal(lode_scope_index_make(&index, &small->stream, NULL), 0);
	assert_int_equal(lode_critical_path(index, symptom, &parts, &stepped, &unknown, NULL), 0);
	assert_int_equal(lode_wait_kinds_make(&kinds, &small->stream, idle, NULL), 0);
	assert_int_equal(lode_area_chains_make(&maker, &small->stream, idle, kinds, &chains), 0);
	maker.is_wanted = want_all;
	assert_int_equal(lode_area_chains_path(&maker, 0, &parts, 0, &stepped), 0);
	for (size_t i = 0; i < parts.count; i++) {
		key_of_part(&small->stream, &parts.items[i], &stepped, &key);
		tally_add(slow, &key, parts.items[i].cost);
	}
	for (size_t i = 0; i < chains.row_count; i++) {
		key_of_row(&chains, &chains.rows[i], &key);
		tally_add(fast, &key, chains.rows[i].cost);
	}
	assert_int_equal(slow->count, fast->count);
	for (size_t i = 0; i < slow->count; i++)
		assert_int_equal(slow->costs[i], tally_cost(fast, &slow->keys[i]));
	lode_buffer_release(&key);
	lode_area_chains_release(&maker);
	lode_chains_release(&chains);
	lode_wait_kinds_free(kinds);
	lode_scope_index_free(index);
	lode_parts_release(&parts);
	lode_parts_release(&stepped);
	tally_release(slow);
	tally_release(fast);
}

static void chains_are_the_waits_around_each_part(void **state)
{
	struct lode_idle_rules *rules;
	uint64_t seed = 11;

	(void)state;
	assert_int_equal(lode_idle_rules_load(&rules, NULL, NULL), 0);
	for (int round = 0; round < 300; round++) {
		struct small_stream small;
		struct lode_idle_stacks *idle;

		small_begin(&small);
		small_random(&small, &seed, 40, 40);
		name_threads(&small);
		assert_int_equal(lode_idle_stacks_make(&idle, rules, &small.dictionary, NULL), 0);
		for (uint32_t thread = 0; thread < small.stream.thread_count; thread++)
			compare_path(&small, idle, &(struct lode_symptom){ .thread = thread, .t0 = 0, .t1 = 60 });
		lode_idle_stacks_free(idle);
		small_end(&small);
	}
	lode_idle_rules_free(rules);
}

/* ---- findings of corpora ---- */

static void add_up(const struct lode_area *area, const struct lode_idle_rules *rules, double least)
{
	struct lode_idle_stacks *idle;
	struct lode_findings findings;
	uint64_t rows = 0, listed = 0;

	assert_int_equal(lode_idle_stacks_make(&idle, rules, &area->dictionary, NULL), 0);
	assert_int_equal(lode_findings_make(&findings, area, idle, least), 0);
	for (size_t i = 0; i < area->chains.row_count; i++)
		rows += area->chains.rows[i].cost;
	for (size_t i = 0; i < findings.count; i++) {
		const struct lode_finding *finding = &findings.items[i];

		listed += finding->cost;
		assert_true(finding->place_cost <= finding->cost);
		assert_true(finding->streams && finding->streams <= area->stream_count);
		assert_true(finding->symptoms <= findings.symptoms);
		assert_true(!i || findings.items[i - 1].cost >= finding->cost);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(findings.items[k].id, finding->id);
	}
	assert_int_equal(listed, findings.explained);
	assert_int_equal(listed + findings.small, rows);
	assert_true(rows <= findings.total);
	lode_findings_release(&findings);
	lode_idle_stacks_free(idle);
}

static void findings_are_disjoint_and_add_up(void **state)
{
	struct fixture *fixture = *state;
	struct lode_idle_rules *rules;
	static const enum lode_scope scopes[] = { LODE_SCOPE_ALL, LODE_SCOPE_CRITICAL_PATH };

	assert_int_equal(lode_idle_rules_load(&rules, NULL, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		struct lode_area_options options = { .scope = scopes[i], .idle = rules, .chains = 1 };
		uint64_t path = 0, rows = 0;
		struct lode_area area;

		assert_int_equal(lode_area_collect(fixture->corpus, &options, NULL, &area, NULL), 0);
		add_up(&area, rules, 0);
		add_up(&area, rules, 0.1);
		for (size_t k = 0; k < area.stream_count; k++)
			path += area.streams[k].delay - area.streams[k].unknown;
		for (size_t k = 0; k < area.chains.row_count; k++)
			rows += area.chains.rows[k].cost;
		if (scopes[i] == LODE_SCOPE_CRITICAL_PATH)
			assert_int_equal(rows, path);
		lode_area_release(&area);
	}
	lode_idle_rules_free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_are_the_waits_around_each_part),
		cmocka_unit_test_setup_teardown(findings_are_disjoint_and_add_up, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
