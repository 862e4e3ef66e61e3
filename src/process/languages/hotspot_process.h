/*
 * A process that runs HotSpot: the offsets of its structs, where its code is, and the names of its methods. All of it is
 * read from the process, and may be anything: readings are limited, and what makes no sense is not used.
 */
#ifndef LODE_PROCESS_LANGUAGES_HOTSPOT_PROCESS_H
#define LODE_PROCESS_LANGUAGES_HOTSPOT_PROCESS_H

#include "base/buffer.h"
#include "process/languages/hotspot_image.h"
#include "process/languages/hotspot_words.h"
#include "process/languages/language.h"
#include "process/unwind_state.h"

struct lode_hotspot {
	struct lode_hotspot_process code; /* what a walk must know */
	uint32_t offsets[LODE_HOTSPOT_OFFSETS];
	uint32_t sizes[LODE_HOTSPOT_SIZES];
	uint32_t pid;
	unsigned packed_add; /* what bytes of packed numbers are larger by */
};

enum lode_hotspot_state {
	LODE_HOTSPOT_READY,
	LODE_HOTSPOT_EARLY, /* it has not started yet */
	LODE_HOTSPOT_WRONG, /* what it says makes no sense */
};

/* `bias`: from addresses of the image to those of the process. */
enum lode_hotspot_state lode_hotspot_read(struct lode_hotspot *hotspot, const struct lode_process_memory *memory,
					  const struct lode_hotspot_image *image, uint64_t bias, uint32_t pid);

/*
 * Appends the path of the source file (`java/util/HashMap.java`) and the name (`HashMap.get`) of the function of a word, each with
 * a NUL behind it, and then those of the functions that it is inlined in; compiled ones, with `lines`, with the
 * lines that they are at (`HashMap.get:564`). Stubs have the path `libjvm.so`. Returns 1, or 0 when what the word refers to is not there (any
 * more), or memory has run out (the buffers know).
 */
int lode_hotspot_name(const struct lode_hotspot *hotspot, const struct lode_process_memory *memory, uint64_t word,
		      int lines, struct lode_buffer *path, struct lode_buffer *function);

/* As `leave` of a language (language.h). */
int lode_hotspot_leave(const struct lode_hotspot *hotspot, const struct lode_process_memory *memory,
		       const struct lode_language_stack *stack, struct lode_unwind_state *state, uint64_t *word,
		       uint64_t *position);

#endif
