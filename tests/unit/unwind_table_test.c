/*
 * Unwind tables and steps, against libdw: on every row of the binaries that this
 * program has mapped (or those named on the command line), the caller's registers that
 * the table and unwind_step.h compute from a made-up machine state are those that
 * libdw's rules give when their DWARF expressions are evaluated literally.
 */
#include "cmocka_all.h"
#include "temporary.h"

#include "base/error.h"
#include "symbols/unwind_table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a machine ---- */

#define REGISTERS 33

struct machine {
	uint64_t registers[REGISTERS];
};

/* What memory holds: values above every stack pointer, so that a CFA from memory is a possible one. */
static uint64_t memory_at(uint64_t address)
{
	uint64_t x = address * 0x9e3779b97f4a7c15u;

	return 0x7f0000000000u + ((x >> 20) & 0xfffffff8u);
}

static int read_memory(uint64_t address, uint64_t *word)
{
	*word = memory_at(address);
	return 1;
}

#define LODE_UNWIND_READ(context, address, word) ((void)(context), read_memory(address, &(word)))
#include "process/unwind_step.h"

/* ---- the oracle ---- */

struct numbers {
	int sp, fp, pc;
};

static struct numbers numbers_of(uint32_t machine)
{
	return machine == EM_AARCH64 ? (struct numbers){ 31, 29, 30 } : (struct numbers){ 7, 6, 16 };
}

/* Evaluates a DWARF expression; -1 at an operation that is not known. */
static int evaluate(const Dwarf_Op *operations, size_t count, const struct machine *machine, uint64_t cfa,
		    uint64_t *result)
{
	uint64_t stack[16] = { 0 };
	size_t depth = 0;

	for (size_t i = 0; i < count; i++) {
		const Dwarf_Op *operation = &operations[i];
		uint8_t atom = operation->atom;

		if (depth > 12)
			return -1;
		if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
			stack[depth++] = machine->registers[atom - DW_OP_breg0] + operation->number;
		} else if (atom == DW_OP_bregx) {
			if (operation->number >= REGISTERS)
				return -1;
			stack[depth++] = machine->registers[operation->number] + operation->number2;
		} else if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
			stack[depth++] = (uint64_t)(atom - DW_OP_lit0);
		} else if (atom == DW_OP_call_frame_cfa) {
			stack[depth++] = cfa;
		} else if (atom == DW_OP_plus_uconst && depth) {
			stack[depth - 1] += operation->number;
		} else if (atom == DW_OP_deref && depth) {
			stack[depth - 1] = memory_at(stack[depth - 1]);
		} else if (depth >= 2) {
			uint64_t a = stack[depth - 2], b = stack[depth - 1];

			depth--;
			switch (atom) {
			case DW_OP_plus:
				stack[depth - 1] = a + b;
				break;
			case DW_OP_and:
				stack[depth - 1] = a & b;
				break;
			case DW_OP_ge:
				stack[depth - 1] = (int64_t)a >= (int64_t)b;
				break;
			case DW_OP_shl:
				stack[depth - 1] = a << b;
				break;
			default:
				return -1;
			}
		} else {
			return -1;
		}
	}
	if (depth != 1)
		return -1;
	*result = stack[0];
	return 0;
}

enum truth { NOT_KNOWN, ROOT, CALLER };

/* The caller's value of a register: 1, 0 when it is undefined, -1 when it is not known how to find it. */
static int caller_register(Dwarf_Frame *frame, int number, const struct machine *machine, uint64_t cfa,
			   uint64_t *value)
{
	Dwarf_Op memory[3], *operations;
	size_t count;

	if (dwarf_frame_register(frame, number, memory, &operations, &count))
		return -1;
	if (!count && operations) /* undefined */
		return 0;
	if (!count) {
		*value = machine->registers[number];
		return 1;
	}
	if (operations[0].atom == DW_OP_regx && operations[0].number < REGISTERS) {
		*value = machine->registers[operations[0].number];
		return 1;
	}
	if (operations[count - 1].atom == DW_OP_stack_value || operations[0].atom == DW_OP_regx)
		return -1;
	if (evaluate(operations, count, machine, cfa, value) < 0)
		return -1;
	*value = memory_at(*value);
	return 1;
}

static enum truth true_caller(Dwarf_CFI *information, uint64_t address, uint32_t machine_number,
			      const struct machine *machine, struct machine *caller, bool *is_signal)
{
	struct numbers numbers = numbers_of(machine_number);
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *operations;
	size_t count;
	uint64_t cfa = 0, pc = 0, fp = 0;
	enum truth truth = NOT_KNOWN;
	int found;

	*is_signal = false;
	if (!information || dwarf_cfi_addrframe(information, address, &frame))
		return NOT_KNOWN;
	dwarf_frame_info(frame, NULL, NULL, is_signal);
	found = caller_register(frame, numbers.pc, machine, 0, &pc);
	if (found == 0)
		truth = ROOT;
	else if (!dwarf_frame_cfa(frame, &operations, &count) && !evaluate(operations, count, machine, 0, &cfa) &&
		 caller_register(frame, numbers.pc, machine, cfa, &pc) == 1) {
		found = caller_register(frame, numbers.fp, machine, cfa, &fp);
		if (found == 0)
			fp = machine->registers[numbers.fp];
		if (found >= 0)
			truth = CALLER;
	}
	caller->registers[numbers.sp] = cfa;
	caller->registers[numbers.fp] = fp;
	caller->registers[numbers.pc] = pc;
	free(frame);
	return truth;
}

/* ---- comparing ---- */

struct comparison {
	const struct lode_unwind_table *table;
	Dwarf_CFI *information;
	const char *path;
	uint64_t compared;
	uint64_t unknown; /* the table has no rule though libdw does */
	uint64_t wrong;
	uint64_t random;
};

static uint64_t draw(struct comparison *comparison)
{
	comparison->random = comparison->random * 6364136223846793005u + 1442695040888963407u;
	return comparison->random >> 33;
}

static void compare_at(struct comparison *comparison, uint64_t address)
{
	const struct lode_unwind_rule *rule = lode_unwind_table_find(comparison->table, address);
	uint32_t machine_number = comparison->table->machine;
	struct numbers numbers = numbers_of(machine_number);
	struct machine machine, caller = { { 0 } };
	struct lode_unwind_state state;
	enum lode_unwind_result result;
	enum truth truth;
	bool is_signal;

	for (int i = 0; i < REGISTERS; i++)
		machine.registers[i] = 0x7e8000000000u + (draw(comparison) & 0xfffff8);
	machine.registers[numbers.sp] = 0x7e0000000000u + (draw(comparison) & 0xfffff0);
	machine.registers[numbers.pc] = machine_number == EM_AARCH64 ? 0x555500000000u + draw(comparison) : address;
	truth = true_caller(comparison->information, address, machine_number, &machine, &caller, &is_signal);
	if (truth == NOT_KNOWN || (is_signal && machine_number == EM_AARCH64))
		return;
	/* Some assembly claims that its caller's stack is below its own; no walk can go there. */
	if (truth == CALLER && caller.registers[numbers.sp] < machine.registers[numbers.sp])
		return;
	comparison->compared++;
	if (truth == CALLER && rule->cfa == LODE_CFA_NONE) {
		comparison->unknown++;
		return;
	}
	state = (struct lode_unwind_state){
		.pc = address,
		.sp = machine.registers[numbers.sp],
		.fp = machine.registers[numbers.fp],
		.link = machine.registers[machine_number == EM_AARCH64 ? 30 : 5],
		.scratch = machine.registers[10],
		.has_link = 1,
		.is_first = 1,
		.is_exact = 1,
		.signed_returns = machine_number == EM_AARCH64,
	};
	result = lode_unwind_step(&state, rule, NULL);
	/* glibc's description of what linkage tables jump to leaves out what these pushed. */
	if (machine_number == EM_AARCH64 && truth == CALLER && rule->cfa == LODE_CFA_SP &&
	    caller.registers[numbers.pc] == memory_at(caller.registers[numbers.sp] + 8))
		caller.registers[numbers.sp] += 16;
	if (truth == ROOT
		    ? result == LODE_UNWIND_ROOT
		    : result == LODE_UNWIND_CALLER && state.sp == caller.registers[numbers.sp] &&
			      state.fp == caller.registers[numbers.fp] && state.pc == caller.registers[numbers.pc])
		return;
	if (!comparison->wrong++)
		print_message("%s: at 0x%llx: result %d (%d), cfa %d%+d\n", comparison->path,
			      (unsigned long long)address, (int)result, (int)truth, rule->cfa, rule->cfa_offset);
}

/* At both ends of each row, or of `most` of them, and in between. */
static void compare_rows(struct comparison *comparison, size_t most)
{
	const struct lode_unwind_table *table = comparison->table;
	size_t step = table->count > most ? table->count / most : 1;

	for (size_t i = 0; i + 1 < table->count; i += step) {
		uint32_t size = table->starts[i + 1] - table->starts[i];
		uint64_t start = table->base + table->starts[i];

		assert_true(table->starts[i] < table->starts[i + 1]);
		compare_at(comparison, start);
		compare_at(comparison, start + size - 1);
		compare_at(comparison, start + draw(comparison) % size);
	}
}

static uint64_t compare_file(const char *path, size_t most, uint64_t *unknown)
{
	struct lode_unwind_table table;
	struct comparison comparison = { .table = &table, .path = path, .random = 1 };
	struct lode_elf elf;

	assert_int_equal(lode_elf_open(&elf, path), 0);
	assert_int_equal(lode_unwind_table_make(&table, &elf, NULL), 0);
	comparison.information = dwarf_getcfi_elf(elf.elf);
	compare_rows(&comparison, most);
	if (getenv("LODE_TEST_VERBOSE"))
		print_message("%s: %zu rows, %zu rules, %llu compared, %llu unknown, %llu wrong\n", path,
			      table.count, table.rule_count, (unsigned long long)comparison.compared,
			      (unsigned long long)comparison.unknown, (unsigned long long)comparison.wrong);
	assert_int_equal(comparison.wrong, 0);
	*unknown += comparison.unknown;
	if (comparison.information)
		dwarf_cfi_end(comparison.information);
	lode_unwind_table_release(&table);
	lode_elf_close(&elf);
	return comparison.compared;
}

static char **named;

struct sums {
	uint64_t compared, unknown;
};

/* A binary that this program has mapped; its own has no name. */
static int compare_mapped(struct dl_phdr_info *binary, size_t size, void *context)
{
	const char *path = binary->dlpi_name[0] ? binary->dlpi_name : "/proc/self/exe";
	struct sums *sums = context;

	(void)size;
	if (path[0] == '/')
		sums->compared += compare_file(path, 20000, &sums->unknown);
	return 0;
}

static void every_row_of_real_binaries_gives_the_caller_that_libdw_gives(void **state)
{
	struct sums sums = { 0 };

	(void)state;
	for (char **name = named; *name; name++)
		sums.compared += compare_file(*name, SIZE_MAX, &sums.unknown);
	if (!*named)
		dl_iterate_phdr(compare_mapped, &sums);
	assert_true(sums.compared > 10000);
	assert_true(sums.unknown * 1000 < sums.compared);
}

/* ---- the cache ---- */

static void assert_same(const struct lode_unwind_table *a, const struct lode_unwind_table *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->rule_count, b->rule_count);
	assert_int_equal(a->load_count, b->load_count);
	assert_int_equal(a->base, b->base);
	assert_int_equal(a->machine, b->machine);
	assert_memory_equal(a->starts, b->starts, a->count * sizeof(*a->starts));
	assert_memory_equal(a->rules, b->rules, a->count * sizeof(*a->rules));
	assert_memory_equal(a->dictionary, b->dictionary, a->rule_count * sizeof(*a->dictionary));
	assert_memory_equal(a->loads, b->loads, a->load_count * sizeof(*a->loads));
}

static void a_table_comes_back_from_the_cache_as_it_was(void **state)
{
	char folder[64], file[160], command[200];
	struct lode_unwind_table first, again, none;
	FILE *damaged;

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	assert_int_equal(lode_unwind_table_open(&first, "/proc/self/exe", NULL, "0123abcd", folder), 0);
	assert_true(first.count > 100);
	assert_non_null(first.owned);
	/* The file itself is not needed any more. */
	assert_int_equal(lode_unwind_table_open(&again, "/nowhere", NULL, "0123abcd", folder), 0);
	assert_non_null(again.map.bytes);
	assert_same(&first, &again);
	lode_unwind_table_release(&again);
	assert_int_equal(lode_unwind_table_open(&none, "/nowhere", NULL, "0123abce", folder), 0);
	assert_int_equal(none.count, 0);
	lode_unwind_table_release(&none);
	/* A damaged cache file is rebuilt. */
	snprintf(command, sizeof(command), "ls %s", folder);
	damaged = popen(command, "r");
	assert_non_null(damaged);
	snprintf(file, sizeof(file), "%s/", folder);
	assert_non_null(fgets(file + strlen(file), 90, damaged));
	pclose(damaged);
	file[strcspn(file, "\n")] = '\0';
	damaged = fopen(file, "r+");
	assert_non_null(damaged);
	assert_int_equal(fseek(damaged, 200, SEEK_SET), 0);
	assert_true(fputc(0x55, damaged) != EOF && fputc(0xaa, damaged) != EOF);
	fclose(damaged);
	assert_int_equal(lode_unwind_table_open(&again, "/proc/self/exe", NULL, "0123abcd", folder), 0);
	assert_same(&first, &again);
	lode_unwind_table_release(&again);
	lode_unwind_table_release(&first);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void the_vdso_has_a_table_where_it_has_call_frame_information(void **state)
{
	struct lode_unwind_table table;

	(void)state;
	assert_int_equal(lode_unwind_table_vdso(&table, ""), 0);
#if defined(__aarch64__)
	int signals = 0;

	for (size_t i = 0; i < table.rule_count; i++)
		signals += table.dictionary[i].cfa == LODE_CFA_SIGNAL_LINK;
	assert_int_equal(signals, 1);
#endif
	lode_unwind_table_release(&table);
	assert_int_equal(lode_unwind_table_vdso(&table, "00"), 0);
	assert_int_equal(table.count, 0);
	lode_unwind_table_release(&table);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_of_real_binaries_gives_the_caller_that_libdw_gives),
		cmocka_unit_test(a_table_comes_back_from_the_cache_as_it_was),
		cmocka_unit_test(the_vdso_has_a_table_where_it_has_call_frame_information),
	};

	named = argv + (argc > 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
