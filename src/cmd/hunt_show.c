/*
 * A hunt while it goes on: see hunt.h. On a terminal the search history graph is
 * drawn again a few times a second (text/hunt_progress.h), elsewhere, with --all, each verdict is a line.
 * With --json each change is a line of JSON on standard output, and nothing is drawn.
 */
#include "cmd/hunt.h"

#include "base/file.h"
#include "cmd/progress_line.h"
#include "text/hunt_progress.h"

#include <stdio.h>

#define BETWEEN_DRAWINGS 250000000ull

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

static int draw(struct lode_hunt_view *view, struct lode_error *error)
{
	const struct lode_terminal *err = &view->call->err;
	struct lode_look look = err->look;
	struct lode_buffer text = { 0 };
	int code;

	look.width = lode_terminal_width(err->fd) - 1;
	if (view->drawn)
		lode_buffer_print(&text, "\033[%uA\r", view->drawn);
	view->drawn = lode_hunt_drawing(view->report, &look, err->height > 4 ? err->height - 2 : 20, &text);
	lode_buffer_text(&text, "\033[J");
	code = text.failed ? lode_fail_memory(error)
			   : lode_file_write(err->fd, text.bytes, text.size, "standard error", error);
	view->drawn_at = lode_now();
	lode_buffer_release(&text);
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
	if (!code && view->enabled && view->call->err.look.is_terminal &&
	    lode_now() - view->drawn_at >= BETWEEN_DRAWINGS)
		code = draw(view, error);
	return code;
}
