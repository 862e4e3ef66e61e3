/*
 * Gains: see gain.h. Map: the symptoms of one stream are replayed, as they were and with each target changed. Merge: sums, in
 * the order of the catalogue, and the values that intervals are made of.
 */
#include "mine/gain.h"

#include "scope/area_visit.h"

#include <string.h>

/* Symptoms of a stream that are replayed, and how often all its events may be. */
#define MAX_SYMPTOMS 1000
#define MAX_PASSES   4

/* What one stream comes to. */
struct partial {
	struct lode_gain *gains; /* by target and percentage; sums of those that were replayed */
	uint64_t *likely;        /* by symptom replayed, then by target and percentage */
	size_t replayed;
	uint64_t symptoms;
	uint64_t length;          /* of all of them, */
	uint64_t length_replayed; /* and of those that were replayed, */
	uint64_t as_replayed;     /* and what the replay without a change came to */
	uint64_t unsure;
	uint64_t cost;
	int sharing;
	struct lode_gain_symptom *each; /* without texts */
	size_t each_count;
	char **names; /* of symptoms, parallel to it */
};

struct job {
	const struct lode_gain_request *request;
	struct lode_gains *gains;
	size_t items;     /* targets times percentages */
	uint64_t *values; /* by item: likely gains of streams, for their intervals */
	size_t value_count;
	size_t value_capacity;
	uint64_t *single; /* the same of symptoms, while there are few streams */
	size_t single_count;
	size_t single_capacity;
};

/* A stream that is being replayed. */
struct replaying {
	const struct job *job;
	const struct lode_area_visit *visit;
	struct lode_replay *replay;
	uint8_t **marks; /* by target: by node; NULL: no stack of the stream is marked */
	struct partial *partial;
};

static uint64_t length_of(const struct lode_symptom *symptom)
{
	return symptom->t1 > symptom->t0 ? symptom->t1 - symptom->t0 : 0;
}

/* ---- one symptom ---- */

static uint64_t earlier(uint64_t before, uint64_t after)
{
	return before > after ? before - after : 0;
}

static void replay_target(struct replaying *replaying, size_t item, const uint64_t *unchanged,
			  struct lode_gain *gain)
{
	const struct lode_gain_request *request = replaying->job->request;
	struct lode_replay_change change = {
		.stacks = replaying->marks[item / request->percent_count],
		.kinds = request->kinds,
		.percent = request->percents[item % request->percent_count],
	};
	uint64_t gains[LODE_REPLAY_BOUNDS];

	*gain = (struct lode_gain){ 0 };
	if (!change.stacks || !lode_replay_touches(replaying->replay, &change))
		return;
	for (int bound = 0; bound < LODE_REPLAY_BOUNDS; bound++)
		gains[bound] = earlier(unchanged[bound],
				       lode_replay_run(replaying->replay, &change, (enum lode_replay_bound)bound));
	gain->likely = gains[LODE_REPLAY_LIKELY];
	gain->low = gains[LODE_REPLAY_LOW] < gain->likely ? gains[LODE_REPLAY_LOW] : gain->likely;
	gain->high = gains[LODE_REPLAY_HIGH] > gain->likely ? gains[LODE_REPLAY_HIGH] : gain->likely;
	gain->events = gain->likely > 0;
}

/* Whether a part of the critical path is of the first target. */
static int is_targeted(const struct replaying *replaying, const struct lode_part *part)
{
	uint32_t stack = replaying->visit->stream->events[part->type].stack[part->event];

	return replaying->marks[0] && replaying->marks[0][stack] &&
	       replaying->job->request->kinds & 1u << part->type;
}

/* Of the critical path: waits of which it cannot be told when they would have ended, and what the first target costs. */
static int sum_path(struct replaying *replaying, const struct lode_symptom *symptom,
		    struct lode_gain_symptom *sums, struct lode_error *error)
{
	struct lode_parts parts = { 0 };
	uint64_t unknown;
	int code = lode_critical_path(replaying->visit->index, symptom, &parts, NULL, &unknown, error);

	for (size_t i = 0; i < parts.count; i++) {
		const struct lode_part *part = &parts.items[i];

		if (lode_part_is_ready(replaying->visit->stream, part))
			continue;
		if (part->type == LODE_WAIT && lode_replay_is_unsure(replaying->replay, part->event))
			sums->unsure += part->cost;
		if (is_targeted(replaying, part))
			sums->cost += part->cost;
	}
	lode_parts_release(&parts);
	return code;
}

static void add_gain(struct lode_gain *sum, const struct lode_gain *more)
{
	sum->likely = lode_add_saturating(sum->likely, more->likely);
	sum->low = lode_add_saturating(sum->low, more->low);
	sum->high = lode_add_saturating(sum->high, more->high);
	sum->events += more->events;
}

static int keep_symptom(struct replaying *replaying, const struct lode_symptom *symptom,
			const struct lode_gain_symptom *kept)
{
	const struct lode_stream *stream = replaying->visit->stream;
	struct partial *partial = replaying->partial;
	char *name = lode_strdup(lode_strings_get(&stream->dictionary->frames.strings, symptom->name));

	if (!name)
		return LODE_SYSTEM;
	partial->names[partial->each_count] = name;
	partial->each[partial->each_count] = *kept;
	partial->each[partial->each_count].tid = stream->threads[symptom->thread].tid;
	partial->each[partial->each_count].t0 = symptom->t0;
	partial->each[partial->each_count++].t1 = symptom->t1;
	return 0;
}

static int replay_symptom(struct replaying *replaying, const struct lode_symptom *symptom, struct lode_error *error)
{
	struct partial *partial = replaying->partial;
	size_t items = replaying->job->items;
	uint64_t unchanged[LODE_REPLAY_BOUNDS];
	struct lode_gain_symptom kept = { 0 };
	int code = lode_replay_set(replaying->replay, symptom, error);

	if (!code)
		code = sum_path(replaying, symptom, &kept, error);
	if (code)
		return code;
	for (int bound = 0; bound < LODE_REPLAY_BOUNDS; bound++)
		unchanged[bound] = lode_replay_run(replaying->replay, NULL, (enum lode_replay_bound)bound);
	kept.replayed = unchanged[LODE_REPLAY_LIKELY];
	for (size_t i = 0; i < items; i++) {
		struct lode_gain gain;

		replay_target(replaying, i, unchanged, &gain);
		add_gain(&partial->gains[i], &gain);
		partial->likely[partial->replayed * items + i] = gain.likely;
		if (!i)
			kept.gain = gain;
	}
	partial->replayed++;
	partial->length_replayed = lode_add_saturating(partial->length_replayed, length_of(symptom));
	partial->as_replayed = lode_add_saturating(partial->as_replayed, kept.replayed);
	partial->unsure = lode_add_saturating(partial->unsure, kept.unsure);
	partial->cost = lode_add_saturating(partial->cost, kept.cost);
	if (partial->each && keep_symptom(replaying, symptom, &kept) < 0)
		return lode_fail_memory(error);
	return 0;
}

/* ---- one stream ---- */

/* Every how many symptoms one is replayed, so that the work stays linear in the events. */
static size_t stride_of(const struct lode_area_visit *visit, uint64_t length)
{
	uint64_t first, last, passes;
	size_t stride = (visit->symptom_count + MAX_SYMPTOMS - 1) / MAX_SYMPTOMS;

	lode_stream_span(visit->stream, &first, &last);
	passes = last > first ? length / (last - first) / MAX_PASSES + 1 : 1;
	return passes > stride ? (size_t)passes : stride;
}

static int prepare(struct replaying *replaying, size_t most, struct lode_error *error)
{
	const struct lode_gain_request *request = replaying->job->request;
	const struct lode_area_visit *visit = replaying->visit;
	const struct lode_replay_options options = { visit->idle, visit->kinds, visit->processors, request->cpus };
	struct partial *partial = replaying->partial;
	size_t items = replaying->job->items, nodes = visit->stream->dictionary->tree.count;

	replaying->marks = lode_calloc(request->targets + 1, sizeof(*replaying->marks));
	partial->gains = lode_calloc(items + 1, sizeof(*partial->gains));
	partial->likely = lode_calloc(most * items + 1, sizeof(*partial->likely));
	if (request->each_symptom) {
		partial->each = lode_calloc(most + 1, sizeof(*partial->each));
		partial->names = lode_calloc(most + 1, sizeof(*partial->names));
	}
	if (!replaying->marks || !partial->gains || !partial->likely ||
	    (request->each_symptom && (!partial->each || !partial->names)))
		return lode_fail_memory(error);
	for (size_t i = 0; i < request->targets; i++) {
		replaying->marks[i] = lode_calloc(nodes + 1, 1);
		if (!replaying->marks[i] ||
		    request->mark(request->context, i, visit->stream->dictionary, replaying->marks[i]) < 0)
			return lode_fail_memory(error);
		if (memchr(replaying->marks[i], 1, nodes))
			continue;
		lode_free(replaying->marks[i]);
		replaying->marks[i] = NULL;
	}
	return lode_replay_make(&replaying->replay, visit->index, &options, error);
}

static int visit_stream(void *context, const struct lode_area_visit *visit, void *result, struct lode_error *error)
{
	struct partial *partial = result;
	struct replaying replaying = { .job = context, .visit = visit, .partial = partial };
	size_t stride;
	int code;

	partial->symptoms = visit->symptom_count;
	for (size_t i = 0; i < visit->symptom_count; i++)
		partial->length = lode_add_saturating(partial->length, length_of(&visit->symptoms[i]));
	stride = stride_of(visit, partial->length);
	code = prepare(&replaying, visit->symptom_count / stride + 1, error);
	for (size_t i = 0; !code && i < visit->symptom_count; i += stride)
		code = replay_symptom(&replaying, &visit->symptoms[i], error);
	partial->sharing = replaying.replay && lode_replay_shares_processors(replaying.replay);
	lode_replay_free(replaying.replay);
	for (size_t i = 0; replaying.marks && i < replaying.job->request->targets; i++)
		lode_free(replaying.marks[i]);
	lode_free(replaying.marks);
	return code;
}

static void release_partial(void *result)
{
	struct partial *partial = result;

	for (size_t i = 0; i < partial->each_count; i++)
		lode_free(partial->names[i]);
	lode_free(partial->gains);
	lode_free(partial->likely);
	lode_free(partial->each);
	lode_free(partial->names);
}

/* ---- all of them ---- */

static const char *keep_text(struct lode_gains *gains, const char *text)
{
	return lode_arena_text(&gains->arena, text, strlen(text));
}

static int keep_each(struct lode_gains *gains, const struct lode_corpus_entry *entry, const struct partial *partial)
{
	const char *name = keep_text(gains, entry->name), *id = keep_text(gains, entry->id);

	for (size_t i = 0; i < partial->each_count; i++) {
		struct lode_gain_symptom symptom = partial->each[i];

		symptom.stream = name;
		symptom.id = id;
		symptom.name = keep_text(gains, partial->names[i]);
		if (!name || !id || !symptom.name ||
		    LODE_APPEND(gains->each, gains->each_count, gains->each_capacity, symptom) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* What some symptoms came to is that of all, in proportion to their length. */
static uint64_t scaled(uint64_t sum, const struct partial *partial)
{
	if (partial->replayed == partial->symptoms || !partial->length_replayed)
		return sum;
	return (uint64_t)((double)sum / (double)partial->length_replayed * (double)partial->length);
}

static int keep_values(struct job *job, const struct partial *partial)
{
	size_t items = job->items;

	if (LODE_GROW(job->values, job->value_capacity, (job->value_count + 1) * items + 1) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < items; i++)
		job->values[job->value_count * items + i] = scaled(partial->gains[i].likely, partial);
	job->value_count++;
	if (job->gains->streams >= LODE_INTERVAL_STREAMS)
		return 0;
	if (LODE_GROW(job->single, job->single_capacity, (job->single_count + partial->replayed) * items + 1) < 0)
		return LODE_SYSTEM;
	memcpy(job->single + job->single_count * items, partial->likely,
	       partial->replayed * items * sizeof(*job->single));
	job->single_count += partial->replayed;
	return 0;
}

static int merge_stream(void *context, const struct lode_corpus_entry *entry, void *result,
			struct lode_error *error)
{
	struct job *job = context;
	struct lode_gains *gains = job->gains;
	const struct partial *partial = result;

	if (!partial->symptoms)
		return 0;
	gains->streams++;
	gains->symptoms += partial->symptoms;
	gains->symptoms_replayed += partial->replayed;
	gains->sharing += partial->sharing != 0;
	gains->length = lode_add_saturating(gains->length, partial->length);
	gains->replayed = lode_add_saturating(gains->replayed, scaled(partial->as_replayed, partial));
	gains->unsure = lode_add_saturating(gains->unsure, scaled(partial->unsure, partial));
	gains->cost = lode_add_saturating(gains->cost, scaled(partial->cost, partial));
	for (size_t i = 0; i < job->items; i++)
		add_gain(&gains->items[i], &(struct lode_gain){
						   .likely = scaled(partial->gains[i].likely, partial),
						   .low = scaled(partial->gains[i].low, partial),
						   .high = scaled(partial->gains[i].high, partial),
						   .events = partial->gains[i].events,
					   });
	if (keep_values(job, partial) < 0 || keep_each(gains, entry, partial) < 0)
		return lode_fail_memory(error);
	return 0;
}

/* How far the gain of other such streams, or symptoms, may be off. */
static int make_intervals(struct job *job)
{
	int by_stream = job->value_count >= LODE_INTERVAL_STREAMS;
	const uint64_t *values = by_stream ? job->values : job->single;
	size_t count = by_stream ? job->value_count : job->single_count;
	uint64_t *costs = lode_calloc(count + 1, sizeof(*costs));

	for (size_t i = 0; costs && i < job->items; i++) {
		struct lode_gain *gain = &job->gains->items[i];
		struct lode_interval interval;
		size_t nonzero = 0;
		double scale;

		for (size_t k = 0; k < count; k++)
			if (values[k * job->items + i])
				costs[nonzero++] = values[k * job->items + i];
		gain->interval_low = gain->interval_high = gain->likely;
		gain->sure = lode_total_interval(costs, nonzero, count, &interval);
		if (!gain->sure)
			continue;
		/* Symptoms that were not replayed are not among the values. */
		scale = by_stream ? 1 : (double)job->gains->symptoms / (double)job->gains->symptoms_replayed;
		gain->interval_low = (uint64_t)(interval.low * scale);
		gain->interval_high = (uint64_t)(interval.high * scale);
	}
	lode_free(costs);
	return costs ? 0 : LODE_SYSTEM;
}

int lode_gains_make(struct lode_gains *gains, struct lode_corpus *corpus, const struct lode_area_options *options,
		    const struct lode_gain_request *request, struct lode_error *error)
{
	struct lode_area_options all = *options;
	struct job job = { .request = request, .gains = gains, .items = request->targets * request->percent_count };
	const struct lode_area_visitor visitor = { sizeof(struct partial), visit_stream, merge_stream,
						   release_partial, &job };
	int code;

	memset(gains, 0, sizeof(*gains));
	gains->targets = request->targets;
	gains->percent_count = request->percent_count;
	gains->items = lode_calloc(job.items + 1, sizeof(*gains->items));
	if (!gains->items)
		return lode_fail_memory(error);
	/* What replays need is read as for chains: who had the processors, and what waits were for. */
	all.chains = 1;
	all.by_symptom = all.ready = 0;
	all.by = LODE_BY_STACK;
	all.kinds = 0;
	code = lode_area_visit(corpus, &all, &visitor, error);
	if (!code && make_intervals(&job) < 0)
		code = lode_fail_memory(error);
	lode_free(job.values);
	lode_free(job.single);
	return code;
}

void lode_gains_release(struct lode_gains *gains)
{
	lode_free(gains->items);
	lode_free(gains->each);
	lode_arena_release(&gains->arena);
	memset(gains, 0, sizeof(*gains));
}
