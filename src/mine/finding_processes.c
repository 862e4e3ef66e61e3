/* What processes did: see finding_processes.h. */
#include "mine/finding_processes.h"

#include <stdlib.h>

static int compare_processes(const void *left, const void *right)
{
	const struct lode_finding_process *a = left, *b = right;

	if (a->counted != b->counted)
		return a->counted > b->counted ? -1 : 1;
	return a->process < b->process ? -1 : a->process > b->process;
}

int lode_finding_processes(struct lode_findings *findings, const struct lode_area *area)
{
	const struct lode_chains *chains = &area->chains;
	size_t strings = area->dictionary.frames.strings.count, capacity = 0;
	uint32_t *places = lode_calloc(strings + 1, sizeof(*places)); /* by name: number plus one */
	int code = places ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < chains->row_count; i++) {
		const struct lode_chain_row *row = &chains->rows[i];
		const struct lode_chain_link *link = lode_finding_whose(findings, chains, row);
		struct lode_finding_process new = { .process = link->process }, *process;

		if (!places[link->process]) {
			code = LODE_APPEND(findings->processes, findings->process_count, capacity, new);
			places[link->process] = (uint32_t)findings->process_count;
		}
		if (code)
			break;
		process = &findings->processes[places[link->process] - 1];
		process->ns[link->state] = lode_add_saturating(process->ns[link->state], row->cost);
		if (lode_finding_counts(findings, chains, row))
			process->counted = lode_add_saturating(process->counted, row->cost);
	}
	if (!code && findings->process_count)
		qsort(findings->processes, findings->process_count, sizeof(*findings->processes),
		      compare_processes);
	lode_free(places);
	return code;
}
