/* The settings of lode hunt: see hunt.h. */
#include "base/memory.h"
#include "tasks/attributes.h"
#include "tasks/hunt/hunt.h"
#include "tasks/live/record_target_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define FIELD(field) offsetof(struct lode_hunt_settings, field)

LODE_CHOICES(strategy_choice, "deep-start", "call-graph")

LODE_CHOICES(profile_choice, "lode", "paradyn")

const struct lode_option lode_hunt_options[] = {
	LODE_LIST("pid", 'p', FIELD(pids), "PID", "hunt in this process and its children; can be repeated"),
	LODE_TEXT("comm", 0, FIELD(comm), "NAME", "hunt in all processes with this name"),
	LODE_LIST("host", 0, FIELD(hosts), "HOST", "hunt on this host, through ssh; can be repeated"),
	LODE_TEXT("ssh", 0, FIELD(ssh), "COMMAND", "the command that connects to a host (default: ssh)"),
	LODE_DURATION("duration", 'd', FIELD(time), "TIME", "stop after this time"),
	LODE_TEXT("cost", 0, FIELD(cost), "SHARE", "the most that probes may cost the program (default: 10%)"),
	LODE_TEXT("cpu", 0, FIELD(cpu), "SHARE",
		  "report what uses the CPU for more than this (CPUbound; default: 20%)"),
	LODE_TEXT(
		"sync", 0, FIELD(sync), "SHARE",
		"report what waits for other threads for more than this (ExcessiveSyncWaitingTime; default: 20%)"),
	LODE_TEXT("io", 0, FIELD(io),
		  "SHARE", "report what waits for input and output for more than this (ExcessiveIOBlockingTime; default: 20%)"),
	LODE_TEXT("ready", 0, FIELD(ready), "SHARE",
		  "report what waits for a processor for more than this (ExcessiveReadyTime; default: 20%)"),
	LODE_NUMBER("small-io", 0, FIELD(small_io), "BYTES",
		    "report operations that move fewer bytes than this (TooManySmallIOOps; default: 4096)", 1,
		    1ull << 40),
	LODE_TEXT("deep-threshold", 0, FIELD(deep_threshold), "SHARE",
		  "functions in more than this share of the samples are examined first (default: 20%)"),
	LODE_CHOICE("strategy", 0, FIELD(strategy), "NAME", "how to search (default: deep-start)", strategy_choice),
	LODE_CHOICE("unwind", 0, FIELD(unwind), "METHOD", "how stack samples are unwound (default: auto)",
		    lode_unwind_choice),
	LODE_TEXT("languages", 0, FIELD(languages), "LIST", LODE_LANGUAGES_HELP),
	LODE_CHOICE("profile", 0, FIELD(profile), "NAME", "when to conclude (default: lode)", profile_choice),
	LODE_LIST("output", 'o', FIELD(outputs), "CORPUS|FILE",
		  "keep samples and results as a stream of this corpus; or write a page (.html), the search "
		  "history graph for Graphviz (.dot), steps (.json) or text (.txt); can be repeated"),
	LODE_TEXT("name", 'n', FIELD(name), "NAME", "name of the stream"),
	LODE_FLAG("command-line", 0, FIELD(command_line), LODE_COMMAND_LINE_HELP),
	LODE_LIST("attr", 0, FIELD(attributes), "KEY=VALUE", "an attribute of the stream; can be repeated"),
	LODE_FLAG("all", 'a', FIELD(all),
		  "show all bottlenecks and how they were found, what was not examined, and the search"),
	LODE_FLAG("json", 0, FIELD(json), "write each step as a line of JSON, and a summary"),
	LODE_FLAG("serve", 0, FIELD(serve), "show the search in the browser while it runs, and then until Ctrl-C"),
	LODE_NUMBER("port", 0, FIELD(port), "N", "serve on this port (default: 7070, or a free one)", 1, 65535),
	LODE_FLAG("exit-code", 0, FIELD(exit_code), "exit with 1 when a bottleneck was found"),
	LODE_HIDDEN_FLAG("agent", FIELD(agent), "measure for a hunt on another host"),
	/* As they were called before --duration and the endings of --output. */
	{ LODE_ROW("time", 't', LODE_OPTION_DURATION, FIELD(time), "TIME", "as --duration"), .hidden = 1 },
	{ LODE_ROW("dot", 0, LODE_OPTION_TEXT, FIELD(dot), "FILE", "as --output FILE.dot"), .hidden = 1 },
	{ LODE_ROW("html", 0, LODE_OPTION_TEXT, FIELD(html), "FILE", "as --output FILE.html"), .hidden = 1 },
	LODE_NO_MORE_OPTIONS,
};

static int wrong(struct lode_error *error, const char *sentence)
{
	return lode_fail(error, LODE_USAGE, "hunt: %s. See 'lode help hunt'.", sentence);
}

/* A share: `0.2` or `20%`. `text` NULL leaves the default. */
static int read_share(const char *option, const char *text, double *share, struct lode_error *error)
{
	char *end;
	double number;

	if (!text)
		return 0;
	number = strtod(text, &end);
	if (end != text && !strcmp(end, "%"))
		number /= 100;
	else if (end == text || *end)
		number = NAN;
	if (!(number >= 0 && number <= 1000))
		return lode_fail(error, LODE_USAGE, "hunt: '--%s' needs a share such as 0.2 or 20%%, not '%s'",
				 option, text);
	*share = number;
	return 0;
}

static int read_shares(const struct lode_hunt_settings *settings, struct lode_search_options *options,
		       struct lode_error *error)
{
	const struct {
		const char *option, *text;
		double *share;
	} shares[] = {
		{ "cost", settings->cost, &options->cost },
		{ "cpu", settings->cpu, &options->thresholds[LODE_CPU_BOUND] },
		{ "sync", settings->sync, &options->thresholds[LODE_SYNC_WAITING] },
		{ "io", settings->io, &options->thresholds[LODE_IO_BLOCKING] },
		{ "ready", settings->ready, &options->thresholds[LODE_READY_WAITING] },
		{ "deep-threshold", settings->deep_threshold, &options->deep_threshold },
	};
	int code = 0;

	for (size_t i = 0; !code && i < sizeof(shares) / sizeof(*shares); i++)
		code = read_share(shares[i].option, shares[i].text, shares[i].share, error);
	return code;
}

/* ---- outputs ---- */

static int ends_in(const char *path, const char *ending)
{
	size_t length = strlen(path), end = strlen(ending);

	return length > end && !strcasecmp(path + length - end, ending);
}

/* Endings of what a hunt does not write, but would be taken for. */
static const char *foreign_ending(const char *path)
{
	static const char *const endings[] = { ".svg", ".png", ".pdf", ".csv",    ".xml", ".yaml", ".md",
					       ".gz",  ".zst", ".xz",  ".folded", ".pb",  ".lode", NULL };
	size_t i = 0;

	while (endings[i] && !ends_in(path, endings[i]))
		i++;
	return endings[i];
}

/* The field that a path belongs to; NULL: it promises what is not written here. */
static const char **output_field(struct lode_hunt_outputs *outputs, const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return &outputs->corpus;
	if (ends_in(path, ".html") || ends_in(path, ".htm"))
		return &outputs->html;
	if (ends_in(path, ".dot") || ends_in(path, ".gv"))
		return &outputs->dot;
	if (ends_in(path, ".json") || ends_in(path, ".jsonl") || ends_in(path, ".ndjson"))
		return &outputs->json;
	if (ends_in(path, ".txt"))
		return &outputs->text;
	return foreign_ending(path) ? NULL : &outputs->corpus;
}

int lode_hunt_outputs_read(const struct lode_hunt_settings *settings, struct lode_hunt_outputs *outputs,
			   struct lode_error *error)
{
	*outputs = (struct lode_hunt_outputs){ .html = settings->html, .dot = settings->dot };
	for (size_t i = 0; i < settings->outputs.count; i++) {
		const char *path = settings->outputs.items[i], **field = output_field(outputs, path);

		if (!field)
			return lode_fail(error, LODE_USAGE,
					 "hunt: '-o %s': no %s can be written here; end the name in .html, .dot, "
					 ".json or .txt, or name a corpus. See 'lode help hunt'.",
					 path, foreign_ending(path));
		if (*field)
			return lode_fail(error, LODE_USAGE,
					 "hunt: '%s' and '%s' are the same kind of output; give one of them. See "
					 "'lode help "
					 "hunt'.",
					 *field, path);
		*field = path;
	}
	return 0;
}

/* ---- all of it ---- */

static int check_target(const struct lode_call *call, const struct lode_hunt_outputs *outputs,
			struct lode_error *error)
{
	const struct lode_hunt_settings *settings = call->settings;

	if (!settings->pids.count && !settings->comm && !call->operand_count)
		return wrong(error, "nothing to hunt in; give a command after '--', '-p PID' or '--comm NAME'");
	if ((settings->pids.count || settings->comm) && call->operand_count)
		return wrong(error, "a command, or '-p PID' and '--comm NAME', not both");
	if (settings->hosts.count && call->operand_count)
		return wrong(error, "on other hosts lode hunts only in running processes; name them with '-p PID' "
				    "or '--comm NAME'");
	if (settings->ssh && !settings->hosts.count)
		return wrong(error, "'--ssh' needs '--host'");
	if (settings->port && !settings->serve)
		return wrong(error, "'--port' needs '--serve'");
	if (settings->agent && (settings->hosts.count || call->operand_count))
		return wrong(error, "an agent hunts on its own host, in running processes");
	if ((settings->name || settings->attributes.count) && !outputs->corpus)
		return wrong(error, "'--name' and '--attr' describe a stream; name its corpus with '-o CORPUS'");
	return lode_attributes_check("hunt", &settings->attributes, error);
}

int lode_hunt_options_read(const struct lode_call *call, struct lode_search_options *options,
			   struct lode_error *error)
{
	const struct lode_hunt_settings *settings = call->settings;
	struct lode_hunt_outputs outputs;
	int code = lode_hunt_outputs_read(settings, &outputs, error);

	if (!code)
		code = check_target(call, &outputs, error);
	if (settings->profile && !strcmp(settings->profile, "paradyn"))
		lode_search_options_paradyn(options);
	else
		lode_search_options_default(options);
	if (settings->strategy && !strcmp(settings->strategy, "call-graph"))
		options->strategy = LODE_STRATEGY_CALL_GRAPH;
	if (settings->small_io)
		options->thresholds[LODE_SMALL_IO] = (double)settings->small_io;
	options->time = settings->time;
	options->watch_on = call->operand_count > 0; /* a command is watched until it ends */
	if (!code)
		code = read_shares(settings, options, error);
	return code ? code : lode_search_options_check(options, error);
}

int lode_hunt_pids(const struct lode_hunt_settings *settings, uint32_t **pids, size_t *count,
		   struct lode_error *error)
{
	*count = 0;
	*pids = lode_calloc(settings->pids.count + 2, sizeof(**pids));
	if (!*pids)
		return lode_fail_memory(error);
	for (size_t i = 0; i < settings->pids.count; i++) {
		char *end;
		long pid = strtol(settings->pids.items[i], &end, 10);

		if (*end || pid <= 0 || pid > INT32_MAX)
			return lode_fail(error, LODE_USAGE, "hunt: '-p' needs a process id, not '%s'",
					 settings->pids.items[i]);
		(*pids)[(*count)++] = (uint32_t)pid;
	}
	return 0;
}

char *lode_hunt_target(const struct lode_call *call)
{
	const struct lode_hunt_settings *settings = call->settings;
	struct lode_buffer text = { 0 };
	char *copy;

	for (size_t i = 0; i < call->operand_count && (!i || settings->command_line); i++)
		lode_buffer_print(&text, "%s%s", i ? " " : "", call->operands[i]);
	for (size_t i = 0; i < settings->pids.count; i++)
		lode_buffer_print(&text, "%s%s", i ? ", " : "process ", settings->pids.items[i]);
	if (settings->comm)
		lode_buffer_print(&text, "%sprocesses named %s", text.size ? " and " : "", settings->comm);
	for (size_t i = 0; i < settings->hosts.count; i++)
		lode_buffer_print(&text, "%s%s", i ? ", " : " on ", settings->hosts.items[i]);
	copy = text.failed ? NULL : lode_strndup(text.bytes, text.size);
	lode_buffer_release(&text);
	return copy;
}
