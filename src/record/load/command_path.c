/* The file that a command runs: see command_path.h. */
#include "record/load/command_path.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *lode_command_path(const char *name, size_t length)
{
	const char *path = getenv("PATH");

	if (memchr(name, '/', length))
		return lode_strndup(name, length);
	while (path && *path) {
		size_t part = strcspn(path, ":");
		char *file = lode_format("%.*s/%.*s", (int)part, path, (int)length, name);

		if (file && !access(file, X_OK))
			return file;
		lode_free(file);
		path += part + (path[part] == ':');
	}
	return NULL;
}
