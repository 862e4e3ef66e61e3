/*
 * Order: sorts entries by time.
 *
 * Records of different CPUs are in the file out of order. The recorder ends each
 * round over all CPUs with a mark; nothing that comes later is older than what was
 * the newest at the mark before. So at a mark all entries up to that time can be
 * handed on.
 */
#ifndef LODE_IMPORT_PERF_DATA_TIME_ORDER_H
#define LODE_IMPORT_PERF_DATA_TIME_ORDER_H

#include "import/kernel/perf_data/batch.h"

struct lode_perf_order {
	struct lode_perf_entry *entries; /* waiting; the first `sorted` are in order */
	struct lode_perf_entry *spare;   /* for sorting, as are `times` and `places` */
	uint64_t *times;
	uint32_t *places;
	size_t count;
	size_t sorted;
	size_t capacity;
	size_t spare_capacity;
	size_t time_capacity;
	size_t place_capacity;
	uint64_t newest; /* time of the newest entry seen */
	uint64_t limit;  /* what was the newest at the last mark */
	uint64_t gone;   /* time of the last entry that went */
	uint64_t late;   /* entries older than that */
};

/* A zeroed struct is empty. */
void lode_perf_order_release(struct lode_perf_order *order);
/* Adds entries in the order of the file. Returns 0 or LODE_SYSTEM. */
int lode_perf_order_add(struct lode_perf_order *order, const struct lode_perf_entry *entries, size_t count);
/*
 * A round ends, or with `all` the file: sorts, stable, and says how many of
 * `entries` can go now. Returns 0 or LODE_SYSTEM.
 */
int lode_perf_order_ready(struct lode_perf_order *order, int all, size_t *count);
/* Takes the first `count` entries away. */
void lode_perf_order_remove(struct lode_perf_order *order, size_t count);

#endif
