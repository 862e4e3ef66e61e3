/* The text of ftrace, as the kernel and as trace-cmd print it. */
#include "import_fixture.h"

extern const struct lode_importer lode_importer_ftrace;

static const char kernel[] =
	"# tracer: nop\n#\n# entries-in-buffer/entries-written: 6/6   #P:2\n"
	"#           TASK-PID    TGID   CPU#  |||||  TIMESTAMP  FUNCTION\n"
	"        my app-7       (      5) [000] d..2.     1.000001: sched_switch: prev_comm=my app prev_pid=7 "
	"prev_prio=120 "
	"prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
	"        my app-7       (      5) [000] d..2.     1.000002: <stack trace>\n"
	" => schedule\n => ext4_read+0x10/0x20 [ext4]\n => start_kernel\n"
	"          <...>-9      (-------) [001] d..2.     1.000401: sched_waking: comm=my app pid=7 prio=120 "
	"target_cpu=000\n"
	"          <...>-9      (      9) [001] .....     1.000500: sys_openat(dfd: ffffff9c, filename: 0)\n"
	"          <...>-9      (      9) [001] .....     1.000600: sys_openat -> 0x3\n"
	"CPU:1 [LOST 12 EVENTS]\n"
	"         <idle>-0      (-------) [000] d..2.     1.000901: sched_switch: prev_comm=swapper/0 prev_pid=0 "
	"prev_prio=120 "
	"prev_state=R ==> next_comm=my app next_pid=7 next_prio=120\n";

static void what_the_kernel_prints_is_read(void **state)
{
	(void)state;
	assert_import(&lode_importer_ftrace, kernel, NULL,
		      "stream x \nthread 7 my app\nmodule ext4 kernel  \n"
		      "wait 1000001000+400000 7 delay=500000 cpu=0 waker=9 "
		      "kernel!start_kernel|ext4!ext4_read|kernel!schedule\n"
		      "call 1000500000+0 9/9 cpu=1 name=sys_openat \n");
	assert_note(&lode_importer_ftrace, kernel, "lost events", 1);
	assert_note(&lode_importer_ftrace, kernel, "system call exits", 1);
}

static const char report[] =
	"cpus=2\n"
	"     kworker/2:1-2923  [002]  2084.021765000: sched_switch:         kworker/2:1:2923 [120] D ==> "
	"swapper/2:0 [120]\n"
	"     kworker/2:1-2923  [002]  2084.021766000: kernel_stack:         <stack trace >\n"
	"=> schedule (ffffffff81a01000)\n=> worker_thread (ffffffff81a02000)\n"
	"          <idle>-0     [003]  2084.021865123: sched_waking:         comm=kworker/2:1 pid=2923 prio=120 "
	"target_cpu=002\n"
	"          <idle>-0     [002]  2084.021870000: sched_switch:         swapper/2:0 [120] R ==> "
	"kworker/2:1:2923 [120]\n"
	"     kworker/2:1-2923  [002]  2084.021880000: cpu_idle:             state=1 cpu_id=2\n"
	"     kworker/2:1-2923  [002]  2084.0218";

static void what_trace_cmd_prints_is_read(void **state)
{
	(void)state;
	assert_import(&lode_importer_ftrace, report, NULL,
		      "stream x \nthread 2923 kworker/2:1\n"
		      "wait 2084021765000+100123 2923 delay=4877 cpu=2 kernel!worker_thread|kernel!schedule\n"
		      "call 2084021880000+0 2923 cpu=2 name=cpu_idle \n");
	assert_note(&lode_importer_ftrace, report, "cut off", 1);
}

static void deep_stacks_are_cut_and_counted(void **state)
{
	struct lode_buffer text = { 0 };

	(void)state;
	lode_buffer_text(&text, "          app-7     [000] d..2.     1.000001: cpu_idle: state=1\n"
				"          app-7     [000] d..2.     1.000002: <stack trace>\n");
	for (int i = 0; i < LODE_STACK_DEPTH_LIMIT; i++)
		lode_buffer_print(&text, " => f%d\n", i);
	lode_buffer_byte(&text, '\0');
	assert_note(&lode_importer_ftrace, text.bytes, "deeper than 16384", 0);
	text.size--;
	lode_buffer_text(&text, " => main\n => start\n");
	lode_buffer_byte(&text, '\0');
	assert_note(&lode_importer_ftrace, text.bytes, "deeper than 16384", 1);
	lode_buffer_release(&text);
}

static void the_sniffer_knows_both(void **state)
{
	(void)state;
	assert_chosen(&lode_importer_ftrace, kernel);
	assert_chosen(&lode_importer_ftrace, report);
	assert_bad(&lode_importer_ftrace, "hello\n", "no event");
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	(void)state;
	try_damaged(&lode_importer_ftrace, kernel, strlen(kernel), 3000);
	try_damaged(&lode_importer_ftrace, report, strlen(report), 3000);
	try_without_memory(&lode_importer_ftrace, kernel, strlen(kernel));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_kernel_prints_is_read),
		cmocka_unit_test(what_trace_cmd_prints_is_read),
		cmocka_unit_test(deep_stacks_are_cut_and_counted),
		cmocka_unit_test(the_sniffer_knows_both),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
