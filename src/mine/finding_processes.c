/* What processes did: see finding_processes.h. */
#include "mine/finding_processes.h"

#include "mine/finding_chain.h"

#include <stdlib.h>

static int compare_processes(const void *left, const void *right)
{
	const struct lode_finding_process *a = left, *b = right;

	if (a->counted != b->counted)
		return a->counted > b->counted ? -1 : 1;
	return a->process < b->process ? -1 : a->process > b->process;
}

/* `process`: of the findings' processes, which have those of the dictionary as names so far. */
static void add_row(const struct lode_findings *findings, const struct lode_chains *chains,
		    const struct lode_chain_row *row, struct lode_finding_process *process)
{
	const struct lode_chain_link *link = lode_finding_whose(findings, chains, row);

	process->ns[link->state] = lode_add_saturating(process->ns[link->state], row->cost);
	if (lode_finding_counts(findings, chains, row))
		process->counted = lode_add_saturating(process->counted, row->cost);
	/* Several have this name but for numbers. */
	process->are_several |= link->process != process->process;
}

/* Names them as they are shown. */
static int name_processes(struct lode_findings *findings, const struct lode_area *area)
{
	for (size_t i = 0; i < findings->process_count; i++) {
		struct lode_finding_process *process = &findings->processes[i];

		process->process =
			lode_finding_shown_name(findings, area, process->process, !process->are_several, 1);
		if (process->process == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

int lode_finding_processes(struct lode_findings *findings, const struct lode_area *area,
			   const struct lode_finding_alike *alike)
{
	const struct lode_chains *chains = &area->chains;
	size_t strings = area->dictionary.frames.strings.count, capacity = 0;
	uint32_t *places =
		lode_calloc(strings + 1, sizeof(*places)); /* by name without its number: place plus one */
	int code = places ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < chains->row_count; i++) {
		const struct lode_chain_row *row = &chains->rows[i];
		const struct lode_chain_link *link = lode_finding_whose(findings, chains, row);
		uint32_t *place =
			&places[lode_finding_alike_link(alike, (uint32_t)(link - chains->links))->process];
		struct lode_finding_process new = { .process = link->process };

		if (!*place) {
			code = LODE_APPEND(findings->processes, findings->process_count, capacity, new);
			*place = (uint32_t)findings->process_count;
		}
		if (!code)
			add_row(findings, chains, row, &findings->processes[*place - 1]);
	}
	if (!code)
		code = name_processes(findings, area);
	if (!code && findings->process_count)
		qsort(findings->processes, findings->process_count, sizeof(*findings->processes),
		      compare_processes);
	lode_free(places);
	return code;
}
