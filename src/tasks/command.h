/*
 * A command: what `lode NAME` is, in one struct, and one call of it. To add one, write a file
 * that defines `const struct lode_command lode_command_NAME` and name it in the list
 * at the top of cmd/commands.c (and the file in meson.build): help, suggestions and
 * completions follow. Commands of this folder run for any host (host.h), those that record in live/; what needs a terminal
 * or signals is in src/cmd/.
 */
#ifndef LODE_TASKS_COMMAND_H
#define LODE_TASKS_COMMAND_H

#include "tasks/options.h"
#include "tasks/host.h"

/* The work was stopped by signal number `s`: the exit status is 128 + s, as shells have it. */
#define LODE_STOPPED(s) (-(128 + (s)))

/* One call of a command, options read. */
struct lode_call {
	const struct lode_command *command;
	void *settings; /* the command's own struct, filled by its table */
	char **operands;
	size_t operand_count;
	int quiet;
	struct lode_host *host;
	struct lode_terminal out; /* standard output */
	struct lode_terminal err; /* standard error */
};

struct lode_command {
	const char *name;
	const char *summary;  /* one line for the list of commands */
	const char *usage;    /* what follows `lode NAME` */
	const char *about;    /* a paragraph or two, broken where help breaks it */
	const char *examples; /* lines of up to 80 columns, each `COMMAND LINE` or `# what it does` */
	const struct lode_option *options;
	size_t settings_size;
	size_t least_operands;
	size_t most_operands; /* 0 with least 0: none; SIZE_MAX: any number */
	const char *operand;  /* what an operand is called: "FILE" */
	/*
	 * Where --output names a FILE: the endings of its formats besides text and JSON, in
	 * the order of --format if there is one, NULL behind the last (output_ending.h).
	 * NULL: there are none, or `analysis` has them.
	 */
	const char *(*ending)(const void *settings, size_t i);
	const struct lode_analysis_command *analysis; /* of an analysis (analysis.h); `run` is lode_analysis_run then */
	/*
	 * Does it. Returns 0 or a negative code: the exit status is minus it, and a
	 * sentence in `error`, if there is one, is printed.
	 */
	int (*run)(struct lode_call *call, struct lode_error *error);
};

/*
 * Reads the words that follow the command's name into the call: its settings and operands, and,
 * by the table `common`, `shared`. Release the call in either case.
 */
int lode_call_read(struct lode_call *call, const struct lode_option *common, void *shared, size_t argc,
		   char **argv, struct lode_error *error);
/* Checks what was read, and runs the command. */
int lode_call_run(struct lode_call *call, struct lode_error *error);
void lode_call_release(struct lode_call *call);

#endif
