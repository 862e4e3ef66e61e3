/* The comparison of two minings as text: see mine_text.h. */
#include "base/safe_text.h"
#include "base/units.h"
#include "text/frame_text.h"
#include "text/mine_text.h"

#include <math.h>

/* Frames of a cluster in the list; the rest is in the JSON. */
#define FRAMES 8

static void mean_text(double mean, char text[LODE_UNITS_TEXT])
{
	lode_duration_text((uint64_t)llround(mean), text);
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
		if (i < user || !lode_idle_ignores(found->idle, common[i])) {
			lode_buffer_text(buffer, "    ");
			lode_text_frame(buffer, &found->area->dictionary.frames, common[i]);
			lode_buffer_byte(buffer, '\n');
		}
}

static void put_compared(const struct lode_compared *compared, const struct lode_mine_report *found,
			 const struct lode_look *look, struct lode_buffer *buffer)
{
	enum lode_style style = compared->change == LODE_CHANGE_NEW || compared->change == LODE_CHANGE_SLOWER
					? LODE_RED
					: LODE_GREEN;
	char here[LODE_UNITS_TEXT], other[LODE_UNITS_TEXT];

	mean_text(compared->here_mean, here);
	mean_text(compared->other_mean, other);
	lode_buffer_print(buffer, "\n%s%-7s%s %s per stream, was %s", lode_style(look, style),
			  lode_change_name(compared->change), lode_style(look, LODE_PLAIN), here, other);
	if (compared->here.events && compared->other.events && compared->other_mean > 0)
		lode_buffer_print(buffer, " (x %.2f)", compared->here_mean / compared->other_mean);
	lode_buffer_print(buffer, "  %llu stream%s, %s %llu  p %.3g  %sid %s%s\n",
			  (unsigned long long)compared->here.streams, lode_plural(compared->here.streams),
			  compared->other.streams == 1 ? "was" : "were",
			  (unsigned long long)compared->other.streams, compared->p, lode_style(look, LODE_DIM),
			  compared->id, lode_style(look, LODE_PLAIN));
	put_frames(found, compared->cluster, buffer);
}

/* Shows significant changes; how many others there are is said. */
void lode_compare_text(const struct lode_compare_report *report, const struct lode_look *look,
		       struct lode_buffer *buffer)
{
	size_t sure = 0, shown = 0, count = report->comparison->count;

	while (sure < count && report->comparison->items[sure].q < LODE_COMPARE_LEVEL)
		sure++;
	lode_buffer_print(buffer, "%s", lode_style(look, LODE_BOLD));
	lode_text_safe(buffer, report->here->corpus);
	lode_buffer_text(buffer, " against ");
	lode_text_safe(buffer, report->other->corpus);
	lode_buffer_print(buffer, "%s: %zu of %zu clusters changed more than chance explains\n",
			  lode_style(look, LODE_PLAIN), sure, count);
	for (; shown < count && (!report->top || shown < report->top); shown++) {
		const struct lode_compared *compared = &report->comparison->items[shown];

		if (shown == sure)
			lode_buffer_print(buffer, "\n%sWhat follows may be chance:%s\n",
					  lode_style(look, LODE_DIM), lode_style(look, LODE_PLAIN));
		put_compared(compared, compared->from_other ? report->other : report->here, look, buffer);
	}
	if (shown < count)
		lode_buffer_print(buffer, "\n%zu more cluster%s; '--top N' or '--all' shows them\n", count - shown,
				  lode_plural(count - shown));
}
