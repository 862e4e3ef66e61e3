/*
 * The text of /proc/kallsyms, or a copy of it that a recording carries, as a table of functions.
 */
#ifndef LODE_SYMBOLS_KALLSYMS_H
#define LODE_SYMBOLS_KALLSYMS_H

#include "symbols/symbol_table.h"

struct lode_kallsyms {
	uint64_t text;    /* address of _text, 0 when it is not there */
	uint64_t stext;   /* of _stext */
	uint64_t hidden;  /* lines whose address is 0 */
	uint64_t shown;   /* lines whose address is not */
	uint64_t skipped; /* lines that were not understood */
};

/*
 * Wrong lines are skipped and counted; a last line without an end is taken to be cut off and left out.
 * Returns 0, or LODE_SYSTEM when memory ran out.
 */
int lode_image_parse_kallsyms(struct lode_table_builder *builder, const char *bytes, size_t size,
			      struct lode_kallsyms *kallsyms);

#endif
