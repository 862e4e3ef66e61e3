/*
 * Compares rows of the catalogue with their stream files. Everything in a row,
 * except where the stream came from and when, is also in its file. Private to
 * the corpus.
 */
#ifndef LODE_STORE_CORPUS_ROWS_H
#define LODE_STORE_CORPUS_ROWS_H

#include "store/catalogue.h"

/*
 * Describes the stream in the file `path` as its row does (lode_corpus_describe,
 * lode_corpus_look_at), block by block; `stream`, empty over a dictionary of its
 * own, becomes its head, and texts of `entry` live as long as that.
 */
int lode_corpus_describe_file(const char *path, struct lode_stream *stream, struct lode_corpus_entry *entry,
			      struct lode_error *error);
/*
 * Compares the row `row`, and the attributes and symptoms that the catalogue has
 * of it, with the stream in its file. Returns 1 when they agree; 0 when not, and
 * `*what` says in what; or a negative code.
 */
int lode_corpus_row_agrees(struct lode_catalogue *catalogue, const struct lode_corpus_entry *row,
			   const char **what, struct lode_error *error);

#endif
