/* Dealing streams: see corpus_deal.h. */
#include "trace/corpus_deal.h"

#include <stdlib.h>

/* A stream costs something even where it is empty. */
#define LEAST 4096

static int compare_sizes(const void *left, const void *right, void *context)
{
	const struct lode_corpus_entry *entries = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (entries[a].file_size != entries[b].file_size)
		return entries[a].file_size > entries[b].file_size ? -1 : 1;
	return (a > b) - (a < b);
}

static unsigned find_least(const uint64_t *loads, unsigned count)
{
	unsigned least = 0;

	for (unsigned i = 1; i < count; i++)
		if (loads[i] < loads[least])
			least = i;
	return least;
}

ssize_t lode_corpus_deal(const struct lode_corpus_list *list, struct lode_job_rank rank, uint32_t *mine)
{
	uint32_t *order = lode_calloc(list->count + 1, sizeof(*order));
	uint64_t *loads = lode_calloc(rank.count, sizeof(*loads));
	ssize_t count = order && loads ? 0 : LODE_SYSTEM;

	for (size_t i = 0; count >= 0 && i < list->count; i++)
		order[i] = (uint32_t)i;
	if (count >= 0 && list->count)
		qsort_r(order, list->count, sizeof(*order), compare_sizes, list->items);
	for (size_t i = 0; count >= 0 && i < list->count; i++) {
		unsigned least = find_least(loads, rank.count);

		loads[least] += LEAST + list->items[order[i]].file_size;
		if (least == rank.number)
			mine[count++] = order[i];
	}
	lode_free(order);
	lode_free(loads);
	return count;
}
