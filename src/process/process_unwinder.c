/* Unwinding of processes: see process_unwinder.h. */
#include "process/process_unwinder.h"

#include "base/error.h"
#include "symbols/symbol_cache.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Processes are compacted when they have grown by this many bytes since the last time. */
#define TIDY_BYTES (4u << 20)
/* By how much tables may grow before some are dropped: a program may come back, and reading its table again takes time. */
#define TABLES_BYTES (8u << 20)
/* Of a table's row: an address and a rule. */
#define ROW_BYTES (sizeof(uint32_t) + sizeof(uint16_t))

int lode_process_unwinder_init(struct lode_process_unwinder *unwinder, const char *cache)
{
	memset(unwinder, 0, sizeof(*unwinder));
	unwinder->tables_limit = TABLES_BYTES;
	unwinder->cache = lode_cache_folder(cache, NULL);
	if (!unwinder->cache || lode_process_images_init(&unwinder->images) < 0)
		return LODE_SYSTEM;
	return lode_processes_init(&unwinder->processes, &unwinder->images);
}

void lode_process_unwinder_release(struct lode_process_unwinder *unwinder)
{
	for (size_t i = 0; i < unwinder->table_count; i++) {
		lode_unwind_table_release(&unwinder->tables[i].table);
		lode_free(unwinder->tables[i].key);
	}
	lode_free(unwinder->tables);
	lode_index_release(&unwinder->index);
	lode_free(unwinder->image_tables);
	lode_processes_release(&unwinder->processes);
	lode_process_images_release(&unwinder->images);
	lode_free(unwinder->cache);
	memset(unwinder, 0, sizeof(*unwinder));
}

int lode_process_unwinder_apply(struct lode_process_unwinder *unwinder, const struct lode_change *change)
{
	return lode_processes_apply(&unwinder->processes, change);
}

int lode_process_unwinder_tidy(struct lode_process_unwinder *unwinder, uint64_t t)
{
	if (lode_processes_forget(&unwinder->processes, t) < 0)
		return LODE_SYSTEM;
	if (lode_processes_bytes(&unwinder->processes) < unwinder->compacted + TIDY_BYTES &&
	    unwinder->table_bytes < unwinder->kept_bytes + unwinder->tables_limit)
		return 0;
	if (lode_processes_compact(&unwinder->processes, t) < 0)
		return LODE_SYSTEM;
	unwinder->compacted = lode_processes_bytes(&unwinder->processes);
	unwinder->image_count = 0;
	return 1;
}

/* ---- tables ---- */

uint32_t lode_process_unwinder_known_table(const struct lode_process_unwinder *unwinder, uint32_t image)
{
	return image < unwinder->image_count ? unwinder->image_tables[image] : LODE_TABLE_NOT_ASKED;
}

static int set_table(struct lode_process_unwinder *unwinder, uint32_t image, uint32_t table)
{
	if (LODE_GROW(unwinder->image_tables, unwinder->image_capacity, (size_t)image + 1) < 0)
		return LODE_SYSTEM;
	while (unwinder->image_count <= image)
		unwinder->image_tables[unwinder->image_count++] = LODE_TABLE_NOT_ASKED;
	unwinder->image_tables[image] = table;
	return 0;
}

static uint32_t find_table(const struct lode_process_unwinder *unwinder, const char *key)
{
	return LODE_INDEX_FIND(i, &unwinder->index, lode_hash_bytes(key, strlen(key)),
			       !strcmp(unwinder->tables[i].key, key));
}

static int read_table(const struct lode_process_unwinder *unwinder, const struct lode_process_image *image,
		      struct lode_unwind_table *table)
{
	char link[40];

	if (image->kind == LODE_MAPPED_VDSO)
		return lode_unwind_table_vdso(table, "");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", image->fd);
	if (unwinder->open_table)
		return unwinder->open_table(unwinder->open_context, table, link, image->build_id, unwinder->cache);
	return lode_unwind_table_open(table, link, NULL, image->build_id, unwinder->cache);
}

/* A number for one more table; LODE_NONE when memory has run out. */
static uint32_t free_number(struct lode_process_unwinder *unwinder)
{
	for (uint32_t i = 0; unwinder->free_count && i < unwinder->table_count; i++)
		if (!unwinder->tables[i].key)
			return i;
	if (LODE_APPEND(unwinder->tables, unwinder->table_count, unwinder->table_capacity,
			(struct lode_binary_table){ 0 }) < 0)
		return LODE_NONE;
	unwinder->free_count++;
	return (uint32_t)unwinder->table_count - 1;
}

static int index_table(struct lode_process_unwinder *unwinder, const char *key, uint32_t number)
{
	return lode_index_insert(&unwinder->index, lode_hash_bytes(key, strlen(key)), number);
}

/* Takes `key` over, also when it fails. */
static int add_table(struct lode_process_unwinder *unwinder, const struct lode_process_image *image, char *key,
		     uint32_t *number)
{
	struct lode_binary_table table = { .key = key };

	*number = free_number(unwinder);
	if (*number == LODE_NONE || read_table(unwinder, image, &table.table) < 0 ||
	    index_table(unwinder, key, *number) < 0) {
		lode_unwind_table_release(&table.table);
		lode_free(key);
		return LODE_SYSTEM;
	}
	unwinder->tables[*number] = table;
	unwinder->table_bytes += table.table.count * ROW_BYTES;
	unwinder->free_count--;
	return 0;
}

/* By what its table is known; NULL when memory has run out. */
static char *table_key(const struct lode_process_image *image)
{
	if (image->kind == LODE_MAPPED_VDSO)
		return lode_strdup("[vdso]");
	return *image->build_id ? lode_strdup(image->build_id)
				: lode_format("%s %llu", image->path, (unsigned long long)image->mounts);
}

/* The number of the table of an image that is open. */
static int get_table(struct lode_process_unwinder *unwinder, const struct lode_process_image *image,
		     uint32_t *number)
{
	char *key = table_key(image);
	int code = 0;

	if (!key)
		return LODE_SYSTEM;
	*number = find_table(unwinder, key);
	if (*number == LODE_NONE)
		code = add_table(unwinder, image, key, number);
	else
		lode_free(key);
	if (!code && !unwinder->tables[*number].table.count)
		*number = LODE_TABLE_ABSENT;
	return code;
}

int lode_process_unwinder_load_table(struct lode_process_unwinder *unwinder, uint32_t number, uint32_t *table)
{
	struct lode_process_image *image = &unwinder->images.items[number];
	int code = 0;

	*table = lode_process_unwinder_known_table(unwinder, number);
	if (*table != LODE_TABLE_NOT_ASKED)
		return 0;
	*table = LODE_TABLE_ABSENT;
	unwinder->asked++;
	if (image->kind == LODE_MAPPED_FILE)
		lode_process_image_open(&unwinder->images, number);
	if (image->kind == LODE_MAPPED_VDSO || (image->kind == LODE_MAPPED_FILE && image->fd >= 0))
		code = get_table(unwinder, image, table);
	lode_process_image_close(image);
	return code ? code : set_table(unwinder, number, *table);
}

/* ---- dropping tables ---- */

/* Marks the tables of all images. */
static int mark_needed(const struct lode_process_unwinder *unwinder, unsigned char *needed)
{
	for (size_t i = 0; i < unwinder->images.count; i++) {
		char *key = table_key(&unwinder->images.items[i]);
		uint32_t number = key ? find_table(unwinder, key) : LODE_NONE;

		if (!key)
			return LODE_SYSTEM;
		lode_free(key);
		if (number != LODE_NONE)
			needed[number] = 1;
	}
	return 0;
}

/* Drops those that are not marked, and indexes the others again. */
static int keep_needed(struct lode_process_unwinder *unwinder, const unsigned char *needed, lode_drop_table *drop,
		       void *context)
{
	int code = 0;

	lode_index_release(&unwinder->index);
	for (uint32_t i = 0; i < unwinder->table_count; i++) {
		struct lode_binary_table *table = &unwinder->tables[i];
		size_t rows = table->table.count;

		if (table->key && !needed[i] && !code && (code = drop(context, i, &table->table)) == 0) {
			unwinder->table_bytes -= rows * ROW_BYTES;
			lode_free(table->key);
			*table = (struct lode_binary_table){ 0 };
			unwinder->free_count++;
		}
		if (table->key && index_table(unwinder, table->key, i) < 0)
			code = LODE_SYSTEM;
	}
	return code;
}

int lode_process_unwinder_drop_tables(struct lode_process_unwinder *unwinder, lode_drop_table *drop, void *context)
{
	unsigned char *needed = lode_calloc(unwinder->table_count + 1, 1);
	int code = needed ? mark_needed(unwinder, needed) : LODE_SYSTEM;
	if (!code)
		code = keep_needed(unwinder, needed, drop, context);
	unwinder->kept_bytes = unwinder->table_bytes;
	lode_free(needed);
	return code;
}

/* ---- walking ---- */

struct walk {
	struct lode_process_unwinder *unwinder;
	const struct lode_unwind_memory *memory;
	const struct lode_process *process;
};

static int read_word(void *context, uint64_t address, uint64_t *word)
{
	const struct walk *walk = context;

	return walk->memory->read(walk->memory->context, address, word);
}

static int find_code(void *context, uint64_t address, const struct lode_unwind_table **table,
		     uint64_t *image_address)
{
	struct walk *walk = context;
	struct lode_process_unwinder *unwinder = walk->unwinder;
	const struct lode_mapping *mapping =
		lode_space_find(&unwinder->processes.spaces, &walk->process->space, address);
	uint32_t number;

	*table = NULL;
	if (!mapping)
		return 0;
	if (lode_process_unwinder_load_table(unwinder, mapping->image, &number) < 0)
		return LODE_SYSTEM;
	if (number == LODE_TABLE_ABSENT)
		return 1;
	*table = &unwinder->tables[number].table;
	*image_address = lode_unwind_table_address(*table, address - mapping->start + mapping->offset);
	return 1;
}

static int leave_code(void *context, struct lode_unwind_state *state, uint64_t *word, uint64_t *position)
{
	struct walk *walk = context;
	struct lode_language_stack stack = { walk, read_word };

	return lode_languages_leave(walk->unwinder->languages, walk->process->pid, &stack, state, word, position);
}

int lode_process_unwinder_walk(struct lode_process_unwinder *unwinder, uint32_t pid,
			       const struct lode_unwind_registers *registers,
			       const struct lode_unwind_memory *memory, struct lode_unwind_frame *frames,
			       size_t limit, struct lode_unwound *unwound)
{
	struct walk walk = { unwinder, memory, lode_processes_get(&unwinder->processes, pid) };
	struct lode_unwind_source source = { &walk, read_word, find_code, unwinder->languages ? leave_code : NULL };

	if (!walk.process)
		return LODE_SYSTEM;
	return lode_unwind(&source, registers, frames, limit, unwound);
}

static int load_mapping(void *context, const struct lode_mapping *mapping)
{
	uint32_t table;

	return lode_process_unwinder_load_table(context, mapping->image, &table);
}

int lode_process_unwinder_load(struct lode_process_unwinder *unwinder, uint32_t pid)
{
	const struct lode_process *process = lode_processes_get(&unwinder->processes, pid);

	return process ? lode_space_walk(&unwinder->processes.spaces, &process->space, load_mapping, unwinder)
		       : LODE_SYSTEM;
}
