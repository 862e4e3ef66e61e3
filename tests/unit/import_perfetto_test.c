/* Perfetto's traces: switches, samples, slices, clocks, compressed packets, our own export. */
#include "import_fixture.h"
#include "round_trip.h"

#include "base/protobuf_out.h"

#include <zlib.h>

extern const struct lode_importer lode_importer_perfetto;

/* ---- traces under construction ---- */

static void put_packet(struct lode_buffer *trace, unsigned field, struct lode_buffer *data, uint64_t t,
		       struct lode_buffer *interned)
{
	struct lode_buffer packet = { 0 };

	lode_protobuf_put_number(&packet, 8, t);
	lode_protobuf_put_number(&packet, 10, 1);
	if (interned)
		lode_protobuf_put_message(&packet, 12, interned);
	lode_protobuf_put_message(&packet, field, data);
	lode_protobuf_put_message(trace, 1, &packet);
	lode_buffer_release(&packet);
}

static void put_thread(struct lode_buffer *trace, uint64_t uuid, uint32_t pid, uint32_t tid, const char *name)
{
	struct lode_buffer data = { 0 }, inner = { 0 };

	lode_protobuf_put_number(&inner, 1, pid);
	lode_protobuf_put_number(&inner, 2, tid);
	lode_protobuf_put_text(&inner, 5, name);
	lode_protobuf_put_number(&data, 1, uuid);
	lode_protobuf_put_message(&data, 4, &inner);
	put_packet(trace, 60, &data, 0, NULL);
	lode_buffer_release(&data);
	lode_buffer_release(&inner);
}

static void put_event(struct lode_buffer *bundle, uint64_t t, uint64_t pid, unsigned field,
		      struct lode_buffer *data)
{
	struct lode_buffer event = { 0 };

	lode_protobuf_put_number(&event, 1, t);
	lode_protobuf_put_number(&event, 2, pid);
	lode_protobuf_put_message(&event, field, data);
	lode_protobuf_put_message(bundle, 2, &event);
	lode_buffer_release(&event);
}

static void put_switch(struct lode_buffer *bundle, uint64_t t, uint64_t from, uint64_t state, uint64_t to)
{
	struct lode_buffer data = { 0 };

	lode_protobuf_put_text(&data, 1, from ? "worker" : "swapper/0");
	lode_protobuf_put_number(&data, 2, from);
	lode_protobuf_put_number(&data, 4, state);
	lode_protobuf_put_text(&data, 5, to ? "worker" : "swapper/0");
	lode_protobuf_put_number(&data, 6, to);
	put_event(bundle, t, from, 4, &data);
	lode_buffer_release(&data);
}

static void put_waking(struct lode_buffer *bundle, uint64_t t, uint64_t waker, uint64_t target)
{
	struct lode_buffer data = { 0 };

	lode_protobuf_put_number(&data, 2, target);
	put_event(bundle, t, waker, 20, &data);
	lode_buffer_release(&data);
}

/* On CPU 0 11 waits from 100 on; on CPU 1 12 wakes it at 400; on CPU 0 it runs at 450, and is preempted at 500. */
static void put_plain(struct lode_buffer *trace)
{
	struct lode_buffer bundle = { 0 };

	lode_protobuf_put_number(&bundle, 1, 1);
	put_waking(&bundle, 400, 12, 11);
	put_packet(trace, 1, &bundle, 0, NULL);
	lode_protobuf_put_number(&bundle, 1, 0);
	put_switch(&bundle, 50, 0, 0, 11);
	put_switch(&bundle, 100, 11, 1, 0);
	put_switch(&bundle, 450, 0, 0, 11);
	put_switch(&bundle, 500, 11, 0x100, 13);
	put_switch(&bundle, 600, 13, 0x20, 11);
	put_packet(trace, 1, &bundle, 0, NULL);
	lode_buffer_release(&bundle);
}

static void put_column(struct lode_buffer *compact, unsigned field, const uint64_t *numbers, size_t count)
{
	struct lode_buffer packed = { 0 };

	for (size_t i = 0; i < count; i++)
		lode_buffer_varint(&packed, numbers[i]);
	lode_protobuf_put_message(compact, field, &packed);
	lode_buffer_release(&packed);
}

/* The same in columns; who wakes is who runs. `more` times have no other columns. */
static void put_compact(struct lode_buffer *trace, size_t more)
{
	struct lode_buffer bundle = { 0 }, compact = { 0 };

	lode_protobuf_put_number(&bundle, 1, 1);
	lode_protobuf_put_text(&compact, 5, "worker");
	put_column(&compact, 1, (uint64_t[]){ 20 }, 1);
	put_column(&compact, 2, (uint64_t[]){ 0 }, 1);
	put_column(&compact, 3, (uint64_t[]){ 12 }, 1);
	put_column(&compact, 6, (uint64_t[]){ 0 }, 1);
	put_column(&compact, 7, (uint64_t[]){ 400, 9, 9 }, 1 + more);
	put_column(&compact, 8, (uint64_t[]){ 11 }, 1);
	put_column(&compact, 11, (uint64_t[]){ 0 }, 1);
	lode_protobuf_put_message(&bundle, 4, &compact);
	put_packet(trace, 1, &bundle, 0, NULL);
	lode_protobuf_put_number(&bundle, 1, 0);
	lode_protobuf_put_text(&compact, 5, "worker");
	put_column(&compact, 1, (uint64_t[]){ 50, 50, 350, 50, 100, 9, 9 }, 5 + more);
	put_column(&compact, 2, (uint64_t[]){ 0, 1, 0, 0x100, 0x20 }, 5);
	put_column(&compact, 3, (uint64_t[]){ 11, 0, 11, 13, 11 }, 5);
	put_column(&compact, 6, (uint64_t[]){ 0, 0, 0, 0, 0 }, 5);
	lode_protobuf_put_message(&bundle, 4, &compact);
	put_packet(trace, 1, &bundle, 0, NULL);
	lode_buffer_release(&bundle);
	lode_buffer_release(&compact);
}

static void put_string(struct lode_buffer *interned, unsigned field, uint64_t iid, const char *text)
{
	struct lode_buffer inner = { 0 };

	lode_protobuf_put_number(&inner, 1, iid);
	lode_protobuf_put_text(&inner, 2, text);
	lode_protobuf_put_message(interned, field, &inner);
	lode_buffer_release(&inner);
}

static void put_numbers(struct lode_buffer *interned, unsigned field, const uint64_t pairs[][2], size_t count)
{
	struct lode_buffer inner = { 0 };

	for (size_t i = 0; i < count; i++)
		lode_protobuf_put_number(&inner, (unsigned)pairs[i][0], pairs[i][1]);
	lode_protobuf_put_message(interned, field, &inner);
	lode_buffer_release(&inner);
}

/* Two samples of a stack of a named function and a bare address, at 1000 samples a second. */
static void put_samples(struct lode_buffer *trace)
{
	struct lode_buffer data = { 0 }, interned = { 0 }, defaults = { 0 }, inner = { 0 }, packet = { 0 };

	lode_protobuf_put_number(&inner, 2, 1000); /* frequency */
	lode_protobuf_put_message(&data, 1, &inner);
	lode_protobuf_put_message(&defaults, 12, &data);
	lode_protobuf_put_number(&packet, 10, 1);
	lode_protobuf_put_message(&packet, 59, &defaults);
	lode_protobuf_put_message(trace, 1, &packet);
	put_string(&interned, 17, 1, "usr");
	put_string(&interned, 17, 2, "libx.so");
	put_string(&interned, 5, 1, "main");
	put_numbers(&interned, 19, (const uint64_t[][2]){ { 1, 1 }, { 7, 1 }, { 7, 2 } }, 3);
	put_numbers(&interned, 6, (const uint64_t[][2]){ { 1, 1 }, { 2, 1 }, { 3, 1 } }, 3);
	put_numbers(&interned, 6, (const uint64_t[][2]){ { 1, 2 }, { 3, 1 }, { 4, 0x40 } }, 3);
	put_numbers(&interned, 7, (const uint64_t[][2]){ { 1, 9 }, { 2, 1 }, { 2, 2 } }, 3);
	for (uint64_t i = 0; i < 2; i++) {
		lode_protobuf_put_number(&data, 1, 3);
		lode_protobuf_put_number(&data, 2, 10);
		lode_protobuf_put_number(&data, 3, 11);
		lode_protobuf_put_number(&data, 4, 9);
		put_packet(trace, 66, &data, 5000 + i, i ? NULL : &interned);
	}
	lode_buffer_release(&data);
	lode_buffer_release(&interned);
	lode_buffer_release(&defaults);
	lode_buffer_release(&inner);
	lode_buffer_release(&packet);
}

static void put_mark(struct lode_buffer *trace, uint64_t t, uint64_t type, uint64_t uuid, const char *name)
{
	struct lode_buffer data = { 0 };

	lode_protobuf_put_number(&data, 9, type);
	lode_protobuf_put_number(&data, 11, uuid);
	if (name)
		lode_protobuf_put_text(&data, 23, name);
	put_packet(trace, 11, &data, t, NULL);
	lode_buffer_release(&data);
}

static void put_slices(struct lode_buffer *trace)
{
	struct lode_buffer data = { 0 };

	put_thread(trace, 77, 20, 21, "ui");
	lode_protobuf_put_number(&data, 1, 78);
	lode_protobuf_put_number(&data, 5, 77); /* a track below the thread's */
	put_packet(trace, 60, &data, 0, NULL);
	put_mark(trace, 100, 1, 77, "draw");
	put_mark(trace, 150, 1, 77, "text");
	put_mark(trace, 160, 3, 77, "tick");
	put_mark(trace, 170, 2, 77, NULL);
	put_mark(trace, 180, 1, 78, "load");
	put_mark(trace, 300, 2, 77, NULL);
	put_mark(trace, 400, 2, 78, NULL);
	lode_buffer_release(&data);
}

static void assert_trace(struct lode_buffer *trace, const struct lode_import_options *options, const char *expected)
{
	struct imported imported;

	import_bytes(&imported, &lode_importer_perfetto, trace->bytes, trace->size, options);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	assert_string_equal(imported.text.bytes, expected);
	release_imported(&imported);
}

/* ---- tests ---- */

#define WAITS                                                                                                     \
	"wait 100+300 11 delay=50 cpu=0 waker=12 \n"                                                              \
	"call 500+0 11 delay=100 cpu=0 name=preempt \n"

static void switches_are_joined_into_waits(void **state)
{
	struct lode_buffer trace = { 0 };

	(void)state;
	put_plain(&trace);
	assert_trace(&trace, NULL, "stream x \nthread 11 worker\nthread 13 worker\n" WAITS);
	lode_buffer_clear(&trace);
	put_compact(&trace, 0);
	assert_trace(&trace, NULL, "stream x \nthread 12 worker\nthread 11 worker\nthread 13 worker\n" WAITS);
	lode_buffer_release(&trace);
}

static void switches_that_lack_a_column_are_left_out(void **state)
{
	struct lode_buffer trace = { 0 };
	struct imported imported;

	(void)state;
	put_compact(&trace, 2);
	import_bytes(&imported, &lode_importer_perfetto, trace.bytes, trace.size, NULL);
	assert_string_equal(imported.text.bytes,
			    "stream x \nthread 12 worker\nthread 11 worker\nthread 13 worker\n" WAITS);
	assert_int_equal(note_count(&imported, "only some columns"), 4);
	release_imported(&imported);
	lode_buffer_release(&trace);
}

static void samples_have_interned_stacks(void **state)
{
	struct lode_buffer trace = { 0 };

	(void)state;
	put_samples(&trace);
	put_thread(&trace, 1, 10, 11, "late");
	assert_trace(&trace, NULL,
		     "stream x \nthread 10/11 late\nmodule libx.so library /usr/libx.so \n"
		     "run 5000+1000000 10/11 cpu=3 libx.so!main|libx.so!0x40\nrun 5001+1000000 10/11 cpu=3 "
		     "libx.so!main|libx.so!0x40\n");
	lode_buffer_release(&trace);
}

static void slices_are_runs_or_symptoms(void **state)
{
	const char *const markers[] = { "load", "draw", NULL };
	struct lode_import_options options = { .jobs = 1, .symptom_markers = markers };
	struct lode_buffer trace = { 0 };
	struct imported imported;

	(void)state;
	put_slices(&trace);
#define RUNS                                                                                                      \
	"stream x \nthread 20/21 ui\nrun 100+50 20/21 draw\nrun 150+10 20/21 draw|text\nrun 160+10 20/21 "        \
	"draw|text\n"                                                                                             \
	"run 170+130 20/21 draw\ncall 160+0 20/21 name=tick draw|text\n"
	assert_trace(&trace, NULL, RUNS);
	assert_trace(&trace, &options, RUNS "symptom 100-300 20/21 draw\nsymptom 180-400 20/21 load\n");
	import_bytes(&imported, &lode_importer_perfetto, trace.bytes, trace.size, NULL);
	assert_int_equal(note_count(&imported, "on tracks of their own"), 1);
	release_imported(&imported);
	lode_buffer_release(&trace);
}

/* A clock of the sequence that counts in microseconds from the time before. */
static void waits_have_the_slices_around_them_as_their_stack(void **state)
{
	struct lode_buffer trace = { 0 };

	(void)state;
	put_plain(&trace);
	put_thread(&trace, 77, 10, 11, "ui");
	put_thread(&trace, 78, 10, 12, "worker");
	put_mark(&trace, 90, 1, 77, "draw");
	put_mark(&trace, 100, 1, 77, "lock");
	put_mark(&trace, 350, 1, 78, "unlock");
	put_mark(&trace, 400, 2, 77, NULL);
	put_mark(&trace, 401, 2, 78, NULL);
	put_mark(&trace, 900, 2, 77, NULL);
	assert_trace(&trace, NULL,
		     "stream x \nthread 10/11 ui\nthread 10/12 worker\nthread 13 worker\n"
		     "wait 100+300 10/11 delay=50 cpu=0 waker=10/12 draw|lock < unlock\n"
		     "call 500+0 10/11 delay=100 cpu=0 name=preempt \n");
	lode_buffer_release(&trace);
}

static void clocks_are_those_of_the_snapshot(void **state)
{
	struct lode_buffer trace = { 0 }, data = { 0 }, inner = { 0 }, packet = { 0 };

	(void)state;
	lode_protobuf_put_number(&inner, 1, 6);
	lode_protobuf_put_number(&inner, 2, 1000000);
	lode_protobuf_put_message(&data, 1, &inner);
	lode_protobuf_put_number(&inner, 1, 64);
	lode_protobuf_put_number(&inner, 2, 5);
	lode_protobuf_put_number(&inner, 3, 1);
	lode_protobuf_put_number(&inner, 4, 1000);
	lode_protobuf_put_message(&data, 1, &inner);
	put_packet(&trace, 6, &data, 0, NULL);
	lode_protobuf_put_number(&data, 58, 64);
	lode_protobuf_put_number(&packet, 10, 1);
	lode_protobuf_put_message(&packet, 59, &data);
	lode_protobuf_put_message(&trace, 1, &packet);
	put_thread(&trace, 77, 20, 21, "ui");
	put_mark(&trace, 2, 1, 77, "a");
	put_mark(&trace, 3, 2, 77, NULL);
	assert_trace(&trace, NULL, "stream x \nthread 20/21 ui\nrun 1002000+3000 20/21 a\n");
	lode_buffer_release(&trace);
	lode_buffer_release(&data);
	lode_buffer_release(&inner);
	lode_buffer_release(&packet);
}

static void put_compressed(struct lode_buffer *trace, const struct lode_buffer *packets)
{
	uLongf size = compressBound(packets->size);
	unsigned char *packed = malloc(size);
	struct lode_buffer packet = { 0 };

	assert_int_equal(compress(packed, &size, (const unsigned char *)packets->bytes, packets->size), Z_OK);
	lode_protobuf_put_bytes(&packet, 50, packed, size);
	lode_protobuf_put_message(trace, 1, &packet);
	lode_buffer_release(&packet);
	free(packed);
}

static void packets_may_be_compressed(void **state)
{
	struct lode_buffer packets = { 0 }, trace = { 0 };

	(void)state;
	put_plain(&packets);
	put_compressed(&trace, &packets);
	assert_trace(&trace, NULL, "stream x \nthread 11 worker\nthread 13 worker\n" WAITS);
	try_damaged(&lode_importer_perfetto, trace.bytes, trace.size, 2000);
	lode_buffer_release(&packets);
	lode_buffer_release(&trace);
}

/* The format's samples have no place for them. */
static void forget_contexts(struct lode_events *runs)
{
	for (size_t i = 0; runs->context && i < runs->count; i++)
		runs->context[i] = 0;
}

static void what_we_export_comes_back(void **state)
{
	uint64_t seed = 5;

	for (int round = 0; round < 60; round++) {
		struct whole whole;

		random_whole(&whole, &seed, 30);
		forget_contexts(&whole.stream.events[LODE_RUN]);
		assert_comes_back(*state, "perfetto", &whole);
		release_whole(&whole);
	}
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	struct lode_buffer trace = { 0 };

	(void)state;
	put_plain(&trace);
	put_compact(&trace, 1);
	put_samples(&trace);
	put_slices(&trace);
	assert_true(lode_importer_perfetto.sniff((const unsigned char *)trace.bytes, trace.size, "x") >= 50);
	try_damaged(&lode_importer_perfetto, trace.bytes, trace.size, 8000);
	try_without_memory(&lode_importer_perfetto, trace.bytes, trace.size);
	lode_buffer_release(&trace);
	assert_bad(&lode_importer_perfetto, "x", "not a Perfetto trace");
	assert_bad(&lode_importer_perfetto, "\x0a\x02\x40\x01", "no samples, scheduler events");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches_are_joined_into_waits),
		cmocka_unit_test(switches_that_lack_a_column_are_left_out),
		cmocka_unit_test(samples_have_interned_stacks),
		cmocka_unit_test(slices_are_runs_or_symptoms),
		cmocka_unit_test(waits_have_the_slices_around_them_as_their_stack),
		cmocka_unit_test(clocks_are_those_of_the_snapshot),
		cmocka_unit_test(packets_may_be_compressed),
		cmocka_unit_test_setup_teardown(what_we_export_comes_back, set_up, tear_down),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
