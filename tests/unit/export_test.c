/*
 * Exports as text: plain events, which must come back without loss, and folded
 * stacks; and what all formats share: streams, failures, the end of the work.
 */
#include "export_fixture.h"

#include "base/file.h"
#include "import/import.h"

#include <errno.h>
#include <inttypes.h>

extern const struct lode_importer lode_importer_events;

/* ---- importing what was exported ---- */

struct importing {
	struct fixture *fixture;
	unsigned count;
};

static int take_stream(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	struct importing *importing = context;
	struct lode_corpus *corpus;
	char id[33];
	int code = lode_corpus_open(&corpus, importing->fixture->corpus, LODE_CORPUS_CREATE, error);

	if (code < 0)
		return code;
	assert_int_equal(ordinal, importing->count);
	importing->count++;
	snprintf(id, sizeof(id), "%032x", ++importing->fixture->streams);
	code = lode_corpus_add(corpus, id, "test", stream, 0, 1, error);
	lode_corpus_close(corpus);
	return code < 0 ? code : 0;
}

/* Into a new corpus. What the importer does not understand fails the test. */
static void import_text(struct fixture *fixture, const char *text)
{
	struct importing importing = { .fixture = fixture };
	struct lode_import_sink sink = { take_stream, &importing };
	struct lode_error error = { "" };
	struct lode_input *input;
	struct lode_notes notes;
	struct lode_import_options options = { .notes = &notes };

	next_corpus(fixture);
	lode_notes_init(&notes);
	assert_int_equal(lode_input_memory(&input, "test.jsonl", text, strlen(text), &error), 0);
	if (lode_importer_events.read(input, &options, &sink, &error) < 0)
		fail_msg("%s", error.text);
	if (notes.count)
		fail_msg("%s: %s", notes.items[0].what, notes.items[0].example ? notes.items[0].example : "");
	lode_notes_release(&notes);
	lode_input_close(input);
}

/* ---- a slow, independent description of a stream ---- */

struct description {
	char **lines;
	size_t count;
	size_t capacity;
};

static void describe(struct description *description, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void describe(struct description *description, const char *format, ...)
{
	va_list arguments;
	char *line;

	va_start(arguments, format);
	assert_true(vasprintf(&line, format, arguments) >= 0);
	va_end(arguments);
	if (description->count == description->capacity)
		description->lines =
			realloc(description->lines,
				(description->capacity = description->capacity * 2 + 16) * sizeof(char *));
	description->lines[description->count++] = line;
}

static char *stack_text(const struct lode_stream *stream, uint32_t node)
{
	char *text = strdup("");

	for (; node; node = stream->dictionary->tree.nodes[node].parent) {
		const struct lode_frames *frames = &stream->dictionary->frames;
		uint32_t frame = stream->dictionary->tree.nodes[node].frame;
		char *longer;

		assert_true(asprintf(&longer, "|%s~%s%s", lode_frames_module_name(frames, frame),
				     lode_frames_function(frames, frame), text) >= 0);
		free(text);
		text = longer;
	}
	return text;
}

static const char *name_of(const struct lode_stream *stream, uint32_t string)
{
	return lode_strings_get(&stream->dictionary->frames.strings, string);
}

static void describe_events(struct description *description, const struct lode_stream *stream)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		for (size_t i = 0; i < stream->events[type].count; i++) {
			struct lode_event event = lode_events_get(&stream->events[type], i);
			const struct lode_thread *thread = &stream->threads[event.thread];
			const struct lode_thread *waker = event.waker == LODE_NONE ? NULL
										   : &stream->threads[event.waker];
			char *stack = stack_text(stream, event.stack),
			     *other = stack_text(stream, event.waker_stack);

			describe(description, "%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %u/%u %u %u/%u [%s] %s %s",
				 type, event.t, event.cost, event.delay, thread->pid, thread->tid, event.cpu,
				 waker ? waker->pid : 1, waker ? waker->tid : 1, name_of(stream, event.name),
				 stack, other);
			free(stack);
			free(other);
		}
	}
}

static int compare_lines(const void *a, const void *b)
{
	char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

static void describe_stream(struct description *description, const struct lode_stream *stream)
{
	const struct lode_frames *frames = &stream->dictionary->frames;

	describe(description, "stream %s %s", name_of(stream, stream->name), name_of(stream, stream->host));
	for (size_t i = 0; i < stream->attribute_count; i++)
		describe(description, "attribute %s %s %d", name_of(stream, stream->attributes[i].key),
			 name_of(stream, stream->attributes[i].value), stream->attributes[i].type);
	for (size_t i = 0; i < stream->thread_count; i++)
		describe(description, "thread %u %u %s", stream->threads[i].pid, stream->threads[i].tid,
			 name_of(stream, stream->threads[i].name));
	for (size_t i = 0; i < stream->symptom_count; i++)
		describe(description, "symptom %u %" PRIu64 " %" PRIu64 " %s",
			 stream->threads[stream->symptoms[i].thread].tid, stream->symptoms[i].t0,
			 stream->symptoms[i].t1, name_of(stream, stream->symptoms[i].name));
	for (size_t i = 0; i < frames->count; i++) {
		const struct lode_module *module = &frames->modules[frames->items[i].module];

		describe(description, "frame %s %s %d %s %s", name_of(stream, module->name),
			 lode_frames_function(frames, (uint32_t)i), module->kind, name_of(stream, module->path),
			 name_of(stream, module->build_id));
	}
	describe_events(description, stream);
	qsort(description->lines, description->count, sizeof(char *), compare_lines);
}

static void release_description(struct description *description)
{
	for (size_t i = 0; i < description->count; i++)
		free(description->lines[i]);
	free(description->lines);
}

static void describe_corpus(struct fixture *fixture, struct description *description)
{
	struct lode_corpus_list list = { 0 };
	struct lode_corpus *corpus;
	struct lode_error error;

	assert_int_equal(lode_corpus_open(&corpus, fixture->corpus, LODE_CORPUS_READ, &error), 0);
	assert_int_equal(lode_corpus_streams(corpus, &list, &error), 0);
	for (size_t i = 0; i < list.count; i++) {
		struct whole whole;

		init_whole(&whole, "");
		assert_int_equal(lode_store_load(list.items[i].path, &whole.stream, &error), 0);
		describe_stream(description, &whole.stream);
		release_whole(&whole);
	}
	lode_corpus_list_release(&list);
	lode_corpus_close(corpus);
}

/* ---- plain events ---- */

static void the_example_of_the_contract_is_written_as_it_stands_there(void **state)
{
	static const char example[] =
		"{\"stream\":\"laptop-17\",\"host\":\"h17\",\"attrs\":{\"version\":\"4.2\",\"files\":1200,"
		"\"warm\":true}}\n"
		"{\"type\":\"run\",\"t\":1000,\"cost\":1000000,\"pid\":10,\"tid\":11,\"stack\":[\"app!main\","
		"\"app!load\",\"libc!read\"]}\n"
		"{\"type\":\"wait\",\"t\":5000,\"cost\":300000000,\"pid\":10,\"tid\":11,\"waker\":12,"
		"\"stack\":[\"app!main\",\"app!lock\"],\"waker_stack\":[\"app!worker\",\"app!unlock\"]}\n"
		"{\"type\":\"call\",\"t\":6000,\"tid\":11,\"name\":\"openat\",\"stack\":[\"app!"
		"main\",\"app!load\"]}\n"
		"{\"type\":\"symptom\",\"tid\":11,\"t0\":0,\"t1\":400000000,\"name\":\"open "
		"folder\"}\n";
	struct fixture *fixture = *state;
	char *text;

	import_text(fixture, example);
	text = export_text(fixture, "events", NULL);
	assert_string_equal(text, example);
	free(text);
}

static void every_field_has_its_place_in_a_line(void **state)
{
	static const char lines[] = "{\"stream\":\"s\"}\n"
				    "{\"type\":\"module\",\"name\":\"ext4\",\"kind\":\"kernel\",\"path\":\"/"
				    "lib/ext4\",\"build_id\":\"ab12\"}\n"
				    "{\"type\":\"thread\",\"pid\":1,\"tid\":3,\"name\":\"worker\"}\n"
				    "{\"type\":\"thread\",\"pid\":9,\"tid\":9}\n"
				    "{\"type\":\"run\",\"t\":0,\"cost\":0,\"tid\":2,\"stack\":[]}\n"
				    "{\"type\":\"wait\",\"t\":1,\"cost\":2,\"delay\":3,\"pid\":1,\"tid\":3,"
				    "\"cpu\":0,\"name\":\"futex\",\"waker\":2,"
				    "\"stack\":[\"ext4!read\",\"\"],\"waker_stack\":[\"!a!b\"]}\n"
				    "{\"type\":\"call\",\"t\":18446744073709551615,\"delay\":7,\"tid\":2,"
				    "\"cpu\":65534,\"name\":\"preempt\",\"stack\":[\"f\"]}\n"
				    "{\"type\":\"symptom\",\"tid\":2,\"t0\":0,\"t1\":0}\n";
	struct fixture *fixture = *state;
	char *text;

	import_text(fixture, lines);
	text = export_text(fixture, "events", NULL);
	assert_string_equal(text, lines);
	free(text);
}

static void random_streams_come_back_without_loss_and_byte_for_byte(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 20260;

	for (int round = 0; round < 60; round++) {
		struct description before = { 0 }, after = { 0 };
		struct whole whole;
		char *first, *second;

		next_corpus(fixture);
		random_whole(&whole, &seed, round < 50 ? 40 : 400);
		add_stream(fixture, &whole);
		describe_stream(&before, &whole.stream);
		first = export_text(fixture, "events", NULL);
		import_text(fixture, first);
		describe_corpus(fixture, &after);
		assert_int_equal(before.count, after.count);
		for (size_t i = 0; i < before.count; i++)
			assert_string_equal(before.lines[i], after.lines[i]);
		second = export_text(fixture, "events", NULL);
		assert_string_equal(first, second);
		free(first);
		free(second);
		release_description(&before);
		release_description(&after);
		release_whole(&whole);
	}
}

/* Fills more than one block of each type, with a time that many events share across the border. */
static void fill_blocks(struct whole *whole)
{
	uint32_t stacks[3] = { stack_of(whole, "app!a"), stack_of(whole, "app!a|app!b"), stack_of(whole, "") };
	uint32_t threads[2] = { lode_stream_thread(&whole->stream, 1, 1),
				lode_stream_thread(&whole->stream, 1, 2) };

	for (uint32_t i = 0; i < LODE_BLOCK_EVENTS + 5000; i++) {
		struct lode_event event = {
			.t = i > 60000 && i < 68000 ? 60000 : i,
			.cost = i % 1000,
			.thread = threads[i % 2],
			.stack = stacks[i % 3],
			.waker = LODE_NONE,
			.cpu = LODE_NO_CPU,
		};

		assert_int_equal(lode_stream_add_event(&whole->stream, LODE_RUN, &event), 0);
		event.cost++;
		assert_int_equal(lode_stream_add_event(&whole->stream, LODE_WAIT, &event), 0);
	}
}

static void events_stay_in_order_across_blocks(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	uint64_t last = 0, lines = 0, cost = 0, wait_cost = 0;
	int last_was_wait = 0;
	char *text, *line, *end;

	init_whole(&whole, "long");
	fill_blocks(&whole);
	add_stream(fixture, &whole);
	text = export_text(fixture, "events", NULL);
	for (line = strchr(text, '\n') + 1; *line; line = end + 1) {
		int is_wait = strncmp(line, "{\"type\":\"wait\"", 14) == 0;
		uint64_t t;

		end = strchr(line, '\n');
		*end = '\0';
		t = strtoull(strstr(line, "\"t\":") + 4, NULL, 10);
		assert_true(t > last || (t == last && is_wait >= last_was_wait) || lines == 0);
		*(is_wait ? &wait_cost : &cost) += strtoull(strstr(line, "\"cost\":") + 7, NULL, 10);
		last = t;
		last_was_wait = is_wait;
		lines++;
	}
	assert_int_equal(lines, 2 * (LODE_BLOCK_EVENTS + 5000));
	assert_true(cost == sum_costs(&whole, LODE_RUN));
	assert_true(wait_cost == sum_costs(&whole, LODE_WAIT));
	free(text);
	release_whole(&whole);
}

static void only_the_kinds_asked_for_are_written(void **state)
{
	const struct lode_export_options options = { .kinds = 1u << LODE_WAIT | 1u << LODE_CALL };
	struct fixture *fixture = *state;
	struct whole whole;
	char *text;

	init_whole(&whole, "s");
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		add_event(&whole, (enum lode_event_type)type, 5, 0, 1, 1, "a");
	add_stream(fixture, &whole);
	text = export_text(fixture, "events", &options);
	assert_null(strstr(text, "\"run\""));
	assert_non_null(strstr(text, "\"wait\""));
	assert_non_null(strstr(text, "\"call\""));
	free(text);
	release_whole(&whole);
}

/* ---- folded stacks ---- */

static void stacks_are_folded_and_summed_and_sorted(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	char *text;

	init_whole(&whole, "s");
	add_event(&whole, LODE_RUN, 1, 10, 1, 1, "app!main|app!b");
	add_event(&whole, LODE_RUN, 2, 20, 1, 2, "app!main|app!a|f");
	add_event(&whole, LODE_RUN, 3, 30, 1, 1, "app!main|app!b");
	add_event(&whole, LODE_RUN, 4, 0, 1, 1, "app!main");
	add_event(&whole, LODE_RUN, 5, 7, 1, 1, "app!main x");
	add_event(&whole, LODE_RUN, 6, 5, 1, 1, "");
	add_event(&whole, LODE_WAIT, 5, 99, 1, 1, "w");
	add_stream(fixture, &whole);
	text = export_text(fixture, "folded", NULL);
	assert_string_equal(text, "[no stack] 5\n"
				  "app!main 0\n"
				  "app!main x 7\n"
				  "app!main;app!a;f 20\n"
				  "app!main;app!b 40\n");
	free(text);
	text = export_text(fixture, "folded", &(struct lode_export_options){ .kinds = 1u << LODE_WAIT });
	assert_string_equal(text, "w 99\n");
	free(text);
	release_whole(&whole);
}

static void without_runs_waits_are_folded_and_calls_are_counted(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	char *text;

	init_whole(&whole, "s");
	add_event(&whole, LODE_WAIT, 1, 10, 1, 1, "w");
	for (int i = 0; i < 3; i++)
		add_event(&whole, LODE_CALL, 1, 0, 1, 1, "c|d");
	add_stream(fixture, &whole);
	text = export_text(fixture, "folded", NULL);
	assert_string_equal(text, "w 10\n");
	free(text);
	text = export_text(fixture, "folded", &(struct lode_export_options){ .kinds = 1u << LODE_CALL });
	assert_string_equal(text, "c;d 3\n");
	free(text);
	release_whole(&whole);
}

static void frames_that_would_break_a_line_are_changed_joined_and_counted(void **state)
{
	struct fixture *fixture = *state;
	struct lode_notes notes;
	struct lode_export_options options = { .notes = &notes };
	struct whole whole;
	char *text;

	lode_notes_init(&notes);
	init_whole(&whole, "s");
	add_event(&whole, LODE_RUN, 1, 1, 1, 1, "a;b|leaf");
	add_event(&whole, LODE_RUN, 2, 2, 1, 1, "a:b|leaf");
	add_event(&whole, LODE_RUN, 3, 4, 1, 1, "new\nline\r");
	add_event(&whole, LODE_RUN, 4, 8, 1, 1, "");
	whole.stream.events[LODE_RUN].stack[3] =
		lode_stack_tree_child(&whole.dictionary.tree, 0,
				      lode_frames_add(&whole.dictionary.frames, 0, "", 0));
	add_stream(fixture, &whole);
	text = export_text(fixture, "folded", &options);
	assert_string_equal(text, "[unknown] 8\na:b;leaf 3\nnew line  4\n");
	assert_int_equal(notes.count, 1);
	assert_int_equal(notes.items[0].count, 3);
	lode_notes_release(&notes);
	free(text);
	release_whole(&whole);
}

static void a_line_an_event_keeps_their_order(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	char *text;

	init_whole(&whole, "s");
	add_event(&whole, LODE_RUN, 1, 3, 1, 1, "z");
	add_event(&whole, LODE_RUN, 2, 2, 1, 1, "a|b");
	add_event(&whole, LODE_RUN, 3, 1, 1, 1, "z");
	add_event(&whole, LODE_RUN, 4, 1, 1, 1, "");
	add_stream(fixture, &whole);
	text = export_text(fixture, "folded", &(struct lode_export_options){ .per_event = 1 });
	assert_string_equal(text, "z 3\na;b 2\nz 1\n[no stack] 1\n");
	free(text);
	release_whole(&whole);
}

static void two_kinds_at_once_cannot_be_folded(void **state)
{
	struct lode_export_options options = { .kinds = 1u << LODE_RUN | 1u << LODE_WAIT };
	struct fixture *fixture = *state;
	struct lode_error error;
	struct whole whole;

	init_whole(&whole, "s");
	add_stream(fixture, &whole);
	assert_int_equal(export_file(fixture, "folded", &options, &error), LODE_USAGE);
	assert_non_null(strstr(error.text, "choose one with"));
	release_whole(&whole);
}

/* An oracle that knows nothing of trees: texts, sorted, equal neighbours summed. */
static char *fold_slowly(struct whole *wholes, size_t count, enum lode_event_type type)
{
	struct description lines = { 0 };
	size_t size = 0, capacity = 1 << 20;
	char *text = malloc(capacity);

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const struct lode_stream *stream = &wholes[i].stream;

		for (size_t at = 0; at < stream->events[type].count; at++) {
			struct lode_buffer frame = { 0 };
			uint32_t node = stream->events[type].stack[at];
			char *stack = strdup(node ? "" : "[no stack]");

			for (; node; node = stream->dictionary->tree.nodes[node].parent) {
				char *longer;

				lode_buffer_clear(&frame);
				lode_frames_text(&stream->dictionary->frames,
						 stream->dictionary->tree.nodes[node].frame, &frame);
				if (!frame.size)
					lode_buffer_text(&frame, "[unknown]");
				for (size_t k = 0; k < frame.size; k++)
					frame.bytes[k] = frame.bytes[k] == ';'    ? ':'
							 : frame.bytes[k] == '\n' ? ' '
										  : frame.bytes[k];
				assert_true(asprintf(&longer, "%.*s%s%s", (int)frame.size, frame.bytes,
						     *stack ? ";" : "", stack) >= 0);
				free(stack);
				stack = longer;
			}
			describe(&lines, "%s\t%" PRIu64, stack, stream->events[type].cost[at]);
			free(stack);
			lode_buffer_release(&frame);
		}
	}
	/* The tab, like the end of a text, sorts before all that frames hold here but other controls. */
	qsort(lines.lines, lines.count, sizeof(char *), compare_lines);
	for (size_t i = 0; i < lines.count;) {
		size_t length = strlen(lines.lines[i]) - strlen(strrchr(lines.lines[i], '\t'));
		uint64_t sum = 0;
		size_t next = i;

		for (; next < lines.count && strncmp(lines.lines[next], lines.lines[i], length + 1) == 0 &&
		       strrchr(lines.lines[next], '\t') == lines.lines[next] + length;
		     next++)
			sum += strtoull(lines.lines[next] + length + 1, NULL, 10);
		assert_true(size + length + 32 < capacity);
		size += (size_t)sprintf(text + size, "%.*s %" PRIu64 "\n", (int)length, lines.lines[i], sum);
		i = next;
	}
	release_description(&lines);
	return text;
}

static void random_streams_fold_as_a_slow_oracle_folds_them(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 77;

	for (int round = 0; round < 40; round++) {
		struct whole wholes[3];
		char *fast, *slow;

		next_corpus(fixture);
		for (int i = 0; i < 3; i++) {
			random_whole(&wholes[i], &seed, 60);
			add_stream(fixture, &wholes[i]);
		}
		for (unsigned type = LODE_RUN; type <= LODE_WAIT; type++) {
			fast = export_text(fixture, "folded", &(struct lode_export_options){ .kinds = 1u << type });
			slow = fold_slowly(wholes, 3, (enum lode_event_type)type);
			assert_string_equal(fast, slow);
			free(fast);
			free(slow);
		}
		for (int i = 0; i < 3; i++)
			release_whole(&wholes[i]);
	}
}

/* ---- what all formats share ---- */

static void streams_are_chosen_by_name_or_id(void **state)
{
	const char *by_name[] = { "two", NULL };
	const char *by_id[] = { "00000000000000000000000000000001", "two", NULL };
	const char *missing[] = { "four", NULL };
	struct lode_export_options options = { .streams = by_name };
	struct fixture *fixture = *state;
	struct lode_error error;
	char *text;

	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "one", "two", "three" };
		struct whole whole;

		init_whole(&whole, names[i]);
		add_stream(fixture, &whole);
		release_whole(&whole);
	}
	text = export_text(fixture, "events", NULL);
	assert_string_equal(text, "{\"stream\":\"one\"}\n{\"stream\":\"three\"}\n{\"stream\":\"two\"}\n");
	free(text);
	text = export_text(fixture, "events", &options);
	assert_string_equal(text, "{\"stream\":\"two\"}\n");
	free(text);
	options.streams = by_id;
	text = export_text(fixture, "events", &options);
	assert_string_equal(text, "{\"stream\":\"one\"}\n{\"stream\":\"two\"}\n");
	free(text);
	options.streams = missing;
	assert_int_equal(export_file(fixture, "events", &options, &error), LODE_USAGE);
	assert_non_null(strstr(error.text, "has no stream called four"));
}

static void an_unknown_format_is_answered_with_those_there_are(void **state)
{
	struct lode_error error;

	(void)state;
	assert_null(lode_exporter_find("spedscope", &error));
	for (size_t i = 0; lode_exporters[i]; i++) {
		assert_non_null(strstr(error.text, lode_exporters[i]->name));
		assert_ptr_equal(lode_exporter_find(lode_exporters[i]->name, &error), lode_exporters[i]);
	}
}

static int stop_at_once(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	unsigned *calls = context;

	(void)phase;
	(void)unit;
	assert_true(done <= total);
	(*calls)++;
	return 1;
}

static void an_export_stops_when_it_is_asked_to_and_leaves_nothing(void **state)
{
	unsigned calls = 0;
	struct lode_progress progress = { stop_at_once, &calls };
	struct lode_export_options options = { .progress = &progress };
	struct fixture *fixture = *state;
	struct lode_error error;
	struct whole whole;

	init_whole(&whole, "s");
	add_event(&whole, LODE_RUN, 1, 1, 1, 1, "a");
	add_stream(fixture, &whole);
	for (size_t i = 0; lode_exporters[i]; i++) {
		calls = 0;
		assert_int_equal(export_file(fixture, lode_exporters[i]->name, &options, &error), LODE_SYSTEM);
		assert_int_equal(calls, 1);
		assert_int_not_equal(access(fixture->result, F_OK), 0);
	}
	assert_int_equal(count_leftovers(fixture->folder), 0);
	release_whole(&whole);
}

static void prepare_failing(struct fixture *fixture)
{
	struct whole whole;
	uint64_t seed = 5;

	odd_whole(&whole);
	add_stream(fixture, &whole);
	release_whole(&whole);
	random_whole(&whole, &seed, 30);
	add_stream(fixture, &whole);
	release_whole(&whole);
}

static void memory_that_runs_out_anywhere_is_an_error_and_leaves_nothing(void **state)
{
	static const struct lode_export_options options;
	struct fixture *fixture = *state;

	prepare_failing(fixture);
	for (size_t i = 0; lode_exporters[i]; i++) {
		for (int for_good = 0; for_good < 2; for_good++) {
			int code = LODE_SYSTEM;

			for (uint64_t nth = 1; code < 0; nth += 1 + nth / 50) {
				struct lode_error error = { "" };

				unlink(fixture->result);
				lode_memory_fail_at(nth, for_good);
				code = export_file(fixture, lode_exporters[i]->name, &options, &error);
				lode_memory_fail_at(0, 0);
				if (code < 0) {
					assert_int_equal(code, LODE_SYSTEM);
					assert_true(error.text[0] != '\0');
					assert_int_not_equal(access(fixture->result, F_OK), 0);
				}
				assert_int_equal(count_leftovers(fixture->folder), 0);
			}
		}
	}
}

static void write_old(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs("old", file);
	fclose(file);
}

/* Plants one failure and looks at what is there afterwards. Returns 0 when there was nothing left to fail. */
static int try_failure(struct fixture *fixture, const char *format, uint64_t nth, int number, const char *good,
		       size_t good_size)
{
	static const struct lode_export_options options;
	struct lode_error error = { "" };
	size_t size;
	char *bytes;
	int code, reached;

	write_old(fixture->result);
	lode_file_fail_at(nth, 0, number);
	code = export_file(fixture, format, &options, &error);
	reached = lode_file_asked() >= nth;
	lode_file_fail_at(0, 0, 0);
	if (code < 0)
		assert_true(error.text[0] != '\0');
	bytes = read_file(fixture->result, &size);
	/* Only making the folder durable, the very last step, may fail after the new result is there. */
	if (code < 0 && size == 3)
		assert_string_equal(bytes, "old");
	else
		assert_true(size == good_size && memcmp(bytes, good, size) == 0);
	free(bytes);
	assert_int_equal(count_leftovers(fixture->folder), 0);
	return reached;
}

static void a_file_operation_that_fails_leaves_the_old_result(void **state)
{
	static const struct lode_export_options options;
	struct fixture *fixture = *state;

	prepare_failing(fixture);
	for (size_t i = 0; lode_exporters[i]; i++) {
		size_t size;
		char *good = export_bytes(fixture, lode_exporters[i]->name, &options, &size);
		uint64_t nth = 1;

		while (try_failure(fixture, lode_exporters[i]->name, nth, nth % 2 ? EIO : ENOSPC, good, size))
			nth++;
		assert_true(nth > 5);
		free(good);
	}
}

static void writes_that_are_cut_short_go_on(void **state)
{
	static const struct lode_export_options options;
	struct fixture *fixture = *state;
	struct lode_error error;
	size_t good_size, size;
	char *good, *bytes;

	prepare_failing(fixture);
	good = export_bytes(fixture, "firefox", &options, &good_size);
	lode_file_fail_at(1, 1, 0);
	assert_int_equal(export_file(fixture, "firefox", &options, &error), 0);
	lode_file_fail_at(0, 0, 0);
	bytes = read_file(fixture->result, &size);
	assert_int_equal(size, good_size);
	assert_memory_equal(bytes, good, size);
	free(bytes);
	free(good);
}

static void an_empty_corpus_is_written_in_every_format(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus *corpus;
	struct lode_error error;

	assert_int_equal(lode_corpus_open(&corpus, fixture->corpus, LODE_CORPUS_CREATE, &error), 0);
	lode_corpus_close(corpus);
	for (size_t i = 0; lode_exporters[i]; i++)
		free(export_text(fixture, lode_exporters[i]->name, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(the_example_of_the_contract_is_written_as_it_stands_there),
		TEST(every_field_has_its_place_in_a_line),
		TEST(random_streams_come_back_without_loss_and_byte_for_byte),
		TEST(events_stay_in_order_across_blocks),
		TEST(only_the_kinds_asked_for_are_written),
		TEST(stacks_are_folded_and_summed_and_sorted),
		TEST(without_runs_waits_are_folded_and_calls_are_counted),
		TEST(frames_that_would_break_a_line_are_changed_joined_and_counted),
		TEST(a_line_an_event_keeps_their_order),
		TEST(two_kinds_at_once_cannot_be_folded),
		TEST(random_streams_fold_as_a_slow_oracle_folds_them),
		TEST(streams_are_chosen_by_name_or_id),
		TEST(an_unknown_format_is_answered_with_those_there_are),
		TEST(an_export_stops_when_it_is_asked_to_and_leaves_nothing),
		TEST(memory_that_runs_out_anywhere_is_an_error_and_leaves_nothing),
		TEST(a_file_operation_that_fails_leaves_the_old_result),
		TEST(writes_that_are_cut_short_go_on),
		TEST(an_empty_corpus_is_written_in_every_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
