/*
 * A job (base/job_rank.h) whose processes are threads of the test: messages are handed over under one lock. What a
 * process does must not use cmocka; it returns a code, which the test looks at.
 */
#ifndef LODE_TESTS_JOB_FIXTURE_H
#define LODE_TESTS_JOB_FIXTURE_H

#include "base/job_rank.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define JOB_MOST 20

struct job_process {
	struct job *job;
	struct lode_job_rank rank;
	const void *mail; /* to somebody, not taken yet */
	size_t mail_size;
	unsigned mail_to;
	uint64_t sent; /* messages and bytes, by and to this one */
	uint64_t received;
	int code;
	struct lode_error error;
};

struct job {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned count;
	unsigned met;
	uint64_t round; /* how often all have met */
	uint64_t next;  /* number to be taken */
	int (*work)(void *context, const struct lode_job_rank *rank, struct lode_error *error);
	void *context;
	struct job_process processes[JOB_MOST];
};

static uint64_t job_take(void *context)
{
	struct job *job = ((struct job_process *)context)->job;
	uint64_t number;

	pthread_mutex_lock(&job->lock);
	number = job->next;
	job->next += number < UINT64_MAX;
	pthread_mutex_unlock(&job->lock);
	return number;
}

static void job_close(void *context)
{
	struct job *job = ((struct job_process *)context)->job;

	pthread_mutex_lock(&job->lock);
	job->next = UINT64_MAX;
	pthread_mutex_unlock(&job->lock);
}

static int job_meet(void *context, struct lode_error *error)
{
	struct job *job = ((struct job_process *)context)->job;
	uint64_t round;

	(void)error;
	pthread_mutex_lock(&job->lock);
	round = job->round;
	if (++job->met == job->count) {
		job->met = 0;
		job->next = 0;
		job->round++;
		pthread_cond_broadcast(&job->changed);
	}
	while (job->round == round)
		pthread_cond_wait(&job->changed, &job->lock);
	pthread_mutex_unlock(&job->lock);
	return 0;
}

static int job_send(void *context, unsigned to, const void *bytes, size_t size, struct lode_error *error)
{
	struct job_process *process = context;
	struct job *job = process->job;

	(void)error;
	pthread_mutex_lock(&job->lock);
	process->mail = bytes ? bytes : "";
	process->mail_size = size;
	process->mail_to = to;
	process->sent++;
	pthread_cond_broadcast(&job->changed);
	while (process->mail)
		pthread_cond_wait(&job->changed, &job->lock);
	pthread_mutex_unlock(&job->lock);
	return 0;
}

static int job_receive(void *context, unsigned from, struct lode_buffer *message, struct lode_error *error)
{
	struct job_process *process = context, *sender = &process->job->processes[from];
	struct job *job = process->job;

	pthread_mutex_lock(&job->lock);
	while (!sender->mail || sender->mail_to != process->rank.number)
		pthread_cond_wait(&job->changed, &job->lock);
	lode_buffer_clear(message);
	lode_buffer_add(message, sender->mail, sender->mail_size);
	sender->mail = NULL;
	process->received++;
	pthread_cond_broadcast(&job->changed);
	pthread_mutex_unlock(&job->lock);
	return message->failed ? lode_fail_memory(error) : 0;
}

static void *job_thread(void *context)
{
	struct job_process *process = context;

	process->code = process->job->work(process->job->context, &process->rank, &process->error);
	return NULL;
}

/* Runs `work` in `count` processes; `gives`: numbers are given out one by one. Codes and errors are in the processes. */
static void job_run(struct job *job, unsigned count, int gives,
		    int (*work)(void *context, const struct lode_job_rank *rank, struct lode_error *error),
		    void *context)
{
	pthread_t threads[JOB_MOST];

	memset(job, 0, sizeof(*job));
	pthread_mutex_init(&job->lock, NULL);
	pthread_cond_init(&job->changed, NULL);
	job->count = count;
	job->work = work;
	job->context = context;
	for (unsigned i = 0; i < count; i++) {
		struct job_process *process = &job->processes[i];

		process->job = job;
		process->rank = (struct lode_job_rank){
			.number = i,
			.count = count,
			.take = gives ? job_take : NULL,
			.close = job_close,
			.meet = job_meet,
			.send = job_send,
			.receive = job_receive,
			.context = process,
		};
	}
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, job_thread, &job->processes[i]))
			abort();
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&job->lock);
	pthread_cond_destroy(&job->changed);
}

#endif
