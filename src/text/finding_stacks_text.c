/* A finding with its evidence: see finding_stacks_text.h. */
#include "text/finding_stacks_text.h"

#include "base/memory.h"
#include "base/safe_text.h"
#include "base/units.h"
#include "result/object_words.h"
#include "scope/states.h"
#include "text/findings_text.h"

#include <stdlib.h>
#include <string.h>

/* Stacks that are shown; the rest is counted. */
#define STACKS 5

#define STATE_WIDTH 10

/* ---- the chain ---- */

static void put_frame(const struct lode_area *area, uint32_t frame, struct lode_buffer *buffer)
{
	size_t start = buffer->size;

	lode_frames_text(&area->dictionary.frames, frame, buffer);
	lode_text_escape(buffer, start);
}

/* Who did what, for what, and where; of the last one the place is the finding's. */
static void put_link(const struct lode_finding_source *source, const struct lode_finding *finding, uint32_t number,
		     size_t behind, struct lode_buffer *buffer)
{
	const struct lode_area *area = source->area;
	struct lode_chain_link link = lode_finding_link(source->findings, &area->chains, finding, number, behind);
	uint32_t frame = number == finding->chain ? finding->frame
			 : link.place             ? area->dictionary.tree.nodes[link.place].frame
						  : LODE_NONE;
	size_t start;

	lode_buffer_print(buffer, "  %-*s", STATE_WIDTH, lode_state_name((enum lode_state)link.state));
	start = buffer->size;
	lode_finding_thread(source, &link, NULL, buffer);
	lode_text_escape(buffer, start);
	if (link.object) {
		lode_buffer_text(buffer, ", for ");
		lode_object_words(buffer, lode_strings_get(&area->dictionary.frames.strings, link.object));
	}
	if (frame != LODE_NONE) {
		lode_buffer_text(buffer, ", in ");
		put_frame(area, frame, buffer);
	}
	lode_buffer_byte(buffer, '\n');
}

/* From who waited first. Recursion would be as deep as the chain. */
static int put_chain(const struct lode_finding_source *source, const struct lode_finding *finding,
		     struct lode_buffer *buffer)
{
	const struct lode_chain_link *links = source->area->chains.links;
	uint32_t *numbers;
	size_t count = finding->link_count;

	numbers = lode_calloc(count + 1, sizeof(*numbers));
	if (!numbers)
		return LODE_SYSTEM;
	for (uint32_t i = finding->chain, at = (uint32_t)count; i != LODE_NONE; i = links[i].before)
		numbers[--at] = i;
	lode_buffer_text(buffer, count > 1 ? "\nWho waited for whom, in most of it:\n" : "\nWho did it:\n");
	for (size_t i = 0; i < count; i++)
		put_link(source, finding, numbers[i], count - 1 - i, buffer);
	lode_free(numbers);
	return 0;
}

/* ---- stacks ---- */

static int compare_stacks(const void *left, const void *right)
{
	const struct lode_chain_row *a = left, *b = right;

	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static int compare_costs(const void *left, const void *right)
{
	const struct lode_chain_row *a = left, *b = right;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return compare_stacks(left, right);
}

/* Joins rows of the same stack, costliest first. Returns how many are left. */
static size_t join_rows(struct lode_chain_row *rows, size_t count)
{
	size_t left = 0;

	qsort(rows, count, sizeof(*rows), compare_stacks);
	for (size_t i = 0; i < count; i++) {
		if (left && rows[left - 1].stack == rows[i].stack) {
			rows[left - 1].cost = lode_add_saturating(rows[left - 1].cost, rows[i].cost);
			rows[left - 1].events += rows[i].events;
		} else {
			rows[left++] = rows[i];
		}
	}
	qsort(rows, left, sizeof(*rows), compare_costs);
	return left;
}

/* Root first; what it has no frames of is said. */
static int put_frames(const struct lode_area *area, uint32_t stack, struct lode_buffer *buffer)
{
	const struct lode_stack_tree *tree = &area->dictionary.tree;
	uint32_t *frames;
	size_t count = 0;

	for (uint32_t node = stack; node; node = tree->nodes[node].parent)
		count++;
	if (!count)
		lode_buffer_text(buffer, "    (no stack)\n");
	frames = lode_calloc(count + 1, sizeof(*frames));
	if (!frames)
		return LODE_SYSTEM;
	for (uint32_t node = stack, at = (uint32_t)count; node; node = tree->nodes[node].parent)
		frames[--at] = tree->nodes[node].frame;
	for (size_t i = 0; i < count; i++) {
		lode_buffer_text(buffer, "    ");
		put_frame(area, frames[i], buffer);
		lode_buffer_byte(buffer, '\n');
	}
	lode_free(frames);
	return 0;
}

static int put_stacks(const struct lode_finding_source *source, const struct lode_finding *finding,
		      const struct lode_look *look, struct lode_buffer *buffer)
{
	struct lode_chain_row *rows = lode_calloc(finding->row_count + 1, sizeof(*rows));
	char cost[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT], events[LODE_UNITS_TEXT];
	size_t count;
	int code = 0;

	if (!rows)
		return LODE_SYSTEM;
	memcpy(rows, source->findings->rows + finding->first_row, finding->row_count * sizeof(*rows));
	count = join_rows(rows, finding->row_count);
	lode_buffer_print(buffer, "\nIts stacks, root first");
	if (count > STACKS)
		lode_buffer_print(buffer, ", the %d costliest of %s", STACKS, lode_count_text(count, events));
	lode_buffer_text(buffer, ":\n");
	for (size_t i = 0; !code && i < count && i < STACKS; i++) {
		lode_buffer_print(buffer, "%s%10s%8s%s  %s event%s\n", lode_style(look, LODE_BOLD),
				  lode_duration_text(rows[i].cost, cost),
				  lode_share_text(rows[i].cost, finding->cost, share), lode_style(look, LODE_PLAIN),
				  lode_count_text(rows[i].events, events), lode_plural(rows[i].events));
		code = put_frames(source->area, rows[i].stack, buffer);
	}
	lode_free(rows);
	return code;
}

int lode_finding_stacks_text(const struct lode_finding_source *source, size_t i, const struct lode_look *look,
			     struct lode_buffer *buffer)
{
	const struct lode_finding *finding = &source->findings->items[i];
	int code;

	lode_finding_text(source, i, look, buffer);
	code = put_chain(source, finding, buffer);
	return code ? code : put_stacks(source, finding, look, buffer);
}
