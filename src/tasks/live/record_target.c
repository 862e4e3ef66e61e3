/* What is recorded: see record_target.h. */
#include "tasks/live/record_target.h"

#include "base/memory.h"
#include "process/descendants.h"
#include "process/processes.h"
#include "record/load/command_path.h"
#include "tasks/attributes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_FREQUENCY 999

static int wrong(const struct lode_record_target *target, struct lode_error *error, const char *sentence)
{
	return lode_fail(error, LODE_USAGE, "%s: %s. See 'lode help %s'.", target->word, sentence, target->word);
}

static int check(const struct lode_record_target *target, struct lode_error *error)
{
	const struct lode_record_target_settings *settings = target->settings;
	int chosen = settings->pids.count || settings->all || settings->comm || settings->cgroup;

	if (!chosen && !target->command_count)
		return wrong(target, error,
			     "nothing to record; give a command after '--', '-p PID', or '-a' for all processes");
	if (settings->pids.count && target->command_count)
		return wrong(target, error, "a command or '-p PID', not both");
	if (settings->comm && strlen(settings->comm) >= LODE_THREAD_NAME)
		return wrong(target, error, "names of threads have at most 15 characters");
	return 0;
}

/* Opens a descriptor for each process that -p names; it becomes readable when the process has ended. */
static int watch_pids(struct lode_record_target *target, struct lode_error *error)
{
	const struct lode_option_list *pids = &target->settings->pids;

	target->watched = lode_calloc(pids->count + 1, sizeof(*target->watched));
	if (!target->watched)
		return lode_fail_memory(error);
	for (size_t i = 0; i < pids->count; i++) {
		char *end;
		long pid = strtol(pids->items[i], &end, 10);

		if (*end || pid <= 0 || pid > INT32_MAX)
			return lode_fail(error, LODE_USAGE, "%s: '-p' needs a process id, not '%s'", target->word,
					 pids->items[i]);
		target->watched[i].events = POLLIN;
		target->watched[i].fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
		if (target->watched[i].fd < 0 && errno == ESRCH)
			return lode_fail(error, LODE_USAGE, "%s: there is no process %ld", target->word, pid);
		if (target->watched[i].fd < 0)
			return lode_fail(error, LODE_USAGE, "%s: process %ld cannot be watched: %s", target->word,
					 pid, strerror(errno));
		target->watched_count++;
	}
	return 0;
}

/* Reads --budget; `share`: what it is without. */
static int read_budget(struct lode_record_target *target, double share, struct lode_error *error)
{
	const struct lode_record_target_settings *settings = target->settings;

	if (settings->budget && settings->no_budget)
		return wrong(target, error, "'--budget' or '--no-budget', not both");
	if (settings->budget && lode_budget_parse(settings->budget, &share) < 0)
		return lode_fail(
			error,
			LODE_USAGE, "%s: '--budget' needs a share of the machine, above 0%% and up to 100%%, such as '1%%', not '%s'",
			target->word, settings->budget);
	target->budget_share = settings->no_budget ? 0 : share;
	if (settings->long_waits && target->budget_share <= 0)
		return wrong(target, error, "'--long-waits' needs '--budget'; without one, every wait is recorded");
	return 0;
}

int lode_record_target_init(struct lode_record_target *target, const struct lode_record_target_settings *settings,
			    double budget, const struct lode_call *call, struct lode_error *error)
{
	int code;

	*target = (struct lode_record_target){ .settings = settings,
					       .host = call->host,
					       .word = call->command->name,
					       .command = call->operands,
					       .command_count = call->operand_count };
	code = check(target, error);
	if (!code)
		code = read_budget(target, budget, error);
	if (!code)
		code = lode_languages_parse(settings->languages, &target->languages, error);
	return code ? code : watch_pids(target, error);
}

void lode_record_target_take_precedence(struct lode_record_target *target)
{
	if (target->took_precedence)
		return;
	target->priority = getpriority(PRIO_PROCESS, 0);
	/* Where that is not permitted, what is lost for it is counted. */
	target->took_precedence = setpriority(PRIO_PROCESS, 0, -15) == 0;
}

static void give_way(struct lode_record_target *target)
{
	if (target->took_precedence)
		setpriority(PRIO_PROCESS, 0, target->priority);
	target->took_precedence = 0;
}

void lode_record_target_release(struct lode_record_target *target)
{
	give_way(target);
	if (target->has_child)
		lode_child_finish(&target->child);
	target->has_child = 0;
	for (size_t i = 0; i < target->watched_count; i++)
		close(target->watched[i].fd);
	lode_free(target->watched);
	target->watched = NULL;
	target->watched_count = 0;
}

enum lode_recorder_unwind lode_unwind_method(const char *name)
{
	if (!name || !strcmp(name, "auto"))
		return LODE_RECORDER_AUTO;
	return strcmp(name, "dwarf") ? LODE_RECORDER_FRAME_POINTER : LODE_RECORDER_DWARF;
}

struct lode_recorder_options lode_record_target_recorder_options(const struct lode_record_target *target)
{
	const struct lode_record_target_settings *settings = target->settings;

	return (struct lode_recorder_options){
		.only_pids = settings->pids.count || (target->command_count && !settings->all),
		.comm = settings->comm,
		.cgroup = settings->cgroup,
		.frequency = settings->no_samples       ? 0
			     : settings->frequency      ? (unsigned)settings->frequency
			     : target->budget_share > 0 ? (unsigned)lode_budget_parameters.samples.default_hz
							: DEFAULT_FREQUENCY,
		.thin = target->budget_share > 0,
		.calls = settings->calls,
		.min_wait = settings->min_wait,
		.long_waits = settings->long_waits,
		.has_command = target->command_count > 0,
		.unwind = lode_unwind_method(settings->unwind),
		.copy_bytes = (unsigned)settings->unwind_size,
		.languages = target->languages,
		.lines = settings->lines,
	};
}

/* ---- the stream's head ---- */

/* The command, of which arguments may be secret, or what else is recorded. */
char *lode_record_target_source(const struct lode_record_target *target)
{
	struct lode_buffer text = { 0 };
	char *copy;

	for (size_t i = 0; i < target->command_count && (!i || target->settings->command_line); i++)
		lode_buffer_print(&text, "%s%s", i ? " " : "", target->command[i]);
	for (size_t i = 0; i < target->settings->pids.count; i++)
		lode_buffer_print(&text, "%s%s", i ? ", " : "process ", target->settings->pids.items[i]);
	if (!text.size)
		lode_buffer_text(&text, "all processes");
	copy = text.failed ? NULL : lode_strndup(text.bytes, text.size);
	lode_buffer_release(&text);
	return copy;
}

const char *lode_record_target_name(const struct lode_record_target *target, char text[64])
{
	const char *word = target->command_count ? target->command[0] : NULL;
	const char *slash = word ? strrchr(word, '/') : NULL;

	if (word)
		return slash ? slash + 1 : word;
	if (!target->settings->pids.count)
		return NULL;
	snprintf(text, 64, "process %s", target->settings->pids.items[0]);
	return text;
}

int lode_record_target_describe(const struct lode_record_target *target, const char *name, const char *source,
				const struct lode_option_list *attributes, struct lode_stream *stream,
				struct lode_error *error)
{
	struct lode_strings *strings = &stream->dictionary->frames.strings;
	struct utsname system;
	char text[64];

	if (uname(&system) < 0)
		return lode_fail(error, LODE_SYSTEM, "%s: uname: %s", target->word, strerror(errno));
	if (!name)
		name = lode_record_target_name(target, text);
	if (!name)
		name = system.nodename;
	stream->name = lode_strings_add(strings, name, strlen(name));
	stream->host = lode_strings_add(strings, system.nodename, strlen(system.nodename));
	if (stream->name == LODE_NONE || stream->host == LODE_NONE ||
	    lode_stream_set_text(stream, "kernel", system.release) < 0 ||
	    lode_stream_set_text(stream, "arch", system.machine) < 0 ||
	    lode_stream_set_text(stream, "command", source) < 0 ||
	    lode_stream_set_number(stream, "cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN)) < 0 ||
	    (target->settings->lines &&
	     lode_stream_set_attribute(stream, "lines", "true", LODE_ATTRIBUTE_BOOL) < 0) ||
	    lode_attributes_apply(attributes, stream) < 0)
		return lode_fail_memory(error);
	return 0;
}

/* ---- starting ---- */

int lode_record_target_probe(const struct lode_record_target *target, const struct lode_record_rules *rules,
			     struct lode_recorder *recorder, struct lode_processes *processes,
			     struct lode_rule_probes **probes, struct lode_error *error)
{
	int code = lode_rule_probes_create(probes, recorder, rules->rules, rules->count, processes, error);

	if (!code && lode_rule_probes_look(*probes) < 0)
		code = lode_fail_memory(error);
	if (!code && target->command_count && lode_rule_probes_command(*probes, target->command[0]) < 0)
		code = lode_fail_memory(error);
	return code;
}

int lode_record_target_check(const struct lode_record_target *target, struct lode_error *error)
{
	char *path;
	int code = 0;

	if (!target->command_count || !getenv("PATH"))
		return 0;
	path = lode_command_path(target->command[0], strlen(target->command[0]));
	if (!path)
		code = lode_fail(error, LODE_USAGE, "%s: cannot be started: there is no such program in PATH",
				 target->command[0]);
	else if (access(path, X_OK) < 0)
		code = lode_fail(error, LODE_USAGE, "%s: cannot be started: %s", path, strerror(errno));
	lode_free(path);
	return code;
}

int lode_record_target_prepare(struct lode_record_target *target, struct lode_error *error)
{
	int code;

	if (!target->command_count)
		return 0;
	give_way(target);
	code = lode_child_prepare(&target->child, target->host, target->command, error);
	target->has_child = !code;
	lode_record_target_take_precedence(target);
	return code;
}

struct addition {
	struct lode_record_target *target;
	struct lode_recorder *recorder;
	struct lode_error *error;
	int counts;
};

static int add_relative(void *context, uint32_t pid)
{
	struct addition *addition = context;

	if (pid == (uint32_t)getpid()) /* started from a shell that is recorded */
		return 0;
	addition->target->relatives += addition->counts != 0;
	return lode_recorder_add_pid(addition->recorder, pid, addition->error);
}

/* The processes of -p, and what they have started already: later children are followed by the programs. */
static int add_pids(struct addition *addition)
{
	const struct lode_option_list *pids = &addition->target->settings->pids;
	int code = 0;

	for (size_t i = 0; !code && i < pids->count; i++) {
		uint32_t pid = (uint32_t)strtoul(pids->items[i], NULL, 10);

		code = lode_recorder_add_pid(addition->recorder, pid, addition->error);
		if (!code)
			code = lode_process_descendants(pid, add_relative, addition);
	}
	return code;
}

void lode_record_target_say_relatives(const struct lode_record_target *target, const struct lode_call *call)
{
	if (target->relatives && !call->quiet)
		lode_call_say(call, LODE_PLAIN, "also records %zu process%s that %s started already",
			      target->relatives, target->relatives == 1 ? "" : "es",
			      target->settings->pids.count == 1 ? "it has" : "they have");
}

int lode_record_target_start(struct lode_record_target *target, struct lode_recorder *recorder,
			     struct lode_error *error)
{
	const struct lode_record_target_settings *settings = target->settings;
	struct addition addition = { target, recorder, error, 1 };
	int code;

	if (target->has_child)
		lode_recorder_await_exec(recorder, (uint32_t)target->child.pid);
	code = add_pids(&addition);
	if (!code && target->has_child && !settings->all)
		code = lode_recorder_add_pid(recorder, (uint32_t)target->child.pid, error);
	if (code)
		return code;
	if (target->budget_share > 0)
		lode_budget_control_begin(&target->budget, recorder,
					  &(struct lode_budget_control_options){
						  .share = target->budget_share,
						  .frequency_hz =
							  lode_record_target_recorder_options(target).frequency,
						  .needs_every_switch = target->sees_all_waits,
						  .min_wait_ns = settings->min_wait,
						  .long_waits_ns = settings->long_waits,
						  .symptom_ns = target->symptom_ns,
					  });
	code = lode_recorder_start(recorder, error);
	/* What was started between the look and the start is found by a second look. */
	addition.counts = 0;
	return code ? code : add_pids(&addition);
}

int lode_record_target_release_command(struct lode_record_target *target, struct lode_error *error)
{
	return target->has_child ? lode_child_release(&target->child, target->command, error) : 0;
}

int lode_record_target_stop(struct lode_record_target *target, struct lode_recorder *recorder,
			    const struct lode_recorder_sink *sink, struct lode_error *error)
{
	int code;

	lode_budget_control_end(&target->budget, recorder);
	code = lode_recorder_stop(recorder, sink);
	give_way(target);
	return code < 0 ? lode_fail_memory(error) : 0;
}

void lode_record_target_run_on(struct lode_record_target *target, const struct lode_call *call, uint64_t until,
			       const struct lode_error *error)
{
	give_way(target);
	if (!target->has_child || lode_child_has_ended(&target->child))
		return;
	if (!call->quiet)
		lode_call_say(call, LODE_YELLOW, "%s: runs on, but is no longer recorded: %s", target->command[0],
			      error->text);
	lode_child_await(&target->child, until);
}

int lode_record_target_has_ended(struct lode_record_target *target)
{
	if (!target->has_child || !lode_child_has_ended(&target->child))
		return 0;
	target->by_itself = !target->host->stopped(target->host); /* Ctrl-C is for the command as well */
	return 1;
}

int lode_record_target_status(const struct lode_record_target *target)
{
	int status = target->child.status;

	if (!target->by_itself)
		return 0;
	return WIFSIGNALED(status) ? LODE_STOPPED(WTERMSIG(status)) : -WEXITSTATUS(status);
}

int lode_record_target_is_gone(const struct lode_record_target *target)
{
	return target->watched_count &&
	       poll(target->watched, target->watched_count, 0) == (int)target->watched_count;
}
