/* The fields of `lode mine --json`: see mine_result.h. */
#include "result/field_choices.h"
#include "result/field_rows.h"
#include "result/mine_result.h"

#define TABLE_OF struct lode_mine_input
static const struct lode_field input_rows[] = {
	FIELD_U64(streams, "Streams that were read."),
	FIELD_U64(events, "Events."),
	FIELD_U64(recorded_events,
		  "Events that were recorded; only where they represent others too, which were left out.",
		  FIELD_OPTIONAL_IF(thinned)),
	FIELD_U64(cost_ns, "Their time."),
};
static const struct lode_fields input = FIELD_TABLE("MineInput", input_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_mine_events
static const struct lode_field events_rows[] = {
	FIELD_U64(events, "Events."),
	FIELD_U64(distinct_stacks, "Distinct stacks of them."),
	FIELD_U64(cost_ns, "Their time."),
};
static const struct lode_fields events = FIELD_TABLE("MineEvents", events_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_mine_work_place
static const struct lode_field place_rows[] = {
	FIELD_WRITTEN_TEXTS(frames, "The stack up to the function that waits."),
	FIELD_U64(events, "Waits there."),
	FIELD_U64(cost_ns, "Their time."),
};
static const struct lode_fields place = FIELD_TABLE("MineWorkPlace", place_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_mine_work
static const struct lode_field work_rows[] = {
	FIELD_PART(sums, events),
	FIELD_OBJECTS(places, place, "Where threads waited for work."),
};
static const struct lode_fields work = FIELD_TABLE("MineWork", work_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_mine_symptoms
static const struct lode_field symptoms_rows[] = {
	FIELD_U64(count, "How many."),
	FIELD_U64_AS("delay_ns", delay, "Their length in all."),
	FIELD_U64_AS("unknown_ns", unknown, "The part of it that no event explains."),
	FIELD_U64_AS("waiting_ns", waiting, "Waiting on critical paths.", FIELD_OPTIONAL_IF(on_critical_paths)),
	FIELD_U64_AS("running_ns", running, "CPU time on critical paths.", FIELD_OPTIONAL_IF(on_critical_paths)),
	FIELD_U64_AS(
		"ready_ns", ready,
		"Time on critical paths in which a thread was ready, but had no processor. No cluster has it.",
		FIELD_OPTIONAL_IF(on_critical_paths)),
	FIELD_U64_AS("idle_ns", idling, "Idle time on critical paths.", FIELD_OPTIONAL_IF(on_critical_paths)),
};
static const struct lode_fields symptoms = FIELD_TABLE("MineSymptoms", symptoms_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_metrics
static const struct lode_field metrics_rows[] = {
	FIELD_U64_AS("cost_ns", cost, "Time of all events that match, each counted once."),
	FIELD_U64(events, "Events that match."),
	FIELD_U64(streams, "Streams in which some match."),
	FIELD_U64_AS("average_ns", average, "Time an event, on average."),
};
static const struct lode_fields metrics = FIELD_TABLE("MineMetrics", metrics_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_mine_sampling
static const struct lode_field sampling_rows[] = {
	FIELD_U64(sampling_low_ns,
		  "What it cost in these very streams is at least this 95 times of 100 (with sampling_high_ns); "
		  "only where "
		  "events were left out.",
		  FIELD_OPTIONAL_IF(any)),
	FIELD_U64(sampling_high_ns, "And at most this.", FIELD_OPTIONAL_IF(any)),
};
static const struct lode_fields sampling_fields = FIELD_TABLE("MineSampling", sampling_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_mine_pattern
static const struct lode_field pattern_rows[] = {
	FIELD_TEXT(id, "Made from its frames: the same in every corpus."),
	FIELD_WRITTEN_TEXTS(frames, "Functions, callers first; others may be in between."),
	FIELD_PART(metrics, metrics),
	FIELD_PART(sampling, sampling_fields),
};
static const struct lode_fields pattern = FIELD_TABLE("MinePattern", pattern_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_mine_cluster_example
static const struct lode_field example_rows[] = {
	FIELD_TEXT(stream, "Name of the stream."),
	FIELD_TEXT(stream_id, "Id of the stream."),
	FIELD_TEXT(host, "Host."),
	FIELD_U64(cost_ns, "Time of the cluster there."),
	FIELD_U64(events, "Events of the cluster there."),
	FIELD_U64(t, "Start of the longest one."),
	FIELD_U32(tid, "Its thread."),
	FIELD_U64(longest_ns, "Its length."),
};
static const struct lode_fields example = FIELD_TABLE("MineExample", example_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_gain_all_and_half
static const struct lode_field both_gains_rows[] = {
	FIELD_OBJECT(all, lode_gain_value_fields, "If its events were not there."),
	FIELD_OBJECT(half, lode_gain_value_fields, "If they took half as long."),
};
static const struct lode_fields both_gains = FIELD_TABLE("MineGain", both_gains_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_mine_cluster
static const struct lode_field cluster_rows[] = {
	FIELD_TEXT(id, "Id of the cluster."),
	FIELD_TEXTS(patterns, "Ids of its patterns."),
	FIELD_PART(metrics, metrics),
	FIELD_DOUBLE(share, "Part of the area, from 0 to 1."),
	FIELD_U64_AS("low_ns", metrics.low, "Lower end of the 95% interval of cost_ns; null: too few streams.",
		     FIELD_NULLABLE_UNLESS(metrics.sure)),
	FIELD_U64_AS("high_ns", metrics.high, "Upper end of it.", FIELD_NULLABLE_UNLESS(metrics.sure)),
	FIELD_PART(sampling, sampling_fields),
	FIELD_WRITTEN_TEXTS(common, "Functions that all its patterns have."),
	FIELD_OBJECTS(examples, example, "Streams in which it costs most, at most five."),
	FIELD_WRITTEN_NUMBERS(by_stream,
			      "What it costs in streams, the 100 costliest (all with page-data): a place in "
			      "stream_ids, ns, the next place, and so on."),
	FIELD_U64(by_stream_left_out, "Streams where it occurs that are not among them."),
	FIELD_OBJECT(gain, both_gains,
		     "With --gain: how much earlier the symptoms would end, of the costliest clusters.",
		     FIELD_OPTIONAL_IF(has_gain)),
};
static const struct lode_fields cluster = FIELD_TABLE("MineCluster", cluster_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_mine_times
static const struct lode_field timing_rows[] = {
	FIELD_U64(reading_ns, "Reading the corpus."),         FIELD_U64(mining_ns, "Finding patterns."),
	FIELD_U64(clustering_ns, "Clustering them."),         FIELD_U64(ranking_ns, "Measuring them."),
	FIELD_U64(prefixes, "Prefixes that were looked at."),
};
static const struct lode_fields timing = FIELD_TABLE("MineTiming", timing_rows);
#undef TABLE_OF

static const char *rank_choice(unsigned number)
{
	return number < LODE_RANKS ? lode_rank_name((enum lode_rank)number) : NULL;
}

static const char *end_choice(unsigned number)
{
	return number <= LODE_MINER_INTERRUPTED ? lode_miner_end_name((enum lode_miner_end)number) : NULL;
}

#define TABLE_OF struct lode_mine_result
static const struct lode_field mine_rows[] = {
	FIELD_TEXT(kind, "Events that were mined.", FIELD_CHOICE(lode_choice_mined_kind)),
	FIELD_TEXT(scope, "Which events count.", FIELD_CHOICE(lode_choice_scope)),
	FIELD_U64(threshold_ns, "The least cost of a pattern."),
	FIELD_DOUBLE(similarity, "Patterns at least this similar share a cluster."),
	FIELD_TEXT(rank, "Order of clusters.", FIELD_CHOICE(rank_choice)),
	FIELD_BOOL(fold_recursion, "Recursion was folded."),
	FIELD_TEXT(end, "Whether mining came to its end.", FIELD_CHOICE(end_choice)),
	FIELD_BOOL(clustered, "False: too many patterns to cluster; each is a cluster of its own."),
	FIELD_OBJECT(input, input, "All events of this kind."),
	FIELD_PART(unread, lode_unread_part_fields),
	FIELD_OBJECT(area, events, "The events that count."),
	FIELD_OBJECT(idle, events, "Events that were counted separately: idle, and waiting for work."),
	FIELD_OBJECT(waiting_for_work, work, "Of those, waits for work; only with kind wait.",
		     FIELD_OPTIONAL_IF(has_work)),
	FIELD_OBJECT(symptoms, symptoms, "The symptoms behind the area."),
	FIELD_PART(findings, lode_findings_part_fields),
	FIELD_U64(covered_ns, "With --new: time that open signatures explain already.", FIELD_OPTIONAL_IF(only_new)),
	FIELD_TEXTS(stream_ids, "Ids of the streams that were looked at."),
	FIELD_U64(patterns_total, "Patterns that were found."),
	FIELD_U64(clusters_total, "Clusters that were found."),
	FIELD_OBJECTS(patterns, pattern,
		      "Patterns by cost, then by frames; with --top those of the clusters shown."),
	FIELD_OBJECTS(clusters, cluster, "Clusters in the order of `rank`."),
	FIELD_PART(facts, lode_frame_facts_fields),
	FIELD_OBJECT(replay, lode_gain_replay_fields, "With --gain: how far the gains can be trusted.",
		     FIELD_OPTIONAL_IF(has_replay)),
	FIELD_OBJECT(timing, timing, "With --timing: where the time went.", FIELD_OPTIONAL_IF(has_timing)),
};
const struct lode_fields lode_mine_fields = FIELD_TABLE("MineResult", mine_rows);
#undef TABLE_OF
