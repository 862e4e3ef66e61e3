/* What processes did in the time that findings are about. Private to mine. */
#ifndef LODE_MINE_FINDING_PROCESSES_H
#define LODE_MINE_FINDING_PROCESSES_H

#include "mine/finding_alike.h"
#include "mine/findings.h"

/*
 * The link that says whose time a row is: of symptoms, that of the thread in which it went by; otherwise that of the thread
 * itself, since the others' time is counted for them.
 */
static inline const struct lode_chain_link *lode_finding_whose(const struct lode_findings *findings,
							       const struct lode_chains *chains,
							       const struct lode_chain_row *row)
{
	const struct lode_chain_link *link = &chains->links[row->chain];

	while (!findings->symptoms && link->before != LODE_NONE)
		link = &chains->links[link->before];
	return link;
}

/* Idle time and waits for work are set apart; so are waits for children, unless a path could not go on in the child. */
static inline int lode_finding_counts(const struct lode_findings *findings, const struct lode_chains *chains,
				      const struct lode_chain_row *row)
{
	enum lode_state state = (enum lode_state)lode_finding_whose(findings, chains, row)->state;

	return lode_state_counts(state) || (state == LODE_STATE_CHILD && findings->symptoms);
}

/* Fills `processes`: one for each name of a process, but for numbers, those with most time that counts first. Returns 0 or LODE_SYSTEM. */
int lode_finding_processes(struct lode_findings *findings, const struct lode_area *area,
			   const struct lode_finding_alike *alike);

#endif
