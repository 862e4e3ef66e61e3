/* Attributes on a command line: see attributes.h. */
#include "tasks/attributes.h"

#include "base/json.h"

#include <string.h>

/* Length of KEY in KEY=VALUE, 0 when it is none. */
static size_t key_length(const char *attribute)
{
	const char *sign = strchr(attribute, '=');

	return sign ? (size_t)(sign - attribute) : 0;
}

static int wrong(const char *command, const char *sentence, const char *what, struct lode_error *error)
{
	return lode_fail(error, LODE_USAGE, "%s: '--attr' %s '%s'. See 'lode help %s'.", command, sentence, what,
			 command);
}

int lode_attributes_check(const char *command, const struct lode_option_list *attributes, struct lode_error *error)
{
	for (size_t i = 0; i < attributes->count; i++) {
		const char *attribute = attributes->items[i];
		size_t length = key_length(attribute);

		if (!length)
			return wrong(command, "needs KEY=VALUE, not", attribute, error);
		for (size_t j = 0; j < i; j++)
			if (!strncmp(attributes->items[j], attribute, length + 1))
				return wrong(command, "gives the same key twice in", attribute, error);
	}
	return 0;
}

static enum lode_attribute_type guess_type(const char *value)
{
	if (lode_json_is_number(value))
		return LODE_ATTRIBUTE_NUMBER;
	if (!strcmp(value, "true") || !strcmp(value, "false"))
		return LODE_ATTRIBUTE_BOOL;
	return LODE_ATTRIBUTE_TEXT;
}

static int apply_attribute(struct lode_stream *stream, const char *attribute)
{
	size_t length = key_length(attribute);
	const char *value = attribute + length + 1;
	char *key = lode_strndup(attribute, length);
	int code;

	if (!key)
		return LODE_SYSTEM;
	code = lode_stream_set_attribute(stream, key, value, guess_type(value));
	lode_free(key);
	return code;
}

int lode_attributes_apply(const struct lode_option_list *attributes, struct lode_stream *stream)
{
	for (size_t i = 0; i < attributes->count; i++)
		if (apply_attribute(stream, attributes->items[i]) < 0)
			return LODE_SYSTEM;
	return 0;
}
