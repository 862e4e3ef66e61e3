/*
 * What the streams of a comparison can show: tests of the whole run, of functions, and of paths. Private to latency.
 */
#ifndef LODE_LATENCY_DIFF_EVIDENCE_H
#define LODE_LATENCY_DIFF_EVIDENCE_H

#include "latency/diff.h"
#include "latency/diff_rows.h"

/*
 * Fills in `functions`, `chance`, and p and q of all paths; all else is there but the cause and the
 * order of paths. Returns 0 or LODE_SYSTEM.
 */
int lode_diff_test(struct lode_diff *diff, const struct lode_diff_rows *rows, unsigned jobs);

/*
 * What some functions take more in all contexts, with all that they call; calls between them count
 * once. `frames`: by frame, 1 for these functions. p is 1 where nothing was tested. Returns 0 or LODE_SYSTEM.
 */
int lode_diff_test_inclusive(const struct lode_diff *diff, const struct lode_diff_rows *rows,
			     const uint8_t *frames, unsigned jobs, struct lode_diff_function_growth *growth);

#endif
