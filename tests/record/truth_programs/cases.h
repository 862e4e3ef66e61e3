/* The cases of the programs that know their own stacks, and what their files share. */
#ifndef TRUTH_CASES_H
#define TRUTH_CASES_H

void truth_case_recursion(void);
void truth_case_deep_recursion(void);
void truth_case_alloca(void);
void truth_case_big_frames(void);
void truth_case_alike(void);
void truth_case_realigned(void);
void truth_case_qsort(void);
void truth_case_assembly(void);
void truth_case_tail_calls(void);
void truth_case_signals(void);
void truth_case_signal_stack(void);
void truth_case_raised(void);
void truth_case_threads(void);
void truth_case_wakers(void);
void truth_case_vfork(void);
void truth_case_fork(void);
void truth_case_spawn(void);
void truth_case_child(void);
void truth_case_plt(void);
void truth_case_dlopen(void);

/* Waits several times and computes for two milliseconds. */
void truth_linger(void);
void truth_recurse(unsigned depth, unsigned waits_every);
void truth_realigned(unsigned depth);
void truth_aligned(unsigned depth);

/* Each is on the stack as its name says. */
void truth_last(void);
void truth_jumps(void);
void truth_jumps_again(void);
void truth_calls_jumper(void);

#endif
