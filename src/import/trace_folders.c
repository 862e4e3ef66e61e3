/*
 * Recordings of a command: see trace_folders.h. LTTng has its traces in kernel/, ust/uid/UID/BITS-bit/ and
 * ust/pid/NAME-PID-TIME/, so the walk goes four levels down; it does not follow links. A folder is a trace when it has a
 * file `metadata`, and is not looked into further.
 */
#include "import/trace_folders.h"

#include "base/memory.h"
#include "import/import.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEEPEST 4

/* Folders that one path may lead to: a home folder that was named by mistake is refused, not walked to its end. */
#define MAX_FOLDERS 10000
#define TOO_MANY    1

static int is_folder(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Takes over `path`. */
static int keep(struct lode_recordings *recordings, char *path, unsigned level)
{
	size_t count = recordings->count + 1;

	if (!path || lode_grow(&recordings->paths, &recordings->capacity, count, sizeof(*recordings->paths)) < 0 ||
	    lode_grow(&recordings->levels, &recordings->level_capacity, count, sizeof(*recordings->levels)) < 0) {
		lode_free(path);
		return LODE_SYSTEM;
	}
	recordings->paths[recordings->count] = path;
	recordings->levels[recordings->count++] = level;
	return 0;
}

/* Whether the folder is a separate trace. Returns 1, 0, or LODE_SYSTEM: no memory. */
static int has_metadata(const char *path)
{
	char *file = lode_format("%s/metadata", path);
	struct stat status;
	int has = file && stat(file, &status) == 0 && S_ISREG(status.st_mode);

	lode_free(file);
	return file ? has : LODE_SYSTEM;
}

static int no_dot(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int walk(struct lode_recordings *recordings, const char *path, unsigned level, unsigned *folders);

static int enter(struct lode_recordings *recordings, char *path, unsigned level, unsigned *folders)
{
	int has = is_folder(path) ? has_metadata(path) : 0, code = 0;

	if (has > 0)
		return keep(recordings, path, level);
	if (has == 0 && level < DEEPEST && is_folder(path))
		code = walk(recordings, path, level, folders);
	lode_free(path);
	return has < 0 ? has : code;
}

/* Adds the traces below `path`, which is `level` levels below the folder that was named. Returns 0, TOO_MANY or LODE_SYSTEM. */
static int walk(struct lode_recordings *recordings, const char *path, unsigned level, unsigned *folders)
{
	size_t length = strlen(path);
	struct dirent **entries;
	int count, code = 0;

	if ((*folders)++ == MAX_FOLDERS)
		return TOO_MANY;
	count = scandir(path, &entries, no_dot, alphasort);
	for (int i = 0; i < count; i++) {
		char *inside = code ? NULL
				    : lode_format("%s%s%s", path, length && path[length - 1] == '/' ? "" : "/",
						  entries[i]->d_name);

		if (code == 0)
			code = inside ? enter(recordings, inside, level + 1, folders) : LODE_SYSTEM;
		free(entries[i]); /* from scandir */
	}
	if (count > 0)
		free(entries); /* from scandir */
	return code;
}

int lode_recordings_add(struct lode_recordings *recordings, const char *path, struct lode_error *error)
{
	size_t before = recordings->count;
	char *file = lode_import_file(path);
	struct stat status;
	unsigned folders = 0;
	int code = file ? 0 : LODE_SYSTEM;

	/* a recording that is a folder itself has another file to open */
	if (file && strcmp(file, path) == 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		code = walk(recordings, path, 0, &folders);
	lode_free(file);
	if (code == 0 && recordings->count == before)
		code = keep(recordings, lode_strdup(path), 0);
	if (code == TOO_MANY)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: has more than %d folders below it; name the folder of the recording", path,
				 MAX_FOLDERS);
	return code ? lode_fail_memory(error) : 0;
}

void lode_recordings_release(struct lode_recordings *recordings)
{
	for (size_t i = 0; i < recordings->count; i++)
		lode_free(recordings->paths[i]);
	lode_free(recordings->paths);
	lode_free(recordings->levels);
	*recordings = (struct lode_recordings){ 0 };
}
