/*
 * JSON documents, walked in place; see json_read.h.
 *
 * Everything here trusts the check (json_check.c), so stepping over a value only
 * counts brackets and strings (json_skip.h).
 */
#include "base/json_read.h"

#include "base/json_skip.h"
#include "base/json_special.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* ---- walking ---- */

enum lode_json_kind lode_json_kind(struct lode_json_value value)
{
	if (!value.at)
		return LODE_JSON_ABSENT;
	switch (*value.at) {
	case '{':
		return LODE_JSON_OBJECT;
	case '[':
		return LODE_JSON_ARRAY;
	case '"':
		return LODE_JSON_TEXT;
	case 't':
		return LODE_JSON_TRUE;
	case 'f':
		return LODE_JSON_FALSE;
	case 'n':
		return LODE_JSON_NULL;
	default:
		return LODE_JSON_NUMBER;
	}
}

static const char *skip_space(const char *at)
{
	while (lode_json_is_space(*at))
		at++;
	return at;
}

/* What numbers and words consist of: none of what may follow them. */
static int is_scalar(char byte)
{
	static const unsigned char others[256] = {
		[','] = 1, ['}'] = 1, [']'] = 1, [' '] = 1, ['\n'] = 1, ['\r'] = 1, ['\t'] = 1
	};

	return !others[(unsigned char)byte];
}

static const char *skip_text(const char *at)
{
	at = lode_json_find_special(at + 1);
	while (*at != '"')
		at = lode_json_find_special(at + 2);
	return at + 1;
}

static const char *skip_value(const char *at)
{
	switch (*at) {
	case '{':
	case '[':
		return lode_json_skip_brackets(at);
	case '"':
		return skip_text(at);
	default:
		while (is_scalar(*at))
			at++;
		return at;
	}
}

/* Steps from behind a value to the next one, or to the end. */
static void step_after(struct lode_json_walk *walk, const char *at)
{
	at = skip_space(at);
	walk->at = *at == ',' ? skip_space(at + 1) : NULL;
	walk->end = *at == ',' ? NULL : at + 1;
}

struct lode_json_walk lode_json_walk(struct lode_json_value value)
{
	const char *first;

	if (!value.at || (*value.at != '{' && *value.at != '['))
		return (struct lode_json_walk){ NULL, NULL };
	first = skip_space(value.at + 1);
	if (*first == '}' || *first == ']')
		return (struct lode_json_walk){ NULL, first + 1 };
	return (struct lode_json_walk){ first, NULL };
}

int lode_json_item(struct lode_json_walk *walk, struct lode_json_value *item)
{
	if (!walk->at)
		return 0;
	item->at = walk->at;
	step_after(walk, skip_value(walk->at));
	return 1;
}

int lode_json_peek(const struct lode_json_walk *walk, struct lode_json_value *item)
{
	item->at = walk->at;
	return walk->at != NULL;
}

void lode_json_pass(struct lode_json_walk *walk, const struct lode_json_walk *inner)
{
	step_after(walk, inner->end ? inner->end : skip_value(walk->at));
}

/* The value of the member that begins with this key. */
static const char *value_behind(const char *key)
{
	return skip_space(skip_space(skip_text(key)) + 1);
}

int lode_json_member(struct lode_json_walk *walk, struct lode_json_value *key, struct lode_json_value *value)
{
	if (!walk->at)
		return 0;
	key->at = walk->at;
	value->at = value_behind(walk->at);
	step_after(walk, skip_value(value->at));
	return 1;
}

int lode_json_member_text(struct lode_json_walk *walk, const char **key, size_t *length,
			  struct lode_json_value *value)
{
	const char *end;

	if (!walk->at)
		return 0;
	end = lode_json_find_special(walk->at + 1);
	*key = *end == '"' ? walk->at + 1 : NULL;
	*length = (size_t)(end - walk->at) - 1;
	value->at = skip_space(skip_space(*key ? end + 1 : skip_text(walk->at)) + 1);
	step_after(walk, skip_value(value->at));
	return 1;
}

int lode_json_peek_member(const struct lode_json_walk *walk, struct lode_json_value *key,
			  struct lode_json_value *value)
{
	if (!walk->at)
		return 0;
	key->at = walk->at;
	value->at = value_behind(walk->at);
	return 1;
}

void lode_json_pass_member(struct lode_json_walk *walk, struct lode_json_value value,
			   const struct lode_json_walk *inner)
{
	step_after(walk, inner->end ? inner->end : skip_value(value.at));
}

size_t lode_json_count(struct lode_json_value array)
{
	struct lode_json_walk walk = lode_json_walk(array);
	struct lode_json_value item;
	size_t count = 0;

	if (lode_json_kind(array) == LODE_JSON_ARRAY)
		while (lode_json_item(&walk, &item))
			count++;
	return count;
}

size_t lode_json_length(struct lode_json_value value)
{
	return value.at ? (size_t)(skip_value(value.at) - value.at) : 0;
}

struct lode_json_value lode_json_get(struct lode_json_value object, const char *key)
{
	struct lode_json_walk walk = lode_json_walk(object);
	struct lode_json_value name, value;

	if (lode_json_kind(object) != LODE_JSON_OBJECT)
		return (struct lode_json_value){ NULL };
	while (lode_json_peek(&walk, &name)) {
		value.at = value_behind(name.at);
		if (lode_json_is_text(name, key))
			return value; /* large, perhaps: where it ends is not asked */
		step_after(&walk, skip_value(value.at));
	}
	return (struct lode_json_value){ NULL };
}

struct lode_json_walk lode_json_get_all(struct lode_json_value object, const char *const keys[],
					struct lode_json_value values[], size_t count)
{
	struct lode_json_walk walk = lode_json_walk(object);
	struct lode_json_value name, value;
	const char *text;
	size_t length;

	memset(values, 0, count * sizeof(*values));
	if (lode_json_kind(object) != LODE_JSON_OBJECT)
		return (struct lode_json_walk){ NULL, NULL };
	while ((name.at = walk.at) != NULL && lode_json_member_text(&walk, &text, &length, &value))
		for (size_t i = 0; i < count; i++)
			if (!values[i].at && (text ? strncmp(text, keys[i], length) == 0 && !keys[i][length]
						   : lode_json_is_text(name, keys[i])))
				values[i] = value;
	return walk;
}

/* ---- texts ---- */

const char *lode_json_plain_text(struct lode_json_value value, size_t *length)
{
	const char *end;

	if (lode_json_kind(value) != LODE_JSON_TEXT)
		return NULL;
	end = lode_json_find_special(value.at + 1);
	*length = (size_t)(end - value.at) - 1;
	return *end == '"' ? value.at + 1 : NULL;
}

static unsigned hex4(const char *at)
{
	unsigned number = 0;

	for (int i = 0; i < 4; i++) {
		char byte = at[i];

		number = number << 4 | (unsigned)(lode_json_is_digit(byte) ? byte - '0' : (byte | 0x20) - 'a' + 10);
	}
	return number;
}

/* `at` is behind \u; returns what is behind the character. */
static const char *put_code(const char *at, struct lode_buffer *buffer)
{
	unsigned code = hex4(at);

	at += 4;
	if (code >= 0xd800 && code < 0xdc00 && at[0] == '\\' && at[1] == 'u') {
		unsigned low = hex4(at + 2);

		if (low >= 0xdc00 && low < 0xe000) {
			lode_utf8_append(buffer, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
			return at + 6;
		}
	}
	lode_utf8_append(buffer, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
	return at;
}

/* `at` is behind a backslash; returns what is behind the escape. */
static const char *put_escape(const char *at, struct lode_buffer *buffer)
{
	static const char letters[] = "bfnrt", bytes[] = "\b\f\n\r\t";
	const char *letter;

	if (*at == 'u')
		return put_code(at + 1, buffer);
	letter = strchr(letters, *at);
	lode_buffer_byte(buffer, letter ? bytes[letter - letters] : *at);
	return at + 1;
}

void lode_json_text_to(struct lode_json_value value, struct lode_buffer *buffer)
{
	const char *at, *start;

	if (lode_json_kind(value) != LODE_JSON_TEXT)
		return;
	at = value.at + 1;
	while (*at != '"') {
		if (*at == '\\') {
			at = put_escape(at + 1, buffer);
			continue;
		}
		start = at;
		at = lode_json_find_special(at);
		lode_buffer_add(buffer, start, (size_t)(at - start));
	}
}

static int is_escaped_text(struct lode_json_value value, const char *text)
{
	struct lode_buffer buffer = { 0 };
	int same;

	lode_json_text_to(value, &buffer);
	same = !buffer.failed && buffer.size == strlen(text) && memcmp(buffer.bytes, text, buffer.size) == 0;
	lode_buffer_release(&buffer);
	return same;
}

int lode_json_is_text(struct lode_json_value value, const char *text)
{
	const char *at, *wanted = text;

	if (lode_json_kind(value) != LODE_JSON_TEXT)
		return 0;
	for (at = value.at + 1; *at != '"' && *at != '\\' && *at == *wanted; at++)
		wanted++;
	return *at == '\\' ? is_escaped_text(value, text) : *at == '"' && !*wanted;
}

/* ---- numbers ---- */

/*
 * A number without an exponent and with at most 15 digits is a whole number divided by a power of ten,
 * both exact, so one division rounds it as strtod does. Returns what is behind it, or NULL for all others.
 */
static const char *read_short(const char *at, double *number)
{
	static const double powers[] = { 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	const char *start, *point = NULL;
	int negative = *at == '-';
	uint64_t whole = 0;

	for (start = at += negative; lode_json_is_digit(*at); at++)
		whole = whole * 10 + (uint64_t)(*at - '0');
	if (*at == '.')
		for (point = at++; lode_json_is_digit(*at); at++)
			whole = whole * 10 + (uint64_t)(*at - '0');
	if (at - start > 15 + (point != NULL) || *at == 'e' || *at == 'E')
		return NULL;
	*number = (double)whole;
	if (point)
		*number /= powers[at - point - 1];
	if (negative)
		*number = -*number;
	return at;
}

double lode_json_double_or(struct lode_json_value value, double otherwise)
{
	double number;

	if (lode_json_kind(value) != LODE_JSON_NUMBER)
		return otherwise;
	return read_short(value.at, &number) ? number : strtod(value.at, NULL);
}

int lode_json_item_double(struct lode_json_walk *walk, struct lode_json_value *item, double otherwise,
			  double *number)
{
	const char *end;

	if (!lode_json_peek(walk, item))
		return 0;
	if (lode_json_kind(*item) == LODE_JSON_NUMBER && (end = read_short(walk->at, number)) != NULL) {
		step_after(walk, end);
		return 1;
	}
	*number = lode_json_double_or(*item, otherwise);
	return lode_json_item(walk, item);
}

/* A whole number that fits. Returns what is behind it, or NULL for all others. */
static const char *read_whole(const char *at, uint64_t *number)
{
	uint64_t whole = 0;

	if (!lode_json_is_digit(*at))
		return NULL;
	for (; lode_json_is_digit(*at); at++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*at - '0'), &whole))
			return NULL;
	*number = whole;
	return *at == '.' || *at == 'e' || *at == 'E' ? NULL : at;
}

uint64_t lode_json_u64_or(struct lode_json_value value, uint64_t otherwise)
{
	uint64_t number;

	return value.at && read_whole(value.at, &number) ? number : otherwise;
}

int lode_json_item_u64(struct lode_json_walk *walk, struct lode_json_value *item, uint64_t otherwise,
		       uint64_t *number)
{
	const char *end;

	if (!lode_json_peek(walk, item))
		return 0;
	end = read_whole(walk->at, number);
	if (end) {
		step_after(walk, end);
		return 1;
	}
	*number = otherwise;
	return lode_json_item(walk, item);
}
