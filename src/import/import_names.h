/*
 * Names for streams whose recording has none: that of the file, and with folders in
 * front (`monday/perf`) where several files of the command, or a stream of the
 * corpus, are called the same.
 */
#ifndef LODE_IMPORT_IMPORT_NAMES_H
#define LODE_IMPORT_IMPORT_NAMES_H

#include "base/strings.h"
#include "import/import.h"
#include "store/corpus.h"

/*
 * The name a stream gets from its file: the base name without .gz, .zst, .xz and one more
 * extension, with `folders` of its folders in front. For the caller to free; NULL: no memory.
 */
char *lode_import_name(const char *path, unsigned folders);
/* The one that the options give, or the file's without folders; the same. */
char *lode_import_default_name(const struct lode_input *input, const struct lode_import_options *options);

struct lode_import_names {
	const char *const *paths; /* of the command's files */
	size_t count;
	unsigned *folders;         /* by file: how many folders its name has in front */
	struct lode_strings taken; /* names of the corpus' streams */
	int loaded;                /* they are there */
};

/*
 * `levels`: by path, how many folders its name has in front at least. `paths` must outlive it. Returns 0 or LODE_SYSTEM;
 * release it in either case.
 */
int lode_import_names_init(struct lode_import_names *names, const char *const *paths, const unsigned *levels,
			   size_t count);
void lode_import_names_release(struct lode_import_names *names);
/* The name of file number `file` among the command's files, for the caller to free; NULL: no memory. */
char *lode_import_names_get(const struct lode_import_names *names, size_t file);
/*
 * Before a new stream of file number `file` is added: where its name is that of the
 * file and the corpus has it already, the stream gets another one. Returns 0 or a negative code.
 */
int lode_import_names_settle(struct lode_import_names *names, size_t file, struct lode_corpus *corpus,
			     struct lode_stream *stream, struct lode_error *error);

#endif
