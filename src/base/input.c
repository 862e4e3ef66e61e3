/*
 * Input: see input.h.
 *
 * Two sides. The packed side is a sequence of bytes that are in memory all at once (a
 * mapped file, a caller's memory) or come through `packed_buffer` from a
 * descriptor. The unpacked side is what callers see: `bytes[start..end)`.
 *
 *	whole	the content needs no unpacking and is in memory: `bytes` is the
 *		packed side itself, and nothing is ever copied
 *	window	else `bytes` is `window`, which is filled by the unpacker and
 *		slides: what was skipped makes room at its end
 *
 * The window is grown when a peek asks for more than half of it, and a large one
 * when it asks for nearly all of it, so that sliding moves each byte only a few
 * times on average.
 *
 * The digest of a window is computed as it is filled. That of a large mapped
 * file is computed by a separate thread while the importer works; as it runs
 * ahead it also brings the pages in.
 */
#include "base/input.h"

#include "base/file.h"
#include "base/hex.h"
#include "base/memory.h"
#include "base/quiet_thread.h"
#include "base/scratch.h"
#include "base/decompress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define PACKED_BUFFER     (256u << 10)
#define WINDOW_FIRST      (512u << 10)
#define WINDOW_LARGE      (16u << 20)
#define BACKGROUND_DIGEST (8u << 20)
#define DIGEST_PIECE      (1u << 20)
#define GIVE_BACK_PIECE   (4u << 20)
#define FREE_SHARE        20 /* of a disk that is unpacked to, 1/FREE_SHARE stays free */

struct lode_input {
	char *name;
	int fd;              /* -1: none */
	int own_fd;          /* to be closed: not standard input */
	struct lode_map map; /* of the file, when it could be mapped */

	const unsigned char *packed; /* all of it, or what the buffer holds */
	size_t packed_next;
	size_t packed_size;
	unsigned char *packed_buffer;
	uint64_t packed_before; /* bytes that were in the buffer before */
	int packed_last;        /* nothing follows what is there */
	struct lode_unpacker *unpacker;
	uint64_t unpacked; /* bytes that came out of it */

	int whole;
	const unsigned char *bytes;
	size_t start;
	size_t end;
	int ended;         /* nothing follows bytes[end] */
	int skipped;       /* the first byte is gone */
	size_t given_back; /* bytes of `bytes` whose pages were given back */
	unsigned char *window;
	size_t capacity;
	struct lode_map spool;

	uint64_t line_number;
	int line_ended; /* the line returned last had a line end */

	XXH3_state_t *hash; /* of what passed through the window */
	pthread_t digester;
	int digester_runs;
	atomic_int digester_stops;
	XXH128_hash_t digest; /* what the digester found */
};

/* ---- pages ---- */

/*
 * What was read of a mapped file is given back piece by piece: a large file then
 * does not count as memory. It stays readable; a page that is read again is
 * mapped again. Bytes of a caller's memory, and unpacked ones in the window, are left
 * alone: their pages would come back as zeros.
 */
void lode_input_give_back(const struct lode_input *input, const void *bytes, size_t size)
{
	const struct lode_map *map = input->spool.bytes ? &input->spool : &input->map;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)bytes & ~(page - 1);
	uintptr_t end = ((uintptr_t)bytes + size) & ~(page - 1);
	uintptr_t first = (uintptr_t)map->bytes;

	if (first && start >= first && end <= first + map->size && end > start)
		madvise((void *)start, end - start, MADV_DONTNEED);
}

static void give_back(const struct lode_input *input, size_t *given, size_t until)
{
	if (until - *given < GIVE_BACK_PIECE)
		return;
	lode_input_give_back(input, input->bytes + *given, until - *given);
	*given = until;
}

/* ---- digest of content in memory ---- */

/*
 * Sees only `bytes` and `end`, which do not change once an input is whole. Piece
 * by piece, so that closing the input need not wait for the end of a large one.
 */
static void *digest_in_background(void *argument)
{
	struct lode_input *input = argument;
	size_t given = 0;

	for (size_t at = 0; at < input->end && !atomic_load(&input->digester_stops); at += DIGEST_PIECE) {
		size_t left = input->end - at;

		XXH3_128bits_update(input->hash, input->bytes + at, left < DIGEST_PIECE ? left : DIGEST_PIECE);
		give_back(input, &given, at);
	}
	input->digest = XXH3_128bits_digest(input->hash);
	return NULL;
}

/* ---- opening ---- */

static int start_hash(struct lode_input *input, struct lode_error *error)
{
	input->hash = XXH3_createState();
	if (!input->hash)
		return lode_fail_memory(error);
	XXH3_128bits_reset(input->hash);
	return 0;
}

/* Takes the next bytes from the descriptor into the packed buffer, behind what is left in it. */
static int fill_packed(struct lode_input *input, struct lode_error *error)
{
	size_t left = input->packed_size - input->packed_next;
	ssize_t got;

	if (!input->packed_buffer) {
		input->packed_buffer = lode_alloc(PACKED_BUFFER);
		if (!input->packed_buffer)
			return lode_fail_memory(error);
		input->packed = input->packed_buffer;
	}
	memmove(input->packed_buffer, input->packed_buffer + input->packed_next, left);
	input->packed_before += input->packed_next;
	input->packed_next = 0;
	input->packed_size = left;
	got = lode_file_read(input->fd, input->packed_buffer + left, PACKED_BUFFER - left, input->name, error);
	if (got < 0)
		return (int)got;
	input->packed_size += (size_t)got;
	input->packed_last = got == 0;
	return 0;
}

/* All of the content is in memory as it is. */
static void become_whole(struct lode_input *input, const unsigned char *bytes, size_t size)
{
	input->whole = 1;
	input->bytes = bytes;
	input->start = 0;
	input->end = size;
	input->ended = 1;
}

/* The digest is wanted of nearly every input in the end; a thread that does not start costs only time. */
static void start_digester(struct lode_input *input)
{
	if (input->end < BACKGROUND_DIGEST || start_hash(input, NULL) < 0)
		return;
	input->digester_runs = lode_quiet_thread(&input->digester, digest_in_background, input) == 0;
	if (!input->digester_runs) {
		XXH3_freeState(input->hash);
		input->hash = NULL;
	}
}

/* The packed side is ready: looks at its first bytes and prepares the unpacked side. */
static int prepare(struct lode_input *input, struct lode_error *error)
{
	enum lode_packing packing;

	while (!input->packed_last && input->packed_size < LODE_PACKING_BYTES) {
		int code = fill_packed(input, error);

		if (code < 0)
			return code;
	}
	packing = lode_packing_guess(input->packed, input->packed_size);
	if (packing == LODE_PACKING_NONE && input->packed_last) {
		become_whole(input, input->packed, input->packed_size);
		start_digester(input);
		return 0;
	}
	if (start_hash(input, error) < 0)
		return LODE_SYSTEM;
	return lode_unpacker_create(&input->unpacker, packing, input->name, error);
}

static struct lode_input *make_input(const char *name)
{
	struct lode_input *input = lode_calloc(1, sizeof(*input));

	if (!input)
		return NULL;
	input->fd = -1;
	input->name = lode_strdup(name);
	if (input->name)
		return input;
	lode_free(input);
	return NULL;
}

/* Ends an opening: the input goes to the caller, or away. */
static int hand_out(struct lode_input **result, struct lode_input *input, int code)
{
	if (code < 0) {
		lode_input_close(input);
		input = NULL;
	}
	*result = input;
	return code;
}

/*
 * Maps a plain file. What has no size (files of /proc) or cannot be mapped is
 * read like a pipe. Standard input may be anywhere in its file.
 */
static int map_or_read(struct lode_input *input, struct lode_error *error)
{
	struct stat status;
	off_t at;

	if (fstat(input->fd, &status) < 0)
		return lode_fail(error, LODE_SYSTEM, "%s: cannot be read: %s", input->name, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return lode_fail(error, LODE_BAD_INPUT, "%s: is a folder; name the files in it", input->name);
	if (!S_ISREG(status.st_mode) || status.st_size == 0)
		return 0;
	at = input->own_fd ? 0 : lseek(input->fd, 0, SEEK_CUR);
	if (at < 0 || lode_map_descriptor(&input->map, input->fd, input->name, NULL) < 0)
		return 0;
	if ((uint64_t)at > input->map.size)
		at = (off_t)input->map.size;
	madvise((void *)(uintptr_t)input->map.bytes, input->map.size, MADV_WILLNEED);
	input->packed = input->map.bytes + at;
	input->packed_size = input->map.size - (size_t)at;
	input->packed_last = 1;
	return 0;
}

/* `fd` may be an error's code. */
static int open_descriptor(struct lode_input **result, const char *name, int fd, int own, struct lode_error *error)
{
	struct lode_input *input = fd < 0 ? NULL : make_input(name);
	int code;

	*result = NULL;
	if (fd < 0)
		return fd;
	if (!input) {
		if (own)
			close(fd);
		return lode_fail_memory(error);
	}
	input->own_fd = own;
	input->fd = fd;
	code = map_or_read(input, error);
	if (code == 0)
		code = prepare(input, error);
	return hand_out(result, input, code);
}

int lode_input_open(struct lode_input **input, const char *path, struct lode_error *error)
{
	if (strcmp(path, "-") == 0)
		return open_descriptor(input, "standard input", STDIN_FILENO, 0, error);
	return open_descriptor(input, path, lode_file_open(path, O_RDONLY | O_NOCTTY, 0, error), 1, error);
}

int lode_input_open_plain(struct lode_input **input, const char *path, int flags, struct lode_error *error)
{
	return open_descriptor(input, path, lode_file_open_plain(path, O_RDONLY | flags, error), 1, error);
}

int lode_input_memory(struct lode_input **result, const char *name, const void *bytes, size_t size,
		      struct lode_error *error)
{
	struct lode_input *input = make_input(name);

	*result = NULL;
	if (!input)
		return lode_fail_memory(error);
	input->packed = size ? bytes : (const unsigned char *)"";
	input->packed_size = size;
	input->packed_last = 1;
	return hand_out(result, input, prepare(input, error));
}

int lode_input_lines(struct lode_input **result, const char *name, const void *bytes, size_t size, uint64_t before,
		     struct lode_error *error)
{
	struct lode_input *input = make_input(name);

	*result = input;
	if (!input)
		return lode_fail_memory(error);
	become_whole(input, size ? bytes : (const unsigned char *)"", size);
	input->line_number = before;
	return 0;
}

static void stop_digester(struct lode_input *input)
{
	if (!input->digester_runs)
		return;
	atomic_store(&input->digester_stops, 1);
	pthread_join(input->digester, NULL);
	input->digester_runs = 0;
}

void lode_input_close(struct lode_input *input)
{
	if (!input)
		return;
	stop_digester(input);
	XXH3_freeState(input->hash);
	lode_unpacker_destroy(input->unpacker);
	lode_map_close(&input->spool);
	lode_map_close(&input->map);
	if (input->own_fd && input->fd >= 0)
		lode_file_close(input->fd, input->name, NULL);
	lode_free(input->packed_buffer);
	lode_free(input->window);
	lode_free(input->name);
	lode_free(input);
}

const char *lode_input_name(const struct lode_input *input)
{
	return input->name;
}

/* ---- the window ---- */

static int refuse_bomb(const struct lode_input *input, struct lode_error *error)
{
	uint64_t packed = input->packed_before + input->packed_next;

	if (input->unpacked <= LODE_INPUT_BOMB_BYTES || input->unpacked / LODE_INPUT_BOMB_RATIO <= packed)
		return 0;
	return lode_fail(
		error, LODE_BAD_INPUT,
		"%s: unpacks to more than %u times its size, beyond %llu MiB; unpack it yourself if you trust it",
		input->name, LODE_INPUT_BOMB_RATIO, LODE_INPUT_BOMB_BYTES >> 20);
}

/* Unpacks into the room behind `end` until something came, or the end. */
static int fill_window(struct lode_input *input, struct lode_error *error)
{
	unsigned char *room = input->window + input->end;
	struct lode_unpack_step step = { 0 };
	int code = 1;

	step.out = room;
	step.out_left = input->capacity - input->end;
	while (code > 0 && step.out == room) {
		if (input->packed_next == input->packed_size && !input->packed_last) {
			code = fill_packed(input, error);
			if (code < 0)
				return code;
		}
		step.in = input->packed + input->packed_next;
		step.in_left = input->packed_size - input->packed_next;
		step.last = input->packed_last;
		code = lode_unpack(input->unpacker, &step, error);
		input->packed_next = input->packed_size - step.in_left;
	}
	if (code < 0)
		return code;
	XXH3_128bits_update(input->hash, room, (size_t)(step.out - room));
	input->end += (size_t)(step.out - room);
	input->unpacked += (uint64_t)(step.out - room);
	input->ended = code == 0;
	return refuse_bomb(input, error);
}

/* Makes sure that there is room for `wanted` bytes from `start` on, and some behind `end`. */
static int make_room(struct lode_input *input, size_t wanted, struct lode_error *error)
{
	size_t visible = input->end - input->start;
	size_t capacity = input->capacity ? input->capacity : WINDOW_FIRST;
	unsigned char *grown;

	if (input->capacity && input->start + wanted <= input->capacity && input->end < input->capacity)
		return 0;
	if (input->start)
		memmove(input->window, input->window + input->start, visible);
	input->start = 0;
	input->end = visible;
	while (capacity / 2 < wanted && capacity < WINDOW_LARGE)
		capacity *= 2;
	if (capacity - capacity / 8 < wanted && __builtin_add_overflow(wanted, wanted / 4, &capacity))
		return lode_fail_memory(error);
	if (capacity == input->capacity)
		return 0;
	grown = lode_realloc(input->window, capacity, 1);
	if (!grown)
		return lode_fail_memory(error);
	input->window = grown;
	input->capacity = capacity;
	input->bytes = grown;
	return 0;
}

int lode_input_peek(struct lode_input *input, size_t wanted, const unsigned char **bytes, size_t *size,
		    struct lode_error *error)
{
	while (!input->ended && input->end - input->start < wanted) {
		/* More than is there is requested step by step: a wrong length costs no memory. */
		size_t visible = input->end - input->start;
		size_t next = wanted > 2 * visible + WINDOW_FIRST / 2 ? 2 * visible + WINDOW_FIRST / 2 : wanted;
		int code = make_room(input, next, error);

		if (code == 0)
			code = fill_window(input, error);
		if (code < 0)
			return code;
	}
	*bytes = input->end > input->start ? input->bytes + input->start : (const unsigned char *)"";
	*size = input->end - input->start;
	return 0;
}

void lode_input_skip(struct lode_input *input, size_t size)
{
	size_t visible = input->end - input->start;

	input->skipped |= size != 0;
	input->start += size < visible ? size : visible;
	if (input->start - input->given_back >= GIVE_BACK_PIECE)
		give_back(input, &input->given_back, input->start);
}

/* ---- lines ---- */

static int fail_long_line(const struct lode_input *input, size_t limit, struct lode_error *error)
{
	return lode_fail(error, LODE_BAD_INPUT,
			 "%s:%llu: the line is longer than %zu bytes; this is not a text file", input->name,
			 (unsigned long long)input->line_number + 1, limit);
}

static void consume_line(struct lode_input *input, size_t length, size_t step, const char **line, size_t *result)
{
	const char *text = (const char *)input->bytes + input->start;

	input->line_ended = step > length;
	if (length && input->line_ended && text[length - 1] == '\r')
		length--;
	*line = text;
	*result = length;
	input->line_number++;
	lode_input_skip(input, step);
}

int lode_input_line(struct lode_input *input, size_t limit, const char **line, size_t *length,
		    struct lode_error *error)
{
	const unsigned char *bytes, *newline = NULL;
	size_t seen = 0, size = 0;

	for (;;) {
		int code = lode_input_peek(input, seen + 1, &bytes, &size, error);
		size_t reach = size < limit + 2 ? size : limit + 2; /* with \r and \n */

		if (code < 0)
			return code;
		newline = reach > seen ? memchr(bytes + seen, '\n', reach - seen) : NULL;
		if (newline || size == seen || reach < size)
			break;
		seen = size;
	}
	if (!newline && !size)
		return 0;
	size = newline ? (size_t)(newline - bytes) : size;
	if (size > limit && !(newline && size == limit + 1 && bytes[limit] == '\r'))
		return fail_long_line(input, limit, error);
	consume_line(input, size, newline ? size + 1 : size, line, length);
	return 1;
}

int lode_input_line_ended(const struct lode_input *input)
{
	return input->line_ended;
}

uint64_t lode_input_line_number(const struct lode_input *input)
{
	return input->line_number;
}

/* ---- the whole ---- */

int lode_input_is_whole(const struct lode_input *input)
{
	return input->whole;
}

/* Whether `size` more bytes may be written: what is unpacked must not fill the disk of others. */
static int check_room(const struct lode_input *input, int fd, size_t size, struct lode_error *error)
{
	struct statvfs disk;

	if (fstatvfs(fd, &disk) < 0 || disk.f_bavail >= disk.f_blocks / FREE_SHARE + size / disk.f_frsize)
		return 0;
	return lode_fail(
		error, LODE_SYSTEM,
		"%s: unpacks to more than %llu MB, and %s is nearly full; name a folder on a larger disk with "
		"TMPDIR, or unpack the file yourself",
		input->name, (unsigned long long)(input->unpacked / 1000000), lode_scratch_folder());
}

static int spool(struct lode_input *input, int fd, struct lode_error *error)
{
	const unsigned char *bytes;
	size_t size;

	for (;;) {
		int code = lode_input_peek(input, 1, &bytes, &size, error);

		if (code == 0)
			code = check_room(input, fd, size, error);
		if (code == 0 && size)
			code = lode_file_write(fd, bytes, size, lode_scratch_folder(), error);
		if (code < 0)
			return code;
		if (!size)
			return lode_map_descriptor(&input->spool, fd, lode_scratch_folder(), error);
		input->start = input->end;
	}
}

/* What fits into the first window needs no file. */
static int gather(struct lode_input *input, struct lode_error *error)
{
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_peek(input, WINDOW_FIRST / 2, &bytes, &size, error);
	int fd;

	if (code < 0)
		return code;
	if (input->ended) {
		become_whole(input, bytes, size);
		return 0;
	}
	fd = lode_scratch_open(error);
	if (fd < 0)
		return fd;
	code = spool(input, fd, error);
	close(fd);
	if (code == 0)
		become_whole(input, input->spool.bytes, input->spool.size);
	return code;
}

int lode_input_whole(struct lode_input *input, const unsigned char **bytes, size_t *size, struct lode_error *error)
{
	if (!input->whole) {
		int code;

		if (input->skipped)
			return lode_fail(error, LODE_SYSTEM,
					 "%s: part of it has been read already, so it cannot be read as a whole",
					 input->name);
		code = gather(input, error);
		if (code < 0)
			return code;
	}
	*bytes = input->end ? input->bytes : (const unsigned char *)"";
	*size = input->end;
	return 0;
}

/* ---- progress and digest ---- */

void lode_input_progress(const struct lode_input *input, uint64_t *done, uint64_t *total)
{
	int mapped = !input->packed_buffer;

	*total = mapped ? input->packed_size : 0;
	*done = input->whole && !input->unpacker ? input->start : input->packed_before + input->packed_next;
}

static void print_digest(XXH128_hash_t hash, char digest[33])
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, hash);
	lode_hex(digest, canonical.digest, sizeof(canonical.digest));
}

int lode_input_digest(struct lode_input *input, char digest[33], struct lode_error *error)
{
	const unsigned char *bytes;
	size_t size;

	if (input->digester_runs) {
		pthread_join(input->digester, NULL);
		input->digester_runs = 0;
	} else if (input->unpacker) {
		for (size = 1; size && !input->whole; lode_input_skip(input, size)) {
			int code = lode_input_peek(input, 1, &bytes, &size, error);

			if (code < 0)
				return code;
		}
		input->digest = XXH3_128bits_digest(input->hash);
	} else if (!input->hash) {
		input->digest = XXH3_128bits(input->bytes, input->end);
	}
	print_digest(input->digest, digest);
	return 0;
}
