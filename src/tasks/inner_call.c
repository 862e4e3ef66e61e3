/* A task inside another: see inner_call.h. Its host (host.h) hands on to the outer task's what concerns both. */
#include "tasks/inner_call.h"

struct inner {
	struct lode_host host; /* first, so that a host is an inner one */
	struct lode_host *outer;
	const struct lode_progress *progress;
	struct lode_buffer *result;
};

static const struct lode_progress *begin(struct lode_host *host, const struct lode_call *call)
{
	(void)call;
	return ((struct inner *)host)->progress;
}

/* The outer task's bar stays, and so does how it is stopped. */
static void pause_nothing(struct lode_host *host)
{
	(void)host;
}

static void hold_nothing(struct lode_host *host, enum lode_stop stop)
{
	(void)host, (void)stop;
}

static void show_no_status(struct lode_host *host, const struct lode_call *call, const struct lode_status *status)
{
	(void)host, (void)call, (void)status;
}

static int stopped(struct lode_host *host)
{
	struct lode_host *outer = ((struct inner *)host)->outer;

	return outer->stopped(outer);
}

static int collect(struct lode_host *host, const struct lode_call *call, const struct lode_buffer *results,
		   struct lode_error *error)
{
	struct lode_buffer *result = ((struct inner *)host)->result;

	(void)call;
	lode_buffer_add(result, results->bytes, results->size);
	return result->failed ? lode_fail_memory(error) : 0;
}

static void say_nothing(struct lode_host *host, const struct lode_call *call, enum lode_style style,
			const char *text)
{
	(void)host, (void)call, (void)style, (void)text;
}

int lode_call_inner(const struct lode_call *outer, const struct lode_command *command, size_t count, char **words,
		    const struct lode_progress *progress, struct lode_buffer *result, struct lode_error *error)
{
	static const struct lode_option none[] = { LODE_NO_MORE_OPTIONS };
	struct inner inner = {
		.host = { .keep = outer->host->keep == LODE_KEEP_NOTHING ? LODE_KEEP_NOTHING : LODE_KEEP_CACHE,
			  .collects = 1,
			  .begin = begin,
			  .pause = pause_nothing,
			  .hold = hold_nothing,
			  .status = show_no_status,
			  .stopped = stopped,
			  .show = collect,
			  .say = say_nothing,
			  .commands = outer->host->commands },
		.outer = outer->host,
		.progress = progress,
		.result = result,
	};
	struct lode_call call = {
		.command = command,
		.quiet = 1,
		.host = &inner.host,
		.out = { .fd = -1, .look = { .width = 80 } },
		.err = { .fd = -1, .look = { .width = 80 } },
	};
	int code = lode_call_read(&call, none, NULL, count, words, error);

	if (!code)
		code = lode_call_run(&call, error);
	lode_call_release(&call);
	return code;
}
