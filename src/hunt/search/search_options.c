/* The settings of a search: see search.h. */
#include "hunt/search/search.h"

#include <math.h>

#define MILLISECOND 1000000ull
#define SECOND      1000000000ull

void lode_search_options_default(struct lode_search_options *options)
{
	*options = (struct lode_search_options){
		.thresholds = { [LODE_CPU_BOUND] = 0.2,
				[LODE_SYNC_WAITING] = 0.2,
				[LODE_IO_BLOCKING] = 0.2,
				[LODE_SMALL_IO] = 4096,
				[LODE_READY_WAITING] = 0.2 },
		.strategy = LODE_STRATEGY_DEEP_START,
		.deep_threshold = 0.2,
		.cost = 0.1,
		.test = { .interval = 100 * MILLISECOND,
			  .minimum = 500 * MILLISECOND,
			  .maximum = 5 * SECOND,
			  .error = 0.05 },
	};
}

void lode_search_options_paradyn(struct lode_search_options *options)
{
	lode_search_options_default(options);
	options->thresholds[LODE_CPU_BOUND] = 0.3;
	options->starters_by_the_paper = 1;
	options->paper_hypotheses = 1;
	options->test.held = 1;
	options->test.minimum = SECOND;
	options->test.hysteresis = 0.05;
	options->test.hold = 6 * SECOND;
	options->test.maximum = 30 * SECOND;
}

static int is_share(double value)
{
	return isfinite(value) && value >= 0 && value <= 1;
}

int lode_search_options_check(const struct lode_search_options *options, struct lode_error *error)
{
	const struct lode_test_options *test = &options->test;

	for (int i = 0; i < LODE_HYPOTHESES; i++)
		if (!isfinite(options->thresholds[i]) || options->thresholds[i] < 0)
			return lode_fail(error, LODE_USAGE, "hunt: a threshold is a number of 0 or more");
	if (!is_share(options->deep_threshold))
		return lode_fail(error, LODE_USAGE, "hunt: '--deep-threshold' is a share, from 0 to 1");
	if (!is_share(options->cost) || options->cost <= 0)
		return lode_fail(error, LODE_USAGE, "hunt: '--cost' is a share, more than 0 and at most 1");
	if (!test->interval || test->maximum < test->minimum || !is_share(test->error))
		return lode_fail(
			error, LODE_USAGE,
			"hunt: observe for some time, no less than the minimum and with a chance of error");
	return 0;
}
