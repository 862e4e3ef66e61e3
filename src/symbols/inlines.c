/*
 * Inlined functions, and the lines that they are called in, from DWARF.
 *
 * Asking libdw for the scopes of one address walks a whole unit each time, far
 * too slow for many thousand addresses. Here one pass over all entries collects
 * every inlined call as ranges with a link to the call around it; since an inner
 * call is added after the outer one, and later ranges win, the table's owner of
 * an address is its innermost call, and the links lead outwards from there.
 *
 * Entries point at each other, and hostile ones can point in circles: no more
 * entries and ranges are visited than there are bytes of DWARF.
 */
#include "symbols/symbol_cache.h"
#include "symbols/symbol_files.h"
#include "symbols/elf.h"

#include "base/error.h"
#include "base/hash_index.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <string.h>

/* Levels of nesting that are followed; compilers stay below a hundred. */
#define DEPTH_LIMIT 4096
/* Bytes of DWARF that are walked through. */
#define DWARF_LIMIT (16ull << 30)

struct level {
	Dwarf_Die die;
	uint32_t around; /* record of the inlined call around it, or LODE_NONE */
};

/* A function that was inlined somewhere. */
struct function {
	const void *entry;
	uint32_t name;
};

struct pass {
	const struct lode_table *symbols; /* for the parts of the file that hold code */
	struct lode_table_builder builder;
	struct lode_index functions; /* by the entry of the function that was inlined */
	LODE_ARRAY(struct function) known;
	struct lode_index texts; /* names by content: one function has an entry in many units */
	uint64_t left;           /* entries that may still be visited */
	uint64_t text_left;      /* bytes that names may still take */
	uint64_t too_deep;
	int skip_types;  /* C and C++: no code inside types */
	int wants_lines; /* of the calls, as text in place of their names */
	struct level *stack;
	size_t capacity;
};

/* ---- names ---- */

static const char *function_name(Dwarf_Die *call)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(call, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(call, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(call);
}

/* The inlined function's own entry: calls of the same function share its name. */
static const void *origin_of(Dwarf_Die *call)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;

	if (dwarf_attr(call, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, &origin))
		return origin.addr;
	return call->addr;
}

/* The offset of `name`, added if new. */
static uint32_t intern(struct pass *pass, const char *name)
{
	size_t length = strlen(name);
	uint64_t hash = lode_hash_bytes(name, length);
	uint32_t known = LODE_INDEX_FIND(i, &pass->texts, hash, strcmp(pass->builder.strings.bytes + i, name) == 0);

	if (known != LODE_NONE)
		return known;
	/* Names that overlap in the file could add up to far more than the file. */
	if (length > pass->text_left) {
		pass->left = 0;
		return LODE_NONE;
	}
	pass->text_left -= length;
	known = lode_table_name(&pass->builder, name, length);
	if (pass->builder.strings.failed || lode_index_insert(&pass->texts, hash, known) < 0)
		pass->builder.failed = 1;
	return known;
}

static uint32_t name_of(struct pass *pass, Dwarf_Die *call)
{
	const void *entry = origin_of(call);
	uint64_t hash = lode_hash_u64((uintptr_t)entry);
	uint32_t known = LODE_INDEX_FIND(i, &pass->functions, hash, pass->known.items[i].entry == entry), offset;
	const char *name;

	if (known != LODE_NONE)
		return pass->known.items[known].name;
	name = function_name(call);
	offset = intern(pass, name ? name : "?");
	if (LODE_INDEX_PUSH(&pass->functions, hash, &pass->known, (struct function){ entry, offset }) < 0)
		pass->builder.failed = 1;
	return offset;
}

/* The line of a call, in the function around it. */
static uint32_t line_of(struct pass *pass, Dwarf_Die *call)
{
	Dwarf_Attribute attribute;
	Dwarf_Word line = 0;
	char text[24];

	if (!dwarf_attr(call, DW_AT_call_line, &attribute) || dwarf_formudata(&attribute, &line) < 0)
		line = 0;
	snprintf(text, sizeof(text), "%u", (unsigned)line);
	return intern(pass, text);
}

/* ---- calls ---- */

/* What the linker threw away keeps its entries, at addresses that hold no code. */
static int holds_code(const struct lode_table *table, uint64_t start, uint64_t end)
{
	if (!table->load_count)
		return start != 0;
	for (size_t i = 0; i < table->load_count; i++) {
		const struct lode_load *load = &table->loads[i];

		if (load->executable && start >= load->address && start - load->address < load->size &&
		    end - start <= load->size)
			return start != 0;
	}
	return 0;
}

/* Adds the ranges of an inlined call. Returns the number of its first record, or `around` without any. */
static uint32_t add_call(struct pass *pass, Dwarf_Die *call, uint32_t around)
{
	size_t first = pass->builder.count;
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;

	while (pass->left && !pass->builder.failed &&
	       (offset = dwarf_ranges(call, offset, &base, &start, &end)) > 0) {
		pass->left--;
		if (start < end && holds_code(pass->symbols, start, end))
			lode_table_add(&pass->builder, start, end,
				       pass->wants_lines ? line_of(pass, call) : name_of(pass, call), around);
	}
	return pass->builder.count > first ? (uint32_t)first : around;
}

static int may_hold_calls(const struct pass *pass, Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return !pass->skip_types;
	case DW_TAG_subroutine_type:
	case DW_TAG_array_type:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		return 0;
	default:
		return dwarf_haschildren(die) > 0;
	}
}

/* ---- the walk ---- */

static int make_level(struct pass *pass, size_t depth)
{
	if (LODE_GROW(pass->stack, pass->capacity, depth + 1) == 0)
		return 0;
	pass->builder.failed = 1;
	return -1;
}

/* Goes down into the entry at `depth`, if there is anything to find; the new depth. */
static size_t enter(struct pass *pass, size_t depth, uint32_t around)
{
	Dwarf_Die child;

	if (!may_hold_calls(pass, &pass->stack[depth].die) || dwarf_child(&pass->stack[depth].die, &child) != 0)
		return depth;
	if (depth + 1 >= DEPTH_LIMIT) {
		pass->too_deep++;
		return depth;
	}
	if (make_level(pass, depth + 1) < 0)
		return depth;
	pass->stack[depth + 1] = (struct level){ child, around };
	return depth + 1;
}

/* Steps to the entry behind the one at `depth`, or behind one around it; 0 when the unit is done. */
static size_t leave(struct pass *pass, size_t depth)
{
	while (depth) {
		struct level *level = &pass->stack[depth];

		if (dwarf_siblingof(&level->die, &level->die) == 0)
			return depth;
		depth--;
	}
	return 0;
}

/* All inlined calls under `root`, in the order they are written: outer before inner. */
static void walk(struct pass *pass, const Dwarf_Die *root)
{
	size_t depth = 0;

	if (make_level(pass, 0) < 0)
		return;
	pass->stack[0] = (struct level){ *root, LODE_NONE };
	depth = enter(pass, 0, LODE_NONE);
	while (depth && pass->left && !pass->builder.failed) {
		struct level *level = &pass->stack[depth];
		uint32_t around = level->around;
		size_t deeper;

		pass->left--;
		if (dwarf_tag(&level->die) == DW_TAG_inlined_subroutine)
			around = add_call(pass, &level->die, around);
		deeper = enter(pass, depth, around);
		depth = deeper > depth ? deeper : leave(pass, depth);
	}
}

static int is_c_family(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return 1;
	default:
		return 0;
	}
}

static void walk_units(struct pass *pass, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	while (pass->left && !pass->builder.failed &&
	       dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0) {
		Dwarf_Die *root = type == DW_UT_skeleton && split.addr ? &split : &die;

		pass->left--;
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		pass->skip_types = is_c_family(root);
		walk(pass, root);
	}
}

/* Bytes of all DWARF sections, unpacked: entries and ranges are a byte long at least. */
static uint64_t dwarf_size(const struct lode_elf *elf)
{
	uint64_t sum = 0;
	size_t names;
	Elf_Scn *section = NULL;

	if (elf_getshdrstrndx(elf->elf, &names) < 0)
		return 0;
	while ((section = elf_nextscn(elf->elf, section))) {
		GElf_Shdr header;
		GElf_Chdr packed;
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
		    !(name = elf_strptr(elf->elf, names, header.sh_name)) || !strstr(name, "debug_"))
			continue;
		if (header.sh_flags & SHF_COMPRESSED && gelf_getchdr(section, &packed))
			sum += packed.ch_size < DWARF_LIMIT ? packed.ch_size : 0;
		else /* an old way of packing gives about four times as much */
			sum += header.sh_size * (name[1] == 'z' ? 16 : 1);
	}
	return sum < DWARF_LIMIT ? sum : DWARF_LIMIT;
}

static int read_calls(struct lode_image *image, const char *file, int wants_lines, struct lode_table *table)
{
	struct pass pass = { .symbols = &image->table, .wants_lines = wants_lines };
	struct lode_elf elf;
	Dwarf *dwarf;
	int code;

	if (lode_elf_open(&elf, file) < 0)
		return LODE_BAD_INPUT;
	dwarf = dwarf_begin_elf(elf.elf, DWARF_C_READ, NULL);
	if (dwarf) {
		pass.left = pass.text_left = dwarf_size(&elf);
		walk_units(&pass, dwarf);
		dwarf_end(dwarf);
	}
	if (dwarf && !pass.left)
		lode_notes_add(image->options->notes, 1, "files with circular references in their DWARF", file);
	lode_notes_add(image->options->notes, pass.too_deep, "inlined functions nested too deeply", file);
	code = lode_table_finish(&pass.builder, table);
	lode_free(pass.stack);
	lode_free(pass.known.items);
	lode_index_release(&pass.functions);
	lode_index_release(&pass.texts);
	lode_elf_close(&elf);
	return code;
}

const char *lode_image_file_with_dwarf(const struct lode_image *image)
{
	const struct lode_origin *origin = &image->origin;

	return origin->debug && origin->debug[0] ? origin->debug : origin->binary;
}

static int make_inlines(void *context, struct lode_table *table)
{
	return read_calls(context, lode_image_file_with_dwarf(context), 0, table);
}

static int make_call_lines(void *context, struct lode_table *table)
{
	return read_calls(context, lode_image_file_with_dwarf(context), 1, table);
}

static int load_calls(struct lode_image *image, const char *kind, int (*make)(void *, struct lode_table *),
		      struct lode_table *table)
{
	const char *file = lode_image_file_with_dwarf(image);
	char *identity;
	int code;

	if (!file || !file[0])
		return 0;
	identity = lode_candidate_identity(file);
	if (!identity)
		return LODE_SYSTEM;
	code = lode_cache_through(image, kind, file, identity, make, table);
	lode_free(identity);
	return code;
}

int lode_image_load_inlines(struct lode_image *image)
{
	return load_calls(image, "inlines", make_inlines, &image->inlines);
}

int lode_image_load_call_lines(struct lode_image *image)
{
	return load_calls(image, "call-lines", make_call_lines, &image->call_lines);
}
