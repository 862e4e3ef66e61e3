/* Formats without an importer: see other_formats.h. */
#include "import/other_formats.h"

#include <string.h>

static int is_zip(const unsigned char *bytes, size_t size)
{
	return size >= 4 && memcmp(bytes, "PK\x03\x04", 4) == 0;
}

const char *lode_other_format(const unsigned char *bytes, size_t size)
{
	if (is_zip(bytes, size))
		return "is a ZIP archive; unpack it and import the files in it";
	return NULL;
}
