/* Unwinding of processes: see process_unwinder.h. */
#include "process/process_unwinder.h"

#include "base/error.h"
#include "symbols/symbol_cache.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Processes are compacted when they take so many bytes more than the last time. */
#define TIDY_BYTES (4u << 20)

int lode_process_unwinder_init(struct lode_process_unwinder *unwinder, const char *cache)
{
	memset(unwinder, 0, sizeof(*unwinder));
	unwinder->cache = lode_cache_folder(cache);
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
	if (lode_processes_bytes(&unwinder->processes) < unwinder->compacted + TIDY_BYTES)
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

/* Takes `key` over, also when it fails. */
static int add_table(struct lode_process_unwinder *unwinder, const struct lode_process_image *image, char *key,
		     uint32_t *number)
{
	struct lode_binary_table table = { .key = key };

	if (read_table(unwinder, image, &table.table) < 0 ||
	    LODE_GROW(unwinder->tables, unwinder->table_capacity, unwinder->table_count + 1) < 0 ||
	    lode_index_insert(&unwinder->index, lode_hash_bytes(key, strlen(key)),
			      (uint32_t)unwinder->table_count) < 0) {
		lode_unwind_table_release(&table.table);
		lode_free(key);
		return LODE_SYSTEM;
	}
	*number = (uint32_t)unwinder->table_count;
	unwinder->tables[unwinder->table_count++] = table;
	return 0;
}

/* The number of the table of an image that is open. */
static int get_table(struct lode_process_unwinder *unwinder, const struct lode_process_image *image,
		     uint32_t *number)
{
	char *key = image->kind == LODE_MAPPED_VDSO ? lode_strdup("[vdso]")
		    : *image->build_id              ? lode_strdup(image->build_id)
				       : lode_format("%s %llu", image->path, (unsigned long long)image->mounts);
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

int lode_process_unwinder_walk(struct lode_process_unwinder *unwinder, uint32_t pid,
			       const struct lode_unwind_registers *registers,
			       const struct lode_unwind_memory *memory, struct lode_unwind_frame *frames,
			       size_t limit, struct lode_unwound *unwound)
{
	struct walk walk = { unwinder, memory, lode_processes_get(&unwinder->processes, pid) };
	struct lode_unwind_source source = { &walk, read_word, find_code };

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
