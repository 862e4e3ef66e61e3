/*
 * Lines of Java functions: ConstMethod has a table behind the bytecodes, from where each line begins to its number.
 */
#ifndef LODE_PROCESS_LANGUAGES_HOTSPOT_LINES_H
#define LODE_PROCESS_LANGUAGES_HOTSPOT_LINES_H

#include "process/languages/hotspot_process.h"

/* The line of a bytecode by its number (-1: none, the method begins) in the method of a ConstMethod; 0: not known. */
uint32_t lode_hotspot_line(const struct lode_hotspot *hotspot, const struct lode_process_memory *memory,
			   uint64_t const_method, int32_t bytecode);
/* The line that the interpreter is at in the method of a word, by its position; 0: not known. */
uint32_t lode_hotspot_position_line(const struct lode_hotspot *hotspot, const struct lode_process_memory *memory,
				    uint64_t word, uint64_t position);

#endif
