/*
 * Hunt archive: the samples and results of a hunt as streams, one per host, for `lode mine`
 * and `lode latency`. A sample of a running thread is a run, one of a waiting thread
 * a wait; an experiment that turned true is a call, named after its hypothesis, with
 * the functions that lead to it as its stack. The bottlenecks are attributes, too.
 */
#ifndef LODE_HUNT_HUNT_ARCHIVE_H
#define LODE_HUNT_HUNT_ARCHIVE_H

#include "hunt/search/search.h"
#include "store/corpus.h"

struct lode_hunt_archive;

int lode_hunt_archive_create(struct lode_hunt_archive **archive, struct lode_meter *meter,
			     struct lode_error *error);
void lode_hunt_archive_destroy(struct lode_hunt_archive *archive);
/* Takes a sample; for lode_search_on_sample. Returns 0 or LODE_SYSTEM. */
int lode_hunt_archive_sample(void *archive, const struct lode_meter_sample *sample);
/* Adds what the search has found. */
int lode_hunt_archive_results(struct lode_hunt_archive *archive, const struct lode_search *search,
			      struct lode_error *error);
size_t lode_hunt_archive_count(const struct lode_hunt_archive *archive);
/* The stream of a host, 0 up to the count, to describe further; its name is for the caller to set. */
struct lode_stream *lode_hunt_archive_stream(struct lode_hunt_archive *archive, size_t i);
/* Sorts them and adds them to the corpus under random ids. */
int lode_hunt_archive_store(struct lode_hunt_archive *archive, struct lode_corpus *corpus, const char *source,
			    struct lode_error *error);

#endif
