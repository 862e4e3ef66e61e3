/*
 * The recorder's half in the kernel.
 *
 * Waits are joined here: each thread has a state; a switch-out begins a wait (or
 * a preemption) and takes the thread's stack, a waking adds the waker and its
 * stack, and the switch-in writes one record. So what leaves the kernel is one
 * record a wait instead of three events.
 *
 * Filters look at the current thread when it is switched out, sampled, or enters
 * a system call. A waking and a switch-in only finish what a switch-out began.
 *
 * Stacks are most of the cost, and are made cheap in three ways:
 *
 * - The user's stack is walked by unwind tables (unwind.bpf.h), or by frame
 *   pointers if that was requested, over a copy of its innermost bytes, which one
 *   call fetches; most stacks need no second one. How many bytes the thread's stack
 *   took last time is the guess for the next. A stack that was walked before is
 *   recognized by its words (recent_walks.bpf.h).
 * - The kernel's stack, where frame records are always there (aarch64), is walked
 *   by plain loads, ten times as fast as the kernel's own way. Where the first
 *   record is relative to a program's context is found by comparing with that
 *   way, and one walk in `check_every` is compared again: what differs is
 *   counted, and when it happens too often the kernel's own way is used for good.
 *   On x86-64 there are no frame records; how far it is from one return address to
 *   the next is learnt from that way instead (kernel_stack_x86.bpf.h).
 * - A stack is sent once and then named by its id, a hash of its addresses. A
 *   second, independent sum of the addresses is kept with each id; a stack that
 *   has the id of another takes a new one. Those that a CPU met lately it keeps in
 *   a small table of its own, so that the table of all ids is rarely asked.
 *
 * And where system calls are recorded, a thread's stack is taken as it enters one,
 * and stays what it is for all that happens until the thread leaves the kernel.
 * Programs without frame pointers can have their stacks copied instead, for the
 * recorder to unwind. All this is in stacks.bpf.h.
 *
 * A flight recorder, which keeps only the last seconds, forgets stacks too. So time
 * is divided into epochs, and in each of them a stack is sent again when it is seen
 * (lode_recorder_renew).
 *
 * A record is written into the ring of its CPU in three steps that anything may
 * interrupt: a position is taken, the slot is filled, its sequence number is
 * stored. The reader takes a slot when its sequence is the one that is due.
 */
#include "record/kernel_types.h"
#include "process/unwind_state.h"
#include "record/records.h"
#include "record/time_slots.h"
#include "record/thinning.h"
#include "record/unwind_maps.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char programs_license[] SEC("license") = "GPL";

/* Settings; constants once the programs are loaded, so that what is not used costs nothing. */
const volatile uint32_t ring_slots = 1; /* of each CPU; a power of two */
const volatile uint32_t own_pid = 0;    /* the recorder itself is left out */
const volatile bool only_pids = false;
const volatile bool only_comm = false;
const volatile bool only_cgroup = false;
const volatile bool with_calls = false;
const volatile bool use_tables = false; /* walk user stacks by unwind tables, else by frame pointers */
const volatile uint32_t copy_bytes =
	0; /* of user stacks that are not walked, or with tables could not be; 0: none */
const volatile uint64_t stacks_half = 2 << 20; /* bytes of the ring of stacks, halved */
const volatile bool switch_has_state = true;   /* sched_switch has the state (Linux 5.18 and later) */
const volatile bool walk_kernel = false;
const volatile bool only_own = false;       /* neither the kernel's stacks nor those of wakers */
const volatile uint32_t check_every = 1024; /* walks; a power of two */
const volatile uint64_t min_wait = 0;
const volatile uint64_t long_wait_ns =
	INT64_MAX; /* longer waits of user-space threads are always recorded (--long-waits) */
const volatile uint64_t wanted_comm[2] = { 0, 0 };
const volatile bool thin = false;        /* there is a budget */
const volatile bool with_totals = false; /* totals of threads are reported (thread_totals.bpf.h) */
const volatile bool has_writer = false;  /* `writer_pid` may be set: a child of the recorder, left out too */
const volatile bool has_command = false; /* `command_pid` may be set: a child that is left out until its exec */
const volatile uint64_t least_limit = UINT64_MAX; /* of the limits on waits and run queues */
const volatile struct lode_record_limit limits[LODE_RECORD_LIMITS] = {};
const volatile uint64_t idle_calls[LODE_RECORD_IDLE_CALLS / 64] = {};

volatile uint64_t epoch = 0;
volatile uint64_t thin_scale = 0;    /* nanoseconds that a recorded wait represents (thinning.h) */
volatile uint32_t call_weight = 0;   /* one in so many system calls is recorded; 0: all */
volatile uint32_t sample_ns = 0;     /* that a CPU sample represents; 0: as it was requested */
volatile struct lode_slot slot = {}; /* with a budget; nothing is recorded while it is not on */
volatile uint32_t writer_pid = 0;
volatile uint32_t command_pid = 0;
volatile uint32_t copies_wait = 0;  /* the reader was woken for them */
volatile uint64_t mapped_known = 0; /* the program knows what processes mapped until then */
volatile uint32_t reads_maps =
	0; /* the kernel does not report that; the program reads it when a copy of a stack asks for it */

#define WRONG_WALKS_LIMIT  16
#define CALIBRATIONS_LIMIT 64

/* Bytes of a user's stack fetched at a time. */
#define BLOCK_BYTES 4096
#define LEAST_SPAN  64

/*
 * Threads by their tid: the place for a tid is its remainder. Tids that live
 * together rarely share one; who comes second goes to `others`.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LODE_RECORD_THREADS);
	__type(key, uint32_t);
	__type(value, struct lode_record_thread);
} threads SEC(".maps");

/* Which places are taken, for user space, so that it copies only those. */
uint8_t taken_places[LODE_RECORD_THREADS] = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
#ifndef LODE_PLAIN_READS /* before Linux 6.1 samples may not use such a map */
	__uint(map_flags, BPF_F_NO_PREALLOC);
#endif
	__uint(max_entries, LODE_RECORD_THREADS);
	__type(key, uint32_t);
	__type(value, struct lode_record_thread);
} others SEC(".maps");

uint32_t has_others = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct lode_record_ends);
} ends SEC(".maps");

/* Of all CPUs, one after the other. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct lode_record);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} stacks SEC(".maps");

/* Ids that were sent. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, uint64_t);
	__type(value, struct lode_record_sent);
} sent SEC(".maps");

/*
 * Stacks that a CPU met lately and that were sent, at the place that the upper
 * bits of their hashes say. Only those whose id is their hash. A writer that is
 * interrupted by another leaves a pair of two stacks, which fits neither.
 */
#define KNOWN_BITS 12

struct known {
	uint64_t hash;
	uint64_t check; /* with the epoch added: what was sent in another one does not count */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1 << KNOWN_BITS);
	__type(key, uint32_t);
	__type(value, struct known);
} known_stacks SEC(".maps");

/*
 * Programs that may interrupt another have their own. A switch and a waking never
 * meet on a CPU: both happen while it takes no interrupts, or no switch.
 */
enum scratch_user {
	SCRATCH_SCHEDULER,
	SCRATCH_SAMPLE,
	SCRATCH_CALL,
	SCRATCH_SWEEP,
	SCRATCHES,
};

/* Walks of user stacks that are kept (recent_walks.bpf.h): their frames, and other words that they read. */
#define RECENT_FRAMES 64
#define RECENT_WORDS  64
#define NOT_IN_MEMORY UINT16_MAX

/* What a walk read of the stack; positions are in words above `start`, the stack pointer. */
struct trail {
	uint64_t pc; /* where it began */
	uint64_t start;
	uint64_t fp;
	uint64_t link; /* aarch64 */
	uint64_t words[RECENT_WORDS];
	uint16_t word_at[RECENT_WORDS];
	uint32_t word_count;
	uint16_t frame_at; /* where the frame pointer was saved; NOT_IN_MEMORY: it is accounted for */
	uint16_t return_at[LODE_RECORD_FRAMES + 1]; /* of the address with the same number; NOT_IN_MEMORY: among the words */
};

struct scratch {
	uint8_t block[BLOCK_BYTES + 16];
	struct lode_record_stack stack;
	uint64_t check[LODE_RECORD_KERNEL_FRAMES + 1];
	uint64_t places[LODE_RECORD_KERNEL_FRAMES + 1]; /* of what is in `check` (kernel_stack_x86.bpf.h) */
	uint64_t hash;                                  /* of the stack so far */
	uint64_t sum;
	uint64_t number; /* on its way from what the verifier knows to what it does not */
	uint64_t at;     /* where the walk of the kernel's stack came to */
	uint64_t span;   /* bytes that the user's stack took */
	uint64_t walks;
	uint64_t chances; /* stacks that something could be learnt from */
	/* The walk of a user's stack by tables (unwind.bpf.h). */
	struct lode_unwind_state state;
	struct lode_unwind_space space;
	struct lode_unwind_rule rule; /* of the step in progress */
	uint64_t block_start;         /* what `block` holds */
	uint64_t block_size;
	uint64_t span_end; /* how far the stack is expected to be needed */
	struct trail trail;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCHES);
	__type(key, uint32_t);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* As the scratches; one entry where nothing is copied. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SWEEP); /* which copies none */
	__type(key, uint32_t);
	__type(value, struct lode_record_copy);
} copies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct lode_record_counts);
} counts SEC(".maps");

/* Processes requested, and their children. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, uint32_t);
	__type(value, uint8_t);
} pids SEC(".maps");

/* Not 0 where `pids` may have such a process; most switches of a machine need no further look. */
uint8_t pid_hints[LODE_RECORD_PID_HINTS];

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint32_t);
} cgroups SEC(".maps");

/* Of the switch and of the waking program, and of that for limits. */
struct lode_record_walking walkings[3];

/* ---- filters ---- */

static __always_inline bool comm_is_wanted(struct task_struct *task)
{
	uint64_t comm[2];

	__builtin_memcpy(comm, task->comm, sizeof(comm));
	return comm[0] == wanted_comm[0] && comm[1] == wanted_comm[1];
}

/* `task` is the current one. */
static __always_inline bool is_wanted(struct task_struct *task)
{
	uint32_t pid = task->tgid;

	if (!task->pid || pid == own_pid || (has_writer && pid == writer_pid))
		return false;
	if (has_command && pid == command_pid)
		return false;
	if (only_pids && (!pid_hints[pid % LODE_RECORD_PID_HINTS] || !bpf_map_lookup_elem(&pids, &pid)))
		return false;
	if (only_comm && !comm_is_wanted(task))
		return false;
	return !only_cgroup || bpf_current_task_under_cgroup(&cgroups, 0) == 1;
}

/* ---- counters and records ---- */

static __always_inline struct lode_record_counts *own_counts(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

#define COUNT(what)                                                                                               \
	do {                                                                                                      \
		struct lode_record_counts *counts_ = own_counts();                                                \
		if (counts_)                                                                                      \
			counts_->what++;                                                                          \
	} while (0)

static __always_inline struct scratch *own_scratch(uint32_t user)
{
	return bpf_map_lookup_elem(&scratches, &user);
}

/* The reader sleeps; it is woken when a ring is half full. */
__noinline int lode_wake_reader(void)
{
	uint64_t bell[2] = { 0, 0 };

	return bpf_ringbuf_output(&stacks, bell, sizeof(bell), BPF_RB_FORCE_WAKEUP);
}

/* The next slot of this CPU's ring, or NULL; the caller fills it and calls finish_record. */
static __always_inline struct lode_record *begin_record(uint64_t *position)
{
	uint32_t cpu = bpf_get_smp_processor_id();
	struct lode_record_ends *end = bpf_map_lookup_elem(&ends, &cpu);
	struct lode_record *record;
	uint64_t used;
	uint32_t index;

	if (!end)
		return 0;
	used = end->head - *(volatile uint64_t *)&end->tail;
	if (used + LODE_RECORD_SPARE > ring_slots) {
		COUNT(lost);
		return 0;
	}
	*position = __sync_fetch_and_add(&end->head, 1);
	index = cpu * ring_slots + ((uint32_t)*position & (ring_slots - 1));
	record = bpf_map_lookup_elem(&slots, &index);
	if (!record)
		return 0;
	if (used == ring_slots / 2)
		lode_wake_reader();
	record->cpu = cpu;
	return record;
}

/* What it is about: `task`, whose waker is not known or does not matter. */
static __always_inline void set_thread(struct lode_record *record, struct task_struct *task)
{
	record->waker_user = 0;
	record->waker_kernel = 0;
	record->pid = task->tgid;
	record->tid = task->pid;
	record->waker_pid = 0;
	record->waker_tid = 0;
}

static __always_inline void finish_record(struct lode_record *record, uint64_t position)
{
	__sync_lock_test_and_set(&record->sequence, position + 1);
}

#include "record/interrupts.bpf.h"
#include "record/stacks.bpf.h"
#include "record/unwind.bpf.h"
#include "record/user_stacks.bpf.h"
#include "record/thinning.bpf.h"

/* ---- threads ---- */

static __always_inline struct lode_record_thread *find_thread(uint32_t tid)
{
	uint32_t place = tid % LODE_RECORD_THREADS;
	struct lode_record_thread *thread = bpf_map_lookup_elem(&threads, &place);

	if (thread && thread->tid == tid)
		return thread;
	return has_others ? bpf_map_lookup_elem(&others, &tid) : 0;
}

/* Computed again: a number whose address a helper was given has no bounds for the verifier. */
static __always_inline void mark_place(uint32_t tid, uint8_t taken)
{
	taken_places[tid % LODE_RECORD_THREADS] = taken;
}

/* The place of `tid` is another's. */
__noinline int lode_add_other(uint32_t tid, uint32_t pid)
{
	struct lode_record_thread thread = { .tid = tid, .pid = pid };

	has_others = 1;
	return bpf_map_update_elem(&others, &tid, &thread, BPF_ANY);
}

/* The state of the current thread, which gets one if it has none. */
static __always_inline struct lode_record_thread *own_thread(struct task_struct *task)
{
	uint32_t tid = task->pid, place = tid % LODE_RECORD_THREADS;
	struct lode_record_thread *thread = find_thread(tid);

	if (thread)
		return thread;
	thread = bpf_map_lookup_elem(&threads, &place);
	if (!thread)
		return 0;
	if (__sync_val_compare_and_swap(&thread->tid, 0, tid) != 0)
		return lode_add_other(tid, task->tgid) ? 0 : bpf_map_lookup_elem(&others, &tid);
	mark_place(tid, 1);
	thread->pid = task->tgid;
	thread->state = LODE_THREAD_RUNNING;
	thread->woken = 0;
	thread->seen = 0;
	thread->entry.pc = 0;
	return thread;
}

/* The thread is dead; its tid may come again for another. */
static __always_inline void forget_thread(uint32_t tid)
{
	uint32_t place = tid % LODE_RECORD_THREADS;
	struct lode_record_thread *thread = bpf_map_lookup_elem(&threads, &place);

	if (thread && thread->tid == tid) {
		mark_place(tid, 0); /* first, because the place may be another's at once */
		__sync_lock_test_and_set(&thread->tid, 0);
	} else if (has_others)
		bpf_map_delete_elem(&others, &tid);
}

/* What a thread that blocks is doing, as the value of its record; `regs`: as it entered the kernel. */
static __always_inline uint32_t call_of(struct task_struct *task, struct pt_regs *regs)
{
	int32_t call = REGS_CALL(regs);
	uint32_t value = call < 0 || REGS_COMPAT(regs) ? 0 : (uint32_t)call + 1;

	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		value |= LODE_RECORD_IOWAIT;
	return value;
}

#include "record/sweep.bpf.h"
#include "record/thread_totals.bpf.h"
#include "record/limits.bpf.h"

static __always_inline bool was_taken_at_waking(const struct lode_record_thread *thread, struct task_struct *task,
						uint64_t cost, bool passed);

/* ---- waits ---- */

/* Whether a waking was seen in the thread's current wait. */
static __always_inline bool was_woken(const struct lode_record_thread *thread)
{
	return thread->state == LODE_THREAD_WOKEN ||
	       (thread->woken && thread->woken + LODE_RECORD_EARLY > thread->out);
}

/* How long a thread was blocked that runs again, at `now`; the rest of its wait it was in the run queue. */
__noinline uint64_t lode_blocked_for(const struct lode_record_thread *thread, uint64_t now)
{
	if (!thread || thread->state == LODE_THREAD_PREEMPTED)
		return 0;
	if (!was_woken(thread))
		return now - thread->out;
	return thread->woken > thread->out ? thread->woken - thread->out : 0;
}

/* Writes the wait or preemption of a thread that runs again. */
__noinline int lode_write_wait(const struct lode_record_thread *thread, uint64_t cost, uint64_t delay,
			       uint32_t weight, uint32_t flags)
{
	struct lode_record *record;
	uint64_t position;
	bool is_wait, has_stacks;

	record = thread ? begin_record(&position) : 0;
	if (!record)
		return 0;
	is_wait = thread->state != LODE_THREAD_PREEMPTED;
	has_stacks = !thin || thread->has_waker_stacks;
	record->t = thread->out;
	record->cost = cost;
	record->delay = delay;
	record->user = thread->user;
	record->kernel = thread->kernel;
	record->waker_user = has_stacks ? thread->waker_user : 0;
	record->waker_kernel = has_stacks ? thread->waker_kernel : 0;
	record->pid = thread->pid;
	record->tid = thread->tid;
	record->waker_pid = thread->waker_pid;
	record->waker_tid = thread->waker_tid;
	record->value = thread->call;
	record->type = is_wait ? LODE_RECORD_WAIT : LODE_RECORD_PREEMPT;
	record->flags = flags | (is_wait && was_woken(thread) ? LODE_RECORD_WOKEN : 0);
	record->weight = weight;
	finish_record(record, position);
	return 0;
}

/* Whether a wait is recorded regardless of chance. Without a branch: the verifier of Linux 6.1 would check all that follows once more. */
static __always_inline uint32_t is_long_wait(struct task_struct *task, uint64_t cost)
{
	uint32_t is_kernels = task->flags / PF_KTHREAD & 1;

	return (long_wait_ns - cost) >> 63 & ~is_kernels;
}

/* The wait or preemption of a thread is over, at `now`. Returns whether it was to be recorded. */
static __always_inline bool end_wait(struct lode_record_thread *thread, struct task_struct *task, uint64_t now)
{
	uint64_t cost = lode_blocked_for(thread, now), delay = now - thread->out - cost;
	uint32_t passed = 0, weight = 1, flags = 0;

	if (cost > least_limit || delay > least_limit)
		passed = passed_limits(task, cost, delay, thread->call);
	if (min_wait && cost + delay < min_wait && !passed) {
		COUNT(short_waits);
		return false;
	}
	if (thin) {
		bool taken = was_taken_at_waking(thread, task, cost, passed), swept = !taken && was_swept(thread);

		weight = lode_settle(thread, cost + delay, (passed || swept || taken) | is_long_wait(task, cost));
		if (!weight || taken)
			return false;
		if (!thread->weight) {
			take_late(thread, task);
			flags = LODE_RECORD_LATE;
		}
		weight = swept ? 1 : slot_weight(thread, weight);
	}
	lode_write_wait(thread, cost, delay, weight, flags);
	if (passed)
		write_fired(task, passed, thread->out, cost, delay);
	return true;
}

/* Takes the stacks of the current thread, which stops running. */
static __always_inline bool take_stacks(void *context, struct task_struct *task, struct lode_record_thread *thread)
{
	struct scratch *scratch = own_scratch(SCRATCH_SCHEDULER);

	if (!scratch)
		return false;
	thread->kernel = kernel_stack(context, scratch, &walkings[0]);
	thread->user = user_stack(scratch, task, thread, &thread->span, task->pid, LODE_COPY_OWN);
	/* One that is not whole because its table is not loaded yet is no good for others. */
	if (thin && (!use_tables || scratch->stack.end == LODE_STACK_WHOLE))
		lode_keep_stacks(thread);
	return true;
}

/* `task` is wanted. Returns whether its stacks were taken. */
static __always_inline bool switch_out(void *context, struct task_struct *task, bool preempted, uint64_t now)
{
	struct lode_record_thread *thread = own_thread(task);
	struct pt_regs *regs = task->flags & PF_KTHREAD ? 0 : (struct pt_regs *)bpf_task_pt_regs(task);
	bool chosen = true;

	if (!thread) {
		COUNT(lost_threads);
		return false;
	}
	if (with_totals && !thread->seen) {
		thread->seen = 1;
		lode_write_own_totals(LODE_RECORD_TOTALS_SEEN);
	}
	thread->out = now;
	thread->call = regs ? call_of(task, regs) : 0;
	if (thin)
		chosen = lode_choose(thread, preempted);
	if (thin)
		note_slot(thread, task);
	if (chosen)
		chosen = take_stacks(context, task, thread);
	/* Last: a waker on another CPU that comes while the stack is taken counts as early. */
	*(volatile uint16_t *)&thread->state = preempted ? LODE_THREAD_PREEMPTED : LODE_THREAD_BLOCKED;
	return chosen;
}

static __always_inline bool switch_in(struct lode_record_thread *thread, struct task_struct *task, uint64_t now)
{
	bool written = false;

	if (thread->state != LODE_THREAD_RUNNING && still_waits(thread, task))
		written = end_wait(thread, task, now);
	thread->state = LODE_THREAD_RUNNING;
	thread->woken = 0;
	return written;
}

SEC("tp_btf/sched_switch")
int lode_switch(uint64_t *context)
{
	struct task_struct *previous = (void *)context[1], *next = (void *)context[2];
	uint32_t state = switch_has_state ? (uint32_t)context[3] : previous->__state;
	bool preempted = context[0] || !state, dies = !preempted && state & TASK_DEAD, took = false, wanted;
	struct lode_record_thread *thread;
	struct run run;
	uint64_t now = 0;

	if (is_off()) {
		COUNT(rests);
		return 0;
	}
	thread = next->pid ? find_thread(next->pid) : 0;
	wanted = !dies && is_wanted(previous);
	begin_run(&run);
	if (with_sweeps)
		watch_clocks(&run, previous, next);
	if (dies)
		forget_thread(previous->pid);
	/* Most switches of a machine have nothing to do with the few processes that may be requested. */
	if (wanted || thread)
		now = bpf_ktime_get_ns();
	if (wanted)
		took = switch_out(context, previous, preempted, now);
	if (thread)
		took |= switch_in(thread, next, now);
	end_run(&run, now, took);
	return 0;
}

/*
 * With a budget: whether the stacks of who wakes a thread now are taken: the wait was chosen, or is long. Before a
 * thread stops running nothing is known of the wait that this ends; it takes no time to speak of.
 */
static __always_inline bool wants_waker(const struct lode_record_thread *thread, uint32_t state, uint64_t now)
{
	return state == LODE_THREAD_BLOCKED && would_record(thread, now - thread->out);
}

/* Notes that `waker`, the current thread, wakes `thread`, unless an interrupt does; then there is no waker. */
static __always_inline void set_waker(struct lode_record_thread *thread, struct task_struct *waker, bool has_stack)
{
	uint32_t mask = waker_mask(waker, has_stack & !only_own);

	thread->waker_pid = waker->tgid & mask;
	thread->waker_tid = waker->pid & mask;
}

/* Takes the stacks of `waker`, the current thread, for `task`, whose `thread` it wakes. Behind set_waker. */
static __always_inline void take_waker(void *context, struct task_struct *waker, struct task_struct *task,
				       struct lode_record_thread *thread, struct lode_record_walking *walking)
{
	struct scratch *scratch = own_scratch(SCRATCH_SCHEDULER);

	thread->waker_kernel = thread->waker_user = 0;
	if (!scratch || only_own)
		return;
	thread->waker_kernel = kernel_stack(context, scratch, walking);
	if (thread->waker_tid && thread->waker_pid != own_pid)
		thread->waker_user = user_stack(scratch, waker, with_calls ? find_thread(waker->pid) : 0,
						&thread->waker_span, task->pid, LODE_COPY_WAKER);
}

/* Notes who wakes `task`, and when. Returns whether stacks were taken. */
static __always_inline bool note_waking(void *context, struct task_struct *task, struct lode_record_thread *thread,
					uint32_t state, uint64_t now)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	bool chosen = !thin || wants_waker(thread, state, now);

	thread->woken = now;
	set_waker(thread, waker, chosen);
	if (chosen)
		take_waker(context, waker, task, thread, &walkings[1]);
	if (thin && chosen)
		thread->has_waker_stacks = 1;
	if (state == LODE_THREAD_BLOCKED)
		thread->state = LODE_THREAD_WOKEN;
	return chosen;
}

SEC("tp_btf/sched_waking")
int lode_waking(uint64_t *context)
{
	struct task_struct *task = (void *)context[0];
	struct lode_record_thread *thread;
	uint64_t now = 0;
	uint32_t state;
	bool took = false;
	struct run run;

	if (is_off()) {
		COUNT(rests);
		return 0;
	}
	begin_run(&run);
	thread = find_thread(task->pid);
	if (thread && !still_waits(thread, task))
		thread->state = LODE_THREAD_RUNNING;
	state = thread ? *(volatile uint16_t *)&thread->state : LODE_THREAD_WOKEN;
	if (state != LODE_THREAD_WOKEN && state != LODE_THREAD_PREEMPTED) {
		now = bpf_ktime_get_ns();
		took = note_waking(context, task, thread, state, now);
	}
	end_run(&run, now, took);
	return 0;
}

#include "record/long_waits.bpf.h"
#include "record/samples.bpf.h"
#include "record/spans.bpf.h"
#include "record/process_events.bpf.h"
