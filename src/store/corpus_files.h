/* The files of a corpus folder: names that the corpus and its checker share. Private to the corpus. */
#ifndef LODE_STORE_CORPUS_FILES_H
#define LODE_STORE_CORPUS_FILES_H

#include "store/corpus.h"

#define LODE_CATALOGUE_FILE  "catalogue.sqlite"
#define LODE_STREAMS_FOLDER  "streams"
#define LODE_CACHE_FOLDER    "cache" /* map_cache.h */
#define LODE_REPLACED_SUFFIX ".replaced"

/* The contents of a folder of stream files. */
enum lode_corpus_file {
	LODE_FILE_STREAM,    /* ID.lode or ID.N.lode */
	LODE_FILE_TEMPORARY, /* .ID.PID.N.lode.tmp, of an import in progress or cut off */
	LODE_FILE_RECORDING, /* .ID.PID.N.lode.recording, of a recording in progress or cut off */
	LODE_FILE_REPLACED,  /* .NAME.replaced: the stream file NAME is to be deleted (corpus_readers.h) */
	LODE_FILE_DAMAGED,   /* NAME.damaged, kept by a repair */
	LODE_FILE_FOREIGN,
};

enum lode_corpus_file lode_corpus_classify(const char *name);
/* A name for a file being written, unlike any other of this or another process; the caller frees it. */
char *lode_corpus_temporary(const char *streams_folder, const char *id);
/* The same for the events of a recording while it goes on. */
char *lode_corpus_unfinished(const char *streams_folder, const char *id);
/* The process that wrote a temporary file or a recording, from its name; 0 when it is unknown. */
long lode_corpus_temporary_process(const char *name);
/* Size and time of a stream's file into its entry. */
int lode_corpus_look_at(const char *path, struct lode_corpus_entry *entry, struct lode_error *error);
/*
 * Says why `path` is not a corpus, and what to do. Always fails: LODE_BAD_INPUT, also where
 * there is nothing; LODE_SYSTEM where it may not be looked at.
 */
int lode_corpus_refuse(const char *path, struct lode_error *error);
/* Whether there is a stream file in the folder of them. */
int lode_corpus_has_streams(const char *streams_folder);
/* Whether a folder that is no corpus holds anything. */
int lode_corpus_folder_is_foreign(const char *path);

#endif
