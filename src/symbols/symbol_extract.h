/*
 * What is kept of a program or a library to name its functions elsewhere: an ELF file with its build-id, its symbol tables
 * and its tables for unwinding. Code, data and debugging information are left out; program and section headers stay, as in a debug
 * file, the former as the file has them.
 */
#ifndef LODE_SYMBOLS_SYMBOL_EXTRACT_H
#define LODE_SYMBOLS_SYMBOL_EXTRACT_H

#include "base/buffer.h"
#include "symbols/elf.h"

struct lode_symbol_extract {
	struct lode_buffer file;
	char build_id[LODE_BUILD_ID_TEXT];
	int has_all; /* has .symtab; else only what the file exports, and the bounds of functions */
};

/*
 * Makes an extract of an ELF file (64 bits, little-endian). The same file always gives the same bytes, and so does an extract.
 * Returns 0 or a negative code with a sentence that begins with what is wrong; release it in either case.
 */
int lode_symbol_extract_make(struct lode_symbol_extract *extract, const void *bytes, size_t size,
			     struct lode_error *error);
void lode_symbol_extract_release(struct lode_symbol_extract *extract);

#endif
