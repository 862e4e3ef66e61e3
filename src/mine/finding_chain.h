/*
 * The chain that a finding shows, and by which names. Where it is about several threads that differ in a number, the name of one
 * would say too little: `indexer`, not `indexer-3`. Private to mine.
 */
#ifndef LODE_MINE_FINDING_CHAIN_H
#define LODE_MINE_FINDING_CHAIN_H

#include "mine/finding_alike.h"
#include "mine/findings.h"

/*
 * Chooses the chain that the finding shows, the costliest of those that have most of its time but for numbers in names, and
 * adds the names of its links. Sorts the finding's rows. Returns 0 or LODE_SYSTEM.
 */
int lode_finding_choose_chain(struct lode_findings *findings, const struct lode_area *area,
			      struct lode_finding_alike *alike, struct lode_finding *finding);
/*
 * A string of the findings' names: that of `string`, a name in the area's dictionary, as it is if it has nearly all of the time,
 * `cost` of `all`. LODE_NONE when memory has run out.
 */
uint32_t lode_finding_shown_name(struct lode_findings *findings, const struct lode_area *area, uint32_t string,
				 uint64_t cost, uint64_t all);

#endif
