/* Numbers as text: see number.h. */
#include "cmd/number.h"

#include <ctype.h>

static const char *skip_digits(const char *text)
{
	while (isdigit((unsigned char)*text))
		text++;
	return text;
}

int lode_text_is_number(const char *text)
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
