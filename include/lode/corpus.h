/*
 * Corpora: folders of streams with a catalogue, made by `lode import`, `lode record` or
 * liblode_import. A handle may be used by one thread at a time; several handles of one corpus may be open.
 */
#ifndef LIBLODE_CORPUS_H
#define LIBLODE_CORPUS_H

#include <lode/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum liblode_event_type {
	LIBLODE_RUN,  /* a CPU sample */
	LIBLODE_WAIT, /* blocked (off-CPU), with its waker where known */
	LIBLODE_CALL, /* a system event with a stack and without a cost */
	LIBLODE_EVENT_TYPES,
};

struct liblode_corpus;

/* What the catalogue says of a stream. Texts live until the corpus is closed or refreshed. */
struct liblode_stream_info {
	size_t size; /* sizeof(struct liblode_stream_info), set by the caller; later versions add fields at the end */
	const char *id; /* 32 hexadecimal digits */
	const char *name;
	const char *host;   /* "" when unknown */
	const char *source; /* what it was imported from, or what was recorded */
	const char *path;   /* of its file */
	uint64_t events[LIBLODE_EVENT_TYPES];
	uint64_t cost_ns[LIBLODE_EVENT_TYPES];
	uint64_t first_t; /* ns: earliest start and latest end */
	uint64_t last_t;
	uint64_t threads;
	uint64_t stacks;
	uint64_t symptoms;
	uint64_t file_bytes;
	uint64_t added_s; /* seconds since 1970, UTC */
};

/* Opens a corpus and lists its streams. */
LIBLODE_API int liblode_corpus_open(struct liblode_corpus **corpus, const char *path, struct liblode_error *error);
LIBLODE_API void liblode_corpus_close(struct liblode_corpus *corpus); /* NULL is fine */
LIBLODE_API const char *liblode_corpus_path(const struct liblode_corpus *corpus);
/* Lists the streams again, to see what others added or removed. */
LIBLODE_API int liblode_corpus_refresh(struct liblode_corpus *corpus, struct liblode_error *error);
/* Number of streams, ordered by name, then by id. */
LIBLODE_API size_t liblode_corpus_count(const struct liblode_corpus *corpus);
/* Fills `info` for stream `i`. */
LIBLODE_API int liblode_corpus_stream(const struct liblode_corpus *corpus, size_t i,
				      struct liblode_stream_info *info, struct liblode_error *error);

#ifdef __cplusplus
}
#endif
#endif
