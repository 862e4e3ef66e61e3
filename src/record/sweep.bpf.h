/*
 * Long waits between slots (time_slots.h): while the scheduler programs are detached, no thread is seen to stop or run again. So
 * an iterator visits all threads, twenty times a second at most. A thread that it finds off its processor twice in a row, without a context
 * switch in between, is in a long wait, and that wait is recorded for certain, with the weight 1. All others are left to
 * the slots. Which of both a wait is depends only on when it was and when threads were visited, not on chance, so each wait
 * counts once, and sums stay right on average. A part of recorder.bpf.c.
 *
 * What the programs of the scheduler saw of such a wait is exact: where it began in a chosen slot, and where it also
 * ended in one. Otherwise the thread's last arrival on a processor gives its begin, except how long it
 * ran then, which is taken for what it usually ran; and its next arrival the end, unless there were several by the next visit: then
 * the middle of where the first can have been.
 */
#ifndef LODE_RECORD_SWEEP_BPF_H
#define LODE_RECORD_SWEEP_BPF_H

const volatile bool with_sweeps = false;
volatile uint64_t sweep_from = 0;    /* waits that began before are left out: when the recording began */
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

/* Of a wait that is recorded by sweeps: it was met twice. */
#define SWEPT_VISITS 2

/* Whether the wait that a thread ends now is one of sweeps. If so, it is the caller who records it. */
__noinline int lode_take_swept(uint32_t tid, uint32_t switches)
{
	struct lode_record_swept *swept = bpf_map_lookup_elem(&sweeps, &tid);

	if (!swept || swept->visits < SWEPT_VISITS || swept->switches != switches)
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
	record->waker_user = 0;
	record->waker_kernel = 0;
	record->pid = task->tgid;
	record->tid = task->pid;
	record->waker_pid = 0;
	record->waker_tid = 0;
	record->value = swept->call;
	record->type = swept->preempted ? LODE_RECORD_PREEMPT : LODE_RECORD_WAIT;
	record->flags = LODE_RECORD_LATE | flags;
	record->weight = 1;
	finish_record(record, position);
}

/* The thread ran since the last visit. */
static __always_inline void end_swept(struct task_struct *task, const struct lode_record_swept *swept)
{
	uint64_t arrived = task->sched_info.last_arrival + clock_ahead, now = bpf_ktime_get_ns();
	bool once = task->sched_info.pcount == swept->arrivals + 1;

	if (arrived > now)
		arrived = now;
	if (arrived < swept->visited)
		arrived = swept->visited;
	write_swept(task, swept, once ? arrived : swept->visited + (arrived - swept->visited) / 2,
		    once ? task->sched_info.run_delay - swept->queued : 0, 0);
}

/* The stacks of a thread that is off its processor: those of this wait, or the last ones of its place. */
static __always_inline void take_swept_stacks(struct task_struct *task, struct lode_record_swept *swept)
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

/* When the wait of a thread began that is met for the first time. `before`: of an earlier wait, or NULL. */
static __always_inline void find_begin(struct task_struct *task, struct lode_record_swept *swept,
				       const struct lode_record_swept *before)
{
	struct lode_record_thread *thread = find_thread(task->pid);
	uint64_t runs = before ? swept->arrivals - before->arrivals : 0;

	if (thread && thread->state != LODE_THREAD_RUNNING && thread->switches == swept->switches &&
	    thread->out >= swept->start_time) {
		swept->begun = thread->out;
		swept->user = thread->weight ? thread->user : 0;
		swept->kernel = thread->weight ? thread->kernel : 0;
		return;
	}
	swept->begun = task->sched_info.last_arrival + clock_ahead;
	if (runs)
		swept->begun += (swept->ran - before->ran) / runs;
	if (!clock_ahead || swept->begun > swept->visited)
		swept->begun = swept->visited;
}

/* A thread that is off its processor is met for the first time in this wait. */
static __noinline int begin_swept(struct task_struct *task, uint64_t now, const struct lode_record_swept *before)
{
	struct lode_record_swept swept = {};
	uint32_t tid = task->pid;
	struct pt_regs *regs = task->flags & PF_KTHREAD ? 0 : (struct pt_regs *)bpf_task_pt_regs(task);

	swept.start_time = task->start_time;
	swept.visited = now;
	swept.queued = task->sched_info.run_delay;
	swept.ran = task->se.sum_exec_runtime;
	swept.arrivals = task->sched_info.pcount;
	swept.switches = switches_of(task);
	swept.call = regs ? call_of(task, regs) : 0;
	swept.visits = 1;
	swept.preempted = !task->__state;
	find_begin(task, &swept, before);
	return bpf_map_update_elem(&sweeps, &tid, &swept, BPF_ANY);
}

static __always_inline void visit_again(struct task_struct *task, struct lode_record_swept *swept, uint64_t now)
{
	if (swept->begun < sweep_from)
		return; /* a full recording would not have it either */
	if (++swept->visits == SWEPT_VISITS)
		take_swept_stacks(task, swept);
	swept->visited = now;
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

static __always_inline bool is_same_wait(struct task_struct *task, const struct lode_record_swept *swept)
{
	return swept->start_time == task->start_time && swept->switches == switches_of(task) && !is_on_cpu(task);
}

static __always_inline bool is_recorded_by_sweeps(const struct lode_record_swept *swept, struct task_struct *task)
{
	return swept->visits >= SWEPT_VISITS && swept->start_time == task->start_time;
}

SEC("iter/task")
int lode_sweep(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	uint64_t now = bpf_ktime_get_ns();
	struct lode_record_swept *swept;
	uint32_t tid;

	if (!task || !is_wanted(task) || !bpf_core_field_exists(task->sched_info.last_arrival))
		return 0;
	tid = task->pid;
	swept = bpf_map_lookup_elem(&sweeps, &tid);
	if (swept && is_same_wait(task, swept)) {
		visit_again(task, swept, now);
		if (sweep_is_last && swept->visits >= SWEPT_VISITS)
			leave_open(task, swept, now);
		return 0;
	}
	if (swept && is_recorded_by_sweeps(swept, task))
		end_swept(task, swept);
	if (!is_on_cpu(task) && !sweep_is_last)
		begin_swept(task, now, swept);
	else if (swept)
		swept->visits = 0; /* kept for what it ran since */
	return 0;
}

/* The current thread dies; its last long wait may not have been recorded yet. */
static __always_inline void forget_swept(struct task_struct *task)
{
	uint32_t tid = task->pid;
	struct lode_record_swept *swept = with_sweeps && sweep_ended ? bpf_map_lookup_elem(&sweeps, &tid) : 0;

	if (!swept)
		return;
	if (is_recorded_by_sweeps(swept, task) && bpf_core_field_exists(task->sched_info.last_arrival))
		end_swept(task, swept);
	bpf_map_delete_elem(&sweeps, &tid);
}

#endif
