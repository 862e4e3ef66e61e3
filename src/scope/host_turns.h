/*
 * Turns: what a thread does between two waits for one connection to another host. It is woken by a message, does something,
 * answers or asks, and waits again. Neither sends nor receives are recorded, but a thread that waits for an answer has sent
 * something before, and one that is woken was sent something. Turns of both ends are matched, which tells the offset
 * between the clocks of the hosts and, for each wait, the thread that ended it.
 *
 * For an exchange, in which a *client* waits and a *server* has a turn meanwhile, both messages bound the offset: the client asks
 * after its last wait of any kind before this one (`since`), and the server is woken later than that; the server answers
 * after the last wait in its turn (`last`), and the client is woken later than that. Where a program does otherwise (it goes on
 * working after its answer, or before it waits), an exchange may permit too little: so the offset is what most
 * exchanges have in common, and the error what these leave.
 */
#ifndef LODE_SCOPE_HOST_TURNS_H
#define LODE_SCOPE_HOST_TURNS_H

#include "trace/stream.h"

/* A wait for a connection, and the turn after it. */
struct lode_host_turn {
	uint64_t since; /* when the thread's wait before this one was over, whatever that was for; 0: there is none */
	uint64_t start; /* of the wait */
	uint64_t end;   /* of the wait, when a message came */
	uint64_t last;  /* when the last wait inside of the turn was over; `end`: there is none */
	uint64_t next;  /* end of the turn; UINT64_MAX: it has none, or another thread waits next */
	uint32_t wait; /* number of the event; LODE_NONE: the turn is before the first wait, and only its end is known */
	uint32_t thread;
};

/* The turns of a stream by connection, and then by time. A zeroed struct holds none. */
struct lode_host_turns {
	struct lode_host_turn *items;
	size_t *starts; /* of connection i, from 1 on; one more than there are */
	size_t count;
	size_t connections;
};

/*
 * `numbers` has the connection of each string, 0: none, up to `connections`. Waits with t, cost, delay, thread, name. Release in
 * either case. Returns 0 or LODE_SYSTEM.
 */
int lode_host_turns_make(struct lode_host_turns *turns, const struct lode_stream *stream, const uint32_t *numbers,
			 size_t connections);
void lode_host_turns_release(struct lode_host_turns *turns);

/* How a clock gains time: `rate` ns in each ns since `origin`, of its own. All 0: it does not. */
struct lode_host_drift {
	double rate;
	uint64_t origin;
};

/* How the clock of another host differs. */
struct lode_host_clock {
	struct lode_host_drift drift; /* host_drift.h; the offset is that without it */
	int64_t offset;               /* ns that it is ahead */
	uint64_t error;               /* ns that the offset may be wrong by */
	uint64_t latency; /* ns from the start of a wait until the other host was woken by what was sent before, the median */
	size_t exchanges; /* that tell so, */
	size_t waits;     /* waits of clients while both hosts were recorded */
};

/*
 * Finds the clock of `other`; `is_client` has a byte for each connection: the own threads are the clients. Returns 1, 0 where the turns do
 * not tell (too few, or most disagree), or LODE_SYSTEM.
 */
int lode_host_clock_find(const struct lode_host_turns *own, const struct lode_host_turns *other,
			 const uint8_t *is_client, struct lode_host_clock *clock);

struct lode_offset_range;
/*
 * The offset that most of `count` waits of clients permit, each with any of the turns of servers (clock_offset.h): by how much the
 * servers' clock is ahead. Returns 0 or LODE_SYSTEM.
 */
int lode_host_turns_vote(const struct lode_host_turn *clients, size_t count, const struct lode_host_turn *servers,
			 size_t server_count, struct lode_offset_range *common, size_t *votes);

/*
 * By turn of `own`: the turn of `other` whose thread ended its wait, LODE_NONE: not known. The caller frees it; NULL when
 * memory has run out. `ahead`: by how much the clock of `other` is ahead.
 */
uint32_t *lode_host_turns_match(const struct lode_host_turns *own, const struct lode_host_turns *other,
				const struct lode_host_clock *ahead);

#endif
