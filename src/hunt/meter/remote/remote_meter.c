/*
 * Remote meter: see remote_meter.h. Time is this host's: the agent's `now` comes with
 * each look, and samples are moved by the difference. One function for each operation of
 * a meter makes the file long.
 */
#include "hunt/meter/remote/remote_meter.h"

#include "base/clock.h"
#include "base/hash_index.h"
#include "base/id_array.h"
#include "hunt/meter/hypothesis.h"
#include "hunt/meter/focus_names.h"
#include "hunt/meter/remote/agent_protocol.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A prediction is requested again after so long. */
#define PREDICTED_FOR 1000000000ull

struct run {
	uint32_t experiment;
	struct lode_reading reading;
	uint32_t why; /* string; 0: none */
};

struct prediction {
	enum lode_hypothesis hypothesis;
	struct lode_focus focus;
	double cost;
	uint64_t asked;
};

struct sample {
	struct lode_meter_sample sample;
	size_t first; /* of its functions */
};

struct remote {
	struct lode_meter meter; /* first */
	struct lode_wire wire;
	struct lode_notes *notes;
	struct lode_focus_names names; /* its strings hold other texts, too */
	struct run *runs;
	size_t run_count, run_capacity;
	struct prediction *predictions;
	size_t prediction_count, prediction_capacity;
	struct lode_index prediction_index;
	struct sample *samples;
	size_t sample_count, sample_capacity;
	uint32_t *stacks;
	size_t stack_count, stack_capacity;
	uint32_t *functions; /* by the agent's number */
	size_t function_capacity;
	double cost;
	double own;
	int ended;
	int dead;
	char host[256];
	struct lode_error reason; /* why it is dead */
};

static struct remote *of(struct lode_meter *meter)
{
	return (struct remote *)meter;
}

static uint64_t remote_now(struct lode_meter *meter)
{
	(void)meter;
	return lode_now();
}

/* ---- asking ---- */

/* The host does not answer any more, or not as it should. */
static void die(struct remote *remote, const char *reason)
{
	if (remote->dead)
		return;
	remote->dead = remote->ended = 1;
	lode_fail(&remote->reason, LODE_SYSTEM, "host %s: %s", remote->host, reason);
	lode_notes_add(remote->notes, 1, "hosts that stopped answering during the hunt", remote->reason.text);
	for (size_t i = 0; i < remote->run_count; i++)
		remote->runs[i].reading.state = LODE_READING_GONE;
}

static void begin(struct remote *remote, const char *request)
{
	lode_wire_begin(&remote->wire);
	lode_json_key_text(&remote->wire.json, "do", request);
}

/*
 * Sends what was begun and waits for the answer. Returns 1 with the answer, which the
 * caller frees, 0 when the host is away, or a negative code with the agent's sentence.
 */
static int ask(struct remote *remote, yajl_val *reply, struct lode_error *error)
{
	struct lode_error reason = { "" };
	const char *sentence;
	int code;

	if (remote->dead)
		return 0;
	code = lode_wire_send(&remote->wire, &reason);
	if (!code)
		code = lode_wire_receive(&remote->wire, reply, &reason);
	if (code <= 0) {
		die(remote, reason.text[0] ? reason.text : "its agent has ended");
		return 0;
	}
	sentence = lode_wire_text(*reply, "error");
	if (!sentence)
		return 1;
	code = lode_fail(error, LODE_SYSTEM, "host %s: %s", remote->host, sentence);
	yajl_tree_free(*reply);
	return code;
}

/* ---- experiments ---- */

static struct run *find_run(struct remote *remote, uint32_t experiment)
{
	for (size_t i = 0; i < remote->run_count; i++)
		if (remote->runs[i].experiment == experiment)
			return &remote->runs[i];
	return NULL;
}

/* The callees of a function, from the agent. */
static int learn_calls(struct remote *remote, const char *caller, yajl_val callees)
{
	uint32_t from = lode_program_named(remote->meter.program, caller);

	if (from == LODE_NONE)
		return LODE_SYSTEM;
	for (size_t i = 0; YAJL_IS_ARRAY(callees) && i < YAJL_GET_ARRAY(callees)->len; i++) {
		const char *name = YAJL_GET_STRING(YAJL_GET_ARRAY(callees)->values[i]);
		uint32_t to = name ? lode_program_named(remote->meter.program, name) : LODE_NONE;

		if (to == LODE_NONE || lode_program_add_call(remote->meter.program, from, to) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int learn_all_calls(struct remote *remote, yajl_val reply)
{
	const char *path[] = { "calls", NULL };
	yajl_val calls = yajl_tree_get(reply, path, yajl_t_object);

	for (size_t i = 0; calls && i < YAJL_GET_OBJECT(calls)->len; i++)
		if (learn_calls(remote, YAJL_GET_OBJECT(calls)->keys[i], YAJL_GET_OBJECT(calls)->values[i]) < 0)
			return LODE_SYSTEM;
	return 0;
}

static int remote_start(struct lode_meter *meter, const uint32_t *experiments,
			const enum lode_hypothesis *hypotheses, const struct lode_focus *foci, size_t count,
			struct lode_error *error)
{
	struct remote *remote = of(meter);
	struct lode_json *json = &remote->wire.json;
	yajl_val reply;
	int code;

	if (LODE_GROW(remote->runs, remote->run_capacity, remote->run_count + count) < 0)
		return lode_fail_memory(error);
	begin(remote, "start");
	lode_json_key_array(json, "experiments");
	for (size_t i = 0; i < count; i++) {
		remote->runs[remote->run_count++] = (struct run){
			.experiment = experiments[i],
			.reading.state = remote->dead ? LODE_READING_GONE : LODE_READING_ON,
		};
		lode_json_object(json);
		lode_json_key_u64(json, "id", experiments[i]);
		lode_json_key_text(json, "hypothesis", lode_hypothesis_name(hypotheses[i]));
		lode_wire_put_focus(&remote->wire, meter->program, &foci[i]);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
	code = ask(remote, &reply, error);
	if (code <= 0)
		return code;
	code = learn_all_calls(remote, reply) < 0 ? lode_fail_memory(error) : 0;
	yajl_tree_free(reply);
	return code;
}

static int remote_stop(struct lode_meter *meter, const uint32_t *experiments, size_t count,
		       struct lode_error *error)
{
	struct remote *remote = of(meter);
	struct lode_json *json = &remote->wire.json;
	yajl_val reply;
	int code;

	begin(remote, "stop");
	lode_json_key_array(json, "experiments");
	for (size_t i = 0; i < count; i++) {
		struct run *run = find_run(remote, experiments[i]);

		lode_json_u64(json, experiments[i]);
		if (run)
			*run = remote->runs[--remote->run_count];
	}
	lode_json_array_end(json);
	code = ask(remote, &reply, error);
	if (code > 0)
		yajl_tree_free(reply);
	return code < 0 ? code : 0;
}

static int remote_read(struct lode_meter *meter, uint32_t experiment, struct lode_reading *reading,
		       struct lode_error *error)
{
	struct remote *remote = of(meter);
	struct run *run = find_run(remote, experiment);

	if (!run)
		return lode_fail(error, LODE_SYSTEM, "host %s: experiment %u does not run", remote->host,
				 experiment);
	*reading = run->reading;
	reading->why = remote->dead ? remote->reason.text
		       : run->why   ? lode_strings_get(&remote->names.strings, run->why)
				    : NULL;
	return 0;
}

/* ---- looking ---- */

static int decode_reading(struct remote *remote, yajl_val value)
{
	struct run *run = find_run(remote, (uint32_t)lode_wire_number(value, "id"));
	uint64_t state = lode_wire_number(value, "state"), numbers[LODE_WIRE_NUMBERS] = { 0 };
	const char *why = lode_wire_text(value, "why");
	size_t count;
	yajl_val *items = lode_wire_array(value, "numbers", &count);

	if (!run)
		return 0;
	for (size_t i = 0; i < count && i < LODE_WIRE_NUMBERS; i++)
		numbers[i] = lode_wire_item(items[i]);
	run->reading.state = state <= LODE_READING_GONE ? (enum lode_reading_state)state : LODE_READING_IMPOSSIBLE;
	run->reading.usable = numbers[0];
	run->reading.ready = numbers[1];
	memcpy(run->reading.time, numbers + 2, sizeof(run->reading.time));
	run->reading.operations = numbers[2 + LODE_SMALL_IO];
	run->reading.bytes = numbers[3 + LODE_SMALL_IO];
	run->reading.calls = numbers[4 + LODE_SMALL_IO];
	run->reading.cost = numbers[5 + LODE_SMALL_IO];
	run->why = why ? lode_strings_add(&remote->names.strings, why, strlen(why)) : 0;
	return run->why == LODE_NONE ? LODE_SYSTEM : 0;
}

/* The agent's numbers of functions are those of its program, so they are dense; a wild one is refused. */
static int decode_function(struct remote *remote, yajl_val value)
{
	uint32_t *function;
	uint64_t number;
	const char *name;

	if (!YAJL_IS_ARRAY(value) || YAJL_GET_ARRAY(value)->len != 2)
		return 0;
	number = lode_wire_item(YAJL_GET_ARRAY(value)->values[0]);
	name = YAJL_GET_STRING(YAJL_GET_ARRAY(value)->values[1]);
	if (!name || number > 100000000)
		return 0;
	function = lode_id_place(&remote->functions, &remote->function_capacity, (uint32_t)number);
	if (!function)
		return LODE_SYSTEM;
	*function = lode_program_named(remote->meter.program, name);
	return *function == LODE_NONE ? LODE_SYSTEM : 0;
}

static int decode_sample(struct remote *remote, yajl_val value, uint64_t ahead)
{
	size_t length = YAJL_IS_ARRAY(value) ? YAJL_GET_ARRAY(value)->len : 0;
	yajl_val *items = length ? YAJL_GET_ARRAY(value)->values : NULL;
	struct sample *sample;

	if (length < 7 || lode_wire_item(items[5]) >= LODE_SMALL_IO)
		return 0;
	if (LODE_GROW(remote->samples, remote->sample_capacity, remote->sample_count + 1) < 0 ||
	    LODE_GROW(remote->stacks, remote->stack_capacity, remote->stack_count + length) < 0)
		return LODE_SYSTEM;
	sample = &remote->samples[remote->sample_count++];
	*sample = (struct sample){
		.sample = { .t = lode_wire_item(items[0]) + ahead,
			    .host = (uint32_t)lode_wire_item(items[1]),
			    .process = (uint32_t)lode_wire_item(items[2]),
			    .thread = (uint32_t)lode_wire_item(items[3]),
			    .weight = lode_wire_item(items[4]),
			    .counts = (enum lode_hypothesis)lode_wire_item(items[5]),
			    .drawn = (lode_wire_item(items[6]) & LODE_WIRE_DRAWN) != 0,
			    .cut = (lode_wire_item(items[6]) & LODE_WIRE_CUT) != 0 },
		.first = remote->stack_count,
	};
	for (size_t i = 7; i < length; i++) {
		uint64_t number = lode_wire_item(items[i]);

		if (number < remote->function_capacity && remote->functions[number] != LODE_NONE)
			remote->stacks[remote->stack_count++] = remote->functions[number];
	}
	sample->sample.depth = remote->stack_count - sample->first;
	return 0;
}

static int decode_all(struct remote *remote, yajl_val reply)
{
	const char *path[] = { "ended", NULL };
	uint64_t ahead = lode_now() - lode_wire_number(reply, "now"); /* wraps around as it should */
	size_t functions, readings, samples;
	yajl_val *function = lode_wire_array(reply, "functions", &functions);
	yajl_val *reading = lode_wire_array(reply, "readings", &readings);
	yajl_val *sample = lode_wire_array(reply, "samples", &samples);
	int code = 0;

	remote->ended = YAJL_IS_TRUE(yajl_tree_get(reply, path, yajl_t_any));
	remote->cost = lode_wire_double(reply, "cost");
	remote->own = lode_wire_double(reply, "own");
	for (size_t i = 0; !code && i < functions; i++)
		code = decode_function(remote, function[i]);
	for (size_t i = 0; !code && i < readings; i++)
		code = decode_reading(remote, reading[i]);
	for (size_t i = 0; !code && i < samples; i++)
		code = decode_sample(remote, sample[i], ahead);
	return code;
}

static int remote_wait(struct lode_meter *meter, uint64_t until, struct lode_error *error)
{
	struct remote *remote = of(meter);
	uint64_t now = lode_now();
	yajl_val reply;
	int code;

	if (remote->dead)
		return 1;
	begin(remote, "look");
	lode_json_key_u64(&remote->wire.json, "wait_ns", until > now ? until - now : 0);
	code = ask(remote, &reply, error);
	if (code <= 0)
		return code < 0 ? code : 1;
	code = decode_all(remote, reply) < 0 ? lode_fail_memory(error) : remote->ended;
	yajl_tree_free(reply);
	return code;
}

static int remote_samples(struct lode_meter *meter,
			  int (*each)(void *context, const struct lode_meter_sample *sample), void *context,
			  struct lode_error *error)
{
	struct remote *remote = of(meter);
	int code = 0;

	(void)error;
	for (size_t i = 0; code >= 0 && i < remote->sample_count; i++) {
		remote->samples[i].sample.functions = remote->stacks + remote->samples[i].first;
		code = each(context, &remote->samples[i].sample);
	}
	remote->sample_count = remote->stack_count = 0;
	return code;
}

/* ---- questions ---- */

static struct prediction *find_prediction(struct remote *remote, enum lode_hypothesis hypothesis,
					  const struct lode_focus *focus, uint64_t hash)
{
	uint32_t id = LODE_INDEX_FIND(i, &remote->prediction_index, hash,
				      remote->predictions[i].hypothesis == hypothesis &&
					      lode_focus_equal(&remote->predictions[i].focus, focus));

	if (id != LODE_NONE)
		return &remote->predictions[id];
	if (LODE_INDEX_APPEND(&remote->prediction_index, hash, remote->predictions, remote->prediction_count,
			      remote->prediction_capacity, (struct prediction){ hypothesis, *focus, 0, 0 }) < 0)
		return NULL;
	return &remote->predictions[remote->prediction_count - 1];
}

static double remote_predict(struct lode_meter *meter, enum lode_hypothesis hypothesis,
			     const struct lode_focus *focus)
{
	struct remote *remote = of(meter);
	const uint64_t key[] = { (uint64_t)hypothesis, focus->function, focus->host,
				 focus->process,       focus->thread,   focus->object };
	struct prediction *prediction =
		find_prediction(remote, hypothesis, focus, lode_hash_bytes(key, sizeof(key)));
	struct lode_error ignored;
	yajl_val reply;

	if (!prediction)
		return 0; /* memory has run out, which the next allocation will report */
	if (prediction->asked && lode_now() - prediction->asked < PREDICTED_FOR)
		return prediction->cost;
	begin(remote, "predict");
	lode_json_key_text(&remote->wire.json, "hypothesis", lode_hypothesis_name(hypothesis));
	lode_wire_put_focus(&remote->wire, meter->program, focus);
	if (ask(remote, &reply, &ignored) > 0) {
		prediction->cost = lode_wire_double(reply, "cost");
		yajl_tree_free(reply);
	}
	prediction->asked = lode_now();
	return prediction->cost;
}

static int remote_below(struct lode_meter *meter, const struct lode_focus *focus, enum lode_focus_axis axis,
			int (*each)(void *context, uint32_t number, uint64_t object), void *context)
{
	struct remote *remote = of(meter);
	struct lode_error ignored;
	size_t count;
	yajl_val reply, *items;
	int code = 0;

	begin(remote, "below");
	lode_json_key_u64(&remote->wire.json, "axis", (uint64_t)axis);
	lode_wire_put_focus(&remote->wire, meter->program, focus);
	if (ask(remote, &reply, &ignored) <= 0)
		return 0;
	items = lode_wire_array(reply, "items", &count);
	for (size_t i = 0; code >= 0 && i < count; i++)
		if (YAJL_IS_ARRAY(items[i]) && YAJL_GET_ARRAY(items[i])->len == 2)
			code = each(context, (uint32_t)lode_wire_item(YAJL_GET_ARRAY(items[i])->values[0]),
				    lode_wire_item(YAJL_GET_ARRAY(items[i])->values[1]));
	yajl_tree_free(reply);
	return code;
}

static int remote_roots(struct lode_meter *meter, const struct lode_focus *focus,
			int (*each)(void *context, uint32_t function), void *context)
{
	struct remote *remote = of(meter);
	struct lode_error ignored;
	size_t count;
	yajl_val reply, *items;
	int code = 0;

	begin(remote, "roots");
	lode_wire_put_focus(&remote->wire, meter->program, focus);
	if (ask(remote, &reply, &ignored) <= 0)
		return 0;
	items = lode_wire_array(reply, "functions", &count);
	for (size_t i = 0; code >= 0 && i < count; i++) {
		const char *name = YAJL_GET_STRING(items[i]);
		uint32_t function = name ? lode_program_named(meter->program, name) : LODE_NONE;

		code = function == LODE_NONE ? LODE_SYSTEM : each(context, function);
	}
	yajl_tree_free(reply);
	return code;
}

/* ---- names, which do not change and are requested once ---- */

static const char *remote_name(struct lode_meter *meter, enum lode_focus_axis axis, uint64_t number)
{
	struct remote *remote = of(meter);
	const char *name = lode_focus_names_find(&remote->names, axis, number);
	struct lode_error ignored;
	yajl_val reply;

	if (axis == LODE_AXIS_HOST)
		return remote->host;
	if (name)
		return name;
	begin(remote, "name");
	lode_json_key_u64(&remote->wire.json, "axis", (uint64_t)axis);
	lode_json_key_u64(&remote->wire.json, "number", number);
	if (ask(remote, &reply, &ignored) <= 0)
		return NULL;
	name = lode_wire_text(reply, "name");
	name = lode_focus_names_keep(&remote->names, axis, number, name ? name : "?");
	yajl_tree_free(reply);
	return name;
}

static double remote_cost(struct lode_meter *meter)
{
	return of(meter)->cost;
}

static double remote_own(struct lode_meter *meter)
{
	return of(meter)->own;
}

/* ---- beginning and end ---- */

static void remote_destroy(struct lode_meter *meter)
{
	struct remote *remote = of(meter);
	struct lode_error ignored;

	if (!remote->dead) {
		begin(remote, "end");
		lode_wire_send(&remote->wire, &ignored);
	}
	close(remote->wire.in);
	close(remote->wire.out);
	lode_wire_release(&remote->wire);
	lode_focus_names_release(&remote->names);
	lode_index_release(&remote->prediction_index);
	lode_program_destroy(meter->program);
	lode_free(remote->runs);
	lode_free(remote->predictions);
	lode_free(remote->samples);
	lode_free(remote->stacks);
	lode_free(remote->functions);
	lode_free(remote);
}

static int greet(struct remote *remote, struct lode_error *error)
{
	const char *sentence;
	yajl_val hello;
	int code = lode_wire_receive(&remote->wire, &hello, error);

	if (code < 0)
		return code;
	if (!code)
		return lode_fail(error, LODE_SYSTEM,
				 "host %s: agent did not answer; check that lode is installed and ssh works "
				 "without a password prompt",
				 remote->host);
	sentence = lode_wire_text(hello, "error");
	if (sentence)
		code = lode_fail(error, LODE_SYSTEM, "host %s: %s", remote->host, sentence);
	else if (lode_wire_number(hello, "agent") != LODE_WIRE_VERSION)
		code = lode_fail(error, LODE_SYSTEM,
				 "host %s: its lode is of another version; use the same on all hosts",
				 remote->host);
	yajl_tree_free(hello);
	return code < 0 ? code : 0;
}

int lode_remote_meter_create(struct lode_meter **meter, int in, int out, const char *host,
			     struct lode_notes *notes, struct lode_error *error)
{
	static const struct lode_meter_operations operations = {
		.now = remote_now,
		.wait = remote_wait,
		.predict = remote_predict,
		.start = remote_start,
		.stop = remote_stop,
		.read = remote_read,
		.samples = remote_samples,
		.below = remote_below,
		.roots = remote_roots,
		.name = remote_name,
		.cost = remote_cost,
		.own = remote_own,
		.destroy = remote_destroy,
	};
	struct remote *remote = lode_calloc(1, sizeof(*remote));
	int code;

	*meter = NULL;
	if (!remote) {
		close(in);
		close(out);
		return lode_fail_memory(error);
	}
	remote->meter.operations = &operations;
	remote->notes = notes;
	remote->dead = 1; /* until it has greeted */
	snprintf(remote->host, sizeof(remote->host), "%s", host);
	lode_wire_init(&remote->wire, in, out, remote->host);
	code = lode_focus_names_init(&remote->names) < 0 ? lode_fail_memory(error)
							 : lode_program_create(&remote->meter.program, error);
	if (!code)
		code = greet(remote, error);
	if (code) {
		remote_destroy(&remote->meter);
		return code;
	}
	remote->dead = 0;
	*meter = &remote->meter;
	return 0;
}
