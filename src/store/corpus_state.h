/* An open corpus. Private to corpus.c and corpus_arrivals.c. */
#ifndef LODE_STORE_CORPUS_STATE_H
#define LODE_STORE_CORPUS_STATE_H

#include "store/catalogue.h"
#include "store/corpus_readers.h"

struct lode_corpus {
	char *path;
	char *streams; /* the folder of stream files */
	struct lode_catalogue *catalogue;
	struct lode_corpus_readers readers;
	struct lode_map_cache *cache;
	int writable;
	int is_private;              /* what is created is for its owner alone */
	struct lode_corpus **others; /* that were opened with it as one */
	size_t other_count;
	char *title; /* of all of them; NULL: it is alone */
};

#endif
