/* Corpora for programs that use the library: see lode/corpus.h. */
#include "base/memory.h"
#include "library/public_error.h"
#include "store/corpus.h"

#include <lode/corpus.h>

struct liblode_corpus {
	struct lode_corpus *corpus;
	struct lode_corpus_list list;
};

_Static_assert((int)LIBLODE_EVENT_TYPES == (int)LODE_EVENT_TYPES, "the same types of events");

int liblode_corpus_refresh(struct liblode_corpus *corpus, struct liblode_error *error)
{
	struct lode_error sentence = { "" };
	struct lode_corpus_list list = { 0 };
	int code = lode_corpus_streams(corpus->corpus, &list, &sentence);

	if (code) {
		lode_corpus_list_release(&list);
	} else {
		lode_corpus_list_release(&corpus->list);
		corpus->list = list;
	}
	return lode_public_error(error, code, &sentence);
}

int liblode_corpus_open(struct liblode_corpus **corpus, const char *path, struct liblode_error *error)
{
	struct lode_error sentence = { "" };
	struct liblode_corpus *opened = lode_calloc(1, sizeof(*opened));
	int code = opened ? lode_corpus_open(&opened->corpus, path, LODE_CORPUS_READ, &sentence)
			  : lode_fail_memory(&sentence);

	*corpus = opened;
	code = code ? lode_public_error(error, code, &sentence) : liblode_corpus_refresh(opened, error);
	if (code) {
		liblode_corpus_close(opened);
		*corpus = NULL;
	}
	return code;
}

void liblode_corpus_close(struct liblode_corpus *corpus)
{
	if (!corpus)
		return;
	lode_corpus_list_release(&corpus->list);
	lode_corpus_close(corpus->corpus);
	lode_free(corpus);
}

const char *liblode_corpus_path(const struct liblode_corpus *corpus)
{
	return lode_corpus_path(corpus->corpus);
}

size_t liblode_corpus_count(const struct liblode_corpus *corpus)
{
	return corpus->list.count;
}

int liblode_corpus_stream(const struct liblode_corpus *corpus, size_t i, struct liblode_stream_info *info,
			  struct liblode_error *error)
{
	struct lode_error sentence = { "" };
	const struct lode_corpus_entry *entry = corpus->list.items + i;
	struct liblode_stream_info whole;

	if (i >= corpus->list.count)
		return lode_public_error(error,
					 lode_fail(&sentence, LODE_USAGE,
						   "%s: has %zu streams, so there is no stream %zu",
						   lode_corpus_path(corpus->corpus), corpus->list.count, i),
					 &sentence);
	whole = (struct liblode_stream_info){
		.id = entry->id,
		.name = entry->name,
		.host = entry->host,
		.source = entry->source,
		.path = entry->path,
		.first_t = entry->first_t,
		.last_t = entry->last_t,
		.threads = entry->threads,
		.stacks = entry->stacks,
		.symptoms = entry->symptoms,
		.file_bytes = entry->file_size,
		.added_s = entry->added,
	};
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		whole.events[type] = entry->events[type];
		whole.cost_ns[type] = entry->cost[type];
	}
	if (!lode_public_copy(info, &whole, sizeof(whole)))
		return LIBLODE_OK;
	return lode_public_error(error,
				 lode_fail(&sentence, LODE_USAGE, "set 'size' of struct liblode_stream_info first"),
				 &sentence);
}
