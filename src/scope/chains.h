/*
 * Chains: who kept whom waiting, on the way from a symptom's thread to where its time went.
 *
 * A link is a thread, what state it was in, what it waited for and where. The first link of a
 * chain is the symptom's thread; each next one is the thread that the one before waited for. At
 * the last one the time went. Threads are known by name, not by number: chains of different
 * processes and streams are equal when they read the same.
 *
 * Rows say how much time went to the end of a chain, by stack, symptom and context, and where the longest part of it is
 * seen. Without symptoms each wait of each thread is followed for itself: its thread is the first link.
 *
 * Numbers of strings and nodes are those of a dictionary that goes with the chains.
 */
#ifndef LODE_SCOPE_CHAINS_H
#define LODE_SCOPE_CHAINS_H

#include "base/hash_index.h"
#include "trace/dictionary.h"

struct lode_chain_link {
	uint32_t before;  /* the chain that ends with who waits for this thread; LODE_NONE: it is the first */
	uint32_t process; /* string: name of its process; */
	uint32_t thread;  /* and of the thread */
	uint32_t object;  /* string: what it waits for; 0: unknown */
	uint32_t holder_process; /* string: who has that, or the processor, as far as it is known; 0: not */
	uint32_t holder;         /* the same, the thread */
	uint32_t place;          /* node: its own function that waits; 0 in the last link: rows say it */
	uint32_t state;          /* enum lode_state */
};

struct lode_chain_row {
	uint32_t chain; /* number of its last link */
	uint32_t stack; /* node; 0: unknown */
	uint32_t stream;
	uint32_t symptom;     /* of the stream, from 0; without symptoms 0 */
	uint32_t context;     /* string: the request or query that it belonged to; 0: unknown, or a single trace */
	uint32_t longest_tid; /* whose event the longest part is seen in: the first thread of the chain; */
	uint64_t cost;        /* ns */
	uint64_t events;
	uint64_t longest;   /* ns of that part, */
	uint64_t longest_t; /* and the start of that event */
};

/* Links that were used lately are found without a search. */
#define LODE_RECENT_LINKS 64

/* A zeroed struct holds none. */
struct lode_chains {
	struct lode_chain_link *links;
	size_t link_count;
	size_t link_capacity;
	struct lode_chain_row *rows;
	size_t row_count;
	size_t row_capacity;
	uint32_t recent[LODE_RECENT_LINKS]; /* numbers of links */
	struct lode_index link_index;
	struct lode_index row_index; /* empty where rows were only appended */
};

void lode_chains_release(struct lode_chains *chains);

/* The number of a link, added if new; LODE_NONE when memory has run out. */
uint32_t lode_chains_link(struct lode_chains *chains, const struct lode_chain_link *link);
/*
 * Adds to the row of the same chain, stack, stream, symptom and context; of equally long parts the earlier one is the
 * longest. Returns 0 or LODE_SYSTEM.
 */
int lode_chains_add(struct lode_chains *chains, const struct lode_chain_row *row);
/* Whether all numbers are within bounds: for chains that come from a file or another process. */
int lode_chains_are_valid(const struct lode_chains *chains, const struct lode_dictionary *dictionary,
			  uint64_t streams);
/*
 * Appends the rows of `from`, whose streams come behind `stream` others; their links are added if new. Returns 0 or
 * LODE_SYSTEM.
 */
int lode_chains_merge(struct lode_chains *to, const struct lode_chains *from,
		      const struct lode_dictionary_map *map, uint32_t stream);

#endif
