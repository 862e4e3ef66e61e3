/* Names of JavaScript functions, from what V8 has in the memory of their process. */
#ifndef LODE_PROCESS_LANGUAGES_V8_NAMES_H
#define LODE_PROCESS_LANGUAGES_V8_NAMES_H

#include "base/buffer.h"
#include "process/languages/process_memory.h"
#include "process/languages/v8_image.h"

struct lode_v8_process {
	const struct lode_v8_image *image;
	uint32_t pid;
};

/*
 * Appends the path of the script and the name of the function of a word, each with a NUL behind it: `handle`, or
 * `(anonymous):12` with the line where it begins. The path of a script without one is empty. Returns 1, or 0 when what describes the
 * function is not there (any more), or memory has run out (the buffers know).
 */
int lode_v8_name(const struct lode_process_memory *memory, const struct lode_v8_process *process, uint64_t word,
		 struct lode_buffer *path, struct lode_buffer *function, uint32_t *line);
/* The word of the function that a frame runs, by its two slots (language_words.h); 0: it runs none. */
uint64_t lode_v8_word(const struct lode_process_memory *memory, const struct lode_v8_process *process,
		      uint64_t function, uint64_t context);

#endif
