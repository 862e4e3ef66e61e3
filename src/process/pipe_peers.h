/* The process at the other end of a pipe. */
#ifndef LODE_PROCESS_PIPE_PEERS_H
#define LODE_PROCESS_PIPE_PEERS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Puts `from NAME` or `to NAME` into `text`: the name of the only process among the parent, the siblings and the children of `pid` that
 * has the other end of the pipe open which is descriptor `number` of `pid`. Returns 0, or -1 where there is none, or several
 * of different names, or so many that it would take long.
 */
int lode_pipe_peer(uint32_t pid, uint32_t number, uint32_t inode, char *text, size_t room);

#endif
