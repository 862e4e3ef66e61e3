/*
 * Input: a file of unknown origin, or standard input, as a sequence of bytes.
 * gzip, zstd and xz are unpacked on the way, recognised by their first bytes.
 *
 * A plain file is mapped, so peeking costs no copy; anything else goes through
 * a window of bounded size. What unpacks to more than LODE_INPUT_BOMB_BYTES and
 * to more than LODE_INPUT_BOMB_RATIO times its packed size is refused.
 */
#ifndef LODE_BASE_INPUT_H
#define LODE_BASE_INPUT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Events take several times the memory of their text, so a bomb must be seen long before it fills it. */
#define LODE_INPUT_BOMB_BYTES (32ull << 20)
#define LODE_INPUT_BOMB_RATIO 500

struct lode_input;

/* `path` may be "-". On success `*input` is the caller's, to be closed. */
int lode_input_open(struct lode_input **input, const char *path, struct lode_error *error);
/* The same for a file that nobody named, such as one of a corpus: it must be a plain one (lode_file_open_plain, with `flags`). */
int lode_input_open_plain(struct lode_input **input, const char *path, int flags, struct lode_error *error);
/* The same over bytes in memory, which must outlive it (fuzzing, tests). */
int lode_input_memory(struct lode_input **input, const char *name, const void *bytes, size_t size,
		      struct lode_error *error);
/*
 * The same over lines of another input, for lode_input_line: never unpacked, and
 * counted on behind the first `before` lines.
 */
int lode_input_lines(struct lode_input **input, const char *name, const void *bytes, size_t size, uint64_t before,
		     struct lode_error *error);
void lode_input_close(struct lode_input *input);

/* The name to use in messages: the path, or "standard input". */
const char *lode_input_name(const struct lode_input *input);

/*
 * Makes at least `wanted` bytes visible (fewer at the end of input) and says
 * where and how many they are; may show more. Valid until the next call.
 * Returns 0 or a negative code.
 */
int lode_input_peek(struct lode_input *input, size_t wanted, const unsigned char **bytes, size_t *size,
		    struct lode_error *error);
/* Steps over bytes that were peeked. */
void lode_input_skip(struct lode_input *input, size_t size);
/*
 * Gives the pages of bytes back that were skipped before they were read, as by
 * another thread; they stay readable. Any thread may call it.
 */
void lode_input_give_back(const struct lode_input *input, const void *bytes, size_t size);
/*
 * The next line without its line end (\n or \r\n), and steps over it. Returns 1,
 * 0 at the end of input, or a negative code: a line longer than `limit` bytes is
 * LODE_BAD_INPUT.
 */
int lode_input_line(struct lode_input *input, size_t limit, const char **line, size_t *length,
		    struct lode_error *error);
/* Whether the line that lode_input_line returned last had its line end; without one, it may be cut off. */
int lode_input_line_ended(const struct lode_input *input);
/* Number of the line that lode_input_line returned last, from 1. */
uint64_t lode_input_line_number(const struct lode_input *input);
/*
 * All of the input, from its first byte, as one piece; only before anything was
 * skipped. What is not a plain file is spooled into an unlinked temporary file
 * in $TMPDIR, never into memory, as long as a twentieth of that disk stays free.
 */
int lode_input_whole(struct lode_input *input, const unsigned char **bytes, size_t *size, struct lode_error *error);
/*
 * Whether all of it is in memory or in a mapping already: then what was peeked
 * stays valid until the input is closed, and lode_input_whole costs nothing.
 */
int lode_input_is_whole(const struct lode_input *input);
/* Bytes of the packed file taken so far, and in all (0 when unknown), for progress. */
void lode_input_progress(const struct lode_input *input, uint64_t *done, uint64_t *total);
/*
 * 128 bits that name the unpacked content, as 32 hexadecimal digits and a NUL.
 * Reads the rest of the input first. The same content gives the same digest
 * regardless of its compression.
 */
int lode_input_digest(struct lode_input *input, char digest[33], struct lode_error *error);

#endif
