/*
 * Spans, or samples? See run_spans.h.
 *
 * Samples of a clock come when they come: the time from one to the next is hardly ever the cost of either to the
 * nanosecond, and as often less as more. Spans of a thread follow one another: none begins before the last one ended,
 * and they touch. Equal costs are those of samples, even when they touch (a clock without jitter, or one that somebody
 * made up); then half of the time between two belongs to each, which comes to the same sums but for the first and the last.
 */
#include "latency/run_spans.h"

#include "base/error.h"

struct survey {
	uint64_t *ends; /* by thread, of its last run event */
	uint64_t shortest;
	uint64_t longest;
	int touch;
	int overlap;
};

static void look_at(struct survey *survey, uint64_t t, uint64_t cost, uint32_t thread)
{
	uint64_t *end = &survey->ends[thread];

	survey->overlap |= t < *end;
	survey->touch |= t == *end && *end;
	*end = lode_add_saturating(t, cost);
	if (cost > survey->longest)
		survey->longest = cost;
	if (cost && (!survey->shortest || cost < survey->shortest))
		survey->shortest = cost;
}

int lode_run_spans_find(const struct lode_stream *stream, uint64_t *shortest)
{
	const struct lode_events *runs = &stream->events[LODE_RUN];
	struct survey survey = { .ends = lode_calloc(stream->thread_count + 1, sizeof(*survey.ends)) };

	*shortest = 0;
	if (!survey.ends)
		return LODE_SYSTEM;
	for (size_t i = 0; i < runs->count && !survey.overlap; i++)
		look_at(&survey, runs->t[i], runs->cost[i], runs->thread[i]);
	lode_free(survey.ends);
	if (survey.touch && !survey.overlap && survey.shortest < survey.longest && !lode_stream_thinned(stream))
		*shortest = survey.shortest;
	return 0;
}
