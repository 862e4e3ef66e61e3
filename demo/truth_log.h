/*
 * What a demo program really did, as plain events (lode-events(5)): a recording
 * without a recorder, exact where a recorder samples.
 *
 * Each function that matters says IN_FRAME; first, so that a thread knows its own
 * stack. Between two changes of it the thread's CPU time is a row of `run` events;
 * each wait is a `wait` event with the thread that ended it. While no truth is
 * wanted all of this is a test of one variable.
 *
 * A program that includes this has MODULE defined: its file's name.
 */
#ifndef DEMO_TRUTH_LOG_H
#define DEMO_TRUTH_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define TRUTH_STACK 2048 /* bytes of a stack's text */

/* The thread that ended a wait, and its stack as it did. */
struct truth_waker {
	pid_t tid; /* 0: none */
	char stack[TRUTH_STACK];
};

/* The calling function is on the stack until it returns. */
#define IN_FRAME size_t caller_ __attribute__((cleanup(truth_leave), unused)) = truth_enter(MODULE, __func__)

size_t truth_enter(const char *module, const char *function);
void truth_leave(size_t *caller);

/*
 * Put this around calls that may block. `leaf` are the functions of libraries and the kernel
 * that it waits in, with `;` between them; `waker` NULL: a device or a timer ends
 * it. What took so short that it did not block counts as run.
 */
uint64_t truth_wait_begin(void);
void truth_wait_end(uint64_t begin, const char *leaf, const struct truth_waker *waker);
/* The calling thread is about to end a wait. Both sides call with the same lock held. */
void truth_waker_set(struct truth_waker *waker);

/* Before any thread starts. The main thread is the one with the symptom. */
void truth_open(int wanted);
/* Names the calling thread, also without truth, and begins its account. */
void truth_thread(const char *name);
/* After all threads ended: the main thread's symptom from t0 to t1, and all events. */
void truth_write(FILE *file, uint64_t t0, uint64_t t1);

#endif
