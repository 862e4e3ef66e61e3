/*
 * lode serve: the page of a corpus, live.
 */
#include "cmd/commands.h"
#include "cmd/signals.h"
#include "page/page.h"
#include "store/corpus.h"

#include <stdio.h>
#include <unistd.h>

#ifdef LODE_HAVE_SERVER
#include "serve/server.h"
#endif

#define DEFAULT_PORT 7070

struct settings {
	uint64_t port;
	int any_port;
	const char *title;
	int open;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_NUMBER("port", 'p', FIELD(port), "N", "the port on this machine (default: 7070)", 1, 65535),
	LODE_FLAG("any-port", 0, FIELD(any_port), "use any free port"),
	LODE_TEXT("title", 0, FIELD(title), "TEXT", "the page's title (default: the name of CORPUS)"),
	LODE_FLAG("open", 0, FIELD(open), "open the page in the browser"),
	LODE_NO_MORE_OPTIONS,
};

#ifdef LODE_HAVE_SERVER

/* The browser is started beside; whether there is one is not our affair. */
static void open_browser(const char *address)
{
	pid_t pid = fork();

	if (pid)
		return;
	lode_signals_release();
	execlp("xdg-open", "xdg-open", address, (char *)NULL);
	_exit(127);
}

/* A folder without a catalogue is reported now, not in the browser. */
static int check_corpus(const char *path, struct lode_error *error)
{
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, path, LODE_CORPUS_READ, error);

	if (!code)
		lode_corpus_close(corpus);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	const char *path = call->operands[0];
	uint64_t port = settings->any_port ? 0 : settings->port ? settings->port : DEFAULT_PORT;
	struct lode_server *server;
	char address[64];
	int code = lode_page_is_there(error);

	if (!code)
		code = check_corpus(path, error);
	lode_signals_hold();
	if (!code)
		code = lode_server_start(&server, path, settings->title ? settings->title : path, (uint16_t)port,
					 error);
	if (code)
		return code;
	lode_signals_hold_for_good(); /* it ends with its jobs, however long they take for that */
	snprintf(address, sizeof(address), "http://127.0.0.1:%u/", (unsigned)lode_server_port(server));
	dprintf(call->out.fd, "%s\n", address);
	if (!call->quiet)
		lode_say(&call->err, LODE_PLAIN, "serving %s at %s for this machine only; Ctrl-C ends it", path,
			 address);
	if (settings->open)
		open_browser(address);
	while (!lode_signals_stop())
		usleep(50000);
	lode_server_end(server);
	return 0;
}

#else

static int run(struct lode_call *call, struct lode_error *error)
{
	(void)call;
	return lode_fail(
		error, LODE_SYSTEM,
		"this lode was built without its server, since libmicrohttpd was missing; use 'lode report'");
}

#endif

const struct lode_command lode_command_serve = {
	.name = "serve",
	.summary = "show a corpus in the browser, live",
	.usage = "[OPTIONS] CORPUS",
	.about = "Serves the page of 'lode report' to browsers on this machine. Analyses of the overview start "
		 "immediately, others when a view needs them; they can be cancelled, and their results are kept "
		 "until CORPUS changes.",
	.examples = "  lode serve corpus\n"
		    "  lode serve corpus --port 8080 --open\n"
		    "  curl -s http://127.0.0.1:7070/api/info | jq .symptoms\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = 1,
	.operand = "CORPUS",
	.run = run,
};
