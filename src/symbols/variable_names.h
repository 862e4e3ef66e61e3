/* Data: the variable of a binary at an address. */
#ifndef LODE_SYMBOLS_VARIABLE_NAMES_H
#define LODE_SYMBOLS_VARIABLE_NAMES_H

#include "base/buffer.h"
#include "symbols/elf.h"

/*
 * The address, as the file's headers number them, of what is mapped from `offset`
 * on, to be read only or not. Returns 0, or LODE_BAD_INPUT when the file maps
 * nothing from there.
 */
int lode_data_address(const struct lode_elf *elf, uint64_t offset, int writable, uint64_t *address);
/*
 * Appends the name of the variable at an address, readable, with the distance from
 * its beginning: `queue`, `queue+0x10`. Returns 0, or LODE_BAD_INPUT when no symbol
 * covers it.
 */
int lode_data_name(const struct lode_elf *elf, uint64_t address, struct lode_buffer *name);

#endif
