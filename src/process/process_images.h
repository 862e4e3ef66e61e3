/*
 * Images: the files whose code was run, each once, held open from the moment
 * their code is first seen, so that their symbols can be read at the end even
 * if the process, its container or the file itself is gone by then.
 */
#ifndef LODE_PROCESS_PROCESS_IMAGES_H
#define LODE_PROCESS_PROCESS_IMAGES_H

#include "base/arena.h"
#include "base/hash_index.h"
#include "base/notes.h"
#include "process/held_files.h"
#include "process/process_change.h"
#include "symbols/mapping_kind.h"
#include "symbols/symbols.h"

/* Always there: addresses where nothing is mapped. */
#define LODE_PROCESS_IMAGE_UNKNOWN 0

struct lode_process_image {
	enum lode_mapped kind;
	const char *path;     /* as the process sees it; of anonymous memory: its perf map */
	const char *build_id; /* hexadecimal, or "" */
	uint64_t mounts;      /* how the process sees files (lode_process_mounts); 0: as the recorder does */
	uint32_t pid;         /* a process that has it, and where */
	uint64_t start;
	uint64_t end;
	uid_t owner;        /* of anonymous memory: the user of the process; root where it is not known */
	uint32_t module;    /* of the dictionary; LODE_NONE until it is used */
	int fd;             /* -1: not open */
	int shares_name;    /* another image is called the same and is another file */
	uint32_t canonical; /* the image that represents it: itself, or one used before with the same build-id */
	struct lode_image *symbols; /* NULL until lode_process_images_settle, and without symbols */
};

struct lode_process_images {
	struct lode_arena arena;
	struct lode_process_image *items;
	size_t count;
	size_t capacity;
	struct lode_index index;
	const struct lode_held_files *files; /* that are held open; NULL: none. Not owned */
	size_t text_bytes;                   /* of paths and build-ids */
	uint64_t unreadable;                 /* used files that could not be opened */
	const char *unreadable_path;
};

/* Returns 0 or LODE_SYSTEM. */
int lode_process_images_init(struct lode_process_images *images);
void lode_process_images_release(struct lode_process_images *images);
/*
 * The image that is mapped as `wanted` says (path, build_id, mounts, pid, start and
 * end), added if new; LODE_NONE when memory has run out.
 */
uint32_t lode_process_images_get(struct lode_process_images *images, const struct lode_process_image *wanted);
/* The image `number` of `from`, added to `images` if new; LODE_NONE when memory has run out. */
uint32_t lode_process_images_copy(struct lode_process_images *images, const struct lode_process_images *from,
				  uint32_t number);
/* Bytes that it takes, about. */
size_t lode_process_images_bytes(const struct lode_process_images *images);
/* Opens the image's file, if it can be reached and is the one that was mapped, and learns its build-id. */
void lode_process_image_open(struct lode_process_images *images, uint32_t image);
void lode_process_image_close(struct lode_process_image *image);
/*
 * To be called when code of it is seen: opens it and enters its module in
 * `frames`. Returns 0 or LODE_SYSTEM.
 */
int lode_process_image_use(struct lode_process_images *images, uint32_t image, struct lode_frames *frames);
/* Asks the symbolizer for all images that are used. Returns 0 or LODE_SYSTEM. */
int lode_process_images_settle(struct lode_process_images *images, struct lode_symbolizer *symbolizer,
			       struct lode_notes *notes);

/* Where the file of an image can be opened, as a process that has it sees it; for the caller to free. NULL: memory has run out. */
char *lode_process_image_path(const struct lode_process_image *image, uint32_t pid);

/* Whether a change is that a file is mapped; and where that can be opened, for the caller to free. */
int lode_change_maps_file(const struct lode_change *change);
char *lode_change_path(const struct lode_change *change);

/* Whether addresses in this image are offsets in its file; else they are run-time addresses. */
static inline int lode_process_image_by_offset(const struct lode_process_image *image)
{
	return image->kind != LODE_MAPPED_ANONYMOUS && image->path[0];
}

#endif
