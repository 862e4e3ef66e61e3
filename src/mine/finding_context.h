/* Which request or query most of a finding's time belongs to. */
#ifndef LODE_MINE_FINDING_CONTEXT_H
#define LODE_MINE_FINDING_CONTEXT_H

#include "mine/findings.h"

/* Fills in the finding's context from its rows. Returns 0 or LODE_SYSTEM. */
int lode_finding_find_context(const struct lode_chain_row *rows, size_t count, struct lode_finding *finding);

#endif
