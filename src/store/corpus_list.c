/* Lists of streams: see corpus.h. */
#include "store/corpus.h"

#include <string.h>

void lode_corpus_list_release(struct lode_corpus_list *list)
{
	for (size_t i = 0; i < list->part_count; i++)
		lode_corpus_list_release(&list->parts[i]);
	lode_free(list->parts);
	lode_arena_release(&list->arena);
	lode_free(list->items);
	memset(list, 0, sizeof(*list));
}
