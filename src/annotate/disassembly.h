/* Instructions as text, of x86-64 and aarch64, by capstone, which is loaded when it is needed. */
#ifndef LODE_ANNOTATE_DISASSEMBLY_H
#define LODE_ANNOTATE_DISASSEMBLY_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct lode_instruction {
	uint64_t address;
	const char *name;   /* `mov` */
	const char *values; /* `rax, rbx` */
};

/*
 * Calls `visit` with each instruction, until it returns non-zero, which is returned. `machine`: EM_X86_64, EM_AARCH64. LODE_BAD_INPUT
 * with a sentence where the machine is another one or capstone is missing.
 */
int lode_disassemble(unsigned machine, const void *bytes, size_t size, uint64_t address,
		     int (*visit)(void *context, const struct lode_instruction *instruction), void *context,
		     struct lode_error *error);

#endif
