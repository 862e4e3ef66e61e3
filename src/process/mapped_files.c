/*
 * Names of mapped files: see mapped_files.h.
 *
 * A file is recognized by device and inode wherever the process has it mapped, so it does not matter that mappings may
 * have been split or moved since. A file may be renamed, or its inode number come again: so a path is looked up
 * again after KEPT_NS, as long as a process has it mapped.
 *
 * Overlays, on which containers are, map files of the file systems below them, but show their own devices and inodes since
 * Linux 6.8. So what is mapped at the page from a file system without a device of its own has to do, where nothing fits.
 */
#include "process/mapped_files.h"

#include "base/proc_files.h"

#include <string.h>

#define KEPT_NS   1000000000ull
#define MAX_NAMES 4096
/* A lookup reads all mappings of a process: a millisecond where there are a thousand. */
#define MAX_PER_SECOND 20

static void forget_all(struct lode_mapped_files *names)
{
	for (size_t i = 0; i < names->count; i++)
		lode_free(names->items[i].path);
	names->count = 0;
	lode_index_clear(&names->index);
}

void lode_mapped_files_release(struct lode_mapped_files *names)
{
	forget_all(names);
	lode_free(names->items);
	lode_index_release(&names->index);
	memset(names, 0, sizeof(*names));
}

struct search {
	struct lode_mapped_file *file;
	uint64_t page;
	char *covering; /* path of an overlay's file at the page */
};

static int visit_mapping(void *context, const struct lode_proc_mapping *mapping)
{
	struct search *search = context;
	struct lode_mapped_file *file = search->file;

	if (mapping->path[0] != '/')
		return 0;
	if ((uint32_t)mapping->inode != file->inode || (mapping->major << 20 | mapping->minor) != file->device) {
		if (!mapping->major && mapping->start <= search->page && search->page < mapping->end)
			search->covering = lode_strdup(mapping->path);
		return 0;
	}
	if (!file->path || strcmp(file->path, mapping->path) != 0) {
		lode_free(file->path);
		file->path = lode_strdup(mapping->path);
	}
	return 1;
}

static void look_up(struct lode_mapped_file *file, uint32_t pid, uint64_t page)
{
	struct search search = { .file = file, .page = page };

	if (!lode_proc_mappings(pid, visit_mapping, &search) && search.covering) {
		lode_free(file->path);
		file->path = search.covering;
		search.covering = NULL;
	}
	lode_free(search.covering);
}

static int may_look_up(struct lode_mapped_files *names, uint64_t t)
{
	uint64_t second = t / 1000000000;

	if (second > names->second) {
		names->second = second;
		names->looked_up = 0;
	}
	return names->looked_up++ < MAX_PER_SECOND;
}

static struct lode_mapped_file *keep(struct lode_mapped_files *names, uint64_t hash, uint32_t device,
				     uint32_t inode)
{
	struct lode_mapped_file name = { .device = device, .inode = inode };

	if (names->count == MAX_NAMES)
		forget_all(names);
	if (LODE_INDEX_APPEND(&names->index, hash, names->items, names->count, names->capacity, name) < 0)
		return NULL;
	return &names->items[names->count - 1];
}

const char *lode_mapped_file_name(struct lode_mapped_files *names, uint32_t pid, uint64_t page, uint32_t device,
				  uint32_t inode, uint64_t t)
{
	uint64_t hash = lode_hash_u64((uint64_t)device << 32 | inode);
	uint32_t found = LODE_INDEX_FIND(i, &names->index, hash,
					 names->items[i].device == device && names->items[i].inode == inode);
	struct lode_mapped_file *name = found == LODE_NONE ? keep(names, hash, device, inode)
							   : &names->items[found];

	if (!name)
		return NULL;
	if (name->t && t < name->t + KEPT_NS)
		return name->path;
	if (may_look_up(names, t)) {
		name->t = t;
		look_up(name, pid, page);
	} else if (!name->path) {
		names->left_out++;
	}
	return name->path;
}
