/*
 * The collector: takes uploads in pieces, as they come over the network, and puts the streams in them into a corpus.
 * When lode_receiving_finish returns 0, they are durable.
 *
 * All functions but start and end may be called from any thread; a receiving belongs to one at a time.
 */
#ifndef LODE_COLLECT_COLLECTOR_H
#define LODE_COLLECT_COLLECTOR_H

#include "base/array.h"
#include "collect/committer.h"
#include "collect/upload.h"

struct lode_collector;
struct lode_receiving;

struct lode_collector_options {
	struct lode_upload_limits limits;
	unsigned rate;       /* uploads a second that a sender may begin, on average */
	unsigned at_once;    /* uploads in progress */
	uint64_t keep_free;  /* bytes of the disk; with less free, nothing is taken */
	uint64_t slow_after; /* ns after which an upload must have come with 1024 bytes a second on average */
};

/* Defaults; `keep_free`, 0 there, is a twentieth of the disk, at most 1 GiB. */
extern const struct lode_collector_options lode_collector_options_default;

/* Statuses of HTTP that uploads are refused with. */
#define LODE_REFUSALS 13
extern const unsigned lode_refusal_statuses[LODE_REFUSALS];

struct lode_collector_counts {
	uint64_t uploads;                /* accepted */
	uint64_t bytes;                  /* as they were sent, of these */
	uint64_t refused[LODE_REFUSALS]; /* by status, in the order of lode_refusal_statuses */
	uint64_t vanished;               /* whose senders went away */
	uint64_t in_progress;            /* now */
	uint64_t busy_ns;                /* from the last byte to the answer, of all accepted ones */
	struct lode_committer_counts committed;
};

/* Makes the corpus if it is not there. To be called before other threads are started; the caller ends it. */
int lode_collector_start(struct lode_collector **collector, const char *corpus,
			 const struct lode_collector_options *options, struct lode_error *error);
/* When nothing is being received any more. */
void lode_collector_end(struct lode_collector *collector);
const char *lode_collector_corpus(const struct lode_collector *collector);
void lode_collector_counts(struct lode_collector *collector, struct lode_collector_counts *counts);
/* Counts a refusal that was decided elsewhere, such as a missing token. */
void lode_collector_count_refusal(struct lode_collector *collector, unsigned status);

/* A stream that an upload had. */
struct lode_collected {
	char id[33];
	int is_new; /* 0: it was there already */
};

struct lode_collected_list {
	LODE_ARRAY(struct lode_collected);
	struct lode_upload_symbols symbols; /* of an upload of symbols */
	int has_new_symbols;                /* 0: as much was there already */
};

/*
 * Begins an upload by `sender` (a name; its uploads share a rate) of `size` bytes, 0: not known. Returns 0, or a negative
 * code with a refusal.
 */
int lode_receiving_begin(struct lode_receiving **receiving, struct lode_collector *collector, const char *sender,
			 uint64_t size, struct lode_upload_refusal *refusal);
/* The next bytes. After a refusal the receiving is to be abandoned; so it is when its sender goes away. */
int lode_receiving_add(struct lode_receiving *receiving, const void *bytes, size_t size,
		       struct lode_upload_refusal *refusal);
void lode_receiving_abandon(struct lode_receiving *receiving, const struct lode_upload_refusal *refusal);
/* All bytes are there. Frees the receiving; fills `list`, the caller's to free. */
int lode_receiving_finish(struct lode_receiving *receiving, const struct lode_upload_options *options,
			  struct lode_collected_list *list, struct lode_upload_refusal *refusal);

#endif
