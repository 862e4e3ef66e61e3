/* Unwind rules from the code of aarch64 functions: a few functions, written down by hand, on every machine. */
#include "cmocka_all.h"

#include "symbols/frame_code_aarch64.h"

#include <string.h>

#define START   0x3a0
#define PACIASP 0xd503233fu
#define AUTIASP 0xd50323bfu
#define NOP     0xd503201fu
#define RET     0xd65f03c0u
#define RETAA   0xd65f0bffu
#define PUSH_16 0xa9bf7bfdu /* stp x29, x30, [sp, #-16]! */
#define POP_16  0xa8c17bfdu /* ldp x29, x30, [sp], #16 */
#define SUB_64  0xd10103ffu /* sub sp, sp, #64 */
#define ADD_64  0x910103ffu /* add sp, sp, #64 */
#define SAVE_48 0xa9037bfdu /* stp x29, x30, [sp, #48] */
#define LOAD_48 0xa9437bfdu /* ldp x29, x30, [sp, #48] */
#define STR_32  0xf81e0ff3u /* str x19, [sp, #-32]! */
#define LDR_32  0xf84207f3u /* ldr x19, [sp], #32 */
#define MOV_FP  0x910003fdu /* mov x29, sp */
#define MOV_SP  0x910003bfu /* mov sp, x29 */

#define CBZ(instructions)  (0xb4000000u | (uint32_t)(instructions) << 5)
#define JUMP(instructions) (0x14000000u | ((uint32_t)(instructions)&0x3ffffff))

struct rows {
	struct lode_unwind_rule rules[64]; /* of each instruction */
	size_t count;
};

static int take(void *context, uint64_t start, const struct lode_unwind_rule *rule)
{
	struct rows *rows = context;

	assert_int_equal((start - START) % 4, 0);
	for (size_t i = (start - START) / 4; i < 64; i++)
		rows->rules[i] = *rule;
	rows->count++;
	return 0;
}

static void read_code(struct rows *rows, const uint32_t *code, size_t count)
{
	unsigned char bytes[256];

	memset(rows, 0, sizeof(*rows));
	for (size_t i = 0; i < count; i++)
		for (int j = 0; j < 4; j++)
			bytes[4 * i + (size_t)j] = (unsigned char)(code[i] >> 8 * j);
	assert_int_equal(lode_frame_code_aarch64(bytes, count * 4, START, take, rows), 0);
}

/* `record`: bytes from the frame record up to the CFA, 0 when it is not saved. */
static void check(const struct rows *rows, size_t instruction, int size, int record)
{
	const struct lode_unwind_rule *rule = &rows->rules[instruction];

	assert_int_equal(rule->cfa, LODE_CFA_SP);
	assert_int_equal(rule->cfa_offset, size);
	assert_int_equal(rule->return_at, record ? LODE_PLACE_CFA : LODE_PLACE_KEPT);
	assert_int_equal(rule->frame_at, record ? LODE_PLACE_CFA : LODE_PLACE_KEPT);
	assert_int_equal(rule->frame_offset, -record);
	assert_int_equal(rule->return_offset, record ? 8 - record : 0);
}

static void a_frame_is_there_from_its_first_to_its_last_instruction(void **state)
{
	static const uint32_t code[] = { PACIASP, PUSH_16, MOV_FP, NOP, POP_16, AUTIASP, RET, NOP, POP_16, RETAA };
	struct rows rows;

	(void)state;
	read_code(&rows, code, 10);
	check(&rows, 1, 0, 0);
	check(&rows, 2, 16, 16);
	check(&rows, 4, 16, 16);
	check(&rows, 5, 0, 0);
	check(&rows, 6, 0, 0);
	check(&rows, 7, 16, 16); /* the rest of the function has its frame */
	check(&rows, 9, 0, 0);
	assert_int_equal(rows.count, 5);
}

static void all_ways_to_make_room_are_known(void **state)
{
	static const uint32_t code[] = { STR_32, SUB_64, SAVE_48, LOAD_48, ADD_64, LDR_32, RET };
	static const uint32_t moved[] = { PUSH_16, MOV_FP, SUB_64, MOV_SP, POP_16, RET };
	struct rows rows;

	(void)state;
	read_code(&rows, code, 7);
	check(&rows, 0, 0, 0);
	check(&rows, 1, 32, 0);
	check(&rows, 2, 96, 0);
	check(&rows, 3, 96, 48);
	check(&rows, 4, 96, 0);
	check(&rows, 5, 32, 0);
	check(&rows, 6, 0, 0);
	read_code(&rows, moved, 6);
	check(&rows, 3, 80, 16);
	check(&rows, 4, 16, 16);
	check(&rows, 5, 0, 0);
}

static void a_branch_takes_its_frame_along(void **state)
{
	/* Without a frame it goes to what is behind the return, and jumps back. */
	static const uint32_t code[] = { CBZ(5), PUSH_16, NOP, POP_16, RET, NOP, JUMP(-6), NOP };
	struct rows rows;

	(void)state;
	read_code(&rows, code, 8);
	check(&rows, 2, 16, 16);
	check(&rows, 4, 0, 0);
	check(&rows, 5, 0, 0);
	check(&rows, 6, 0, 0);
	check(&rows, 7, 16, 16);
}

static void code_that_is_cut_or_long_does_no_harm(void **state)
{
	static unsigned char bytes[16384];
	struct rows rows = { 0 };

	(void)state;
	assert_int_equal(lode_frame_code_aarch64(bytes, 3, START, take, &rows), 0);
	assert_int_equal(lode_frame_code_aarch64(bytes, sizeof(bytes), START, take, &rows), 0);
	assert_int_equal(rows.count, 0);
	memset(bytes, 0x14, sizeof(bytes)); /* jumps, far away */
	assert_int_equal(lode_frame_code_aarch64(bytes, 256, START, take, &rows), 0);
	assert_int_equal(rows.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_there_from_its_first_to_its_last_instruction),
		cmocka_unit_test(all_ways_to_make_room_are_known),
		cmocka_unit_test(a_branch_takes_its_frame_along),
		cmocka_unit_test(code_that_is_cut_or_long_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
