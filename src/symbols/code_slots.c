/*
 * Slots: pointers that the dynamic linker fills with the addresses of functions of
 * other binaries. Code that was compiled without a procedure linkage table calls
 * through them, so that a call names its slot and the slot's relocation names the
 * function.
 */
#include "symbols/code_plan.h"

#include "symbols/plt.h"

#include <stdlib.h>
#include <string.h>

static int fills_slot(const struct lode_elf *elf, const GElf_Rela *relocation)
{
	uint64_t type = GELF_R_TYPE(relocation->r_info);

	return elf->header.e_machine == EM_X86_64 && (type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT);
}

/* The import that a relocation names; LODE_NONE when it is no function, or memory ran out (then failed is
 * set). */
static uint32_t import_of(struct lode_code_plan *plan, const struct lode_relocations *relocations,
			  const GElf_Rela *relocation)
{
	const char *name = NULL;
	GElf_Sym symbol;
	size_t length;
	uint32_t import;

	if (relocations->symbols &&
	    gelf_getsym(relocations->symbols, (int)GELF_R_SYM(relocation->r_info), &symbol) &&
	    (GELF_ST_TYPE(symbol.st_info) == STT_FUNC || GELF_ST_TYPE(symbol.st_info) == STT_NOTYPE))
		name = elf_strptr(plan->elf.elf, relocations->strings, symbol.st_name);
	length = name ? strnlen(name, plan->symbols.budget) : 0;
	plan->symbols.budget -= length;
	if (!length || !plan->symbols.budget)
		return LODE_NONE;
	import = lode_code_plan_import(plan, name);
	if (import == LODE_NONE)
		plan->symbols.failed = 1;
	return import;
}

static void add_slot(struct lode_code_plan *plan, uint64_t address, uint32_t import)
{
	if (LODE_PUSH(&plan->slots, (struct lode_code_slot){ address, import }) < 0)
		plan->symbols.failed = 1;
}

static void read_section(struct lode_code_plan *plan, const char *name)
{
	struct lode_relocations relocations;
	GElf_Rela relocation;

	if (lode_relocations_find(&plan->elf, name, &relocations) < 0)
		return;
	for (size_t i = 0; i < relocations.count && i < LODE_TABLE_LIMIT && !plan->symbols.failed; i++) {
		uint32_t import;

		if (!lode_relocations_read(&relocations, i, &relocation))
			break;
		if (!fills_slot(&plan->elf, &relocation))
			continue;
		import = import_of(plan, &relocations, &relocation);
		if (import != LODE_NONE)
			add_slot(plan, relocation.r_offset, import);
	}
}

static int compare_slots(const void *a, const void *b)
{
	const struct lode_code_slot *one = a, *other = b;

	return one->address < other->address ? -1 : one->address > other->address;
}

int lode_code_read_slots(struct lode_code_plan *plan)
{
	read_section(plan, ".rela.plt");
	read_section(plan, ".rela.dyn");
	if (plan->slots.count)
		qsort(plan->slots.items, plan->slots.count, sizeof(*plan->slots.items), compare_slots);
	return plan->symbols.failed ? LODE_SYSTEM : 0;
}

uint32_t lode_code_slot_import(const struct lode_code_plan *plan, uint64_t address)
{
	struct lode_code_slot wanted = { address, 0 };
	const struct lode_code_slot *found = NULL;

	if (plan->slots.count)
		found = bsearch(&wanted, plan->slots.items, plan->slots.count, sizeof(wanted), compare_slots);
	return found ? found->import : LODE_NONE;
}
