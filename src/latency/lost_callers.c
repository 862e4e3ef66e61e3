/*
 * Stacks whose callers were lost: see lost_callers.h.
 *
 * The function that most stacks of a thread begin with is where the thread starts. Stacks that
 * begin elsewhere are looked at only if there are some: pairs of thread and stack, sorted, give
 * each such thread its set of stacks. The nodes of whole ones are marked, and a lost one's first
 * function is looked for among them. Stacks that begin in the kernel have lost nothing that
 * could be found again, and may be whole.
 */
#include "latency/lost_callers.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct pair {
	uint32_t thread;
	uint32_t stack;
	uint32_t moved; /* the stack in its place; 0: it stays */
	uint32_t lost;  /* 1: its callers are lost */
};

struct vote {
	uint32_t frame; /* that more than half of the thread's stacks begin with, if one does */
	uint32_t lead;
	int mixed; /* others begin elsewhere */
};

struct finding {
	struct lode_stream *stream;
	struct lode_stack_tree *tree;
	struct lode_lost_callers *lost;
	uint32_t *roots;  /* by node: where its stack begins, also a node */
	size_t nodes;     /* of the tree before anything was added */
	uint32_t *begins; /* by node: the function its stack begins with; LODE_NONE where that is the kernel's */
	struct vote *votes;
	int is_mixed; /* some thread's stacks are */
	struct pair *pairs;
	size_t count;
	size_t capacity;
	uint32_t *marks;  /* by node: number of the thread, plus one, whose whole stacks go through it */
	uint32_t *next;   /* by such a node: the next one with the same function; 0: none */
	uint32_t *firsts; /* by frame: the first such node, if `of` has this thread */
	uint32_t *of;     /* by frame: number of the thread, plus one */
	uint32_t *noted;  /* by node that stacks begin with: of this thread its places were noted */
	uint32_t *frames; /* of a stack */
	size_t frames_capacity;
};

/* ---- where threads begin ---- */

static void each_event(struct finding *finding,
		       void (*visit)(struct finding *finding, uint32_t thread, uint32_t *stack))
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		struct lode_events *events = &finding->stream->events[type];

		for (size_t i = 0; i < events->count; i++)
			if (finding->begins[events->stack[i]] != LODE_NONE) /* it says where its thread begins */
				visit(finding, events->thread[i], &events->stack[i]);
	}
}

/* Boyer and Moore: what has more than half of the votes is left in the end. */
static void cast(struct finding *finding, uint32_t thread, uint32_t *stack)
{
	struct vote *vote = &finding->votes[thread];
	uint32_t frame = finding->begins[*stack];

	if (!vote->lead)
		vote->frame = frame;
	if (frame == vote->frame)
		vote->lead++;
	else
		vote->lead--;
}

static void find_mixed(struct finding *finding, uint32_t thread, uint32_t *stack)
{
	if (finding->begins[*stack] != finding->votes[thread].frame)
		finding->votes[thread].mixed = finding->is_mixed = 1;
}

/* ---- the stacks of such threads ---- */

static void count_pair(struct finding *finding, uint32_t thread, uint32_t *stack)
{
	(void)stack;
	finding->capacity += (size_t)finding->votes[thread].mixed;
}

static void add_pair(struct finding *finding, uint32_t thread, uint32_t *stack)
{
	if (finding->votes[thread].mixed)
		finding->pairs[finding->count++] = (struct pair){ .thread = thread, .stack = *stack };
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return left->stack < right->stack ? -1 : left->stack > right->stack;
}

static int list_pairs(struct finding *finding)
{
	size_t kept = 0;

	each_event(finding, count_pair);
	finding->pairs = lode_calloc(finding->capacity + 1, sizeof(*finding->pairs));
	if (!finding->pairs)
		return LODE_SYSTEM;
	each_event(finding, add_pair);
	qsort(finding->pairs, finding->count, sizeof(*finding->pairs), compare_pairs);
	for (size_t i = 0; i < finding->count; i++)
		if (!i || compare_pairs(&finding->pairs[i - 1], &finding->pairs[i]))
			finding->pairs[kept++] = finding->pairs[i];
	finding->count = kept;
	return 0;
}

/* ---- places ---- */

static void mark_whole(struct finding *finding, const struct pair *pairs, size_t count)
{
	uint32_t mark = pairs->thread + 1;

	for (size_t i = 0; i < count; i++) {
		if (finding->begins[pairs[i].stack] != finding->votes[pairs->thread].frame)
			continue;
		for (uint32_t node = pairs[i].stack; node && finding->marks[node] != mark;
		     node = finding->tree->nodes[node].parent) {
			uint32_t frame = finding->tree->nodes[node].frame;

			finding->marks[node] = mark;
			finding->next[node] = finding->of[frame] == mark ? finding->firsts[frame] : 0;
			finding->firsts[frame] = node;
			finding->of[frame] = mark;
		}
	}
}

/* The stack with its first function at `place`; LODE_NONE when memory has run out. */
static uint32_t move_to(struct finding *finding, uint32_t stack, uint32_t place)
{
	uint32_t depth = lode_stack_tree_depth(finding->tree, stack);

	if (LODE_GROW(finding->frames, finding->frames_capacity, depth) < 0)
		return LODE_NONE;
	lode_stack_tree_frames(finding->tree, stack, finding->frames, depth);
	for (uint32_t i = 1; i < depth && place != LODE_NONE; i++)
		place = lode_stack_tree_child(finding->tree, place, finding->frames[i]);
	return place;
}

/* Takes note of all places of a stack's first function, once per thread. */
static int note_places(struct finding *finding, uint32_t root, uint32_t place, uint32_t mark)
{
	struct lode_lost_callers *lost = finding->lost;

	if (finding->noted[root] == mark)
		return 0;
	finding->noted[root] = mark;
	for (; place; place = finding->next[place]) {
		if (LODE_APPEND(lost->places, lost->count, lost->capacity,
				(struct lode_lost_place){ root, place }) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int place_stack(struct finding *finding, struct pair *pair)
{
	uint32_t root = finding->roots[pair->stack], frame = finding->tree->nodes[root].frame;
	uint32_t mark = pair->thread + 1, place = finding->of[frame] == mark ? finding->firsts[frame] : 0;

	if (frame == finding->votes[pair->thread].frame || !place)
		return 0;
	pair->lost = 1;
	if (finding->next[place])
		return note_places(finding, root, place, mark);
	pair->moved = move_to(finding, pair->stack, place);
	return pair->moved == LODE_NONE ? LODE_SYSTEM : 0;
}

static int place_threads(struct finding *finding)
{
	size_t end;
	int code = 0;

	for (size_t i = 0; !code && i < finding->count; i = end) {
		for (end = i; end < finding->count && finding->pairs[end].thread == finding->pairs[i].thread;)
			end++;
		mark_whole(finding, &finding->pairs[i], end - i);
		for (size_t k = i; !code && k < end; k++)
			code = place_stack(finding, &finding->pairs[k]);
	}
	return code;
}

static void move_event(struct finding *finding, uint32_t thread, uint32_t *stack)
{
	const struct pair key = { .thread = thread, .stack = *stack };
	const struct pair *pair;

	if (!finding->votes[thread].mixed)
		return;
	pair = bsearch(&key, finding->pairs, finding->count, sizeof(key), compare_pairs);
	if (!pair || !pair->lost)
		return;
	if (pair->moved)
		*stack = pair->moved;
	finding->lost->placed += pair->moved != 0;
	finding->lost->unplaced += !pair->moved;
}

/* ---- the whole ---- */

static int prepare(struct finding *finding)
{
	const struct lode_frames *frames = &finding->stream->dictionary->frames;

	finding->roots = lode_calloc(finding->nodes, sizeof(*finding->roots));
	finding->begins = lode_calloc(finding->nodes, sizeof(*finding->begins));
	finding->votes = lode_calloc(finding->stream->thread_count + 1, sizeof(*finding->votes));
	finding->marks = lode_calloc(finding->nodes, sizeof(*finding->marks));
	finding->next = lode_calloc(finding->nodes, sizeof(*finding->next));
	finding->noted = lode_calloc(finding->nodes, sizeof(*finding->noted));
	finding->firsts = lode_calloc(frames->count + 1, sizeof(*finding->firsts));
	finding->of = lode_calloc(frames->count + 1, sizeof(*finding->of));
	if (!finding->roots || !finding->begins || !finding->votes || !finding->marks || !finding->next ||
	    !finding->noted || !finding->firsts || !finding->of)
		return LODE_SYSTEM;
	finding->begins[0] = LODE_NONE;
	for (uint32_t i = 1; i < finding->nodes; i++) {
		const struct lode_stack_node *node = &finding->tree->nodes[i];

		finding->roots[i] = node->parent ? finding->roots[node->parent] : i;
		if (node->parent)
			finding->begins[i] = finding->begins[node->parent];
		else
			finding->begins[i] = strcmp(lode_frames_module_name(frames, node->frame), "kernel")
						     ? node->frame
						     : LODE_NONE;
	}
	return 0;
}

int lode_lost_callers_find(struct lode_stream *stream, struct lode_lost_callers *lost)
{
	struct finding finding = {
		.stream = stream,
		.tree = &stream->dictionary->tree,
		.lost = lost,
		.nodes = stream->dictionary->tree.count,
	};
	int code = prepare(&finding);

	if (!code) {
		each_event(&finding, cast);
		each_event(&finding, find_mixed);
		code = finding.is_mixed ? list_pairs(&finding) : 0;
	}
	if (!code && finding.count)
		code = place_threads(&finding);
	if (!code && finding.count) {
		/* Stacks that were added have no place in `roots`, and no event yet. */
		each_event(&finding, move_event);
	}
	lode_free(finding.roots);
	lode_free(finding.begins);
	lode_free(finding.votes);
	lode_free(finding.pairs);
	lode_free(finding.marks);
	lode_free(finding.next);
	lode_free(finding.noted);
	lode_free(finding.firsts);
	lode_free(finding.of);
	lode_free(finding.frames);
	return code;
}

void lode_lost_callers_release(struct lode_lost_callers *lost)
{
	lode_free(lost->places);
	memset(lost, 0, sizeof(*lost));
}
