/*
 * Probes of rules: where functions begin and end, and where programs have marks,
 * attached to the programs of a recorder that measure the time between.
 *
 * Functions are looked up when it begins. Files with marks are found as processes
 * map them: hand over changes through lode_rule_probes_sink.
 */
#ifndef LODE_WATCH_RULE_PROBES_H
#define LODE_WATCH_RULE_PROBES_H

#include "base/notes.h"
#include "watch/rules.h"

struct lode_rule_probes;

/*
 * For those of the rules that need probes; all must outlive it. `processes`, which
 * may be NULL, are those that are there: a function's file may be called by the
 * name that it has in one of them. LODE_USAGE when there is no such file or
 * function, LODE_SYSTEM when it cannot be probed.
 */
int lode_rule_probes_create(struct lode_rule_probes **probes, struct lode_recorder *recorder,
			    const struct lode_record_rule *rules, size_t count,
			    const struct lode_processes *processes, struct lode_error *error);
void lode_rule_probes_destroy(struct lode_rule_probes *probes);
/* A command that will run: its marks are attached before it does. */
int lode_rule_probes_command(struct lode_rule_probes *probes, const char *command);
/* Looks through what the processes of lode_rule_probes_create have mapped. Returns 0 or LODE_SYSTEM. */
int lode_rule_probes_look(struct lode_rule_probes *probes);
/* A sink that looks for marks in what is mapped, and hands all on to `next`. */
struct lode_recorder_sink lode_rule_probes_sink(struct lode_rule_probes *probes,
						const struct lode_recorder_sink *next);
/* Counts what could not be attached; at the end, once. */
void lode_rule_probes_note(const struct lode_rule_probes *probes, struct lode_notes *notes);

#endif
