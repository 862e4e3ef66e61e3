/*
 * What the fault tests share: jobs that are run with each allocation, each file
 * operation and each request of SQLite failing in turn.
 *
 * A job is run once to count what it asks for, then again with the n-th request
 * failing, for every n (all of the first, then in steps when there are many),
 * once with only that request failing and once with all behind it failing too.
 * It must end with its right result or with a negative code and a sentence, and
 * `check` looks, with nothing failing any more, at what it left behind.
 */
#ifndef LODE_TESTS_FAULT_H
#define LODE_TESTS_FAULT_H

#include "cmocka_all.h"

#include "base/error.h"
#include "import/import.h"
#include "store/corpus.h"

/* A folder of its own for each run, in memory where the system has such a place. */
struct place {
	char folder[64];
	char corpus[96];
	char file[96];
	char other[96];
};

struct fault_job {
	/* Lays out the folder; nothing fails. May be NULL. */
	void (*prepare)(struct place *place);
	int (*run)(struct place *place, struct lode_error *error);
	/* What must hold after a run that returned `code`; nothing fails. May be NULL. */
	void (*check)(struct place *place, int code);
	/* About so many places to fail are tried beyond the first, all of which are; 0: 150. */
	unsigned most;
};

void place_make(struct place *place);
void place_remove(struct place *place);

void fail_every_allocation(const struct fault_job *job);
/* With EIO, with ENOSPC, and with reads and writes cut short. */
void fail_every_file_operation(const struct fault_job *job);
/* Writes, syncs, truncations, deletions and openings of SQLite's files, and its memory. */
void fail_every_request_of_sqlite(const struct fault_job *job);

/* ---- files ---- */

/* A seed of the fuzz targets: "events/plain"; valid until the next call. */
const char *seed_path(const char *name);
void copy_file(const char *from, const char *to);
void copy_folder(const char *from, const char *to);
unsigned char *read_whole(const char *path, size_t *size);
void write_whole(const char *path, const void *bytes, size_t size);

/* ---- streams ---- */

/* A stream and its dictionary, together. */
struct whole {
	struct lode_dictionary dictionary;
	struct lode_stream stream;
};

/* Returns 0 or LODE_SYSTEM. */
int whole_init(struct whole *whole);
void whole_release(struct whole *whole);
/* A random stream, the same for the same number. Nothing may be failing. */
void whole_make(struct whole *whole, uint64_t number);

/* ---- corpora ---- */

/* The id under which stream `number` is stored. */
const char *id_of(unsigned number);
/* Reads the file and adds its streams to the corpus, as lode import does. */
int import_file(const char *path, const char *format, const char *corpus, struct lode_error *error);
/* Nothing is damaged or missing; there may be leftovers of what was cut off. */
void require_sound_corpus(const char *path);
/* Stream `id` is there and is that of whole_make(number). */
void require_stream(const char *corpus, const char *id, uint64_t number);
size_t count_streams(const char *corpus);

#endif
