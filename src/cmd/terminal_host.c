/* The command line as the host of a task: see terminal_host.h. */
#include "cmd/terminal_host.h"

#include "base/file.h"
#include "cmd/commands.h"
#include "cmd/open_files.h"
#include "cmd/push_process.h"
#include "cmd/ranks.h"
#include "cmd/signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_EVERY  500000000u /* ns */
#define DRAWING_EVERY 250000000u

static struct lode_bar *bar_of(struct lode_host *host)
{
	return &((struct lode_terminal_host *)host)->bar;
}

static const struct lode_progress *begin(struct lode_host *host, const struct lode_call *call)
{
	lode_bar_init(bar_of(host), &call->err, call->quiet);
	return &bar_of(host)->progress;
}

static void pause_bar(struct lode_host *host)
{
	struct lode_terminal_host *terminal = (struct lode_terminal_host *)host;

	lode_bar_wipe(bar_of(host));
	if (terminal->status_lines)
		dprintf(terminal->status_fd, "\033[%uA\r\033[J", terminal->status_lines);
	else if (terminal->status_fd >= 0)
		dprintf(terminal->status_fd, "\r\033[K");
	terminal->status_fd = -1;
	terminal->status_lines = 0;
}

static void hold(struct lode_host *host, enum lode_stop hold)
{
	(void)host;
	if (hold == LODE_STOP_WHEN_DONE)
		lode_signals_hold_for_good();
	else if (hold == LODE_STOP_SOON)
		lode_signals_hold();
	else
		lode_signals_release();
}

static void draw_line(const struct lode_status *status, int fd)
{
	struct lode_buffer line = { 0 };

	status->line(status->context, &line);
	if (!line.failed)
		dprintf(fd, "\r%.*s\033[K", (int)line.size, line.bytes);
	lode_buffer_release(&line);
}

/* Over the lines that were drawn before. */
static void draw_lines(struct lode_terminal_host *terminal, const struct lode_status *status,
		       const struct lode_terminal *err)
{
	struct lode_look look = err->look;
	struct lode_buffer text = { 0 };
	unsigned lines;

	look.width = lode_terminal_width(err->fd) - 1;
	if (terminal->status_lines)
		lode_buffer_print(&text, "\033[%uA\r", terminal->status_lines);
	lines = status->drawing(status->context, &look, err->height > 4 ? err->height - 2 : 20, &text);
	lode_buffer_text(&text, "\033[J");
	if (!text.failed) {
		lode_file_write(err->fd, text.bytes, text.size, "standard error", NULL);
		terminal->status_lines = lines;
	}
	lode_buffer_release(&text);
}

static void status(struct lode_host *host, const struct lode_call *call, const struct lode_status *status)
{
	struct lode_terminal_host *terminal = (struct lode_terminal_host *)host;
	uint64_t now = lode_now();

	if (!call->err.look.is_terminal || call->quiet ||
	    now - terminal->status_at < (status->drawing ? DRAWING_EVERY : STATUS_EVERY))
		return;
	if (status->drawing)
		draw_lines(terminal, status, &call->err);
	else
		draw_line(status, call->err.fd);
	terminal->status_fd = call->err.fd;
	terminal->status_at = now;
}

static int stopped(struct lode_host *host)
{
	(void)host;
	return lode_signals_stop();
}

static int show(struct lode_host *host, const struct lode_call *call, const struct lode_buffer *results,
		struct lode_error *error)
{
	(void)host;
	return lode_show(&call->out, results, error);
}

static void say(struct lode_host *host, const struct lode_call *call, enum lode_style style, const char *text)
{
	(void)host;
	lode_say(&call->err, style, "%s", text);
}

static char *ask(struct lode_host *host, const struct lode_call *call, const struct lode_question *question)
{
	struct lode_terminal_host *terminal = (struct lode_terminal_host *)host;

	(void)call;
	return lode_line_editor_ask(&terminal->editor, question);
}

static void go_on(struct lode_host *host)
{
	(void)host;
	lode_signals_again();
}

static struct lode_live_page *page_of(struct lode_host *host)
{
	return &((struct lode_terminal_host *)host)->page;
}

static int open_page(struct lode_host *host, const struct lode_call *call, const struct lode_shown_result *shown,
		     struct lode_error *error)
{
	return lode_live_page_open(page_of(host), call, shown, error);
}

static int update_page(struct lode_host *host, int last, struct lode_error *error)
{
	return lode_live_page_update(page_of(host), last, error);
}

static void stay_with_page(struct lode_host *host, const struct lode_call *call)
{
	lode_live_page_stay(page_of(host), call);
}

static void close_page(struct lode_host *host)
{
	lode_live_page_close(page_of(host));
}

static void restore(const struct lode_host *host)
{
	(void)host;
	lode_signals_restore();
	lode_open_files_restore();
}

/* `LODE_KEEP=cache` or `nothing`, for programs that run commands on a corpus that is not theirs to change (serve/jobs.c). */
static enum lode_keep find_keep(void)
{
	const char *text = getenv("LODE_KEEP");

	if (text && !strcmp(text, "cache"))
		return LODE_KEEP_CACHE;
	return text && !strcmp(text, "nothing") ? LODE_KEEP_NOTHING : LODE_KEEP_ALL;
}

struct lode_host *lode_terminal_host_init(struct lode_terminal_host *host)
{
	static const struct lode_host_job job = {
		.launched = lode_ranks_launched,
		.expect = lode_ranks_expect,
		.helps = lode_ranks_helps,
		.share = lode_ranks_share,
		.served = lode_ranks_served,
	};

	static const struct lode_host_commands commands = {
		.restore = restore,
		.started = lode_signals_command,
	};

	static const struct lode_host_pusher pusher = {
		.check = lode_push_process_check,
		.send = lode_push_process_send,
	};

	static const struct lode_host_page page = {
		.check = lode_live_page_check,
		.open = open_page,
		.update = update_page,
		.stay = stay_with_page,
		.close = close_page,
	};

	memset(host, 0, sizeof(*host));
	host->status_fd = -1;
	host->host = (struct lode_host){
		.keep = find_keep(),
		.begin = begin,
		.pause = pause_bar,
		.hold = hold,
		.status = status,
		.stopped = stopped,
		.show = show,
		.say = say,
		.ask = ask,
		.go_on = go_on,
		.job = &job,
		.commands = &commands,
		.pusher = &pusher,
		.page = &page,
	};
	return &host->host;
}
