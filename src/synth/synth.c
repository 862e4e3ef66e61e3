/*
 * Generated corpora: see synth.h. Here: from a model to a corpus.
 *
 * A thread makes one stream at a time and stores it before it begins the next, so
 * memory depends on the size of a stream and the number of threads alone.
 */
#include "synth/synth.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "synth/model.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct making {
	const struct lode_synth_model *model;
	const char *path;
	const struct lode_progress *progress;
	struct lode_synth_truth *truth;
	pthread_mutex_t lock; /* for all below */
	uint64_t events;      /* of the streams that are there */
	int code;             /* the first failure */
	int stop;
	struct lode_error *error;
};

/* 32 digits that name the options and the stream's number: the same stream comes into a corpus once. */
static void make_id(const struct lode_synth_options *options, size_t number, char id[33])
{
	uint64_t words[] = { 0,
			     options->seed,
			     options->streams,
			     options->events,
			     options->waits,
			     options->bugs,
			     options->symptoms,
			     options->delay,
			     options->tasks,
			     number };
	uint64_t first = lode_digest_bytes(words, sizeof(words));

	words[0] = 1;
	snprintf(id, 33, "%016llx%016llx", (unsigned long long)first,
		 (unsigned long long)lode_digest_bytes(words, sizeof(words)));
}

static int store(const struct making *making, size_t number, const struct lode_stream *stream,
		 struct lode_error *error)
{
	struct lode_corpus *corpus;
	char id[33];
	int code = lode_corpus_open(&corpus, making->path, LODE_CORPUS_CREATE, error);

	if (code < 0)
		return code;
	make_id(&making->model->options, number, id);
	code = lode_corpus_add(corpus, id, "lode synth", stream, 0, 1, error);
	lode_corpus_close(corpus);
	return code < 0 ? code : 0;
}

static int make_stream(const struct making *making, size_t number, struct lode_error *error)
{
	struct lode_synth_truth *truth = making->truth;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	int code;

	if (lode_dictionary_init(&dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&stream, &dictionary);
	code = lode_synth_stream(making->model, number, &stream,
				 truth->costs + number * making->model->options.bugs, &truth->made[number], error);
	if (!code)
		code = store(making, number, &stream, error);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}

/* A stream is done, or failed. */
static void report(struct making *making, size_t number, int code, const struct lode_error *error)
{
	const struct lode_synth_options *options = &making->model->options;

	pthread_mutex_lock(&making->lock);
	if (code < 0 && !making->code) {
		making->code = code;
		if (making->error)
			*making->error = *error;
	}
	making->events += making->truth->made[number].events;
	if (lode_progress_report(making->progress, "generating", "events", making->events,
				 options->events * options->streams))
		making->stop = 1;
	pthread_mutex_unlock(&making->lock);
}

static int is_over(struct making *making)
{
	int over;

	pthread_mutex_lock(&making->lock);
	over = making->code < 0 || making->stop;
	pthread_mutex_unlock(&making->lock);
	return over;
}

static void piece(void *context, size_t number)
{
	struct making *making = context;
	struct lode_error error = { "" };

	if (!is_over(making))
		report(making, number, make_stream(making, number, &error), &error);
}

static int prepare(struct making *making, struct lode_error *error)
{
	const struct lode_synth_options *options = &making->model->options;
	struct lode_synth_truth *truth = making->truth;
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, making->path, LODE_CORPUS_CREATE, error);

	if (code < 0)
		return code;
	lode_corpus_close(corpus);
	truth->model = making->model;
	truth->costs = lode_calloc(options->streams * options->bugs + 1, sizeof(*truth->costs));
	truth->made = lode_calloc(options->streams, sizeof(*truth->made));
	return truth->costs && truth->made ? 0 : lode_fail_memory(error);
}

int lode_synth_corpus(const struct lode_synth_model *model, const char *path, unsigned jobs,
		      const struct lode_progress *progress, struct lode_synth_truth *truth,
		      struct lode_error *error)
{
	struct making making = {
		.model = model,
		.path = path,
		.progress = progress,
		.truth = truth,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.error = error,
	};
	int code;

	memset(truth, 0, sizeof(*truth));
	code = prepare(&making, error);
	if (code < 0)
		return code;
	lode_parallel(jobs, model->options.streams, piece, &making);
	pthread_mutex_destroy(&making.lock);
	if (!making.code && making.stop)
		return LODE_SYSTEM;
	return making.code;
}

void lode_synth_truth_release(struct lode_synth_truth *truth)
{
	lode_free(truth->costs);
	lode_free(truth->made);
	memset(truth, 0, sizeof(*truth));
}
