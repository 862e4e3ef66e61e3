/* Symbols of a corpus: see corpus_symbols.h. */
#include "store/corpus_symbols.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDER_MODE  0777
#define MIN_BUILD_ID 6 /* digits */

const char *lode_kept_symbols_name(unsigned kept)
{
	static const char *const names[] = { "none", "exported", "all" };

	return kept < sizeof(names) / sizeof(*names) ? names[kept] : NULL;
}

/* It becomes a path. */
static int is_build_id(const char *text)
{
	size_t length = strspn(text, "0123456789abcdef");

	return length >= MIN_BUILD_ID && !text[length];
}

/* CORPUS/symbols/.build-id/xx for a build-id; the parts from the first that may not be there yet. */
static char *folder_of(const char *corpus, const char *build_id, int depth)
{
	if (depth == 0)
		return lode_format("%s/" LODE_SYMBOLS_FOLDER, corpus);
	if (depth == 1)
		return lode_format("%s/" LODE_SYMBOLS_FOLDER "/.build-id", corpus);
	return lode_format("%s/" LODE_SYMBOLS_FOLDER "/.build-id/%.2s", corpus, build_id);
}

static char *file_of(const char *corpus, const char *build_id, enum lode_kept_symbols kind)
{
	return lode_format("%s/" LODE_SYMBOLS_FOLDER "/.build-id/%.2s/%s%s", corpus, build_id, build_id + 2,
			   kind == LODE_KEPT_ALL ? ".debug" : "");
}

static int has_file(const char *corpus, const char *build_id, enum lode_kept_symbols kind)
{
	char *path = file_of(corpus, build_id, kind);
	struct stat status;
	int has = path && stat(path, &status) == 0 && S_ISREG(status.st_mode);

	lode_free(path);
	return has;
}

enum lode_kept_symbols lode_corpus_symbols(const char *corpus, const char *build_id)
{
	if (!is_build_id(build_id))
		return LODE_KEPT_NONE;
	if (has_file(corpus, build_id, LODE_KEPT_ALL))
		return LODE_KEPT_ALL;
	return has_file(corpus, build_id, LODE_KEPT_EXPORTED) ? LODE_KEPT_EXPORTED : LODE_KEPT_NONE;
}

/* Each folder on the way, and its name in the one above. */
static int make_folders(const char *corpus, const char *build_id, struct lode_error *error)
{
	int code = 0;

	for (int depth = 0; !code && depth < 3; depth++) {
		char *folder = folder_of(corpus, build_id, depth);
		char *above = folder ? lode_file_folder(folder) : NULL;

		code = above ? lode_file_make_folder(folder, FOLDER_MODE, error) : lode_fail_memory(error);
		if (!code)
			code = lode_file_sync_folder(above, error);
		lode_free(folder);
		lode_free(above);
	}
	return code;
}

static int move(const char *corpus, const char *build_id, enum lode_kept_symbols kind, const char *path,
		struct lode_error *error)
{
	char *file = file_of(corpus, build_id, kind), *folder = folder_of(corpus, build_id, 2);
	int code = file && folder ? lode_file_rename(path, file, error) : lode_fail_memory(error);

	if (!code)
		code = lode_file_sync_folder(folder, error);
	lode_free(file);
	lode_free(folder);
	return code;
}

int lode_corpus_symbols_place(const char *corpus, const char *build_id, enum lode_kept_symbols kind,
			      const char *path, struct lode_error *error)
{
	int code;

	if (!is_build_id(build_id))
		return lode_fail(error, LODE_BAD_INPUT, "its build-id is too short to be one");
	if (lode_corpus_symbols(corpus, build_id) >= kind)
		return 0;
	code = make_folders(corpus, build_id, error);
	if (!code)
		code = move(corpus, build_id, kind, path, error);
	return code ? code : 1;
}

char *lode_corpus_symbols_folder(const char *corpus)
{
	char *folder = folder_of(corpus, "", 0);
	struct stat status;

	if (folder && (stat(folder, &status) < 0 || !S_ISDIR(status.st_mode))) {
		lode_free(folder);
		folder = NULL;
	}
	return folder;
}
