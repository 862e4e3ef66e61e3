/*
 * Walks of aarch64 stacks by hand-made rules and memory: functions without a rule, whose
 * callers are found by the link register or by frame records, and signal frames.
 */
#include "cmocka_all.h"

#include "process/unwinder.h"

#include <elf.h>
#include <string.h>

/* Code without rules, code with them, the function that signal handlers return through; the rest is no code. */
#define PLAIN     0x10000u
#define DESCRIBED 0x20000u
#define RETURNING 0x30000u
#define CODE_END  0x40000u

#define STACK      0x7f0000000000u
#define STACK_SIZE 4096u

struct machine {
	uint64_t words[STACK_SIZE / 8];
	struct lode_unwind_registers registers;
	struct lode_unwind_frame frames[16];
	struct lode_unwound unwound;
	int count;
};

static int read_word(void *context, uint64_t address, uint64_t *word)
{
	const struct machine *machine = context;

	if (address < STACK || address >= STACK + STACK_SIZE || address & 7)
		return 0;
	*word = machine->words[(address - STACK) / 8];
	return 1;
}

/* One rule each: 80 bytes of frame with the record in the middle; a signal frame at the stack pointer. */
#define RECORD 32

static const struct lode_unwind_rule rules[] = {
	{ 0 },
	{ .cfa = LODE_CFA_SP,
	  .cfa_offset = 80,
	  .return_at = LODE_PLACE_CFA,
	  .return_offset = -40,
	  .frame_at = LODE_PLACE_CFA,
	  .frame_offset = -48 },
	{ .cfa = LODE_CFA_SIGNAL_LINK, .cfa_offset = 32, .return_offset = 40, .frame_offset = 16 },
	{ .return_at = LODE_PLACE_NONE },
};
/* Handlers return to its first byte, and return addresses are looked up by the byte before them. */
static const uint32_t starts[] = { 0, RETURNING - DESCRIBED - 1, CODE_END - DESCRIBED - 16 };
static const uint16_t numbers[] = { 1, 2, 3 };
static const struct lode_unwind_table table = {
	.base = DESCRIBED,
	.starts = starts,
	.rules = numbers,
	.count = 3,
	.dictionary = rules,
	.rule_count = 4,
	.machine = EM_AARCH64,
};

/* The last function of all: it has no caller. */
#define ROOT (CODE_END - 8)

static int find_code(void *context, uint64_t address, const struct lode_unwind_table **found,
		     uint64_t *image_address)
{
	(void)context;
	*found = address >= DESCRIBED ? &table : NULL;
	*image_address = address;
	return address >= PLAIN && address < CODE_END;
}

static void put(struct machine *machine, uint64_t at, uint64_t word)
{
	machine->words[at / 8] = word;
}

/* A stack pointer in the middle; a described function is the caller at sp + `size`, and the root its caller. */
static void begin(struct machine *machine, uint64_t pc, uint64_t size)
{
	memset(machine, 0, sizeof(*machine));
	machine->registers = (struct lode_unwind_registers){ .pc = pc, .sp = STACK + 1024, .machine = EM_AARCH64 };
	put(machine, 1024 + size + RECORD, STACK + 3000);
	put(machine, 1024 + size + RECORD + 8, ROOT);
	machine->registers.fp = STACK + 1024 + size + RECORD;
	machine->registers.link = DESCRIBED + 100;
}

static void walk(struct machine *machine)
{
	struct lode_unwind_source source = { machine, read_word, find_code, NULL };

	machine->count = lode_unwind(&source, &machine->registers, machine->frames, 16, &machine->unwound);
}

static void check(const struct machine *machine, const uint64_t *addresses, int count)
{
	assert_int_equal(machine->unwound.end, LODE_UNWIND_WHOLE);
	assert_int_equal(machine->count, count);
	for (int i = 0; i < count; i++)
		assert_int_equal(machine->frames[i].address, addresses[i]);
}

static void a_function_without_rule_and_record_returns_to_the_link_register(void **state)
{
	static const uint64_t callers[] = { PLAIN + 40, DESCRIBED + 99, ROOT - 1 };
	struct machine machine;

	(void)state;
	begin(&machine, PLAIN + 40, 0);
	walk(&machine);
	check(&machine, callers, 3);
	assert_true(machine.unwound.guessed && machine.unwound.by_link);
	assert_int_equal(machine.frames[1].sp, STACK + 1024);
	/* The same when the frame pointer is no pointer: programs may use it for something else. */
	begin(&machine, PLAIN + 40, 0);
	machine.registers.fp = 12345;
	walk(&machine);
	check(&machine, callers, 3);
	/* A signature in the upper bits does not count. */
	begin(&machine, PLAIN + 40, 0);
	machine.registers.link |= 0x55ull << 48;
	walk(&machine);
	check(&machine, callers, 3);
}

static void a_record_of_its_own_is_followed(void **state)
{
	static const uint64_t callers[] = { PLAIN + 40, DESCRIBED + 99, ROOT - 1 };
	struct machine machine;

	(void)state;
	begin(&machine, PLAIN + 40, 32);
	put(&machine, 1024, STACK + 1024 + 32 + RECORD);
	put(&machine, 1024 + 8, DESCRIBED + 100);
	machine.registers.fp = STACK + 1024;
	walk(&machine);
	check(&machine, callers, 3);
	assert_true(machine.unwound.guessed && !machine.unwound.by_link);
	/* It does not give the stack pointer of its caller, but that has a record, too. */
	assert_int_equal(machine.frames[2].sp, STACK + 1024 + 32 + 80);
}

static void a_function_that_called_another_is_shown_twice_but_its_caller_is_right(void **state)
{
	static const uint64_t callers[] = { PLAIN + 40, PLAIN + 19, DESCRIBED + 99, ROOT - 1 };
	struct machine machine;

	(void)state;
	begin(&machine, PLAIN + 40, 32);
	put(&machine, 1024, STACK + 1024 + 32 + RECORD);
	put(&machine, 1024 + 8, DESCRIBED + 100);
	machine.registers.fp = STACK + 1024;
	machine.registers.link = PLAIN + 20;
	walk(&machine);
	check(&machine, callers, 4);
	assert_true(machine.unwound.by_link);
}

static void a_link_register_that_holds_something_else_does_not_count(void **state)
{
	static const uint64_t callers[] = { PLAIN + 40, DESCRIBED + 99, ROOT - 1 };
	struct machine machine;

	(void)state;
	begin(&machine, PLAIN + 40, 32);
	put(&machine, 1024, STACK + 1024 + 32 + RECORD);
	put(&machine, 1024 + 8, DESCRIBED + 100);
	machine.registers.fp = STACK + 1024;
	machine.registers.link = 42;
	walk(&machine);
	check(&machine, callers, 3);
	assert_true(!machine.unwound.by_link);
}

static void the_function_that_a_signal_handler_returns_through_keeps_its_address(void **state)
{
	static const uint64_t callers[] = { DESCRIBED + 200, RETURNING, PLAIN + 40, DESCRIBED + 99, ROOT - 1 };
	struct machine machine;
	uint64_t handler = STACK + 512;

	(void)state;
	begin(&machine, DESCRIBED + 200, 0);
	/* The handler's frame, behind it what the kernel saved: fp, link, sp, pc. */
	put(&machine, 512 + RECORD + 8, RETURNING);
	put(&machine, 512 + 80 + 16, machine.registers.fp);
	put(&machine, 512 + 80 + 24, machine.registers.link);
	put(&machine, 512 + 80 + 32, machine.registers.sp);
	put(&machine, 512 + 80 + 40, PLAIN + 40);
	machine.registers.sp = handler;
	machine.registers.link = 0;
	walk(&machine);
	check(&machine, callers, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_without_rule_and_record_returns_to_the_link_register),
		cmocka_unit_test(a_record_of_its_own_is_followed),
		cmocka_unit_test(a_function_that_called_another_is_shown_twice_but_its_caller_is_right),
		cmocka_unit_test(a_link_register_that_holds_something_else_does_not_count),
		cmocka_unit_test(the_function_that_a_signal_handler_returns_through_keeps_its_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
