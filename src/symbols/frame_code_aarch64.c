/*
 * Frames by code: see frame_code_aarch64.h.
 *
 * The kernel drops the call frame information of its vDSO. Its functions are small and
 * compiler-generated: what they do to the stack pointer and where they save the frame
 * record (x29, x30) follows from a few instructions. The code is read once, from its
 * beginning to its end. Where a branch leads forward, the frame at its target is that at
 * the branch; behind a return or a jump, where no branch led to, it is the largest so far.
 */
#include "symbols/frame_code_aarch64.h"

#include <string.h>

#define INSTRUCTIONS_LIMIT 2048
#define FRAME_LIMIT        (1 << 20) /* no function has so large a frame */

/* Bytes between stack pointer and CFA; how far below the CFA the frame record is, 0 when it is not saved. */
struct frame {
	int64_t size;
	int64_t record;
};

struct reading {
	struct frame frames[INSTRUCTIONS_LIMIT]; /* at branch targets */
	unsigned char known[INSTRUCTIONS_LIMIT];
	struct frame largest;
};

static int64_t signed_field(uint32_t instruction, unsigned low, unsigned bits)
{
	return (int64_t)((uint64_t)instruction << (64 - low - bits)) >> (64 - bits);
}

#define RT(instruction)  ((instruction)&31)
#define RN(instruction)  ((instruction) >> 5 & 31)
#define RT2(instruction) ((instruction) >> 10 & 31)
#define SP               31

static int is_record(uint32_t instruction)
{
	return RT(instruction) == 29 && RT2(instruction) == 30;
}

/* stp and ldp of two 64-bit registers, of any kind of address. */
static void read_pair(uint32_t instruction, struct frame *frame)
{
	int64_t offset = signed_field(instruction, 15, 7) * 8;

	if (RN(instruction) != SP)
		return;
	switch (instruction & 0xffc00000) {
	case 0xa9800000: /* stp, the stack pointer changes first */
		frame->size -= offset;
		if (is_record(instruction))
			frame->record = frame->size;
		break;
	case 0xa9000000: /* stp */
		if (is_record(instruction))
			frame->record = frame->size - offset;
		break;
	case 0xa8c00000: /* ldp, the stack pointer changes then */
		frame->size -= offset;
		if (is_record(instruction))
			frame->record = 0;
		break;
	case 0xa9400000: /* ldp */
		if (is_record(instruction))
			frame->record = 0;
		break;
	}
}

static void read_instruction(uint32_t instruction, struct frame *frame)
{
	uint32_t immediate = (instruction >> 10 & 0xfff) << (instruction & 1u << 22 ? 12 : 0);

	if ((instruction & 0xff8003ff) == 0xd10003ff) /* sub sp, sp, #N */
		frame->size += immediate;
	else if ((instruction & 0xff8003ff) == 0x910003ff) /* add sp, sp, #N */
		frame->size -= immediate;
	else if (instruction == 0x910003bf && frame->record) /* mov sp, x29 */
		frame->size = frame->record;
	else if (((instruction & 0xffe00c00) == 0xf8000c00 || (instruction & 0xffe00c00) == 0xf8400400) &&
		 RN(instruction) == SP) /* str x, [sp, #-N]!; ldr x, [sp], #N */
		frame->size -= signed_field(instruction, 12, 9);
	else
		read_pair(instruction, frame);
}

/* How many instructions further a branch leads; 0 when it is none. */
static int64_t branch_distance(uint32_t instruction)
{
	if ((instruction & 0xfc000000) == 0x14000000) /* b */
		return signed_field(instruction, 0, 26);
	if ((instruction & 0xff000010) == 0x54000000 || (instruction & 0x7e000000) == 0x34000000) /* b.cond, cbz */
		return signed_field(instruction, 5, 19);
	if ((instruction & 0x7e000000) == 0x36000000) /* tbz */
		return signed_field(instruction, 5, 14);
	return 0;
}

/* Code behind it is reached from elsewhere. */
static int leaves(uint32_t instruction)
{
	return (instruction & 0xfc000000) == 0x14000000 || (instruction & 0xfffff81f) == 0xd65f0000 || /* b, ret */
	       (instruction & 0xfffffbff) == 0xd65f0bff || /* retaa, retab */
	       (instruction & 0xfffffc1f) == 0xd61f0000;   /* br */
}

static struct lode_unwind_rule rule_of(const struct frame *frame)
{
	struct lode_unwind_rule rule = { .cfa = LODE_CFA_SP }, none = { 0 };

	if (frame->size < 0 || frame->size > FRAME_LIMIT || frame->record < 0 || frame->record > FRAME_LIMIT)
		return none;
	rule.cfa_offset = (int32_t)frame->size;
	if (frame->record) {
		rule.return_at = rule.frame_at = LODE_PLACE_CFA;
		rule.frame_offset = -(int32_t)frame->record;
		rule.return_offset = 8 - (int32_t)frame->record;
	}
	return rule;
}

static struct frame frame_behind(const struct reading *reading, size_t place, const struct frame *frame, int left)
{
	if (!left)
		return *frame;
	return reading->known[place] ? reading->frames[place] : reading->largest;
}

int lode_frame_code_aarch64(const void *code, size_t size, uint64_t start,
			    int (*take)(void *context, uint64_t start, const struct lode_unwind_rule *rule),
			    void *context)
{
	struct reading reading = { 0 };
	struct frame frame = { 0 };
	struct lode_unwind_rule rule, before = { 0 };
	size_t count = size / 4;
	int left = 0, result = 0;

	if (count > INSTRUCTIONS_LIMIT)
		return 0;
	for (size_t i = 0; !result && i < count; i++) {
		const unsigned char *bytes = (const unsigned char *)code + 4 * i;
		uint32_t instruction = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
				       (uint32_t)bytes[3] << 24;
		int64_t distance = branch_distance(instruction);

		frame = frame_behind(&reading, i, &frame, left);
		rule = rule_of(&frame);
		if (!i || memcmp(&rule, &before, sizeof(rule)) != 0)
			result = take(context, start + 4 * i, &rule);
		before = rule;
		if (distance > 0 && (uint64_t)distance < count - i) {
			reading.frames[i + (size_t)distance] = frame;
			reading.known[i + (size_t)distance] = 1;
		}
		read_instruction(instruction, &frame);
		if (frame.size > reading.largest.size)
			reading.largest = frame;
		if (frame.size == reading.largest.size && frame.record)
			reading.largest = frame;
		left = leaves(instruction);
	}
	return result;
}
