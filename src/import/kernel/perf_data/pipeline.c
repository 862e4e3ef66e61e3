/* Pipeline: see pipeline.h. */
#include "import/kernel/perf_data/pipeline.h"

#include "base/quiet_thread.h"

static struct lode_perf_batch *batch_number(struct lode_perf_pipeline *pipeline, uint64_t number)
{
	return &pipeline->batches[number % LODE_PERF_BATCHES];
}

static void *work(void *argument)
{
	struct lode_perf_pipeline *pipeline = argument;

	pthread_mutex_lock(&pipeline->lock);
	for (;;) {
		struct lode_perf_batch *batch;
		int code;

		while (pipeline->done == pipeline->handed && !pipeline->closed)
			pthread_cond_wait(&pipeline->changed, &pipeline->lock);
		if (pipeline->done == pipeline->handed)
			break;
		batch = batch_number(pipeline, pipeline->done);
		code = pipeline->code;
		pthread_mutex_unlock(&pipeline->lock);
		if (code == 0)
			code = pipeline->work(pipeline->context, batch);
		lode_perf_batch_clear(batch);
		pthread_mutex_lock(&pipeline->lock);
		pipeline->code = code;
		pipeline->done++;
		pthread_cond_broadcast(&pipeline->changed);
	}
	pthread_mutex_unlock(&pipeline->lock);
	return NULL;
}

void lode_perf_pipeline_init(struct lode_perf_pipeline *pipeline,
			     int (*job)(void *context, struct lode_perf_batch *batch), void *context, int threaded)
{
	memset(pipeline, 0, sizeof(*pipeline));
	pipeline->work = job;
	pipeline->context = context;
	pthread_mutex_init(&pipeline->lock, NULL);
	pthread_cond_init(&pipeline->changed, NULL);
	if (threaded)
		pipeline->threaded = lode_quiet_thread(&pipeline->thread, work, pipeline) == 0;
}

static void close_pipeline(struct lode_perf_pipeline *pipeline)
{
	if (!pipeline->threaded)
		return;
	pthread_mutex_lock(&pipeline->lock);
	pipeline->closed = 1;
	pthread_cond_broadcast(&pipeline->changed);
	pthread_mutex_unlock(&pipeline->lock);
	pthread_join(pipeline->thread, NULL);
	pipeline->threaded = 0;
}

void lode_perf_pipeline_release(struct lode_perf_pipeline *pipeline)
{
	close_pipeline(pipeline);
	for (size_t i = 0; i < LODE_PERF_BATCHES; i++)
		lode_perf_batch_release(&pipeline->batches[i]);
	pthread_mutex_destroy(&pipeline->lock);
	pthread_cond_destroy(&pipeline->changed);
}

struct lode_perf_batch *lode_perf_pipeline_batch(struct lode_perf_pipeline *pipeline)
{
	return batch_number(pipeline, pipeline->handed);
}

static int hand_to_thread(struct lode_perf_pipeline *pipeline)
{
	int code;

	pthread_mutex_lock(&pipeline->lock);
	pipeline->handed++;
	pthread_cond_broadcast(&pipeline->changed);
	/* The next batch is free when fewer are in use than there are. */
	while (pipeline->handed - pipeline->done >= LODE_PERF_BATCHES)
		pthread_cond_wait(&pipeline->changed, &pipeline->lock);
	code = pipeline->code;
	pthread_mutex_unlock(&pipeline->lock);
	return code;
}

int lode_perf_pipeline_hand(struct lode_perf_pipeline *pipeline)
{
	struct lode_perf_batch *batch = lode_perf_pipeline_batch(pipeline);

	if (pipeline->threaded)
		return hand_to_thread(pipeline);
	if (pipeline->code == 0)
		pipeline->code = pipeline->work(pipeline->context, batch);
	lode_perf_batch_clear(batch);
	pipeline->handed = ++pipeline->done;
	return pipeline->code;
}

int lode_perf_pipeline_finish(struct lode_perf_pipeline *pipeline)
{
	close_pipeline(pipeline);
	return pipeline->code;
}
