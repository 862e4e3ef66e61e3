/*
 * Readers of stream files, and files that are no longer part of a corpus.
 *
 * A process lists streams first and opens their files later, one by one. A file that
 * was replaced or removed meanwhile must still be there then. So readers share a
 * lock (flock of the folder of stream files) from before they read the catalogue
 * until they are done, and a file is deleted only under an exclusive lock. While
 * there are readers, the file stays, with an empty file `.NAME.replaced` beside
 * it as a mark; the next process that closes the corpus after writing, or repairs
 * it, deletes both. On file systems without such locks, files are deleted immediately.
 *
 * Locks of a folder do not reach other hosts. On a file system that hosts share
 * (NFS and the like) a file therefore always stays for an hour after it was
 * replaced: as long as any reader may take to get to it.
 *
 * Private to the corpus.
 */
#ifndef LODE_STORE_CORPUS_READERS_H
#define LODE_STORE_CORPUS_READERS_H

#include "store/catalogue.h"

struct lode_corpus_readers {
	const char *streams; /* the folder */
	int fd;              /* of the folder; -1: not opened */
	int reading;         /* the lock is shared with other readers */
	int remote;          /* other hosts may read, too; -1: not known yet */
};

/* `streams` must outlive it. */
void lode_corpus_readers_init(struct lode_corpus_readers *readers, const char *streams);
/* From here on no file that the catalogue names is deleted, until lode_corpus_readers_release. */
void lode_corpus_readers_enter(struct lode_corpus_readers *readers);
void lode_corpus_readers_release(struct lode_corpus_readers *readers);

/*
 * Deletes a stream file that the catalogue does not name any more, or leaves it to
 * a later sweep if there may be a reader. Returns 0 or a negative code.
 */
int lode_corpus_discard(struct lode_corpus_readers *readers, struct lode_catalogue *catalogue, const char *file,
			struct lode_error *error);
/* Whether `file` is waiting to be deleted. */
int lode_corpus_is_discarded(const char *streams, const char *file);
/* Deletes replaced files, unless there are readers. What fails is left to the next time. */
void lode_corpus_sweep(struct lode_corpus_readers *readers, struct lode_catalogue *catalogue);

#endif
