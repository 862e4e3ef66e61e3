/* What processes did in the time that findings are about. Private to mine. */
#ifndef LODE_MINE_FINDING_PROCESSES_H
#define LODE_MINE_FINDING_PROCESSES_H

#include "mine/findings.h"

/* Idle time and waits for work are set apart; so are waits for children, unless a path could not go on in the child. */
static inline int lode_finding_counts(const struct lode_findings *findings, const struct lode_chains *chains,
				      const struct lode_chain_row *row)
{
	enum lode_state state = (enum lode_state)chains->links[row->chain].state;

	return lode_state_counts(state) || (state == LODE_STATE_CHILD && findings->symptoms);
}

/* Fills `processes`: one for each name of a process, those with most time that counts first. Returns 0 or LODE_SYSTEM. */
int lode_finding_processes(struct lode_findings *findings, const struct lode_area *area);

#endif
