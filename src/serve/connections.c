/*
 * Connections: see connections.h.
 *
 * Those that wait for a request are in a list, ordered by since when, so that the first one is both the next to miss
 * its deadline and the one to go when there are too many. A thread sleeps until that deadline. Here connections are
 * only shut down (shutdown(2)); the library sees that as the end of input, and closes them.
 */
#include "serve/connections.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/quiet_thread.h"

#include <sys/socket.h>
#include <time.h>

enum connection_state { AWAITS_REQUEST, IS_ANSWERED, IS_SHUT_DOWN };

struct lode_connection {
	struct lode_connection *before; /* in the list of those that wait */
	struct lode_connection *next;
	int fd;
	enum connection_state state;
	uint64_t since; /* ns: when it began to wait */
};

struct lode_connections {
	struct lode_connections_limits limits;
	pthread_t watcher;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct lode_connection *first; /* that waits for a request */
	struct lode_connection *last;
	size_t count; /* of all that were not shut down */
	int ended;
};

/* ---- the list; the lock is held ---- */

static void append(struct lode_connections *connections, struct lode_connection *connection)
{
	connection->state = AWAITS_REQUEST;
	connection->since = lode_now();
	connection->before = connections->last;
	connection->next = NULL;
	*(connections->last ? &connections->last->next : &connections->first) = connection;
	connections->last = connection;
	if (connections->first == connection)
		pthread_cond_signal(&connections->changed);
}

static void detach(struct lode_connections *connections, struct lode_connection *connection)
{
	*(connection->before ? &connection->before->next : &connections->first) = connection->next;
	*(connection->next ? &connection->next->before : &connections->last) = connection->before;
}

static void shut_down_first(struct lode_connections *connections)
{
	struct lode_connection *connection = connections->first;

	detach(connections, connection);
	connection->state = IS_SHUT_DOWN;
	connections->count--;
	shutdown(connection->fd, SHUT_RDWR);
}

/* ---- the thread ---- */

static void wait_until(struct lode_connections *connections, uint64_t time)
{
	const struct timespec until = { (time_t)(time / 1000000000u), (long)(time % 1000000000u) };

	pthread_cond_timedwait(&connections->changed, &connections->lock, &until);
}

static void *watch(void *context)
{
	struct lode_connections *connections = context;

	pthread_mutex_lock(&connections->lock);
	while (!connections->ended) {
		uint64_t deadline =
			connections->first ? connections->first->since + connections->limits.deadline_ns : 0;

		if (!connections->first)
			pthread_cond_wait(&connections->changed, &connections->lock);
		else if (lode_now() < deadline)
			wait_until(connections, deadline);
		else
			shut_down_first(connections);
	}
	pthread_mutex_unlock(&connections->lock);
	return NULL;
}

static void init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* that of lode_now */
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

int lode_connections_make(struct lode_connections **connections, const struct lode_connections_limits *limits,
			  struct lode_error *error)
{
	struct lode_connections *made = lode_calloc(1, sizeof(*made));

	*connections = NULL;
	if (!made)
		return lode_fail_memory(error);
	made->limits = *limits;
	pthread_mutex_init(&made->lock, NULL);
	init_condition(&made->changed);
	if (lode_quiet_thread(&made->watcher, watch, made)) {
		pthread_cond_destroy(&made->changed);
		pthread_mutex_destroy(&made->lock);
		lode_free(made);
		return lode_fail(error, LODE_SYSTEM, "cannot start a thread");
	}
	*connections = made;
	return 0;
}

void lode_connections_free(struct lode_connections *connections)
{
	if (!connections)
		return;
	pthread_mutex_lock(&connections->lock);
	connections->ended = 1;
	pthread_cond_signal(&connections->changed);
	pthread_mutex_unlock(&connections->lock);
	pthread_join(connections->watcher, NULL);
	pthread_cond_destroy(&connections->changed);
	pthread_mutex_destroy(&connections->lock);
	lode_free(connections);
}

/* ---- connections ---- */

struct lode_connection *lode_connections_add(struct lode_connections *connections, int fd)
{
	struct lode_connection *connection = lode_calloc(1, sizeof(*connection));

	if (!connection)
		return NULL;
	connection->fd = fd;
	pthread_mutex_lock(&connections->lock);
	if (connections->count >= connections->limits.count && connections->first)
		shut_down_first(connections);
	connections->count++;
	append(connections, connection);
	pthread_mutex_unlock(&connections->lock);
	return connection;
}

void lode_connections_remove(struct lode_connections *connections, struct lode_connection *connection)
{
	if (!connection)
		return;
	pthread_mutex_lock(&connections->lock);
	if (connection->state == AWAITS_REQUEST)
		detach(connections, connection);
	if (connection->state != IS_SHUT_DOWN)
		connections->count--;
	pthread_mutex_unlock(&connections->lock);
	lode_free(connection);
}

void lode_connection_begin_answer(struct lode_connections *connections, struct lode_connection *connection)
{
	if (!connection)
		return;
	pthread_mutex_lock(&connections->lock);
	if (connection->state == AWAITS_REQUEST) {
		detach(connections, connection);
		connection->state = IS_ANSWERED;
	}
	pthread_mutex_unlock(&connections->lock);
}

void lode_connection_end_answer(struct lode_connections *connections, struct lode_connection *connection)
{
	if (!connection)
		return;
	pthread_mutex_lock(&connections->lock);
	if (connection->state == IS_ANSWERED)
		append(connections, connection);
	pthread_mutex_unlock(&connections->lock);
}
