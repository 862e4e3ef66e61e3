/*
 * Requests as symptoms: the rules `request ...` of symptoms.h, and the slowest ones of a stream that says nothing else
 * about what was slow.
 */
#ifndef LODE_SCOPE_SLOW_REQUESTS_H
#define LODE_SCOPE_SLOW_REQUESTS_H

#include "scope/requests.h"
#include "store/corpus.h"

/* Which requests of a stream are symptoms. */
struct lode_slow_requests {
	const char *name; /* glob over names of threads and processes; NULL: all but nested ones (nested_requests.h) */
	uint64_t longer;    /* than this, ns, or */
	unsigned percent;   /* than this percent of their loop's requests; 0: `longer` counts */
	int if_they_matter; /* none where the stream is about something else (lode_requests_matter) */
};

/* Appends them to `*symptoms` (lode_grow). The columns of requests.h, with if_they_matter those of states.h. */
int lode_slow_requests_find(const struct lode_slow_requests *slow, const struct lode_stream *stream,
			    const struct lode_idle_stacks *idle, struct lode_symptom **symptoms, size_t *count,
			    size_t *capacity, struct lode_error *error);

/*
 * Whether one of the first LODE_STREAMS_TRIED streams that `where` leaves (where.h; NULL: all) has slow requests that
 * matter. Returns 1, 0 or a negative code; a stream that cannot be read has none.
 */
#define LODE_STREAMS_TRIED 16
int lode_slow_requests_possible(const struct lode_corpus_list *list, const char *const *where,
				const struct lode_idle_rules *idle, struct lode_error *error);

#endif
