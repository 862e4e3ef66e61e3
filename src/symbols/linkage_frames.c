/*
 * Frames of procedure linkage tables: see linkage_frames.h.
 *
 * An entry jumps to the function that was called, and leaves the caller's frame as it is.
 * The exceptions lead to the dynamic linker the first time that a function is called: the
 * head of the table, which saves registers on the stack, and on x86-64 the second half of
 * each entry, which pushes a number. The linkers' code for these is looked for; what it
 * does is described by call frame programs, on x86-64 the same that GNU ld writes.
 */
#include "symbols/linkage_frames.h"

#include <dwarf.h>
#include <string.h>

/* A linkage table: its code, and the program that describes it. */
struct linkage {
	const uint8_t *code;
	size_t size;
	uint8_t program[32];
	size_t program_size;
};

static void add(struct linkage *linkage, const uint8_t *bytes, size_t size)
{
	memcpy(linkage->program + linkage->program_size, bytes, size);
	linkage->program_size += size;
}

static int starts_with(const struct linkage *linkage, size_t at, const uint8_t *bytes, size_t size)
{
	return at <= linkage->size && size <= linkage->size - at && !memcmp(linkage->code + at, bytes, size);
}

#define ADD(linkage, ...) add(linkage, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))
#define STARTS_WITH(linkage, at, ...)                                                                             \
	starts_with(linkage, at, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* ---- aarch64 ---- */

#define AARCH64_HEAD 32

/* The return address stays in the link register, but in the head, which begins with `stp x16, x30, [sp, #-16]!`. */
static int describe_aarch64(struct linkage *linkage)
{
	uint8_t first = STARTS_WITH(linkage, 0, 0x5f, 0x24, 0x03, 0xd5) ? 1 : 0; /* bti c */

	if (!STARTS_WITH(linkage, first * 4u, 0xf0, 0x7b, 0xbf, 0xa9))
		return 1;
	ADD(linkage, DW_CFA_advance_loc | (first + 1));
	ADD(linkage, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 30, 1);
	ADD(linkage, DW_CFA_advance_loc | (AARCH64_HEAD / 4 - 1 - first));
	ADD(linkage, DW_CFA_def_cfa_offset, 0, DW_CFA_restore | 30);
	return 1;
}

/* ---- x86-64 ---- */

#define X86_64_HEAD 16

/* From which byte of an entry on the number is on the stack; 16 when that is never, 0 when the code is not known. */
static uint8_t pushed_from(const struct linkage *linkage, size_t at)
{
	if (STARTS_WITH(linkage, at, 0xff, 0x25)) /* jmp, push, jmp; or only the first */
		return 11;
	if (STARTS_WITH(linkage, at, 0x68)) /* push, jmp */
		return 5;
	if (STARTS_WITH(linkage, at, 0xf3, 0x0f, 0x1e, 0xfa, 0x68)) /* endbr64, push, jmp */
		return 9;
	if (STARTS_WITH(linkage, at, 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25) || /* endbr64, jmp */
	    STARTS_WITH(linkage, at, 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25))
		return 16;
	return 0;
}

static int describe_x86_64(struct linkage *linkage)
{
	size_t head = STARTS_WITH(linkage, 0, 0xff, 0x35) ? X86_64_HEAD : 0; /* push, jmp */
	uint8_t from = pushed_from(linkage, head);

	if (!from)
		return 0;
	if (head) {
		ADD(linkage, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 6);
		ADD(linkage, DW_CFA_def_cfa_offset, 24, DW_CFA_advance_loc | (X86_64_HEAD - 6));
		ADD(linkage, DW_CFA_def_cfa_offset, 8);
	}
	if (from < 16)
		ADD(linkage, DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
		    DW_OP_and, DW_OP_lit0 + from, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus);
	return 1;
}

/* ---- all ---- */

static int read_section(const struct lode_elf *elf, const char *name, const struct lode_cfi_shared *shared,
			int (*take)(void *context, const struct lode_cfi_function *function), void *context)
{
	GElf_Shdr header;
	Elf_Scn *section = lode_elf_section(elf, name, &header);
	Elf_Data *data = section && header.sh_type == SHT_PROGBITS ? elf_rawdata(section, NULL) : NULL;
	struct lode_cfi_function function = { .shared = shared };
	struct linkage linkage = { 0 };

	if (!data || !data->d_buf || !data->d_size || data->d_size > UINT32_MAX || !header.sh_addr ||
	    !(header.sh_flags & SHF_EXECINSTR))
		return 0;
	linkage.code = data->d_buf;
	linkage.size = data->d_size;
	function.start = header.sh_addr;
	if (__builtin_add_overflow(function.start, linkage.size, &function.end) ||
	    !(elf->header.e_machine == EM_AARCH64 ? describe_aarch64(&linkage) : describe_x86_64(&linkage)))
		return 0;
	function.program = lode_cursor(linkage.program, linkage.program_size);
	return take(context, &function);
}

int lode_linkage_frames_walk(const struct lode_elf *elf,
			     int (*take)(void *context, const struct lode_cfi_function *function), void *context)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	static const uint8_t at_call_aarch64[] = { DW_CFA_def_cfa, 31, 0 };
	static const uint8_t at_call_x86_64[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
	int is_aarch64 = elf->header.e_machine == EM_AARCH64, code = 0;
	struct lode_cfi_shared shared = {
		.code_alignment = is_aarch64 ? 4 : 1,
		.data_alignment = -8,
		.return_register = is_aarch64 ? 30 : 16,
		.program = is_aarch64 ? at_call_aarch64 : at_call_x86_64,
	};

	if (!is_aarch64 && elf->header.e_machine != EM_X86_64)
		return 0;
	shared.program_end = shared.program + (is_aarch64 ? sizeof(at_call_aarch64) : sizeof(at_call_x86_64));
	for (size_t i = 0; !code && i < sizeof(names) / sizeof(*names); i++)
		code = read_section(elf, names[i], &shared, take, context);
	return code;
}
