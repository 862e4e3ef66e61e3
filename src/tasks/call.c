/* One call of a command, from its words to its result: see command.h. */
#include "base/memory.h"
#include "tasks/command.h"
#include "tasks/output_ending.h"

int lode_call_read(struct lode_call *call, const struct lode_option *common, void *shared, size_t argc,
		   char **argv, struct lode_error *error)
{
	struct lode_arguments arguments = { 0 };
	int code;

	call->settings = lode_calloc(1, call->command->settings_size + 1);
	if (!call->settings)
		return lode_fail_memory(error);
	code = lode_options_read(&(struct lode_options_tables){ .command = call->command->name,
								.own = call->command->options,
								.settings = call->settings,
								.common = common,
								.shared = shared },
				 argc, argv, &arguments, error);
	call->operands = arguments.operands;
	call->operand_count = arguments.operand_count;
	return code;
}

static int check_operands(const struct lode_call *call, struct lode_error *error)
{
	const struct lode_command *command = call->command;
	const char *name = command->name;

	if (call->operand_count < command->least_operands)
		return lode_fail(error, LODE_USAGE, "%s: %s is missing; usage: 'lode %s %s'. See 'lode help %s'.",
				 name, command->operand, name, command->usage, name);
	if (call->operand_count <= command->most_operands)
		return 0;
	return lode_fail(error, LODE_USAGE,
			 "%s: unexpected argument '%s'; usage: 'lode %s %s'. See 'lode help %s'.", name,
			 call->operands[command->most_operands], name, command->usage, name);
}

int lode_call_run(struct lode_call *call, struct lode_error *error)
{
	const struct lode_command *command = call->command;
	int code = check_operands(call, error);

	if (!code)
		code = lode_options_contradict(command->name, command->options, call->settings, error);
	if (!code)
		code = lode_output_ending_check(command, call->settings, error);
	return code ? code : command->run(call, error);
}

void lode_call_release(struct lode_call *call)
{
	struct lode_arguments arguments = { call->operands, call->operand_count };

	lode_arguments_release(&arguments);
	if (call->settings)
		lode_options_release(call->command->options, call->settings);
	lode_free(call->settings);
}
