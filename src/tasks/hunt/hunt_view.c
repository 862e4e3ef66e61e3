/*
 * A hunt while it goes on: see hunt.h. On a terminal the host draws the search history graph again a few times a
 * second (text/hunt_progress.h), elsewhere, with --all, each verdict is a line. With --json each change is a line of
 * JSON on standard output, and nothing is drawn.
 */
#include "tasks/hunt/hunt.h"

#include "base/file.h"
#include "text/hunt_progress.h"

void lode_hunt_view_init(struct lode_hunt_view *view, const struct lode_call *call,
			 const struct lode_hunt_report *report, int json, int all)
{
	*view = (struct lode_hunt_view){ .call = call, .report = report, .json = json, .all = all };
	view->enabled = !json && !call->quiet;
}

void lode_hunt_view_release(struct lode_hunt_view *view)
{
	lode_buffer_release(&view->lines);
}

void lode_hunt_view_changed(void *context, uint32_t experiment)
{
	struct lode_hunt_view *view = context;

	if (view->json)
		lode_hunt_line(view->report, experiment, &view->lines);
	else if (view->enabled && view->all && !view->call->err.look.is_terminal)
		lode_hunt_news(view->report, experiment, &view->lines);
}

static unsigned draw(void *context, const struct lode_look *look, unsigned most, struct lode_buffer *lines)
{
	const struct lode_hunt_view *view = context;

	return lode_hunt_drawing(view->report, look, most, lines);
}

static void show_status(struct lode_hunt_view *view)
{
	const struct lode_call *call = view->call;
	const struct lode_search *search = view->report->search;
	struct lode_status status = { .phase = "hunting", .unit = "experiments", .drawing = draw, .context = view };

	status.done = search ? lode_search_history(search)->count : 0;
	if (view->enabled || call->host->collects)
		call->host->status(call->host, call, &status);
}

static int write_lines(struct lode_hunt_view *view, struct lode_error *error)
{
	const struct lode_call *call = view->call;

	if (view->json && call->host->collects)
		return lode_call_show(call, &view->lines, error);
	return lode_file_write(view->json ? call->out.fd : call->err.fd, view->lines.bytes, view->lines.size,
			       view->json ? "standard output" : "standard error", error);
}

int lode_hunt_view_update(struct lode_hunt_view *view, struct lode_error *error)
{
	int code = 0;

	if (view->lines.failed)
		return lode_fail_memory(error);
	if (view->lines.size)
		code = write_lines(view, error);
	lode_buffer_clear(&view->lines);
	if (!code)
		show_status(view);
	return code;
}
