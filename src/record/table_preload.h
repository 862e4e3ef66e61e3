/*
 * Unwind tables of processes that run already, before anything is recorded. Without them each stack at the start of a
 * recording would be copied, by all processes at once, and more than the reader can unwind. Private to the recorder.
 */
#ifndef LODE_RECORD_TABLE_PRELOAD_H
#define LODE_RECORD_TABLE_PRELOAD_H

#include "process/process_unwinder.h"
#include "record/unwind_loader.h"

#include <stdint.h>

/*
 * Has the kernel know what processes have mapped: all of the machine, or (`only_known`) those that the unwinder knows. Loads
 * tables for as many nanoseconds as `patience` says, those that most processes use first; the others are loaded
 * when a stack asks for them. Returns 0 or LODE_SYSTEM.
 */
int lode_tables_preload(struct lode_unwind_loader *loader, struct lode_process_unwinder *unwinder, int only_known,
			uint64_t patience);

#endif
