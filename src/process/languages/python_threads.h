/*
 * Threads of a CPython process, read from its memory as it is now: of a stopped process, or of a stored image. The kernel's
 * programs do the same for the running thread (record/bpf/python.bpf.h).
 *
 * What is read may be anything: the number of readings is limited.
 */
#ifndef LODE_PROCESS_LANGUAGES_PYTHON_THREADS_H
#define LODE_PROCESS_LANGUAGES_PYTHON_THREADS_H

#include "process/languages/python_names.h"

/* States of threads that are looked at. */
#define LODE_PYTHON_STATES 1024

/* Calls `visit` with each thread's state and number (in its innermost PID namespace) until it returns non-zero, which is returned. */
int lode_python_threads(const struct lode_process_memory *memory, const struct lode_python_process *process,
			int (*visit)(void *context, uint64_t state, uint64_t number), void *context);
/* The state of the thread with this number; 0: there is none. */
uint64_t lode_python_thread(const struct lode_process_memory *memory, const struct lode_python_process *process,
			    uint64_t number);
/* Fills `chain` with the frames of a thread, as language_words.h describes it. Returns how many words it has. */
uint32_t lode_python_chain(const struct lode_process_memory *memory, const struct lode_python_process *process,
			   uint64_t state, uint64_t *chain, uint32_t limit);
/*
 * Whether the threads that the interpreter lists are threads of the process: 1, 0 when none is, so that the layout cannot be
 * right, and -1 when nothing can be said, because the interpreter has not started yet. `numbers`: of the process's threads.
 */
int lode_python_fits(const struct lode_process_memory *memory, const struct lode_python_process *process,
		     const uint64_t *numbers, size_t count);

#endif
