/*
 * Variables of an image: what is at an address of its data. Only few images are asked, so they are loaded by who asks
 * and not cached.
 */
#ifndef LODE_SYMBOLS_IMAGE_VARIABLES_H
#define LODE_SYMBOLS_IMAGE_VARIABLES_H

#include "base/arena.h"
#include "base/array.h"
#include "base/buffer.h"
#include "symbols/symbols.h"

struct lode_variable {
	uint64_t start;
	uint64_t size;
	const char *name; /* as the file has it */
	int is_local;
};

/* A zeroed struct has none. */
struct lode_variables {
	LODE_ARRAY(struct lode_variable); /* by start */
	struct lode_arena names;
	uint64_t low; /* where the parts are that can be written to; image addresses */
	uint64_t high;
};

/* Loads the variables of a binary; there are none where its file is not found. Returns 0 or LODE_SYSTEM. */
int lode_variables_load(struct lode_variables *variables, struct lode_image *image);
void lode_variables_release(struct lode_variables *variables);
/* Whether an image address is among the data of the image. */
int lode_variables_has(const struct lode_variables *variables, uint64_t address);
/* The variable at an image address; NULL: there is no symbol. */
const struct lode_variable *lode_variables_find(const struct lode_variables *variables, uint64_t address);

#endif
