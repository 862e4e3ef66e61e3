/*
 * The instructions of aarch64 that leave a function or call another: four bytes
 * each, so it is enough to look at each word once. Data words that no symbol marks
 * as data do little harm: returns have few encodings, and only jumps to the first
 * instruction of a function count.
 *
 * An indirect jump is either the way into a `switch` or a tail call. At a tail
 * call the frame is gone: the return address has just been loaded back, or was
 * never stored. Where it was never stored, it follows from where the pointer comes
 * from: that of a `switch` is a sum, or comes from a table.
 */
#include "symbols/code_steps.h"

#include <string.h>

#define LINK_REGISTER 30u
/* How far back the pointer of an indirect jump is looked for. */
#define LOOK_BACK 8u

static uint32_t word_at(const struct lode_code_run *run, size_t i)
{
	const unsigned char *bytes = run->bytes + 4 * i;

	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static int matches(uint32_t word, uint32_t mask, uint32_t value)
{
	return (word & mask) == value;
}

/* The signed distance, in words, in `bits` bits from bit `low` on; as bytes. */
static uint64_t distance(uint32_t word, unsigned low, unsigned bits)
{
	int32_t number = (int32_t)(word << (32 - low - bits)) >> (32 - bits);

	return (uint64_t)((int64_t)number * 4);
}

static int is_conditional(uint32_t word, uint64_t *away)
{
	if (matches(word, 0xff000000, 0x54000000) || matches(word, 0x7e000000, 0x34000000))
		*away = distance(word, 5, 19); /* b.cond, bc.cond; cbz, cbnz */
	else if (matches(word, 0x7e000000, 0x36000000))
		*away = distance(word, 5, 14); /* tbz, tbnz */
	else
		return 0;
	return 1;
}

/* ldp, stp, ldr, str of whole registers, with the stack pointer or another as base. */
static int moves_link_register(uint32_t word, int load)
{
	unsigned first = word & 31, second = word >> 10 & 31;
	int is_load = matches(word, 0x00400000, 0x00400000);

	if (is_load != load)
		return 0;
	if (matches(word, 0xfe000000, 0xa8000000)) /* pairs, in each way of addressing */
		return first == LINK_REGISTER || second == LINK_REGISTER;
	if (matches(word, 0xff000000, 0xf9000000) || matches(word, 0xff200000, 0xf8000000))
		return first == LINK_REGISTER;
	return 0;
}

/* Whether the instruction puts something into register `number`: arithmetic, or a load. */
static int writes(uint32_t word, unsigned number)
{
	if ((word & 31) != number)
		return 0;
	if (matches(word, 0x0a000000, 0x08000000)) /* loads and stores */
		return matches(word, 0x00400000, 0x00400000);
	return !matches(word, 0x1c000000, 0x14000000); /* branches */
}

/* Whether the pointer in register `number`, jumped through at word `i`, looks like that of a `switch`. */
static int comes_from_table(const struct lode_code_run *run, size_t i, unsigned number)
{
	for (size_t back = 1; back <= LOOK_BACK && back <= i; back++) {
		uint32_t word = word_at(run, i - back);

		if (!writes(word, number))
			continue;
		return matches(word, 0x7f000000, 0x0b000000) || /* add, of a register */
		       matches(word, 0xffe00c00, 0xf8600800);   /* ldr, with an index */
	}
	return 0;
}

/* What has been seen of the frame on the way through a run. */
struct frame {
	int stored;   /* the return address was, somewhere before */
	int restored; /* and is back, since the last branch */
};

static void handle_indirect_jump(const struct lode_code_run *run, size_t i, uint32_t word,
				 const struct frame *frame, struct lode_steps *steps)
{
	uint64_t at = run->address + 4 * i;
	int leaves = frame->restored || (!frame->stored && !comes_from_table(run, i, word >> 5 & 31));

	if (!leaves)
		lode_steps_add(steps, LODE_STEP_POINTER, at, 0);
	else if (matches(word, 0xfffffc1f, 0xd61f0000))
		lode_steps_add(steps, LODE_STEP_LEAVE, at, 0);
	else
		lode_steps_add(steps, LODE_STEP_UNKNOWN, at, 0);
}

/* Branches to a register: br, blr, ret, and those that authenticate. */
static void handle_register_branch(const struct lode_code_run *run, size_t i, uint32_t word,
				   const struct frame *frame, struct lode_steps *steps)
{
	uint64_t at = run->address + 4 * i;

	switch (word >> 21 & 7) {
	case 0:
		handle_indirect_jump(run, i, word, frame, steps);
		break;
	case 1:
		lode_steps_add(steps, LODE_STEP_POINTER, at, 0);
		break;
	case 2:
		/* The kernel refuses to probe retaa and retab. */
		lode_steps_add(steps, word & 0x800 ? LODE_STEP_UNKNOWN : LODE_STEP_RETURN, at, 0);
		break;
	}
}

static int is_register_branch(uint32_t word)
{
	return matches(word, 0xff9ffc1f, 0xd61f0000) || /* br, blr, ret */
	       matches(word, 0xfe9ff800, 0xd61f0800);   /* braa, blraa, retaa, … */
}

static int is_outside(const struct lode_code_run *run, uint64_t target)
{
	return target < run->piece || target >= run->piece_end;
}

/* Returns whether the word was a branch of any kind. */
static int handle_branch(const struct lode_code_run *run, size_t i, uint32_t word, const struct frame *frame,
			 struct lode_steps *steps)
{
	uint64_t at = run->address + 4 * i;
	enum lode_step_kind kind = LODE_STEP_BRANCH;
	uint64_t away;

	if (is_register_branch(word)) {
		handle_register_branch(run, i, word, frame, steps);
		return 1;
	}
	if (matches(word, 0x7c000000, 0x14000000)) {
		kind = word >> 31 ? LODE_STEP_CALL : LODE_STEP_JUMP;
		away = distance(word, 0, 26);
	} else if (!is_conditional(word, &away)) {
		return 0;
	}
	if (kind == LODE_STEP_CALL || is_outside(run, at + away))
		lode_steps_add(steps, kind, at, at + away);
	return 1;
}

void lode_code_decode_aarch64(const struct lode_code_run *run, struct lode_steps *steps)
{
	struct frame frame = { 0, 0 };

	for (size_t i = 0; i < run->size / 4 && !steps->failed; i++) {
		uint32_t word = word_at(run, i);

		if (matches(word, 0x1c000000, 0x14000000)) {
			if (handle_branch(run, i, word, &frame, steps))
				frame.restored = 0;
		} else if (moves_link_register(word, 0)) {
			frame.stored = 1;
			frame.restored = 0;
		} else if (moves_link_register(word, 1)) {
			frame.restored = 1;
		}
	}
}

static int is_refused_hint(uint32_t word)
{
	switch (word >> 5 & 127) {
	case 0: /* nop */
	case 7: /* xpaclri */
	case 8: /* pacia1716, pacib1716 */
	case 10:
	case 24: /* paciaz, paciasp, pacibz, pacibsp */
	case 25:
	case 26:
	case 27:
	case 32: /* bti */
	case 34:
	case 36:
	case 38:
		return 0;
	default:
		return 1;
	}
}

/* As the kernel decides: it runs the instruction elsewhere, or imitates it. */
int lode_code_can_probe_aarch64(const unsigned char *bytes, size_t size)
{
	struct lode_code_run run = { .bytes = bytes };
	uint32_t word;

	if (size < 4)
		return 0;
	word = word_at(&run, 0);
	if (matches(word, 0xfffff01f, 0xd503201f))
		return !is_refused_hint(word);
	return !matches(word, 0xff000000, 0xd4000000) && /* svc, brk, hlt */
	       !matches(word, 0xfff00000, 0xd5100000) && /* msr */
	       !matches(word, 0xfff8f01f, 0xd500401f) && !matches(word, 0x3f800000, 0x08000000) && /* ldxr, stxr */
	       !matches(word, 0x3b000000, 0x18000000) && /* ldr of a literal */
	       !matches(word, 0xfe9ff800, 0xd61f0800) && /* braa, retaa */
	       !matches(word, 0xffff0000, 0x00000000);   /* udf */
}
