/* The order of findings: see finding_order.h. */
#include "mine/finding_order.h"

#include "trace/gpu_threads.h"

#include <stdlib.h>
#include <string.h>

/* A GPU that runs for this part of the time is not kept waiting. */
#define MAX_BUSY 0.95
/* Others have the processors for less than this part of the time: the machine is not busy, and findings of that are like others. */
#define MIN_MACHINE 0.1

static int is_gpus_work(const struct lode_area *area, const struct lode_finding *finding)
{
	const struct lode_chain_link *last = &area->chains.links[finding->chain];

	return finding->kind == LODE_FINDING_RUN &&
	       lode_process_is_gpu(lode_strings_get(&area->dictionary.frames.strings, last->process));
}

static void mark_last(struct lode_findings *findings, const struct lode_area *area)
{
	uint64_t runs = 0;

	for (size_t i = 0; i < findings->count; i++)
		if (is_gpus_work(area, &findings->items[i]))
			runs = lode_add_saturating(runs, findings->items[i].cost);
	for (size_t i = 0; i < findings->count; i++)
		findings->items[i].comes_last = is_gpus_work(area, &findings->items[i]) &&
						(double)runs < MAX_BUSY * (double)findings->total;
}

/* Which findings say that the machine is busy. */
static void mark_machine(struct lode_findings *findings)
{
	uint64_t time = 0;

	for (size_t i = 0; i < findings->count; i++)
		time = lode_add_saturating(time, findings->items[i].is_machine ? findings->items[i].cost : 0);
	if ((double)time >= MIN_MACHINE * (double)findings->total)
		return;
	for (size_t i = 0; i < findings->count; i++)
		findings->items[i].is_machine = 0;
}

static int compare_findings(const void *left, const void *right)
{
	const struct lode_finding *a = left, *b = right;

	if (a->is_machine != b->is_machine)
		return a->is_machine - b->is_machine;
	if (a->comes_last != b->comes_last)
		return a->comes_last - b->comes_last;
	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return strcmp(a->id, b->id);
}

/* Those of a busy machine, at the end, are counted apart, unless there are no others. */
static void set_machine_apart(struct lode_findings *findings)
{
	size_t machine = 0;

	for (size_t i = 0; i < findings->count; i++)
		machine += (size_t)findings->items[i].is_machine;
	if (machine < findings->count) {
		findings->machine_count = machine;
		findings->count -= machine;
	}
}

void lode_findings_sort(struct lode_findings *findings, const struct lode_area *area)
{
	mark_last(findings, area);
	mark_machine(findings);
	if (findings->count)
		qsort(findings->items, findings->count, sizeof(*findings->items), compare_findings);
	set_machine_apart(findings);
}
