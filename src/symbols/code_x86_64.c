/*
 * The instructions of x86-64 that leave a function or call another. capstone finds
 * where one ends and the next begins; what the few that matter do is read from
 * their bytes.
 *
 * A probe in the middle of an instruction would destroy it. So a piece counts as
 * understood only if its instructions follow one another to its end, and no branch
 * leads into the middle of one; otherwise it is a single step that is not
 * understood.
 *
 * For indirect jumps see code_aarch64.c: here a frame is left by `pop`, `leave` and
 * `add` to the stack pointer, and a `notrack jmp` is always that of a `switch`.
 */
#include "symbols/capstone.h"
#include "symbols/code_steps.h"

#include <string.h>

/* As the kernel decides: it knows the prefixes that it cannot run elsewhere. */
int lode_code_can_probe_x86_64(const unsigned char *bytes, size_t size)
{
	if (!size)
		return 0;
	switch (bytes[0]) {
	case 0x26: /* prefixes: segments, lock */
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0xf0:
	case 0xcc: /* int3 */
	case 0xf4: /* hlt */
		return 0;
	default:
		return 1;
	}
}

const char lode_code_why_not_x86_64[] = "code of x86-64 is read with " LODE_CAPSTONE_LIBRARY
					", which cannot be loaded; install it";

struct disassembler {
	struct lode_capstone capstone;
	csh handle;
	cs_insn *instruction; /* capstone's, filled again and again */
	struct marks *marks;  /* of each byte of the run */
	size_t capacity;
};

struct marks {
	uint8_t start : 1;  /* an instruction begins here */
	uint8_t target : 1; /* a branch of the run leads here */
};

void lode_code_close_x86_64(void *opened)
{
	struct disassembler *disassembler = opened;

	if (!disassembler)
		return;
	if (disassembler->instruction)
		disassembler->capstone.free(disassembler->instruction, 1);
	if (disassembler->handle)
		disassembler->capstone.close(&disassembler->handle);
	lode_free(disassembler->marks);
	lode_free(disassembler);
}

void *lode_code_open_x86_64(void)
{
	struct disassembler *disassembler = lode_calloc(1, sizeof(*disassembler));

	if (!disassembler)
		return NULL;
	if (lode_capstone_load(&disassembler->capstone) == 0 &&
	    disassembler->capstone.open(CS_ARCH_X86, CS_MODE_64, &disassembler->handle) == CS_ERR_OK)
		disassembler->instruction = disassembler->capstone.malloc(disassembler->handle);
	if (disassembler->instruction)
		return disassembler;
	lode_code_close_x86_64(disassembler);
	return NULL;
}

/* What has been seen of the frame on the way through a run. */
struct frame {
	int made;     /* something was pushed, or room made, somewhere before */
	int left;     /* and taken back, since the last branch */
	int computed; /* the last instruction was a sum, or a load with an index */
};

/* An instruction without its prefixes. */
struct instruction {
	uint64_t at;
	uint64_t next;
	const unsigned char *bytes; /* the whole of it */
	size_t size;
	const unsigned char *opcode;
	size_t left; /* bytes from the opcode on */
	int notrack;
};

static int is_prefix(unsigned char byte)
{
	switch (byte) {
	case 0x2e: /* branch hints; notrack */
	case 0x3e:
	case 0x66: /* widths */
	case 0x67:
	case 0xf2: /* bnd, rep */
	case 0xf3:
		return 1;
	default:
		return (byte & 0xf0) == 0x40;
	}
}

static void skip_prefixes(struct instruction *instruction)
{
	const unsigned char *byte = instruction->bytes;
	const unsigned char *end = byte + instruction->size;

	instruction->notrack = 0;
	while (byte + 1 < end && is_prefix(*byte))
		instruction->notrack |= *byte++ == 0x3e;
	instruction->opcode = byte;
	instruction->left = (size_t)(end - byte);
}

/* Where a relative branch leads whose distance takes the last `width` bytes. */
static uint64_t target_of(const struct instruction *instruction, size_t width)
{
	const unsigned char *end = instruction->bytes + instruction->size;
	int32_t wide;

	if (width == 1)
		return instruction->next + (uint64_t)(int64_t)(int8_t)end[-1];
	memcpy(&wide, end - 4, sizeof(wide));
	return instruction->next + (uint64_t)(int64_t)wide;
}

static int has_modrm(const struct instruction *instruction, unsigned opcode, unsigned mask, unsigned value)
{
	return instruction->left >= 2 && instruction->opcode[0] == opcode &&
	       (instruction->opcode[1] & mask) == value;
}

/* Follows pushes and pops. */
static void watch_frame(const struct instruction *instruction, struct frame *frame)
{
	unsigned opcode = instruction->opcode[0];

	frame->computed = opcode == 0x01 || opcode == 0x03 || has_modrm(instruction, 0x8b, 0x07, 0x04);
	if ((opcode & 0xf8) == 0x50 || has_modrm(instruction, 0x83, 0xff, 0xec) ||
	    has_modrm(instruction, 0x81, 0xff, 0xec)) {
		frame->made = 1;
		frame->left = 0;
	} else if ((opcode & 0xf8) == 0x58 || opcode == 0xc9 || has_modrm(instruction, 0x83, 0xff, 0xc4) ||
		   has_modrm(instruction, 0x81, 0xff, 0xc4)) {
		frame->left = 1;
	}
}

static enum lode_step_kind jump_kind(const struct instruction *instruction, const struct frame *frame)
{
	int indexed = has_modrm(instruction, 0xff, 0x07, 0x04) && instruction->opcode[1] >> 6 != 3;

	if (instruction->notrack)
		return LODE_STEP_POINTER;
	if (frame->left || (!frame->made && !frame->computed && !indexed))
		return LODE_STEP_LEAVE;
	return LODE_STEP_POINTER;
}

/* call and jmp through a register or memory; other things with this opcode are none. */
static int handle_indirect(const struct instruction *instruction, const struct frame *frame,
			   struct lode_steps *steps)
{
	unsigned modrm = instruction->left >= 2 ? instruction->opcode[1] : 0;

	if (instruction->opcode[0] != 0xff)
		return 0;
	if (modrm == 0x15 && instruction->left >= 6)
		lode_steps_add(steps, LODE_STEP_SLOT, instruction->at, target_of(instruction, 4));
	else if (modrm == 0x25 && instruction->left >= 6)
		lode_steps_add(steps, LODE_STEP_LEAVE_SLOT, instruction->at, target_of(instruction, 4));
	else if ((modrm >> 3 & 7) == 2)
		lode_steps_add(steps, LODE_STEP_POINTER, instruction->at, 0);
	else if ((modrm >> 3 & 7) == 4)
		lode_steps_add(steps, jump_kind(instruction, frame), instruction->at, 0);
	else
		return 0;
	return 1;
}

/* Branches to a distance; `*width` is 0 for other instructions. */
static enum lode_step_kind relative_kind(const struct instruction *instruction, size_t *width)
{
	unsigned opcode = instruction->opcode[0];

	*width = 0;
	if ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0 || opcode == 0xeb)
		*width = 1;
	else if (instruction->left >= 5 && (opcode == 0xe8 || opcode == 0xe9))
		*width = 4;
	else if (instruction->left >= 6 && opcode == 0x0f && (instruction->opcode[1] & 0xf0) == 0x80)
		*width = 4;
	if (opcode == 0xe8)
		return LODE_STEP_CALL;
	return opcode == 0xe9 || opcode == 0xeb ? LODE_STEP_JUMP : LODE_STEP_BRANCH;
}

/* Returns whether it was a branch of any kind. */
static int handle_branch(struct disassembler *disassembler, const struct lode_code_run *run,
			 const struct instruction *instruction, const struct frame *frame, struct lode_steps *steps)
{
	unsigned opcode = instruction->opcode[0];
	enum lode_step_kind kind;
	uint64_t target;
	size_t width;

	if (opcode == 0xc3 || opcode == 0xc2) {
		lode_steps_add(steps, LODE_STEP_RETURN, instruction->at, 0);
		return 1;
	}
	kind = relative_kind(instruction, &width);
	if (!width)
		return handle_indirect(instruction, frame, steps);
	target = target_of(instruction, width);
	if (target - run->address < run->size)
		disassembler->marks[target - run->address].target = 1;
	if (kind == LODE_STEP_CALL || target < run->piece || target >= run->piece_end)
		lode_steps_add(steps, kind, instruction->at, target);
	return 1;
}

/* Returns 1 when all of the run was understood, 0 when not. */
static int walk(struct disassembler *disassembler, const struct lode_code_run *run, struct lode_steps *steps)
{
	const uint8_t *bytes = run->bytes;
	uint64_t address = run->address;
	struct frame frame = { 0, 0, 0 };
	size_t size = run->size;

	while (size && !steps->failed) {
		struct instruction instruction = { .at = address, .bytes = bytes };

		if (!disassembler->capstone.disassemble(disassembler->handle, &bytes, &size, &address,
							disassembler->instruction))
			return 0;
		instruction.next = address;
		instruction.size = (size_t)(bytes - instruction.bytes);
		disassembler->marks[instruction.at - run->address].start = 1;
		skip_prefixes(&instruction);
		if (handle_branch(disassembler, run, &instruction, &frame, steps))
			frame.left = 0;
		watch_frame(&instruction, &frame);
	}
	for (size_t i = 0; i < run->size; i++)
		if (disassembler->marks[i].target && !disassembler->marks[i].start)
			return 0;
	return 1;
}

void lode_code_decode_x86_64(void *opened, const struct lode_code_run *run, struct lode_steps *steps)
{
	struct disassembler *disassembler = opened;
	size_t before = steps->count;

	if (LODE_GROW(disassembler->marks, disassembler->capacity, run->size) < 0) {
		steps->failed = 1;
		return;
	}
	memset(disassembler->marks, 0, run->size * sizeof(*disassembler->marks));
	if (walk(disassembler, run, steps))
		return;
	steps->count = before;
	lode_steps_add(steps, LODE_STEP_UNKNOWN, run->address, 0);
}
