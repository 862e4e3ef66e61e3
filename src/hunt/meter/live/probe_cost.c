/*
 * Probe cost: see probe_cost.h.
 *
 * For each kind of instruction there is a function that begins with it, in assembly, so
 * that it is certain what is probed. All have their probe at once, since links take long
 * to make and to close, and are called one after another. The smallest of several rounds
 * counts: other work on the machine can only add to a round.
 *
 * Besides the instruction, a hit costs the work of the BPF program: it opens the function at
 * an entry and closes it at an end. Here entries come without ends, and each closes the
 * one before, so their cost has both parts and that of ends has neither. Of a call, an
 * entry and an end, that makes the right sum.
 */
#include "hunt/meter/live/probe_cost.h"

#include "base/memory.h"
#include "base/proc_files.h"
#include "record/load/uprobes.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS 7
#define CALLS  200

/* One function for each kind, in the order of the kinds, this many bytes apart. */
#define FUNCTION_BYTES 16u

extern const char lode_calibrate_functions[];

#if defined(__aarch64__)
__asm__(".text\n"
	".p2align 4\n"
	".globl lode_calibrate_functions\n"
	".hidden lode_calibrate_functions\n"
	".type lode_calibrate_functions, %function\n"
	"lode_calibrate_functions:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	ldp x29, x30, [sp], #16\n"
	"	ret\n"
	"	.p2align 4\n"
	"	nop\n"
	"	ret\n"
	"	.p2align 4\n"
	"	b 1f\n"
	"1:	ret\n"
	"	.p2align 4\n"
	"	ret\n"
	"	.p2align 4\n"
	"	mov x0, x0\n"
	"	ret\n"
	".size lode_calibrate_functions, . - lode_calibrate_functions\n");
#elif defined(__x86_64__)
__asm__(".text\n"
	".p2align 4\n"
	".globl lode_calibrate_functions\n"
	".hidden lode_calibrate_functions\n"
	".type lode_calibrate_functions, @function\n"
	"lode_calibrate_functions:\n"
	"	push %rbp\n"
	"	pop %rbp\n"
	"	ret\n"
	"	.p2align 4\n"
	"	nop\n"
	"	ret\n"
	"	.p2align 4\n"
	"	jmp 1f\n"
	"1:	ret\n"
	"	.p2align 4\n"
	"	ret\n"
	"	.p2align 4\n"
	"	mov %rax, %rax\n"
	"	ret\n"
	".size lode_calibrate_functions, . - lode_calibrate_functions\n");
#endif

struct code_place {
	uint64_t address;
	uint64_t offset; /* in its file */
	char path[4096];
};

static int find_place(void *context, const struct lode_proc_mapping *mapping)
{
	struct code_place *place = context;
	struct stat program;

	if (place->address < mapping->start || mapping->end <= place->address)
		return 0;
	place->offset = place->address - mapping->start + mapping->offset;
	/* The program may have been replaced meanwhile; a library that it uses has only its path. */
	snprintf(place->path, sizeof(place->path), "%s",
		 !stat("/proc/self/exe", &program) && program.st_ino == mapping->inode ? "/proc/self/exe"
										       : mapping->path);
	return 1;
}

/* The shortest time that a round of calls of the function of a kind takes. */
static uint64_t run_calls(int kind)
{
	void (*function)(void) =
		(void (*)(void))((uintptr_t)lode_calibrate_functions + (unsigned)kind * FUNCTION_BYTES);
	uint64_t least = UINT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t began = lode_now(), took;

		for (int i = 0; i < CALLS; i++)
			function();
		took = lode_now() - began;
		if (took < least)
			least = took;
	}
	return least;
}

/* A probe on each function. Returns a link's descriptor, or a negative code. */
static int attach(struct lode_thread_clocks *clocks, struct lode_error *error)
{
	struct lode_uprobe_place places[LODE_PROBED_KINDS];
	struct code_place functions = { .address = (uint64_t)(uintptr_t)lode_calibrate_functions };

	if (!lode_proc_mappings(0, find_place, &functions))
		return lode_fail(error, LODE_SYSTEM,
				 "hunt: /proc/self/maps does not list this program; is /proc mounted?");
	for (uint32_t kind = 0; kind < LODE_PROBED_KINDS; kind++) {
		int is_end = kind == LODE_PROBED_RETURN || kind == LODE_PROBED_BRANCH;

		places[kind].offset = functions.offset + kind * FUNCTION_BYTES;
		places[kind].cookie = kind << LODE_HUNT_KIND_SHIFT | (is_end ? LODE_HUNT_END : 0);
	}
	return lode_uprobes_attach(lode_thread_clocks_program(clocks), functions.path, places, LODE_PROBED_KINDS,
				   (uint32_t)getpid(), error);
}

int lode_calibrate(struct lode_thread_clocks *clocks, uint64_t *hit_costs, struct lode_error *error)
{
	uint64_t without[LODE_PROBED_KINDS], with;
	uint32_t place;
	int link;

	for (int kind = 0; kind < LODE_PROBED_KINDS; kind++)
		without[kind] = run_calls(kind);
	place = lode_thread_clocks_add_thread(clocks, (uint32_t)getpid(), (uint32_t)syscall(SYS_gettid));
	link = attach(clocks, error);
	for (int kind = 0; link >= 0 && kind < LODE_PROBED_KINDS; kind++) {
		with = run_calls(kind);
		hit_costs[kind] = (with > without[kind] ? with - without[kind] : 0) / CALLS + 1;
	}
	if (link >= 0)
		close(link);
	if (place != LODE_NONE)
		lode_thread_clocks_forget(clocks, place);
	lode_thread_clocks_clear_slot(clocks, 0);
	return link < 0 ? link : 0;
}
