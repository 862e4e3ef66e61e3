/* Findings for people: see findings_text.h. */
#include "text/findings_text.h"

#include "base/safe_text.h"
#include "base/units.h"
#include "result/machine_words.h"

#include <stdio.h>
#include <string.h>

/* Columns before a sentence: number, time, share. */
#define INDENT 20
/* A sentence has these columns at least, however narrow the terminal is, and on a wide one at most. */
#define MIN_WIDTH 40
#define MAX_WIDTH 100

static size_t text_width(const struct lode_look *look)
{
	size_t width = look->width > INDENT + MIN_WIDTH ? look->width - INDENT : MIN_WIDTH;

	return width < MAX_WIDTH ? width : MAX_WIDTH;
}

/* Appends words in lines of `width` columns, each but the first behind `indent` spaces. */
static void put_wrapped(struct lode_buffer *buffer, const char *words, size_t size, int indent, size_t width)
{
	size_t column = 0;

	for (size_t i = 0; i < size;) {
		const char *space = memchr(words + i, ' ', size - i);
		size_t length = space ? (size_t)(space - words) - i : size - i;

		if (column && column + 1 + length > width) {
			lode_buffer_print(buffer, "\n%*s", indent, "");
			column = 0;
		}
		if (column) {
			lode_buffer_byte(buffer, ' ');
			column++;
		}
		lode_buffer_add(buffer, words + i, length);
		column += length;
		i += length + 1;
	}
	lode_buffer_byte(buffer, '\n');
}

static void put_sentence(const struct lode_finding_source *source, const struct lode_finding *finding,
			 const struct lode_look *look, struct lode_buffer *buffer)
{
	struct lode_buffer sentence = { 0 };

	lode_finding_sentence(source, finding, NULL, &sentence);
	lode_text_escape(&sentence, 0);
	put_wrapped(buffer, sentence.bytes, sentence.size, INDENT, text_width(look));
	buffer->failed |= sentence.failed;
	lode_buffer_release(&sentence);
}

/* What a symptom is called: a name from outside. */
static void put_symptom_word(const struct lode_finding_source *source, struct lode_buffer *buffer)
{
	size_t start = buffer->size;

	lode_finding_symptom_word(source, buffer);
	lode_text_escape(buffer, start);
	lode_buffer_text(buffer, lode_plural(source->findings->symptoms));
}

/* "12 of 12 clicks, 40 events, 3 hosts". */
static void put_extent(const struct lode_finding_source *source, const struct lode_finding *finding,
		       const struct lode_look *look, struct lode_buffer *buffer)
{
	const struct lode_findings *findings = source->findings;
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT];

	lode_buffer_print(buffer, "%*s%s", INDENT, "", lode_style(look, LODE_DIM));
	if (findings->symptoms > 1) {
		lode_buffer_print(buffer, "%s of %s ", lode_count_text(finding->symptoms, a),
				  lode_count_text(findings->symptoms, b));
		put_symptom_word(source, buffer);
		lode_buffer_text(buffer, ", ");
	}
	lode_buffer_print(buffer, "%s event%s", lode_count_text(finding->events, a), lode_plural(finding->events));
	if (finding->streams > 1)
		lode_buffer_print(buffer, ", %s streams", lode_count_text(finding->streams, a));
	if (finding->hosts > 1)
		lode_buffer_print(buffer, ", %s hosts", lode_count_text(finding->hosts, a));
	lode_buffer_print(buffer, "%s\n", lode_style(look, LODE_PLAIN));
}

void lode_finding_text(const struct lode_finding_source *source, size_t i, const struct lode_look *look,
		       struct lode_buffer *buffer)
{
	const struct lode_finding *finding = &source->findings->items[i];
	char cost[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT];

	lode_buffer_print(buffer, "%s%3zu%8s%7s%s  ", lode_style(look, LODE_BOLD), i + 1,
			  lode_duration_text(finding->cost, cost),
			  lode_share_text(finding->cost, source->findings->total, share),
			  lode_style(look, LODE_PLAIN));
	put_sentence(source, finding, look, buffer);
	put_extent(source, finding, look, buffer);
}

/* "The GPU ran 37.1% of 204ms and was idle 62.9%" */
static void put_gpus(const struct lode_findings *findings, uint64_t running, struct lode_buffer *buffer)
{
	char count[LODE_UNITS_TEXT], total[LODE_UNITS_TEXT], ran[LODE_UNITS_TEXT], idle[LODE_UNITS_TEXT];
	int several = findings->symptoms > 1;

	lode_buffer_print(buffer, "%s%s ran %s of %s%s and %s idle %s",
			  several ? lode_count_text(findings->symptoms, count) : "The GPU", several ? " GPUs" : "",
			  lode_share_text(running, findings->total, ran),
			  lode_duration_text(findings->total, total), several ? " together" : "",
			  several ? "were" : "was",
			  lode_share_text(findings->total - running, findings->total, idle));
}

/* What it is about, and how much of it is explained. */
static void put_head(const struct lode_finding_source *source, size_t shown, struct lode_buffer *buffer)
{
	const struct lode_findings *findings = source->findings;
	char count[LODE_UNITS_TEXT], total[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT];
	uint64_t explained = 0, ran;

	for (size_t i = 0; i < shown; i++)
		explained = lode_add_saturating(explained, findings->items[i].cost);
	if (lode_findings_are_of_gpus(source, &ran)) {
		put_gpus(findings, ran, buffer);
	} else if (findings->symptoms) {
		lode_buffer_print(buffer, "%s ", lode_count_text(findings->symptoms, count));
		put_symptom_word(source, buffer);
		lode_buffer_print(buffer, " took %s%s", lode_duration_text(findings->total, total),
				  findings->symptoms > 1 ? " together" : "");
	} else {
		lode_buffer_print(buffer, "Threads ran, were ready or waited for %s",
				  lode_duration_text(findings->total, total));
	}
	lode_buffer_print(buffer, "; %zu finding%s explain%s %s of it.\n\n", shown, lode_plural(shown),
			  shown == 1 ? "s" : "", lode_share_text(explained, findings->total, share));
}

/* That the machine was busy, where that is so. */
static void put_machine(const struct lode_finding_source *source, const struct lode_look *look,
			struct lode_buffer *buffer)
{
	struct lode_buffer sentence = { 0 };
	uint64_t cost;

	lode_machine_sentence(source, &cost, &sentence);
	if (sentence.size) {
		lode_text_escape(&sentence, 0);
		put_wrapped(buffer, sentence.bytes, sentence.size, 0, text_width(look) + INDENT);
		lode_buffer_text(buffer, "\n");
	}
	buffer->failed |= sentence.failed;
	lode_buffer_release(&sentence);
}

/* ---- processes ---- */

#define PROCESSES  5
#define NAME_WIDTH 20
#define RARE       100 /* rows and columns with less than this part of the time are left out */

/* States in the order of columns. A path has no time that is idle. */
static const enum lode_state columns[] = {
	LODE_STATE_RUNNING,    LODE_STATE_READY, LODE_STATE_LOCK,    LODE_STATE_GIL,   LODE_STATE_REPLY,
	LODE_STATE_DISK,       LODE_STATE_PAGE,  LODE_STATE_NETWORK, LODE_STATE_TIMER, LODE_STATE_CHILD,
	LODE_STATE_OTHER_WAIT, LODE_STATE_WORK,  LODE_STATE_IDLE,
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Whether time in this state is counted separately, and so no part of the whole. */
static int is_apart(const struct lode_findings *findings, enum lode_state state)
{
	return !lode_state_counts(state) && !(state == LODE_STATE_CHILD && findings->symptoms);
}

/* The processes with a hundredth of all time, and the one with most of it. They come first. */
static size_t count_processes(const struct lode_findings *findings)
{
	size_t shown = 0;

	while (shown < findings->process_count && shown < PROCESSES && findings->processes[shown].counted &&
	       (!shown || findings->processes[shown].counted >= findings->total / RARE))
		shown++;
	return shown;
}

/*
 * Whether the processes that are shown were in this state for a hundredth of their time, or one of them for a quarter of its
 * own: no row may look empty.
 */
static int is_column(const struct lode_findings *findings, size_t shown, enum lode_state state)
{
	uint64_t time = 0, counted = 0;

	for (size_t i = 0; i < shown; i++) {
		const struct lode_finding_process *process = &findings->processes[i];

		if (process->ns[state] > process->counted / 4)
			return 1;
		time = lode_add_saturating(time, process->ns[state]);
		counted = lode_add_saturating(counted, process->counted);
	}
	return time > counted / RARE;
}

/* A share of all time; what is counted separately is none, so it is a duration. */
static const char *cell_text(const struct lode_findings *findings, const struct lode_finding_process *process,
			     enum lode_state state, char text[LODE_UNITS_TEXT])
{
	uint64_t time = process->ns[state];

	if (!time)
		return "-";
	return is_apart(findings, state) ? lode_duration_text(time, text)
					 : lode_share_text(time, findings->total, text);
}

static void put_column_names(const struct lode_findings *findings, size_t shown, struct lode_buffer *buffer)
{
	char total[LODE_UNITS_TEXT], title[LODE_UNITS_TEXT + 16];

	snprintf(title, sizeof(title), "process, %% of %s", lode_duration_text(findings->total, total));
	lode_buffer_print(buffer, "  %-*s", NAME_WIDTH, title);
	for (size_t k = 0; k < COLUMNS; k++)
		if (is_column(findings, shown, columns[k]))
			lode_buffer_print(buffer, "%9s", lode_state_name(columns[k]));
	lode_buffer_byte(buffer, '\n');
}

/*
 * Who was in which state. All shares are of the same whole, as those of the findings are: what a process did for a thousandth of it
 * must not read as if that was the problem.
 */
static void put_processes(const struct lode_finding_source *source, struct lode_buffer *buffer)
{
	const struct lode_findings *findings = source->findings;
	size_t shown = count_processes(findings);
	char text[LODE_UNITS_TEXT];

	if (!shown)
		return;
	put_column_names(findings, shown, buffer);
	for (size_t i = 0; i < shown; i++) {
		const struct lode_finding_process *process = &findings->processes[i];
		const char *name = lode_strings_get(&findings->names, process->process);

		lode_buffer_text(buffer, "  ");
		lode_text_column(buffer, *name ? name : "(without a name)", NAME_WIDTH);
		for (size_t k = 0; k < COLUMNS; k++)
			if (is_column(findings, shown, columns[k]))
				lode_buffer_print(buffer, "%9s", cell_text(findings, process, columns[k], text));
		lode_buffer_byte(buffer, '\n');
	}
	lode_buffer_byte(buffer, '\n');
}

void lode_findings_text(const struct lode_finding_source *source, size_t top, const struct lode_look *look,
			struct lode_buffer *buffer)
{
	size_t count = source->findings->count, shown = top && top < count ? top : count;

	if (!count)
		return;
	put_head(source, shown, buffer);
	put_machine(source, look, buffer);
	put_processes(source, buffer);
	for (size_t i = 0; i < shown; i++)
		lode_finding_text(source, i, look, buffer);
	if (shown < count)
		lode_buffer_print(buffer, "%zu more finding%s; '--top N' or '--all' shows them\n", count - shown,
				  lode_plural(count - shown));
}

void lode_findings_hint_text(const char *hint, const struct lode_look *look, struct lode_buffer *buffer)
{
	struct lode_buffer words = { 0 };

	if (!hint)
		return;
	lode_text_safe(&words, hint);
	lode_buffer_print(buffer, "%-*s", INDENT, "  hint");
	put_wrapped(buffer, words.bytes, words.size, INDENT, text_width(look));
	buffer->failed |= words.failed;
	lode_buffer_release(&words);
}
