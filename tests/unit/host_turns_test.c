/*
 * Hosts that talk to each other: names of connections, votes on the offset between clocks against a slow count, and the clock
 * and the wakers of simulated hosts whose truth is known.
 */
#include "cmocka_all.h"

#include "scope/clock_offset.h"
#include "scope/tcp_connections.h"
#include "scope/host_drift.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of connections ---- */

static void ends_of_one_connection_meet(void **state)
{
	static const struct {
		const char *a, *b;
		int meet;
	} cases[] = {
		{ "tcp:10.0.0.1:40000 > 10.0.0.2:5432", "tcp:10.0.0.2:5432 > 10.0.0.1:40000", 1 },
		{ "tcp:10.0.0.1:40000 > 10.0.0.2:5432", "tcp:10.0.0.2:5432 > 10.0.0.1:40001", 0 },
		{ "tcp:10.0.0.1:40000 > 10.0.0.2:5432", "tcp:10.0.0.2:5432 > 10.0.0.3:40000", 0 },
		{ "tcp:10.0.0.1:40000 > 10.0.0.2:5432", "tcp:10.0.0.9:5432 > 10.0.0.1:40000", 0 },
		{ "tcp:10.0.0.1:40000 > 10.0.0.2:5432", "tcp:10.0.0.1:40000 > 10.0.0.2:5432", 0 },
		{ "tcp:*:40000 > [fd00::2]:5432", "tcp:*:5432 > [fd00::1]:40000", 1 },
		{ "tcp:*:40000 > [fd00::2]:5432", "tcp:*:5433 > [fd00::1]:40000", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lode_connection_end a, b;

		assert_true(lode_connection_parse(cases[i].a, &a) && lode_connection_parse(cases[i].b, &b));
		assert_int_equal(lode_connection_ends_meet(&a, &b), cases[i].meet);
		assert_int_equal(lode_connection_ends_meet(&b, &a), cases[i].meet);
	}
}

static void other_names_are_no_connections(void **state)
{
	static const char *const names[] = { "",
					     "tcp:",
					     "tcp:10.0.0.2:5432",
					     "tcp: > ",
					     "tcp:a:1 > b",
					     "tcp:a:1 > b:",
					     "tcp:a:1 > b:70000",
					     "tcp:a:0 > b:1",
					     "tcp:a:1x > b:1",
					     "udp:a:1 > b:2",
					     "tcp::1 > b:2" };
	struct lode_connection_end end;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(lode_connection_parse(names[i], &end));
}

static void ends_are_found_by_their_ports(void **state)
{
	struct lode_connection_ends ends = { 0 };
	struct lode_connection_end end;
	struct lode_strings strings;
	char name[64];

	(void)state;
	assert_int_equal(lode_strings_init(&strings), 0);
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "tcp:10.0.0.%d:5432 > 10.0.1.1:%d", i % 5, 40000 + i / 5);
		assert_int_not_equal(lode_strings_add(&strings, name, strlen(name)), LODE_NONE);
	}
	assert_int_equal(lode_connection_ends_add(&ends, &strings, 0), 0);
	assert_int_equal(ends.count, 500);
	for (int i = 0; i < 520; i++) {
		const struct lode_connection_end *found;

		snprintf(name, sizeof(name), "tcp:10.0.1.1:%d > 10.0.0.%d:5432", 40000 + i / 5, i % 5);
		assert_true(lode_connection_parse(name, &end));
		found = lode_connection_ends_find(&ends, &end);
		assert_int_equal(found != NULL, i < 500);
		assert_true(!found || lode_connection_ends_meet(found, &end));
	}
	lode_connection_ends_release(&ends);
	lode_strings_release(&strings);
}

/* ---- votes ---- */

static size_t count_votes(const struct lode_offset_range *ranges, size_t count, int64_t offset)
{
	size_t votes = 0;

	for (size_t i = 0; i < count; i++)
		votes += ranges[i].low <= offset && offset <= ranges[i].high;
	return votes;
}

static void most_votes_win(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct lode_offset_range ranges[12], common;
		size_t count = (size_t)(rand_r(&seed) % 13), votes, most = 0;

		for (size_t i = 0; i < count; i++) {
			ranges[i].low = rand_r(&seed) % 40 - 20;
			ranges[i].high = ranges[i].low + rand_r(&seed) % 12 - 2;
		}
		assert_int_equal(lode_offset_vote(ranges, count, &common, &votes), 0);
		for (int64_t offset = -25; offset < 35; offset++) {
			size_t own = count_votes(ranges, count, offset);

			most = own > most ? own : most;
		}
		assert_int_equal(votes, most);
		for (uint64_t margin = 0; margin < 6; margin += 2) {
			size_t rival, other = 0;

			assert_int_equal(lode_offset_rival(ranges, count, common, margin, &rival), 0);
			for (int64_t offset = -45; offset < 55; offset++)
				if (offset < common.low - (int64_t)margin ||
				    offset > common.high + (int64_t)margin) {
					size_t own = count_votes(ranges, count, offset);

					other = own > other ? own : other;
				}
			assert_int_equal(rival, other);
		}
		for (int64_t offset = common.low; votes && offset <= common.high; offset++)
			assert_int_equal(count_votes(ranges, count, offset), most);
		if (votes)
			assert_true(count_votes(ranges, count, common.low - 1) < most);
	}
}

/* ---- simulated hosts ---- */

#define MAX_CONNECTIONS 4
#define US              1000

struct simulation {
	struct lode_dictionary dictionary;
	struct lode_stream client, server;
	uint32_t names[2][MAX_CONNECTIONS]; /* of waits; of the client, of the server */
	uint32_t numbers[64];               /* by string */
	uint8_t is_client[MAX_CONNECTIONS + 1];
	int64_t offset;
	unsigned seed;
	double drift;
	int works_after; /* the server goes on working for some time after an answer */
};

static uint64_t chance(struct simulation *simulation, uint64_t from, uint64_t to)
{
	return from + (uint64_t)rand_r(&simulation->seed) % (to - from);
}

static void add_wait(struct simulation *simulation, int is_server, uint32_t tid, uint64_t t, uint64_t end,
		     uint32_t name)
{
	struct lode_stream *stream = is_server ? &simulation->server : &simulation->client;
	double gained = is_server ? simulation->drift * (double)t : 0;
	struct lode_event event = { .t = t + (is_server ? (uint64_t)(simulation->offset + (int64_t)gained) : 0),
				    .cost = end - t,
				    .name = name,
				    .waker = LODE_NONE,
				    .holder = LODE_NONE };

	event.thread = lode_stream_thread(stream, tid, tid);
	assert_int_not_equal(event.thread, LODE_NONE);
	assert_int_equal(lode_stream_add_event(stream, LODE_WAIT, &event), 0);
}

/* One thread of the client and one of the server, which sleeps, computes, or both, before it answers. */
static void talk(struct simulation *simulation, int connection, int rounds)
{
	uint64_t now = 1000000 * US + chance(simulation, 0, 1000) * US, waiting = now - 500 * US;

	for (int i = 0; i < rounds; i++) {
		uint64_t asked, received, answered, woken;

		add_wait(simulation, 0, 10 + (uint32_t)connection, now, now + 50 * US, 0); /* something else */
		now += 50 * US;
		asked = now + chance(simulation, 5, 60) * US;
		received = asked + chance(simulation, 20, 200) * US;
		add_wait(simulation, 1, 20 + (uint32_t)connection, waiting, received,
			 simulation->names[1][connection]);
		answered = received + chance(simulation, 10, 3000) * US;
		if (rand_r(&simulation->seed) % 2) {
			add_wait(simulation, 1, 20 + (uint32_t)connection, answered, answered + 2000 * US, 0);
			answered += 2000 * US + chance(simulation, 5, 40) * US;
		}
		woken = answered + chance(simulation, 20, 200) * US;
		waiting = answered + chance(simulation, 1, 10) * US;
		if (simulation->works_after && rand_r(&simulation->seed) % 5 == 0) {
			add_wait(simulation, 1, 20 + (uint32_t)connection, waiting + 10 * US, waiting + 300 * US,
				 0);
			waiting += 310 * US;
		}
		add_wait(simulation, 0, 10 + (uint32_t)connection, asked + chance(simulation, 1, 10) * US, woken,
			 simulation->names[0][connection]);
		now = woken + chance(simulation, 400, 900) * US;
	}
}

static void simulate(struct simulation *simulation, unsigned seed, int connections, int rounds)
{
	char name[64];

	simulation->seed = seed;
	simulation->offset = (int64_t)chance(simulation, 0, 2000000) * 1000003 - 900000 * US;
	assert_int_equal(lode_dictionary_init(&simulation->dictionary), 0);
	lode_stream_init(&simulation->client, &simulation->dictionary);
	lode_stream_init(&simulation->server, &simulation->dictionary);
	for (int i = 0; i < connections; i++)
		for (int side = 0; side < 2; side++) {
			snprintf(name, sizeof(name), "%d of %d", side, i);
			simulation->names[side][i] =
				lode_strings_add(&simulation->dictionary.frames.strings, name, strlen(name));
			assert_true(simulation->names[side][i] < 64);
			simulation->numbers[simulation->names[side][i]] = (uint32_t)i + 1;
			simulation->is_client[i + 1] = 1;
		}
	for (int i = 0; i < connections; i++)
		talk(simulation, i, rounds);
	assert_int_equal(lode_stream_sort(&simulation->client), 0);
	assert_int_equal(lode_stream_sort(&simulation->server), 0);
}

static void end_simulation(struct simulation *simulation)
{
	lode_stream_release(&simulation->client);
	lode_stream_release(&simulation->server);
	lode_dictionary_release(&simulation->dictionary);
}

/* Every wait of the client for a connection, but those of which the server goes on working, has the right thread. */
static void check_matches(const struct simulation *simulation, const struct lode_host_turns *client,
			  const struct lode_host_turns *server, const struct lode_host_clock *clock)
{
	uint32_t *turns = lode_host_turns_match(client, server, clock);
	size_t right = 0, all = 0;

	assert_non_null(turns);
	for (size_t c = 1; c <= client->connections; c++)
		for (size_t i = client->starts[c]; i < client->starts[c + 1]; i++) {
			const struct lode_thread *threads = simulation->server.threads;

			if (client->items[i].wait == LODE_NONE)
				continue;
			all++;
			if (turns[i] == LODE_NONE)
				continue;
			assert_int_equal(threads[server->items[turns[i]].thread].tid, 20 + c - 1);
			right++;
		}
	assert_true(right * 100 >= all * 99);
	lode_free(turns);
}

static void check(unsigned seed, int connections, int rounds, int works_after)
{
	struct simulation simulation = { .works_after = works_after };
	struct lode_host_turns client, server;
	struct lode_host_clock clock, back;
	int64_t wrong;

	simulate(&simulation, seed, connections, rounds);
	assert_int_equal(lode_host_turns_make(&client, &simulation.client, simulation.numbers, (size_t)connections),
			 0);
	assert_int_equal(lode_host_turns_make(&server, &simulation.server, simulation.numbers, (size_t)connections),
			 0);
	assert_int_equal(lode_host_clock_find(&client, &server, simulation.is_client, &clock), 1);
	wrong = clock.offset - simulation.offset;
	assert_true((uint64_t)(wrong < 0 ? -wrong : wrong) <= clock.error);
	assert_true(clock.error < 300 * US);
	check_matches(&simulation, &client, &server, &clock);
	/* From the other side it is the same. */
	memset(simulation.is_client, 0, sizeof(simulation.is_client));
	assert_int_equal(lode_host_clock_find(&server, &client, simulation.is_client, &back), 1);
	wrong = back.offset + simulation.offset;
	assert_true((uint64_t)(wrong < 0 ? -wrong : wrong) <= back.error);
	lode_host_turns_release(&client);
	lode_host_turns_release(&server);
	end_simulation(&simulation);
}

static void clocks_of_hosts_are_found(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed < 60; seed++)
		check(seed, 1 + (int)(seed % MAX_CONNECTIONS), 30 + (int)seed, 0);
}

static void servers_may_work_after_their_answers(void **state)
{
	(void)state;
	for (unsigned seed = 100; seed < 130; seed++)
		check(seed, 2, 60, 1);
}

/* Minutes of requests, over which the clocks part by milliseconds. */
static void clocks_may_drift(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		struct simulation simulation = { .drift = (i % 2 ? -1 : 1) * (5 + i * 20) * 1e-6 };
		struct lode_host_turns client, server;
		struct lode_host_clock clock;
		double wrong;

		simulate(&simulation, (unsigned)i + 1, 2, 4000);
		assert_int_equal(lode_host_turns_make(&client, &simulation.client, simulation.numbers, 2), 0);
		assert_int_equal(lode_host_turns_make(&server, &simulation.server, simulation.numbers, 2), 0);
		assert_int_equal(lode_host_clock_find_drifting(&client, &server, simulation.is_client, &clock), 1);
		/* The offset at the origin, in the other host's clock. */
		wrong = (double)clock.offset - (double)simulation.offset -
			simulation.drift * (double)((int64_t)clock.drift.origin - simulation.offset);
		assert_true((wrong < 0 ? -wrong : wrong) <= (double)clock.error);
		assert_true(clock.error < 500 * US);
		assert_true(clock.drift.rate / simulation.drift > 0.8 && clock.drift.rate / simulation.drift < 1.25);
		check_matches(&simulation, &client, &server, &clock);
		lode_host_turns_release(&client);
		lode_host_turns_release(&server);
		end_simulation(&simulation);
	}
}

/*
 * A client that does nothing but ask, and a server that computes: every moment is in some wait of the client. With
 * `jitter` 0 every exchange is as the one before it, and the server was recorded for a part of the time only: nobody can know.
 */
static int find_closed_loop(unsigned seed, uint64_t jitter, int64_t *wrong, struct lode_host_clock *clock)
{
	struct simulation simulation = { 0 };
	struct lode_host_turns client, server;
	uint64_t now = 5000000ull * US, waiting = now - 300 * US;
	int found;

	simulate(&simulation, seed, 1, 0);
	for (int i = 0; i < 500; i++) {
		uint64_t asked = now + 20 * US, received = asked + 40 * US;
		uint64_t answered = received + 900 * US + (jitter ? chance(&simulation, 0, jitter) * US : 0);

		if (i > 100 && i < 300)
			add_wait(&simulation, 1, 20, waiting, received, simulation.names[1][0]);
		waiting = answered + 4 * US;
		now = answered + 40 * US;
		add_wait(&simulation, 0, 10, asked + 4 * US, now, simulation.names[0][0]);
	}
	assert_int_equal(lode_host_turns_make(&client, &simulation.client, simulation.numbers, 1), 0);
	assert_int_equal(lode_host_turns_make(&server, &simulation.server, simulation.numbers, 1), 0);
	found = lode_host_clock_find(&client, &server, simulation.is_client, clock);
	*wrong = clock->offset - simulation.offset;
	lode_host_turns_release(&client);
	lode_host_turns_release(&server);
	end_simulation(&simulation);
	return found;
}

static void regular_requests_are_told_apart_or_not_at_all(void **state)
{
	struct lode_host_clock clock;
	int64_t wrong;

	(void)state;
	for (unsigned seed = 1; seed < 20; seed++) {
		assert_int_equal(find_closed_loop(seed, 0, &wrong, &clock), 0);
		assert_int_equal(find_closed_loop(seed, 800, &wrong, &clock), 1);
		assert_true((uint64_t)llabs(wrong) <= clock.error && clock.error < 1000 * US);
		if (find_closed_loop(seed, 30, &wrong, &clock))
			assert_true((uint64_t)llabs(wrong) <= clock.error);
	}
}

static void hosts_that_do_not_talk_have_no_clock(void **state)
{
	struct simulation simulation = { 0 };
	struct lode_host_turns client, server;
	struct lode_host_clock clock;
	const uint32_t none[64] = { 0 };

	(void)state;
	simulate(&simulation, 7, 2, 20);
	assert_int_equal(lode_host_turns_make(&client, &simulation.client, simulation.numbers, 2), 0);
	assert_int_equal(lode_host_turns_make(&server, &simulation.server, none, 2), 0);
	assert_int_equal(lode_host_clock_find(&client, &server, simulation.is_client, &clock), 0);
	lode_host_turns_release(&client);
	lode_host_turns_release(&server);
	end_simulation(&simulation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_of_one_connection_meet),
		cmocka_unit_test(other_names_are_no_connections),
		cmocka_unit_test(ends_are_found_by_their_ports),
		cmocka_unit_test(most_votes_win),
		cmocka_unit_test(clocks_of_hosts_are_found),
		cmocka_unit_test(servers_may_work_after_their_answers),
		cmocka_unit_test(clocks_may_drift),
		cmocka_unit_test(regular_requests_are_told_apart_or_not_at_all),
		cmocka_unit_test(hosts_that_do_not_talk_have_no_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
