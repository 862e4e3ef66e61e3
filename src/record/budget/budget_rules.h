/*
 * The rules of a budget: each looks at the estimates and changes one part of the decision. Private to budget.c, which calls
 * them in the order in which they are listed; later ones see what earlier ones decided.
 */
#ifndef LODE_RECORD_BUDGET_BUDGET_RULES_H
#define LODE_RECORD_BUDGET_BUDGET_RULES_H

#include "record/budget/budget.h"

/* program_rules.c: learns what the kernel's reports of mappings take, and puts it in the place of what was counted. */
void lode_budget_estimate_reports(struct lode_budget *budget, struct lode_budget_interval *interval);

/*
 * rate_rules.c: in how many slots, and how many of the waits in them. `room`: what switches and records may take, as a share
 * of the machine.
 */
void lode_budget_choose_slots(struct lode_budget *budget, double room);
void lode_budget_choose_scale(struct lode_budget *budget, const struct lode_budget_interval *interval, double room);

/* program_rules.c: which programs stay attached beside them. */
void lode_budget_choose_long_waits(struct lode_budget *budget, const struct lode_budget_interval *interval);
void lode_budget_choose_mmaps(struct lode_budget *budget, const struct lode_budget_interval *interval);
void lode_budget_choose_stay_attached(struct lode_budget *budget, const struct lode_budget_interval *interval);

/* rate_rules.c: CPU samples. */
void lode_budget_choose_frequency(struct lode_budget *budget, const struct lode_budget_interval *interval);

/* rate_rules.c: the fraction of the time in which the slots of the decision have programs attached. */
double lode_budget_attached_fraction(const struct lode_budget *budget);

#endif
