/* Connections of a server: those that are slow with their request go, those that are answered stay. */
#include "cmocka_all.h"

#include "serve/connections.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOON_NS 20000000ull     /* a deadline that a test waits for */
#define LATE_NS 600000000000ull /* one that no test reaches */
#define COUNT   4

struct client {
	int ends[2]; /* the client's, the server's */
	struct lode_connection *connection;
};

static void add_client(struct lode_connections *connections, struct client *client)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, client->ends), 0);
	client->connection = lode_connections_add(connections, client->ends[1]);
	assert_non_null(client->connection);
}

static void remove_client(struct lode_connections *connections, struct client *client)
{
	lode_connections_remove(connections, client->connection);
	close(client->ends[0]);
	close(client->ends[1]);
}

/* Whether the client's end has seen the end of its connection, within `wait` ms (-1: as long as it takes). */
static int is_shut_down(const struct client *client, int wait)
{
	struct pollfd file = { client->ends[0], POLLIN, 0 };
	char byte;

	return poll(&file, 1, wait) == 1 && recv(client->ends[0], &byte, 1, MSG_DONTWAIT) == 0;
}

static void a_request_that_does_not_come_is_not_awaited(void **state)
{
	const struct lode_connections_limits limits = { COUNT, SOON_NS };
	struct lode_connections *connections;
	struct client slow, answered, again;

	(void)state;
	assert_int_equal(lode_connections_make(&connections, &limits, NULL), 0);
	add_client(connections, &answered);
	lode_connection_begin_answer(connections, answered.connection);
	add_client(connections, &again);
	lode_connection_begin_answer(connections, again.connection);
	add_client(connections, &slow);
	assert_int_equal(write(slow.ends[0], "GET / HT", 8), 8); /* a byte now and then does not help */
	assert_true(is_shut_down(&slow, -1));
	assert_false(is_shut_down(&answered, 0));
	lode_connection_end_answer(connections, again.connection);
	assert_true(is_shut_down(&again, -1)); /* nor has it longer for its second request */
	assert_false(is_shut_down(&answered, 0));
	remove_client(connections, &slow);
	remove_client(connections, &answered);
	remove_client(connections, &again);
	lode_connections_free(connections);
}

static void the_one_that_waits_longest_makes_room(void **state)
{
	const struct lode_connections_limits limits = { COUNT, LATE_NS };
	struct lode_connections *connections;
	struct client clients[3 * COUNT];

	(void)state;
	assert_int_equal(lode_connections_make(&connections, &limits, NULL), 0);
	add_client(connections, &clients[0]);
	lode_connection_begin_answer(connections, clients[0].connection);
	for (int i = 1; i < 3 * COUNT; i++) {
		add_client(connections, &clients[i]);
		assert_false(is_shut_down(&clients[0], 0)); /* and COUNT - 1 others are there */
		for (int k = 1; k <= i; k++)
			assert_int_equal(is_shut_down(&clients[k], 0), k <= i - (COUNT - 1));
	}
	for (int i = 0; i < 3 * COUNT; i++)
		remove_client(connections, &clients[i]);
	add_client(connections, &clients[0]);
	assert_false(is_shut_down(&clients[0], 0));
	remove_client(connections, &clients[0]);
	lode_connections_free(connections);
}

/* Where all are being answered nobody is cut off. */
static void answers_are_never_cut_off(void **state)
{
	const struct lode_connections_limits limits = { COUNT, LATE_NS };
	struct lode_connections *connections;
	struct client clients[2 * COUNT];

	(void)state;
	assert_int_equal(lode_connections_make(&connections, &limits, NULL), 0);
	for (int i = 0; i < 2 * COUNT; i++) {
		add_client(connections, &clients[i]);
		lode_connection_begin_answer(connections, clients[i].connection);
	}
	for (int i = 0; i < 2 * COUNT; i++) {
		assert_false(is_shut_down(&clients[i], 0));
		remove_client(connections, &clients[i]);
	}
	lode_connections_free(connections);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_that_does_not_come_is_not_awaited),
		cmocka_unit_test(the_one_that_waits_longest_makes_room),
		cmocka_unit_test(answers_are_never_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
