/*
 * What an instruction is to a probe on it: see lode_probed_kind in code.h. As the kernel
 * decides: <arch/x86/kernel/uprobes.c> emulates pushes, nops and branches that name their
 * target; <arch/arm64/kernel/probes/decode-insn.c> all branches, what reads the program
 * counter, and, since Linux 6.13, nops. What later kernels add only makes some hits cheaper
 * than we assume.
 */
#include "symbols/code.h"

#include <elf.h>

static enum lode_probed_kind kind_x86_64(const unsigned char *bytes, size_t size)
{
	unsigned char first = bytes[0], second = size > 1 ? bytes[1] : 0;

	if ((first & 0xf8) == 0x50 || (first == 0x41 && (second & 0xf8) == 0x50))
		return LODE_PROBED_PUSH;
	if (first == 0x90 || (first == 0x66 && second == 0x90))
		return LODE_PROBED_NOP;
	if (first == 0xe8 || first == 0xe9 || first == 0xeb || (first & 0xf0) == 0x70 ||
	    (first == 0x0f && (second & 0xf0) == 0x80))
		return LODE_PROBED_BRANCH;
	if (first == 0xc3 || first == 0xc2 || ((first == 0xf2 || first == 0xf3) && second == 0xc3))
		return LODE_PROBED_RETURN;
	return LODE_PROBED_OTHER;
}

static int matches(uint32_t word, uint32_t mask, uint32_t value)
{
	return (word & mask) == value;
}

static enum lode_probed_kind kind_aarch64(const unsigned char *bytes, size_t size)
{
	uint32_t word;

	if (size < 4)
		return LODE_PROBED_OTHER;
	word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
	if (matches(word, 0xffc07fff, 0xa9807bfd)) /* stp x29, x30, [sp, #-n]! */
		return LODE_PROBED_PUSH;
	if (word == 0xd503201f)
		return LODE_PROBED_NOP;
	if (matches(word, 0xfffffc1f, 0xd65f0000))
		return LODE_PROBED_RETURN;
	if (matches(word, 0x7c000000, 0x14000000) || /* b, bl */
	    matches(word, 0xff000000, 0x54000000) || /* b.cond */
	    matches(word, 0x7c000000, 0x34000000) || /* cbz, cbnz, tbz, tbnz */
	    matches(word, 0xffdffc1f, 0xd61f0000) || /* br, blr */
	    matches(word, 0x1f000000, 0x10000000))   /* adr, adrp */
		return LODE_PROBED_BRANCH;
	return LODE_PROBED_OTHER;
}

enum lode_probed_kind lode_code_probed_kind(unsigned machine, const unsigned char *bytes, size_t size)
{
	if (size && machine == EM_X86_64)
		return kind_x86_64(bytes, size);
	return size && machine == EM_AARCH64 ? kind_aarch64(bytes, size) : LODE_PROBED_OTHER;
}
