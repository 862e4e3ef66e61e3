/*
 * Chains of critical paths against a slow search for the waits around each part, waits that are followed without symptoms
 * against the paths of each, and that findings are disjoint and add up to all time.
 */
#include "random_corpus.h"
#include "small_stream.h"

#include "mine/finding_names.h"
#include "mine/finding_streams.h"
#include "result/finding_words.h"
#include "scope/area_walks.h"
#include "trace/numbered_names.h"

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

/* Where a part is seen, by a slow search: in the first wait that was stepped into and covers it, or in itself. */
static int is_seen_at(const struct lode_stream *stream, const struct lode_part *part,
		      const struct lode_parts *stepped, const struct lode_chain_row *row)
{
	const struct lode_events *events = &stream->events[part->type];
	uint32_t event = part->event;

	for (size_t i = stepped->count; i-- > 0 && !lode_part_is_ready(stream, part);) {
		const struct lode_part *wait = &stepped->items[i];

		if (wait->t <= part->t && part->t < wait->t + wait->cost) {
			events = &stream->events[LODE_WAIT];
			event = wait->event;
		}
	}
	return row->longest == part->cost && row->longest_t == events->t[event] &&
	       row->longest_tid == stream->threads[events->thread[event]].tid;
}

/* Of each row the longest part is one of the path, seen where it should be; the longest of all is some row's. */
static void check_longest(const struct small_stream *small, const struct lode_parts *parts,
			  const struct lode_parts *stepped, const struct lode_chains *chains)
{
	uint64_t longest_part = 0, longest_row = 0;

	for (size_t i = 0; i < parts->count; i++)
		longest_part = parts->items[i].cost > longest_part ? parts->items[i].cost : longest_part;
	for (size_t i = 0; i < chains->row_count; i++) {
		const struct lode_chain_row *row = &chains->rows[i];
		size_t k = 0;

		while (k < parts->count && !is_seen_at(&small->stream, &parts->items[k], stepped, row))
			k++;
		assert_true(k < parts->count);
		assert_true(row->longest <= row->cost && row->cost <= row->longest * row->events);
		longest_row = row->longest > longest_row ? row->longest : longest_row;
	}
	assert_int_equal(longest_row, longest_part);
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
	check_longest(small, &parts, &stepped, &chains);
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

/* Looks at as many random streams. */
static void for_random_streams(uint64_t seed, int rounds,
			       void (*look)(struct small_stream *small, const struct lode_idle_stacks *idle))
{
	struct lode_idle_rules *rules;

	assert_int_equal(lode_idle_rules_load(&rules, NULL, NULL), 0);
	for (int round = 0; round < rounds; round++) {
		struct small_stream small;
		struct lode_idle_stacks *idle;

		small_begin(&small);
		small_random(&small, &seed, 40, 40);
		name_threads(&small);
		assert_int_equal(lode_idle_stacks_make(&idle, rules, &small.dictionary, NULL), 0);
		look(&small, idle);
		lode_idle_stacks_free(idle);
		small_end(&small);
	}
	lode_idle_rules_free(rules);
}

static void compare_paths(struct small_stream *small, const struct lode_idle_stacks *idle)
{
	for (uint32_t thread = 0; thread < small->stream.thread_count; thread++)
		compare_path(small, idle, &(struct lode_symptom){ .thread = thread, .t0 = 0, .t1 = 60 });
}

static void chains_are_the_waits_around_each_part(void **state)
{
	(void)state;
	for_random_streams(11, 300, compare_paths);
}

/* ---- waits that are followed ---- */

/* What chains are made with. */
struct making {
	struct lode_scope_index *index;
	struct lode_wait_kinds *kinds;
	struct lode_area_chains maker;
	struct lode_chains chains;
};

static void making_begin(struct making *making, struct small_stream *small, const struct lode_idle_stacks *idle)
{
	memset(making, 0, sizeof(*making));
	assert_int_equal(lode_scope_index_make(&making->index, &small->stream, NULL), 0);
	assert_int_equal(lode_wait_kinds_make(&making->kinds, &small->stream, idle, NULL), 0);
	assert_int_equal(lode_area_chains_make(&making->maker, &small->stream, idle, making->kinds, &making->chains),
			 0);
}

static void making_end(struct making *making)
{
	lode_area_chains_release(&making->maker);
	lode_chains_release(&making->chains);
	lode_wait_kinds_free(making->kinds);
	lode_scope_index_free(making->index);
}

/* Follows all waits. Returns how many were. */
static uint64_t follow_all(struct making *making, const struct lode_events *waits)
{
	struct lode_area_walks walks;
	uint64_t total = 0, followed;

	for (size_t i = 0; i < waits->count; i++)
		total += lode_events_cost(waits, i);
	lode_area_walks_begin(&walks, &making->maker, making->index, total);
	for (size_t i = 0; i < waits->count; i++)
		assert_int_equal(lode_area_walks_add(&walks, i), 0);
	assert_int_equal(lode_area_walks_end(&walks), 0);
	followed = walks.followed;
	lode_area_walks_release(&walks);
	return followed;
}

/* Where one wait's time went, from its own path; what that does not know is the wait's. */
static void tally_wait(struct making *making, struct small_stream *small, size_t i, struct tally *tally)
{
	const struct lode_events *waits = &small->stream.events[LODE_WAIT];
	struct lode_symptom wait = { .thread = waits->thread[i],
				     .t0 = waits->t[i],
				     .t1 = waits->t[i] + waits->cost[i] };
	uint32_t name = small->stream.threads[wait.thread].name;
	struct lode_parts parts = { 0 }, stepped = { 0 };
	struct lode_buffer key = { 0 };
	uint64_t unknown, rest = waits->cost[i];

	assert_int_equal(lode_critical_path(making->index, &wait, &parts, &stepped, &unknown, NULL), 0);
	for (size_t k = 0; k < parts.count; k++) {
		key_of_part(&small->stream, &parts.items[k], &stepped, &key);
		tally_add(tally, &key, parts.items[k].cost);
		rest -= parts.items[k].cost;
	}
	assert_int_equal(rest, unknown);
	lode_buffer_clear(&key);
	lode_buffer_print(&key, "%u stack %u state 0", name, waits->stack[i]);
	tally_add(tally, &key, rest);
	lode_buffer_clear(&key);
	lode_buffer_print(&key, "%u stack %u state 1", name, waits->stack[i]);
	tally_add(tally, &key, waits->delay ? waits->delay[i] : 0);
	lode_buffer_release(&key);
	lode_parts_release(&parts);
	lode_parts_release(&stepped);
}

/* Random streams are so short that every wait is worth a walk. */
static void compare_walks(struct small_stream *small, const struct lode_idle_stacks *idle)
{
	const struct lode_events *waits = &small->stream.events[LODE_WAIT];
	struct tally *slow = calloc(1, sizeof(*slow)), *fast = calloc(1, sizeof(*fast));
	struct lode_buffer key = { 0 };
	struct making making;
	uint64_t with_time = 0;

	making_begin(&making, small, idle);
	for (size_t i = 0; i < waits->count; i++) {
		tally_wait(&making, small, i, slow);
		with_time += waits->cost[i] != 0;
	}
	assert_int_equal(follow_all(&making, waits), with_time);
	for (size_t i = 0; i < making.chains.row_count; i++) {
		key_of_row(&making.chains, &making.chains.rows[i], &key);
		tally_add(fast, &key, making.chains.rows[i].cost);
	}
	for (size_t i = 0; i < slow->count; i++)
		assert_int_equal(slow->costs[i], tally_cost(fast, &slow->keys[i]));
	for (size_t i = 0; i < fast->count; i++)
		assert_int_equal(fast->costs[i], tally_cost(slow, &fast->keys[i]));
	making_end(&making);
	lode_buffer_release(&key);
	tally_release(slow);
	tally_release(fast);
}

static void waits_are_followed_to_where_their_time_went(void **state)
{
	(void)state;
	for_random_streams(12, 500, compare_walks);
}

#define MANY_WAITS 100000

/* Thread 1 waits for 2, which runs for a part of that time, 3 of 10 on average, and sleeps for the rest. Returns how long it runs. */
static uint64_t add_many(struct small_stream *small)
{
	uint64_t seed = 5, runs = 0;

	for (uint64_t i = 0, t = 0; i < MANY_WAITS; i++, t += 10000) {
		uint64_t cost = 1000 + random_below(&seed, 5000), run = random_below(&seed, 1 + cost * 6 / 10);

		small_event(small, LODE_WAIT, 1, t, cost, 0, 2, "app!main;app!ask");
		small_event(small, LODE_RUN, 2, t, run, 0, LODE_NONE, "app!work;app!think");
		small_event(small, LODE_WAIT, 2, t + run, cost - run, 0, LODE_NONE, "app!work;app!nap");
		runs += run;
	}
	assert_int_equal(lode_stream_sort(&small->stream), 0);
	return runs;
}

/* Far more waits of a kind than there are shares: not all are followed, and they count nearly as if they were. */
static void equal_waits_count_like_those_that_are_followed(void **state)
{
	struct lode_idle_rules *rules;
	struct lode_idle_stacks *idle;
	struct small_stream small;
	struct making making;
	uint64_t runs, found = 0, all = 0, rows = 0, followed;

	(void)state;
	small_begin(&small);
	runs = add_many(&small);
	name_threads(&small);
	assert_int_equal(lode_idle_rules_load(&rules, NULL, NULL), 0);
	assert_int_equal(lode_idle_stacks_make(&idle, rules, &small.dictionary, NULL), 0);
	making_begin(&making, &small, idle);
	followed = follow_all(&making, &small.stream.events[LODE_WAIT]);
	assert_in_range(followed, 2, 2 * LODE_WALK_SHARES);
	for (size_t i = 0; i < small.stream.events[LODE_WAIT].count; i++)
		all += small.stream.events[LODE_WAIT].cost[i];
	for (size_t i = 0; i < making.chains.row_count; i++) {
		const struct lode_chain_row *row = &making.chains.rows[i];
		const struct lode_chain_link *last = &making.chains.links[row->chain];

		rows += row->cost;
		found += last->state == LODE_STATE_RUNNING && last->before != LODE_NONE ? row->cost : 0;
		assert_true(row->longest <= row->cost && row->longest <= 6000);
	}
	assert_int_equal(rows, all);
	assert_true(found > runs - runs / 100 && found < runs + runs / 100);
	making_end(&making);
	lode_idle_stacks_free(idle);
	lode_idle_rules_free(rules);
	small_end(&small);
}

/* ---- findings of corpora ---- */

/* What of a finding is in one stream and symptom, row by row; `longest`: the longest part. */
static uint64_t cost_in(const struct lode_findings *findings, const struct lode_finding *finding, uint32_t stream,
			uint32_t symptom, uint64_t *longest)
{
	uint64_t cost = 0;

	*longest = 0;
	for (size_t i = 0; i < finding->row_count; i++) {
		const struct lode_chain_row *row = &findings->rows[finding->first_row + i];

		if (row->stream != stream || row->symptom != symptom)
			continue;
		cost += row->cost;
		*longest = row->longest > *longest ? row->longest : *longest;
	}
	return cost;
}

/* The slowest example of a stream: no symptom has more of the finding, and its longest part is where it says. */
static void check_slowest(const struct lode_findings *findings, const struct lode_finding *finding,
			  const struct lode_finding_stream *slowest)
{
	int found = 0;

	for (size_t i = 0; i < finding->row_count; i++) {
		const struct lode_chain_row *row = &findings->rows[finding->first_row + i];
		uint64_t longest, cost, slow;

		if (row->stream != slowest->stream)
			continue;
		cost = cost_in(findings, finding, row->stream, row->symptom, &longest);
		slow = findings->symptoms ? cost : longest;
		assert_true(slow <= slowest->slowest);
		found |= slow == slowest->slowest && row->longest == longest && row->longest_t == slowest->t &&
			 row->longest_tid == slowest->tid;
	}
	assert_true(found);
}

static void check_streams(const struct lode_findings *findings, const struct lode_finding *finding)
{
	struct lode_finding_streams streams;
	uint64_t cost = 0, events = 0, previous = UINT64_MAX;
	size_t places[2], count;

	assert_int_equal(lode_finding_streams_make(&streams, findings, finding), 0);
	assert_int_equal(streams.count, finding->streams);
	assert_int_equal(streams.shares.count, finding->streams);
	for (size_t i = 0; i < streams.count; i++) {
		assert_int_equal(streams.shares.items[i].stream, streams.slowest[i].stream);
		cost += streams.shares.items[i].cost;
		events += streams.shares.items[i].events;
		check_slowest(findings, finding, &streams.slowest[i]);
	}
	assert_int_equal(cost, finding->cost);
	assert_int_equal(events, finding->events);
	count = lode_finding_streams_slowest(&streams, 2, places);
	assert_int_equal(count, streams.count < 2 ? streams.count : 2);
	for (size_t i = 0; i < count; i++) {
		assert_true(streams.slowest[places[i]].slowest <= previous);
		previous = streams.slowest[places[i]].slowest;
	}
	for (size_t i = 0; count == 2 && i < streams.count; i++)
		assert_true(i == places[0] || streams.slowest[i].slowest <= previous);
	lode_finding_streams_release(&streams);
}

/* A name is shown as it is, or without its number. */
static void check_name(const struct lode_area *area, const struct lode_findings *findings, uint32_t string,
		       uint32_t shown)
{
	const char *name = lode_strings_get(&area->dictionary.frames.strings, string);
	const char *text = lode_strings_get(&findings->names, shown);

	assert_true(strlen(text) <= strlen(name) && !memcmp(text, name, strlen(text)));
	assert_true(!*text == !*name);
}

static void check_names(const struct lode_area *area, const struct lode_findings *findings,
			const struct lode_finding *finding)
{
	size_t behind = 0;

	for (uint32_t i = finding->chain; i != LODE_NONE; i = area->chains.links[i].before) {
		const struct lode_chain_link *link = &area->chains.links[i];
		struct lode_chain_link shown = lode_finding_link(findings, &area->chains, finding, i, behind++);

		check_name(area, findings, link->process, shown.process);
		check_name(area, findings, link->thread, shown.thread);
		check_name(area, findings, link->holder_process, shown.holder_process);
		check_name(area, findings, link->holder, shown.holder);
	}
	assert_int_equal(behind, finding->link_count);
}

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
		assert_true(finding->link_count && finding->chain_cost <= finding->cost);
		check_names(area, &findings, finding);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(findings.items[k].id, finding->id);
	}
	for (size_t i = 0; i < findings.count; i++)
		check_streams(&findings, &findings.items[i]);
	assert_int_equal(listed, findings.explained);
	assert_int_equal(listed + findings.small, rows);
	assert_true(rows <= findings.total);
	lode_findings_release(&findings);
	lode_idle_stacks_free(idle);
}

/* What is said of paths in one line is what their chains come to. */
static void compare_account(const struct lode_area *area)
{
	uint64_t ns[LODE_STATES] = { 0 }, running = 0, ready = 0;

	for (size_t i = 0; i < area->chains.row_count; i++)
		ns[area->chains.links[area->chains.rows[i].chain].state] += area->chains.rows[i].cost;
	for (size_t i = 0; i < area->stream_count; i++) {
		running += area->streams[i].running;
		ready += area->streams[i].ready;
	}
	assert_int_equal(running, ns[LODE_STATE_RUNNING]);
	assert_int_equal(ready, ns[LODE_STATE_READY]);
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
		if (scopes[i] == LODE_SCOPE_CRITICAL_PATH) {
			assert_int_equal(rows, path);
			compare_account(&area);
		}
		lode_area_release(&area);
	}
	lode_idle_rules_free(rules);
}

/* ---- names ---- */

static void numbers_at_the_end_of_names_do_not_count(void **state)
{
	static const struct {
		const char *a;
		const char *b;
		int alike;
		const char *common; /* of a */
	} cases[] = {
		{ "indexer-0", "indexer-12", 1, "indexer" },
		{ "worker3", "worker4", 1, "worker" },
		{ "nginx: worker 1", "nginx: worker 2", 1, "nginx: worker" },
		{ "kworker/0:1", "kworker/0:2", 1, "kworker/0" },
		{ "indexer-0", "indexer-0", 1, "indexer" },
		{ "12", "13", 0, "12" },
		{ "cc1", "cc", 0, "cc" },
		{ "indexer-0", "indexer", 0, "indexer" },
		{ "gpu0", "gpu1", 0, "gpu0" },
		{ "", "", 1, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lode_buffer a = { 0 }, b = { 0 }, common = { 0 };

		assert_int_equal(lode_names_are_alike(cases[i].a, strlen(cases[i].a), cases[i].b,
						      strlen(cases[i].b)),
				 cases[i].alike);
		lode_finding_plain_name(&a, cases[i].a);
		lode_finding_plain_name(&b, cases[i].b);
		assert_int_equal(a.size == b.size && (!a.size || !memcmp(a.bytes, b.bytes, a.size)),
				 cases[i].alike);
		lode_finding_common_name(&common, cases[i].a);
		lode_buffer_byte(&common, '\0');
		assert_string_equal(common.bytes, cases[i].common);
		lode_buffer_release(&a);
		lode_buffer_release(&b);
		lode_buffer_release(&common);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_are_the_waits_around_each_part),
		cmocka_unit_test(waits_are_followed_to_where_their_time_went),
		cmocka_unit_test(equal_waits_count_like_those_that_are_followed),
		cmocka_unit_test(numbers_at_the_end_of_names_do_not_count),
		cmocka_unit_test_setup_teardown(findings_are_disjoint_and_add_up, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
