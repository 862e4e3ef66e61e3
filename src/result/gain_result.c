/* Fills the result of lode scope --without: see gain_result.h. */
#include "result/gain_result.h"

#include "base/id_array.h"

#include <stdio.h>

struct lode_gain_replay lode_gain_replay_of(const struct lode_gains *gains, uint32_t cpus)
{
	struct lode_gain_replay replay = {
		.symptoms = gains->symptoms,
		.symptoms_replayed = gains->symptoms_replayed,
		.streams = gains->streams,
		.length_ns = gains->length,
		.replayed_ns = gains->replayed,
		.cannot_tell_ns = gains->unsure,
		.cannot_tell_share = gains->length ? (double)gains->unsure / (double)gains->length : 0,
		.streams_sharing_processors = gains->sharing,
	};

	if (cpus == LODE_CPUS_RECORDED || cpus == LODE_CPUS_UNLIMITED)
		snprintf(replay.processors, sizeof(replay.processors), "%s",
			 cpus == LODE_CPUS_RECORDED ? "recorded" : "unlimited");
	else
		snprintf(replay.processors, sizeof(replay.processors), "%u", cpus);
	return replay;
}

static int compare_gains(const void *left, const void *right, void *context)
{
	const struct lode_gains *gains = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (gains->each[a].gain.likely != gains->each[b].gain.likely)
		return gains->each[a].gain.likely < gains->each[b].gain.likely ? 1 : -1;
	return a < b ? -1 : a > b;
}

uint32_t *lode_gain_order(const struct lode_gains *gains)
{
	return lode_ids_sorted(gains->each_count, compare_gains, (void *)(uintptr_t)gains);
}

struct ordered {
	const struct lode_gains *gains;
	const uint32_t *order;
};

static int make_symptom(const struct lode_list *list, size_t i, void *item)
{
	const struct ordered *ordered = list->from;
	const struct lode_gain_symptom *symptom = &ordered->gains->each[ordered->order[i]];

	*(struct lode_gain_result_symptom *)item = (struct lode_gain_result_symptom){
		.stream = symptom->stream,
		.id = symptom->id,
		.name = *symptom->name ? symptom->name : NULL,
		.tid = symptom->tid,
		.t0 = symptom->t0,
		.t1 = symptom->t1,
		.cost_ns = symptom->cost,
		.replayed_ns = symptom->replayed,
		.cannot_tell_ns = symptom->unsure,
		.gain_ns = symptom->gain.likely,
		.at_least_ns = symptom->gain.low,
		.at_most_ns = symptom->gain.high,
	};
	return 1;
}

void lode_gain_json(const struct lode_gain_report *report, struct lode_buffer *buffer)
{
	const struct lode_gains *gains = report->gains;
	uint32_t *order = lode_gain_order(gains);
	struct ordered ordered = { gains, order };
	struct lode_gain_result result = {
		.without = report->without,
		.percent = report->percent,
		.cost_ns = gains->cost,
		.gain = *lode_gain_of(gains, 0, 0),
		.replay = lode_gain_replay_of(gains, report->cpus),
		.symptoms_total = gains->each_count,
		.each = { report->top && report->top < gains->each_count ? report->top : gains->each_count,
			  &ordered, 0, make_symptom },
	};

	if (order)
		lode_fields_line(&lode_gain_fields, &result, buffer);
	else
		buffer->failed = 1;
	lode_free(order);
}
