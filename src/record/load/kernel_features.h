/*
 * Features of the running kernel that loaders of BPF programs depend on.
 */
#ifndef LODE_RECORD_LOAD_KERNEL_FEATURES_H
#define LODE_RECORD_LOAD_KERNEL_FEATURES_H

#include <stdint.h>

/* What the kernel's own description of its types (BTF) tells, and the list of its functions. */
struct lode_kernel_features {
	int switch_has_state; /* sched_switch has the thread's state: since Linux 5.18; before, it has one parameter less */
	int can_cast;         /* programs may read its memory as structs: since Linux 6.2 */
	int iterates_threads; /* a program can go through all threads: since Linux 6.12 */
	int shows_names;      /* /proc/kallsyms has addresses: with CAP_SYSLOG, unless kernel.kptr_restrict is 2 */
	int reports_areas;    /* it reports where memory will be mapped: vm_unmapped_area */
	/* x86-64: where a CPU counts what it is in the middle of, see interrupts.bpf.h. */
	int finds_preempt_count;
	int64_t preempt_count_from_queue;
};

/* Reads it, once for all: it is some megabytes. Without it the kernel is taken for a new one that cannot cast. */
struct lode_kernel_features lode_kernel_features(void);

/* Whether the kernel keeps when threads got their processors: nearly all are built so. */
int lode_kernel_counts_arrivals(void);

#endif
