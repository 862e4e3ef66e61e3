/* The fields of `lode diff --json`: see diff_result.h. */
#include "result/diff_result.h"
#include "result/field_choices.h"
#include "result/field_rows.h"

#define TABLE_OF struct lode_diff_result_side
static const struct lode_field side_rows[] = {
	FIELD_TEXT(corpus, "Its folder."),
	FIELD_TEXT(chosen, "How its streams were chosen, in brackets; absent: all of them.", FIELD_OPTIONAL),
	FIELD_U64(streams, "Streams."),
	FIELD_PART(unread, lode_unread_part_fields),
	FIELD_U64(events, "Events."),
	FIELD_U64(instances, "Calls that were inferred."),
	FIELD_WRITTEN(states, LODE_SHAPE_MAP, LODE_FIELD_U64,
		      "States that its threads were in, ns per stream; those that occur.", FIELD_OPTIONAL),
};
static const struct lode_fields side = FIELD_TABLE("DiffSide", side_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_diff_probability
static const struct lode_field probability_rows[] = {
	FIELD_DOUBLE(p, "Chance of such a difference when there is none; only where that was tested.",
		     FIELD_OPTIONAL_IF(tested)),
	FIELD_DOUBLE(q, "The same, corrected for the number of functions.", FIELD_OPTIONAL_IF(tested)),
};
static const struct lode_fields probability = FIELD_TABLE("DiffProbability", probability_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_diff_evidence
static const struct lode_field evidence_rows[] = {
	FIELD_BOOL(sure, "The difference as a whole is unlikely to be chance."),
	FIELD_U64(sure_paths, "Paths of which that is true."),
	FIELD_U64(sure_functions, "Functions of which that is true, in all contexts together."),
	FIELD_PART(probability, probability),
	FIELD_DOUBLE(level, "Level of significance."),
	FIELD_TEXT(level_is_of, "What the level holds for."),
	FIELD_DOUBLE(power, "Chance to find a difference of the detectable size."),
	FIELD_U64(detectable_ns, "The least difference that would be found; null: not known.",
		  FIELD_NULLABLE_UNLESS(has_detectable)),
	FIELD_DOUBLE(detectable_share, "The same as a part of the base.", FIELD_NULLABLE),
	FIELD_U64(detectable_path_ns, "The least difference of one path that would be found.",
		  FIELD_NULLABLE_UNLESS(has_detectable_path)),
	FIELD_DOUBLE(detectable_path_share, "The same as a part of the base.", FIELD_NULLABLE),
	FIELD_U64(streams_for_5_percent, "Streams a side that it takes to find a difference of 5%.",
		  FIELD_NULLABLE_UNLESS(has_streams)),
};
static const struct lode_fields evidence = FIELD_TABLE("DiffChance", evidence_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_diff_layer
static const struct lode_field layer_rows[] = {
	FIELD_U64(base_ns, "Time a stream on the base side."),
	FIELD_U64(slow_ns, "On the slow side."),
};
const struct lode_fields lode_diff_layer_fields = FIELD_TABLE("DiffLayer", layer_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_diff_result_cause
static const struct lode_field cause_rows[] = {
	FIELD_WRITTEN_TEXT(frame, "The function."),
	FIELD_TEXT(module, "Its module."),
	FIELD_TEXT(function, "Its name."),
	FIELD_TEXT(layer, "Whose code it is.", FIELD_CHOICE(lode_choice_layer)),
	FIELD_BOOL(internal, "It is code of the program itself."),
	FIELD_BOOL(new, "Only the slow side calls it."),
	FIELD_WRITTEN_TEXT(caller, "The function that calls it.", FIELD_OPTIONAL),
	FIELD_I64(delta_ns, "How much longer it takes in all contexts; no more than its callers do."),
	FIELD_BOOL(sure, "That is unlikely to be chance."),
	FIELD_PART(probability, probability),
};
static const struct lode_fields cause = FIELD_TABLE("DiffRootCause", cause_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_diff_truth
static const struct lode_field truth_rows[] = {
	FIELD_U64(p_min, "Rank of the first path with it; null: none has it.", FIELD_NULLABLE),
	FIELD_U64(f_min, "Distance of the function on that path.", FIELD_NULLABLE_UNLESS(found)),
};
static const struct lode_fields truth = FIELD_TABLE("DiffTruth", truth_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_heat_row_values
static const struct lode_field heat_row_rows[] = {
	FIELD_U64(rank, "Rank of the path."),
	FIELD_U64(hottest, "Which of its frames takes most more."),
	FIELD_LIST_AS("delta_ns", cells, LODE_FIELD_I64, "What each of its frames takes more, per stream, in ns."),
};
static const struct lode_fields heat_row = FIELD_TABLE("DiffHeatRow", heat_row_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_heat_values
static const struct lode_field heat_rows[] = {
	FIELD_U64(most_ns, "The largest value in it."),
	FIELD_U64(rows_total, "Rows that all paths that take more would make."),
	FIELD_OBJECTS(rows, heat_row, "A row a path, the first 10 unless top says otherwise."),
};
static const struct lode_fields heat = FIELD_TABLE("DiffHeat", heat_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_diff_result_function
static const struct lode_field function_rows[] = {
	FIELD_WRITTEN_TEXT(frame, "The function."),
	FIELD_U64(base_ns, "Own time on the base side."),
	FIELD_U64(slow_ns, "Own time on the slow side."),
	FIELD_I64(delta_ns, "Difference of own times."),
	FIELD_I64(whole_delta_ns, "Difference with callees."),
	FIELD_DOUBLE(base_mean_ns, "With --mean: mean on the base side.", FIELD_OPTIONAL_IF(has_means),
		     FIELD_MAYBE_NULL),
	FIELD_DOUBLE(slow_mean_ns, "With --mean: mean on the slow side.", FIELD_OPTIONAL_IF(has_means),
		     FIELD_MAYBE_NULL),
	FIELD_U32(rank, "Its rank on the path."),
	FIELD_I64(distance, "From the hottest function of the path; below 0 for callers."),
	FIELD_TEXT(layer, "Whose code it is.", FIELD_CHOICE(lode_choice_layer)),
};
static const struct lode_fields function = FIELD_TABLE("DiffFunction", function_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_diff_result_path
static const struct lode_field path_rows[] = {
	FIELD_U64(rank, "Its rank."),
	FIELD_I64(cost_ns, "Its difference."),
	FIELD_I64(function_delta_ns, "What its hottest function takes more in all contexts together."),
	FIELD_BOOL(new, "Only the slow side has it."),
	FIELD_PART(probability, probability),
	FIELD_OBJECTS(frames, function, "Its functions, root first."),
};
static const struct lode_fields path = FIELD_TABLE("DiffPath", path_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_diff_result
static const struct lode_field diff_rows[] = {
	FIELD_OBJECT(base, side, "The good streams."),
	FIELD_OBJECT(slow, side, "The slow ones."),
	FIELD_I64(delta_ns, "How much longer a slow stream takes."),
	FIELD_BOOL(tested, "Differences were tested against chance."),
	FIELD_OBJECT(chance, evidence, "What the streams can tell."),
	FIELD_WRITTEN(layers, LODE_SHAPE_MAP, LODE_FIELD_OBJECT, "Time by whose code it is.",
		      .fields = &lode_diff_layer_fields),
	FIELD_OBJECT(root_cause, cause, "The function that the difference comes from; null: none.",
		     FIELD_NULLABLE_UNLESS(has_cause)),
	FIELD_TEXT(no_cause, "Why there is no root_cause.", FIELD_CHOICE(lode_choice_no_cause), FIELD_OPTIONAL),
	FIELD_OBJECT(truth, truth, "With --truth: how far the truth is from what was found.",
		     FIELD_OPTIONAL_IF(has_truth)),
	FIELD_OBJECT(gate, lode_gate_fields, "With --gate: whether the rules are kept.",
		     FIELD_OPTIONAL_IF(has_gate)),
	FIELD_U64(paths_total, "Paths there are."),
	FIELD_OBJECT(heat, heat,
		     "The heat map of the first paths: of those with the same hottest function the first."),
	FIELD_OBJECTS(paths, path, "Paths, the largest difference first."),
	FIELD_PART(calls, lode_call_trees_part_fields),
};
const struct lode_fields lode_diff_fields = FIELD_TABLE("DiffResult", diff_rows);
#undef TABLE_OF
