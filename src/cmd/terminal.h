/*
 * Terminal: what may be drawn where, and the few ways in which a command speaks:
 * results on standard output, everything else on standard error.
 */
#ifndef LODE_CMD_TERMINAL_H
#define LODE_CMD_TERMINAL_H

#include "base/error.h"
#include "base/safe_text.h"
#include "tasks/host.h"

/* `color` is "auto", "always", "never" or NULL. */
struct lode_terminal lode_terminal_look(int fd, const char *color);
/* Its columns now (it may have been resized since). */
unsigned lode_terminal_width(int fd);

/*
 * Writes results to standard output: as they are, or, when that is a terminal
 * they do not fit on, through the user's pager. A buffer that failed is an error.
 */
int lode_show(const struct lode_terminal *out, const struct lode_buffer *results, struct lode_error *error);

/* One line on standard error: `lode: ` and the sentence. Cannot fail; control characters are shown escaped.
 */
void lode_say(const struct lode_terminal *err, enum lode_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
