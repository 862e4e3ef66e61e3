/* XML reader: see xml_read.h. */
#include "base/xml_read.h"

#include "base/utf8.h"

#include <string.h>

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static enum lode_xml_token broken(struct lode_xml *xml, const char *wrong)
{
	xml->wrong = wrong;
	return LODE_XML_BROKEN;
}

static int starts(const struct lode_xml *xml, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(xml->end - xml->at) >= length && memcmp(xml->at, text, length) == 0;
}

/* Behind the next `text`; NULL when there is none. */
static const char *behind(const struct lode_xml *xml, const char *from, const char *text)
{
	const char *found = memmem(from, (size_t)(xml->end - from), text, strlen(text));

	return found ? found + strlen(text) : NULL;
}

/* Where a tag ends: the next `>` outside of quotes. NULL when there is none. */
static const char *find_tag_end(const char *at, const char *end)
{
	char quote = 0;

	for (; at < end; at++) {
		if (quote) {
			at = memchr(at, quote, (size_t)(end - at));
			if (!at)
				return NULL;
			quote = 0;
		} else if (*at == '>') {
			return at;
		} else if (*at == '"' || *at == '\'') {
			quote = *at;
		}
	}
	return NULL;
}

/* A document type may have a part in brackets, with tags of its own. */
static const char *skip_declaration(const struct lode_xml *xml)
{
	const char *end = find_tag_end(xml->at, xml->end);
	const char *bracket = end ? memchr(xml->at, '[', (size_t)(end - xml->at)) : NULL;

	if (bracket)
		end = behind(xml, bracket, "]>");
	else if (end)
		end++;
	return end;
}

static enum lode_xml_token read_open(struct lode_xml *xml, const char *stop)
{
	const char *at = xml->at + 1, *last = stop;

	while (at < stop && !is_blank(*at) && *at != '/')
		at++;
	xml->name = (struct lode_xml_text){ xml->at + 1, (size_t)(at - xml->at - 1) };
	xml->is_empty = stop > xml->at + 1 && stop[-1] == '/';
	last -= xml->is_empty;
	xml->attributes = (struct lode_xml_text){ at, last > at ? (size_t)(last - at) : 0 };
	xml->at = stop + 1;
	if (++xml->depth > LODE_XML_DEPTH)
		return broken(xml, "elements nest deeper than 256");
	return LODE_XML_OPEN;
}

static enum lode_xml_token read_close(struct lode_xml *xml, const char *stop)
{
	const char *at = xml->at + 2, *last = stop;

	while (last > at && is_blank(last[-1]))
		last--;
	xml->name = (struct lode_xml_text){ at, (size_t)(last - at) };
	xml->at = stop + 1;
	if (!xml->depth--)
		return broken(xml, "a closing tag without an opening one");
	return LODE_XML_CLOSE;
}

/* Words up to the next tag; 0 when they are white space. */
static int read_words(struct lode_xml *xml)
{
	const char *stop = memchr(xml->at, '<', (size_t)(xml->end - xml->at)), *at = xml->at;

	if (!stop)
		stop = xml->end;
	while (at < stop && is_blank(*at))
		at++;
	xml->words = (struct lode_xml_text){ xml->at, (size_t)(stop - xml->at) };
	xml->is_raw = 0;
	xml->at = stop;
	return at < stop;
}

/* What begins with `<`. Returns -1 for what is skipped. */
static int read_markup(struct lode_xml *xml)
{
	const char *stop;

	if (starts(xml, "<![CDATA[")) {
		stop = behind(xml, xml->at, "]]>");
		if (!stop)
			return (int)broken(xml, "a CDATA section without an end");
		xml->words = (struct lode_xml_text){ xml->at + 9, (size_t)(stop - xml->at - 12) };
		xml->is_raw = 1;
		xml->at = stop;
		return LODE_XML_WORDS;
	}
	if (starts(xml, "<!--") || starts(xml, "<?") || starts(xml, "<!")) {
		stop = starts(xml, "<!--") ? behind(xml, xml->at + 4, "-->")
		       : starts(xml, "<?") ? behind(xml, xml->at, "?>")
					   : skip_declaration(xml);
		if (!stop)
			return (int)broken(xml, "a comment or declaration without an end");
		xml->at = stop;
		return -1;
	}
	stop = find_tag_end(xml->at, xml->end);
	if (!stop)
		return (int)broken(xml, "a tag without an end");
	return (int)(starts(xml, "</") ? read_close(xml, stop) : read_open(xml, stop));
}

enum lode_xml_token lode_xml_next(struct lode_xml *xml)
{
	if (xml->wrong)
		return LODE_XML_BROKEN;
	if (xml->is_empty) {
		xml->is_empty = 0;
		xml->depth--;
		return LODE_XML_CLOSE;
	}
	while (xml->at < xml->end) {
		int token;

		if (*xml->at != '<') {
			if (read_words(xml))
				return LODE_XML_WORDS;
			continue;
		}
		token = read_markup(xml);
		if (token >= 0)
			return (enum lode_xml_token)token;
	}
	return xml->depth ? broken(xml, "the end of an element is missing") : LODE_XML_END;
}

static int is(struct lode_xml_text text, const char *word)
{
	return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

int lode_xml_is(const struct lode_xml *xml, const char *name)
{
	return is(xml->name, name);
}

struct lode_xml_text lode_xml_attribute(const struct lode_xml *xml, const char *name)
{
	const char *at = xml->attributes.at, *end = at ? at + xml->attributes.length : NULL;

	while (at && at < end) {
		struct lode_xml_text key = { at, 0 };
		const char *stop;

		while (at < end && *at != '=')
			at++;
		key.length = (size_t)(at - key.at);
		while (key.length && is_blank(*key.at)) {
			key.at++;
			key.length--;
		}
		while (key.length && is_blank(key.at[key.length - 1]))
			key.length--;
		while (at < end && (*at == '=' || is_blank(*at)))
			at++;
		if (at == end || (*at != '"' && *at != '\''))
			break;
		stop = memchr(at + 1, *at, (size_t)(end - at - 1));
		if (!stop)
			break;
		if (is(key, name))
			return (struct lode_xml_text){ at + 1, (size_t)(stop - at - 1) };
		at = stop + 1;
	}
	return (struct lode_xml_text){ NULL, 0 };
}

/* `#65` or `#x41`. Returns 0 for what is no character. */
static uint32_t read_code(struct lode_xml_text text)
{
	unsigned base = text.length > 1 && text.at[1] == 'x' ? 16 : 10;
	uint32_t code = 0;

	for (size_t i = base == 16 ? 2 : 1; i < text.length; i++) {
		unsigned c = (unsigned char)text.at[i], digit = c - '0';

		if (digit >= 10)
			digit = (c | 32) - 'a' < 6 ? (c | 32) - 'a' + 10 : 99;
		if (digit >= base || code > 0x10ffff)
			return 0;
		code = code * base + digit;
	}
	return code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : code;
}

static uint32_t find_entity(struct lode_xml_text text)
{
	static const struct {
		const char *name;
		uint32_t code;
	} entities[] = { { "lt", '<' }, { "gt", '>' }, { "amp", '&' }, { "quot", '"' }, { "apos", '\'' } };

	if (text.length && text.at[0] == '#')
		return read_code(text);
	for (size_t i = 0; i < sizeof(entities) / sizeof(*entities); i++)
		if (is(text, entities[i].name))
			return entities[i].code;
	return 0;
}

void lode_xml_append(struct lode_buffer *buffer, struct lode_xml_text text)
{
	const char *at = text.at, *end = at ? at + text.length : NULL;

	while (at && at < end) {
		const char *ampersand = memchr(at, '&', (size_t)(end - at)), *stop;
		uint32_t code;

		if (!ampersand) {
			lode_buffer_add(buffer, at, (size_t)(end - at));
			return;
		}
		lode_buffer_add(buffer, at, (size_t)(ampersand - at));
		stop = memchr(ampersand, ';', (size_t)(end - ampersand > 12 ? 12 : end - ampersand));
		code = stop ? find_entity((struct lode_xml_text){ ampersand + 1, (size_t)(stop - ampersand - 1) })
			    : 0;
		if (code)
			lode_utf8_append(buffer, code);
		else
			lode_buffer_byte(buffer, '&');
		at = code ? stop + 1 : ampersand + 1;
	}
}

uint64_t lode_xml_number(struct lode_xml_text text, uint64_t otherwise)
{
	uint64_t number = 0;

	if (!text.at || !text.length)
		return otherwise;
	for (size_t i = 0; i < text.length; i++) {
		unsigned digit = (unsigned char)text.at[i] - (unsigned)'0';

		if (digit >= 10 || __builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, digit, &number))
			return otherwise;
	}
	return number;
}

size_t lode_xml_line(const struct lode_xml *xml)
{
	size_t line = 1;

	for (const char *at = xml->start; at < xml->at && (at = memchr(at, '\n', (size_t)(xml->at - at))); at++)
		line++;
	return line;
}
