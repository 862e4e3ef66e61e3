/* Gains as text: see gain_text.h. */
#include "text/gain_text.h"

#include "base/memory.h"
#include "base/safe_text.h"
#include "base/units.h"
#include "text/grid.h"

/* A replay that is off by more than this part of the recorded time says so. */
#define OFF 20

void lode_gain_range_text(const struct lode_gain *gain, struct lode_buffer *buffer)
{
	char low[LODE_UNITS_TEXT], high[LODE_UNITS_TEXT];
	const char *lead = " (";

	if (gain->low != gain->high) {
		lode_buffer_print(buffer, "%sat least %s, at most %s", lead, lode_duration_text(gain->low, low),
				  lode_duration_text(gain->high, high));
		lead = "; ";
	}
	if (gain->sure && gain->likely) {
		lode_buffer_print(buffer, "%s95%%: %s to %s", lead, lode_duration_text(gain->interval_low, low),
				  lode_duration_text(gain->interval_high, high));
		lead = "; ";
	}
	lode_buffer_text(buffer, *lead == ';' ? ")" : "");
}

void lode_gain_trust_text(const struct lode_gains *gains, uint32_t cpus, const char *lead,
			  struct lode_buffer *buffer)
{
	uint64_t off = gains->replayed > gains->length ? gains->replayed - gains->length
						       : gains->length - gains->replayed;
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT];

	if (gains->unsure)
		lode_buffer_print(
			buffer,
			"%sof %s of their time, %s, the recording cannot tell when a wait would have ended: "
			"no waker is known, an interrupt or a time-out\n",
			lead, lode_share_text(gains->unsure, gains->length, a),
			lode_duration_text(gains->unsure, b));
	if (off > gains->length / OFF)
		lode_buffer_print(buffer, "%sreplayed without a change they take %s instead of %s\n", lead,
				  lode_duration_text(gains->replayed, a), lode_duration_text(gains->length, b));
	if (cpus == LODE_CPUS_UNLIMITED)
		lode_buffer_print(buffer, "%sno thread waits for a processor in the replay\n", lead);
	if (gains->symptoms_replayed < gains->symptoms)
		lode_buffer_print(buffer, "%s%s of %s symptoms were replayed and represent the others\n", lead,
				  lode_count_text(gains->symptoms_replayed, a),
				  lode_count_text(gains->symptoms, b));
}

static void put_pattern(const struct lode_gain_report *report, struct lode_buffer *buffer)
{
	lode_buffer_text(buffer, report->percent < 100 ? "With " : "Without ");
	lode_text_safe(buffer, report->without);
	if (report->percent < 100)
		lode_buffer_print(buffer, " %u%% shorter", report->percent);
}

static void put_symptoms(const struct lode_gains *gains, struct lode_buffer *buffer)
{
	char text[LODE_UNITS_TEXT];

	if (gains->symptoms > 1)
		lode_buffer_print(buffer, "the %s symptoms", lode_count_text(gains->symptoms, text));
	else if (gains->each_count && *gains->each[0].name)
		lode_text_safe(buffer, gains->each[0].name);
	else
		lode_buffer_text(buffer, "the symptom");
}

static void put_answer(const struct lode_gain_report *report, const struct lode_look *look,
		       struct lode_buffer *buffer)
{
	const struct lode_gains *gains = report->gains;
	const struct lode_gain *gain = lode_gain_of(gains, 0, 0);
	uint64_t left = gains->length > gain->likely ? gains->length - gain->likely : 0;
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT];

	lode_buffer_text(buffer, lode_style(look, LODE_BOLD));
	put_pattern(report, buffer);
	lode_buffer_text(buffer, ", ");
	put_symptoms(gains, buffer);
	lode_buffer_print(buffer, " would be %s faster", gain->likely ? lode_duration_text(gain->likely, a) : "no");
	lode_buffer_text(buffer, gain->likely && gains->symptoms > 1 ? " in all" : "");
	lode_buffer_text(buffer, lode_style(look, LODE_PLAIN));
	if (gains->cost)
		lode_buffer_print(buffer, ", of the %s it costs", lode_duration_text(gains->cost, a));
	else
		lode_buffer_text(buffer, gain->likely ? ", although it is not on the critical path"
						      : "; nothing on the critical path has it");
	lode_buffer_print(buffer, ": %s instead of %s.\n", lode_duration_text(left, a),
			  lode_duration_text(gains->length, b));
}

static void put_each(const struct lode_gain_report *report, struct lode_buffer *buffer)
{
	static const struct lode_grid_column columns[] = {
		{ "GAIN", 2, 8 },   { "AT LEAST", 2, 8 }, { "AT MOST", 2, 8 }, { "COSTS", 2, 8 }, { "OF", 2, 8 },
		{ "THREAD", 2, 8 }, { "STREAM", 2, -20 }, { "SYMPTOM", 2, 0 }, { NULL, 0, 0 },
	};
	const struct lode_gains *gains = report->gains;
	size_t shown = report->top && report->top < gains->each_count ? report->top : gains->each_count;
	struct lode_grid grid = { .buffer = buffer, .columns = columns };
	uint32_t *order = lode_gain_order(gains);

	lode_buffer_byte(buffer, '\n');
	lode_grid_titles(&grid);
	for (size_t i = 0; order && i < shown; i++) {
		const struct lode_gain_symptom *symptom = &gains->each[order[i]];

		lode_grid_duration(&grid, symptom->gain.likely);
		lode_grid_duration(&grid, symptom->gain.low);
		lode_grid_duration(&grid, symptom->gain.high);
		lode_grid_duration(&grid, symptom->cost);
		lode_grid_duration(&grid, symptom->t1 - symptom->t0);
		lode_grid_number(&grid, symptom->tid, 0);
		lode_grid_text(&grid, symptom->stream);
		lode_grid_text(&grid, symptom->name);
		lode_grid_end(&grid);
	}
	if (shown < gains->each_count)
		lode_buffer_print(buffer, "\n%zu more symptom%s; '--top N' or '--all' shows them\n",
				  gains->each_count - shown, lode_plural(gains->each_count - shown));
	buffer->failed |= !order;
	lode_free(order);
}

void lode_gain_text(const struct lode_gain_report *report, const struct lode_look *look, struct lode_buffer *buffer)
{
	const struct lode_gains *gains = report->gains;
	const struct lode_gain *gain = lode_gain_of(gains, 0, 0);
	char low[LODE_UNITS_TEXT], high[LODE_UNITS_TEXT];

	put_answer(report, look, buffer);
	if (gain->low != gain->high)
		lode_buffer_print(buffer,
				  "  at least %s, at most %s, whatever holds of what the recording cannot tell\n",
				  lode_duration_text(gain->low, low), lode_duration_text(gain->high, high));
	if (gain->sure && gain->likely)
		lode_buffer_print(buffer, "  95%% interval of as many such symptoms: %s to %s\n",
				  lode_duration_text(gain->interval_low, low),
				  lode_duration_text(gain->interval_high, high));
	lode_gain_trust_text(gains, report->cpus, "  ", buffer);
	if (gains->each_count > 1)
		put_each(report, buffer);
}
