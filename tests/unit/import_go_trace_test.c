/*
 * Go execution traces of both forms. Goroutine 9 is created in them and has its name from there; 7 is older, and is
 * called after the outermost function of the first stack it leaves from.
 */
#include "import_fixture.h"
#include "go_trace_recording.h"

extern const struct lode_importer lode_importer_go_trace;

#define EXPECTED(threads)                                                                                         \
	"stream x \n" threads "run 1300+10000000 9 main.send\n"                                                   \
	"wait 600+150 7 main.send\n"                                                                              \
	"wait 1000+400 7 delay=100 waker=9 main.main|runtime.chanrecv1 < main.send\n"                             \
	"call 1450+0 9 name=preempt main.send\n"

static void assert_trace(struct lode_buffer trace, const char *expected)
{
	struct imported imported;

	import_bytes(&imported, &lode_importer_go_trace, trace.bytes, trace.size, NULL);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	assert_string_equal(imported.text.bytes, expected);
	assert_int_equal(note_count(&imported, "CPU samples"), 1);
	assert_int_equal(note_count(&imported, "damaged"), 0);
	release_imported(&imported);
	assert_int_equal(lode_importer_go_trace.sniff((const unsigned char *)trace.bytes, trace.size, "x"), 100);
	lode_buffer_release(&trace);
}

static void both_forms_give_the_same(void **state)
{
	(void)state;
	assert_trace(go_old_trace(), EXPECTED("thread 7 main.send\nthread 9 main.sender\n"));
	assert_trace(go_new_trace(), EXPECTED("thread 9 main.sender\nthread 7 main.send\n"));
}

static void assert_refused(const void *bytes, size_t size, const char *part)
{
	struct imported imported;

	import_bytes(&imported, &lode_importer_go_trace, bytes, size, NULL);
	if (imported.code != LODE_BAD_INPUT || !strstr(imported.error.text, part))
		fail_msg("%d `%s` has no `%s`", imported.code, imported.error.text, part);
	release_imported(&imported);
}

static void what_traces_may_not_be(void **state)
{
	struct lode_buffer old = go_old_trace();

	(void)state;
	assert_refused("go 1.9 trace\0\0\0\0", 16, "before 1.11");
	assert_refused("go 1.x trace\0\0\0\0", 16, "no header");
	assert_refused("go 1.25 trace\0\0\0", 16, "no events");
	assert_refused("go 1.25 trace\0\0\0zzz", 19, "no batch");
	assert_refused(old.bytes, 40, "cut off");
	assert_refused(old.bytes, 60, "frequency of its clock");
	lode_buffer_release(&old);
}

/* Of a new trace that is cut off what is whole is taken. */
static void a_new_trace_that_is_cut_off_is_noted(void **state)
{
	struct lode_buffer trace = go_new_trace();
	struct imported imported;

	(void)state;
	import_bytes(&imported, &lode_importer_go_trace, trace.bytes, trace.size - 5, NULL);
	assert_int_equal(imported.code, 0);
	assert_int_equal(note_count(&imported, "damaged or cut off"), 1);
	release_imported(&imported);
	lode_buffer_release(&trace);
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	struct lode_buffer old = go_old_trace(), trace = go_new_trace();

	(void)state;
	try_damaged(&lode_importer_go_trace, old.bytes, old.size, 5000);
	try_damaged(&lode_importer_go_trace, trace.bytes, trace.size, 5000);
	try_without_memory(&lode_importer_go_trace, old.bytes, old.size);
	try_without_memory(&lode_importer_go_trace, trace.bytes, trace.size);
	lode_buffer_release(&old);
	lode_buffer_release(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_forms_give_the_same),
		cmocka_unit_test(what_traces_may_not_be),
		cmocka_unit_test(a_new_trace_that_is_cut_off_is_noted),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
