/*
 * Findings: see findings.h.
 *
 * Each chain belongs to a group by a text of what findings are told apart by. The rows of a group are one finding; where
 * their stacks lead to several large functions, the rows below each of these are one, and the rest is another.
 */
#include "mine/findings.h"

#include "base/hash.h"
#include "mine/finding_alike.h"
#include "mine/finding_context.h"
#include "mine/finding_chain.h"
#include "mine/finding_names.h"
#include "mine/finding_place.h"
#include "mine/finding_processes.h"
#include "mine/finding_order.h"
#include "mine/finding_ready.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions that have this share of all time each are findings by themselves. */
#define LARGE_SHARE 4

struct work {
	const struct lode_area *area;
	const struct lode_chains *chains;
	struct lode_findings *findings;
	struct lode_finding_places places;
	struct lode_finding_alike alike;
	struct lode_strings keys;  /* of groups */
	uint32_t *groups;          /* by chain: number of its key */
	size_t capacity;           /* of the findings */
	struct placed_row *placed; /* of the group in hand */
	size_t placed_count;
	size_t placed_capacity;
	uint64_t large;
	double least;
};

/* ---- groups ---- */

/* By link: the first of its chain. A link comes behind the one before it. NULL when memory has run out. */
static uint32_t *first_links(const struct lode_chains *chains)
{
	uint32_t *first = lode_calloc(chains->link_count + 1, sizeof(*first));

	for (uint32_t i = 0; first && i < chains->link_count; i++)
		first[i] = chains->links[i].before == LODE_NONE ? i : first[chains->links[i].before];
	return first;
}

/*
 * Whether a chain is about a thread that has no processor, whoever waits for it. Without symptoms that thread's time is
 * counted for itself; one that waits for it then waits.
 */
static int is_ready(const struct work *work, uint32_t chain)
{
	const struct lode_chain_link *last = &work->chains->links[chain];

	return last->state == LODE_STATE_READY && (last->before == LODE_NONE || work->findings->symptoms);
}

/* What a chain's finding is told from others by: its first and its last link; of a thread that is ready only the last. */
static int group_chains(struct work *work)
{
	const struct lode_strings *strings = &work->area->dictionary.frames.strings;
	uint32_t *first = first_links(work->chains);
	struct lode_buffer key = { 0 };
	int code = 0;

	work->groups = lode_calloc(work->chains->link_count + 1, sizeof(*work->groups));
	if (!work->groups || !first)
		code = LODE_SYSTEM;
	for (uint32_t i = 0; !code && i < work->chains->link_count; i++) {
		const struct lode_chain_link *last = &work->chains->links[i];

		lode_buffer_clear(&key);
		/* Whoever waits for a thread that has no processor, they have the same problem. */
		if (!is_ready(work, i))
			lode_finding_link_key(strings, &work->chains->links[first[i]], last->before != LODE_NONE,
					      &key);
		if (last->before != LODE_NONE || is_ready(work, i))
			lode_finding_link_key(strings, last, 0, &key);
		work->groups[i] = key.failed ? LODE_NONE : lode_strings_add(&work->keys, key.bytes, key.size);
		if (work->groups[i] == LODE_NONE)
			code = LODE_SYSTEM;
	}
	lode_buffer_release(&key);
	lode_free(first);
	return code;
}

/* ---- places ---- */

/* A row and where it belongs. */
struct placed_row {
	uint32_t frame;  /* of its finding; LODE_NONE: unknown */
	uint32_t callee; /* what that calls in this stack; LODE_NONE: nothing, or the stack does not pass it */
	uint32_t caller; /* the program's own function above it; LODE_NONE: none */
	uint32_t inside; /* whether the stack passes it */
	struct lode_chain_row row;
};

/* Where rows lead: a node, whether they split there, and the function that they have in common. */
struct place {
	uint32_t node;
	uint32_t frame;
	int splits;
};

static int compare_stacks(const void *left, const void *right)
{
	const struct lode_finding_stack *a = left, *b = right;

	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* Of many symptoms and streams each stack once. Returns how many there are. */
static size_t join_stacks(struct lode_finding_stack *stacks, size_t count)
{
	size_t left = 0;

	qsort(stacks, count, sizeof(*stacks), compare_stacks);
	for (size_t i = 0; i < count; i++) {
		if (left && stacks[left - 1].stack == stacks[i].stack)
			stacks[left - 1].cost = lode_add_saturating(stacks[left - 1].cost, stacks[i].cost);
		else
			stacks[left++] = stacks[i];
	}
	return left;
}

static int find_place(struct work *work, const struct lode_chain_row *rows, size_t count, struct place *place)
{
	struct lode_finding_stack *stacks = lode_calloc(count + 1, sizeof(*stacks));
	size_t known = 0;
	int code;

	if (!stacks)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++)
		if (rows[i].stack)
			stacks[known++] = (struct lode_finding_stack){ rows[i].stack, rows[i].cost };
	count = join_stacks(stacks, known);
	code = lode_finding_place(&work->places, stacks, count, work->large, &place->node, &place->splits);
	if (!code)
		code = lode_finding_frame(&work->places, stacks, count, place->node, &place->frame);
	lode_free(stacks);
	return code;
}

/* Whether it is time in which a thread ran that was not sampled: it is taken to have been where it was sampled. */
static int is_unsampled(const struct work *work, const struct lode_chain_row *row)
{
	return !row->stack && work->chains->links[row->chain].state == LODE_STATE_RUNNING;
}

/* The program's own function that calls the one at `node`. */
static uint32_t caller_of(const struct work *work, const struct lode_chain_row *row, uint32_t node)
{
	const struct lode_dictionary *dictionary = &work->area->dictionary;

	if (lode_state_is_wait((enum lode_state)work->chains->links[row->chain].state))
		return lode_wait_caller(&work->places.wrappers, dictionary, work->places.own, node);
	return work->places.own[dictionary->tree.nodes[node].parent];
}

/* All rows belong to the place `frame`. */
static int keep_rows(struct work *work, const struct lode_chain_row *rows, size_t count, uint32_t frame)
{
	const struct lode_stack_tree *tree = &work->area->dictionary.tree;

	for (size_t i = 0; i < count; i++) {
		uint32_t callee = 0;
		uint32_t node = lode_finding_occurrence(&work->places, rows[i].stack, frame, &callee);
		uint32_t caller = node ? caller_of(work, &rows[i], node) : 0;
		struct placed_row placed = {
			.frame = frame,
			.callee = callee ? tree->nodes[callee].frame : LODE_NONE,
			.caller = caller ? tree->nodes[caller].frame : LODE_NONE,
			.inside = node != 0 || is_unsampled(work, &rows[i]),
			.row = rows[i],
		};

		if (LODE_APPEND(work->placed, work->placed_count, work->placed_capacity, placed) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* A row and the function below a split that it belongs to. */
struct branch_row {
	uint32_t branch; /* node; 0: to none that is large */
	struct lode_chain_row row;
};

static int compare_branches(const void *left, const void *right)
{
	const struct branch_row *a = left, *b = right;

	return a->branch < b->branch ? -1 : a->branch > b->branch;
}

/* Sorts the rows by the function below `node` that they pass. Those of functions that are not large are one. */
static void sort_branches(const struct work *work, struct branch_row *sorted, size_t count, uint32_t node)
{
	for (size_t i = 0; i < count; i++)
		sorted[i].branch = lode_finding_callee_of(&work->places, node, sorted[i].row.stack);
	qsort(sorted, count, sizeof(*sorted), compare_branches);
	for (size_t i = 0, end; i < count; i = end) {
		uint64_t cost = 0;

		for (end = i; end < count && sorted[end].branch == sorted[i].branch; end++)
			cost = lode_add_saturating(cost, sorted[end].row.cost);
		for (size_t k = i; cost < work->large && k < end; k++)
			sorted[k].branch = 0;
	}
	qsort(sorted, count, sizeof(*sorted), compare_branches);
}

static int place_rows(struct work *work, struct lode_chain_row *rows, size_t count, unsigned depth);

static int split(struct work *work, struct lode_chain_row *rows, size_t count, uint32_t node, unsigned depth)
{
	struct branch_row *sorted = lode_calloc(count + 1, sizeof(*sorted));
	int code = sorted ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < count; i++)
		sorted[i].row = rows[i];
	if (!code)
		sort_branches(work, sorted, count, node);
	for (size_t i = 0; !code && i < count; i++)
		rows[i] = sorted[i].row;
	for (size_t i = 0, end; !code && i < count; i = end) {
		for (end = i; end < count && sorted[end].branch == sorted[i].branch; end++)
			;
		code = place_rows(work, rows + i, end - i, depth + 1);
	}
	lode_free(sorted);
	return code;
}

/* Each split leaves less than all: no more than LARGE_SHARE can follow one another. */
static int place_rows(struct work *work, struct lode_chain_row *rows, size_t count, unsigned depth)
{
	struct place place = { 0, LODE_NONE, 0 };
	int code = find_place(work, rows, count, &place);

	if (code)
		return code;
	return place.splits && depth < LARGE_SHARE ? split(work, rows, count, place.node, depth)
						   : keep_rows(work, rows, count, place.frame);
}

/* ---- one finding ---- */

static int compare_places(const void *left, const void *right)
{
	const struct placed_row *a = left, *b = right;

	if (a->row.stream != b->row.stream)
		return a->row.stream < b->row.stream ? -1 : 1;
	return a->row.symptom < b->row.symptom ? -1 : a->row.symptom > b->row.symptom;
}

/* Sorts the rows by stream and symptom. */
static void sum_rows(const struct work *work, struct placed_row *rows, size_t count, struct lode_finding *finding)
{
	qsort(rows, count, sizeof(*rows), compare_places);
	for (size_t i = 0; i < count; i++) {
		const struct lode_chain_row *row = &rows[i].row;
		int new_stream = !i || row->stream != rows[i - 1].row.stream;
		int new_symptom = new_stream || row->symptom != rows[i - 1].row.symptom;

		finding->streams += (unsigned)new_stream;
		finding->symptoms += work->findings->symptoms && new_symptom;
		finding->events += row->events;
		finding->cost = lode_add_saturating(finding->cost, row->cost);
		if (rows[i].inside)
			finding->place_cost = lode_add_saturating(finding->place_cost, row->cost);
	}
}

static int compare_numbers(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

static int count_hosts(const struct work *work, const struct placed_row *rows, size_t count,
		       struct lode_finding *finding)
{
	uint32_t *hosts = lode_calloc(count + 1, sizeof(*hosts));

	if (!hosts)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++)
		hosts[i] = work->area->streams[rows[i].row.stream].host;
	qsort(hosts, count, sizeof(*hosts), compare_numbers);
	for (size_t i = 0; i < count; i++)
		finding->hosts += hosts[i] && (!i || hosts[i] != hosts[i - 1]);
	lode_free(hosts);
	return 0;
}

static int compare_callees(const void *left, const void *right)
{
	const struct placed_row *a = left, *b = right;

	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

/* Keeps a callee if it is one of the costliest. */
static void note_callee(struct lode_finding *finding, uint32_t frame, uint64_t cost)
{
	uint32_t at = finding->callee_count;

	if (at < LODE_FINDING_CALLEES)
		finding->callee_count++;
	for (; at && finding->callees[at - 1].cost < cost; at--)
		if (at < LODE_FINDING_CALLEES)
			finding->callees[at] = finding->callees[at - 1];
	if (at < LODE_FINDING_CALLEES)
		finding->callees[at] = (struct lode_finding_callee){ frame, cost };
}

/* Sorts the rows by what the place calls in them. */
static void find_callees(struct placed_row *rows, size_t count, struct lode_finding *finding)
{
	qsort(rows, count, sizeof(*rows), compare_callees);
	for (size_t i = 0, end; i < count && rows[i].callee != LODE_NONE; i = end) {
		uint64_t cost = 0;

		for (end = i; end < count && rows[end].callee == rows[i].callee; end++)
			cost = lode_add_saturating(cost, rows[end].row.cost);
		note_callee(finding, rows[i].callee, cost);
	}
}

static int compare_callers(const void *left, const void *right)
{
	const struct placed_row *a = left, *b = right;

	return a->caller < b->caller ? -1 : a->caller > b->caller;
}

/* Sorts the rows by who calls the place. */
static void find_caller(struct placed_row *rows, size_t count, struct lode_finding *finding)
{
	qsort(rows, count, sizeof(*rows), compare_callers);
	finding->caller = LODE_NONE;
	for (size_t i = 0, end; i < count && rows[i].caller != LODE_NONE; i = end) {
		uint64_t cost = 0;

		for (end = i; end < count && rows[end].caller == rows[i].caller; end++)
			cost = lode_add_saturating(cost, rows[end].inside ? rows[end].row.cost : 0);
		if (cost > finding->place_cost / 2)
			finding->caller = rows[i].caller;
	}
}

static enum lode_finding_kind kind_of(const struct work *work, uint32_t chain)
{
	const struct lode_chain_link *last = &work->chains->links[chain];

	if (is_ready(work, chain))
		return LODE_FINDING_READY;
	return last->state == LODE_STATE_RUNNING && last->before == LODE_NONE ? LODE_FINDING_RUN
									      : LODE_FINDING_WAIT;
}

/* From texts, so that equal findings of different corpora and runs have equal ids. */
static int set_id(const struct work *work, uint32_t group, struct lode_finding *finding)
{
	struct lode_buffer text = { 0 };

	lode_buffer_text(&text, lode_strings_get(&work->keys, group));
	if (finding->frame != LODE_NONE)
		lode_frames_text(&work->area->dictionary.frames, finding->frame, &text);
	snprintf(finding->id, sizeof(finding->id), "%012llx",
		 (unsigned long long)(lode_digest_bytes(text.bytes, text.size) >> 16));
	lode_buffer_release(&text);
	return text.failed ? LODE_SYSTEM : 0;
}

static int keep_finding_rows(struct lode_findings *findings, const struct placed_row *rows, size_t count,
			     struct lode_finding *finding)
{
	finding->first_row = findings->row_count;
	finding->row_count = count;
	for (size_t i = 0; i < count; i++)
		if (LODE_APPEND(findings->rows, findings->row_count, findings->row_capacity, rows[i].row) < 0)
			return LODE_SYSTEM;
	return lode_finding_find_context(findings->rows + finding->first_row, count, finding);
}

/* The rows of one group and one place. */
static int add_finding(struct work *work, struct placed_row *rows, size_t count)
{
	struct lode_findings *findings = work->findings;
	struct lode_finding finding = { .frame = rows[0].frame, .chain = rows[0].row.chain };
	int code;

	sum_rows(work, rows, count, &finding);
	if ((double)finding.cost < work->least * (double)findings->total) {
		findings->small = lode_add_saturating(findings->small, finding.cost);
		return 0;
	}
	code = count_hosts(work, rows, count, &finding);
	find_callees(rows, count, &finding);
	find_caller(rows, count, &finding);
	if (!code)
		code = keep_finding_rows(findings, rows, count, &finding);
	if (!code)
		code = lode_finding_choose_chain(findings, work->area, &work->alike, &finding);
	finding.kind = kind_of(work, finding.chain);
	if (!code && finding.kind == LODE_FINDING_READY) {
		code = lode_finding_ready(findings, work->area, &work->alike, &finding);
		finding.origin = lode_finding_origin(&finding, work->area);
	}
	if (!code)
		code = set_id(work, work->groups[finding.chain], &finding);
	if (!code)
		code = LODE_APPEND(findings->items, findings->count, work->capacity, finding);
	findings->explained = lode_add_saturating(findings->explained, finding.cost);
	return code;
}

static int compare_frames(const void *left, const void *right)
{
	const struct placed_row *a = left, *b = right;

	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

/* The rows of one group. */
static int add_findings(struct work *work, struct lode_chain_row *rows, size_t count)
{
	int ready = is_ready(work, rows[0].chain), code;

	work->placed_count = 0;
	code = ready ? keep_rows(work, rows, count, LODE_NONE) : place_rows(work, rows, count, 0);
	if (!code)
		qsort(work->placed, work->placed_count, sizeof(*work->placed), compare_frames);
	for (size_t i = 0, end; !code && i < work->placed_count; i = end) {
		for (end = i; end < work->placed_count && work->placed[end].frame == work->placed[i].frame; end++)
			;
		code = add_finding(work, work->placed + i, end - i);
	}
	return code;
}

/* ---- the whole ---- */

/* The name that the symptoms of all streams have, a string; 0: they have several or none. */
static uint32_t common_name(const struct lode_area *area)
{
	uint32_t name = 0;

	for (size_t i = 0; i < area->stream_count; i++) {
		if (!area->streams[i].symptoms)
			continue;
		if (!area->streams[i].symptom.name || (name && name != area->streams[i].symptom.name))
			return 0;
		name = area->streams[i].symptom.name;
	}
	return name;
}

static void sum_up(struct work *work)
{
	const struct lode_area *area = work->area;
	struct lode_findings *findings = work->findings;

	for (size_t i = 0; i < area->stream_count; i++)
		findings->symptoms += area->scope == LODE_SCOPE_CRITICAL_PATH ? area->streams[i].symptoms : 0;
	findings->symptom = common_name(area);
	for (size_t i = 0; findings->symptoms && i < area->stream_count; i++)
		findings->total = lode_add_saturating(findings->total, area->streams[i].delay);
	for (size_t i = 0; !findings->symptoms && i < work->chains->row_count; i++)
		if (lode_finding_counts(work->findings, work->chains, &work->chains->rows[i]))
			findings->total = lode_add_saturating(findings->total, work->chains->rows[i].cost);
	work->large = findings->total / LARGE_SHARE + 1;
}

/* A row with its group, so that rows can be sorted by it. */
struct group_row {
	uint32_t group;
	uint32_t number;
};

static int compare_groups(const void *left, const void *right)
{
	const struct group_row *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int add_groups(struct work *work)
{
	size_t count = 0;
	struct group_row *order = lode_calloc(work->chains->row_count + 1, sizeof(*order));
	struct lode_chain_row *rows = lode_calloc(work->chains->row_count + 1, sizeof(*rows));
	int code = order && rows ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < work->chains->row_count; i++)
		if (lode_finding_counts(work->findings, work->chains, &work->chains->rows[i]))
			order[count++] =
				(struct group_row){ work->groups[work->chains->rows[i].chain], (uint32_t)i };
	if (!code)
		qsort(order, count, sizeof(*order), compare_groups);
	for (size_t i = 0; !code && i < count; i++)
		rows[i] = work->chains->rows[order[i].number];
	for (size_t i = 0, end; !code && i < count; i = end) {
		for (end = i; end < count && order[end].group == order[i].group; end++)
			;
		code = add_findings(work, rows + i, end - i);
	}
	lode_free(order);
	lode_free(rows);
	return code;
}

int lode_findings_make(struct lode_findings *findings, const struct lode_area *area,
		       const struct lode_idle_stacks *idle, double least)
{
	struct work work = { .area = area, .chains = &area->chains, .findings = findings, .least = least };
	int code;

	memset(findings, 0, sizeof(*findings));
	sum_up(&work);
	code = lode_strings_init(&work.keys);
	if (!code)
		code = lode_strings_init(&findings->names);
	if (!code)
		code = lode_finding_alike_make(&work.alike, area);
	if (!code)
		code = lode_finding_places_make(&work.places, &area->dictionary, idle);
	if (!code)
		code = group_chains(&work);
	if (!code)
		code = add_groups(&work);
	if (!code)
		code = lode_finding_processes(findings, area, &work.alike);
	if (!code)
		lode_findings_sort(findings, area);
	lode_finding_places_release(&work.places);
	lode_finding_alike_release(&work.alike);
	lode_strings_release(&work.keys);
	lode_free(work.groups);
	lode_free(work.placed);
	return code;
}

void lode_findings_release(struct lode_findings *findings)
{
	lode_free(findings->items);
	lode_free(findings->processes);
	lode_free(findings->rows);
	lode_free(findings->link_names);
	lode_strings_release(&findings->names);
	memset(findings, 0, sizeof(*findings));
}
