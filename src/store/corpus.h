/*
 * Corpus: a folder of streams with a catalogue; the unit that commands work on.
 *
 *	CORPUS/catalogue.sqlite    streams, hosts, attributes, symptoms
 *	CORPUS/streams/ID.lode     one file per stream, ID = 32 hexadecimal digits
 *	CORPUS/signatures.txt      signatures, as people edit them
 *	CORPUS/mined.txt           the last result of mining
 *	CORPUS/cache/              results that can be made again (map_cache.h)
 *	CORPUS/symbols/            symbols of its programs by build-id, if it is a collector's (corpus_symbols.h)
 *
 * The catalogue is authoritative: a stream is visible when its row is committed,
 * and that happens after its file is complete, durable and in place. It can be
 * rebuilt from the stream files (lode fsck --repair).
 */
#ifndef LODE_STORE_CORPUS_H
#define LODE_STORE_CORPUS_H

#include "store/store.h"

/* Text files next to the catalogue, managed by src/mine/: what people edit, and the last result of mining. */
#define LODE_SIGNATURES_FILE "signatures.txt"
#define LODE_MINED_FILE      "mined.txt"

struct lode_corpus;
struct lode_catalogue;
struct lode_map_cache;
struct lode_map_cache_options;

enum lode_corpus_mode {
	LODE_CORPUS_READ,   /* must be there */
	LODE_CORPUS_WRITE,  /* must be there; open for writing */
	LODE_CORPUS_CREATE, /* created if it does not exist; open for writing */
	LODE_CORPUS_RECORD, /* the same, but what is created is for its owner alone: others run what is recorded */
};

/* Opens the folder `path`. One handle a thread. */
int lode_corpus_open(struct lode_corpus **corpus, const char *path, enum lode_corpus_mode mode,
		     struct lode_error *error);
/*
 * Opens several for reading, as if they were one: lode_corpus_streams gives the streams of
 * all, each id once, of the first that has it. All else is that of the first. Names are as
 * people give them (corpus_names.h).
 */
int lode_corpus_open_all(struct lode_corpus **corpus, char *const *names, size_t count, struct lode_error *error);
void lode_corpus_close(struct lode_corpus *corpus);
/* How many were opened as this one, and each of them; the first is `corpus` itself. */
size_t lode_corpus_count(const struct lode_corpus *corpus);
struct lode_corpus *lode_corpus_member(struct lode_corpus *corpus, size_t i);
/* What people call it: its path, or those of the first few and how many more. */
const char *lode_corpus_title(const struct lode_corpus *corpus);
const char *lode_corpus_path(const struct lode_corpus *corpus);
/* The permissions of new stream files. */
mode_t lode_corpus_file_mode(const struct lode_corpus *corpus);
/* From here on analyses keep what they make of each stream, and take what is kept. Returns 0 or LODE_SYSTEM. */
int lode_corpus_use_cache(struct lode_corpus *corpus, const struct lode_map_cache_options *options);
/* NULL where lode_corpus_use_cache was not called. */
struct lode_map_cache *lode_corpus_cache(struct lode_corpus *corpus);
/* Its catalogue, for what others keep there (catalogue_signatures.h); goes with the corpus. */
struct lode_catalogue *lode_corpus_catalogue(struct lode_corpus *corpus);

/* Whether the stream with this id (32 hexadecimal digits) is there: 1, 0 or a negative code. */
int lode_corpus_has(struct lode_corpus *corpus, const char *id, struct lode_error *error);

/*
 * Stores a sorted stream under `id` and says in `source` where it came from.
 * Returns 1 when it was added, 0 when a stream with this id was there already
 * (nothing changes then, unless `replace`), or a negative code, with the corpus as before.
 */
int lode_corpus_add(struct lode_corpus *corpus, const char *id, const char *source,
		    const struct lode_stream *stream, int replace, unsigned jobs, struct lode_error *error);

/*
 * The path of a file for the events of a recording while it goes on, unlike any
 * other; the caller frees it, and removes the file when it is not needed any more.
 * When its process dies before that, `lode fsck --repair` makes a stream of it.
 */
char *lode_corpus_recording(struct lode_corpus *corpus, const char *id);
/* The same for a stream file on its way to lode_corpus_place; this one is not saved. */
char *lode_corpus_draft(struct lode_corpus *corpus, const char *id);

/* What the catalogue says of a stream. Texts are owned by the list. */
struct lode_corpus_entry {
	char id[33];
	const char *name;
	const char *host; /* "" when unknown */
	const char *source;
	char *path; /* of its .lode file */
	uint64_t events[LODE_EVENT_TYPES];
	uint64_t cost[LODE_EVENT_TYPES]; /* sum of costs, saturating */
	uint64_t first_t;
	uint64_t last_t;
	uint64_t threads;
	uint64_t stacks; /* distinct stacks of its events */
	uint64_t symptoms;
	uint64_t file_size;
	uint64_t added;               /* seconds since 1970, UTC: when its file was written */
	uint32_t corpus;              /* number of its corpus among several (lode_corpus_member) */
	struct lode_map_cache *cache; /* of its corpus; NULL: results are not kept */
};

struct lode_corpus_list {
	struct lode_corpus_entry *items; /* by name, then by id */
	size_t count;
	size_t repeated; /* streams that an earlier one of several corpora has, too, left out */
	struct lode_arena arena;
	struct lode_corpus_list *parts; /* of several corpora: who owns the texts */
	size_t part_count;
};

/*
 * Fills an entry's name, host and numbers from a stream in memory; texts are the
 * dictionary's; id, source and file are left alone. Returns 0 or LODE_SYSTEM.
 */
int lode_corpus_describe(const struct lode_stream *stream, struct lode_corpus_entry *entry);
/* Path of the file of stream `id`, for the caller to free; NULL with a sentence when there is none. */
char *lode_corpus_stream_path(struct lode_corpus *corpus, const char *id, struct lode_error *error);

/* The streams that were not matched with the newest signatures yet; all when some signature is new. */
int lode_corpus_unmatched(struct lode_corpus *corpus, struct lode_corpus_list *list, struct lode_error *error);
/*
 * Puts the finished stream file `path` (of lode_corpus_draft) in place, and its
 * row, described by `entry` except its path and size, into the catalogue;
 * attributes and symptoms are the stream's. Returns 1, 0 when a stream with this
 * id was there already, or a negative code. The file is gone afterwards.
 */
int lode_corpus_place(struct lode_corpus *corpus, struct lode_corpus_entry *entry, const char *path,
		      const struct lode_stream *stream, struct lode_error *error);

/* A finished stream file on its way into the corpus. */
struct lode_corpus_arrival {
	struct lode_corpus_entry entry;   /* as for lode_corpus_place */
	const char *path;                 /* of lode_corpus_draft, durable; the file is gone afterwards */
	const struct lode_stream *stream; /* attributes and symptoms; threads of these */
	int is_new;                       /* set: 0 when a stream with this id was there already */
};

/*
 * The same for many at once, which costs hardly more than one: the folder and the catalogue are made durable once.
 * Either all of them are in the corpus when it returns, with 0, or none is, with a negative code.
 */
int lode_corpus_place_all(struct lode_corpus *corpus, struct lode_corpus_arrival *arrivals, size_t count,
			  struct lode_error *error);

/*
 * Takes a stream out: its row first, then its file, so that a crash in between
 * leaves a file that no row names. Returns 1, 0 when there is no such stream, or a
 * negative code.
 */
int lode_corpus_remove(struct lode_corpus *corpus, const char *id, struct lode_error *error);
/* The same, but where signatures matched in it stays known (lode_catalogue_signatures_retire). */
int lode_corpus_retire(struct lode_corpus *corpus, const char *id, struct lode_error *error);
/* Puts `stream` in the place of the stream of this entry, which keeps its id, its source and when it was added. */
int lode_corpus_replace(struct lode_corpus *corpus, const struct lode_corpus_entry *entry,
			const struct lode_stream *stream, struct lode_error *error);

/* The streams that have an attribute of this value. */
int lode_corpus_streams_with(struct lode_corpus *corpus, const char *key, const char *value,
			     struct lode_corpus_list *list, struct lode_error *error);
int lode_corpus_streams(struct lode_corpus *corpus, struct lode_corpus_list *list, struct lode_error *error);
void lode_corpus_list_release(struct lode_corpus_list *list);

#endif
