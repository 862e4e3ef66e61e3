/* Programs of the scheduler: see scheduler_programs.h. Links belong to the thread while it attaches, to the caller otherwise. */
#include "record/load/scheduler_programs.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/worker.h"
#include "record/load/recorder_skeleton.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How long the caller waits for what usually is quick. */
#define WAIT_NS 2000000

enum state {
	ATTACHED,
	DETACHED,
	RESTING,
	ASKED, /* to be attached */
	FAILED,
};

struct lode_scheduler_programs {
	struct recorder *programs;
	struct lode_worker worker;
	enum state state;
	int settles; /* the kernel has not yet waited for readers of what was detached last */
	int number;  /* errno of what failed */
};

static int attach_one(struct bpf_program *program, struct bpf_link **link)
{
	if (*link || !bpf_program__autoload(program))
		return 0;
	*link = bpf_program__attach(program);
	return *link ? 0 : -errno;
}

static int attach_all(struct recorder *programs)
{
	int code = attach_one(programs->progs.lode_switch, &programs->links.lode_switch);

	if (!code)
		code = attach_one(programs->progs.lode_waking, &programs->links.lode_waking);
	return code ? code : attach_one(programs->progs.lode_call, &programs->links.lode_call);
}

/* With the lock held, which others may take meanwhile. */
static void attach_now(struct lode_scheduler_programs *scheduler)
{
	int code;

	pthread_mutex_unlock(&scheduler->worker.lock);
	code = attach_all(scheduler->programs);
	pthread_mutex_lock(&scheduler->worker.lock);
	scheduler->number = -code;
	scheduler->state = code ? FAILED : ATTACHED;
	pthread_cond_broadcast(&scheduler->worker.changed);
}

/*
 * The same: has the kernel wait for its readers (an RCU grace period) right after programs were detached, so that it need not when they
 * are attached again. Where it does not offer that, it waits then.
 */
static void settle_now(struct lode_scheduler_programs *scheduler)
{
	scheduler->settles = 0;
	pthread_mutex_unlock(&scheduler->worker.lock);
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	pthread_mutex_lock(&scheduler->worker.lock);
}

/* The thread: attaches whenever that is requested. */
static void *attach_always(void *context)
{
	struct lode_scheduler_programs *scheduler = context;

	pthread_mutex_lock(&scheduler->worker.lock);
	while (!scheduler->worker.ending) {
		if (scheduler->settles)
			settle_now(scheduler);
		else if (scheduler->state == ASKED)
			attach_now(scheduler);
		else
			pthread_cond_wait(&scheduler->worker.changed, &scheduler->worker.lock);
	}
	pthread_mutex_unlock(&scheduler->worker.lock);
	return NULL;
}

struct lode_scheduler_programs *lode_scheduler_programs_create(struct recorder *programs)
{
	struct lode_scheduler_programs *scheduler = lode_calloc(1, sizeof(*scheduler));

	if (!scheduler)
		return NULL;
	scheduler->programs = programs;
	lode_worker_init(&scheduler->worker);
	return scheduler;
}

void lode_scheduler_programs_destroy(struct lode_scheduler_programs *scheduler)
{
	if (!scheduler)
		return;
	lode_worker_release(&scheduler->worker);
	lode_free(scheduler);
}

static void detach_one(struct bpf_link **link)
{
	bpf_link__destroy(*link);
	*link = NULL;
}

void lode_scheduler_programs_detach(struct lode_scheduler_programs *scheduler)
{
	detach_one(&scheduler->programs->links.lode_switch);
	detach_one(&scheduler->programs->links.lode_waking);
	detach_one(&scheduler->programs->links.lode_call);
	pthread_mutex_lock(&scheduler->worker.lock);
	scheduler->state = DETACHED;
	scheduler->settles = 1;
	pthread_cond_broadcast(&scheduler->worker.changed);
	pthread_mutex_unlock(&scheduler->worker.lock);
}

void lode_scheduler_programs_idle(struct lode_scheduler_programs *scheduler)
{
	if (scheduler->programs->links.lode_long_wait)
		detach_one(&scheduler->programs->links.lode_waking);
	pthread_mutex_lock(&scheduler->worker.lock);
	scheduler->state = RESTING;
	pthread_mutex_unlock(&scheduler->worker.lock);
}

static void attach_here(struct lode_scheduler_programs *scheduler)
{
	int code = attach_all(scheduler->programs);

	scheduler->number = -code;
	scheduler->state = code ? FAILED : ATTACHED;
}

/* Where there is no thread to do it, the caller does. */
static void ask(struct lode_scheduler_programs *scheduler)
{
	if (!lode_worker_start(&scheduler->worker, attach_always, scheduler)) {
		attach_here(scheduler);
		return;
	}
	scheduler->state = ASKED;
	pthread_cond_broadcast(&scheduler->worker.changed);
}

int lode_scheduler_programs_attach(struct lode_scheduler_programs *scheduler)
{
	uint64_t until = lode_now() + WAIT_NS;
	int state;

	pthread_mutex_lock(&scheduler->worker.lock);
	if (scheduler->state == DETACHED)
		ask(scheduler);
	else if (scheduler->state == RESTING)
		attach_here(scheduler);
	for (uint64_t now = lode_now(); scheduler->state == ASKED && now < until; now = lode_now())
		lode_worker_wait(&scheduler->worker, until - now);
	state = scheduler->state;
	pthread_mutex_unlock(&scheduler->worker.lock);
	if (state == FAILED)
		errno = scheduler->number;
	return state == ATTACHED ? 1 : state == ASKED ? 0 : -1;
}
