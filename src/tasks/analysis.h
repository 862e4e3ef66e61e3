/*
 * The harness of the analyses: mine, scope, latency, diff, explain, coverage, info.
 *
 * A command says in a table in which forms its result can be written. lode_analysis_run finds
 * the form that the options ask for and begins the work (progress, notes, Ctrl-C); the
 * command's `make` opens its corpora (source.h) and makes its result; lode_analysis_write
 * writes it: to a file, to standard output or into a page.
 */
#ifndef LODE_TASKS_ANALYSIS_H
#define LODE_TASKS_ANALYSIS_H

#include "base/output.h"
#include "tasks/long_task.h"

/* The options that say how a result is written; a command has those of them that it needs. */
struct lode_result_settings {
	int json;
	int page_data; /* the JSON that its page would get */
	const char *format;
	const char *output;
};

struct lode_analysis;

enum lode_form_kind {
	LODE_FORM_TEXT,
	LODE_FORM_JSON,
	LODE_FORM_PAGE, /* `write` makes the JSON that the page shows */
	LODE_FORM_OTHER,
};

/* A form in which a result is written. */
struct lode_form {
	const char *name;      /* of --format; NULL ends a table */
	const char *extension; /* of files that get it unasked; NULL: none */
	enum lode_form_kind kind;
	int flows;  /* leaves as it is made; otherwise it is made as a whole, and may be paged */
	int binary; /* not fit for a terminal */
	int (*write)(struct lode_analysis *analysis, void *result, struct lode_output *output,
		     struct lode_error *error);
};

struct lode_analysis {
	const struct lode_call *call;
	const struct lode_result_settings *settings;
	const struct lode_form *form; /* the one that is requested */
	const char *title;            /* what a page is about: the first operand, unless the command sets it */
	struct lode_look look;        /* of text; without colours where it goes to a file */
	struct lode_work work;
};

/* Defines a `write` for results that `put`(RESULT, struct lode_buffer *) writes by itself. */
#define LODE_FORM_WRITER(name, put)                                                                               \
	static int name(struct lode_analysis *analysis, void *result, struct lode_output *output,                 \
			struct lode_error *error)                                                                 \
	{                                                                                                         \
		(void)analysis, (void)error;                                                                      \
		put(result, &output->buffer);                                                                     \
		return 0;                                                                                         \
	}

/* The same of text, that `put`(RESULT, const struct lode_look *, struct lode_buffer *) writes. */
#define LODE_TEXT_WRITER(name, put)                                                                               \
	static int name(struct lode_analysis *analysis, void *result, struct lode_output *output,                 \
			struct lode_error *error)                                                                 \
	{                                                                                                         \
		(void)error;                                                                                      \
		put(result, &analysis->look, &output->buffer);                                                    \
		return 0;                                                                                         \
	}

/* When a wish to stop is noted and reaches the work through its progress, so that it ends cleanly. */
enum lode_hold {
	LODE_HOLD_NEVER,
	LODE_HOLD_FILES, /* when the result goes to a file */
	LODE_HOLD_ALWAYS,
};

/* What makes a command an analysis. */
struct lode_analysis_command {
	size_t result; /* where in its settings its struct lode_result_settings is */
	size_t memory; /* where the text of --memory is; 0: it has no such option */
	enum lode_hold hold;
	const struct lode_form *forms;
	const struct lode_form *(*forms_of)(const void *settings); /* instead, where options decide which there are */
	/* Makes the result and writes it. */
	int (*make)(struct lode_analysis *analysis, struct lode_error *error);
};

/*
 * lode_command.run of all analyses: chooses the form, begins, makes, ends. Fails when the options ask for two
 * things at once, for what a terminal cannot show, or for a page that was not built.
 */
int lode_analysis_run(struct lode_call *call, struct lode_error *error);
/* Writes `result`, which is handed to the form. */
int lode_analysis_write(struct lode_analysis *analysis, void *result, struct lode_error *error);

/*
 * Makes what is written next go to the file `path`, in the form that its ending says, and back where `target` had it
 * when `path` is NULL. Fails where no form has this ending.
 */
struct lode_analysis_target {
	struct lode_result_settings settings;
	const struct lode_result_settings *first;
	const struct lode_form *form;
};
int lode_analysis_turn(struct lode_analysis *analysis, const char *path, struct lode_analysis_target *target,
		       struct lode_error *error);

/* Whether a form was requested by an option or by the end of the file's name: 0 for text. */
static inline int lode_analysis_is(const struct lode_analysis *analysis, enum lode_form_kind kind)
{
	return analysis->form->kind == kind;
}

/* The names of the forms besides text and JSON, in order: for --format. */
const char *lode_form_name(const struct lode_form *forms, size_t i);
/* As lode_command.ending. */
const char *lode_analysis_ending(const struct lode_analysis_command *command, const void *settings, size_t i);

#endif
