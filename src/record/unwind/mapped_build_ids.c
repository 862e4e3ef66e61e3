/*
 * Build-ids of mapped files: see mapped_build_ids.h.
 *
 * A mapping is reported some milliseconds after it was made. The file at its path is then
 * assumed to be the mapped one if it has the same inode number; the device is not compared,
 * because some file systems (overlayfs, btrfs) show programs a different one.
 */
#include "record/unwind/mapped_build_ids.h"

#include "base/error.h"
#include "base/proc_files.h"
#include "process/file_view.h"
#include "symbols/elf.h"
#include "symbols/mapping_kind.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Files that are remembered; then it starts again. */
#define FILES_LIMIT 16384

void lode_mapped_build_ids_release(struct lode_mapped_build_ids *ids)
{
	lode_free(ids->items);
	lode_index_release(&ids->index);
	memset(ids, 0, sizeof(*ids));
}

static uint64_t hash_of(const struct lode_file_number *file)
{
	return lode_hash_bytes(file, sizeof(*file));
}

/* From hexadecimal digits. */
static void parse_digits(struct lode_mapped_build_id *item, const char *text)
{
	size_t size = strlen(text) / 2;
	unsigned byte;

	if (size > sizeof(item->build_id))
		return;
	for (size_t i = 0; i < size && sscanf(text + 2 * i, "%2x", &byte) == 1; i++)
		item->build_id[item->size++] = (uint8_t)byte;
}

/* Reads the build-id of the file at `path` if it is the one that is wanted. Returns whether it is. */
static int read_file(struct lode_mapped_build_id *item, const char *path)
{
	char text[LODE_BUILD_ID_TEXT];
	struct lode_elf elf;
	struct stat status;

	if (stat(path, &status) < 0 || status.st_ino != item->file.inode)
		return 0;
	if (lode_elf_open(&elf, path) < 0)
		return 1;
	lode_elf_build_id(&elf, text);
	lode_elf_close(&elf);
	parse_digits(item, text);
	return 1;
}

/* By its path, or as its process sees it. */
static int read_build_id(struct lode_mapped_build_id *item, const struct lode_change *change)
{
	char *path;

	if (read_file(item, change->text))
		return 0;
	item->is_elsewhere = 1;
	path = lode_proc_root_path(change->pid, change->text, strlen(change->text));
	if (!path)
		return LODE_SYSTEM;
	read_file(item, path);
	lode_free(path);
	return 0;
}

static const struct lode_mapped_build_id *find(const struct lode_mapped_build_ids *ids,
					       const struct lode_file_number *file)
{
	uint32_t id =
		LODE_INDEX_FIND(i, &ids->index, hash_of(file), !memcmp(&ids->items[i].file, file, sizeof(*file)));

	return id == LODE_NONE ? NULL : &ids->items[id];
}

static const struct lode_mapped_build_id *add(struct lode_mapped_build_ids *ids,
					      const struct lode_file_number *file, const struct lode_change *change)
{
	struct lode_mapped_build_id item = { .file = *file };

	if (ids->count == FILES_LIMIT)
		lode_mapped_build_ids_release(ids);
	if (read_build_id(&item, change) < 0 ||
	    LODE_INDEX_APPEND(&ids->index, hash_of(file), ids->items, ids->count, ids->capacity, item) < 0)
		return NULL;
	return &ids->items[ids->count - 1];
}

int lode_mapped_build_ids_set(struct lode_mapped_build_ids *ids, const struct lode_file_number *file,
			      struct lode_change *change)
{
	const struct lode_mapped_build_id *item;

	if (lode_mapped_kind(change->text) != LODE_MAPPED_FILE)
		return 0;
	item = find(ids, file);
	if (!item)
		item = add(ids, file, change);
	if (!item)
		return LODE_SYSTEM;
	if (item->is_elsewhere) /* it may have changed its root since it began to run */
		change->mounts = lode_process_mounts(change->pid);
	change->build_id_size = item->size;
	memcpy(change->build_id, item->build_id, item->size);
	return 0;
}
