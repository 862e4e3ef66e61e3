/*
 * Signals: see signals.h. A handler can reach nothing but static variables; these
 * are the only ones of the program that change.
 *
 * Ending is always safe: what a corpus names is whole (corpus.h), files are written
 * under another name first, and base/file.c knows those that are not finished.
 */
#include "cmd/signals.h"

#include "base/file.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum hold { HOLD_NOT, HOLD_SHORTLY, HOLD_FOR_GOOD };

static volatile sig_atomic_t stop;
static volatile sig_atomic_t hold;
static volatile sig_atomic_t command; /* the process that was started; 0: none */

/* As they were when the program started, for the commands that it starts. */
static struct sigaction started_with[NSIG];
static sigset_t started_blocked;

/* Counts the grace down; made once. */
static timer_t grace;
static int has_grace;

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigemptyset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

static void set_grace(long milliseconds)
{
	struct itimerspec time = { .it_value = { 0, milliseconds * 1000000 } };

	if (has_grace)
		timer_settime(grace, 0, &time, NULL);
}

/* What an abrupt exit must not leave behind: unfinished files, and a command without its recorder. */
static void clean_up(void)
{
	lode_file_remove_unfinished();
	if (command)
		kill(command, SIGTERM);
}

/* Ends as the signal would have, so that a shell knows what happened. */
static void end_by(int number)
{
	clean_up();
	handle(number, SIG_DFL, 0);
	raise(number); /* is delivered when the handler returns */
}

static void note_stop(int number)
{
	if (hold == HOLD_NOT || stop) {
		end_by(number);
		return;
	}
	stop = number;
	if (hold == HOLD_SHORTLY)
		set_grace(LODE_SIGNALS_GRACE);
}

/* The grace is over. It may have been over in the moment when the work was. */
static void end_late(int number)
{
	(void)number;
	if (hold != HOLD_SHORTLY)
		return;
	clean_up();
	_exit(128 + stop);
}

/* Pages of a mapped file that are no longer there. Only calls that are safe in a handler. */
static void file_shrank(int number)
{
	static const char sentence[] = "\nlode: a file shrank while it was being read, or its disk failed; "
				       "leave the file alone until lode is done and try again\n";

	(void)number;
	lode_file_remove_unfinished();
	if (write(STDERR_FILENO, sentence, sizeof(sentence) - 1) < 0)
		_exit(4);
	_exit(4);
}

/* A file at its limit (ulimit -f): the write that fails reports it. A handler, because SIG_IGN would survive exec. */
static void file_is_full(int number)
{
	(void)number;
}

void lode_signals_init(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };

	for (int i = 1; i < NSIG; i++)
		if (sigaction(i, NULL, &started_with[i]) < 0)
			started_with[i].sa_handler = SIG_DFL;
	sigprocmask(SIG_SETMASK, NULL, &started_blocked);
	handle(SIGBUS, file_shrank, 0);
	handle(SIGXFSZ, file_is_full, SA_RESTART);
	/* `lode export … | head` ends quietly, also under a parent that ignores SIGPIPE. */
	handle(SIGPIPE, SIG_DFL, 0);
	has_grace = timer_create(CLOCK_MONOTONIC, &event, &grace) == 0;
	if (has_grace)
		handle(SIGALRM, end_late, SA_RESTART);
	/* What the parent wants ignored (nohup, background jobs) stays so. */
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(*stop_signals); i++)
		if (started_with[stop_signals[i]].sa_handler != SIG_IGN)
			handle(stop_signals[i], note_stop, SA_RESTART);
}

void lode_signals_hold(void)
{
	handle(SIGPIPE, SIG_IGN, 0);
	hold = HOLD_SHORTLY;
}

void lode_signals_hold_for_good(void)
{
	lode_signals_hold();
	hold = HOLD_FOR_GOOD;
	set_grace(0);
}

void lode_signals_again(void)
{
	stop = 0;
	lode_signals_hold_for_good();
}

void lode_signals_release(void)
{
	hold = HOLD_NOT;
	set_grace(0);
	handle(SIGPIPE, SIG_DFL, 0);
}

void lode_signals_command(int pid)
{
	command = pid;
}

int lode_signals_stop(void)
{
	return stop;
}

void lode_signals_restore(void)
{
	/* Until the command begins a handler of Lode's must not run. */
	for (int i = 1; i < NSIG; i++)
		if (started_with[i].sa_handler != SIG_IGN)
			handle(i, SIG_DFL, 0);
		else
			handle(i, SIG_IGN, 0);
	sigprocmask(SIG_SETMASK, &started_blocked, NULL);
}
