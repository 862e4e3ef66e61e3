/*
 * Child: a command that is started, but held back until everything is ready to
 * watch it from its first instruction on.
 */
#ifndef LODE_TASKS_LIVE_CHILD_H
#define LODE_TASKS_LIVE_CHILD_H

#include "tasks/command.h"

#include <sys/types.h>

struct lode_child {
	struct lode_host *host;
	pid_t pid;
	int gate;     /* closing it lets the child go */
	int failure;  /* where the child reports why it could not start the command */
	int exit_fd;  /* readable when it has ended; -1: not known to this kernel */
	int released; /* it was let go */
	int finished;
	int ended;
	int status; /* from waitpid, once it has ended */
};

/* Forks; the child waits, and ends if this process does. `words` is NULL-terminated. */
int lode_child_prepare(struct lode_child *child, struct lode_host *host, char *const *words,
		       struct lode_error *error);
/* Lets it run the command. LODE_USAGE when there is no such command. */
int lode_child_release(struct lode_child *child, char *const *words, struct lode_error *error);
/* Whether it has ended by now. */
int lode_child_has_ended(struct lode_child *child);
/*
 * For a recorder that failed, which must not harm what it records: waits until the command has ended by itself, Lode is
 * asked to stop, or the time is `until` (lode_now; 0: no limit). Returns at once if it was not let go.
 */
void lode_child_await(struct lode_child *child, uint64_t until);
/*
 * Asks it to end, if it is still there, and waits for it; frees descriptors. Once more
 * does nothing. Where Lode itself was asked to stop, a command that does not end soon is
 * left alone: `ended` is 0.
 */
void lode_child_finish(struct lode_child *child);
/* Says how it ended, unless all is well; the call's first operand is the command. */
void lode_child_say(const struct lode_child *child, const struct lode_call *call);

#endif
