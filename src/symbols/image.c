/*
 * Images: see image.h and symbols.h.
 *
 * Everything slow happens once: the first look-up of any kind loads, under the
 * lock, what it needs, and later ones see the flag and go on without it. Names
 * are made readable when they are first requested and remembered in an array
 * beside the records, so that asking again is one atomic load. A function with
 * several names of equal rank gets its name then, too (symbol_choice.c says why).
 */
#include "symbols/image.h"

#include "base/error.h"
#include "symbols/demangle.h"
#include "symbols/elf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void lode_image_release(struct lode_image *image)
{
	lode_table_release(&image->table);
	lode_table_release(&image->inlines);
	lode_table_release(&image->call_lines);
	lode_image_lines_release(image->lines);
	lode_unwind_table_release(&image->unwind);
	lode_origin_release(&image->origin);
	lode_arena_release(&image->text);
	lode_free(image->names);
	lode_free(image->inline_names);
	for (size_t i = 0; i < image->paths.count; i++)
		lode_free(image->paths.items[i]);
	lode_free(image->paths.items);
	lode_free(image->build_id);
	lode_free(image->reference_name);
	pthread_mutex_destroy(&image->lock);
	lode_free(image);
}

/* ---- loading ---- */

static int load_kind(struct lode_image *image)
{
	switch (image->kind) {
	case LODE_IMAGE_BINARY:
		return lode_image_load_binary(image);
	case LODE_IMAGE_KERNEL:
		return lode_image_load_kernel(image);
	case LODE_IMAGE_VDSO:
		return lode_image_load_vdso(image);
	case LODE_IMAGE_PERF_MAP:
		return lode_image_load_perf_map(image);
	}
	return LODE_BAD_INPUT;
}

static void note_memory(const struct lode_image *image)
{
	lode_notes_add(image->options->notes, 1, "symbol tables not loaded because memory ran out",
		       image->paths.items[0]);
}

static void load(struct lode_image *image)
{
	int code = load_kind(image);

	for (size_t i = 0; code == 0 && i < image->table.count; i++)
		image->symbols += image->table.records[i].name != LODE_NONE;
	if (code == 0 && image->table.count) {
		image->names = lode_calloc(image->table.count, sizeof(*image->names));
		if (!image->names)
			code = LODE_SYSTEM;
	}
	if (code < 0) {
		lode_table_release(&image->table);
		image->symbols = 0;
	}
	if (code == LODE_SYSTEM)
		note_memory(image);
}

static void load_inlines(struct lode_image *image)
{
	int code = lode_image_load_inlines(image);

	if (code == 0 && image->inlines.count) {
		image->inline_names = lode_calloc(image->inlines.count, sizeof(*image->inline_names));
		if (!image->inline_names)
			code = LODE_SYSTEM;
	}
	if (code < 0)
		lode_table_release(&image->inlines);
	if (code == LODE_SYSTEM)
		note_memory(image);
}

static void load_call_lines(struct lode_image *image)
{
	int code = lode_image_load_call_lines(image);

	if (code < 0)
		lode_table_release(&image->call_lines);
	if (code == LODE_SYSTEM)
		note_memory(image);
}

static void load_lines(struct lode_image *image)
{
	if (lode_image_load_lines(image) == LODE_SYSTEM)
		note_memory(image);
}

static int has_file(const struct lode_image *image)
{
	return image->origin.binary && image->origin.binary[0];
}

static void load_unwind(struct lode_image *image)
{
	const struct lode_origin *origin = &image->origin;
	const char *debug = origin->debug && origin->debug[0] ? origin->debug : NULL;
	int code = 0;

	if (has_file(image))
		code = lode_unwind_table_open(&image->unwind, origin->binary, debug,
					      origin->build_id ? origin->build_id : "", image->cache);
	else if (image->kind == LODE_IMAGE_VDSO)
		code = lode_unwind_table_vdso(&image->unwind, image->build_id);
	if (code < 0)
		note_memory(image);
}

static void once(struct lode_image *image, atomic_int *done, void (*work)(struct lode_image *))
{
	if (atomic_load_explicit(done, memory_order_acquire))
		return;
	pthread_mutex_lock(&image->lock);
	if (!atomic_load_explicit(done, memory_order_relaxed)) {
		work(image);
		atomic_store_explicit(done, 1, memory_order_release);
	}
	pthread_mutex_unlock(&image->lock);
}

void lode_image_load(struct lode_image *image)
{
	once(image, &image->loaded, load);
}

/* ---- names ---- */

/* Remembers what the buffer holds as the name of one record. NULL when memory ran out. */
static const char *keep_name(struct lode_image *image, lode_atomic_name *slot, const struct lode_buffer *name)
{
	const char *kept;

	pthread_mutex_lock(&image->lock);
	kept = atomic_load_explicit(slot, memory_order_relaxed);
	if (!kept) {
		kept = lode_arena_text(&image->text, name->bytes, name->size);
		if (kept)
			atomic_store_explicit(slot, kept, memory_order_release);
	}
	pthread_mutex_unlock(&image->lock);
	return kept;
}

void lode_image_choose_name(const struct lode_table *table, uint32_t i, uint32_t rivals, int demangle,
			    struct lode_buffer *best)
{
	struct lode_buffer other = { 0 };

	lode_demangle(lode_table_text(table, table->records[i].name), demangle, best);
	lode_buffer_byte(best, '\0');
	for (uint32_t rival = 1; rival <= rivals && !best->failed; rival++) {
		const char *raw = lode_table_text(table, table->records[i + rival].name);

		if (!raw)
			continue;
		lode_buffer_clear(&other);
		lode_demangle(raw, demangle, &other);
		lode_buffer_byte(&other, '\0');
		best->failed |= other.failed;
		if (!other.failed && lode_elf_compare_names(best->bytes, other.bytes) > 0) {
			struct lode_buffer swap = *best;

			*best = other;
			other = swap;
		}
	}
	if (best->size)
		best->size--; /* the NUL is lode_arena_text's to add */
	lode_buffer_release(&other);
}

/*
 * The readable name of record `i`. When memory runs out it is the linker's name,
 * which is not wrong, only harder to read; it is not remembered.
 */
static const char *readable_name(struct lode_image *image, const struct lode_table *table, lode_atomic_name *slots,
				 uint32_t i, uint32_t rivals)
{
	const char *raw = lode_table_text(table, table->records[i].name);
	const char *name = atomic_load_explicit(&slots[i], memory_order_acquire);
	struct lode_buffer text = { 0 };

	if (name || !raw)
		return name;
	if (rivals > table->count - 1 - i)
		rivals = 0; /* a damaged cache */
	if (!rivals && lode_demangle_is_plain(raw)) {
		atomic_store_explicit(&slots[i], raw, memory_order_release);
		return raw;
	}
	lode_image_choose_name(table, i, rivals, image->demangle, &text);
	if (!text.failed)
		name = keep_name(image, &slots[i], &text);
	lode_buffer_release(&text);
	return name ? name : raw;
}

/* ---- looking up ---- */

size_t lode_image_symbols(struct lode_image *image)
{
	lode_image_load(image);
	return image->symbols;
}

/* Where `offset` is in memory, among the parts that `pages` widens to whole pages. */
static int find_load(const struct lode_table *table, uint64_t offset, int executable, uint64_t pages,
		     uint64_t *address)
{
	for (size_t i = 0; i < table->load_count; i++) {
		const struct lode_load *load = &table->loads[i];
		uint64_t start = load->offset & ~pages;

		if ((executable && !load->executable) || offset < start)
			continue;
		if (offset < load->offset ? 0 : ((offset - load->offset) & ~pages) >= load->size)
			continue;
		*address = offset - load->offset + load->address;
		return 1;
	}
	return 0;
}

uint64_t lode_image_address(struct lode_image *image, uint64_t file_offset)
{
	const struct lode_table *table = &image->table;
	uint64_t address = file_offset;

	lode_image_load(image);
	/* Parts may share a page; addresses of functions are in code. */
	if (find_load(table, file_offset, 1, 0, &address) || find_load(table, file_offset, 0, 0, &address) ||
	    find_load(table, file_offset, 1, 4095, &address))
		return address;
	return file_offset;
}

static void set_bounds(struct lode_symbol *symbol, const struct lode_table_record *record, uint64_t shift)
{
	symbol->start = record->start + shift;
	symbol->size = record->end > record->start ? record->end - record->start : 0;
}

static int find_in_kallsyms(struct lode_image *image, const struct lode_table_record *record,
			    struct lode_symbol *symbol)
{
	const char *module = lode_table_text(&image->table, record->link);

	if (module && image->core_only)
		return 0;
	symbol->name = lode_table_text(&image->table, record->name);
	symbol->module = module ? module : "kernel";
	set_bounds(symbol, record, image->shift);
	return 1;
}

int lode_image_find(struct lode_image *image, uint64_t address, struct lode_symbol *symbol)
{
	const struct lode_table_record *record;
	uint32_t i;

	*symbol = (struct lode_symbol){ .start = address };
	lode_image_load(image);
	i = lode_table_find(&image->table, address - image->shift);
	if (i == LODE_NONE)
		return 0;
	record = &image->table.records[i];
	if (image->kind == LODE_IMAGE_KERNEL && !image->from_vmlinux)
		return find_in_kallsyms(image, record, symbol);
	if (image->kind == LODE_IMAGE_KERNEL)
		symbol->module = "kernel";
	/* A perf map's names are what the program calls its functions, no linker's names. */
	if (image->kind == LODE_IMAGE_PERF_MAP)
		symbol->name = lode_table_text(&image->table, record->name);
	else
		symbol->name = readable_name(image, &image->table, image->names, i, record->link);
	set_bounds(symbol, record, image->shift);
	return 1;
}

/* The record around record `i`, or LODE_NONE. Its number is smaller, so that a walk outwards ends. */
static uint32_t surrounding(const struct lode_table *table, uint32_t i)
{
	return table->records[i].link < i ? table->records[i].link : LODE_NONE;
}

size_t lode_image_inlines(struct lode_image *image, uint64_t address, const char **names, size_t limit)
{
	const struct lode_table *table = &image->inlines;
	size_t depth = 0, filled;
	uint32_t innermost;

	lode_image_load(image);
	once(image, &image->inlines_loaded, load_inlines);
	innermost = lode_table_find(table, address - image->shift);
	for (uint32_t i = innermost; i != LODE_NONE; i = surrounding(table, i))
		depth++;
	filled = depth < limit ? depth : limit;
	for (uint32_t i = innermost; i != LODE_NONE; i = surrounding(table, i)) {
		const char *name;

		if (depth-- > limit) /* the innermost are those that do not fit */
			continue;
		name = readable_name(image, table, image->inline_names, i, 0);
		names[depth] = name ? name : "?";
	}
	return filled;
}

/* ---- lines ---- */

size_t lode_image_lines(struct lode_image *image, uint64_t address, uint32_t *lines, size_t limit)
{
	const struct lode_table *table = &image->call_lines;
	struct lode_source_row row;
	uint32_t innermost;
	size_t depth = 0;
	int found;

	lode_image_load(image);
	once(image, &image->lines_loaded, load_lines);
	if (!image->lines || !limit)
		return 0;
	once(image, &image->call_lines_loaded, load_call_lines);
	pthread_mutex_lock(&image->lock);
	found = lode_image_lines_find(image->lines, address - image->shift, &row);
	pthread_mutex_unlock(&image->lock);
	innermost = lode_table_find(table, address - image->shift);
	for (uint32_t i = innermost; i != LODE_NONE; i = surrounding(table, i))
		depth++;
	if (!found && !depth)
		return 0;
	if (depth < limit)
		lines[depth] = found ? row.line : 0;
	limit = depth < limit ? depth + 1 : limit;
	for (uint32_t i = innermost; i != LODE_NONE; i = surrounding(table, i)) {
		const char *line = lode_table_text(table, table->records[i].name);

		if (--depth < limit)
			lines[depth] = line ? (uint32_t)strtoul(line, NULL, 10) : 0;
	}
	return limit;
}

int lode_image_source_rows(struct lode_image *image, uint64_t start, uint64_t end,
			   int (*visit)(void *context, const struct lode_source_row *row), void *context)
{
	int result = 0;

	lode_image_load(image);
	once(image, &image->lines_loaded, load_lines);
	pthread_mutex_lock(&image->lock);
	if (image->lines)
		result = lode_image_lines_each(image->lines, start - image->shift, end - image->shift, visit,
					       context);
	pthread_mutex_unlock(&image->lock);
	return result;
}

/* ---- by name ---- */

int lode_image_named(struct lode_image *image, const char *name, struct lode_symbol *symbol)
{
	const struct lode_table *table = &image->table;
	uint64_t size = 0;

	lode_image_load(image);
	*symbol = (struct lode_symbol){ 0 };
	for (uint32_t i = 0; i < table->count; i++) {
		const struct lode_table_record *record = &table->records[i];
		struct lode_symbol found;

		if (record->end <= record->start || record->end - record->start <= size ||
		    !lode_image_find(image, record->start + image->shift, &found) || !found.name ||
		    strcmp(found.name, name) != 0)
			continue;
		*symbol = found;
		size = record->end - record->start;
	}
	return size > 0;
}

const char *lode_image_file(struct lode_image *image)
{
	lode_image_load(image);
	return has_file(image) ? image->origin.binary : NULL;
}

int lode_image_has_layout(struct lode_image *image)
{
	lode_image_load(image);
	return image->kind != LODE_IMAGE_BINARY || has_file(image) ||
	       (image->origin.debug && image->origin.debug[0]);
}

const struct lode_unwind_table *lode_image_unwind(struct lode_image *image)
{
	lode_image_load(image);
	once(image, &image->unwind_loaded, load_unwind);
	return &image->unwind;
}

int lode_image_is_found(struct lode_image *image)
{
	lode_image_load(image);
	if (image->kind == LODE_IMAGE_VDSO && !has_file(image))
		return lode_image_unwind(image)->count > 0;
	return has_file(image);
}

int lode_image_link_register(struct lode_image *image, uint64_t address)
{
	const struct lode_unwind_table *table = lode_image_unwind(image);
	const struct lode_unwind_rule *rule = lode_unwind_table_find(table, address - image->shift);

	if (table->machine != EM_AARCH64)
		return -1;
	if (rule->return_at == LODE_PLACE_NONE)
		return 0;
	return rule->cfa == LODE_CFA_NONE ? -1 : rule->return_at == LODE_PLACE_KEPT;
}
