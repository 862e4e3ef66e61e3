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

#include "record/bpf/settings.bpf.h"

#define SOFTIRQ_SERVED 0x00000100u
#define HARDIRQ_MASK   0x000f0000u
#define NMI_MASK       0x00f00000u

const volatile bool has_kernel_names = true;

#if defined(__TARGET_ARCH_x86)

/* A variable by itself before Linux 6.2 and since 6.15. */
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

static __always_inline uint32_t preempt_count(struct task_struct *current)
{
	if (&__preempt_count)
		return *(const int *)bpf_this_cpu_ptr(&__preempt_count);
	if (&pcpu_hot)
		return ((const struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count;
	return 0;
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
