/* Names of corpora: see corpus_names.h. */
#include "store/corpus_names.h"

#include "base/file.h"
#include "base/memory.h"
#include "store/corpus_files.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_NAMES  65536
#define NAME_LIMIT 4096
#define FILE_LIMIT (64u << 20)

static int is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int is_pattern(const char *name)
{
	return strpbrk(name, "*?[") && !is_folder(name);
}

int lode_corpus_name_is_list(const char *name)
{
	return name[0] == '@' || is_pattern(name);
}

static int add_name(struct lode_text_list *names, const char *name, struct lode_error *error)
{
	if (names->count >= MAX_NAMES)
		return lode_fail(error, LODE_USAGE,
				 "more than %d corpora are named; join some of them with 'lode import'", MAX_NAMES);
	lode_text_list_add(names, lode_strdup(name));
	return names->failed ? lode_fail_memory(error) : 0;
}

/* ---- patterns ---- */

static int is_corpus(const char *folder)
{
	char *catalogue = lode_format("%s/%s", folder, LODE_CATALOGUE_FILE);
	struct stat status;
	int found = catalogue && stat(catalogue, &status) == 0 && S_ISREG(status.st_mode);

	lode_free(catalogue);
	return found;
}

static int add_fitting(struct lode_text_list *names, const char *pattern, struct lode_error *error)
{
	size_t before = names->count;
	glob_t found = { 0 };
	int code = 0, result = glob(pattern, 0, NULL, &found);

	if (result == GLOB_NOSPACE)
		code = lode_fail_memory(error);
	for (size_t i = 0; !code && result == 0 && i < found.gl_pathc; i++)
		if (is_corpus(found.gl_pathv[i]))
			code = add_name(names, found.gl_pathv[i], error);
	globfree(&found);
	if (!code && names->count == before)
		return lode_fail(error, LODE_BAD_INPUT, "%s: no corpus matches; check the pattern", pattern);
	return code;
}

static int add_plain_or_fitting(struct lode_text_list *names, const char *name, struct lode_error *error)
{
	return is_pattern(name) ? add_fitting(names, name, error) : add_name(names, name, error);
}

/* ---- files of names ---- */

/* One line, without blanks around it. */
static int add_line(struct lode_text_list *names, const char *path, size_t number, const char *text, size_t length,
		    struct lode_error *error)
{
	char name[NAME_LIMIT];

	while (length && strchr(" \t\r", text[length - 1]))
		length--;
	while (length && strchr(" \t", *text)) {
		text++;
		length--;
	}
	if (!length || *text == '#')
		return 0;
	if (length >= sizeof(name) || memchr(text, '\0', length))
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s:%zu: not the name of a folder; write one name per line", path, number);
	memcpy(name, text, length);
	name[length] = '\0';
	if (name[0] == '@')
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s:%zu: names another file of names; write the names themselves", path, number);
	return add_plain_or_fitting(names, name, error);
}

int lode_corpus_names_read(struct lode_text_list *names, const char *path, const char *text, size_t size,
			   struct lode_error *error)
{
	size_t before = names->count, number = 0;
	int code = 0;

	for (size_t at = 0, end; !code && at < size; at = end + 1) {
		const char *line_end = memchr(text + at, '\n', size - at);

		end = line_end ? (size_t)(line_end - text) : size;
		code = add_line(names, path, ++number, text + at, end - at, error);
	}
	if (!code && names->count == before)
		return lode_fail(error, LODE_BAD_INPUT, "%s: names no corpus; write one name per line", path);
	return code;
}

static int add_file(struct lode_text_list *names, const char *path, struct lode_error *error)
{
	struct lode_map map;
	int code = lode_map_open(&map, path, error);

	if (code)
		return code;
	if (map.size > FILE_LIMIT)
		code = lode_fail(error, LODE_BAD_INPUT, "%s: is too long for a file of names", path);
	else
		code = lode_corpus_names_read(names, path, (const char *)map.bytes, map.size, error);
	lode_map_close(&map);
	return code;
}

int lode_corpus_names_add(struct lode_text_list *names, const char *name, struct lode_error *error)
{
	return name[0] == '@' ? add_file(names, name + 1, error) : add_plain_or_fitting(names, name, error);
}
