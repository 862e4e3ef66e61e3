/*
 * Function latencies out of stack traces: see instances.h for what an instance is.
 *
 * This is the paper's Algorithm 2, with line 11 corrected (a frame is new when it DIFFERS
 * from the one that was there), on nodes instead of rows of frames: the last stack of a
 * thread and this one are two nodes of one tree, and what they share is the path down to
 * their common ancestor. Everything below it on the old side ends, everything below it on
 * the new side begins. So a moment costs the depth that changes.
 *
 * All instances that begin at one moment begin with the same numbers, and they are
 * neighbours on the stack. A thread therefore keeps *layers*: a layer holds everything that
 * began at one moment and has not ended, from its depth to that of the layer above it.
 * Beginning is one push, and memory is bounded by the number of moments, not by the depth
 * of stacks.
 *
 * Moments come from a merge of the three types of events by time. Ends of waits are not
 * in order of time; each thread keeps those that are to come in a heap, which holds one
 * in a well-formed stream.
 *
 * Where in the gap between two moments did the change happen? Moments are (mostly) taken
 * without regard to what the thread does, so each point of the gap is as likely as any
 * other: the middle. Then all time of a thread belongs to the moment nearest to it, which
 * makes totals unbiased when moments are samples, and what begins or ends in one gap does
 * so at one point, so that callees nest in their callers and siblings never overlap: own
 * times, caller minus callees, are exact and never negative. The gap of a wait has the same
 * stack at both ends; nothing changes in it. Nor does it in a run event that is a span of time
 * (run_spans.h): it is two moments, too, and what changes between two spans that touch changes there.
 */
#include "latency/instances.h"

#include "latency/run_spans.h"

#include <string.h>

#define AHEAD 12 /* events of a type */

/* What began at one moment and goes on: depths from `depth` up to the layer above. */
struct layer {
	uint32_t depth;
	uint32_t moments; /* of the thread before this one */
	uint32_t samples;
	uint64_t before;
	uint64_t begin;
	uint64_t first;
	uint64_t waited; /* the thread's clock of waiting at `first` */
};

/* The end of a wait, or of a span of running, that is to come. */
struct end {
	uint64_t t;
	uint64_t number; /* what ends together ends in the order it began */
	uint32_t stack;
	int is_run;
};

enum moment_kind { AT_EVENT, AT_SAMPLE, AT_END_OF_RUN };

struct thread {
	uint32_t node;    /* last stack that was seen; 0: none yet */
	uint32_t moments; /* at most UINT32_MAX */
	uint32_t samples;
	uint64_t t;      /* last moment */
	uint64_t waited; /* clock of waiting at `t` */
	uint64_t clock;  /* the same at `clock_t`, which events without a stack move on, too */
	uint64_t clock_t;
	uint64_t wait_until; /* end of the wait that goes on, or went on last */
	struct layer *layers;
	size_t layer_count;
	size_t layer_capacity;
	struct end *ends; /* heap, the next one first */
	size_t end_count;
	size_t end_capacity;
};

struct inference {
	const struct lode_stream *stream;
	const struct lode_call_chains *chains; /* NULL: every node is followed */
	struct lode_tree_position *places;
	struct thread *threads;
	uint8_t *left_out;      /* by thread: the idle task */
	uint64_t numbers;       /* for ends */
	uint64_t shortest_span; /* of running; 0: run events are samples */
	struct lode_instances_input input;
	int (*take)(void *context, const struct lode_instance *instance);
	void *context;
	struct lode_time_shares *shares; /* NULL: not requested */
	struct lode_error *error;
};

static uint32_t next_count(uint32_t count)
{
	return count + (count < UINT32_MAX);
}

/* ---- one moment ---- */

static uint64_t middle(uint64_t a, uint64_t b)
{
	return a + (b - a) / 2;
}

/* Ends all that is deeper than `depth`: after the thread's last moment, taken to be at `end`, before `after`.
 */
static int close_deeper(struct inference *inference, struct thread *thread, uint32_t depth, uint64_t end,
			uint64_t after)
{
	struct lode_instance instance = {
		.thread = (uint32_t)(thread - inference->threads),
		.last = thread->t,
		.end = end,
		.after = after,
	};
	uint32_t node = thread->node;

	while (inference->places[node].depth > depth) {
		const struct layer *layer = &thread->layers[thread->layer_count - 1];
		uint32_t bottom = layer->depth > depth ? layer->depth : depth + 1;

		instance.seen = thread->moments - layer->moments;
		instance.samples = thread->samples - layer->samples;
		instance.before = layer->before;
		instance.begin = layer->begin;
		instance.first = layer->first;
		instance.waited = thread->waited - layer->waited;
		for (uint32_t at = inference->places[node].depth; at >= bottom; at--) {
			int code;

			instance.node = node;
			code = inference->take(inference->context, &instance);
			if (code)
				return code;
			node = inference->places[node].parent;
		}
		thread->layer_count -= bottom == layer->depth;
	}
	return 0;
}

static int open_deeper(struct inference *inference, struct thread *thread, uint32_t depth, uint64_t before,
		       uint64_t begin, uint64_t t)
{
	return LODE_APPEND(thread->layers, thread->layer_count, thread->layer_capacity,
			   (struct layer){
				   .depth = depth + 1,
				   .moments = thread->moments,
				   .samples = thread->samples,
				   .before = before,
				   .begin = begin,
				   .first = t,
				   .waited = thread->clock,
			   }) < 0
		       ? lode_fail_memory(inference->error)
		       : 0;
}

/* `common`: the node at which this stack parts from the thread's last one. */
static int change_stack(struct inference *inference, struct thread *thread, uint64_t t, uint32_t stack,
			uint32_t common)
{
	uint64_t before = thread->node ? thread->t : t, cut = middle(before, t);
	uint32_t depth = inference->places[common].depth;
	int code = close_deeper(inference, thread, depth, cut, t);

	if (!code && inference->places[stack].depth > depth)
		code = open_deeper(inference, thread, depth, before, cut, t);
	thread->node = stack;
	return code;
}

/* Counts up to `t` how much of the time is in a wait that began earlier. */
static void move_clock(struct thread *thread, uint64_t t)
{
	uint64_t until = t < thread->wait_until ? t : thread->wait_until;

	if (until > thread->clock_t)
		thread->clock += until - thread->clock_t;
	thread->clock_t = t;
}

static int share(struct inference *inference, const struct thread *thread, uint64_t t, uint32_t stack,
		 uint32_t common, enum moment_kind kind)
{
	struct lode_moment moment = {
		.t = t,
		.waited = thread->clock,
		.thread = (uint32_t)(thread - inference->threads),
		.stack = stack,
		.common = common,
		.is_sample = kind != AT_EVENT,
	};

	return lode_time_shares_see(inference->shares, &moment) < 0 ? lode_fail_memory(inference->error) : 0;
}

static int see(struct inference *inference, struct thread *thread, uint64_t t, uint32_t stack,
	       enum moment_kind kind)
{
	uint32_t common = stack;
	int code = 0;

	move_clock(thread, t);
	if (!stack)
		return 0;
	inference->input.threads += !thread->node;
	if (stack != thread->node) {
		common = lode_places_common(inference->places, thread->node, stack);
		code = change_stack(inference, thread, t, stack, common);
	}
	if (!code && inference->shares)
		code = share(inference, thread, t, stack, common, kind);
	thread->t = t;
	thread->waited = thread->clock;
	thread->moments = next_count(thread->moments);
	if (kind == AT_SAMPLE)
		thread->samples = next_count(thread->samples);
	return code;
}

/* ---- ends ---- */

static int ends_before(const struct end *a, const struct end *b)
{
	return a->t != b->t ? a->t < b->t : a->number < b->number;
}

static int push_end(struct thread *thread, const struct end *end)
{
	size_t at = thread->end_count;

	if (LODE_GROW(thread->ends, thread->end_capacity, at + 1) < 0)
		return LODE_SYSTEM;
	for (thread->end_count++; at && ends_before(end, &thread->ends[(at - 1) / 2]); at = (at - 1) / 2)
		thread->ends[at] = thread->ends[(at - 1) / 2];
	thread->ends[at] = *end;
	return 0;
}

static struct end pop_end(struct thread *thread)
{
	struct end *ends = thread->ends, first = ends[0], last = ends[--thread->end_count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < thread->end_count) {
		child += child + 1 < thread->end_count && ends_before(&ends[child + 1], &ends[child]);
		if (!ends_before(&ends[child], &last))
			break;
		ends[at] = ends[child];
		at = child;
	}
	ends[at] = last;
	return first;
}

/* The ends up to `t`. */
static int see_ends(struct inference *inference, struct thread *thread, uint64_t t)
{
	int code = 0;

	while (!code && thread->end_count && thread->ends[0].t <= t) {
		struct end end = pop_end(thread);

		code = see(inference, thread, end.t, end.stack, end.is_run ? AT_END_OF_RUN : AT_EVENT);
	}
	return code;
}

/* From `t` the thread was blocked, or waited for a processor, until `until`. */
static int begin_wait(struct inference *inference, struct thread *thread, uint64_t until, uint32_t stack)
{
	struct end end = { until, inference->numbers++, stack, 0 };

	if (until > thread->wait_until)
		thread->wait_until = until;
	return push_end(thread, &end) < 0 ? lode_fail_memory(inference->error) : 0;
}

static int begin_run(struct inference *inference, struct thread *thread, uint64_t until, uint32_t stack)
{
	struct end end = { until, inference->numbers++, stack, 1 };

	return push_end(thread, &end) < 0 ? lode_fail_memory(inference->error) : 0;
}

/* ---- events ---- */

static int see_event(struct inference *inference, enum lode_event_type type, size_t i)
{
	const struct lode_events *events = &inference->stream->events[type];
	struct thread *thread = &inference->threads[events->thread[i]];
	uint64_t t = events->t[i], until;
	uint32_t stack = inference->chains ? inference->chains->of[events->stack[i]] : events->stack[i];
	int code;

	if (inference->left_out[events->thread[i]]) {
		inference->input.idle++;
		return 0;
	}
	if (stack)
		inference->input.events++;
	else
		inference->input.no_stack++;
	code = thread->end_count ? see_ends(inference, thread, t) : 0;
	if (!code)
		code = see(inference, thread, t, stack, type == LODE_RUN ? AT_SAMPLE : AT_EVENT);
	if (!code && type == LODE_RUN && inference->shortest_span && events->cost[i])
		code = begin_run(inference, thread, lode_add_saturating(t, events->cost[i]), stack);
	if (code || type == LODE_RUN)
		return code;
	until = lode_add_saturating(t, events->delay[i]);
	if (type == LODE_WAIT)
		until = lode_add_saturating(until, events->cost[i]);
	return until > t ? begin_wait(inference, thread, until, stack) : 0;
}

/* Asks for the memory that an event some places ahead needs. */
static void look_ahead(const struct inference *inference, const struct lode_events *events, size_t i)
{
	if (i + AHEAD >= events->count)
		return;
	if (inference->chains)
		__builtin_prefetch(&inference->chains->of[events->stack[i + AHEAD]]);
	else
		__builtin_prefetch(&inference->places[events->stack[i + AHEAD]]);
}

/* All events in order of time; of equal times calls first, waits last. */
static int see_all(struct inference *inference)
{
	static const enum lode_event_type order[LODE_EVENT_TYPES] = { LODE_CALL, LODE_RUN, LODE_WAIT };
	size_t next[LODE_EVENT_TYPES] = { 0 };
	int code = 0;

	while (!code) {
		uint64_t earliest = UINT64_MAX;
		int best = -1;

		for (int k = 0; k < LODE_EVENT_TYPES; k++) {
			const struct lode_events *events = &inference->stream->events[order[k]];

			if (next[k] < events->count && (best < 0 || events->t[next[k]] < earliest)) {
				best = k;
				earliest = events->t[next[k]];
			}
		}
		if (best < 0)
			break;
		look_ahead(inference, &inference->stream->events[order[best]], next[best]);
		code = see_event(inference, order[best], next[best]++);
	}
	return code;
}

static int finish(struct inference *inference)
{
	int code = 0;

	for (size_t i = 0; !code && i < inference->stream->thread_count; i++) {
		struct thread *thread = &inference->threads[i];

		code = see_ends(inference, thread, UINT64_MAX);
		if (!code)
			code = close_deeper(inference, thread, 0, thread->t, thread->t);
	}
	return code;
}

/* ---- the whole ---- */

static int prepare(struct inference *inference)
{
	const struct lode_stream *stream = inference->stream;

	inference->places = inference->chains
				    ? lode_tree_positions_make_chains(&stream->dictionary->tree, inference->chains)
				    : lode_tree_positions_make(&stream->dictionary->tree);
	inference->threads = lode_calloc(stream->thread_count + 1, sizeof(*inference->threads));
	inference->left_out = lode_calloc(stream->thread_count + 1, 1);
	if (!inference->places || !inference->threads || !inference->left_out)
		return lode_fail_memory(inference->error);
	if (lode_run_spans_find(stream, &inference->shortest_span) < 0)
		return lode_fail_memory(inference->error);
	if (inference->shares && lode_time_shares_init(inference->shares, stream, inference->chains,
						       inference->places, inference->shortest_span) < 0)
		return lode_fail_memory(inference->error);
	for (size_t i = 0; i < stream->thread_count; i++)
		inference->left_out[i] = (uint8_t)lode_thread_is_idle_task(stream, &stream->threads[i]);
	return 0;
}

static void release(struct inference *inference)
{
	for (size_t i = 0; inference->threads && i < inference->stream->thread_count; i++) {
		lode_free(inference->threads[i].layers);
		lode_free(inference->threads[i].ends);
	}
	lode_free(inference->places);
	lode_free(inference->threads);
	lode_free(inference->left_out);
}

int lode_instances_of_chains(const struct lode_stream *stream, const struct lode_call_chains *chains,
			     int (*take)(void *context, const struct lode_instance *instance), void *context,
			     struct lode_time_shares *shares, struct lode_instances_input *input,
			     struct lode_error *error)
{
	struct inference inference = { .stream = stream,
				       .chains = chains,
				       .take = take,
				       .context = context,
				       .shares = shares,
				       .error = error };
	int code = prepare(&inference);

	if (!code)
		code = see_all(&inference);
	if (!code)
		code = finish(&inference);
	if (!code && shares)
		lode_time_shares_finish(shares);
	if (!code && shares && lode_stream_thinned(stream) &&
	    lode_time_shares_weigh(shares, stream, inference.left_out) < 0)
		code = lode_fail_memory(error);
	if (shares) { /* they go */
		shares->places = NULL;
		shares->chains = NULL;
	}
	release(&inference);
	if (input)
		*input = inference.input;
	return code;
}

int lode_instances_infer(const struct lode_stream *stream,
			 int (*take)(void *context, const struct lode_instance *instance), void *context,
			 struct lode_instances_input *input, struct lode_error *error)
{
	return lode_instances_of_chains(stream, NULL, take, context, NULL, input, error);
}
