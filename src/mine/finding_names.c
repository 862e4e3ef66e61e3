/* Names without their numbers: see finding_names.h. */
#include "mine/finding_names.h"

#include "scope/states.h"
#include "trace/numbered_names.h"
#include "trace/objects.h"

#include <stdlib.h>
#include <string.h>

/* Ports from here on are those of clients, drawn anew for each connection (net.ipv4.ip_local_port_range). */
#define FIRST_CLIENT_PORT 32768

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_hexadecimal(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

void lode_finding_plain_name(struct lode_buffer *buffer, const char *name)
{
	size_t length = strlen(name), end = lode_name_without_number(name, length);

	lode_buffer_add(buffer, name, end);
	if (end < length)
		lode_buffer_byte(buffer, '#');
}

void lode_finding_common_name(struct lode_buffer *buffer, const char *name)
{
	size_t length = lode_name_without_number(name, strlen(name)), end = length;

	while (end && strchr(" -_.:/#@(", name[end - 1]))
		end--;
	lode_buffer_add(buffer, name, end ? end : length);
}

/* `0x` and more than this many digits is an address, not an offset in a module. */
#define ADDRESS_DIGITS 8

/* Characters of an address, of a number in brackets or of a client's port at `text`; 0: it is none of these. */
static size_t changing(const char *text, char before)
{
	size_t length = 0;

	if (text[0] == '0' && text[1] == 'x') {
		for (length = 2; is_hexadecimal(text[length]); length++)
			;
		return length > 2 + ADDRESS_DIGITS ? length : 0;
	}
	while (is_digit(text[length]))
		length++;
	if (before == '[' && text[length] == ']')
		return length;
	return before == ':' && length && !text[length] && strtoul(text, NULL, 10) >= FIRST_CLIENT_PORT ? length
													: 0;
}

void lode_finding_object_name(struct lode_buffer *buffer, const char *object)
{
	for (size_t i = 0; object[i];) {
		size_t skipped = changing(object + i, i ? object[i - 1] : '\0');

		if (!skipped)
			lode_buffer_byte(buffer, object[i++]);
		i += skipped;
	}
}

void lode_finding_link_key(const struct lode_strings *strings, const struct lode_chain_link *link, int leads_on,
			   struct lode_buffer *key)
{
	const char *object = lode_strings_get(strings, link->object);

	lode_finding_plain_name(key, lode_strings_get(strings, link->process));
	lode_buffer_byte(key, '\n');
	lode_finding_plain_name(key, lode_strings_get(strings, link->thread));
	lode_buffer_byte(key, '\n');
	if (leads_on && lode_object_is_set(lode_object_kind_of(object)))
		return;
	lode_buffer_print(key, "%u\n", (unsigned)link->state);
	/* Threads that have no processor have the same problem, with whomever they were woken; who sleeps, whatever might have ended it. */
	if (link->state != LODE_STATE_READY &&
	    !(link->state == LODE_STATE_TIMER && lode_object_is_set(lode_object_kind_of(object))))
		lode_finding_object_name(key, object);
	lode_buffer_byte(key, '\n');
}
