/* Why threads were ready: see finding_ready.h. */
#include "mine/finding_ready.h"

#include "mine/finding_chain.h"
#include "trace/throttled.h"

#include <stdlib.h>
#include <string.h>

/* A finding that has reasons of its own for this part, 1/N, is not about the machine. */
#define OWN_REASONS 4
/* What had this share of the time that is known, 3/4, is the one to name: a program, or the recorded threads. */
#define CULPRIT_OF_FOUR 3
/* Others are known to have had the processor if it was for this part of the time at least, 1/N. */
#define KNOWN_OTHERS 20

static int compare_holders(const void *left, const void *right, void *context)
{
	const struct lode_chain_link *a =
		lode_finding_alike_link(context, ((const struct lode_chain_row *)left)->chain);
	const struct lode_chain_link *b =
		lode_finding_alike_link(context, ((const struct lode_chain_row *)right)->chain);

	if (a->holder_process != b->holder_process)
		return a->holder_process < b->holder_process ? -1 : 1;
	return a->holder < b->holder ? -1 : a->holder > b->holder;
}

static int compare_crowds(const void *left, const void *right, void *context)
{
	uint32_t a = lode_finding_alike_link(context, ((const struct lode_chain_row *)left)->chain)->object;
	uint32_t b = lode_finding_alike_link(context, ((const struct lode_chain_row *)right)->chain)->object;

	return a < b ? -1 : a > b;
}

/* The end of the rows that are equal to number `i`, and what they cost together. */
static size_t end_of_equal(const struct lode_chain_row *rows, size_t count, size_t i,
			   int (*compare)(const void *left, const void *right, void *context),
			   struct lode_finding_alike *alike, uint64_t *cost)
{
	size_t end = i;

	*cost = 0;
	for (; end < count && !compare(&rows[end], &rows[i], alike); end++)
		*cost = lode_add_saturating(*cost, rows[end].cost);
	return end;
}

/* With whom they were woken most of the time. */
static void find_crowd(struct lode_finding *finding, const struct lode_chain_link *links,
		       struct lode_finding_alike *alike, struct lode_chain_row *rows, size_t count)
{
	uint64_t cost;

	finding->crowd = LODE_NONE;
	qsort_r(rows, count, sizeof(*rows), compare_crowds, alike);
	for (size_t i = 0, end; i < count; i = end) {
		end = end_of_equal(rows, count, i, compare_crowds, alike, &cost);
		if (links[rows[i].chain].object && cost > finding->crowd_cost) {
			finding->crowd = rows[i].chain;
			finding->crowd_cost = cost;
		}
	}
}

/* Who had the processor most of the time. Returns the number of its first row; its rows follow one another. */
static size_t find_behind(struct lode_finding *finding, const struct lode_chain_link *links,
			  struct lode_finding_alike *alike, struct lode_chain_row *rows, size_t count)
{
	size_t first = 0;
	uint64_t cost;

	finding->behind = LODE_NONE;
	qsort_r(rows, count, sizeof(*rows), compare_holders, alike);
	for (size_t i = 0, end; i < count; i = end) {
		end = end_of_equal(rows, count, i, compare_holders, alike, &cost);
		if (links[rows[i].chain].holder && cost > finding->behind_cost) {
			finding->behind = rows[i].chain;
			finding->behind_cost = cost;
			first = i;
		}
	}
	return first;
}

/* The names of those behind: without numbers where they are several. `rows`: from the first of them on. */
static int name_behind(struct lode_findings *findings, const struct lode_area *area,
		       struct lode_finding_alike *alike, const struct lode_chain_row *rows, size_t count,
		       struct lode_finding *finding)
{
	const struct lode_chain_link *links = area->chains.links, *behind = &links[finding->behind];
	uint64_t process = 0, thread = 0;

	for (size_t i = 0; i < count && !compare_holders(&rows[i], &rows[0], alike); i++) {
		const struct lode_chain_link *link = &links[rows[i].chain];

		process += link->holder_process == behind->holder_process ? rows[i].cost : 0;
		thread += link->holder == behind->holder ? rows[i].cost : 0;
	}
	finding->behind_process =
		lode_finding_shown_name(findings, area, behind->holder_process, process, finding->behind_cost);
	finding->behind_thread =
		lode_finding_shown_name(findings, area, behind->holder, thread, finding->behind_cost);
	return finding->behind_process == LODE_NONE || finding->behind_thread == LODE_NONE ? LODE_SYSTEM : 0;
}

int lode_finding_ready(struct lode_findings *findings, const struct lode_area *area,
		       struct lode_finding_alike *alike, struct lode_finding *finding)
{
	const struct lode_chain_link *links = area->chains.links;
	struct lode_chain_row *rows = findings->rows + finding->first_row;
	size_t count = finding->row_count, first;

	for (size_t i = 0; i < count; i++)
		if (links[rows[i].chain].holder)
			finding->recorded_cost = lode_add_saturating(finding->recorded_cost, rows[i].cost);
	find_crowd(finding, links, alike, rows, count);
	first = find_behind(finding, links, alike, rows, count);
	return finding->behind_cost ? name_behind(findings, area, alike, rows + first, count - first, finding) : 0;
}

static uint64_t longest_throttled(const struct lode_area *area)
{
	const struct lode_strings *strings = &area->dictionary.frames.strings;
	uint64_t longest = 0;

	for (size_t i = 0; i < area->stream_count; i++) {
		uint64_t time =
			lode_throttled_of(area->streams[i].attributes, area->streams[i].attribute_count, strings).time;

		longest = time > longest ? time : longest;
	}
	return longest;
}

/* Whether there is one to name; recorders take processors before all others, and are none. */
static int has_culprit(const struct lode_neighbours *others, uint64_t time)
{
	return others->times[0] >= time / 4 * CULPRIT_OF_FOUR && strcmp(others->names[0], "lode") != 0;
}

enum lode_finding_origin lode_finding_origin(const struct lode_finding *finding, const struct lode_area *area)
{
	const struct lode_strings *strings = &area->dictionary.frames.strings;
	const char *thread = lode_strings_get(strings, area->chains.links[finding->chain].thread);
	struct lode_neighbours others = { .count = 0 };
	uint64_t own = lode_add_saturating(finding->recorded_cost, finding->crowd_cost), time;

	if (finding->kind != LODE_FINDING_READY ||
	    lode_add_saturating(own, longest_throttled(area)) >= finding->cost / OWN_REASONS)
		return LODE_FINDING_OWN;
	for (size_t i = 0; i < area->stream_count; i++)
		lode_neighbours_add(&others, thread, 0, area->streams[i].attributes,
				    area->streams[i].attribute_count, strings);
	/* A recorded thread that was before it may only be there because others have the other processors. */
	time = others.total - others.recorded;
	if (time <= finding->cost / KNOWN_OTHERS || others.recorded >= others.total / 4 * CULPRIT_OF_FOUR)
		return LODE_FINDING_OWN;
	return has_culprit(&others, time) ? LODE_FINDING_OF_ONE_PROGRAM : LODE_FINDING_OF_MACHINE;
}
