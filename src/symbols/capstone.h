/* The functions of capstone that are used, which is loaded when they are. */
#ifndef LODE_SYMBOLS_CAPSTONE_H
#define LODE_SYMBOLS_CAPSTONE_H

#include "base/shared_library.h"

#include <capstone/capstone.h>

struct lode_capstone {
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm_iter) *disassemble;
};

/* Returns 0, or a negative code where it cannot be loaded. */
static inline int lode_capstone_load(struct lode_capstone *capstone)
{
	const struct lode_library_function functions[] = {
		{ "cs_open", &capstone->open },
		{ "cs_close", &capstone->close },
		{ "cs_option", &capstone->option },
		{ "cs_malloc", &capstone->malloc },
		{ "cs_free", &capstone->free },
		{ "cs_disasm_iter", &capstone->disassemble },
		{ NULL, NULL },
	};

	return lode_library_load(LODE_CAPSTONE_LIBRARY, functions, NULL);
}

#endif
