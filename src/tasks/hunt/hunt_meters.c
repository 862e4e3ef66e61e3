/*
 * The meters of lode hunt: see hunt_meters.h. On another host `lode hunt --agent` is
 * started through ssh (or what --ssh names: its words, the host, and the agent's
 * command line are one command), and communicates through one pipe in each
 * direction.
 */
#include "tasks/hunt/hunt_meters.h"

#include "base/memory.h"
#include "base/text_list.h"
#include "base/proc_files.h"
#include "tasks/live/record_target.h"
#include "hunt/meter/remote/agent.h"
#include "hunt/meter/joined/joined_meter.h"
#include "hunt/meter/live/live_meter.h"
#include "hunt/meter/remote/remote_meter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- processes by name ---- */

struct named_processes {
	const char *comm;
	uint32_t *pids;
	size_t count;
	size_t capacity;
};

static int add_if_named(void *context, uint32_t pid)
{
	struct named_processes *named = context;
	char name[64];

	lode_proc_text(name, sizeof(name), "/proc/%u/comm", pid);
	name[strcspn(name, "\n")] = '\0';
	if (!name[0] || strcmp(name, named->comm) || pid == (uint32_t)getpid())
		return 0;
	return LODE_APPEND(named->pids, named->count, named->capacity, pid);
}

static int add_named(const char *comm, uint32_t **pids, size_t *count, struct lode_error *error)
{
	struct named_processes named = { comm, *pids, *count, *count };
	int code = lode_proc_numbers("/proc", add_if_named, &named);
	size_t before = *count;

	*pids = named.pids;
	*count = named.count;
	if (code)
		return code < 0 ? lode_fail_memory(error)
				: lode_fail(error, LODE_SYSTEM, "/proc: %s", strerror(errno));
	return *count > before ? 0 : lode_fail(error, LODE_USAGE, "hunt: there is no process named '%s'", comm);
}

/* ---- here ---- */

static int open_live(struct lode_meter **meter, const struct lode_hunt_settings *settings, double cost,
		     struct lode_error *error)
{
	struct lode_live_meter_options options = { .cost = cost, .unwind = lode_unwind_method(settings->unwind) };
	uint32_t *pids = NULL;
	int code = lode_languages_parse(settings->languages, &options.languages, error);

	if (!code)
		code = lode_hunt_pids(settings, &pids, &options.pid_count, error);
	if (!code && settings->comm)
		code = add_named(settings->comm, &pids, &options.pid_count, error);
	options.pids = pids;
	if (!code)
		code = lode_live_meter_create(meter, &options, error);
	lode_free(pids);
	return code;
}

/* ---- on other hosts ---- */

/* ssh gives what follows the host to a shell, so that each word is quoted for one. */
static void add_quoted(struct lode_text_list *words, const char *text)
{
	struct lode_buffer quoted = { 0 };

	lode_buffer_byte(&quoted, '\'');
	for (; *text; text++)
		if (*text == '\'')
			lode_buffer_text(&quoted, "'\\''");
		else
			lode_buffer_byte(&quoted, *text);
	lode_buffer_text(&quoted, "'");
	lode_buffer_byte(&quoted, '\0');
	lode_text_list_add(words, quoted.failed ? NULL : lode_strdup(quoted.bytes));
	lode_buffer_release(&quoted);
}

/* The command that reaches a host and starts its agent. */
static int make_command(struct lode_text_list *words, const struct lode_hunt_settings *settings, const char *host,
			double cost, struct lode_error *error)
{
	char *ssh = lode_strdup(settings->ssh ? settings->ssh : "ssh"), *rest = ssh, *word;

	if (!ssh)
		return lode_fail_memory(error);
	while ((word = strsep(&rest, " ")))
		if (*word)
			lode_text_list_add(words, lode_strdup(word));
	lode_free(ssh);
	lode_text_list_add(words, lode_strdup(host));
	lode_text_list_add(words, lode_strdup("lode hunt --agent --cost"));
	lode_text_list_add(words, lode_format("%.9g", cost));
	for (size_t i = 0; i < settings->pids.count; i++) {
		lode_text_list_add(words, lode_strdup("-p"));
		add_quoted(words, settings->pids.items[i]);
	}
	if (settings->comm) {
		lode_text_list_add(words, lode_strdup("--comm"));
		add_quoted(words, settings->comm);
	}
	return words->failed ? lode_fail_memory(error) : 0;
}

/* In the child: becomes the command. Ctrl-C is for the hunt, which then ends its agents in order. */
static void become(const struct lode_host *host, char **words, int in, int out)
{
	if (host->commands)
		host->commands->restore(host);
	signal(SIGINT, SIG_IGN);
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
		execvp(words[0], words);
	_exit(127);
}

static int spawn(struct lode_hunt_meters *meters, char **words, int *in, int *out, struct lode_error *error)
{
	int to[2], from[2];
	pid_t pid;

	if (pipe2(to, O_CLOEXEC) < 0)
		return lode_fail(error, LODE_SYSTEM, "%s: cannot be started: %s", words[0], strerror(errno));
	if (pipe2(from, O_CLOEXEC) < 0) {
		close(to[0]);
		close(to[1]);
		return lode_fail(error, LODE_SYSTEM, "%s: cannot be started: %s", words[0], strerror(errno));
	}
	pid = fork();
	if (pid == 0)
		become(meters->host, words, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	*in = from[0];
	*out = to[1];
	if (pid > 0) {
		meters->children[meters->child_count++] = pid;
		return 0;
	}
	close(*in);
	close(*out);
	return lode_fail(error, LODE_SYSTEM, "%s: cannot be started: %s", words[0], strerror(errno));
}

/* The two ends of a pipe each way to an agent. */
struct ends {
	int in;
	int out;
};

static int start_agent(struct lode_hunt_meters *meters, struct ends *ends,
		       const struct lode_hunt_settings *settings, const char *host, double cost,
		       struct lode_error *error)
{
	struct lode_text_list words = { 0 };
	int code = make_command(&words, settings, host, cost, error);

	if (!code)
		code = spawn(meters, words.items, &ends->in, &ends->out, error);
	lode_text_list_release(&words);
	return code;
}

/* All agents are started before the first is waited for. Returns 0 or a negative code; `*started` of them
 * run. */
static int start_agents(struct lode_hunt_meters *meters, struct ends *ends,
			const struct lode_hunt_settings *settings, double cost, size_t *started,
			struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; !code && i < settings->hosts.count; i++) {
		code = start_agent(meters, &ends[i], settings, settings->hosts.items[i], cost, error);
		*started += !code;
	}
	return code;
}

/* Greets the agents that were started; those that cannot be reached any more are let go. */
static int greet_agents(struct lode_meter **members, const struct ends *ends, size_t started,
			const struct lode_hunt_settings *settings, struct lode_notes *notes, int code,
			struct lode_error *error)
{
	for (size_t i = 0; i < started; i++) {
		if (!code) {
			code = lode_remote_meter_create(&members[i], ends[i].in, ends[i].out,
							settings->hosts.items[i], notes, error);
			continue;
		}
		close(ends[i].in);
		close(ends[i].out);
	}
	return code;
}

static int open_hosts(struct lode_hunt_meters *meters, const struct lode_hunt_settings *settings, double cost,
		      struct lode_notes *notes, struct lode_error *error)
{
	size_t count = settings->hosts.count, started = 0;
	struct lode_meter **members = lode_calloc(count, sizeof(*members));
	struct ends *ends = lode_calloc(count, sizeof(*ends));
	int code;

	meters->children = lode_calloc(count, sizeof(*meters->children));
	if (!members || !ends || !meters->children) {
		code = lode_fail_memory(error);
	} else {
		code = start_agents(meters, ends, settings, cost, &started, error);
		code = greet_agents(members, ends, started, settings, notes, code, error);
		if (!code)
			code = lode_joined_meter_create(&meters->meter, members, count, error);
		for (size_t i = 0; code && i < count; i++)
			if (members[i])
				members[i]->operations->destroy(members[i]);
	}
	lode_free(members);
	lode_free(ends);
	return code;
}

int lode_hunt_meters_open(struct lode_hunt_meters *meters, const struct lode_call *call, double cost,
			  struct lode_notes *notes, struct lode_error *error)
{
	const struct lode_hunt_settings *settings = call->settings;

	*meters = (struct lode_hunt_meters){ .host = call->host };
	meters->is_live = !settings->hosts.count;
	if (meters->is_live)
		return open_live(&meters->meter, settings, cost, error);
	return open_hosts(meters, settings, cost, notes, error);
}

int lode_hunt_meters_add(struct lode_hunt_meters *meters, pid_t child, struct lode_error *error)
{
	int code = lode_live_meter_add(meters->meter, (uint32_t)child, error);

	/* One that has ended before it could be looked at is found out by the first look. */
	return code < 0 ? code : 0;
}

int lode_hunt_meters_finish(struct lode_hunt_meters *meters, struct lode_notes *notes, struct lode_error *error)
{
	int code = meters->is_live ? lode_live_meter_finish(meters->meter, error) : 0;

	if (meters->is_live)
		lode_live_meter_note(meters->meter, notes);
	return code;
}

void lode_hunt_meters_close(struct lode_hunt_meters *meters)
{
	if (meters->meter)
		meters->meter->operations->destroy(meters->meter);
	for (size_t i = 0; i < meters->child_count; i++)
		while (waitpid(meters->children[i], NULL, 0) < 0 && errno == EINTR)
			continue;
	lode_free(meters->children);
	memset(meters, 0, sizeof(*meters));
}

/* ---- the agent ---- */

int lode_hunt_serve(struct lode_call *call, struct lode_error *error)
{
	const struct lode_hunt_settings *settings = call->settings;
	struct lode_search_options options;
	struct lode_meter *meter = NULL;
	struct utsname system;
	int code = lode_hunt_options_read(call, &options, error);

	call->host->hold(call->host, LODE_STOP_SOON);
	if (!code && uname(&system) < 0)
		code = lode_fail(error, LODE_SYSTEM, "uname: %s", strerror(errno));
	if (!code)
		code = open_live(&meter, settings, options.cost, error);
	if (code) {
		lode_agent_refuse(STDOUT_FILENO, error->text);
		return code;
	}
	code = lode_agent_serve(meter, system.nodename, STDIN_FILENO, STDOUT_FILENO, error);
	meter->operations->destroy(meter);
	return code;
}
