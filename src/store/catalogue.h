/*
 * The catalogue of a corpus: an SQLite file that says which streams there are.
 * Private to the corpus, except begin, commit and rollback, which
 * catalogue_signatures.h uses too.
 *
 * All functions return 0 (or a count) or a negative code with a sentence. Numbers
 * are unsigned 64-bit and stored bit for bit in SQLite's signed integers.
 */
#ifndef LODE_STORE_CATALOGUE_H
#define LODE_STORE_CATALOGUE_H

#include "store/corpus.h"

struct lode_catalogue;

enum lode_catalogue_mode {
	LODE_CATALOGUE_READ,
	LODE_CATALOGUE_WRITE, /* created if it does not exist; an older one is brought to the newest version */
};

/* Creates an empty file for a new catalogue; one that is there is no failure. SQLite's journals get its owner and permissions. */
int lode_catalogue_create(const char *path, mode_t mode, struct lode_error *error);
/* `path` of the SQLite file. */
int lode_catalogue_open(struct lode_catalogue **catalogue, const char *path, enum lode_catalogue_mode mode,
			struct lode_error *error);
void lode_catalogue_close(struct lode_catalogue *catalogue);

/* One writer at a time: begin waits for others, a minute at most. */
int lode_catalogue_begin(struct lode_catalogue *catalogue, struct lode_error *error);
int lode_catalogue_commit(struct lode_catalogue *catalogue, struct lode_error *error);
void lode_catalogue_rollback(struct lode_catalogue *catalogue);

/* The version of its schema: 1 has no tables of signatures. */
int lode_catalogue_version(struct lode_catalogue *catalogue, int64_t *version, struct lode_error *error);
/* Brings it to the newest version; between begin and commit. */
int lode_catalogue_upgrade(struct lode_catalogue *catalogue, struct lode_error *error);

/*
 * The file name of stream `id`, into `file` (of `size` bytes). Returns 1, or 0
 * when there is no such stream.
 */
int lode_catalogue_find(struct lode_catalogue *catalogue, const char *id, char *file, size_t size,
			struct lode_error *error);
/* Adds a stream with its attributes and symptoms, in place of one with the same id. */
int lode_catalogue_put(struct lode_catalogue *catalogue, const struct lode_corpus_entry *entry, const char *file,
		       const struct lode_stream *stream, struct lode_error *error);
int lode_catalogue_remove(struct lode_catalogue *catalogue, const char *id, struct lode_error *error);

enum lode_catalogue_streams {
	LODE_STREAMS_ALL,
	LODE_STREAMS_UNMATCHED, /* some signature is newer than their last matching; the version must be 2 or more */
};

/* Streams, by name, then by id; `folder` goes in front of the file names. */
int lode_catalogue_list(struct lode_catalogue *catalogue, const char *folder, enum lode_catalogue_streams which,
			struct lode_corpus_list *list, struct lode_error *error);
/* The same of those that have an attribute of this value. */
int lode_catalogue_list_with(struct lode_catalogue *catalogue, const char *folder, const char *key,
			     const char *value, struct lode_corpus_list *list, struct lode_error *error);
/* Whether SQLite finds the file whole. Returns 0, or LODE_BAD_INPUT and what is wrong. */
int lode_catalogue_check(struct lode_catalogue *catalogue, struct lode_error *error);

#endif
