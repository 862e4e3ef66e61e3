/* Tracepoints in perf.data: switches, wakeups and system calls. */
#include "perf_import.h"

#include "symbols/syscalls.h"

/* ---- tracepoints ---- */

static void switches_and_wakings_become_waits_by_the_formats_of_the_file(void **state)
{
	struct recording recording = { 0 };

	(void)state;
	add_tracing(&recording);
	add_tracepoint(&recording, 301);
	add_tracepoint(&recording, 302);
	put_switch(&recording, 1000, 70, 1, 71, 0xa);
	put_waking(&recording, 3000, 71, 70, 0xb);
	put_switch(&recording, 3500, 71, 0x100, 70, 0xc); /* preempted */
	put_switch(&recording, 4000, 70, 0x20, 71, 0xd);  /* a zombie */
	put_switch(&recording, 5000, 71, 2, 0, 0xe);      /* to the idle thread */
	put_switch(&recording, 6000, 0, 0, 71, 0xf);      /* and from it */
	assert_becomes(&recording, "wait",
		       "wait 1000+2000 7/70 delay=500 cpu=1 waker=7/71 0xa < 0xb\n"
		       "wait 5000+1000 7/71 cpu=1 0xe\n");
	assert_becomes(&recording, "call", "call 3500+0 7/71 delay=500 cpu=1 name=preempt 0xc\n");
	assert_becomes(&recording, "thread", "thread 7/70 before\nthread 7/71 aft\n");
	release(&recording);
}

static void system_calls_are_named_by_tracepoint_or_number(void **state)
{
	unsigned char raw[16] = { 0 };
	struct recording recording = { 0 };
	struct imported imported;

	(void)state;
	add_tracing(&recording);
	add_tracepoint(&recording, 303);
	add_tracepoint(&recording, 304);
	add_tracepoint(&recording, 305);
	for (unsigned i = 0; i < 3; i++) {
		raw[8] = 63; /* read on aarch64, uname on x86-64 */
		put_sample(&recording, (struct sample){ .event = i,
							.time = 10 + i,
							.pid = 1,
							.tid = 1,
							CHAIN(USER, 0x1),
							.raw = raw,
							.raw_size = 16 });
	}
	raw[9] = 0xff;
	put_sample(&recording, (struct sample){ .event = 1,
						.time = 20,
						.pid = 1,
						.tid = 1,
						CHAIN(USER, 0x1),
						.raw = raw,
						.raw_size = 16 });
	assert_becomes(&recording, "call",
		       "call 10+0 1/1 cpu=0 name=openat 0x1\ncall 11+0 1/1 cpu=0 name=read 0x1\n"
		       "call 20+0 1/1 cpu=0 name=syscall_65343 0x1\n");
	import_recording(&imported, &recording, 0);
	assert_int_equal(noted(&imported, "ends of system calls"), 1);
	release_imported(&imported);
	recording.arch = "x86_64";
	assert_becomes(&recording, "call 11", "call 11+0 1/1 cpu=0 name=uname 0x1\n");
	release(&recording);
}

static void tables_of_system_calls_have_the_right_numbers(void **state)
{
	(void)state;
	assert_string_equal(lode_syscall_name("aarch64", 0), "io_setup");
	assert_string_equal(lode_syscall_name("aarch64", 98), "futex");
	assert_string_equal(lode_syscall_name("aarch64", 222), "mmap");
	assert_string_equal(lode_syscall_name("aarch64", 293), "rseq");
	assert_string_equal(lode_syscall_name("x86_64", 0), "read");
	assert_string_equal(lode_syscall_name("x86_64", 202), "futex");
	assert_string_equal(lode_syscall_name("x86_64", 334), "rseq");
	assert_string_equal(lode_syscall_name("x86_64", 435), "clone3");
	assert_string_equal(lode_syscall_name("aarch64", 449), "futex_waitv");
	assert_null(lode_syscall_name("aarch64", 250));
	assert_null(lode_syscall_name("x86_64", 400));
	assert_null(lode_syscall_name("x86_64", UINT64_MAX));
	assert_null(lode_syscall_name("riscv64", 63));
	assert_null(lode_syscall_name(NULL, 63));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches_and_wakings_become_waits_by_the_formats_of_the_file),
		cmocka_unit_test(system_calls_are_named_by_tracepoint_or_number),
		cmocka_unit_test(tables_of_system_calls_have_the_right_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
