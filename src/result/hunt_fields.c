/* The fields of `lode hunt --json`, and of the state that its page shows: see hunt_result.h. */
#include "result/field_rows.h"
#include "result/hunt_result.h"

static const char *origin_choice(unsigned number)
{
	return number < LODE_ORIGINS ? lode_experiment_origin_name((enum lode_experiment_origin)number) : NULL;
}

static const char *state_choice(unsigned number)
{
	return number < LODE_EXPERIMENT_STATES ? lode_experiment_state_name((enum lode_experiment_state)number)
					       : NULL;
}

static const char *evidence_choice(unsigned number)
{
	return number < LODE_EVIDENCES ? lode_evidence_name((enum lode_evidence)number) : NULL;
}

static const char *strategy_choice(unsigned number)
{
	return number == 0 ? "deep-start" : number == 1 ? "call-graph" : NULL;
}

/* ---- an experiment ---- */

#define TABLE_OF struct lode_hunt_focus_fields
static const struct lode_field focus_rows[] = {
	FIELD_WRITTEN_TEXT(code, "Function or module.", FIELD_NULLABLE),
	FIELD_WRITTEN_TEXT(process, "Process.", FIELD_NULLABLE),
	FIELD_WRITTEN_TEXT(thread, "Thread.", FIELD_NULLABLE),
	FIELD_WRITTEN_TEXT(host, "Host.", FIELD_NULLABLE),
	FIELD_WRITTEN_TEXT(object, "Lock or other object.", FIELD_NULLABLE),
};
static const struct lode_fields focus = FIELD_TABLE("HuntFocus", focus_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_hunt_experiment
#define TIME(key, member, what)                                                                                   \
	FIELD_U64_AS(key, member.ns, what ", since the hunt began; null: has not happened.",                      \
		     FIELD_NULLABLE_UNLESS(member.happened))
static const struct lode_field experiment_rows[] = {
	FIELD_U64(t_ns, "Since the hunt began."),
	FIELD_U32(experiment, "Its number."),
	FIELD_U32(parent, "The experiment that it refines; null: a root.", FIELD_NULLABLE_UNLESS(has_parent)),
	FIELD_WRITTEN_NUMBERS(parents, "All that led to it."),
	FIELD_TEXT(hypothesis, "What is tested: CPUbound, ExcessiveSyncWaitingTime, …."),
	FIELD_OBJECT(focus, focus, "Where it is tested; null: everywhere."),
	FIELD_TEXT(origin, "How it came about.", FIELD_CHOICE(origin_choice)),
	FIELD_TEXT(state, "Where it is.", FIELD_CHOICE(state_choice)),
	FIELD_TEXT(evidence, "What its verdict rests on.", FIELD_CHOICE(evidence_choice)),
	FIELD_DOUBLE(value, "What was measured; null: nothing yet.", FIELD_NULLABLE),
	FIELD_DOUBLE(threshold, "It is true from here on."),
	FIELD_DOUBLE(confidence, "How sure the verdict is.", FIELD_NULLABLE),
	FIELD_DOUBLE(mean, "Mean of what was measured.", FIELD_NULLABLE),
	FIELD_DOUBLE(cost, "What measuring costs the program.", FIELD_NULLABLE),
	FIELD_U64(observed_ns, "How long it was measured."),
	FIELD_U64(calls, "Calls that were seen."),
	FIELD_U32(runs, "How often it was started."),
	TIME("created_ns", created, "Made"),
	TIME("started_ns", started, "Started"),
	TIME("concluded_ns", concluded, "Concluded"),
	TIME("found_ns", found, "Found true"),
	TIME("lost_ns", lost, "No longer true"),
	FIELD_TEXT(not_probed, "Why probes cannot measure it.", FIELD_OPTIONAL),
	FIELD_TEXT(why, "Why it is in this state.", FIELD_OPTIONAL),
};
const struct lode_fields lode_hunt_experiment_fields = FIELD_TABLE("HuntExperiment", experiment_rows);
#undef TABLE_OF

/* ---- the summary ---- */

#define TABLE_OF struct lode_hunt_state_counts
static const struct lode_field states_rows[] = {
	FIELD_U64_AS("never-run", of[LODE_EXPERIMENT_NEVER_RUN], "Not examined."),
	FIELD_U64_AS("running", of[LODE_EXPERIMENT_RUNNING], "Being measured."),
	FIELD_U64_AS("true", of[LODE_EXPERIMENT_TRUE], "True."),
	FIELD_U64_AS("false", of[LODE_EXPERIMENT_FALSE], "False."),
	FIELD_U64_AS("deferred", of[LODE_EXPERIMENT_DEFERRED], "Waiting until their cost fits."),
	FIELD_U64_AS("impossible", of[LODE_EXPERIMENT_IMPOSSIBLE], "Those that cannot be measured."),
};
static const struct lode_fields states = FIELD_TABLE("HuntStates", states_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_hunt_origin_counts
static const struct lode_field origins_rows[] = {
	FIELD_U64_AS("call-graph", of[LODE_ORIGIN_CALL_GRAPH], "By refinement."),
	FIELD_U64_AS("connect", of[LODE_ORIGIN_CONNECT], "On the way to a deep starter."),
	FIELD_U64_AS("deep-start", of[LODE_ORIGIN_DEEP_START], "From samples."),
};
static const struct lode_fields origins = FIELD_TABLE("HuntOrigins", origins_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_hunt_summary
static const struct lode_field sums_rows[] = {
	FIELD_TRUE("summary", "This is the last line."),
	FIELD_U64(t_ns, "How long the hunt took."),
	FIELD_TEXT(target, "What was hunted."),
	FIELD_TEXT(end, "Why it ended."),
	FIELD_TEXT(strategy, "How it searched.", FIELD_CHOICE(strategy_choice)),
	FIELD_WRITTEN(thresholds, LODE_SHAPE_MAP, LODE_FIELD_DOUBLE, "By hypothesis."),
	FIELD_DOUBLE(deep_threshold, "Functions in at least this share of samples are deep starters.",
		     FIELD_NULLABLE),
	FIELD_DOUBLE(cost_limit, "What measuring may cost the program."),
	FIELD_U64(experiments, "Experiments in all."),
	FIELD_U64(attempted, "Those that were measured."),
	FIELD_OBJECT(states, states, "Experiments by state."),
	FIELD_OBJECT(origins, origins, "Experiments by origin."),
	FIELD_U64(samples, "Samples that were taken."),
	FIELD_DOUBLE(cost, "What measuring costs now.", FIELD_NULLABLE),
	FIELD_DOUBLE(highest_cost, "The most it ever cost.", FIELD_NULLABLE),
	FIELD_DOUBLE(weighted_sum, "Sum of the times to each bottleneck, in seconds, below 0."),
	FIELD_U64(specific, "How many of the bottlenecks are the most specific ones; they come first."),
	FIELD_LIST_AS("bottlenecks", bottlenecks, LODE_FIELD_U32,
		      "Experiments that were true, the most important first."),
};
const struct lode_fields lode_hunt_sums_fields = FIELD_TABLE("HuntSums", sums_rows);

static const struct lode_field summary_rows[] = {
	FIELD_ALL_OF(lode_hunt_sums_fields),
	FIELD_OBJECTS(history, lode_hunt_experiment_fields,
		      "The search history graph: every experiment as it was at the end, by number; parents are "
		      "its edges."),
};
const struct lode_fields lode_hunt_summary_fields = FIELD_TABLE("HuntSummary", summary_rows);
#undef TABLE_OF

/* ---- the state ---- */

/* lode serve adds it. */
static const struct lode_field live_rows[] = {
	FIELD_BY_HAND("version", LODE_SHAPE_ONE, LODE_FIELD_U64,
		      "Grows with each change; ?seen=VERSION asks for a later one.", FIELD_AT_LEAST(1)),
	FIELD_BY_HAND("running", LODE_SHAPE_ONE, LODE_FIELD_BOOL, "Whether the hunt goes on."),
};
static const struct lode_fields live = FIELD_TABLE_BY_HAND("HuntLive", live_rows);

#define TABLE_OF struct lode_hunt_words
static const struct lode_field words_rows[] = {
	FIELD_WRITTEN_TEXT(step, "What its focus adds to that of its parent; of a root, the hypothesis."),
	FIELD_WRITTEN_TEXT(focus, "Where it is tested."),
	FIELD_WRITTEN_TEXT(measured, "What was measured; empty: nothing yet."),
	FIELD_WRITTEN_TEXT(value, "The same in brief: the value alone."),
	FIELD_WRITTEN_TEXT(threshold, "From where on it is true."),
	FIELD_TEXT(claim, "What the hypothesis says of the place: uses the CPU, waits for other threads, ..."),
	FIELD_TEXT(origin, "How the search came to it, in words; empty: step by step, as usual."),
};
static const struct lode_fields words = FIELD_TABLE("HuntWords", words_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_hunt_state
static const struct lode_field state_rows[] = {
	FIELD_ADDED("live", live, "Only from a server."),
	FIELD_WRITTEN(summary, LODE_SHAPE_ONE, LODE_FIELD_OBJECT,
		      "As in the last line of lode hunt --json, about the hunt so far.",
		      .fields = &lode_hunt_sums_fields),
	FIELD_WRITTEN(experiments, LODE_SHAPE_LIST, LODE_FIELD_OBJECT, "All experiments as they are, by number.",
		      .fields = &lode_hunt_experiment_fields),
	FIELD_OBJECTS(words, words, "What the text calls each experiment, by number."),
	FIELD_WRITTEN_TEXTS(sentences, "The bottlenecks of the summary, in its order, in words."),
};
const struct lode_fields lode_hunt_state_fields = FIELD_TABLE("HuntResult", state_rows);
#undef TABLE_OF
