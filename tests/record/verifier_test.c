/*
 * What the kernel's verifier takes for the recorder's programs: it follows every way through a program and every round of
 * its loops, at about a microsecond an instruction, and that is most of the time that a recording needs to start.
 * Programs whose loops are too long still load, so nothing else would show it.
 *
 * Needs privileges; ends with 77 (skipped), and says why, where it has none.
 */
#include "../unit/cmocka_all.h"

#include "process/languages/languages.h"
#include "record/load/bpf_loading.h"
#include "record/load/kernel_features.h"
#include "record/load/permissions.h"
#include "record/load/plain_programs.h"
#include "record/load/uprobes.h"
#include "record/recorder_settings.h"
#include "record/load/recorder_skeleton.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Instructions of a program, and of all together; the kernel gives up at a million each. Linux 6.1 recognises fewer states that it has
 * seen: it looks at 326,000 of the largest program, later ones at less than 250,000.
 */
#define MAX_OF_ONE       250000
#define MAX_OF_ONE_OLDER 400000
#define MAX_OF_ALL       600000
#define MAX_OF_ALL_OLDER 900000

#define LOG_BYTES  65536
#define STATISTICS 4 /* the kernel's log has these alone */
#define PROGRAMS   32

/* Loads the programs with statistics in their logs. Returns 0 or a negative errno. */
static int load(struct recorder *programs, const struct lode_recorder_options *options, char (*logs)[LOG_BYTES])
{
	struct lode_kernel_features kernel = lode_kernel_features();
	struct bpf_program *program;
	unsigned count = 0;

	assert_non_null(programs);
	lode_recorder_set_up(programs, options, &kernel, 1, 1024);
	bpf_object__for_each_program(program, programs->obj)
	{
		assert_true(count < PROGRAMS);
		assert_int_equal(bpf_program__set_log_level(program, STATISTICS), 0);
		assert_int_equal(bpf_program__set_log_buf(program, logs[count++], LOG_BYTES), 0);
	}
	return recorder__load(programs);
}

static unsigned long processed(const char *log)
{
	const char *found = strstr(log, "processed ");

	return found ? strtoul(found + strlen("processed "), NULL, 10) : 0;
}

/* `programs` are destroyed. Returns how many instructions the verifier looks at. */
static unsigned long assert_quickly_verified(struct recorder *programs, const struct lode_recorder_options *options)
{
	char(*logs)[LOG_BYTES] = calloc(PROGRAMS, LOG_BYTES);
	struct bpf_program *program;
	const int is_older = !lode_kernel_features().can_cast;
	unsigned long all = 0, one;
	unsigned count = 0;

	assert_non_null(logs);
	assert_int_equal(load(programs, options, logs), 0);
	bpf_object__for_each_program(program, programs->obj)
	{
		one = processed(logs[count++]);
		if (!bpf_program__autoload(program))
			continue;
		assert_true(one > 0);
		if (one > (is_older ? MAX_OF_ONE_OLDER : MAX_OF_ONE))
			fail_msg("%s: the verifier looks at %lu instructions", bpf_program__name(program), one);
		all += one;
	}
	printf("%lu instructions\n", all);
	assert_true(all <= (is_older ? MAX_OF_ALL_OLDER : MAX_OF_ALL));
	recorder__destroy(programs);
	free(logs);
	return all;
}

static const struct lode_recorder_options everything = {
	.frequency = 999, .calls = 1, .only_pids = 1, .languages = LODE_LANGUAGES_ALL
};
static const struct lode_recorder_options native = { .frequency = 999, .calls = 1, .only_pids = 1 };
static const struct lode_recorder_options budget = {
	.frequency = 97, .thin = 1, .totals = 1, .languages = LODE_LANGUAGES_ALL
};
/* As `lode watch` has it. */
static const struct lode_record_limit limit = { .limit = 100000000, .type = LODE_LIMIT_WAIT, .any = 1 };
static const struct lode_recorder_options limited = {
	.frequency = 97, .thin = 1, .totals = 1, .limits = &limit, .limit_count = 1, .languages = LODE_LANGUAGES_ALL
};
static const struct lode_record_limit request = { .limit = 10000000, .type = LODE_LIMIT_REQUEST, .any = 1 };
static const struct lode_recorder_options requests = {
	.frequency = 97, .thin = 1, .totals = 1, .limits = &request, .limit_count = 1, .languages = LODE_LANGUAGES_ALL
};
static const struct lode_recorder_options frame_pointers = { .frequency = 999,
							     .unwind = LODE_RECORDER_FRAME_POINTER };

/* Probes at queries and marks need a newer kernel than the rest. */
static struct lode_recorder_options contexts(void)
{
	struct lode_error error = { "" };

	return (struct lode_recorder_options){ .frequency = 97,
					       .thin = 1,
					       .totals = 1,
					       .calls = 1,
					       .contexts = lode_uprobes_possible(&error) == 0,
					       .traces = 1,
					       .languages = LODE_LANGUAGES_ALL,
					       .kernel_locks = 1 };
}

static void programs_of_this_kernel(void **state)
{
	const struct lode_recorder_options served = contexts();
	unsigned long all;

	(void)state;
	if (!lode_kernel_features().can_cast)
		skip();
	all = assert_quickly_verified(recorder__open(), &everything);
	/* Languages that were not chosen cost nothing. */
	assert_true(assert_quickly_verified(recorder__open(), &native) < all * 3 / 4);
	assert_quickly_verified(recorder__open(), &budget);
	assert_quickly_verified(recorder__open(), &limited);
	assert_quickly_verified(recorder__open(), &requests);
	assert_quickly_verified(recorder__open(), &served);
	assert_quickly_verified(recorder__open(), &frame_pointers);
}

static void programs_of_older_kernels(void **state)
{
	const struct lode_recorder_options served = contexts();
	unsigned long all;

	(void)state;
	all = assert_quickly_verified(lode_recorder_open_plain(), &everything);
	assert_true(assert_quickly_verified(lode_recorder_open_plain(), &native) < all * 3 / 4);
	assert_quickly_verified(lode_recorder_open_plain(), &limited);
	assert_quickly_verified(lode_recorder_open_plain(), &requests);
	assert_quickly_verified(lode_recorder_open_plain(), &served);
}

/* A program that returns at once, so that the rest of it is never reached. */
static void a_rejected_program_is_reported_with_the_reason(void **state)
{
	struct lode_kernel_features kernel = lode_kernel_features();
	struct recorder *programs = kernel.can_cast ? recorder__open() : lode_recorder_open_plain();
	struct lode_error error = { "" };
	struct bpf_insn *instructions;
	struct bpf_program *program;
	size_t count;

	(void)state;
	assert_non_null(programs);
	lode_recorder_set_up(programs, &frame_pointers, &kernel, 1, 1024);
	program = programs->progs.lode_switch;
	count = bpf_program__insn_cnt(program);
	instructions = calloc(count, sizeof(*instructions));
	assert_non_null(instructions);
	memcpy(instructions, bpf_program__insns(program), count * sizeof(*instructions));
	instructions[0] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	assert_int_equal(bpf_program__set_insns(program, instructions, count), 0);
	lode_bpf_loading_begin();
	assert_true(recorder__load(programs) < 0);
	assert_int_equal(lode_bpf_loading_fail(LODE_NEEDS_PROGRAMS, EACCES, &error), LODE_SYSTEM);
	assert_non_null(strstr(error.text, "lode_switch: unreachable insn 1;"));
	recorder__destroy(programs);
	free(instructions);
	lode_bpf_loading_begin();
	assert_int_equal(lode_bpf_loading_fail(LODE_NEEDS_PROGRAMS, EINVAL, &error), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_of_this_kernel),
		cmocka_unit_test(programs_of_older_kernels),
		cmocka_unit_test(a_rejected_program_is_reported_with_the_reason),
	};
	struct lode_error error = { "" };
	struct lode_recorder *recorder = NULL;

	/* The other tests of the recorder skip themselves whatever the reason is. */
	if (lode_recorder_create(&recorder, &frame_pointers, &error) < 0 &&
	    !strstr(error.text, "the verifier of Linux")) {
		printf("skipped: %s\n", error.text);
		return 77;
	}
	lode_recorder_destroy(recorder);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
