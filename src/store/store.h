/*
 * The stream file `.lode`: see docs/format.md for every byte.
 *
 * Blocks follow one another, each with its kind, its size and a checksum:
 * strings, modules, frames, stack nodes, threads, attributes, symptoms, events;
 * a footer lists them all. A block of events holds up to LODE_BLOCK_EVENTS of
 * one type, each column packed by itself. Dictionary blocks only ever add to
 * the blocks before them, so a file can be written during a recording, and a
 * truncated one is valid up to its last complete block.
 */
#ifndef LODE_STORE_STORE_H
#define LODE_STORE_STORE_H

#include "base/notes.h"
#include "trace/stream.h"

#include <sys/types.h>

#define LODE_BLOCK_EVENTS  65536
#define LODE_STORE_VERSION 1

/* ---- writing ---- */

struct lode_store_writer;

/*
 * Creates `path` (which must not exist) for writing, with these permissions as far as the umask allows, and `jobs`
 * threads for packing (0: one a processor). Nothing is durable before lode_store_finish.
 */
int lode_store_create(struct lode_store_writer **writer, const char *path, mode_t mode, unsigned jobs,
		      struct lode_error *error);
/*
 * The same at the place that the descriptor is at, behind what the file may hold already. The descriptor is closed in
 * the end, in case of a failure too; what was written stays. `name` is for messages.
 */
int lode_store_create_on(struct lode_store_writer **writer, int fd, const char *name, unsigned jobs,
			 struct lode_error *error);
/*
 * Packs quickly from here on, and less well: for a file that is written while
 * something else must not be slowed down, and read once.
 */
void lode_store_set_fast(struct lode_store_writer *writer);
/* From here on, what was written is kept even if something fails: for events that exist nowhere else. */
void lode_store_keep(struct lode_store_writer *writer);
/*
 * Writes what `stream` and its dictionary gained since the last call. The
 * stream must be sorted (lode_stream_sort), unless the file is only to be read
 * back by who writes it, or by lode_store_salvage; afterwards the caller may empty
 * its events and go on filling it. The same stream must be given at every call.
 */
int lode_store_append(struct lode_store_writer *writer, const struct lode_stream *stream, struct lode_error *error);
/* Writes the footer, makes the file durable, releases the writer; on failure as lode_store_abandon. */
int lode_store_finish(struct lode_store_writer *writer, struct lode_error *error);
/* Gives up: removes the file, unless it is to be kept, and releases the writer. */
void lode_store_abandon(struct lode_store_writer *writer);

/* create + append + finish. */
int lode_store_write(const char *path, mode_t mode, const struct lode_stream *stream, unsigned jobs,
		     struct lode_error *error);

/* create_on + append + finish. */
int lode_store_write_on(int fd, const char *name, const struct lode_stream *stream, unsigned jobs,
			struct lode_error *error);

/* ---- reading ---- */

struct lode_store;

/* What the footer says of one block of events. */
struct lode_store_block {
	enum lode_event_type type;
	uint32_t count;
	uint64_t first_t; /* earliest start */
	uint64_t last_t;  /* latest end (t + cost + delay) */
};

/* Maps the file and reads its footer; a damaged or cut-off file is LODE_BAD_INPUT and the sentence names `lode fsck`. */
int lode_store_open(struct lode_store **store, const char *path, struct lode_error *error);
/* The same over bytes in memory, which must outlive it. */
int lode_store_open_memory(struct lode_store **store, const char *name, const void *bytes, size_t size,
			   struct lode_error *error);
void lode_store_close(struct lode_store *store);
/* Checks every block of the file by its checksum. Returns 0 or a negative code. */
int lode_store_verify(const char *path, struct lode_error *error);
size_t lode_store_blocks(const struct lode_store *store);
const struct lode_store_block *lode_store_block(const struct lode_store *store, size_t i);
/*
 * Appends a digest of what the file holds: of the checksums of all its blocks. Equal
 * digests, equal content; nothing but block headers is read.
 */
void lode_store_digest(const struct lode_store *store, struct lode_buffer *buffer);

/*
 * Reads all but the events into `stream` (empty, over any dictionary): name,
 * host, attributes, threads, symptoms and, into the stream's dictionary, strings,
 * frames and stacks. Needed once before lode_store_events.
 */
int lode_store_head(struct lode_store *store, struct lode_stream *stream, struct lode_error *error);
/* The same but modules, frames and stacks, which take most of its time; no events can be read then. */
int lode_store_brief_head(struct lode_store *store, struct lode_stream *stream, struct lode_error *error);
/*
 * Reads the requested columns of block `i` into `events` (its arrays are reused;
 * columns not requested are left alone), in ids of the dictionary given to
 * lode_store_head. May be called from several threads with `events` of their own.
 */
int lode_store_events(const struct lode_store *store, size_t i, unsigned columns, struct lode_events *events,
		      struct lode_error *error);
/* After lode_store_head: whether stacks have the same ids in the file and in the dictionary. */
int lode_store_keeps_stacks(const struct lode_store *store);
/* After lode_store_head: turns ids of stacks in the file into those of the dictionary. Returns 0 or LODE_BAD_INPUT. */
int lode_store_translate_stacks(const struct lode_store *store, uint32_t *ids, size_t count);
/*
 * The requested columns (a mask for each type; 0: none of this type) of all
 * blocks, into the stream that lode_store_head filled, sorted. Where anything is
 * requested, t must be among it.
 */
int lode_store_load_events(const struct lode_store *store, struct lode_stream *stream,
			   const unsigned columns[LODE_EVENT_TYPES], struct lode_error *error);
/* The whole stream: head and all columns of all blocks. */
int lode_store_load(const char *path, struct lode_stream *stream, struct lode_error *error);

/* ---- checking ---- */

struct lode_fsck_result {
	uint64_t blocks_good;
	uint64_t blocks_bad;
	uint64_t bytes_bad; /* bytes that belong to no good block */
	uint64_t events_good;
	int footer_bad; /* missing or damaged: the file was cut off */
};

/*
 * Checks every byte of `path`. Details go to `notes`. Returns 0 when the file is
 * a stream file, regardless of what was found in it.
 */
int lode_store_check(const char *path, struct lode_fsck_result *result, struct lode_notes *notes,
		     struct lode_error *error);
/*
 * Writes the whole blocks of the damaged file `path` to the new file `to`; what
 * was in lost dictionary blocks reads as `[lost]` afterwards. It is as private as the damaged one.
 */
int lode_store_salvage(const char *path, const char *to, struct lode_fsck_result *result, struct lode_notes *notes,
		       struct lode_error *error);

#endif
