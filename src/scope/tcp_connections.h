/*
 * Connections between hosts, by the names of waits (LODE_CONNECTION): which ends of two streams are of one. Addresses and
 * ports must agree both ways; an address that was not recorded agrees with any.
 */
#ifndef LODE_SCOPE_TCP_CONNECTIONS_H
#define LODE_SCOPE_TCP_CONNECTIONS_H

#include "base/strings.h"

/* One end, as the name of a wait tells. Texts are those of the name. */
struct lode_connection_end {
	const char *local; /* addresses, not ended by NUL */
	const char *peer;
	uint16_t local_length;
	uint16_t peer_length;
	uint16_t local_port;
	uint16_t peer_port;
	uint32_t string; /* the name */
};

/* Returns whether `name` is one of a connection. */
int lode_connection_parse(const char *name, struct lode_connection_end *end);
/* Whether both are ends of one connection. */
int lode_connection_ends_meet(const struct lode_connection_end *a, const struct lode_connection_end *b);
/* Whether the thread at this end has probably asked for the connection: its own port is the one that was chosen at random. */
static inline int lode_connection_is_client(const struct lode_connection_end *end)
{
	return end->local_port > end->peer_port;
}

/* Both ports as one number, which is the same for the ends that meet if those of one are exchanged. */
static inline uint32_t lode_connection_ports(uint16_t local, uint16_t peer)
{
	return (uint32_t)local << 16 | peer;
}

/* The ends that a stream has; a zeroed struct holds none. By ports, so that those of another stream are found quickly. */
struct lode_connection_ends {
	struct lode_connection_end *items;
	size_t count;
	size_t capacity;
};

/* Adds all strings from `first` on that are names of connections, which must stay. Returns 0 or LODE_SYSTEM. */
int lode_connection_ends_add(struct lode_connection_ends *ends, const struct lode_strings *strings, uint32_t first);
void lode_connection_ends_release(struct lode_connection_ends *ends);
/* The end that meets `end`; NULL: there is none. */
const struct lode_connection_end *lode_connection_ends_find(const struct lode_connection_ends *ends,
							    const struct lode_connection_end *end);

#endif
