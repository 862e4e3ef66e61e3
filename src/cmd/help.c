/*
 * lode help: what the tables of commands and options say, for people; and with
 * the hidden options --commands and --options, for completions and tests.
 */
#include "cmd/commands.h"

#include <string.h>

struct settings {
	int commands;
	int options;
};

static const struct lode_option options[] = {
	LODE_HIDDEN_FLAG("commands", offsetof(struct settings, commands), "list the commands: NAME, TAB, summary"),
	LODE_HIDDEN_FLAG("options", offsetof(struct settings, options),
			 "list the options of COMMAND: --NAME, TAB, ARGUMENT, TAB, help"),
	LODE_NO_MORE_OPTIONS,
};

void lode_help_all(struct lode_buffer *buffer)
{
	lode_buffer_text(buffer,
			 "Usage: lode COMMAND [OPTIONS] ARGS\n\n"
			 "Lode finds performance bugs from call stacks: it collects what threads ran and\n"
			 "waited for, and shows which call stacks cost the most time.\n\n"
			 "Start:\n"
			 "  lode record -o corpus -- ./program  # as root; or lode import perf.data\n"
			 "  lode mine corpus                    # what cost the most time, and where\n"
			 "  lode serve corpus --open            # the same in the browser, on a timeline\n");
	for (const struct lode_command_row *row = lode_command_rows(); row->title || row->command; row++) {
		if (row->title)
			lode_buffer_print(buffer, "\n%s:\n", row->title);
		else
			lode_buffer_print(buffer, "  %-11s %s\n", row->command->name, row->command->summary);
	}
	lode_buffer_text(buffer, "\nOptions:\n");
	lode_options_help(lode_shared_options, buffer);
	lode_buffer_text(buffer,
			 "  -V, --version             show the version\n"
			 "\n'lode help COMMAND' shows more about a command, 'man lode-COMMAND' everything.\n");
}

void lode_help_command(const struct lode_command *command, struct lode_buffer *buffer)
{
	lode_buffer_print(buffer, "Usage: lode %s%s%s\n\n", command->name, *command->usage ? " " : "",
			  command->usage);
	lode_help_wrap(command->about, buffer);
	lode_buffer_text(buffer, "\nOptions:\n");
	lode_options_help(command->options, buffer);
	lode_options_help(lode_shared_options, buffer);
	lode_options_meanings(command->options, buffer);
	if (command->examples)
		lode_buffer_print(buffer, "\nExamples:\n%s", command->examples);
}

static void list_options(const struct lode_command *command, struct lode_buffer *buffer)
{
	if (command)
		lode_options_list(command->options, buffer);
	lode_options_list(lode_shared_options, buffer);
	if (!command)
		lode_buffer_text(buffer, "--version\t\tshow the version\n-V\t\tshow the version\n");
}

static void list_commands(struct lode_buffer *buffer)
{
	for (const struct lode_command *const *command = lode_commands(); *command; command++)
		lode_buffer_print(buffer, "%s\t%s\n", (*command)->name, (*command)->summary);
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	const struct lode_command *command = NULL;
	struct lode_buffer buffer = { 0 };
	int code;

	if (call->operand_count && !(command = lode_command_find(call->operands[0], error)))
		return LODE_USAGE;
	if (settings->commands)
		list_commands(&buffer);
	else if (settings->options)
		list_options(command, &buffer);
	else if (command)
		lode_help_command(command, &buffer);
	else
		lode_help_all(&buffer);
	code = lode_show(&call->out, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

const struct lode_command lode_command_help = {
	.name = "help",
	.summary = "show help for Lode or for one command",
	.usage = "[COMMAND]",
	.about = "Lists the commands, or says what one of them does and which options it has.",
	.examples = "  lode help\n"
		    "  lode help import\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.most_operands = 1,
	.operand = "COMMAND",
	.run = run,
};
