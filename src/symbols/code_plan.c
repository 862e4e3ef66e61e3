/*
 * Plans: see code_plan.h.
 *
 * The symbol table of the binary (or of its debug file), laid over the bounds in
 * .eh_frame, cuts its addresses into segments; those in mapped code are the
 * pieces. From there on only file offsets are used, so that no address, even a
 * wild one, needs more memory than the file has bytes: the pages of the file lead
 * to the piece at an address in a step or two.
 */
#include "symbols/code_plan.h"

#include "base/starts_with.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the longest name that plt.c makes, and more. */
#define STUB_NAME_LIMIT 2048

/* ---- opening ---- */

static int open_files(struct lode_code_plan *plan, const char *path, struct lode_error *error)
{
	int code = lode_map_open(&plan->map, path, error);

	if (code < 0)
		return code;
	if (lode_elf_open(&plan->elf, path) < 0)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: is not an ELF file; give a program or a shared library", path);
	return 0;
}

/* The table, made as for any other look-up, but without a cache. */
static int load_table(struct lode_code_plan *plan, const char *path)
{
	struct lode_symbols_options options = { .cache = "" };
	char no_id[1] = "";
	char *own = lode_strdup(path);
	int code = LODE_SYSTEM;

	plan->image.kind = LODE_IMAGE_BINARY;
	plan->image.options = &options;
	plan->image.cache = "";
	plan->image.build_id = no_id;
	plan->image.paths.items = &own;
	plan->image.paths.count = 1;
	if (own)
		code = lode_image_load_binary(&plan->image);
	plan->image.options = NULL;
	plan->image.build_id = NULL;
	plan->image.paths.items = NULL;
	lode_free(own);
	return code;
}

static int compare_loads(const void *a, const void *b)
{
	const struct lode_load *one = a, *other = b;

	return one->address < other->address ? -1 : one->address > other->address;
}

static int copy_loads(struct lode_code_plan *plan)
{
	const struct lode_table *table = &plan->image.table;

	plan->loads = lode_calloc(table->load_count + 1, sizeof(*plan->loads));
	if (!plan->loads)
		return LODE_SYSTEM;
	for (size_t i = 0; i < table->load_count; i++) {
		struct lode_load load = table->loads[i];

		if (!load.size || load.offset >= plan->map.size || load.address > UINT64_MAX - load.size)
			continue;
		if (load.size > plan->map.size - load.offset)
			load.size = plan->map.size - load.offset;
		plan->loads[plan->load_count++] = load;
	}
	if (plan->load_count)
		qsort(plan->loads, plan->load_count, sizeof(*plan->loads), compare_loads);
	return 0;
}

/* ---- pieces ---- */

/* The sections of the procedure linkage table: what has no name there is no function. */
struct linkage {
	uint64_t starts[4];
	uint64_t ends[4];
};

static void find_linkage(const struct lode_elf *elf, struct linkage *linkage)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	GElf_Shdr header;

	memset(linkage, 0, sizeof(*linkage));
	for (size_t i = 0; i < 4; i++) {
		if (!lode_elf_section(elf, names[i], &header))
			continue;
		linkage->starts[i] = header.sh_addr;
		linkage->ends[i] = header.sh_addr + header.sh_size;
	}
}

static int is_linkage(const struct linkage *linkage, uint64_t address)
{
	for (size_t i = 0; i < 4; i++)
		if (address >= linkage->starts[i] && address < linkage->ends[i])
			return 1;
	return 0;
}

static int add_piece(struct lode_code_plan *plan, uint64_t start, uint64_t end, uint32_t record)
{
	const struct lode_load *load = lode_code_plan_load(plan, start);

	if (!load || !load->executable)
		return 0;
	if (end - load->address > load->size)
		end = load->address + load->size;
	return LODE_PUSH(&plan->pieces, (struct lode_plan_piece){
						.start = start - load->address + load->offset,
						.end = end - load->address + load->offset,
						.address = start,
						.record = record,
						.function = LODE_NONE,
					});
}

static int find_pieces(struct lode_code_plan *plan)
{
	const struct lode_table *table = &plan->image.table;
	struct linkage linkage;
	int code = 0;

	find_linkage(&plan->elf, &linkage);
	for (size_t i = 0; i + 1 < table->segments && code == 0; i++) {
		uint32_t record = table->owners[i];

		if (record == LODE_NONE)
			continue;
		if (table->records[record].name == LODE_NONE && is_linkage(&linkage, table->starts[i]))
			continue;
		code = add_piece(plan, table->starts[i], table->starts[i + 1], record);
	}
	return code;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct lode_plan_piece *one = a, *other = b;

	return one->start < other->start ? -1 : one->start > other->start;
}

/* By offset; where a file maps the same bytes twice, the first wins. */
static void order_pieces(struct lode_code_plan *plan)
{
	size_t kept = 0;

	if (plan->pieces.count)
		qsort(plan->pieces.items, plan->pieces.count, sizeof(*plan->pieces.items), compare_pieces);
	for (size_t i = 0; i < plan->pieces.count; i++)
		if (!kept || plan->pieces.items[i].start >= plan->pieces.items[kept - 1].end)
			plan->pieces.items[kept++] = plan->pieces.items[i];
	plan->pieces.count = kept;
}

static int make_pages(struct lode_code_plan *plan)
{
	size_t piece = 0;

	plan->page_count = (plan->map.size >> LODE_PLAN_PAGE_BITS) + 1;
	plan->pages = lode_realloc(NULL, plan->page_count, sizeof(*plan->pages));
	if (!plan->pages)
		return LODE_SYSTEM;
	for (size_t i = 0; i < plan->page_count; i++) {
		while (piece < plan->pieces.count &&
		       plan->pieces.items[piece].end <= (uint64_t)i << LODE_PLAN_PAGE_BITS)
			piece++;
		plan->pages[i] = (uint32_t)piece;
	}
	return 0;
}

/* ---- functions ---- */

static int is_stub(const char *name)
{
	size_t length = name ? strnlen(name, STUB_NAME_LIMIT) : 0;

	return length > 4 && length < STUB_NAME_LIMIT && !strcmp(name + length - 4, "@plt");
}

/* `*ABS*+0xADDRESS@plt` leads to a function of this binary, which is chosen when the program starts. */
static uint32_t chosen_function(const struct lode_code_plan *plan, const char *name)
{
	const struct lode_plan_piece *piece;

	piece = lode_code_plan_at(plan, strtoull(name + strlen("*ABS*+"), NULL, 16));
	return piece && !(piece->function & LODE_CODE_IMPORT) ? piece->function : LODE_NONE;
}

uint32_t lode_code_plan_add(struct lode_code_plan *plan, uint32_t record)
{
	if (plan->functions.count >= LODE_CODE_IMPORT - 1 || LODE_PUSH(&plan->functions, record) < 0)
		return LODE_NONE;
	return (uint32_t)plan->functions.count - 1;
}

static int number_piece(struct lode_code_plan *plan, struct lode_plan_piece *piece,
			const struct lode_code_kin *kin, uint32_t *numbers)
{
	const struct lode_table_record *record = &plan->image.table.records[piece->record];
	const char *name = lode_table_text(&plan->image.table, record->name);
	uint32_t of = kin[piece->record].of;

	piece->stub = is_stub(name) != 0;
	if (piece->stub) {
		if (lode_starts_with(name, "*ABS*"))
			return 0; /* later, when functions have numbers */
		piece->function = lode_code_plan_import(plan, name);
		return piece->function == LODE_NONE ? LODE_SYSTEM : 0;
	}
	if (piece->cold)
		return 0; /* until instructions show whose it is */
	if (numbers[of] == LODE_NONE)
		numbers[of] = lode_code_plan_add(plan, of);
	piece->function = numbers[of];
	piece->entry = piece->address == record->start && !kin[piece->record].cold;
	return piece->function == LODE_NONE ? LODE_SYSTEM : 0;
}

static int number_pieces(struct lode_code_plan *plan, const struct lode_code_kin *kin, uint32_t *numbers)
{
	const struct lode_table *table = &plan->image.table;
	int code = 0;

	for (size_t i = 0; i < table->count; i++)
		numbers[i] = LODE_NONE;
	for (size_t i = 0; i < plan->pieces.count && code == 0; i++)
		code = number_piece(plan, &plan->pieces.items[i], kin, numbers);
	for (size_t i = 0; i < plan->pieces.count && code == 0; i++) {
		const char *name = lode_table_text(table, table->records[plan->pieces.items[i].record].name);

		if (plan->pieces.items[i].stub && lode_starts_with(name, "*ABS*"))
			plan->pieces.items[i].function = chosen_function(plan, name);
	}
	return code;
}

static int number(struct lode_code_plan *plan)
{
	size_t count = plan->image.table.count;
	struct lode_code_kin *kin = lode_realloc(NULL, count + 1, sizeof(*kin));
	uint32_t *numbers = lode_realloc(NULL, count + 1, sizeof(*numbers));
	int code = LODE_SYSTEM;

	if (kin && numbers && lode_strings_init(&plan->imports) == 0)
		code = lode_code_join_clones(plan, kin);
	if (code == 0)
		code = number_pieces(plan, kin, numbers);
	lode_free(kin);
	lode_free(numbers);
	return code;
}

int lode_code_plan_make(struct lode_code_plan *plan, const char *path, struct lode_error *error)
{
	int code;

	memset(plan, 0, sizeof(*plan));
	code = open_files(plan, path, error);
	if (code < 0)
		return code;
	if (load_table(plan, path) < 0 || copy_loads(plan) < 0 || find_pieces(plan) < 0)
		return lode_fail_memory(error);
	order_pieces(plan);
	if (make_pages(plan) < 0 || lode_linker_symbols_read(plan) < 0 || lode_code_find_cold(plan) < 0 ||
	    number(plan) < 0 || lode_code_read_slots(plan) < 0)
		return lode_fail_memory(error);
	return 0;
}

static void close_file(struct lode_elf *elf)
{
	if (elf->elf)
		lode_elf_close(elf);
}

void lode_code_plan_release(struct lode_code_plan *plan)
{
	lode_strings_release(&plan->imports);
	lode_free(plan->functions.items);
	lode_free(plan->loads);
	lode_free(plan->pages);
	lode_free(plan->pieces.items);
	lode_free(plan->slots.items);
	lode_free(plan->symbols.items);
	lode_free(plan->symbols.marks.items);
	lode_table_release(&plan->image.table);
	lode_origin_release(&plan->image.origin);
	close_file(&plan->packed_file);
	close_file(&plan->symbol_file);
	close_file(&plan->elf);
	lode_buffer_release(&plan->packed);
	lode_map_close(&plan->map);
	memset(plan, 0, sizeof(*plan));
}
