/*
 * Whether a CPU serves an interrupt. The thread that the kernel then calls the current one was merely interrupted and
 * has nothing to do with what happens.
 *
 * The kernel counts per CPU what it is in the middle of: interrupts, non-maskable ones, and softirqs, the second halves
 * of interrupts. A softirq is ambiguous. It mostly runs as an interrupt ends, on top of any thread, or in ksoftirqd. But
 * it also runs inside a thread's own system call: what a thread sends to a socket of the same machine is delivered that
 * way, and then the thread is the true sender. Only the names of the kernel's functions tell the two apart
 * (stack_nodes.c), so where they are hidden, or no stack is taken, a softirq counts as an interrupt. A real-time kernel
 * runs softirqs in threads and does not count them here.
 */
#ifndef LODE_RECORD_BPF_INTERRUPTS_BPF_H
#define LODE_RECORD_BPF_INTERRUPTS_BPF_H

#include "record/bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define SOFTIRQ_SERVED 0x00000100u
#define HARDIRQ_MASK   0x000f0000u
#define NMI_MASK       0x00f00000u

const volatile bool has_kernel_names = true;

/*
 * On x86-64 the count is a variable of each CPU. A kernel that was built without names of its variables (CONFIG_KALLSYMS_ALL)
 * refuses programs that refer to it, but its description of types tells how far it lies from another variable of the
 * CPU that every thread leads to, the run queue. Where it is not found, only the names of functions tell.
 */
const volatile bool finds_preempt_count = false;
const volatile int64_t preempt_count_from_queue = 0; /* bytes from the run queue to the count */

#if defined(__TARGET_ARCH_x86)

static __always_inline uint32_t preempt_count(struct task_struct *current)
{
	uint64_t queue = 0;
	int count = 0;

	if (!finds_preempt_count || !bpf_core_field_exists(current->se.cfs_rq) ||
	    !bpf_core_field_exists(struct cfs_rq, rq))
		return 0;
	bpf_probe_read_kernel(&queue, sizeof(queue),
			      (char *)current->se.cfs_rq + bpf_core_field_offset(struct cfs_rq, rq));
	queue += preempt_count_from_queue;
	bpf_probe_read_kernel(&count, sizeof(count), (const void *)queue);
	return count;
}

#else

static __always_inline uint32_t preempt_count(struct task_struct *current)
{
	return current->thread_info.preempt_count;
}

#endif

/*
 * All bits if a thread, the current one, is behind what happens here and now; 0 if it was interrupted. `has_stack`: its
 * kernel stack is taken. A mask, computed without a branch: the verifier of Linux 6.1 would check all that follows once more.
 */
static __always_inline uint32_t waker_mask(struct task_struct *current, bool has_stack)
{
	uint64_t served = preempt_count(current) & (HARDIRQ_MASK | NMI_MASK | SOFTIRQ_SERVED);
	uint64_t named = (uint64_t)(has_kernel_names & has_stack) * SOFTIRQ_SERVED;

	return 0 - (uint32_t)(((served & ~named) - 1) >> 63);
}

#endif
