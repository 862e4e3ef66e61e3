/*
 * Locks of the kernel that threads wait for: mutexes and semaphores, from the tracepoints of lock contention (Linux 5.19 and
 * later). Only where the user asks: they are in the way of every contended lock, spinning ones too. What is kept is the
 * lock that a thread is about to sleep for; a wait that begins meanwhile is for that.
 */
#ifndef LODE_RECORD_BPF_KERNEL_LOCKS_BPF_H
#define LODE_RECORD_BPF_KERNEL_LOCKS_BPF_H

#include "record/bpf/filters.bpf.h"

const volatile bool with_kernel_locks = false;

struct kernel_lock {
	uint64_t start_time; /* of the thread: its tid may become another's */
	uint64_t address;
	uint32_t flags; /* LODE_KERNEL_LOCK_… */
	uint32_t unused;
};

/* By tid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, uint32_t);
	__type(value, struct kernel_lock);
} kernel_locks SEC(".maps");

SEC("tp_btf/contention_begin")
int lode_contention_begin(uint64_t *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kernel_lock lock = { .address = context[0], .flags = (uint32_t)context[1] };
	const struct kernel_lock *outer;
	uint32_t tid = task->pid;

	if (lock.flags & LODE_KERNEL_LOCK_SPINS || !is_wanted(task))
		return 0;
	/* Without flags it is a semaphore, or a spinning lock, which guards the lists of those that sleep, too. */
	outer = lock.flags ? 0 : bpf_map_lookup_elem(&kernel_locks, &tid);
	if (outer && outer->flags && outer->start_time == task->start_time)
		return 0;
	lock.start_time = task->start_time;
	bpf_map_update_elem(&kernel_locks, &tid, &lock, BPF_ANY);
	return 0;
}

SEC("tp_btf/contention_end")
int lode_contention_end(uint64_t *context)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
	const struct kernel_lock *lock = bpf_map_lookup_elem(&kernel_locks, &tid);

	if (lock && lock->address == context[0])
		bpf_map_delete_elem(&kernel_locks, &tid);
	return 0;
}

/* Whether `task` waits for a lock of the kernel, which is the object then. */
static __always_inline bool describe_kernel_lock(struct task_struct *task, struct lode_record_object *object)
{
	uint32_t tid = task->pid;
	const struct kernel_lock *lock = bpf_map_lookup_elem(&kernel_locks, &tid);
	uint64_t mm = (uint64_t)task->mm;

	if (!lock || lock->start_time != task->start_time)
		return false;
	object->kind = LODE_WAITED_KERNEL_LOCK;
	object->argument = lock->address;
	object->detail = lock->flags;
	if (mm && bpf_core_field_exists(((struct mm_struct *)0)->mmap_lock))
		object->family = lock->address == mm + bpf_core_field_offset(struct mm_struct, mmap_lock);
	return true;
}

#endif
