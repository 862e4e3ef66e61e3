/* lode mine --gain: see mine_gain.h. */
#include "tasks/mine_gain.h"

#include "mine/gain_targets.h"
#include "tasks/gain_options.h"

#include <string.h>

/* Clusters that are replayed unless more are requested: each takes as long as reading the events a few times. */
#define CLUSTERS 30

int lode_mine_wants_gain(const struct lode_mine_settings *settings)
{
	return settings->gain || (settings->rank && !strcmp(settings->rank, lode_rank_name(LODE_RANK_GAIN)));
}

int lode_mine_gain_check(const struct lode_mine_settings *settings, uint32_t *cpus, struct lode_error *error)
{
	const char *other = settings->show                                       ? "--show"
			    : settings->against                                  ? "--against"
			    : settings->by && strcmp(settings->by, "stack")      ? "--by"
			    : settings->kind && !strcmp(settings->kind, "ready") ? "--kind ready"
										 : NULL;

	*cpus = LODE_CPUS_RECORDED;
	if (!lode_mine_wants_gain(settings))
		return !settings->cpus
			       ? 0
			       : lode_fail(error,
					   LODE_USAGE, "mine: '--cpus' is for replays; give '--gain', too. See 'lode help mine'.");
	if (other)
		return lode_fail(
			error, LODE_USAGE,
			"mine: '--gain' replays clusters of stacks, and does not go with '%s'. See 'lode help "
			"mine'.",
			other);
	return lode_cpus_parse(settings->cpus, cpus, error);
}

static size_t clusters_to_replay(const struct lode_mining *mining, const struct lode_mine_settings *settings)
{
	size_t count = mining->mined.clusters.count, most = CLUSTERS;

	if (settings->all)
		return count;
	if (settings->top > most)
		most = settings->top;
	return most < count ? most : count;
}

int lode_mine_gain(struct lode_mining *mining, const struct lode_mine_settings *settings, struct lode_error *error)
{
	struct lode_mined *mined = &mining->mined;
	struct lode_gain_clusters clusters = { mined, &mining->reading.area.dictionary.frames };
	const struct lode_gain_request request = {
		.targets = clusters_to_replay(mining, settings),
		.mark = lode_gain_mark_cluster,
		.context = &clusters,
		.kinds = mining->how.both ? 1u << LODE_RUN | 1u << LODE_WAIT : 1u << mining->how.kind,
		.percents = { 100, 50 },
		.percent_count = 2,
		.cpus = mining->report.cpus,
	};
	int code;

	/* Those that cost most, whatever the order is. */
	if (lode_mined_rank(mined, LODE_RANK_TOTAL) < 0)
		return lode_fail_memory(error);
	code = lode_gains_make(&mining->gains, mining->source.corpus, &mining->reading.options, &request, error);
	if (code)
		return code;
	for (size_t i = 0; i < request.targets; i++) {
		mined->cluster_groups[i].gain_target = (uint32_t)i + 1;
		mined->cluster_groups[i].gain = lode_gain_of(&mining->gains, i, 0)->likely;
	}
	mining->report.gains = &mining->gains;
	return lode_mined_rank(mined, mining->how.rank) < 0 ? lode_fail_memory(error) : 0;
}
