/*
 * What a damaged catalogue still says: for each stream where it came from and
 * when it was added, which its file does not know. Private to the corpus.
 */
#ifndef LODE_STORE_CATALOGUE_SALVAGE_H
#define LODE_STORE_CATALOGUE_SALVAGE_H

#include "store/corpus.h"

/*
 * Reads the damaged SQLite file `path` and changes nothing of it. `list`, empty,
 * gets an entry for each stream that can still be read, by id: id, source and
 * `added` (0: unknown), nothing else. A source of which there are two readings
 * says so. A file in which nothing is readable is no failure. Returns 0 or
 * LODE_SYSTEM for lack of memory. Takes time and memory bounded by the file's size.
 */
int lode_catalogue_salvage(const char *path, struct lode_corpus_list *list, struct lode_error *error);
/* The entry of stream `id`; NULL when there is none. */
const struct lode_corpus_entry *lode_catalogue_salvaged(const struct lode_corpus_list *list, const char *id);

#endif
