/*
 * Joined meter: see joined_meter.h.
 *
 * An experiment runs on every host that its focus holds, under the same number. Where
 * a host does not know the function, an experiment without it runs instead and only
 * its usable time counts: the function takes no time there, but the host's time passes.
 */
#include "hunt/meter/joined/joined_meter.h"

#include "base/hash_index.h"
#include "base/id_array.h"
#include "hunt/meter/hypothesis.h"

#include <math.h>
#include <string.h>

struct member {
	struct lode_meter *meter;
	uint32_t *to;   /* functions: from ours to its own; LODE_NONE: not requested yet */
	uint32_t *from; /* and back */
	size_t to_capacity, from_capacity;
	int ended;
};

/* A host, process or thread of a member. */
struct place {
	uint32_t member;
	enum lode_focus_axis axis;
	uint32_t number;
};

struct part {
	uint32_t experiment;
	uint32_t member;
	int only_base; /* the member does not know the function */
};

struct joined {
	struct lode_meter meter; /* first */
	struct member *members;
	size_t count;
	struct place *places;
	size_t place_count, place_capacity;
	struct lode_index place_index;
	struct part *parts;
	size_t part_count, part_capacity;
	uint32_t *stack;
	size_t stack_capacity;
	/* What a member is asked to start. */
	uint32_t *ids;
	enum lode_hypothesis *hypotheses;
	struct lode_focus *foci;
	size_t id_capacity, hypothesis_capacity, focus_capacity;
};

static struct joined *of(struct lode_meter *meter)
{
	return (struct joined *)meter;
}

/* ---- numbers ---- */

/* A member's function in our numbers; LODE_NONE when memory has run out. */
static uint32_t function_from(struct joined *joined, struct member *member, uint32_t function)
{
	uint32_t *ours = lode_id_place(&member->from, &member->from_capacity, function), *back;

	if (!ours || *ours != LODE_NONE)
		return ours ? *ours : LODE_NONE;
	*ours = lode_program_named(joined->meter.program,
				   lode_program_function(member->meter->program, function)->name);
	back = *ours == LODE_NONE ? NULL : lode_id_place(&member->to, &member->to_capacity, *ours);
	if (!back)
		return LODE_NONE;
	*back = function;
	return *ours;
}

/* Our function in a member's numbers, as far as it has sent it: LODE_NONE when it does not know it. */
static uint32_t function_to(const struct member *member, uint32_t function)
{
	return function < member->to_capacity ? member->to[function] : LODE_NONE;
}

static uint32_t place_from(struct joined *joined, uint32_t member, enum lode_focus_axis axis, uint32_t number)
{
	uint64_t hash = lode_hash_pair(member * LODE_AXES + (uint32_t)axis, number);
	uint32_t id;

	id = LODE_INDEX_FIND(i, &joined->place_index, hash,
			     joined->places[i].member == member && joined->places[i].axis == axis &&
				     joined->places[i].number == number);
	if (id != LODE_NONE)
		return id;
	if (LODE_INDEX_APPEND(&joined->place_index, hash, joined->places, joined->place_count,
			      joined->place_capacity, (struct place){ member, axis, number }) < 0)
		return LODE_NONE;
	return (uint32_t)joined->place_count - 1;
}

/* A focus in a member's numbers. Returns 0 when the member is outside of it; `*knows`: it knows the function.
 */
static int focus_to(const struct joined *joined, uint32_t member, const struct lode_focus *focus,
		    struct lode_focus *its, int *knows)
{
	const uint32_t numbers[] = { focus->host, focus->process, focus->thread };
	uint32_t *const results[] = { &its->host, &its->process, &its->thread };

	*its = *focus;
	for (int i = 0; i < 3; i++) {
		if (numbers[i] == LODE_NONE)
			continue;
		if (numbers[i] >= joined->place_count || joined->places[numbers[i]].member != member)
			return 0;
		*results[i] = joined->places[numbers[i]].number;
	}
	its->function = focus->function == LODE_NONE ? LODE_NONE
						     : function_to(&joined->members[member], focus->function);
	*knows = focus->function == LODE_NONE || its->function != LODE_NONE;
	return 1;
}

/* ---- time ---- */

static uint64_t joined_now(struct lode_meter *meter)
{
	struct lode_meter *first = of(meter)->members[0].meter;

	return first->operations->now(first);
}

/* The first that has not ended waits; for the others the time has come by then. */
static int joined_wait(struct lode_meter *meter, uint64_t until, struct lode_error *error)
{
	struct joined *joined = of(meter);
	int all = 1;

	for (size_t i = 0; i < joined->count; i++) {
		struct member *member = &joined->members[i];
		int code = member->meter->operations->wait(member->meter, until, error);

		if (code < 0)
			return code;
		member->ended = code > 0;
		all &= member->ended;
	}
	return all;
}

/* ---- experiments ---- */

/* The callees of a function on a member. */
static int learn_calls(struct joined *joined, struct member *member, uint32_t function)
{
	uint32_t theirs = function_to(member, function);
	size_t count = 0;

	if (theirs == LODE_NONE)
		return 0;
	lode_program_callees(member->meter->program, theirs, &count);
	for (size_t i = 0; i < count; i++) {
		uint32_t callee = function_from(joined, member,
						lode_program_callees(member->meter->program, theirs, &count)[i]);

		if (callee == LODE_NONE || lode_program_add_call(joined->meter.program, function, callee) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int make_room(struct joined *joined, size_t count)
{
	return LODE_GROW(joined->ids, joined->id_capacity, count) < 0 ||
	       LODE_GROW(joined->hypotheses, joined->hypothesis_capacity, count) < 0 ||
	       LODE_GROW(joined->foci, joined->focus_capacity, count) < 0 ||
	       LODE_GROW(joined->parts, joined->part_capacity, joined->part_count + count) < 0;
}

static int start_on(struct joined *joined, uint32_t number, const uint32_t *experiments,
		    const enum lode_hypothesis *hypotheses, const struct lode_focus *foci, size_t count,
		    struct lode_error *error)
{
	struct member *member = &joined->members[number];
	size_t chosen = 0;
	int code, knows;

	if (make_room(joined, count))
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		if (!focus_to(joined, number, &foci[i], &joined->foci[chosen], &knows))
			continue;
		joined->ids[chosen] = experiments[i];
		joined->hypotheses[chosen] = hypotheses[i];
		joined->parts[joined->part_count++] = (struct part){ experiments[i], number, !knows };
		chosen++;
	}
	if (!chosen)
		return 0;
	code = member->meter->operations->start(member->meter, joined->ids, joined->hypotheses, joined->foci,
						chosen, error);
	for (size_t i = 0; !code && i < count; i++)
		if (foci[i].function != LODE_NONE && learn_calls(joined, member, foci[i].function) < 0)
			code = lode_fail_memory(error);
	return code;
}

static int joined_start(struct lode_meter *meter, const uint32_t *experiments,
			const enum lode_hypothesis *hypotheses, const struct lode_focus *foci, size_t count,
			struct lode_error *error)
{
	struct joined *joined = of(meter);
	int code = 0;

	for (uint32_t i = 0; !code && i < joined->count; i++)
		code = start_on(joined, i, experiments, hypotheses, foci, count, error);
	return code;
}

/* Takes the parts of an experiment on a member off the row. Returns how many there were. */
static size_t remove_part(struct joined *joined, uint32_t experiment, uint32_t member)
{
	size_t kept = 0, count = joined->part_count;

	for (size_t i = 0; i < count; i++)
		if (joined->parts[i].experiment != experiment || joined->parts[i].member != member)
			joined->parts[kept++] = joined->parts[i];
	joined->part_count = kept;
	return count - kept;
}

static int joined_stop(struct lode_meter *meter, const uint32_t *experiments, size_t count,
		       struct lode_error *error)
{
	struct joined *joined = of(meter);
	int code = 0;

	if (LODE_GROW(joined->ids, joined->id_capacity, count) < 0)
		return lode_fail_memory(error);
	for (uint32_t i = 0; !code && i < joined->count; i++) {
		struct lode_meter *member = joined->members[i].meter;
		size_t chosen = 0;

		for (size_t k = 0; k < count; k++)
			if (remove_part(joined, experiments[k], i))
				joined->ids[chosen++] = experiments[k];
		if (chosen)
			code = member->operations->stop(member, joined->ids, chosen, error);
	}
	return code;
}

static void add_reading(struct lode_reading *sum, const struct lode_reading *reading, int only_base)
{
	sum->usable += reading->usable;
	sum->ready += reading->ready;
	if (only_base)
		return;
	for (int i = 0; i < LODE_SMALL_IO; i++)
		sum->time[i] += reading->time[i];
	sum->operations += reading->operations;
	sum->bytes += reading->bytes;
	sum->calls += reading->calls;
	sum->cost += reading->cost;
}

/* Too costly on one host is too costly; otherwise it is on if it is on somewhere; if no host knows the function,
 * as long as time passes. */
static int strength(enum lode_reading_state state, int only_base)
{
	static const int strengths[] = { [LODE_READING_COSTLY] = 4,
					 [LODE_READING_ON] = 3,
					 [LODE_READING_IMPOSSIBLE] = 2,
					 [LODE_READING_GONE] = 0 };

	return only_base && state == LODE_READING_ON ? 1 : strengths[state];
}

static int joined_read(struct lode_meter *meter, uint32_t experiment, struct lode_reading *reading,
		       struct lode_error *error)
{
	struct joined *joined = of(meter);
	int strongest = -1;

	memset(reading, 0, sizeof(*reading));
	for (size_t i = 0; i < joined->part_count; i++) {
		const struct part *part = &joined->parts[i];
		struct lode_meter *member = joined->members[part->member].meter;
		struct lode_reading one = { 0 };
		int code;

		if (part->experiment != experiment)
			continue;
		code = member->operations->read(member, experiment, &one, error);
		if (code < 0)
			return code;
		add_reading(reading, &one, part->only_base);
		if (strength(one.state, part->only_base) <= strongest)
			continue;
		strongest = strength(one.state, part->only_base);
		reading->state = one.state;
		reading->why = one.why;
	}
	if (strongest < 0)
		reading->state = LODE_READING_GONE;
	return 0;
}

/* ---- questions ---- */

/* The host where it costs most decides; where the function is not known it costs nothing. */
static double joined_predict(struct lode_meter *meter, enum lode_hypothesis hypothesis,
			     const struct lode_focus *focus)
{
	struct joined *joined = of(meter);
	double most = -1;

	for (uint32_t i = 0; i < joined->count; i++) {
		struct lode_meter *member = joined->members[i].meter;
		struct lode_focus its;
		double cost;
		int knows;

		if (!focus_to(joined, i, focus, &its, &knows))
			continue;
		cost = knows ? member->operations->predict(member, hypothesis, &its) : 0;
		if (cost < 0)
			return cost;
		if (cost > most)
			most = cost;
	}
	return most;
}

struct relay {
	struct joined *joined;
	uint32_t member;
	enum lode_focus_axis axis;
	int (*sample)(void *context, const struct lode_meter_sample *sample);
	int (*item)(void *context, uint32_t number, uint64_t object);
	int (*function)(void *context, uint32_t function);
	void *context;
};

static int relay_sample(void *context, const struct lode_meter_sample *sample)
{
	struct relay *relay = context;
	struct joined *joined = relay->joined;
	struct lode_meter_sample ours = *sample;

	if (LODE_GROW(joined->stack, joined->stack_capacity, sample->depth) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < sample->depth; i++) {
		joined->stack[i] = function_from(joined, &joined->members[relay->member], sample->functions[i]);
		if (joined->stack[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	ours.functions = joined->stack;
	ours.host = place_from(joined, relay->member, LODE_AXIS_HOST, sample->host);
	ours.process = place_from(joined, relay->member, LODE_AXIS_PROCESS, sample->process);
	ours.thread = place_from(joined, relay->member, LODE_AXIS_THREAD, sample->thread);
	if (ours.host == LODE_NONE || ours.process == LODE_NONE || ours.thread == LODE_NONE)
		return LODE_SYSTEM;
	return relay->sample(relay->context, &ours);
}

static int joined_samples(struct lode_meter *meter,
			  int (*each)(void *context, const struct lode_meter_sample *sample), void *context,
			  struct lode_error *error)
{
	struct joined *joined = of(meter);
	int code = 0;

	for (uint32_t i = 0; code >= 0 && i < joined->count; i++) {
		struct lode_meter *member = joined->members[i].meter;
		struct relay relay = { .joined = joined, .member = i, .sample = each, .context = context };

		code = member->operations->samples(member, relay_sample, &relay, error);
	}
	return code;
}

static int relay_item(void *context, uint32_t number, uint64_t object)
{
	struct relay *relay = context;
	uint32_t place;

	if (relay->axis == LODE_AXIS_OBJECT)
		return relay->item(relay->context, number, object);
	place = place_from(relay->joined, relay->member, relay->axis, number);
	return place == LODE_NONE ? LODE_SYSTEM : relay->item(relay->context, place, object);
}

static int joined_below(struct lode_meter *meter, const struct lode_focus *focus, enum lode_focus_axis axis,
			int (*each)(void *context, uint32_t number, uint64_t object), void *context)
{
	struct joined *joined = of(meter);
	int code = 0;

	for (uint32_t i = 0; code >= 0 && i < joined->count; i++) {
		struct lode_meter *member = joined->members[i].meter;
		struct relay relay = { .joined = joined, .member = i, .axis = axis, .item = each, .context = context };
		struct lode_focus its;
		int knows;

		if (focus_to(joined, i, focus, &its, &knows) && (knows || axis != LODE_AXIS_OBJECT))
			code = member->operations->below(member, &its, axis, relay_item, &relay);
	}
	return code;
}

static int relay_function(void *context, uint32_t function)
{
	struct relay *relay = context;
	uint32_t ours = function_from(relay->joined, &relay->joined->members[relay->member], function);

	return ours == LODE_NONE ? LODE_SYSTEM : relay->function(relay->context, ours);
}

static int joined_roots(struct lode_meter *meter, const struct lode_focus *focus,
			int (*each)(void *context, uint32_t function), void *context)
{
	struct joined *joined = of(meter);
	int code = 0;

	for (uint32_t i = 0; code >= 0 && i < joined->count; i++) {
		struct lode_meter *member = joined->members[i].meter;
		struct relay relay = { .joined = joined, .member = i, .function = each, .context = context };
		struct lode_focus its;
		int knows;

		if (focus_to(joined, i, focus, &its, &knows) && knows)
			code = member->operations->roots(member, &its, relay_function, &relay);
	}
	return code;
}

/* A lock is known by its address alone, and called by it where it is not known. */
static const char *lock_name(struct joined *joined, uint64_t address)
{
	const char *name = NULL;

	for (size_t i = 0; i < joined->count && (!name || !strchr(name, '(')); i++) {
		struct lode_meter *member = joined->members[i].meter;

		name = member->operations->name(member, LODE_AXIS_OBJECT, address);
	}
	return name;
}

static const char *joined_name(struct lode_meter *meter, enum lode_focus_axis axis, uint64_t number)
{
	struct joined *joined = of(meter);
	struct lode_meter *member;

	if (axis == LODE_AXIS_OBJECT)
		return lock_name(joined, number);
	if (number >= joined->place_count || joined->places[number].axis != axis)
		return NULL;
	member = joined->members[joined->places[number].member].meter;
	return member->operations->name(member, axis, joined->places[number].number);
}

/* Both are those of the host where they are most. */
static double joined_cost(struct lode_meter *meter)
{
	struct joined *joined = of(meter);
	double most = 0;

	for (size_t i = 0; i < joined->count; i++)
		most = fmax(most, joined->members[i].meter->operations->cost(joined->members[i].meter));
	return most;
}

static double joined_own(struct lode_meter *meter)
{
	struct joined *joined = of(meter);
	double most = 0;

	for (size_t i = 0; i < joined->count; i++)
		most = fmax(most, lode_meter_own(joined->members[i].meter));
	return most;
}

/* ---- beginning and end ---- */

static void release(struct joined *joined)
{
	for (size_t i = 0; i < joined->count; i++) {
		lode_free(joined->members[i].to);
		lode_free(joined->members[i].from);
	}
	lode_free(joined->members);
	lode_free(joined->places);
	lode_index_release(&joined->place_index);
	lode_free(joined->parts);
	lode_free(joined->stack);
	lode_free(joined->ids);
	lode_free(joined->hypotheses);
	lode_free(joined->foci);
	lode_program_destroy(joined->meter.program);
	lode_free(joined);
}

static void joined_destroy(struct lode_meter *meter)
{
	struct joined *joined = of(meter);

	for (size_t i = 0; i < joined->count; i++)
		joined->members[i].meter->operations->destroy(joined->members[i].meter);
	release(joined);
}

int lode_joined_meter_create(struct lode_meter **meter, struct lode_meter *const *members, size_t count,
			     struct lode_error *error)
{
	static const struct lode_meter_operations operations = {
		.now = joined_now,
		.wait = joined_wait,
		.predict = joined_predict,
		.start = joined_start,
		.stop = joined_stop,
		.read = joined_read,
		.samples = joined_samples,
		.below = joined_below,
		.roots = joined_roots,
		.name = joined_name,
		.cost = joined_cost,
		.own = joined_own,
		.destroy = joined_destroy,
	};
	struct joined *joined = lode_calloc(1, sizeof(*joined));
	int code;

	*meter = NULL;
	if (!joined)
		return lode_fail_memory(error);
	joined->meter.operations = &operations;
	joined->members = lode_calloc(count, sizeof(*joined->members));
	code = joined->members ? lode_program_create(&joined->meter.program, error) : lode_fail_memory(error);
	if (code) {
		release(joined);
		return code;
	}
	for (size_t i = 0; i < count; i++)
		joined->members[joined->count++].meter = members[i];
	*meter = &joined->meter;
	return 0;
}
