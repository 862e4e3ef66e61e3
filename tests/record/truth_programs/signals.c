/*
 * Cases of signal handlers: they wait and compute on top of what they interrupted, on the
 * same stack or on one of their own.
 */
#include "cases.h"
#include "truth.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

#define TIMES 40

static volatile int times, done;
static volatile unsigned kept;

/* One signal, after a time that differs, so that it finds the thread anywhere. */
static void set_timer(long microseconds)
{
	struct itimerval timer = { { 0, 0 }, { 0, microseconds } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

TRUTH_FUNCTION void truth_handler(int number)
{
	truth_push(TRUTH_SIGNAL);
	truth_push(__func__);
	truth_linger();
	truth_pop();
	truth_pop();
	if (number != SIGALRM)
		return;
	if (++times == TIMES)
		done = 1;
	else
		set_timer(50 + (long)(truth_random() % 400));
}

static void handle(int number, int flags)
{
	struct sigaction action = { .sa_handler = truth_handler, .sa_flags = flags };

	sigemptyset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

/* Computes while signals come: they interrupt it anywhere. */
TRUTH_FUNCTION void truth_interrupted(unsigned depth)
{
	volatile char room[100];

	truth_push(__func__);
	room[depth] = 1;
	if (depth > 1)
		truth_interrupted(depth - 1);
	else
		truth_work_until(SIGALRM, &done);
	kept += (unsigned)room[depth];
	truth_pop();
}

static inline __attribute__((always_inline)) void interrupt(int flags)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	handle(SIGALRM, flags);
	times = done = 0;
	set_timer(700);
	truth_interrupted(6);
	signal(SIGALRM, SIG_IGN);
}

void truth_case_signals(void)
{
	truth_push(__func__);
	interrupt(SA_RESTART);
	truth_pop();
}

void truth_case_signal_stack(void)
{
	static char memory[1 << 18];
	stack_t own = { .ss_sp = memory, .ss_size = sizeof(memory) }, none = { .ss_flags = SS_DISABLE };

	truth_push(__func__);
	sigaltstack(&own, NULL);
	interrupt(SA_RESTART | SA_ONSTACK);
	sigaltstack(&none, NULL);
	truth_pop();
}

/* A signal that the thread sends to itself, from inside of the C library. */
void truth_case_raised(void)
{
	truth_push(__func__);
	handle(SIGUSR1, 0);
	truth_push(TRUTH_LIBRARY);
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	truth_pop();
	truth_pop();
}
