/*
 * The sender: takes files from a spool, the oldest first, and sends them until the collector has them.
 *
 * A collector that is away or busy is tried again after a pause, which grows from a second to five minutes and is of
 * random length, so that a fleet does not come back all at once. What a collector refuses for good is removed. Where it
 * refuses the sender (no valid token, nothing at this address that takes uploads), files stay: who follows tries again, and
 * who does not ends at once.
 */
#ifndef LODE_PUSH_PUSH_SENDER_H
#define LODE_PUSH_PUSH_SENDER_H

#include "push/push_client.h"
#include "push/push_spool.h"

struct lode_push_sender {
	struct lode_push_spool *spool;
	struct lode_push_client *client;
	int follows;                 /* waits for more files when there are none; else ends then */
	uint64_t patience;           /* ns without success after which it gives up; 0: never */
	int (*stops)(void *context); /* asked several times a second whether to end */
	/* Told about each answer that is not a success. */
	void (*tell)(void *context, const struct lode_push_entry *entry, const struct lode_push_answer *answer);
	void *context;

	uint64_t sent, refused, bytes; /* counted here; start as 0 */
	struct lode_push_answer last;  /* that was no success */
};

/* Whether the same file would be refused again, by a status: it is about the file, not about the sender or the moment. */
int lode_push_is_final(long status);

/* The pause before the next try, in ns, after `failures` failures in a row. `random` changes with each call. */
uint64_t lode_push_pause(unsigned failures, unsigned retry_after, uint64_t *random);

/*
 * Sends. Returns 0 when the spool is empty or it was stopped, or a negative code: LODE_SYSTEM when it gave up, with what
 * the collector said, or at once when it refuses the sender, LODE_BAD_INPUT for its token; then the files are still in the
 * spool.
 */
int lode_push_send(struct lode_push_sender *sender, struct lode_error *error);

#endif
