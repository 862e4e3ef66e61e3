/*
 * The values of a pprof profile: which of them are CPU time, which are waits, and how
 * many nanoseconds one is. Recognized by the names that profilers give them.
 */
#ifndef LODE_IMPORT_PPROF_VALUES_H
#define LODE_IMPORT_PPROF_VALUES_H

#include "import/text_span.h"

enum lode_pprof_use {
	LODE_PPROF_SKIP,
	LODE_PPROF_RUN,
	LODE_PPROF_WAIT,
	LODE_PPROF_WALL, /* beside CPU time: what is more than that is a wait */
};

struct lode_pprof_value {
	struct lode_span type;
	struct lode_span unit;
	int is_default; /* the profile shows it first */
	enum lode_pprof_use use;
	double scale; /* nanoseconds of one */
};

/* Nanoseconds of a unit of time; 0 for other units. */
double lode_pprof_unit(struct lode_span unit);
/*
 * Fills in `use` and `scale` of all values. `count_ns`: what a count represents where no value is CPU
 * time, 0: unknown. With `all_waits` one time, or the count, is taken, as waits. Returns how many are used.
 */
size_t lode_pprof_choose(struct lode_pprof_value *values, size_t count, double count_ns, int all_waits);
/* `value`, which is not negative, times `scale`, rounded; 0 when that is too much. */
int lode_pprof_cost(int64_t value, double scale, uint64_t *cost);

#endif
