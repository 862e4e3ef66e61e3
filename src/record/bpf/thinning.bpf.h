/*
 * Recording with a budget, in the kernel: which waits get their stacks (thinning.h has the rule), what
 * is counted of all of them, and what the programs themselves take.
 *
 * Without a budget `thin` is false, and the verifier removes all of this.
 */
#ifndef LODE_RECORD_BPF_THINNING_BPF_H
#define LODE_RECORD_BPF_THINNING_BPF_H

#include "record/bpf/kernel_stack.bpf.h"
#include "record/bpf/objects.bpf.h"
#include "record/budget/thinning.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* it is never mapped, but this makes it begin at a page */
	__uint(max_entries, LODE_WAIT_SITES);
	__type(key, uint32_t);
	__type(value, struct lode_wait_site);
} wait_sites SEC(".maps");

/* ---- what recording takes ---- */

/* One in so many short runs of the programs is measured; a power of two. */
#define MEASURE_EVERY 64

/*
 * What a run takes beyond these is not its own: it was interrupted, or a hypervisor took the processor for some milliseconds,
 * which would count 64 times where the run stands for others.
 */
#define MAX_PLAIN_RUN_NS 20000
#define MAX_STACK_RUN_NS 1000000

static __always_inline uint64_t own_time(uint64_t spent, uint64_t most)
{
	return spent < most ? spent : most;
}

/* A run of a program: begin_run() at its first instruction, end_run() at its last. */
struct run {
	struct lode_record_counts *own;
	uint64_t begun; /* 0: it is not measured */
	uint64_t clock; /* what looking at the clock takes */
};

/*
 * Counts a run. Those that take stacks are measured one by one (by the time that they look at anyway), of the many
 * others a few represent all: looking at the clock takes longer than the rest of them.
 */
static __always_inline void begin_run(struct run *run)
{
	run->begun = run->clock = 0;
	run->own = thin ? own_counts() : 0;
	if (!run->own || ++run->own->runs & (MEASURE_EVERY - 1))
		return;
	run->clock = bpf_ktime_get_ns();
	run->begun = bpf_ktime_get_ns();
	run->clock = run->begun - run->clock;
}

/* `now`: the time that the program read at its start; `took_stacks`: whether it walked stacks after that. */
static __always_inline void end_run(const struct run *run, uint64_t now, bool took_stacks)
{
	uint64_t spent;

	if (!thin || !run->own)
		return;
	if (took_stacks) {
		run->own->stack_runs++;
		run->own->stacks_ns += own_time(bpf_ktime_get_ns() - now, MAX_STACK_RUN_NS);
	} else if (run->begun) {
		spent = bpf_ktime_get_ns() - run->begun;
		run->own->other_ns +=
			own_time(spent > run->clock ? spent - run->clock : 0, MAX_PLAIN_RUN_NS) * MEASURE_EVERY;
	}
}

/* The same for samples, whose interrupts the caller knows the price of. */
static __always_inline void account_sample(uint64_t begun)
{
	struct lode_record_counts *own = own_counts();

	if (!own)
		return;
	own->samples++;
	own->samples_ns += own_time(bpf_ktime_get_ns() - begun, MAX_STACK_RUN_NS);
}

/* ---- slots ---- */

/* Nothing is recorded: the programs are about to be detached, or do not know their slot yet. */
static __always_inline bool is_off(void)
{
	return thin && !slot.on;
}

static __always_inline uint32_t switches_of(struct task_struct *task)
{
	return (uint32_t)(task->nvcsw + task->nivcsw);
}

/* The current thread stops running. */
static __always_inline void note_slot(struct lode_record_thread *thread, struct task_struct *task)
{
	thread->factor = slot.factor;
	thread->switches = switches_of(task);
}

/*
 * Whether a thread is still off its processor since it was seen to stop running. Between slots it may have run unobserved, or
 * its number may belong to another thread by now; the kernel has counted all its switches. While the slot is off nothing is
 * observed either, though a program that was running when it ended may have seen the thread stop a moment later.
 */
static __always_inline bool still_waits(const struct lode_record_thread *thread, struct task_struct *task)
{
	if (!thin || (slot.on && thread->out >= slot.began))
		return true;
	return thread->switches == switches_of(task) && thread->out >= task->start_time;
}

/* The weight of what happens now and was chosen with `weight` within the slot. */
static __always_inline uint32_t slot_weight(uint32_t weight)
{
	uint32_t factor = slot.factor;

	return factor == LODE_SLOT_UNIT ? weight : lode_slot_weight(weight, factor, bpf_get_prandom_u32());
}

/* ---- waits ---- */

static __always_inline struct lode_wait_site *find_wait_site(uint32_t key)
{
	uint32_t index = lode_thin_index(key);

	return bpf_map_lookup_elem(&wait_sites, &index);
}

/* 32 random bits (xorshift64*), for a third of what the kernel's take. Only for the scheduler's programs of this CPU. */
static __always_inline uint32_t next_random(struct lode_record_counts *own)
{
	uint64_t state = own->random;

	if (!state)
		state = (uint64_t)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32() | 1;
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	own->random = state;
	return state * 0x2545f4914f6cdd1dull >> 32;
}

/* Weight and limit of the next wait at a place: each by itself, so that the verifier knows nothing of one in the other. */
__noinline uint32_t lode_next_weight(uint64_t square, uint64_t scale)
{
	return lode_thin_weight(square, scale);
}

__noinline uint32_t lode_next_limit(uint32_t weight, uint64_t scale)
{
	return lode_thin_limit(weight, scale);
}

static __always_inline void refresh_chance(struct lode_wait_site *site, uint64_t scale, uint32_t random)
{
	uint64_t dithered = lode_thin_dither(scale, random);
	uint32_t weight = lode_next_weight(site->square, dithered);

	site->weight = weight;
	site->limit = lode_next_limit(weight, dithered);
	site->scale = site->square ? scale : 0; /* no wait yet: the next one looks again */
}

/* Decides whether the current thread, which stops running, gets its stacks. Returns its weight, 0 where not. */
__noinline uint32_t lode_choose(struct lode_record_thread *thread, uint32_t preempted)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool has_site = !preempted && !(task->flags & PF_KTHREAD);
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct lode_record_counts *own = own_counts();
	struct lode_wait_site *site;
	uint64_t scale = thin_scale;
	uint32_t key, random;

	if (!thread || !own)
		return 0;
	key = lode_thin_key(task->pid, has_site ? thread->call : ~0u, has_site ? REGS_PC(regs) : 0,
			    has_site ? REGS_SP(regs) : 0);
	site = find_wait_site(key);
	random = next_random(own);
	if (!site)
		return 0;
	if (lode_thin_is_stale(site->scale, scale, random))
		refresh_chance(site, scale, random);
	thread->key = key;
	thread->limit = site->limit / LODE_RECORD_LIMIT_UNIT + 1;
	thread->random = random;
	thread->has_waker_stacks = 0;
	thread->weight = lode_thin_choose(site->weight, random) ? site->weight : 0;
	return thread->weight;
}

/* Keeps the stacks of a place, for waits there that turn out to be long. Copies are read once, and not kept. */
__noinline int lode_keep_stacks(const struct lode_record_thread *thread)
{
	struct lode_wait_site *site;

	if (!thread || thread->user & LODE_RECORD_COPY_ID)
		return 0;
	site = find_wait_site(thread->key);
	if (!site)
		return 0;
	if (site->key != thread->key)
		site->mixed = 0;
	else if (site->user != thread->user)
		site->mixed = LODE_THIN_SAME_STACKS;
	else if (site->mixed)
		site->mixed--;
	site->key = 0; /* while it is changed */
	site->user = thread->user;
	site->kernel = thread->kernel;
	site->epoch = epoch;
	site->key = thread->key;
	return 0;
}

/*
 * The kernel's stack of a thread that does not run yet. The kernel's own way leaves out the functions of the
 * scheduler, with which stacks of chosen waits begin; so where that is possible it is walked, else the last one
 * of this place, if there is one, is taken for it.
 */
static __always_inline uint64_t stack_of_switched(struct task_struct *task, struct scratch *scratch, uint64_t last)
{
	long size;

	if (only_own)
		return 0;
	begin_stack(scratch, false, false);
#if defined(__TARGET_ARCH_arm64) && !defined(LODE_PLAIN_READS)
	if (walk_kernel) {
		lode_walk_kernel(scratch, task->thread.cpu_context.fp);
		return identify(scratch);
	}
#endif
	if (last)
		return last;
	size = bpf_get_task_stack(task, scratch->check, LODE_RECORD_KERNEL_FRAMES * sizeof(uint64_t), 0);
	lode_take_asked(scratch, size > 0 ? (uint32_t)size >> 3 : 0);
	return identify(scratch);
}

/* The weight of a wait that has this length; 0: it is not recorded. */
static __always_inline uint32_t would_record(const struct lode_record_thread *thread, uint64_t length)
{
	return lode_thin_settle(thread->weight, (uint32_t)thread->limit * LODE_RECORD_LIMIT_UNIT, length,
				thin_scale, thread->random);
}

/* Gets what can still be had of the stacks of a wait that was not chosen and is long. */
static __always_inline void capture_late(struct lode_record_thread *thread, struct task_struct *task)
{
	struct scratch *scratch = own_scratch(SCRATCH_SCHEDULER);
	struct lode_wait_site *site = find_wait_site(thread->key);
	bool known = site && site->key == thread->key && site->epoch == epoch;

	thread->kernel = scratch ? stack_of_switched(task, scratch, known ? site->kernel : 0) : 0;
	thread->user = known && !site->mixed ? site->user : 0;
	describe_object(task, &thread->object, false, SCRATCH_SCHEDULER);
}

/* A wait is over; returns its weight, 0: it is not recorded. `must`: always, regardless of what was chosen. */
__noinline uint32_t lode_settle(const struct lode_record_thread *thread, uint64_t length, uint32_t must)
{
	struct lode_record_counts *own = own_counts();
	struct lode_wait_site *site;
	uint32_t weight;

	if (!thread)
		return 0;
	weight = must ? 1 : would_record(thread, length);
	site = find_wait_site(thread->key);
	if (site)
		lode_thin_learn(&site->square, length);
	if (own) {
		own->waits++;
		own->waited_ns += length < LODE_THIN_LONG ? length : LODE_THIN_LONG;
		own->recorded_waits += weight != 0;
	}
	return weight;
}

#endif
