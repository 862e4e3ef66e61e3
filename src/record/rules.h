/*
 * Symptom rules: which threads of a recording were too slow, and when.
 *
 *	thread NAME	the threads called NAME, each for as long as it lived
 *	run > TIME	the main thread of the command, from its start to its end,
 *			if that took longer
 */
#ifndef LODE_RECORD_RULES_H
#define LODE_RECORD_RULES_H

#include "record/builder.h"

enum lode_record_rule_type {
	LODE_RULE_THREAD,
	LODE_RULE_RUN,
};

struct lode_record_rule {
	enum lode_record_rule_type type;
	const char *text; /* the whole rule; not owned */
	const char *name; /* of the thread; in `text` */
	uint64_t limit;   /* nanoseconds */
};

/* What was recorded when. */
struct lode_record_times {
	uint64_t began;
	uint64_t ended;
	uint32_t command; /* pid; 0: there is none */
	uint64_t command_began;
	uint64_t command_ended;
};

/* Reads a rule. Returns 0, or LODE_USAGE with a sentence. */
int lode_record_rule_parse(struct lode_record_rule *rule, const char *text, struct lode_error *error);
/* Adds the symptoms that the rule finds to the builder's stream. Returns how many, or LODE_SYSTEM. */
int lode_record_rule_apply(const struct lode_record_rule *rule, struct lode_builder *builder,
			   const struct lode_record_times *times);

#endif
