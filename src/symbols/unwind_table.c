/*
 * Unwind tables: see unwind_table.h.
 *
 * Each function's program is run once (cfi_program.c) and leaves a few rows. Then
 * functions are put in order of address; where two claim the same code, .eh_frame wins
 * over .debug_frame, and the earlier over the later. Code between functions gets the
 * empty rule, except gaps in the middle of a function (continues_over). Neighbouring
 * rows with the same rule become one.
 */
#include "symbols/unwind_table.h"

#include "base/bisect.h"
#include "base/error.h"
#include "base/hash_index.h"
#include "symbols/cfi_program.h"
#include "symbols/frame_code_aarch64.h"
#include "symbols/linkage_frames.h"
#include "symbols/unwind_file.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

/* A function and its rows, which are contiguous. */
struct function {
	uint64_t start;
	uint64_t end;
	size_t first;
	uint32_t count;
	uint32_t priority; /* the smaller one wins */
};

struct row {
	uint64_t start;
	uint32_t rule;
};

struct making {
	int machine;
	int is_64;
	uint32_t priority;
	LODE_ARRAY(struct function) functions;
	LODE_ARRAY(struct row) rows;
	LODE_ARRAY(struct lode_unwind_rule) rules;
	struct lode_index index; /* of the rules */
	uint32_t dropped;
};

static uint64_t rule_hash(const struct lode_unwind_rule *rule)
{
	return lode_hash_bytes(rule, sizeof(*rule));
}

/* The number of a rule, added if it is new; LODE_NONE when memory has run out. */
static uint32_t number_of(struct making *making, const struct lode_unwind_rule *rule)
{
	uint64_t hash = rule_hash(rule);
	uint32_t id =
		LODE_INDEX_FIND(i, &making->index, hash, !memcmp(&making->rules.items[i], rule, sizeof(*rule)));

	if (id != LODE_NONE)
		return id;
	if (making->rules.count == LODE_UNWIND_RULES) {
		making->dropped++;
		return 0;
	}
	if (LODE_INDEX_PUSH(&making->index, hash, &making->rules, *rule) < 0)
		return LODE_NONE;
	return (uint32_t)making->rules.count - 1;
}

static int handle_row(void *context, uint64_t start, const struct lode_unwind_rule *rule)
{
	struct making *making = context;
	struct row row = { start, number_of(making, rule) };

	if (row.rule == LODE_NONE || making->rows.count >= LODE_UNWIND_ROWS_LIMIT ||
	    LODE_PUSH(&making->rows, row) < 0)
		return LODE_SYSTEM;
	return 0;
}

static int handle_function(void *context, const struct lode_cfi_function *from)
{
	struct making *making = context;
	struct function function = { from->start, from->end, making->rows.count, 0, making->priority };

	if (lode_cfi_run(from, making->machine, making->is_64, handle_row, making) < 0)
		return LODE_SYSTEM;
	function.count = (uint32_t)(making->rows.count - function.first);
	return LODE_PUSH(&making->functions, function);
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->priority != y->priority)
		return x->priority < y->priority ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Drops functions whose code another one claims with more right. */
static void drop_overlaps(struct making *making)
{
	size_t kept = 0;

	for (size_t i = 0; i < making->functions.count; i++) {
		const struct function *function = &making->functions.items[i];

		while (kept && making->functions.items[kept - 1].end > function->start &&
		       making->functions.items[kept - 1].priority > function->priority)
			kept--;
		if (kept && making->functions.items[kept - 1].end > function->start)
			continue;
		making->functions.items[kept++] = *function;
	}
	making->functions.count = kept;
}

struct rows {
	uint32_t *starts;
	uint16_t *rules;
	size_t count;
};

static void put_row(struct rows *rows, uint64_t base, uint64_t start, uint32_t rule)
{
	if (start < base || start - base >= UINT32_MAX)
		return;
	if (rows->count && rows->rules[rows->count - 1] == rule)
		return;
	if (!rows->count && !rule)
		return;
	rows->starts[rows->count] = (uint32_t)(start - base);
	rows->rules[rows->count++] = (uint16_t)rule;
}

/* The gap in glibc's clone3() has 10 bytes. */
#define GAP_BYTES 16u

/*
 * Whether the code between `end` and `start` goes on with what is before it. clone() and
 * clone3() of glibc are not described around their system call, because nothing fits both
 * the parent and the child. The parent, which may wait there for the child to run another
 * program, has only the return address on its stack. Padding between functions is recognized
 * from such code by where it ends: functions begin at multiples of 16.
 */
static int continues_over(const struct making *making, const struct row *before, uint64_t end, uint64_t start)
{
	const struct lode_unwind_rule *rule = &making->rules.items[before->rule];

	return making->machine == EM_X86_64 && start - end <= GAP_BYTES && start & 15 && rule->cfa == LODE_CFA_SP &&
	       rule->cfa_offset == 8 && rule->return_at == LODE_PLACE_CFA && rule->frame_at == LODE_PLACE_KEPT;
}

/* All rows in order; `rows` has room for one more a function. */
static void put_rows(const struct making *making, uint64_t base, struct rows *rows)
{
	const struct row *before = NULL;
	uint64_t end = base;

	for (size_t i = 0; i < making->functions.count; i++) {
		const struct function *function = &making->functions.items[i];

		if (function->start > end && !(before && continues_over(making, before, end, function->start)))
			put_row(rows, base, end, 0);
		for (uint32_t j = 0; j < function->count; j++)
			put_row(rows, base, making->rows.items[function->first + j].start,
				making->rows.items[function->first + j].rule);
		before = function->count ? &making->rows.items[function->first + function->count - 1] : NULL;
		end = function->end;
	}
	put_row(rows, base, end, 0);
}

/* The executable parts of the file; the lowest of their addresses. */
static size_t read_loads(const struct lode_elf *elf, struct lode_load *loads, size_t limit, uint64_t *base)
{
	size_t count = 0, found = 0;

	*base = UINT64_MAX;
	if (elf_getphdrnum(elf->elf, &count) < 0)
		return 0;
	for (size_t i = 0; i < count && i < UINT16_MAX && found < limit; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    !(header.p_flags & PF_X))
			continue;
		loads[found++] = (struct lode_load){ header.p_offset, header.p_filesz, header.p_vaddr, 1 };
		if (header.p_vaddr < *base)
			*base = header.p_vaddr;
	}
	return found;
}

/* Lays everything out as in a cache file, in one piece of memory that the table owns. */
static int lay_out(struct making *making, const struct lode_elf *binary, struct lode_unwind_table *table)
{
	struct lode_load loads[LODE_UNWIND_LOADS_LIMIT];
	struct lode_unwind_file_header header = { .machine = (uint32_t)making->machine,
						  .dropped = making->dropped };
	struct rows rows = { 0 };
	size_t most = making->rows.count + making->functions.count + 1, size;
	char *bytes, *at;

	header.loads = read_loads(binary, loads, LODE_UNWIND_LOADS_LIMIT, &header.base);
	if (!header.loads || !making->functions.count)
		return 0;
	rows.starts = lode_calloc(most, sizeof(*rows.starts));
	rows.rules = lode_calloc(most, sizeof(*rows.rules));
	size = sizeof(header) + making->rules.count * sizeof(*making->rules.items) +
	       header.loads * sizeof(*loads) + most * 6;
	bytes = rows.starts && rows.rules ? lode_alloc(size) : NULL;
	if (bytes) {
		put_rows(making, header.base, &rows);
		header.rows = rows.count;
		header.rules = making->rules.count;
		memcpy(bytes, &header, sizeof(header));
		at = bytes + sizeof(header);
		memcpy(at, making->rules.items, making->rules.count * sizeof(*making->rules.items));
		at += making->rules.count * sizeof(*making->rules.items);
		memcpy(at, loads, header.loads * sizeof(*loads));
		at += header.loads * sizeof(*loads);
		memcpy(at, rows.starts, rows.count * sizeof(*rows.starts));
		memcpy(at + rows.count * sizeof(*rows.starts), rows.rules, rows.count * sizeof(*rows.rules));
	}
	lode_free(rows.starts);
	lode_free(rows.rules);
	if (!bytes)
		return LODE_SYSTEM;
	at = bytes + sizeof(header);
	*table = (struct lode_unwind_table){
		.base = header.base,
		.count = header.rows,
		.rule_count = header.rules,
		.load_count = header.loads,
		.machine = header.machine,
		.dropped = making->dropped,
		.owned = bytes,
		.dictionary = (const struct lode_unwind_rule *)(void *)at,
	};
	table->loads = (const struct lode_load *)(const void *)(table->dictionary + table->rule_count);
	table->starts = (const uint32_t *)(const void *)(table->loads + table->load_count);
	table->rules = (const uint16_t *)(const void *)(table->starts + table->count);
	return 0;
}

static int read_section(struct making *making, const struct lode_elf *elf, const char *section)
{
	making->priority++;
	making->is_64 = elf->header.e_ident[EI_CLASS] == ELFCLASS64;
	return lode_cfi_walk(elf, section, handle_function, making);
}

/* The value of a function that the file exports; 0 without one. */
static uint64_t exported_address(const struct lode_elf *elf, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = lode_elf_section(elf, ".dynsym", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *text = elf_strptr(elf->elf, header.sh_link, symbol.st_name);

		if (text && !strcmp(text, name))
			return symbol.st_value;
	}
	return 0;
}

/* The bytes of a function, or NULL. */
static const uint8_t *code_of(const struct lode_elf *elf, const GElf_Sym *symbol)
{
	Elf_Scn *section = elf_getscn(elf->elf, symbol->st_shndx);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	GElf_Shdr header;

	if (!data || !data->d_buf || !gelf_getshdr(section, &header) || symbol->st_value < header.sh_addr ||
	    symbol->st_value - header.sh_addr > data->d_size ||
	    symbol->st_size > data->d_size - (symbol->st_value - header.sh_addr))
		return NULL;
	return (const uint8_t *)data->d_buf + (symbol->st_value - header.sh_addr);
}

static int handle_code(struct making *making, const struct lode_elf *elf, const GElf_Sym *symbol)
{
	struct function function = { symbol->st_value, symbol->st_value + symbol->st_size, making->rows.count, 0,
				     making->priority };
	const uint8_t *code = code_of(elf, symbol);

	if (!code || GELF_ST_TYPE(symbol->st_info) != STT_FUNC || !symbol->st_size)
		return 0;
	if (lode_frame_code_aarch64(code, symbol->st_size, function.start, handle_row, making) < 0)
		return LODE_SYSTEM;
	function.count = (uint32_t)(making->rows.count - function.first);
	return LODE_PUSH(&making->functions, function);
}

/* Its functions, which programs call all the time to know the time. */
static int add_vdso_functions(struct making *making, const struct lode_elf *elf)
{
	GElf_Shdr header;
	Elf_Scn *section = lode_elf_section(elf, ".dynsym", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;
	int code = 0;

	making->priority++;
	for (int i = 0; !code && data && gelf_getsym(data, i, &symbol); i++)
		code = handle_code(making, elf, &symbol);
	return code;
}

/* aarch64 kernels are built without call frame information in their vDSO; signal handlers return through it. */
static int add_vdso(struct making *making, const struct lode_elf *elf)
{
	struct lode_cfi_shared shared = { .is_signal = 1, .code_alignment = 4, .program = (const uint8_t *)"" };
	struct lode_cfi_function function = { .shared = &shared };
	uint64_t address = making->machine == EM_AARCH64 ? exported_address(elf, "__kernel_rt_sigreturn") : 0;

	if (!address)
		return 0;
	/* Two instructions; the return address is looked up by the byte before them. */
	making->priority++;
	function.start = address - 4;
	function.end = address + 8;
	shared.program_end = shared.program;
	return handle_function(making, &function) < 0 ? LODE_SYSTEM : add_vdso_functions(making, elf);
}

int lode_unwind_table_make(struct lode_unwind_table *table, const struct lode_elf *binary,
			   const struct lode_elf *debug)
{
	struct making making = { .machine = binary->header.e_machine };
	struct lode_unwind_rule none = { 0 };
	int code;

	memset(table, 0, sizeof(*table));
	if ((making.machine != EM_X86_64 && making.machine != EM_AARCH64) ||
	    binary->header.e_ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	code = number_of(&making, &none) == LODE_NONE ? LODE_SYSTEM : 0;
	if (!code)
		code = read_section(&making, binary, ".eh_frame");
	if (!code)
		code = read_section(&making, binary, ".debug_frame");
	if (!code && debug && debug->header.e_machine == making.machine)
		code = read_section(&making, debug, ".debug_frame");
	if (!code) {
		making.priority++;
		code = lode_linkage_frames_walk(binary, handle_function, &making);
	}
	if (!code)
		code = add_vdso(&making, binary);
	if (!code) {
		if (making.functions.count)
			qsort(making.functions.items, making.functions.count, sizeof(*making.functions.items),
			      compare_functions);
		drop_overlaps(&making);
		code = lay_out(&making, binary, table);
	}
	lode_free(making.functions.items);
	lode_free(making.rows.items);
	lode_free(making.rules.items);
	lode_index_release(&making.index);
	return code;
}

void lode_unwind_table_release(struct lode_unwind_table *table)
{
	lode_free(table->owned);
	lode_map_close(&table->map);
	memset(table, 0, sizeof(*table));
}

/* ---- looking up ---- */

uint64_t lode_unwind_table_address(const struct lode_unwind_table *table, uint64_t offset)
{
	for (size_t i = 0; i < table->load_count; i++)
		if (offset >= table->loads[i].offset && offset - table->loads[i].offset < table->loads[i].size)
			return offset - table->loads[i].offset + table->loads[i].address;
	return 0;
}

int lode_unwind_table_shift(const struct lode_unwind_table *table, uint64_t offset, uint64_t size, uint64_t *shift)
{
	for (size_t i = 0; i < table->load_count; i++) {
		const struct lode_load *load = &table->loads[i];

		/* Mappings begin and end at pages, parts of files anywhere. */
		if (load->offset < offset ? offset - load->offset < load->size : load->offset - offset < size) {
			*shift = load->address - load->offset;
			return 1;
		}
	}
	return 0;
}

const struct lode_unwind_rule *lode_unwind_table_find(const struct lode_unwind_table *table, uint64_t address)
{
	static const struct lode_unwind_rule none;
	uint64_t at = address - table->base;
	size_t next;

	if (address < table->base)
		return &none;
	next = LODE_BISECT(i, 0, table->count, table->starts[i] <= at);
	if (!next || table->rules[next - 1] >= table->rule_count)
		return &none;
	return &table->dictionary[table->rules[next - 1]];
}
