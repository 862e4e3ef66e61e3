/* Streams of two hosts in a corpus: joined where they talk to each other, whatever they are, with memory running out anywhere. */
#include "failing_memory.h"
#include "small_stream.h"
#include "temporary.h"

#include "result/scope_report.h"
#include "store/corpus.h"
#include "trace/objects.h"

#include <fcntl.h>

#define US        1000
#define AHEAD     (70000000ull * US)
#define EXCHANGES 20
#define CLIENT    "tcp:10.0.0.1:40000 > 10.0.0.2:80"
#define SERVER    "tcp:10.0.0.2:80 > 10.0.0.1:40000"

struct hosts {
	char folder[64];
	struct lode_corpus *corpus;
	struct lode_corpus_list list;
	struct lode_idle_rules *idle;
	struct lode_symptom_rules rules;
};

static void add_wait(struct small_stream *small, uint64_t t, uint64_t end, const char *name)
{
	struct lode_event event = {
		.t = t,
		.cost = end - t,
		.thread = lode_stream_thread(&small->stream, 7, 7),
		.stack = small_stack(small, "app!main;kernel!tcp_recvmsg"),
		.waker = LODE_NONE,
		.name = lode_strings_add(&small->dictionary.frames.strings, name, strlen(name)),
		.cpu = LODE_NO_CPU,
		.holder = LODE_NONE,
	};

	assert_int_equal(lode_stream_add_event(&small->stream, LODE_WAIT, &event), 0);
}

/* The client waits for the server, which sleeps before it answers; the last wait is a symptom. */
static void talk(struct small_stream *client, struct small_stream *server)
{
	uint64_t waiting = 900000 * US;

	for (uint64_t i = 0; i < EXCHANGES; i++) {
		uint64_t t = (1000000 + i * 10000 + i * i * 7) * US;

		add_wait(client, t, t + 100 * US, "");
		add_wait(client, t + 120 * US, t + (3000 + i) * US, CLIENT);
		add_wait(server, waiting + AHEAD, t + 150 * US + AHEAD, SERVER);
		add_wait(server, t + 200 * US + AHEAD, t + (2900 + i) * US + AHEAD, "");
		waiting = t + (2950 + i) * US;
		if (i + 1 == EXCHANGES) {
			const struct lode_symptom symptom = { .thread = lode_stream_thread(&client->stream, 7, 7),
							      .t0 = t + 120 * US,
							      .t1 = t + (3000 + i) * US };

			assert_int_equal(lode_stream_add_symptom(&client->stream, &symptom), 0);
		}
	}
}

static void keep(struct hosts *hosts, struct small_stream *small, const char *host)
{
	char id[33];

	small->stream.host = lode_strings_add(&small->dictionary.frames.strings, host, strlen(host));
	small->stream.name = small->stream.host;
	assert_int_equal(lode_stream_set_text(&small->stream, LODE_CONNECTIONS, LODE_CONNECTIONS_VALUE), 0);
	assert_int_equal(lode_stream_sort(&small->stream), 0);
	assert_int_equal(lode_stream_draw_id(id, NULL), 0);
	assert_int_equal(lode_corpus_add(hosts->corpus, id, "test", &small->stream, 0, 1, NULL), 1);
	small_end(small);
}

static void begin(struct hosts *hosts)
{
	char path[96];

	memset(hosts, 0, sizeof(*hosts));
	assert_int_equal(temporary_folder(hosts->folder, sizeof(hosts->folder)), 0);
	snprintf(path, sizeof(path), "%s/corpus", hosts->folder);
	assert_int_equal(lode_corpus_open(&hosts->corpus, path, LODE_CORPUS_CREATE, NULL), 0);
	assert_int_equal(lode_idle_rules_load(&hosts->idle, NULL, NULL), 0);
}

static void list_streams(struct hosts *hosts)
{
	assert_int_equal(lode_corpus_streams(hosts->corpus, &hosts->list, NULL), 0);
}

static void end(struct hosts *hosts)
{
	lode_corpus_list_release(&hosts->list);
	lode_corpus_close(hosts->corpus);
	lode_idle_rules_free(hosts->idle);
	temporary_remove(hosts->folder);
}

struct outcome {
	size_t hosts;     /* that were joined */
	int64_t offset;   /* of the last, */
	uint64_t error;   /* and its error */
	uint64_t foreign; /* ns of paths in threads of other hosts */
	uint64_t unknown;
};

static void measure(struct lode_scope_report *report, struct outcome *outcome)
{
	for (size_t i = 0; i < report->hosts.count; i++)
		if (report->hosts.items[i].clock.exchanges) {
			outcome->hosts++;
			outcome->offset = report->hosts.items[i].clock.offset;
			outcome->error = report->hosts.items[i].clock.error;
		}
	for (size_t i = 0; i < report->count; i++) {
		const struct lode_scope_found *found = &report->items[i];
		uint64_t sum = found->result.unknown;

		for (size_t k = 0; k < found->parts.count; k++) {
			const struct lode_part *part = &found->parts.items[k];

			sum += part->cost;
			if (report->stream.events[part->type].thread[part->event] >= report->hosts.own_threads)
				outcome->foreign += part->cost;
		}
		assert_true(sum ==
			    (found->symptom.t1 > found->symptom.t0 ? found->symptom.t1 - found->symptom.t0 : 0));
		outcome->unknown += found->result.unknown;
	}
}

/* The paths of stream number `i`; what fails is the code. */
static int look(struct hosts *hosts, size_t i, struct outcome *outcome)
{
	struct lode_host_joins *joins;
	struct lode_error error;
	struct lode_scope_report report;
	int code = lode_host_joins_find(&joins, hosts->corpus, &error);
	const struct lode_scope_options options = { .scope = LODE_SCOPE_CRITICAL_PATH,
						    .rules = &hosts->rules,
						    .idle = hosts->idle,
						    .joins = joins };

	memset(outcome, 0, sizeof(*outcome));
	if (!code) {
		code = lode_scope_report_make(&report, &hosts->list.items[i], &options, &error);
		if (!code)
			measure(&report, outcome);
		lode_scope_report_release(&report);
	}
	lode_host_joins_free(joins);
	return code;
}

static void begin_talk(struct hosts *hosts)
{
	struct small_stream client, server;

	begin(hosts);
	small_begin(&client);
	small_begin(&server);
	talk(&client, &server);
	keep(hosts, &client, "a");
	keep(hosts, &server, "b");
	list_streams(hosts);
}

static void a_path_goes_to_the_other_host(void **state)
{
	struct outcome outcome;
	struct hosts hosts;

	(void)state;
	begin_talk(&hosts);
	assert_int_equal(look(&hosts, 0, &outcome), 0);
	assert_int_equal(outcome.hosts, 1);
	assert_true(llabs(outcome.offset - (int64_t)AHEAD) <= (int64_t)outcome.error && outcome.error < 200 * US);
	assert_int_equal(outcome.foreign, (2700 + EXCHANGES - 1) * US);
	assert_int_equal(outcome.unknown, 0);
	end(&hosts);
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct outcome outcome;
	struct hosts hosts;

	(void)state;
	begin_talk(&hosts);
	FAIL_EACH_ALLOCATION(50, look(&hosts, 0, &outcome));
	assert_int_equal(outcome.hosts, 1);
	end(&hosts);
}

/* Whoever looks at the damaged stream itself is told; the other one is as if it were alone. */
static void a_damaged_stream_is_not_joined(void **state)
{
	struct outcome outcome;
	struct hosts hosts;
	int fd;

	(void)state;
	begin_talk(&hosts);
	fd = open(hosts.list.items[1].path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(hosts.list.items[1].file_size / 2)), 0);
	close(fd);
	assert_int_equal(look(&hosts, 0, &outcome), 0);
	assert_true(!outcome.hosts && !outcome.foreign);
	assert_int_equal(unlink(hosts.list.items[1].path), 0);
	assert_int_equal(look(&hosts, 0, &outcome), 0);
	assert_true(!outcome.hosts && !outcome.foreign);
	end(&hosts);
}

/* Numbers of threads that leave no room for those of others, as other systems have them. */
static void large_numbers_of_threads_are_not_joined(void **state)
{
	struct small_stream client, server;
	struct outcome outcome;
	struct hosts hosts;

	(void)state;
	begin(&hosts);
	small_begin(&client);
	small_begin(&server);
	talk(&client, &server);
	small_event(&server, LODE_RUN, LODE_HOST_TIDS, 1000000 * US + AHEAD, 10, 0, LODE_NONE, "f");
	keep(&hosts, &client, "a");
	keep(&hosts, &server, "b");
	list_streams(&hosts);
	assert_int_equal(look(&hosts, 0, &outcome), 0);
	assert_int_equal(outcome.hosts, 0);
	assert_int_equal(look(&hosts, 1, &outcome), 0);
	assert_int_equal(outcome.hosts, 0);
	end(&hosts);
}

static void random_streams_add_up(void **state)
{
	static const char *const names[] = { CLIENT, SERVER, "", "tcp:*:1 > [::2]:2", "tcp:*:2 > [::1]:1" };
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 60; round++) {
		struct outcome outcome;
		struct hosts hosts;

		begin(&hosts);
		for (int i = 0; i < 3; i++) {
			struct small_stream small;
			struct lode_symptom symptom;
			struct lode_events *waits = &small.stream.events[LODE_WAIT];

			small_begin(&small);
			small_random(&small, &seed, 80, round % 5 ? 200 : UINT64_MAX / 4);
			symptom = small_random_symptom(&small, &seed, 150);
			assert_int_equal(lode_stream_add_symptom(&small.stream, &symptom), 0);
			for (size_t k = 0; k < waits->count; k++) {
				const char *name = names[random_below(&seed, 5)];

				waits->name[k] =
					lode_strings_add(&small.dictionary.frames.strings, name, strlen(name));
			}
			keep(&hosts, &small, (const char *[]){ "a", "b", "c" }[i]);
		}
		list_streams(&hosts);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(look(&hosts, i, &outcome), 0);
		end(&hosts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_goes_to_the_other_host),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
		cmocka_unit_test(a_damaged_stream_is_not_joined),
		cmocka_unit_test(large_numbers_of_threads_are_not_joined),
		cmocka_unit_test(random_streams_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
