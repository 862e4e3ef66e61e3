/*
 * Terminal: see terminal.h.
 *
 * Names of streams, threads and functions come from files of strangers; here is
 * where they lose the power to move the cursor or change the title bar.
 */
#include "cmd/terminal.h"

#include "base/file.h"
#include "cmd/pager.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int wants_colour(int is_terminal, const char *color)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (color && !strcmp(color, "always"))
		return 1;
	if (color && !strcmp(color, "never"))
		return 0;
	if (no_color && *no_color)
		return 0;
	return is_terminal && !(term && !strcmp(term, "dumb"));
}

unsigned lode_terminal_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return 80;
	return size.ws_col;
}

struct lode_terminal lode_terminal_look(int fd, const char *color)
{
	struct lode_terminal terminal = { .fd = fd, .is_terminal = isatty(fd) };
	struct winsize size;

	terminal.colour = wants_colour(terminal.is_terminal, color);
	terminal.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	terminal.width = lode_terminal_width(fd);
	if (terminal.is_terminal && !ioctl(fd, TIOCGWINSZ, &size))
		terminal.height = size.ws_row;
	return terminal;
}

const char *lode_style(const struct lode_terminal *terminal, enum lode_style style)
{
	static const char *const sequences[] = {
		[LODE_PLAIN] = "\033[0m", [LODE_BOLD] = "\033[1m",    [LODE_DIM] = "\033[2m",
		[LODE_RED] = "\033[31m",  [LODE_YELLOW] = "\033[33m", [LODE_GREEN] = "\033[32m",
		[LODE_BLUE] = "\033[34m",
	};

	return terminal->colour ? sequences[style] : "";
}

static size_t count_lines(const struct lode_buffer *buffer)
{
	size_t lines = 0;

	for (size_t i = 0; i < buffer->size; i++)
		lines += buffer->bytes[i] == '\n';
	return lines;
}

int lode_show(const struct lode_terminal *out, const struct lode_buffer *results, struct lode_error *error)
{
	if (results->failed)
		return lode_fail_memory(error);
	if (out->height && count_lines(results) >= out->height &&
	    lode_pager_show(results->bytes, results->size))
		return 0;
	return lode_file_write(out->fd, results->bytes, results->size, "standard output", error);
}

void lode_say(const struct lode_terminal *err, enum lode_style style, const char *format, ...)
{
	struct lode_error sentence; /* for its escaping */
	char text[sizeof(sentence.text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	lode_fail(&sentence, 0, "%s", text);
	dprintf(err->fd, "%slode:%s %s\n", lode_style(err, style), lode_style(err, LODE_PLAIN),
		sentence.text);
}

/* A control character: C0, DEL, or C1 in its UTF-8 form. Returns how many bytes it has. */
static size_t control_length(const unsigned char *at)
{
	if (*at < 0x20 || *at == 0x7f)
		return 1;
	if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
		return 2;
	return 0;
}

/* Appends the character at `at`; adds its columns to `*width`; returns its bytes. */
static size_t add_character(struct lode_buffer *buffer, const unsigned char *at, size_t *width)
{
	size_t control = control_length(at);
	size_t length = 1;

	if (control) {
		if (buffer)
			lode_buffer_print(buffer, "\\x%02x", at[control - 1]);
		*width += 4;
		return control;
	}
	while (*at >= 0xc0 && (at[length] & 0xc0) == 0x80 && length < 4)
		length++;
	if (buffer)
		lode_buffer_add(buffer, at, length);
	*width += 1;
	return length;
}

void lode_text_safe(struct lode_buffer *buffer, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t width = 0;

	while (*at)
		at += add_character(buffer, at, &width);
}

size_t lode_text_width(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t width = 0;

	while (*at)
		at += add_character(NULL, at, &width);
	return width;
}

void lode_text_column(struct lode_buffer *buffer, const char *text, size_t width)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t limit = lode_text_width(text) > width ? width - 1 : width;
	size_t used = 0;

	while (*at) {
		size_t after = used;

		add_character(NULL, at, &after);
		if (after > limit)
			break;
		at += add_character(buffer, at, &used);
	}
	if (*at && width) {
		lode_buffer_byte(buffer, '~');
		used++;
	}
	for (; used < width; used++)
		lode_buffer_byte(buffer, ' ');
}
