/*
 * Spool: the events of a stream, sorted by thread and type, on disk.
 *
 * Some formats want all events of a thread together, several times over, one
 * column after the other. A recording has them in order of time. So they are
 * distributed once, in chunks of one thread and type each, to a scratch file
 * (base/scratch.h) and read back through a mapping whose pages are released
 * again: memory stays bounded by the number of threads, and the disk holds about
 * 48 bytes per event meanwhile.
 */
#ifndef LODE_EXPORT_SPOOL_H
#define LODE_EXPORT_SPOOL_H

#include "base/file.h"
#include "export/export.h"

struct lode_spool_record {
	uint64_t t;
	uint64_t cost;
	uint64_t delay;
	uint32_t stack;
	uint32_t waker;
	uint32_t waker_stack;
	uint32_t name;
	uint32_t weight; /* how many such events it represents */
	uint32_t unused;
};

/* What a record adds to sums of costs. */
static inline uint64_t lode_spool_cost(const struct lode_spool_record *record)
{
	return lode_weighted(record->cost, record->weight);
}

/* The events of one thread and type, on their way into the file. */
struct lode_spool_list {
	uint64_t count; /* events */
	uint64_t cost;  /* sum of their costs times weights, saturating */
	uint64_t last;  /* number of its last chunk in the file, plus one; 0: none */
	uint32_t used;  /* records in the chunk being filled */
};

struct lode_spool {
	struct lode_spool_list *lists; /* thread * LODE_EVENT_TYPES + type */
	size_t list_count;
	unsigned char *filling; /* one chunk a list */
	size_t chunk_records;
	size_t chunk_size;
	uint64_t chunk_count; /* in the file */
	int fd;
	struct lode_map map;
	size_t touched;  /* bytes of the map that may be in memory now */
	uint64_t *chain; /* chunks of the list that is read, first to last */
	size_t chain_capacity;
};

/* One list being read, in the order of the stream. */
struct lode_spool_cursor {
	struct lode_spool *spool;
	uint64_t left;                /* events still to come */
	size_t chunk;                 /* index in the chain of the next one */
	const unsigned char *records; /* of this one */
	size_t at;                    /* the next of them; backwards: one behind it */
	uint64_t next;                /* backwards: number of the next chunk, plus one */
};

/*
 * Deals out the wanted events of `source` of the types in `types`. `columns` says
 * what records must hold besides cost, weight and stack; the rest of a record is 0 (the
 * waker LODE_NONE). On success the caller releases it.
 */
int lode_spool_fill(struct lode_spool *spool, struct lode_export *export, struct lode_export_stream *source,
		    unsigned types, unsigned columns, struct lode_error *error);
/*
 * The same step by step: opens an empty spool of `lists` lists, appends records to a list, and ends filling, after
 * which lists can be read. Release it unless opening failed.
 */
int lode_spool_open(struct lode_spool *spool, size_t lists, struct lode_error *error);
int lode_spool_add(struct lode_spool *spool, size_t list, const struct lode_spool_record *record,
		   struct lode_error *error);
int lode_spool_seal(struct lode_spool *spool, struct lode_error *error);
void lode_spool_release(struct lode_spool *spool);

static inline const struct lode_spool_list *lode_spool_list(const struct lode_spool *spool, uint32_t thread,
							    enum lode_event_type type)
{
	return &spool->lists[(size_t)thread * LODE_EVENT_TYPES + type];
}

/* Begins to read a list; one list at a time, as often as wanted. Returns 0 or LODE_SYSTEM. */
int lode_spool_start(struct lode_spool *spool, uint32_t thread, enum lode_event_type type,
		     struct lode_spool_cursor *cursor, struct lode_error *error);
/* The next record into `*record`; 0 at the end. */
int lode_spool_next(struct lode_spool_cursor *cursor, struct lode_spool_record *record);
/* The same from the last record to the first; any number of lists at a time. */
void lode_spool_start_last(struct lode_spool *spool, size_t list, struct lode_spool_cursor *cursor);
int lode_spool_previous(struct lode_spool_cursor *cursor, struct lode_spool_record *record);

#endif
