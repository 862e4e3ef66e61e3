/*
 * Signals: at any point of a command, a request to stop (SIGINT, SIGTERM, SIGHUP)
 * ends it within a fifth of a second, and no unfinished file stays behind. Work
 * that can end cleanly holds the signal, sees it at its next progress report,
 * and has a tenth of a second from then on. A file that shrinks under a mapping ends
 * the program with a sentence instead of a crash.
 */
#ifndef LODE_CMD_SIGNALS_H
#define LODE_CMD_SIGNALS_H

/* For all commands, once, before anything else: from here on a request to stop ends the program at once. */
void lode_signals_init(void);
/*
 * From here on a request to stop is noted, and the program has LODE_SIGNALS_GRACE to
 * end by itself; a second one ends it at once. A reader that goes away is an error
 * of the write, not a signal.
 */
void lode_signals_hold(void);
/* Holds without a limit: for what must not be lost, such as a recording. A second request ends it at once. */
void lode_signals_hold_for_good(void);
void lode_signals_release(void);
/* The process of a command that Lode has started: an abrupt exit ends it, too. 0: it has ended. */
void lode_signals_command(int pid);
/* The signal that asked to stop, or 0. */
int lode_signals_stop(void);
/* In a process that is about to become a command: all signals as Lode was started with them. */
void lode_signals_restore(void);

/* Milliseconds. */
#define LODE_SIGNALS_GRACE 100

/* Forgets a signal that asked to stop, and notes the next one. */
void lode_signals_again(void);

#endif
