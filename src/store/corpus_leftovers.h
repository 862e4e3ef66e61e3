/* Leftovers: temporary files whose writer was killed. Private to the corpus and its checker. */
#ifndef LODE_STORE_CORPUS_LEFTOVERS_H
#define LODE_STORE_CORPUS_LEFTOVERS_H

#include "base/text_list.h"

/* Whether somebody is still writing the temporary file `path`, which the process `process` (0: unknown) created. */
int lode_corpus_has_writer(const char *path, long process);
/* Adds the paths of leftovers beside the streams: of mined.txt and signatures.txt, and of cached results. 0 or LODE_SYSTEM. */
int lode_corpus_leftovers(const char *corpus, struct lode_text_list *paths);

#endif
