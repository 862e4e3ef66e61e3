/*
 * Keep: the samples and results of a hunt as streams, one a host, for `lode mine`
 * and `lode latency`. A sample of a running thread is a run, one of a waiting thread
 * a wait; an experiment that turned true is a call, named after its hypothesis, with
 * the functions that lead to it as its stack. The bottlenecks are attributes, too.
 */
#ifndef LODE_HUNT_KEEP_H
#define LODE_HUNT_KEEP_H

#include "hunt/search.h"
#include "trace/corpus.h"

struct lode_keep;

int lode_keep_create(struct lode_keep **keep, struct lode_meter *meter, struct lode_error *error);
void lode_keep_destroy(struct lode_keep *keep);
/* Takes a sample; for lode_search_on_sample. Returns 0 or LODE_SYSTEM. */
int lode_keep_sample(void *keep, const struct lode_meter_sample *sample);
/* Adds what the search has found. */
int lode_keep_results(struct lode_keep *keep, const struct lode_search *search, struct lode_error *error);
size_t lode_keep_count(const struct lode_keep *keep);
/* The stream of a host, 0 up to the count, to describe further; its name is for the caller to set. */
struct lode_stream *lode_keep_stream(struct lode_keep *keep, size_t i);
/* Sorts them and adds them to the corpus under random ids. */
int lode_keep_store(struct lode_keep *keep, struct lode_corpus *corpus, const char *source,
		    struct lode_error *error);

#endif
