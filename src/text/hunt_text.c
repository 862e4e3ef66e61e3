/*
 * A hunt as text for people: see hunt_text.h. The answer is a line a bottleneck. The whole
 * text has first the bottlenecks, each in a
 * sentence with the way that leads to it; then what was not examined, by reason; then
 * the search history graph as a tree by first parents, in which what was false, and
 * led to nothing, shares a line.
 */
#include "base/safe_text.h"
#include "base/memory.h"
#include "base/units.h"
#include "text/hunt_text.h"
#include "text/tree_lines.h"

#include <stdlib.h>
#include <string.h>

/* Reasons with their own line; more share one. */
#define MAX_REASONS 32

/* ---- the head ---- */

static uint64_t count_state(const struct lode_history *history, enum lode_experiment_state state)
{
	uint64_t count = 0;

	for (size_t i = 0; i < history->count; i++)
		count += history->experiments[i].state == state;
	return count;
}

static void put_head(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	const struct lode_search *search = report->search;
	const struct lode_history *history = lode_search_history(search);
	struct lode_meter *meter = lode_search_meter(search);
	char text[LODE_UNITS_TEXT];

	lode_text_safe(buffer, report->target);
	lode_buffer_print(buffer, ": hunted for %s, until %s.\n",
			  lode_duration_text(lode_search_lasted(search), text), lode_hunt_end(search));
	lode_buffer_print(buffer, "%s experiments:", lode_count_text(history->count, text));
	for (int state = 0; state < LODE_EXPERIMENT_STATES; state++) {
		uint64_t count = count_state(history, (enum lode_experiment_state)state);

		if (count)
			lode_buffer_print(buffer, " %s %s,", lode_count_text(count, text),
					  lode_experiment_state_name((enum lode_experiment_state)state));
	}
	lode_buffer_print(buffer, " %s samples; measuring took %.2f%% of the program's time.\n",
			  lode_count_text(lode_search_counts(search)->samples, text),
			  100 * meter->operations->cost(meter));
}

/* ---- bottlenecks ---- */

/* Whether an experiment narrows the code of its first parent, and not another axis. */
static int steps_in_code(const struct lode_history *history, uint32_t id)
{
	uint32_t parent = history->experiments[id].parent;

	return parent == LODE_NONE ||
	       history->experiments[id].focus.function != history->experiments[parent].focus.function;
}

/* What leads to an experiment, the outermost first. */
static void put_way(const struct lode_search *search, uint32_t id, const char *arrow, struct lode_buffer *buffer)
{
	const struct lode_history *history = lode_search_history(search);
	unsigned depth = lode_hunt_depth(history, id);
	int first = 1;

	for (unsigned level = 1; level < depth; level++) {
		uint32_t at = id;

		for (unsigned up = level; up < depth; up++)
			at = history->experiments[at].parent;
		lode_buffer_text(buffer, first ? "     by way of " : arrow);
		lode_hunt_step(search, at, buffer);
		if (history->experiments[at].origin == LODE_ORIGIN_DEEP_START && steps_in_code(history, at))
			lode_buffer_text(buffer, " (found from samples)");
		first = 0;
	}
	if (!first)
		lode_buffer_byte(buffer, '\n');
}

/* Whether anything was concluded. */
static int was_measured(const struct lode_search *search)
{
	return count_state(lode_search_history(search), LODE_EXPERIMENT_FALSE) ||
	       count_state(lode_search_history(search), LODE_EXPERIMENT_TRUE);
}

static void put_bottlenecks(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	const struct lode_search *search = report->search;
	size_t count, specific;
	uint32_t *ids = lode_hunt_bottlenecks(search, &count, &specific);

	buffer->failed |= !ids;
	if (!count)
		lode_buffer_text(buffer,
				 was_measured(search)
					 ? "\nNo bottleneck was found: nothing is above its threshold.\n"
					 : "\nNo bottleneck was found: nothing was measured long enough.\n");
	else
		lode_buffer_print(buffer, "\nBottlenecks, most specific first (and %zu that lead%s to them):\n",
				  count - specific, count - specific == 1 ? "s" : "");
	for (size_t i = 0; ids && i < specific; i++) {
		lode_buffer_print(buffer, "%3zu. ", i + 1);
		lode_hunt_sentence(search, ids[i], buffer);
		lode_buffer_byte(buffer, '\n');
		put_way(search, ids[i], report->ascii ? " > " : " \xe2\x86\x92 ", buffer);
	}
	lode_free(ids);
}

/* ---- the answer ---- */

/* Bottlenecks in it. */
#define ANSWERS 7

/* What the answer leaves out, and how to see it. */
static void put_rest(size_t more, struct lode_buffer *buffer)
{
	lode_buffer_text(buffer, "'--all' shows ");
	if (more)
		lode_buffer_print(buffer, "%zu more, ", more);
	lode_buffer_text(buffer, "what leads to them, and the search.\n");
}

void lode_hunt_answer(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	const struct lode_search *search = report->search;
	size_t count, specific;
	uint32_t *ids = lode_hunt_bottlenecks(search, &count, &specific);
	char text[LODE_UNITS_TEXT];

	buffer->failed |= !ids;
	lode_text_safe(buffer, report->target);
	lode_buffer_print(buffer, ": hunted for %s, until %s; %zu bottleneck%s",
			  lode_duration_text(lode_search_lasted(search), text), lode_hunt_end(search), specific,
			  lode_plural(specific));
	lode_buffer_text(buffer, specific > 1 ? ", the strongest first:\n" : specific ? ":\n" : ".\n");
	for (size_t i = 0; ids && i < specific && i < ANSWERS; i++) {
		lode_buffer_print(buffer, "%3zu. ", i + 1);
		lode_hunt_sentence(search, ids[i], buffer);
		lode_buffer_byte(buffer, '\n');
	}
	if (!specific && !was_measured(search))
		lode_buffer_text(buffer, "Nothing was measured long enough.\n");
	put_rest(specific > ANSWERS ? specific - ANSWERS : 0, buffer);
	lode_free(ids);
}

/* ---- what was not examined ---- */

static int is_open(const struct lode_experiment *experiment)
{
	return experiment->state != LODE_EXPERIMENT_TRUE && experiment->state != LODE_EXPERIMENT_FALSE;
}

static const char *reason_of(const struct lode_experiment *experiment)
{
	return experiment->why ? experiment->why : "the search did not get to it";
}

/* The reasons in order of their first appearance. Returns how many. */
static size_t collect_reasons(const struct lode_history *history, const char *reasons[MAX_REASONS])
{
	size_t count = 0;

	for (size_t i = 0; i < history->count; i++) {
		size_t at = 0;

		if (!is_open(&history->experiments[i]))
			continue;
		while (at < count && strcmp(reasons[at], reason_of(&history->experiments[i])))
			at++;
		if (at == count && count < MAX_REASONS)
			reasons[count++] = reason_of(&history->experiments[i]);
	}
	return count;
}

/* Whether two open experiments share a word: the same question about the same function, elsewhere narrowed.
 */
static int is_alike(const struct lode_experiment *a, const struct lode_experiment *b)
{
	return is_open(a) && is_open(b) && a->hypothesis == b->hypothesis &&
	       a->focus.function == b->focus.function && !strcmp(reason_of(a), reason_of(b));
}

/* How many are like `id`, itself counted; 0 when one before it is. */
static size_t count_alike(const struct lode_history *history, size_t id)
{
	size_t count = 0;

	for (size_t i = 0; i < history->count; i++) {
		if (!is_alike(&history->experiments[i], &history->experiments[id]))
			continue;
		if (i < id)
			return 0;
		count++;
	}
	return count;
}

static void put_one_open(const struct lode_search *search, size_t id, size_t alike, struct lode_buffer *buffer)
{
	const struct lode_experiment *experiment = &lode_search_history(search)->experiments[id];
	double sampled = lode_hunt_sampled(search, experiment);

	lode_hunt_focus(search, &experiment->focus, buffer);
	lode_buffer_print(buffer, " (%s", lode_hunt_claim(experiment->hypothesis));
	if (experiment->focus.function != LODE_NONE)
		lode_buffer_print(buffer, ", in %.1f%% of the samples", 100 * sampled);
	if (experiment->state == LODE_EXPERIMENT_RUNNING && experiment->observed) {
		lode_buffer_text(buffer, ", so far ");
		lode_hunt_measured(experiment, buffer);
	}
	if (experiment->state == LODE_EXPERIMENT_DEFERRED && experiment->cost >= 0)
		lode_buffer_print(buffer, ", cost %.1f%%", 100 * experiment->cost);
	if (alike > 1)
		lode_buffer_print(buffer, ", and %zu more of it", alike - 1);
	lode_buffer_byte(buffer, ')');
}

static int has_reason(const struct lode_experiment *experiment, const char *const *reasons, size_t which,
		      size_t count)
{
	size_t at = 0;

	if (!is_open(experiment))
		return 0;
	while (at < count && strcmp(reasons[at], reason_of(experiment)))
		at++;
	return at == which || (at == count && which == count - 1);
}

/* What samples hardly show is only counted: it would hardly have been a bottleneck. */
static int is_faint(const struct lode_search *search, const struct lode_experiment *experiment)
{
	return experiment->focus.function != LODE_NONE &&
	       lode_hunt_sampled(search, experiment) < experiment->threshold / 10;
}

struct by_samples {
	const struct lode_search *search;
	uint32_t *ids;
	size_t count;
};

static int by_sampled(const void *a, const void *b, void *context)
{
	const struct by_samples *order = context;
	const struct lode_history *history = lode_search_history(order->search);
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double share_x = lode_hunt_sampled(order->search, &history->experiments[x]);
	double share_y = lode_hunt_sampled(order->search, &history->experiments[y]);

	if (share_x != share_y)
		return share_x > share_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void put_reason(const struct lode_search *search, const char *const *reasons, size_t which, size_t count,
		       struct lode_buffer *buffer)
{
	const struct lode_history *history = lode_search_history(search);
	struct by_samples order = { search, lode_calloc(history->count + 1, sizeof(uint32_t)), 0 };
	size_t faint = 0;

	if (!order.ids) {
		buffer->failed = 1;
		return;
	}
	for (uint32_t i = 0; i < history->count; i++) {
		if (!has_reason(&history->experiments[i], reasons, which, count) || !count_alike(history, i))
			continue;
		if (is_faint(search, &history->experiments[i]))
			faint++;
		else
			order.ids[order.count++] = i;
	}
	qsort_r(order.ids, order.count, sizeof(*order.ids), by_sampled, &order);
	lode_buffer_text(buffer, "  ");
	lode_text_safe(buffer, reasons[which]);
	for (size_t i = 0; i < order.count; i++) {
		lode_buffer_text(buffer, i ? ", " : ": ");
		put_one_open(search, order.ids[i], count_alike(history, order.ids[i]), buffer);
	}
	if (faint)
		lode_buffer_print(buffer, "%s%zu that samples hardly show", order.count ? ", and " : ": ", faint);
	lode_buffer_byte(buffer, '\n');
	lode_free(order.ids);
}

static void put_not_examined(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	const char *reasons[MAX_REASONS];
	size_t count = collect_reasons(lode_search_history(report->search), reasons);

	if (count)
		lode_buffer_text(buffer, "\nNot examined, or not to the end:\n");
	for (size_t i = 0; i < count; i++)
		put_reason(report->search, reasons, i, count, buffer);
}

/* ---- the search history graph ---- */

/* What led to nothing shares a line with its like. */
static int shares_line(const struct lode_experiment *experiment)
{
	return experiment->first_child == LODE_NONE && experiment->parent != LODE_NONE &&
	       experiment->state != LODE_EXPERIMENT_TRUE && experiment->state != LODE_EXPERIMENT_RUNNING;
}

static void put_node(const struct lode_search *search, uint32_t id, struct lode_buffer *buffer)
{
	const struct lode_experiment *experiment = &lode_search_history(search)->experiments[id];

	lode_hunt_step(search, id, buffer);
	if (experiment->runs) {
		lode_buffer_byte(buffer, ' ');
		lode_hunt_measured(experiment, buffer);
	}
	if (lode_hunt_origin(experiment->origin))
		lode_buffer_print(buffer, " [%s]", lode_hunt_origin(experiment->origin));
}

/* What was false and far from its threshold is only counted. */
static int is_far_off(const struct lode_experiment *experiment)
{
	return experiment->state == LODE_EXPERIMENT_FALSE && experiment->hypothesis != LODE_SMALL_IO &&
	       experiment->value < experiment->threshold / 10;
}

/* The children of a node in one state that share a line. */
static void put_shared_line(const struct lode_search *search, uint32_t id, enum lode_experiment_state state,
			    unsigned depth, struct lode_buffer *buffer)
{
	const struct lode_history *history = lode_search_history(search);
	size_t named = 0, counted = 0;

	for (uint32_t child = history->experiments[id].first_child; child != LODE_NONE;
	     child = history->experiments[child].next_sibling) {
		const struct lode_experiment *experiment = &history->experiments[child];

		if (experiment->state != state || !shares_line(experiment))
			continue;
		if (!named && !counted) {
			lode_tree_line(buffer, depth);
			lode_buffer_print(buffer, "%s ", lode_hunt_mark(state, 0));
		}
		if (is_far_off(experiment)) {
			counted++;
			continue;
		}
		lode_buffer_text(buffer, named++ ? ", " : "");
		put_node(search, child, buffer);
	}
	if (counted)
		lode_buffer_print(buffer, "%s%zu below a tenth of the threshold", named ? ", and " : "", counted);
	if (named || counted)
		lode_buffer_byte(buffer, '\n');
}

static void put_shared(const struct lode_search *search, uint32_t id, unsigned depth, struct lode_buffer *buffer)
{
	for (int state = 0; state < LODE_EXPERIMENT_STATES; state++)
		put_shared_line(search, id, (enum lode_experiment_state)state, depth, buffer);
}

const char *lode_hunt_mark(enum lode_experiment_state state, int utf8)
{
	static const char *const plain[LODE_EXPERIMENT_STATES] = { ".", "?", "+", "-", "$", "x" };
	static const char *const wide[LODE_EXPERIMENT_STATES] = { "·", "◌", "●", "○", "◔", "×" };

	return utf8 ? wide[state] : plain[state];
}

uint32_t lode_hunt_next(const struct lode_history *history, uint32_t id, unsigned *depth)
{
	if (history->experiments[id].first_child != LODE_NONE) {
		++*depth;
		return history->experiments[id].first_child;
	}
	while (id != LODE_NONE && history->experiments[id].next_sibling == LODE_NONE) {
		id = history->experiments[id].parent;
		--*depth;
	}
	return id == LODE_NONE ? LODE_NONE : history->experiments[id].next_sibling;
}

static void put_graph(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	const struct lode_history *history = lode_search_history(report->search);
	unsigned depth = 0;

	lode_buffer_text(buffer, "\nThe search (+ true, - false, ? not concluded, $ too costly so far, "
				 "x impossible, . never run):\n");
	for (uint32_t id = history->first_root; id != LODE_NONE; id = lode_hunt_next(history, id, &depth)) {
		if (shares_line(&history->experiments[id]))
			continue;
		lode_tree_line(buffer, depth);
		lode_buffer_print(buffer, "%s ", lode_hunt_mark(history->experiments[id].state, 0));
		put_node(report->search, id, buffer);
		lode_buffer_byte(buffer, '\n');
		put_shared(report->search, id, depth + 1, buffer);
	}
}

void lode_hunt_text(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	put_head(report, buffer);
	put_bottlenecks(report, buffer);
	put_not_examined(report, buffer);
	put_graph(report, buffer);
}
