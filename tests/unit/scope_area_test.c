/* The area of interest of a corpus, against sums over plain lists of events. */
#include "cmocka_all.h"
#include "random_corpus.h"

#include "scope/area.h"
#include "scope/frame_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a stack's text is, so that stacks of different dictionaries can be compared. */
static char *stack_text(const struct lode_dictionary *dictionary, uint32_t node)
{
	struct lode_buffer text = { 0 };
	uint32_t depth = lode_stack_tree_depth(&dictionary->tree, node),
		 *frames = calloc(depth + 1, sizeof(*frames));

	lode_stack_tree_frames(&dictionary->tree, node, frames, depth);
	for (uint32_t i = 0; i < depth; i++) {
		lode_frames_text(&dictionary->frames, frames[i], &text);
		lode_buffer_byte(&text, '\n');
	}
	lode_buffer_byte(&text, '\0');
	free(frames);
	return text.bytes;
}

/* Which events the slow sum counts. */
struct slow_filter {
	const char *match;
	const char *exclude;
	const char *version;
	uint64_t from;
	uint64_t to;
};

static int stack_has(const struct lode_dictionary *dictionary, uint32_t node, const char *glob)
{
	for (; node; node = dictionary->tree.nodes[node].parent)
		if (lode_frame_matches(&dictionary->frames, dictionary->tree.nodes[node].frame, glob))
			return 1;
	return 0;
}

/* Cost and number of events of `type` with this stack in this stream, event by event. */
static void sum_slowly(struct fixture *fixture, const char *id, int type, const char *stack,
		       const struct slow_filter *filter, uint64_t *cost, uint64_t *events)
{
	char *path = lode_corpus_stream_path(fixture->corpus, id, &fixture->error);
	struct lode_dictionary dictionary;
	struct lode_stream stream;

	lode_dictionary_init(&dictionary);
	lode_stream_init(&stream, &dictionary);
	assert_int_equal(lode_store_load(path, &stream, &fixture->error), 0);
	*cost = *events = 0;
	for (size_t i = 0; i < stream.events[type].count; i++) {
		struct lode_event event = lode_events_get(&stream.events[type], i);
		char *text;

		if (event.t < filter->from || event.t > filter->to ||
		    (filter->match && !stack_has(&dictionary, event.stack, filter->match)) ||
		    (filter->exclude && stack_has(&dictionary, event.stack, filter->exclude)))
			continue;
		text = stack_text(&dictionary, event.stack);
		if (!stack || !strcmp(text, stack)) {
			*cost += event.cost;
			++*events;
		}
		lode_free(text);
	}
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	lode_free(path);
}

static void require_rows(struct fixture *fixture, const struct lode_area *area, const struct slow_filter *filter)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		uint64_t all_cost = 0, all_events = 0, cost, events;

		for (size_t i = 0; i < area->rows[kind].count; i++) {
			const struct lode_area_row *row = &area->rows[kind].items[i];
			char *text = stack_text(&area->dictionary, row->stack);

			sum_slowly(fixture, area->streams[row->stream].id, kind, text, filter, &cost, &events);
			assert_int_equal(row->cost, cost);
			assert_int_equal(row->events, events);
			assert_true(row->longest <= row->cost);
			lode_free(text);
		}
		for (size_t i = 0; i < area->stream_count; i++) {
			sum_slowly(fixture, area->streams[i].id, kind, NULL, filter, &cost, &events);
			all_cost += cost;
			all_events += events;
		}
		assert_int_equal(area->rows[kind].cost, all_cost);
		assert_int_equal(area->rows[kind].events, all_events);
	}
}

static void each_stack_costs_what_its_events_cost(void **state)
{
	struct fixture *fixture = *state;
	struct lode_area_options options = { .scope = LODE_SCOPE_ALL };
	struct slow_filter filter = { .to = UINT64_MAX };
	struct lode_area area;

	assert_int_equal(lode_area_collect(fixture->corpus, &options, NULL, &area, &fixture->error), 0);
	assert_int_equal(area.stream_count, STREAMS);
	require_rows(fixture, &area, &filter);
	lode_area_release(&area);
}

static void filters_leave_out_what_they_say(void **state)
{
	static const char *const match[] = { "*a*", NULL }, *const exclude[] = { "*e*", NULL };
	static const char *const where[] = { "version=1", NULL };
	struct fixture *fixture = *state;
	struct lode_area_options options = { .scope = LODE_SCOPE_ALL,
					     .match = match,
					     .exclude = exclude,
					     .where = where,
					     .time = "1us..500us" };
	struct slow_filter filter = { .match = "*a*", .exclude = "*e*", .from = 1000, .to = 500000 };
	struct lode_area area;

	assert_int_equal(lode_area_collect(fixture->corpus, &options, NULL, &area, &fixture->error), 0);
	assert_int_equal(area.stream_count, STREAMS / 2);
	require_rows(fixture, &area, &filter);
	lode_area_release(&area);
}

static void occurrences_count_all_events_of_all_streams(void **state)
{
	static const char *const where[] = { "version=1", NULL };
	struct fixture *fixture = *state;
	struct lode_area_options options = { .scope = LODE_SCOPE_ALL, .where = where };
	struct lode_corpus_list list;
	struct lode_area area;
	uint64_t expected = 0, found = 0;

	assert_int_equal(lode_area_collect(fixture->corpus, &options, NULL, &area, &fixture->error), 0);
	assert_int_equal(lode_corpus_streams(fixture->corpus, &list, &fixture->error), 0);
	for (size_t i = 0; i < list.count; i++)
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			expected += list.items[i].events[type];
	for (size_t i = 0; i < area.dictionary.tree.count; i++)
		found += area.occurrences[i];
	assert_int_equal(found, expected);
	lode_corpus_list_release(&list);
	lode_area_release(&area);
}

static void require_same(const struct lode_area *a, const struct lode_area *b)
{
	assert_int_equal(a->dictionary.tree.count, b->dictionary.tree.count);
	assert_memory_equal(a->dictionary.tree.nodes, b->dictionary.tree.nodes,
			    a->dictionary.tree.count * sizeof(*a->dictionary.tree.nodes));
	assert_memory_equal(a->occurrences, b->occurrences, a->dictionary.tree.count * sizeof(*a->occurrences));
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		assert_int_equal(a->rows[kind].count, b->rows[kind].count);
		assert_memory_equal(a->rows[kind].items, b->rows[kind].items,
				    a->rows[kind].count * sizeof(*a->rows[kind].items));
	}
}

static void threads_change_nothing(void **state)
{
	struct fixture *fixture = *state;

	for (int scope = LODE_SCOPE_AUTO; scope < LODE_SCOPES; scope++) {
		struct lode_area_options options = { .scope = (enum lode_scope)scope, .jobs = 1 };
		struct lode_area one, four;
		int code = lode_area_collect(fixture->corpus, &options, NULL, &one, &fixture->error);

		options.jobs = 4;
		assert_int_equal(lode_area_collect(fixture->corpus, &options, NULL, &four, &fixture->error), code);
		if (code)
			continue;
		require_same(&one, &four);
		lode_area_release(&one);
		lode_area_release(&four);
	}
}

/* So many streams that with four threads several of them are merged at a time. */
static void threads_change_nothing_with_many_streams(void **state)
{
	struct fixture many = { 0 };
	struct lode_area_options options = { .scope = LODE_SCOPE_ALL, .jobs = 1 };
	struct lode_area one, four;
	uint64_t seed = 5;

	(void)state;
	assert_int_equal(temporary_folder(many.folder, sizeof(many.folder)), 0);
	assert_int_equal(lode_corpus_open(&many.corpus, many.folder, LODE_CORPUS_CREATE, &many.error), 0);
	for (int i = 0; i < 197; i++)
		assert_int_equal(add_stream(&many, i, &seed), 0);
	assert_int_equal(lode_area_collect(many.corpus, &options, NULL, &one, &many.error), 0);
	options.jobs = 4;
	assert_int_equal(lode_area_collect(many.corpus, &options, NULL, &four, &many.error), 0);
	assert_int_equal(four.stream_count, 197);
	require_same(&one, &four);
	lode_area_release(&one);
	lode_area_release(&four);
	lode_corpus_close(many.corpus);
	temporary_remove(many.folder);
}

/* Cost and number of events of a thread, whole in a span, by the definition; `stack` NULL: of all stacks. */
static void sum_thread_slowly(struct fixture *fixture, const struct lode_area_stream *row, int type,
			      const char *stack, uint64_t *cost, uint64_t *events)
{
	char *path = lode_corpus_stream_path(fixture->corpus, row->id, &fixture->error);
	struct lode_dictionary dictionary;
	struct lode_stream stream;

	lode_dictionary_init(&dictionary);
	lode_stream_init(&stream, &dictionary);
	assert_int_equal(lode_store_load(path, &stream, &fixture->error), 0);
	*cost = *events = 0;
	for (size_t i = 0; i < stream.events[type].count; i++) {
		struct lode_event event = lode_events_get(&stream.events[type], i);
		char *text = stack_text(&dictionary, event.stack);

		if (stream.threads[event.thread].tid == row->symptom.tid && event.t >= row->symptom.t0 &&
		    event.t + event.cost <= row->symptom.t1 && (!stack || !strcmp(text, stack))) {
			*cost += event.cost;
			++*events;
		}
		lode_free(text);
	}
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	lode_free(path);
}

static void symptoms_can_be_had_one_by_one(void **state)
{
	static const char *const long_waits[] = { "wait > 700ns", NULL };
	struct fixture *fixture = *state;
	struct lode_area_options options = { .scope = LODE_SCOPE_THREAD, .symptoms = long_waits, .by_symptom = 1 };
	struct lode_area area, together;
	uint64_t symptoms = 0;

	assert_int_equal(lode_area_collect(fixture->corpus, &options, NULL, &area, &fixture->error), 0);
	options.by_symptom = 0;
	assert_int_equal(lode_area_collect(fixture->corpus, &options, NULL, &together, &fixture->error), 0);
	for (size_t i = 0; i < together.stream_count; i++)
		symptoms += together.streams[i].symptoms;
	assert_int_equal(area.stream_count, symptoms);
	assert_true(symptoms > 2 * STREAMS);
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		uint64_t all = 0, cost, events;

		for (size_t i = 0; i < area.rows[kind].count; i++) {
			const struct lode_area_row *row = &area.rows[kind].items[i];
			char *text = stack_text(&area.dictionary, row->stack);

			sum_thread_slowly(fixture, &area.streams[row->stream], kind, text, &cost, &events);
			assert_int_equal(row->cost, cost);
			assert_int_equal(row->events, events);
			lode_free(text);
		}
		for (size_t i = 0; i < area.stream_count; i++) {
			sum_thread_slowly(fixture, &area.streams[i], kind, NULL, &cost, &events);
			assert_int_equal(area.streams[i].delay,
					 area.streams[i].symptom.t1 - area.streams[i].symptom.t0);
			all += events;
		}
		assert_int_equal(area.rows[kind].events, all);
	}
	lode_area_release(&area);
	lode_area_release(&together);
}

static void all_of_the_symptoms_time_is_accounted_for(void **state)
{
	static const char *const long_waits[] = { "wait > 700ns", NULL };
	struct fixture *fixture = *state;
	struct lode_idle_rules *rules;
	struct lode_area_options options = { .scope = LODE_SCOPE_CRITICAL_PATH,
					     .symptoms = long_waits,
					     .by_symptom = 1 };
	struct lode_area area, together;
	uint64_t sums[4] = { 0 }, whole[4] = { 0 }, ready = 0;

	assert_int_equal(lode_idle_rules_load(&rules, NULL, &fixture->error), 0);
	options.idle = rules;
	assert_int_equal(lode_area_collect(fixture->corpus, &options, NULL, &area, &fixture->error), 0);
	options.by_symptom = 0;
	assert_int_equal(lode_area_collect(fixture->corpus, &options, NULL, &together, &fixture->error), 0);
	for (size_t i = 0; i < area.stream_count; i++) {
		const struct lode_area_stream *stream = &area.streams[i];

		assert_int_equal(stream->waiting + stream->running + stream->idling + stream->ready +
					 stream->unknown,
				 stream->delay);
		ready += stream->ready;
		sums[0] += stream->waiting;
		sums[1] += stream->running;
		sums[2] += stream->idling;
		sums[3] += stream->unknown;
	}
	/* One by one nothing is counted once only, so the rows are the paths but for the run queue. */
	assert_int_equal(sums[0] + sums[2], area.rows[LODE_WAIT].cost);
	assert_int_equal(sums[1], area.rows[LODE_RUN].cost);
	assert_true(sums[0] && sums[1] && ready);
	for (size_t i = 0; i < together.stream_count; i++) {
		whole[0] += together.streams[i].waiting;
		whole[1] += together.streams[i].running;
		whole[2] += together.streams[i].idling;
		whole[3] += together.streams[i].unknown;
	}
	assert_memory_equal(sums, whole, sizeof(sums));
	lode_area_release(&area);
	lode_area_release(&together);
	lode_idle_rules_free(rules);
}

/* What was found again, event by event. */
struct found {
	uint64_t events;
	uint64_t cost;
	uint64_t last_t;
	uint32_t stream;
	const uint8_t *wanted;
};

static int take(void *context, const struct lode_area_event *event)
{
	struct found *found = context;

	assert_true(found->wanted[event->stack]);
	if (found->stream == event->stream)
		assert_true(event->t >= found->last_t);
	found->stream = event->stream;
	found->last_t = event->t;
	found->events++;
	found->cost += event->cost;
	return 0;
}

static void events_are_found_again_from_their_stacks(void **state)
{
	struct fixture *fixture = *state;

	for (int scope = LODE_SCOPE_ALL; scope < LODE_SCOPES; scope++) {
		struct lode_area_options options = { .scope = (enum lode_scope)scope };
		struct found found = { .stream = LODE_NONE };
		uint64_t events = 0, cost = 0;
		struct lode_area area;
		uint8_t *wanted;

		if (lode_area_collect(fixture->corpus, &options, NULL, &area, &fixture->error))
			continue;
		wanted = calloc(area.dictionary.tree.count, 1);
		for (size_t i = 0; i < area.dictionary.tree.count; i += 2)
			wanted[i] = 1;
		for (size_t i = 0; i < area.rows[LODE_WAIT].count; i++) {
			if (!wanted[area.rows[LODE_WAIT].items[i].stack])
				continue;
			events += area.rows[LODE_WAIT].items[i].events;
			cost += area.rows[LODE_WAIT].items[i].cost;
		}
		found.wanted = wanted;
		assert_int_equal(lode_area_events(fixture->corpus, &options, &area, LODE_WAIT, wanted, take,
						  &found, &fixture->error),
				 0);
		assert_int_equal(found.events, events);
		assert_int_equal(found.cost, cost);
		assert_int_equal(lode_area_remove(&area, LODE_WAIT, wanted), cost);
		for (size_t i = 0; i < area.rows[LODE_WAIT].count; i++)
			assert_false(wanted[area.rows[LODE_WAIT].items[i].stack]);
		free(wanted);
		lode_area_release(&area);
	}
}

static void folding_keeps_first_occurrences_and_sums(void **state)
{
	struct fixture *fixture = *state;
	struct lode_area_options options = { .scope = LODE_SCOPE_ALL };
	struct lode_area area;
	uint64_t cost = 0, before;

	assert_int_equal(lode_area_collect(fixture->corpus, &options, NULL, &area, &fixture->error), 0);
	before = area.rows[LODE_WAIT].cost;
	assert_int_equal(lode_area_fold(&area), 0);
	for (size_t i = 0; i < area.rows[LODE_WAIT].count; i++) {
		const struct lode_stack_node *nodes = area.dictionary.tree.nodes;
		uint32_t stack = area.rows[LODE_WAIT].items[i].stack;

		cost += area.rows[LODE_WAIT].items[i].cost;
		for (uint32_t node = stack; node; node = nodes[node].parent)
			for (uint32_t above = nodes[node].parent; above; above = nodes[above].parent)
				assert_int_not_equal(nodes[node].frame, nodes[above].frame);
	}
	assert_int_equal(cost, before);
	lode_area_release(&area);
}

/* The oracle counts for each frame of a stack how often it begins a row of itself. */
static void functions_that_come_back_after_others_are_counted(void **state)
{
	struct fixture *fixture = *state;
	struct lode_area_options options = { .scope = LODE_SCOPE_ALL };
	struct lode_area area;
	uint64_t before = UINT64_MAX;

	assert_int_equal(lode_area_collect(fixture->corpus, &options, NULL, &area, &fixture->error), 0);
	for (uint32_t returns = 0; returns < 6; returns++) {
		const struct lode_stack_node *nodes = area.dictionary.tree.nodes;
		uint64_t expected = 0, cost;

		for (size_t i = 0; i < area.rows[LODE_WAIT].count; i++) {
			uint32_t stack = area.rows[LODE_WAIT].items[i].stack, most = 0;

			for (uint32_t node = stack; node; node = nodes[node].parent) {
				uint32_t rows = 0;

				for (uint32_t other = stack; other; other = nodes[other].parent)
					rows += nodes[other].frame == nodes[node].frame &&
						(!nodes[other].parent ||
						 nodes[nodes[other].parent].frame != nodes[node].frame);
				most = rows > most ? rows : most;
			}
			expected += most > returns || !returns ? area.rows[LODE_WAIT].items[i].cost : 0;
		}
		assert_int_equal(lode_area_recursive_cost(&area, LODE_WAIT, returns, &cost), 0);
		assert_int_equal(cost, expected);
		assert_true(cost <= before);
		before = cost;
	}
	lode_area_release(&area);
}

static void what_is_not_there_is_reported(void **state)
{
	static const char *const where[] = { "version=9", NULL }, *const no_where[] = { "version", NULL };
	static const char *const nobody[] = { "thread nobody-is-called-so", NULL };
	struct fixture *fixture = *state;
	const struct lode_area_options wrong[] = {
		{ .where = where },
		{ .where = no_where },
		{ .symptoms = nobody },
		{ .time = "5s" },
		{ .time = "5s..2s" },
		{ .time = "+5s..6s" },
		{ .symptoms = nobody, .scope = LODE_SCOPE_ALL },
		{ .symptoms = nobody, .by_symptom = 1 },
		{ .scope = LODE_SCOPE_ALL, .by_symptom = 1 },
	};
	struct lode_area area;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		fixture->error.text[0] = '\0';
		assert_int_equal(lode_area_collect(fixture->corpus, &wrong[i], NULL, &area, &fixture->error),
				 LODE_USAGE);
		assert_non_null(strchr(fixture->error.text, ';'));
	}
}

static void memory_that_runs_out_is_an_error_and_nothing_leaks(void **state)
{
	struct fixture *fixture = *state;
	int code = LODE_SYSTEM;

	for (uint64_t nth = 1; code; nth += nth < 200 ? 1 : 17) {
		struct lode_area_options options = { .scope = LODE_SCOPE_GRAPH,
						     .jobs = 1,
						     .by_symptom = nth % 2 == 1 };
		struct lode_area area;

		lode_memory_fail_at(nth, 0);
		code = lode_area_collect(fixture->corpus, &options, NULL, &area, &fixture->error);
		lode_memory_fail_at(0, 0);
		if (!code)
			lode_area_release(&area);
		else
			assert_int_equal(code, LODE_SYSTEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stack_costs_what_its_events_cost),
		cmocka_unit_test(filters_leave_out_what_they_say),
		cmocka_unit_test(occurrences_count_all_events_of_all_streams),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(threads_change_nothing_with_many_streams),
		cmocka_unit_test(symptoms_can_be_had_one_by_one),
		cmocka_unit_test(all_of_the_symptoms_time_is_accounted_for),
		cmocka_unit_test(events_are_found_again_from_their_stacks),
		cmocka_unit_test(folding_keeps_first_occurrences_and_sums),
		cmocka_unit_test(functions_that_come_back_after_others_are_counted),
		cmocka_unit_test(what_is_not_there_is_reported),
		cmocka_unit_test(memory_that_runs_out_is_an_error_and_nothing_leaks),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
