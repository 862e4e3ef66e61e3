/*
 * The miner's search by all processes of a job: see miner_job.h.
 *
 * Question
 *	8  threshold
 *	8  shortest length of a pattern
 *	8  longest length
 *	8  threads
 *	8  height of the tree
 *	   nodes: array; labels: array
 * Answer
 *	8  0, or the code of a failure; then only its sentence follows
 *	8  1 when the search was not ended
 *	8  prefixes that were looked at
 *	   patterns: array; their frames: array
 */
#include "mine/miner_job.h"

#include "base/clock.h"
#include "base/message.h"
#include "mine/maximal.h"
#include "mine/mine_services.h"
#include "mine/miner_run.h"

#include <limits.h>
#include <string.h>

/* ns between two looks at whether the first process has stopped. */
#define LOOK_AGAIN 100000000u

/* ---- the question ---- */

void lode_miner_question_write(const struct lode_miner_input *input, const struct miner_tree *root,
			       struct lode_buffer *message)
{
	lode_buffer_u64(message, input->threshold);
	lode_buffer_u64(message, input->min_length);
	lode_buffer_u64(message, input->max_length);
	lode_buffer_u64(message, input->jobs);
	lode_buffer_u64(message, root->height);
	lode_message_add_array(message, root->nodes, root->count, sizeof(*root->nodes));
	lode_message_add_array(message, root->label, root->labels, sizeof(*root->label));
}

/* Every node is inside the one above it, `height` above each other at most. */
static int check_nodes(const struct miner_tree *root, struct lode_cursor *message)
{
	uint32_t *ends = lode_alloc(((size_t)root->height + 1) * sizeof(*ends)), depth = 0;

	if (!ends)
		return LODE_SYSTEM;
	ends[0] = root->count;
	for (uint32_t i = 0; i < root->count && !message->failed; i++) {
		const struct miner_node *node = &root->nodes[i];

		while (depth && ends[depth] == i)
			depth--;
		lode_message_expect(message, node->label < root->labels && node->end > i &&
						     node->end <= ends[depth] && depth < root->height);
		if (!message->failed)
			ends[++depth] = node->end;
	}
	lode_free(ends);
	return 0;
}

static int read_tree(struct miner_tree *root, struct lode_cursor *message)
{
	uint64_t height = lode_cursor_u64(message);
	size_t count, labels;
	const struct miner_node *nodes = lode_message_array(message, &count, sizeof(*nodes));
	const struct miner_label *label = lode_message_array(message, &labels, sizeof(*label));

	lode_message_expect(message, count < LODE_NONE && labels < LODE_NONE && height <= count);
	lode_message_expect(message, !lode_cursor_left(message));
	if (message->failed)
		return 0;
	if (miner_tree_reserve(root, count, labels) < 0)
		return LODE_SYSTEM;
	root->count = (uint32_t)count;
	root->labels = (uint32_t)labels;
	root->height = (uint32_t)height;
	if (count)
		memcpy(root->nodes, nodes, count * sizeof(*nodes));
	if (labels)
		memcpy(root->label, label, labels * sizeof(*label));
	return check_nodes(root, message);
}

int lode_miner_question_read(struct lode_miner_input *input, struct miner_tree *root, struct lode_cursor message)
{
	uint64_t least, most, jobs;
	int code;

	input->threshold = lode_cursor_u64(&message);
	least = lode_cursor_u64(&message);
	most = lode_cursor_u64(&message);
	jobs = lode_cursor_u64(&message);
	lode_message_expect(&message,
			    input->threshold && least <= UINT32_MAX && most <= UINT32_MAX && jobs <= UINT_MAX);
	input->min_length = (uint32_t)least;
	input->max_length = (uint32_t)most;
	input->jobs = (unsigned)jobs;
	code = read_tree(root, &message);
	return message.failed ? LODE_BAD_INPUT : code;
}

/* ---- the answer ---- */

static int send_answer(const struct lode_patterns *patterns, const struct lode_job_rank *rank, int code,
		       struct lode_error *error)
{
	struct lode_buffer message = { 0 };

	lode_buffer_u64(&message, 0);
	lode_buffer_u64(&message, patterns->end != LODE_MINER_COMPLETE);
	lode_buffer_u64(&message, patterns->prefixes);
	lode_message_add_array(&message, patterns->items, patterns->count, sizeof(*patterns->items));
	lode_message_add_array(&message, patterns->frames, patterns->frame_count, sizeof(*patterns->frames));
	return lode_job_answer(rank, &message, code, error);
}

static int add_patterns(struct lode_cursor *message, size_t frames, struct lode_patterns *patterns)
{
	struct lode_patterns found = { 0 };
	int code = 0;

	found.items = lode_message_array(message, &found.count, sizeof(*found.items));
	found.frames = lode_message_array(message, &found.frame_count, sizeof(*found.frames));
	lode_message_expect(message, !lode_cursor_left(message));
	for (size_t i = 0; i < found.frame_count && !message->failed; i++)
		lode_message_expect(message, found.frames[i] < frames);
	for (size_t i = 0; i < found.count && !message->failed && !code; i++) {
		const struct lode_pattern *item = &found.items[i];

		lode_message_expect(message, item->length && item->first <= found.frame_count &&
						     item->length <= found.frame_count - item->first);
		if (!message->failed)
			code = lode_patterns_add(patterns, found.frames + item->first, item->length, item->cost);
	}
	return code;
}

int lode_miner_answer_read(struct lode_cursor message, size_t frames, struct lode_patterns *patterns,
			   struct lode_error *error)
{
	int code = lode_message_failure(&message, error);

	if (code)
		return code;
	if (lode_cursor_u64(&message) && patterns->end == LODE_MINER_COMPLETE)
		patterns->end = LODE_MINER_INTERRUPTED;
	patterns->prefixes += lode_cursor_u64(&message);
	code = add_patterns(&message, frames, patterns);
	if (message.failed)
		return lode_fail(error, LODE_BAD_INPUT, "another process of the job sent damaged patterns");
	return code ? lode_fail_memory(error) : 0;
}

/* ---- the other processes ---- */

struct look {
	const struct lode_job_rank *rank;
	uint64_t next;
};

static int look_for_stop(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	struct look *look = context;
	uint64_t now = lode_now();

	(void)phase, (void)unit, (void)done, (void)total;
	if (now < look->next)
		return 0;
	look->next = now + LOOK_AGAIN;
	return lode_job_is_closed(look->rank);
}

int lode_miner_serve(const struct lode_job_rank *rank, struct lode_cursor message, struct lode_error *error)
{
	struct look look = { rank, lode_now() + LOOK_AGAIN };
	const struct lode_progress progress = { look_for_stop, &look };
	struct lode_miner_input input = { .part = rank->number, .parts = rank->count, .progress = &progress };
	struct lode_patterns patterns = { 0 };
	struct miner_tree root = { 0 };
	int code = lode_miner_question_read(&input, &root, message);

	if (code == LODE_BAD_INPUT)
		code = lode_fail(error, LODE_SYSTEM, "the first process of the job sent a damaged tree");
	else if (code || miner_run(&input, &root, &patterns) < 0)
		code = lode_fail_memory(error);
	code = send_answer(&patterns, rank, code, error);
	lode_patterns_release(&patterns);
	miner_tree_release(&root);
	return code;
}

/* ---- the first process ---- */

/* Frames of patterns are names of labels. */
static size_t count_frames(const struct miner_tree *root)
{
	size_t count = 0;

	for (uint32_t i = 0; i < root->labels; i++)
		if (root->label[i].name >= count)
			count = (size_t)root->label[i].name + 1;
	return count;
}

/* Also after a failure: the others wait until their answers are taken. */
static int collect_answers(const struct lode_job_rank *rank, size_t frames, struct lode_patterns *patterns,
			   int code, struct lode_error *error)
{
	struct lode_buffer message = { 0 };

	for (unsigned i = 1; i < rank->count; i++) {
		struct lode_error own = { "" };
		int received = rank->receive(rank->context, i, &message, &own);

		if (!received && !code)
			received = lode_miner_answer_read(lode_cursor(message.bytes, message.size), frames,
							  patterns, &own);
		if (received && !code)
			code = lode_fail(error, received, "%s", own.text);
	}
	lode_buffer_release(&message);
	return code;
}

static int search_part(const struct lode_miner_input *input, struct miner_tree *root,
		       struct lode_patterns *patterns, struct lode_error *error)
{
	const struct lode_job_rank *rank = input->rank;
	struct lode_miner_input own = *input;
	int code;

	own.part = rank->number;
	own.parts = rank->count;
	code = miner_run(&own, root, patterns) < 0 ? lode_fail_memory(error) : 0;
	if ((code || patterns->end != LODE_MINER_COMPLETE) && rank->take)
		rank->close(rank->context);
	return code;
}

int lode_miner_call(const struct lode_miner_input *input, struct miner_tree *root, struct lode_patterns *patterns,
		    struct lode_error *error)
{
	struct lode_buffer question = { 0 };
	size_t frames = count_frames(root);
	int code;

	lode_miner_question_write(input, root, &question);
	code = question.failed ? lode_fail_memory(error)
			       : lode_job_call(input->rank, LODE_TASK_MINING, &question, error);
	lode_buffer_release(&question);
	if (code)
		return code;
	code = search_part(input, root, patterns, error);
	code = collect_answers(input->rank, frames, patterns, code, error);
	if (!code && lode_patterns_keep_maximal(patterns, input->min_length, input->progress) < 0)
		code = lode_fail_memory(error);
	return code;
}
