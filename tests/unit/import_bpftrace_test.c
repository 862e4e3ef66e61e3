/* Stacks with counts, as bpftrace and DTrace print them. */
#include "import_fixture.h"

extern const struct lode_importer lode_importer_bpftrace;

static const char maps[] =
	"Attaching 2 probes...\n\n"
	"@start[123]: 77\n"
	"@[\n    schedule+20\n    do_nanosleep+80\n,\n    clock_nanosleep+40\n    std::run(int)+0x1c\n, my app, "
	"41]: 12\n"
	"@us[bash, \n    0x7f0012345678\n]: 5\n"
	"@h[\n    f+1\n]: \n[1, 2)   3 |@@@|\n"
	"@[\n\tffffffff8103ce3b native_halt+11 ([kernel.kallsyms])\n\t7f001 main+0x20 (/usr/bin/app)\n]: 3\n";

static void maps_of_bpftrace_are_read(void **state)
{
	(void)state;
	assert_import(&lode_importer_bpftrace, maps, NULL,
		      "stream x \nthread 41 my app\nthread 2 bash\nmodule app user /usr/bin/app \n"
		      "run 0+12 41 std::run(int)|clock_nanosleep|do_nanosleep|schedule\n"
		      "run 12+5 2 0x7f0012345678\n"
		      "run 17+3 0 app!main|kernel!native_halt\n");
	assert_note(&lode_importer_bpftrace, maps, "without a stack", 1);
	assert_note(&lode_importer_bpftrace, maps, "histograms", 1);
	assert_note(&lode_importer_bpftrace, maps, "without a unit", 3);
}

static void the_kernels_stack_is_that_of_the_leaf(void **state)
{
	(void)state;
	assert_import(&lode_importer_bpftrace,
		      "@[\n    read+16\n    main+4\n,\n    vfs_read+1\n    do_syscall_64+80\n    "
		      "entry_SYSCALL_64_after_hwframe+0\n]: 2\n"
		      "@[\n    vfs_read+1\n    entry_SYSCALL_64_after_hwframe+0\n, app,\n    read+16\n    "
		      "main+4\n]: 3\n",
		      NULL,
		      "stream x \nthread 2 app\n"
		      "run 0+2 0 main|read|entry_SYSCALL_64_after_hwframe|do_syscall_64|vfs_read\n"
		      "run 2+3 2 main|read|entry_SYSCALL_64_after_hwframe|vfs_read\n");
}

static const char aggregations[] =
	"CPU     ID                    FUNCTION:NAME\n\n"
	"  bash\n"
	"              unix`swtch+0x145\n              libc.so.1`read+0xa\n              app`main+0x14\n"
	"               12\n\n"
	"              0xfffffd7fff\n                4\n";

static void aggregations_of_dtrace_are_read(void **state)
{
	struct lode_import_options options = { .jobs = 1, .unit_ns = 1e6, .kind_is_wait = 1 };

	(void)state;
	assert_import(&lode_importer_bpftrace, aggregations, &options,
		      "stream x \nthread 1 bash\n"
		      "wait 0+12000000 1 app!main|libc.so.1!read|unix!swtch\n"
		      "wait 12000000+4000000 0 0xfffffd7fff\n");
}

static void deep_stacks_are_cut_and_counted(void **state)
{
	struct lode_buffer text = { 0 };
	struct imported imported;

	(void)state;
	lode_buffer_text(&text, "@[\n");
	for (int i = 0; i < LODE_STACK_DEPTH_LIMIT; i++)
		lode_buffer_print(&text, "    f%d+1\n", i);
	lode_buffer_text(&text, "    main+1\n    start+1\n]: 1\n@[\n    f+1\n]: 1\n");
	import_bytes(&imported, &lode_importer_bpftrace, text.bytes, text.size, NULL);
	assert_int_equal(imported.code, 0);
	assert_int_equal(note_count(&imported, "cut at the root"), 1);
	assert_non_null(strstr(imported.text.bytes, "run 0+1 0 f16383|f16382|"));
	release_imported(&imported);
	lode_buffer_release(&text);
}

static void the_sniffer_knows_both(void **state)
{
	(void)state;
	assert_chosen(&lode_importer_bpftrace, maps);
	assert_chosen(&lode_importer_bpftrace, aggregations);
	assert_bad(&lode_importer_bpftrace, "hello\n", "no stack with a count");
	assert_bad(&lode_importer_bpftrace, "@[\n  f\n]: 18446744073709551615\n", "no stack with a count");
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	(void)state;
	try_damaged(&lode_importer_bpftrace, maps, strlen(maps), 3000);
	try_damaged(&lode_importer_bpftrace, aggregations, strlen(aggregations), 3000);
	try_without_memory(&lode_importer_bpftrace, maps, strlen(maps));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_of_bpftrace_are_read),
		cmocka_unit_test(the_kernels_stack_is_that_of_the_leaf),
		cmocka_unit_test(aggregations_of_dtrace_are_read),
		cmocka_unit_test(deep_stacks_are_cut_and_counted),
		cmocka_unit_test(the_sniffer_knows_both),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
