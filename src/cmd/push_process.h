/*
 * Sending in a process of its own, `lode push`, for commands that record: whatever the collector does, recording
 * goes on, and the memory that sending takes is not theirs.
 */
#ifndef LODE_CMD_PUSH_PROCESS_H
#define LODE_CMD_PUSH_PROCESS_H

#include "base/error.h"

#include <sys/types.h>

/* Whether this program can send at all, and `url` is an address; to be asked before something is recorded. */
int lode_push_process_check(const char *url, struct lode_error *error);
/* Sends the streams of a corpus, which need not be there yet, until lode_push_process_end. Its id, or a negative code. */
pid_t lode_push_process_follow(const char *corpus, const char *url, struct lode_error *error);
void lode_push_process_end(pid_t process);
/* Sends the streams of a corpus and waits for it, some seconds at most. Returns 0 or a negative code with a sentence. */
int lode_push_process_send(const char *corpus, const char *url, struct lode_error *error);

#endif
