/*
 * Images: the files whose code was run, each once, and their symbols.
 */
#ifndef LODE_IMPORT_PERF_DATA_IMAGES_H
#define LODE_IMPORT_PERF_DATA_IMAGES_H

#include "base/arena.h"
#include "base/hash_index.h"
#include "import/import.h"
#include "import/kernel/perf_data/recording_facts.h"
#include "symbols/symbols.h"

#include <pthread.h>
#include <stdatomic.h>

enum lode_perf_image_kind {
	LODE_PERF_UNKNOWN, /* nothing was mapped there */
	LODE_PERF_KERNEL,
	LODE_PERF_KERNEL_MODULE,
	LODE_PERF_KERNEL_CODE, /* generated at run time: a BPF program, a trampoline; has one function, its own
				  name */
	LODE_PERF_GUEST,       /* in a virtual machine or a hypervisor */
	LODE_PERF_BINARY,
	LODE_PERF_VDSO,
	LODE_PERF_PERF_MAP, /* code generated at run time by a process */
	LODE_PERF_NAMED,    /* [heap], [stack] and the like */
};

/* What is known of an image's unwind table. */
enum lode_perf_unwind_state {
	LODE_PERF_UNWIND_NOT_ASKED,
	LODE_PERF_UNWIND_THERE,
	LODE_PERF_UNWIND_ABSENT,  /* the code has none */
	LODE_PERF_UNWIND_MISSING, /* the file was not found */
};

/* Why a user stack is not unwound up to the start of its thread, and whose code that is put down to. */
enum lode_perf_unwind_failure {
	LODE_PERF_FILE_MISSING,  /* its file was not found */
	LODE_PERF_NO_TABLE,      /* it has no unwind information */
	LODE_PERF_LEADS_NOWHERE, /* its unwind information, or the stack, is wrong or says nothing */
	LODE_PERF_UNWIND_FAILURES,
};

struct lode_perf_image {
	enum lode_perf_image_kind kind;
	const char *path;           /* as recorded; of a perf map: where it is looked for */
	const char *build_id;       /* hexadecimal, or "" */
	uint64_t start;             /* kernel module, code: its first address */
	int used;                   /* some address in it is wanted */
	struct lode_image *symbols; /* NULL until requested, and for kinds that have none */
	enum lode_perf_unwind_state unwind_state;
	const struct lode_unwind_table *unwind;       /* NULL unless its state is LODE_PERF_UNWIND_THERE */
	uint64_t failures[LODE_PERF_UNWIND_FAILURES]; /* user stacks */
};

/* Always there. */
#define LODE_PERF_IMAGE_UNKNOWN 0
#define LODE_PERF_IMAGE_KERNEL  1
#define LODE_PERF_IMAGE_GUEST   2

/* In a mapping: with this bit the image's number is that of data, which no return address points to. */
#define LODE_PERF_IMAGE_DATA 0x80000000u

struct lode_perf_images {
	const struct lode_perf_facts *facts;
	const struct lode_import_options *options;
	struct lode_symbolizer *symbolizer; /* NULL until the start */
	struct lode_arena arena;
	struct lode_perf_image *items;
	size_t count;
	size_t capacity;
	struct lode_index index;    /* by path and build-id */
	const char *reference_name; /* the kernel's symbol whose address was recorded, or NULL */
	uint64_t reference;
	struct lode_image **prefetched;
	size_t prefetched_count;
	pthread_t prefetcher;
	int prefetching;
	atomic_int stop;
};

/* `facts` and `options` must outlive it. Returns 0 or LODE_SYSTEM; release it in either case. */
int lode_perf_images_init(struct lode_perf_images *images, const struct lode_perf_facts *facts,
			  const struct lode_import_options *options);
void lode_perf_images_release(struct lode_perf_images *images);
/*
 * To be called once, when the facts and the kernel's mapping are known: makes files
 * findable and begins to load, in the background, the symbols of the kernel and of
 * what the build-id table names. Returns 0 or LODE_SYSTEM.
 */
int lode_perf_images_start(struct lode_perf_images *images);

/*
 * The image a process maps under `path`, added if new: LODE_NONE when memory has
 * run out. `build_id` may be "": then the table of the file is asked.
 */
uint32_t lode_perf_images_user(struct lode_perf_images *images, const char *path, const char *build_id,
			       uint32_t pid);
/* The same for a mapping of the kernel: itself, a module, or code generated at run time. */
uint32_t lode_perf_images_kernel(struct lode_perf_images *images, const char *path, const char *build_id,
				 uint64_t start, uint64_t offset);
uint32_t lode_perf_images_kernel_code(struct lode_perf_images *images, const char *name, uint64_t start);

/* Whether addresses in this image are offsets in its file; else they are run-time addresses. */
static inline int lode_perf_image_by_offset(const struct lode_perf_image *image)
{
	return image->kind == LODE_PERF_BINARY || image->kind == LODE_PERF_VDSO || image->kind == LODE_PERF_NAMED;
}

/*
 * Asks for the unwind table of an image, after the start. Cheap when it is known. Returns 0 or
 * LODE_SYSTEM.
 */
int lode_perf_images_load_unwind(struct lode_perf_images *images, uint32_t image);
/* Stops the background and asks the symbolizer for all images that are used. Returns 0 or LODE_SYSTEM. */
int lode_perf_images_settle(struct lode_perf_images *images);
/* The address that the symbols of an image know an address of it by. */
uint64_t lode_perf_image_address(const struct lode_perf_image *image, uint64_t address);
/*
 * The module of an image's frames; `symbol_module`, if not NULL, is what the kernel's symbols say. LODE_NONE:
 * memory.
 */
uint32_t lode_perf_image_module(const struct lode_perf_image *image, const char *symbol_module,
				struct lode_frames *frames);

#endif
