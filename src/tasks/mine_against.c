/*
 * lode mine --against CORPUS: what is new, gone or changed.
 *
 * The other corpus is mined with the same options and the same threshold per
 * stream, so that a larger corpus does not find more just because it is larger.
 */
#include "tasks/mining.h"
#include "text/mine_text.h"

static uint64_t scaled_threshold(const struct lode_mining *here, const struct lode_mining *other)
{
	size_t streams = here->reading.area.stream_count;
	double each = streams ? (double)here->how.threshold / (double)streams : (double)here->how.threshold;
	double threshold = each * (double)other->reading.area.stream_count;

	return threshold < 1 ? 1 : threshold >= 1.8e19 ? UINT64_MAX : (uint64_t)threshold;
}

LODE_TEXT_WRITER(write_text, lode_compare_text)
LODE_FORM_WRITER(write_json, lode_compare_json)

const struct lode_form lode_mine_against_forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = NULL },
};

static int compare(struct lode_analysis *analysis, struct lode_mining *here, struct lode_mining *other,
		   struct lode_error *error)
{
	struct lode_comparison comparison = { 0 };
	struct lode_compare_side left = { &here->reading.area, &here->mined };
	struct lode_compare_side right = { &other->reading.area, &other->mined };
	struct lode_compare_report report = { &here->report, &other->report, &comparison, here->report.top };
	int code = lode_compare(&left, &right, here->how.kind, &comparison, error);

	if (!code)
		code = lode_analysis_write(analysis, &report, error);
	lode_comparison_release(&comparison);
	return code;
}

int lode_mine_against(struct lode_analysis *analysis, struct lode_mining *mining, struct lode_error *error)
{
	const struct lode_mine_settings *settings = analysis->call->settings;
	char *against = (char *)(uintptr_t)settings->against; /* it is only read */
	struct lode_mining other;
	int code = lode_mining_open(&other, settings, &against, 1, &analysis->work, error);

	if (!code && other.how.kind != mining->how.kind)
		code = lode_fail(error, LODE_USAGE,
				 "mine: %s has %ss and %s has %ss; say with '--kind' what to compare",
				 mining->source.path, lode_event_type_name(mining->how.kind), settings->against,
				 lode_event_type_name(other.how.kind));
	if (!code && !other.source.implied != !mining->source.implied)
		code = lode_fail(
			error, LODE_USAGE,
			"mine: of %s the slowest requests are looked at, of %s everything; compare both with "
			"'--scope all', or say with '--slow' or '--symptom' what was slow",
			mining->source.implied ? mining->source.path : settings->against,
			mining->source.implied ? settings->against : mining->source.path);
	if (!code)
		code = lode_mining_run(&other, settings, scaled_threshold(mining, &other), error);
	if (!code)
		code = compare(analysis, mining, &other, error);
	lode_mining_release(&other);
	return code;
}
