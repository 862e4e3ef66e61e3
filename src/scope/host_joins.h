/*
 * Streams of several hosts, joined: where threads of two recorded hosts talk to each other by TCP, and both streams are in
 * the corpus, the waits for the connection have the threads of the other host for wakers. So a critical path, and all that follows from it,
 * goes from host to host.
 *
 * A stream that is looked at gets, besides its own, the threads and events of the streams that it is connected with, directly or by
 * others, at the times of its own clock (host_turns.h). Numbers of these threads and processes have LODE_HOST_TIDS
 * added for each such host, their names `@HOST`, numbers of processors LODE_HOST_CPUS.
 *
 * Only streams with the attribute LODE_CONNECTIONS are looked at: where there are none, or they are all of one host, this
 * costs one question to the catalogue. Of more than ten thousand such streams none are joined.
 */
#ifndef LODE_SCOPE_HOST_JOINS_H
#define LODE_SCOPE_HOST_JOINS_H

#include "scope/host_turns.h"
#include "store/corpus.h"

/* Linux numbers threads below it. */
#define LODE_HOST_TIDS (1u << 22)
#define LODE_HOST_CPUS 8192u
/* Hosts that a stream is joined with, at most. */
#define LODE_JOINED_HOSTS 7

/* The number that a thread has on its own host. */
static inline uint32_t lode_host_tid(uint32_t tid)
{
	return tid % LODE_HOST_TIDS;
}

/* The streams of a corpus that may be joined. */
struct lode_host_joins;

/* `*joins` is NULL where there are none. Free it. Threads may share it. */
int lode_host_joins_find(struct lode_host_joins **joins, struct lode_corpus *corpus, struct lode_error *error);
void lode_host_joins_free(struct lode_host_joins *joins);
/* Whether the stream with this id may be joined with others. */
int lode_host_joins_has(const struct lode_host_joins *joins, const char *id);

/* A stream of another host that was joined. */
struct lode_joined_host {
	const struct lode_corpus_entry *entry;
	struct lode_store *store;
	struct lode_stream stream;    /* its head, over the dictionary of the stream it is joined with */
	uint32_t *threads;            /* by its thread: that of the other stream */
	struct lode_host_clock clock; /* as seen from the stream it is joined with; exchanges 0: it is not joined */
	size_t waits;                 /* that its threads ended, and those that ended waits of its threads */
};

/* What a stream is joined with. A zeroed struct: nothing. */
struct lode_joined_hosts {
	struct lode_joined_host items[LODE_JOINED_HOSTS];
	size_t count;
	size_t own_threads;    /* of the stream itself; further ones are of other hosts */
	uint32_t *connections; /* by string: a number for both ends of a connection; 0: it is none that both have */
	size_t connection_count;
};

/*
 * Opens the streams that the one of `entry`, whose head is loaded, is connected with, reads their heads into its dictionary, and adds
 * their threads. `joins` may be NULL. Release it in either case, before the dictionary.
 */
int lode_joined_hosts_open(struct lode_joined_hosts *hosts, const struct lode_host_joins *joins,
			   const struct lode_corpus_entry *entry, struct lode_stream *stream,
			   struct lode_error *error);
/*
 * Reads their events, from the first to the last of the stream, and adds them to those of the stream, in order of time; waits for a
 * connection get their wakers. Events of waits were and are loaded with name, t, cost, delay, thread, waker and
 * waker_stack, others at least with t and thread.
 */
int lode_joined_hosts_load(struct lode_joined_hosts *hosts, struct lode_stream *stream,
			   const unsigned columns[LODE_EVENT_TYPES], struct lode_error *error);
void lode_joined_hosts_release(struct lode_joined_hosts *hosts);
/* The host that a thread of the stream is of; NULL: the stream's own. */
const struct lode_joined_host *lode_joined_host_of(const struct lode_joined_hosts *hosts, uint32_t tid);

#endif
