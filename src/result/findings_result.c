/* Fills findings as plain values: see findings_result.h. */
#include "result/findings_result.h"

#include "result/activity_result.h"
#include "scope/states.h"
#include "trace/objects.h"

#include <string.h>

static const char *const kind_names[] = { "wait", "run", "ready" };

static const char *string(const struct lode_findings_result *result, uint32_t number)
{
	return lode_strings_get(&result->source.area->dictionary.frames.strings, number);
}

static struct lode_finding_who who_of(const struct lode_findings_result *result, const struct lode_chain_link *link)
{
	return (struct lode_finding_who){ string(result, link->process), string(result, link->thread) };
}

static struct lode_finding_who holder_of(const struct lode_findings_result *result,
					 const struct lode_chain_link *link)
{
	return (struct lode_finding_who){ string(result, link->holder_process), string(result, link->holder) };
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

	lode_finding_sentence(self->from, self->with, &sentence);
	lode_buffer_byte(&sentence, '\0');
	if (sentence.failed)
		code = LODE_SYSTEM;
	else
		lode_json_text(json, sentence.bytes);
	lode_buffer_release(&sentence);
	return code;
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
	const struct lode_chain_link *link = &area->chains.links[result->links[result->starts[list->first] + i]];
	uint32_t frame = i + 1 == list->count ? result->source.findings->items[list->first].frame
			 : link->place        ? area->dictionary.tree.nodes[link->place].frame
					      : LODE_NONE;

	*(struct lode_finding_step *)item = (struct lode_finding_step){
		.who = who_of(result, link),
		.state = lode_state_key((enum lode_state)link->state),
		.has_object = link->object != 0,
		.object = object_of(result, link),
		.has_holder = link->holder != 0,
		.holder = holder_of(result, link),
		.has_frame = frame != LODE_NONE,
		.frame = frame_text(result, frame),
	};
	return 1;
}

static int make_finding(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_findings_result *result = list->from;
	const struct lode_findings *findings = result->source.findings;
	const struct lode_finding *finding = &findings->items[i];
	const struct lode_chain_link *links = result->source.area->chains.links;
	const struct lode_chain_link *first = &links[result->links[result->starts[i]]];
	size_t length = result->starts[i + 1] - result->starts[i];

	*(struct lode_finding_result *)item = (struct lode_finding_result){
		.id = finding->id,
		.kind = kind_names[finding->kind],
		.sentence = { .write = write_sentence, .from = &result->source, .with = finding },
		.who = who_of(result, first),
		.state = lode_state_key((enum lode_state)links[finding->chain].state),
		.has_object = first->object != 0,
		.object = object_of(result, first),
		.has_holder = first->holder != 0,
		.holder = holder_of(result, first),
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
	};
	return 1;
}

static int make_states(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_findings_result *result = list->from;
	const struct lode_finding_process *process = &result->source.findings->processes[i];

	*(struct lode_finding_states *)item = (struct lode_finding_states){
		.process = string(result, process->process),
		.running_ns = process->ns[LODE_STATE_RUNNING],
		.ready_ns = process->ns[LODE_STATE_READY],
		.waiting_ns = lode_written_waits(process->ns),
		.idle_ns = process->ns[LODE_STATE_IDLE],
	};
	return 1;
}

/* ---- chains ---- */

static size_t chain_length(const struct lode_chains *chains, uint32_t chain)
{
	size_t length = 1;

	for (; chains->links[chain].before != LODE_NONE; chain = chains->links[chain].before)
		length++;
	return length;
}

static int list_chains(struct lode_findings_result *result, size_t count)
{
	const struct lode_chains *chains = &result->source.area->chains;
	const struct lode_finding *items = result->source.findings->items;

	result->starts = lode_calloc(count + 1, sizeof(*result->starts));
	for (size_t i = 0; result->starts && i < count; i++)
		result->starts[i + 1] = result->starts[i] + chain_length(chains, items[i].chain);
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

int lode_findings_result_make(struct lode_findings_result *result, const struct lode_area *area,
			      const struct lode_findings *findings, size_t top)
{
	size_t count = findings ? findings->count : 0;

	*result = (struct lode_findings_result){ .any = findings != NULL, .source = { area, findings } };
	if (!findings)
		return 0;
	if (top && top < count)
		count = top;
	result->states = (struct lode_list){ findings->process_count, result, 0, make_states };
	result->findings = (struct lode_list){ count, result, 0, make_finding };
	for (size_t i = 0; i < count; i++)
		result->explained_ns = lode_add_saturating(result->explained_ns, findings->items[i].cost);
	result->total_ns = findings->total;
	return list_chains(result, count);
}

void lode_findings_result_release(struct lode_findings_result *result)
{
	lode_free(result->links);
	lode_free(result->starts);
	memset(result, 0, sizeof(*result));
}
