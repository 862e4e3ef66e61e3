/*
 * lode: the program, from a command line to an exit status.
 *
 * A command gets its options read (options.h) and a struct lode_call; what it
 * returns becomes the exit status: 0 done, 1 found something, 2 wrong usage, 3
 * bad input, 4 the system failed, 128 + n stopped by signal n.
 */
#include "base/memory.h"
#include "cmd/commands.h"
#include "cmd/open_files.h"
#include "cmd/ranks.h"
#include "cmd/signals.h"
#include "cmd/terminal_host.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Before the command there may be the shared options and --version. */
static const struct lode_option leading_options[] = {
	LODE_FLAG("version", 'V', offsetof(struct lode_shared_settings, version), "show the version"),
	LODE_NO_MORE_OPTIONS,
};

static int show_help(const struct lode_call *call, struct lode_error *error)
{
	struct lode_buffer buffer = { 0 };
	int code;

	if (call->command)
		lode_help_command(call->command, &buffer);
	else
		lode_help_all(&buffer);
	code = lode_show(&call->out, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

static void look_at_terminals(struct lode_call *call, const struct lode_shared_settings *shared)
{
	call->quiet = shared->quiet;
	call->out = lode_terminal_look(STDOUT_FILENO, shared->color);
	call->err = lode_terminal_look(STDERR_FILENO, shared->color);
}

/* A command with the words that follow its name. */
static int run_command(struct lode_call *call, struct lode_shared_settings *shared, size_t argc, char **argv,
		       struct lode_error *error)
{
	int code = lode_call_read(call, lode_shared_options, shared, argc, argv, error);

	look_at_terminals(call, shared);
	if (call->command->analysis)
		lode_memory_keep_freed();
	if (!code && !shared->help)
		lode_ranks_warn(call);
	if (!code)
		code = shared->help ? show_help(call, error) : lode_call_run(call, error);
	lode_call_release(call);
	return code;
}

static int show_version(const struct lode_call *call, struct lode_error *error)
{
	struct lode_buffer buffer = { 0 };
	int code;

	lode_version_text(&buffer);
	code = lode_show(&call->out, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

static int run(struct lode_call *call, size_t argc, char **argv, struct lode_error *error)
{
	struct lode_shared_settings shared = { 0 };
	struct lode_options_tables tables = {
		.own = leading_options,
		.settings = &shared,
		.common = lode_shared_options,
		.shared = &shared,
		.leading = 1,
	};
	struct lode_arguments arguments;
	int code = lode_options_read(&tables, argc, argv, &arguments, error);

	look_at_terminals(call, &shared);
	if (code)
		goto out;
	if (shared.version) {
		code = show_version(call, error);
	} else if (shared.help) {
		code = show_help(call, error);
	} else if (!arguments.operand_count) {
		code = lode_fail(error, LODE_USAGE,
				 "no command given; usage: 'lode COMMAND [OPTIONS] ARGS'. "
				 "See 'lode help'.");
	} else {
		call->command = lode_command_find(arguments.operands[0], error);
		code = call->command ? run_command(call, &shared, arguments.operand_count - 1,
						   arguments.operands + 1, error)
				     : LODE_USAGE;
	}
out:
	lode_arguments_release(&arguments);
	return code;
}

int main(int argc, char **argv)
{
	struct lode_error error = { "" };
	struct lode_terminal_host host;
	struct lode_call call = { .host = lode_terminal_host_init(&host) };
	int code;

	setlocale(LC_CTYPE, "");
	lode_signals_init();
	lode_open_files_raise();
	code = run(&call, argc > 0 ? (size_t)argc - 1 : 0, argv + 1, &error);
	if (error.text[0] && code && !lode_ranks_helps())
		lode_say(&call.err, LODE_RED, "%s", error.text);
	lode_ranks_end(code);
	return -code;
}
