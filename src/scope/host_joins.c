/* Which streams of a corpus may be joined: see host_joins.h. joined_hosts.c joins them. */
#include "scope/host_candidates.h"

#include "store/unread_streams.h"
#include "trace/objects.h"

#include <string.h>

void lode_host_joins_free(struct lode_host_joins *joins)
{
	if (!joins)
		return;
	for (size_t i = 0; i < joins->count; i++) {
		lode_connection_ends_release(&joins->items[i].ends);
		lode_dictionary_release(&joins->items[i].dictionary);
	}
	for (size_t i = 0; i < joins->list_count; i++)
		lode_corpus_list_release(&joins->lists[i]);
	lode_free(joins->items);
	lode_free(joins->lists);
	lode_free(joins);
}

const struct lode_host_candidate *lode_host_candidate_find(const struct lode_host_joins *joins, const char *id)
{
	for (size_t i = 0; joins && i < joins->count; i++)
		if (!strcmp(joins->items[i].entry->id, id))
			return &joins->items[i];
	return NULL;
}

int lode_host_joins_has(const struct lode_host_joins *joins, const char *id)
{
	const struct lode_host_candidate *own = lode_host_candidate_find(joins, id);

	for (size_t i = 0; own && i < joins->count; i++)
		if (lode_host_candidates_meet(own, &joins->items[i]))
			return 1;
	return 0;
}

int lode_host_candidates_meet(const struct lode_host_candidate *a, const struct lode_host_candidate *b)
{
	if (!strcmp(a->entry->host, b->entry->host))
		return 0;
	for (size_t i = 0; i < a->ends.count; i++)
		if (lode_connection_ends_find(&b->ends, &a->ends.items[i]))
			return 1;
	return 0;
}

/* The connections of a stream. One that cannot be read is not joined: who reads it says so. */
static int add_candidate(struct lode_host_joins *joins, const struct lode_corpus_entry *entry)
{
	struct lode_host_candidate *candidate = &joins->items[joins->count];
	struct lode_store *store = NULL;
	struct lode_stream stream;
	int code;

	if (lode_dictionary_init(&candidate->dictionary) < 0)
		return LODE_SYSTEM;
	joins->count++;
	candidate->entry = entry;
	lode_stream_init(&stream, &candidate->dictionary);
	code = lode_store_open(&store, entry->path, NULL);
	if (!code)
		code = lode_store_brief_head(store, &stream, NULL);
	if (store)
		lode_store_close(store);
	lode_stream_release(&stream);
	if (code)
		return lode_stream_is_unreadable(entry, code) ? 0 : LODE_SYSTEM;
	return lode_connection_ends_add(&candidate->ends, &candidate->dictionary.frames.strings, 0);
}

/* Whether the streams are of more than one host that is known. */
static int has_several_hosts(const struct lode_host_joins *joins)
{
	const char *first = NULL;

	for (size_t i = 0; i < joins->list_count; i++)
		for (size_t k = 0; k < joins->lists[i].count; k++) {
			const char *host = joins->lists[i].items[k].host;

			if (!*host)
				continue;
			if (first && strcmp(first, host) != 0)
				return 1;
			first = host;
		}
	return 0;
}

static int list_streams(struct lode_host_joins *joins, struct lode_corpus *corpus, struct lode_error *error)
{
	int code = 0;

	joins->lists = lode_calloc(lode_corpus_count(corpus), sizeof(*joins->lists));
	if (!joins->lists)
		return lode_fail_memory(error);
	joins->list_count = lode_corpus_count(corpus);
	for (size_t i = 0; !code && i < joins->list_count; i++)
		code = lode_corpus_streams_with(lode_corpus_member(corpus, i), LODE_CONNECTIONS,
						LODE_CONNECTIONS_VALUE, &joins->lists[i], error);
	return code;
}

static int add_candidates(struct lode_host_joins *joins)
{
	size_t all = 0;

	for (size_t i = 0; i < joins->list_count; i++)
		all += joins->lists[i].count;
	joins->items = lode_calloc(all + 1, sizeof(*joins->items));
	if (!joins->items)
		return LODE_SYSTEM;
	for (size_t i = 0; i < joins->list_count; i++)
		for (size_t k = 0; k < joins->lists[i].count; k++) {
			const struct lode_corpus_entry *entry = &joins->lists[i].items[k];

			/* Several corpora may have the same stream. */
			if (*entry->host && !lode_host_candidate_find(joins, entry->id) &&
			    add_candidate(joins, entry) < 0)
				return LODE_SYSTEM;
		}
	return 0;
}

int lode_host_joins_find(struct lode_host_joins **joins, struct lode_corpus *corpus, struct lode_error *error)
{
	struct lode_host_joins *found = lode_calloc(1, sizeof(*found));
	int code;

	*joins = NULL;
	if (!found)
		return lode_fail_memory(error);
	code = list_streams(found, corpus, error);
	if (!code && has_several_hosts(found)) {
		*joins = found;
		return add_candidates(found) < 0 ? lode_fail_memory(error) : 0;
	}
	lode_host_joins_free(found);
	return code;
}
