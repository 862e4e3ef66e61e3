/*
 * The lines of `perf script`: see perf_script_line.h.
 *
 * A header is recognised by its time, the only part that has an unmistakable
 * shape: a word of digits, a point, six or nine digits and a colon. What is
 * before it is read from its right end, because the comm in front may hold
 * anything, blanks too.
 */
#include "import/kernel/perf_script_line.h"

#include <string.h>

/*
 * Bytes of a header within which its time must be, and of a trace within
 * which its threads must: so that a line of a stranger costs no square of its length.
 */
#define TIME_REACH  4096
#define TRACE_REACH 512

static int is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static int is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static int is_hexadecimal(char byte)
{
	return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

static struct lode_span trim(struct lode_span span)
{
	while (span.length && is_blank(span.text[0])) {
		span.text++;
		span.length--;
	}
	while (span.length && is_blank(span.text[span.length - 1]))
		span.length--;
	return span;
}

static struct lode_span first_word(struct lode_span span)
{
	size_t length = 0;

	span = trim(span);
	while (length < span.length && !is_blank(span.text[length]))
		length++;
	return (struct lode_span){ span.text, length };
}

static struct lode_span last_word(struct lode_span span)
{
	size_t start;

	span = trim(span);
	for (start = span.length; start && !is_blank(span.text[start - 1]);)
		start--;
	return (struct lode_span){ span.text + start, span.length - start };
}

/* What follows `word`, which is a part of `span`. */
static struct lode_span behind(struct lode_span span, struct lode_span word)
{
	return trim(lode_span(word.text + word.length, span.text + span.length));
}

static struct lode_span before(struct lode_span span, struct lode_span word)
{
	return trim(lode_span(span.text, word.text));
}

/* ---- header ---- */

/* `seconds.fraction:` into nanoseconds. */
static int read_time(struct lode_span word, uint64_t *t)
{
	const char *point = memchr(word.text, '.', word.length);
	uint64_t seconds, fraction;
	size_t digits;

	if (!point || word.text[word.length - 1] != ':')
		return 0;
	digits = word.length - (size_t)(point + 1 - word.text) - 1;
	if (digits < 3 || digits > 9 ||
	    !lode_span_number(lode_span(word.text, point), UINT64_MAX / 1000000000 - 1, &seconds) ||
	    !lode_span_number((struct lode_span){ point + 1, digits }, UINT64_MAX, &fraction))
		return 0;
	for (; digits < 9; digits++)
		fraction *= 10;
	*t = seconds * 1000000000 + fraction;
	return 1;
}

/* `[003]` */
static int read_cpu(struct lode_span word, uint16_t *cpu)
{
	uint64_t number;

	if (word.length < 3 || word.text[0] != '[' || word.text[word.length - 1] != ']' ||
	    !lode_span_number((struct lode_span){ word.text + 1, word.length - 2 }, LODE_NO_CPU - 1, &number))
		return 0;
	*cpu = (uint16_t)number;
	return 1;
}

/* perf prints -1 for what it does not know. */
static int read_id(struct lode_span word, uint32_t *id)
{
	uint64_t number;

	if (word.length == 2 && memcmp(word.text, "-1", 2) == 0) {
		*id = LODE_NO_PID;
		return 1;
	}
	if (!lode_span_number(word, UINT32_MAX - 1, &number))
		return 0;
	*id = (uint32_t)number;
	return 1;
}

/* `12` or `10/12` */
static int read_thread(struct lode_span word, struct lode_script_header *header)
{
	const char *slash = memchr(word.text, '/', word.length);

	header->pid = LODE_NO_PID;
	if (!slash)
		return read_id(word, &header->tid);
	return read_id(lode_span(word.text, slash), &header->pid) &&
	       read_id(lode_span(slash + 1, word.text + word.length), &header->tid);
}

/* The letters that -F +misc prints of a sample's mode: `K`, `U`, `Sp`. */
static int is_misc(struct lode_span word)
{
	for (size_t i = 0; i < word.length; i++)
		if (!strchr("KUHGgMESFpP", word.text[i]))
			return 0;
	return word.length >= 1 && word.length <= 4;
}

static int read_who(struct lode_span span, struct lode_script_header *header)
{
	struct lode_span word = last_word(span);

	header->cpu = LODE_NO_CPU;
	if (is_misc(word)) {
		span = before(span, word);
		word = last_word(span);
	}
	if (word.length && read_cpu(word, &header->cpu)) {
		span = before(span, word);
		word = last_word(span);
	}
	if (!word.length || !read_thread(word, header) || header->tid == LODE_NO_PID)
		return 0;
	header->comm = before(span, word);
	return 1;
}

/* `period event: trace`; the event is a word that ends in a colon. */
static void read_what(struct lode_span span, struct lode_script_header *header)
{
	struct lode_span word = first_word(span);

	header->has_period = lode_span_number(word, UINT64_MAX, &header->period);
	if (header->has_period) {
		span = behind(span, word);
		word = first_word(span);
	}
	header->event = header->trace = (struct lode_span){ word.text, 0 };
	if (word.length > 1 && word.text[word.length - 1] == ':') {
		header->event = (struct lode_span){ word.text, word.length - 1 };
		span = behind(span, word);
	}
	header->trace = trim(span);
}

/* The next word of the line, behind `word`, that ends in a colon; 0: there is none. `word` is empty at first. */
static int next_colon_word(struct lode_span line, struct lode_span *word)
{
	const char *end = line.text + line.length, *at = word->text + word->length;
	const char *limit = line.length > TIME_REACH ? line.text + TIME_REACH : end;

	while ((at = memchr(at, ':', (size_t)(limit - at)))) {
		const char *start = at++;

		if (at != end && !is_blank(*at))
			continue;
		while (start > line.text && !is_blank(start[-1]))
			start--;
		*word = lode_span(start, at);
		return 1;
	}
	return 0;
}

int lode_script_header_read(const char *line, size_t length, struct lode_script_header *header)
{
	struct lode_span span = trim((struct lode_span){ line, length }), word = { span.text, 0 };

	/* Each may be the time; what cannot be is passed over. */
	while (next_colon_word(span, &word))
		if (read_time(word, &header->t) && read_who(lode_span(span.text, word.text), header)) {
			read_what(behind(span, word), header);
			return 1;
		}
	return 0;
}

/* Events have letters; what has none is a time of another shape. */
static int is_event(struct lode_span word)
{
	for (size_t i = 0; i + 1 < word.length; i++)
		if ((word.text[i] >= 'a' && word.text[i] <= 'z') || (word.text[i] >= 'A' && word.text[i] <= 'Z'))
			return 1;
	return 0;
}

/* Where `comm tid [cpu]` ends before the event: a number there is the period if another one is before it. */
static struct lode_span without_period(struct lode_span span, struct lode_script_header *header)
{
	struct lode_span word = last_word(span), rest = before(span, word);
	struct lode_script_header other;

	header->has_period = lode_span_number(word, UINT64_MAX, &header->period) && read_who(rest, &other);
	return header->has_period ? rest : span;
}

int lode_script_header_read_timeless(const char *line, size_t length, struct lode_script_header *header)
{
	struct lode_span span = trim((struct lode_span){ line, length }), word = { span.text, 0 };

	if (length && line[0] == '\t')
		return 0;
	/* The event is the first word that ends in a colon and has a thread before it. */
	while (next_colon_word(span, &word)) {
		if (!is_event(word) || !read_who(without_period(lode_span(span.text, word.text), header), header))
			continue;
		header->t = 0;
		header->event = (struct lode_span){ word.text, word.length - 1 };
		header->trace = behind(span, word);
		return 1;
	}
	return 0;
}

/* ---- frame ---- */

/* Where the parenthesis opens that the last byte closes; NULL when it is not preceded by a blank. */
static const char *find_dso(struct lode_span span)
{
	size_t depth = 0;

	if (!span.length || span.text[span.length - 1] != ')')
		return NULL;
	for (size_t i = span.length; i-- > 0;) {
		depth += span.text[i] == ')';
		if (span.text[i] == '(' && --depth == 0)
			return i && is_blank(span.text[i - 1]) ? span.text + i : NULL;
	}
	return NULL;
}

static struct lode_span without_offset(struct lode_span symbol)
{
	size_t i = symbol.length;

	while (i && is_hexadecimal(symbol.text[i - 1]))
		i--;
	if (i == symbol.length || i < 4 || memcmp(symbol.text + i - 3, "+0x", 3) != 0)
		return symbol;
	return (struct lode_span){ symbol.text, i - 3 };
}

int lode_script_frame_read(const char *line, size_t length, struct lode_script_frame *frame)
{
	struct lode_span span = trim((struct lode_span){ line, length });
	struct lode_span address = first_word(span), rest;
	const char *dso;

	for (size_t i = 0; i < address.length; i++)
		if (!is_hexadecimal(address.text[i]))
			return 0;
	if (!address.length || address.length > 16)
		return 0;
	frame->address = address;
	rest = behind(span, address);
	dso = find_dso(rest);
	frame->symbol = without_offset(trim(dso ? lode_span(rest.text, dso) : rest));
	frame->dso = dso ? lode_span(dso + 1, rest.text + rest.length - 1) : lode_span(rest.text, rest.text);
	frame->inlined = frame->dso.length == 7 && memcmp(frame->dso.text, "inlined", 7) == 0;
	if (frame->symbol.length == 9 && memcmp(frame->symbol.text, "[unknown]", 9) == 0)
		frame->symbol.length = 0;
	frame->key = frame->symbol.length ? rest : span;
	return 1;
}

/* ---- scheduler events ---- */

static struct lode_span within_reach(struct lode_span trace)
{
	return (struct lode_span){ trace.text, trace.length < TRACE_REACH ? trace.length : TRACE_REACH };
}

/* The span behind `key`, which must follow a blank or begin the span. */
static int find_key(struct lode_span span, const char *key, struct lode_span *value)
{
	size_t size = strlen(key);
	const char *end = span.text + span.length, *at = span.text;

	while ((at = memmem(at, (size_t)(end - at), key, size))) {
		if (at == span.text || is_blank(at[-1])) {
			*value = lode_span(at + size, end);
			return 1;
		}
		at += size;
	}
	return 0;
}

/* The text behind `key` up to ` next_key`: names may hold blanks. */
static int find_between(struct lode_span span, const char *key, const char *next_key, struct lode_span *value)
{
	struct lode_span rest;

	if (!find_key(span, key, value) || !find_key(*value, next_key, &rest))
		return 0;
	*value = trim(lode_span(value->text, rest.text - strlen(next_key)));
	return 1;
}

static int find_tid(struct lode_span span, const char *key, uint32_t *tid)
{
	struct lode_span value;
	uint64_t number;

	if (!find_key(span, key, &value) || !lode_span_number(first_word(value), UINT32_MAX - 1, &number))
		return 0;
	*tid = (uint32_t)number;
	return 1;
}

/* `comm:12 [120]`, and what follows it. */
static int read_short_task(struct lode_span span, uint32_t *tid, struct lode_span *comm, struct lode_span *rest)
{
	const char *end = span.text + span.length, *bracket = span.text;

	while ((bracket = memmem(bracket, (size_t)(end - bracket), " [", 2))) {
		struct lode_span task = lode_span(span.text, bracket);
		const char *colon = memrchr(task.text, ':', task.length);
		const char *close = memchr(bracket, ']', (size_t)(end - bracket));
		uint64_t number;

		if (colon && close && lode_span_number(lode_span(colon + 1, bracket), UINT32_MAX - 1, &number)) {
			*tid = (uint32_t)number;
			*comm = trim(lode_span(span.text, colon));
			*rest = trim(lode_span(close + 1, end));
			return 1;
		}
		bracket += 2;
	}
	return 0;
}

static int read_short_switch(struct lode_span trace, struct lode_script_switch *result)
{
	struct lode_span comm, rest, arrow;

	if (!read_short_task(trace, &result->previous, &comm, &rest))
		return 0;
	result->state = first_word(rest);
	rest = behind(rest, result->state);
	arrow = first_word(rest);
	if (arrow.length != 3 || memcmp(arrow.text, "==>", 3) != 0)
		return 0;
	return read_short_task(behind(rest, arrow), &result->next, &result->next_comm, &rest);
}

int lode_script_switch_read(struct lode_span trace, struct lode_script_switch *result)
{
	struct lode_span state, next;

	trace = within_reach(trace);
	if (!find_key(trace, "prev_pid=", &state))
		return read_short_switch(trace, result);
	if (!find_tid(trace, "prev_pid=", &result->previous) || !find_key(trace, "prev_state=", &state) ||
	    !find_key(state, "==> ", &next))
		return 0;
	result->state = first_word(state);
	return find_between(next, "next_comm=", "next_pid=", &result->next_comm) &&
	       find_tid(next, "next_pid=", &result->next);
}

int lode_script_waking_read(struct lode_span trace, uint32_t *target, struct lode_span *comm)
{
	struct lode_span rest;

	trace = within_reach(trace);
	if (find_between(trace, "comm=", "pid=", comm))
		return find_tid(trace, "pid=", target);
	return read_short_task(trace, target, comm, &rest);
}

enum lode_switch_state lode_script_state(struct lode_span state)
{
	if (state.length && state.text[0] == 'R')
		return LODE_SWITCH_PREEMPTED;
	if (state.length && strchr("XZx", state.text[0]))
		return LODE_SWITCH_DEAD;
	return LODE_SWITCH_BLOCKED;
}
