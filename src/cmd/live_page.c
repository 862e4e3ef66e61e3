/*
 * A page that shows a result while it grows: see live_page.h. The server has a copy of the result as it is; the
 * command itself never waits for a browser. The server goes on after the command's work, so that the result can be
 * looked at, until Ctrl-C; SIGTERM and SIGHUP end both.
 */
#include "cmd/live_page.h"

#ifdef LODE_HAVE_SERVER

#include "base/clock.h"
#include "cmd/signals.h"
#include "cmd/terminal.h"
#include "page/page.h"
#include "serve/growing_result.h"
#include "serve/server.h"

#include <signal.h>
#include <unistd.h>

#define DEFAULT_PORT     7070
#define BETWEEN_PICTURES 300000000ull

int lode_live_page_check(struct lode_error *error)
{
	return lode_page_is_there(error);
}

static int start(struct lode_live_page *page, const char *title, struct lode_error *error)
{
	uint16_t port = page->shown->port;
	struct lode_server_options options = { .title = title, .port = port ? port : DEFAULT_PORT };
	int code = lode_server_start_growing(&page->server, page->result, &options, error);

	if (code && !port) { /* taken, perhaps by lode serve */
		options.port = 0;
		code = lode_server_start_growing(&page->server, page->result, &options, error);
	}
	return code;
}

int lode_live_page_open(struct lode_live_page *page, const struct lode_call *call,
			const struct lode_shown_result *shown, struct lode_error *error)
{
	struct lode_buffer title = { 0 };
	int code;

	*page = (struct lode_live_page){ .shown = shown };
	code = lode_growing_make(&page->result, shown->block, error);
	lode_buffer_print(&title, "lode %s %s", call->command->name, shown->title);
	if (!code)
		code = title.failed ? lode_fail_memory(error) : start(page, title.bytes, error);
	lode_buffer_release(&title);
	if (code)
		return code;
	lode_say(&call->err, LODE_PLAIN, "the %s is shown at %s to those who have this address",
		 call->command->name, lode_server_address(page->server));
	return 0;
}

int lode_live_page_update(struct lode_live_page *page, int last, struct lode_error *error)
{
	struct lode_buffer json = { 0 };
	int code;

	if (!page->server || (!last && lode_now() - page->published < BETWEEN_PICTURES))
		return 0;
	page->shown->append(page->shown->context, &json);
	code = lode_growing_set(page->result, &json, !last, error);
	page->published = lode_now();
	lode_buffer_release(&json);
	return code;
}

void lode_live_page_stay(struct lode_live_page *page, const struct lode_call *call)
{
	if (!page->server || (lode_signals_stop() && lode_signals_stop() != SIGINT))
		return;
	lode_signals_again();
	lode_say(&call->err, LODE_PLAIN, "the %s is over; its page stays at %s until Ctrl-C", call->command->name,
		 lode_server_address(page->server));
	while (!lode_signals_stop())
		usleep(50000);
	lode_signals_release();
}

void lode_live_page_close(struct lode_live_page *page)
{
	lode_server_end(page->server);
	lode_growing_free(page->result);
}

#else

int lode_live_page_check(struct lode_error *error)
{
	return lode_fail(error, LODE_SYSTEM,
			 "hunt: this lode was built without its server, since libmicrohttpd was missing; use '-o "
			 "hunt.html'");
}

int lode_live_page_open(struct lode_live_page *page, const struct lode_call *call,
			const struct lode_shown_result *shown, struct lode_error *error)
{
	(void)page, (void)call, (void)shown;
	return lode_live_page_check(error);
}

int lode_live_page_update(struct lode_live_page *page, int last, struct lode_error *error)
{
	(void)page, (void)last, (void)error;
	return 0;
}

void lode_live_page_stay(struct lode_live_page *page, const struct lode_call *call)
{
	(void)page, (void)call;
}

void lode_live_page_close(struct lode_live_page *page)
{
	(void)page;
}

#endif
