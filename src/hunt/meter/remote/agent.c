/* Agent: see agent.h and, for what is said, agent_protocol.h. */
#include "hunt/meter/remote/agent.h"

#include "base/memory.h"
#include "hunt/meter/hypothesis.h"
#include "hunt/meter/remote/agent_protocol.h"

#include <string.h>

/* Longer than any hunt waits between two looks. */
#define LONGEST_WAIT 10000000000ull

struct agent {
	struct lode_meter *meter;
	struct lode_wire wire;
	uint32_t *running; /* experiments */
	size_t running_count;
	size_t running_capacity;
	char *sent; /* by function: the other side knows its name */
	size_t sent_capacity;
	uint32_t *news; /* functions that samples hold and the other side does not know */
	size_t news_count;
	size_t news_capacity;
	struct lode_buffer samples; /* JSON of the current samples, after a first comma */
};

static const char *name_of(const struct agent *agent, uint32_t function)
{
	return lode_program_function(agent->meter->program, function)->name;
}

/* ---- starting and stopping ---- */

struct batch {
	uint32_t *ids;
	enum lode_hypothesis *hypotheses;
	struct lode_focus *foci;
	size_t count;
};

static void release_batch(struct batch *batch)
{
	lode_free(batch->ids);
	lode_free(batch->hypotheses);
	lode_free(batch->foci);
}

static int read_batch(struct agent *agent, yajl_val request, struct batch *batch, struct lode_error *error)
{
	size_t count;
	yajl_val *items = lode_wire_array(request, "experiments", &count);

	batch->ids = lode_calloc(count + 1, sizeof(*batch->ids));
	batch->hypotheses = lode_calloc(count + 1, sizeof(*batch->hypotheses));
	batch->foci = lode_calloc(count + 1, sizeof(*batch->foci));
	if (!batch->ids || !batch->hypotheses || !batch->foci)
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		const char *hypothesis = lode_wire_text(items[i], "hypothesis");

		batch->ids[i] = (uint32_t)lode_wire_number(items[i], "id");
		batch->hypotheses[i] = lode_hypothesis_find(hypothesis ? hypothesis : "");
		if (batch->hypotheses[i] == LODE_HYPOTHESES)
			return lode_fail(error, LODE_BAD_INPUT,
					 "an unknown hypothesis; use the same lode on all hosts");
		if (lode_wire_focus(items[i], agent->meter->program, &batch->foci[i]) < 0)
			return lode_fail_memory(error);
	}
	batch->count = count;
	return 0;
}

/* The known callees of the functions of a batch. */
static void put_calls(struct agent *agent, const struct batch *batch)
{
	struct lode_json *json = &agent->wire.json;

	lode_json_key_object(json, "calls");
	for (size_t i = 0; i < batch->count; i++) {
		size_t count = 0;
		const uint32_t *callees;

		if (batch->foci[i].function == LODE_NONE)
			continue;
		callees = lode_program_callees(agent->meter->program, batch->foci[i].function, &count);
		lode_json_key_array(json, name_of(agent, batch->foci[i].function));
		for (size_t k = 0; k < count; k++)
			lode_json_text(json, name_of(agent, callees[k]));
		lode_json_array_end(json);
	}
	lode_json_object_end(json);
}

static int start(struct agent *agent, yajl_val request, struct lode_error *error)
{
	struct lode_meter *meter = agent->meter;
	struct batch batch = { 0 };
	int code = read_batch(agent, request, &batch, error);

	if (!code && LODE_GROW(agent->running, agent->running_capacity, agent->running_count + batch.count) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = meter->operations->start(meter, batch.ids, batch.hypotheses, batch.foci, batch.count, error);
	if (!code) {
		for (size_t i = 0; i < batch.count; i++)
			agent->running[agent->running_count++] = batch.ids[i];
		put_calls(agent, &batch);
	}
	release_batch(&batch);
	return code;
}

static int forget(struct agent *agent, uint32_t id)
{
	for (size_t i = 0; i < agent->running_count; i++)
		if (agent->running[i] == id) {
			agent->running[i] = agent->running[--agent->running_count];
			return 1;
		}
	return 0;
}

static int stop(struct agent *agent, yajl_val request, struct lode_error *error)
{
	struct lode_meter *meter = agent->meter;
	size_t count, known = 0;
	yajl_val *items = lode_wire_array(request, "experiments", &count);
	uint32_t *ids = lode_calloc(count + 1, sizeof(*ids));
	int code;

	if (!ids)
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		ids[known] = (uint32_t)lode_wire_item(items[i]);
		known += (size_t)forget(agent, ids[known]);
	}
	code = meter->operations->stop(meter, ids, known, error);
	lode_free(ids);
	return code;
}

/* ---- looking ---- */

static int put_reading(struct agent *agent, uint32_t id, struct lode_error *error)
{
	struct lode_json *json = &agent->wire.json;
	struct lode_reading reading = { 0 };
	int code = agent->meter->operations->read(agent->meter, id, &reading, error);

	if (code < 0)
		return code;
	lode_json_object(json);
	lode_json_key_u64(json, "id", id);
	lode_json_key_u64(json, "state", (uint64_t)reading.state);
	if (reading.why)
		lode_json_key_text(json, "why", reading.why);
	lode_json_key_array(json, "numbers");
	lode_json_u64(json, reading.usable);
	lode_json_u64(json, reading.ready);
	for (int i = 0; i < LODE_SMALL_IO; i++)
		lode_json_u64(json, reading.time[i]);
	lode_json_u64(json, reading.operations);
	lode_json_u64(json, reading.bytes);
	lode_json_u64(json, reading.calls);
	lode_json_u64(json, reading.cost);
	lode_json_array_end(json);
	lode_json_object_end(json);
	return 0;
}

/* Notes a function whose name has to be sent. */
static int learn(struct agent *agent, uint32_t function)
{
	size_t before = agent->sent_capacity;

	if (LODE_GROW(agent->sent, agent->sent_capacity, (size_t)function + 1) < 0)
		return LODE_SYSTEM;
	memset(agent->sent + before, 0, agent->sent_capacity - before);
	if (agent->sent[function])
		return 0;
	if (LODE_GROW(agent->news, agent->news_capacity, agent->news_count + 1) < 0)
		return LODE_SYSTEM;
	agent->sent[function] = 1;
	agent->news[agent->news_count++] = function;
	return 0;
}

static int handle_sample(void *context, const struct lode_meter_sample *sample)
{
	struct agent *agent = context;
	struct lode_buffer *text = &agent->samples;
	const uint64_t numbers[] = { sample->t,
				     sample->host,
				     sample->process,
				     sample->thread,
				     sample->weight,
				     (uint64_t)sample->counts,
				     (sample->cut ? LODE_WIRE_CUT : 0u) | (sample->drawn ? LODE_WIRE_DRAWN : 0u) };

	lode_buffer_text(text, text->size ? ",[" : "[");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (i)
			lode_buffer_byte(text, ',');
		lode_buffer_number(text, numbers[i]);
	}
	for (size_t i = 0; i < sample->depth; i++) {
		if (learn(agent, sample->functions[i]) < 0)
			return LODE_SYSTEM;
		lode_buffer_byte(text, ',');
		lode_buffer_number(text, sample->functions[i]);
	}
	lode_buffer_byte(text, ']');
	return text->failed ? LODE_SYSTEM : 0;
}

static void put_news(struct agent *agent)
{
	struct lode_json *json = &agent->wire.json;

	lode_json_key_array(json, "functions");
	for (size_t i = 0; i < agent->news_count; i++) {
		lode_json_array(json);
		lode_json_u64(json, agent->news[i]);
		lode_json_text(json, name_of(agent, agent->news[i]));
		lode_json_array_end(json);
	}
	lode_json_array_end(json);
	agent->news_count = 0;
}

static void put_samples(struct agent *agent)
{
	struct lode_json *json = &agent->wire.json;
	struct lode_buffer all = { 0 };

	lode_json_key(json, "samples");
	lode_buffer_byte(&all, '[');
	lode_buffer_add(&all, agent->samples.bytes, agent->samples.size);
	lode_buffer_byte(&all, ']');
	if (all.failed)
		json->buffer->failed = 1;
	else
		lode_json_raw(json, all.bytes, all.size);
	lode_buffer_release(&all);
	lode_buffer_clear(&agent->samples);
}

static int look(struct agent *agent, yajl_val request, struct lode_error *error)
{
	struct lode_meter *meter = agent->meter;
	struct lode_json *json = &agent->wire.json;
	uint64_t wait = lode_wire_number(request, "wait_ns");
	int ended =
		meter->operations->wait(meter,
					meter->operations->now(meter) + (wait < LONGEST_WAIT ? wait : LONGEST_WAIT),
					error);
	int code = ended < 0 ? ended : meter->operations->samples(meter, handle_sample, agent, error);

	if (code < 0)
		return error->text[0] ? code : lode_fail_memory(error);
	lode_json_key_bool(json, "ended", ended);
	lode_json_key_u64(json, "now", meter->operations->now(meter));
	lode_json_key_double(json, "cost", meter->operations->cost(meter));
	lode_json_key_double(json, "own", lode_meter_own(meter));
	put_news(agent);
	put_samples(agent);
	lode_json_key_array(json, "readings");
	for (size_t i = 0; i < agent->running_count; i++) {
		code = put_reading(agent, agent->running[i], error);
		if (code < 0)
			return code;
	}
	lode_json_array_end(json);
	return 0;
}

/* ---- questions ---- */

static int predict(struct agent *agent, yajl_val request, struct lode_error *error)
{
	const char *text = lode_wire_text(request, "hypothesis");
	enum lode_hypothesis hypothesis = lode_hypothesis_find(text ? text : "");
	struct lode_focus focus;

	if (hypothesis == LODE_HYPOTHESES)
		return lode_fail(error, LODE_BAD_INPUT, "an unknown hypothesis; use the same lode on all hosts");
	if (lode_wire_focus(request, agent->meter->program, &focus) < 0)
		return lode_fail_memory(error);
	lode_json_key_double(&agent->wire.json, "cost",
			     agent->meter->operations->predict(agent->meter, hypothesis, &focus));
	return 0;
}

static int put_item(void *context, uint32_t number, uint64_t object)
{
	struct lode_json *json = context;

	lode_json_array(json);
	lode_json_u64(json, number);
	lode_json_u64(json, object);
	lode_json_array_end(json);
	return 0;
}

static int below(struct agent *agent, yajl_val request, struct lode_error *error)
{
	struct lode_meter *meter = agent->meter;
	uint64_t axis = lode_wire_number(request, "axis");
	struct lode_focus focus;

	if (axis == LODE_AXIS_CODE || axis >= LODE_AXES)
		return lode_fail(error, LODE_BAD_INPUT, "an unknown axis; use the same lode on all hosts");
	if (lode_wire_focus(request, meter->program, &focus) < 0)
		return lode_fail_memory(error);
	lode_json_key_array(&agent->wire.json, "items");
	if (meter->operations->below(meter, &focus, (enum lode_focus_axis)axis, put_item, &agent->wire.json) < 0)
		return lode_fail_memory(error);
	lode_json_array_end(&agent->wire.json);
	return 0;
}

static int put_root(void *context, uint32_t function)
{
	struct agent *agent = context;

	lode_json_text(&agent->wire.json, name_of(agent, function));
	return 0;
}

static int roots(struct agent *agent, yajl_val request, struct lode_error *error)
{
	struct lode_meter *meter = agent->meter;
	struct lode_focus focus;

	if (lode_wire_focus(request, meter->program, &focus) < 0)
		return lode_fail_memory(error);
	lode_json_key_array(&agent->wire.json, "functions");
	if (meter->operations->roots(meter, &focus, put_root, agent) < 0)
		return lode_fail_memory(error);
	lode_json_array_end(&agent->wire.json);
	return 0;
}

static int name(struct agent *agent, yajl_val request, struct lode_error *error)
{
	uint64_t axis = lode_wire_number(request, "axis");
	const char *text;

	if (axis == LODE_AXIS_CODE || axis >= LODE_AXES)
		return lode_fail(error, LODE_BAD_INPUT, "an unknown axis; use the same lode on all hosts");
	text = agent->meter->operations->name(agent->meter, (enum lode_focus_axis)axis,
					      lode_wire_number(request, "number"));
	lode_json_key_text(&agent->wire.json, "name", text ? text : "?");
	return 0;
}

/* ---- serving ---- */

static const struct {
	const char *name;
	int (*answer)(struct agent *agent, yajl_val request, struct lode_error *error);
} requests[] = {
	{ "start", start }, { "stop", stop },   { "look", look }, { "predict", predict },
	{ "below", below }, { "roots", roots }, { "name", name },
};

static int answer(struct agent *agent, const char *what, yajl_val request, struct lode_error *error)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		if (!strcmp(requests[i].name, what))
			return requests[i].answer(agent, request, error);
	return lode_fail(error, LODE_BAD_INPUT, "an unknown request; use the same lode on all hosts");
}

/* Answers one line. Returns 1, 0 when it is the end, or a negative code. */
static int serve_one(struct agent *agent, struct lode_error *error)
{
	struct lode_error reason = { "" };
	yajl_val request = NULL;
	int code = lode_wire_receive(&agent->wire, &request, error);
	const char *what = code > 0 ? lode_wire_text(request, "do") : NULL;

	if (code <= 0)
		return code;
	if (what && !strcmp(what, "end")) {
		yajl_tree_free(request);
		return 0;
	}
	lode_wire_begin(&agent->wire);
	code = answer(agent, what ? what : "", request, &reason);
	yajl_tree_free(request);
	if (code < 0) {
		lode_wire_begin(&agent->wire);
		lode_json_key_text(&agent->wire.json, "error", reason.text);
	}
	code = lode_wire_send(&agent->wire, error);
	return code < 0 ? code : 1;
}

int lode_agent_serve(struct lode_meter *meter, const char *host, int in, int out, struct lode_error *error)
{
	struct agent agent = { .meter = meter };
	int code;

	lode_wire_init(&agent.wire, in, out, "the hunt");
	lode_wire_begin(&agent.wire);
	lode_json_key_u64(&agent.wire.json, "agent", LODE_WIRE_VERSION);
	lode_json_key_text(&agent.wire.json, "host", host);
	code = lode_wire_send(&agent.wire, error);
	if (!code)
		do {
			code = serve_one(&agent, error);
		} while (code > 0);
	if (agent.running_count && !code)
		code = meter->operations->stop(meter, agent.running, agent.running_count, error);
	lode_wire_release(&agent.wire);
	lode_buffer_release(&agent.samples);
	lode_free(agent.running);
	lode_free(agent.sent);
	lode_free(agent.news);
	return code;
}

void lode_agent_refuse(int out, const char *sentence)
{
	struct lode_error ignored;
	struct lode_wire wire;

	lode_wire_init(&wire, -1, out, "the hunt");
	lode_wire_begin(&wire);
	lode_json_key_text(&wire.json, "error", sentence);
	lode_wire_send(&wire, &ignored);
	lode_wire_release(&wire);
}
