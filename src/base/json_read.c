/*
 * JSON documents, walked in place; see json_read.h.
 *
 * The check is a loop with a bit a level instead of a recursion: which of the
 * open brackets are objects. Everything behind it trusts the check, so stepping
 * over a value only counts brackets and strings (json_skip.h).
 */
#include "base/json_read.h"

#include "base/json_skip.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static int is_space(char byte)
{
	return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static int is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* ---- the check ---- */

struct check {
	const char *name;
	const char *text;
	const char *at;
	const char *end;
	unsigned depth;
	unsigned char is_object[LODE_JSON_DEPTH / 8]; /* a bit for each open bracket */
	struct lode_error *error;
};

static int fail_at(const struct check *check, const char *at, const char *what)
{
	size_t line = 1;

	for (const char *byte = check->text; byte < at; byte++)
		line += *byte == '\n';
	if (at >= check->end)
		return lode_fail(check->error, LODE_BAD_INPUT, "%s:%zu: the file ends too early; is it cut off?",
				 check->name, line);
	return lode_fail(check->error, LODE_BAD_INPUT, "%s:%zu: this is not JSON, at byte %zu: %s", check->name,
			 line, (size_t)(at - check->text), what);
}

static void pass_space(struct check *check)
{
	while (check->at < check->end && is_space(*check->at))
		check->at++;
}

static int is_hex(char byte)
{
	return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

/* Behind a backslash. */
static int check_escape(struct check *check)
{
	if (check->at == check->end || !memchr("\"\\/bfnrtu", *check->at, 9))
		return fail_at(check, check->at, "a backslash with nothing to escape");
	if (*check->at++ != 'u')
		return 0;
	for (int i = 0; i < 4; i++, check->at++)
		if (check->at == check->end || !is_hex(*check->at))
			return fail_at(check, check->at, "\\u without four hexadecimal digits");
	return 0;
}

static int check_text(struct check *check)
{
	check->at++;
	while (check->at < check->end) {
		unsigned char byte = (unsigned char)*check->at++;

		if (byte == '"')
			return 0;
		if (byte == '\\') {
			if (check_escape(check))
				return LODE_BAD_INPUT;
		} else if (byte < ' ') {
			return fail_at(check, check->at - 1, "a control character in a string");
		}
	}
	return fail_at(check, check->end, "");
}

static size_t pass_digits(struct check *check)
{
	const char *start = check->at;

	while (check->at < check->end && is_digit(*check->at))
		check->at++;
	return (size_t)(check->at - start);
}

static int check_number(struct check *check)
{
	const char *start = check->at, *whole;

	check->at += *check->at == '-';
	whole = check->at;
	if (!pass_digits(check) || (*whole == '0' && check->at - whole > 1))
		return fail_at(check, start, "no number as JSON writes them");
	if (check->at < check->end && *check->at == '.') {
		check->at++;
		if (!pass_digits(check))
			return fail_at(check, check->at, "a number that ends in a point");
	}
	if (check->at < check->end && (*check->at == 'e' || *check->at == 'E')) {
		check->at++;
		check->at += check->at < check->end && (*check->at == '+' || *check->at == '-');
		if (!pass_digits(check))
			return fail_at(check, check->at, "a number without its exponent");
	}
	return 0;
}

static int check_word(struct check *check, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(check->end - check->at) < length || memcmp(check->at, word, length) != 0)
		return fail_at(check, check->at, "a value was expected");
	check->at += length;
	return 0;
}

static int open_bracket(struct check *check)
{
	unsigned bit = check->depth % 8;

	if (check->depth == LODE_JSON_DEPTH)
		return fail_at(check, check->at, "arrays and objects nested too deep");
	if (*check->at == '{')
		check->is_object[check->depth / 8] |= (unsigned char)(1u << bit);
	else
		check->is_object[check->depth / 8] &= (unsigned char)~(1u << bit);
	check->depth++;
	check->at++;
	return 0;
}

static int in_object(const struct check *check)
{
	return check->is_object[(check->depth - 1) / 8] >> (check->depth - 1) % 8 & 1;
}

/* A number, a string or a word. */
static int check_scalar(struct check *check)
{
	switch (*check->at) {
	case '"':
		return check_text(check);
	case 't':
		return check_word(check, "true");
	case 'f':
		return check_word(check, "false");
	case 'n':
		return check_word(check, "null");
	default:
		if (*check->at == '-' || is_digit(*check->at))
			return check_number(check);
		return fail_at(check, check->at, "a value was expected");
	}
}

/* `"key":`, with the space around it. */
static int check_key(struct check *check)
{
	pass_space(check);
	if (check->at == check->end || *check->at != '"')
		return fail_at(check, check->at, "a key in quotes was expected");
	if (check_text(check))
		return LODE_BAD_INPUT;
	pass_space(check);
	if (check->at == check->end || *check->at != ':')
		return fail_at(check, check->at, "a colon was expected");
	check->at++;
	return 0;
}

/* Closes all brackets that end here. Returns 1 when a further value follows, 0 when all are closed. */
static int close_brackets(struct check *check)
{
	while (check->depth) {
		pass_space(check);
		if (check->at == check->end)
			return fail_at(check, check->at, "");
		if (*check->at == ',') {
			check->at++;
			return 1;
		}
		if (*check->at != (in_object(check) ? '}' : ']'))
			return fail_at(check, check->at, "a comma or a closing bracket was expected");
		check->at++;
		check->depth--;
	}
	return 0;
}

/* Whether the bracket that was just opened closes at once. */
static int is_empty(struct check *check)
{
	pass_space(check);
	return check->at < check->end && *check->at == (in_object(check) ? '}' : ']');
}

/* Everything from the first bracket to the one that closes it. */
static int check_values(struct check *check)
{
	int more = 1;

	while (more > 0) {
		if (check->depth && in_object(check) && check_key(check))
			return LODE_BAD_INPUT;
		pass_space(check);
		if (check->at == check->end)
			return fail_at(check, check->at, "");
		if (*check->at == '{' || *check->at == '[') {
			if (open_bracket(check))
				return LODE_BAD_INPUT;
			if (!is_empty(check))
				continue;
		} else if (check_scalar(check)) {
			return LODE_BAD_INPUT;
		}
		more = close_brackets(check);
	}
	return more;
}

int lode_json_check(const char *name, const char *text, size_t size, struct lode_json_value *root,
		    struct lode_error *error)
{
	struct check check = { .name = name, .text = text, .at = text, .end = text + size, .error = error };
	int code;

	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
		check.at += 3;
	pass_space(&check);
	if (check.at == check.end || (*check.at != '{' && *check.at != '['))
		return fail_at(&check, check.at, "an object or an array was expected");
	root->at = check.at;
	code = check_values(&check);
	if (code)
		return code;
	pass_space(&check);
	if (check.at < check.end)
		return fail_at(&check, check.at, "something follows the end of the document");
	return 0;
}

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
	while (is_space(*at))
		at++;
	return at;
}

static const char *skip_text(const char *at)
{
	for (at++; *at != '"'; at++)
		at += *at == '\\';
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
		while (*at != ',' && *at != '}' && *at != ']' && !is_space(*at))
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

int lode_json_member(struct lode_json_walk *walk, struct lode_json_value *key, struct lode_json_value *value)
{
	if (!walk->at)
		return 0;
	key->at = walk->at;
	value->at = skip_space(skip_space(skip_text(walk->at)) + 1);
	step_after(walk, skip_value(value->at));
	return 1;
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

	if (lode_json_kind(object) == LODE_JSON_OBJECT)
		while (lode_json_member(&walk, &name, &value))
			if (lode_json_is_text(name, key))
				return value;
	return (struct lode_json_value){ NULL };
}

void lode_json_get_all(struct lode_json_value object, const char *const keys[], struct lode_json_value values[],
		       size_t count)
{
	struct lode_json_walk walk = lode_json_walk(object);
	struct lode_json_value name, value;

	memset(values, 0, count * sizeof(*values));
	if (lode_json_kind(object) != LODE_JSON_OBJECT)
		return;
	while (lode_json_member(&walk, &name, &value))
		for (size_t i = 0; i < count; i++)
			if (!values[i].at && lode_json_is_text(name, keys[i]))
				values[i] = value;
}

/* ---- texts ---- */

const char *lode_json_plain_text(struct lode_json_value value, size_t *length)
{
	const char *at;

	if (lode_json_kind(value) != LODE_JSON_TEXT)
		return NULL;
	for (at = value.at + 1; *at != '"'; at++)
		if (*at == '\\')
			return NULL;
	*length = (size_t)(at - value.at) - 1;
	return value.at + 1;
}

static unsigned hex4(const char *at)
{
	unsigned number = 0;

	for (int i = 0; i < 4; i++) {
		char byte = at[i];

		number = number << 4 | (unsigned)(is_digit(byte) ? byte - '0' : (byte | 0x20) - 'a' + 10);
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
		for (start = at; *at != '"' && *at != '\\'; at++)
			;
		lode_buffer_add(buffer, start, (size_t)(at - start));
	}
}

int lode_json_is_text(struct lode_json_value value, const char *text)
{
	struct lode_buffer buffer = { 0 };
	size_t length;
	const char *plain;
	int same;

	if (lode_json_kind(value) != LODE_JSON_TEXT)
		return 0;
	plain = lode_json_plain_text(value, &length);
	if (plain)
		return length == strlen(text) && memcmp(plain, text, length) == 0;
	lode_json_text_to(value, &buffer);
	same = !buffer.failed && buffer.size == strlen(text) && memcmp(buffer.bytes, text, buffer.size) == 0;
	lode_buffer_release(&buffer);
	return same;
}

/* ---- numbers ---- */

/*
 * A number without an exponent and with at most 15 digits is a whole number divided by a power of ten,
 * both exact, so one division rounds it as strtod does. Returns 0 for all others.
 */
static int read_short(const char *at, double *number)
{
	static const double powers[] = { 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	int negative = *at == '-', digits = 0, places = 0, behind_point = 0;
	uint64_t whole = 0;

	for (at += negative; digits <= 15 && (is_digit(*at) || *at == '.'); at++) {
		if (*at == '.') {
			behind_point = 1;
			continue;
		}
		whole = whole * 10 + (uint64_t)(*at - '0');
		digits++;
		places += behind_point;
	}
	if (digits > 15 || *at == 'e' || *at == 'E')
		return 0;
	*number = (double)whole / powers[places];
	if (negative)
		*number = -*number;
	return 1;
}

double lode_json_double_or(struct lode_json_value value, double otherwise)
{
	double number;

	if (lode_json_kind(value) != LODE_JSON_NUMBER)
		return otherwise;
	return read_short(value.at, &number) ? number : strtod(value.at, NULL);
}

uint64_t lode_json_u64_or(struct lode_json_value value, uint64_t otherwise)
{
	uint64_t number = 0;
	const char *at = value.at;

	if (lode_json_kind(value) != LODE_JSON_NUMBER || !is_digit(*at))
		return otherwise;
	for (; is_digit(*at); at++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
			return otherwise;
	return *at == '.' || *at == 'e' || *at == 'E' ? otherwise : number;
}
