/* The kernel says where the program is: see program_folder.h. */
#include "base/program_folder.h"

#include "base/memory.h"

#include <string.h>
#include <unistd.h>

char *lode_program_folder(void)
{
	char program[4096];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program));
	const char *slash = length > 0 ? memrchr(program, '/', (size_t)length) : NULL;

	return slash ? lode_strndup(program, (size_t)(slash - program)) : NULL;
}
