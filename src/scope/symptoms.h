/*
 * Symptoms that are derived from events, where a stream has none of its own or
 * others are meant:
 *
 *	thread NAME                  a thread of this name, from its first event to
 *	                             the end of its last
 *	wait > 200ms in FRAME        each wait longer than that with FRAME in its stack;
 *	                             without `in FRAME`, each wait longer than that
 *	                             that is not idle
 *	between A and B > 1s         in a thread, from the first event with frame A to
 *	                             the first later one with frame B, if that took
 *	                             longer; then again from there on. A may be `start`:
 *	                             the first event of the thread's process
 *
 *	request > 10ms               each request (requests.h) longer than that
 *	request > 99%                those longer than 99 % of the requests of their
 *	                             loop, if it has enough of them
 *	request of NAME > 10ms       the same in threads or processes of this name;
 *	                             `request` and `request of NAME` alone: all of them
 *	gpu                          what each GPU did: from the first kernel of its
 *	                             busiest stream to the end of the last
 *
 * FRAME, A and B are frames `module!function`, or words of a function's name: `lock`
 * is in mutex_lock, but not in clock_nanosleep. With `*` or `?` they are globs over
 * `module!function`, or over the function alone where they hold no `!`; so is NAME
 * over thread names, or a thread number.
 * Events of all types count, in the order of their starts. Threads are compared by
 * tid.
 */
#ifndef LODE_SCOPE_SYMPTOMS_H
#define LODE_SCOPE_SYMPTOMS_H

#include "scope/idle.h"
#include "trace/stream.h"

enum lode_symptom_rule_type {
	LODE_SYMPTOM_THREAD,
	LODE_SYMPTOM_WAIT,
	LODE_SYMPTOM_BETWEEN,
	LODE_SYMPTOM_REQUEST,
	LODE_SYMPTOM_GPU,
};

struct lode_symptom_rule {
	enum lode_symptom_rule_type type;
	const char *text; /* as it was written */
	char *first;      /* NAME, FRAME or A; of a request may be NULL */
	char *second;     /* B */
	uint64_t longer;  /* ns */
	unsigned percent; /* of requests; 0: `longer` counts */
	int anywhere;     /* a wait in no FRAME that was named: FRAME is `*` */
};

/* Reads one rule; LODE_USAGE with a sentence that shows the forms when it is none. `text` must outlive it. */
int lode_symptom_rule_parse(struct lode_symptom_rule *rule, const char *text, struct lode_error *error);
void lode_symptom_rule_release(struct lode_symptom_rule *rule);

/* Rules, as several --symptom give them. A zeroed struct holds none. */
struct lode_symptom_rules {
	struct lode_symptom_rule *items;
	size_t count;
};

/* Reads `texts` (NULL-terminated, or NULL: no rules), which must outlive it. On failure it holds nothing. */
int lode_symptom_rules_parse(struct lode_symptom_rules *rules, const char *const *texts, struct lode_error *error);
void lode_symptom_rules_release(struct lode_symptom_rules *rules);

/*
 * The symptoms of a stream: its own, in its order, where there are no rules, else
 * those the rules find, by t0, t1 and thread, what two rules find once. The caller
 * frees `*symptoms`, which is NULL when there are none.
 *
 * Columns needed: t, thread, stack, of runs and waits cost and delay, and of waits the
 * waker and its stack. Types of events that were not read are as if there were none. `idle`
 * may be NULL: nothing is.
 */
int lode_symptoms_of(const struct lode_symptom_rules *rules, const struct lode_stream *stream,
		     const struct lode_idle_stacks *idle, struct lode_symptom **symptoms, size_t *count,
		     struct lode_error *error);

#endif
