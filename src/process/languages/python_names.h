/* Names of Python functions, from code objects in the memory of their process. */
#ifndef LODE_PROCESS_LANGUAGES_PYTHON_NAMES_H
#define LODE_PROCESS_LANGUAGES_PYTHON_NAMES_H

#include "base/buffer.h"
#include "process/languages/language.h"
#include "process/languages/process_memory.h"
#include "process/languages/python_image.h"

struct lode_python_process {
	const struct lode_python_image *image;
	uint64_t bias; /* from addresses of the image to those of the process */
	uint32_t pid;
};

/* What was read of a code object. */
struct lode_python_code {
	unsigned char bytes[256];
	size_t size;
	uint64_t filename; /* addresses of texts */
	uint64_t name;
	uint32_t line; /* first one */
};

/* Reads the code object of a word. Returns 1, or 0 when it is not there (any more). */
int lode_python_code(const struct lode_process_memory *memory, const struct lode_python_process *process,
		     uint64_t word, struct lode_python_code *code);
/* The word at an offset of what was read; 0: there is none. */
uint64_t lode_python_word_at(const unsigned char *bytes, size_t size, uint32_t offset);
/*
 * Appends the path of the file and the qualified name of the function of a word, each with a NUL behind it. Returns 1,
 * or 0 when its code object is not there (any more), or memory has run out (the buffers know).
 */
int lode_python_name(const struct lode_process_memory *memory, const struct lode_python_process *process,
		     uint64_t word, struct lode_buffer *path, struct lode_buffer *function,
		     struct lode_language_facts *facts);

#endif
