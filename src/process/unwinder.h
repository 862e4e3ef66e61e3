/*
 * Unwinder: user stacks from registers and memory, in the program: from copies of a
 * stack, from samples in perf.data, from threads that ptrace has stopped. It applies
 * the same rules with the same code as the BPF programs (unwind_step.h).
 *
 * No address outside of executable mappings becomes a frame, except the program
 * counter itself: such a word is data, not a return address.
 */
#ifndef LODE_PROCESS_UNWINDER_H
#define LODE_PROCESS_UNWINDER_H

#include "process/unwind_state.h"
#include "symbols/unwind_table.h"

#include <stddef.h>
#include <stdint.h>

/* Where a walk gets what it needs. */
struct lode_unwind_source {
	void *context;
	/* The word at an address: 1, or 0 when it is not there. */
	int (*read)(void *context, uint64_t address, uint64_t *word);
	/*
	 * The table of the code at an address, NULL when it has none, and the address in
	 * its image: 1, 0 when the address is in no executable mapping, or LODE_SYSTEM.
	 */
	int (*find)(void *context, uint64_t address, const struct lode_unwind_table **table,
		    uint64_t *image_address);
	/*
	 * A step out of code that the runtime of a language generated, and the word of its function (language_words.h); returns an
	 * enum lode_unwind_result, or -1 where the code is none of that. NULL: there is none.
	 */
	int (*leave)(void *context, struct lode_unwind_state *state, uint64_t *word, uint64_t *position);
};

/* The machine that this program runs on. */
#if defined(__aarch64__)
#define LODE_UNWIND_MACHINE EM_AARCH64
#else
#define LODE_UNWIND_MACHINE EM_X86_64
#endif

/* Registers to begin with. */
struct lode_unwind_registers {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t link;    /* the link register; x86-64: rdi, 0 when it is not known */
	uint64_t scratch; /* x86-64: r10; 0 when it is not known */
	uint32_t machine; /* EM_X86_64, EM_AARCH64 */
};

enum lode_unwind_end {
	LODE_UNWIND_WHOLE,  /* it reaches the root of its thread */
	LODE_UNWIND_DEEP,   /* it has more frames than there is room for */
	LODE_UNWIND_SHORT,  /* it goes on in memory that could not be read */
	LODE_UNWIND_BROKEN, /* some function has no rule that leads on */
};

struct lode_unwind_frame {
	uint64_t address;  /* of an instruction in the function: of callers, inside of the call */
	uint64_t sp;       /* the function's stack pointer there */
	uint64_t record;   /* its frame record, if its caller was found by that; else 0 */
	uint64_t word;     /* of a function of a language, in place of the address; 0: it is none */
	uint64_t position; /* of that, where positions are asked for; 0: none */
};

struct lode_unwound {
	enum lode_unwind_end end;
	int guessed;   /* some caller was found by frame pointer, since its callee has no table */
	uint64_t link; /* x86-64: the leaf has no table, and this, a return address, may be its caller; else 0 */
	int by_link; /* aarch64: the leaf has no table, and its caller is what the link register held; it may be the leaf */
};

/* Fills `frames`, leaf first, at least one if `limit` allows. Returns their number, or LODE_SYSTEM. */
int lode_unwind(const struct lode_unwind_source *source, const struct lode_unwind_registers *registers,
		struct lode_unwind_frame *frames, size_t limit, struct lode_unwound *unwound);

#endif
