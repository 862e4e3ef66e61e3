/*
 * Sums of a stream: what its events of one thread, kind and stack come to. The rows of the table
 * `sums`, and kept beside the corpus (store/map_cache.h), so that questions about sums read no events.
 * Private to src/query/.
 */
#ifndef LODE_QUERY_SUMS_H
#define LODE_QUERY_SUMS_H

#include <stddef.h>
#include <stdint.h>

struct lode_query_data;

struct lode_query_sums {
	size_t count;
	uint8_t *kind;    /* enum lode_event_type */
	uint32_t *thread; /* of the stream */
	uint32_t *stack;
	uint64_t *n;     /* events, by their weights */
	uint64_t *cost;  /* the same; saturating */
	int in_file_ids; /* stacks have the file's numbers, not yet those of the query's dictionary */
};

void lode_query_sums_free(struct lode_query_sums *sums); /* NULL is fine */

/*
 * Makes the sums of the streams from `first` to before `last` that have none yet, by several threads; with `stacks`,
 * their stacks are those of the query's dictionary afterwards. Streams that cannot be read are marked so. Returns
 * 0 or a negative code with the sentence in the data.
 */
int lode_query_make_sums(struct lode_query_data *data, size_t first, size_t last, int stacks);

#endif
