/*
 * Streams that an analysis leaves out because their files are damaged or gone: one bad file
 * among thousands must not end it, and must not disappear silently either.
 *
 * Which streams are left out depends on the files alone, and they are listed in the order of the catalogue, so
 * that the number of threads and processes does not affect the result.
 */
#ifndef LODE_STORE_UNREAD_STREAMS_H
#define LODE_STORE_UNREAD_STREAMS_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/notes.h"
#include "store/corpus.h"

struct lode_unread_stream {
	const char *id;
	const char *name;
	const char *reason; /* the sentence of the failure */
	int code;
};

struct lode_unread_streams {
	struct lode_unread_stream *items;
	size_t count;
	size_t capacity;
	struct lode_arena arena;
};

/*
 * Whether reading the stream of `entry` failed with `code` because its file is damaged or gone. When
 * memory runs out or a disk fails, for instance, the analysis fails.
 */
int lode_stream_is_unreadable(const struct lode_corpus_entry *entry, int code);

/* A zeroed struct has none. Both return 0 or LODE_SYSTEM. */
int lode_unread_streams_add(struct lode_unread_streams *streams, const struct lode_unread_stream *stream);
int lode_unread_streams_join(struct lode_unread_streams *streams, const struct lode_unread_streams *more);
void lode_unread_streams_release(struct lode_unread_streams *streams);

/*
 * Takes streams whose files are damaged or gone out of `list`, and adds them here; for work that cannot forget a stream
 * again that it has read in part. Every block is read once. Returns 0 or a negative code.
 */
int lode_unread_streams_take(struct lode_unread_streams *streams, struct lode_corpus_list *list, unsigned jobs,
			     struct lode_error *error);

/* Says how many they are, and of the first few which and why. */
void lode_unread_streams_note(const struct lode_unread_streams *streams, struct lode_notes *notes);
/* The same of those that are not among `noted`. Returns 0 or LODE_SYSTEM. */
int lode_unread_streams_note_others(const struct lode_unread_streams *streams,
				    const struct lode_unread_streams *noted, struct lode_notes *notes);
/* For an analysis that has no other streams: fails as the first of them. There must be one. */
int lode_unread_streams_fail(const struct lode_unread_streams *streams, struct lode_error *error);

/*
 * In messages between processes of one job (base/message.h). What is wrong is marked in the cursor; reading adds copies and returns 0
 * or LODE_SYSTEM.
 */
void lode_unread_streams_write(const struct lode_unread_streams *streams, struct lode_buffer *message);
int lode_unread_streams_read(struct lode_cursor *cursor, struct lode_unread_streams *streams);

#endif
