/* Words that all reports of a hunt use, and the order of bottlenecks: see hunt_report.h. */
#include "base/memory.h"
#include "base/units.h"
#include "report/hunt_report.h"

#include <stdlib.h>
#include <string.h>

/* ---- bottlenecks ---- */

unsigned lode_hunt_depth(const struct lode_history *history, uint32_t experiment)
{
	unsigned depth = 0;

	while (history->experiments[experiment].parent != LODE_NONE) {
		experiment = history->experiments[experiment].parent;
		depth++;
	}
	return depth;
}

struct order {
	const struct lode_history *history;
	const char *leads; /* by experiment: something true refines it */
	const unsigned *depths;
};

/* Small operations are the worse the smaller they are; shares the larger. */
static double strength(const struct lode_experiment *experiment)
{
	if (experiment->hypothesis == LODE_SMALL_IO)
		return experiment->value > 0 ? experiment->threshold / experiment->value / 100 : 0;
	return experiment->value;
}

static int by_specificity(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double strong_x = strength(&order->history->experiments[x]);
	double strong_y = strength(&order->history->experiments[y]);

	if (order->leads[x] != order->leads[y])
		return order->leads[x] - order->leads[y];
	if (order->leads[x] && order->depths[x] != order->depths[y])
		return order->depths[x] > order->depths[y] ? -1 : 1;
	if (strong_x != strong_y)
		return strong_x > strong_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Whether `of` is refined, by whatever steps, from `ancestor`, over true experiments. `seen` and `stack` have
 * room for all. */
static int is_ancestor(const struct lode_history *history, uint32_t ancestor, uint32_t of, char *seen,
		       uint32_t *stack)
{
	size_t count = 0;

	memset(seen, 0, history->count);
	stack[count++] = of;
	seen[of] = 1;
	while (count) {
		uint32_t id = stack[--count];

		if (id == ancestor)
			return 1;
		for (uint32_t i = history->experiments[id].links; i != LODE_NONE;
		     i = history->links[i].next) {
			uint32_t parent = history->links[i].parent;

			if (seen[parent] || !history->experiments[parent].found)
				continue;
			seen[parent] = 1;
			stack[count++] = parent;
		}
	}
	return 0;
}

/* Marks what true experiments refine; but in a recursion, where each refines the other, none leads. */
static int mark_leading(const struct lode_history *history, char *leads)
{
	char *seen = lode_calloc(history->count + 1, 1);
	uint32_t *stack = lode_calloc(history->count + 1, sizeof(*stack));
	int code = seen && stack ? 0 : LODE_SYSTEM;

	for (uint32_t i = 0; !code && i < history->count; i++) {
		if (!history->experiments[i].found)
			continue;
		for (uint32_t link = history->experiments[i].links; link != LODE_NONE;
		     link = history->links[link].next) {
			uint32_t parent = history->links[link].parent;

			if (!leads[parent] && !is_ancestor(history, i, parent, seen, stack))
				leads[parent] = 1;
		}
	}
	lode_free(seen);
	lode_free(stack);
	return code;
}

uint32_t *lode_hunt_bottlenecks(const struct lode_search *search, size_t *count, size_t *specific)
{
	const struct lode_history *history = lode_search_history(search);
	char *leads = lode_calloc(history->count + 1, 1);
	unsigned *depths = lode_calloc(history->count + 1, sizeof(*depths));
	uint32_t *ids = lode_calloc(history->count + 1, sizeof(*ids));
	struct order order = {history, leads, depths};

	*count = *specific = 0;
	if (!leads || !depths || !ids || mark_leading(history, leads) < 0) {
		lode_free(ids);
		ids = NULL;
		goto out;
	}
	for (uint32_t i = 0; i < history->count; i++) {
		depths[i] = history->experiments[i].parent == LODE_NONE
				    ? 0
				    : depths[history->experiments[i].parent] + 1;
		if (!history->experiments[i].found)
			continue;
		ids[(*count)++] = i;
		*specific += !leads[i];
	}
	qsort_r(ids, *count, sizeof(*ids), by_specificity, &order);
out:
	lode_free(leads);
	lode_free(depths);
	return ids;
}

double lode_hunt_sampled(const struct lode_search *search, const struct lode_experiment *experiment)
{
	enum lode_hypothesis kind =
		experiment->hypothesis == LODE_SMALL_IO ? LODE_IO_BLOCKING : experiment->hypothesis;
	const struct lode_count_graph *graph =
		lode_counts_graph(lode_search_counts(search), kind, &experiment->focus);
	uint32_t node = graph ? lode_count_node_find(graph, experiment->focus.function) : LODE_NONE;

	if (node == LODE_NONE || !graph->weight)
		return 0;
	return (double)graph->nodes[node].weight / (double)graph->weight;
}

/* ---- words ---- */

void lode_hunt_safe(const char *text, struct lode_buffer *buffer)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte < 0x20 || byte == 0x7f)
			lode_buffer_print(buffer, "\\x%02x", byte);
		else
			lode_buffer_byte(buffer, *text);
	}
}

static void put_place(const struct lode_search *search, const struct lode_focus *focus,
		      enum lode_focus_axis axis, struct lode_buffer *buffer)
{
	static const char *const kinds[LODE_AXES] = {"", "host ", "process ", "thread ", "lock "};

	lode_buffer_text(buffer, kinds[axis]);
	lode_hunt_safe(lode_search_name(search, focus, axis), buffer);
}

void lode_hunt_focus(const struct lode_search *search, const struct lode_focus *focus,
		     struct lode_buffer *buffer)
{
	static const char *const before[LODE_AXES] = {"", " on ", " in ", " in ", " at "};
	static const enum lode_focus_axis order[LODE_AXES] = {
		LODE_AXIS_CODE, LODE_AXIS_OBJECT, LODE_AXIS_THREAD, LODE_AXIS_PROCESS, LODE_AXIS_HOST};

	if (focus->function == LODE_NONE)
		lode_buffer_text(buffer, "the whole program");
	for (int i = 0; i < LODE_AXES; i++) {
		if (!lode_focus_has(focus, order[i]))
			continue;
		lode_buffer_text(buffer, before[order[i]]);
		put_place(search, focus, order[i], buffer);
	}
}

void lode_hunt_step(const struct lode_search *search, uint32_t id, struct lode_buffer *buffer)
{
	const struct lode_history *history = lode_search_history(search);
	const struct lode_experiment *experiment = &history->experiments[id];
	const struct lode_experiment *parent;

	if (experiment->parent == LODE_NONE) {
		lode_buffer_text(buffer, lode_hypothesis_name(experiment->hypothesis));
		return;
	}
	parent = &history->experiments[experiment->parent];
	if (parent->hypothesis != experiment->hypothesis)
		lode_buffer_text(buffer, lode_hypothesis_name(experiment->hypothesis));
	for (int axis = 0; axis < LODE_AXES; axis++)
		if (lode_focus_on(&experiment->focus, (enum lode_focus_axis)axis) !=
		    lode_focus_on(&parent->focus, (enum lode_focus_axis)axis)) {
			put_place(search, &experiment->focus, (enum lode_focus_axis)axis, buffer);
			return;
		}
}

void lode_hunt_value(enum lode_hypothesis hypothesis, double value, struct lode_buffer *buffer)
{
	if (hypothesis == LODE_SMALL_IO)
		lode_buffer_print(buffer, "%.0f bytes", value);
	else
		lode_buffer_print(buffer, "%.1f%%", 100 * value);
}

void lode_hunt_confidence(double confidence, struct lode_buffer *buffer)
{
	if (confidence > 0.9999)
		lode_buffer_text(buffer, ">99.99%");
	else
		lode_buffer_print(buffer, confidence > 0.999 ? "%.2f%%" : "%.1f%%", 100 * confidence);
}

static void put_verb(const struct lode_experiment *experiment, struct lode_buffer *buffer)
{
	static const char *const verbs[LODE_HYPOTHESES] = {
		[LODE_CPU_BOUND] = " uses the CPU ",
		[LODE_SYNC_WAITING] = " waits for others ",
		[LODE_IO_BLOCKING] = " waits for input and output ",
		[LODE_SMALL_IO] = " moves only ",
	};

	lode_buffer_text(buffer, verbs[experiment->hypothesis]);
	lode_hunt_value(experiment->hypothesis, experiment->value, buffer);
	lode_buffer_text(buffer,
			 experiment->hypothesis == LODE_SMALL_IO ? " in an operation" : " of the time");
}

void lode_hunt_sentence(const struct lode_search *search, uint32_t id, struct lode_buffer *buffer)
{
	const struct lode_experiment *experiment = &lode_search_history(search)->experiments[id];
	uint64_t began = lode_search_began(search);
	char text[LODE_UNITS_TEXT];

	lode_hunt_focus(search, &experiment->focus, buffer);
	put_verb(experiment, buffer);
	lode_buffer_text(buffer, " (threshold ");
	lode_hunt_value(experiment->hypothesis, experiment->threshold, buffer);
	lode_buffer_text(buffer, ", confidence ");
	lode_hunt_confidence(experiment->confidence, buffer);
	lode_buffer_print(buffer, "), found after %s", lode_duration_text(experiment->found - began, text));
	if (experiment->origin == LODE_ORIGIN_DEEP_START)
		lode_buffer_text(buffer, " by a deep start");
	if (experiment->lost)
		lode_buffer_print(buffer, "; no longer after %s",
				  lode_duration_text(experiment->lost - began, text));
	lode_buffer_byte(buffer, '.');
}

const char *lode_hunt_end(const struct lode_search *search)
{
	switch (lode_search_ended(search)) {
	case LODE_SEARCH_PROGRAM_ENDED:
		return "the program ended";
	case LODE_SEARCH_EXHAUSTED:
		return "nothing was left to examine";
	case LODE_SEARCH_TIME_UP:
		return "the time was up";
	case LODE_SEARCH_STOPPED:
		return "it was stopped";
	default:
		return "it goes on";
	}
}
