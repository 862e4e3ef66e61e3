/*
 * Perfetto's protobuf traces (.perfetto-trace, .pftrace): a sequence of packets, each of a sequence.
 *
 *	ftrace bundles		switches and wakings are joined into waits (perfetto_sched.h)
 *	PerfSample		runs; the time that one represents follows from the sampling frequency, else
 *				by the usual time between two of a thread
 *	StreamingProfilePacket	the same, of Chrome's sampler
 *	TrackEvent		slices (perfetto_tracks.h)
 *	ProcessTree, tracks	processes and names of threads
 *
 * Packets may be compressed, in groups. Other packets, and there are many kinds, are skipped.
 * Threads, interned data and clocks are kept while the packets pass; events are
 * made when all that is known of threads is known.
 */
#include "base/array.h"
#include "import/exported_facts.h"
#include "import/protobuf/perfetto_clocks.h"
#include "import/protobuf/perfetto_sched.h"
#include "import/protobuf/perfetto_tracks.h"
#include "import/import_common.h"

#include "base/memory.h"
#include "base/decompress.h"

#include <stdio.h>
#include <stdlib.h>

/* Numbers of fields. */
enum {
	TRACE_PACKET = 1,
	PACKET_FTRACE = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_CLEARED = 41,
	PACKET_THREAD = 44,
	PACKET_COMPRESSED = 50,
	PACKET_STREAMING_PROFILE = 54,
	PACKET_CLOCK = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_PERF_SAMPLE = 66,
	PACKET_TEST = 900,
	FLAG_CLEARED = 1,
	TEST_TEXT = 1,
	DEFAULTS_TRACK_EVENT = 11,
	DEFAULTS_PERF_SAMPLE = 12,
	TREE_PROCESS = 1,
	TREE_THREAD = 2,
	TREE_PROCESS_PID = 1,
	TREE_PROCESS_COMMAND = 3,
	TREE_THREAD_TID = 1,
	TREE_THREAD_NAME = 2,
	TREE_THREAD_PID = 3,
	THREAD_REFERENCE_US = 6,
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_CALLSTACK = 4,
	SAMPLE_COUNTER = 6,
	STREAMING_CALLSTACK = 1,
	STREAMING_DELTA_US = 2,
	TIMEBASE_PERIOD = 1,
	TIMEBASE_FREQUENCY = 2,
	TIMEBASE_COUNTER = 4,
	COUNTER_CPU_CLOCK = 1,
	COUNTER_TASK_CLOCK = 3,
};

/* A group of packets may become as large, and as many times as large, as an input may (base/input.h). */
#define MAX_UNPACKED       (32u << 20)
#define MAX_TIMES_UNPACKED 500u

struct sequence {
	uint32_t id;
	uint32_t generation;
	uint64_t clock;  /* default */
	uint64_t track;  /* default */
	uint32_t thread; /* old traces: a sequence is a thread; LODE_NONE */
	uint64_t event_time;
	double period_ns; /* of its samples; 0: unknown */
};

struct sample {
	uint64_t t;
	double period_ns;
	uint64_t cost; /* of our own export */
	uint32_t thread;
	uint32_t stack;
	uint16_t cpu;
};

struct reading {
	struct lode_json_import import; /* dictionary, stream and room for strings; there is no JSON */
	struct lode_exported_facts facts;
	struct lode_perfetto_interned interned;
	struct lode_perfetto_threads threads;
	struct lode_perfetto_clocks clocks;
	struct lode_perfetto_sched sched;
	struct lode_perfetto_tracks tracks;
	LODE_ARRAY(struct sequence) sequences;
	struct lode_index sequence_index;
	LODE_ARRAY(struct sample) samples;
	LODE_ARRAY(uint64_t) run_times;       /* by thread, of our own export */
	LODE_ARRAY(unsigned char *) unpacked; /* groups of packets, which everything interned points into */
	uint64_t packets;
};

/* A parsed packet. */
struct packet {
	struct lode_cursor data; /* what it is about */
	uint32_t kind;           /* the field of it; 0: something else */
	struct lode_cursor interned, defaults;
	uint64_t t, clock, sequence;
	int is_cleared, has_clock;
};

/* ---- sequences ---- */

static struct sequence *find_sequence(struct reading *reading, uint32_t id)
{
	uint64_t hash = lode_hash_u64(id);
	uint32_t at = LODE_INDEX_FIND(i, &reading->sequence_index, hash, reading->sequences.items[i].id == id);

	if (at != LODE_NONE)
		return &reading->sequences.items[at];
	if (LODE_INDEX_PUSH(&reading->sequence_index, hash, &reading->sequences,
			    (struct sequence){ .id = id, .thread = LODE_NONE }) < 0)
		return NULL;
	return &reading->sequences.items[reading->sequences.count - 1];
}

static void read_timebase(struct sequence *sequence, struct lode_cursor message)
{
	uint64_t numbers[TIMEBASE_COUNTER + 1] = { 0 };
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&message, &field))
		if (field.number == 1 && field.wire == LODE_WIRE_BYTES)
			lode_protobuf_numbers(field.bytes, numbers, TIMEBASE_COUNTER + 1);
	if (numbers[TIMEBASE_FREQUENCY])
		sequence->period_ns = 1e9 / (double)numbers[TIMEBASE_FREQUENCY];
	else if (numbers[TIMEBASE_COUNTER] == COUNTER_CPU_CLOCK || numbers[TIMEBASE_COUNTER] == COUNTER_TASK_CLOCK)
		sequence->period_ns = (double)numbers[TIMEBASE_PERIOD];
}

static void read_defaults(struct sequence *sequence, struct lode_cursor message)
{
	struct lode_protobuf_field field, inner;

	sequence->clock = sequence->track = 0;
	while (lode_protobuf_next(&message, &field)) {
		if (field.number == PACKET_CLOCK)
			sequence->clock = field.value;
		else if (field.number == DEFAULTS_PERF_SAMPLE && field.wire == LODE_WIRE_BYTES)
			read_timebase(sequence, field.bytes);
		else if (field.number == DEFAULTS_TRACK_EVENT && field.wire == LODE_WIRE_BYTES)
			while (lode_protobuf_next(&field.bytes, &inner))
				if (inner.number == 11) /* track_uuid */
					sequence->track = inner.value;
	}
}

/* ---- threads ---- */

static int read_tree_entry(struct reading *reading, struct lode_cursor message, int is_thread)
{
	const uint32_t id = is_thread ? TREE_THREAD_TID : TREE_PROCESS_PID;
	struct lode_cursor name = lode_cursor("", 0);
	struct lode_protobuf_field field;
	uint32_t pid = LODE_NO_PID, tid = 0;

	while (lode_protobuf_next(&message, &field)) {
		if (field.number == id && field.wire == LODE_WIRE_VARINT)
			tid = (uint32_t)field.value;
		else if (is_thread && field.number == TREE_THREAD_PID && field.wire == LODE_WIRE_VARINT)
			pid = (uint32_t)field.value;
		else if (is_thread && field.number == TREE_THREAD_NAME && field.wire == LODE_WIRE_BYTES)
			name = field.bytes;
	}
	if (lode_perfetto_thread_named(&reading->threads, is_thread ? pid : tid, tid, (const char *)name.next,
				       lode_cursor_left(&name)) == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	return 0;
}

static int read_process_tree(struct reading *reading, struct lode_cursor message)
{
	struct lode_protobuf_field field;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field))
		if (field.wire == LODE_WIRE_BYTES && (field.number == TREE_PROCESS || field.number == TREE_THREAD))
			code = read_tree_entry(reading, field.bytes, field.number == TREE_THREAD);
	return code;
}

static int read_thread(struct reading *reading, struct sequence *sequence, struct lode_cursor message)
{
	struct lode_protobuf_field field;

	sequence->thread = lode_perfetto_thread_descriptor(&reading->threads, message);
	while (lode_protobuf_next(&message, &field))
		if (field.number == THREAD_REFERENCE_US)
			sequence->event_time = field.value * 1000;
	return sequence->thread == LODE_NONE ? lode_fail_memory(reading->import.error) : 0;
}

/* ---- samples ---- */

static int add_sample(struct reading *reading, const struct sample *sample)
{
	if (LODE_PUSH(&reading->samples, *sample) < 0)
		return lode_fail_memory(reading->import.error);
	reading->threads.items[sample->thread].measured = 1;
	return 0;
}

/* In our own export the counter is the run time of the thread so far. */
static int set_own_cost(struct reading *reading, struct sample *sample, uint64_t counter)
{
	uint64_t *run_time = LODE_PLACE(&reading->run_times, sample->thread, 0);

	if (!run_time)
		return lode_fail_memory(reading->import.error);
	sample->cost = counter - *run_time;
	*run_time = counter;
	return 0;
}

static int read_sample(struct reading *reading, const struct sequence *sequence, struct lode_perfetto_scope scope,
		       const struct packet *packet)
{
	struct sample sample = { .t = packet->t, .period_ns = sequence->period_ns, .cpu = LODE_NO_CPU };
	uint64_t numbers[SAMPLE_COUNTER + 1] = { [SAMPLE_CPU] = LODE_NO_CPU };
	int code;

	lode_protobuf_numbers(packet->data, numbers, SAMPLE_COUNTER + 1);
	sample.thread = lode_perfetto_thread_named(&reading->threads, (uint32_t)numbers[SAMPLE_PID],
						   (uint32_t)numbers[SAMPLE_TID], "", 0);
	if (sample.thread == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	if (numbers[SAMPLE_CPU] < LODE_NO_CPU)
		sample.cpu = (uint16_t)numbers[SAMPLE_CPU];
	code = lode_perfetto_stack(&reading->interned, scope, numbers[SAMPLE_CALLSTACK], &sample.stack);
	if (code == 0 && reading->facts.is_lode)
		code = set_own_cost(reading, &sample, numbers[SAMPLE_COUNTER]);
	return code < 0 ? code : add_sample(reading, &sample);
}

/* Chrome's sampler: call stacks and the times between them. */
static int read_streaming(struct reading *reading, struct sequence *sequence, struct lode_perfetto_scope scope,
			  struct lode_cursor message)
{
	struct sample sample = { .cpu = LODE_NO_CPU };
	struct lode_cursor steps = message;
	struct lode_protobuf_field field, step = { 0 };
	int code = 0, more_steps = 0;

	sample.thread = sequence->thread == LODE_NONE ? lode_perfetto_thread(&reading->threads, 0)
						      : sequence->thread;
	if (sample.thread == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	while (code == 0 && lode_protobuf_next(&message, &field)) {
		uint64_t iid, delta;
		int more = 1;

		while (code == 0 && field.number == STREAMING_CALLSTACK &&
		       lode_protobuf_number(&field, &more, &iid)) {
			delta = 0;
			while (!(step.number == STREAMING_DELTA_US &&
				 lode_protobuf_number(&step, &more_steps, &delta))) {
				more_steps = 1;
				if (!lode_protobuf_next(&steps, &step))
					break;
			}
			sample.t = sequence->event_time += delta * 1000;
			code = lode_perfetto_stack(&reading->interned, scope, iid, &sample.stack);
			if (code == 0)
				code = add_sample(reading, &sample);
		}
	}
	return code;
}

/* ---- packets ---- */

static int read_facts(struct reading *reading, struct lode_cursor message)
{
	struct lode_protobuf_field field;
	struct lode_json_value root;
	struct lode_error ignored;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field))
		if (field.number == TEST_TEXT && field.wire == LODE_WIRE_BYTES &&
		    lode_json_check("facts", (const char *)field.bytes.next, lode_cursor_left(&field.bytes), &root,
				    &ignored) == 0)
			code = lode_exported_facts_read(&reading->import, root, &reading->facts);
	reading->interned.is_lode = reading->tracks.is_lode = reading->facts.is_lode;
	return code;
}

static void decode_packet(struct lode_cursor message, struct packet *packet)
{
	struct lode_protobuf_field field;

	*packet = (struct packet){ .interned = lode_cursor("", 0), .defaults = lode_cursor("", 0) };
	while (lode_protobuf_next(&message, &field)) {
		switch (field.number) {
		case PACKET_TIME:
			packet->t = field.value;
			break;
		case PACKET_SEQUENCE:
			packet->sequence = field.value;
			break;
		case PACKET_FLAGS:
			packet->is_cleared |= (field.value & FLAG_CLEARED) != 0;
			break;
		case PACKET_CLEARED:
			packet->is_cleared |= field.value != 0;
			break;
		case PACKET_CLOCK:
			packet->clock = field.value;
			packet->has_clock = 1;
			break;
		case PACKET_INTERNED:
			packet->interned = field.bytes;
			break;
		case PACKET_DEFAULTS:
			packet->defaults = field.bytes;
			break;
		default:
			if (field.wire == LODE_WIRE_BYTES) {
				packet->kind = field.number;
				packet->data = field.bytes;
			}
		}
	}
}

static int read_packets(struct reading *reading, struct lode_cursor trace, int may_be_packed);

/* Unpacks a group of packets and reads it. Its bytes stay, since what is interned points into them. */
static int read_compressed(struct reading *reading, struct lode_cursor packed)
{
	size_t size = lode_cursor_left(&packed), capacity = 8 * size + 4096;
	size_t most = size > MAX_UNPACKED / MAX_TIMES_UNPACKED ? size * MAX_TIMES_UNPACKED : MAX_UNPACKED;
	struct lode_unpack_step step = { .in = packed.next, .in_left = size, .last = 1 };
	struct lode_unpacker *unpacker;
	unsigned char *bytes = NULL, *more;
	size_t used = 0;
	int code = lode_unpacker_create(&unpacker, LODE_PACKING_GZIP, lode_input_name(reading->import.input),
					reading->import.error);

	if (code < 0)
		return code;
	for (code = 1; code == 1; used = (size_t)(step.out - bytes)) {
		if (used == capacity || !bytes)
			capacity *= bytes ? 2 : 1;
		more = used < most ? lode_realloc(bytes, capacity, 1) : NULL;
		if (!more) {
			code = used < most ? lode_fail_memory(reading->import.error)
					   : lode_json_reject(&reading->import,
							      "its compressed packets unpack to far too much");
			break;
		}
		bytes = more;
		step.out = bytes + used;
		step.out_left = capacity - used;
		code = lode_unpack(unpacker, &step, reading->import.error);
	}
	lode_unpacker_destroy(unpacker);
	if (code == 0 && LODE_PUSH(&reading->unpacked, bytes) < 0)
		code = lode_fail_memory(reading->import.error);
	if (code < 0) {
		lode_free(bytes);
		return code;
	}
	return read_packets(reading, lode_cursor(bytes, used), 0);
}

static int read_data(struct reading *reading, struct sequence *sequence, const struct packet *packet)
{
	struct lode_perfetto_scope scope = { sequence->id, sequence->generation };
	struct lode_perfetto_context context = { scope, sequence->track, sequence->thread, packet->t,
						 &sequence->event_time };

	switch (packet->kind) {
	case PACKET_FTRACE:
		return lode_perfetto_sched_bundle(&reading->sched, packet->data) < 0
			       ? lode_fail_memory(reading->import.error)
			       : 0;
	case PACKET_PROCESS_TREE:
		return read_process_tree(reading, packet->data);
	case PACKET_CLOCKS:
		return lode_perfetto_clocks_snapshot(&reading->clocks, sequence->id, packet->data) < 0
			       ? lode_fail_memory(reading->import.error)
			       : 0;
	case PACKET_THREAD:
		return read_thread(reading, sequence, packet->data);
	case PACKET_TRACK:
		return lode_perfetto_track(&reading->tracks, packet->data);
	case PACKET_TRACK_EVENT:
		return lode_perfetto_track_event(&reading->tracks, &context, packet->data);
	case PACKET_PERF_SAMPLE:
		return read_sample(reading, sequence, scope, packet);
	case PACKET_STREAMING_PROFILE:
		return read_streaming(reading, sequence, scope, packet->data);
	case PACKET_TEST:
		return read_facts(reading, packet->data);
	default:
		return 0;
	}
}

static int read_packet(struct reading *reading, struct lode_cursor message, int may_be_packed)
{
	struct sequence *sequence;
	struct packet packet;
	int code = 0;

	decode_packet(message, &packet);
	reading->packets++;
	if (packet.kind == PACKET_COMPRESSED)
		return may_be_packed ? read_compressed(reading, packet.data) : 0;
	sequence = find_sequence(reading, (uint32_t)packet.sequence);
	if (!sequence)
		return lode_fail_memory(reading->import.error);
	if (packet.is_cleared) {
		sequence->generation++;
		sequence->clock = sequence->track = 0;
	}
	if (lode_cursor_left(&packet.defaults))
		read_defaults(sequence, packet.defaults);
	if (lode_cursor_left(&packet.interned))
		code = lode_perfetto_intern(&reading->interned,
					    (struct lode_perfetto_scope){ sequence->id, sequence->generation },
					    packet.interned);
	if (packet.t)
		packet.t = lode_perfetto_clocks_time(&reading->clocks, sequence->id,
						     packet.has_clock ? packet.clock : sequence->clock, packet.t);
	return code < 0 ? code : read_data(reading, sequence, &packet);
}

static int read_packets(struct reading *reading, struct lode_cursor trace, int may_be_packed)
{
	struct lode_protobuf_field field;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&trace, &field))
		if (field.number == TRACE_PACKET && field.wire == LODE_WIRE_BYTES)
			code = read_packet(reading, field.bytes, may_be_packed);
	if (code == 0 && trace.failed)
		lode_notes_add(reading->import.options->notes, 1,
			       "traces that are damaged or cut off, read up to there",
			       lode_input_name(reading->import.input));
	return code;
}

/* ---- at the end ---- */

static int compare_samples(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->t < y->t ? -1 : x->t > y->t;
}

/* The time that samples represent whose sequence does not say: the median time between two of a thread. */
static int usual_gap(struct reading *reading, double *period)
{
	uint64_t *gaps = lode_calloc(reading->samples.count + 1, sizeof(*gaps));
	size_t count = 0, ununit = 0;
	char text[200];

	if (!gaps)
		return lode_fail_memory(reading->import.error);
	for (size_t i = 0; i < reading->samples.count; i++) {
		const struct sample *sample = &reading->samples.items[i];

		ununit += !(sample->period_ns > 0);
		if (i && sample->thread == sample[-1].thread && sample->t > sample[-1].t)
			gaps[count++] = sample->t - sample[-1].t;
	}
	*period = (double)lode_import_median(gaps, count);
	lode_free(gaps);
	snprintf(text, sizeof(text),
		 "samples without a frequency, taken as %.6g ms each, the usual time between two of a thread; set "
		 "it with --unit samples=PERIOD",
		 *period / 1e6);
	lode_notes_add(reading->import.options->notes, ununit, text, NULL);
	return 0;
}

static int finish_samples(struct reading *reading)
{
	double gap = 0, unit = reading->import.options->unit_ns;

	if (!reading->facts.is_lode && !(unit > 0) && reading->samples.count) {
		qsort(reading->samples.items, reading->samples.count, sizeof(*reading->samples.items),
		      compare_samples);
		if (usual_gap(reading, &gap) < 0)
			return LODE_SYSTEM;
	}
	for (size_t i = 0; i < reading->samples.count; i++) {
		const struct sample *sample = &reading->samples.items[i];
		double period = unit > 0 ? unit : sample->period_ns > 0 ? sample->period_ns : gap;
		struct lode_event event = { .t = sample->t,
					    .stack = sample->stack,
					    .waker = LODE_NONE,
					    .cpu = sample->cpu };

		event.cost = reading->facts.is_lode ? sample->cost
			     : period < 0x1p62      ? (uint64_t)(period + 0.5)
						    : 0;
		event.thread =
			lode_perfetto_stream_thread(&reading->threads, &reading->import.stream, sample->thread);
		if (lode_stream_add_event(&reading->import.stream, LODE_RUN, &event) < 0)
			return lode_fail_memory(reading->import.error);
	}
	return 0;
}

/* Our exporter puts threads of no known process into one of their own. */
static int forget_processes(struct reading *reading)
{
	struct lode_json_walk walk = lode_json_walk(reading->facts.no_process);
	struct lode_json_value tid;

	while (lode_json_kind(reading->facts.no_process) == LODE_JSON_ARRAY && lode_json_item(&walk, &tid)) {
		uint32_t thread =
			lode_perfetto_thread(&reading->threads, (uint32_t)lode_json_u64_or(tid, 0) & INT32_MAX);

		if (thread == LODE_NONE)
			return lode_fail_memory(reading->import.error);
		if (reading->threads.items[thread].pid == reading->threads.items[thread].tid)
			reading->threads.items[thread].pid = LODE_NO_PID;
	}
	return 0;
}

static int finish(struct reading *reading)
{
	const struct lode_import_options *options = reading->import.options;
	int code = forget_processes(reading);

	if (code == 0)
		code = finish_samples(reading);
	if (code == 0 && reading->sched.count &&
	    lode_perfetto_sched_finish(&reading->sched, &reading->import.stream, options) < 0)
		code = lode_fail_memory(reading->import.error);
	if (code == 0)
		code = lode_perfetto_tracks_finish(&reading->tracks);
	if (code < 0)
		return code;
	lode_notes_add(options->notes, reading->clocks.unknown,
		       "times of clocks that the trace does not explain, taken as they are", NULL);
	lode_notes_add(options->notes, reading->interned.missing,
		       "names and stacks that the trace does not define, left out", NULL);
	lode_notes_add(options->notes, reading->interned.cut, LODE_CUT_AT_LEAF, NULL);
	if (!lode_stream_event_count(&reading->import.stream) && !reading->import.stream.symptom_count &&
	    !reading->facts.is_lode)
		return lode_json_reject(&reading->import,
					reading->packets
						? "the trace has no samples, scheduler events or slices of threads"
						: "it is not a Perfetto trace, or is damaged from the beginning");
	return 0;
}

static void release(struct reading *reading)
{
	lode_perfetto_interned_release(&reading->interned);
	lode_perfetto_threads_release(&reading->threads);
	lode_perfetto_clocks_release(&reading->clocks);
	lode_perfetto_sched_release(&reading->sched);
	lode_perfetto_tracks_release(&reading->tracks);
	lode_index_release(&reading->sequence_index);
	lode_free(reading->sequences.items);
	lode_free(reading->samples.items);
	lode_free(reading->run_times.items);
	for (size_t i = 0; i < reading->unpacked.count; i++)
		lode_free(reading->unpacked.items[i]);
	lode_free(reading->unpacked.items);
}

static int read_trace(void *context, const unsigned char *bytes, size_t size)
{
	struct reading *reading = context;
	int code = read_packets(reading, lode_cursor(bytes, size), 1);

	return code < 0 ? code : finish(reading);
}

static int read_input(struct lode_input *input, const struct lode_import_options *options,
		      const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reading reading = { .import = { .input = input, .options = options, .error = error } };
	int code;

	reading.interned.import = reading.tracks.import = &reading.import;
	reading.threads.strings = &reading.import.dictionary.frames.strings;
	reading.sched.threads = reading.tracks.threads = &reading.threads;
	reading.tracks.interned = &reading.interned;
	code = lode_json_import_bytes(&reading.import, read_trace, &reading, sink);
	release(&reading);
	return code;
}

/* All that can be seen are packets, and their first fields are such as packets have. */
static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	struct lode_cursor trace = lode_cursor(bytes, size);
	int sure = strstr(name, ".perfetto-trace") || strstr(name, ".pftrace") ? 30 : 0;
	unsigned packets = 0, known = 0;

	while (lode_cursor_left(&trace)) {
		uint64_t tag = lode_cursor_varint(&trace), length = lode_cursor_varint(&trace), inner;
		struct lode_cursor packet;

		if (trace.failed || tag != (TRACE_PACKET << 3 | LODE_WIRE_BYTES))
			return packets && trace.failed ? (known == packets ? 45 + sure : sure) : 0;
		packet = lode_cursor(trace.next, length < lode_cursor_left(&trace) ? (size_t)length
										   : lode_cursor_left(&trace));
		trace.next = packet.end;
		if (!lode_cursor_left(&packet))
			continue;
		inner = lode_cursor_varint(&packet) >> 3;
		packets++;
		known += inner == PACKET_TIME || inner == PACKET_SEQUENCE || inner == PACKET_CLOCKS ||
			 inner == PACKET_FTRACE || (inner >= 2 && inner <= 130 && inner != 3 && inner != 4);
	}
	return packets && known == packets ? (packets > 2 ? 50 : 10) + sure : sure;
}

const struct lode_importer lode_importer_perfetto = {
	.name = "perfetto",
	.description = "Perfetto traces (protobuf): scheduler, samples, slices",
	.sniff = sniff,
	.read = read_input,
};
