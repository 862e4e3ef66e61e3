/*
 * Many streams at once (lode_corpus_place_all, corpus.h): group commit.
 *
 * As with one stream, files are renamed into place and made durable inside the catalogue's transaction, so that a crash
 * before its commit leaves files that no row names.
 */
#include "base/file.h"
#include "base/memory.h"
#include "store/corpus_files.h"
#include "store/corpus_state.h"

#include <stdio.h>
#include <unistd.h>

/* Renames the file and writes its row, unless the stream is there. */
static int place_one(struct lode_corpus *corpus, struct lode_corpus_arrival *arrival, struct lode_error *error)
{
	char file[64], old[256], *path;
	int found = lode_catalogue_find(corpus->catalogue, arrival->entry.id, old, sizeof(old), error), code;

	if (found)
		return found < 0 ? found : 0;
	snprintf(file, sizeof(file), "%s.lode", arrival->entry.id);
	path = lode_format("%s/%s", corpus->streams, file);
	if (!path)
		return lode_fail_memory(error);
	code = lode_file_rename(arrival->path, path, error);
	arrival->is_new = !code;
	if (!code)
		code = lode_corpus_look_at(path, &arrival->entry, error);
	if (!code)
		code = lode_catalogue_put(corpus->catalogue, &arrival->entry, file, arrival->stream, error);
	lode_free(path);
	return code;
}

/* A commit that failed late may have taken place all the same: then the file must stay. */
static void take_back(struct lode_corpus *corpus, const struct lode_corpus_arrival *arrival)
{
	char old[256], *path;

	if (!arrival->is_new ||
	    lode_catalogue_find(corpus->catalogue, arrival->entry.id, old, sizeof(old), NULL) != 0)
		return;
	path = lode_format("%s/%s.lode", corpus->streams, arrival->entry.id);
	if (path)
		unlink(path);
	lode_free(path);
}

int lode_corpus_place_all(struct lode_corpus *corpus, struct lode_corpus_arrival *arrivals, size_t count,
			  struct lode_error *error)
{
	int code, any = 0;

	for (size_t i = 0; i < count; i++)
		arrivals[i].is_new = 0;
	code = lode_catalogue_begin(corpus->catalogue, error);
	for (size_t i = 0; !code && i < count; i++) {
		code = place_one(corpus, &arrivals[i], error);
		any |= arrivals[i].is_new;
	}
	if (!code && any)
		code = lode_file_sync_folder(corpus->streams, error);
	if (!code && any)
		code = lode_catalogue_commit(corpus->catalogue, error);
	lode_catalogue_rollback(corpus->catalogue);
	for (size_t i = 0; i < count; i++) {
		if (code)
			take_back(corpus, &arrivals[i]);
		unlink(arrivals[i].path);
	}
	return code;
}
