/* Dealing streams: see corpus_deal.h. */
#include "store/corpus_deal.h"

#include "base/id_array.h"
#include "base/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>

struct dealing {
	const struct lode_corpus_list *list;
	const struct lode_job_rank *rank;
	void (*keep)(void *context, size_t i);
	void *context;
	uint32_t *order;
	struct lode_job_turns turns;
	atomic_int is_empty;
};

static int compare_sizes(const void *left, const void *right, void *context)
{
	const struct lode_corpus_entry *entries = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (entries[a].file_size != entries[b].file_size)
		return entries[a].file_size > entries[b].file_size ? -1 : 1;
	return (a > b) - (a < b);
}

/* One turn of a thread; there are as many turns as streams, so that one process could take all. */
static void handle_one(void *context, size_t turn)
{
	struct dealing *dealing = context;
	uint64_t number;

	(void)turn;
	if (atomic_load(&dealing->is_empty))
		return;
	number = lode_job_take(dealing->rank, &dealing->turns);
	if (number < dealing->list->count)
		dealing->keep(dealing->context, dealing->order[number]);
	else
		atomic_store(&dealing->is_empty, 1);
}

int lode_corpus_deal(const struct lode_corpus_list *list, const struct lode_job_rank *rank, unsigned jobs,
		     void (*keep)(void *context, size_t i), void *context)
{
	struct dealing dealing = { .list = list, .rank = rank, .keep = keep, .context = context };

	dealing.order = lode_ids_sorted(list->count, compare_sizes, list->items);
	if (!dealing.order)
		return LODE_SYSTEM;
	lode_parallel(jobs, list->count, handle_one, &dealing);
	lode_free(dealing.order);
	return 0;
}

struct lode_corpus_list lode_corpus_part(const struct lode_corpus_list *list, const struct lode_job_rank *rank)
{
	struct lode_corpus_list part = { .items = list->items };
	double all = 0, before = 0;

	for (size_t i = 0; i < list->count; i++)
		all += (double)list->items[i].stacks + 1;
	for (size_t i = 0; i < list->count; i++) {
		double own = (double)list->items[i].stacks + 1;
		double owner = (before + own / 2) / all * rank->count;

		if (owner < rank->number)
			part.items = &list->items[i + 1];
		else if (owner < rank->number + 1.0)
			part.count++;
		before += own;
	}
	return part;
}
