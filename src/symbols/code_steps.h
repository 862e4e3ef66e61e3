/*
 * Steps: what the instructions of a piece of code do besides going on to the next:
 * what the decoders find, one a machine. Private to src/symbols/.
 */
#ifndef LODE_SYMBOLS_CODE_STEPS_H
#define LODE_SYMBOLS_CODE_STEPS_H

#include "base/array.h"
#include "base/error.h"
#include "base/memory.h"

enum lode_step_kind {
	LODE_STEP_CALL,   /* of `target` */
	LODE_STEP_JUMP,   /* to `target`, outside the piece */
	LODE_STEP_BRANCH, /* perhaps to `target`, outside the piece */
	LODE_STEP_RETURN,
	LODE_STEP_POINTER, /* calls through a pointer, or jumps through one and stays in the function */
	LODE_STEP_LEAVE,   /* jumps through a pointer, for good */
	LODE_STEP_SLOT,    /* calls through the pointer at the address `target` */
	LODE_STEP_LEAVE_SLOT,
	LODE_STEP_UNKNOWN, /* leaves where it cannot be probed, or is not understood */
};

struct lode_step {
	enum lode_step_kind kind;
	uint64_t at;     /* address of the instruction */
	uint64_t target; /* address */
};

struct lode_steps {
	LODE_ARRAY(struct lode_step);
};

/* A run of instructions. */
struct lode_code_run {
	const unsigned char *bytes;
	size_t size;
	uint64_t address;
	uint64_t piece; /* addresses of the piece it is a part of */
	uint64_t piece_end;
};

static inline void lode_steps_add(struct lode_steps *steps, enum lode_step_kind kind, uint64_t at, uint64_t target)
{
	LODE_PUSH(steps, (struct lode_step){ kind, at, target });
}

/* Each appends the steps of a run. */
void lode_code_decode_aarch64(const struct lode_code_run *run, struct lode_steps *steps);
/* `disassembler` comes from lode_code_open_x86_64, and is not NULL. */
void lode_code_decode_x86_64(void *disassembler, const struct lode_code_run *run, struct lode_steps *steps);
/* NULL when Lode was built without capstone, or it cannot be loaded. */
void *lode_code_open_x86_64(void);
/* Where it is NULL: why, and what to do. */
extern const char lode_code_why_not_x86_64[];
void lode_code_close_x86_64(void *disassembler);

/* Whether the kernel can put a probe on the first instruction. */
int lode_code_can_probe_aarch64(const unsigned char *bytes, size_t size);
int lode_code_can_probe_x86_64(const unsigned char *bytes, size_t size);

#endif
