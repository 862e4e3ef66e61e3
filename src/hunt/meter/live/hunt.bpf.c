/*
 * The live meter's BPF programs: they update the clocks of the hunted threads
 * (thread_counters.h) and keep the functions in progress. One long file, because they are
 * compiled as one object.
 *
 * A function in progress is known by the stack pointer at its outermost entry. The
 * stack grows down, so an event of the same thread at the same or a higher stack
 * pointer means that the function has ended, whichever way it was left: by its own
 * return, by an exception, or by longjmp. Open functions of a thread are a chain
 * from the innermost outwards; every event first closes what its stack pointer
 * shows to be over. Deeper entries of an open function are recursion and change
 * nothing but the number of calls.
 *
 * What a probe takes from the program is kept out of the clocks: a hit moves
 * `last` on by its cost, so that neither the function nor any that encloses it is
 * charged with it.
 */
#include "hunt/meter/live/thread_counters.h"
#include "hunt/meter/wait_objects.h"
#include "hunt/meter/live/clock_updates.h"
#include "record/bpf/interrupts.bpf.h"
#include "record/bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char programs_license[] SEC("license") = "GPL";

const volatile uint32_t thread_mask = 0; /* places for threads - 1 */
const volatile uint32_t slot_count = 1;
const volatile uint32_t own_pid = 0; /* of the hunt, which wakes threads to look at their stacks */

/* How many places a thread's number may be away from its own, and how many open functions one event closes.
 */
#define PLACES_TRIED 8
#define MAX_CLOSED   64

/* Further apart than this, two stack pointers are of different stacks. */
#define OTHER_STACK (1ull << 30)

/* More of the state bits of a thread. */
#define TASK_STOPPED 0x4u
#define TASK_TRACED  0x8u

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct lode_hunt_thread);
} threads SEC(".maps");

/* Of all threads, `slot_count` each. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct lode_hunt_cell);
} cells SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LODE_HUNT_SLOTS);
	__type(key, uint32_t);
	__type(value, struct lode_hunt_slot);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct lode_hunt_kernel_settings);
} settings SEC(".maps");

/* Processes that are hunted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, uint32_t);
	__type(value, uint8_t);
} pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lode_hunt_object_key);
	__type(value, struct lode_hunt_object);
} objects SEC(".maps");

/* Objects that are watched function by function. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, uint64_t);
	__type(value, uint8_t);
} watched SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 << 10);
} messages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct lode_hunt_counts);
} counts SEC(".maps");

uint32_t any_watched = 0;

/* ---- tables ---- */

static __always_inline struct lode_hunt_kernel_settings *get_settings(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&settings, &zero);
}

static __always_inline struct lode_hunt_counts *get_counts(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

static __always_inline struct lode_hunt_thread *find_thread(uint32_t tid, uint32_t *place)
{
	for (uint32_t i = 0; i < PLACES_TRIED; i++) {
		uint32_t at = (tid + i) & thread_mask;
		struct lode_hunt_thread *thread = bpf_map_lookup_elem(&threads, &at);

		if (thread && thread->tid == tid) {
			*place = at;
			return thread;
		}
	}
	return 0;
}

static __always_inline struct lode_hunt_cell *find_cell(uint32_t place, uint32_t slot)
{
	uint32_t at = place * slot_count + slot;

	return bpf_map_lookup_elem(&cells, &at);
}

static __noinline int send(uint32_t type, uint32_t slot, uint32_t pid, uint32_t tid)
{
	struct lode_hunt_message message = { type, slot, pid, tid };
	struct lode_hunt_counts *counted;

	if (!bpf_ringbuf_output(&messages, &message, sizeof(message),
				type == LODE_MESSAGE_MUTED ? BPF_RB_FORCE_WAKEUP : 0))
		return 0;
	counted = get_counts();
	if (counted)
		__sync_fetch_and_add(&counted->lost_messages, 1);
	return 0;
}

/* ---- clocks ---- */

/* Of a running thread that has not been seen before. */
static __always_inline void look_at_running(struct lode_hunt_thread *thread)
{
	if (thread->seen)
		return;
	lode_thread_take_found(thread);
	thread->clock = LODE_CLOCK_CPU;
	thread->blocked = thread->is_bound = 0;
	thread->object = 0;
}

/* ---- objects ---- */

static __always_inline void add_wait(struct lode_hunt_object_key *key, struct lode_hunt_thread *thread,
				     int64_t time)
{
	struct lode_hunt_object *known = bpf_map_lookup_elem(&objects, key);
	struct lode_hunt_object fresh = { time, 1, thread->pid, 0 };

	if (!known) {
		bpf_map_update_elem(&objects, key, &fresh, BPF_ANY);
		return;
	}
	known->time += time;
	known->waits++;
}

/*
 * A wait for an object is over: counts it, and for each open function where the object
 * is watched. Not static, so that the verifier checks it once, not on every path to here.
 */
__noinline int end_wait(struct lode_hunt_thread *thread, uint32_t place, uint64_t object, int64_t time)
{
	struct lode_hunt_object_key key = { 0 };
	uint32_t slot;

	if (!thread)
		return 0;
	key.object = object;
	key.tid = thread->tid;
	slot = thread->top;
	add_wait(&key, thread, time);
	if (!any_watched || !bpf_map_lookup_elem(&watched, &key.object))
		return 0;
	for (uint32_t i = 0; i < MAX_CLOSED && slot && slot <= slot_count; i++) {
		struct lode_hunt_cell *cell = find_cell(place, slot - 1);

		key.slot = slot;
		add_wait(&key, thread, time);
		if (!cell)
			break;
		slot = cell->below;
	}
	return 0;
}

/* A message counts for its communicator and for its tag. Not static, as above. */
__noinline int end_message(struct lode_hunt_thread *thread, uint32_t place)
{
	uint64_t message;
	int64_t time;

	if (!thread)
		return 0;
	message = thread->message;
	time = thread->clocks.time[LODE_CLOCK_SYNC] - thread->message_since;
	thread->message = 0;
	end_wait(thread, place, lode_object_whole(message), time);
	if (!lode_object_has_parts(message))
		end_wait(thread, place, message, time);
	return 0;
}

/* An argument of a function at its entry, from 0. */
static __always_inline uint64_t argument(struct pt_regs *context, uint32_t number)
{
	uint64_t word = 0;

	if (number < REGS_ARGUMENTS)
		bpf_probe_read_kernel(&word, sizeof(word), (void *)context + REGS_ARGUMENT_OFFSET(number));
	else
		bpf_probe_read_user(&word, sizeof(word),
				    (void *)(REGS_SP(context) + STACK_ARGUMENT(number - REGS_ARGUMENTS)));
	return word;
}

/* What a function of MPI waits for, from where its arguments have it. */
static __noinline uint64_t message_of(struct pt_regs *context, uint32_t places)
{
	uint32_t at = LODE_MESSAGE_COMMUNICATOR(places), tag = LODE_MESSAGE_TAG(places);
	uint64_t communicator;

	if (!at || at > 16 || tag > 16)
		return 0;
	communicator =
		lode_message_communicator(argument(context, at - 1), (places & LODE_MESSAGE_BY_POINTER) != 0);
	return tag ? lode_message_tagged(communicator, (int32_t)argument(context, tag - 1))
		   : lode_message_collective(communicator);
}

/* ---- functions in progress ---- */

static __always_inline void close_cell(struct lode_hunt_thread *thread, uint32_t place,
				       struct lode_hunt_cell *cell, uint32_t slot)
{
	struct lode_hunt_slot *about = bpf_map_lookup_elem(&slots, &slot);
	int waits = about && about->flags & LODE_SLOT_WAITING && thread->waiting;

	/* While it still is one of the open functions. */
	if (waits && thread->waiting == 1 && thread->message)
		end_message(thread, place);
	cell->over.time[LODE_CLOCK_CPU] += thread->clocks.time[LODE_CLOCK_CPU] - cell->at.time[LODE_CLOCK_CPU];
	cell->over.time[LODE_CLOCK_SYNC] += thread->clocks.time[LODE_CLOCK_SYNC] - cell->at.time[LODE_CLOCK_SYNC];
	cell->over.time[LODE_CLOCK_IO] += thread->clocks.time[LODE_CLOCK_IO] - cell->at.time[LODE_CLOCK_IO];
	cell->over.operations += thread->clocks.operations - cell->at.operations;
	cell->over.bytes += thread->clocks.bytes - cell->at.bytes;
	cell->sp = 0;
	thread->top = cell->below;
	if (waits)
		thread->waiting--;
}

/* Closes the functions that are over, now that the stack pointer is `sp`. */
static __always_inline void sweep(struct lode_hunt_thread *thread, uint32_t place, uint64_t sp)
{
	for (uint32_t i = 0; i < MAX_CLOSED; i++) {
		uint32_t slot = thread->top - 1;
		struct lode_hunt_cell *cell;

		if (!thread->top || slot >= slot_count)
			return;
		cell = find_cell(place, slot);
		if (!cell || cell->sp > sp || sp - cell->sp > OTHER_STACK)
			return;
		close_cell(thread, place, cell, slot);
	}
}

static __always_inline void open_cell(struct lode_hunt_thread *thread, uint32_t place, uint32_t slot,
				      struct lode_hunt_slot *about, struct pt_regs *context)
{
	struct lode_hunt_cell *cell = find_cell(place, slot);
	uint64_t sp = REGS_SP(context);

	if (!cell)
		return;
	cell->calls++;
	if (cell->sp)
		return;
	cell->at = thread->clocks;
	cell->sp = sp;
	cell->below = thread->top;
	thread->top = slot + 1;
	if (!(about->flags & LODE_SLOT_WAITING))
		return;
	/* What it calls in turn is its own affair. */
	if (!thread->waiting++ && about->message) {
		thread->message = message_of(context, about->message);
		thread->message_since = thread->clocks.time[LODE_CLOCK_SYNC];
	}
}

/* ---- what probes cost ---- */

/*
 * Counts a hit that took `cost` nanoseconds; mutes the slot when the thread has had too many and this slot is to
 * blame. Time in the run queue is not the thread's: a program that gets little of
 * its CPU is not to lose all of that to probes.
 */
static __always_inline void charge(struct lode_hunt_thread *thread, uint32_t place, struct lode_hunt_slot *slot,
				   uint32_t number, struct lode_hunt_kernel_settings *set, uint64_t cost,
				   uint64_t now)
{
	uint32_t window = (uint32_t)((now - thread->queued) / set->window);
	struct lode_hunt_cell *cell = find_cell(place, number);

	thread->took += cost;
	thread->last += cost;
	__sync_fetch_and_add(&slot->hits, 1); /* of all threads */
	__sync_fetch_and_add(&slot->took, cost);
	if (slot->flags & LODE_SLOT_MUTED || !cell)
		return; /* it is on its way out; others are not to blame for it */
	if (cell->window != window) {
		cell->window = window;
		cell->window_took = 0;
	}
	cell->window_took += cost;
	if (thread->window != window) {
		thread->window = window;
		thread->window_took = 0;
	}
	thread->window_took += cost;
	if (thread->window_took <= set->window_limit)
		return;
	if (cell->window_took * 4ull < thread->window_took && thread->window_took < 2 * set->window_limit)
		return;
	__sync_fetch_and_or(&slot->flags, LODE_SLOT_MUTED);
	send(LODE_MESSAGE_MUTED, number, thread->pid, thread->tid);
}

/* Loaded with the attach type of uprobe_multi, which not every libbpf knows by name. */
SEC("kprobe")
int lode_probe(struct pt_regs *context)
{
	uint64_t cookie = bpf_get_attach_cookie(context), now = bpf_ktime_get_ns(), sp = REGS_SP(context);
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid(), number = cookie & LODE_HUNT_SLOT_MASK, place;
	struct lode_hunt_thread *thread = find_thread(tid, &place);
	struct lode_hunt_slot *slot = bpf_map_lookup_elem(&slots, &number);
	struct lode_hunt_kernel_settings *set = get_settings();

	if (!thread || !slot || !set)
		return 0;
	lode_thread_begin_change(thread);
	look_at_running(thread);
	if (!(slot->flags & LODE_SLOT_MUTED) && !thread->holding) {
		lode_thread_wind(thread, now);
		sweep(thread, place, sp);
		if (!(cookie & (LODE_HUNT_END | LODE_HUNT_SWEEP)))
			open_cell(thread, place, number, slot, context);
	}
	charge(thread, place, slot, number, set,
	       set->hit_costs[cookie >> LODE_HUNT_KIND_SHIFT & (LODE_HUNT_KINDS - 1)], now);
	lode_thread_end_change(thread);
	return 0;
}

/* ---- the scheduler ---- */

static __always_inline uint32_t block_class(struct task_struct *task, struct pt_regs *regs,
					    struct lode_hunt_thread *thread, uint32_t state)
{
	struct lode_hunt_kernel_settings *set = get_settings();
	int32_t call = REGS_CALL(regs);
	uint32_t cls = LODE_CLOCK_OTHER;

	thread->is_held = (state & TASK_TRACED) != 0;
	if (state & (TASK_STOPPED | TASK_TRACED) || !set)
		return LODE_CLOCK_OTHER;
	if (call >= 0 && call < LODE_HUNT_CALLS && !REGS_COMPAT(regs)) {
		cls = set->calls[call & (LODE_HUNT_CALLS - 1)];
		if (cls & LODE_CALL_FUTEX) {
			thread->object = REGS_ARGUMENT(regs);
			thread->object_since = thread->clocks.time[LODE_CLOCK_SYNC];
			thread->is_bound = (uint32_t)REGS_THIRD(regs) == LODE_FUTEX_CONTENDED;
		}
		if (cls & LODE_CALL_POLLS && !thread->polling)
			thread->polling = thread->clocks.time[LODE_CLOCK_OTHER] - thread->ready + 1;
		cls &= LODE_CALL_CLASS;
	}
	if (BPF_CORE_READ_BITFIELD(task, in_iowait)) {
		cls = LODE_CLOCK_IO;
		thread->is_bound = 1;
	}
	return cls;
}

static __always_inline void switch_out(struct task_struct *task, uint32_t state, bool preempted, uint64_t now)
{
	uint32_t place;
	struct lode_hunt_thread *thread = find_thread(task->pid, &place);
	struct pt_regs *regs;

	if (!thread)
		return;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	lode_thread_begin_change(thread);
	look_at_running(thread);
	lode_thread_wind(thread, now);
	thread->pc = REGS_PC(regs);
	thread->sp = REGS_SP(regs);
	thread->fp = REGS_FP(regs);
	thread->link = REGS_LINK(regs);
	/* A function in progress has its entry at or above the stack pointer. */
	if (thread->top && thread->sp && !thread->holding)
		sweep(thread, place, thread->sp - 1);
	lode_thread_leaves(thread, preempted ? LODE_CLOCK_OTHER : block_class(task, regs, thread, state),
			   !preempted);
	lode_thread_end_change(thread);
}

/* Of the thread that ended a wait: somebody waits for it. */
static __noinline int add_waited_for(uint32_t waker, uint64_t time)
{
	uint32_t place;
	struct lode_hunt_thread *thread = waker ? find_thread(waker, &place) : 0;

	if (thread)
		__sync_fetch_and_add(&thread->waited_for, time);
	return 0;
}

static __always_inline void switch_in(struct task_struct *task, uint64_t now)
{
	uint32_t place;
	struct lode_hunt_thread *thread = find_thread(task->pid, &place);
	uint64_t waited;

	if (!thread)
		return;
	lode_thread_begin_change(thread);
	lode_thread_take_found(thread);
	waited = lode_thread_waited(thread, now);
	if (waited) {
		lode_thread_count_wait(thread, waited);
		add_waited_for(thread->waker, waited);
	}
	lode_thread_returns(thread, now);
	if (thread->object) {
		uint64_t object = thread->object;

		thread->object = 0;
		end_wait(thread, place, object, thread->clocks.time[LODE_CLOCK_SYNC] - thread->object_since);
	}
	lode_thread_end_change(thread);
}

SEC("tp_btf/sched_switch")
int lode_hunt_switch(uint64_t *context)
{
	struct task_struct *previous = (void *)context[1], *next = (void *)context[2];
	uint32_t state = (uint32_t)context[3]; /* since Linux 5.18; uprobe_multi came later */
	uint64_t now = bpf_ktime_get_ns();

	if (previous->pid)
		switch_out(previous, state, context[0] || !state, now);
	if (next->pid)
		switch_in(next, now);
	return 0;
}

/*
 * Being woken ends a wait; what follows is the run queue. The thread may be on its way
 * off another CPU in this moment.
 */
SEC("tp_btf/sched_waking")
int lode_hunt_waking(uint64_t *context)
{
	struct task_struct *task = (void *)context[0], *current = bpf_get_current_task_btf();
	uint32_t place;
	struct lode_hunt_thread *thread = find_thread(task->pid, &place);
	uint32_t waker = (uint32_t)current->tgid == own_pid ? 0
							    : (uint32_t)current->pid & waker_mask(current, false);

	if (thread)
		lode_thread_wake(thread, waker, bpf_ktime_get_ns());
	return 0;
}

/* ---- input and output ---- */

/*
 * A wait for descriptors is over. Its kind is unknown until then; it was
 * for input or output when there was some, and when it was not too long.
 */
static __always_inline void end_polling(struct lode_hunt_thread *thread, int64_t result)
{
	int64_t time = thread->clocks.time[LODE_CLOCK_OTHER] - thread->ready - (thread->polling - 1);

	thread->polling = 0;
	if (result <= 0 || time <= 0 || time > LODE_HUNT_IDLE)
		return;
	thread->clocks.time[LODE_CLOCK_OTHER] -= time;
	thread->clocks.time[LODE_CLOCK_IO] += time;
}

SEC("tp_btf/sys_exit")
int lode_hunt_exit_call(uint64_t *context)
{
	struct pt_regs *regs = (void *)context[0];
	int64_t result = (int64_t)context[1];
	uint32_t place;
	struct lode_hunt_thread *thread = find_thread((uint32_t)bpf_get_current_pid_tgid(), &place);
	struct lode_hunt_kernel_settings *set = get_settings();
	int32_t call;

	if (!thread || !set)
		return 0;
	call = REGS_CALL(regs);
	if (call < 0 || call >= LODE_HUNT_CALLS || REGS_COMPAT(regs))
		return 0;
	lode_thread_begin_change(thread);
	look_at_running(thread);
	if (thread->polling)
		end_polling(thread, result);
	if (result >= 0 && set->calls[call & (LODE_HUNT_CALLS - 1)] & LODE_CALL_MOVES) {
		thread->clocks.operations++;
		thread->clocks.bytes += (uint64_t)result;
	}
	lode_thread_end_change(thread);
	return 0;
}

/* ---- births and deaths ---- */

static __always_inline void add_thread(uint32_t pid, uint32_t tid)
{
	uint64_t now = bpf_ktime_get_ns();
	struct lode_hunt_counts *counted;
	uint32_t known;

	if (find_thread(tid, &known))
		return; /* the program was faster */
	for (uint32_t i = 0; i < PLACES_TRIED; i++) {
		uint32_t at = (tid + i) & thread_mask;
		struct lode_hunt_thread *thread = bpf_map_lookup_elem(&threads, &at);

		if (!thread || !lode_thread_claim(thread))
			continue;
		lode_thread_show(thread, pid, tid, now);
		return;
	}
	counted = get_counts();
	if (counted)
		__sync_fetch_and_add(&counted->lost_threads, 1);
}

/*
 * Whether a process is hunted, be it for what it starts alone (launchers): then
 * its threads have no places, but its messages are sent anyway.
 */
static __always_inline bool is_hunted(uint32_t pid)
{
	return bpf_map_lookup_elem(&pids, &pid) != 0;
}

SEC("tp_btf/sched_process_fork")
int lode_hunt_fork(uint64_t *context)
{
	struct task_struct *parent = (void *)context[0], *child = (void *)context[1];
	uint32_t pid = parent->tgid, new = child->tgid;
	uint8_t one = 1;

	if (!is_hunted(pid))
		return 0;
	if (pid != new)
		bpf_map_update_elem(&pids, &new, &one, BPF_ANY);
	add_thread(new, child->pid);
	send(LODE_MESSAGE_BORN, 0, new, child->pid);
	return 0;
}

/* A new program has a new stack: nothing of the old one is in progress. */
static __always_inline void close_all(struct lode_hunt_thread *thread, uint32_t place)
{
	lode_thread_begin_change(thread);
	lode_thread_wind(thread, bpf_ktime_get_ns());
	for (uint32_t i = 0; i < MAX_CLOSED; i++) {
		uint32_t slot = thread->top - 1;
		struct lode_hunt_cell *cell;

		if (!thread->top || slot >= slot_count)
			break;
		cell = find_cell(place, slot);
		if (!cell)
			break;
		close_cell(thread, place, cell, slot);
	}
	lode_thread_end_change(thread);
}

SEC("tp_btf/sched_process_exec")
int lode_hunt_exec(uint64_t *context)
{
	struct task_struct *task = (void *)context[0];
	uint32_t place;
	struct lode_hunt_thread *thread = find_thread(task->pid, &place);

	if (thread)
		close_all(thread, place);
	else if (!is_hunted(task->tgid))
		return 0;
	send(LODE_MESSAGE_EXECUTED, 0, task->tgid, task->pid);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int lode_hunt_exit(uint64_t *context)
{
	struct task_struct *task = (void *)context[0];
	uint32_t pid = task->tgid, place;
	struct lode_hunt_thread *thread = find_thread(task->pid, &place);
	uint64_t now = bpf_ktime_get_ns();

	if (!thread && !is_hunted(pid))
		return 0;
	if (thread) {
		lode_thread_begin_change(thread);
		look_at_running(thread);
		lode_thread_wind(thread, now);
		thread->clock = LODE_CLOCK_OTHER;
		thread->died = now;
		lode_thread_end_change(thread);
	}
	if (task->signal->live.counter == 0)
		bpf_map_delete_elem(&pids, &pid);
	send(LODE_MESSAGE_DIED, task->signal->live.counter == 0, pid, task->pid);
	return 0;
}
