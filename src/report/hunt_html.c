/*
 * A hunt as a page that stands by itself: see hunt_report.h. The bottlenecks in
 * sentences; a time line of when each was found; the search history graph as a tree
 * that folds, coloured by state.
 */
#include "base/memory.h"
#include "base/units.h"
#include "report/html.h"
#include "report/hunt_report.h"

#include <string.h>

#define LINE_WIDTH  760.0
#define LABEL_WIDTH 420.0
#define ROW_HEIGHT  18.0

static const char style[] =
	"<style>details{border:0;padding:0;margin-left:1.2rem}summary{display:list-item}"
	".e{font-family:ui-monospace,monospace;font-size:.85rem;margin-left:1.2rem}"
	".s{display:inline-block;width:.8em;height:.8em;border:1px solid #8888;margin-right:.4em}"
	".never-run{background:#fff}.running{background:#f0e442}.true{background:#d55e00}.false{background:#"
	"ccc}"
	".deferred{background:#56b4e9}.impossible{background:#666}svg text{font:12px "
	"ui-monospace,monospace;fill:currentColor}"
	"</style>\n";

static void put_html(const struct lode_buffer *text, struct lode_buffer *buffer)
{
	buffer->failed |= text->failed;
	if (!text->failed)
		lode_html_text(buffer, text->bytes, text->size);
}

/* ---- bottlenecks ---- */

static void put_bottlenecks(const struct lode_search *search, const uint32_t *ids, size_t count,
			    size_t specific, struct lode_buffer *buffer)
{
	struct lode_buffer text = {0};

	lode_buffer_text(buffer, count ? "<h2>Bottlenecks, most specific first</h2>\n<ol>\n"
				       : "<h2>No bottleneck was found</h2>\n<ol>\n");
	for (size_t i = 0; i < count; i++) {
		lode_buffer_clear(&text);
		lode_hunt_sentence(search, ids[i], &text);
		lode_buffer_text(buffer, i < specific ? "<li><b>" : "<li class=\"dim\">");
		put_html(&text, buffer);
		lode_buffer_text(buffer, i < specific ? "</b></li>\n" : "</li>\n");
	}
	lode_buffer_text(buffer, "</ol>\n");
	lode_buffer_release(&text);
}

/* ---- when ---- */

/* From when to when an experiment was true, as parts of the hunt. */
static void true_span(const struct lode_search *search, const struct lode_experiment *experiment,
		      double *from, double *to)
{
	double lasted = (double)lode_search_lasted(search) + 1;
	uint64_t began = lode_search_began(search);

	*from = (double)(experiment->found - began) / lasted;
	*to = experiment->lost ? (double)(experiment->lost - began) / lasted : 1;
}

static void put_time_line(const struct lode_search *search, const uint32_t *ids, size_t count,
			  struct lode_buffer *buffer)
{
	const struct lode_history *history = lode_search_history(search);
	double height = ROW_HEIGHT * (double)(count + 2);
	struct lode_buffer label = {0};
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(buffer,
			  "<h2>When they were found</h2>\n<div style=\"overflow-x:auto\"><svg width=\"%.0f\" "
			  "height=\"%.0f\" role=\"img\">\n",
			  LINE_WIDTH + LABEL_WIDTH, height);
	for (size_t i = 0; i < count; i++) {
		const struct lode_experiment *experiment = &history->experiments[ids[i]];
		double from, to, y = ROW_HEIGHT * (double)(i + 1);

		true_span(search, experiment, &from, &to);
		lode_buffer_clear(&label);
		lode_buffer_print(&label, "%s ", lode_hypothesis_name(experiment->hypothesis));
		lode_hunt_focus(search, &experiment->focus, &label);
		lode_buffer_print(
			buffer,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\" fill=\"%s\"><title>",
			from * LINE_WIDTH, y - 11, (to - from) * LINE_WIDTH + 1,
			experiment->origin == LODE_ORIGIN_DEEP_START ? "#0072b2" : "#d55e00");
		lode_buffer_print(buffer, "%s",
				  lode_duration_text(experiment->found - lode_search_began(search), text));
		lode_buffer_print(buffer, "</title></rect><text x=\"%.1f\" y=\"%.1f\">", LINE_WIDTH + 8, y);
		put_html(&label, buffer);
		lode_buffer_text(buffer, "</text>\n");
	}
	lode_buffer_print(buffer,
			  "<text x=\"0\" y=\"%.1f\">0</text><text x=\"%.1f\" y=\"%.1f\" "
			  "text-anchor=\"end\">%s</text></svg></div>\n"
			  "<p class=\"dim\">Blue: found by a deep start.</p>\n",
			  height - 4, LINE_WIDTH, height - 4,
			  lode_duration_text(lode_search_lasted(search), text));
	lode_buffer_release(&label);
}

/* ---- the graph ---- */

static void put_facts(const struct lode_search *search, const struct lode_experiment *experiment,
		      struct lode_buffer *buffer)
{
	char text[LODE_UNITS_TEXT];

	if (experiment->runs) {
		lode_buffer_byte(buffer, ' ');
		lode_hunt_measured(experiment, buffer);
	}
	lode_buffer_print(buffer, " <span class=\"dim\">%s, %s",
			  lode_experiment_state_name(experiment->state),
			  lode_experiment_origin_name(experiment->origin));
	if (experiment->concluded) {
		lode_buffer_text(buffer, ", confidence ");
		lode_buffer_print(
			buffer, "%.2f%%, at %s", 100 * experiment->confidence,
			lode_duration_text(experiment->concluded - lode_search_began(search), text));
	}
	if (experiment->not_probed) {
		lode_buffer_text(buffer, "; not probed: ");
		lode_html_text(buffer, experiment->not_probed, strlen(experiment->not_probed));
	}
	if (experiment->why) {
		lode_buffer_text(buffer, "; ");
		lode_html_text(buffer, experiment->why, strlen(experiment->why));
	}
	lode_buffer_text(buffer, "</span>");
}

static void put_node(const struct lode_search *search, uint32_t id, struct lode_buffer *buffer)
{
	const struct lode_experiment *experiment = &lode_search_history(search)->experiments[id];
	struct lode_buffer label = {0};

	lode_hunt_step(search, id, &label);
	lode_buffer_print(buffer, "<span class=\"s %s\"></span>",
			  lode_experiment_state_name(experiment->state));
	put_html(&label, buffer);
	put_facts(search, experiment, buffer);
	lode_buffer_release(&label);
}

/* Opens an element for the node; one that has children is closed when they are done. */
static void open_node(const struct lode_search *search, uint32_t id, struct lode_buffer *buffer)
{
	const struct lode_experiment *experiment = &lode_search_history(search)->experiments[id];
	int has_children = experiment->first_child != LODE_NONE;

	if (has_children)
		lode_buffer_text(buffer, experiment->found ? "<details open><summary class=\"e\">"
							   : "<details><summary class=\"e\">");
	else
		lode_buffer_text(buffer, "<div class=\"e\">");
	put_node(search, id, buffer);
	lode_buffer_text(buffer, has_children ? "</summary>\n" : "</div>\n");
}

static void put_graph(const struct lode_search *search, struct lode_buffer *buffer)
{
	const struct lode_history *history = lode_search_history(search);
	uint32_t id = history->first_root;

	lode_buffer_text(buffer, "<h2>The search</h2>\n<p>");
	for (int state = 0; state < LODE_EXPERIMENT_STATES; state++)
		lode_buffer_print(buffer, "<span class=\"s %s\"></span>%s &nbsp; ",
				  lode_experiment_state_name((enum lode_experiment_state)state),
				  lode_experiment_state_name((enum lode_experiment_state)state));
	lode_buffer_text(buffer, "</p>\n");
	while (id != LODE_NONE) {
		open_node(search, id, buffer);
		if (history->experiments[id].first_child != LODE_NONE) {
			id = history->experiments[id].first_child;
			continue;
		}
		while (id != LODE_NONE && history->experiments[id].next_sibling == LODE_NONE) {
			id = history->experiments[id].parent;
			if (id != LODE_NONE)
				lode_buffer_text(buffer, "</details>\n");
		}
		if (id != LODE_NONE)
			id = history->experiments[id].next_sibling;
	}
}

void lode_hunt_html(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	const struct lode_search *search = report->search;
	struct lode_meter *meter = lode_search_meter(search);
	size_t count, specific;
	uint32_t *ids = lode_hunt_bottlenecks(search, &count, &specific);
	char text[LODE_UNITS_TEXT];

	buffer->failed |= !ids;
	lode_html_begin(buffer, report->target);
	lode_buffer_text(buffer, style);
	lode_buffer_text(buffer, "<h1>");
	lode_html_text(buffer, report->target, strlen(report->target));
	lode_buffer_print(buffer, ": where its time goes</h1>\n<p>Hunted for %s, until %s; ",
			  lode_duration_text(lode_search_lasted(search), text), lode_hunt_end(search));
	lode_buffer_print(buffer, "%s experiments, ",
			  lode_count_text(lode_search_history(search)->count, text));
	lode_buffer_print(buffer, "%s samples; measuring took %.2f%% of the program's time.</p>\n",
			  lode_count_text(lode_search_counts(search)->samples, text),
			  100 * meter->operations->cost(meter));
	if (ids) {
		put_bottlenecks(search, ids, count, specific, buffer);
		put_time_line(search, ids, count, buffer);
	}
	put_graph(search, buffer);
	lode_html_end(buffer);
	lode_free(ids);
}
