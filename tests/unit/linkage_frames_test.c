/*
 * Unwinding from procedure linkage tables, in small files made here, so that those of
 * all machines and linkers are tried on every machine.
 */
#include "cmocka_all.h"
#include "small_elf.h"

#include "symbols/cfi_program.h"
#include "symbols/linkage_frames.h"

#include <string.h>

#define ADDRESS 0x1000

/* ---- what it comes to ---- */

#define ROWS 16

struct rows {
	int machine;
	uint64_t starts[ROWS];
	struct lode_unwind_rule rules[ROWS];
	size_t count;
};

static int take_row(void *context, uint64_t start, const struct lode_unwind_rule *rule)
{
	struct rows *rows = context;

	assert_true(rows->count < ROWS);
	rows->starts[rows->count] = start;
	rows->rules[rows->count++] = *rule;
	return 0;
}

static int take_function(void *context, const struct lode_cfi_function *function)
{
	struct rows *rows = context;

	return lode_cfi_run(function, rows->machine, 1, take_row, rows);
}

/* The rows of a file with one section of code. */
static void read_rows(struct rows *rows, uint16_t machine, const char *name, const void *code, size_t size)
{
	struct small_elf file = make_small_elf(machine, name, ADDRESS, code, size);
	struct lode_elf elf;

	memset(rows, 0, sizeof(*rows));
	assert_int_equal(lode_elf_memory(&elf, file.bytes, file.size), 0);
	rows->machine = elf.header.e_machine;
	assert_int_equal(lode_linkage_frames_walk(&elf, take_function, rows), 0);
	lode_elf_close(&elf);
	free(file.bytes);
}

/* The rule at a byte of the section. */
static struct lode_unwind_rule rule_at(const struct rows *rows, uint64_t offset)
{
	struct lode_unwind_rule rule = { 0 };

	for (size_t i = 0; i < rows->count && rows->starts[i] <= ADDRESS + offset; i++)
		rule = rows->rules[i];
	return rule;
}

/* The return address is on the stack below the CFA, which is so far above the stack pointer. */
static void check_pushed(const struct rows *rows, uint64_t offset, int distance)
{
	struct lode_unwind_rule rule = rule_at(rows, offset);

	assert_int_equal(rule.cfa, LODE_CFA_SP);
	assert_int_equal(rule.cfa_offset, distance);
	assert_int_equal(rule.return_at, LODE_PLACE_CFA);
	assert_int_equal(rule.return_offset, -8);
	assert_int_equal(rule.frame_at, LODE_PLACE_KEPT);
}

static void check_link(const struct rows *rows, uint64_t offset)
{
	struct lode_unwind_rule rule = rule_at(rows, offset);

	assert_int_equal(rule.cfa, LODE_CFA_SP);
	assert_int_equal(rule.cfa_offset, 0);
	assert_int_equal(rule.return_at, LODE_PLACE_KEPT);
	assert_int_equal(rule.frame_at, LODE_PLACE_KEPT);
}

/* ---- x86-64 ---- */

/* Entries of 16 bytes that begin with these. */
static void make_x86_64(struct rows *rows, const char *name, const char *const *starts, size_t count)
{
	unsigned char code[256];

	assert_true(count * 16 <= sizeof(code));
	memset(code, 0x90, sizeof(code));
	for (size_t i = 0; i < count; i++)
		memcpy(code + i * 16, starts[i], strlen(starts[i]));
	read_rows(rows, EM_X86_64, name, code, count * 16);
}

#define HEAD    "\xff\x35\x02\x30\x01\x01"
#define JUMP    "\xff\x25\x02\x30\x01\x01"
#define PUSH    "\x68\x01\x01\x01\x01"
#define ENDBR64 "\xf3\x0f\x1e\xfa"

static void check_entry(const struct rows *rows, uint64_t offset, int pushed_from)
{
	struct lode_unwind_rule rule = rule_at(rows, offset);

	assert_int_equal(rule.cfa, LODE_CFA_PLT);
	assert_int_equal(rule.cfa_offset, 8);
	assert_int_equal(rule.cfa_add, pushed_from);
	assert_int_equal(rule.return_at, LODE_PLACE_CFA);
	assert_int_equal(rule.return_offset, -8);
}

static void entries_of_x86_64_push_a_number_on_their_way_to_the_dynamic_linker(void **state)
{
	static const char *const lazy[] = { HEAD, JUMP, JUMP };
	static const char *const tracked[] = { HEAD, ENDBR64 PUSH, ENDBR64 PUSH };
	static const char *const bound[] = { HEAD, PUSH, PUSH };
	struct rows rows;

	(void)state;
	make_x86_64(&rows, ".plt", lazy, 3);
	check_pushed(&rows, 0, 16);
	check_pushed(&rows, 5, 16);
	check_pushed(&rows, 6, 24);
	check_pushed(&rows, 15, 24);
	check_entry(&rows, 16, 11);
	check_entry(&rows, 47, 11);
	make_x86_64(&rows, ".plt", tracked, 3);
	check_pushed(&rows, 6, 24);
	check_entry(&rows, 16, 9);
	make_x86_64(&rows, ".plt", bound, 3);
	check_entry(&rows, 32, 5);
}

static void entries_of_x86_64_that_only_jump_push_nothing(void **state)
{
	static const char *const second[] = { ENDBR64 JUMP, ENDBR64 JUMP };
	static const char *const bound[] = { ENDBR64 "\xf2" JUMP };
	struct rows rows;

	(void)state;
	make_x86_64(&rows, ".plt.sec", second, 2);
	check_pushed(&rows, 0, 8);
	check_pushed(&rows, 31, 8);
	make_x86_64(&rows, ".plt.sec", bound, 1);
	check_pushed(&rows, 15, 8);
}

static void code_that_is_not_known_has_no_rule(void **state)
{
	static const char *const strange[] = { HEAD, "\xe8\x01\x01\x01\x01" };
	struct rows rows;

	(void)state;
	make_x86_64(&rows, ".plt", strange, 2);
	assert_int_equal(rows.count, 0);
	make_x86_64(&rows, ".text", strange, 2);
	assert_int_equal(rows.count, 0);
	read_rows(&rows, EM_X86_64, ".plt", "\xff", 1);
	assert_int_equal(rows.count, 0);
	read_rows(&rows, EM_386, ".plt", JUMP, 6);
	assert_int_equal(rows.count, 0);
}

/* ---- aarch64 ---- */

#define BTI    0xd503245fu
#define PUSHES 0xa9bf7bf0u /* stp x16, x30, [sp, #-16]! */
#define ADRP   0xb00000f0u
#define NOP    0xd503201fu

static void make_aarch64(struct rows *rows, const uint32_t *code, size_t count)
{
	read_rows(rows, EM_AARCH64, ".plt", code, count * sizeof(*code));
}

static void entries_of_aarch64_leave_the_link_register_alone(void **state)
{
	static const uint32_t lazy[12] = { PUSHES, ADRP, NOP, NOP, NOP, NOP, NOP, NOP, ADRP, NOP, NOP, NOP };
	static const uint32_t tracked[14] = { BTI, PUSHES, ADRP, NOP, NOP, NOP, NOP, NOP, BTI, ADRP };
	static const uint32_t chosen[8] = { ADRP, NOP, NOP, NOP, ADRP, NOP, NOP, NOP };
	struct rows rows;

	(void)state;
	make_aarch64(&rows, lazy, 12);
	check_link(&rows, 0);
	check_pushed(&rows, 4, 16);
	check_pushed(&rows, 31, 16);
	check_link(&rows, 32);
	check_link(&rows, 47);
	make_aarch64(&rows, tracked, 14);
	check_link(&rows, 4);
	check_pushed(&rows, 8, 16);
	check_pushed(&rows, 31, 16);
	check_link(&rows, 32);
	/* A program without a dynamic linker: functions that are chosen at the start, and no head. */
	make_aarch64(&rows, chosen, 8);
	check_link(&rows, 0);
	check_link(&rows, 4);
	check_link(&rows, 31);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_of_x86_64_push_a_number_on_their_way_to_the_dynamic_linker),
		cmocka_unit_test(entries_of_x86_64_that_only_jump_push_nothing),
		cmocka_unit_test(code_that_is_not_known_has_no_rule),
		cmocka_unit_test(entries_of_aarch64_leave_the_link_register_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
