/* The line that a Python frame is at, from the code object in the memory of its process. */
#ifndef LODE_PROCESS_LANGUAGES_PYTHON_LINES_H
#define LODE_PROCESS_LANGUAGES_PYTHON_LINES_H

#include "process/languages/python_names.h"

/* `position`: as language_words.h has it. 0: the line is not known. */
uint32_t lode_python_line(const struct lode_process_memory *memory, const struct lode_python_process *process,
			  uint64_t word, uint64_t position);

#endif
