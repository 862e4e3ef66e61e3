/* The command line as the host of a task: see terminal_host.h. */
#include "cmd/terminal_host.h"

#include "cmd/commands.h"
#include "cmd/ranks.h"
#include "cmd/signals.h"

#include <string.h>

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
	lode_bar_wipe(bar_of(host));
}

static void hold(struct lode_host *host, int held)
{
	(void)host;
	if (held)
		lode_signals_hold();
	else
		lode_signals_release();
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

struct lode_host *lode_terminal_host_init(struct lode_terminal_host *host)
{
	static const struct lode_host_job job = {
		.launched = lode_ranks_launched,
		.expect = lode_ranks_expect,
		.helps = lode_ranks_helps,
		.share = lode_ranks_share,
	};

	memset(host, 0, sizeof(*host));
	host->host = (struct lode_host){
		.begin = begin,
		.pause = pause_bar,
		.hold = hold,
		.stopped = stopped,
		.show = show,
		.say = say,
		.job = &job,
	};
	return &host->host;
}
