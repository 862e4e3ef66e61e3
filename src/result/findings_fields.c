/* The fields of findings: see findings_result.h. */
#include "result/field_rows.h"
#include "result/findings_result.h"
#include "scope/states.h"

#define TABLE_OF struct lode_finding_who
static const struct lode_field who_rows[] = {
	FIELD_TEXT(process,
		   "Name of the process, without its number where several are meant; empty where it is unknown."),
	FIELD_TEXT(thread,
		   "Name of the thread, without its number where several are meant; empty where it is unknown."),
};
static const struct lode_fields who = FIELD_TABLE("FindingThread", who_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_finding_object
static const struct lode_field object_rows[] = {
	FIELD_TEXT(kind, "What it is: lock, file, tcp, ..."),
	FIELD_TEXT(name, "Which one."),
};
static const struct lode_fields object = FIELD_TABLE("FindingObject", object_rows);
#undef TABLE_OF

static const char *state_choice(unsigned number)
{
	return number < LODE_STATES ? lode_state_key((enum lode_state)number) : NULL;
}

static const char *kind_choice(unsigned number)
{
	static const char *const names[] = { "wait", "run", "ready" };

	return number < 3 ? names[number] : NULL;
}

#define FRAME(member, ...) FIELD_WRITTEN(member, LODE_SHAPE_ONE, LODE_FIELD_TEXT, __VA_ARGS__)

#define TABLE_OF struct lode_finding_step
static const struct lode_field step_rows[] = {
	FIELD_OBJECT(who, who, "The thread."),
	FIELD_TEXT(state, "What it does.", FIELD_CHOICE(state_choice)),
	FIELD_OBJECT(object, object, "What it waits for, where that is known.", FIELD_OPTIONAL_IF(has_object)),
	FIELD_OBJECT(holder, who, "Who has that, or ended the wait, where it is known.",
		     FIELD_OPTIONAL_IF(has_holder)),
	FRAME(frame, "Where: the innermost function of the program itself.", FIELD_OPTIONAL_IF(has_frame)),
};
static const struct lode_fields step = FIELD_TABLE("FindingStep", step_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_finding_call
static const struct lode_field call_rows[] = {
	FRAME(frame, "A function that the place calls."),
	FIELD_U64(cost_ns, "Time of the finding in it."),
};
static const struct lode_fields call = FIELD_TABLE("FindingCall", call_rows);
#undef TABLE_OF

static const char *role_choice(unsigned number)
{
	return lode_word_role_name(number);
}

static const struct lode_field words_rows[] = {
	FIELD_BY_HAND("role", LODE_SHAPE_ONE, LODE_FIELD_TEXT, "What it names.", FIELD_CHOICE(role_choice)),
	FIELD_BY_HAND("text", LODE_SHAPE_ONE, LODE_FIELD_TEXT, "The words, with the spaces around them."),
};
static const struct lode_fields words = FIELD_TABLE_BY_HAND("FindingWords", words_rows);

#define TABLE_OF struct lode_finding_example
static const struct lode_field example_rows[] = {
	FIELD_TEXT(stream, "Name of the stream."),
	FIELD_TEXT(stream_id, "Its id."),
	FIELD_TEXT(host, "Its host."),
	FIELD_U64(cost_ns, "Time of the finding there."),
	FIELD_U64(slowest_ns, "Of it in the symptom that has most of it; without symptoms in the longest event."),
	FIELD_U64(t, "Start of the event that shows the longest part of that."),
	FIELD_U32(tid, "The thread of that event."),
};
static const struct lode_fields example = FIELD_TABLE("FindingExample", example_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_finding_result
static const struct lode_field finding_rows[] = {
	FIELD_TEXT(id, "From names alone: the same finding has the same id in every corpus."),
	FIELD_TEXT(kind, "Whether threads wait, run, or are ready without a processor.", FIELD_CHOICE(kind_choice)),
	FRAME(sentence, "All of it in words."),
	FIELD_ROW("sentence_parts", LODE_FIELD_OBJECT, FIELD_AT(sentence_parts, struct lode_written),
		  "The sentence in parts, by what is set apart; behind one another they are the sentence.",
		  .shape = LODE_SHAPE_LIST, .fields = &words, .written = 1),
	FIELD_OBJECT(who, who, "Whose time it is: the first of the chain."),
	FIELD_TEXT(state, "What the last of the chain does.", FIELD_CHOICE(state_choice)),
	FIELD_OBJECT(object, object, "What the first waits for, where that is known.",
		     FIELD_OPTIONAL_IF(has_object)),
	FIELD_OBJECT(holder, who, "Who has that, or ended the wait, where it is known.",
		     FIELD_OPTIONAL_IF(has_holder)),
	FRAME(frame, "Where the last of the chain is.", FIELD_OPTIONAL_IF(has_frame)),
	FRAME(caller, "The function of the program that calls it there, most of the time.",
	      FIELD_OPTIONAL_IF(has_caller)),
	FIELD_OBJECTS(callees, call, "What is called there, the costliest first."),
	FIELD_TEXT(context, "The request or query that most of its time belongs to, where one is known.",
		   FIELD_OPTIONAL_IF(has_context)),
	FIELD_U64(context_ns, "How much of its time that is.", FIELD_OPTIONAL_IF(has_context)),
	FIELD_U64(cost_ns, "Its time. Findings are disjoint."),
	FIELD_DOUBLE(share, "Of all time, 0 to 1."),
	FIELD_U64(place_ns, "Of its time in `frame` and what that calls."),
	FIELD_U64(per_symptom_ns, "Its time a symptom, over all symptoms; 0 without symptoms."),
	FIELD_U64(symptoms, "Symptoms that have some of it."),
	FIELD_U64(events, "Events, or parts of events."),
	FIELD_U64(streams, "Streams that have some of it."),
	FIELD_U64(hosts, "Hosts that have some of it, as far as they are known."),
	FIELD_OBJECTS(chain, step, "From who waits to where the time went: each waits for the next."),
	FIELD_OBJECTS(examples, example, "Streams with its slowest examples, at most five, the slowest first."),
	FIELD_WRITTEN_NUMBERS(by_stream,
			      "What it costs in streams, the 100 costliest (all with page-data): a place in "
			      "stream_ids, ns, the next place, and so on."),
	FIELD_U64(by_stream_left_out, "Streams that have some of it that are not among them."),
};
static const struct lode_fields finding = FIELD_TABLE("Finding", finding_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_finding_states
static const struct lode_field states_rows[] = {
	FIELD_TEXT(process, "Name of the processes, which may differ in a number at its end; empty: unknown."),
	FIELD_U64(running_ns, "On a processor."),
	FIELD_U64(ready_ns, "Ready, without a processor."),
	FIELD_WRITTEN(waiting_ns, LODE_SHAPE_MAP, LODE_FIELD_U64, "Blocked, by what for."),
	FIELD_U64(idle_ns, "Waits of threads that have nothing to do; not part of symptoms."),
};
static const struct lode_fields states = FIELD_TABLE("FindingStates", states_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_finding_machine
static const struct lode_field machine_rows[] = {
	FRAME(sentence, "All of it in words."),
	FIELD_U64(ready_ns, "Time in which threads were ready while other programs had the processors."),
	FIELD_DOUBLE(share, "Of all time, 0 to 1; disjoint from those of the findings."),
};
static const struct lode_fields machine = FIELD_TABLE("FindingMachine", machine_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_findings_result
static const struct lode_field findings_rows[] = {
	FIELD_OBJECTS(
		states, states,
		"What processes did in the time of the symptoms, or without symptoms in all; the busiest first.",
		FIELD_OPTIONAL_IF(any)),
	FIELD_OBJECT(machine, machine,
		     "That the machine was busy, where threads were ready for that; it is none of the findings.",
		     FIELD_OPTIONAL_IF(is_busy)),
	FIELD_OBJECTS(findings, finding, "Where the time went, in disjoint parts, the largest first.",
		      FIELD_OPTIONAL_IF(any)),
	FIELD_U64(explained_ns, "Time of the findings that are listed.", FIELD_OPTIONAL_IF(any)),
	FIELD_U64(total_ns, "Of all symptoms, or without symptoms of all that threads did.", FIELD_OPTIONAL_IF(any)),
	FIELD_WRITTEN_TEXT(symptom_word, "What one symptom is called: click, run, request; only with symptoms.",
			   FIELD_OPTIONAL_IF(has_symptoms)),
	FIELD_U64(gpus_ran_ns, "Of all time that in which GPUs ran, where the symptoms are all that these did.",
		  FIELD_OPTIONAL_IF(has_gpus)),
	FIELD_TEXT(hint, "What would give a name to functions of the findings that have none, where one of them matters.",
		   FIELD_OPTIONAL_IF(has_hint)),
};
const struct lode_fields lode_findings_part_fields = FIELD_TABLE("Findings", findings_rows);
#undef TABLE_OF
