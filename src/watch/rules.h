/*
 * Rules: what is too slow. A recording looks for it as symptoms, a flight
 * recorder is triggered by it.
 *
 *	thread NAME			the threads called NAME, each for as long as it lived
 *	run > TIME			the main thread of the command, from its start to its
 *					end, if that took longer
 *	thread NAME wait > TIME		a thread called NAME was blocked for longer
 *	thread NAME queue > TIME	it was runnable, but in the run queue for longer
 *	wait > TIME, queue > TIME	any thread
 *	function BIN:FUNC > TIME	a call of the function took longer; without the word
 *					`function` as well
 *	mark NAME > TIME		the time between two marks (lode_mark.h)
 *	request of NAME > TIME		a request (requests.bpf.h) of a thread or process called
 *					NAME took longer; without `of NAME` of any
 *
 * All but the first two are limits that the kernel checks (records.h).
 */
#ifndef LODE_WATCH_RULES_H
#define LODE_WATCH_RULES_H

#include "record/stream/builder.h"

enum lode_record_rule_type {
	LODE_RULE_THREAD,
	LODE_RULE_RUN,
	LODE_RULE_WAIT,
	LODE_RULE_QUEUE,
	LODE_RULE_FUNCTION,
	LODE_RULE_MARK,
	LODE_RULE_REQUEST,
};

struct lode_record_rule {
	enum lode_record_rule_type type;
	const char *text; /* the whole rule; not owned */
	const char *name; /* of the thread, function, mark or process, `length` bytes of `text`; NULL: any thread */
	size_t length;
	const char *binary; /* of a function; in `text` too */
	size_t binary_length;
	uint64_t limit;  /* nanoseconds */
	uint32_t number; /* its limit's, below LODE_RECORD_LIMITS */
};

/* All that were requested; a zeroed struct has none. */
struct lode_record_rules {
	struct lode_record_rule *rules;
	struct lode_record_limit *limits; /* of each one, its type LODE_LIMIT_NONE where it has none */
	size_t count;
};

/* What was recorded when. */
struct lode_record_times {
	uint64_t began;
	uint64_t ended;
	uint32_t command; /* pid; 0: there is none */
	uint64_t command_began;
	uint64_t command_ended;
};

/* Reads a rule, except its number. Returns 0, or LODE_USAGE with a sentence. */
int lode_record_rule_parse(struct lode_record_rule *rule, const char *text, struct lode_error *error);
/* Reads all of them; `limits_only`: a sentence on a wrong one names only limits. Returns 0, or LODE_USAGE or LODE_SYSTEM with a sentence. */
int lode_record_rules_parse(struct lode_record_rules *rules, const char *const *texts, size_t count,
			    int limits_only, struct lode_error *error);
void lode_record_rules_release(struct lode_record_rules *rules);
/* Whether it is a limit that the kernel checks. */
int lode_record_rule_is_limit(const struct lode_record_rule *rule);
/* The longest time that one of them asks for, in nanoseconds; 0: none does. */
uint64_t lode_record_rules_longest(const struct lode_record_rules *rules);
/* The limit for the recorder. */
struct lode_record_limit lode_record_rule_limit(const struct lode_record_rule *rule);
/* Adds the symptoms that the rule finds to the builder's stream. Returns how many, or LODE_SYSTEM. */
int lode_record_rule_apply(const struct lode_record_rule *rule, struct lode_builder *builder,
			   const struct lode_record_times *times);

#endif
