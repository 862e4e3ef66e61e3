/*
 * Images: the files whose code was run, each once, and the module and symbols of each.
 *
 * An image is known by what it is, its path and its build-id, so a library that a
 * thousand processes map is one image. Images of recordings (perf.data) are no more
 * than that. Those of live processes are held open from the moment their code is
 * first seen, so that their symbols can be read at the end even if the process, its
 * container or the file itself is gone by then (image_files.c).
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

/* Numbers of images are smaller, so that users can mark them with the highest bit. */
#define LODE_PROCESS_IMAGES_LIMIT 0x7fffffffu

struct lode_process_image {
	enum lode_mapped kind;
	const char *path;     /* as the process sees it; of anonymous memory: its perf map */
	const char *build_id; /* hexadecimal, or "" */
	uint64_t base;   /* of a kernel module, or code that the kernel generated: its first address; else 0 */
	uint64_t mounts; /* how the process sees files (lode_process_mounts); 0: as this program does */
	uint32_t module; /* of the dictionary; LODE_NONE until it is entered */
	int shares_name; /* another image is called the same and is another file */
	int used;        /* some address in it is wanted */
	struct lode_image *symbols; /* NULL until they are requested, and without symbols */
	/* Of live processes: */
	uint32_t pid; /* one that has it, and where */
	uint64_t start;
	uint64_t end;
	uid_t owner;         /* of anonymous memory: the user of the process; root where it is not known */
	int fd;              /* -1: not open */
	const char *refusal; /* why its perf map was not read when it was there; NULL: nothing was wrong with it */
	uint32_t canonical;  /* the image that represents it: itself, or one used before with the same build-id */
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
	uint64_t refused_maps; /* perf maps that were refused, and are gone since */
	const char *refusal;   /* of one of them */
};

/* Returns 0 or LODE_SYSTEM. */
int lode_process_images_init(struct lode_process_images *images);
void lode_process_images_release(struct lode_process_images *images);
/*
 * The image that `wanted` describes (kind, path, build_id, base, mounts), added if new;
 * LODE_NONE when memory has run out.
 */
uint32_t lode_process_images_add(struct lode_process_images *images, const struct lode_process_image *wanted);
/* The image that process `pid` maps under `path`: the same, with the kind that the path shows. */
uint32_t lode_process_images_add_mapped(struct lode_process_images *images,
					const struct lode_process_image *wanted);
/* The same of a live process, whose owner it learns; `wanted` has also `start` and `end`. */
uint32_t lode_process_images_get(struct lode_process_images *images, const struct lode_process_image *wanted);
/* The image `number` of `from`, added to `images` if new; LODE_NONE when memory has run out. */
uint32_t lode_process_images_copy(struct lode_process_images *images, const struct lode_process_images *from,
				  uint32_t number);
/* Bytes that it takes, about. */
size_t lode_process_images_bytes(const struct lode_process_images *images);
/* Enters its module in `frames`, unless that was done. Returns 0 or LODE_SYSTEM. */
int lode_process_image_enter(struct lode_process_image *image, struct lode_frames *frames);

/* ---- of live processes ---- */

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
	return image->kind == LODE_MAPPED_FILE || image->kind == LODE_MAPPED_VDSO ||
	       image->kind == LODE_MAPPED_NAMED;
}

/* The address that the symbols of an image know an address of it by. */
static inline uint64_t lode_process_image_address(const struct lode_process_image *image, uint64_t address)
{
	return image->symbols && lode_process_image_by_offset(image) ? lode_image_address(image->symbols, address)
								     : address;
}

#endif
