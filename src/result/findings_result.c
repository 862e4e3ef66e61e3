/* Fills findings as plain values: see findings_result.h. */
#include "result/findings_result.h"

#include "result/activity_result.h"
#include "result/machine_words.h"
#include "result/written_shares.h"
#include "scope/states.h"
#include "trace/objects.h"

#include <string.h>

static const char *const kind_names[] = { "wait", "run", "ready" };

static const char *string(const struct lode_findings_result *result, uint32_t number)
{
	return lode_strings_get(&result->source.area->dictionary.frames.strings, number);
}

/* Of a link as it is shown. */
static struct lode_finding_who who_of(const struct lode_findings_result *result, const struct lode_chain_link *link)
{
	const struct lode_strings *names = &result->source.findings->names;

	return (struct lode_finding_who){ lode_strings_get(names, link->process),
					  lode_strings_get(names, link->thread) };
}

static struct lode_finding_who holder_of(const struct lode_findings_result *result,
					 const struct lode_chain_link *link)
{
	const struct lode_strings *names = &result->source.findings->names;

	return (struct lode_finding_who){ lode_strings_get(names, link->holder_process),
					  lode_strings_get(names, link->holder) };
}

static struct lode_finding_object object_of(const struct lode_findings_result *result,
					    const struct lode_chain_link *link)
{
	const char *object = string(result, link->object);

	return (struct lode_finding_object){ lode_object_kind_name(lode_object_kind_of(object)),
					     lode_object_name(object) };
}

static int write_frame(const struct lode_written *self, struct lode_json *json)
{
	lode_frames_json(self->from, (uint32_t)self->first, json);
	return 0;
}

static struct lode_written frame_text(const struct lode_findings_result *result, uint32_t frame)
{
	return (struct lode_written){ .write = write_frame,
				      .from = &result->source.area->dictionary.frames,
				      .first = frame };
}

static int write_sentence(const struct lode_written *self, struct lode_json *json)
{
	struct lode_buffer sentence = { 0 };
	int code = 0;

	lode_finding_sentence(self->from, self->with, NULL, &sentence);
	lode_buffer_byte(&sentence, '\0');
	if (sentence.failed)
		code = LODE_SYSTEM;
	else
		lode_json_text(json, sentence.bytes);
	lode_buffer_release(&sentence);
	return code;
}

static void write_words(struct lode_json *json, const char *words, size_t size, enum lode_word_role role)
{
	if (!size)
		return;
	lode_json_object(json);
	lode_json_key(json, "role");
	lode_json_text(json, lode_word_role_name(role));
	lode_json_key(json, "text");
	lode_json_text_n(json, words, size);
	lode_json_object_end(json);
}

/* The sentence cut at its marks: behind one another the texts are the sentence. */
static int write_parts(const struct lode_written *self, struct lode_json *json)
{
	struct lode_buffer sentence = { 0 };
	struct lode_word_marks marks;
	size_t at = 0;

	lode_finding_sentence(self->from, self->with, &marks, &sentence);
	lode_json_array(json);
	for (size_t i = 0; !sentence.failed && i < marks.count; at = marks.items[i++].end) {
		const struct lode_word_mark *mark = &marks.items[i];

		write_words(json, sentence.bytes + at, mark->start - at, LODE_WORD_PLAIN);
		write_words(json, sentence.bytes + mark->start, mark->end - mark->start, mark->role);
	}
	if (!sentence.failed)
		write_words(json, sentence.bytes + at, sentence.size - at, LODE_WORD_PLAIN);
	lode_json_array_end(json);
	lode_buffer_release(&sentence);
	return sentence.failed ? LODE_SYSTEM : 0;
}

static int write_machine(const struct lode_written *self, struct lode_json *json)
{
	struct lode_buffer sentence = { 0 };
	int failed;
	uint64_t cost;

	lode_machine_sentence(self->from, &cost, &sentence);
	lode_buffer_byte(&sentence, '\0');
	failed = sentence.failed;
	if (!failed)
		lode_json_text(json, sentence.bytes);
	lode_buffer_release(&sentence);
	return failed ? LODE_SYSTEM : 0;
}

static struct lode_finding_machine machine_of(const struct lode_findings_result *result)
{
	const struct lode_findings *findings = result->source.findings;
	struct lode_finding_machine machine = {
		.sentence = { .write = write_machine, .from = &result->source },
	};

	for (size_t i = 0; i < findings->machine_count; i++)
		machine.ready_ns = lode_add_saturating(machine.ready_ns, findings->items[findings->count + i].cost);
	machine.share = findings->total ? (double)machine.ready_ns / (double)findings->total : 0;
	return machine;
}

static int write_symptom_word(const struct lode_written *self, struct lode_json *json)
{
	struct lode_buffer word = { 0 };
	int failed;

	lode_finding_symptom_word(self->from, &word);
	lode_buffer_byte(&word, '\0');
	failed = word.failed;
	if (!failed)
		lode_json_text(json, word.bytes);
	lode_buffer_release(&word);
	return failed ? LODE_SYSTEM : 0;
}

/* ---- lists ---- */

/* Item `first` of the source's findings. */
static int make_call(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_findings_result *result = list->from;
	const struct lode_finding_callee *callee = &result->source.findings->items[list->first].callees[i];

	*(struct lode_finding_call *)item =
		(struct lode_finding_call){ frame_text(result, callee->frame), callee->cost };
	return 1;
}

static int make_step(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_findings_result *result = list->from;
	const struct lode_area *area = result->source.area;
	const struct lode_finding *finding = &result->source.findings->items[list->first];
	struct lode_chain_link link = lode_finding_link(result->source.findings, &area->chains, finding,
							result->links[result->starts[list->first] + i],
							list->count - 1 - i);
	uint32_t frame = i + 1 == list->count ? finding->frame
			 : link.place         ? area->dictionary.tree.nodes[link.place].frame
					      : LODE_NONE;

	*(struct lode_finding_step *)item = (struct lode_finding_step){
		.who = who_of(result, &link),
		.state = lode_state_key((enum lode_state)link.state),
		.has_object = link.object != 0,
		.object = object_of(result, &link),
		.has_holder = link.holder != 0,
		.holder = holder_of(result, &link),
		.has_frame = frame != LODE_NONE,
		.frame = frame_text(result, frame),
	};
	return 1;
}

static int make_example(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_findings_result *result = list->from;
	const struct lode_finding_seen *places = &result->places[list->first];
	size_t place = places->slowest[i];
	const struct lode_finding_stream *slowest = &places->streams.slowest[place];
	const struct lode_area_stream *stream = &result->source.area->streams[slowest->stream];

	*(struct lode_finding_example *)item = (struct lode_finding_example){
		.stream = string(result, stream->name),
		.stream_id = stream->id,
		.host = string(result, stream->host),
		.cost_ns = places->streams.shares.items[place].cost,
		.slowest_ns = slowest->slowest,
		.t = slowest->t,
		.tid = slowest->tid,
	};
	return 1;
}

static int make_finding(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_findings_result *result = list->from;
	const struct lode_findings *findings = result->source.findings;
	const struct lode_finding *finding = &findings->items[i];
	size_t length = result->starts[i + 1] - result->starts[i], most = result->most_streams;
	const struct lode_chains *chains = &result->source.area->chains;
	struct lode_chain_link first =
		lode_finding_link(findings, chains, finding, result->links[result->starts[i]], length - 1);
	const struct lode_shares *shares = &result->places[i].streams.shares;

	*(struct lode_finding_result *)item = (struct lode_finding_result){
		.id = finding->id,
		.kind = kind_names[finding->kind],
		.sentence = { .write = write_sentence, .from = &result->source, .with = finding },
		.sentence_parts = { .write = write_parts, .from = &result->source, .with = finding },
		.who = who_of(result, &first),
		.state = lode_state_key((enum lode_state)chains->links[finding->chain].state),
		.has_object = first.object != 0,
		.object = object_of(result, &first),
		.has_holder = first.holder != 0,
		.holder = holder_of(result, &first),
		.has_frame = finding->frame != LODE_NONE,
		.frame = frame_text(result, finding->frame),
		.has_caller = finding->caller != LODE_NONE,
		.caller = frame_text(result, finding->caller),
		.callees = { finding->callee_count, result, i, make_call },
		.has_context = finding->context != 0,
		.context = string(result, finding->context),
		.context_ns = finding->context_cost,
		.cost_ns = finding->cost,
		.share = findings->total ? (double)finding->cost / (double)findings->total : 0,
		.place_ns = finding->place_cost,
		.per_symptom_ns = findings->symptoms ? finding->cost / findings->symptoms : 0,
		.symptoms = finding->symptoms,
		.events = finding->events,
		.streams = finding->streams,
		.hosts = finding->hosts,
		.chain = { length, result, i, make_step },
		.examples = { result->places[i].examples, result, i, make_example },
		.by_stream = lode_written_shares(shares, most),
		.by_stream_left_out = shares->count > most ? shares->count - most : 0,
	};
	return 1;
}

static int make_states(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_findings_result *result = list->from;
	const struct lode_finding_process *process = &result->source.findings->processes[i];

	*(struct lode_finding_states *)item = (struct lode_finding_states){
		.process = lode_strings_get(&result->source.findings->names, process->process),
		.running_ns = process->ns[LODE_STATE_RUNNING],
		.ready_ns = process->ns[LODE_STATE_READY],
		.waiting_ns = lode_written_waits(process->ns),
		.idle_ns = process->ns[LODE_STATE_IDLE],
	};
	return 1;
}

/* ---- chains ---- */

static int list_chains(struct lode_findings_result *result, size_t count)
{
	const struct lode_chains *chains = &result->source.area->chains;
	const struct lode_finding *items = result->source.findings->items;

	result->starts = lode_calloc(count + 1, sizeof(*result->starts));
	for (size_t i = 0; result->starts && i < count; i++)
		result->starts[i + 1] = result->starts[i] + items[i].link_count;
	if (result->starts)
		result->links = lode_calloc(result->starts[count] + 1, sizeof(*result->links));
	if (!result->links)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++) {
		size_t at = result->starts[i + 1];

		for (uint32_t chain = items[i].chain; chain != LODE_NONE; chain = chains->links[chain].before)
			result->links[--at] = chain;
	}
	return 0;
}

/* Where each of the first `count` findings is seen. */
static int list_places(struct lode_findings_result *result, size_t count)
{
	const struct lode_findings *findings = result->source.findings;

	result->places = lode_calloc(count + 1, sizeof(*result->places));
	if (!result->places)
		return LODE_SYSTEM;
	for (; result->place_count < count; result->place_count++) {
		struct lode_finding_seen *places = &result->places[result->place_count];

		if (lode_finding_streams_make(&places->streams, findings, &findings->items[result->place_count]) <
		    0) {
			lode_finding_streams_release(&places->streams);
			return LODE_SYSTEM;
		}
		places->examples =
			lode_finding_streams_slowest(&places->streams, LODE_FINDING_EXAMPLES, places->slowest);
	}
	return 0;
}

int lode_findings_result_make(struct lode_findings_result *result, const struct lode_area *area,
			      const struct lode_findings *findings, size_t top, size_t most_streams)
{
	size_t count = findings ? findings->count : 0;

	*result = (struct lode_findings_result){ .any = findings != NULL,
						 .source = { area, findings },
						 .most_streams = most_streams };
	if (!findings)
		return 0;
	if (top && top < count)
		count = top;
	result->states = (struct lode_list){ findings->process_count, result, 0, make_states };
	result->findings = (struct lode_list){ count, result, 0, make_finding };
	for (size_t i = 0; i < count; i++)
		result->explained_ns = lode_add_saturating(result->explained_ns, findings->items[i].cost);
	result->total_ns = findings->total;
	result->is_busy = findings->machine_count != 0;
	result->machine = machine_of(result);
	result->symptom_word = (struct lode_written){ .write = write_symptom_word, .from = &result->source };
	result->has_symptoms = findings->symptoms != 0;
	result->has_gpus = lode_findings_are_of_gpus(&result->source, &result->gpus_ran_ns);
	return list_chains(result, count) < 0 ? LODE_SYSTEM : list_places(result, count);
}

void lode_findings_result_release(struct lode_findings_result *result)
{
	for (size_t i = 0; i < result->place_count; i++)
		lode_finding_streams_release(&result->places[i].streams);
	lode_free(result->places);
	lode_free(result->links);
	lode_free(result->starts);
	memset(result, 0, sizeof(*result));
}
