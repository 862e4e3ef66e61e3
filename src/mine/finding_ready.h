/* Why threads were ready and did not run: who had the processor, and with whom they were woken. Private to mine. */
#ifndef LODE_MINE_FINDING_READY_H
#define LODE_MINE_FINDING_READY_H

#include "mine/findings.h"

/* Fills in `behind` and `crowd` of a finding from its rows, which it sorts. */
void lode_finding_ready(struct lode_finding *finding, struct lode_chain_link *links, struct lode_chain_row *rows,
			size_t count);

#endif
