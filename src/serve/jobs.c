/*
 * Jobs: see jobs.h. One thread per running job reads what its process writes: results,
 * messages, and progress on a third pipe (`LODE_PROGRESS_FD`, src/cmd/progress_line.c).
 * What a job may write is in its environment, too (`LODE_KEEP`, src/cmd/terminal_host.c).
 *
 * Threads whose job has ended are joined at the next request, before it starts another:
 * there are never more of them than jobs that can run at a time.
 */
#include "serve/jobs.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/quiet_thread.h"
#include "serve/corpus_version.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_RUNNING    4
#define MAX_KEPT       256           /* results */
#define MAX_KEPT_BYTES (512u << 20)  /* of all of them */
#define MAX_RESULT     (1024u << 20) /* bytes of one result */
#define MAX_MESSAGE    4096

/* What is done soon, and is what a page shows first, comes before analyses; so does the browser. */
#define LATER 5 /* nice */

enum pipe_kind { OUTPUT, MESSAGES, PROGRESS, PIPES };

struct job {
	struct lode_jobs *jobs;
	struct job *next;
	char *key; /* its words, each with a NUL behind */
	size_t key_size;
	struct lode_corpus_version version; /* of before it was started */
	enum lode_job_state state;
	pid_t pid;
	int pipes[PIPES]; /* to read from */
	pthread_t reader;
	int is_joined;
	uint64_t asked; /* when it was requested last, in requests */
	char phase[128];
	uint64_t done;
	uint64_t total;
	struct lode_buffer output;         /* until it has ended, then `result` */
	struct lode_shared_result *result; /* done */
	struct lode_buffer message;
	struct lode_buffer line; /* of progress, not complete yet */
};

struct lode_jobs {
	pthread_mutex_t lock; /* of all below, and of what jobs are */
	struct lode_corpus_files files;
	enum lode_jobs_keep keep;
	struct job *first;
	size_t running;
	uint64_t requests;
};

int lode_jobs_make(struct lode_jobs **jobs, const char *corpus, enum lode_jobs_keep keep, struct lode_error *error)
{
	struct lode_jobs *made = lode_calloc(1, sizeof(*made));

	*jobs = NULL;
	if (!made || lode_corpus_files_init(&made->files, corpus) < 0) {
		if (made)
			lode_corpus_files_release(&made->files);
		lode_free(made);
		return lode_fail_memory(error);
	}
	*jobs = made;
	made->keep = keep;
	pthread_mutex_init(&made->lock, NULL);
	return 0;
}

uint64_t lode_jobs_corpus_version(const struct lode_jobs *jobs)
{
	const struct lode_corpus_version version = lode_corpus_version(&jobs->files);

	return lode_hash_bytes(&version, sizeof(version));
}

/* ---- a job's process ---- */

static void close_pipes(int pipes[PIPES][2], int end)
{
	for (int i = 0; i < PIPES; i++)
		if (pipes[i][end] >= 0)
			close(pipes[i][end]);
}

static int open_pipes(int pipes[PIPES][2])
{
	for (int i = 0; i < PIPES; i++) {
		pipes[i][0] = pipes[i][1] = -1;
		if (pipe2(pipes[i], O_CLOEXEC) < 0) {
			close_pipes(pipes, 0);
			close_pipes(pipes, 1);
			return -1;
		}
	}
	return 0;
}

static size_t count_words(char *const *words)
{
	size_t count = 0;

	while (words[count])
		count++;
	return count;
}

/* A fresh array: the environment behind these variables, which end with NULL. The first of a name counts. */
static char **environment_behind(char *const *variables)
{
	size_t first = count_words(variables), count = count_words(environ);
	char **copy = lode_calloc(first + count + 1, sizeof(*copy));

	if (copy) {
		memcpy(copy, variables, first * sizeof(*copy));
		memcpy(copy + first, environ, count * sizeof(*copy));
	}
	return copy;
}

/* For a job that reports progress to a descriptor. UTF-8 is what readers of JSON and pages have. */
static char **make_environment(enum lode_jobs_keep keep, char progress[40], int progress_fd)
{
	static char utf8[] = "LC_ALL=C.UTF-8", cache[] = "LODE_KEEP=cache", nothing[] = "LODE_KEEP=nothing";
	char *const variables[] = { progress, utf8, keep == LODE_JOBS_KEEP_CACHE ? cache : nothing, NULL };

	snprintf(progress, 40, "LODE_PROGRESS_FD=%d", progress_fd);
	return environment_behind(variables);
}

/* Starts this program; returns 0 or an error number. */
static int spawn(pid_t *pid, char *const *arguments, char *const *environment, int pipes[PIPES][2])
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t all, none;
	int number;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, pipes[OUTPUT][1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, pipes[MESSAGES][1], STDERR_FILENO);
	posix_spawn_file_actions_adddup2(&files, pipes[PROGRESS][1], pipes[PROGRESS][1]); /* stays open */
	posix_spawnattr_init(&how);
	/* A group of its own: Ctrl-C is for the server, which ends its jobs itself. */
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigdefault(&how, &all);
	posix_spawnattr_setsigmask(&how, &none);
	number = posix_spawn(pid, "/proc/self/exe", &files, &how, arguments, environment);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return number;
}

/* What the overview shows first. */
static int is_quick(char *const *words)
{
	if (!strcmp(words[0], "info"))
		return 1;
	for (; *words; words++)
		if (!strcmp(*words, "--findings"))
			return 1;
	return 0;
}

static int start_process(struct job *job, char *const *words, struct lode_error *error)
{
	static char name[] = "lode";
	size_t count = count_words(words);
	char **arguments = lode_calloc(count + 2, sizeof(*arguments));
	char **environment;
	char progress[40];
	int pipes[PIPES][2];
	int number = ENOMEM;

	if (open_pipes(pipes) < 0) {
		lode_free(arguments);
		return lode_fail(error, LODE_SYSTEM, "cannot start an analysis: %s", strerror(errno));
	}
	environment = make_environment(job->jobs->keep, progress, pipes[PROGRESS][1]);
	if (arguments && environment) {
		arguments[0] = name;
		memcpy(arguments + 1, words, count * sizeof(*arguments));
		number = spawn(&job->pid, arguments, environment, pipes);
	}
	lode_free(arguments);
	lode_free(environment);
	close_pipes(pipes, 1);
	for (int i = 0; i < PIPES; i++)
		job->pipes[i] = pipes[i][0];
	if (!number && !is_quick(words))
		setpriority(PRIO_PROCESS, (id_t)job->pid, LATER);
	if (!number)
		return 0;
	close_pipes(pipes, 0);
	return lode_fail(error, LODE_SYSTEM, "cannot start an analysis: %s", strerror(number));
}

/* ---- reading what it writes ---- */

/* `DONE TOTAL PHASE`, a line each. */
static void read_progress(struct job *job)
{
	struct lode_buffer *line = &job->line;
	char *end;

	lode_buffer_byte(line, '\0');
	if (line->failed)
		return;
	line->size--;
	while ((end = strchr(line->bytes, '\n'))) {
		int start = 0;

		*end = '\0';
		if (sscanf(line->bytes, "%" SCNu64 " %" SCNu64 " %n", &job->done, &job->total, &start) == 2 && start)
			snprintf(job->phase, sizeof(job->phase), "%s", line->bytes + start);
		line->size -= (size_t)(end + 1 - line->bytes);
		memmove(line->bytes, end + 1, line->size + 1);
	}
	if (line->size > MAX_MESSAGE)
		lode_buffer_clear(line);
}

static void handle_bytes(struct job *job, enum pipe_kind kind, const char *bytes, size_t size)
{
	pthread_mutex_lock(&job->jobs->lock);
	if (kind == OUTPUT) {
		lode_buffer_add(&job->output, bytes, size);
		if (job->output.size > MAX_RESULT)
			kill(job->pid, SIGTERM);
	} else if (kind == MESSAGES) {
		if (job->message.size < MAX_MESSAGE)
			lode_buffer_add(&job->message, bytes, size);
	} else {
		lode_buffer_add(&job->line, bytes, size);
		read_progress(job);
	}
	pthread_mutex_unlock(&job->jobs->lock);
}

/* Its process has ended. It is reaped under the lock, so that no signal goes to another process with the same pid. */
static void finish(struct job *job)
{
	int status = 0, fine;

	pthread_mutex_lock(&job->jobs->lock);
	while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	/* A status of 1 is a result as well: something was found. */
	fine = WIFEXITED(status) && WEXITSTATUS(status) <= 1;
	if (fine)
		job->result = lode_shared_result_make(&job->output);
	if (!job->result && !job->message.size)
		lode_buffer_text(&job->message, fine ? "memory ran out" : "the analysis was ended");
	lode_buffer_release(&job->output);
	lode_buffer_release(&job->line);
	job->state = job->result ? LODE_JOB_DONE : LODE_JOB_FAILED;
	job->jobs->running--;
	pthread_mutex_unlock(&job->jobs->lock);
}

static void *read_job(void *context)
{
	struct job *job = context;
	struct pollfd files[PIPES];
	char bytes[65536];
	siginfo_t end;
	int open = PIPES;

	for (int i = 0; i < PIPES; i++)
		files[i] = (struct pollfd){ job->pipes[i], POLLIN, 0 };
	while (open) {
		if (poll(files, PIPES, -1) < 0 && errno != EINTR)
			break;
		for (int i = 0; i < PIPES; i++) {
			ssize_t size;

			if (files[i].fd < 0 || !files[i].revents)
				continue;
			size = read(files[i].fd, bytes, sizeof(bytes));
			if (size > 0) {
				handle_bytes(job, (enum pipe_kind)i, bytes, (size_t)size);
			} else if (size == 0 || errno != EINTR) {
				files[i].fd = -1;
				open--;
			}
		}
	}
	while (waitid(P_PID, (id_t)job->pid, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		continue;
	for (int i = 0; i < PIPES; i++)
		close(job->pipes[i]);
	finish(job);
	return NULL;
}

/* ---- the list; the lock is held ---- */

static char *key_of(char *const *words, size_t *size)
{
	struct lode_buffer key = { 0 };

	for (; *words; words++)
		lode_buffer_add(&key, *words, strlen(*words) + 1);
	*size = key.size;
	if (key.failed)
		lode_buffer_release(&key);
	return key.bytes;
}

static struct job **find(struct lode_jobs *jobs, const char *key, size_t size)
{
	struct job **place = &jobs->first;

	while (*place && ((*place)->key_size != size || memcmp((*place)->key, key, size)))
		place = &(*place)->next;
	return place;
}

/* A job that has ended, or is about to: its reader takes the lock until then. */
static void join(struct job *job)
{
	if (!job->is_joined)
		pthread_join(job->reader, NULL);
	job->is_joined = 1;
}

static void join_ended(struct lode_jobs *jobs)
{
	for (struct job *job = jobs->first; job; job = job->next)
		if (job->state != LODE_JOB_RUNNING)
			join(job);
}

/* Takes a job that has ended off the list. */
static void forget(struct job **place)
{
	struct job *job = *place;

	*place = job->next;
	join(job);
	lode_shared_result_release(job->result);
	lode_buffer_release(&job->message);
	lode_free(job->key);
	lode_free(job);
}

/* Results that were not requested lately go until the rest fits; `keep` stays. */
static void make_room(struct lode_jobs *jobs, const struct job *keep)
{
	for (;;) {
		struct job **oldest = NULL;
		size_t bytes = 0, count = 0;

		for (struct job **place = &jobs->first; *place; place = &(*place)->next) {
			bytes += (*place)->result ? lode_shared_result_size((*place)->result) : 0;
			count++;
			if ((*place)->state != LODE_JOB_RUNNING && *place != keep &&
			    (!oldest || (*place)->asked < (*oldest)->asked))
				oldest = place;
		}
		if ((bytes <= MAX_KEPT_BYTES && count <= MAX_KEPT) || !oldest)
			return;
		forget(oldest);
	}
}

/* `key` becomes the job's. `version` is that of before: what comes while it starts may not be in its result. */
static int start(struct lode_jobs *jobs, char *const *words, char *key, size_t size,
		 const struct lode_corpus_version *version, struct job **started, struct lode_error *error)
{
	struct job *job = lode_calloc(1, sizeof(*job));
	int code;

	*started = NULL;
	if (job)
		job->jobs = jobs;
	code = job ? start_process(job, words, error) : lode_fail_memory(error);
	if (!code && lode_quiet_thread(&job->reader, read_job, job)) {
		kill(job->pid, SIGKILL);
		waitpid(job->pid, NULL, 0);
		for (int i = 0; i < PIPES; i++)
			close(job->pipes[i]);
		code = lode_fail(error, LODE_SYSTEM, "cannot start a thread");
	}
	if (code) {
		lode_free(job);
		lode_free(key);
		return code;
	}
	job->key = key;
	job->key_size = size;
	job->version = *version;
	job->next = jobs->first;
	jobs->first = job;
	jobs->running++;
	*started = job;
	return 0;
}

static void describe(struct job *job, struct lode_job_view *view)
{
	view->state = job->state;
	view->done = job->done;
	view->total = job->total;
	memcpy(view->phase, job->phase, sizeof(view->phase));
	if (job->state == LODE_JOB_DONE)
		view->result = lode_shared_result_hold(job->result);
	if (job->state == LODE_JOB_FAILED)
		lode_buffer_add(&view->message, job->message.bytes, job->message.size);
}

static int ask(struct lode_jobs *jobs, char *const *words, char *key, size_t size, struct lode_job_view *view,
	       struct lode_error *error)
{
	const struct lode_corpus_version now = lode_corpus_version(&jobs->files);
	struct job **place = find(jobs, key, size);
	struct job *job = *place;
	int code = 0;

	join_ended(jobs);
	if (job && job->state != LODE_JOB_RUNNING && memcmp(&job->version, &now, sizeof(now))) {
		forget(place);
		job = NULL;
	}
	if (!job && jobs->running >= MAX_RUNNING) {
		view->state = LODE_JOB_BUSY;
		snprintf(view->phase, sizeof(view->phase), "waiting for other analyses");
		lode_free(key);
		return 0;
	}
	if (job)
		lode_free(key);
	else
		code = start(jobs, words, key, size, &now, &job, error);
	if (code)
		return code;
	job->asked = ++jobs->requests;
	describe(job, view);
	/* Report a failure once; asking again starts another try. */
	if (job->state == LODE_JOB_FAILED)
		forget(find(jobs, job->key, job->key_size));
	else
		make_room(jobs, job);
	return 0;
}

int lode_jobs_ask(struct lode_jobs *jobs, char *const *words, struct lode_job_view *view, struct lode_error *error)
{
	size_t size;
	char *key = key_of(words, &size);
	int code;

	memset(view, 0, sizeof(*view));
	if (!key)
		return lode_fail_memory(error);
	pthread_mutex_lock(&jobs->lock);
	code = ask(jobs, words, key, size, view, error);
	pthread_mutex_unlock(&jobs->lock);
	if (!code && view->message.failed) {
		lode_job_view_release(view);
		code = lode_fail_memory(error);
	}
	return code;
}

void lode_jobs_look(struct lode_jobs *jobs, char *const *words, struct lode_job_view *view)
{
	size_t size;
	char *key = key_of(words, &size);
	struct job *job;

	memset(view, 0, sizeof(*view));
	view->state = LODE_JOB_BUSY;
	if (!key)
		return;
	pthread_mutex_lock(&jobs->lock);
	job = *find(jobs, key, size);
	if (job)
		describe(job, view);
	if (job && job->state == LODE_JOB_FAILED)
		forget(find(jobs, key, size));
	pthread_mutex_unlock(&jobs->lock);
	lode_free(key);
}

void lode_jobs_forget(struct lode_jobs *jobs, char *const *words)
{
	size_t size;
	char *key = key_of(words, &size);
	struct job **place;

	if (!key)
		return;
	pthread_mutex_lock(&jobs->lock);
	place = find(jobs, key, size);
	if (*place && (*place)->state != LODE_JOB_RUNNING)
		forget(place);
	pthread_mutex_unlock(&jobs->lock);
	lode_free(key);
}

void lode_job_view_release(struct lode_job_view *view)
{
	lode_shared_result_release(view->result);
	lode_buffer_release(&view->message);
	view->result = NULL;
}

void lode_jobs_cancel(struct lode_jobs *jobs, char *const *words)
{
	size_t size;
	char *key = key_of(words, &size);
	struct job *job;

	if (!key)
		return;
	pthread_mutex_lock(&jobs->lock);
	job = *find(jobs, key, size);
	if (job && job->state == LODE_JOB_RUNNING)
		kill(job->pid, SIGTERM);
	pthread_mutex_unlock(&jobs->lock);
	lode_free(key);
}

void lode_jobs_free(struct lode_jobs *jobs)
{
	if (!jobs)
		return;
	pthread_mutex_lock(&jobs->lock);
	for (struct job *job = jobs->first; job; job = job->next)
		if (job->state == LODE_JOB_RUNNING)
			kill(job->pid, SIGTERM);
	pthread_mutex_unlock(&jobs->lock);
	/* Readers that still run take the lock: it must not be held while waiting for them. */
	while (jobs->first)
		forget(&jobs->first);
	pthread_mutex_destroy(&jobs->lock);
	lode_corpus_files_release(&jobs->files);
	lode_free(jobs);
}
