/* Sums over the streams of a corpus, and which threads were busiest: see info_report.h. */
#include "result/info_report.h"

#include <stdlib.h>

static int compare_threads(const void *left, const void *right, void *context)
{
	const struct lode_info *info = context;
	const struct lode_info_thread *a = &info->threads[*(const size_t *)left];
	const struct lode_info_thread *b = &info->threads[*(const size_t *)right];

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		if (a->cost[type] != b->cost[type])
			return a->cost[type] > b->cost[type] ? -1 : 1;
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		if (a->events[type] != b->events[type])
			return a->events[type] > b->events[type] ? -1 : 1;
	return a < b ? -1 : a > b;
}

struct lode_info_totals lode_info_sum_up(const struct lode_info *info)
{
	struct lode_info_totals totals = { 0 };

	for (size_t i = 0; i < info->stream_count; i++) {
		const struct lode_info_stream *stream = &info->streams[i];

		totals.bytes += stream->file_size;
		totals.preemptions += stream->preemptions;
		for (int type = 0; type < LODE_EVENT_TYPES; type++) {
			totals.events[type] += stream->events[type];
			totals.represents[type] += stream->represents[type];
			totals.all_events += stream->events[type];
			totals.cost[type] = lode_add_saturating(totals.cost[type], stream->cost[type]);
		}
	}
	return totals;
}

size_t *lode_info_busiest(const struct lode_info *info)
{
	size_t *order = lode_calloc(info->thread_count + 1, sizeof(*order));

	if (!order)
		return NULL;
	for (size_t i = 0; i < info->thread_count; i++)
		order[i] = i;
	qsort_r(order, info->thread_count, sizeof(*order), compare_threads, (void *)(uintptr_t)info);
	return order;
}
