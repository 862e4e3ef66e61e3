/*
 * Threads that wait for replies, not for work: clients.
 *
 * A client that sends and waits in a loop looks like a server that waits and sends: what it does between two waits are
 * its own pauses, no requests. The sockets that it waits for tell them apart where they are known. A server waits for
 * connections (`listen:`) or on sockets that it accepted: of Unix ones the object says so (`accepted:`), of TCP ones the peer
 * has a port that was chosen at random. A client's peer has a port that somebody listens at in the same stream, or a
 * low one; or it is a Unix socket by its path, in a stream in which accepted ones are marked as such.
 */
#ifndef LODE_SCOPE_CLIENT_WAITS_H
#define LODE_SCOPE_CLIENT_WAITS_H

#include "trace/stream.h"

enum lode_socket_side {
	LODE_SIDE_UNKNOWN,
	LODE_SIDE_SERVER,
	LODE_SIDE_CLIENT,
};

/* By string of the stream's dictionary: the side of a thread that waits for such an object. The caller frees it; NULL: no memory. */
uint8_t *lode_socket_sides(const struct lode_stream *stream);

#endif
