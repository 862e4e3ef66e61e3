/* What a collector does with uploads: the sandbox, reading apart, committing together. */
#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "base/file.h"
#include "base/memory.h"
#include "collect/collector.h"
#include "collect/import_apart.h"
#include "collect/sandbox.h"
#include "store/corpus_check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDED "app!main;app!load 1000\napp!main;app!draw 20\n"

struct fixture {
	char path[64];
	struct lode_import_apart *apart;
	struct lode_import_found found;
	struct lode_upload_refusal refusal;
	struct lode_error error;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct lode_upload_limits limits = lode_upload_limits_default;

	limits.unpacked = 8u << 20;
	limits.memory = 512u << 20;
	limits.seconds = 2;
	limits.name = 1000;
	*state = fixture;
	return temporary_folder(fixture->path, sizeof(fixture->path)) < 0 ||
			       lode_import_apart_start(&fixture->apart, &limits, 2, &fixture->error) < 0
		       ? -1
		       : 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lode_import_apart_end(fixture->apart);
	temporary_remove(fixture->path);
	free(fixture);
	return 0;
}

/* ---- the sandbox ---- */

/* Runs `work` in a sandbox; its exit status, or minus the signal that ended it. */
static int in_sandbox(int (*work)(void))
{
	const struct lode_sandbox_limits limits = { 512u << 20, 1u << 20, 1 };
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(lode_sandbox_enter(&limits, NULL) < 0 ? 99 : work());
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int reach_out(void)
{
	if (open("/etc/passwd", O_RDONLY) >= 0 || access("/", F_OK) == 0)
		return 1;
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
		return 2;
	if (fork() >= 0 || kill(getppid(), 0) == 0)
		return 3;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		return 4;
	return mkdir("/tmp/lode-sandbox", 0700) == 0 || unlink("/tmp/lode-sandbox") == 0 ? 5 : 0;
}

static int compute(void)
{
	char *bytes = malloc(1u << 20);

	if (!bytes)
		return 1;
	memset(bytes, 1, 1u << 20);
	return bytes[17] == 1 ? 0 : 2;
}

#ifndef __SANITIZE_ADDRESS__
static int take_memory(void)
{
	size_t taken = 0;

	while (taken < 1024 && malloc(1u << 20))
		taken++;
	return taken > 100 && taken < 512 ? 0 : 1;
}
#endif

static int spin(void)
{
	for (volatile unsigned i = 0;; i++)
		;
	return 0;
}

static void a_sandbox_lets_nothing_out(void **state)
{
	(void)state;
	assert_int_equal(in_sandbox(compute), 0);
	assert_int_equal(in_sandbox(reach_out), 0);
#ifndef __SANITIZE_ADDRESS__
	assert_int_equal(in_sandbox(take_memory), 0);
#endif
	assert_true(in_sandbox(spin) < 0);
}

/* ---- reading apart ---- */

static int scratch_with(const void *bytes, size_t size)
{
	int fd = memfd_create("upload", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

/* Reads an upload; the caller releases what was found. Returns the file that was written. */
static int read_upload(struct fixture *fixture, const struct lode_upload_options *options, const void *bytes,
		       size_t size, int expected)
{
	int upload = scratch_with(bytes, size), written = scratch_with("", 0);
	struct lode_upload_options with_source = *options;
	int code;

	with_source.source = "test";
	code = lode_import_apart_read(fixture->apart, &with_source, upload, written, &fixture->found,
				      &fixture->refusal);
	if ((code == 0) != (expected == 0))
		fail_msg("%d: %s", code, fixture->refusal.error.text);
	if (expected)
		assert_int_equal(fixture->refusal.status, expected);
	close(upload);
	return written;
}

static void assert_refused(struct fixture *fixture, const void *bytes, size_t size, unsigned status,
			   const char *sentence)
{
	const struct lode_upload_options options = { .form = LODE_UPLOAD_FILE };

	close(read_upload(fixture, &options, bytes, size, (int)status));
	if (!strstr(fixture->refusal.error.text, sentence))
		fail_msg("%s", fixture->refusal.error.text);
	lode_import_found_release(&fixture->found);
}

static void a_profile_becomes_a_stream(void **state)
{
	static const char *const labels[] = { "version=4.2", NULL };
	const struct lode_upload_options options = { .name = "n", .host = "h", .labels = labels };
	struct fixture *fixture = *state;
	int written = read_upload(fixture, &options, FOLDED, strlen(FOLDED), 0);
	const struct lode_upload_stream *stream = fixture->found.streams.items[0];

	assert_int_equal(fixture->found.streams.count, 1);
	assert_string_equal(stream->entry.name, "n");
	assert_string_equal(stream->entry.host, "h");
	assert_int_equal(stream->entry.events[LODE_RUN], 2);
	assert_int_equal(stream->entry.cost[LODE_RUN], 1020);
	assert_int_equal(stream->stream.attribute_count, 1);
	assert_int_equal(stream->is_upload, 0);
	assert_int_equal(stream->size, lseek(written, 0, SEEK_END));
	lode_import_found_release(&fixture->found);
	close(written);
}

static void a_stream_file_is_taken_as_it_is(void **state)
{
	const struct lode_upload_options options = { .form = LODE_UPLOAD_FILE };
	struct fixture *fixture = *state;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_corpus_entry entry = { 0 };
	struct lode_map map;
	uint64_t seed = 5;
	int file = memfd_create("stream", 0);

	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	assert_int_equal(random_stream(&stream, &seed, 500), 0);
	assert_int_equal(lode_store_write_on(dup(file), "x", &stream, 1, &fixture->error), 0);
	assert_int_equal(lode_map_descriptor(&map, file, "x", &fixture->error), 0);
	close(read_upload(fixture, &options, map.bytes, map.size, 0));
	assert_int_equal(fixture->found.streams.count, 1);
	assert_int_equal(fixture->found.streams.items[0]->is_upload, 1);
	assert_int_equal(lode_corpus_describe(&stream, &entry), 0);
	assert_memory_equal(entry.events, fixture->found.streams.items[0]->entry.events, sizeof(entry.events));
	assert_int_equal(entry.stacks, fixture->found.streams.items[0]->entry.stacks);
	assert_int_equal(fixture->found.streams.items[0]->stream.symptom_count, stream.symptom_count);
	assert_int_equal(fixture->found.streams.items[0]->stream.attribute_count, stream.attribute_count);
	lode_import_found_release(&fixture->found);
	assert_refused(fixture, map.bytes, map.size / 2, 422, "upload");
	lode_map_close(&map);
	close(file);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

static void what_is_refused_has_a_status_and_a_sentence(void **state)
{
	struct fixture *fixture = *state;
	size_t size = 9u << 20;
	char *text = malloc(size);

	assert_refused(fixture, "", 0, 422, "empty");
	assert_refused(fixture, "\1\2\3", 3, 422, "unknown format");
	assert_refused(fixture, "\x1f\x8b\x08\0\0\0", 6, 400, "");
	memset(text, 'a', 2000);
	memcpy(text + 2000, " 1\n", 3);
	assert_refused(fixture, text, 2003, 422, "longer than 1000 bytes");
	free(text);
}

/* Two layers, as when a packed profile is packed again on its way. */
static void packed_uploads_are_unpacked_within_limits(void **state)
{
	static const char pack[] = "printf '" FOLDED "' | gzip | gzip -c > %s/twice; head -c 20000000 /dev/zero |"
				   " tr '\\0' 'a' | gzip -c > %s/bomb";
	const struct lode_upload_options options = { .form = LODE_UPLOAD_FILE };
	struct fixture *fixture = *state;
	char command[400], path[100];
	struct lode_map map;

	snprintf(command, sizeof(command), pack, fixture->path, fixture->path);
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof(path), "%s/twice", fixture->path);
	assert_int_equal(lode_map_open(&map, path, &fixture->error), 0);
	close(read_upload(fixture, &options, map.bytes, map.size, 0));
	assert_int_equal(fixture->found.streams.items[0]->entry.events[LODE_RUN], 2);
	lode_import_found_release(&fixture->found);
	lode_map_close(&map);
	snprintf(path, sizeof(path), "%s/bomb", fixture->path);
	assert_int_equal(lode_map_open(&map, path, &fixture->error), 0);
	assert_refused(fixture, map.bytes, map.size, 413, "more than 8 MiB");
	lode_map_close(&map);
}

static void forms_and_messages_of_pyroscope_are_opened(void **state)
{
	static const char form[] =
		"--xyz\r\nContent-Disposition: form-data; name=\"sample_type_config\"\r\n\r\n{}\r\n"
		"--xyz\r\nContent-Disposition: form-data; name=\"profile\"; "
		"filename=\"p\"\r\n\r\n" FOLDED "\r\n--xyz--\r\n";
	static const char push[] = "\x0a\x52"
				   "\x0a\x14\x0a\x0cservice_name\x12\x04shop"
				   "\x0a\x0a\x0a\x04host\x12\x02h7"
				   "\x12\x2e\x0a\x2c" FOLDED;
	struct lode_upload_options options = { .form = LODE_UPLOAD_MULTIPART, .boundary = "xyz" };
	struct fixture *fixture = *state;

	close(read_upload(fixture, &options, form, strlen(form), 0));
	assert_int_equal(fixture->found.streams.items[0]->entry.events[LODE_RUN], 2);
	lode_import_found_release(&fixture->found);
	options = (struct lode_upload_options){ .form = LODE_UPLOAD_PYROSCOPE };
	close(read_upload(fixture, &options, push, sizeof(push) - 1, 0));
	assert_string_equal(fixture->found.streams.items[0]->entry.name, "shop");
	assert_string_equal(fixture->found.streams.items[0]->entry.host, "h7");
	assert_int_equal(fixture->found.streams.items[0]->stream.attribute_count, 1);
	lode_import_found_release(&fixture->found);
	close(read_upload(fixture, &options, push, sizeof(push) / 2, 400));
	lode_import_found_release(&fixture->found);
}

/* ---- committing ---- */

#define THREADS 8
#define EACH    20

struct sender {
	struct lode_committer *committer;
	const struct lode_stream *stream;
	unsigned number;
	unsigned is_new;
};

static void *commit_streams(void *context)
{
	struct sender *sender = context;

	for (unsigned i = 0; i < EACH; i++) {
		struct lode_corpus_arrival arrival = { .entry = { .source = "test" }, .stream = sender->stream };
		struct lode_error error;

		/* Neighbours send the same. */
		snprintf(arrival.entry.id, sizeof(arrival.entry.id), "%016x%016x", sender->number / 2, i);
		arrival.path = lode_committer_draft(sender->committer);
		if (lode_corpus_describe(sender->stream, &arrival.entry) < 0 ||
		    lode_store_write(arrival.path, 0600, sender->stream, 1, &error) < 0 ||
		    lode_committer_add(sender->committer, &arrival, 1, &error) < 0)
			return context;
		sender->is_new += (unsigned)arrival.is_new;
		lode_free((char *)(uintptr_t)arrival.path);
	}
	return NULL;
}

static void many_commit_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct lode_committer_counts counts;
	struct lode_committer *committer;
	struct sender senders[THREADS];
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_corpus *corpus;
	pthread_t threads[THREADS];
	uint64_t seed = 6;
	unsigned is_new = 0;
	void *failed;

	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	assert_int_equal(random_stream(&stream, &seed, 20), 0);
	assert_int_equal(lode_corpus_open(&corpus, fixture->path, LODE_CORPUS_CREATE, &fixture->error), 0);
	lode_corpus_close(corpus);
	assert_int_equal(lode_committer_start(&committer, fixture->path, &fixture->error), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		senders[i] = (struct sender){ committer, &stream, i, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, commit_streams, &senders[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
		is_new += senders[i].is_new;
	}
	lode_committer_counts(committer, &counts);
	lode_committer_end(committer);
	assert_int_equal(is_new, THREADS / 2 * EACH);
	assert_int_equal(counts.streams, THREADS / 2 * EACH);
	assert_int_equal(counts.repeated, THREADS / 2 * EACH);
	assert_int_equal(counts.waiting, 0);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

/* ---- receiving ---- */

/* A collector that expects 1024 bytes a second from the first millisecond on. */
static struct lode_collector *start_collector(struct fixture *fixture)
{
	struct lode_collector_options options = lode_collector_options_default;
	struct lode_collector *collector;

	options.limits = lode_upload_limits_default;
	options.limits.packed = 1000;
	options.slow_after = 1000000;
	options.at_once = 2;
	options.rate = 1000000;
	if (lode_collector_start(&collector, fixture->path, &options, &fixture->error) < 0)
		fail_msg("%s", fixture->error.text);
	return collector;
}

static uint64_t count_refused(struct lode_collector *collector, unsigned status)
{
	struct lode_collector_counts counts;
	size_t i = 0;

	lode_collector_counts(collector, &counts);
	while (lode_refusal_statuses[i] != status)
		i++;
	return counts.refused[i];
}

static void a_sender_that_is_too_slow_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct lode_collector *collector = start_collector(fixture);
	struct lode_receiving *receiving;
	int code = 0, sent = 0;

	assert_int_equal(lode_receiving_begin(&receiving, collector, "", 0, &fixture->refusal), 0);
	for (; !code && sent < 100; sent++) { /* 20 bytes a second */
		usleep(50000);
		code = lode_receiving_add(receiving, "x", 1, &fixture->refusal);
	}
	assert_true(code < 0 && sent < 5);
	assert_int_equal(fixture->refusal.status, 408);
	lode_receiving_abandon(receiving, &fixture->refusal);
	assert_int_equal(count_refused(collector, 408), 1);
	lode_collector_end(collector);
}

static void uploads_at_once_and_their_size_are_limited(void **state)
{
	struct fixture *fixture = *state;
	struct lode_collector *collector = start_collector(fixture);
	struct lode_receiving *two[2], *third;
	char bytes[1001] = "";

	for (int i = 0; i < 2; i++)
		assert_int_equal(lode_receiving_begin(&two[i], collector, "", 0, &fixture->refusal), 0);
	assert_true(lode_receiving_begin(&third, collector, "", 0, &fixture->refusal) < 0);
	assert_int_equal(fixture->refusal.status, 429);
	assert_int_equal(fixture->refusal.retry_after, 1);
	assert_true(lode_receiving_begin(&third, collector, "", 1001, &fixture->refusal) < 0);
	assert_int_equal(fixture->refusal.status, 413);
	assert_true(lode_receiving_add(two[0], bytes, 1001, &fixture->refusal) < 0);
	assert_int_equal(fixture->refusal.status, 413);
	lode_receiving_abandon(two[0], &fixture->refusal);
	lode_receiving_abandon(two[1], NULL);
	assert_int_equal(count_refused(collector, 413), 2);
	assert_int_equal(count_refused(collector, 429), 1);
	lode_collector_end(collector);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sandbox_lets_nothing_out),
		cmocka_unit_test_setup_teardown(a_profile_becomes_a_stream, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_stream_file_is_taken_as_it_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_refused_has_a_status_and_a_sentence, set_up, tear_down),
		cmocka_unit_test_setup_teardown(packed_uploads_are_unpacked_within_limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forms_and_messages_of_pyroscope_are_opened, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_commit_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_sender_that_is_too_slow_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(uploads_at_once_and_their_size_are_limited, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
