/*
 * Build-ids of mapped files, read from the files themselves, each file once.
 *
 * The kernel would report them with each mapping, but a listener that asks for that damages
 * what the kernel sends to other listeners: a 'perf record' beside it ends with a crash (seen
 * up to Linux 6.18). So files are known by device and number.
 */
#ifndef LODE_RECORD_UNWIND_MAPPED_BUILD_IDS_H
#define LODE_RECORD_UNWIND_MAPPED_BUILD_IDS_H

#include "base/hash_index.h"
#include "process/process_change.h"

/* A file as the kernel describes it. */
struct lode_file_number {
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	uint64_t generation;
};

struct lode_mapped_build_id {
	struct lode_file_number file;
	uint8_t build_id[LODE_CHANGE_BUILD_ID];
	uint8_t size;         /* 0: it has none, or could not be opened */
	uint8_t is_elsewhere; /* not at its path as the recorder sees files, or gone */
};

/* A zeroed struct is empty. */
struct lode_mapped_build_ids {
	struct lode_mapped_build_id *items;
	size_t count;
	size_t capacity;
	struct lode_index index;
};

void lode_mapped_build_ids_release(struct lode_mapped_build_ids *ids);
/* Sets the build-id of a change that maps `file`, and its mounts where it is not at its path. Returns 0 or LODE_SYSTEM. */
int lode_mapped_build_ids_set(struct lode_mapped_build_ids *ids, const struct lode_file_number *file,
			      struct lode_change *change);

#endif
