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
#include "collect/collector.h"
#include "scope/symptoms.h"
#include "serve/server.h"
#include "watch/retention.h"
#endif

#define DEFAULT_PORT 7070

struct settings {
	uint64_t port;
	int any_port;
	const char *socket;
	const char *token_file;
	const char *title;
	const char *symptom;
	struct lode_option_list source_paths;
	int open;
	int collect;
	const char *listen;
	const char *tokens;
	uint64_t max_upload;
	uint64_t upload_rate;
	const char *keep;
	const char *keep_sums;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_NUMBER("port", 'p', FIELD(port), "N", "the port on this machine (default: 7070)", 1, 65535),
	LODE_FLAG("any-port", 0, FIELD(any_port), "use any free port"),
	LODE_TEXT("socket", 0, FIELD(socket), "PATH", "a Unix socket for you alone, instead of a port"),
	LODE_TEXT("token-file", 0, FIELD(token_file), "FILE", "the token is in FILE (default: a random one)"),
	LODE_TEXT("title", 0, FIELD(title), "TEXT", "the page's title (default: the name of CORPUS)"),
	LODE_TEXT("symptom", 0, FIELD(symptom), "RULE",
		  "what was slow, as for 'lode mine': the page asks with it at first"),
	LODE_LIST("source-path", 0, FIELD(source_paths), "DIR",
		  "look for sources here first; with --collect only here; can be repeated"),
	LODE_FLAG("open", 0, FIELD(open), "open the page in the browser"),
	LODE_FLAG("collect", 0, FIELD(collect), "take uploads, and make CORPUS if it is not there"),
	LODE_TEXT("listen", 0, FIELD(listen), "ADDRESS", "listen there, for other machines; needs --tokens"),
	LODE_TEXT("tokens", 0, FIELD(tokens), "FILE", "who may upload and read: names and digests of tokens"),
	LODE_NUMBER("max-upload", 0, FIELD(max_upload), "MIB", "largest upload, as it is sent (default: 64)", 1,
		    65536),
	LODE_NUMBER("upload-rate", 0, FIELD(upload_rate), "N", "uploads a second of a token (default: 1000)", 1,
		    1000000),
	LODE_TEXT("keep", 0, FIELD(keep), "AGE", "keep only the sums of streams that are older: 7d"),
	LODE_TEXT("keep-sums", 0, FIELD(keep_sums), "AGE", "remove streams that are older: 90d"),
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

static int check_symptom(const char *text, struct lode_error *error)
{
	struct lode_symptom_rule rule;
	int code = lode_symptom_rule_parse(&rule, text, error);

	if (!code)
		lode_symptom_rule_release(&rule);
	return code;
}

static int check_age(const char *option, const char *text, struct lode_error *error)
{
	struct lode_retention limit = { 0 };

	if (!text || (lode_retention_parse(&limit, text, NULL) == 0 && limit.seconds))
		return 0;
	return lode_fail(error, LODE_USAGE, "--%s %s: is not an age; write 7d or 36h", option, text);
}

static int check_settings(const struct settings *settings, struct lode_error *error)
{
	if (settings->socket && (settings->port || settings->any_port || settings->token_file || settings->open))
		return lode_fail(error, LODE_USAGE,
				 "--socket needs no port and no token, and no browser opens it; leave out --port, "
				 "--any-port, --token-file and --open");
	if (settings->tokens && (settings->socket || settings->token_file || settings->open))
		return lode_fail(error, LODE_USAGE,
				 "--tokens goes with a port alone; leave out --socket, --token-file and --open");
	if (settings->listen && !settings->tokens)
		return lode_fail(error, LODE_USAGE,
				 "--listen %s: others could reach this server; say who may with --tokens FILE",
				 settings->listen);
	if (!settings->collect &&
	    (settings->max_upload || settings->upload_rate || settings->keep || settings->keep_sums))
		return lode_fail(
			error, LODE_USAGE,
			"--max-upload, --upload-rate, --keep and --keep-sums are for a collector; add --collect");
	if (check_age("keep", settings->keep, error) < 0 || check_age("keep-sums", settings->keep_sums, error) < 0)
		return LODE_USAGE;
	return settings->symptom ? check_symptom(settings->symptom, error) : 0;
}

/* Started before there are threads, since it forks. */
static int start_collector(struct lode_collector **collector, const char *path, const struct settings *settings,
			   struct lode_error *error)
{
	struct lode_collector_options how = lode_collector_options_default;

	if (!settings->collect)
		return 0;
	how.limits = lode_upload_limits_default;
	if (settings->max_upload)
		how.limits.packed = settings->max_upload << 20;
	if (how.limits.unpacked < 4 * how.limits.packed)
		how.limits.unpacked = 4 * how.limits.packed;
	if (how.limits.memory < 8 * how.limits.unpacked)
		how.limits.memory = 8 * how.limits.unpacked;
	if (settings->upload_rate)
		how.rate = (unsigned)settings->upload_rate;
	return lode_collector_start(collector, path, &how, error);
}

static void tell(struct lode_call *call, const char *corpus, const struct lode_server *server)
{
	const struct settings *settings = call->settings;

	dprintf(call->out.fd, "%s\n", lode_server_address(server));
	if (!call->quiet)
		lode_say(&call->err, LODE_PLAIN, "serving %s to those who %s; Ctrl-C ends it", corpus,
			 settings->socket   ? "may open this socket"
			 : settings->tokens ? "have a token"
					    : "have this address");
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	const char *path = call->operands[0];
	struct lode_server_options how = {
		.title = settings->title ? settings->title : path,
		.port = (uint16_t)(settings->any_port ? 0
				   : settings->port   ? settings->port
						      : DEFAULT_PORT),
		.socket_path = settings->socket,
		.token_file = settings->token_file,
		.symptom = settings->symptom,
		.sources = { settings->source_paths.items, settings->collect },
		.listen = settings->listen,
		.tokens = settings->tokens,
		.keep = settings->keep,
		.keep_sums = settings->keep_sums,
	};
	struct lode_server *server = NULL;
	int code = check_settings(settings, error);

	if (!code && !settings->collect) /* a collector is of use without it */
		code = lode_page_is_there(error);
	if (!code)
		code = start_collector(&how.collector, path, settings, error);
	if (!code)
		code = check_corpus(path, error);
	lode_signals_hold();
	if (!code)
		code = lode_server_start(&server, path, &how, error);
	if (code) {
		lode_collector_end(how.collector);
		return code;
	}
	lode_signals_hold_for_good(); /* it ends with its jobs, however long they take for that */
	tell(call, path, server);
	if (settings->open)
		open_browser(server);
	while (!lode_signals_stop())
		usleep(50000);
	lode_server_end(server);
	lode_collector_end(how.collector);
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
		    "  lode serve corpus --symptom 'wait > 200ms in app!lock'\n"
		    "  lode serve corpus --socket lode.socket &\n"
		    "  curl -s --unix-socket lode.socket http://localhost/api/info | jq .symptoms\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = 1,
	.operand = "CORPUS",
	.run = run,
};
