/*
 * The budget of `lode record` and `lode watch` (record/budget/budget.h): measures what recording takes, keeps to the budget, and
 * says at the end what it took.
 */
#ifndef LODE_TASKS_LIVE_BUDGET_CONTROL_H
#define LODE_TASKS_LIVE_BUDGET_CONTROL_H

#include "tasks/live/record_target.h"
#include "result/budget_report.h"

/* Before the recorder starts, which is to take so many samples a second at most. */
void lode_budget_control_begin(struct lode_record_target *target, struct lode_recorder *recorder,
			       unsigned frequency);
/* Milliseconds to sleep, so many at most, until a slot is over (record/budget/time_slots.h). */
int lode_budget_control_sleep(const struct lode_record_target *target, int milliseconds);
/* Goes to the next slot when one is over: to be called after each sleep, before anything is read. */
int lode_budget_control_change_slot(struct lode_record_target *target, struct lode_recorder *recorder,
				    struct lode_error *error);
/* Keeps to the budget: to be called often while recording. Does nothing without one. */
void lode_budget_control_steer(struct lode_record_target *target, struct lode_recorder *recorder, uint64_t now);
/* When the recording has ended: counts what came since the last step. */
void lode_budget_control_end(struct lode_record_target *target, struct lode_recorder *recorder);
/* What it was used for. */
struct lode_budget_report lode_budget_control_report(const struct lode_record_target *target);

#endif
