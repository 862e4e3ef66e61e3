/*
 * Which stream a symptom counts in, where several have it: recordings of one host that
 * overlap in time, such as those of a flight recorder, contain the same events twice. A
 * symptom is the same when host, thread and time are, and the last event of the thread in
 * it. Private to scope.
 */
#ifndef LODE_SCOPE_SYMPTOM_CLAIMS_H
#define LODE_SCOPE_SYMPTOM_CLAIMS_H

#include "scope/area_stream.h"

struct lode_symptom_claims;

/*
 * Looks at the streams of `list` that overlap with another one of their host, and
 * that the plan lets in. A symptom belongs to the first stream whose events begin
 * before it, else to the first one. `list` must outlive the claims. Returns 0 or
 * a negative code; then `*claims` is NULL.
 */
int lode_symptom_claims_make(struct lode_symptom_claims **claims, const struct lode_area_plan *plan,
			     const struct lode_corpus_list *list, struct lode_error *error);
void lode_symptom_claims_free(struct lode_symptom_claims *claims);

/*
 * Leaves out of the symptoms of a stream those that count in another one, and all but
 * the first of equal ones. The stream has its events. `claims` may be NULL. Returns 0
 * or LODE_SYSTEM.
 */
int lode_symptom_claims_apply(const struct lode_symptom_claims *claims, const struct lode_corpus_entry *entry,
			      const struct lode_stream *stream, struct lode_symptom *symptoms, size_t *count);

/* Appends all of the claims that the result for this stream may depend on. */
void lode_symptom_claims_describe(const struct lode_symptom_claims *claims, const struct lode_corpus_entry *entry,
				  struct lode_buffer *buffer);

#endif
