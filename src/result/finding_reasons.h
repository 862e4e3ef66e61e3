/* Why a thread had no processor, or no memory: the end of a finding's sentence. */
#ifndef LODE_RESULT_FINDING_REASONS_H
#define LODE_RESULT_FINDING_REASONS_H

#include "result/finding_sentence.h"

/* Why it had no processor: who had it, or a quota. */
void lode_finding_put_reason(const struct lode_sentence *sentence);
/* The limit of memory because of which `last` waited or ran, if it was for pages. */
void lode_finding_put_memory_limit(const struct lode_sentence *sentence, const struct lode_chain_link *last);

#endif
