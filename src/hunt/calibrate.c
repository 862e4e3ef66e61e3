/*
 * Calibrate: see calibrate.h.
 *
 * The function is written in assembly, so that it is certain where it begins and
 * returns, and that it begins like most functions do: by pushing the frame
 * pointer. The smallest of several rounds counts: whatever else happens on the
 * machine only adds to a round.
 */
#include "hunt/calibrate.h"

#include "base/memory.h"
#include "record/uprobes.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS 7
#define CALLS  500

extern void lode_calibrate_function(void);

/* It returns so many bytes behind its entry. */
#if defined(__aarch64__)
#define RETURN_AT 8u
__asm__(".text\n"
	".p2align 4\n"
	".globl lode_calibrate_function\n"
	".hidden lode_calibrate_function\n"
	".type lode_calibrate_function, %function\n"
	"lode_calibrate_function:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	ldp x29, x30, [sp], #16\n"
	"	ret\n"
	".size lode_calibrate_function, . - lode_calibrate_function\n");
#elif defined(__x86_64__)
#define RETURN_AT 2u
__asm__(".text\n"
	".p2align 4\n"
	".globl lode_calibrate_function\n"
	".hidden lode_calibrate_function\n"
	".type lode_calibrate_function, @function\n"
	"lode_calibrate_function:\n"
	"	push %rbp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size lode_calibrate_function, . - lode_calibrate_function\n");
#endif

/* The offset of an address of this program in its file. Returns 0 or LODE_SYSTEM. */
static int file_offset(uint64_t address, uint64_t *result)
{
	unsigned long long start, end, offset;
	char *line = NULL;
	size_t capacity = 0;
	FILE *file = fopen("/proc/self/maps", "re"); /* from the kernel */
	int code = LODE_SYSTEM;

	while (file && code && getline(&line, &capacity, file) > 0)
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) == 3 && start <= address &&
		    address < end) {
			*result = address - start + offset;
			code = 0;
		}
	free(line); /* from getline */
	if (file)
		fclose(file);
	return code;
}

static uint64_t run_calls(void)
{
	uint64_t least = UINT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t began = lode_clockwork_now(), took;

		for (int i = 0; i < CALLS; i++)
			lode_calibrate_function();
		took = lode_clockwork_now() - began;
		if (took < least)
			least = took;
	}
	return least;
}

int lode_calibrate(struct lode_clockwork *clockwork, uint64_t *hit_cost, struct lode_error *error)
{
	struct lode_uprobe_place places[2] = {{0, 0}, {0, LODE_HUNT_END}};
	uint64_t without = run_calls(), with;
	uint32_t place;
	int link;

	if (file_offset((uint64_t)(uintptr_t)lode_calibrate_function, &places[0].offset) < 0)
		return lode_fail(error, LODE_SYSTEM,
				 "hunt: /proc/self/maps does not tell of this program; is /proc mounted?");
	places[1].offset = places[0].offset + RETURN_AT;
	place = lode_clockwork_add_thread(clockwork, (uint32_t)getpid(), (uint32_t)syscall(SYS_gettid));
	link = lode_uprobes_attach(lode_clockwork_program(clockwork), "/proc/self/exe", places, 2,
				   (uint32_t)getpid(), error);
	if (link >= 0) {
		with = run_calls();
		close(link);
		*hit_cost = (with > without ? with - without : 0) / (2 * CALLS) + 1;
	}
	if (place != LODE_NONE)
		lode_clockwork_forget(clockwork, place);
	lode_clockwork_clear_slot(clockwork, 0);
	return link < 0 ? link : 0;
}
