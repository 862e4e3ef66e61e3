/*
 * lode mine --against CORPUS: what is new, gone or changed.
 *
 * The other corpus is mined with the same options and a threshold that is as much
 * for each stream, so that a larger corpus does not find more for being larger.
 */
#include "base/units.h"
#include "cmd/mine.h"

#include <math.h>
#include <string.h>

/* Frames of a cluster that stand in the list; the rest is in the JSON. */
#define FRAMES 8

static uint64_t scaled_threshold(const struct lode_mining *here, const struct lode_mining *other)
{
	size_t streams = here->reading.area.stream_count;
	double each = streams ? (double)here->how.threshold / (double)streams : (double)here->how.threshold;
	double threshold = each * (double)other->reading.area.stream_count;

	return threshold < 1 ? 1 : threshold >= 1.8e19 ? UINT64_MAX : (uint64_t)threshold;
}

static void mean_text(double mean, char text[LODE_UNITS_TEXT])
{
	lode_duration_text((uint64_t)llround(mean), text);
}

static void put_frame(const struct lode_mine_report *found, uint32_t frame, struct lode_buffer *buffer)
{
	struct lode_buffer text = { 0 };

	lode_frames_text(&found->area->dictionary.frames, frame, &text);
	lode_buffer_byte(&text, '\0');
	lode_buffer_text(buffer, "    ");
	if (!text.failed)
		lode_text_safe(buffer, text.bytes);
	lode_buffer_byte(buffer, '\n');
	buffer->failed |= text.failed;
	lode_buffer_release(&text);
}

static int is_kernel(const struct lode_mine_report *found, uint32_t frame)
{
	const struct lode_frames *frames = &found->area->dictionary.frames;

	return frames->modules[frames->items[frame].module].kind == LODE_KIND_KERNEL;
}

/*
 * The last frames of the program, where the culprit is, and how it went on in the
 * kernel, without what says nothing.
 */
static void put_frames(const struct lode_mine_report *found, size_t cluster, struct lode_buffer *buffer)
{
	const uint32_t *common = found->mined->common[cluster];
	uint32_t length = found->mined->common_length[cluster], user = length, first;

	while (user && is_kernel(found, common[user - 1]))
		user--;
	user = user ? user : length;
	first = user > FRAMES ? user - FRAMES : 0;
	if (first)
		lode_buffer_print(buffer, "    (%u frames above)\n", first);
	for (uint32_t i = first; i < length; i++)
		if (i < user || !lode_idle_ignores(found->idle, common[i]))
			put_frame(found, common[i], buffer);
}

static void put_compared(const struct lode_compared *compared, const struct lode_mine_report *found,
			 const struct lode_terminal *terminal, struct lode_buffer *buffer)
{
	enum lode_style style = compared->change == LODE_CHANGE_NEW || compared->change == LODE_CHANGE_SLOWER ?
					LODE_RED :
					LODE_GREEN;
	char here[LODE_UNITS_TEXT], other[LODE_UNITS_TEXT];

	mean_text(compared->here_mean, here);
	mean_text(compared->other_mean, other);
	lode_buffer_print(buffer, "\n%s%-7s%s %s per stream, was %s", lode_style(terminal, style),
			  lode_change_name(compared->change), lode_style(terminal, LODE_PLAIN), here, other);
	if (compared->here.events && compared->other.events && compared->other_mean > 0)
		lode_buffer_print(buffer, " (x %.2f)", compared->here_mean / compared->other_mean);
	lode_buffer_print(buffer, "  %llu streams, were %llu  p %.3g  %sid %s%s\n",
			  (unsigned long long)compared->here.streams, (unsigned long long)compared->other.streams,
			  compared->p, lode_style(terminal, LODE_DIM), compared->id,
			  lode_style(terminal, LODE_PLAIN));
	put_frames(found, compared->cluster, buffer);
}

/* Shows significant changes; how many others there are is said. */
void lode_compare_text(const struct lode_compare_report *report, const struct lode_terminal *terminal,
		       struct lode_buffer *buffer)
{
	size_t sure = 0, shown = 0, count = report->comparison->count;

	while (sure < count && report->comparison->items[sure].q < LODE_COMPARE_LEVEL)
		sure++;
	lode_buffer_print(buffer, "%s", lode_style(terminal, LODE_BOLD));
	lode_text_safe(buffer, report->here->corpus);
	lode_buffer_text(buffer, " against ");
	lode_text_safe(buffer, report->other->corpus);
	lode_buffer_print(buffer, "%s: %zu of %zu clusters changed more than chance explains\n",
			  lode_style(terminal, LODE_PLAIN), sure, count);
	for (; shown < count && (!report->top || shown < report->top); shown++) {
		const struct lode_compared *compared = &report->comparison->items[shown];

		if (shown == sure)
			lode_buffer_print(buffer, "\n%sWhat follows may be chance:%s\n",
					  lode_style(terminal, LODE_DIM), lode_style(terminal, LODE_PLAIN));
		put_compared(compared, compared->from_other ? report->other : report->here, terminal, buffer);
	}
	if (shown < count)
		lode_buffer_print(buffer, "\n%zu more clusters; '--top N' or '--all' shows them\n", count - shown);
}

static int show(const struct lode_call *call, const struct lode_compare_report *report, struct lode_error *error)
{
	const struct lode_mine_settings *settings = call->settings;
	struct lode_terminal terminal = call->out;
	struct lode_buffer buffer = { 0 };
	int code;

	if (settings->output)
		terminal.colour = 0;
	if (settings->json)
		lode_compare_json(report, &buffer);
	else
		lode_compare_text(report, &terminal, &buffer);
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
