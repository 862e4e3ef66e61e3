/*
 * Progress bar: one line on a terminal's standard error that says what is being
 * done, how far it is, how fast, and how long it will take. Also the place where
 * a request to stop (Ctrl-C) reaches the work.
 */
#ifndef LODE_CMD_PROGRESS_LINE_H
#define LODE_CMD_PROGRESS_LINE_H

#include "base/clock.h"
#include "base/progress.h"
#include "cmd/terminal.h"

struct lode_bar {
	struct lode_progress progress; /* give this to the library */
	struct lode_terminal terminal;
	int enabled;       /* a terminal, and not --quiet */
	int lines_fd;      /* where lines for a program go (LODE_PROGRESS_FD); -1: nowhere */
	int drawn;         /* the line is not empty */
	char phase[128];   /* the one that is going on */
	uint64_t began;    /* when it began, monotonic nanoseconds */
	uint64_t began_at; /* what was done then */
	uint64_t drawn_at; /* time of the last drawing */
};

/* `bar` must not move afterwards. Draws nothing unless `err` is a terminal. */
void lode_bar_init(struct lode_bar *bar, const struct lode_terminal *err, int quiet);
/* Empties the line; before anything else is written to standard error. */
void lode_bar_wipe(struct lode_bar *bar);

#endif
