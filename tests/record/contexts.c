/*
 * Threads that say which request they work on, and log it:
 *
 *	contexts otel|marks|queries|commands LOG ROUNDS [LIBRARY]
 *
 * Each round is a request: some waits of a millisecond or two, and some running. With `otel` it publishes trace and span as
 * OpenTelemetry's thread context, by the library where one is given, which is loaded while it runs; now and then a round
 * has none, or a record that is not valid. With `marks` requests are marks of lode_mark.h, some of them in others. With `queries` it
 * calls the function by which PostgreSQL tells what it does, with `commands` those of MariaDB.
 *
 * A line of the log: `wait|run TID BEGIN END CONTEXT`, where the context is `-` for none.
 */
#include "lode_mark.h"
#include "truth.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 4
#define RUN_NS  3000000

struct record {
	uint8_t trace[16];
	uint8_t span[8];
	uint8_t valid;
	uint8_t flags;
	uint16_t attribute_bytes;
} __attribute__((packed, aligned(2)));

#ifndef BY_LIBRARY
void publish(void *record);
#else
static void (*publish)(void *record);
#endif

static FILE *file;
static int rounds;
static const char *mode;

static void log_line(const char *what, uint64_t begin, const char *context)
{
	uint64_t end = now();

	flockfile(file);
	fprintf(file, "%s %ld %llu %llu %s\n", what, syscall(SYS_gettid), (unsigned long long)begin,
		(unsigned long long)end, context);
	funlockfile(file);
}

static void work(const char *context)
{
	uint64_t begin = now();

	rest(1500000);
	log_line("wait", begin, context);
	begin = now();
	while (now() - begin < RUN_NS)
		;
	log_line("run", begin, context);
	begin = now();
	rest(1000000);
	log_line("wait", begin, context);
}

static void put_hex(char *text, const uint8_t *bytes, int count)
{
	for (int i = 0; i < count; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
}

/* Two records, of which one is published while the other is filled, as tracers do; or one that is changed in place. */
static void serve_trace(struct record records[2], int round, unsigned *seed)
{
	struct record *record = &records[round % 3 == 0];
	char text[80] = "trace:", span[17];

	if (round % 3 == 2)
		record->valid = 0;
	else
		publish(NULL);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	for (int i = 0; i < 16; i++)
		record->trace[i] = (uint8_t)rand_r(seed);
	for (int i = 0; i < 8; i++)
		record->span[i] = (uint8_t)rand_r(seed);
	record->trace[0] |= 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	record->valid = round % 7 != 5;
	publish(round % 11 == 4 ? NULL : record);
	put_hex(text + 6, record->trace, 16);
	put_hex(span, record->span, 8);
	strcat(strcat(text, " span:"), span);
	work(record->valid && round % 11 != 4 ? text : "-");
}

static void look_up(void)
{
	LODE_MARK_SCOPE("look up")
	{
		work("look up");
	}
}

static void serve_mark(int round)
{
	if (round % 4 == 3)
		work("-");
	LODE_MARK_SCOPE("answer")
	{
		work("answer");
		if (round % 2) {
			look_up();
			work("answer");
		}
	}
}

/* What the servers call; the recorder knows the functions by these names. */
void pgstat_report_activity(int state, const char *query);
__attribute__((noipa, visibility("default"))) void pgstat_report_activity(int state, const char *query)
{
	(void)state;
	(void)query;
}

void dispatch(int command, void *connection, char *packet, unsigned length,
	      int blocking) __asm__("_Z16dispatch_command19enum_server_commandP3THDPcjb");
__attribute__((noipa, visibility("default"))) void dispatch(int command, void *connection, char *packet,
							    unsigned length, int blocking)
{
	(void)command, (void)connection, (void)packet, (void)length, (void)blocking;
}

void await(void *connection) __asm__("_Z10do_commandP3THDb");
__attribute__((noipa, visibility("default"))) void await(void *connection)
{
	(void)connection;
}

static void serve_query(int round)
{
	char query[300], shown[200];

	snprintf(query, sizeof(query), "select a%d  from t -- why\nwhere b = '%d' and c in (%d, -2, 3.5)%s",
		 round % 5, round, round,
		 round % 2 ? " and a_long_column_that_is_there_to_be_cut = another_long_column_of_the_same_table"
			   : ";");
	snprintf(shown, sizeof(shown), "select a%d from t where b = ? and c in (?)%s", round % 5,
		 round % 2 ? " and a_long_column_that_is_there_to_be_cut =\xe2\x80\xa6" : "");
	pgstat_report_activity(2, query);
	work(shown);
	pgstat_report_activity(1, NULL);
	work("-");
}

static void serve_command(int round)
{
	char query[64];
	int command = round % 3 ? 3 : 4;

	snprintf(query, sizeof(query), "SELECT name FROM `t%d`", round % 7);
	dispatch(command, NULL, query, (unsigned)strlen(query), 1);
	work(command == 3 ? query : "-");
	await(NULL);
	work("-");
}

static void *serve(void *argument)
{
	struct record records[2] = { 0 };
	unsigned seed = (unsigned)(uintptr_t)argument;

	for (int i = 0; i < rounds; i++)
		if (*mode == 'm')
			serve_mark(i);
		else if (*mode == 'q')
			serve_query(i);
		else if (*mode == 'c')
			serve_command(i);
		else
			serve_trace(records, i, &seed);
	if (*mode == 'o')
		publish(NULL);
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];

	must(count >= 4, "contexts otel|marks|queries|commands LOG ROUNDS [LIBRARY]");
	mode = arguments[1];
	file = fopen(arguments[2], "w");
	must(file != NULL, arguments[2]);
	rounds = atoi(arguments[3]);
#ifdef BY_LIBRARY
	must(count == 5, "a library");
	void *library = dlopen(arguments[4], RTLD_NOW);

	must(library != NULL, "dlopen");
	*(void **)&publish = dlsym(library, "publish");
	must(publish != NULL, "publish");
#endif
	rest(500000000); /* the recorder looks a few times a second for what programs have mapped */
	for (uintptr_t i = 0; i < THREADS; i++)
		must(!pthread_create(&threads[i], NULL, serve, (void *)(i + 1)), "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return fclose(file) != 0;
}
