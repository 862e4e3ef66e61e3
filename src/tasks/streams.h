/*
 * The streams that `--stream NAME` asks for.
 */
#ifndef LODE_TASKS_STREAMS_H
#define LODE_TASKS_STREAMS_H

#include "tasks/options.h"
#include "store/corpus.h"

/* Whether one of the names is that of the stream, or its id; without names all are requested. */
int lode_stream_asked_for(const struct lode_option_list *names, const struct lode_corpus_entry *entry);
/* Every name must be that of a stream of the corpus `path`; else a sentence suggests the nearest. */
int lode_streams_check(const struct lode_option_list *names, const struct lode_corpus_list *list, const char *path,
		       struct lode_error *error);

#endif
