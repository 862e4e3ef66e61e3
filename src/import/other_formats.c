/* Formats without an importer: see other_formats.h. */
#include "import/other_formats.h"

#include <string.h>

static int is_zip(const unsigned char *bytes, size_t size)
{
	return size >= 4 && memcmp(bytes, "PK\x03\x04", 4) == 0;
}

/* An .etl begins with the head of a buffer (72 bytes) and the event that describes the file. */
static int is_etl(const unsigned char *bytes, size_t size)
{
	return size > 76 && bytes[72] == 2 && bytes[73] == 0 && (bytes[74] == 1 || bytes[74] == 2) && bytes[75] == 0xc0;
}

const char *lode_other_format(const unsigned char *bytes, size_t size)
{
	if (is_zip(bytes, size))
		return "is a ZIP archive; unpack it and import the files in it";
	if (is_etl(bytes, size))
		return "is a trace of Windows (ETW), which Lode does not read; open it in PerfView, save its stacks as speedscope, "
		       "and import that";
	return NULL;
}
