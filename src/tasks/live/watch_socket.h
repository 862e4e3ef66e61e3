/*
 * The connection from `lode trigger` to running flight recorders: each listens on
 * a socket watch-PID in a folder that only its user may enter, /run/lode for
 * root, else $XDG_RUNTIME_DIR/lode. A request is one line, `TID NAME` (TID 0:
 * none is meant); the answer is one line, when the stream is written or refused.
 */
#ifndef LODE_TASKS_LIVE_WATCH_SOCKET_H
#define LODE_TASKS_LIVE_WATCH_SOCKET_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LODE_WATCH_CLIENTS 16
#define LODE_WATCH_NAME    128 /* bytes of a trigger's name, with its NUL */
#define LODE_WATCH_LINE    1200

struct lode_watch_client {
	int fd; /* -1: none */
	int asked;
	size_t used; /* bytes of `line` so far */
	char line[LODE_WATCH_NAME + 16];
};

struct lode_watch_socket {
	int fd;     /* -1: it does not listen */
	int events; /* epoll descriptor that all its descriptors are added to; not owned */
	char *path;
	struct lode_watch_client clients[LODE_WATCH_CLIENTS];
};

/* Listens; what comes makes `events` readable. */
int lode_watch_socket_open(struct lode_watch_socket *socket, int events, struct lode_error *error);
void lode_watch_socket_close(struct lode_watch_socket *socket);
/*
 * The next request that has come in whole: 1, with the name and the thread (0:
 * none), or 0. The client is answered by the next lode_watch_socket_answer.
 */
int lode_watch_socket_take(struct lode_watch_socket *socket, char name[LODE_WATCH_NAME], uint32_t *tid);
/* Answers all whose requests were taken. */
void lode_watch_socket_answer(struct lode_watch_socket *socket, const char *line);

/* For `lode trigger`: the recorders that run; fills at most `count` pids, returns how many there are. */
size_t lode_watch_list(pid_t *pids, size_t count);
/* Asks one and waits for its answer. Returns 0 or a negative code. */
int lode_watch_ask(pid_t pid, uint32_t tid, const char *name, char answer[LODE_WATCH_LINE],
		   struct lode_error *error);

#endif
