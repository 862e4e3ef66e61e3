/* Packages of files: see debian_package.h. dpkg has a file PACKAGE.list, or PACKAGE:ARCHITECTURE.list, with a path a line. */
#include "symbols/debian_package.h"

#include "base/ends_with.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/starts_with.h"

#include <dirent.h>
#include <string.h>

#define MAX_LISTS 20000

/* Whether a list has the line `path`. */
static int has_line(const struct lode_map *list, const char *path)
{
	const char *bytes = (const char *)list->bytes, *end = bytes + list->size, *found = bytes;
	size_t length = strlen(path);

	while (found && (found = memmem(found, (size_t)(end - found), path, length))) {
		if ((found == bytes || found[-1] == '\n') && (found + length == end || found[length] == '\n'))
			return 1;
		found++;
	}
	return 0;
}

/* In a merged /usr, files are in lists by where they were before, too. */
static int is_listed(const char *list, const char *path)
{
	struct lode_map map;
	int found;

	if (lode_map_open(&map, list, NULL) < 0)
		return 0;
	found = map.bytes && (has_line(&map, path) ||
			      (lode_starts_with(path, "/usr/") && has_line(&map, path + strlen("/usr"))));
	lode_map_close(&map);
	return found;
}

char *lode_debian_package(const char *folder, const char *path)
{
	DIR *lists = *path == '/' ? opendir(folder) : NULL;
	struct dirent *entry;
	char *package = NULL;
	size_t count = 0;

	while (lists && !package && count++ < MAX_LISTS && (entry = readdir(lists))) {
		char *list = lode_ends_with(entry->d_name, ".list") ? lode_format("%s/%s", folder, entry->d_name)
								    : NULL;

		if (list && is_listed(list, path))
			package = lode_format("%.*s", (int)strcspn(entry->d_name, ":"), entry->d_name);
		lode_free(list);
	}
	if (lists)
		closedir(lists);
	if (package && lode_ends_with(package, ".list"))
		package[strlen(package) - strlen(".list")] = '\0';
	return package;
}
