/*
 * The corpus at a moment, as far as results depend on it: its catalogue changes whenever a stream comes or goes, its file of
 * signatures when somebody edits it. Two that are equal as bytes are of the same corpus.
 */
#ifndef LODE_SERVE_CORPUS_VERSION_H
#define LODE_SERVE_CORPUS_VERSION_H

#include <sys/stat.h>
#include <time.h>

struct lode_corpus_files {
	char *catalogue; /* paths */
	char *signatures;
};

struct lode_corpus_version {
	struct lode_file_version {
		struct timespec time;
		off_t size;
		ino_t inode;
	} catalogue, signatures;
};

/* Returns 0, or -1 when memory has run out. Release them even then. */
int lode_corpus_files_init(struct lode_corpus_files *files, const char *corpus);
void lode_corpus_files_release(struct lode_corpus_files *files);
/* A file that is not there is as if it were empty. */
struct lode_corpus_version lode_corpus_version(const struct lode_corpus_files *files);

#endif
