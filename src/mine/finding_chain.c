/*
 * The chain of a finding: see finding_chain.h. All rows of a finding have its first and its last link in common, but for
 * numbers; what is between them only those have whose chains are alike.
 */
#include "mine/finding_chain.h"

#include "mine/finding_names.h"

#include <stdlib.h>

/* A name that has this share of the time is shown as it is: the rest is not worth hiding who it is. */
#define NEARLY_ALL 0.9

/* ---- the chain ---- */

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct lode_finding_alike *alike = context;
	const struct lode_chain_row *a = left, *b = right;
	uint32_t kind = alike->numbers[a->chain], other = alike->numbers[b->chain];

	if (kind != other)
		return kind < other ? -1 : 1;
	return a->chain < b->chain ? -1 : a->chain > b->chain;
}

/* The costliest of chains that are alike; returns what they cost together. Sorted by chain. */
static uint64_t costliest_alike(const struct lode_chain_row *rows, size_t count, uint32_t *chain)
{
	uint64_t all = 0, cost = 0, most = 0;

	for (size_t i = 0; i < count; i++) {
		cost = lode_add_saturating(i && rows[i].chain == rows[i - 1].chain ? cost : 0, rows[i].cost);
		all = lode_add_saturating(all, rows[i].cost);
		if (cost > most) {
			most = cost;
			*chain = rows[i].chain;
		}
	}
	return all;
}

/* Of the chains that have most of the time, but for numbers in names, the costliest. Sorts the rows by chain. */
static void find_costliest_chain(struct lode_chain_row *rows, size_t count, struct lode_finding_alike *alike,
				 struct lode_finding *finding)
{
	const uint32_t *numbers = alike->numbers;

	qsort_r(rows, count, sizeof(*rows), compare_rows, alike);
	for (size_t i = 0, end; i < count; i = end) {
		uint32_t chain = rows[i].chain;
		uint64_t cost;

		for (end = i; end < count && numbers[rows[end].chain] == numbers[rows[i].chain]; end++)
			;
		cost = costliest_alike(rows + i, end - i, &chain);
		if (cost > finding->chain_cost) {
			finding->chain_cost = cost;
			finding->chain = chain;
		}
	}
}

/* ---- its names ---- */

/* How much of the time a link's names have, */
struct name_costs {
	uint64_t process;
	uint64_t thread;
	uint64_t holder_process;
	uint64_t holder;
	uint64_t who;  /* and of what: all time that is compared with the link, */
	uint64_t held; /* and that which is compared with its holder */
};

static int is_nearly_all(uint64_t cost, uint64_t all)
{
	return (double)cost >= NEARLY_ALL * (double)all;
}

uint32_t lode_finding_shown_name(struct lode_findings *findings, const struct lode_area *area, uint32_t string,
				 uint64_t cost, uint64_t all)
{
	const char *name = lode_strings_get(&area->dictionary.frames.strings, string);
	struct lode_buffer text = { 0 };
	uint32_t shown;

	if (is_nearly_all(cost, all))
		lode_buffer_text(&text, name);
	else
		lode_finding_common_name(&text, name);
	shown = text.failed ? LODE_NONE : lode_strings_add(&findings->names, text.bytes, text.size);
	lode_buffer_release(&text);
	return shown;
}

static void compare_who(struct name_costs *costs, const struct lode_chain_link *shown,
			const struct lode_chain_link *link, uint64_t cost)
{
	costs->who = lode_add_saturating(costs->who, cost);
	costs->process = lode_add_saturating(costs->process, link->process == shown->process ? cost : 0);
	costs->thread = lode_add_saturating(costs->thread, link->thread == shown->thread ? cost : 0);
}

static void compare_holders(struct name_costs *costs, const struct lode_chain_link *shown,
			    const struct lode_chain_link *link, uint64_t cost)
{
	int same = link->holder_process == shown->holder_process;

	costs->held = lode_add_saturating(costs->held, cost);
	costs->holder_process = lode_add_saturating(costs->holder_process, same ? cost : 0);
	costs->holder = lode_add_saturating(costs->holder, link->holder == shown->holder ? cost : 0);
}

static const struct lode_chain_link *first_of(const struct lode_chain_link *links, uint32_t chain)
{
	while (links[chain].before != LODE_NONE)
		chain = links[chain].before;
	return &links[chain];
}

/* `costs`: of the links of the finding's chain, from the last one on. Chains that are alike are equally long. */
static void compare_chains(const struct lode_chain_link *links, const struct lode_finding_alike *alike,
			   const struct lode_finding *finding, uint32_t chain, uint64_t cost,
			   struct name_costs *costs)
{
	uint32_t shown = finding->chain;

	if (alike->numbers[chain] != alike->numbers[shown]) {
		compare_who(&costs[0], &links[shown], &links[chain], cost);
		if (finding->link_count > 1)
			compare_who(&costs[finding->link_count - 1], first_of(links, shown),
				    first_of(links, chain), cost);
		return;
	}
	for (; shown != LODE_NONE; shown = links[shown].before, chain = links[chain].before, costs++) {
		compare_who(costs, &links[shown], &links[chain], cost);
		compare_holders(costs, &links[shown], &links[chain], cost);
	}
}

/*
 * Who waits for several like itself is named as they are: "indexer waits for another indexer". `costs`: of the link that it waits
 * for, and behind that of its own.
 */
static void name_alike(const struct lode_finding_alike *alike, uint32_t link, uint32_t next,
		       struct name_costs *costs)
{
	const struct lode_chain_link *own = lode_finding_alike_link(alike, link),
				     *other = lode_finding_alike_link(alike, next);

	if (own->process != other->process || own->thread != other->thread)
		return;
	if (!is_nearly_all(costs[0].process, costs[0].who))
		costs[1].process = 0;
	if (!is_nearly_all(costs[0].thread, costs[0].who))
		costs[1].thread = 0;
}

static int add_names(struct lode_findings *findings, const struct lode_area *area,
		     const struct lode_chain_link *link, const struct name_costs *costs)
{
	struct lode_finding_link_names names = {
		.process = lode_finding_shown_name(findings, area, link->process, costs->process, costs->who),
		.thread = lode_finding_shown_name(findings, area, link->thread, costs->thread, costs->who),
		.holder_process = lode_finding_shown_name(findings, area, link->holder_process,
							  costs->holder_process, costs->held),
		.holder = lode_finding_shown_name(findings, area, link->holder, costs->holder, costs->held),
	};

	if (names.process == LODE_NONE || names.thread == LODE_NONE || names.holder_process == LODE_NONE ||
	    names.holder == LODE_NONE)
		return LODE_SYSTEM;
	return LODE_APPEND(findings->link_names, findings->link_name_count, findings->link_name_capacity, names);
}

static int name_links(struct lode_findings *findings, const struct lode_area *area,
		      const struct lode_finding_alike *alike, struct lode_finding *finding)
{
	const struct lode_chain_link *links = area->chains.links;
	const struct lode_chain_row *rows = findings->rows + finding->first_row;
	struct name_costs *costs;
	size_t at = 0;
	int code = 0;

	finding->first_link_name = findings->link_name_count;
	finding->link_count = 0;
	for (uint32_t chain = finding->chain; chain != LODE_NONE; chain = links[chain].before)
		finding->link_count++;
	costs = lode_calloc(finding->link_count, sizeof(*costs));
	if (!costs)
		return LODE_SYSTEM;
	for (size_t i = 0, end; i < finding->row_count; i = end) {
		uint64_t cost = 0;

		for (end = i; end < finding->row_count && rows[end].chain == rows[i].chain; end++)
			cost = lode_add_saturating(cost, rows[end].cost);
		compare_chains(links, alike, finding, rows[i].chain, cost, costs);
	}
	for (uint32_t chain = finding->chain; !code && chain != LODE_NONE; chain = links[chain].before, at++) {
		if (links[chain].before != LODE_NONE)
			name_alike(alike, links[chain].before, chain, &costs[at]);
		code = add_names(findings, area, &links[chain], &costs[at]);
	}
	lode_free(costs);
	return code;
}

int lode_finding_choose_chain(struct lode_findings *findings, const struct lode_area *area,
			      struct lode_finding_alike *alike, struct lode_finding *finding)
{
	find_costliest_chain(findings->rows + finding->first_row, finding->row_count, alike, finding);
	return name_links(findings, area, alike, finding);
}

struct lode_chain_link lode_finding_link(const struct lode_findings *findings, const struct lode_chains *chains,
					 const struct lode_finding *finding, uint32_t number, size_t behind)
{
	const struct lode_finding_link_names *names = &findings->link_names[finding->first_link_name + behind];
	struct lode_chain_link link = chains->links[number];

	link.process = names->process;
	link.thread = names->thread;
	link.holder_process = names->holder_process;
	link.holder = names->holder;
	return link;
}
