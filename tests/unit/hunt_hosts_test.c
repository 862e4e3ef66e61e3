/* Hunts on several hosts: agents over a wire, and meters that are joined, against one simulated program. */
#include "cmocka_all.h"

#include "base/memory.h"
#include "hunt/meter/remote/agent.h"
#include "hunt/meter/joined/joined_meter.h"
#include "hunt/meter/remote/remote_meter.h"
#include "hunt/search/search.h"
#include "hunt_simulation.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- what two hosts do ---- */

static void make_solver(struct simulation *simulation, uint32_t host, uint32_t process)
{
	uint32_t thread = simulation_thread(simulation, host, process, "main");

	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.8, "step multiply lib!row");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.05, "step check");
	simulation->predicted[simulation_function(simulation, "lib!row")] = 0.4; /* from samples */
}

static void make_waiter(struct simulation *simulation, uint32_t host, uint32_t process)
{
	uint32_t thread = simulation_thread(simulation, host, process, "main");
	struct simulated_stack *stack;

	simulation_stack(simulation, thread, LODE_SYNC_WAITING, 0.7, "step barrier")->object = 0x77;
	stack = simulation_stack(simulation, thread, LODE_IO_BLOCKING, 0.2, "load read");
	stack->operations = 1000;
	stack->bytes = 64;
}

static int search_to_the_end(struct lode_search **search, struct lode_meter *meter,
			     const struct lode_search_options *options)
{
	struct lode_error error = { "" };
	int code = lode_search_create(search, meter, options, NULL, NULL, &error);

	while (!code)
		code = lode_search_step(*search, &error);
	assert_true(code > 0);
	assert_int_equal(lode_search_finish(*search, (enum lode_search_end)code, &error), 0);
	return code;
}

/* The experiment on a function (NULL: on all code) of one hunt, nothing else narrowed. */
static const struct lode_experiment *on(const struct lode_search *search, enum lode_hypothesis hypothesis,
					const char *function)
{
	const struct lode_history *history = lode_search_history(search);
	struct lode_focus focus = lode_focus_whole();
	uint32_t id;

	if (function)
		focus.function = lode_program_named(lode_search_meter(search)->program, function);
	id = lode_history_find(history, hypothesis, &focus);
	return id == LODE_NONE ? NULL : &history->experiments[id];
}

static void assert_same(const struct lode_search *a, const struct lode_search *b)
{
	static const char *const functions[] = { NULL,        "app!main",    "app!step", "app!multiply", "lib!row",
						 "app!check", "app!barrier", "app!load", "app!read" };

	assert_int_equal(lode_search_history(a)->count, lode_search_history(b)->count);
	for (int h = 0; h < LODE_HYPOTHESES; h++)
		for (size_t f = 0; f < sizeof(functions) / sizeof(*functions); f++) {
			const struct lode_experiment *x = on(a, (enum lode_hypothesis)h, functions[f]);
			const struct lode_experiment *y = on(b, (enum lode_hypothesis)h, functions[f]);

			assert_true(!x == !y);
			if (!x)
				continue;
			assert_int_equal(x->state, y->state);
			assert_int_equal(x->evidence, y->evidence);
			assert_true(fabs(x->value - y->value) < 1e-6);
		}
}

/* ---- joined ---- */

static void two_hosts_joined_are_like_one_program_on_both(void **state)
{
	for (int strategy = 0; strategy < 2; strategy++) {
		static struct simulation one, two, both;
		struct lode_meter *members[] = { &one.meter, &two.meter }, *joined;
		struct lode_search *apart, *together;
		struct lode_search_options options;
		struct lode_error error;

		(void)state;
		lode_search_options_default(&options);
		options.strategy = (enum lode_strategy)strategy;
		assert_int_equal(simulation_init(&one) | simulation_init(&two) | simulation_init(&both), 0);
		make_solver(&one, 0, 5);
		make_waiter(&two, 0, 5); /* the same number on another host */
		make_solver(&both, 0, 5);
		make_waiter(&both, 1, 6);
		assert_int_equal(lode_joined_meter_create(&joined, members, 2, &error), 0);
		assert_int_equal(search_to_the_end(&apart, joined, &options), LODE_SEARCH_EXHAUSTED);
		assert_int_equal(search_to_the_end(&together, &both.meter, &options), LODE_SEARCH_EXHAUSTED);
		assert_same(apart, together);
		assert_int_equal(on(apart, LODE_CPU_BOUND, "lib!row")->state, LODE_EXPERIMENT_TRUE);
		assert_true(fabs(on(apart, LODE_CPU_BOUND, "lib!row")->value - 0.4) < 1e-6);
		assert_int_equal(on(apart, LODE_CPU_BOUND, "lib!row")->evidence, LODE_EVIDENCE_SAMPLES);
		lode_search_destroy(apart);
		lode_search_destroy(together);
		joined->operations->destroy(joined);
		simulation_release(&both);
	}
}

static void a_joined_hunt_goes_on_while_one_host_does(void **state)
{
	static struct simulation one, two;
	struct lode_meter *members[] = { &one.meter, &two.meter }, *joined;
	struct lode_search_options options;
	struct lode_search *search;
	struct lode_error error;

	(void)state;
	lode_search_options_default(&options);
	assert_int_equal(simulation_init(&one) | simulation_init(&two), 0);
	make_solver(&one, 0, 5);
	make_solver(&two, 0, 5);
	two.ends = 1200000000;
	two.threads[0].ends = two.ends;
	assert_int_equal(lode_joined_meter_create(&joined, members, 2, &error), 0);
	assert_int_equal(search_to_the_end(&search, joined, &options), LODE_SEARCH_EXHAUSTED);
	assert_int_equal(on(search, LODE_CPU_BOUND, "lib!row")->state, LODE_EXPERIMENT_TRUE);
	lode_search_destroy(search);
	joined->operations->destroy(joined);
}

/* ---- over a wire ---- */

struct served {
	struct simulation simulation;
	int socket;
	int code;
	pthread_t thread;
};

static void *serve(void *context)
{
	struct served *served = context;
	struct lode_error error;

	served->code = lode_agent_serve(&served->simulation.meter, "far", served->socket, served->socket, &error);
	close(served->socket);
	return NULL;
}

/* Starts an agent and returns the meter at this end. */
static struct lode_meter *reach(struct served *served)
{
	struct lode_meter *meter;
	struct lode_error error;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	served->socket = ends[1];
	served->simulation.real_time = 1;
	assert_int_equal(pthread_create(&served->thread, NULL, serve, served), 0);
	assert_int_equal(lode_remote_meter_create(&meter, ends[0], dup(ends[0]), "far", NULL, &error), 0);
	return meter;
}

static struct lode_search_options quick(void)
{
	struct lode_search_options options;

	lode_search_options_default(&options);
	options.test.interval = 5000000;
	options.test.minimum = 25000000;
	return options;
}

static void a_hunt_through_an_agent_finds_what_a_hunt_here_finds(void **state)
{
	static struct served served;
	static struct simulation here;
	struct lode_search_options options = quick();
	struct lode_search *far, *near;
	struct lode_meter *meter;

	(void)state;
	assert_int_equal(simulation_init(&served.simulation) | simulation_init(&here), 0);
	make_solver(&served.simulation, 0, 1);
	make_waiter(&served.simulation, 0, 2);
	make_solver(&here, 0, 1);
	make_waiter(&here, 0, 2);
	meter = reach(&served);
	assert_int_equal(search_to_the_end(&far, meter, &options), LODE_SEARCH_EXHAUSTED);
	assert_int_equal(search_to_the_end(&near, &here.meter, &options), LODE_SEARCH_EXHAUSTED);
	assert_same(far, near);
	assert_string_equal(meter->operations->name(meter, LODE_AXIS_PROCESS, 2), "process-2");
	assert_string_equal(meter->operations->name(meter, LODE_AXIS_HOST, 0), "far");
	lode_search_destroy(far);
	lode_search_destroy(near);
	meter->operations->destroy(meter);
	pthread_join(served.thread, NULL);
	assert_int_equal(served.code, 0);
	assert_int_equal(served.simulation.run_count, 0);
	simulation_release(&served.simulation);
	simulation_release(&here);
}

static void an_agent_whose_hunt_goes_away_takes_its_probes_out(void **state)
{
	static struct served served;
	struct lode_focus focus = lode_focus_whole();
	enum lode_hypothesis hypothesis = LODE_CPU_BOUND;
	struct lode_error error;
	int ends[2];

	(void)state;
	assert_int_equal(simulation_init(&served.simulation), 0);
	make_solver(&served.simulation, 0, 1);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	served.socket = ends[1];
	assert_int_equal(pthread_create(&served.thread, NULL, serve, &served), 0);
	{
		struct lode_meter *meter;
		struct lode_reading before;
		uint32_t id = 7;
		int kept = dup(ends[0]);

		assert_int_equal(lode_remote_meter_create(&meter, ends[0], kept, "far", NULL, &error), 0);
		assert_int_equal(meter->operations->start(meter, &id, &hypothesis, &focus, 1, &error), 0);
		assert_int_equal(meter->operations->read(meter, id, &before, &error), 0);
		assert_int_equal(before.state, LODE_READING_ON);
		shutdown(ends[0], SHUT_WR); /* as when the hunt is killed: no word of an end */
		pthread_join(served.thread, NULL);
		assert_int_equal(served.simulation.run_count, 0);
		/* And at this end the host has gone. */
		assert_int_equal(meter->operations->wait(meter, 0, &error), 1);
		{
			struct lode_reading reading;

			assert_int_equal(meter->operations->read(meter, id, &reading, &error), 0);
			assert_int_equal(reading.state, LODE_READING_GONE);
			assert_non_null(reading.why);
		}
		meter->operations->destroy(meter);
	}
	simulation_release(&served.simulation);
}

/* Arrays inside one another: more than is read, and no more than a socket takes at once. */
#define DEEP 50000

/* What the other side says, and what becomes of a meter that gets it. */
static int greeted_with(const char *text, struct lode_error *error)
{
	struct lode_meter *meter = NULL;
	int ends[2], code;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
	close(ends[1]);
	code = lode_remote_meter_create(&meter, ends[0], dup(ends[0]), "far", NULL, error);
	if (meter)
		meter->operations->destroy(meter);
	return code;
}

static void greetings_that_are_wrong_are_reported(void **state)
{
	static char deep[2 * DEEP + 16] = "{\"agent\":";
	struct lode_error error = { "" };

	(void)state;
	assert_int_equal(greeted_with("", &error), LODE_SYSTEM);
	assert_non_null(strstr(error.text, "far"));
	assert_int_equal(greeted_with("Welcome to far!\n", &error), LODE_BAD_INPUT);
	assert_int_equal(greeted_with("[1]\n", &error), LODE_BAD_INPUT);
	memset(deep + strlen(deep), '[', DEEP);
	memset(deep + strlen(deep), ']', DEEP);
	strcat(deep, "}\n");
	assert_int_equal(greeted_with(deep, &error), LODE_BAD_INPUT);
	assert_int_equal(greeted_with("{\"agent\":2}\n", &error), LODE_SYSTEM);
	assert_int_equal(greeted_with("{\"error\":\"no privilege\"}\n", &error), LODE_SYSTEM);
	assert_string_equal(error.text, "host far: no privilege");
	assert_int_equal(greeted_with("{\"agent\":3,\"host\":\"x\"}\n", &error), 0);
}

/* Requests that no hunt sends are answered with an error, and the agent goes on. */
static void strange_requests_do_no_harm(void **state)
{
	static const char requests[] =
		"{}\n{\"do\":5}\n{\"do\":\"dance\"}\n{\"do\":\"start\"}\n"
		"{\"do\":\"start\",\"experiments\":[{}]}\n"
		"{\"do\":\"start\",\"experiments\":[{\"id\":-4,\"hypothesis\":\"CPUbound\","
		"\"focus\":{\"code\":\"x\",\"host\":1e99,\"process\":\"a\",\"thread\":-1}}]}\n"
		"{\"do\":\"stop\",\"experiments\":[1,2,\"x\",99999999999999]}\n"
		"{\"do\":\"below\",\"axis\":17}\n{\"do\":\"below\",\"axis\":0}\n"
		"{\"do\":\"name\",\"axis\":-3}\n{\"do\":\"predict\"}\n{\"do\":\"roots\",\"focus\":[]}\n"
		"{\"do\":\"look\",\"wait_ns\":0}\n";
	static struct served served;
	char reply[65536];
	size_t size = 0, lines = 0;
	ssize_t got;
	int ends[2];

	(void)state;
	assert_int_equal(simulation_init(&served.simulation), 0);
	make_solver(&served.simulation, 0, 1);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	served.socket = ends[1];
	assert_int_equal(pthread_create(&served.thread, NULL, serve, &served), 0);
	assert_int_equal(write(ends[0], requests, sizeof(requests) - 1), sizeof(requests) - 1);
	shutdown(ends[0], SHUT_WR);
	while ((got = read(ends[0], reply + size, sizeof(reply) - size)) > 0)
		size += (size_t)got;
	pthread_join(served.thread, NULL);
	for (size_t i = 0; i < size; i++)
		lines += reply[i] == '\n';
	assert_int_equal(lines, 14); /* the greeting, and one for each */
	close(ends[0]);
	simulation_release(&served.simulation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_hosts_joined_are_like_one_program_on_both),
		cmocka_unit_test(a_joined_hunt_goes_on_while_one_host_does),
		cmocka_unit_test(a_hunt_through_an_agent_finds_what_a_hunt_here_finds),
		cmocka_unit_test(an_agent_whose_hunt_goes_away_takes_its_probes_out),
		cmocka_unit_test(greetings_that_are_wrong_are_reported),
		cmocka_unit_test(strange_requests_do_no_harm),
	};

	signal(SIGPIPE, SIG_IGN); /* as the program does while it hunts */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
