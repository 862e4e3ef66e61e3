/*
 * Queries: see query_text.h. One pass, piece by piece: a comment, a string, a number, a word, or a single byte. A number
 * that belongs to a word (`t1`, `$2`) is part of it. A list `(?, ?, ?)` of any length reads `(?)`, so that queries for
 * several rows are one.
 */
#include "trace/query_text.h"

#include <ctype.h>
#include <string.h>

#define CUT "\xe2\x80\xa6" /* … */

struct walk {
	const char *at;
	const char *end;
	char *text;
	size_t size;
	int blank; /* one is due before the next piece */
	int cut;
};

static int is_word(unsigned char byte)
{
	return isalnum(byte) || byte == '_' || byte == '$' || byte >= 0x80;
}

/* Room for the cut and the NUL stays free. */
static void put(struct walk *walk, const char *bytes, size_t size)
{
	int blank = walk->blank && walk->size;

	walk->blank = 0;
	if (walk->cut || walk->size + (size_t)blank + size + sizeof(CUT) > LODE_QUERY_TEXT) {
		walk->cut = 1;
		return;
	}
	if (blank)
		walk->text[walk->size++] = ' ';
	for (size_t i = 0; i < size; i++)
		walk->text[walk->size++] = (char)((unsigned char)bytes[i] < ' ' ? ' ' : bytes[i]);
}

/* Behind the string or name that begins here with its quote; a doubled quote, or one behind a backslash, is part of it. */
static const char *end_of_quoted(const struct walk *walk)
{
	const char *at = walk->at + 1;
	char quote = *walk->at;

	for (; at < walk->end; at++) {
		if (*at == '\\' && quote == '\'')
			at++;
		else if (*at == quote && at + 1 < walk->end && at[1] == quote)
			at++;
		else if (*at == quote)
			return at + 1;
	}
	return walk->end;
}

/* Behind the comment that begins here; NULL: none does. */
static const char *end_of_comment(const struct walk *walk)
{
	size_t left = (size_t)(walk->end - walk->at);
	const char *end;

	if (left >= 2 && walk->at[0] == '-' && walk->at[1] == '-') {
		end = memchr(walk->at, '\n', left);
		return end ? end : walk->end;
	}
	if (left < 2 || walk->at[0] != '/' || walk->at[1] != '*')
		return NULL;
	end = memmem(walk->at + 2, left - 2, "*/", 2);
	return end ? end + 2 : walk->end;
}

/* `(?` is there, and another value comes: it goes with the first. */
static int continues_list(const struct walk *walk)
{
	return walk->size >= 3 && walk->text[walk->size - 1] == ',' && walk->text[walk->size - 2] == '?' &&
	       walk->text[walk->size - 3] == '(';
}

static void put_value(struct walk *walk)
{
	if (continues_list(walk)) {
		walk->size--;
		walk->blank = 0;
		return;
	}
	put(walk, "?", 1);
}

static const char *end_of_word(const struct walk *walk, const char *more)
{
	const char *at = walk->at + 1;

	while (at < walk->end && (is_word((unsigned char)*at) || strchr(more, *at)))
		at++;
	return at;
}

/* A sign: of the number behind it, since what is before it is no value that it could be added to. */
static int is_sign(const struct walk *walk)
{
	return (*walk->at == '-' || *walk->at == '+') && walk->at + 1 < walk->end &&
	       isdigit((unsigned char)walk->at[1]) && walk->size && strchr("(,=<>+-*/", walk->text[walk->size - 1]);
}

static void put_piece(struct walk *walk)
{
	unsigned char byte = (unsigned char)*walk->at;
	const char *end = walk->at + 1;

	if (byte == '\'') {
		end = end_of_quoted(walk);
		put_value(walk);
	} else if (byte == '"' || byte == '`') {
		end = end_of_quoted(walk);
		put(walk, walk->at, (size_t)(end - walk->at));
	} else if (isdigit(byte) || is_sign(walk)) {
		end = end_of_word(walk, ".");
		put_value(walk);
	} else if (is_word(byte)) {
		end = end_of_word(walk, "");
		put(walk, walk->at, (size_t)(end - walk->at));
	} else {
		put(walk, walk->at, 1);
	}
	walk->at = end;
}

/* The last word, which may be the beginning of a longer one. */
static void drop_word(struct walk *walk)
{
	while (walk->size && is_word((unsigned char)walk->text[walk->size - 1]))
		walk->size--;
	while (walk->size && walk->text[walk->size - 1] == ' ')
		walk->size--;
	if (walk->size + sizeof(CUT) > LODE_QUERY_TEXT)
		walk->size = LODE_QUERY_TEXT - sizeof(CUT);
}

void lode_query_text(const char *query, size_t length, char text[LODE_QUERY_TEXT])
{
	struct walk walk = { .at = query, .end = query + strnlen(query, length), .text = text };

	int was_cut = walk.end == query + length;

	while (walk.at < walk.end && !walk.cut) {
		const char *behind = end_of_comment(&walk);

		if (behind || (unsigned char)*walk.at <= ' ' || *walk.at == 0x7f) {
			walk.at = behind ? behind : walk.at + 1;
			walk.blank = 1;
			continue;
		}
		put_piece(&walk);
	}
	if (was_cut && !walk.cut)
		drop_word(&walk);
	if (walk.cut || was_cut) {
		memcpy(text + walk.size, CUT, sizeof(CUT) - 1);
		walk.size += sizeof(CUT) - 1;
	}
	while (walk.size && (text[walk.size - 1] == ';' || text[walk.size - 1] == ' '))
		walk.size--;
	text[walk.size] = '\0';
}
