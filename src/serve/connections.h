/*
 * The connections of a server, and how long they may take to send a request. A client that sends a byte now and then
 * would keep its connection for as long as it likes, since the library's timeout counts from the last byte, and a few
 * hundred of those would keep everybody else out. So
 *
 *	- a request must be there as a whole some seconds after its connection was opened, or after the answer before it;
 *	- when there are too many connections, the one that has been waiting longest for its request is shut down in
 *	  favour of the new one.
 *
 * A connection that is being answered is left alone. The functions may be called from any thread.
 */
#ifndef LODE_SERVE_CONNECTIONS_H
#define LODE_SERVE_CONNECTIONS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct lode_connections;
struct lode_connection;

struct lode_connections_limits {
	size_t count;         /* of connections at a time */
	uint64_t deadline_ns; /* for a request */
};

/* On success the caller frees it, when there are no connections any more. */
int lode_connections_make(struct lode_connections **connections, const struct lode_connections_limits *limits,
			  struct lode_error *error);
void lode_connections_free(struct lode_connections *connections);

/* A new connection, of which a request is expected. NULL when memory has run out: it should be closed then. */
struct lode_connection *lode_connections_add(struct lode_connections *connections, int fd);
/* In all of these NULL is allowed. It is about to be closed. */
void lode_connections_remove(struct lode_connections *connections, struct lode_connection *connection);
/* A request is there as a whole, and is being answered. */
void lode_connection_begin_answer(struct lode_connections *connections, struct lode_connection *connection);
/* It was answered; another one may follow. */
void lode_connection_end_answer(struct lode_connections *connections, struct lode_connection *connection);

#endif
