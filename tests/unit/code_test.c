/*
 * Code: programs made here word by word, so that what they do is known, and this
 * very program. tests/oracle/code_oracle.py compares whole programs with objdump.
 */
#include "cmocka_all.h"
#include "temporary.h"

#include "base/memory.h"
#include "symbols/code.h"
#include "symbols/code_steps.h"

#include <elf.h>
#include <string.h>

#define BASE   0x10000u /* address of the code */
#define OFFSET 0x1000u  /* where it is in the file */
#define MOST   32

enum section { NONE, TEXT, SYMTAB, STRTAB, NAMES, SECTIONS };

static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

struct symbol {
	const char *name;
	uint32_t start; /* in the code */
	uint32_t size;
	unsigned char info;
	uint16_t section;
};

struct program {
	uint16_t machine;
	const void *code;
	size_t size;
	struct symbol symbols[MOST]; /* local ones first */
};

struct fixture {
	char folder[64];
	char path[96];
	struct lode_code code;
};

#define FUNCTION(binding) ELF64_ST_INFO(binding, STT_FUNC)
#define LOCAL(...)                                                                                                \
	{                                                                                                         \
		__VA_ARGS__, FUNCTION(STB_LOCAL), TEXT                                                            \
	}
#define GLOBAL(...)                                                                                               \
	{                                                                                                         \
		__VA_ARGS__, FUNCTION(STB_GLOBAL), TEXT                                                           \
	}
#define UNIT(name)                                                                                                \
	{                                                                                                         \
		name, 0, 0, ELF64_ST_INFO(STB_LOCAL, STT_FILE), SHN_ABS                                           \
	}
#define MARK(name, start)                                                                                         \
	{                                                                                                         \
		name, start, 0, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), TEXT                                        \
	}

static int set_up(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	if (temporary_folder(fixture.folder, sizeof(fixture.folder)) < 0)
		return -1;
	snprintf(fixture.path, sizeof(fixture.path), "%s/program", fixture.folder);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lode_code_release(&fixture->code);
	unlink(fixture->path);
	return rmdir(fixture->folder);
}

static void write_part(FILE *file, Elf64_Shdr *header, const void *bytes, size_t size)
{
	header->sh_offset = (uint64_t)ftell(file);
	header->sh_size = size;
	if (size)
		assert_int_equal(fwrite(bytes, 1, size, file), size);
}

static void write_symbols(FILE *file, const struct program *program, Elf64_Shdr *headers)
{
	Elf64_Sym symbols[MOST + 1] = { { 0 } };
	char names[2048] = "";
	size_t used = 1, count = 1;

	for (const struct symbol *symbol = program->symbols; symbol->name; symbol++) {
		symbols[count++] = (Elf64_Sym){
			.st_name = (uint32_t)used,
			.st_value = symbol->section == TEXT ? BASE + symbol->start : 0,
			.st_size = symbol->size,
			.st_info = symbol->info,
			.st_shndx = symbol->section,
		};
		strcpy(names + used, symbol->name);
		used += strlen(symbol->name) + 1;
	}
	write_part(file, &headers[SYMTAB], symbols, count * sizeof(*symbols));
	write_part(file, &headers[STRTAB], names, used);
}

static void write_program(const char *path, const struct program *program)
{
	Elf64_Shdr headers[SECTIONS] = {
		[TEXT] = { .sh_name = 1,
			   .sh_type = SHT_PROGBITS,
			   .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			   .sh_addr = BASE },
		[SYMTAB] = { .sh_name = 7, .sh_type = SHT_SYMTAB, .sh_link = STRTAB, .sh_entsize = sizeof(Elf64_Sym) },
		[STRTAB] = { .sh_name = 15, .sh_type = SHT_STRTAB },
		[NAMES] = { .sh_name = 23, .sh_type = SHT_STRTAB },
	};
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = program->machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = NAMES,
	};
	Elf64_Phdr load = { .p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_offset = OFFSET,
			    .p_vaddr = BASE,
			    .p_filesz = program->size,
			    .p_memsz = program->size,
			    .p_align = 0x1000 };
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fseek(file, OFFSET, SEEK_SET), 0);
	write_part(file, &headers[TEXT], program->code, program->size);
	write_symbols(file, program, headers);
	write_part(file, &headers[NAMES], section_names, sizeof(section_names));
	header.e_shoff = (uint64_t)ftell(file);
	assert_int_equal(fwrite(headers, sizeof(headers), 1, file), 1);
	rewind(file);
	assert_int_equal(fwrite(&header, sizeof(header), 1, file), 1);
	assert_int_equal(fwrite(&load, sizeof(load), 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

/* Writes the program and reads its code. */
static const struct lode_code *read_program(struct fixture *fixture, const struct program *program)
{
	struct lode_error error = { "" };

	write_program(fixture->path, program);
	lode_code_release(&fixture->code);
	if (lode_code_read(&fixture->code, fixture->path, &error) < 0)
		fail_msg("%s", error.text);
	return &fixture->code;
}

static const struct lode_code_function *function_named(const struct lode_code *code, const char *name)
{
	uint32_t number = lode_code_named(code, name);

	if (number == LODE_NONE)
		fail_msg("there is no %s", name);
	return &code->functions[number];
}

static void assert_offsets(const struct lode_code *code, uint32_t first, uint32_t count, const char *expected)
{
	char text[512] = "";

	for (uint32_t i = first; i < first + count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%x", i > first ? " " : "",
			 (unsigned)(code->offsets[i] - OFFSET));
	assert_string_equal(text, expected);
}

/* Offsets in the code, in hexadecimal. */
static void assert_ends(const struct lode_code *code, const char *name, const char *expected)
{
	const struct lode_code_function *function = function_named(code, name);

	assert_false(function->unknown_ends);
	assert_offsets(code, function->first_end, function->end_count, expected);
}

static void assert_entries(const struct lode_code *code, const char *name, const char *expected)
{
	const struct lode_code_function *function = function_named(code, name);

	assert_offsets(code, function->first_entry, function->entry_count, expected);
}

/* Names of callees, in the order of their numbers. */
static void assert_callees(const struct lode_code *code, const char *name, const char *expected)
{
	const struct lode_code_function *function = function_named(code, name);
	char text[512] = "";

	for (uint32_t i = 0; i < function->callee_count; i++) {
		uint32_t callee = code->callees[function->first_callee + i];

		assert_true(i == 0 || callee > code->callees[function->first_callee + i - 1]);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 callee & LODE_CODE_IMPORT ? code->imports[callee & ~LODE_CODE_IMPORT]
						   : code->functions[callee].name);
	}
	assert_string_equal(text, expected);
}

/* ---- aarch64, one word an instruction ---- */

#define NOP          0xd503201fu
#define RET          0xd65f03c0u
#define RETAA        0xd65f0bffu
#define BTI_C        0xd503245fu
#define PACIASP      0xd503233fu
#define AUTIASP      0xd50323bfu
#define STP_FRAME    0xa9be7bfdu /* stp x29, x30, [sp, #-32]! */
#define LDP_FRAME    0xa8c27bfdu /* ldp x29, x30, [sp], #32 */
#define BR(n)        (0xd61f0000u | (n) << 5)
#define BLR(n)       (0xd63f0000u | (n) << 5)
#define B(words)     (0x14000000u | ((uint32_t)(words)&0x3ffffffu))
#define BL(words)    (0x94000000u | ((uint32_t)(words)&0x3ffffffu))
#define CBZ(words)   (0xb4000000u | ((uint32_t)(words)&0x7ffffu) << 5)
#define LDR_PLAIN    0xf9400400u /* ldr x0, [x0, #8] */
#define LDR_INDEX    0xf8617800u /* ldr x0, [x0, x1, lsl #3] */
#define ADD_EXTENDED 0x8b21c800u /* add x0, x0, w1, sxtw #2 */
#define LDXR         0xc85f7c20u

static void returns_calls_and_tail_calls_are_found(void **state)
{
	static const uint32_t code[] = {
		STP_FRAME, BL(7), CBZ(3), BL(5), BL(-2), LDP_FRAME, RET, B(2), /* one: at 0 */
		RET,                                                           /* two: at 0x20 */
		NOP,       B(-2),                                              /* three: at 0x24 */
	};
	const struct program program = { EM_AARCH64,
					 code,
					 sizeof(code),
					 { GLOBAL("one", 0, 0x20), GLOBAL("two", 0x20, 4),
					   GLOBAL("three", 0x24, 8) } };
	const struct lode_code *found = read_program(*state, &program);

	assert_int_equal(found->count, 3);
	assert_entries(found, "one", "0");
	assert_ends(found, "one", "18 1c");
	assert_callees(found, "one", "two three");
	assert_ends(found, "two", "20");
	assert_callees(found, "two", "");
	assert_ends(found, "three", "28");
	assert_callees(found, "three", "two");
	assert_int_equal(lode_code_find(found, OFFSET + 0x1f), lode_code_named(found, "one"));
	assert_int_equal(lode_code_find(found, OFFSET + 0x20), lode_code_named(found, "two"));
	assert_int_equal(lode_code_find(found, OFFSET + 0x2c), LODE_NONE);
	assert_int_equal(lode_code_find(found, OFFSET - 1), LODE_NONE);
	assert_int_equal(lode_code_find(found, UINT64_MAX), LODE_NONE);
}

static void a_conditional_branch_to_a_function_is_a_call_but_no_end(void **state)
{
	static const uint32_t code[] = { CBZ(2), RET, RET };
	const struct program program = { EM_AARCH64,
					 code,
					 sizeof(code),
					 { GLOBAL("one", 0, 8), GLOBAL("two", 8, 4) } };
	const struct lode_code *found = read_program(*state, &program);

	assert_ends(found, "one", "4");
	assert_callees(found, "one", "two");
}

static void a_jump_into_the_midst_of_a_function_is_not_trusted(void **state)
{
	static const uint32_t code[] = { B(2), NOP, RET };
	const struct program program = { EM_AARCH64,
					 code,
					 sizeof(code),
					 { GLOBAL("one", 0, 4), GLOBAL("two", 4, 8) } };
	const struct lode_code *found = read_program(*state, &program);

	assert_ends(found, "one", "");
	assert_callees(found, "one", "");
}

static void clones_belong_to_the_function_of_their_own_unit(void **state)
{
	static const uint32_t code[] = {
		BL(4), B(5), /* help, of a.c: calls help.part.0, jumps to help.cold */
		RET,         /* help, of b.c, at 8 */
		B(6),        /* shown, at 0xc: jumps to shown.constprop.0 */
		RET,         /* help.part.0, of a.c, at 0x10 */
		RET,         /* help.part.0, of b.c, at 0x14 */
		RET,         /* help.cold, of a.c, at 0x18 */
		RET,         /* gone.isra.0, at 0x1c */
		RET,         /* gone.constprop.0.isra.0, at 0x20 */
		RET,         /* shown.constprop.0, at 0x24 */
	};
	const struct program program = {
		EM_AARCH64,
		code,
		sizeof(code),
		{ UNIT("a.c"), LOCAL("help", 0, 8), LOCAL("help.part.0", 0x10, 4), LOCAL("help.cold", 0x18, 4),
		  UNIT("b.c"), LOCAL("help.part.0", 0x14, 4), LOCAL("help", 8, 4), LOCAL("gone.isra.0", 0x1c, 4),
		  LOCAL("gone.constprop.0.isra.0", 0x20, 4), LOCAL("shown.constprop.0", 0x24, 4),
		  GLOBAL("shown", 0xc, 4) },
	};
	const struct lode_code *found = read_program(*state, &program);
	uint32_t first = lode_code_find(found, OFFSET), second = lode_code_find(found, OFFSET + 8);

	assert_int_equal(found->count, 4);
	assert_true(first != second);
	assert_string_equal(found->functions[first].name, "help");
	assert_string_equal(found->functions[second].name, "help");
	assert_int_equal(lode_code_find(found, OFFSET + 0x10), first);
	assert_int_equal(lode_code_find(found, OFFSET + 0x18), first);
	assert_int_equal(lode_code_find(found, OFFSET + 0x14), second);
	assert_offsets(found, found->functions[first].first_entry, found->functions[first].entry_count, "0 10");
	assert_offsets(found, found->functions[first].first_end, found->functions[first].end_count, "10 18");
	assert_int_equal(found->functions[first].callee_count, 0);
	assert_entries(found, "gone", "1c 20");
	assert_ends(found, "shown", "24");
	assert_int_equal(lode_code_named(found, "gone.isra.0"), lode_code_named(found, "gone"));
}

static void names_that_only_look_like_clones_stay_apart(void **state)
{
	static const uint32_t code[] = { RET, RET, RET, RET };
	const struct program program = { EM_AARCH64,
					 code,
					 sizeof(code),
					 { LOCAL("run", 0, 4), LOCAL("run._omp_fn.0", 4, 4),
					   LOCAL("run.lto_priv.0", 8, 4), LOCAL("run.party", 12, 4) } };

	assert_int_equal(read_program(*state, &program)->count, 4);
}

static void a_switch_is_not_taken_for_a_tail_call(void **state)
{
	static const uint32_t code[] = {
		STP_FRAME,    LDR_PLAIN, BR(0),     LDP_FRAME, RET, /* an interpreter, at 0 */
		ADD_EXTENDED, NOP,       BR(0),     RET,            /* a leaf with a switch, at 0x14 */
		LDR_INDEX,    BR(0),     RET,                       /* one through a table of addresses, at 0x24 */
		STP_FRAME,    LDR_PLAIN, LDP_FRAME, BR(0),          /* leaves, at 0x30 */
		LDR_PLAIN,    BR(0),                                /* a leaf that leaves, at 0x40 */
		STP_FRAME,    BLR(0),    LDP_FRAME, RET,            /* calls, at 0x48 */
	};
	const struct program program = { EM_AARCH64,
					 code,
					 sizeof(code),
					 { GLOBAL("goto_", 0, 0x14), GLOBAL("switch_", 0x14, 0x10),
					   GLOBAL("table", 0x24, 0xc), GLOBAL("leave", 0x30, 0x10),
					   GLOBAL("leaf", 0x40, 8), GLOBAL("call", 0x48, 0x10) } };
	const struct lode_code *found = read_program(*state, &program);

	assert_ends(found, "goto_", "10");
	assert_ends(found, "switch_", "20");
	assert_ends(found, "table", "2c");
	assert_ends(found, "leave", "3c");
	assert_ends(found, "leaf", "44");
	assert_ends(found, "call", "54");
	for (size_t i = 0; i < found->count; i++)
		assert_true(found->functions[i].indirect);
}

static void data_in_code_is_left_alone_where_symbols_mark_it(void **state)
{
	static const uint32_t code[] = { NOP, RET, RET, BL(2), RET, RET };
	const struct program program = { EM_AARCH64,
					 code,
					 sizeof(code),
					 { MARK("$x", 0), MARK("$d", 8), MARK("$x.7", 16), GLOBAL("one", 0, 20),
					   GLOBAL("two", 20, 4) } };
	const struct lode_code *found = read_program(*state, &program);

	assert_int_equal(found->count, 2);
	assert_ends(found, "one", "4 10");
	assert_callees(found, "one", "");
	assert_ends(found, "two", "14");
}

static void what_the_kernel_cannot_probe_is_not_offered(void **state)
{
	static const uint32_t code[] = { PACIASP, AUTIASP, RET, PACIASP, RETAA, LDXR, RET, BTI_C, RET };
	const struct program program = { EM_AARCH64,
					 code,
					 sizeof(code),
					 { GLOBAL("plain", 0, 12), GLOBAL("authenticates", 12, 8),
					   GLOBAL("exclusive", 20, 8), GLOBAL("marked", 28, 8) } };
	const struct lode_code *found = read_program(*state, &program);

	assert_ends(found, "plain", "8");
	assert_ends(found, "marked", "20");
	assert_true(function_named(found, "authenticates")->unknown_ends);
	assert_true(function_named(found, "exclusive")->unknown_ends);
}

static void the_name_of_main_is_known(void **state)
{
	static const uint32_t code[] = { RET, RET };
	const struct program with = { EM_AARCH64,
				      code,
				      sizeof(code),
				      { GLOBAL("_start", 0, 4), GLOBAL("main", 4, 4) } };
	const struct program without = { EM_AARCH64, code, sizeof(code), { GLOBAL("one", 0, 4) } };

	assert_int_equal(read_program(*state, &with)->main, 1);
	assert_int_equal(read_program(*state, &without)->main, LODE_NONE);
}

static void names_are_readable_and_found_as_the_linker_knows_them(void **state)
{
	static const uint32_t code[] = { RET, RET };
	const struct program program = { EM_AARCH64,
					 code,
					 sizeof(code),
					 { LOCAL("_ZN3app4loadEv.part.0", 4, 4), GLOBAL("_ZN3app4loadEv", 0, 4) } };
	const struct lode_code *found = read_program(*state, &program);

	assert_int_equal(found->count, 1);
	assert_string_equal(found->functions[0].name, "app::load");
	assert_int_equal(lode_code_named(found, "app::load"), 0);
	assert_int_equal(lode_code_named(found, "_ZN3app4loadEv"), 0);
	assert_int_equal(lode_code_named(found, "load"), LODE_NONE);
	assert_int_equal(lode_code_exported(found, "_ZN3app4loadEv"), LODE_NONE); /* it has no .dynsym */
}

static void code_of_other_machines_has_functions_but_no_ends(void **state)
{
	static const uint32_t code[] = { RET };
	const struct program program = { EM_RISCV, code, sizeof(code), { GLOBAL("one", 0, 4) } };
	const struct lode_code *found = read_program(*state, &program);

	assert_entries(found, "one", "0");
	assert_true(function_named(found, "one")->unknown_ends);
	assert_int_equal(function_named(found, "one")->end_count, 0);
	assert_string_equal(found->undecoded, "only code of x86-64 and aarch64 is read");
}

/* ---- x86-64 ---- */

static int knows_x86_64(void)
{
	void *disassembler = lode_code_open_x86_64();

	lode_code_close_x86_64(disassembler);
	return disassembler != NULL;
}

static void x86_64_is_understood_where_capstone_is_there(void **state)
{
	static const unsigned char code[] = {
		0xf3, 0x0f, 0x1e, 0xfa,                   /* 0: endbr64 */
		0x53,                                     /* 4: push %rbx */
		0xe8, 0x16, 0x00, 0x00, 0x00,             /* 5: call 20 */
		0x74, 0x02,                               /* a: je e */
		0x5b,                                     /* c: pop %rbx */
		0xc3,                                     /* d: ret */
		0x5b,                                     /* e: pop %rbx */
		0xe9, 0x0c, 0x00, 0x00, 0x00,             /* f: jmp 20 */
		0x3e, 0xff, 0xe0,                         /* 14: notrack jmp *%rax */
		0x5b, 0xff, 0xe0,                         /* 17: pop %rbx; jmp *%rax */
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90,       /* 1a */
		0xf3, 0xc3,                               /* 20: repz ret */
		0xff, 0x24, 0xc5, 0x00, 0x00, 0x01, 0x00, /* 22: jmp *0x10000(,%rax,8) */
		0xff, 0xd0,                               /* 29: call *%rax */
		0xc2, 0x08, 0x00,                         /* 2b: ret $8 */
	};
	const struct program program = { EM_X86_64,
					 code,
					 sizeof(code),
					 { GLOBAL("one", 0, 0x20), GLOBAL("two", 0x20, 0xe) } };
	const struct lode_code *found = read_program(*state, &program);

	if (!knows_x86_64()) {
		assert_true(function_named(found, "one")->unknown_ends);
		assert_non_null(found->undecoded);
		return;
	}
	assert_null(found->undecoded);
	assert_entries(found, "one", "4"); /* behind the endbr64 */
	assert_entries(found, "two", "20");
	assert_ends(found, "one", "d f 18");
	assert_callees(found, "one", "two");
	assert_true(function_named(found, "one")->indirect);
	assert_ends(found, "two", "20 2b");
	assert_true(function_named(found, "two")->indirect);
}

static void x86_64_with_data_in_it_is_not_probed(void **state)
{
	static const unsigned char code[] = {
		0xeb, 0x03, 0xe8, 0x00, 0x00, 0xc3,             /* jumps over bytes that look like a call */
		0xc3, 0x06, 0x06, 0xc3,                         /* bytes that are no instruction */
		0x48, 0xb8, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3, /* an instruction that is cut off */
		0xc3,
	};
	const struct program program = { EM_X86_64,
					 code,
					 sizeof(code),
					 { GLOBAL("jumps", 0, 6), GLOBAL("odd", 6, 4), GLOBAL("cut", 10, 8),
					   GLOBAL("good", 18, 1) } };
	const struct lode_code *found = read_program(*state, &program);

	assert_true(function_named(found, "jumps")->unknown_ends);
	assert_true(function_named(found, "odd")->unknown_ends);
	assert_true(function_named(found, "cut")->unknown_ends);
	if (knows_x86_64())
		assert_ends(found, "good", "12");
}

/* ---- this program ---- */

static volatile int depth;

static __attribute__((noinline)) int inner_function(int x)
{
	depth += x;
	return depth;
}

static __attribute__((noinline)) int outer_function(int x)
{
	int sum = 0;

	for (int i = 0; i < x; i++)
		sum += inner_function(i);
	return sum + (int)getpid();
}

static int calls(const struct lode_code *code, uint32_t caller, const char *name)
{
	const struct lode_code_function *function = &code->functions[caller];

	for (uint32_t i = 0; i < function->callee_count; i++) {
		uint32_t callee = code->callees[function->first_callee + i];

		if (!strcmp(callee & LODE_CODE_IMPORT ? code->imports[callee & ~LODE_CODE_IMPORT]
						      : code->functions[callee].name,
			    name))
			return 1;
	}
	return 0;
}

static void this_program_is_understood(void **state)
{
	struct fixture *fixture = *state;
	struct lode_error error = { "" };
	uint32_t outer;

	assert_true(outer_function(3) > 0);
	assert_int_equal(lode_code_read(&fixture->code, "/proc/self/exe", &error), 0);
	outer = lode_code_named(&fixture->code, "outer_function");
	assert_true(outer != LODE_NONE);
	if (fixture->code.functions[outer].unknown_ends)
		skip();
	assert_true(calls(&fixture->code, outer, "inner_function"));
	assert_true(calls(&fixture->code, outer, "getpid"));
	assert_true(fixture->code.functions[outer].end_count > 0);
	assert_int_equal(fixture->code.main, lode_code_named(&fixture->code, "main"));
}

/* ---- failures ---- */

static void what_is_no_program_is_an_error(void **state)
{
	struct fixture *fixture = *state;
	struct lode_error error = { "" };
	FILE *file = fopen(fixture->path, "w");

	assert_non_null(file);
	fputs("#!/bin/sh\n", file);
	fclose(file);
	assert_int_equal(lode_code_read(&fixture->code, fixture->path, &error), LODE_BAD_INPUT);
	assert_non_null(strstr(error.text, "is not an ELF file"));
	assert_int_equal(lode_code_read(&fixture->code, "/no/such/file", &error), LODE_SYSTEM);
	assert_non_null(strstr(error.text, "/no/such/file"));
	assert_int_equal(lode_code_named(&fixture->code, "main"), LODE_NONE);
	assert_int_equal(lode_code_find(&fixture->code, 0), LODE_NONE);
}

static void memory_that_runs_out_anywhere_is_an_error(void **state)
{
	static const uint32_t code[] = { BL(1), RET, B(-2) };
	const struct program program = { EM_AARCH64,
					 code,
					 sizeof(code),
					 { LOCAL("_Z3onev.part.0", 8, 4), GLOBAL("_Z3onev", 0, 4),
					   GLOBAL("main", 4, 4) } };
	struct fixture *fixture = *state;
	uint64_t nth = 0;
	int result;

	write_program(fixture->path, &program);
	do {
		struct lode_error error = { "" };

		lode_memory_fail_at(++nth, 0);
		result = lode_code_read(&fixture->code, fixture->path, &error);
		if (result < 0) {
			assert_int_equal(result, LODE_SYSTEM);
			assert_true(error.text[0] != '\0');
			assert_int_equal(fixture->code.count, 0);
		} else {
			assert_true(lode_memory_asked() < nth); /* it was not one that failed */
			assert_int_equal(fixture->code.count, 2);
		}
		lode_memory_fail_at(0, 0);
	} while (result < 0);
	assert_true(nth > 20);
}

struct probed {
	uint16_t machine;
	unsigned char bytes[4];
	enum lode_probed_kind kind;
};

static void the_kind_of_a_probed_instruction_is_what_the_kernel_makes_of_it(void **state)
{
	static const struct probed probed[] = {
		{ EM_X86_64, { 0x55 }, LODE_PROBED_PUSH },        /* push %rbp */
		{ EM_X86_64, { 0x41, 0x57 }, LODE_PROBED_PUSH },  /* push %r15 */
		{ EM_X86_64, { 0x41, 0x5f }, LODE_PROBED_OTHER }, /* pop %r15 */
		{ EM_X86_64, { 0x90 }, LODE_PROBED_NOP },
		{ EM_X86_64, { 0x0f, 0x1f, 0x44, 0x00 }, LODE_PROBED_OTHER }, /* the kernel steps over long ones */
		{ EM_X86_64, { 0xe9 }, LODE_PROBED_BRANCH },
		{ EM_X86_64, { 0x74, 0x10 }, LODE_PROBED_BRANCH },
		{ EM_X86_64, { 0x0f, 0x85 }, LODE_PROBED_BRANCH },
		{ EM_X86_64, { 0xff, 0x25 }, LODE_PROBED_OTHER }, /* jmp through memory */
		{ EM_X86_64, { 0xc3 }, LODE_PROBED_RETURN },
		{ EM_X86_64, { 0xf3, 0xc3 }, LODE_PROBED_RETURN },
		{ EM_X86_64, { 0xf3, 0x0f, 0x1e, 0xfa }, LODE_PROBED_OTHER },  /* endbr64 */
		{ EM_X86_64, { 0x48, 0x83, 0xec, 0x08 }, LODE_PROBED_OTHER },  /* sub $8, %rsp */
		{ EM_AARCH64, { 0xfd, 0x7b, 0xbf, 0xa9 }, LODE_PROBED_PUSH },  /* stp x29, x30, [sp, #-16]! */
		{ EM_AARCH64, { 0xfd, 0x7b, 0xb9, 0xa9 }, LODE_PROBED_PUSH },  /* stp x29, x30, [sp, #-112]! */
		{ EM_AARCH64, { 0xf3, 0x53, 0xbe, 0xa9 }, LODE_PROBED_OTHER }, /* stp x19, x20, [sp, #-32]! */
		{ EM_AARCH64, { 0x1f, 0x20, 0x03, 0xd5 }, LODE_PROBED_NOP },
		{ EM_AARCH64, { 0x3f, 0x23, 0x03, 0xd5 }, LODE_PROBED_OTHER },  /* paciasp */
		{ EM_AARCH64, { 0x01, 0x00, 0x00, 0x14 }, LODE_PROBED_BRANCH }, /* b */
		{ EM_AARCH64, { 0x00, 0x02, 0x1f, 0xd6 }, LODE_PROBED_BRANCH }, /* br x16 */
		{ EM_AARCH64, { 0x40, 0x00, 0x00, 0xb4 }, LODE_PROBED_BRANCH }, /* cbz x0 */
		{ EM_AARCH64, { 0x00, 0x00, 0x00, 0x90 }, LODE_PROBED_BRANCH }, /* adrp x0 */
		{ EM_AARCH64, { 0xc0, 0x03, 0x5f, 0xd6 }, LODE_PROBED_RETURN },
		{ EM_AARCH64, { 0xff, 0x43, 0x00, 0xd1 }, LODE_PROBED_OTHER }, /* sub sp, sp, #16 */
		{ EM_RISCV, { 0x13 }, LODE_PROBED_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(probed) / sizeof(probed[0]); i++)
		assert_int_equal(lode_code_probed_kind(probed[i].machine, probed[i].bytes, sizeof(probed[i].bytes)),
				 probed[i].kind);
	assert_int_equal(lode_code_probed_kind(EM_AARCH64, probed[13].bytes, 3), LODE_PROBED_OTHER);
	assert_int_equal(lode_code_probed_kind(EM_X86_64, probed[0].bytes, 0), LODE_PROBED_OTHER);
}

static void places_know_the_kind_of_their_instruction(void **state)
{
	static const uint32_t code[] = { 0xa9bf7bfd, 0xa8c17bfd, RET, 0xd503201f, RET };
	const struct program program = { EM_AARCH64,
					 code,
					 sizeof(code),
					 { GLOBAL("pushes", 0, 12), GLOBAL("waits", 12, 8) } };
	const struct lode_code *found = read_program(*state, &program);
	const struct lode_code_function *pushes = function_named(found, "pushes");
	const struct lode_code_function *waits = function_named(found, "waits");

	assert_int_equal(found->kinds[pushes->first_entry], LODE_PROBED_PUSH);
	assert_int_equal(found->kinds[pushes->first_end], LODE_PROBED_RETURN);
	assert_int_equal(found->kinds[waits->first_entry], LODE_PROBED_NOP);
	assert_int_equal(found->kinds[waits->first_end], LODE_PROBED_RETURN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(returns_calls_and_tail_calls_are_found),
		TEST(a_conditional_branch_to_a_function_is_a_call_but_no_end),
		TEST(a_jump_into_the_midst_of_a_function_is_not_trusted),
		TEST(clones_belong_to_the_function_of_their_own_unit),
		TEST(names_that_only_look_like_clones_stay_apart),
		TEST(a_switch_is_not_taken_for_a_tail_call),
		TEST(data_in_code_is_left_alone_where_symbols_mark_it),
		TEST(what_the_kernel_cannot_probe_is_not_offered),
		TEST(the_name_of_main_is_known),
		TEST(names_are_readable_and_found_as_the_linker_knows_them),
		TEST(code_of_other_machines_has_functions_but_no_ends),
		TEST(x86_64_is_understood_where_capstone_is_there),
		TEST(x86_64_with_data_in_it_is_not_probed),
		TEST(this_program_is_understood),
		TEST(what_is_no_program_is_an_error),
		TEST(memory_that_runs_out_anywhere_is_an_error),
		cmocka_unit_test(the_kind_of_a_probed_instruction_is_what_the_kernel_makes_of_it),
		TEST(places_know_the_kind_of_their_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
