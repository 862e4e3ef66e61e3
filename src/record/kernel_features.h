/*
 * Features of the running kernel that loaders of BPF programs depend on.
 */
#ifndef LODE_RECORD_KERNEL_FEATURES_H
#define LODE_RECORD_KERNEL_FEATURES_H

/* Discards what libbpf would print: callers report errors themselves. */
void lode_kernel_quiet(void);
/* Whether sched_switch has the state of the thread: since Linux 5.18; before, it has one parameter less. */
int lode_kernel_switch_has_state(void);
/* Whether programs may read its memory as structs: since Linux 6.2. */
int lode_kernel_can_cast(void);

/* Whether the kernel keeps when threads got their processors: nearly all are built so. */
int lode_kernel_counts_arrivals(void);

#endif
