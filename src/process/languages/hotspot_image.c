/*
 * HotSpot in binaries: see hotspot_image.h.
 *
 * The tables are arrays of rows, of which the names are pointers: the file has them in its relocations, or (where these are packed)
 * in its data.
 */
#include "process/languages/hotspot_image.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/* Words of a row: the names of the type and of the field, the field's type, whether it is static, offset, address. */
#define STRUCT_WORDS   6
#define STRUCT_OFFSET  4
#define STRUCT_ADDRESS 5
/* The name, that of the super class, four flags in two words, and the size. */
#define TYPE_WORDS 5
#define TYPE_SIZE  4
/* Rows that are looked at; OpenJDK 17 has 1,200. */
#define ROWS 8192
/* Bytes of a name; those that are looked for are shorter. */
#define NAME_BYTES 48
/* No type whose size is used is larger. */
#define SIZE_LIMIT 1024

struct member {
	const char *type;
	const char *field;
	const char *later; /* as newer versions call it; NULL: the same */
};

static const struct member offsets[LODE_HOTSPOT_OFFSETS] = {
	[LODE_HOTSPOT_ARRAY_LENGTH] = { "GrowableArrayBase", "_len" },
	[LODE_HOTSPOT_ARRAY_DATA] = { "GrowableArray<int>", "_data" },
	[LODE_HOTSPOT_HEAP_MEMORY] = { "CodeHeap", "_memory" },
	[LODE_HOTSPOT_HEAP_SEGMAP] = { "CodeHeap", "_segmap" },
	[LODE_HOTSPOT_HEAP_SHIFT] = { "CodeHeap", "_log2_segment_size" },
	[LODE_HOTSPOT_SPACE_START] = { "VirtualSpace", "_low_boundary" },
	[LODE_HOTSPOT_SPACE_END] = { "VirtualSpace", "_high_boundary" },
	[LODE_HOTSPOT_SPACE_LOW] = { "VirtualSpace", "_low" },
	[LODE_HOTSPOT_QUEUE_BUFFER] = { "StubQueue", "_stub_buffer" },
	[LODE_HOTSPOT_QUEUE_LIMIT] = { "StubQueue", "_buffer_limit" },
	[LODE_HOTSPOT_QUEUE_COUNT] = { "StubQueue", "_number_of_stubs" },
	[LODE_HOTSPOT_CODELET_SIZE] = { "InterpreterCodelet", "_size" },
	[LODE_HOTSPOT_CODELET_DESCRIPTION] = { "InterpreterCodelet", "_description" },
	[LODE_HOTSPOT_BLOB_NAME] = { "CodeBlob", "_name" },
	[LODE_HOTSPOT_BLOB_SIZE] = { "CodeBlob", "_size" },
	[LODE_HOTSPOT_BLOB_COMPLETE] = { "CodeBlob", "_frame_complete_offset" },
	[LODE_HOTSPOT_BLOB_FRAME] = { "CodeBlob", "_frame_size" },
	[LODE_HOTSPOT_BLOB_START] = { "CodeBlob", "_code_begin" },
	[LODE_HOTSPOT_BLOB_END] = { "CodeBlob", "_code_end" },
	[LODE_HOTSPOT_BLOB_METHOD] = { "CompiledMethod", "_method" },
	[LODE_HOTSPOT_BLOB_DEOPT] = { "CompiledMethod", "_deopt_handler_begin" },
	[LODE_HOTSPOT_BLOB_DEOPT_MH] = { "CompiledMethod", "_deopt_mh_handler_begin" },
	[LODE_HOTSPOT_BLOB_ORIGINAL] = { "nmethod", "_orig_pc_offset" },
	[LODE_HOTSPOT_BLOB_SCOPES] = { "CompiledMethod", "_scopes_data_begin" },
	[LODE_HOTSPOT_BLOB_PCS] = { "nmethod", "_scopes_pcs_offset" },
	[LODE_HOTSPOT_BLOB_PCS_END] = { "nmethod", "_dependencies_offset" },
	[LODE_HOTSPOT_BLOB_METADATA] = { "nmethod", "_metadata_offset" },
	[LODE_HOTSPOT_METHOD_CONST] = { "Method", "_constMethod" },
	[LODE_HOTSPOT_CONST_CONSTANTS] = { "ConstMethod", "_constants" },
	[LODE_HOTSPOT_CONST_NAME] = { "ConstMethod", "_name_index" },
	[LODE_HOTSPOT_CONST_CODE_SIZE] = { "ConstMethod", "_code_size" },
	[LODE_HOTSPOT_CONST_FLAGS] = { "ConstMethod", "_flags", "_flags._flags" },
	[LODE_HOTSPOT_CONSTANTS_HOLDER] = { "ConstantPool", "_pool_holder" },
	[LODE_HOTSPOT_CONSTANTS_SOURCE] = { "ConstantPool", "_source_file_name_index" },
	[LODE_HOTSPOT_CONSTANTS_LENGTH] = { "ConstantPool", "_length" },
	[LODE_HOTSPOT_KLASS_NAME] = { "Klass", "_name" },
	[LODE_HOTSPOT_SYMBOL_LENGTH] = { "Symbol", "_length" },
	[LODE_HOTSPOT_SYMBOL_BODY] = { "Symbol", "_body" },
};

static const struct member variables[LODE_HOTSPOT_VARIABLES] = {
	[LODE_HOTSPOT_CODE_HEAPS] = { "CodeCache", "_heaps" },
	[LODE_HOTSPOT_INTERPRETER] = { "AbstractInterpreter", "_code" },
	[LODE_HOTSPOT_VERSION] = { "Abstract_VM_Version", "_vm_major_version" },
};

static const char *const types[LODE_HOTSPOT_SIZES] = {
	[LODE_HOTSPOT_BLOCK_SIZE] = "HeapBlock",          [LODE_HOTSPOT_CODELET_HEADER] = "InterpreterCodelet",
	[LODE_HOTSPOT_CONSTANTS_SIZE] = "ConstantPool",   [LODE_HOTSPOT_PC_SIZE] = "PcDesc",
	[LODE_HOTSPOT_CONST_METHOD_SIZE] = "ConstMethod",
};

/* ---- data of the file, relocated ---- */

static int is_relative(const struct lode_elf *elf, uint32_t type)
{
	return type == (elf->header.e_machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE);
}

/* Puts what relocations say into the `count` words that are at an address. */
static void relocate(const struct lode_elf *elf, uint64_t address, uint64_t *words, size_t count)
{
	GElf_Shdr header;
	Elf_Scn *section = lode_elf_section(elf, ".rela.dyn", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t relocations = data ? data->d_size / sizeof(Elf64_Rela) : 0;
	GElf_Rela relocation;

	for (size_t i = 0; i < relocations && gelf_getrela(data, (int)i, &relocation); i++) {
		uint64_t at = relocation.r_offset - address;

		if (at < count * sizeof(*words) && !(at & 7) && is_relative(elf, GELF_R_TYPE(relocation.r_info)))
			words[at / sizeof(*words)] = (uint64_t)relocation.r_addend;
	}
}

static int read_words(const struct lode_elf *elf, uint64_t address, uint64_t *words, size_t count)
{
	if (!lode_elf_initial_bytes(elf, address, words, count * sizeof(*words)))
		return 0;
	relocate(elf, address, words, count);
	return 1;
}

/* The name at an address, cut; "" where there is none. */
static void read_name(const struct lode_elf *elf, uint64_t address, char name[NAME_BYTES])
{
	name[0] = '\0';
	if (address)
		lode_elf_initial_bytes(elf, address, name, NAME_BYTES);
	name[NAME_BYTES - 1] = '\0';
}

/* ---- tables ---- */

struct table {
	uint64_t address;
	uint64_t *words;
	size_t rows;
};

/* Reads the table that a pointer called `name` leads to: as far as the file has it. Returns 0 or LODE_SYSTEM. */
static int read_table(struct table *table, const struct lode_elf *elf, const char *name, size_t row_words)
{
	size_t bytes = row_words * sizeof(*table->words);
	GElf_Sym pointer;

	memset(table, 0, sizeof(*table));
	if (!lode_elf_exported(elf, name, &pointer) || !read_words(elf, pointer.st_value, &table->address, 1))
		return 0;
	table->words = lode_calloc(ROWS, bytes);
	if (!table->words)
		return LODE_SYSTEM;
	while (table->rows < ROWS && lode_elf_initial_bytes(elf, table->address + table->rows * bytes,
							    table->words + table->rows * row_words, bytes))
		table->rows++;
	relocate(elf, table->address, table->words, table->rows * row_words);
	return 0;
}

/* The number of a member in a list; -1: it is not wanted. */
static int find_member(const struct member *members, int count, const char *type, const char *field)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(members[i].type, type) &&
		    (!strcmp(members[i].field, field) || (members[i].later && !strcmp(members[i].later, field))))
			return i;
	return -1;
}

/* What only lines are read by may be missing. */
static int is_for_lines(int offset)
{
	return offset == LODE_HOTSPOT_CONST_CODE_SIZE || offset == LODE_HOTSPOT_CONST_FLAGS;
}

/* Returns whether all fields and variables are there. The last row has no name. */
static int find_fields(struct lode_hotspot_image *image, const struct lode_elf *elf, const struct table *table)
{
	int missing = 0;

	for (size_t i = 0; i < table->rows && table->words[i * STRUCT_WORDS]; i++) {
		const uint64_t *row = table->words + i * STRUCT_WORDS;
		char type[NAME_BYTES], field[NAME_BYTES];
		int offset, variable;

		read_name(elf, row[0], type);
		read_name(elf, row[1], field);
		offset = find_member(offsets, LODE_HOTSPOT_OFFSETS, type, field);
		variable = find_member(variables, LODE_HOTSPOT_VARIABLES, type, field);
		if (offset >= 0)
			image->rows[offset] = table->address + (i * STRUCT_WORDS + STRUCT_OFFSET) * sizeof(*row);
		if (variable >= 0)
			image->variables[variable] = row[STRUCT_ADDRESS];
	}
	for (int i = 0; i < LODE_HOTSPOT_OFFSETS; i++)
		missing += !image->rows[i] && !is_for_lines(i);
	for (int i = 0; i < LODE_HOTSPOT_VARIABLES; i++)
		missing += !image->variables[i];
	return !missing;
}

static int find_sizes(struct lode_hotspot_image *image, const struct lode_elf *elf, const struct table *table)
{
	int found = 0;

	for (size_t i = 0; i < table->rows && table->words[i * TYPE_WORDS]; i++) {
		const uint64_t *row = table->words + i * TYPE_WORDS;
		char name[NAME_BYTES];

		read_name(elf, row[0], name);
		for (int k = 0; k < LODE_HOTSPOT_SIZES; k++) {
			if (strcmp(name, types[k]) != 0)
				continue;
			image->sizes[k] = (uint32_t)row[TYPE_SIZE];
			found += k != LODE_HOTSPOT_CONST_METHOD_SIZE && row[TYPE_SIZE] &&
				 row[TYPE_SIZE] <= SIZE_LIMIT;
		}
	}
	return found == LODE_HOTSPOT_SIZES - 1;
}

int lode_hotspot_image_read(struct lode_hotspot_image *image, const struct lode_elf *elf)
{
	struct table structs = { 0 }, sizes = { 0 };
	GElf_Sym code, pointer;
	int support = LODE_HOTSPOT_UNSUPPORTED;

	memset(image, 0, sizeof(*image));
	if (!lode_elf_exported(elf, "gHotSpotVMStructs", &pointer) ||
	    !lode_elf_exported(elf, "JNI_CreateJavaVM", &code))
		return LODE_HOTSPOT_NONE;
	image->code = code.st_value;
	if (read_table(&structs, elf, "gHotSpotVMStructs", STRUCT_WORDS) < 0 ||
	    read_table(&sizes, elf, "gHotSpotVMTypes", TYPE_WORDS) < 0)
		support = LODE_SYSTEM;
	else if (find_fields(image, elf, &structs) && find_sizes(image, elf, &sizes))
		support = LODE_HOTSPOT_SUPPORTED;
	if (!lode_elf_initial_bytes(elf, image->variables[LODE_HOTSPOT_VERSION], &image->version,
				    sizeof(image->version)))
		image->version = 0;
	lode_free(structs.words);
	lode_free(sizes.words);
	return support;
}
