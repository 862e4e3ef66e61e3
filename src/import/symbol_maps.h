/*
 * Symbol maps: names of functions from text files, for modules whose symbols lode cannot read itself, such as
 * those of Windows (--symbol-map MODULE=FILE).
 *
 * A line is `ADDRESS NAME`, or as nm prints it `ADDRESS TYPE NAME`. The address is hexadecimal and counts from the
 * beginning of the module, like the one in a frame `module!0xOFFSET`; a function goes on until the next one begins.
 * Names of modules are compared without regard to upper and lower case.
 *
 * Read once, then never changed: any number of threads may look things up.
 */
#ifndef LODE_IMPORT_SYMBOL_MAPS_H
#define LODE_IMPORT_SYMBOL_MAPS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct lode_symbol_maps;

/*
 * Reads the files of `settings` (`MODULE=FILE`, NULL-terminated, or NULL: none). Returns 0 or a negative code; one
 * that is not of this form is LODE_USAGE. Destroy it in either case.
 */
int lode_symbol_maps_load(struct lode_symbol_maps **maps, const char *const *settings, struct lode_error *error);
void lode_symbol_maps_destroy(struct lode_symbol_maps *maps);
/* The function of `module` at `offset`, or NULL. `maps` may be NULL. */
const char *lode_symbol_maps_find(const struct lode_symbol_maps *maps, const char *module, uint64_t offset);

#endif
