/* Instructions as text: see disassembly.h. */
#include "annotate/disassembly.h"

#include "symbols/capstone.h"

#include <elf.h>
#include <stdio.h>

/* What is no instruction, such as a table between functions: shown as a word or a byte, and passed over. */
static int skip(const uint8_t **bytes, size_t *size, uint64_t *address, size_t step,
		int (*visit)(void *context, const struct lode_instruction *instruction), void *context)
{
	char value[24];
	struct lode_instruction unknown = { *address, step == 4 ? ".word" : ".byte", value };
	uint32_t word = 0;

	for (size_t i = 0; i < step && i < *size; i++)
		word |= (uint32_t)(*bytes)[i] << 8 * i;
	snprintf(value, sizeof(value), "0x%x", (unsigned)word);
	step = step < *size ? step : *size;
	*bytes += step;
	*size -= step;
	*address += step;
	return visit(context, &unknown);
}

int lode_disassemble(unsigned machine, const void *bytes, size_t size, uint64_t address,
		     int (*visit)(void *context, const struct lode_instruction *instruction), void *context,
		     struct lode_error *error)
{
	struct lode_capstone capstone;
	const uint8_t *at = bytes;
	cs_insn *instruction;
	csh handle = 0;
	int result = 0;

	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return lode_fail(error, LODE_BAD_INPUT,
				 "only instructions of x86-64 and aarch64 are shown, and these are of machine %u",
				 machine);
	if (lode_capstone_load(&capstone) < 0 ||
	    capstone.open(machine == EM_X86_64 ? CS_ARCH_X86 : CS_ARCH_ARM64,
			  machine == EM_X86_64 ? CS_MODE_64 : CS_MODE_ARM, &handle) != CS_ERR_OK)
		return lode_fail(error, LODE_BAD_INPUT,
				 "instructions are shown with %s, which cannot be loaded; install it",
				 LODE_CAPSTONE_LIBRARY);
	if (machine == EM_X86_64)
		capstone.option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	instruction = capstone.malloc(handle);
	while (instruction && size && !result) {
		if (!capstone.disassemble(handle, &at, &size, &address, instruction)) {
			result = skip(&at, &size, &address, machine == EM_AARCH64 ? 4 : 1, visit, context);
			continue;
		}
		result = visit(context, &(struct lode_instruction){ instruction->address, instruction->mnemonic,
								    instruction->op_str });
	}
	if (!instruction)
		result = lode_fail_memory(error);
	else
		capstone.free(instruction, 1);
	capstone.close(&handle);
	return result;
}
