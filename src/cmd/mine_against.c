/*
 * lode mine --against CORPUS: what is new, gone or changed.
 *
 * The other corpus is mined with the same options and a threshold that is as much
 * for each stream, so that a larger corpus does not find more for being larger.
 */
#include "cmd/mine.h"
#include "text/mine_text.h"

#include <string.h>

static uint64_t scaled_threshold(const struct lode_mining *here, const struct lode_mining *other)
{
	size_t streams = here->reading.area.stream_count;
	double each = streams ? (double)here->how.threshold / (double)streams : (double)here->how.threshold;
	double threshold = each * (double)other->reading.area.stream_count;

	return threshold < 1 ? 1 : threshold >= 1.8e19 ? UINT64_MAX : (uint64_t)threshold;
}

static int show(const struct lode_call *call, const struct lode_compare_report *report, struct lode_error *error)
{
	const struct lode_mine_settings *settings = call->settings;
	struct lode_look look = call->out.look;
	struct lode_buffer buffer = { 0 };
	int code;

	if (settings->output)
		look.colour = 0;
	if (settings->json)
		lode_compare_json(report, &buffer);
	else
		lode_compare_text(report, &look, &buffer);
	code = lode_results_write(call, settings->output, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

static int compare(const struct lode_call *call, struct lode_mining *here, struct lode_mining *other,
		   struct lode_bar *bar, struct lode_error *error)
{
	struct lode_comparison comparison = { 0 };
	struct lode_compare_side left = { &here->reading.area, &here->mined };
	struct lode_compare_side right = { &other->reading.area, &other->mined };
	struct lode_compare_report report = { &here->report, &other->report, &comparison, here->report.top };
	int code = lode_compare(&left, &right, here->how.kind, &comparison, error);

	lode_bar_wipe(bar);
	if (!code)
		code = show(call, &report, error);
	lode_comparison_release(&comparison);
	return code;
}

int lode_mine_against(const struct lode_call *call, struct lode_mining *mining, struct lode_work *work,
		      struct lode_error *error)
{
	const struct lode_mine_settings *settings = call->settings;
	struct lode_mining other;
	int code = lode_mining_open(&other, call, settings->against, work, error);

	if (!code && other.how.kind != mining->how.kind)
		code = lode_fail(error, LODE_USAGE, "mine: %s has %ss and %s has %ss; say with '--kind' what to compare",
				 call->operands[0], lode_event_type_name(mining->how.kind), settings->against,
				 lode_event_type_name(other.how.kind));
	if (!code)
		code = lode_mining_run(&other, settings, scaled_threshold(mining, &other), error);
	if (!code)
		code = compare(call, mining, &other, &work->bar, error);
	lode_mining_release(&other);
	return code;
}
