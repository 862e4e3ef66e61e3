/*
 * What a person wants to see of a cluster besides its numbers: where to look, and
 * how its patterns differ.
 */
#include "result/mine_report.h"

#include <string.h>

size_t lode_mine_examples(const struct lode_mine_report *report, size_t cluster, size_t most,
			  struct lode_mine_example *examples)
{
	const struct lode_shares *shares = &report->mined->cluster_groups[cluster].shares;
	const struct lode_area_row *rows = report->area->rows[report->options->kind].items;
	size_t count = 0;

	for (size_t i = 0; i < shares->count; i++) {
		const struct lode_share *share = &shares->items[i];
		size_t at = count < most ? count++ : most;

		for (; at && examples[at - 1].cost < share->cost; at--)
			if (at < most)
				examples[at] = examples[at - 1];
		if (at < most)
			examples[at] = (struct lode_mine_example){ &report->area->streams[share->stream],
								   &rows[share->row], share->cost, share->events };
	}
	return count;
}

struct lode_mine_symptoms lode_mine_sum_symptoms(const struct lode_area *area)
{
	struct lode_mine_symptoms sum = { .on_critical_paths = area->scope == LODE_SCOPE_CRITICAL_PATH };

	for (size_t i = 0; i < area->stream_count; i++) {
		const struct lode_area_stream *stream = &area->streams[i];

		sum.count += stream->symptoms;
		sum.delay = lode_add_saturating(sum.delay, stream->delay);
		sum.waiting = lode_add_saturating(sum.waiting, stream->waiting);
		sum.running = lode_add_saturating(sum.running, stream->running);
		sum.ready = lode_add_saturating(sum.ready, stream->ready);
		sum.idling = lode_add_saturating(sum.idling, stream->idling);
		sum.unknown = lode_add_saturating(sum.unknown, stream->unknown);
	}
	return sum;
}

void lode_mine_variants_release(struct lode_mine_variants *variants)
{
	lode_free(variants->items);
	memset(variants, 0, sizeof(*variants));
}

static int same_variant(const struct lode_mine_variant *variant, size_t gap, const uint32_t *frames,
			uint32_t length)
{
	return variant->gap == gap && variant->length == length &&
	       (!length || !memcmp(variant->frames, frames, length * sizeof(*frames)));
}

static int add_variant(struct lode_mine_variants *variants, size_t gap, const uint32_t *frames, uint32_t length,
		       uint64_t cost)
{
	for (size_t i = 0; i < variants->count; i++) {
		if (!same_variant(&variants->items[i], gap, frames, length))
			continue;
		variants->items[i].patterns++;
		return 0;
	}
	return LODE_APPEND(variants->items, variants->count, variants->capacity,
			   (struct lode_mine_variant){ gap, frames, length, 1, cost });
}

/*
 * Cuts one pattern at the common frames, from the leaf end: the later of two
 * places is taken where a common frame occurs more than once.
 */
static int cut_pattern(struct lode_mine_variants *variants, const uint32_t *frames, uint32_t length,
		       const uint32_t *common, uint32_t common_length, uint64_t cost)
{
	uint32_t end = length, at = length, gap = common_length;

	while (at > 0) {
		at--;
		if (!gap || frames[at] != common[gap - 1])
			continue;
		if (add_variant(variants, gap, frames + at + 1, end - at - 1, cost) < 0)
			return LODE_SYSTEM;
		end = at;
		gap--;
	}
	return add_variant(variants, gap, frames, end, cost);
}

/* Insertion sort by gap: patterns come by cost, so variants of one gap are in order already. */
static void sort_by_gap(struct lode_mine_variants *variants)
{
	for (size_t i = 1; i < variants->count; i++) {
		struct lode_mine_variant variant = variants->items[i];
		size_t at = i;

		for (; at && variants->items[at - 1].gap > variant.gap; at--)
			variants->items[at] = variants->items[at - 1];
		variants->items[at] = variant;
	}
}

/* Drops gaps where no pattern has anything. */
static void drop_empty(struct lode_mine_variants *variants, size_t patterns)
{
	size_t left = 0;

	for (size_t i = 0; i < variants->count; i++)
		if (variants->items[i].length || variants->items[i].patterns < patterns)
			variants->items[left++] = variants->items[i];
	variants->count = left;
}

int lode_mine_find_variants(const struct lode_mine_report *report, size_t cluster,
			    struct lode_mine_variants *variants)
{
	const struct lode_mined *mined = report->mined;
	const struct lode_pattern_cluster *items = &mined->clusters.items[cluster];

	variants->count = 0;
	for (size_t i = 0; i < items->count; i++) {
		uint32_t pattern = mined->clusters.members[items->first + i];

		if (cut_pattern(variants, lode_pattern_frames(&mined->patterns, pattern),
				mined->patterns.items[pattern].length, mined->common[cluster],
				mined->common_length[cluster], mined->patterns.items[pattern].cost) < 0)
			return LODE_SYSTEM;
	}
	sort_by_gap(variants);
	drop_empty(variants, items->count);
	return 0;
}
