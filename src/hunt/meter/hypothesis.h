/*
 * Hypotheses: what may be wrong with a program, how it is called, and when it is
 * true.
 */
#ifndef LODE_HUNT_METER_HYPOTHESIS_H
#define LODE_HUNT_METER_HYPOTHESIS_H

#include "hunt/meter/meter.h"

/* `CPUbound`, `ExcessiveSyncWaitingTime`, …; as in the JSON. */
const char *lode_hypothesis_name(enum lode_hypothesis hypothesis);
/* The hypothesis of this name, or LODE_HYPOTHESES. */
enum lode_hypothesis lode_hypothesis_find(const char *name);
/* Whether a measured value makes it true: above the threshold; for the size of operations below it. */
int lode_hypothesis_holds(enum lode_hypothesis hypothesis, double value, double threshold);
/*
 * What an experiment measures, as a fraction: the value is `amount` / `base`. For a
 * share that is time by usable time, for time without a CPU that time by wall time, for the size of operations bytes by operations.
 */
void lode_hypothesis_fraction(enum lode_hypothesis hypothesis, const struct lode_reading *reading,
			      uint64_t *amount, uint64_t *base);

/* Nothing narrowed: the whole program. */
struct lode_focus lode_focus_whole(void);
int lode_focus_equal(const struct lode_focus *a, const struct lode_focus *b);
int lode_focus_is_whole(const struct lode_focus *focus);
/* The number that a focus has on an axis; the address for objects. */
uint64_t lode_focus_on(const struct lode_focus *focus, enum lode_focus_axis axis);
/* Whether it is narrowed there. */
int lode_focus_has(const struct lode_focus *focus, enum lode_focus_axis axis);

#endif
