/*
 * Average linkage: see linkage.h.
 *
 * A cluster is in the row of its first member, and a pair of clusters in the row of the
 * first of the two. A row lists the clusters that have a pair at or above the floor with
 * it: the sum of the similarities that are known, and of how many pairs. The others
 * are below the floor, so sum + (pairs - known) * (floor - 1) by all pairs is the most
 * that the average can be. That is what clusters are compared by. When the best pair of
 * all is known in full it is joined; else its missing similarities are requested first,
 * until it cannot reach the cut; they can only lower it. A floor somewhat below the cut makes that rare: a pair
 * without similar members is too low, so its exact value does not matter.
 *
 * Joining concatenates two lists. Lists name members, and whom a member has been joined
 * to is looked up (`joined`), so the lists of other clusters stay as they are; what
 * belongs together is added up when a list is looked through. A member alone uses
 * what was given.
 *
 * For each row the best partner behind it is remembered. Joining a and b:
 *
 *	- changes the row of a: its best is looked for again;
 *	- can only lower what a row in front remembers of a or b, because the new
 *	  bound is between the two old ones. Such a row is marked, and looked
 *	  through only when what it remembers would be the best of all;
 *	- leaves alone what other rows remember: had a or b been as good, they would
 *	  have been remembered, for an earlier one or for a better one.
 *
 * The best of all rows is at the root of a tree of winners.
 */
#include "mine/linkage.h"

#include "base/memory.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* Steps between two looks at the progress. */
#define STEPS_BETWEEN_REPORTS 256

/* What is known of a cluster's pairs with another. */
struct partner {
	uint32_t other; /* a member of it */
	uint32_t known; /* pairs */
	uint64_t sum;
};

struct row {
	uint64_t sum;             /* of the best pair, at most */
	uint64_t pairs;           /* that it is the sum of */
	uint32_t best;            /* the other cluster; LODE_NONE: none reaches the cut */
	uint32_t size;            /* 0: joined to another */
	uint32_t outdated;        /* the best may be worse than remembered, or gone */
	uint32_t exact;           /* all pairs of the best are known */
	uint32_t last;            /* member of the cluster */
	uint32_t partner_count;   /* of `partners` */
	struct partner *partners; /* NULL: as given, for a member alone */
};

struct linkage {
	const struct lode_linkage_input *input;
	size_t count;
	struct row *rows;
	uint32_t *joined;     /* by member: an earlier one of its cluster; itself: it is the first */
	uint32_t *next;       /* by member: the next one of its cluster */
	struct partner *sums; /* by cluster: what was found in the current list; known 0: not in it */
	uint32_t *found;      /* clusters in that list */
	size_t found_count;
	uint32_t *given;   /* by member: the last one that a pair with it was found for in what was given */
	uint32_t *winners; /* tree: the best row below a node, LODE_NONE for none; rows are from `leaves` on */
	size_t leaves;
	uint64_t asked;
};

static uint32_t cluster_of(struct linkage *linkage, uint32_t member)
{
	uint32_t *joined = linkage->joined;

	while (joined[member] != member)
		member = joined[member] = joined[joined[member]];
	return member;
}

/* Whether sum / pairs is a higher average than that of the other. */
static int is_higher(uint64_t sum, uint64_t pairs, uint64_t other_sum, uint64_t other_pairs)
{
	return (wide)sum * other_pairs > (wide)other_sum * pairs;
}

/* ---- lists ---- */

static void find(struct linkage *linkage, uint32_t own, uint32_t member, uint64_t sum, uint32_t known)
{
	uint32_t other = cluster_of(linkage, member);
	struct partner *partner = &linkage->sums[other];

	if (other == own)
		return;
	if (!partner->known)
		linkage->found[linkage->found_count++] = other;
	partner->sum += sum;
	partner->known += known;
}

/* Adds the list of row `i` to what was found, as one of the cluster `own`. */
static void find_partners(struct linkage *linkage, uint32_t own, uint32_t i)
{
	const struct lode_linkage_input *input = linkage->input;
	const struct row *row = &linkage->rows[i];

	if (row->partners)
		for (uint32_t k = 0; k < row->partner_count; k++)
			find(linkage, own, row->partners[k].other, row->partners[k].sum, row->partners[k].known);
	else
		for (size_t k = input->starts[i]; k < input->starts[i + 1]; k++)
			find(linkage, own, input->similar[k].other, input->similar[k].units, 1);
}

static void forget_found(struct linkage *linkage)
{
	for (size_t k = 0; k < linkage->found_count; k++)
		memset(&linkage->sums[linkage->found[k]], 0, sizeof(*linkage->sums));
	linkage->found_count = 0;
}

/* Makes what was found the list of a row. */
static int keep_found(struct linkage *linkage, uint32_t i)
{
	struct partner *partners = lode_calloc(linkage->found_count + 1, sizeof(*partners));

	if (!partners)
		return LODE_SYSTEM;
	for (size_t k = 0; k < linkage->found_count; k++) {
		partners[k] = linkage->sums[linkage->found[k]];
		partners[k].other = linkage->found[k];
	}
	lode_free(linkage->rows[i].partners);
	linkage->rows[i].partners = partners;
	linkage->rows[i].partner_count = (uint32_t)linkage->found_count;
	return 0;
}

/* ---- the best ---- */

static int is_better_row(const struct linkage *linkage, uint32_t a, uint32_t b)
{
	const struct row *one = &linkage->rows[a], *other = &linkage->rows[b];

	if (is_higher(one->sum, one->pairs, other->sum, other->pairs))
		return 1;
	return a < b && !is_higher(other->sum, other->pairs, one->sum, one->pairs);
}

/* Row `i` has changed. */
static void play_again(struct linkage *linkage, uint32_t i)
{
	uint32_t *winners = linkage->winners;
	size_t node = linkage->leaves + i;

	winners[node] = linkage->rows[i].best == LODE_NONE ? LODE_NONE : i;
	for (node /= 2; node; node /= 2) {
		uint32_t a = winners[2 * node], b = winners[2 * node + 1];

		if (a == LODE_NONE || b == LODE_NONE)
			winners[node] = a == LODE_NONE ? b : a;
		else
			winners[node] = is_better_row(linkage, a, b) ? a : b;
	}
}

/* The best of what was found for row `i`, behind it. */
static void choose_best(struct linkage *linkage, uint32_t i)
{
	struct row *row = &linkage->rows[i];
	uint64_t below = linkage->input->floor - 1;

	row->best = LODE_NONE;
	row->outdated = 0;
	for (size_t k = 0; k < linkage->found_count; k++) {
		uint32_t j = linkage->found[k];
		const struct partner *partner = &linkage->sums[j];
		uint64_t pairs = (uint64_t)row->size * linkage->rows[j].size;
		uint64_t sum = partner->sum + (pairs - partner->known) * below;

		if (j < i || (wide)sum < (wide)linkage->input->cut * pairs)
			continue;
		if (row->best != LODE_NONE && !is_higher(sum, pairs, row->sum, row->pairs) &&
		    (j > row->best || is_higher(row->sum, row->pairs, sum, pairs)))
			continue;
		row->best = j;
		row->sum = sum;
		row->pairs = pairs;
		row->exact = partner->known == pairs;
	}
	play_again(linkage, i);
}

static void find_best(struct linkage *linkage, uint32_t i)
{
	find_partners(linkage, i, i);
	choose_best(linkage, i);
	forget_found(linkage);
}

/* ---- joining ---- */

static int join(struct linkage *linkage, uint32_t a, uint32_t b)
{
	struct row *rows = linkage->rows;
	int code;

	linkage->joined[b] = a;
	linkage->next[rows[a].last] = b;
	rows[a].last = rows[b].last;
	rows[a].size += rows[b].size;
	rows[b].size = 0;
	rows[b].best = LODE_NONE;
	play_again(linkage, b);
	find_partners(linkage, a, a);
	find_partners(linkage, a, b);
	code = keep_found(linkage, a);
	lode_free(rows[b].partners);
	rows[b].partners = NULL;
	for (size_t k = 0; k < linkage->found_count; k++) {
		struct row *row = &rows[linkage->found[k]];

		if (row->best == a || row->best == b)
			row->outdated = 1;
	}
	choose_best(linkage, a);
	forget_found(linkage);
	return code;
}

/* Notes what is known now of the pairs of two clusters in the list of the first. */
static int note_sum(struct linkage *linkage, uint32_t a, uint32_t b, uint64_t sum, uint64_t known)
{
	int code;

	find_partners(linkage, a, a);
	linkage->sums[b].sum = sum;
	linkage->sums[b].known = (uint32_t)known;
	code = keep_found(linkage, a);
	if (!code && a < b)
		choose_best(linkage, a);
	forget_found(linkage);
	return code;
}

/* What is known of two clusters while their members are compared. */
struct asking {
	struct linkage *linkage;
	uint64_t pairs;
	uint64_t known;
	uint64_t sum;
};

/* Whether the average may still reach the cut. */
static int may_reach_cut(const struct asking *asking)
{
	const struct lode_linkage_input *input = asking->linkage->input;

	return (wide)asking->sum + (wide)(asking->pairs - asking->known) * (input->floor - 1) >=
	       (wide)input->cut * asking->pairs;
}

/* Adds the given pairs of member `i` with cluster `b`, and marks the others of those pairs. */
static void add_given(struct asking *asking, uint32_t i, uint32_t b)
{
	struct linkage *linkage = asking->linkage;
	const struct lode_linkage_input *input = linkage->input;

	for (size_t k = input->starts[i]; k < input->starts[i + 1]; k++) {
		if (cluster_of(linkage, input->similar[k].other) != b)
			continue;
		linkage->given[input->similar[k].other] = i;
		asking->sum += input->similar[k].units;
		asking->known++;
	}
}

/* Compares member `i` with those of cluster `b` that no pair was given for. */
static int ask_member(struct asking *asking, uint32_t i, uint32_t b)
{
	struct linkage *linkage = asking->linkage;
	const struct lode_linkage_input *input = linkage->input;
	uint32_t units;

	for (uint32_t j = b; j != LODE_NONE && may_reach_cut(asking); j = linkage->next[j]) {
		if (linkage->given[j] == i)
			continue;
		if (input->compare(input->context, i, j, &units) < 0)
			return LODE_SYSTEM;
		asking->sum += units;
		asking->known++;
		linkage->asked++;
	}
	return 0;
}

/*
 * Asks for missing pairs of the best pair of row `a` until it is known in full or
 * cannot reach the cut. What was requested is not kept one by one: a larger cluster
 * may ask for it again.
 */
static int ask(struct linkage *linkage, uint32_t a)
{
	uint32_t b = linkage->rows[a].best;
	struct asking asking = { .linkage = linkage, .pairs = linkage->rows[a].pairs };

	for (uint32_t i = a; i != LODE_NONE; i = linkage->next[i])
		add_given(&asking, i, b);
	for (uint32_t i = a; i != LODE_NONE; i = linkage->next[i]) {
		/* Marks of members before this one are not its own, so they are made again. */
		struct asking marks = asking;

		add_given(&marks, i, b);
		if (ask_member(&asking, i, b) < 0)
			return LODE_SYSTEM;
	}
	if (note_sum(linkage, b, a, asking.sum, asking.known) < 0)
		return LODE_SYSTEM;
	return note_sum(linkage, a, b, asking.sum, asking.known);
}

/* ---- all ---- */

static int link_all(struct linkage *linkage, struct lode_error *error)
{
	uint32_t highest;

	for (uint64_t step = 0; (highest = linkage->winners[1]) != LODE_NONE; step++) {
		struct row *row = &linkage->rows[highest];
		int code = 0;

		if (step % STEPS_BETWEEN_REPORTS == 0 &&
		    lode_progress_report(linkage->input->progress, "joining clusters", "steps", step, 0))
			return lode_fail(error, LODE_SYSTEM, "joining clusters was stopped");
		if (row->outdated)
			find_best(linkage, highest);
		else if (!row->exact)
			code = ask(linkage, highest);
		else
			code = join(linkage, highest, row->best);
		if (code)
			return lode_fail_memory(error);
	}
	return 0;
}

static int start(struct linkage *linkage)
{
	size_t count = linkage->count;

	for (linkage->leaves = 1; linkage->leaves < count; linkage->leaves *= 2)
		;
	linkage->rows = lode_calloc(count, sizeof(*linkage->rows));
	linkage->joined = lode_calloc(count, sizeof(*linkage->joined));
	linkage->next = lode_calloc(count, sizeof(*linkage->next));
	linkage->sums = lode_calloc(count, sizeof(*linkage->sums));
	linkage->found = lode_calloc(count, sizeof(*linkage->found));
	linkage->given = lode_calloc(count, sizeof(*linkage->given));
	linkage->winners = lode_calloc(2 * linkage->leaves, sizeof(*linkage->winners));
	if (!linkage->rows || !linkage->joined || !linkage->next || !linkage->sums || !linkage->found ||
	    !linkage->given || !linkage->winners)
		return LODE_SYSTEM;
	memset(linkage->winners, 0xff, 2 * linkage->leaves * sizeof(*linkage->winners));
	for (uint32_t i = 0; i < count; i++) {
		linkage->rows[i].size = 1;
		linkage->rows[i].last = linkage->joined[i] = i;
		linkage->next[i] = linkage->given[i] = LODE_NONE;
	}
	for (uint32_t i = 0; i < count; i++)
		find_best(linkage, i);
	return 0;
}

static void release(struct linkage *linkage)
{
	for (size_t i = 0; linkage->rows && i < linkage->count; i++)
		lode_free(linkage->rows[i].partners);
	lode_free(linkage->rows);
	lode_free(linkage->joined);
	lode_free(linkage->next);
	lode_free(linkage->sums);
	lode_free(linkage->found);
	lode_free(linkage->given);
	lode_free(linkage->winners);
}

int lode_linkage(const struct lode_linkage_input *input, uint32_t *leaders, uint64_t *asked,
		 struct lode_error *error)
{
	struct linkage linkage = { .input = input, .count = input->count };
	int code = start(&linkage) < 0 ? lode_fail_memory(error) : link_all(&linkage, error);

	for (uint32_t i = 0; i < linkage.count && !code; i++)
		leaders[i] = cluster_of(&linkage, i);
	if (asked)
		*asked = linkage.asked;
	release(&linkage);
	return code;
}
