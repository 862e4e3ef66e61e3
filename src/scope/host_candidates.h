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

struct lode_host_joins {
	struct lode_host_candidate *items;
	size_t count;
	struct lode_corpus_list *lists; /* by corpus: who owns the entries */
	size_t list_count;
};

/* NULL: it is not one of them. */
const struct lode_host_candidate *lode_host_candidate_find(const struct lode_host_joins *joins, const char *id);
/* Whether they are of different hosts and have the two ends of some connection. */
int lode_host_candidates_meet(const struct lode_host_candidate *a, const struct lode_host_candidate *b);

#endif
