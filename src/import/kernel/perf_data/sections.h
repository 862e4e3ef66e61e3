/* File mode: the header of a perf.data file and the sections it points to. */
#ifndef LODE_IMPORT_PERF_DATA_SECTIONS_H
#define LODE_IMPORT_PERF_DATA_SECTIONS_H

#include "import/kernel/perf_data/recording_facts.h"

/*
 * Reads events and features of the file `bytes`, which is called `name` in
 * messages, and says where its records are. Returns 0 or a negative code.
 */
int lode_perf_sections_read(struct lode_perf_facts *facts, const unsigned char *bytes, size_t size,
			    const char *name, uint64_t *data_offset, uint64_t *data_size, struct lode_error *error);

#endif
