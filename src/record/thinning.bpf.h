/*
 * Recording with a budget, in the kernel: which waits get their stacks (thinning.h has the rule), what
 * is counted of all of them, and what the programs themselves take. A part of recorder.bpf.c.
 *
 * Without a budget `thin` is false, and the verifier removes all of this.
 */
#ifndef LODE_RECORD_THINNING_BPF_H
#define LODE_RECORD_THINNING_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LODE_THIN_PLACES);
	__type(key, uint32_t);
	__type(value, struct lode_thin_place);
} thin_places SEC(".maps");

/* ---- what recording takes ---- */

/* One in so many short runs of the programs is measured; a power of two. */
#define MEASURE_EVERY 64

/*
 * A program that began at `begun` ends. Runs that took stacks are measured one by one, of the many others a
 * few stand for all: looking at the clock takes as long as half of them.
 */
static __always_inline void account(uint64_t begun, bool took_stacks)
{
	struct lode_record_counts *own = own_counts();

	if (!own)
		return;
	own->runs++;
	if (took_stacks)
		own->stacks_ns += bpf_ktime_get_ns() - begun;
	else if (!(own->runs & (MEASURE_EVERY - 1)))
		own->other_ns += (bpf_ktime_get_ns() - begun) * MEASURE_EVERY;
}

/* The same for samples, whose interrupts the caller knows the price of. */
static __always_inline void account_sample(uint64_t begun)
{
	struct lode_record_counts *own = own_counts();

	if (!own)
		return;
	own->samples++;
	own->stacks_ns += bpf_ktime_get_ns() - begun;
}

/* ---- waits ---- */

static __always_inline struct lode_thin_place *thin_place(uint32_t index)
{
	return bpf_map_lookup_elem(&thin_places, &index);
}

/* The weight of the next wait at a place, and in the upper half its limit; by itself, so that the verifier sees it once. */
__noinline uint64_t lode_thin_chance(uint64_t square, uint64_t scale)
{
	uint32_t weight = lode_thin_weight(square, scale);

	return weight | (uint64_t)lode_thin_limit(weight, scale) << 32;
}

/* Decides whether the current thread, which stops running, gets its stacks; the weight is 0 where not. */
static __always_inline bool choose(struct lode_record_thread *thread, struct task_struct *task, bool preempted)
{
	uint64_t key, chance, pc = 0, sp = 0;
	uint32_t random = bpf_get_prandom_u32();
	struct lode_thin_place *place;
	uint32_t weight;

	if (!preempted && !(task->flags & PF_KTHREAD)) {
		struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

		pc = REGS_PC(regs);
		sp = REGS_SP(regs);
	}
	key = lode_thin_key(task->pid, preempted ? ~0u : thread->call, pc, sp);
	thread->place = lode_thin_index(key);
	place = thin_place(thread->place);
	chance = lode_thin_chance(place ? place->square : 0, lode_thin_dither(thin_scale, random));
	weight = (uint32_t)chance;
	thread->limit = chance >> 32;
	thread->key = key;
	thread->weight = weight == 1 || lode_thin_choose(weight, random) ? weight : 0;
	return thread->weight;
}

/* Keeps the stacks of a place, for waits there that turn out to be long. Copies are read once, and not kept. */
static __always_inline void keep_stacks(const struct lode_record_thread *thread)
{
	struct lode_thin_place *place = thin_place(thread->place);

	if (!place || thread->user & LODE_RECORD_COPY_ID)
		return;
	place->key = 0; /* while it is changed */
	place->user = thread->user;
	place->kernel = thread->kernel;
	place->epoch = epoch;
	place->key = thread->key;
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

/* Gets what can still be had of the stacks of a wait that was not chosen and is long. */
static __always_inline void take_late(struct lode_record_thread *thread, struct task_struct *task)
{
	struct scratch *scratch = own_scratch(SCRATCH_SCHEDULER);
	struct lode_thin_place *place = thin_place(thread->place);
	bool known = place && place->key == thread->key && place->epoch == epoch;

	thread->kernel = scratch ? stack_of_switched(task, scratch, known ? place->kernel : 0) : 0;
	thread->user = known ? place->user : 0;
}

/* A wait is over; returns its weight, 0: it is not recorded. `must`: whatever was chosen. */
static __always_inline uint32_t settle(struct lode_record_thread *thread, struct task_struct *task, uint64_t length,
				       bool must)
{
	struct lode_thin_place *place = thin_place(thread->place);
	uint32_t weight = must ? 1 : lode_thin_settle(thread->weight, thread->limit, length);

	struct lode_record_counts *own = own_counts();

	if (place)
		lode_thin_learn(&place->square, length);
	if (own) {
		own->waits++;
		own->waited_ns += length < LODE_THIN_LONG ? length : LODE_THIN_LONG;
		own->recorded_waits += weight != 0;
	}
	if (!weight)
		return 0;
	if (!thread->weight)
		take_late(thread, task);
	return weight;
}

#endif
