/*
 * Zip bombs: small files that unpack to gigabytes, and packed lines without an
 * end. They are refused early, in bounded time and memory.
 */
#include "bounded.h"
#include "fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE  (16u << 20)
#define PIECES 132 /* a little more than 2 GiB in total */
#define LINE   5   /* pieces of a line that is longer than any may be */

static struct place place;

static int set_up(void **state)
{
	(void)state;
	place_make(&place);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	place_remove(&place);
	return 0;
}

static unsigned char *make_piece(const char *line)
{
	unsigned char *bytes = malloc(PIECE);
	size_t length = strlen(line);

	assert_non_null(bytes);
	for (size_t at = 0; at < PIECE; at++)
		bytes[at] = (unsigned char)line[at % length];
	return bytes;
}

/* Packed pieces that follow one another are one content. */
static void write_pieces(const char *path, const void *packed, size_t size, int count)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	for (int i = 0; i < count; i++)
		assert_int_equal(fwrite(packed, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static size_t pack_gzip(const void *bytes, size_t size, int strategy, unsigned char *packed, size_t room)
{
	z_stream stream = { 0 };

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, strategy), Z_OK);
	stream.next_in = (unsigned char *)(uintptr_t)bytes;
	stream.avail_in = (unsigned)size;
	stream.next_out = packed;
	stream.avail_out = (unsigned)room;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return room - stream.avail_out;
}

static void write_gzip_bomb(const char *path, const char *line)
{
	unsigned char *bytes = make_piece(line), *packed = malloc(PIECE);

	assert_non_null(packed);
	write_pieces(path, packed, pack_gzip(bytes, PIECE, Z_DEFAULT_STRATEGY, packed, PIECE), PIECES);
	free(bytes);
	free(packed);
}

static void write_zstd_bomb(const char *path, const char *line)
{
	unsigned char *bytes = make_piece(line), *packed = malloc(PIECE);
	size_t size = packed ? ZSTD_compress(packed, PIECE, bytes, PIECE, 19) : 0;

	assert_true(size && !ZSTD_isError(size));
	write_pieces(path, packed, size, PIECES);
	free(bytes);
	free(packed);
}

static int import_folded(const char *path, struct lode_error *error)
{
	return import_file(path, "folded", place.corpus, error);
}

static int import_any(const char *path, struct lode_error *error)
{
	return import_file(path, NULL, place.corpus, error);
}

/* As lode import reads: all of it first, into a temporary file. */
static int read_whole_input(const char *path, struct lode_error *error)
{
	const unsigned char *bytes;
	struct lode_input *input;
	size_t size;
	int code = lode_input_open(&input, path, error);

	if (code < 0)
		return code;
	code = lode_input_whole(input, &bytes, &size, error);
	lode_input_close(input);
	return code;
}

static void a_gzip_bomb_is_refused(void **state)
{
	(void)state;
	write_gzip_bomb(place.file, "a;b 1\n");
	require_bounded(import_folded, place.file, LODE_BAD_INPUT, "times its size", 60, 512);
	setenv("TMPDIR", "/var/tmp", 1);
	require_bounded(read_whole_input, place.file, LODE_BAD_INPUT, "times its size", 60, 512);
}

static void a_zstd_bomb_is_refused(void **state)
{
	(void)state;
	write_zstd_bomb(place.file, "a;b 1\n");
	require_bounded(import_folded, place.file, LODE_BAD_INPUT, "times its size", 60, 512);
}

/* Packed badly on purpose, so that it is the length of the line that shows. */
static void a_packed_line_without_an_end_is_refused(void **state)
{
	unsigned char *bytes = make_piece("x"), *packed = malloc(PIECE);

	(void)state;
	assert_non_null(packed);
	write_pieces(place.file, packed, pack_gzip(bytes, PIECE, Z_HUFFMAN_ONLY, packed, PIECE), LINE);
	free(bytes);
	free(packed);
	require_bounded(import_folded, place.file, LODE_BAD_INPUT, "line is longer", 60, 512);
}

/* Only the outer layer is unpacked: what comes out is no format. */
static void a_bomb_in_a_bomb_is_refused(void **state)
{
	unsigned char *bytes, *packed = malloc(PIECE);
	size_t size;

	(void)state;
	assert_non_null(packed);
	write_gzip_bomb(place.other, "a;b 1\n");
	bytes = read_whole(place.other, &size);
	size = pack_gzip(bytes, size, Z_DEFAULT_STRATEGY, packed, PIECE);
	write_whole(place.file, packed, size);
	free(bytes);
	free(packed);
	require_bounded(import_any, place.file, LODE_BAD_INPUT, "format", 60, 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_gzip_bomb_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_zstd_bomb_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_packed_line_without_an_end_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_bomb_in_a_bomb_is_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
