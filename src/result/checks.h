/*
 * Checks: what a gate says of each rule and each subject, in words, for people and for the programs that run gates. All
 * forms but JSON are made of this: text, Markdown, JUnit, SARIF.
 */
#ifndef LODE_RESULT_CHECKS_H
#define LODE_RESULT_CHECKS_H

#include "base/buffer.h"
#include "latency/gate.h"

struct lode_check {
	const char *rule; /* as it was given */
	char *subject;    /* a function, or `the whole run` */
	char *module;     /* of the function; "" where there is none */
	enum lode_gate_verdict verdict;
	char *measured; /* `+20ms [+15ms, +25ms], +9.9% [+7.4%, +12%] of a run` */
	char *reason;   /* why it is not as `measured` looks, or how to learn more; "" where that is clear */
	size_t named;   /* so many of the reason's first bytes are the name of a function */
};

struct lode_checks {
	const char *command;            /* `lode diff` */
	enum lode_gate_verdict verdict; /* WITHIN, UNSURE or BEYOND */
	int unsure_fails;               /* UNSURE is taken for BEYOND, */
	int unsure_passes;              /* or for WITHIN; neither: it is told apart */
	char *compared;                 /* what was compared, a sentence without a full stop */
	struct lode_check *items;       /* by rule; within a rule the gravest first */
	size_t count;
	size_t capacity;
	int failed; /* memory has run out */
};

/* What a verdict is called in a sentence: `surely beyond the limit`. */
const char *lode_verdict_words(enum lode_gate_verdict verdict);
/* What the whole comes to: `passed`, `unsure`, `failed`. */
const char *lode_checks_result(const struct lode_checks *checks);
/* The code for the exit status: 0, LODE_FOUND or LODE_UNSURE. */
int lode_checks_code(const struct lode_checks *checks);
/* Whether a check counts as failed, or as one that nobody can tell. */
int lode_check_failed(const struct lode_checks *checks, const struct lode_check *check);
int lode_check_unsure(const struct lode_checks *checks, const struct lode_check *check);

/* Adds a check with no texts but its rule; NULL when memory has run out, which is noted. */
struct lode_check *lode_checks_add(struct lode_checks *checks, const char *rule, enum lode_gate_verdict verdict);
/* Takes what a buffer holds as a text of its own and releases the buffer; NULL and noted where memory has run out. */
char *lode_checks_text(struct lode_checks *checks, struct lode_buffer *buffer);
void lode_checks_release(struct lode_checks *checks);

/* `+20ms`, `-3us`. */
void lode_signed_duration(double time, struct lode_buffer *buffer);
/* `+9.9%`, `-0.31%`. */
void lode_signed_percent(double share, struct lode_buffer *buffer);

struct lode_diff;
/* The checks of the gate of a comparison; texts of the rules stay the gate's. Release in either case. */
void lode_gate_checks(const struct lode_diff *diff, const struct lode_gate *gate, struct lode_checks *checks);

#endif
