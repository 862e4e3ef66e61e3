/* The digest of a folder: see folder_digest.h. It is that of a list: name and digest of each file, in order of the names. */
#include "import/folder_digest.h"

#include "base/buffer.h"
#include "base/input.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct names {
	char **names;
	size_t count;
	size_t capacity;
};

static void release_names(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		lode_free(names->names[i]);
	lode_free(names->names);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_names(const char *path, struct names *names, struct lode_error *error)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int code = 0;

	if (!folder)
		return lode_fail(error, LODE_SYSTEM, "%s: cannot be read: %s", path, strerror(errno));
	while (code == 0 && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		if (lode_grow(&names->names, &names->capacity, names->count + 1, sizeof(*names->names)) < 0 ||
		    !(names->names[names->count] = lode_strdup(entry->d_name)))
			code = lode_fail_memory(error);
		else
			names->count++;
	}
	closedir(folder);
	if (names->count)
		qsort(names->names, names->count, sizeof(*names->names), compare_names);
	return code;
}

static int add_file(const char *folder, const char *name, struct lode_buffer *list, uint64_t *bytes,
		    struct lode_error *error)
{
	char *path = lode_format("%s/%s", folder, name), digest[33];
	struct lode_input *input = NULL;
	struct stat status;
	int code;

	if (!path)
		return lode_fail_memory(error);
	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode)) {
		lode_free(path);
		return 0;
	}
	*bytes += (uint64_t)status.st_size;
	code = lode_input_open_plain(&input, path, 0, error);
	if (code == 0)
		code = lode_input_digest(input, digest, error);
	if (code == 0)
		lode_buffer_print(list, "%s %s\n", digest, name);
	lode_input_close(input);
	lode_free(path);
	return code;
}

static int digest_list(const struct lode_buffer *list, char digest[33], struct lode_error *error)
{
	struct lode_input *input = NULL;
	int code = list->failed ? lode_fail_memory(error)
				: lode_input_memory(&input, "folder", list->bytes, list->size, error);

	if (code == 0)
		code = lode_input_digest(input, digest, error);
	lode_input_close(input);
	return code;
}

int lode_folder_digest(const char *file, char digest[33], uint64_t *bytes, struct lode_error *error)
{
	const char *slash = strrchr(file, '/');
	char *folder = slash ? lode_strndup(file, (size_t)(slash - file) + 1) : lode_strdup(".");
	struct lode_buffer list = { 0 };
	struct names names = { 0 };
	int code = folder ? list_names(folder, &names, error) : lode_fail_memory(error);

	*bytes = 0;
	for (size_t i = 0; code == 0 && i < names.count; i++)
		code = add_file(folder, names.names[i], &list, bytes, error);
	if (code == 0)
		code = digest_list(&list, digest, error);
	lode_buffer_release(&list);
	release_names(&names);
	lode_free(folder);
	return code;
}
