/*
 * Loads the unwind tables of processes that already run, before anything is recorded. Otherwise each stack at
 * the start of a recording would be copied, by all processes at the same time, more than the reader can unwind.
 * Private to the recorder.
 */
#ifndef LODE_RECORD_UNWIND_TABLE_PRELOAD_H
#define LODE_RECORD_UNWIND_TABLE_PRELOAD_H

#include "process/process_unwinder.h"
#include "record/unwind/unwind_loader.h"

#include <stdint.h>

/* Processes whose tables are loaded into the kernel before the start: its maps have room for those that run, not for all of a large machine. */
#define LODE_PRELOAD_PROCESSES 512

/*
 * Has the kernel know what processes have mapped: all of the machine, or (`only_known`) those that the unwinder knows. Reads
 * mappings and then loads tables, those that most processes use first, for as many nanoseconds as `patience` says. What is
 * left out comes when a stack asks for it, by a copy; `left_out` is the number of processes. Returns 0 or LODE_SYSTEM.
 */
int lode_tables_preload(struct lode_unwind_loader *loader, struct lode_process_unwinder *unwinder, int only_known,
			uint64_t patience, uint64_t *left_out);

#endif
