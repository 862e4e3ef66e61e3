/*
 * How a program uses liblode: imports a recording into a corpus, prints its costliest thread and the patterns that
 * cost the most.
 *
 *	cc example.c -o example $(pkg-config --cflags --libs lode)
 *	./example CORPUS RECORDING...
 */
#include <lode/lode.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const struct liblode_error *error)
{
	fprintf(stderr, "example: %s\n", error->message);
	exit(1);
}

/* Adds up what each thread of a stream waited, reading the columns in place. */
static void print_longest_waiter(const char *path)
{
	struct liblode_events waits = { .size = sizeof(waits) };
	struct liblode_thread thread = { .size = sizeof(thread) };
	struct liblode_stream *stream;
	struct liblode_error error;
	uint64_t *sums;
	size_t longest = 0;

	if (liblode_stream_open(&stream, path, &error) ||
	    liblode_stream_events(stream, LIBLODE_WAIT, &waits, &error))
		fail(&error);
	sums = calloc(liblode_stream_thread_count(stream) + 1, sizeof(*sums));
	for (size_t i = 0; sums && i < waits.count; i++) {
		sums[waits.thread[i]] += waits.cost[i] * (waits.weight ? waits.weight[i] : 1);
		if (sums[waits.thread[i]] > sums[longest])
			longest = waits.thread[i];
	}
	if (sums && !liblode_stream_thread(stream, longest, &thread))
		printf("%s: thread %" PRIu32 " (%s) waited longest, %" PRIu64 " ns\n", liblode_stream_name(stream),
		       thread.tid, thread.name, sums[longest]);
	free(sums);
	liblode_stream_close(stream);
}

int main(int argc, char **argv)
{
	struct liblode_stream_info info = { .size = sizeof(info) };
	struct liblode_corpus *corpus;
	struct liblode_result *result;
	struct liblode_error error;

	if (argc < 3)
		return 2;
	if (liblode_import(argv[1], (const char *const *)argv + 2, NULL, NULL, &result, &error))
		fail(&error);
	for (size_t i = 0; i < liblode_result_message_count(result); i++)
		printf("%s\n", liblode_result_message(result, i));
	liblode_result_free(result);

	if (liblode_corpus_open(&corpus, argv[1], &error))
		fail(&error);
	for (size_t i = 0; i < liblode_corpus_count(corpus); i++) {
		if (liblode_corpus_stream(corpus, i, &info, &error))
			fail(&error);
		print_longest_waiter(info.path);
	}
	liblode_corpus_close(corpus);

	if (liblode_analyse("mine", (const char *const[]){ argv[1], NULL },
			    (const char *const[]){ "--top=3", NULL }, NULL, &result, &error))
		fail(&error);
	printf("%s", liblode_result_bytes(result, NULL));
	liblode_result_free(result);
	return 0;
}
