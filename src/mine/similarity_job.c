/*
 * Similar pairs by all processes of a job: see similarity_job.h.
 *
 * Question
 *	8  least similarity, in units
 *	8  threads
 *	   frames of the patterns: call counts (call_counts.h), words (word_groups.h)
 *	   patterns: array; their frames: array
 * Answer
 *	8  0, or the code of a failure; then only its sentence follows
 *	   rows: array; similar ones of all rows: array
 *
 * Only frames of patterns are sent, renumbered in their original order, so that all processes compare in the
 * same order, and the message is small even if a corpus has many frames.
 */
#include "mine/similarity_job.h"

#include "base/memory.h"
#include "base/message.h"
#include "base/sort_numbers.h"
#include "mine/mine_services.h"
#include "mine/word_groups.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- the question ---- */

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The distinct frames of the patterns, rising; NULL when memory has run out. */
static uint32_t *list_frames(const struct lode_patterns *patterns, size_t *count)
{
	uint32_t *frames = lode_alloc((patterns->frame_count + 1) * sizeof(*frames));

	*count = 0;
	if (!frames || !patterns->frame_count)
		return frames;
	memcpy(frames, patterns->frames, patterns->frame_count * sizeof(*frames));
	qsort(frames, patterns->frame_count, sizeof(*frames), compare_numbers);
	for (size_t i = 0; i < patterns->frame_count; i++)
		if (!*count || frames[*count - 1] != frames[i])
			frames[(*count)++] = frames[i];
	return frames;
}

static uint32_t place_of(uint32_t frame, const uint32_t *frames, size_t count)
{
	size_t low = 0;

	while (count > 1) {
		size_t half = count / 2;

		low += frames[low + half] <= frame ? half : 0;
		count -= half;
	}
	return (uint32_t)low;
}

void lode_similarity_question_write(const struct lode_clusters_input *input, uint32_t least,
				    struct lode_buffer *message)
{
	const struct lode_patterns *patterns = input->patterns;
	size_t count;
	uint32_t *frames = list_frames(patterns, &count);

	if (!frames) {
		message->failed = 1;
		return;
	}
	lode_buffer_u64(message, least);
	lode_buffer_u64(message, input->jobs);
	lode_call_counts_write(input->counts, frames, count, message);
	lode_words_write(input->words, frames, count, message);
	lode_message_add_array(message, patterns->items, patterns->count, sizeof(*patterns->items));
	lode_buffer_u64(message, patterns->frame_count);
	for (size_t i = 0; i < patterns->frame_count; i++)
		lode_buffer_u32(message, place_of(patterns->frames[i], frames, count));
	lode_message_fill_up(message, patterns->frame_count * sizeof(*patterns->frames));
	lode_free(frames);
}

static void read_patterns(struct lode_cursor *message, struct lode_patterns *patterns, size_t frames)
{
	patterns->items = lode_message_array(message, &patterns->count, sizeof(*patterns->items));
	patterns->frames = lode_message_array(message, &patterns->frame_count, sizeof(*patterns->frames));
	lode_message_expect(message, patterns->count <= LODE_LINKAGE_MEMBERS);
	for (size_t i = 0; i < patterns->count && !message->failed; i++)
		lode_message_expect(message, patterns->items[i].first <= patterns->frame_count &&
						     patterns->items[i].length <=
							     patterns->frame_count - patterns->items[i].first);
	for (size_t i = 0; i < patterns->frame_count && !message->failed; i++)
		lode_message_expect(message, patterns->frames[i] < frames);
}

int lode_similarity_question_read(struct lode_similarity_question *question, struct lode_cursor message)
{
	uint64_t least = lode_cursor_u64(&message), jobs = lode_cursor_u64(&message);
	struct lode_cursor functions = message;
	size_t frames;

	memset(question, 0, sizeof(*question));
	lode_message_expect(&message, least <= LODE_SIM_UNITS && jobs <= UINT_MAX);
	question->least = (uint32_t)least;
	question->jobs = (unsigned)jobs;
	lode_cursor_u64(&functions); /* stacks */
	frames = lode_cursor_u64(&functions);
	question->counts = lode_call_counts_read(&message);
	question->words = question->counts ? lode_words_read(&message) : NULL;
	if (question->words)
		read_patterns(&message, &question->patterns, frames);
	lode_message_expect(&message, !lode_cursor_left(&message) || !question->words);
	if (message.failed)
		return LODE_BAD_INPUT;
	return question->words ? 0 : LODE_SYSTEM;
}

void lode_similarity_question_release(struct lode_similarity_question *question)
{
	lode_words_free(question->words);
	lode_call_counts_free(question->counts);
	memset(question, 0, sizeof(*question));
}

/* ---- the answer ---- */

struct row {
	uint32_t row;
	uint32_t count; /* of similar ones */
};

struct answer {
	struct lode_buffer rows;
	struct lode_buffer similar;
};

static void add_row(void *context, size_t row, const struct lode_similar *similar, size_t count)
{
	struct answer *answer = context;

	lode_buffer_add(&answer->rows, &(struct row){ (uint32_t)row, (uint32_t)count }, sizeof(struct row));
	if (count)
		lode_buffer_add(&answer->similar, similar, count * sizeof(*similar));
}

static int send_answer(const struct answer *answer, const struct lode_job_rank *rank, int code,
		       struct lode_error *error)
{
	struct lode_buffer message = { 0 };

	lode_buffer_u64(&message, 0);
	lode_message_add_array(&message, answer->rows.bytes, answer->rows.size / sizeof(struct row),
			       sizeof(struct row));
	lode_message_add_array(&message, answer->similar.bytes, answer->similar.size / sizeof(struct lode_similar),
			       sizeof(struct lode_similar));
	if (!code && (answer->rows.failed || answer->similar.failed))
		code = lode_fail_memory(error);
	return lode_job_answer(rank, &message, code, error);
}

int lode_similarities_serve(const struct lode_job_rank *rank, struct lode_cursor message, struct lode_error *error)
{
	struct lode_similarity_question question;
	struct lode_similarities *similarities = NULL;
	struct answer answer = { { 0 }, { 0 } };
	struct lode_similarities_sink sink = { add_row, &answer };
	int code = lode_similarity_question_read(&question, message);

	if (code == LODE_BAD_INPUT)
		code = lode_fail(error, LODE_SYSTEM, "the first process of the job sent damaged patterns");
	if (!code)
		similarities = lode_similarities_make(&question.patterns, question.words, question.counts);
	if (similarities)
		code = lode_similarities_compare(similarities, question.least, question.jobs, rank, NULL, &sink,
						 error);
	else if (!error->text[0])
		code = lode_fail_memory(error);
	code = send_answer(&answer, rank, code, error);
	lode_similarities_free(similarities);
	lode_similarity_question_release(&question);
	lode_buffer_release(&answer.rows);
	lode_buffer_release(&answer.similar);
	return code;
}

static void decode_rows(struct lode_cursor *message, size_t count, uint8_t *seen,
			const struct lode_similarities_sink *sink)
{
	size_t row_count, left;
	const struct row *rows = lode_message_array(message, &row_count, sizeof(*rows));
	const struct lode_similar *similar = lode_message_array(message, &left, sizeof(*similar));

	for (size_t i = 0; i < row_count && !message->failed; i++) {
		lode_message_expect(message, rows[i].row < count && rows[i].count <= left);
		lode_message_expect(message, !message->failed && !seen[rows[i].row]);
		for (uint32_t k = 0; !message->failed && k < rows[i].count; k++)
			lode_message_expect(message, similar[k].other > rows[i].row && similar[k].other < count &&
							     similar[k].units <= LODE_SIM_UNITS);
		if (message->failed)
			break;
		seen[rows[i].row] = 1;
		sink->row(sink->context, rows[i].row, similar, rows[i].count);
		similar += rows[i].count;
		left -= rows[i].count;
	}
	lode_message_expect(message, !left && !lode_cursor_left(message));
}

int lode_similarity_answer_read(struct lode_cursor message, size_t count, uint8_t *seen,
				const struct lode_similarities_sink *sink, struct lode_error *error)
{
	int code = lode_message_failure(&message, error);

	if (code)
		return code;
	decode_rows(&message, count, seen, sink);
	return message.failed ? lode_fail(error, LODE_BAD_INPUT, "another process of the job sent damaged rows")
			      : 0;
}

/* ---- the first process ---- */

/* Its own rows are marked, too. */
struct marking {
	const struct lode_similarities_sink *sink;
	uint8_t *seen;
};

static void mark_row(void *context, size_t row, const struct lode_similar *similar, size_t count)
{
	struct marking *marking = context;

	marking->seen[row] = 1;
	marking->sink->row(marking->sink->context, row, similar, count);
}

/* Also after a failure: the others wait until their answers are taken. */
static int collect_answers(const struct lode_clusters_input *input, const struct marking *marking, int code,
			   struct lode_error *error)
{
	const struct lode_job_rank *rank = input->rank;
	size_t count = input->patterns->count;
	struct lode_buffer message = { 0 };

	for (unsigned i = 1; i < rank->count; i++) {
		struct lode_error own = { "" };
		int received = rank->receive(rank->context, i, &message, &own);

		if (!received && !code)
			received = lode_similarity_answer_read(lode_cursor(message.bytes, message.size), count,
							       marking->seen, marking->sink, &own);
		if (received && !code)
			code = lode_fail(error, received, "%s", own.text);
	}
	lode_buffer_release(&message);
	for (size_t i = 0; i < count && !code; i++)
		if (!marking->seen[i])
			code = lode_fail(error, LODE_SYSTEM, "the processes of the job left out patterns");
	return code;
}

int lode_similarities_call(const struct lode_clusters_input *input, const struct lode_similarities *similarities,
			   uint32_t least, const struct lode_similarities_sink *sink, struct lode_error *error)
{
	struct lode_buffer question = { 0 };
	struct marking marking = { sink, lode_calloc(input->patterns->count + 1, 1) };
	int code;

	lode_similarity_question_write(input, least, &question);
	code = marking.seen && !question.failed
		       ? lode_job_call(input->rank, LODE_TASK_SIMILARITIES, &question, error)
		       : lode_fail_memory(error);
	lode_buffer_release(&question);
	if (!code) {
		code = lode_similarities_compare(similarities, least, input->jobs, input->rank, input->progress,
						 &(struct lode_similarities_sink){ mark_row, &marking }, error);
		code = collect_answers(input, &marking, code, error);
	}
	lode_free(marking.seen);
	return code;
}
