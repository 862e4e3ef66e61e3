/*
 * Procedure linkage tables of a stranger: the first byte chooses machine and section,
 * the next eight are its address, the others its code. What is reported of it is in it,
 * ascends, and is one of the few things that linkers' code does.
 */
#include "fuzz.h"
#include "small_elf.h"

#include "symbols/cfi_program.h"
#include "symbols/linkage_frames.h"

#include <stdlib.h>
#include <string.h>

struct walk {
	int machine;
	const struct lode_cfi_function *function;
	uint64_t last;
	size_t count; /* of rows of this function */
	size_t functions;
};

static int take_row(void *context, uint64_t start, const struct lode_unwind_rule *rule)
{
	struct walk *walk = context;
	int pushed = rule->return_at == LODE_PLACE_CFA;

	fuzz_require(start >= walk->function->start && start < walk->function->end, "a rule is in its section");
	fuzz_require(!walk->count++ || start > walk->last, "rules ascend");
	walk->last = start;
	fuzz_require(rule->frame_at == LODE_PLACE_KEPT && (!pushed || rule->return_offset == -8),
		     "the frame pointer is left alone");
	if (walk->machine == EM_AARCH64)
		fuzz_require(rule->cfa == LODE_CFA_SP && rule->cfa_offset == (pushed ? 16 : 0),
			     "the head saves two registers, entries none");
	else
		fuzz_require(pushed && ((rule->cfa == LODE_CFA_SP && rule->cfa_offset % 8 == 0 &&
					 rule->cfa_offset >= 8 && rule->cfa_offset <= 24) ||
					(rule->cfa == LODE_CFA_PLT && rule->cfa_offset == 8 && rule->cfa_add > 0 &&
					 rule->cfa_add < 16)),
			     "the head pushes two words, an entry one");
	return 0;
}

static int take_function(void *context, const struct lode_cfi_function *function)
{
	struct walk *walk = context;

	fuzz_require(function->start < function->end, "a section has code");
	walk->function = function;
	walk->count = 0;
	walk->functions++;
	return lode_cfi_run(function, walk->machine, 1, take_row, walk);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".iplt", ".text" };
	static const uint16_t machines[] = { EM_AARCH64, EM_X86_64, EM_386 };
	struct walk walk = { 0 };
	struct small_elf file;
	struct lode_elf elf;
	uint64_t address;
	const char *name;

	if (size < 9)
		return 0;
	walk.machine = machines[bytes[0] % 3];
	name = names[bytes[0] / 3 % 5];
	memcpy(&address, bytes + 1, 8);
	file = make_small_elf((uint16_t)walk.machine, name, address, bytes + 9, size - 9);
	fuzz_require(file.bytes != NULL, "memory");
	if (lode_elf_memory(&elf, file.bytes, file.size) == 0) {
		fuzz_require(lode_linkage_frames_walk(&elf, take_function, &walk) == 0, "all is taken");
		fuzz_require(walk.functions <= (walk.machine != EM_386 && strcmp(name, ".text") != 0),
			     "only linkage tables are reported");
		lode_elf_close(&elf);
	}
	free(file.bytes);
	return 0;
}
