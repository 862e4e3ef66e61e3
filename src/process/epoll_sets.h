/*
 * What is in an epoll set: which ports it listens at, whom it is connected to, and what else, as the object of a wait
 * (`epoll:TCP port 6379, connections, eventfd`).
 *
 * What is many, or changes from second to second, is told by its kind only: a server's set stays the same object while
 * clients come and go. What is known is kept for KEPT_NS; memory and time are bounded.
 */
#ifndef LODE_PROCESS_EPOLL_SETS_H
#define LODE_PROCESS_EPOLL_SETS_H

#include "process/unix_names.h"

#define LODE_EPOLL_SETS 256
#define LODE_EPOLL_TEXT 224
/* Room for the ends of a connection, `ADDRESS:PORT > ADDRESS:PORT`. */
#define LODE_EPOLL_CONNECTION 128

/* A zeroed struct knows none. */
struct lode_epoll_sets {
	struct lode_epoll_set {
		uint32_t pid; /* 0: none */
		uint32_t number;
		uint64_t t;
		char text[LODE_EPOLL_TEXT];
		char connection[LODE_EPOLL_CONNECTION];
	} items[LODE_EPOLL_SETS]; /* direct-mapped */
	struct lode_unix_names unix_names;
	uint64_t second;    /* the current one, */
	uint32_t looked_up; /* and how many were looked up in it */
};

void lode_epoll_sets_release(struct lode_epoll_sets *sets);
/* The object of a wait for descriptor `number` of a process, an epoll set, at `t` (CLOCK_MONOTONIC); valid until the next call. */
const char *lode_epoll_set(struct lode_epoll_sets *sets, uint32_t pid, uint32_t number, uint64_t t);
/*
 * Both ends, as LODE_CONNECTION has them, of the only TCP connection to another host that is in a set which was asked for just now; "": there is
 * none, there are several, or it also listens. Valid until the next call.
 */
const char *lode_epoll_connection(const struct lode_epoll_sets *sets, uint32_t pid, uint32_t number);

#endif
