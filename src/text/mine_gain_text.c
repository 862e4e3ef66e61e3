/* What fixing the clusters of a mining would gain: see mine_text.h. */
#include "base/units.h"
#include "text/frame_text.h"
#include "text/gain_text.h"
#include "text/mine_text.h"

/* What is gained by fixing a cluster; NULL: that was not made. */
static const struct lode_gain *gain_of(const struct lode_mine_report *report, size_t cluster, size_t half)
{
	uint32_t target = report->gains ? report->mined->cluster_groups[cluster].gain_target : 0;

	return target ? lode_gain_of(report->gains, target - 1, half) : NULL;
}

void lode_mine_gain_text(const struct lode_mine_report *report, size_t cluster, struct lode_buffer *buffer)
{
	const struct lode_gain *all = gain_of(report, cluster, 0), *half = gain_of(report, cluster, 1);
	uint64_t cost = report->mined->cluster_groups[cluster].metrics.cost;
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT];

	if (!all)
		return;
	lode_buffer_print(buffer, "    fixing this would make the slow runs %s faster%s %s it costs",
			  all->likely ? lode_duration_text(all->likely, a) : "no",
			  all->likely > cost ? "; more than the" : ", of the", lode_duration_text(cost, b));
	lode_gain_range_text(all, buffer);
	if (all->likely)
		lode_buffer_print(buffer, "; half of it, %s", lode_duration_text(half->likely, a));
	lode_buffer_byte(buffer, '\n');
}

/* The innermost function of the program that all patterns of a cluster have; of the kernel where there is no other. */
static uint32_t place_of(const struct lode_mine_report *report, size_t cluster)
{
	const struct lode_frames *frames = &report->area->dictionary.frames;
	const uint32_t *common = report->mined->common[cluster];
	uint32_t length = report->mined->common_length[cluster];

	for (uint32_t i = length; i-- > 0;)
		if (frames->modules[frames->items[common[i]].module].kind == LODE_KIND_USER)
			return common[i];
	return length ? common[length - 1] : LODE_NONE;
}

static void put_line(const struct lode_mine_report *report, size_t cluster, struct lode_buffer *buffer)
{
	const struct lode_gain *all = gain_of(report, cluster, 0);
	uint32_t place = place_of(report, cluster);
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT];

	lode_buffer_print(buffer, "  #%-2zu gains %8s, costs %8s  ", cluster + 1,
			  lode_duration_text(all->likely, a),
			  lode_duration_text(report->mined->cluster_groups[cluster].metrics.cost, b));
	if (place != LODE_NONE)
		lode_text_frame(buffer, &report->area->dictionary.frames, place);
	lode_gain_range_text(all, buffer);
	lode_buffer_byte(buffer, '\n');
}

void lode_mine_gain_list(const struct lode_mine_report *report, const struct lode_look *look,
			 struct lode_buffer *buffer)
{
	const struct lode_gains *gains = report->gains;
	size_t shown = lode_mine_shown(report), listed = 0;
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT];

	if (!gains)
		return;
	lode_buffer_print(buffer, "%s%s symptom%s took %s%s. What fixing one thing alone would gain:%s\n",
			  lode_style(look, LODE_BOLD), lode_count_text(gains->symptoms, a),
			  lode_plural(gains->symptoms), lode_duration_text(gains->length, b),
			  gains->symptoms > 1 ? " together" : "", lode_style(look, LODE_PLAIN));
	for (size_t i = 0; i < shown; i++)
		if (gain_of(report, i, 0)) {
			put_line(report, i, buffer);
			listed++;
		}
	lode_gain_trust_text(gains, report->cpus, "  ", buffer);
	if (report->options->rank == LODE_RANK_GAIN && gains->targets < report->mined->clusters.count)
		lode_buffer_print(buffer,
				  "  the %zu costliest of %zu clusters were replayed; '--all' replays all\n",
				  gains->targets, report->mined->clusters.count);
	if (!listed)
		lode_buffer_text(buffer, "  nothing was replayed\n");
	lode_buffer_byte(buffer, '\n');
}
