/*
 * The table of threads in the kernel: waits that are not over when the recording ends, and stacks that threads off their
 * CPU still refer to.
 */
#include "base/random.h"
#include "record/recorder_state.h"
#include "record/budget/thinning.h"

#include <bpf/bpf.h>
#include <errno.h>

typedef int visit_thread(void *context, const struct lode_record_thread *thread);

/* Copied one by one, because mapping the table of all threads would count as memory of this process. */
static int visit_table(struct lode_recorder *recorder, visit_thread *visit, void *context)
{
	int threads = bpf_map__fd(recorder->programs->maps.threads);
	const uint8_t *taken = recorder->programs->bss->taken_places;
	struct lode_record_thread thread;
	int code = 0;

	for (uint32_t place = 0; !code && place < LODE_RECORD_THREADS; place++) {
		if (!taken[place])
			continue;
		if (bpf_map_lookup_elem(threads, &place, &thread))
			return LODE_SYSTEM;
		code = visit(context, &thread);
	}
	return code;
}

/* The next thread of a table by tid. When `*key` is removed meanwhile the table is begun again, so `*left` counts how often that may be asked. */
static int next_key(int map, uint32_t *key, uint32_t *left)
{
	int first = *left == 2 * LODE_RECORD_THREADS;

	return (*left)-- && !bpf_map_get_next_key(map, first ? NULL : key, key);
}

/* Those of the table, and others that found no place in it. */
static int visit_threads(struct lode_recorder *recorder, visit_thread *visit, void *context)
{
	int others = bpf_map__fd(recorder->programs->maps.others);
	uint32_t key, left = 2 * LODE_RECORD_THREADS;
	struct lode_record_thread thread;
	int code = visit_table(recorder, visit, context);

	while (!code && recorder->programs->bss->has_others && next_key(others, &key, &left))
		if (!bpf_map_lookup_elem(others, &key, &thread))
			code = visit(context, &thread);
	return code;
}

/* With which weight a wait counts that is not over, as if it were; 0: it was not chosen, and is not long. */
static int thin_open(const struct lode_recorder *recorder, const struct lode_record_thread *thread,
		     struct lode_record *record)
{
	uint64_t random = thread->out;

	/* What threads did while the programs were detached only the iterator knows, which has looked. */
	if (thread->out < recorder->programs->bss->slot.began && !recorder->programs->rodata->with_totals)
		return 0;
	record->weight = lode_thin_settle(thread->weight, (uint32_t)thread->limit * LODE_RECORD_LIMIT_UNIT,
					  record->cost + record->delay, recorder->programs->bss->thin_scale,
					  thread->random);
	record->weight =
		lode_slot_weight(record->weight, thread->factor, (uint32_t)(lode_splitmix64(&random) >> 32));
	if (!thread->weight) { /* the stacks are those of another wait */
		record->user = record->kernel = 0;
		record->flags |= LODE_RECORD_LATE;
	}
	return record->weight != 0;
}

struct open_waits {
	struct lode_recorder *recorder;
	uint64_t end;
};

/* What a thread was doing off its CPU when the recording ended. */
static int add_open(void *context, const struct lode_record_thread *thread)
{
	struct open_waits *waits = context;
	struct lode_recorder *recorder = waits->recorder;
	uint64_t end = waits->end;
	struct lode_record record = {
		.t = thread->out,
		.delay = end > thread->out ? end - thread->out : 0,
		.user = thread->user,
		.kernel = thread->kernel,
		.pid = thread->pid,
		.tid = thread->tid,
		.type = LODE_RECORD_PREEMPT,
		.flags = LODE_RECORD_OPEN,
		.cpu = UINT16_MAX,
		.context = thread->context,
	};

	if (!thread->tid || thread->state == LODE_THREAD_RUNNING)
		return 0;
	if (thread->state != LODE_THREAD_PREEMPTED) {
		record.type = LODE_RECORD_WAIT;
		record.value = thread->call;
		if (!recorder->programs->rodata->thin || thread->weight)
			record.object = thread->object;
		record.cost = record.delay;
		record.delay = 0;
	}
	if (recorder->programs->rodata->thin && !thin_open(recorder, thread, &record))
		return 0;
	if (thread->state == LODE_THREAD_WOKEN || thread->state == LODE_THREAD_QUEUED) {
		record.flags |= thread->state == LODE_THREAD_WOKEN ? LODE_RECORD_WOKEN : 0;
		record.cost = thread->woken > thread->out ? thread->woken - thread->out : 0;
		record.delay = end > thread->out + record.cost ? end - thread->out - record.cost : 0;
		record.waker_pid = thread->waker_pid;
		record.waker_tid = thread->waker_tid;
		if (!recorder->programs->rodata->thin || thread->has_waker_stacks) {
			record.waker_user = thread->waker_user;
			record.waker_kernel = thread->waker_kernel;
		}
	}
	return LODE_APPEND(recorder->open, recorder->open_count, recorder->open_capacity, record);
}

int lode_recorder_add_open_waits(struct lode_recorder *recorder, uint64_t end)
{
	struct open_waits waits = { recorder, end };

	return visit_threads(recorder, add_open, &waits);
}

static int add_ids(struct lode_recorder_held *held, const uint64_t *ids, size_t count)
{
	if (lode_grow(&held->ids, &held->capacity, held->count + count, sizeof(*held->ids)) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++)
		if (ids[i] && !(ids[i] & LODE_RECORD_COPY_ID)) /* what copies became is handed over again each time */
			held->ids[held->count++] = ids[i];
	return 0;
}

/*
 * What a running thread had was handed over, and what it will have is sent again,
 * except the stack of its system call, which stays what it is.
 */
static int add_held(void *context, const struct lode_record_thread *thread)
{
	int off = thread->tid && thread->state != LODE_THREAD_RUNNING;
	const uint64_t ids[] = { off ? thread->user : 0, off ? thread->kernel : 0, off ? thread->waker_user : 0,
				 off ? thread->waker_kernel : 0,
				 thread->tid && thread->entry.pc ? thread->entry.user : 0 };

	return add_ids(context, ids, sizeof(ids) / sizeof(*ids));
}

/* Waits that an iterator has met, which are written when they are over. */
static int add_swept(struct lode_recorder *recorder, struct lode_recorder_held *held)
{
	int sweeps = bpf_map__fd(recorder->programs->maps.sweeps);
	uint32_t key, left = recorder->programs->bss->sweep_ended ? 2 * LODE_RECORD_THREADS : 0;
	struct lode_record_swept swept;
	int code = 0;

	while (!code && next_key(sweeps, &key, &left))
		if (!bpf_map_lookup_elem(sweeps, &key, &swept))
			code = add_ids(held, (const uint64_t[]){ swept.user, swept.kernel }, 2);
	return code;
}

int lode_recorder_held(struct lode_recorder *recorder, struct lode_recorder_held *held)
{
	int code = visit_threads(recorder, add_held, held);

	return code ? code : add_swept(recorder, held);
}
