/* A hunt while it goes on, as text: see hunt_progress.h. */
#include "text/hunt_progress.h"

#include "base/safe_text.h"
#include "base/units.h"
#include "text/hunt_text.h"
#include "text/tree_lines.h"

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

void lode_hunt_news(const struct lode_hunt_report *report, uint32_t id, struct lode_buffer *buffer)
{
	const struct lode_search *search = report->search;
	const struct lode_experiment *experiment = &lode_search_history(search)->experiments[id];
	char text[LODE_UNITS_TEXT];

	if (!is_news(experiment, lode_search_options(search)->cost))
		return;
	lode_buffer_print(buffer, "%7s %-9s ", lode_duration_text(lode_search_lasted(search), text),
			  lode_experiment_state_name(experiment->state));
	lode_hunt_focus(search, &experiment->focus, buffer);
	lode_buffer_print(buffer, " %s", lode_hunt_claim(experiment->hypothesis));
	if (experiment->runs) {
		lode_buffer_byte(buffer, ' ');
		lode_hunt_measured(experiment, buffer);
	}
	if (lode_hunt_origin(experiment->origin))
		lode_buffer_print(buffer, " (%s)", lode_hunt_origin(experiment->origin));
	if (experiment->why)
		lode_buffer_print(buffer, ": %s", experiment->why);
	lode_buffer_byte(buffer, '\n');
}

/* ---- the tree ---- */

struct drawing {
	const struct lode_search *search;
	const struct lode_look *look;
	struct lode_buffer *buffer;
	unsigned lines;
	unsigned most;   /* lines there is room for */
	unsigned hidden; /* nodes that found none */
};

static const struct lode_history *history_of(const struct drawing *drawing)
{
	return lode_search_history(drawing->search);
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
	if (lode_hunt_origin(experiment->origin))
		lode_buffer_print(line, "  %s", lode_hunt_origin(experiment->origin));
	if (experiment->state == LODE_EXPERIMENT_DEFERRED && experiment->cost >= 0)
		lode_buffer_print(line, "  cost %.1f%%", 100 * experiment->cost);
}

static void put_false_children(const struct drawing *drawing, uint32_t id, struct lode_buffer *line)
{
	const struct lode_history *history = history_of(drawing);
	unsigned count = 0;

	for (uint32_t child = history->experiments[id].first_child; child != LODE_NONE;
	     child = history->experiments[child].next_sibling)
		count += history->experiments[child].state == LODE_EXPERIMENT_FALSE && !is_shown(drawing, child);
	if (count)
		lode_buffer_print(line, "  (%u false)", count);
}

/* Adds one line to the drawing, cut to the terminal's width. */
static void add_line(struct drawing *drawing, enum lode_style style, struct lode_buffer *line)
{
	lode_buffer_byte(line, '\0');
	if (line->failed) {
		drawing->buffer->failed = 1;
		return;
	}
	lode_buffer_text(drawing->buffer, lode_style(drawing->look, style));
	if (lode_text_width(line->bytes) > drawing->look->width)
		lode_text_column(drawing->buffer, line->bytes, drawing->look->width);
	else
		lode_text_safe(drawing->buffer, line->bytes);
	lode_buffer_text(drawing->buffer, lode_style(drawing->look, LODE_PLAIN));
	lode_buffer_text(drawing->buffer, "\033[K\n");
	drawing->lines++;
}

static void add_node(struct drawing *drawing, uint32_t id, unsigned depth)
{
	const struct lode_search *search = drawing->search;
	const struct lode_experiment *experiment = &history_of(drawing)->experiments[id];
	struct lode_buffer line = { 0 };

	if (drawing->lines + 1 >= drawing->most) {
		drawing->hidden++;
		return;
	}
	lode_tree_line(&line, depth);
	lode_buffer_print(&line, "%s ", lode_hunt_mark(experiment->state, drawing->look->utf8));
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
	unsigned depth = 0;

	for (uint32_t id = history->first_root; id != LODE_NONE; id = lode_hunt_next(history, id, &depth))
		if (is_shown(drawing, id))
			add_node(drawing, id, depth);
}

static void add_head(struct drawing *drawing)
{
	const struct lode_search *search = drawing->search;
	const struct lode_history *history = history_of(drawing);
	unsigned states[LODE_EXPERIMENT_STATES] = { 0 };
	struct lode_buffer line = { 0 };
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
	struct lode_buffer line = { 0 };

	if (!drawing->hidden)
		return;
	lode_buffer_print(&line, "... and %u more", drawing->hidden);
	add_line(drawing, LODE_DIM, &line);
	lode_buffer_release(&line);
}

unsigned lode_hunt_drawing(const struct lode_hunt_report *report, const struct lode_look *look, unsigned most,
			   struct lode_buffer *buffer)
{
	struct drawing drawing = { .search = report->search, .look = look, .buffer = buffer, .most = most };

	add_head(&drawing);
	add_tree(&drawing);
	add_foot(&drawing);
	return drawing.lines;
}
