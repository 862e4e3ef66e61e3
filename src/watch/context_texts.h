/*
 * What the numbers of contexts stand for (struct lode_record_context), for a flight recorder: the latest ones, in bounded memory.
 *
 * Numbers come fast, one for each query, but few texts differ. So a ring has the latest numbers, each with the place of its text,
 * and a table has the texts, each once; of those that want the same place the one that was not used for longest goes. A context may be
 * older than the records that are kept: it is the slow query that lasts.
 */
#ifndef LODE_WATCH_CONTEXT_TEXTS_H
#define LODE_WATCH_CONTEXT_TEXTS_H

#include "record/bpf/records.h"

#include <stddef.h>

struct lode_context_texts;

/* NULL when memory has run out. */
struct lode_context_texts *lode_context_texts_create(void);
void lode_context_texts_destroy(struct lode_context_texts *texts);
/* What a number stands for from now on. */
void lode_context_texts_add(struct lode_context_texts *texts, const struct lode_record_context *context);
/* Fills in what a number stands for. Returns 1, or 0 when that is not known any more. */
int lode_context_texts_find(const struct lode_context_texts *texts, uint32_t number,
			    struct lode_record_context *context);
/* Where a number is in the ring, below LODE_CONTEXT_PLACES: what is at the same place goes. */
#define LODE_CONTEXT_PLACES ((1u << 18) + (1u << 12))
uint32_t lode_context_texts_place(uint32_t number);

#endif
