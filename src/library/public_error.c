/* From errors of the code to those of the library's callers: see public_error.h. */
#include "library/public_error.h"

#include <stdio.h>
#include <string.h>

const char *liblode_version(void)
{
	return LODE_VERSION;
}

int liblode_version_number(void)
{
	return LIBLODE_VERSION;
}

int lode_public_error(struct liblode_error *to, int code, const struct lode_error *from)
{
	if (to)
		snprintf(to->message, sizeof(to->message), "%s", code ? from->text : "");
	if (code == LODE_FOUND)
		return LIBLODE_FOUND;
	if (code == LODE_UNSURE)
		return LIBLODE_UNSURE;
	return code < LIBLODE_SYSTEM ? LIBLODE_STOPPED : code;
}

int lode_public_copy(void *to, const void *whole, size_t whole_size)
{
	size_t size;

	memcpy(&size, to, sizeof(size));
	if (size < sizeof(size))
		return LIBLODE_USAGE;
	if (size > whole_size) { /* the caller knows fields that this version does not have */
		memset((char *)to + whole_size, 0, size - whole_size);
		memcpy((char *)to + sizeof(size), (const char *)whole + sizeof(size), whole_size - sizeof(size));
		return LIBLODE_OK;
	}
	memcpy((char *)to + sizeof(size), (const char *)whole + sizeof(size), size - sizeof(size));
	return LIBLODE_OK;
}
