/*
 * Unwind rules: see unwind_rules.h.
 *
 * libdw finds the entry for an address and runs its program; that takes some
 * microseconds, so what came out is kept by address. Addresses are those that
 * were really met, so the table stays as small as the code that ran.
 */
#include "symbols/unwind_rules.h"

#include "base/error.h"
#include "base/index.h"
#include "symbols/elf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

/* The numbers of registers in call frame information. */
#if defined(__aarch64__)
#define MACHINE       EM_AARCH64
#define REGISTER_SP   31
#define REGISTER_FP   29
#define REGISTER_PC   30 /* where the return address is at first */
#define HAS_LINK      1
#elif defined(__x86_64__)
#define MACHINE       EM_X86_64
#define REGISTER_SP   7
#define REGISTER_FP   6
#define REGISTER_PC   16
#define HAS_LINK      0
#else
#define MACHINE       EM_NONE
#define REGISTER_SP   0
#define REGISTER_FP   0
#define REGISTER_PC   0
#define HAS_LINK      0
#endif

/* A rule that was asked for; `known` 0: there is none. */
struct answer {
	uint64_t offset;
	int known;
	struct lode_unwind_rule rule;
};

struct lode_unwind_rules {
	struct lode_elf elf;
	Dwarf_CFI *exceptions; /* .eh_frame; libdw keeps it with the ELF file */
	Dwarf *dwarf;
	Dwarf_CFI *debugging; /* .debug_frame */
	struct answer *answers;
	size_t count;
	size_t capacity;
	struct lode_index index;
};

struct lode_unwind_rules *lode_unwind_rules_open(const char *path)
{
	struct lode_unwind_rules *rules = lode_calloc(1, sizeof(*rules));

	if (!rules)
		return NULL;
	if (lode_elf_open(&rules->elf, path) < 0) {
		lode_free(rules);
		return NULL;
	}
	if (rules->elf.header.e_machine != MACHINE) {
		lode_elf_close(&rules->elf);
		lode_free(rules);
		return NULL;
	}
	rules->exceptions = dwarf_getcfi_elf(rules->elf.elf);
	rules->dwarf = dwarf_begin_elf(rules->elf.elf, DWARF_C_READ, NULL);
	rules->debugging = rules->dwarf ? dwarf_getcfi(rules->dwarf) : NULL;
	return rules;
}

void lode_unwind_rules_close(struct lode_unwind_rules *rules)
{
	if (!rules)
		return;
	if (rules->exceptions)
		dwarf_cfi_end(rules->exceptions);
	if (rules->dwarf)
		dwarf_end(rules->dwarf);
	lode_elf_close(&rules->elf);
	lode_free(rules->answers);
	lode_index_release(&rules->index);
	lode_free(rules);
}

/* The address that an offset in the file is loaded at; 0 when it is not code. */
static uint64_t address_of(const struct lode_unwind_rules *rules, uint64_t offset)
{
	size_t count = 0;

	if (elf_getphdrnum(rules->elf.elf, &count) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(rules->elf.elf, (int)i, &header) && header.p_type == PT_LOAD &&
		    header.p_flags & PF_X && offset >= header.p_offset &&
		    offset - header.p_offset < header.p_filesz)
			return offset - header.p_offset + header.p_vaddr;
	}
	return 0;
}

/* ---- rules ---- */

static int read_cfa(Dwarf_Frame *frame, struct lode_unwind_rule *rule)
{
	Dwarf_Op *operations;
	size_t count;
	Dwarf_Word number;

	if (dwarf_frame_cfa(frame, &operations, &count) || count != 1)
		return 0;
	if (operations[0].atom == DW_OP_bregx) {
		number = operations[0].number;
		rule->cfa_offset = (int64_t)operations[0].number2;
	} else if (operations[0].atom >= DW_OP_breg0 && operations[0].atom <= DW_OP_breg31) {
		number = operations[0].atom - DW_OP_breg0;
		rule->cfa_offset = (int64_t)operations[0].number;
	} else {
		return 0;
	}
	rule->from_frame_pointer = number == REGISTER_FP;
	return number == REGISTER_FP || number == REGISTER_SP;
}

enum where { SAME, SAVED, UNDEFINED, ELSEWHERE };

/* Where the caller's value of a register is; `offset` from the CFA when it is saved. */
static enum where find_register(Dwarf_Frame *frame, int number, int64_t *offset)
{
	Dwarf_Op memory[3], *operations;
	size_t count;

	if (dwarf_frame_register(frame, number, memory, &operations, &count))
		return ELSEWHERE;
	if (!count)
		return operations ? UNDEFINED : SAME;
	if (operations[0].atom != DW_OP_call_frame_cfa)
		return ELSEWHERE;
	*offset = 0;
	if (count == 1)
		return SAVED;
	if (count != 2 || operations[1].atom != DW_OP_plus_uconst)
		return ELSEWHERE;
	*offset = (int64_t)operations[1].number;
	return SAVED;
}

static int read_return(Dwarf_Frame *frame, struct lode_unwind_rule *rule)
{
	switch (find_register(frame, REGISTER_PC, &rule->return_offset)) {
	case SAVED:
		rule->return_kind = LODE_RETURN_SAVED;
		return 1;
	case SAME:
		rule->return_kind = LODE_RETURN_IN_LINK;
		return HAS_LINK;
	case UNDEFINED:
		rule->return_kind = LODE_RETURN_NONE;
		return 1;
	default:
		return 0;
	}
}

static int read_frame(Dwarf_Frame *frame, struct lode_unwind_rule *rule)
{
	bool is_signal = false;
	enum where saved;

	if (dwarf_frame_info(frame, NULL, NULL, &is_signal) < 0)
		return 0;
	rule->is_signal = is_signal;
	if (!read_return(frame, rule))
		return 0;
	if (rule->return_kind == LODE_RETURN_NONE)
		return 1;
	saved = find_register(frame, REGISTER_FP, &rule->frame_offset);
	rule->frame_saved = saved == SAVED;
	return saved != ELSEWHERE && read_cfa(frame, rule);
}

static int ask(Dwarf_CFI *information, uint64_t address, struct lode_unwind_rule *rule)
{
	Dwarf_Frame *frame = NULL;
	int known;

	if (!information || dwarf_cfi_addrframe(information, address, &frame))
		return 0;
	known = read_frame(frame, rule);
	free(frame); /* from libdw */
	return known;
}

static int look_up(struct lode_unwind_rules *rules, uint64_t offset, struct lode_unwind_rule *rule)
{
	uint64_t address = address_of(rules, offset);

	*rule = (struct lode_unwind_rule){ 0 };
	if (!address)
		return 0;
	if (ask(rules->exceptions, address, rule))
		return 1;
	*rule = (struct lode_unwind_rule){ 0 };
	return ask(rules->debugging, address, rule);
}

int lode_unwind_rules_find(struct lode_unwind_rules *rules, uint64_t offset, struct lode_unwind_rule *rule)
{
	uint64_t hash = offset * 0x9e3779b97f4a7c15u;
	struct answer answer = { .offset = offset };
	size_t probe = 0;
	uint32_t id;

	while ((id = lode_index_next(&rules->index, hash, &probe)) != LODE_NONE) {
		if (rules->answers[id].offset == offset) {
			*rule = rules->answers[id].rule;
			return rules->answers[id].known;
		}
	}
	answer.known = look_up(rules, offset, &answer.rule);
	if (lode_grow(&rules->answers, &rules->capacity, rules->count + 1, sizeof(answer)) < 0 ||
	    lode_index_insert(&rules->index, hash, (uint32_t)rules->count) < 0)
		return LODE_SYSTEM;
	rules->answers[rules->count++] = answer;
	*rule = answer.rule;
	return answer.known;
}
