/* GPUs as symptoms: see gpu_symptoms.h. */
#include "scope/gpu_symptoms.h"

#include "base/array.h"
#include "trace/gpu_threads.h"

#include <string.h>

struct lode_gpu_span {
	uint64_t first, last, busy;
};

static void sum_runs(const struct lode_stream *stream, struct lode_gpu_span *spans)
{
	const struct lode_events *runs = &stream->events[LODE_RUN];

	for (size_t i = 0; i < runs->count; i++) {
		struct lode_gpu_span *span = &spans[runs->thread[i]];
		uint64_t end = lode_add_saturating(runs->t[i], runs->cost[i]);

		if (!span->busy || runs->t[i] < span->first)
			span->first = runs->t[i];
		span->last = end > span->last ? end : span->last;
		span->busy = lode_add_saturating(span->busy, runs->cost[i]);
	}
}

/* The busiest stream of a GPU; of two as busy ones the first. */
struct lode_gpu_busiest {
	LODE_ARRAY(uint32_t); /* threads, one a GPU */
	struct lode_index index;
};

static int compare_busy(struct lode_gpu_busiest *busiest, const struct lode_stream *stream,
			const struct lode_gpu_span *spans, uint32_t thread)
{
	uint32_t pid = stream->threads[thread].pid, at;

	at = LODE_INDEX_FIND(i, &busiest->index, lode_hash_u64(pid), stream->threads[busiest->items[i]].pid == pid);
	if (at == LODE_NONE)
		return LODE_INDEX_PUSH(&busiest->index, lode_hash_u64(pid), busiest, thread);
	if (spans[thread].busy > spans[busiest->items[at]].busy)
		busiest->items[at] = thread;
	return 0;
}

static int add_symptom(const struct lode_stream *stream, const struct lode_gpu_span *span, uint32_t thread,
		       struct lode_symptom **symptoms, size_t *count, size_t *capacity)
{
	uint32_t name =
		lode_strings_find(&stream->dictionary->frames.strings, LODE_GPU_SYMPTOM, strlen(LODE_GPU_SYMPTOM));
	struct lode_symptom symptom = { thread, name == LODE_NONE ? 0 : name, span->first, span->last };

	if (lode_grow(symptoms, capacity, *count + 1, sizeof(**symptoms)) < 0)
		return LODE_SYSTEM;
	(*symptoms)[(*count)++] = symptom;
	return 0;
}

int lode_gpu_symptoms_find(const struct lode_stream *stream, struct lode_symptom **symptoms, size_t *count,
			   size_t *capacity)
{
	struct lode_gpu_span *spans = lode_calloc(stream->thread_count + 1, sizeof(*spans));
	struct lode_gpu_busiest busiest = { 0 };
	int code = spans ? 0 : LODE_SYSTEM;

	if (spans && stream->events[LODE_RUN].count)
		sum_runs(stream, spans);
	for (size_t i = 0; code == 0 && i < stream->thread_count; i++)
		if (lode_thread_is_gpu(&stream->threads[i]) && spans[i].busy)
			code = compare_busy(&busiest, stream, spans, (uint32_t)i);
	for (size_t i = 0; code == 0 && i < busiest.count; i++)
		code = add_symptom(stream, &spans[busiest.items[i]], busiest.items[i], symptoms, count, capacity);
	lode_free(spans);
	lode_free(busiest.items);
	lode_index_release(&busiest.index);
	return code;
}
