/*
 * Images of a recording: the files that perf.data names, and where their symbols are
 * found later, perhaps on another machine.
 */
#ifndef LODE_IMPORT_PERF_DATA_RECORDED_IMAGES_H
#define LODE_IMPORT_PERF_DATA_RECORDED_IMAGES_H

#include "import/import.h"
#include "import/kernel/perf_data/recording_facts.h"
#include "process/process_images.h"

#include <pthread.h>
#include <stdatomic.h>

/* Always there, besides LODE_PROCESS_IMAGE_UNKNOWN. */
#define LODE_PERF_IMAGE_KERNEL 1
#define LODE_PERF_IMAGE_GUEST  2

/* In a mapping: with this bit the image's number is that of data, which no return address points to. */
#define LODE_PERF_IMAGE_DATA 0x80000000u

struct lode_perf_images {
	struct lode_process_images table;
	const struct lode_perf_facts *facts;
	const struct lode_import_options *options;
	struct lode_symbolizer *symbolizer; /* NULL until the start */
	const char *reference_name;         /* the kernel's symbol whose address was recorded, or NULL */
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

/*
 * The file of an image, for its unwind table; after the start. NULL in *file: it has none, or may not be another
 * machine's. Returns 0 or LODE_SYSTEM.
 */
int lode_perf_images_file(struct lode_perf_images *images, uint32_t image, struct lode_image **file);
/* Stops the background and asks the symbolizer for all images that are used. Returns 0 or LODE_SYSTEM. */
int lode_perf_images_settle(struct lode_perf_images *images);

#endif
