/*
 * What a binary with PHP in it (php8.2, php-fpm8.2, libphp8.2.so) says: its version, where the function that runs code and the
 * pointer to the current frame are, and the layout of its structs.
 */
#ifndef LODE_PROCESS_LANGUAGES_PHP_IMAGE_H
#define LODE_PROCESS_LANGUAGES_PHP_IMAGE_H

#include "process/languages/language_words.h"
#include "symbols/elf.h"

struct lode_php_image {
	uint32_t major; /* 0: it does not say */
	uint32_t minor;
	uint64_t starts[LODE_PYTHON_PARTS]; /* of the function that runs code; addresses are those of the file */
	uint64_t ends[LODE_PYTHON_PARTS];
	uint64_t frame; /* the pointer to the current frame */
	struct lode_python_layout layout;
	uint32_t file;   /* of a function that is written in PHP: its file */
	uint32_t line;   /* and its first line, 32 bits */
	uint32_t module; /* of one that is written in C: the extension that has it */
};

enum lode_php_support {
	LODE_PHP_NONE,        /* the file has no PHP */
	LODE_PHP_SUPPORTED,   /* and `image` says how to read it */
	LODE_PHP_UNSUPPORTED, /* a version whose layout is not known, or one with threads; only the version is set */
};

enum lode_php_support lode_php_image_read(struct lode_php_image *image, const struct lode_elf *elf);

#endif
