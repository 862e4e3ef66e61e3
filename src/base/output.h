/*
 * Output: results on their way to standard output or to a file.
 *
 * What is written gathers in a buffer and leaves in pieces, so that memory does
 * not grow with the result. A file is written under a temporary name beside its
 * own and takes its place, complete and durable, when it is finished; until then
 * an existing file is untouched. Anything that is not a plain file (a device, a
 * pipe) is written directly.
 *
 * A pipe whose reader went away is an error like any other, and `closed_pipe`
 * is set; the program must ignore SIGPIPE to see it. One thread at a time.
 */
#ifndef LODE_BASE_OUTPUT_H
#define LODE_BASE_OUTPUT_H

#include "base/buffer.h"
#include "base/error.h"

#include <sys/types.h>

/* What gathers before it is written. */
#define LODE_OUTPUT_PIECE (256u << 10)

struct lode_output {
	struct lode_buffer buffer; /* add to it, then call lode_output_flow */
	char *path;                /* where it ends up, or what messages call it */
	char *temporary;           /* its name until it is finished; NULL: written straight */
	int fd;
	int owned; /* the descriptor is ours to close */
	int is_terminal;
	int closed_pipe;  /* the reader has gone; stays set after the end */
	int in_memory;    /* stays in the buffer */
	uint64_t written; /* bytes that left the buffer */
};

/*
 * Opens `path`; NULL and "-" mean standard output. Afterwards the caller ends
 * with lode_output_finish or lode_output_abandon.
 */
int lode_output_open(struct lode_output *output, const char *path, struct lode_error *error);
/*
 * The same for a file that belongs to a corpus, where others may have put something under its name: a link or a pipe is
 * replaced, and what it leads to is untouched.
 */
int lode_output_replace(struct lode_output *output, const char *path, struct lode_error *error);
/* The same over a descriptor, which stays the caller's and is called `name` in messages. */
int lode_output_descriptor(struct lode_output *output, int fd, const char *name, struct lode_error *error);
/* For results that are needed as a whole: all of it stays in the buffer. End with lode_output_abandon. */
void lode_output_memory(struct lode_output *output);
/* Writes all that is in the buffer; fails too when memory ran out while it was filled. */
int lode_output_flush(struct lode_output *output, struct lode_error *error);
/*
 * Writes the rest, puts a file in its place and releases everything. On failure
 * the temporary file is gone and an existing file at the path is as before.
 */
int lode_output_finish(struct lode_output *output, struct lode_error *error);
/* Gives up: removes the temporary file and releases everything. */
void lode_output_abandon(struct lode_output *output);

/* Writes when a piece is full; to be called after each small thing that was added. */
static inline int lode_output_flow(struct lode_output *output, struct lode_error *error)
{
	if (output->buffer.size < LODE_OUTPUT_PIECE && !output->buffer.failed)
		return 0;
	return lode_output_flush(output, error);
}

/*
 * Creates a file whose name begins with `prefix` and that was not there before.
 * Returns its descriptor, open for reading and writing, and the name in `*path`
 * (the caller's to free), or LODE_SYSTEM.
 */
int lode_output_unique(const char *prefix, mode_t mode, char **path, struct lode_error *error);

#endif
