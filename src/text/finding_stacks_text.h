/* One finding with its evidence: who waited for whom, and the stacks that it is made of. */
#ifndef LODE_TEXT_FINDING_STACKS_TEXT_H
#define LODE_TEXT_FINDING_STACKS_TEXT_H

#include "result/finding_words.h"
#include "text/look.h"

/* Appends finding number `i`, its chain and its costliest stacks. Returns 0 or LODE_SYSTEM. */
int lode_finding_stacks_text(const struct lode_finding_source *source, size_t i, const struct lode_look *look,
			     struct lode_buffer *buffer);

#endif
