/*
 * A recording in the background: see lode/record.h. A worker thread runs liblode_record to its end; its
 * progress function connects the two: it reports the number of events, and checks whether the caller wants to
 * stop.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/worker.h"
#include "library/public_error.h"
#include "library/run_task.h"

#include <string.h>

struct liblode_recording {
	/* What to record, copied from the caller. */
	struct lode_arena arena;
	const char *corpus;
	const char *const *command;
	const char *const *options;
	sigset_t signals; /* that the caller blocks */
	/* With the lock of the worker, whose `ending` asks to stop. */
	struct lode_worker worker;
	int begun;
	int over;
	uint64_t events;
	/* Set before `over` is. */
	struct liblode_result *result;
	struct liblode_error error;
	int code;
};

/* ---- in the worker ---- */

static int update(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	struct liblode_recording *recording = context;
	int ending;

	(void)phase, (void)unit, (void)total;
	pthread_mutex_lock(&recording->worker.lock);
	if (!recording->begun) {
		recording->begun = 1;
		pthread_cond_broadcast(&recording->worker.changed);
	}
	recording->events = done;
	ending = recording->worker.ending;
	pthread_mutex_unlock(&recording->worker.lock);
	return ending;
}

static void *record(void *context)
{
	struct liblode_recording *recording = context;
	struct liblode_run_options run = { .size = sizeof(run), .progress = update, .context = recording };

	recording->code = lode_library_record(recording->corpus, recording->command, recording->options, &run,
					      &recording->signals, &recording->result, &recording->error);
	pthread_mutex_lock(&recording->worker.lock);
	recording->over = 1;
	pthread_cond_broadcast(&recording->worker.changed);
	pthread_mutex_unlock(&recording->worker.lock);
	return NULL;
}

/* ---- for the caller ---- */

/* A copy of words that NULL ends; NULL when memory has run out. */
static const char *const *copy_words(struct lode_arena *arena, const char *const *words)
{
	const char **copy;
	size_t count = 0;

	while (words && words[count])
		count++;
	copy = lode_arena_alloc(arena, (count + 1) * sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++) {
		copy[i] = lode_arena_text(arena, words[i], strlen(words[i]));
		if (!copy[i])
			return NULL;
	}
	if (copy)
		copy[count] = NULL;
	return copy;
}

/* Once the worker has ended. */
static void destroy(struct liblode_recording *recording)
{
	liblode_result_free(recording->result);
	lode_arena_release(&recording->arena);
	lode_free(recording);
}

/* Starts the thread and waits until it records or has failed. */
static int start(struct liblode_recording *recording, struct lode_error *error)
{
	struct lode_worker *worker = &recording->worker;

	if (!recording->corpus || !recording->command || !recording->options)
		return lode_fail_memory(error);
	pthread_sigmask(SIG_SETMASK, NULL, &recording->signals);
	if (!lode_worker_start(worker, record, recording))
		return lode_fail(error, LODE_SYSTEM, "no thread can be started to record");
	pthread_mutex_lock(&worker->lock);
	while (!recording->begun && !recording->over)
		pthread_cond_wait(&worker->changed, &worker->lock);
	pthread_mutex_unlock(&worker->lock);
	return 0;
}

int liblode_recording_start(struct liblode_recording **result, const char *corpus, const char *const *command,
			    const char *const *options, struct liblode_error *error)
{
	struct liblode_recording *recording = lode_calloc(1, sizeof(*recording));
	struct lode_error sentence = { "" };
	int code;

	*result = NULL;
	if (!recording)
		return lode_public_error(error, lode_fail_memory(&sentence), &sentence);
	lode_worker_init(&recording->worker);
	recording->corpus = lode_arena_text(&recording->arena, corpus, strlen(corpus));
	recording->command = copy_words(&recording->arena, command);
	recording->options = copy_words(&recording->arena, options);
	code = lode_public_error(error, start(recording, &sentence), &sentence);
	if (!code && liblode_recording_wait(recording, 0, NULL) && recording->code) {
		code = recording->code;
		if (error)
			*error = recording->error;
	}
	if (!code) {
		*result = recording;
		return 0;
	}
	lode_worker_release(&recording->worker);
	destroy(recording);
	return code;
}

int liblode_recording_wait(struct liblode_recording *recording, int timeout_ms, uint64_t *events)
{
	struct lode_worker *worker = &recording->worker;
	uint64_t until = lode_now() + (timeout_ms > 0 ? (uint64_t)timeout_ms * 1000000u : 0), now;
	int over;

	pthread_mutex_lock(&worker->lock);
	while (!recording->over && timeout_ms < 0)
		pthread_cond_wait(&worker->changed, &worker->lock);
	while (!recording->over && (now = lode_now()) < until)
		lode_worker_wait(worker, until - now);
	over = recording->over;
	if (events)
		*events = recording->events;
	pthread_mutex_unlock(&worker->lock);
	return over;
}

int liblode_recording_finish(struct liblode_recording *recording, struct liblode_result **result,
			     struct liblode_error *error)
{
	int code;

	if (result)
		*result = NULL;
	if (error)
		error->message[0] = '\0';
	if (!recording)
		return LIBLODE_OK;
	lode_worker_release(&recording->worker); /* asks it to stop, and waits for that */
	code = recording->code;
	if (error)
		*error = recording->error;
	if (result) {
		*result = recording->result;
		recording->result = NULL;
	}
	destroy(recording);
	return code;
}
