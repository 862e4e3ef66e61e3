/*
 * The options of a gate: its rules, and which streams may be compared with each other.
 */
#ifndef LODE_TASKS_GATE_OPTIONS_H
#define LODE_TASKS_GATE_OPTIONS_H

#include "latency/gate.h"
#include "result/checks.h"
#include "tasks/options.h"

/* Slow-downs must show in this many of the last streams, unless --persist says otherwise. */
#define LODE_GATE_PERSIST 5

struct lode_gate_settings {
	struct lode_option_list rules;
	struct lode_option_list block_by;
	uint64_t persist;
	const char *unsure;
	struct lode_option_list reports;
};

LODE_CHOICES(lode_unsure_choice, "pass", "fail")

#define LODE_GATE_FIELD(base, field) ((base) + offsetof(struct lode_gate_settings, field))
#define LODE_GATE_OPTIONS(base)                                                                                   \
	LODE_LIST("gate", 0, LODE_GATE_FIELD(base, rules), "RULE",                                                \
		  "exit with 1 when SLOW surely takes more than the rule allows, with 5 when that is unsure: "    \
		  "'total > 3%', 'own > 5ms in FRAME', 'all > 2% in FRAME'"),                                     \
		LODE_CHOICE("unsure", 0, LODE_GATE_FIELD(base, unsure), "HOW",                                    \
			    "--gate: take what is unsure for passed or failed, instead of exit code 5",           \
			    lode_unsure_choice),                                                                  \
		LODE_LIST("block-by", 0, LODE_GATE_FIELD(base, block_by), "KEY",                                  \
			  "--gate: compare only streams with the same value of this attribute (default: host "    \
			  "and kernel), or none: all with all"),                                                  \
		LODE_NUMBER("persist", 0, LODE_GATE_FIELD(base, persist), "N",                                    \
			    "--gate: what the last N streams of SLOW no longer show went away (default: 5)", 1,   \
			    1000000000),                                                                          \
		LODE_LIST("report", 0, LODE_GATE_FIELD(base, reports), "FILE",                                    \
			  "also write the result to FILE, in the format of its ending; can be repeated")

struct lode_diff_sides;
/* Reads the rules, before anything else is read. Without rules the gate stays empty. Release it in either case. */
int lode_gate_read_rules(const struct lode_gate_settings *settings, struct lode_gate *gate,
			 struct lode_error *error);
/* Finds out which streams belong to one block, and when those of the slow side were recorded. */
int lode_gate_read_blocks(const struct lode_gate_settings *settings, const struct lode_diff_sides *sides,
			  struct lode_gate *gate, struct lode_error *error);
void lode_gate_release(struct lode_gate *gate);
/* Says in `checks` what happens where nobody can tell. */
void lode_gate_set_unsure(const struct lode_gate_settings *settings, struct lode_checks *checks);

#endif
