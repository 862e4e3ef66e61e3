/* The commands of the program, the options that all of them have, and what help says of them. */
#ifndef LODE_CMD_COMMANDS_H
#define LODE_CMD_COMMANDS_H

#include "cmd/terminal.h"
#include "tasks/command.h"

/* Options that every command has. */
struct lode_shared_settings {
	int help;
	int version; /* only before the command */
	int quiet;
	const char *color; /* "auto", "always", "never"; NULL: auto */
};

/* All commands in order, NULL-terminated. */
const struct lode_command *const *lode_commands(void);
/* The same in groups, as `lode help` shows them: a row is the title of a group or a command; both NULL: the end. */
struct lode_command_row {
	const char *title;
	const struct lode_command *command;
};
const struct lode_command_row *lode_command_rows(void);
/* The command called `name`, or NULL with a sentence that suggests the nearest. */
const struct lode_command *lode_command_find(const char *name, struct lode_error *error);
/* The options every command has. */
extern const struct lode_option lode_shared_options[];

/* Appends what `lode help` says about all of Lode, and about one command. */
void lode_help_all(struct lode_buffer *buffer);
void lode_help_command(const struct lode_command *command, struct lode_buffer *buffer);

/* The features of this program, as `lode version` lists them. */
void lode_version_text(struct lode_buffer *buffer);

#endif
