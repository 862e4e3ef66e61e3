/*
 * Signals: see signals.h. A handler can reach nothing but a static variable;
 * this is the only one of the program that changes.
 */
#include "cmd/signals.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };

static void note_stop(int number)
{
	stop = number;
}

/* Pages of a mapped file that are no longer there. Only calls that are safe in a handler. */
static void file_shrank(int number)
{
	static const char sentence[] = "\nlode: a file shrank while it was being read, or its disk failed; "
				       "leave the file alone until lode is done and try again\n";

	(void)number;
	if (write(STDERR_FILENO, sentence, sizeof(sentence) - 1) < 0)
		_exit(4);
	_exit(4);
}

/* A file at its limit (ulimit -f): the write that failed tells. A handler, for SIG_IGN would outlive exec. */
static void file_is_full(int number)
{
	(void)number;
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigemptyset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

void lode_signals_init(void)
{
	handle(SIGBUS, file_shrank, 0);
	handle(SIGXFSZ, file_is_full, SA_RESTART);
	/* `lode export … | head` ends quietly, also under a parent that ignores SIGPIPE. */
	handle(SIGPIPE, SIG_DFL, 0);
}

/* Whether the parent wants it ignored (nohup, background jobs): then so it stays. */
static int is_ignored(int number)
{
	struct sigaction action;

	return !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN;
}

void lode_signals_hold(void)
{
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(*stop_signals); i++)
		if (!is_ignored(stop_signals[i]))
			handle(stop_signals[i], note_stop, SA_RESETHAND | SA_RESTART);
	handle(SIGPIPE, SIG_IGN, 0);
}

void lode_signals_release(void)
{
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(*stop_signals); i++)
		if (!is_ignored(stop_signals[i]))
			handle(stop_signals[i], SIG_DFL, 0);
	handle(SIGPIPE, SIG_DFL, 0);
}

int lode_signals_stop(void)
{
	return stop;
}
