/*
 * Finds the mistakes of a JSON document; see json_read.h.
 *
 * A loop with a byte a level instead of a recursion: which of the open brackets are objects.
 */
#include "base/json_numbers.h"
#include "base/json_read.h"
#include "base/json_special.h"

#include <string.h>

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
	while (at < end && lode_json_is_space(*at))
		at++;
	return at;
}

static int is_hex(char byte)
{
	return lode_json_is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
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

static const char *check_any_text(const struct check *check, const char *at)
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

/* Most texts have no escapes and end within 16 bytes, or are one of many in a text that goes on. */
static inline const char *check_text(const struct check *check, const char *at)
{
	const char *end;
	uint64_t found;

	if (check->end - at <= LODE_JSON_TEXT_BLOCK)
		return check_any_text(check, at);
	found = lode_json_special_bits(at + 1, 1);
	end = at + 1 + (found ? __builtin_ctzll(found) / LODE_JSON_BITS_A_BYTE : 0);
	return found && *end == '"' ? end + 1 : check_any_text(check, at);
}

/* Bit 7 of bytes of a word that are 0, and perhaps of some above the first of them. */
static uint64_t zero_bytes(uint64_t word)
{
	return (word - 0x0101010101010101u) & ~word & 0x8080808080808080u;
}

/* The same for the names of members, most of which are shorter than eight bytes: that is known sooner than for 16. */
static inline const char *check_name(const struct check *check, const char *at)
{
	uint64_t word, found;

	if (check->end - at <= (ptrdiff_t)sizeof(word))
		return check_any_text(check, at);
	memcpy(&word, at + 1, sizeof(word));
	found = zero_bytes(word ^ 0x2222222222222222u) |
		zero_bytes(word ^ 0x5c5c5c5c5c5c5c5cu) |                      /* quote, backslash */
		((word - 0x2020202020202020u) & ~word & 0x8080808080808080u); /* control characters */
	if (!found)
		return check_text(check, at);
	at += 1 + __builtin_ctzll(found) / 8;
	return *at == '"' ? at + 1 : check_any_text(check, at - 1 - __builtin_ctzll(found) / 8);
}

static const char *pass_digits(const char *at, const char *end)
{
	while (at < end && lode_json_is_digit(*at))
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

/* Items of an array that are passed one by one, before there seem to be many. */
#define FEW_NUMBERS 8

/*
 * Passes items of an array that are numbers without an exponent, with a comma right behind them. The first item that is
 * anything else, right or wrong, is left to the others.
 */
static const char *pass_plain_numbers(const char *item, const char *end)
{
	const char *at = item;

	for (unsigned count = 0; at < end; count++) {
		const char *whole;

		if (count == FEW_NUMBERS)
			at = item = lode_json_pass_numbers(item, end);
		whole = at + (*at == '-');
		at = pass_digits(whole, end);
		if (at == whole || (*whole == '0' && at - whole > 1))
			break;
		if (at + 1 < end && *at == '.' && lode_json_is_digit(at[1]))
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
		if (*at == '-' || lode_json_is_digit(*at))
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
	at = check_name(check, at);
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
