/* Why threads were ready and did not run: who had the processor, and with whom they were woken. Private to mine. */
#ifndef LODE_MINE_FINDING_READY_H
#define LODE_MINE_FINDING_READY_H

#include "mine/finding_alike.h"
#include "mine/findings.h"

/* Fills in `behind`, `crowd` and `recorded_cost` of a finding from its rows, which it sorts. Returns 0 or LODE_SYSTEM. */
int lode_finding_ready(struct lode_findings *findings, const struct lode_area *area,
		       struct lode_finding_alike *alike, struct lode_finding *finding);
/*
 * What a finding is about. The machine was busy where threads were ready, most of it neither behind recorded threads, in a crowd
 * nor without quota, while programs that were not recorded had the processors.
 */
enum lode_finding_origin lode_finding_origin(const struct lode_finding *finding, const struct lode_area *area);

#endif
