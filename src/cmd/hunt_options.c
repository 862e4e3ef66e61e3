/* The settings of lode hunt: see hunt.h. */
#include "base/memory.h"
#include "cmd/attributes.h"
#include "cmd/hunt.h"
#include "cmd/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) offsetof(struct lode_hunt_settings, field)

static const char *strategy_choice(size_t i)
{
	static const char *const choices[] = {"deep-start", "call-graph"};

	return i < 2 ? choices[i] : NULL;
}

static const char *profile_choice(size_t i)
{
	static const char *const choices[] = {"lode", "paradyn"};

	return i < 2 ? choices[i] : NULL;
}

const struct lode_option lode_hunt_options[] = {
	LODE_LIST("pid", 'p', FIELD(pids), "PID",
		  "hunt in this process and its children; may be given many times"),
	LODE_TEXT("comm", 0, FIELD(comm), "NAME", "hunt in the processes of this name"),
	LODE_LIST("host", 0, FIELD(hosts), "HOST", "hunt there, by ssh; may be given many times"),
	LODE_TEXT("ssh", 0, FIELD(ssh), "COMMAND", "what reaches a host (default: ssh)"),
	LODE_DURATION("time", 't', FIELD(time), "TIME", "stop after this time"),
	LODE_TEXT("cost", 0, FIELD(cost), "SHARE", "most that probes may cost the program (default: 10%)"),
	LODE_TEXT("cpu", 0, FIELD(cpu), "SHARE", "CPUbound is true above this (default: 20%)"),
	LODE_TEXT("sync", 0, FIELD(sync), "SHARE",
		  "ExcessiveSyncWaitingTime is true above this (default: 20%)"),
	LODE_TEXT("io", 0, FIELD(io), "SHARE", "ExcessiveIOBlockingTime is true above this (default: 20%)"),
	LODE_NUMBER("small-io", 0, FIELD(small_io), "BYTES",
		    "TooManySmallIOOps is true below this (default: 4096)", 1, 1ull << 40),
	LODE_TEXT("deep-threshold", 0, FIELD(deep_threshold), "SHARE",
		  "functions in more of the samples are deep starters (default: 20%)"),
	LODE_CHOICE("strategy", 0, FIELD(strategy), "NAME", "how to search (default: deep-start)",
		    strategy_choice),
	LODE_CHOICE("unwind", 0, FIELD(unwind), "METHOD", "how stack samples are found (default: auto)",
		    lode_unwind_choice),
	LODE_CHOICE("profile", 0, FIELD(profile), "NAME", "when to conclude (default: lode)", profile_choice),
	LODE_TEXT("output", 'o', FIELD(output), "CORPUS",
		  "keep samples and results as a stream of this corpus"),
	LODE_TEXT("name", 'n', FIELD(name), "NAME", "name of the stream"),
	LODE_LIST("attr", 0, FIELD(attributes), "KEY=VALUE",
		  "an attribute of the stream; may be given many times"),
	LODE_TEXT("dot", 0, FIELD(dot), "FILE", "write the search history graph for Graphviz"),
	LODE_TEXT("html", 0, FIELD(html), "FILE", "write a page"),
	LODE_FLAG("json", 0, FIELD(json), "write each step as a line of JSON, and a summary"),
	LODE_FLAG("exit-code", 0, FIELD(exit_code), "exit with 1 when a bottleneck was found"),
	LODE_HIDDEN_FLAG("agent", FIELD(agent), "measure for a hunt on another host"),
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
		return lode_fail(error, LODE_USAGE,
				 "hunt: '--%s' wants a share such as 0.2 or 20%%, not '%s'", option, text);
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
		{"cost", settings->cost, &options->cost},
		{"cpu", settings->cpu, &options->thresholds[LODE_CPU_BOUND]},
		{"sync", settings->sync, &options->thresholds[LODE_SYNC_WAITING]},
		{"io", settings->io, &options->thresholds[LODE_IO_BLOCKING]},
		{"deep-threshold", settings->deep_threshold, &options->deep_threshold},
	};
	int code = 0;

	for (size_t i = 0; !code && i < sizeof(shares) / sizeof(*shares); i++)
		code = read_share(shares[i].option, shares[i].text, shares[i].share, error);
	return code;
}

static int check_target(const struct lode_call *call, struct lode_error *error)
{
	const struct lode_hunt_settings *settings = call->settings;

	if (!settings->pids.count && !settings->comm && !call->operand_count)
		return wrong(error, "what? Give a command behind '--', '-p PID' or '--comm NAME'");
	if ((settings->pids.count || settings->comm) && call->operand_count)
		return wrong(error, "a command, or '-p PID' and '--comm NAME', not both");
	if (settings->hosts.count && call->operand_count)
		return wrong(error,
			     "on other hosts there must be processes already: '-p PID' or '--comm NAME'");
	if (settings->ssh && !settings->hosts.count)
		return wrong(error, "'--ssh' is for '--host'");
	if (settings->agent && (settings->hosts.count || call->operand_count))
		return wrong(error, "an agent hunts on its own host, in processes that are there");
	if ((settings->name || settings->attributes.count) && !settings->output)
		return wrong(error, "'--name' and '--attr' are of a stream: say where with '-o CORPUS'");
	return lode_attributes_check("hunt", &settings->attributes, error);
}

int lode_hunt_options_read(const struct lode_call *call, struct lode_search_options *options,
			   struct lode_error *error)
{
	const struct lode_hunt_settings *settings = call->settings;
	int code = check_target(call, error);

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
			return lode_fail(error, LODE_USAGE,
					 "hunt: '-p' wants the number of a process, not '%s'",
					 settings->pids.items[i]);
		(*pids)[(*count)++] = (uint32_t)pid;
	}
	return 0;
}

char *lode_hunt_target(const struct lode_call *call)
{
	const struct lode_hunt_settings *settings = call->settings;
	struct lode_buffer text = {0};
	char *copy;

	for (size_t i = 0; i < call->operand_count; i++)
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
