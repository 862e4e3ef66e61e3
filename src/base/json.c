/* JSON writer: see json.h. */
#include "base/json.h"

#include "base/line_writer.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void before_value(struct lode_json *json)
{
	uint64_t bit = 1ull << (json->depth & 63);

	if (json->after_key) {
		json->after_key = 0;
		return;
	}
	if (json->depth && json->filled & bit)
		lode_buffer_byte(json->buffer, ',');
	json->filled |= bit;
}

static void open_with(struct lode_json *json, char bracket)
{
	before_value(json);
	lode_buffer_byte(json->buffer, bracket);
	json->depth++;
	json->filled &= ~(1ull << (json->depth & 63));
}

static void close_with(struct lode_json *json, char bracket)
{
	json->depth--;
	lode_buffer_byte(json->buffer, bracket);
}

void lode_json_object(struct lode_json *json)
{
	open_with(json, '{');
}

void lode_json_object_end(struct lode_json *json)
{
	close_with(json, '}');
}

void lode_json_array(struct lode_json *json)
{
	open_with(json, '[');
}

void lode_json_array_end(struct lode_json *json)
{
	close_with(json, ']');
}

static void write_escaped(struct lode_buffer *buffer, unsigned char byte)
{
	switch (byte) {
	case '"':
		lode_buffer_text(buffer, "\\\"");
		break;
	case '\\':
		lode_buffer_text(buffer, "\\\\");
		break;
	case '\n':
		lode_buffer_text(buffer, "\\n");
		break;
	case '\r':
		lode_buffer_text(buffer, "\\r");
		break;
	case '\t':
		lode_buffer_text(buffer, "\\t");
		break;
	default:
		lode_buffer_print(buffer, "\\u%04x", byte);
	}
}

static void write_string(struct lode_buffer *buffer, const char *text, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t plain = 0; /* start of the run that needs no escaping */
	size_t at = 0;

	lode_buffer_byte(buffer, '"');
	while (at < length) {
		size_t step = lode_utf8_length(bytes + at, length - at);

		if (step && bytes[at] >= 0x20 && bytes[at] != '"' && bytes[at] != '\\' && bytes[at] != 0x7f) {
			at += step;
			continue;
		}
		lode_buffer_add(buffer, text + plain, at - plain);
		if (step)
			write_escaped(buffer, bytes[at]);
		else
			lode_buffer_text(buffer, "\xef\xbf\xbd");
		plain = ++at;
	}
	lode_buffer_add(buffer, text + plain, length - plain);
	lode_buffer_byte(buffer, '"');
}

void lode_json_key(struct lode_json *json, const char *key)
{
	before_value(json);
	write_string(json->buffer, key, strlen(key));
	lode_buffer_byte(json->buffer, ':');
	json->after_key = 1;
}

/* `,"key":` at `at`, which has room for it; returns its end. */
static char *put_plain_key(struct lode_json *json, char *at, const char *key, size_t length)
{
	uint64_t bit = 1ull << (json->depth & 63);

	if (json->filled & bit)
		*at++ = ',';
	json->filled |= bit;
	*at++ = '"';
	memcpy(at, key, length);
	at += length;
	*at++ = '"';
	*at++ = ':';
	return at;
}

void lode_json_plain_key(struct lode_json *json, const char *key, size_t length)
{
	char *room = lode_buffer_room(json->buffer, length + 4);

	if (!room)
		return;
	json->buffer->size = (size_t)(put_plain_key(json, room, key, length) - json->buffer->bytes);
	json->after_key = 1;
}

void lode_json_plain_key_u64(struct lode_json *json, const char *key, size_t length, uint64_t number)
{
	char *room = lode_buffer_room(json->buffer, length + 4 + LODE_PUT_NUMBER);

	if (!room)
		return;
	room = lode_put_number(put_plain_key(json, room, key, length), number);
	json->buffer->size = (size_t)(room - json->buffer->bytes);
}

void lode_json_text_n(struct lode_json *json, const char *text, size_t length)
{
	before_value(json);
	write_string(json->buffer, text, length);
}

void lode_json_text(struct lode_json *json, const char *text)
{
	lode_json_text_n(json, text, strlen(text));
}

void lode_json_take(struct lode_json *json, struct lode_buffer *text)
{
	lode_json_text_n(json, text->size ? text->bytes : "", text->size);
	json->buffer->failed |= text->failed;
	lode_buffer_clear(text);
}

void lode_json_u64(struct lode_json *json, uint64_t number)
{
	before_value(json);
	lode_buffer_number(json->buffer, number);
}

void lode_json_i64(struct lode_json *json, int64_t number)
{
	before_value(json);
	if (number < 0)
		lode_buffer_byte(json->buffer, '-');
	lode_buffer_number(json->buffer, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void lode_json_double(struct lode_json *json, double number)
{
	char text[40];

	if (!isfinite(number)) {
		lode_json_null(json);
		return;
	}
	before_value(json);
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	lode_buffer_text(json->buffer, text);
}

void lode_json_bool(struct lode_json *json, int yes)
{
	before_value(json);
	lode_buffer_text(json->buffer, yes ? "true" : "false");
}

void lode_json_null(struct lode_json *json)
{
	before_value(json);
	lode_buffer_text(json->buffer, "null");
}

void lode_json_raw(struct lode_json *json, const char *value, size_t length)
{
	before_value(json);
	lode_buffer_add(json->buffer, value, length);
}

void lode_json_key_text(struct lode_json *json, const char *key, const char *text)
{
	lode_json_key(json, key);
	lode_json_text(json, text);
}

void lode_json_key_u64(struct lode_json *json, const char *key, uint64_t number)
{
	lode_json_key(json, key);
	lode_json_u64(json, number);
}

void lode_json_key_object(struct lode_json *json, const char *key)
{
	lode_json_key(json, key);
	lode_json_object(json);
}

void lode_json_key_array(struct lode_json *json, const char *key)
{
	lode_json_key(json, key);
	lode_json_array(json);
}

void lode_json_key_double(struct lode_json *json, const char *key, double number)
{
	lode_json_key(json, key);
	lode_json_double(json, number);
}

void lode_json_key_bool(struct lode_json *json, const char *key, int yes)
{
	lode_json_key(json, key);
	lode_json_bool(json, yes);
}

void lode_json_line(struct lode_json *json)
{
	lode_buffer_byte(json->buffer, '\n');
	json->filled = 0;
}

static const char *skip_digits(const char *text)
{
	while (isdigit((unsigned char)*text))
		text++;
	return text;
}

int lode_json_is_number(const char *text)
{
	const char *end;

	if (*text == '-')
		text++;
	end = skip_digits(text);
	if (end == text || (*text == '0' && end > text + 1))
		return 0;
	if (*end == '.') {
		text = end + 1;
		end = skip_digits(text);
		if (end == text)
			return 0;
	}
	if (*end == 'e' || *end == 'E') {
		text = end + 1;
		if (*text == '+' || *text == '-')
			text++;
		end = skip_digits(text);
		if (end == text)
			return 0;
	}
	return !*end;
}
