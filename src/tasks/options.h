/*
 * Options: one table per command says what it understands. The same table drives
 * parsing, `--help`, the sentences for wrong usage, and the plain listing that
 * the completions and the tests of the man pages read.
 *
 * Understood: --name=value, --name value, -ovalue, -o value, bundled short
 * flags (-qr), options after operands, and `--`, which ends the options. Long
 * names are exact; a near miss gets a suggestion.
 */
#ifndef LODE_TASKS_OPTIONS_H
#define LODE_TASKS_OPTIONS_H

#include "base/buffer.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* What an option's value is, and the type of the field it is stored in. */
enum lode_option_kind {
	LODE_OPTION_FLAG,     /* no value; int, set to 1 */
	LODE_OPTION_TEXT,     /* const char * */
	LODE_OPTION_NUMBER,   /* uint64_t, between `least` and `most` */
	LODE_OPTION_DURATION, /* uint64_t nanoseconds, at least `least`: 250us, 30ms, 1.5s */
	LODE_OPTION_CHOICE,   /* const char *, one of `choice` */
	LODE_OPTION_LIST,     /* struct lode_option_list; can be repeated */
};

/* The values of a repeated option, NULL-terminated once there is one. */
struct lode_option_list {
	const char **items;
	size_t count;
	size_t capacity;
	char **made; /* those of the items that were put together from an option's prefix and its value */
	size_t made_count;
	size_t made_capacity;
};

struct lode_option {
	const char *name; /* without the dashes; NULL ends a table */
	char letter;      /* 0: none */
	char old_letter;  /* still understood, but not documented; 0: none */
	enum lode_option_kind kind;
	size_t offset;                   /* of its field in the command's settings */
	const char *argument;            /* what the value is called in help; NULL for flags */
	const char *help;                /* one line, begins small, no full stop */
	const char *(*choice)(size_t i); /* choices in order, NULL behind the last */
	const char *(*meaning)(size_t i); /* what each choice is, one line: help lists them behind the options; or NULL */
	uint64_t least, most;             /* numbers, durations (`least`); most 0: no limit */
	int hidden;                       /* not in help, not in completions */
	const char *prefix;               /* of a list: comes before each value; NULL: nothing does */
};

/* Rows of a table; the last one is LODE_NO_MORE_OPTIONS. */
#define LODE_ROW(name_, letter_, kind_, offset_, argument_, help_)                                                \
	.name = (name_), .letter = (letter_), .kind = (kind_), .offset = (offset_), .argument = (argument_),      \
	.help = (help_)
#define LODE_FLAG(name, letter, offset, help)                                                                     \
	{                                                                                                         \
		LODE_ROW(name, letter, LODE_OPTION_FLAG, offset, NULL, help)                                      \
	}
#define LODE_HIDDEN_FLAG(name, offset, help_)                                                                     \
	{                                                                                                         \
		LODE_ROW(name, 0, LODE_OPTION_FLAG, offset, NULL, help_), .hidden = 1                             \
	}
#define LODE_TEXT(name, letter, offset, argument, help)                                                           \
	{                                                                                                         \
		LODE_ROW(name, letter, LODE_OPTION_TEXT, offset, argument, help)                                  \
	}
#define LODE_LIST(name, letter, offset, argument, help)                                                           \
	{                                                                                                         \
		LODE_ROW(name, letter, LODE_OPTION_LIST, offset, argument, help)                                  \
	}
/* A short form: `--name VALUE` adds "PREFIXVALUE" to a list that another option has, too. */
#define LODE_PREFIXED_LIST(name, letter, offset, argument, help, prefix_)                                         \
	{                                                                                                         \
		LODE_ROW(name, letter, LODE_OPTION_LIST, offset, argument, help), .prefix = (prefix_)             \
	}
#define LODE_NUMBER(name, letter, offset, argument, help, least_, most_)                                          \
	{                                                                                                         \
		LODE_ROW(name, letter, LODE_OPTION_NUMBER, offset, argument, help), .least = (least_),            \
										    .most = (most_)               \
	}
#define LODE_DURATION(name, letter, offset, argument, help)                                                       \
	{                                                                                                         \
		LODE_ROW(name, letter, LODE_OPTION_DURATION, offset, argument, help)                              \
	}
/* One that 0 makes no sense for. */
#define LODE_SOME_DURATION(name, letter, offset, argument, help)                                                  \
	{                                                                                                         \
		LODE_ROW(name, letter, LODE_OPTION_DURATION, offset, argument, help), .least = 1                  \
	}
#define LODE_CHOICE(name, letter, offset, argument, help, choice_)                                                \
	{                                                                                                         \
		LODE_ROW(name, letter, LODE_OPTION_CHOICE, offset, argument, help), .choice = (choice_)           \
	}
#define LODE_CHOICE_LISTED(name, letter, offset, argument, help, choice_, meaning_)                               \
	{                                                                                                         \
		LODE_ROW(name, letter, LODE_OPTION_CHOICE, offset, argument, help), .choice = (choice_),          \
										    .meaning = (meaning_)         \
	}
#define LODE_NO_MORE_OPTIONS                                                                                      \
	{                                                                                                         \
		.name = NULL                                                                                      \
	}

/* Defines a function that names these choices, for a row. */
#define LODE_CHOICES(function, ...)                                                                               \
	static inline const char *function(size_t i)                                                              \
	{                                                                                                         \
		static const char *const choices[] = { __VA_ARGS__, NULL };                                       \
                                                                                                                  \
		return choices[i];                                                                                \
	}

/* What was given on a command line. */
struct lode_arguments {
	char **operands; /* what is no option, in order; NULL-terminated */
	size_t operand_count;
};

/*
 * Reads `argv` (without the program's and the command's name) by two tables:
 * what the command has and what all have. Fields of `settings` (and of `shared`)
 * are set; texts point into `argv`. `command`, for messages, may be NULL. With
 * `leading` reading stops at the first operand, which then begins the operands.
 * Returns 0 or a negative code; release both in either case.
 */
struct lode_options_tables {
	const char *command;
	const struct lode_option *own;
	void *settings;
	const struct lode_option *common;
	void *shared;
	int leading;
};

int lode_options_read(const struct lode_options_tables *tables, size_t argc, char **argv,
		      struct lode_arguments *arguments, struct lode_error *error);
/* Refuses options of `table` that were given together and cannot both be meant. */
int lode_options_contradict(const char *command, const struct lode_option *table, const void *settings,
			    struct lode_error *error);
/* Which of its choices the value of an option is; 0, the first, when it was not given. */
unsigned lode_option_choice(const char *value, const char *(*choice)(size_t i));
/* Frees what repeated options hold. */
void lode_options_release(const struct lode_option *table, void *settings);
void lode_arguments_release(struct lode_arguments *arguments);

/* Appends paragraphs, an empty line between two, broken to the width of help: 80 columns. */
void lode_help_wrap(const char *text, struct lode_buffer *buffer);
/* Appends the lines of `--help`: two columns. */
void lode_options_help(const struct lode_option *table, struct lode_buffer *buffer);
/* Appends what the choices of options are, of those options that say it. */
void lode_options_meanings(const struct lode_option *table, struct lode_buffer *buffer);
/*
 * Appends the plain listing: `--name TAB argument TAB help`, and a line `-n …`
 * for the letter. The argument of a choice is its choices, joined with `|`.
 */
void lode_options_list(const struct lode_option *table, struct lode_buffer *buffer);

#endif
