/* The streams that may be joined, and their connections. Private to host_joins.c and joined_hosts.c. */
#ifndef LODE_SCOPE_HOST_CANDIDATES_H
#define LODE_SCOPE_HOST_CANDIDATES_H

#include "scope/tcp_connections.h"
#include "scope/host_joins.h"

struct lode_host_candidate {
	const struct lode_corpus_entry *entry;
	struct lode_dictionary dictionary; /* its strings alone */
	struct lode_connection_ends ends;
};

/* An end, and whose it is. */
struct lode_located_end {
	const struct lode_connection_end *end;
	uint32_t candidate;
};

struct lode_host_joins {
	struct lode_host_candidate *items;
	size_t count;
	uint32_t *by_id;               /* numbers of candidates, in the order of their ids */
	struct lode_located_end *ends; /* of all, by ports */
	size_t end_count;
	struct lode_corpus_list *lists; /* by corpus: who owns the entries */
	size_t list_count;
};

/* NULL: it is not one of them. */
const struct lode_host_candidate *lode_host_candidate_find(const struct lode_host_joins *joins, const char *id);
/*
 * The candidates of other hosts that have the other end of some connection of `own`, their numbers in ascending order; the
 * caller frees `*numbers`. Returns 0 or LODE_SYSTEM.
 */
int lode_host_neighbours(const struct lode_host_joins *joins, const struct lode_host_candidate *own,
			 uint32_t **numbers, size_t *count);

#endif
