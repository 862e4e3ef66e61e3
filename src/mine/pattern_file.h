/*
 * Pattern file: patterns, clusters and signatures as text that people read,
 * review and keep under version control. A frame a line, root first, indented;
 * what belongs to it comes before:
 *
 *	signature short names in hash
 *	bug https://bugs.example/123
 *	state open
 *	since 2026-02-01T12:00:00Z
 *	kind wait
 *	made 2026-01-31T12:00:00Z
 *	note 2026-02-03: only where the antivirus scans the folder
 *	pattern
 *		app!main
 *		app!GetHashCode
 *	pattern
 *		…
 *
 * `#` begins a comment line; blank lines mean nothing. Backslash, control
 * characters, a blank at either end of a frame and a leading `#` are written as
 * \\, \n, \t, \xHH. A file that holds only frames separated by blank lines is a
 * list of patterns, too. docs/man/lode-patterns.5 describes all of it.
 */
#ifndef LODE_MINE_PATTERN_FILE_H
#define LODE_MINE_PATTERN_FILE_H

#include "base/buffer.h"
#include "mine/miner.h"
#include "trace/frames.h"

/* Bytes of a line, escapes included. A stored frame, escaped, is never as long. */
#define LODE_PATTERN_LINE_LIMIT (256u << 20)

/* A group of patterns with what is said of it. Texts live in the file's arena; NULL: not said. */
struct lode_pattern_group {
	const char *type; /* "signature", "cluster", or "" for bare patterns, which are the file's first group */
	const char *name; /* what follows it */
	const char *bug;
	const char *state; /* "open", "fixed", "ignored" */
	const char *kind;  /* "run", "wait"; NULL: either */
	const char *since; /* when it came into its state: UTC, as 2026-01-31T12:00:00Z */
	const char *made;  /* the same */
	const char *note;  /* its last one */
	size_t first_note; /* of its notes in `notes` */
	size_t note_count;
	size_t first;    /* of its patterns in `patterns` */
	size_t count;    /* at least 1 */
	unsigned line;   /* where it begins */
	unsigned unused; /* 0 */
	size_t start;    /* its bytes in the text, from its first line */
	size_t end;      /* to behind its last frame's line; comments behind that belong to what follows */
};

struct lode_pattern_file {
	struct lode_pattern_group *groups;
	size_t count;
	size_t capacity;
	const char **notes; /* what people wrote about groups, the newest last */
	size_t note_count;
	size_t note_capacity;
	struct lode_patterns patterns; /* frames of the caller's lode_frames; cost 0 */
	struct lode_arena arena;
};

/*
 * Reads `size` bytes; `name` is for messages, which say line and what to do.
 * Frames are added to `frames`. `file` need not be set before; on failure it is
 * released already.
 */
int lode_pattern_file_parse(struct lode_pattern_file *file, const char *name, const char *text, size_t size,
			    struct lode_frames *frames, struct lode_error *error);
/* The same from a file, which may be packed; `-` is standard input. */
int lode_pattern_file_read(struct lode_pattern_file *file, const char *path, struct lode_frames *frames,
			   struct lode_error *error);
/* The same for a file that belongs to a corpus and must be a plain one, no link. */
int lode_pattern_file_read_own(struct lode_pattern_file *file, const char *path, struct lode_frames *frames,
			       struct lode_error *error);
void lode_pattern_file_release(struct lode_pattern_file *file);
/* For editing such a file: appends a line `keyword VALUE`, and one pattern with its frames. */
void lode_pattern_line_write(const char *keyword, const char *value, struct lode_buffer *buffer);
void lode_pattern_write(const struct lode_patterns *patterns, size_t i, const struct lode_frames *frames,
			struct lode_buffer *buffer);

#endif
