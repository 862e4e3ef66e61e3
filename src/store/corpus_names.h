/*
 * Names of corpora as people give them: a folder; `@FILE`, a text file with one name
 * per line (`#` begins a comment); or a pattern with `*`, `?` or `[…]`, which means
 * all matching corpora, sorted by name.
 */
#ifndef LODE_STORE_CORPUS_NAMES_H
#define LODE_STORE_CORPUS_NAMES_H

#include "base/error.h"
#include "base/text_list.h"

/* Whether `name` means several corpora: `@FILE`, or a pattern and no folder of that name. */
int lode_corpus_name_is_list(const char *name);
/*
 * Appends the folders that `name` means; a plain name is appended as it is, whether it
 * is there or not. A file or a pattern that yields none is LODE_BAD_INPUT with a sentence.
 */
int lode_corpus_names_add(struct lode_text_list *names, const char *name, struct lode_error *error);
/* The same over the text of a file in memory, called `path` in messages. */
int lode_corpus_names_read(struct lode_text_list *names, const char *path, const char *text, size_t size,
			   struct lode_error *error);

#endif
