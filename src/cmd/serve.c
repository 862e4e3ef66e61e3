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
#include "base/memory.h"
#include "serve/server.h"
#endif

#define DEFAULT_PORT 7070

struct settings {
	uint64_t port;
	int any_port;
	const char *socket;
	const char *token_file;
	const char *title;
	int open;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_NUMBER("port", 'p', FIELD(port), "N", "the port on this machine (default: 7070)", 1, 65535),
	LODE_FLAG("any-port", 0, FIELD(any_port), "use any free port"),
	LODE_TEXT("socket", 0, FIELD(socket), "PATH", "a Unix socket for you alone, instead of a port"),
	LODE_TEXT("token-file", 0, FIELD(token_file), "FILE", "the token is in FILE (default: a random one)"),
	LODE_TEXT("title", 0, FIELD(title), "TEXT", "the page's title (default: the name of CORPUS)"),
	LODE_FLAG("open", 0, FIELD(open), "open the page in the browser"),
	LODE_NO_MORE_OPTIONS,
};

#ifdef LODE_HAVE_SERVER

/*
 * The browser is started beside; whether there is one is not our affair. Its command line can be read by all users of the
 * machine, so the token on it is good for this visit only.
 */
static void open_browser(struct lode_server *server)
{
	char *address = lode_server_address_once(server);

	if (address && fork() == 0) {
		lode_signals_release();
		execlp("xdg-open", "xdg-open", address, (char *)NULL);
		_exit(127);
	}
	lode_free(address);
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

static int check_settings(const struct settings *settings, struct lode_error *error)
{
	if (settings->socket && (settings->port || settings->any_port || settings->token_file || settings->open))
		return lode_fail(error, LODE_USAGE,
				 "--socket needs no port and no token, and no browser opens it; leave out --port, "
				 "--any-port, --token-file and --open");
	return 0;
}

static void tell(struct lode_call *call, const char *corpus, const struct lode_server *server)
{
	const struct settings *settings = call->settings;

	dprintf(call->out.fd, "%s\n", lode_server_address(server));
	if (!call->quiet)
		lode_say(&call->err, LODE_PLAIN, "serving %s to those who %s; Ctrl-C ends it", corpus,
			 settings->socket ? "may open this socket" : "have this address");
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	const char *path = call->operands[0];
	const struct lode_server_options how = {
		.title = settings->title ? settings->title : path,
		.port = (uint16_t)(settings->any_port ? 0
				   : settings->port   ? settings->port
						      : DEFAULT_PORT),
		.socket_path = settings->socket,
		.token_file = settings->token_file,
	};
	struct lode_server *server;
	int code = check_settings(settings, error);

	if (!code)
		code = lode_page_is_there(error);
	if (!code)
		code = check_corpus(path, error);
	lode_signals_hold();
	if (!code)
		code = lode_server_start(&server, path, &how, error);
	if (code)
		return code;
	lode_signals_hold_for_good(); /* it ends with its jobs, however long they take for that */
	tell(call, path, server);
	if (settings->open)
		open_browser(server);
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
	.about = "Serves the page of 'lode report' to browsers on this machine. The address that it prints has a "
		 "token, without which nobody gets an answer. Analyses of the overview start "
		 "immediately, others when a view needs them; they can be cancelled, and their results are kept "
		 "until CORPUS changes.",
	.examples = "  lode serve corpus\n"
		    "  lode serve corpus --port 8080 --open\n"
		    "  lode serve corpus --socket lode.socket &\n"
		    "  curl -s --unix-socket lode.socket http://localhost/api/info | jq .symptoms\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = 1,
	.operand = "CORPUS",
	.run = run,
};
