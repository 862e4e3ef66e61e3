/*
 * The spool of a sender: files that wait to be sent, in a folder, so that they survive a reboot and a collector that
 * is away. Files are copies, or hard links to stream files that nobody writes to any more. When they take more than a
 * limit, the oldest are dropped, and counted.
 *
 * One process may add files while another one sends them.
 */
#ifndef LODE_PUSH_PUSH_SPOOL_H
#define LODE_PUSH_PUSH_SPOOL_H

#include "base/error.h"

#include <stdint.h>

struct lode_push_spool;

struct lode_push_entry {
	char *path; /* the caller's to free */
	char *name; /* of the stream, to be told to the collector; NULL: the file has one */
	uint64_t size;
};

void lode_push_entry_release(struct lode_push_entry *entry);

/*
 * The folder for what is sent to `url`, unless `folder` says which: in LODE_SPOOL, else in /var/lib/lode/spool for root
 * and in the state folder of the user ($XDG_STATE_HOME or ~/.local/state) for others. Makes it. The caller closes it.
 */
int lode_push_spool_open(struct lode_push_spool **spool, const char *folder, const char *url, uint64_t limit,
			 struct lode_error *error);
void lode_push_spool_close(struct lode_push_spool *spool);
const char *lode_push_spool_folder(const struct lode_push_spool *spool);

/*
 * Adds a copy of a file; a stream file goes without a name. When it returns 0, that is durable, and `entry` is the path of
 * the copy, the caller's to free; else `entry` is NULL.
 */
int lode_push_spool_add(struct lode_push_spool *spool, const char *path, const char *name, char **entry,
			struct lode_error *error);
/* The same for a stream file that is never written to again, only replaced or removed: a hard link where it can be one. */
int lode_push_spool_add_final(struct lode_push_spool *spool, const char *path, char **entry,
			      struct lode_error *error);
/* The oldest one: 1, 0 when there is none, or a negative code. */
int lode_push_spool_next(struct lode_push_spool *spool, struct lode_push_entry *entry, struct lode_error *error);
/* It was sent, or is not to be sent. */
void lode_push_spool_remove(struct lode_push_spool *spool, const struct lode_push_entry *entry);

struct lode_push_spool_counts {
	uint64_t files;
	uint64_t bytes;
	uint64_t dropped; /* by this process, for want of room */
};

int lode_push_spool_counts(struct lode_push_spool *spool, struct lode_push_spool_counts *counts,
			   struct lode_error *error);

#endif
