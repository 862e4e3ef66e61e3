/*
 * lode hunt --serve: see hunt_progress.h. The server has a copy of the hunt's result as it is;
 * the hunt itself never waits for a browser. The server goes on after the hunt, so that
 * the result can be looked at, until Ctrl-C; SIGTERM and SIGHUP end both.
 */
#include "cmd/hunt_live.h"

#include "page/hunt_page.h"
#include "page/page.h"

#ifdef LODE_HAVE_SERVER

#include "base/clock.h"
#include "cmd/signals.h"
#include "serve/growing_result.h"
#include "serve/server.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define DEFAULT_PORT     7070
#define BETWEEN_PICTURES 300000000ull

int lode_hunt_live_check(struct lode_error *error)
{
	return lode_page_is_there(error);
}

static int start(struct lode_hunt_live *live, const char *title, uint16_t port, struct lode_error *error)
{
	struct lode_server_options options = { .title = title, .port = port ? port : DEFAULT_PORT };
	int code = lode_server_start_growing(&live->server, live->live, &options, error);

	if (code && !port) { /* taken, perhaps by lode serve */
		options.port = 0;
		code = lode_server_start_growing(&live->server, live->live, &options, error);
	}
	return code;
}

int lode_hunt_live_open(struct lode_hunt_live *live, const struct lode_call *call, const char *target,
			uint16_t port, struct lode_error *error)
{
	struct lode_buffer title = { 0 };
	int code = lode_growing_make(&live->live, "hunt", error);

	lode_buffer_print(&title, "lode hunt %s", target);
	if (!code)
		code = title.failed ? lode_fail_memory(error) : start(live, title.bytes, port, error);
	lode_buffer_release(&title);
	if (code)
		return code;
	lode_say(&call->err, LODE_PLAIN, "the hunt is shown at %s to those who have this address",
		 lode_server_address(live->server));
	return 0;
}

int lode_hunt_live_update(struct lode_hunt_live *live, const struct lode_hunt_report *report, int last,
			  struct lode_error *error)
{
	struct lode_buffer json = { 0 };
	int code;

	if (!live->server || (!last && lode_now() - live->published < BETWEEN_PICTURES))
		return 0;
	lode_hunt_page_json(report, &json);
	code = lode_growing_set(live->live, &json, !last, error);
	live->published = lode_now();
	lode_buffer_release(&json);
	return code;
}

void lode_hunt_live_stay(struct lode_hunt_live *live, const struct lode_call *call)
{
	if (!live->server || (lode_signals_stop() && lode_signals_stop() != SIGINT))
		return;
	lode_signals_again();
	lode_say(&call->err, LODE_PLAIN, "the hunt is over; its page stays at %s until Ctrl-C",
		 lode_server_address(live->server));
	while (!lode_signals_stop())
		usleep(50000);
	lode_signals_release();
}

void lode_hunt_live_close(struct lode_hunt_live *live)
{
	lode_server_end(live->server);
	lode_growing_free(live->live);
}

#else

int lode_hunt_live_check(struct lode_error *error)
{
	return lode_fail(error, LODE_SYSTEM,
			 "hunt: this lode was built without its server, since libmicrohttpd was missing; use '-o "
			 "hunt.html'");
}

int lode_hunt_live_open(struct lode_hunt_live *live, const struct lode_call *call, const char *target,
			uint16_t port, struct lode_error *error)
{
	(void)live, (void)call, (void)target, (void)port;
	return lode_hunt_live_check(error);
}

int lode_hunt_live_update(struct lode_hunt_live *live, const struct lode_hunt_report *report, int last,
			  struct lode_error *error)
{
	(void)live, (void)report, (void)last, (void)error;
	return 0;
}

void lode_hunt_live_stay(struct lode_hunt_live *live, const struct lode_call *call)
{
	(void)live, (void)call;
}

void lode_hunt_live_close(struct lode_hunt_live *live)
{
	(void)live;
}

#endif
