/*
 * How text may look where it will be read: colours, characters, columns. Renderers write
 * into a buffer and know nothing of terminals but this.
 */
#ifndef LODE_TEXT_LOOK_H
#define LODE_TEXT_LOOK_H

struct lode_look {
	int colour;      /* colours are wanted */
	int utf8;        /* the locale can show more than ASCII */
	int is_terminal; /* lines that are too long are cut to `width` */
	unsigned width;  /* columns; 80 when it is no terminal */
};

enum lode_style { LODE_PLAIN, LODE_BOLD, LODE_DIM, LODE_RED, LODE_YELLOW, LODE_GREEN, LODE_BLUE };

/* The escape sequence, or "" where colours are not wanted. */
const char *lode_style(const struct lode_look *look, enum lode_style style);

#endif
