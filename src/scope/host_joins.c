/* Which streams of a corpus may be joined: see host_joins.h. joined_hosts.c joins them. */
#include "scope/host_candidates.h"

#include "base/bisect.h"
#include "base/sort_numbers.h"
#include "store/unread_streams.h"
#include "trace/objects.h"

#include <stdlib.h>
#include <string.h>

/* Streams that are looked at: each takes a fraction of a millisecond. Where there are more, none are joined. */
#define MAX_CANDIDATES 10000

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
	lode_free(joins->by_id);
	lode_free(joins->ends);
	lode_free(joins->lists);
	lode_free(joins);
}

const struct lode_host_candidate *lode_host_candidate_find(const struct lode_host_joins *joins, const char *id)
{
	size_t at = joins ? LODE_BISECT(i, 0, joins->count, strcmp(joins->items[joins->by_id[i]].entry->id, id) < 0)
			  : 0;
	const struct lode_host_candidate *found = joins && at < joins->count ? &joins->items[joins->by_id[at]]
									     : NULL;

	return found && !strcmp(found->entry->id, id) ? found : NULL;
}

/* ---- who meets whom ---- */

static uint32_t ports_of(const struct lode_connection_end *end)
{
	return lode_connection_ports(end->local_port, end->peer_port);
}

int lode_host_neighbours(const struct lode_host_joins *joins, const struct lode_host_candidate *own,
			 uint32_t **numbers, size_t *count)
{
	size_t capacity = 0, kept = 0;

	*numbers = NULL;
	*count = 0;
	for (size_t k = 0; k < own->ends.count; k++) {
		const struct lode_connection_end *end = &own->ends.items[k];
		uint32_t wanted = lode_connection_ports(end->peer_port, end->local_port);
		size_t at = LODE_BISECT(i, 0, joins->end_count, ports_of(joins->ends[i].end) < wanted);

		for (; at < joins->end_count && ports_of(joins->ends[at].end) == wanted; at++) {
			uint32_t candidate = joins->ends[at].candidate;

			if (strcmp(joins->items[candidate].entry->host, own->entry->host) != 0 &&
			    lode_connection_ends_meet(end, joins->ends[at].end) &&
			    LODE_APPEND(*numbers, *count, capacity, candidate) < 0)
				return LODE_SYSTEM;
		}
	}
	lode_sort_u32(*numbers, *count);
	for (size_t i = 0; i < *count; i++)
		if (!kept || (*numbers)[kept - 1] != (*numbers)[i])
			(*numbers)[kept++] = (*numbers)[i];
	*count = kept;
	return 0;
}

int lode_host_joins_has(const struct lode_host_joins *joins, const char *id)
{
	const struct lode_host_candidate *own = lode_host_candidate_find(joins, id);
	uint32_t *numbers = NULL;
	size_t count = 0;

	/* Without memory it may be: whoever asks does more than it must then. */
	if (own && lode_host_neighbours(joins, own, &numbers, &count) < 0)
		count = 1;
	lode_free(numbers);
	return count != 0;
}

static int compare_located(const void *left, const void *right)
{
	const struct lode_located_end *a = left, *b = right;
	uint32_t x = ports_of(a->end), y = ports_of(b->end);

	if (x != y)
		return x < y ? -1 : 1;
	return (a->candidate > b->candidate) - (a->candidate < b->candidate);
}

static int compare_ids(const void *left, const void *right, void *context)
{
	const struct lode_host_joins *joins = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = strcmp(joins->items[a].entry->id, joins->items[b].entry->id);

	return order ? order : (a > b) - (a < b);
}

static int make_indexes(struct lode_host_joins *joins)
{
	size_t all = 0;

	for (size_t i = 0; i < joins->count; i++)
		all += joins->items[i].ends.count;
	joins->by_id = lode_calloc(joins->count + 1, sizeof(*joins->by_id));
	joins->ends = lode_calloc(all + 1, sizeof(*joins->ends));
	if (!joins->by_id || !joins->ends)
		return LODE_SYSTEM;
	for (size_t i = 0; i < joins->count; i++) {
		joins->by_id[i] = (uint32_t)i;
		for (size_t k = 0; k < joins->items[i].ends.count; k++)
			joins->ends[joins->end_count++] =
				(struct lode_located_end){ &joins->items[i].ends.items[k], (uint32_t)i };
	}
	qsort_r(joins->by_id, joins->count, sizeof(*joins->by_id), compare_ids, joins);
	qsort(joins->ends, joins->end_count, sizeof(*joins->ends), compare_located);
	return 0;
}

/* ---- finding them ---- */

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

static size_t count_streams(const struct lode_host_joins *joins)
{
	size_t all = 0;

	for (size_t i = 0; i < joins->list_count; i++)
		all += joins->lists[i].count;
	return all;
}

static int add_candidates(struct lode_host_joins *joins)
{
	joins->items = lode_calloc(count_streams(joins) + 1, sizeof(*joins->items));
	if (!joins->items)
		return LODE_SYSTEM;
	for (size_t i = 0; i < joins->list_count; i++)
		for (size_t k = 0; k < joins->lists[i].count; k++) {
			const struct lode_corpus_entry *entry = &joins->lists[i].items[k];

			if (*entry->host && add_candidate(joins, entry) < 0)
				return LODE_SYSTEM;
		}
	return make_indexes(joins);
}

int lode_host_joins_find(struct lode_host_joins **joins, struct lode_corpus *corpus, struct lode_error *error)
{
	struct lode_host_joins *found = lode_calloc(1, sizeof(*found));
	int code;

	*joins = NULL;
	if (!found)
		return lode_fail_memory(error);
	code = list_streams(found, corpus, error);
	if (!code && count_streams(found) <= MAX_CANDIDATES && has_several_hosts(found)) {
		*joins = found;
		return add_candidates(found) < 0 ? lode_fail_memory(error) : 0;
	}
	lode_host_joins_free(found);
	return code;
}
