/* Programs of the scheduler: see scheduler_programs.h. Links belong to the thread while it attaches, to the caller otherwise. */
#include "record/scheduler_programs.h"

#include "base/memory.h"
#include "base/quiet_thread.h"
#include "record/recorder_skeleton.h"

#include <errno.h>
#include <time.h>

/* How long the caller waits for what usually is quick. */
#define WAIT_NS 2000000

enum state {
	ATTACHED,
	DETACHED,
	ASKED, /* to be attached */
	FAILED,
};

struct lode_scheduler_programs {
	struct recorder *programs;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	int started;
	int ending;
	enum state state;
	int number; /* errno of what failed */
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

/* The thread: attaches whenever that is asked for. */
static void *attach_always(void *context)
{
	struct lode_scheduler_programs *scheduler = context;

	pthread_mutex_lock(&scheduler->lock);
	while (!scheduler->ending) {
		int code;

		if (scheduler->state != ASKED) {
			pthread_cond_wait(&scheduler->changed, &scheduler->lock);
			continue;
		}
		pthread_mutex_unlock(&scheduler->lock);
		code = attach_all(scheduler->programs);
		pthread_mutex_lock(&scheduler->lock);
		scheduler->number = -code;
		scheduler->state = code ? FAILED : ATTACHED;
		pthread_cond_broadcast(&scheduler->changed);
	}
	pthread_mutex_unlock(&scheduler->lock);
	return NULL;
}

struct lode_scheduler_programs *lode_scheduler_programs_create(struct recorder *programs)
{
	struct lode_scheduler_programs *scheduler = lode_calloc(1, sizeof(*scheduler));
	pthread_condattr_t attributes;

	if (!scheduler)
		return NULL;
	scheduler->programs = programs;
	pthread_mutex_init(&scheduler->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&scheduler->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return scheduler;
}

void lode_scheduler_programs_destroy(struct lode_scheduler_programs *scheduler)
{
	if (!scheduler)
		return;
	pthread_mutex_lock(&scheduler->lock);
	scheduler->ending = 1;
	pthread_cond_broadcast(&scheduler->changed);
	pthread_mutex_unlock(&scheduler->lock);
	if (scheduler->started)
		pthread_join(scheduler->thread, NULL);
	pthread_mutex_destroy(&scheduler->lock);
	pthread_cond_destroy(&scheduler->changed);
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
	scheduler->state = DETACHED;
}

/* Where there is no thread to do it, the caller does. */
static void ask(struct lode_scheduler_programs *scheduler)
{
	int code;

	if (!scheduler->started)
		scheduler->started = !lode_quiet_thread(&scheduler->thread, attach_always, scheduler);
	if (scheduler->started) {
		scheduler->state = ASKED;
		pthread_cond_broadcast(&scheduler->changed);
		return;
	}
	code = attach_all(scheduler->programs);
	scheduler->number = -code;
	scheduler->state = code ? FAILED : ATTACHED;
}

int lode_scheduler_programs_attach(struct lode_scheduler_programs *scheduler)
{
	struct timespec until;
	int state;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&scheduler->lock);
	if (scheduler->state == DETACHED)
		ask(scheduler);
	while (scheduler->state == ASKED && !pthread_cond_timedwait(&scheduler->changed, &scheduler->lock, &until))
		continue;
	state = scheduler->state;
	pthread_mutex_unlock(&scheduler->lock);
	if (state == FAILED)
		errno = scheduler->number;
	return state == ATTACHED ? 1 : state == ASKED ? 0 : -1;
}
