/* Generated corpora: the same everywhere, possible in this world, and the truth about them is true. */
#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "base/file.h"
#include "synth/model.h"
#include "synth/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MS 1000000ull

/* One generated stream, loaded for looking at. */
struct example {
	struct lode_synth_model *model;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_synth_cost costs[64];
	struct lode_synth_made made;
	uint32_t idle_task;
};

static struct lode_synth_options small(uint64_t seed)
{
	struct lode_synth_options options = lode_synth_defaults();

	options.seed = seed;
	options.streams = 6;
	options.events = 600;
	options.symptoms = 8;
	options.delay = 200 * MS;
	options.bugs = 10;
	options.tasks = 5;
	return options;
}

static void make(struct example *example, const struct lode_synth_options *options, size_t number)
{
	struct lode_error error = { "" };

	assert_int_equal(lode_synth_model_create(&example->model, options, &error), 0);
	assert_int_equal(lode_dictionary_init(&example->dictionary), 0);
	lode_stream_init(&example->stream, &example->dictionary);
	assert_int_equal(lode_synth_stream(example->model, number, &example->stream, example->costs,
					   &example->made, &error),
			 0);
	example->idle_task = lode_stream_tid(&example->stream, 0);
}

static void release(struct example *example)
{
	lode_stream_release(&example->stream);
	lode_dictionary_release(&example->dictionary);
	lode_synth_model_free(example->model);
}

/* Calls `check` for streams of many seeds. */
static void for_many_seeds(void (*check)(struct example *example))
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct lode_synth_options options = small(seed);
		struct example example;

		options.waits = 20 + seed;
		make(&example, &options, seed % options.streams);
		check(&example);
		release(&example);
	}
}

/* ---- slow and obvious views of a stream ---- */

struct span {
	enum lode_event_type type;
	struct lode_event event;
	uint64_t end;
};

/* All run and wait events, by start. */
static struct span *spans_of(const struct lode_stream *stream, size_t *count)
{
	size_t runs = stream->events[LODE_RUN].count, waits = stream->events[LODE_WAIT].count, i = 0, j = 0;
	struct span *spans = calloc(runs + waits + 1, sizeof(*spans));

	for (*count = 0; *count < runs + waits; (*count)++) {
		int run = j >= waits ||
			  (i < runs && stream->events[LODE_RUN].t[i] <= stream->events[LODE_WAIT].t[j]);
		struct span *span = &spans[*count];

		span->type = run ? LODE_RUN : LODE_WAIT;
		span->event = lode_events_get(&stream->events[span->type], run ? i++ : j++);
		span->end = span->event.t + span->event.cost;
	}
	return spans;
}

/* Whether the texts of both key frames are in the stack, in this order. */
static int has_key(const struct example *example, uint32_t stack, const struct lode_synth_bug *bug)
{
	const struct lode_frames *frames = &example->dictionary.frames,
				 *model = &example->model->code.dictionary.frames;
	int next = LODE_SYNTH_KEY - 1;

	for (; stack && next >= 0; stack = example->dictionary.tree.nodes[stack].parent) {
		uint32_t frame = example->dictionary.tree.nodes[stack].frame;

		if (!strcmp(lode_frames_function(frames, frame), lode_frames_function(model, bug->key[next])) &&
		    !strcmp(lode_frames_module_name(frames, frame), lode_frames_module_name(model, bug->key[next])))
			next--;
	}
	return next < 0;
}

static int has_frame(const struct example *example, uint32_t stack, const char *module, const char *function)
{
	for (; stack; stack = example->dictionary.tree.nodes[stack].parent) {
		uint32_t frame = example->dictionary.tree.nodes[stack].frame;

		if (!strcmp(lode_frames_module_name(&example->dictionary.frames, frame), module) &&
		    (!function || !strcmp(lode_frames_function(&example->dictionary.frames, frame), function)))
			return 1;
	}
	return 0;
}

static uint64_t overlap(uint64_t start, uint64_t end, uint64_t from, uint64_t to)
{
	start = start > from ? start : from;
	end = end < to ? end : to;
	return end > start ? end - start : 0;
}

/*
 * The critical path by its definition: what `thread` did from `from` to `to`, and
 * where it waited for another thread, what that one did until it woke it; the time
 * on the run queue belongs to the wait. Adds up what events with the key of `bug`
 * have on it.
 */
static void walk(const struct example *example, const struct span *spans, size_t count, uint32_t thread,
		 uint64_t from, uint64_t to, const struct lode_synth_bug *bug, struct lode_synth_cost *sum)
{
	for (size_t i = 0; i < count; i++) {
		const struct span *span = &spans[i];
		uint64_t waited = overlap(span->event.t, span->end, from, to);
		uint64_t queued = overlap(span->end, span->end + span->event.delay, from, to),
			 own = waited + queued;

		if (span->event.thread != thread)
			continue;
		if (span->type == LODE_WAIT && span->event.waker != example->idle_task) {
			if (waited)
				walk(example, spans, count, span->event.waker,
				     span->event.t > from ? span->event.t : from, span->end < to ? span->end : to,
				     bug, sum);
			own = queued;
		}
		if (own && span->type == lode_synth_bug_kind(bug) && has_key(example, span->event.stack, bug)) {
			sum->cost += own;
			sum->events++;
		}
	}
}

/* ---- tests ---- */

static void check_order(struct example *example)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		for (size_t i = 1; i < example->stream.events[type].count; i++)
			assert_true(example->stream.events[type].t[i - 1] <= example->stream.events[type].t[i]);
}

static void events_are_sorted(void **state)
{
	(void)state;
	for_many_seeds(check_order);
}

static void check_one_thing_at_a_time(struct example *example)
{
	uint64_t *busy_until = calloc(example->stream.thread_count, sizeof(*busy_until));
	size_t count;
	struct span *spans = spans_of(&example->stream, &count);

	for (size_t i = 0; i < count; i++) {
		const struct lode_event *event = &spans[i].event;

		assert_true(event->t >= busy_until[event->thread]);
		busy_until[event->thread] = spans[i].end + event->delay;
	}
	assert_true(busy_until[example->idle_task] == 0);
	free(spans);
	free(busy_until);
}

static void a_thread_does_one_thing_at_a_time(void **state)
{
	(void)state;
	for_many_seeds(check_one_thing_at_a_time);
}

static void check_wakers(struct example *example)
{
	size_t count;
	struct span *spans = spans_of(&example->stream, &count);

	for (size_t i = 0; i < count; i++) {
		const struct span *wait = &spans[i];
		int at_work = wait->event.waker == example->idle_task &&
			      has_frame(example, wait->event.waker_stack, "kernel", "do_idle");

		if (wait->type != LODE_WAIT)
			continue;
		assert_true(wait->event.waker_stack != 0);
		assert_true(has_frame(example, wait->event.waker_stack, "kernel", "try_to_wake_up"));
		for (size_t j = 0; j < count && !at_work; j++)
			at_work = spans[j].event.thread == wait->event.waker && spans[j].end <= wait->end &&
				  spans[j].end + 20000 >= wait->end;
		assert_true(at_work);
	}
	free(spans);
}

static void every_wait_is_ended_by_a_thread_at_work_or_an_interrupt(void **state)
{
	(void)state;
	for_many_seeds(check_wakers);
}

static void check_counts(struct example *example)
{
	const struct lode_synth_options *options = &example->model->options;
	uint64_t waits = (options->events * options->waits + 50) / 100;

	assert_true(example->stream.events[LODE_WAIT].count >= waits);
	assert_true(example->stream.events[LODE_RUN].count >= options->events - waits);
	assert_int_equal(example->stream.events[LODE_CALL].count, 0);
	assert_int_equal(example->made.events, lode_stream_event_count(&example->stream));
}

static void a_stream_has_at_least_the_events_that_were_asked_for(void **state)
{
	(void)state;
	for_many_seeds(check_counts);
}

static void a_stream_has_exactly_these_events_when_its_symptoms_leave_room(void **state)
{
	struct lode_synth_options options = small(5);
	struct example example;

	(void)state;
	options.events = 20011;
	options.waits = 61;
	for (size_t number = 0; number < options.streams; number++) {
		make(&example, &options, number);
		assert_int_equal(example.stream.events[LODE_WAIT].count, 12207);
		assert_int_equal(example.stream.events[LODE_RUN].count, 20011 - 12207);
		release(&example);
	}
}

static void check_whole_costs(struct example *example)
{
	const struct lode_synth_model *model = example->model;
	size_t number =
		(size_t)strtoul(lode_strings_get(&example->dictionary.frames.strings, example->stream.name) + 5,
				NULL, 10);

	for (size_t bug = 0; bug < model->options.bugs; bug++) {
		uint64_t sum = 0;

		for (int type = LODE_RUN; type <= LODE_WAIT; type++) {
			const struct lode_events *events = &example->stream.events[type];

			for (size_t i = 0; i < events->count; i++)
				if (has_key(example, events->stack[i], &model->bugs[bug])) {
					assert_int_equal(type, lode_synth_bug_kind(&model->bugs[bug]));
					sum += events->cost[i];
				}
		}
		assert_true(sum == example->costs[bug].whole);
		if (!lode_synth_is_planted(model, bug, number))
			assert_true(sum == 0);
		else if (example->stream.symptom_count)
			assert_true(example->costs[bug].cost > 0);
	}
}

static void planted_costs_are_the_sums_of_the_events_with_the_key_frames(void **state)
{
	(void)state;
	for_many_seeds(check_whole_costs);
}

static void check_critical_costs(struct example *example)
{
	size_t count;
	struct span *spans = spans_of(&example->stream, &count);

	for (size_t bug = 0; bug < example->model->options.bugs; bug++) {
		struct lode_synth_cost sum = { 0 };

		for (size_t i = 0; i < example->stream.symptom_count; i++) {
			const struct lode_symptom *symptom = &example->stream.symptoms[i];

			walk(example, spans, count, symptom->thread, symptom->t0, symptom->t1,
			     &example->model->bugs[bug], &sum);
		}
		assert_true(sum.cost == example->costs[bug].cost);
		assert_int_equal(sum.events, example->costs[bug].events);
	}
	free(spans);
}

static void costs_on_symptoms_are_those_of_their_critical_paths(void **state)
{
	(void)state;
	for_many_seeds(check_critical_costs);
}

static void check_symptoms(struct example *example)
{
	uint64_t delay = 0, longest = 0, end = 0;

	for (size_t i = 0; i < example->stream.symptom_count; i++) {
		const struct lode_symptom *symptom = &example->stream.symptoms[i];
		const struct lode_thread *thread = &example->stream.threads[symptom->thread];
		uint64_t length = symptom->t1 - symptom->t0;

		assert_int_equal(thread->pid, thread->tid);
		assert_true(symptom->t0 > end);
		assert_true(length >= example->model->options.delay / 7);
		end = symptom->t1;
		delay += length;
		longest = length > longest ? length : longest;
	}
	assert_true(delay == example->made.delay);
	assert_true(longest == example->made.longest);
	assert_int_equal(example->stream.symptom_count, example->made.symptoms);
}

static void symptoms_follow_one_another_and_add_up(void **state)
{
	(void)state;
	for_many_seeds(check_symptoms);
}

static void check_blocks(struct example *example)
{
	const struct lode_attribute *attributes = example->stream.attributes;
	const struct lode_strings *strings = &example->dictionary.frames.strings;
	const struct lode_events *waits = &example->stream.events[LODE_WAIT];
	int emulates = 0, scans = 0;

	for (size_t i = 0; i < example->stream.attribute_count; i++) {
		const char *key = lode_strings_get(strings, attributes[i].key);
		const char *value = lode_strings_get(strings, attributes[i].value);

		emulates |= !strcmp(key, "bits") && !strcmp(value, "64");
		scans |= !strcmp(key, "scanner") && !strcmp(value, "true");
	}
	for (size_t i = 0; i < waits->count; i++) {
		int program = has_frame(example, waits->stack[i], "folio", NULL);
		int system_call = has_frame(example, waits->stack[i], "kernel", "do_syscall_64");

		if (!program && !has_frame(example, waits->stack[i], "libfolio.so.4", NULL) &&
		    !has_frame(example, waits->stack[i], "libpool.so.1", NULL) &&
		    !has_frame(example, waits->stack[i], "libnet.so.1", NULL))
			assert_false(has_frame(example, waits->stack[i], "libthunk32.so.1", NULL));
		if (program)
			assert_int_equal(has_frame(example, waits->stack[i], "libthunk32.so.1", NULL),
					 emulates && system_call);
		assert_int_equal(has_frame(example, waits->stack[i], "scanfilter", NULL),
				 scans && has_frame(example, waits->stack[i], "ext4", "ext4_lookup"));
	}
}

static void only_some_hosts_have_thunks_before_system_calls_and_a_scanner_before_look_ups(void **state)
{
	(void)state;
	for_many_seeds(check_blocks);
}

static void stacks_are_as_long_as_in_the_field(void **state)
{
	struct lode_synth_options options = lode_synth_defaults();
	struct example example;
	uint64_t frames = 0, events = 0, long_ones = 0;

	(void)state;
	make(&example, &options, 3);
	for (int type = LODE_RUN; type <= LODE_WAIT; type++)
		for (size_t i = 0; i < example.stream.events[type].count; i++) {
			uint32_t depth = lode_stack_tree_depth(&example.dictionary.tree,
							       example.stream.events[type].stack[i]);

			frames += depth;
			long_ones += depth >= 100;
			events++;
		}
	assert_in_range(frames / events, 25, 45);
	assert_true(long_ones > 0);
	assert_true(long_ones < events / 20);
	release(&example);
}

/* ---- whole corpora ---- */

struct corpus {
	char path[64];
	struct lode_buffer truth;
};

static void make_corpus(struct corpus *corpus, const struct lode_synth_options *options, unsigned jobs)
{
	struct lode_synth_model *model;
	struct lode_synth_truth truth;
	struct lode_error error = { "" };

	memset(corpus, 0, sizeof(*corpus));
	assert_int_equal(temporary_folder(corpus->path, sizeof(corpus->path)), 0);
	assert_int_equal(lode_synth_model_create(&model, options, &error), 0);
	assert_int_equal(lode_synth_corpus(model, corpus->path, jobs, NULL, &truth, &error), 0);
	lode_synth_truth_json(&truth, &corpus->truth);
	lode_synth_truth_release(&truth);
	lode_synth_model_free(model);
}

static void release_corpus(struct corpus *corpus)
{
	temporary_remove(corpus->path);
	lode_buffer_release(&corpus->truth);
}

static int same_file(const char *a, const char *b)
{
	struct lode_map first, second;
	int same;

	assert_int_equal(lode_map_open(&first, a, NULL), 0);
	assert_int_equal(lode_map_open(&second, b, NULL), 0);
	same = first.size == second.size && memcmp(first.bytes, second.bytes, first.size) == 0;
	lode_map_close(&first);
	lode_map_close(&second);
	return same;
}

/* How many streams of the one are, byte for byte, streams of the other of the same name. */
static size_t equal_streams(const struct corpus *a, const struct corpus *b, size_t *count)
{
	struct lode_corpus *corpora[2];
	struct lode_corpus_list lists[2];
	size_t equal = 0;

	assert_int_equal(lode_corpus_open(&corpora[0], a->path, LODE_CORPUS_READ, NULL), 0);
	assert_int_equal(lode_corpus_open(&corpora[1], b->path, LODE_CORPUS_READ, NULL), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(lode_corpus_streams(corpora[i], &lists[i], NULL), 0);
	assert_int_equal(lists[0].count, lists[1].count);
	*count = lists[0].count;
	for (size_t i = 0; i < *count; i++) {
		assert_string_equal(lists[0].items[i].name, lists[1].items[i].name);
		equal += !strcmp(lists[0].items[i].id, lists[1].items[i].id) &&
			 same_file(lists[0].items[i].path, lists[1].items[i].path);
	}
	for (int i = 0; i < 2; i++) {
		lode_corpus_list_release(&lists[i]);
		lode_corpus_close(corpora[i]);
	}
	return equal;
}

static void the_same_seed_gives_the_same_corpus_whatever_the_number_of_threads(void **state)
{
	struct lode_synth_options options = small(7);
	struct corpus one, many;
	size_t count;

	(void)state;
	make_corpus(&one, &options, 1);
	make_corpus(&many, &options, 4);
	assert_int_equal(equal_streams(&one, &many, &count), options.streams);
	assert_int_equal(count, options.streams);
	assert_int_equal(one.truth.size, many.truth.size);
	assert_memory_equal(one.truth.bytes, many.truth.bytes, one.truth.size);
	release_corpus(&one);
	release_corpus(&many);
}

static void another_seed_gives_another_corpus(void **state)
{
	struct lode_synth_options options = small(7);
	struct corpus one, other;
	size_t count;

	(void)state;
	make_corpus(&one, &options, 2);
	options.seed = 8;
	make_corpus(&other, &options, 2);
	assert_int_equal(equal_streams(&one, &other, &count), 0);
	release_corpus(&one);
	release_corpus(&other);
}

static int stop_at_once(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	(void)context;
	(void)phase;
	(void)unit;
	(void)done;
	(void)total;
	return 1;
}

static void making_can_be_stopped_and_leaves_whole_streams(void **state)
{
	struct lode_synth_options options = small(9);
	struct lode_progress progress = { stop_at_once, NULL };
	struct lode_error error = { "" };
	struct lode_synth_model *model;
	struct lode_synth_truth truth;
	struct lode_corpus *corpus;
	struct lode_corpus_list list;
	char path[64];

	(void)state;
	assert_int_equal(temporary_folder(path, sizeof(path)), 0);
	assert_int_equal(lode_synth_model_create(&model, &options, &error), 0);
	assert_int_equal(lode_synth_corpus(model, path, 1, &progress, &truth, &error), LODE_SYSTEM);
	assert_string_equal(error.text, "");
	assert_int_equal(lode_corpus_open(&corpus, path, LODE_CORPUS_READ, &error), 0);
	assert_int_equal(lode_corpus_streams(corpus, &list, &error), 0);
	assert_int_equal(list.count, 1);
	lode_corpus_list_release(&list);
	lode_corpus_close(corpus);
	lode_synth_truth_release(&truth);
	lode_synth_model_free(model);
	temporary_remove(path);
}

/* ---- options ---- */

static void presets_are_as_large_as_the_studies(void **state)
{
	struct lode_synth_options options = lode_synth_defaults();

	(void)state;
	options.seed = 77;
	lode_synth_preset("third-party", &options);
	assert_int_equal(options.seed, 77);
	assert_int_equal(options.streams, 54);
	assert_int_equal(options.symptoms, 59);
	assert_in_range(options.streams * options.events, 32900000, 33100000);
	assert_in_range(options.streams * options.events / 100 * options.waits, 19800000, 20200000);
	lode_synth_preset("windows", &options);
	assert_int_equal(options.streams, 921);
	assert_in_range(options.streams * options.events, 180900000, 181100000);
	assert_in_range(options.streams * options.events / 100 * options.waits, 139000000, 141000000);
	for (size_t i = 0; lode_synth_preset_name(i); i++) {
		lode_synth_preset(lode_synth_preset_name(i), &options);
		assert_int_equal(lode_synth_check(&options, NULL), 0);
	}
}

static void wrong_options_are_reported(void **state)
{
	struct lode_synth_options options = small(1);
	struct lode_synth_model *model;
	struct lode_error error;

	(void)state;
	options.streams = 0;
	assert_int_equal(lode_synth_model_create(&model, &options, &error), LODE_USAGE);
	assert_null(model);
	assert_string_equal(error.text, "0 streams are too few; choose from 1 to 1000000");
	options = small(1);
	options.waits = 100;
	assert_int_equal(lode_synth_check(&options, &error), LODE_USAGE);
	assert_string_equal(error.text, "100 percent of waits are too many; choose from 1 to 99");
}

static void the_smallest_corpus_is_possible(void **state)
{
	struct lode_synth_options options = { 1, 1, 1, 1, 0, 0, 10 * MS, 1 };
	struct example example;

	(void)state;
	make(&example, &options, 0);
	check_order(&example);
	check_one_thing_at_a_time(&example);
	assert_int_equal(example.stream.symptom_count, 0);
	release(&example);
}

static void each_bug_is_in_fewer_streams_than_the_one_before_and_in_one_at_least(void **state)
{
	struct lode_synth_options options = small(3);
	struct lode_synth_model *model;
	size_t before = SIZE_MAX;

	(void)state;
	options.streams = 921;
	options.bugs = 93;
	assert_int_equal(lode_synth_model_create(&model, &options, NULL), 0);
	for (size_t bug = 0; bug < options.bugs; bug++) {
		size_t streams = 0;

		for (size_t i = 0; i < options.streams; i++)
			streams += (size_t)lode_synth_is_planted(model, bug, i);
		if (bug == 0)
			assert_int_equal(streams, 295);
		assert_true(streams > 0 && streams <= before);
		before = streams;
	}
	assert_in_range(before, 8, 16);
	lode_synth_model_free(model);
}

/* ---- memory ---- */

static int make_with_what_there_is(const struct lode_synth_options *options)
{
	struct lode_synth_model *model;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_synth_cost costs[64];
	struct lode_synth_made made;
	struct lode_error error = { "" };
	int code = lode_synth_model_create(&model, options, &error);

	if (!code && lode_dictionary_init(&dictionary) == 0) {
		lode_stream_init(&stream, &dictionary);
		code = lode_synth_stream(model, 0, &stream, costs, &made, &error);
		lode_stream_release(&stream);
	} else if (!code) {
		code = LODE_SYSTEM;
	}
	if (model)
		lode_dictionary_release(&dictionary);
	lode_synth_model_free(model);
	return code;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct lode_synth_options options = small(2);
	uint64_t asked;

	(void)state;
	options.tasks = 1;
	options.events = 50;
	options.delay = 10 * MS;
	lode_memory_fail_at(0, 0);
	assert_int_equal(make_with_what_there_is(&options), 0);
	asked = lode_memory_asked();
	for (uint64_t nth = 1; nth <= asked; nth++) {
		lode_memory_fail_at(nth, 1);
		assert_int_equal(make_with_what_there_is(&options), LODE_SYSTEM);
	}
	lode_memory_fail_at(0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_sorted),
		cmocka_unit_test(a_thread_does_one_thing_at_a_time),
		cmocka_unit_test(every_wait_is_ended_by_a_thread_at_work_or_an_interrupt),
		cmocka_unit_test(a_stream_has_at_least_the_events_that_were_asked_for),
		cmocka_unit_test(a_stream_has_exactly_these_events_when_its_symptoms_leave_room),
		cmocka_unit_test(planted_costs_are_the_sums_of_the_events_with_the_key_frames),
		cmocka_unit_test(costs_on_symptoms_are_those_of_their_critical_paths),
		cmocka_unit_test(symptoms_follow_one_another_and_add_up),
		cmocka_unit_test(only_some_hosts_have_thunks_before_system_calls_and_a_scanner_before_look_ups),
		cmocka_unit_test(stacks_are_as_long_as_in_the_field),
		cmocka_unit_test(the_same_seed_gives_the_same_corpus_whatever_the_number_of_threads),
		cmocka_unit_test(another_seed_gives_another_corpus),
		cmocka_unit_test(making_can_be_stopped_and_leaves_whole_streams),
		cmocka_unit_test(presets_are_as_large_as_the_studies),
		cmocka_unit_test(wrong_options_are_reported),
		cmocka_unit_test(the_smallest_corpus_is_possible),
		cmocka_unit_test(each_bug_is_in_fewer_streams_than_the_one_before_and_in_one_at_least),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests_name("synth", tests, NULL, NULL);
}
