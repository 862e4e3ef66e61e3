/*
 * Sorting of rows: see sort_rows.h.
 *
 * A counting sort, which touches memory in random order. Rows that do not fit into memory are sorted
 * in runs that do, and the runs are merged, reading each of them from its start to its end.
 */
#include "base/sort_rows.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/spill.h"

#include <string.h>

static inline uint32_t key_of(const unsigned char *row)
{
	uint32_t key;

	memcpy(&key, row, sizeof(key));
	return key;
}

/* `starts`: by key, one more, all 0. */
static void sort_run(const unsigned char *from, unsigned char *to, size_t count, size_t size, size_t keys,
		     size_t *starts)
{
	for (size_t i = 0; i < count; i++)
		starts[key_of(from + i * size) + 1]++;
	for (size_t i = 0; i < keys; i++)
		starts[i + 1] += starts[i];
	for (size_t i = 0; i < count; i++)
		memcpy(to + starts[key_of(from + i * size)]++ * size, from + i * size, size);
}

/* `nexts`: by run, the first row of it that is not merged yet. */
static void merge_runs(const unsigned char *from, unsigned char *to, size_t count, size_t size, size_t keys,
		       size_t run, size_t *nexts)
{
	size_t runs = (count + run - 1) / run;

	for (size_t i = 0; i < runs; i++)
		nexts[i] = i * run;
	for (size_t key = 0; key < keys; key++)
		for (size_t i = 0; i < runs; i++) {
			size_t end = (i + 1) * run < count ? (i + 1) * run : count;

			for (; nexts[i] < end && key_of(from + nexts[i] * size) == key; nexts[i]++, to += size)
				memcpy(to, from + nexts[i] * size, size);
		}
}

int lode_sort_rows(void *rows, size_t count, size_t size, size_t keys, size_t run)
{
	size_t runs = run && count > run ? (count + run - 1) / run : 1;
	size_t *starts = lode_calloc((keys > runs ? keys : runs) + 1, sizeof(*starts));
	unsigned char *sorted = lode_calloc(count + 1, size), *old;

	if (!starts || !sorted) {
		lode_free(starts);
		lode_free(sorted);
		return LODE_SYSTEM;
	}
	memcpy(&old, rows, sizeof(old));
	for (size_t i = 0; i < runs; i++) {
		size_t first = i * run, left = count - first;

		if (i)
			memset(starts, 0, (keys + 1) * sizeof(*starts));
		sort_run(old + first * size, sorted + first * size, runs > 1 && left > run ? run : left, size,
			 keys, starts);
	}
	if (runs > 1) {
		merge_runs(sorted, old, count, size, keys, run, starts);
		lode_free(sorted);
		sorted = old;
	} else {
		lode_free(old);
	}
	lode_free(starts);
	memcpy(rows, &sorted, sizeof(sorted));
	return 0;
}

size_t lode_sort_rows_run(size_t size)
{
	uint64_t limit = lode_spill_counts().limit;

	return limit ? (size_t)(limit / 16 / size) + 1 : 0;
}
