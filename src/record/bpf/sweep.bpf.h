/*
 * Long waits between slots (time_slots.h): while the scheduler programs are detached, no thread is seen to stop or run
 * again. So all threads are visited, as often as the budget allows. A thread that is off its processor twice in a row,
 * without a context switch in between, is in a long wait, and that wait is recorded for certain, with the weight 1. All
 * others are left to the slots. Which of both a wait is depends only on when it was and when threads were visited, not on
 * chance, so each wait counts once, and sums stay right on average.
 *
 * What the programs of the scheduler saw of such a wait is exact: where it began in a chosen slot, and where it also
 * ended in one. Otherwise the scheduler knows when the thread last got its processor and for how long it ran then, which
 * gives its begin; and its next arrival the end, unless there were several by the next visit: then the middle of where
 * the first can have been.
 *
 * Nearly all visits find a thread that ran since the last one, or one that is in a wait that is known already. So those
 * are quick: the rest of what is kept of a wait is looked at in the second visit.
 */
#ifndef LODE_RECORD_BPF_SWEEP_BPF_H
#define LODE_RECORD_BPF_SWEEP_BPF_H

#include "record/bpf/contexts.bpf.h"
#include "record/bpf/filters.bpf.h"
#include "record/bpf/objects.bpf.h"
#include "record/bpf/output.bpf.h"
#include "record/bpf/thinning.bpf.h"
#include "record/bpf/threads.bpf.h"

const volatile bool with_sweeps = false;
volatile uint64_t sweep_from = 0;    /* waits that began before are left out: when the recording began */
volatile uint64_t sweep_began = 0;   /* the current sweep, or the last, */
volatile uint64_t sweep_before = 0;  /* and the one before that */
volatile uint64_t sweep_ended = 0;   /* the last complete sweep; 0: there was none */
volatile uint32_t sweep_is_last = 0; /* the recording ends: what is not over is recorded as it is */
volatile int64_t clock_ahead = 0;    /* CLOCK_MONOTONIC less the scheduler's clock; 0: not known */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
#ifndef LODE_PLAIN_READS /* as `others` */
	__uint(map_flags, BPF_F_NO_PREALLOC);
#endif
	__uint(max_entries, LODE_RECORD_THREADS);
	__type(key, uint32_t);
	__type(value, struct lode_record_swept);
} sweeps SEC(".maps");

/* Whether the wait that a thread ends now is one of sweeps. If so, it is the caller who records it. */
__noinline int lode_take_swept(uint32_t tid, uint32_t switches)
{
	struct lode_record_swept *swept = bpf_map_lookup_elem(&sweeps, &tid);

	if (!swept || swept->state != LODE_SWEPT_TWICE || swept->switches != switches)
		return 0;
	return !bpf_map_delete_elem(&sweeps, &tid);
}

static __always_inline bool was_swept(const struct lode_record_thread *thread)
{
	return with_sweeps && thread->out < sweep_ended && lode_take_swept(thread->tid, thread->switches);
}

/* ---- the scheduler's clock ---- */

/*
 * A thread's last arrival is by the scheduler's clock. Now and then the programs keep when they saw a thread get this processor, and
 * compare when it leaves it.
 */
static __always_inline void watch_clocks(const struct run *run, struct task_struct *previous,
					 struct task_struct *next)
{
	struct lode_record_counts *own = run->own;

	if (!own || !bpf_core_field_exists(previous->sched_info.last_arrival))
		return;
	/* Of the idle thread the scheduler keeps no arrival; what was kept before this slot is another arrival. */
	if (own->arrived > slot.began && own->arrived_tid == (uint64_t)previous->pid &&
	    previous->sched_info.last_arrival)
		clock_ahead = own->arrived - previous->sched_info.last_arrival;
	own->arrived = run->begun; /* of most runs: 0 */
	if (run->begun)
		own->arrived_tid = next->pid;
}

/* Threads with a real-time priority have numbers below. */
#define FIRST_FAIR_PRIORITY 100

/* When a thread that waits stopped running. What real-time threads ran last is not kept: it counts as waited. */
static __always_inline uint64_t stopped_at(struct task_struct *task)
{
	uint64_t arrived = task->sched_info.last_arrival + clock_ahead;

	if (task->prio < FIRST_FAIR_PRIORITY)
		return arrived;
	return arrived + (task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime);
}

/* ---- visits ---- */

static __always_inline bool is_on_cpu(struct task_struct *task)
{
	return bpf_core_field_exists(task->on_cpu) ? task->on_cpu : !task->__state;
}

/* Writes a wait that ended at `end`, or goes on then, of which the thread was in the run queue for `delay`. */
static __always_inline void write_swept(struct task_struct *task, const struct lode_record_swept *swept,
					uint64_t end, uint64_t delay, uint8_t flags)
{
	uint64_t position, length = end > swept->begun ? end - swept->begun : 0;
	struct lode_record *record = begin_record(&position);

	if (!record)
		return;
	delay = delay < length ? delay : length;
	if (swept->preempted)
		delay = length;
	record->t = swept->begun;
	record->cost = length - delay;
	record->delay = delay;
	record->user = swept->user;
	record->kernel = swept->kernel;
	set_thread(record, task);
	record->value = swept->call;
	record->type = swept->preempted ? LODE_RECORD_PREEMPT : LODE_RECORD_WAIT;
	record->flags = LODE_RECORD_LATE | flags;
	record->weight = 1;
	if (!swept->preempted)
		record->object = swept->object;
	if (with_contexts)
		record->context = swept->context;
	finish_record(record, position);
}

/* The thread ran since it was last visited, at `visited`. */
static __always_inline void end_swept(struct task_struct *task, const struct lode_record_swept *swept,
				      uint64_t visited)
{
	uint64_t arrived = task->sched_info.last_arrival + clock_ahead, now = bpf_ktime_get_ns();
	bool once = task->sched_info.pcount == swept->arrivals + 1;

	if (arrived > now)
		arrived = now;
	if (arrived < visited)
		arrived = visited;
	write_swept(task, swept, once ? arrived : visited + (arrived - visited) / 2,
		    once ? task->sched_info.run_delay - swept->queued : 0, 0);
}

/* The stacks of a thread that is off its processor: those of this wait, or the last ones of its place. */
static __always_inline void capture_swept_stacks(struct task_struct *task, struct lode_record_swept *swept)
{
	struct scratch *scratch = own_scratch(SCRATCH_SWEEP);
	struct pt_regs *regs = task->flags & PF_KTHREAD ? 0 : (struct pt_regs *)bpf_task_pt_regs(task);
	uint32_t key = lode_thin_key(task->pid, swept->call, regs ? REGS_PC(regs) : 0, regs ? REGS_SP(regs) : 0);
	struct lode_wait_site *site = regs && !swept->preempted ? find_wait_site(key) : 0;
	bool known = site && site->key == key && site->epoch == epoch;

	if (!swept->user && known && !site->mixed)
		swept->user = site->user;
	if (!swept->kernel && scratch)
		swept->kernel = stack_of_switched(task, scratch, known ? site->kernel : 0);
	if (is_on_cpu(task) || switches_of(task) != swept->switches)
		swept->kernel = 0; /* it began to run meanwhile */
}

/* What is known of the wait that a thread is in, which did not run since the first visit. */
static __noinline int find_swept(struct task_struct *task, struct lode_record_swept *swept)
{
	struct lode_record_thread *thread = find_thread(task->pid);
	struct pt_regs *regs = task->flags & PF_KTHREAD ? 0 : (struct pt_regs *)bpf_task_pt_regs(task);
	bool seen = thread && thread->state != LODE_THREAD_RUNNING && thread->switches == swept->switches &&
		    thread->out >= swept->start_time;

	swept->begun = seen ? thread->out : clock_ahead ? stopped_at(task) : sweep_before;
	if (swept->begun > sweep_began)
		swept->begun = sweep_before;
	if (swept->begun < sweep_from) {
		swept->state = LODE_SWEPT_LEFT; /* a full recording would not have it either */
		return 0;
	}
	swept->state = LODE_SWEPT_TWICE;
	swept->queued = task->sched_info.run_delay;
	swept->arrivals = task->sched_info.pcount;
	swept->call = regs ? call_of(task, regs) : 0;
	if (with_contexts)
		swept->context = seen ? thread->context : probed_context(task);
	swept->user = seen && thread->weight ? thread->user : 0;
	swept->kernel = seen && thread->weight ? thread->kernel : 0;
	if (seen && thread->weight)
		swept->object = thread->object;
	else
		describe_object(task, &swept->object, false, SCRATCH_SWEEP);
	capture_swept_stacks(task, swept);
	return 0;
}

/* The recording ends in the middle of a wait. */
static __always_inline void leave_open(struct task_struct *task, const struct lode_record_swept *swept,
				       uint64_t now)
{
	struct lode_record_thread *thread = find_thread(task->pid);

	write_swept(task, swept, now, 0, LODE_RECORD_OPEN);
	if (thread)
		thread->state = LODE_THREAD_RUNNING;
}

/* A thread is off its processor, and was not in this wait when it was visited before. */
static __always_inline void begin_swept(struct task_struct *task, struct lode_record_swept *swept)
{
	swept->start_time = task->start_time;
	swept->switches = switches_of(task);
	swept->preempted = !task->__state;
	swept->state = LODE_SWEPT_ONCE;
}

/* Returns whether the thread of `swept` is still in the same wait. */
static __always_inline bool visit_again(struct task_struct *task, struct lode_record_swept *swept)
{
	bool same_thread = swept->start_time == task->start_time;

	if (same_thread && swept->switches == switches_of(task) && !is_on_cpu(task) && swept->state) {
		if (swept->state == LODE_SWEPT_ONCE)
			find_swept(task, swept);
		if (sweep_is_last && swept->state == LODE_SWEPT_TWICE)
			leave_open(task, swept, bpf_ktime_get_ns());
		return true;
	}
	if (same_thread && swept->state == LODE_SWEPT_TWICE)
		end_swept(task, swept, sweep_before);
	swept->state = LODE_SWEPT_NOT;
	return false;
}

static __noinline int visit(struct task_struct *task)
{
	struct lode_record_swept *swept, none = {};
	uint32_t tid = task->pid;

	if (!is_wanted(task) || !bpf_core_field_exists(task->sched_info.last_arrival))
		return 0;
	swept = bpf_map_lookup_elem(&sweeps, &tid);
	if ((swept && visit_again(task, swept)) || is_on_cpu(task) || sweep_is_last)
		return 0;
	if (swept) {
		begin_swept(task, swept);
	} else {
		begin_swept(task, &none);
		bpf_map_update_elem(&sweeps, &tid, &none, BPF_NOEXIST);
	}
	return 0;
}

SEC("iter/task")
int lode_sweep(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	return task ? visit(task) : 0;
}

/* Of Linux 6.7; used since 6.12. */
struct bpf_iter_task {
	uint64_t opaque[3];
};

extern int bpf_iter_task_new(struct bpf_iter_task *iterator, struct task_struct *task,
			     unsigned int flags) __weak __ksym;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *iterator) __weak __ksym;
extern void bpf_iter_task_destroy(struct bpf_iter_task *iterator) __weak __ksym;

#define ALL_THREADS 1

/* Those that were visited: not a local variable, by which the verifier would tell one round of the loop from the next. */
volatile uint32_t sweep_count = 0;

/* The same in a single run of a program, which takes a third of the time. Visits no more than LODE_SWEEP_THREADS. */
SEC("raw_tp")
int lode_sweep_at_once(void *context)
{
#ifndef LODE_PLAIN_READS
	struct bpf_iter_task iterator;
	struct task_struct *task;

	sweep_count = 0;
	bpf_iter_task_new(&iterator, 0, ALL_THREADS);
	while (sweep_count < LODE_SWEEP_THREADS && (task = bpf_iter_task_next(&iterator))) {
		visit(task);
		sweep_count++;
	}
	bpf_iter_task_destroy(&iterator);
#endif
	return 0;
}

/* The current thread dies; its last long wait may not have been recorded yet. */
static __always_inline void forget_swept(struct task_struct *task)
{
	uint32_t tid = task->pid;
	struct lode_record_swept *swept = with_sweeps && sweep_ended ? bpf_map_lookup_elem(&sweeps, &tid) : 0;

	if (!swept)
		return;
	if (swept->state == LODE_SWEPT_TWICE && swept->start_time == task->start_time &&
	    bpf_core_field_exists(task->sched_info.last_arrival))
		end_swept(task, swept, sweep_began);
	bpf_map_delete_elem(&sweeps, &tid);
}

#endif
