/*
 * JSON documents, walked in place; see json_read.h.
 *
 * The check is a loop with a byte a level instead of a recursion: which of the
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

/* Its steps take the place they are at and return the one behind what they have checked, or NULL after a mistake. */
struct check {
	const char *name;
	const char *text;
	const char *end;
	unsigned depth;
	unsigned char is_object[LODE_JSON_DEPTH + 1]; /* by depth: what the innermost open bracket is of */
	struct lode_error *error;
};

static const char *refuse(const struct check *check, const char *at, const char *what)
{
	size_t line = 1;

	for (const char *byte = check->text; byte < at; byte++)
		line += *byte == '\n';
	if (at >= check->end)
		lode_fail(check->error, LODE_BAD_INPUT, "%s:%zu: the file ends too early; is it cut off?",
			  check->name, line);
	else
		lode_fail(check->error, LODE_BAD_INPUT, "%s:%zu: this is not JSON, at byte %zu: %s", check->name,
			  line, (size_t)(at - check->text), what);
	return NULL;
}

static const char *pass_space(const char *at, const char *end)
{
	while (at < end && is_space(*at))
		at++;
	return at;
}

static int is_hex(char byte)
{
	return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

/* Behind a backslash. */
static const char *check_escape(const struct check *check, const char *at)
{
	if (at == check->end || !memchr("\"\\/bfnrtu", *at, 9))
		return refuse(check, at, "a backslash with nothing to escape");
	if (*at++ != 'u')
		return at;
	for (int i = 0; i < 4; i++, at++)
		if (at == check->end || !is_hex(*at))
			return refuse(check, at, "\\u without four hexadecimal digits");
	return at;
}

static const char *check_text(const struct check *check, const char *at)
{
	at = lode_json_pass_plain(at + 1, check->end);
	while (at < check->end && *at == '\\') {
		at = check_escape(check, at + 1);
		if (!at)
			return NULL;
		at = lode_json_pass_plain(at, check->end);
	}
	if (at == check->end)
		return refuse(check, at, "");
	return *at == '"' ? at + 1 : refuse(check, at, "a control character in a string");
}

static const char *pass_digits(const char *at, const char *end)
{
	while (at < end && is_digit(*at))
		at++;
	return at;
}

static const char *check_number(const struct check *check, const char *at)
{
	const char *start = at, *end = check->end, *whole = at + (*at == '-'), *digits;

	at = pass_digits(whole, end);
	if (at == whole || (*whole == '0' && at - whole > 1))
		return refuse(check, start, "no number as JSON writes them");
	if (at < end && *at == '.') {
		digits = at + 1;
		at = pass_digits(digits, end);
		if (at == digits)
			return refuse(check, at, "a number that ends in a point");
	}
	if (at < end && (*at == 'e' || *at == 'E')) {
		at++;
		digits = at += at < end && (*at == '+' || *at == '-');
		at = pass_digits(digits, end);
		if (at == digits)
			return refuse(check, at, "a number without its exponent");
	}
	return at;
}

/*
 * Passes items of an array that are numbers without an exponent, with a comma right behind them: most of a large
 * profile. The first item that is anything else, right or wrong, is left to the others.
 */
static const char *pass_plain_numbers(const char *item, const char *end)
{
	const char *at = item;

	while (at < end) {
		const char *whole = at + (*at == '-');

		at = pass_digits(whole, end);
		if (at == whole || (*whole == '0' && at - whole > 1))
			break;
		if (at + 1 < end && *at == '.' && is_digit(at[1]))
			at = pass_digits(at + 2, end);
		if (at == end || *at != ',')
			break;
		item = ++at;
	}
	return item;
}

static const char *check_word(const struct check *check, const char *at, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(check->end - at) < length || memcmp(at, word, length) != 0)
		return refuse(check, at, "a value was expected");
	return at + length;
}

/* A number, a string or a word. */
static const char *check_scalar(const struct check *check, const char *at)
{
	switch (*at) {
	case '"':
		return check_text(check, at);
	case 't':
		return check_word(check, at, "true");
	case 'f':
		return check_word(check, at, "false");
	case 'n':
		return check_word(check, at, "null");
	default:
		if (*at == '-' || is_digit(*at))
			return check_number(check, at);
		return refuse(check, at, "a value was expected");
	}
}

/* `"key":`, with the space around it. */
static const char *check_key(const struct check *check, const char *at)
{
	at = pass_space(at, check->end);
	if (at == check->end || *at != '"')
		return refuse(check, at, "a key in quotes was expected");
	at = check_text(check, at);
	if (!at)
		return NULL;
	at = pass_space(at, check->end);
	if (at == check->end || *at != ':')
		return refuse(check, at, "a colon was expected");
	return at + 1;
}

/* The innermost open bracket, as it closes. */
static char closing_bracket(const struct check *check)
{
	return check->is_object[check->depth] ? '}' : ']';
}

/* Opens a bracket, and closes it where nothing is inside: `*is_empty`. */
static const char *open_bracket(struct check *check, const char *at, int *is_empty)
{
	if (check->depth == LODE_JSON_DEPTH)
		return refuse(check, at, "arrays and objects nested too deep");
	check->is_object[++check->depth] = *at == '{';
	at = pass_space(at + 1, check->end);
	*is_empty = at < check->end && *at == closing_bracket(check);
	return at;
}

/* Closes all brackets that end here, and passes the comma in front of a further value, if they are not all. */
static const char *close_brackets(struct check *check, const char *at)
{
	for (; check->depth; check->depth--, at++) {
		at = pass_space(at, check->end);
		if (at == check->end)
			return refuse(check, at, "");
		if (*at == ',')
			return at + 1;
		if (*at != closing_bracket(check))
			return refuse(check, at, "a comma or a closing bracket was expected");
	}
	return at;
}

/* Everything from the first bracket to the one that closes it. */
static const char *check_values(struct check *check, const char *at)
{
	do {
		int is_open = 0, is_empty = 0;

		if (check->is_object[check->depth])
			at = check_key(check, at);
		else if (check->depth)
			at = pass_plain_numbers(at, check->end);
		if (!at)
			return NULL;
		at = pass_space(at, check->end);
		if (at == check->end)
			return refuse(check, at, "");
		is_open = *at == '{' || *at == '[';
		at = is_open ? open_bracket(check, at, &is_empty) : check_scalar(check, at);
		if (at && (!is_open || is_empty))
			at = close_brackets(check, at);
	} while (at && check->depth);
	return at;
}

int lode_json_check(const char *name, const char *text, size_t size, struct lode_json_value *root,
		    struct lode_error *error)
{
	const char *at = text;
	struct check check; /* not all of it at once: a line may be all there is to check */

	check.name = name;
	check.text = text;
	check.end = text + size;
	check.error = error;
	check.depth = 0;
	check.is_object[0] = 0;
	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
		at += 3;
	at = pass_space(at, check.end);
	root->at = at;
	if (at == check.end || (*at != '{' && *at != '['))
		at = refuse(&check, at, "an object or an array was expected");
	else
		at = check_values(&check, at);
	if (at && (at = pass_space(at, check.end)) < check.end)
		at = refuse(&check, at, "something follows the end of the document");
	return at ? 0 : LODE_BAD_INPUT;
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

	memset(values, 0, count * sizeof(*values));
	if (lode_json_kind(object) != LODE_JSON_OBJECT)
		return (struct lode_json_walk){ NULL, NULL };
	while (lode_json_member(&walk, &name, &value))
		for (size_t i = 0; i < count; i++)
			if (!values[i].at && lode_json_is_text(name, keys[i]))
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
 * both exact, so one division rounds it as strtod does. Returns 0 for all others.
 */
static int read_short(const char *at, double *number)
{
	static const double powers[] = { 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	const char *start, *point = NULL;
	int negative = *at == '-';
	uint64_t whole = 0;

	for (start = at += negative; is_digit(*at); at++)
		whole = whole * 10 + (uint64_t)(*at - '0');
	if (*at == '.')
		for (point = at++; is_digit(*at); at++)
			whole = whole * 10 + (uint64_t)(*at - '0');
	if (at - start > 15 + (point != NULL) || *at == 'e' || *at == 'E')
		return 0;
	*number = (double)whole / powers[point ? at - point - 1 : 0];
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
