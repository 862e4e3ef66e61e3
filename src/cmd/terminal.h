/*
 * Terminal: what may be drawn where, and the few ways in which a command speaks:
 * results on standard output, everything else on standard error.
 */
#ifndef LODE_CMD_TERMINAL_H
#define LODE_CMD_TERMINAL_H

#include "base/buffer.h"
#include "base/error.h"

struct lode_terminal {
	int fd;
	int is_terminal;
	int colour;      /* colours are wanted */
	int utf8;        /* the locale can show more than ASCII */
	unsigned width;  /* columns; 80 when it is no terminal */
	unsigned height; /* lines; 0 when it is no terminal */
};

/* `color` is "auto", "always", "never" or NULL. */
struct lode_terminal lode_terminal_look(int fd, const char *color);
/* Its columns now (it may have been resized since). */
unsigned lode_terminal_width(int fd);

enum lode_style { LODE_PLAIN, LODE_BOLD, LODE_DIM, LODE_RED, LODE_YELLOW, LODE_GREEN, LODE_BLUE };

/* The escape sequence, or "" where colours are not wanted. */
const char *lode_style(const struct lode_terminal *terminal, enum lode_style style);

/*
 * Writes results to standard output: as they are, or, when that is a terminal
 * they do not fit on, through the user's pager. A buffer that failed is an error.
 */
int lode_show(const struct lode_terminal *out, const struct lode_buffer *results, struct lode_error *error);

/* One line on standard error: `lode: ` and the sentence. Cannot fail; control characters are shown escaped.
 */
void lode_say(const struct lode_terminal *err, enum lode_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends text from outside with control characters escaped, so that it cannot drive a terminal. */
void lode_text_safe(struct lode_buffer *buffer, const char *text);
/* The same, followed by spaces up to `width` columns; longer text is cut and ends in `~`. */
void lode_text_column(struct lode_buffer *buffer, const char *text, size_t width);
/* Columns that `text` fills once it is safe. */
size_t lode_text_width(const char *text);

#endif
