/* Terminal: see terminal.h. */
#include "cmd/terminal.h"

#include "base/file.h"
#include "cluster/cluster.h"
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
	struct lode_terminal terminal = { .fd = fd,
					  .look.is_terminal = isatty(fd) && !lode_cluster_is_forwarded() };
	struct winsize size;

	terminal.look.colour = wants_colour(terminal.look.is_terminal, color);
	terminal.look.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	terminal.look.width = lode_terminal_width(fd);
	if (terminal.look.is_terminal && !ioctl(fd, TIOCGWINSZ, &size))
		terminal.height = size.ws_row;
	return terminal;
}

static size_t count_lines(const struct lode_buffer *buffer)
{
	size_t lines = 0;

	for (size_t i = 0; i < buffer->size; i++)
		lines += buffer->bytes[i] == '\n';
	return lines;
}

static int show(const struct lode_terminal *out, const struct lode_buffer *results, struct lode_error *error)
{
	if (results->failed)
		return lode_fail_memory(error);
	if (out->height && count_lines(results) >= out->height && lode_pager_show(results->bytes, results->size))
		return 0;
	return lode_file_write(out->fd, results->bytes, results->size, "standard output", error);
}

int lode_show(const struct lode_terminal *out, const struct lode_buffer *results, struct lode_error *error)
{
	struct lode_buffer safe = { 0 };
	int changed = out->look.is_terminal && lode_text_for_terminal(results, 1, &safe);
	int code = show(out, changed ? &safe : results, error);

	lode_buffer_release(&safe);
	return code;
}

void lode_say(const struct lode_terminal *err, enum lode_style style, const char *format, ...)
{
	struct lode_error sentence; /* for its escaping */
	char text[sizeof(sentence.text)], line[sizeof(sentence.text) + 64];
	va_list arguments;
	int size;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	lode_fail(&sentence, 0, "%s", text);
	size = snprintf(line, sizeof(line), "%slode:%s %s\n", lode_style(&err->look, style),
			lode_style(&err->look, LODE_PLAIN), sentence.text);
	lode_file_write(err->fd, line, (size_t)size, "standard error", NULL);
}
