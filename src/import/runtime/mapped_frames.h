/*
 * Mapped frames: from the addresses of a process to frames, by the memory map that a
 * profile carries as text (lines of /proc/PID/maps), for formats without symbols.
 *
 * An address in a mapped file is named by the symbols of that file, if it is there;
 * otherwise it is its offset in the file (`module!0xOFFSET`). An address that nothing
 * is mapped at is itself (`0xADDRESS`). Each distinct address is looked up once.
 */
#ifndef LODE_IMPORT_MAPPED_FRAMES_H
#define LODE_IMPORT_MAPPED_FRAMES_H

#include "base/array.h"
#include "base/hash_index.h"
#include "import/import_common.h"
#include "process/address_spaces.h"
#include "process/process_images.h"

struct lode_mapped_frames {
	const struct lode_import_options *options;
	struct lode_dictionary *dictionary;
	struct lode_symbolizer *symbolizer; /* NULL: names are not wanted */
	struct lode_process_images images;
	struct lode_spaces spaces;
	struct lode_space space;                           /* what the lines map */
	LODE_ARRAY(struct lode_mapped_location) locations; /* addresses that were requested */
	struct lode_index index;                           /* of locations */
	LODE_ARRAY(uint32_t) frames; /* of locations, root first: more than one with inlined functions */
	uint64_t unnamed;            /* addresses without a symbol */
	uint64_t unmapped;           /* of these, where nothing is mapped */
	uint64_t cut;                /* times that the limit of depth was in the way */
};

/* `options` and `dictionary` must outlive it. Returns 0 or a negative code; release it in either case. */
int lode_mapped_frames_init(struct lode_mapped_frames *mapped, const struct lode_import_options *options,
			    struct lode_dictionary *dictionary, struct lode_error *error);
void lode_mapped_frames_release(struct lode_mapped_frames *mapped);
/*
 * Takes a line of a memory map: `START-END PERMISSIONS OFFSET DEVICE INODE PATH`. Returns 1 when it
 * is one (only executable mappings are kept), 0 when it is something else, or LODE_SYSTEM.
 * All lines must come before the first address.
 */
int lode_mapped_frames_line(struct lode_mapped_frames *mapped, const char *line, size_t length);
/*
 * The stack `parent` of `*depth` frames with the function at `address` called from it, and what is
 * inlined there, as far as the limit of depth allows; counts `*depth` on. LODE_NONE: memory.
 */
uint32_t lode_mapped_frames_push(struct lode_mapped_frames *mapped, uint32_t parent, uint64_t address,
				 uint32_t *depth);
/* Adds to the notes what has no name, and what was too deep. */
void lode_mapped_frames_report(const struct lode_mapped_frames *mapped);
/* Adds how many addresses are offsets in files. */
static inline void lode_mapped_frames_count(const struct lode_mapped_frames *mapped,
					    struct lode_import_addresses *addresses)
{
	addresses->offsets += mapped->unnamed - mapped->unmapped;
}

#endif
