/* The order of findings: see finding_order.h. */
#include "mine/finding_order.h"

#include "trace/gpu_threads.h"

#include <stdlib.h>
#include <string.h>

/* A GPU that runs for this part of the time is not kept waiting. */
#define MAX_BUSY 0.95
/* Others have the processors for less than this part of the time: the machine is not busy, and findings of that are like others. */
#define MIN_MACHINE 0.1
/* What was recorded is responsible for less than this part: a single other program is the cause. */
#define MIN_OTHERS 0.05

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

/*
 * Which findings say that the machine is busy: they come after all others, and are told apart, unless they are few, or there
 * are no others. One program that has the processors is a cause, and comes first where others explain next to nothing.
 */
static void mark_machine(struct lode_findings *findings)
{
	uint64_t time = 0, others = 0;
	int is_one = 0;

	for (size_t i = 0; i < findings->count; i++) {
		const struct lode_finding *finding = &findings->items[i];
		uint64_t *sum = finding->origin != LODE_FINDING_OWN ? &time : &others;

		*sum = lode_add_saturating(*sum, finding->cost);
		is_one |= finding->origin == LODE_FINDING_OF_ONE_PROGRAM;
	}
	if ((double)time >= MIN_MACHINE * (double)findings->total && others &&
	    (!is_one || (double)others >= MIN_OTHERS * (double)findings->total))
		return;
	for (size_t i = 0; i < findings->count; i++)
		findings->items[i].origin = LODE_FINDING_OWN;
}

static int is_machines(const struct lode_finding *finding)
{
	return finding->origin != LODE_FINDING_OWN;
}

static int compare_findings(const void *left, const void *right)
{
	const struct lode_finding *a = left, *b = right;

	if (is_machines(a) != is_machines(b))
		return is_machines(a) - is_machines(b);
	if (a->comes_last != b->comes_last)
		return a->comes_last - b->comes_last;
	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return strcmp(a->id, b->id);
}

/* Those of a busy machine, at the end, are counted apart. */
static void set_machine_apart(struct lode_findings *findings)
{
	while (findings->count && is_machines(&findings->items[findings->count - 1])) {
		findings->count--;
		findings->machine_count++;
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
