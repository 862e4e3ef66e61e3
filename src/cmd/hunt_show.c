/*
 * A hunt while it goes on: see hunt.h. On a terminal the search history graph is
 * drawn anew a few times a second: what is true, runs or waits, in its tree; what was
 * false is counted. Elsewhere each verdict is a line. With --json each change is a
 * line of JSON on standard output, and nothing is drawn.
 */
#include "cmd/hunt.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/units.h"
#include "cmd/progress.h"

#include <stdio.h>

#define BETWEEN_DRAWINGS 250000000ull

void lode_hunt_view_init(struct lode_hunt_view *view, const struct lode_call *call,
			 const struct lode_hunt_report *report, int json)
{
	*view = (struct lode_hunt_view){.call = call, .report = report, .json = json};
	view->enabled = !json && !call->quiet;
}

void lode_hunt_view_release(struct lode_hunt_view *view)
{
	lode_buffer_release(&view->lines);
}

/* ---- lines ---- */

/* What is worth a line: true, true no longer, too costly. */
static int is_news(const struct lode_experiment *experiment, double limit)
{
	if (experiment->state == LODE_EXPERIMENT_DEFERRED)
		return experiment->cost > limit || experiment->runs;
	return experiment->state == LODE_EXPERIMENT_TRUE ||
	       (experiment->state == LODE_EXPERIMENT_FALSE &&
		(experiment->found || experiment->parent == LODE_NONE));
}

/* `  1.2s true  CPUbound app!main 98.0% (deep-start)` */
static void put_plain_line(struct lode_hunt_view *view, uint32_t id)
{
	const struct lode_search *search = view->report->search;
	const struct lode_experiment *experiment = &lode_search_history(search)->experiments[id];
	char text[LODE_UNITS_TEXT];

	if (!is_news(experiment, lode_search_options(search)->cost))
		return;
	lode_buffer_print(&view->lines, "%7s %-9s %s ", lode_duration_text(lode_search_lasted(search), text),
			  lode_experiment_state_name(experiment->state),
			  lode_hypothesis_name(experiment->hypothesis));
	lode_hunt_focus(search, &experiment->focus, &view->lines);
	if (experiment->runs) {
		lode_buffer_byte(&view->lines, ' ');
		lode_hunt_measured(experiment, &view->lines);
	}
	if (experiment->origin != LODE_ORIGIN_CALL_GRAPH)
		lode_buffer_print(&view->lines, " (%s)", lode_experiment_origin_name(experiment->origin));
	if (experiment->why)
		lode_buffer_print(&view->lines, ": %s", experiment->why);
	lode_buffer_byte(&view->lines, '\n');
}

void lode_hunt_view_changed(void *context, uint32_t experiment)
{
	struct lode_hunt_view *view = context;

	if (view->json)
		lode_hunt_line(view->report, experiment, &view->lines);
	else if (view->enabled && !view->call->err.is_terminal)
		put_plain_line(view, experiment);
}

/* ---- the tree ---- */

struct drawing {
	struct lode_hunt_view *view;
	struct lode_buffer text;
	unsigned lines;
	unsigned most; /* lines there is room for */
	unsigned width;
	unsigned hidden; /* nodes that found none */
};

static const struct lode_history *history_of(const struct drawing *drawing)
{
	return lode_search_history(drawing->view->report->search);
}

static enum lode_style style_of(enum lode_experiment_state state)
{
	switch (state) {
	case LODE_EXPERIMENT_TRUE:
		return LODE_RED;
	case LODE_EXPERIMENT_RUNNING:
		return LODE_YELLOW;
	case LODE_EXPERIMENT_DEFERRED:
		return LODE_BLUE;
	default:
		return LODE_DIM;
	}
}

static const char *mark_of(const struct drawing *drawing, enum lode_experiment_state state)
{
	static const char *const plain[LODE_EXPERIMENT_STATES] = {".", "?", "+", "-", "$", "x"};
	static const char *const wide[LODE_EXPERIMENT_STATES] = {"·", "◌", "●", "○", "◔", "×"};

	return drawing->view->call->err.utf8 ? wide[state] : plain[state];
}

/* What is worth a line: all but what was false and led to nothing. */
static int is_shown(const struct drawing *drawing, uint32_t id)
{
	const struct lode_experiment *experiment = &history_of(drawing)->experiments[id];

	return experiment->parent == LODE_NONE || experiment->first_child != LODE_NONE ||
	       experiment->state == LODE_EXPERIMENT_TRUE || experiment->state == LODE_EXPERIMENT_RUNNING ||
	       experiment->state == LODE_EXPERIMENT_DEFERRED;
}

static void put_facts(const struct lode_search *search, const struct lode_experiment *experiment,
		      struct lode_buffer *line)
{
	char text[LODE_UNITS_TEXT];

	if (experiment->runs) {
		lode_buffer_byte(line, ' ');
		lode_hunt_measured(experiment, line);
	}
	if (experiment->found)
		lode_buffer_print(line, "  %s",
				  lode_duration_text(experiment->found - lode_search_began(search), text));
	if (experiment->origin != LODE_ORIGIN_CALL_GRAPH)
		lode_buffer_print(line, "  %s", lode_experiment_origin_name(experiment->origin));
	if (experiment->state == LODE_EXPERIMENT_DEFERRED && experiment->cost >= 0)
		lode_buffer_print(line, "  cost %.1f%%", 100 * experiment->cost);
}

static void put_false_children(const struct drawing *drawing, uint32_t id, struct lode_buffer *line)
{
	const struct lode_history *history = history_of(drawing);
	unsigned count = 0;

	for (uint32_t child = history->experiments[id].first_child; child != LODE_NONE;
	     child = history->experiments[child].next_sibling)
		count += history->experiments[child].state == LODE_EXPERIMENT_FALSE &&
			 !is_shown(drawing, child);
	if (count)
		lode_buffer_print(line, "  (%u false)", count);
}

/* Adds one line to the drawing, cut to the terminal's width. */
static void add_line(struct drawing *drawing, enum lode_style style, struct lode_buffer *line)
{
	const struct lode_terminal *err = &drawing->view->call->err;

	lode_buffer_byte(line, '\0');
	if (line->failed) {
		drawing->text.failed = 1;
		return;
	}
	lode_buffer_text(&drawing->text, lode_style(err, style));
	if (lode_text_width(line->bytes) > drawing->width)
		lode_text_column(&drawing->text, line->bytes, drawing->width);
	else
		lode_text_safe(&drawing->text, line->bytes);
	lode_buffer_text(&drawing->text, lode_style(err, LODE_PLAIN));
	lode_buffer_text(&drawing->text, "\033[K\n");
	drawing->lines++;
}

static void add_node(struct drawing *drawing, uint32_t id, unsigned depth)
{
	const struct lode_search *search = drawing->view->report->search;
	const struct lode_experiment *experiment = &history_of(drawing)->experiments[id];
	struct lode_buffer line = {0};

	if (drawing->lines + 1 >= drawing->most) {
		drawing->hidden++;
		return;
	}
	for (unsigned i = 0; i < depth; i++)
		lode_buffer_text(&line, "  ");
	lode_buffer_print(&line, "%s ", mark_of(drawing, experiment->state));
	lode_hunt_step(search, id, &line);
	put_facts(search, experiment, &line);
	put_false_children(drawing, id, &line);
	add_line(drawing, style_of(experiment->state), &line);
	lode_buffer_release(&line);
}

/* Nodes in the order of the tree. */
static void add_tree(struct drawing *drawing)
{
	const struct lode_history *history = history_of(drawing);
	uint32_t id = history->first_root;
	unsigned depth = 0;

	while (id != LODE_NONE) {
		if (is_shown(drawing, id))
			add_node(drawing, id, depth);
		if (history->experiments[id].first_child != LODE_NONE) {
			id = history->experiments[id].first_child;
			depth++;
			continue;
		}
		while (id != LODE_NONE && history->experiments[id].next_sibling == LODE_NONE) {
			id = history->experiments[id].parent;
			depth--;
		}
		if (id != LODE_NONE)
			id = history->experiments[id].next_sibling;
	}
}

static void add_head(struct drawing *drawing)
{
	const struct lode_search *search = drawing->view->report->search;
	const struct lode_history *history = history_of(drawing);
	unsigned states[LODE_EXPERIMENT_STATES] = {0};
	struct lode_buffer line = {0};
	char text[LODE_UNITS_TEXT];

	for (size_t i = 0; i < history->count; i++)
		states[history->experiments[i].state]++;
	lode_buffer_print(&line, "hunting for %s: %u true, %u running, %u false, %u waiting; ",
			  lode_duration_text(lode_search_lasted(search), text), states[LODE_EXPERIMENT_TRUE],
			  states[LODE_EXPERIMENT_RUNNING], states[LODE_EXPERIMENT_FALSE],
			  states[LODE_EXPERIMENT_NEVER_RUN] + states[LODE_EXPERIMENT_DEFERRED]);
	lode_buffer_print(&line, "cost %.1f%% of %.0f%%, %s samples", 100 * lode_search_cost(search),
			  100 * lode_search_options(search)->cost,
			  lode_count_text(lode_search_counts(search)->samples, text));
	add_line(drawing, LODE_BOLD, &line);
	lode_buffer_release(&line);
}

static void add_foot(struct drawing *drawing)
{
	struct lode_buffer line = {0};

	if (!drawing->hidden)
		return;
	lode_buffer_print(&line, "... and %u more", drawing->hidden);
	add_line(drawing, LODE_DIM, &line);
	lode_buffer_release(&line);
}

static int draw(struct lode_hunt_view *view, struct lode_error *error)
{
	const struct lode_terminal *err = &view->call->err;
	struct drawing drawing = {.view = view, .most = err->height > 4 ? err->height - 2 : 20};
	int code;

	drawing.width = lode_terminal_width(err->fd) - 1;
	if (view->drawn)
		lode_buffer_print(&drawing.text, "\033[%uA\r", view->drawn);
	add_head(&drawing);
	add_tree(&drawing);
	add_foot(&drawing);
	lode_buffer_text(&drawing.text, "\033[J");
	code = drawing.text.failed ? lode_fail_memory(error)
				   : lode_file_write(err->fd, drawing.text.bytes, drawing.text.size,
						     "standard error", error);
	view->drawn = drawing.lines;
	view->drawn_at = lode_now();
	lode_buffer_release(&drawing.text);
	return code;
}

void lode_hunt_view_wipe(struct lode_hunt_view *view)
{
	if (view->drawn)
		dprintf(view->call->err.fd, "\033[%uA\r\033[J", view->drawn);
	view->drawn = 0;
}

int lode_hunt_view_update(struct lode_hunt_view *view, struct lode_error *error)
{
	int fd = view->json ? view->call->out.fd : view->call->err.fd, code = 0;
	const char *name = view->json ? "standard output" : "standard error";

	if (view->lines.failed)
		return lode_fail_memory(error);
	if (view->lines.size)
		code = lode_file_write(fd, view->lines.bytes, view->lines.size, name, error);
	lode_buffer_clear(&view->lines);
	if (!code && view->enabled && view->call->err.is_terminal &&
	    lode_now() - view->drawn_at >= BETWEEN_DRAWINGS)
		code = draw(view, error);
	return code;
}
