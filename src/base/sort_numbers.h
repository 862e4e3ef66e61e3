/* Numbers, and things by a number, in ascending order. None of the doubles is NaN. */
#ifndef LODE_BASE_SORT_NUMBERS_H
#define LODE_BASE_SORT_NUMBERS_H

#include <stdint.h>
#include <stdlib.h>

static inline int lode_compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static inline int lode_compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline int lode_compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* No numbers may be NULL. */
static inline void lode_sort_u32(uint32_t *numbers, size_t count)
{
	if (count)
		qsort(numbers, count, sizeof(*numbers), lode_compare_u32);
}

static inline void lode_sort_u64(uint64_t *numbers, size_t count)
{
	if (count)
		qsort(numbers, count, sizeof(*numbers), lode_compare_u64);
}

static inline void lode_sort_double(double *numbers, size_t count)
{
	if (count)
		qsort(numbers, count, sizeof(*numbers), lode_compare_double);
}

/* Something by its id, and what it is sorted by. */
struct lode_ranked {
	double value;
	uint32_t id;
};

static inline int lode_compare_ranked(const void *a, const void *b)
{
	const struct lode_ranked *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Of equal values the lower id comes first. */
static inline void lode_sort_ranked(struct lode_ranked *items, size_t count)
{
	if (count)
		qsort(items, count, sizeof(*items), lode_compare_ranked);
}

#endif
