/*
 * Progress bar: see progress_line.h.
 *
 * The width is requested at each drawing, which is rare enough (ten times a
 * second), so a resized window needs no signal handler. Work that is done within
 * the first moment is never drawn: a bar that flashes says nothing.
 */
#include "cmd/progress_line.h"

#include "base/units.h"
#include "cmd/signals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BETWEEN_DRAWINGS 100000000ull
#define BEFORE_FIRST     300000000ull
#define SECOND           1000000000ull

/* Eighths of a cell, so that a short bar still moves often. */
static void add_bar(struct lode_buffer *line, double part, size_t cells, int utf8)
{
	static const char *const eighths[] = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
	size_t filled = (size_t)(part * (double)cells * 8 + 0.5);

	lode_buffer_text(line, utf8 ? " " : " [");
	for (size_t i = 0; i < cells; i++) {
		size_t here = filled > i * 8 ? filled - i * 8 : 0;

		if (here > 8)
			here = 8;
		lode_buffer_text(line, utf8 ? eighths[here] : here >= 4 ? "#" : " ");
	}
	lode_buffer_text(line, utf8 ? "" : "]");
}

static void add_rate(struct lode_buffer *line, const char *unit, double rate)
{
	char text[LODE_UNITS_TEXT];

	if (!strcmp(unit, "bytes")) {
		lode_bytes_text((uint64_t)rate, text);
		lode_buffer_print(line, " %8s/s", text);
	} else {
		lode_count_text((uint64_t)rate, text);
		lode_buffer_print(line, " %s %s/s", text, unit);
	}
}

static void add_time_left(struct lode_buffer *line, double seconds)
{
	if (seconds < 359999)
		lode_buffer_print(line, "  %u:%02u left", (unsigned)seconds / 60, (unsigned)seconds % 60);
}

static void compose(const struct lode_bar *bar, const char *unit, uint64_t done, uint64_t total, double seconds,
		    struct lode_buffer *line)
{
	size_t width = lode_terminal_width(bar->terminal.fd);
	size_t label = width > 100 ? 40 : width * 2 / 5;
	double rate = seconds > 0 ? (double)(done - bar->began_at) / seconds : 0;
	char text[LODE_UNITS_TEXT];

	if (label > lode_text_width(bar->phase))
		label = lode_text_width(bar->phase);
	lode_text_column(line, bar->phase, label < 4 ? 4 : label);
	if (!total) {
		lode_count_text(done, text);
		if (!strcmp(unit, "bytes"))
			lode_bytes_text(done, text);
		lode_buffer_print(line, "  %s%s%s", text, strcmp(unit, "bytes") ? " " : "",
				  strcmp(unit, "bytes") ? unit : "");
		add_rate(line, unit, rate);
		return;
	}
	if (done > total)
		done = total;
	if (width >= label + 60)
		add_bar(line, (double)done / (double)total, width - label - 44 > 40 ? 40 : width - label - 44,
			bar->terminal.look.utf8);
	lode_buffer_print(line, " %3u%%", (unsigned)((double)done * 100 / (double)total));
	if (width < label + 44)
		return;
	add_rate(line, unit, rate);
	if (rate > 0)
		add_time_left(line, (double)(total - done) / rate + 0.5);
}

static void draw(struct lode_bar *bar, const char *unit, uint64_t done, uint64_t total, uint64_t now)
{
	struct lode_buffer line = { 0 };

	lode_buffer_byte(&line, '\r');
	compose(bar, unit, done, total, (double)(now - bar->began) / (double)SECOND, &line);
	lode_buffer_text(&line, "\033[K");
	if (!line.failed)
		dprintf(bar->terminal.fd, "%.*s", (int)line.size, line.bytes);
	lode_buffer_release(&line);
	bar->drawn = 1;
	bar->drawn_at = now;
}

/* For a program that shows it: `DONE TOTAL PHASE`. */
static void write_line(struct lode_bar *bar, const char *phase, uint64_t done, uint64_t total, uint64_t now)
{
	if (dprintf(bar->lines_fd, "%" PRIu64 " %" PRIu64 " %s\n", done, total, phase) < 0)
		bar->lines_fd = -1;
	bar->drawn_at = now;
}

/* `LODE_PROGRESS_FD=N`: progress goes to descriptor N as lines; -1 without. */
static int find_lines_fd(void)
{
	const char *text = getenv("LODE_PROGRESS_FD");
	char *end;
	long number = text && *text ? strtol(text, &end, 10) : -1;

	return number > STDERR_FILENO && number < 65536 && !*end ? (int)number : -1;
}

static int update(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	struct lode_bar *bar = context;
	uint64_t now;

	if (!bar->enabled && bar->lines_fd < 0)
		return lode_signals_stop() != 0;
	now = lode_now();
	if (bar->lines_fd >= 0) {
		if (now - bar->drawn_at >= BETWEEN_DRAWINGS)
			write_line(bar, phase, done, total, now);
		return lode_signals_stop() != 0;
	}
	if (strncmp(bar->phase, phase, sizeof(bar->phase) - 1)) {
		snprintf(bar->phase, sizeof(bar->phase), "%s", phase);
		bar->began = now;
		bar->began_at = done;
	}
	if (done < bar->began_at)
		bar->began_at = done;
	if (now - bar->began >= BEFORE_FIRST && now - bar->drawn_at >= BETWEEN_DRAWINGS)
		draw(bar, unit, done, total, now);
	return lode_signals_stop() != 0;
}

void lode_bar_init(struct lode_bar *bar, const struct lode_terminal *err, int quiet)
{
	memset(bar, 0, sizeof(*bar));
	bar->progress.update = update;
	bar->progress.context = bar;
	bar->terminal = *err;
	bar->enabled = err->look.is_terminal && !quiet;
	bar->lines_fd = find_lines_fd();
}

void lode_bar_wipe(struct lode_bar *bar)
{
	if (bar->drawn)
		dprintf(bar->terminal.fd, "\r\033[K");
	bar->drawn = 0;
	bar->phase[0] = '\0';
}
