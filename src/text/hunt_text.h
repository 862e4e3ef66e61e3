/* The result of a hunt as text. */
#ifndef LODE_TEXT_HUNT_TEXT_H
#define LODE_TEXT_HUNT_TEXT_H

#include "result/hunt_report.h"

/* The answer in ten lines: the strongest bottlenecks, without those of threads that have nothing to do. */
void lode_hunt_answer(const struct lode_hunt_report *report, struct lode_buffer *buffer);
/* What was found, what was not examined and why, and the search history graph. */
void lode_hunt_text(const struct lode_hunt_report *report, struct lode_buffer *buffer);

/* The sign of a state: `+`, `-`, …; with `utf8` a round one. */
const char *lode_hunt_mark(enum lode_experiment_state state, int utf8);
/*
 * The experiment behind `id` in the order of the tree by first parents, and its depth; LODE_NONE behind the
 * last. Begin with `history->first_root` and a depth of 0.
 */
uint32_t lode_hunt_next(const struct lode_history *history, uint32_t id, unsigned *depth);

#endif
