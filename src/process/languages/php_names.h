/* Names of PHP functions, from what describes them in the memory of their process. */
#ifndef LODE_PROCESS_LANGUAGES_PHP_NAMES_H
#define LODE_PROCESS_LANGUAGES_PHP_NAMES_H

#include "base/buffer.h"
#include "process/languages/language.h"
#include "process/languages/php_image.h"
#include "process/languages/process_memory.h"

/*
 * Appends the path of the file and the name of the function of a word, `Class::method`, each with a NUL behind it. Code outside of
 * functions is `{main}`, that of an eval `{eval}`; functions that are written in C have the name of their extension for
 * a path, `php:standard`. Returns 1, or 0 when what describes it is not there (any more), or memory has run out (the buffers know).
 */
int lode_php_name(const struct lode_process_memory *memory, const struct lode_php_image *image, uint32_t pid,
		  uint64_t word, struct lode_buffer *path, struct lode_buffer *function,
		  struct lode_language_facts *facts);

#endif
