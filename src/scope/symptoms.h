/*
 * Symptoms that are derived from events, where a stream has none of its own or
 * others are meant:
 *
 *	thread NAME                  a thread of this name, from its first event to
 *	                             the end of its last
 *	wait > 200ms in FRAME        each wait longer than that with FRAME in its stack
 *	between A and B > 1s         in a thread, from the first event with frame A to
 *	                             the first later one with frame B, if that took
 *	                             longer; then again from there on. A may be `start`:
 *	                             the first event of the thread's process
 *
 * FRAME, A and B are globs (`*`, `?`) over `module!function`, or over the function
 * alone where they hold no `!`; so is NAME over thread names, or a thread number.
 */
#ifndef LODE_SCOPE_SYMPTOMS_H
#define LODE_SCOPE_SYMPTOMS_H

#include "trace/stream.h"

enum lode_symptom_rule_type {
	LODE_SYMPTOM_THREAD,
	LODE_SYMPTOM_WAIT,
	LODE_SYMPTOM_BETWEEN,
};

struct lode_symptom_rule {
	enum lode_symptom_rule_type type;
	const char *text; /* as it was written */
	char *first;      /* NAME, FRAME or A */
	char *second;     /* B */
	uint64_t longer;  /* ns */
};

/* Reads one rule; LODE_USAGE with a sentence that shows the three forms when it is none. `text` must outlive it. */
int lode_symptom_rule_parse(struct lode_symptom_rule *rule, const char *text, struct lode_error *error);
void lode_symptom_rule_release(struct lode_symptom_rule *rule);

/* The symptoms a rule finds in a sorted stream, appended to `*symptoms` (lode_grow). */
int lode_symptoms_derive(const struct lode_symptom_rule *rule, const struct lode_stream *stream,
			 struct lode_symptom **symptoms, size_t *count, size_t *capacity,
			 struct lode_error *error);

#endif
