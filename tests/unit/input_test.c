/* Input: plain, packed, piped, cut off, damaged; peeks, lines, digests. */
#include "cmocka_all.h"

#include "base/file.h"
#include "base/input.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* ---- material ---- */

struct bytes {
	unsigned char *at;
	size_t size;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static struct bytes random_text(size_t size)
{
	struct bytes text = { malloc(size + 1), size };

	for (size_t i = 0; i < size; i++) {
		uint64_t number = random_number();

		text.at[i] = number % 40 == 0   ? '\n'
			     : number % 40 == 1 ? '\r'
						: (unsigned char)('a' + number % 20);
	}
	return text;
}

static struct bytes pack_gzip(const void *bytes, size_t size)
{
	struct bytes packed = { malloc(compressBound(size) + 64), 0 };
	z_stream stream = { 0 };

	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (Bytef *)(uintptr_t)bytes;
	stream.avail_in = (uInt)size;
	stream.next_out = packed.at;
	stream.avail_out = (uInt)compressBound(size) + 64;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	packed.size = stream.total_out;
	deflateEnd(&stream);
	return packed;
}

static struct bytes pack_zstd(const void *bytes, size_t size)
{
	struct bytes packed = { malloc(ZSTD_compressBound(size)), 0 };

	packed.size = ZSTD_compress(packed.at, ZSTD_compressBound(size), bytes, size, 3);
	assert_false(ZSTD_isError(packed.size));
	return packed;
}

static struct bytes pack_xz(const void *bytes, size_t size)
{
	size_t room = lzma_stream_buffer_bound(size);
	struct bytes packed = { malloc(room), 0 };

	assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, bytes, size, packed.at, &packed.size,
						 room),
			 LZMA_OK);
	return packed;
}

static struct bytes pack_plain(const void *bytes, size_t size)
{
	struct bytes copy = { malloc(size + 1), size };

	memcpy(copy.at, bytes, size);
	return copy;
}

typedef struct bytes (*packer)(const void *bytes, size_t size);
static const packer packers[] = { pack_plain, pack_gzip, pack_zstd, pack_xz };

static struct bytes join(struct bytes a, struct bytes b)
{
	a.at = realloc(a.at, a.size + b.size + 1);
	if (b.size)
		memcpy(a.at + a.size, b.at, b.size);
	a.size += b.size;
	free(b.at);
	return a;
}

/* Reads all of it with peeks of random size; NULL bytes when it failed. */
static struct bytes drain(struct lode_input *input, struct lode_error *error)
{
	struct bytes all = { malloc(1), 0 };

	for (;;) {
		const unsigned char *bytes;
		size_t size, take, wanted = 1 + random_number() % 3000;

		if (lode_input_peek(input, wanted, &bytes, &size, error) < 0) {
			free(all.at);
			return (struct bytes){ NULL, 0 };
		}
		if (!size)
			return all;
		take = 1 + random_number() % (size < 200000 ? size : 200000);
		all.at = realloc(all.at, all.size + take);
		memcpy(all.at + all.size, bytes, take);
		all.size += take;
		lode_input_skip(input, take);
	}
}

static struct lode_input *open_memory(struct bytes packed)
{
	struct lode_input *input = NULL;
	struct lode_error error = { "" };

	assert_int_equal(lode_input_memory(&input, "x", packed.at, packed.size, &error), 0);
	return input;
}

static void assert_content(struct bytes packed, const void *content, size_t size)
{
	struct lode_error error = { "" };
	struct lode_input *input = open_memory(packed);
	struct bytes got = drain(input, &error);

	assert_string_equal(error.text, "");
	assert_int_equal(got.size, size);
	assert_memory_equal(got.at, content, size);
	free(got.at);
	lode_input_close(input);
}

/* Opening or reading it to the end fails, and the sentence holds `part`. */
static void assert_refused(struct bytes packed, const char *part)
{
	struct lode_error error = { "" };
	struct lode_input *input = NULL;
	int code = lode_input_memory(&input, "x", packed.at, packed.size, &error);
	char digest[33];

	if (code == 0)
		code = lode_input_digest(input, digest, &error);
	assert_int_equal(code, LODE_BAD_INPUT);
	assert_non_null(strstr(error.text, part));
	lode_input_close(input);
}

/* ---- a pipe as standard input ---- */

struct feeder {
	int fd;
	struct bytes bytes;
};

static void *feed(void *argument)
{
	struct feeder *feeder = argument;
	uint64_t pieces = 12345; /* a generator of its own: it runs beside the test */
	size_t at = 0;

	while (at < feeder->bytes.size) {
		size_t piece = 1 + (size_t)(pieces >> 33) % 70000, left = feeder->bytes.size - at;
		ssize_t put = write(feeder->fd, feeder->bytes.at + at, piece < left ? piece : left);

		if (put <= 0)
			break;
		pieces = pieces * 6364136223846793005u + 1442695040888963407u;
		at += (size_t)put;
	}
	close(feeder->fd);
	return NULL;
}

struct pipe_input {
	int old_stdin;
	struct feeder feeder;
	pthread_t thread;
	struct lode_input *input;
};

static void open_pipe(struct pipe_input *self, struct bytes bytes)
{
	struct lode_error error = { "" };
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	self->old_stdin = dup(0);
	dup2(ends[0], 0);
	close(ends[0]);
	self->feeder = (struct feeder){ ends[1], bytes };
	pthread_create(&self->thread, NULL, feed, &self->feeder);
	assert_int_equal(lode_input_open(&self->input, "-", &error), 0);
}

static void close_pipe(struct pipe_input *self)
{
	lode_input_close(self->input);
	dup2(self->old_stdin, 0);
	close(self->old_stdin);
	pthread_join(self->thread, NULL);
}

static char *write_file(struct bytes bytes)
{
	char *path = strdup("/tmp/lode-input-test-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.at, bytes.size), (ssize_t)bytes.size);
	close(fd);
	return path;
}

/* ---- tests ---- */

static void content_comes_out_as_it_was_however_it_was_packed(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		struct bytes text = random_text(random_number() % (round < 196 ? 3000 : 2000000));

		for (size_t p = 0; p < 4; p++) {
			struct bytes packed = packers[p](text.at, text.size);

			assert_content(packed, text.at, text.size);
			free(packed.at);
		}
		free(text.at);
	}
}

static void members_frames_and_streams_that_follow_one_another_are_one_content(void **state)
{
	(void)state;
	for (size_t p = 0; p < 4; p++) {
		struct bytes text = { malloc(1), 0 }, packed = { malloc(1), 0 };

		for (int i = 0; i < 20; i++) {
			struct bytes part = random_text(random_number() % 50000);

			packed = join(packed, packers[p](part.at, i % 5 == 2 ? 0 : part.size));
			if (i % 5 == 2)
				part.size = 0;
			text = join(text, part);
		}
		assert_content(packed, text.at, text.size);
		free(packed.at);
		free(text.at);
	}
}

static void skippable_zstd_frames_are_skipped_wherever_they_stand(void **state)
{
	static const unsigned char skippable[] = { 0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c' };
	struct bytes packed = pack_plain(skippable, sizeof(skippable));

	(void)state;
	packed = join(packed, pack_zstd("hello ", 6));
	packed = join(packed, pack_plain(skippable, sizeof(skippable)));
	packed = join(packed, pack_zstd("world", 5));
	packed = join(packed, pack_plain(skippable, sizeof(skippable)));
	assert_content(packed, "hello world", 11);
	packed.size -= 2;
	assert_refused(packed, "ends in the middle");
	free(packed.at);
}

static void zeros_may_pad_a_gzip_file_but_nothing_else_may_follow(void **state)
{
	struct bytes packed = pack_gzip("hello", 5);
	unsigned char zeros[1000] = { 0 };

	(void)state;
	packed = join(packed, pack_plain(zeros, sizeof(zeros)));
	assert_content(packed, "hello", 5);
	packed = join(packed, pack_plain("x", 1));
	assert_refused(packed, "unexpected data follows");
	free(packed.at);
}

static void what_was_cut_off_is_refused_at_every_length(void **state)
{
	struct bytes text = random_text(5000);

	(void)state;
	for (size_t p = 1; p < 4; p++) {
		struct bytes packed = packers[p](text.at, text.size);

		for (size_t size = 6; size < packed.size; size += size < 60 || size > packed.size - 60 ? 1 : 37) {
			struct bytes cut = pack_plain(packed.at, size);

			assert_refused(cut, "ends in the middle");
			free(cut.at);
		}
		free(packed.at);
	}
	free(text.at);
}

/* Damage is found by checksums, or changes nothing (a header's time stamp): never other content. */
static void damage_never_yields_other_content(void **state)
{
	struct bytes text = random_text(3000);
	unsigned refused = 0;

	(void)state;
	for (size_t p = 1; p < 4; p++) {
		struct bytes packed = p == 2 ? (struct bytes){ malloc(8000), 8000 }
					     : packers[p](text.at, text.size);

		if (p == 2) { /* ZSTD_compress writes no checksum of its own accord */
			ZSTD_CCtx *context = ZSTD_createCCtx();

			ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
			packed.size = ZSTD_compress2(context, packed.at, 8000, text.at, text.size);
			ZSTD_freeCCtx(context);
		}
		for (size_t i = 6; i < packed.size; i++) {
			struct bytes bad = pack_plain(packed.at, packed.size);
			struct lode_error error;
			struct lode_input *input;
			struct bytes got;

			bad.at[i] ^= (unsigned char)(1u << random_number() % 8);
			input = open_memory(bad);
			got = drain(input, &error);
			refused += !got.at;
			if (got.at) {
				assert_int_equal(got.size, text.size);
				assert_memory_equal(got.at, text.at, text.size);
			}
			free(got.at);
			lode_input_close(input);
			free(bad.at);
		}
		free(packed.at);
	}
	free(text.at);
	assert_true(refused > 1000);
}

static void a_bomb_is_refused_and_a_small_file_is_not_however_well_it_packs(void **state)
{
	size_t size = LODE_INPUT_BOMB_BYTES / 2;
	unsigned char *zeros = calloc(1, size);
	struct bytes one = pack_zstd(zeros, size), bomb = { malloc(1), 0 };
	struct lode_input *input;
	char digest[33];

	(void)state;
	assert_true(one.size < size / LODE_INPUT_BOMB_RATIO);
	for (int i = 0; i < 2; i++)
		bomb = join(bomb, pack_plain(one.at, one.size));
	input = open_memory(bomb);
	assert_int_equal(lode_input_digest(input, digest, NULL), 0);
	lode_input_close(input);
	bomb = join(bomb, pack_plain(one.at, one.size));
	assert_refused(bomb, "unpacks to more than 500 times its size");
	free(bomb.at);
	free(one.at);
	free(zeros);
}

static void a_file_that_needs_much_memory_to_unpack_is_refused(void **state)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	unsigned char text[100] = "some text", out[1000];
	ZSTD_inBuffer in = { text, sizeof(text), 0 };
	ZSTD_outBuffer room = { out, sizeof(out), 0 };

	(void)state;
	ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 28);
	while (ZSTD_compressStream2(context, &room, &in, in.pos < in.size ? ZSTD_e_flush : ZSTD_e_end))
		;
	ZSTD_compressStream2(context, &room, &in, ZSTD_e_end);
	ZSTD_freeCCtx(context);
	assert_refused((struct bytes){ out, room.pos }, "128 MiB");
}

static void pipes_and_files_give_the_same_as_memory(void **state)
{
	(void)state;
	for (int round = 0; round < 40; round++) {
		struct bytes text = random_text(random_number() % (round % 4 ? 20 : 2000000));
		struct bytes packed = packers[round % 4](text.at, text.size);
		struct pipe_input piped;
		struct lode_error error = { "" };
		struct lode_input *input;
		struct bytes got;
		char *path = write_file(packed);

		open_pipe(&piped, packed);
		got = drain(piped.input, &error);
		close_pipe(&piped);
		assert_int_equal(got.size, text.size);
		assert_memory_equal(got.at, text.at, text.size);
		free(got.at);
		assert_int_equal(lode_input_open(&input, path, &error), 0);
		assert_string_equal(lode_input_name(input), path);
		got = drain(input, &error);
		assert_int_equal(got.size, text.size);
		assert_memory_equal(got.at, text.at, text.size);
		free(got.at);
		lode_input_close(input);
		unlink(path);
		free(path);
		free(packed.at);
		free(text.at);
	}
}

static void standard_input_that_is_a_file_is_mapped_from_where_it_stands(void **state)
{
	char *path = write_file((struct bytes){ (unsigned char *)(uintptr_t) "0123456789", 10 });
	int old = dup(0), fd = open(path, 0);
	struct lode_input *input;
	const unsigned char *bytes;
	size_t size;

	(void)state;
	dup2(fd, 0);
	lseek(0, 4, SEEK_SET);
	assert_int_equal(lode_input_open(&input, "-", NULL), 0);
	assert_string_equal(lode_input_name(input), "standard input");
	assert_true(lode_input_is_whole(input));
	assert_int_equal(lode_input_whole(input, &bytes, &size, NULL), 0);
	assert_int_equal(size, 6);
	assert_memory_equal(bytes, "456789", 6);
	lode_input_close(input);
	dup2(old, 0);
	close(old);
	close(fd);
	unlink(path);
	free(path);
}

static void the_digest_names_the_content_and_not_its_packing(void **state)
{
	(void)state;
	for (int round = 0; round < 6; round++) {
		/* Small, window-sized, and large enough for the background thread. */
		struct bytes text = random_text(round % 3 == 0 ? 100 : round % 3 == 1 ? 700000 : (8u << 20) + 17);
		char digests[4][33], other[33];

		for (size_t p = 0; p < 4; p++) {
			struct bytes packed = packers[p](text.at, text.size);
			struct lode_input *input = open_memory(packed);
			const unsigned char *bytes;
			size_t size;

			if (round % 2) /* some of it is read before */
				lode_input_peek(input, 50, &bytes, &size, NULL), lode_input_skip(input, 50);
			else if (round == 2)
				lode_input_whole(input, &bytes, &size, NULL);
			assert_int_equal(lode_input_digest(input, digests[p], NULL), 0);
			assert_string_equal(digests[p], digests[0]);
			lode_input_close(input);
			free(packed.at);
		}
		assert_int_equal(strlen(digests[0]), 32);
		text.at[text.size / 2] ^= 1;
		{
			struct lode_input *input = open_memory(text);

			assert_int_equal(lode_input_digest(input, other, NULL), 0);
			assert_string_not_equal(other, digests[0]);
			lode_input_close(input);
		}
		free(text.at);
	}
}

static void closing_does_not_wait_for_the_digest(void **state)
{
	struct bytes text = random_text(9u << 20);

	(void)state;
	lode_input_close(open_memory(text));
	free(text.at);
}

static void the_whole_is_one_piece_and_spooled_when_it_is_large(void **state)
{
	(void)state;
	for (int round = 0; round < 12; round++) {
		struct bytes text =
			random_text(round < 8 ? random_number() % 5000 : 600000 + random_number() % 900000);
		struct bytes packed = packers[round % 4](text.at, text.size);
		struct pipe_input piped;
		const unsigned char *bytes, *again;
		size_t size;
		char digest[33];

		open_pipe(&piped, packed);
		assert_int_equal(lode_input_whole(piped.input, &bytes, &size, NULL), 0);
		assert_int_equal(size, text.size);
		assert_memory_equal(bytes, text.at, size);
		assert_true(lode_input_is_whole(piped.input));
		assert_int_equal(lode_input_digest(piped.input, digest, NULL), 0);
		assert_int_equal(lode_input_peek(piped.input, 10, &again, &size, NULL), 0);
		assert_int_equal(size, text.size);
		assert_memory_equal(again, text.at, size);
		close_pipe(&piped);
		free(packed.at);
		free(text.at);
	}
}

static void pages_that_are_given_back_can_be_read_again(void **state)
{
	(void)state;
	for (size_t round = 0; round < 8; round++) {
		/* in the window, and spooled */
		struct bytes text = random_text(round < 4 ? 100000 : 700000);
		struct bytes packed = packers[round % 4](text.at, text.size);
		char *path = write_file(packed);
		struct lode_input *input;
		const unsigned char *bytes;
		size_t size;

		assert_int_equal(lode_input_open(&input, path, NULL), 0);
		assert_int_equal(lode_input_whole(input, &bytes, &size, NULL), 0);
		lode_input_give_back(input, bytes, size);
		assert_int_equal(size, text.size);
		assert_memory_equal(bytes, text.at, size);
		lode_input_close(input);
		unlink(path);
		free(path);
		free(packed.at);
		free(text.at);
	}
}

static void the_whole_cannot_be_had_once_a_part_is_gone(void **state)
{
	struct bytes packed = pack_gzip("hello", 5);
	struct lode_input *input = open_memory(packed);
	const unsigned char *bytes;
	size_t size;

	(void)state;
	lode_input_peek(input, 1, &bytes, &size, NULL);
	lode_input_skip(input, 1);
	assert_int_equal(lode_input_whole(input, &bytes, &size, NULL), LODE_SYSTEM);
	lode_input_close(input);
	free(packed.at);
}

static void a_length_that_lies_costs_no_memory(void **state)
{
	struct bytes packed = pack_gzip("hello", 5);
	struct lode_input *input = open_memory(packed);
	const unsigned char *bytes;
	size_t size;

	(void)state;
	assert_int_equal(lode_input_peek(input, SIZE_MAX, &bytes, &size, NULL), 0);
	assert_int_equal(size, 5);
	lode_input_close(input);
	free(packed.at);
}

/* The oracle: cut at each \n, drop one \r before it. */
static void check_lines(struct bytes text, struct lode_input *input)
{
	const char *at = (const char *)text.at, *end = at + text.size, *line;
	uint64_t number = 0;
	size_t length;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t expected = (size_t)((newline ? newline : end) - at);

		if (newline && expected && at[expected - 1] == '\r')
			expected--;
		assert_int_equal(lode_input_line(input, 100000, &line, &length, NULL), 1);
		assert_int_equal(lode_input_line_number(input), ++number);
		assert_int_equal(length, expected);
		assert_memory_equal(line, at, length);
		at = newline ? newline + 1 : end;
	}
	assert_int_equal(lode_input_line(input, 100000, &line, &length, NULL), 0);
	assert_int_equal(lode_input_line(input, 100000, &line, &length, NULL), 0);
}

static void lines_are_cut_where_a_naive_reader_cuts_them(void **state)
{
	(void)state;
	for (int round = 0; round < 400; round++) {
		struct bytes text = random_text(random_number() % (round % 20 ? 300 : 900000));
		struct bytes packed = packers[round % 4](text.at, text.size);
		struct lode_input *input = open_memory(packed);

		check_lines(text, input);
		lode_input_close(input);
		free(packed.at);
		free(text.at);
	}
}

static void a_line_may_be_as_long_as_the_limit_and_no_longer(void **state)
{
	(void)state;
	for (size_t p = 0; p < 4; p++) {
		for (int kind = 0; kind < 6; kind++) {
			size_t size = 700000, limit = kind >= 3 ? size - 1 : size;
			char *text = malloc(size + 2);
			const char *end = kind % 3 == 0 ? "" : kind % 3 == 1 ? "\n" : "\r\n", *line;
			struct bytes packed;
			struct lode_input *input;
			struct lode_error error = { "" };
			size_t length;

			memset(text, 'a', size);
			memcpy(text + size, end, strlen(end));
			packed = packers[p](text, size + strlen(end));
			input = open_memory(packed);
			if (kind < 3) {
				assert_int_equal(lode_input_line(input, limit, &line, &length, &error), 1);
				assert_int_equal(length, size);
			} else {
				assert_int_equal(lode_input_line(input, limit, &line, &length, &error),
						 LODE_BAD_INPUT);
				assert_non_null(strstr(error.text, "x:1: "));
			}
			lode_input_close(input);
			free(packed.at);
			free(text);
		}
	}
}

static void progress_ends_at_the_size_of_the_packed_file(void **state)
{
	struct bytes text = random_text(1000000);

	(void)state;
	for (size_t p = 0; p < 4; p++) {
		struct bytes packed = packers[p](text.at, text.size);
		struct lode_input *input = open_memory(packed);
		uint64_t done, total;

		lode_input_progress(input, &done, &total);
		assert_int_equal(done, 0);
		assert_int_equal(total, packed.size);
		free(drain(input, NULL).at);
		lode_input_progress(input, &done, &total);
		assert_int_equal(done, packed.size);
		lode_input_close(input);
		free(packed.at);
	}
	free(text.at);
}

static void folders_and_missing_files_are_errors_that_name_them(void **state)
{
	struct lode_error error;
	struct lode_input *input;

	(void)state;
	assert_int_equal(lode_input_open(&input, "/tmp", &error), LODE_BAD_INPUT);
	assert_non_null(strstr(error.text, "/tmp: is a folder"));
	assert_null(input);
	assert_int_equal(lode_input_open(&input, "/no/such/file", &error), LODE_SYSTEM);
	assert_non_null(strstr(error.text, "/no/such/file"));
}

static void files_without_a_size_are_read_to_their_end(void **state)
{
	struct lode_input *input;
	struct bytes got;

	(void)state;
	assert_int_equal(lode_input_open(&input, "/proc/self/maps", NULL), 0);
	got = drain(input, NULL);
	assert_true(got.size > 1000);
	free(got.at);
	lode_input_close(input);
}

/* Runs through `packed` in all ways; 0 or the first code that was negative. */
static int use_all(const char *path)
{
	struct lode_error error = { "" };
	struct lode_input *input = NULL;
	const unsigned char *bytes;
	size_t size;
	char digest[33];
	int code = lode_input_open(&input, path, &error);

	if (code == 0)
		code = lode_input_whole(input, &bytes, &size, &error);
	if (code == 0)
		code = lode_input_digest(input, digest, &error);
	lode_input_close(input);
	assert_true(code == 0 || error.text[0]);
	return code;
}

static void every_allocation_and_every_file_operation_may_fail(void **state)
{
	struct bytes text = random_text(900000);

	(void)state;
	for (size_t p = 0; p < 4; p++) {
		struct bytes packed = packers[p](text.at, text.size);
		char *path = write_file(packed);

		for (int for_good = 0; for_good < 2; for_good++) {
			uint64_t nth = 0, failures = 0;

			do {
				lode_memory_fail_at(++nth, for_good);
				failures += use_all(path) == LODE_SYSTEM;
			} while (lode_memory_asked() >= nth);
			lode_memory_fail_at(0, 0);
			assert_true(failures >= 2);
			nth = 0;
			do {
				nth++;
				lode_file_fail_at(nth, for_good, nth % 2 ? EIO : ENOSPC);
				use_all(path);
			} while (lode_file_asked() >= nth);
			nth = 0;
			do { /* short writes are no failure */
				lode_file_fail_at(++nth, for_good, 0);
				assert_int_equal(use_all(path), 0);
			} while (lode_file_asked() >= nth);
			lode_file_fail_at(0, 0, 0);
		}
		unlink(path);
		free(path);
		free(packed.at);
	}
	free(text.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(content_comes_out_as_it_was_however_it_was_packed),
		cmocka_unit_test(members_frames_and_streams_that_follow_one_another_are_one_content),
		cmocka_unit_test(skippable_zstd_frames_are_skipped_wherever_they_stand),
		cmocka_unit_test(zeros_may_pad_a_gzip_file_but_nothing_else_may_follow),
		cmocka_unit_test(what_was_cut_off_is_refused_at_every_length),
		cmocka_unit_test(damage_never_yields_other_content),
		cmocka_unit_test(a_bomb_is_refused_and_a_small_file_is_not_however_well_it_packs),
		cmocka_unit_test(a_file_that_needs_much_memory_to_unpack_is_refused),
		cmocka_unit_test(pipes_and_files_give_the_same_as_memory),
		cmocka_unit_test(standard_input_that_is_a_file_is_mapped_from_where_it_stands),
		cmocka_unit_test(the_digest_names_the_content_and_not_its_packing),
		cmocka_unit_test(closing_does_not_wait_for_the_digest),
		cmocka_unit_test(the_whole_is_one_piece_and_spooled_when_it_is_large),
		cmocka_unit_test(pages_that_are_given_back_can_be_read_again),
		cmocka_unit_test(the_whole_cannot_be_had_once_a_part_is_gone),
		cmocka_unit_test(a_length_that_lies_costs_no_memory),
		cmocka_unit_test(lines_are_cut_where_a_naive_reader_cuts_them),
		cmocka_unit_test(a_line_may_be_as_long_as_the_limit_and_no_longer),
		cmocka_unit_test(progress_ends_at_the_size_of_the_packed_file),
		cmocka_unit_test(folders_and_missing_files_are_errors_that_name_them),
		cmocka_unit_test(files_without_a_size_are_read_to_their_end),
		cmocka_unit_test(every_allocation_and_every_file_operation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
