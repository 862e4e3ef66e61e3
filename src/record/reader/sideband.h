/*
 * Sideband: what happens to processes while a recording runs, from the kernel's
 * perf interface: files mapped for execution with their build-ids (unless that
 * takes too much), names, forks and exits, of all processes, even if they are very short-lived.
 */
#ifndef LODE_RECORD_READER_SIDEBAND_H
#define LODE_RECORD_READER_SIDEBAND_H

#include "base/error.h"
#include "process/process_change.h"

#include <stddef.h>
#include <stdint.h>

struct lode_sideband;

/* Begins to listen on all CPUs. */
int lode_sideband_open(struct lode_sideband **sideband, struct lode_error *error);
void lode_sideband_close(struct lode_sideband *sideband);
/*
 * Whether files that are mapped are reported, as they are at first. The kernel then prepares a report of everything that any process
 * maps, code or not, which takes it more than a microsecond. Returns 0, or -1 where not all CPUs could be changed; then none reports
 * that was to begin, and those that were to end may go on.
 */
int lode_sideband_report_maps(struct lode_sideband *sideband, int reports);
/*
 * The changes since the last call up to the time `until`, in order of time; later
 * ones are kept for the next call. The array is the sideband's and valid until
 * then. Returns 0 or LODE_SYSTEM.
 */
int lode_sideband_read(struct lode_sideband *sideband, uint64_t until, const struct lode_change **changes,
		       size_t *count);
/* Bytes of its rings. */
size_t lode_sideband_bytes(const struct lode_sideband *sideband);
/* Changes that the kernel had no room for, so far. */
uint64_t lode_sideband_lost(const struct lode_sideband *sideband);

#endif
