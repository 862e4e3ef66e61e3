/* trace.dat of trace-cmd. */
#include "import_fixture.h"
#include "trace_dat_recording.h"

extern const struct lode_importer lode_importer_trace_dat;

static void both_versions_and_byte_orders_are_read(void **state)
{
	(void)state;
	for (int form = 0; form < DAT_FORMS; form++) {
		struct trace_dat dat = dat_make(form);
		struct imported imported;

		import_bytes(&imported, &lode_importer_trace_dat, dat.bytes.bytes, dat.bytes.size, NULL);
		assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
		assert_string_equal(imported.text.bytes,
				    "stream x \nthread 9 waker\nthread 7 worker\nmodule ext4 kernel  \n"
				    "wait 1000+400 7 delay=134217828 cpu=0 waker=9 "
				    "kernel!start_kernel|ext4!ext4_read|kernel!schedule\n"
				    "call 1450+0 9 cpu=1 name=openat \n");
		assert_int_equal(note_count(&imported, "lost events"), 1);
		release_imported(&imported);
		lode_buffer_release(&dat.bytes);
	}
}

static void assert_refused(const void *bytes, size_t size, const char *part)
{
	struct imported imported;

	import_bytes(&imported, &lode_importer_trace_dat, bytes, size, NULL);
	if (imported.code != LODE_BAD_INPUT || !strstr(imported.error.text, part))
		fail_msg("%d `%s` has no `%s`", imported.code, imported.error.text, part);
	release_imported(&imported);
}

static void what_files_may_not_be(void **state)
{
	struct trace_dat dat = dat_make(0), seven = dat_make(4);

	(void)state;
	assert_refused("perf", 4, "not a trace.dat");
	dat.bytes.bytes[10] = '5';
	assert_refused(dat.bytes.bytes, dat.bytes.size, "version 5");
	dat.bytes.bytes[10] = '6';
	assert_refused(dat.bytes.bytes, 400, "cut off or damaged");
	memcpy(memmem(seven.bytes.bytes, seven.bytes.size, "zstd", 4), "zzzz", 4);
	assert_refused(seven.bytes.bytes, seven.bytes.size, "packed with zzzz");
	lode_buffer_release(&dat.bytes);
	lode_buffer_release(&seven.bytes);
}

/* A list of options that names itself as the next one. */
static void lists_that_do_not_end_are_refused(void **state)
{
	struct trace_dat dat = dat_make(2);
	uint64_t at;

	(void)state;
	memcpy(&at, dat.bytes.bytes + 25, 8);
	memcpy(dat.bytes.bytes + dat.bytes.size - 8, &at, 8);
	assert_refused(dat.bytes.bytes, dat.bytes.size, "have no end");
	lode_buffer_release(&dat.bytes);
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	(void)state;
	for (int form = 0; form < DAT_FORMS; form++) {
		struct trace_dat dat = dat_make(form);

		try_damaged(&lode_importer_trace_dat, dat.bytes.bytes, dat.bytes.size, 2000);
		if (form == 4)
			try_without_memory(&lode_importer_trace_dat, dat.bytes.bytes, dat.bytes.size);
		lode_buffer_release(&dat.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_versions_and_byte_orders_are_read),
		cmocka_unit_test(what_files_may_not_be),
		cmocka_unit_test(lists_that_do_not_end_are_refused),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
