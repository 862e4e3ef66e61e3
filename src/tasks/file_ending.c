/* Endings of file names: see output_ending.h. */
#include "tasks/output_ending.h"

#include <string.h>
#include <strings.h>

int lode_ends_in(const char *path, const char *ending)
{
	size_t length = path ? strlen(path) : 0, end = strlen(ending);

	return length > end && !strcasecmp(path + length - end, ending);
}
