/*
 * Signals: a wish to stop is noted and obeyed at the next progress report, so
 * that nothing is left half-done; a file that shrinks under a mapping ends the
 * program with a sentence instead of a crash.
 */
#ifndef LODE_CMD_SIGNALS_H
#define LODE_CMD_SIGNALS_H

/* For all commands: SIGBUS, SIGPIPE. Call once. */
void lode_signals_init(void);
/*
 * From here on SIGINT, SIGTERM and SIGHUP are noted only; the second one of a kind
 * ends the program at once. Until then, and again after lode_signals_release,
 * they end it at once, which is right wherever nothing is half-done.
 */
void lode_signals_hold(void);
void lode_signals_release(void);
/* The signal that asked to stop, or 0. */
int lode_signals_stop(void);

#endif
