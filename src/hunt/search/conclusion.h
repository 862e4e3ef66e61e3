/*
 * Conclusions: when what an experiment has measured is enough to say that its
 * hypothesis is true, or that it is false.
 *
 * The measurement is cut into sub-intervals. The value is the sum of all amounts by
 * the sum of all bases (a share: time by the time that could be used), and how much the sub-intervals
 * differ from it shows how sure it is: a confidence interval by Student's t. An
 * experiment concludes when that interval is on one side of the threshold. It is
 * checked repeatedly, and each look is a chance to be wrong; so look k may be wrong
 * with the chance error / (k (k + 1)), and all of them together with no more than
 * `error`. Each look comes a quarter later than the one before, so that there are few.
 * After the longest time the mean decides, and the confidence says how reliable that
 * is.
 *
 * What rests on samples is counted in grains. Sub-intervals that happen to be alike do
 * not make it surer than chance allows: the spread is at least that of drawing so many
 * samples, and of one where none was drawn.
 *
 * An experiment that has its verdict is checked every ten sub-intervals, and may
 * change it with a tenth of the chance of error.
 */
#ifndef LODE_HUNT_SEARCH_CONCLUSION_H
#define LODE_HUNT_SEARCH_CONCLUSION_H

#include "hunt/meter/hypothesis.h"

/* Sub-intervals that are kept: the latest. */
#define LODE_INTERVALS 64

struct lode_test_options {
	uint64_t interval; /* nanoseconds between two looks */
	uint64_t minimum;  /* observe at least as long */
	uint64_t maximum;  /* then the mean decides; UINT64_MAX: it has its verdict and is only watched */
	double error;      /* chance of a wrong conclusion, all looks of an experiment together */
	int held; /* another test, as Paradyn has it: the mean outside threshold ± hysteresis, held so long:
		   */
	double hysteresis;
	uint64_t hold;
};

/* What was measured of one experiment; a zeroed struct is a fresh one. */
struct lode_observation {
	double amount[LODE_INTERVALS];
	double base[LODE_INTERVALS];
	unsigned filled;
	unsigned next;
	double grain;         /* time that one sample represents; 0: measured without chance */
	uint64_t last_amount; /* sums so far */
	uint64_t last_base;
	uint64_t looks;
	uint64_t next_look; /* nanoseconds of measuring */
	int guess;          /* of the held test: 1 true, -1 false, 0 none yet */
	uint64_t guess_since;
};

struct lode_verdict {
	int concluded;
	int truth;
	double value;      /* of the kept sub-intervals; 0 when there is nothing yet */
	double confidence; /* that the value is on this side of the threshold, 0.5 to 1; by this look
			      alone */
};

/* Takes over what the meter reads now. */
void lode_observation_add(struct lode_observation *observation, enum lode_hypothesis hypothesis,
			  const struct lode_reading *reading);
/* The mean of all that was measured. */
double lode_observation_mean(const struct lode_observation *observation);
/* Checks it after `observed` nanoseconds of measuring; without a conclusion where it is not time for one.
 */
struct lode_verdict lode_observation_look(struct lode_observation *observation, enum lode_hypothesis hypothesis,
					  double threshold, const struct lode_test_options *options,
					  uint64_t observed);
/* It has a verdict: from now on it is watched. */
void lode_observation_settle(struct lode_observation *observation);
/* Decides by the mean, for good: the program has ended, or the time is up. */
struct lode_verdict lode_observation_close(const struct lode_observation *observation,
					   enum lode_hypothesis hypothesis, double threshold);

#endif
