/*
 * Where a server listens: a port of the loopback interface, or a Unix socket that only its owner may connect to.
 */
#ifndef LODE_SERVE_LISTENER_H
#define LODE_SERVE_LISTENER_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

struct lode_listener {
	int fd;        /* -1: it does not listen, or somebody else closes it */
	uint16_t port; /* 0 for a Unix socket */
	char *path;    /* of a Unix socket; else NULL */
	dev_t device;  /* of its file, which another server may have replaced since */
	ino_t inode;
};

/* `port` 0 takes a free one. Close it in either case. */
int lode_listener_open_port(struct lode_listener *listener, uint16_t port, struct lode_error *error);
/* The same at an address of any interface: a number such as 10.0.0.7, 0.0.0.0 or ::. */
int lode_listener_open_address(struct lode_listener *listener, const char *text, uint16_t port,
			       struct lode_error *error);
/* A socket that a server left behind is replaced; any other file stays, and is an error. */
int lode_listener_open_path(struct lode_listener *listener, const char *path, struct lode_error *error);
/* Removes the socket's file. */
void lode_listener_close(struct lode_listener *listener);

#endif
