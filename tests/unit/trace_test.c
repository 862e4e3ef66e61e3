/* The model in memory: frames, the stack tree, events in columns, streams and their merging. */
#include "cmocka_all.h"
#include "random_stream.h"

#include "trace/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_frame(const char *text, const char *module, const char *function)
{
	struct lode_frames frames;
	struct lode_buffer buffer = { 0 };
	uint32_t frame;

	assert_int_equal(lode_frames_init(&frames), 0);
	frame = lode_frames_parse(&frames, text, strlen(text));
	assert_string_equal(lode_frames_module_name(&frames, frame), module);
	assert_string_equal(lode_frames_function(&frames, frame), function);
	lode_frames_text(&frames, frame, &buffer);
	assert_int_equal(lode_frames_parse(&frames, buffer.bytes ? buffer.bytes : "", buffer.size), frame);
	lode_buffer_release(&buffer);
	lode_frames_release(&frames);
}

static void the_first_mark_ends_the_module_unless_it_belongs_to_an_operator(void **state)
{
	(void)state;
	expect_frame("app!main", "app", "main");
	expect_frame("main", "", "main");
	expect_frame("libc.so.6!read!x", "libc.so.6", "read!x");
	expect_frame("operator!=(A const&, A const&)", "", "operator!=(A const&, A const&)");
	expect_frame("A::operator!", "", "A::operator!");
	expect_frame("std::vector<int>!x", "", "std::vector<int>!x");
	expect_frame("!weird!name", "", "weird!name");
	expect_frame("!", "", "");
	expect_frame("app!", "app", "");
	expect_frame("", "", "");
	expect_frame("[kernel.kallsyms]!do_idle", "[kernel.kallsyms]", "do_idle");
	expect_frame("app!operator!=", "app", "operator!=");
}

static void a_frame_is_found_by_its_names_without_being_added(void **state)
{
	struct lode_frames frames;
	uint32_t read;

	(void)state;
	assert_int_equal(lode_frames_init(&frames), 0);
	read = lode_frames_parse(&frames, "libc!read", 9);
	lode_frames_parse(&frames, "main", 4);
	assert_int_equal(lode_frames_find(&frames, "libc", "read"), read);
	assert_int_not_equal(lode_frames_find(&frames, "", "main"), LODE_NONE);
	assert_true(lode_frames_find(&frames, "libc", "main") == LODE_NONE);
	assert_true(lode_frames_find(&frames, "read", "libc") == LODE_NONE);
	assert_true(lode_frames_find(&frames, "libc", "write") == LODE_NONE);
	assert_int_equal(frames.count, 2);
	lode_frames_release(&frames);
}

static void a_frame_of_any_module_reads_back_the_same(void **state)
{
	static const char *const names[] = { "memfd:x (deleted)", "a!b",  "std::x", "<anon>",
					     "operator",          "f(x)", "!",      " (deleted)",
					     "libc.so.6",         "" };
	struct lode_frames frames;

	(void)state;
	assert_int_equal(lode_frames_init(&frames), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint32_t module = lode_frames_module(&frames, names[i], strlen(names[i]));
		uint32_t frame = lode_frames_add(&frames, module, "f!g", 3);
		struct lode_buffer text = { 0 };

		lode_frames_text(&frames, frame, &text);
		assert_int_equal(lode_frames_parse(&frames, text.bytes, text.size), frame);
		lode_buffer_release(&text);
	}
	assert_int_equal(lode_frames_module(&frames, "memfd:x (deleted)", 17),
			 lode_frames_module(&frames, "memfd:x", 7));
	lode_frames_release(&frames);
}

static void a_module_name_suggests_its_kind(void **state)
{
	(void)state;
#define KIND(text) lode_kind_guess(text, strlen(text))
	assert_int_equal(KIND("kernel"), LODE_KIND_KERNEL);
	assert_int_equal(KIND("[kernel.kallsyms]"), LODE_KIND_KERNEL);
	assert_int_equal(KIND("nf_nat.ko"), LODE_KIND_KERNEL);
	assert_int_equal(KIND("libc.so.6"), LODE_KIND_LIBRARY);
	assert_int_equal(KIND("libx.so"), LODE_KIND_LIBRARY);
	assert_int_equal(KIND("[vdso]"), LODE_KIND_LIBRARY);
	assert_int_equal(KIND("perf-123.map"), LODE_KIND_JIT);
	assert_int_equal(KIND("app"), LODE_KIND_USER);
	assert_int_equal(KIND("something.sold"), LODE_KIND_USER);
	assert_int_equal(KIND(""), LODE_KIND_USER);
#undef KIND
}

static void equal_stacks_are_one_node_and_frames_read_back_root_first(void **state)
{
	struct lode_stack_tree tree;
	uint64_t seed = 2;

	(void)state;
	assert_int_equal(lode_stack_tree_init(&tree), 0);
	for (int round = 0; round < 5000; round++) {
		uint32_t frames[12], back[12], depth = (uint32_t)random_below(&seed, 12), node = 0, again = 0;

		for (uint32_t i = 0; i < depth; i++)
			frames[i] = (uint32_t)random_below(&seed, 4);
		for (uint32_t i = 0; i < depth; i++) {
			uint32_t child = lode_stack_tree_child(&tree, node, frames[i]);

			assert_true(child > node);
			node = child;
		}
		for (uint32_t i = 0; i < depth; i++)
			again = lode_stack_tree_child(&tree, again, frames[i]);
		assert_int_equal(node, again);
		assert_int_equal(lode_stack_tree_depth(&tree, node), depth);
		lode_stack_tree_frames(&tree, node, back, depth);
		assert_memory_equal(frames, back, depth * sizeof(frames[0]));
	}
	lode_stack_tree_release(&tree);
}

/* The cost column holds the order of arrival, so that a stable sort can be distinguished from another. */
static int compare_events(const void *left, const void *right)
{
	const struct lode_event *a = left, *b = right;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return (a->cost > b->cost) - (a->cost < b->cost);
}

static uint32_t find_slowly(const struct lode_stack_tree *tree, uint32_t parent, uint32_t frame)
{
	for (uint32_t i = 1; i < tree->count; i++)
		if (tree->nodes[i].parent == parent && tree->nodes[i].frame == frame)
			return i;
	return LODE_NONE;
}

static void stacks_are_found_however_they_came_into_the_tree(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 200; round++) {
		uint64_t frames = 1 + random_below(&seed, 6), often = 1 + random_below(&seed, 20);
		struct lode_stack_tree tree;

		assert_int_equal(lode_stack_tree_init(&tree), 0);
		for (int i = 0; i < 300; i++) {
			uint32_t parent = random_below(&seed, 2) ? (uint32_t)random_below(&seed, tree.count)
								 : (uint32_t)tree.count - 1;
			uint32_t frame = (uint32_t)random_below(&seed, frames), count = (uint32_t)tree.count;
			uint32_t known = find_slowly(&tree, parent, frame), node;

			if (known == LODE_NONE && random_below(&seed, often))
				node = lode_stack_tree_append(&tree, parent, frame);
			else
				node = lode_stack_tree_child(&tree, parent, frame);
			assert_int_equal(node, known == LODE_NONE ? count : known);
			assert_int_equal(tree.count, known == LODE_NONE ? count + 1 : count);
		}
		lode_stack_tree_release(&tree);
	}
}

static void sorting_orders_by_time_and_keeps_the_order_of_equal_times(void **state)
{
	uint64_t seed = 31;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		size_t count = random_below(&seed, round % 20 ? 200 : 2000);
		struct lode_event *expected = calloc(count + 1, sizeof(*expected));
		struct lode_events events = { 0 };
		uint64_t shape = random_below(&seed, 4);

		for (size_t i = 0; i < count; i++) {
			struct lode_event *event = &expected[i];

			event->t = shape == 0   ? random_below(&seed, 10)
				   : shape == 1 ? i
				   : shape == 2 ? random_next(&seed) >> random_below(&seed, 64)
						: count - i + random_below(&seed, 3);
			event->cost = i;
			event->thread = (uint32_t)random_next(&seed);
			event->stack = (uint32_t)random_next(&seed);
			event->delay = random_next(&seed);
			event->waker = (uint32_t)random_next(&seed);
			event->waker_stack = (uint32_t)random_next(&seed);
			event->name = (uint32_t)random_next(&seed);
			event->cpu = (uint16_t)random_next(&seed);
			event->object = (uint32_t)random_below(&seed, 2) * (uint32_t)random_next(&seed);
			event->holder = event->object && random_below(&seed, 2) ? (uint32_t)random_next(&seed)
										: LODE_NONE;
			event->context = random_below(&seed, 3) ? 0 : (uint32_t)random_next(&seed);
			assert_int_equal(lode_events_add(&events, event), 0);
		}
		qsort(expected, count, sizeof(*expected), compare_events);
		assert_int_equal(lode_events_sort(&events), 0);
		for (size_t i = 0; i < count; i++) {
			struct lode_event event = lode_events_get(&events, i);

			assert_true(event.t == expected[i].t && event.cost == expected[i].cost &&
				    event.delay == expected[i].delay && event.thread == expected[i].thread &&
				    event.stack == expected[i].stack && event.waker == expected[i].waker &&
				    event.waker_stack == expected[i].waker_stack && event.name == expected[i].name &&
				    event.cpu == expected[i].cpu && event.object == expected[i].object &&
				    event.holder == expected[i].holder && event.context == expected[i].context);
		}
		lode_events_release(&events);
		free(expected);
	}
}

static void parts_filled_apart_and_merged_equal_the_whole(void **state)
{
	uint64_t seed = 77;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct lode_dictionary dictionaries[3];
		struct lode_stream whole, parts[2];
		struct lode_stream *all[] = { &whole, &parts[0], &parts[1] };

		for (int i = 0; i < 3; i++) {
			assert_int_equal(lode_dictionary_init(&dictionaries[i]), 0);
			lode_stream_init(all[i], &dictionaries[i]);
		}
		for (int i = 0; i < 200; i++) {
			char text[16];
			struct lode_event event = { .t = random_below(&seed, 1000), .cost = 1, .waker = LODE_NONE };
			uint32_t pid = (uint32_t)random_below(&seed, 3), tid = (uint32_t)random_below(&seed, 5);

			snprintf(text, sizeof(text), "m!f%u", (unsigned)random_below(&seed, 20));
			for (int j = 0; j < 2; j++) {
				struct lode_stream *stream = j ? &parts[i / 100] : &whole;
				struct lode_dictionary *dictionary = stream->dictionary;

				event.thread = lode_stream_thread(stream, pid, tid);
				event.stack = lode_stack_tree_child(&dictionary->tree, 0,
								    lode_frames_parse(&dictionary->frames, text,
										      strlen(text)));
				lode_stream_add_event(stream, i % 3, &event);
			}
		}
		assert_int_equal(lode_stream_merge(&parts[0], &parts[1]), 0);
		assert_int_equal(lode_stream_sort(&whole), 0);
		assert_int_equal(lode_stream_sort(&parts[0]), 0);
		assert_true(streams_equal(&whole, &parts[0]));
		for (int i = 0; i < 3; i++) {
			lode_stream_release(all[i]);
			lode_dictionary_release(&dictionaries[i]);
		}
	}
}

#define EACH_COLUMN(what)                                                                                         \
	what(t) what(cost) what(delay) what(thread) what(stack) what(waker) what(waker_stack) what(name)          \
		what(cpu) what(weight) what(object) what(holder) what(context)

/* Writes to all places that a column must have, each column other numbers. */
static void fill_columns(struct lode_events *events)
{
	uint16_t number = 0;

#define FILL(field)                                                                                               \
	for (size_t i = 0; events->field && i < events->capacity; i++)                                            \
		events->field[i] = number++;
	EACH_COLUMN(FILL)
#undef FILL
}

/* No column was written over by another. */
static void expect_filled(const struct lode_events *events)
{
	uint16_t number = 0;

#define EXPECT(field)                                                                                             \
	for (size_t i = 0; events->field && i < events->capacity; i++, number++)                                  \
		assert_int_equal(events->field[i], number);
	EACH_COLUMN(EXPECT)
#undef EXPECT
}

static void room_is_reserved_in_all_columns_that_are_there(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct lode_events events = { 0 };
		size_t most = 0;
		unsigned all = 0;

		for (int k = 0; k < 20; k++) {
			unsigned mask = 1u << random_below(&seed, 13) | 1u << random_below(&seed, 13);
			size_t capacity = (size_t)random_below(&seed, 100 * (uint64_t)(k + 1));

			most = capacity > most ? capacity : most;
			all |= mask;
			assert_int_equal(lode_events_reserve(&events, capacity, mask), 0);
			assert_int_equal(lode_events_columns(&events), all);
			assert_int_equal(events.capacity, most);
			fill_columns(&events);
			expect_filled(&events);
		}
		lode_events_release(&events);
	}
}

static void the_span_reaches_from_the_first_start_to_the_last_end(void **state)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_event event = { .t = 100, .cost = 50, .delay = 7, .waker = LODE_NONE };
	uint64_t first, last;

	(void)state;
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	lode_stream_span(&stream, &first, &last);
	assert_int_equal(first, 0);
	assert_int_equal(last, 0);
	event.thread = lode_stream_thread(&stream, LODE_NO_PID, 1);
	lode_stream_add_event(&stream, LODE_WAIT, &event);
	event = (struct lode_event){ .t = 20, .cost = UINT64_MAX, .waker = LODE_NONE };
	lode_stream_span(&stream, &first, &last);
	assert_int_equal(first, 100);
	assert_int_equal(last, 157);
	lode_stream_add_event(&stream, LODE_RUN, &event);
	lode_stream_span(&stream, &first, &last);
	assert_int_equal(first, 20);
	assert_true(last == UINT64_MAX);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

/* Makes an event of ids that are made one of the other, while allocation `nth` fails. */
static int make_event(uint64_t nth, uint64_t *allocations)
{
	struct lode_event event = { .waker = LODE_NONE };
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	uint32_t module;
	int code;

	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	lode_memory_fail_at(nth, 0);
	module = lode_frames_kernel_module(&dictionary.frames, "ext4", 4);
	code = lode_frames_set_path(&dictionary.frames, module, "/lib/ext4.ko", 12);
	for (char name = 'a'; name < 'z'; name++)
		event.stack = lode_stack_tree_child(&dictionary.tree, event.stack,
						    lode_frames_add(&dictionary.frames, module, &name, 1));
	event.name = lode_strings_add(&dictionary.frames.strings, "read", 4);
	event.thread = lode_stream_thread(&stream, 1, 2);
	if (lode_stream_add_event(&stream, LODE_CALL, &event) < 0)
		code = LODE_SYSTEM;
	*allocations = lode_memory_asked();
	lode_memory_fail_at(0, 0);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}

static void what_memory_ran_out_for_is_refused_at_the_end(void **state)
{
	uint64_t allocations, ignored;

	(void)state;
	assert_int_equal(make_event(UINT64_MAX, &allocations), 0);
	assert_true(allocations > 3);
	for (uint64_t nth = 1; nth <= allocations; nth++)
		assert_int_equal(make_event(nth, &ignored), LODE_SYSTEM);
}

static void an_attribute_set_twice_has_its_last_value(void **state)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;

	(void)state;
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	assert_int_equal(lode_stream_set_attribute(&stream, "k", "1", LODE_ATTRIBUTE_NUMBER), 0);
	assert_int_equal(lode_stream_set_attribute(&stream, "k", "one", LODE_ATTRIBUTE_TEXT), 0);
	assert_int_equal(stream.attribute_count, 1);
	assert_string_equal(lode_strings_get(&dictionary.frames.strings, stream.attributes[0].value), "one");
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_mark_ends_the_module_unless_it_belongs_to_an_operator),
		cmocka_unit_test(a_frame_is_found_by_its_names_without_being_added),
		cmocka_unit_test(a_frame_of_any_module_reads_back_the_same),
		cmocka_unit_test(a_module_name_suggests_its_kind),
		cmocka_unit_test(equal_stacks_are_one_node_and_frames_read_back_root_first),
		cmocka_unit_test(stacks_are_found_however_they_came_into_the_tree),
		cmocka_unit_test(sorting_orders_by_time_and_keeps_the_order_of_equal_times),
		cmocka_unit_test(parts_filled_apart_and_merged_equal_the_whole),
		cmocka_unit_test(room_is_reserved_in_all_columns_that_are_there),
		cmocka_unit_test(the_span_reaches_from_the_first_start_to_the_last_end),
		cmocka_unit_test(what_memory_ran_out_for_is_refused_at_the_end),
		cmocka_unit_test(an_attribute_set_twice_has_its_last_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
