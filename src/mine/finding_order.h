/*
 * The order of findings: by cost, but what GPUs ran comes last, since it is not why they were idle, and
 * findings of a busy machine are set apart behind all. Private to mine.
 */
#ifndef LODE_MINE_FINDING_ORDER_H
#define LODE_MINE_FINDING_ORDER_H

#include "mine/findings.h"

void lode_findings_sort(struct lode_findings *findings, const struct lode_area *area);

#endif
