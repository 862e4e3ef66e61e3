/*
 * Programs that know their own stacks, for tests/record/truth to compare with what was
 * recorded.
 *
 * Each thread keeps a shadow stack: a function pushes its name before it does anything
 * else, and pops it at the end. A *window* is a stretch of time in which a thread stays
 * in the function on top of its shadow stack: it waits there, or computes. So whatever
 * is recorded of the thread between the two times of a window must have the shadow
 * stack's functions, and nothing else but the functions named here that the top one
 * calls (truth_begin, truth_end, truth_step, truth_leaf) and functions of the C library.
 *
 * Times are CLOCK_MONOTONIC, as those of recorded events. All names of functions that
 * are compared begin with truth_, and no function of a library does.
 *
 * A name on the shadow stack may also be MODULE!FUNCTION, for what is not in the program
 * itself, or one of the special ones below.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Neither inlined nor cloned, nor with another interface than it has in C. */
#ifdef __clang__
#define TRUTH_FUNCTION __attribute__((noinline, used))
#else
#define TRUTH_FUNCTION __attribute__((noipa))
#endif

/* On the shadow stack. */
#define TRUTH_LIBRARY "<library>" /* one or more functions of the C or C++ library */
#define TRUTH_SIGNAL  "<signal>"  /* the one function through which a signal handler returns */
#define TRUTH_WORKING "<working>" /* what truth_work_until calls, or nothing */

struct truth_case {
	const char *name;
	void (*run)(void);
};

/* Of the program; the last one has no name. */
extern const struct truth_case truth_cases[];

void truth_push(const char *function);
void truth_pop(void);

/* A window of the thread, with its shadow stack as it is. `truth_end` is given what `truth_begin` returned. */
uint64_t truth_begin(void);
void truth_end(uint64_t began);

/* Windows: sleeps for a moment; computes for some milliseconds. */
void truth_wait(void);
void truth_work(unsigned milliseconds);

/* What truth_work calls all the time, so that many samples are in its first and last instructions. */
unsigned truth_step(unsigned number);

/*
 * A thread begins with an empty shadow stack, whatever memory it got. `start`: the
 * function of the program that its stack begins with.
 */
void truth_start(const char *start);

/*
 * Computes as truth_work does, but without a window: the signal, which is blocked before and after, comes meanwhile.
 * `done` ends it.
 */
void truth_work_until(int signal, volatile int *done);

/* A process that is about to end, or to become another program: writes what it noted to the log. */
void truth_write(void);

/* A process that was forked forgets what its parent noted. */
void truth_forget(void);

/* A number that looks random, the same in every run. */
unsigned truth_random(void);

#ifdef __cplusplus
}
#endif

#endif
