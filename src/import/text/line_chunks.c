/*
 * Chunks of lines: see line_chunks.h.
 *
 * Chunks are numbered as they are fetched and joined in that order; the thread with
 * the lowest number never waits, so there is no deadlock. Errors too are reported in
 * turn: the first one of the file wins.
 */
#include "import/text/line_chunks.h"

#include "base/parallel.h"
#include "import/import_common.h"

#include <pthread.h>
#include <string.h>

#define CHUNK_BYTES (4u << 20)

/* One chunk, and what one thread makes of it. */
struct chunk {
	size_t turn; /* its number */
	const char *text;
	size_t size;
	char *copy; /* owns the text when the input does not keep it */
	size_t copy_capacity;
	void *part;
	int code;
	struct lode_error error;
};

/* What the threads share. */
struct reading {
	struct lode_input *input;
	const struct lode_import_options *options;
	const struct lode_line_chunks *chunks;
	size_t chunk_bytes;

	pthread_mutex_t fetching; /* guards the input, `fetched` and `at_end` */
	size_t fetched;           /* chunks */
	int at_end;

	pthread_mutex_t joining; /* guards all below */
	pthread_cond_t joined;
	size_t turn; /* the chunk that may be joined next */
	int code;
	struct lode_error error;
};

/*
 * Shows whole lines, about a chunk of them. A line that is longer is shown whole,
 * or, beyond the limit, so far that the parser sees that it is too long.
 */
static int peek_lines(struct reading *reading, const unsigned char **bytes, size_t *size, struct lode_error *error)
{
	size_t wanted = reading->chunk_bytes, most = LODE_LINE_LIMIT + 2;

	for (;;) {
		const unsigned char *newline;
		int code = lode_input_peek(reading->input, wanted, bytes, size, error);

		if (code < 0 || *size < wanted)
			return code;
		*size = wanted;
		newline = memrchr(*bytes, '\n', wanted);
		if (newline)
			*size = (size_t)(newline - *bytes) + 1;
		if (newline || wanted == most)
			return 0;
		wanted = wanted * 2 < most ? wanted * 2 : most;
	}
}

static int keep_text(struct reading *reading, struct chunk *chunk, const unsigned char *bytes, size_t size)
{
	chunk->text = (const char *)bytes;
	chunk->size = size;
	if (lode_input_is_whole(reading->input))
		return 0;
	if (size > chunk->copy_capacity) {
		char *grown = lode_realloc(chunk->copy, size, 1);

		if (!grown)
			return lode_fail_memory(&chunk->error);
		chunk->copy = grown;
		chunk->copy_capacity = size;
	}
	if (size)
		memcpy(chunk->copy, bytes, size);
	chunk->text = chunk->copy;
	return 0;
}

/* Takes the next chunk. Returns 0 when there is none; an error is the chunk's, to be reported in turn. */
static int fetch(struct reading *reading, struct chunk *chunk)
{
	const unsigned char *bytes;
	size_t size = 0;
	int got;

	pthread_mutex_lock(&reading->fetching);
	got = !reading->at_end;
	if (got) {
		chunk->turn = reading->fetched++;
		chunk->code = lode_import_progress(reading->input, reading->options, &chunk->error);
		if (chunk->code == 0)
			chunk->code = peek_lines(reading, &bytes, &size, &chunk->error);
		if (chunk->code == 0)
			chunk->code = keep_text(reading, chunk, bytes, size);
		if (chunk->code == 0)
			lode_input_skip(reading->input, size);
		reading->at_end = chunk->code < 0 || size == 0;
	}
	pthread_mutex_unlock(&reading->fetching);
	return got;
}

/* Makes the others stop fetching. */
static void stop_fetching(struct reading *reading)
{
	pthread_mutex_lock(&reading->fetching);
	reading->at_end = 1;
	pthread_mutex_unlock(&reading->fetching);
}

static void join_in_turn(struct reading *reading, struct chunk *chunk)
{
	const struct lode_line_chunks *chunks = reading->chunks;
	int code;

	pthread_mutex_lock(&reading->joining);
	while (reading->turn != chunk->turn)
		pthread_cond_wait(&reading->joined, &reading->joining);
	if (reading->code == 0 && chunk->code < 0) {
		reading->error = chunk->error;
		reading->code = chunk->code;
	} else if (reading->code == 0) {
		reading->code = chunks->join(chunks->context, chunk->part, &reading->error);
	}
	code = reading->code;
	reading->turn++;
	pthread_cond_broadcast(&reading->joined);
	pthread_mutex_unlock(&reading->joining);
	if (code < 0)
		stop_fetching(reading);
}

/* One thread's work. */
static void work(void *context, size_t i)
{
	struct reading *reading = context;
	const struct lode_line_chunks *chunks = reading->chunks;
	struct chunk chunk = { .part = chunks->make(chunks->context) };

	(void)i;
	while (fetch(reading, &chunk)) {
		if (!chunk.part && chunk.code == 0)
			chunk.code = lode_fail_memory(&chunk.error);
		if (chunk.code == 0)
			chunks->parse(chunks->context, chunk.part, chunk.text, chunk.size);
		join_in_turn(reading, &chunk);
		if (chunk.code == 0) {
			chunks->clear(chunk.part);
			lode_input_give_back(reading->input, chunk.text, chunk.size);
		}
	}
	chunks->free(chunk.part);
	lode_free(chunk.copy);
}

int lode_line_chunks_read(struct lode_input *input, const struct lode_import_options *options,
			  const struct lode_line_chunks *chunks, struct lode_error *error)
{
	unsigned jobs = options->jobs ? options->jobs : lode_processors();
	struct reading reading = {
		.input = input,
		.options = options,
		.chunks = chunks,
		.chunk_bytes = options->chunk_bytes ? options->chunk_bytes : CHUNK_BYTES,
	};

	pthread_mutex_init(&reading.fetching, NULL);
	pthread_mutex_init(&reading.joining, NULL);
	pthread_cond_init(&reading.joined, NULL);
	lode_parallel(jobs, jobs, work, &reading);
	pthread_cond_destroy(&reading.joined);
	pthread_mutex_destroy(&reading.joining);
	pthread_mutex_destroy(&reading.fetching);
	if (reading.code < 0 && error)
		*error = reading.error;
	return reading.code;
}
