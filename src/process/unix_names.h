/* Names of Unix sockets: the path that a socket, or the one it is connected to, is bound to, and which of the two it is. */
#ifndef LODE_PROCESS_UNIX_NAMES_H
#define LODE_PROCESS_UNIX_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* A zeroed struct is not open yet. */
struct lode_unix_names {
	int fd;     /* to the kernel, plus one */
	int failed; /* the kernel does not tell */
};

void lode_unix_names_release(struct lode_unix_names *names);
/*
 * The path of the socket with this inode, or else of its peer; an abstract one begins with `@`. Before the path of one that
 * listens stands `listen:`, of one that was accepted `accepted:`. Returns 0, or -1 when
 * neither has a name, the socket is gone, or it is in another network namespace than this process.
 */
int lode_unix_name(struct lode_unix_names *names, uint32_t inode, char *path, size_t room);

#endif
