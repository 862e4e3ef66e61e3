/* Scopes: the thread's own events, the wait graph against Figure 2 as it is printed, and uniting parts. */
#include "small_stream.h"

#include "scope/scope.h"

#include <stdlib.h>

static struct lode_symptom symptom_of(struct small_stream *small, uint32_t tid, uint64_t t0, uint64_t t1)
{
	return (struct lode_symptom){ .thread = lode_stream_tid(&small->stream, tid), .t0 = t0, .t1 = t1 };
}

static struct lode_parts scope_of(struct small_stream *small, struct lode_symptom symptom, enum lode_scope scope,
				  struct lode_scope_result *result)
{
	struct lode_scope_index *index;
	struct lode_parts parts = { 0 };

	assert_int_equal(lode_scope_index_make(&index, &small->stream, NULL), 0);
	assert_int_equal(lode_scope_symptom(index, &symptom, scope, &parts, result, NULL), 0);
	lode_scope_index_free(index);
	return parts;
}

static void require_part(const struct lode_parts *parts, size_t i, enum lode_event_type type, uint32_t event)
{
	assert_true(i < parts->count);
	assert_int_equal(parts->items[i].type, type);
	assert_int_equal(parts->items[i].event, event);
}

/* ---- by hand ---- */

/* Figure 1: T1 waits from 1 to 6 for T2, which is sampled four times meanwhile. */
static void figure_one(struct small_stream *small)
{
	small_begin(small);
	small_run(small, 1, 0, 1);
	small_wait(small, 1, 1, 5, 2);
	for (uint64_t t = 1; t < 5; t++)
		small_run(small, 2, t, 1);
	small_run(small, 1, 6, 1);
	small_run(small, 3, 2, 1);
}

static void the_graph_of_figure_one_has_the_wait_and_what_the_waker_ran(void **state)
{
	struct lode_scope_result result;
	struct small_stream small;
	struct lode_parts parts;

	(void)state;
	figure_one(&small);
	parts = scope_of(&small, symptom_of(&small, 1, 0, 7), LODE_SCOPE_GRAPH, &result);
	assert_int_equal(result.edges, 4);
	assert_int_equal(parts.count, 7);
	for (uint32_t i = 0; i < 6; i++)
		require_part(&parts, i, LODE_RUN, i);
	require_part(&parts, 6, LODE_WAIT, 0);
	assert_int_equal(parts.items[6].cost, 5);
	lode_parts_release(&parts);
	small_end(&small);
}

static void the_thread_scope_has_only_the_threads_own_events(void **state)
{
	struct lode_scope_result result;
	struct small_stream small;
	struct lode_parts parts;

	(void)state;
	figure_one(&small);
	parts = scope_of(&small, symptom_of(&small, 1, 0, 6), LODE_SCOPE_THREAD, &result);
	assert_int_equal(parts.count, 2);
	require_part(&parts, 0, LODE_RUN, 0);
	require_part(&parts, 1, LODE_WAIT, 0);
	lode_parts_release(&parts);
	small_end(&small);
}

static void all_is_every_run_and_wait_event(void **state)
{
	struct lode_scope_result result;
	struct small_stream small;
	struct lode_parts parts;

	(void)state;
	figure_one(&small);
	small_event(&small, LODE_CALL, 1, 3, 0, 0, LODE_NONE, "");
	parts = scope_of(&small, symptom_of(&small, 1, 0, 0), LODE_SCOPE_ALL, &result);
	assert_int_equal(parts.count, 8);
	lode_parts_release(&parts);
	small_end(&small);
}

static void spans_are_closed(void **state)
{
	struct lode_scope_result result;
	struct small_stream small;
	struct lode_parts parts;

	(void)state;
	small_begin(&small);
	small_wait(&small, 1, 10, 10, 2);
	small_run(&small, 2, 0, 9);  /* ends before the wait begins */
	small_run(&small, 2, 0, 10); /* ends as it begins */
	small_run(&small, 2, 5, 15); /* ends as it ends */
	small_run(&small, 2, 20, 0); /* has no length, at its end */
	small_run(&small, 2, 20, 1); /* ends behind it */
	parts = scope_of(&small, symptom_of(&small, 1, 10, 20), LODE_SCOPE_GRAPH, &result);
	assert_int_equal(result.edges, 3);
	assert_int_equal(parts.count, 4);
	for (uint32_t i = 0; i < 3; i++)
		require_part(&parts, i, LODE_RUN, i + 1);
	lode_parts_release(&parts);
	parts = scope_of(&small, symptom_of(&small, 1, 11, 20), LODE_SCOPE_GRAPH, &result);
	assert_int_equal(parts.count, 0);
	parts = scope_of(&small, symptom_of(&small, 1, 10, 19), LODE_SCOPE_GRAPH, &result);
	assert_int_equal(parts.count, 0);
	small_end(&small);
}

static void threads_are_the_same_by_their_tid(void **state)
{
	struct lode_event run = { .t = 2, .cost = 2, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	struct lode_scope_result result;
	struct small_stream small;
	struct lode_parts parts;

	(void)state;
	small_begin(&small);
	small_wait(&small, 1, 0, 10, 2);                       /* the waker is known by its tid alone, */
	run.thread = lode_stream_thread(&small.stream, 77, 2); /* its event under its process */
	assert_int_equal(lode_stream_add_event(&small.stream, LODE_RUN, &run), 0);
	parts = scope_of(&small, symptom_of(&small, 1, 0, 10), LODE_SCOPE_GRAPH, &result);
	assert_int_equal(parts.count, 2);
	assert_int_equal(result.edges, 1);
	lode_parts_release(&parts);
	small_end(&small);
}

static void ends_beyond_the_largest_time_stop_there(void **state)
{
	struct lode_scope_result result;
	struct small_stream small;
	struct lode_parts parts;

	(void)state;
	small_begin(&small);
	small_wait(&small, 1, UINT64_MAX - 5, 100, 2);
	small_run(&small, 2, UINT64_MAX - 3, UINT64_MAX);
	parts = scope_of(&small, symptom_of(&small, 1, 0, UINT64_MAX), LODE_SCOPE_GRAPH, &result);
	assert_int_equal(parts.count, 2);
	assert_int_equal(result.edges, 1);
	lode_parts_release(&parts);
	small_end(&small);
}

static void a_symptom_of_no_thread_is_an_error(void **state)
{
	struct lode_symptom symptom = { .thread = 9, .t1 = 5 };
	struct lode_scope_result result;
	struct lode_scope_index *index;
	struct lode_parts parts = { 0 };
	struct lode_error error = { "" };
	struct small_stream small;

	(void)state;
	figure_one(&small);
	assert_int_equal(lode_scope_index_make(&index, &small.stream, NULL), 0);
	for (int scope = 0; scope < LODE_SCOPES; scope++) {
		assert_int_equal(lode_scope_symptom(index, &symptom, (enum lode_scope)scope, &parts, &result,
						    &error),
				 LODE_BAD_INPUT);
		assert_true(error.text[0]);
	}
	lode_scope_index_free(index);
	small_end(&small);
}

static void scopes_have_names(void **state)
{
	(void)state;
	assert_string_equal(lode_scope_name(LODE_SCOPE_AUTO), "auto");
	assert_string_equal(lode_scope_name(LODE_SCOPE_CRITICAL_PATH), "critical-path");
}

/* ---- Figure 2, line by line ---- */

#define MOST 40

struct event {
	int type;
	uint32_t number;
	uint32_t tid;
	uint64_t t;
	uint64_t c;
	uint32_t readier; /* a tid, or LODE_NONE */
};

struct figure_two {
	struct event events[MOST];
	size_t count;
	int v[MOST], v_before[MOST];
	int e[MOST][MOST];
};

static void flatten(struct figure_two *figure, const struct lode_stream *stream)
{
	memset(figure, 0, sizeof(*figure));
	for (int type = LODE_RUN; type <= LODE_WAIT; type++) {
		for (size_t i = 0; i < stream->events[type].count; i++) {
			struct lode_event event = lode_events_get(&stream->events[type], i);

			figure->events[figure->count++] = (struct event){
				.type = type,
				.number = (uint32_t)i,
				.tid = stream->threads[event.thread].tid,
				.t = event.t,
				.c = event.cost,
				.readier = event.waker == LODE_NONE ? LODE_NONE : stream->threads[event.waker].tid,
			};
		}
	}
}

static int in_span(uint64_t moment, uint64_t from, uint64_t to)
{
	return moment >= from && moment <= to;
}

static void construct(struct figure_two *figure, uint32_t tid, uint64_t t0, uint64_t t1)
{
	int changed = 1;

	for (size_t i = 0; i < figure->count; i++) {
		const struct event *e = &figure->events[i];

		if (e->tid == tid && in_span(e->t, t0, t1) && in_span(e->t + e->c, t0, t1))
			figure->v[i] = 1;
	}
	while (changed) {
		int delta[MOST];

		changed = 0;
		for (size_t i = 0; i < figure->count; i++)
			delta[i] = figure->v[i] && !figure->v_before[i];
		for (size_t i = 0; i < figure->count; i++) {
			const struct event *e = &figure->events[i];

			if (!delta[i])
				continue;
			changed = 1;
			figure->v_before[i] = 1;
			for (size_t j = 0; e->type == LODE_WAIT && j < figure->count; j++) {
				const struct event *other = &figure->events[j];

				if (other->tid == e->readier && in_span(other->t + other->c, e->t, e->t + e->c)) {
					figure->v[j] = 1;
					figure->e[i][j] = 1;
				}
			}
		}
	}
}

static void require_graph(struct small_stream *small, struct lode_scope_index *index,
			  const struct lode_symptom *symptom)
{
	struct lode_parts parts = { 0 };
	struct lode_scope_result result;
	struct figure_two figure;
	uint64_t edges = 0;
	size_t at = 0;

	flatten(&figure, &small->stream);
	construct(&figure, small->stream.threads[symptom->thread].tid, symptom->t0, symptom->t1);
	assert_int_equal(lode_scope_symptom(index, symptom, LODE_SCOPE_GRAPH, &parts, &result, NULL), 0);
	for (size_t i = 0; i < figure.count; i++) {
		for (size_t j = 0; j < figure.count; j++)
			edges += (uint64_t)figure.e[i][j];
		if (!figure.v[i])
			continue;
		require_part(&parts, at, (enum lode_event_type)figure.events[i].type, figure.events[i].number);
		assert_int_equal(parts.items[at].t, figure.events[i].t);
		assert_int_equal(parts.items[at].cost, figure.events[i].c);
		at++;
	}
	assert_int_equal(parts.count, at);
	assert_int_equal(result.edges, edges);
	lode_parts_release(&parts);
}

static void the_graph_is_that_of_figure_two(void **state)
{
	uint64_t seed = 4;

	(void)state;
	for (int i = 0; i < 6000; i++) {
		struct lode_scope_index *index;
		struct small_stream small;

		small_begin(&small);
		small_random(&small, &seed, i % 2 ? MOST : 8, i % 3 ? 50 : 6);
		assert_int_equal(lode_scope_index_make(&index, &small.stream, NULL), 0);
		for (int symptoms = 0; symptoms < 4; symptoms++) {
			struct lode_symptom symptom = small_random_symptom(&small, &seed, 50);

			require_graph(&small, index, &symptom);
		}
		lode_scope_index_free(index);
		small_end(&small);
	}
}

static void the_thread_scope_is_the_graph_without_wakers(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct lode_parts parts;
		struct lode_scope_result result;
		struct lode_symptom symptom;
		struct small_stream small;
		struct figure_two figure;
		size_t at = 0;

		small_begin(&small);
		small_random(&small, &seed, MOST, 30);
		symptom = small_random_symptom(&small, &seed, 30);
		parts = scope_of(&small, symptom, LODE_SCOPE_THREAD, &result);
		flatten(&figure, &small.stream);
		for (size_t k = 0; k < figure.count; k++)
			figure.events[k].readier = LODE_NONE;
		construct(&figure, small.stream.threads[symptom.thread].tid, symptom.t0, symptom.t1);
		for (size_t k = 0; k < figure.count; k++)
			if (figure.v[k])
				require_part(&parts, at++, (enum lode_event_type)figure.events[k].type,
					     figure.events[k].number);
		assert_int_equal(parts.count, at);
		lode_parts_release(&parts);
		small_end(&small);
	}
}

/* Every wait looks at every event of its waker, so Figure 2 as printed would need 10^10 steps. */
static void a_graph_of_many_edges_touches_each_event_once(void **state)
{
	const uint64_t count = 100000;
	struct lode_scope_result result;
	struct small_stream small;
	struct lode_parts parts;

	(void)state;
	small_begin(&small);
	for (uint64_t i = 0; i < count; i++)
		small_wait(&small, 1, i, 2 * count - 2 * i, 2);
	for (uint64_t i = 0; i < count; i++)
		small_wait(&small, 2, i, 2 * count - 2 * i, 1);
	parts = scope_of(&small, symptom_of(&small, 1, 0, 2 * count), LODE_SCOPE_GRAPH, &result);
	assert_int_equal(parts.count, 2 * count);
	/* Wait i lasts until 2 * count - i; of the other thread's, those from i on end in it. */
	assert_int_equal(result.edges, count * (count + 1));
	lode_parts_release(&parts);
	small_end(&small);
}

/* ---- uniting ---- */

#define EVENTS  3
#define MOMENTS 24

static void united_parts_cover_the_same_moments_once(void **state)
{
	uint64_t seed = 6;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		uint8_t before[2][EVENTS][MOMENTS] = { 0 }, after[2][EVENTS][MOMENTS] = { 0 };
		uint8_t seen[2][EVENTS] = { 0 };
		struct lode_parts parts = { 0 };

		for (size_t i = random_below(&seed, 12); i--;) {
			struct lode_part part = { .t = random_below(&seed, MOMENTS / 2),
						  .event = (uint32_t)random_below(&seed, EVENTS),
						  .type = (uint8_t)random_below(&seed, 2) };

			part.cost = random_below(&seed, 6);
			assert_int_equal(lode_grow(&parts.items, &parts.capacity, parts.count + 1, sizeof(part)),
					 0);
			parts.items[parts.count++] = part;
			seen[part.type][part.event] = 1;
			for (uint64_t t = 0; t < part.cost; t++)
				before[part.type][part.event][part.t + t] = 1;
		}
		assert_int_equal(lode_parts_unite(&parts), 0);
		for (size_t i = 0; i < parts.count; i++) {
			const struct lode_part *part = &parts.items[i], *last = part - 1;

			if (i && last->type == part->type && last->event == part->event)
				assert_true(last->t + last->cost < part->t);
			else if (i)
				assert_true(last->type < part->type ||
					    (last->type == part->type && last->event < part->event));
			seen[part->type][part->event] = 0;
			for (uint64_t t = 0; t < part->cost; t++)
				after[part->type][part->event][part->t + t]++;
		}
		assert_memory_equal(before, after, sizeof(before));
		for (int type = 0; type < 2; type++)
			for (int event = 0; event < EVENTS; event++)
				assert_int_equal(seen[type][event],
						 0); /* no event is lost, though it has no length */
		lode_parts_release(&parts);
	}
}

/* ---- memory ---- */

static int graph_of(struct small_stream *small, struct lode_symptom symptom, struct lode_parts *parts,
		    struct lode_error *error)
{
	struct lode_scope_result result;
	struct lode_scope_index *index;
	int code = lode_scope_index_make(&index, &small->stream, error);

	if (code < 0)
		return code;
	code = lode_scope_symptom(index, &symptom, LODE_SCOPE_THREAD, parts, &result, error);
	if (!code)
		code = lode_scope_symptom(index, &symptom, LODE_SCOPE_GRAPH, parts, &result, error);
	if (code < 0) { /* an index that failed once is still good */
		lode_memory_fail_at(0, 0);
		require_graph(small, index, &symptom);
	}
	lode_scope_index_free(index);
	return code;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	uint64_t seed = 7, asked;
	struct small_stream small;
	struct lode_symptom symptom;
	int code = 0;

	(void)state;
	small_begin(&small);
	small_random(&small, &seed, MOST, 20);
	symptom = small_random_symptom(&small, &seed, 1);
	for (uint64_t nth = 1; nth == 1 || code; nth++) {
		struct lode_parts parts = { 0 };
		struct lode_error error = { "" };

		lode_memory_fail_at(nth, 0);
		code = graph_of(&small, symptom, &parts, &error);
		asked = lode_memory_asked();
		lode_memory_fail_at(0, 0);
		assert_true(code == 0 || (code == LODE_SYSTEM && error.text[0]));
		assert_true(code == 0 ? nth > asked : 1);
		lode_parts_release(&parts);
	}
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_graph_of_figure_one_has_the_wait_and_what_the_waker_ran),
		cmocka_unit_test(the_thread_scope_has_only_the_threads_own_events),
		cmocka_unit_test(all_is_every_run_and_wait_event),
		cmocka_unit_test(spans_are_closed),
		cmocka_unit_test(threads_are_the_same_by_their_tid),
		cmocka_unit_test(ends_beyond_the_largest_time_stop_there),
		cmocka_unit_test(a_symptom_of_no_thread_is_an_error),
		cmocka_unit_test(scopes_have_names),
		cmocka_unit_test(the_graph_is_that_of_figure_two),
		cmocka_unit_test(the_thread_scope_is_the_graph_without_wakers),
		cmocka_unit_test(a_graph_of_many_edges_touches_each_event_once),
		cmocka_unit_test(united_parts_cover_the_same_moments_once),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
