/*
 * Kernel: what those who load programs into it have to know of it.
 */
#ifndef LODE_RECORD_KERNEL_H
#define LODE_RECORD_KERNEL_H

/* Discards what libbpf would print: callers report errors themselves. */
void lode_kernel_quiet(void);
/* Whether sched_switch tells the state of the thread: since Linux 5.18; before, it has a parameter less. */
int lode_kernel_switch_has_state(void);
/* Whether programs may read its memory as structs: since Linux 6.2. */
int lode_kernel_can_cast(void);

#endif
