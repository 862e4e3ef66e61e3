/*
 * Call counts: see call_counts.h.
 *
 * All counts come from one numbering of the tree. With the events of each stack
 * summed up in preorder, the sum below a node is a difference of two sums, and
 *
 *	stacks that include f            below the topmost nodes of f
 *	occurrences of f that call g     below the nodes of g whose parent is f
 *	occurrences of f with a callee   below the nodes of f, without these nodes' own events
 *	occurrences of g with a caller   below the nodes of g that do not hang from the root
 *
 * Events without a stack (node 0) are no stacks and are not counted. Counts are
 * of events that were stored one by one, so no sum comes near 2^64.
 */
#include "mine/call_counts.h"

#include "base/error.h"
#include "base/message.h"
#include "mine/matcher.h"

#include <string.h>

/* What is known of one function. */
struct function {
	uint64_t stacks;      /* that include it */
	uint64_t with_callee; /* occurrences */
	uint64_t with_caller;
};

/* How often one function calls another. */
struct call {
	uint32_t caller;
	uint32_t callee;
	uint64_t count;
};

struct lode_call_counts {
	uint64_t stacks;
	size_t frames;
	struct function *functions; /* by frame */
	struct call *calls;
	size_t call_count;
	size_t call_capacity;
	struct lode_index index; /* of calls, by caller and callee */
};

static struct call *find_call(const struct lode_call_counts *counts, uint32_t caller, uint32_t callee)
{
	uint64_t hash = lode_hash_pair(caller, callee);
	uint32_t id = LODE_INDEX_FIND(i, &counts->index, hash,
				      counts->calls[i].caller == caller && counts->calls[i].callee == callee);

	return id == LODE_NONE ? NULL : &counts->calls[id];
}

static int add_call(struct lode_call_counts *counts, uint32_t caller, uint32_t callee, uint64_t count)
{
	uint64_t hash = lode_hash_pair(caller, callee);
	struct call *call = find_call(counts, caller, callee);

	if (call) {
		call->count += count;
		return 0;
	}
	return LODE_INDEX_APPEND(&counts->index, hash, counts->calls, counts->call_count, counts->call_capacity,
				 (struct call){ caller, callee, count });
}

/* By preorder number, one more than nodes: events with the stacks before it. */
static uint64_t *sum_in_preorder(const struct lode_matcher *matcher, const uint64_t *occurrences)
{
	uint64_t *before = lode_calloc(matcher->nodes + 1, sizeof(*before));

	if (!before)
		return NULL;
	for (size_t node = 1; node < matcher->nodes; node++)
		before[matcher->preorder[node] + 1] = occurrences[node];
	for (size_t i = 0; i < matcher->nodes; i++)
		before[i + 1] += before[i];
	return before;
}

static uint64_t below(const struct lode_matcher *matcher, const uint64_t *before, uint32_t number)
{
	return before[matcher->end[number]] - before[number];
}

/* Of recursive functions only the topmost occurrence counts: a stack includes them once. */
static void count_stacks(struct lode_call_counts *counts, const struct lode_matcher *matcher,
			 const uint64_t *before)
{
	counts->stacks = before[matcher->nodes];
	for (size_t frame = 0; frame < counts->frames; frame++) {
		uint32_t covered = 0;

		for (uint32_t i = matcher->starts[frame]; i < matcher->starts[frame + 1]; i++) {
			uint32_t number = matcher->places[i];

			if (number < covered)
				continue;
			covered = matcher->end[number];
			counts->functions[frame].stacks += below(matcher, before, number);
		}
	}
}

static int count_calls(struct lode_call_counts *counts, const struct lode_stack_tree *tree,
		       const struct lode_matcher *matcher, const uint64_t *before)
{
	for (size_t node = 1; node < tree->count; node++) {
		uint32_t number = matcher->preorder[node], parent = tree->nodes[node].parent;
		uint32_t frame = tree->nodes[node].frame;
		uint64_t events = below(matcher, before, number);

		if (frame >= counts->frames)
			continue;
		counts->functions[frame].with_callee += events - (before[number + 1] - before[number]);
		if (!parent || tree->nodes[parent].frame >= counts->frames)
			continue;
		counts->functions[frame].with_caller += events;
		if (events && add_call(counts, tree->nodes[parent].frame, frame, events) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int count_all(struct lode_call_counts *counts, const struct lode_stack_tree *tree,
		     const uint64_t *occurrences)
{
	struct lode_matcher matcher;
	uint64_t *before = NULL;
	int code = lode_matcher_init(&matcher, tree, counts->frames);

	if (!code && !(before = sum_in_preorder(&matcher, occurrences)))
		code = LODE_SYSTEM;
	if (!code) {
		count_stacks(counts, &matcher, before);
		code = count_calls(counts, tree, &matcher, before);
	}
	lode_free(before);
	lode_matcher_release(&matcher);
	return code;
}

struct lode_call_counts *lode_call_counts_make(const struct lode_stack_tree *tree, const uint64_t *occurrences,
					       size_t frames)
{
	struct lode_call_counts *counts = lode_calloc(1, sizeof(*counts));

	if (!counts)
		return NULL;
	counts->frames = frames;
	counts->functions = lode_calloc(frames, sizeof(*counts->functions));
	if (!counts->functions || count_all(counts, tree, occurrences) < 0) {
		lode_call_counts_free(counts);
		return NULL;
	}
	return counts;
}

void lode_call_counts_free(struct lode_call_counts *counts)
{
	if (!counts)
		return;
	lode_free(counts->functions);
	lode_free(counts->calls);
	lode_index_release(&counts->index);
	lode_free(counts);
}

/* ---- weights ---- */

/* 1 - part / whole, computed so that equal fractions give equal numbers. */
static double rarity(uint64_t part, uint64_t whole)
{
	return whole ? (double)(whole - part) / (double)whole : 1;
}

double lode_call_uni(const struct lode_call_counts *counts, uint32_t f)
{
	return f < counts->frames ? rarity(counts->functions[f].stacks, counts->stacks) : 1;
}

double lode_call_fbi(const struct lode_call_counts *counts, uint32_t f1, uint32_t f2)
{
	const struct call *call = find_call(counts, f1, f2);

	return call ? rarity(call->count, counts->functions[f1].with_callee) : 1;
}

double lode_call_bbi(const struct lode_call_counts *counts, uint32_t f1, uint32_t f2)
{
	const struct call *call = find_call(counts, f1, f2);

	return call ? rarity(call->count, counts->functions[f2].with_caller) : 1;
}

/* ---- messages ---- */

/* By frame: its place among `frames`, or LODE_NONE. NULL when memory has run out. */
static uint32_t *number_frames(const struct lode_call_counts *counts, const uint32_t *frames, size_t frame_count)
{
	uint32_t *numbers = lode_alloc((counts->frames + 1) * sizeof(*numbers));

	if (!numbers)
		return NULL;
	memset(numbers, 0xff, (counts->frames + 1) * sizeof(*numbers));
	for (size_t i = 0; i < frame_count; i++)
		if (frames[i] < counts->frames)
			numbers[frames[i]] = (uint32_t)i;
	return numbers;
}

/* Calls come last, up to the end of the array that their number is in front of. */
static void write_calls(const struct lode_call_counts *counts, const uint32_t *numbers, struct lode_buffer *message)
{
	struct lode_buffer calls = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < counts->call_count; i++) {
		struct call call = counts->calls[i];

		call.caller = numbers[call.caller];
		call.callee = numbers[call.callee];
		if (call.caller == LODE_NONE || call.callee == LODE_NONE)
			continue;
		lode_buffer_add(&calls, &call, sizeof(call));
		count++;
	}
	lode_message_add_array(message, calls.bytes, count, sizeof(struct call));
	message->failed |= calls.failed;
	lode_buffer_release(&calls);
}

/* Frames that are not known have counts of 0, which come to the same. */
void lode_call_counts_write(const struct lode_call_counts *counts, const uint32_t *frames, size_t frame_count,
			    struct lode_buffer *message)
{
	uint32_t *numbers = number_frames(counts, frames, frame_count);

	message->failed |= !numbers;
	lode_buffer_u64(message, counts->stacks);
	lode_buffer_u64(message, frame_count);
	for (size_t i = 0; i < frame_count; i++)
		lode_buffer_add(message,
				frames[i] < counts->frames ? &counts->functions[frames[i]]
							   : &(struct function){ 0, 0, 0 },
				sizeof(struct function));
	if (numbers)
		write_calls(counts, numbers, message);
	lode_free(numbers);
}

static int read_calls(struct lode_call_counts *counts, struct lode_cursor *message)
{
	size_t count;
	const struct call *calls = lode_message_array(message, &count, sizeof(*calls));

	for (size_t i = 0; i < count; i++) {
		lode_message_expect(message, calls[i].caller < counts->frames && calls[i].callee < counts->frames);
		if (message->failed || add_call(counts, calls[i].caller, calls[i].callee, calls[i].count) < 0)
			return LODE_SYSTEM;
	}
	return message->failed ? LODE_SYSTEM : 0;
}

struct lode_call_counts *lode_call_counts_read(struct lode_cursor *message)
{
	struct lode_call_counts *counts = lode_calloc(1, sizeof(*counts));
	const struct function *functions;

	if (!counts)
		return NULL;
	counts->stacks = lode_cursor_u64(message);
	functions = lode_message_array(message, &counts->frames, sizeof(*functions));
	counts->functions = lode_calloc(counts->frames + 1, sizeof(*counts->functions));
	if (counts->functions && counts->frames)
		memcpy(counts->functions, functions, counts->frames * sizeof(*functions));
	if (!counts->functions || read_calls(counts, message) < 0) {
		lode_call_counts_free(counts);
		return NULL;
	}
	return counts;
}
