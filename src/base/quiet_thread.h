/*
 * Threads that receive no signals; these go to the waiting thread, or to the program that uses the library.
 * Only signals that a thread causes itself reach it, such as SIGBUS from reading past the end of a truncated
 * file.
 */
#ifndef LODE_BASE_QUIET_THREAD_H
#define LODE_BASE_QUIET_THREAD_H

#include <pthread.h>
#include <signal.h>

/* As pthread_create. */
static inline int lode_quiet_thread(pthread_t *thread, void *(*work)(void *argument), void *argument)
{
	sigset_t all, before;
	int code;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(thread, NULL, work, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

#endif
