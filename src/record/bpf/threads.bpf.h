/* What is known of each thread between its records. */
#ifndef LODE_RECORD_BPF_THREADS_BPF_H
#define LODE_RECORD_BPF_THREADS_BPF_H

#include "record/bpf/settings.bpf.h"

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
	thread->request = thread->outer_sp = 0;
	thread->outer_rank = thread->in_outer = 0;
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

#endif
