/* The fields of gains: see gain_result.h. */
#include "result/field_rows.h"
#include "result/gain_result.h"

#define TABLE_OF struct lode_gain
static const struct lode_field value_rows[] = {
	FIELD_U64_AS("gain_ns", likely, "How much earlier the symptoms would end, in all."),
	FIELD_U64_AS("at_least_ns", low,
		     "The same if waits of which the recording cannot tell end when they did, and whoever wakes "
		     "another needs it to have come."),
	FIELD_U64_AS("at_most_ns", high, "The same if such waits keep their length, and nobody is waited for."),
	FIELD_U64_AS("low_ns", interval_low,
		     "Lower end of the 95% interval of gain_ns over streams or, of fewer than three, over "
		     "symptoms; null: too few of both.",
		     FIELD_NULLABLE_UNLESS(sure)),
	FIELD_U64_AS("high_ns", interval_high, "Upper end of it.", FIELD_NULLABLE_UNLESS(sure)),
	FIELD_U64_AS("symptoms", events, "Symptoms that would end earlier, of those replayed."),
};
const struct lode_fields lode_gain_value_fields = FIELD_TABLE("GainValue", value_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_gain_replay
static const struct lode_field replay_rows[] = {
	FIELD_U64(symptoms, "Symptoms there are."),
	FIELD_U64(symptoms_replayed, "Symptoms that were replayed, and represent the others."),
	FIELD_U64(streams, "Streams they are in."),
	FIELD_U64(length_ns, "Length of all symptoms."),
	FIELD_U64(replayed_ns, "The same in the replay when nothing is changed."),
	FIELD_U64(cannot_tell_ns,
		  "Time of their critical paths in waits of which the recording cannot tell when they would have "
		  "ended: no waker is known, an interrupt, a time-out, work from outside."),
	FIELD_DOUBLE(cannot_tell_share, "Its share of their length, from 0 to 1."),
	FIELD_CHARS(processors,
		    "How many processors threads share in the replay: `recorded`, `unlimited` or a number."),
	FIELD_U64(
		streams_sharing_processors,
		"Streams in which threads compete for processors; in the others it is not known who had them, and "
		"time on run queues stays as it was."),
};
const struct lode_fields lode_gain_replay_fields = FIELD_TABLE("GainReplay", replay_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_gain_result_symptom
static const struct lode_field symptom_rows[] = {
	FIELD_TEXT(stream, "Name of its stream."),
	FIELD_TEXT(id, "Id of its stream."),
	FIELD_TEXT(name, "Its name.", FIELD_OPTIONAL),
	FIELD_U32(tid, "Its thread."),
	FIELD_U64(t0, "Its start."),
	FIELD_U64(t1, "Its end."),
	FIELD_U64(cost_ns, "Time of the pattern's events on its critical path."),
	FIELD_U64(replayed_ns, "Its length in the replay when nothing is changed."),
	FIELD_U64(cannot_tell_ns, "Time of which the recording cannot tell."),
	FIELD_U64(gain_ns, "How much earlier it would end."),
	FIELD_U64(at_least_ns, "At least."),
	FIELD_U64(at_most_ns, "At most."),
};
static const struct lode_fields symptom = FIELD_TABLE("GainSymptom", symptom_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_gain_result
static const struct lode_field gain_rows[] = {
	FIELD_TEXT(without, "What was taken away: the pattern."),
	FIELD_U32(percent, "By how much its events were shortened, 100: they are not there."),
	FIELD_U64(cost_ns, "Time of its events on the critical paths."),
	FIELD_PART(gain, lode_gain_value_fields),
	FIELD_OBJECT(replay, lode_gain_replay_fields, "How far the replay can be trusted."),
	FIELD_U64(symptoms_total, "Symptoms that were replayed."),
	FIELD_OBJECTS(each, symptom, "The symptoms that were replayed, those that gain most first."),
};
const struct lode_fields lode_gain_fields = FIELD_TABLE("GainResult", gain_rows);
#undef TABLE_OF
