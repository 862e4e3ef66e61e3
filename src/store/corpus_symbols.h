/*
 * Symbols that a corpus keeps, for the programs in its streams: files by build-id, in the layout that debuggers and
 * `debuginfod` read.
 *
 *	CORPUS/symbols/.build-id/xx/yyyy.debug   with all symbols
 *	CORPUS/symbols/.build-id/xx/yyyy         with what the file exports
 */
#ifndef LODE_STORE_CORPUS_SYMBOLS_H
#define LODE_STORE_CORPUS_SYMBOLS_H

#include "base/error.h"

#define LODE_SYMBOLS_FOLDER "symbols"

/* What it has for a build-id; more is better. */
enum lode_kept_symbols { LODE_KEPT_NONE, LODE_KEPT_EXPORTED, LODE_KEPT_ALL };

/* "none", "exported", "all"; NULL for other numbers. */
const char *lode_kept_symbols_name(unsigned kept);

/* `build_id`: hexadecimal; what is none has no symbols. Any thread may call these. */
enum lode_kept_symbols lode_corpus_symbols(const char *corpus, const char *build_id);
/*
 * Puts a file of the same disk there, which is durable itself. Returns 1, with the file gone; 0 when as much was there before;
 * or a negative code.
 */
int lode_corpus_symbols_place(const char *corpus, const char *build_id, enum lode_kept_symbols kind,
			      const char *path, struct lode_error *error);
/* The folder, for the caller to free; NULL: there is none, or no memory. */
char *lode_corpus_symbols_folder(const char *corpus);

#endif
