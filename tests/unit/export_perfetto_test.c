/*
 * The Perfetto export, read back packet by packet as a trace processor does: every number that
 * names something interned must be known by then, every slice must end on its track, and all
 * that the streams hold must be there.
 */
#include "export_fixture.h"

#include "import/protobuf/protobuf.h"

#define NUMBERS 65536

/* What a reader has come to know. */
struct trace {
	uint8_t functions[NUMBERS], paths[NUMBERS], mappings[NUMBERS], frames[NUMBERS];
	uint32_t depths[NUMBERS]; /* of call stacks, plus one */
	uint8_t texts[NUMBERS];
	uint8_t tracks[NUMBERS];  /* 1: a thread's, 2: a process', 3: another */
	uint64_t opened[NUMBERS]; /* begin of the open slice of a track, plus one */
	char category[NUMBERS];   /* its first letter */
	uint64_t flows[NUMBERS];  /* how often a flow was seen */
	uint64_t samples, sample_frames, calls, symptoms, wait_cost, delays, waits, flow_ends, packets, threads,
		processes;
	uint64_t pids[NUMBERS];
};

static uint64_t field_number(struct lode_cursor message, unsigned wanted)
{
	struct lode_protobuf_field field;
	uint64_t number = 0;

	while (lode_protobuf_next(&message, &field))
		if (field.number == wanted && field.wire != LODE_WIRE_BYTES)
			number = field.value;
	assert_false(message.failed);
	return number;
}

static struct lode_cursor field_bytes(struct lode_cursor message, unsigned wanted)
{
	struct lode_protobuf_field field;
	struct lode_cursor found = lode_cursor(message.next, 0);

	while (lode_protobuf_next(&message, &field))
		if (field.number == wanted && field.wire == LODE_WIRE_BYTES)
			found = field.bytes;
	return found;
}

static void read_frame(struct trace *trace, struct lode_cursor message)
{
	uint64_t mapping = field_number(message, 3);

	assert_true(trace->functions[field_number(message, 2)]);
	assert_true(!mapping || trace->mappings[mapping]);
	trace->frames[field_number(message, 1)] = 1;
}

static void read_callstack(struct trace *trace, struct lode_cursor message)
{
	struct lode_protobuf_field field;
	uint64_t id = field_number(message, 1);
	uint32_t depth = 0;

	assert_int_equal(trace->depths[id], 0);
	while (lode_protobuf_next(&message, &field)) {
		if (field.number != 2)
			continue;
		assert_true(trace->frames[field.value]);
		depth++;
	}
	trace->depths[id] = depth + 1;
}

static void read_interned(struct trace *trace, struct lode_cursor message)
{
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&message, &field)) {
		uint64_t id = field_number(field.bytes, 1);

		assert_true(id > 0 && id < NUMBERS);
		switch (field.number) {
		case 5:
			trace->functions[id] = 1;
			break;
		case 6:
			read_frame(trace, field.bytes);
			break;
		case 7:
			read_callstack(trace, field.bytes);
			break;
		case 17:
			trace->paths[id] = 1;
			break;
		case 19:
			assert_true(trace->paths[field_number(field.bytes, 7)]);
			trace->mappings[id] = 1;
			break;
		case 29:
			trace->texts[id] = 1;
			break;
		default:
			fail_msg("field %u is interned", field.number);
		}
	}
}

static void read_track(struct trace *trace, struct lode_cursor message)
{
	struct lode_cursor process = field_bytes(message, 3), thread = field_bytes(message, 4);
	uint64_t id = field_number(message, 1);

	assert_int_equal(trace->tracks[id], 0);
	trace->tracks[id] = lode_cursor_left(&thread) ? 1 : lode_cursor_left(&process) ? 2 : 3;
	trace->threads += trace->tracks[id] == 1;
	trace->processes += trace->tracks[id] == 2;
	if (trace->tracks[id] == 2) { /* one track a process */
		for (uint64_t i = 0; i < trace->processes - 1; i++)
			assert_true(trace->pids[i] != field_number(process, 1));
		trace->pids[trace->processes - 1] = field_number(process, 1);
	}
	assert_true(trace->tracks[id] != 3 || trace->tracks[field_number(message, 5)] == 1);
}

static void read_sample(struct trace *trace, struct lode_cursor message)
{
	uint64_t stack = field_number(message, 4);

	trace->samples++;
	assert_true(!stack || trace->depths[stack]);
	trace->sample_frames += stack ? trace->depths[stack] - 1 : 0;
}

static void end_slice(struct trace *trace, uint64_t track, uint64_t t)
{
	uint64_t length = t + 1 - trace->opened[track];

	assert_true(trace->opened[track] && t + 1 >= trace->opened[track]);
	trace->opened[track] = 0;
	if (trace->category[track] == 'w')
		trace->wait_cost += length;
	if (trace->category[track] == 'd')
		trace->delays += length;
}

static void read_event(struct trace *trace, struct lode_cursor message, uint64_t t)
{
	uint64_t type = field_number(message, 9), track = field_number(message, 11),
		 stack = field_number(message, 56);
	uint64_t flow = field_number(message, 47), flow_end = field_number(message, 48);
	struct lode_cursor category = field_bytes(message, 22);
	char first = lode_cursor_left(&category) ? (char)*category.next : '\0';

	assert_true(trace->tracks[track] == 1 || trace->tracks[track] == 3);
	assert_true(!stack || (trace->depths[stack] && trace->texts[stack]));
	if (type == 2) {
		end_slice(trace, track, t);
		return;
	}
	trace->waits += first == 'w' && type == 1;
	trace->calls += first == 'c';
	trace->symptoms += first == 's';
	trace->flows[flow % NUMBERS] += flow != 0;
	if (flow_end) { /* it began before, on another track's mark */
		assert_int_equal(trace->flows[flow_end % NUMBERS], 1);
		trace->flow_ends++;
	}
	if (type == 1) {
		trace->opened[track] = t + 1;
		trace->category[track] = first;
	}
}

static void read_packet(struct trace *trace, struct lode_cursor packet)
{
	uint64_t t = field_number(packet, 8);
	struct lode_protobuf_field field;

	assert_int_equal(field_number(packet, 10), 1);
	assert_int_equal(field_number(packet, 13), trace->packets++ ? 2 : 1);
	while (lode_protobuf_next(&packet, &field)) {
		if (field.number == 12)
			read_interned(trace, field.bytes);
		if (field.number == 60)
			read_track(trace, field.bytes);
		if (field.number == 66)
			read_sample(trace, field.bytes);
		if (field.number == 11)
			read_event(trace, field.bytes, t);
	}
	assert_false(packet.failed);
}

static struct trace *read_trace(const char *bytes, size_t size)
{
	struct lode_cursor cursor = lode_cursor((const unsigned char *)bytes, size);
	struct trace *trace = calloc(1, sizeof(*trace));
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&cursor, &field)) {
		assert_int_equal(field.number, 1);
		read_packet(trace, field.bytes);
	}
	assert_false(cursor.failed);
	for (size_t i = 0; i < NUMBERS; i++)
		assert_int_equal(trace->opened[i], 0);
	return trace;
}

/* The same straight from a stream. */
static void add_up(const struct whole *whole, struct trace *sums)
{
	const struct lode_stream *stream = &whole->stream;
	const struct lode_events *waits = &stream->events[LODE_WAIT];

	for (size_t i = 0; i < stream->events[LODE_RUN].count; i++)
		sums->sample_frames +=
			lode_stack_tree_depth(&whole->dictionary.tree, stream->events[LODE_RUN].stack[i]);
	for (size_t i = 0; i < waits->count; i++) {
		sums->wait_cost += waits->cost[i];
		sums->delays += waits->delay[i];
		sums->flow_ends += waits->waker[i] != LODE_NONE;
	}
	sums->samples += stream->events[LODE_RUN].count;
	sums->waits += waits->count;
	sums->calls += stream->events[LODE_CALL].count;
	sums->symptoms += stream->symptom_count;
	sums->threads += stream->thread_count;
}

static void all_that_streams_hold_is_in_the_trace(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 77;

	for (int round = 0; round < 40; round++) {
		struct whole wholes[2];
		size_t count = round % 4 == 3 ? 2 : 1, size;
		struct trace *sums = calloc(1, sizeof(*sums)), *trace;
		char *bytes;

		next_corpus(fixture);
		for (size_t i = 0; i < count; i++) {
			if (round == 0)
				odd_whole(&wholes[i]);
			else
				random_whole(&wholes[i], &seed, round == 5 ? 3000 : 40);
			add_stream(fixture, &wholes[i]);
			add_up(&wholes[i], sums);
		}
		bytes = export_bytes(fixture, "perfetto", NULL, &size);
		trace = read_trace(bytes, size);
		assert_int_equal(trace->samples, sums->samples);
		assert_int_equal(trace->sample_frames, sums->sample_frames);
		assert_int_equal(trace->waits, sums->waits);
		assert_true(trace->wait_cost == sums->wait_cost);
		assert_true(trace->delays == sums->delays);
		assert_int_equal(trace->calls, sums->calls);
		assert_int_equal(trace->symptoms, sums->symptoms);
		assert_int_equal(trace->flow_ends, sums->flow_ends);
		assert_int_equal(trace->threads, sums->threads);
		free(bytes);
		free(trace);
		free(sums);
		while (count)
			release_whole(&wholes[--count]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_that_streams_hold_is_in_the_trace, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
