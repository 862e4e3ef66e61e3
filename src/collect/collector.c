/*
 * The collector: see collector.h.
 *
 * An upload is written to a draft of the corpus (corpus.h), and what is made of it to another one: if the process dies,
 * they are leftovers that the next writer of the corpus removes. A stream file that comes as it is becomes a
 * stream by its new name; so does what was made, if it is one stream. An extract of symbols goes to its place by its build-id.
 */
#include "collect/collector.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "collect/import_apart.h"
#include "store/corpus_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	BAD_REQUEST = 400,
	TOO_SLOW = 408,
	TOO_LARGE = 413,
	UNREADABLE = 422,
	TOO_MANY = 429,
	OUR_FAULT = 500,
	NO_ROOM = 507,
};

#define BUCKETS          256
#define BURST_SECONDS    2
#define FREE_SHARE       20
#define MAX_KEEP_FREE    (1ull << 30)
#define MIN_BYTES_A_S    1024
#define COPY_BYTES       (1u << 20)
#define CATALOGUE_FACTOR 3 /* what a text takes in tables and indexes, of its size */
#define FILE_MODE        0666
#define MAX_PROCESSORS   16
#define JOBS_A_PROCESSOR 4 /* most of their time is starting and ending, and waiting for a turn */

const struct lode_collector_options lode_collector_options_default = {
	.limits = { .packed = 0 },
	.rate = 1000,
	.at_once = 192,
	.slow_after = 10000000000ull,
};

const unsigned lode_refusal_statuses[LODE_REFUSALS] = { 400, 401, 403, 405, 408, 411, 413,
							415, 422, 429, 500, 503, 507 };

/* Tokens of a sender, or of several whose names have the same hash. */
struct bucket {
	double level;
	uint64_t at;
};

struct lode_collector {
	struct lode_collector_options options;
	char *corpus;
	struct lode_import_apart *apart;
	struct lode_committer *committer;
	pthread_mutex_t lock; /* of all below */
	struct lode_collector_counts counts;
	struct bucket buckets[BUCKETS];
};

/* A file of the corpus that is no stream yet. */
struct draft {
	char *path; /* NULL: there is none */
	int fd;
};

struct lode_receiving {
	struct lode_collector *collector;
	struct draft upload;
	uint64_t size;
	uint64_t began;
};

/* ---- drafts ---- */

static int make_draft(const struct lode_collector *collector, struct draft *draft, struct lode_error *error)
{
	draft->fd = -1;
	draft->path = lode_committer_draft(collector->committer);
	if (!draft->path)
		return lode_fail_memory(error);
	draft->fd = lode_file_open(draft->path, O_RDWR | O_CREAT, FILE_MODE, error);
	return draft->fd < 0 ? draft->fd : 0;
}

static void drop_draft(struct draft *draft)
{
	if (!draft->path)
		return;
	if (draft->fd >= 0) {
		close(draft->fd);
		lode_file_remove(draft->path, NULL); /* where it was not renamed */
	}
	lode_free(draft->path);
	draft->path = NULL;
}

/* What the system could not do is our fault, unless the disk is full. */
static int refuse_system(struct lode_upload_refusal *refusal, int error_number)
{
	refusal->status = error_number == ENOSPC || error_number == EDQUOT ? NO_ROOM : OUR_FAULT;
	refusal->retry_after = 60;
	return LODE_SYSTEM;
}

/* ---- starting ---- */

static uint64_t default_keep_free(const char *corpus)
{
	struct statvfs disk;
	uint64_t share;

	if (statvfs(corpus, &disk) < 0)
		return 0;
	share = (uint64_t)disk.f_blocks * disk.f_frsize / FREE_SHARE;
	return share < MAX_KEEP_FREE ? share : MAX_KEEP_FREE;
}

static int make_corpus(const char *path, struct lode_error *error)
{
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, path, LODE_CORPUS_CREATE, error);

	if (!code)
		lode_corpus_close(corpus);
	return code;
}

static int start(struct lode_collector *collector, const char *corpus, struct lode_error *error)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned jobs = processors < 1 ? 1 : processors > MAX_PROCESSORS ? MAX_PROCESSORS : (unsigned)processors;
	int code;

	collector->corpus = lode_strdup(corpus);
	code = collector->corpus ? make_corpus(corpus, error) : lode_fail_memory(error);
	if (!code && !collector->options.keep_free)
		collector->options.keep_free = default_keep_free(corpus);
	if (!code)
		code = lode_import_apart_start(&collector->apart, &collector->options.limits,
					       JOBS_A_PROCESSOR * jobs, error);
	return code ? code : lode_committer_start(&collector->committer, corpus, error);
}

int lode_collector_start(struct lode_collector **collector, const char *corpus,
			 const struct lode_collector_options *options, struct lode_error *error)
{
	struct lode_collector *made = lode_calloc(1, sizeof(*made));
	int code;

	*collector = NULL;
	if (!made)
		return lode_fail_memory(error);
	made->options = *options;
	if (!made->options.limits.packed)
		made->options.limits = lode_upload_limits_default;
	pthread_mutex_init(&made->lock, NULL);
	code = start(made, corpus, error);
	if (code)
		lode_collector_end(made);
	else
		*collector = made;
	return code;
}

void lode_collector_end(struct lode_collector *collector)
{
	if (!collector)
		return;
	lode_import_apart_end(collector->apart);
	lode_committer_end(collector->committer);
	pthread_mutex_destroy(&collector->lock);
	lode_free(collector->corpus);
	lode_free(collector);
}

const char *lode_collector_corpus(const struct lode_collector *collector)
{
	return collector->corpus;
}

/* ---- counts ---- */

void lode_collector_counts(struct lode_collector *collector, struct lode_collector_counts *counts)
{
	pthread_mutex_lock(&collector->lock);
	*counts = collector->counts;
	pthread_mutex_unlock(&collector->lock);
	lode_committer_counts(collector->committer, &counts->committed);
}

/* Where a status is counted; one that is not listed with our faults. */
static size_t refusal_number(unsigned status)
{
	size_t fault = 0;

	for (size_t i = 0; i < LODE_REFUSALS; i++) {
		if (lode_refusal_statuses[i] == status)
			return i;
		if (lode_refusal_statuses[i] == OUR_FAULT)
			fault = i;
	}
	return fault;
}

void lode_collector_count_refusal(struct lode_collector *collector, unsigned status)
{
	pthread_mutex_lock(&collector->lock);
	collector->counts.refused[refusal_number(status)]++;
	pthread_mutex_unlock(&collector->lock);
}

/* ---- beginning ---- */

/* Takes a token of the sender's, if there is one. The lock is held. */
static int may_begin(struct lode_collector *collector, const char *sender)
{
	struct bucket *bucket = &collector->buckets[lode_hash_bytes(sender, strlen(sender)) % BUCKETS];
	double rate = collector->options.rate, most = rate * BURST_SECONDS;
	uint64_t now = lode_now();

	bucket->level = bucket->at ? bucket->level + rate * (double)(now - bucket->at) / 1e9 : most;
	if (bucket->level > most)
		bucket->level = most;
	bucket->at = now;
	if (bucket->level < 1)
		return 0;
	bucket->level -= 1;
	return 1;
}

static int check_rate(struct lode_collector *collector, const char *sender, struct lode_upload_refusal *refusal)
{
	int crowded, early = 0;

	pthread_mutex_lock(&collector->lock);
	crowded = collector->counts.in_progress >= collector->options.at_once;
	if (!crowded)
		early = !may_begin(collector, sender);
	if (!crowded && !early)
		collector->counts.in_progress++;
	pthread_mutex_unlock(&collector->lock);
	if (!crowded && !early)
		return 0;
	refusal->retry_after = 1;
	return lode_upload_refuse(refusal, TOO_MANY,
				  crowded ? "too many uploads are in progress; try again later"
					  : "this sender begins more than %u uploads a second; try again later",
				  collector->options.rate);
}

static int check_room(const struct lode_collector *collector, uint64_t size, struct lode_upload_refusal *refusal)
{
	struct statvfs disk;
	uint64_t left;

	if (statvfs(collector->corpus, &disk) < 0)
		return 0;
	left = (uint64_t)disk.f_bavail * disk.f_frsize;
	if (left >= size && left - size >= collector->options.keep_free)
		return 0;
	refusal->retry_after = 60;
	return lode_upload_refuse(refusal, NO_ROOM,
				  "the collector's disk is full; streams or symbols must be removed there first");
}

static void count_out(struct lode_collector *collector)
{
	pthread_mutex_lock(&collector->lock);
	collector->counts.in_progress--;
	pthread_mutex_unlock(&collector->lock);
}

static int refuse_size(const struct lode_collector *collector, struct lode_upload_refusal *refusal)
{
	return lode_upload_refuse(refusal, TOO_LARGE, "the upload is larger than %llu MiB; send less at a time",
				  (unsigned long long)(collector->options.limits.packed >> 20));
}

static int begin(struct lode_receiving *receiving, uint64_t size, struct lode_upload_refusal *refusal)
{
	int code = check_room(receiving->collector, size, refusal);

	if (code)
		return code;
	errno = 0;
	code = make_draft(receiving->collector, &receiving->upload, &refusal->error);
	return code ? refuse_system(refusal, errno) : 0;
}

int lode_receiving_begin(struct lode_receiving **receiving, struct lode_collector *collector, const char *sender,
			 uint64_t size, struct lode_upload_refusal *refusal)
{
	struct lode_receiving *made;
	int code;

	*receiving = NULL;
	*refusal = (struct lode_upload_refusal){ .status = OUR_FAULT };
	code = size > collector->options.limits.packed ? refuse_size(collector, refusal)
						       : check_rate(collector, sender, refusal);
	if (code) {
		lode_collector_count_refusal(collector, refusal->status);
		return code;
	}
	made = lode_calloc(1, sizeof(*made));
	if (!made) {
		count_out(collector);
		return lode_fail_memory(&refusal->error);
	}
	made->collector = collector;
	made->began = lode_now();
	code = begin(made, size, refusal);
	if (code)
		lode_receiving_abandon(made, refusal);
	else
		*receiving = made;
	return code;
}

/* ---- receiving ---- */

void lode_receiving_abandon(struct lode_receiving *receiving, const struct lode_upload_refusal *refusal)
{
	struct lode_collector *collector = receiving->collector;

	drop_draft(&receiving->upload);
	lode_free(receiving);
	count_out(collector);
	if (refusal) {
		lode_collector_count_refusal(collector, refusal->status);
		return;
	}
	pthread_mutex_lock(&collector->lock);
	collector->counts.vanished++;
	pthread_mutex_unlock(&collector->lock);
}

int lode_receiving_add(struct lode_receiving *receiving, const void *bytes, size_t size,
		       struct lode_upload_refusal *refusal)
{
	const struct lode_collector *collector = receiving->collector;
	uint64_t took = lode_now() - receiving->began;
	int code;

	receiving->size += size;
	*refusal = (struct lode_upload_refusal){ .status = OUR_FAULT };
	if (receiving->size > collector->options.limits.packed)
		return refuse_size(collector, refusal);
	if (took > collector->options.slow_after && (double)receiving->size < (double)took / 1e9 * MIN_BYTES_A_S)
		return lode_upload_refuse(refusal, TOO_SLOW, "the upload comes with less than %d bytes a second",
					  MIN_BYTES_A_S);
	errno = 0;
	code = lode_file_write(receiving->upload.fd, bytes, size, receiving->upload.path, &refusal->error);
	return code ? refuse_system(refusal, errno) : 0;
}

/* ---- finishing ---- */

/* One of several streams in a file gets a file of its own. */
static int copy_range(int from, uint64_t offset, uint64_t size, const struct draft *to, struct lode_error *error)
{
	char *bytes = lode_alloc(COPY_BYTES);
	int code = bytes ? 0 : lode_fail_memory(error);

	while (!code && size) {
		ssize_t got = pread(from, bytes, size < COPY_BYTES ? (size_t)size : COPY_BYTES, (off_t)offset);

		if (got <= 0) {
			code = lode_fail(error, LODE_SYSTEM, "cannot read back a stream: %s", strerror(errno));
			break;
		}
		code = lode_file_write(to->fd, bytes, (size_t)got, to->path, error);
		offset += (uint64_t)got;
		size -= (uint64_t)got;
	}
	lode_free(bytes);
	return code;
}

/* What an upload became. */
struct finishing {
	struct lode_receiving *receiving;
	struct lode_import_found found;
	struct draft written;
	struct draft *copies; /* of streams that came with others */
	struct lode_corpus_arrival *arrivals;
};

/* Makes the file of a stream durable. */
static int prepare_arrival(struct finishing *finishing, size_t i, const char *source, struct lode_error *error)
{
	struct lode_upload_stream *stream = finishing->found.streams.items[i];
	struct lode_corpus_arrival *arrival = &finishing->arrivals[i];
	struct draft *file = &finishing->copies[i];
	int code = 0;

	if (stream->is_upload) {
		file = &finishing->receiving->upload;
	} else if (finishing->found.streams.count == 1) {
		file = &finishing->written;
	} else {
		code = make_draft(finishing->receiving->collector, file, error);
		if (!code)
			code = copy_range(finishing->written.fd, stream->offset, stream->size, file, error);
	}
	if (!code)
		code = lode_file_sync(file->fd, file->path, error);
	*arrival = (struct lode_corpus_arrival){ .entry = stream->entry,
						 .path = file->path,
						 .stream = &stream->stream };
	arrival->entry.source = source;
	return code;
}

static int store(struct finishing *finishing, const char *source, struct lode_upload_refusal *refusal)
{
	size_t count = finishing->found.streams.count;
	int code = 0;

	finishing->copies = lode_calloc(count, sizeof(*finishing->copies));
	finishing->arrivals = lode_calloc(count, sizeof(*finishing->arrivals));
	if (!finishing->copies || !finishing->arrivals)
		return lode_fail_memory(&refusal->error);
	errno = 0;
	for (size_t i = 0; !code && i < count; i++)
		code = prepare_arrival(finishing, i, source, &refusal->error);
	if (!code)
		code = lode_committer_add(finishing->receiving->collector->committer, finishing->arrivals, count,
					  &refusal->error);
	if (!code)
		return 0;
	refuse_system(refusal, errno);
	/* The catalogue does not say by errno that the disk is full. */
	if (refusal->status == OUR_FAULT) {
		struct lode_upload_refusal other;

		if (check_room(finishing->receiving->collector, 0, &other) < 0)
			refusal->status = NO_ROOM;
	}
	return code;
}

static int store_symbols(struct finishing *finishing, struct lode_collected_list *list,
			 struct lode_upload_refusal *refusal)
{
	const struct lode_upload_symbols *symbols = &finishing->found.symbols;
	struct draft *file = &finishing->written;
	int code;

	errno = 0;
	code = lode_file_sync(file->fd, file->path, &refusal->error);
	if (!code)
		code = lode_corpus_symbols_place(finishing->receiving->collector->corpus, symbols->build_id,
						 symbols->has_all ? LODE_KEPT_ALL : LODE_KEPT_EXPORTED, file->path,
						 &refusal->error);
	if (code == LODE_BAD_INPUT)
		refusal->status = UNREADABLE;
	else if (code < 0)
		refuse_system(refusal, errno);
	list->symbols = *symbols;
	list->has_new_symbols = code > 0;
	return code < 0 ? code : 0;
}

static int list_streams(const struct finishing *finishing, struct lode_collected_list *list)
{
	for (size_t i = 0; i < finishing->found.streams.count; i++) {
		struct lode_collected collected = { .is_new = finishing->arrivals[i].is_new };

		memcpy(collected.id, finishing->arrivals[i].entry.id, sizeof(collected.id));
		if (LODE_PUSH(list, collected) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int finish(struct finishing *finishing, const struct lode_upload_options *options,
		  struct lode_collected_list *list, struct lode_upload_refusal *refusal)
{
	struct lode_receiving *receiving = finishing->receiving;
	int code;

	errno = 0;
	code = make_draft(receiving->collector, &finishing->written, &refusal->error);
	if (code)
		return refuse_system(refusal, errno);
	code = lode_import_apart_read(receiving->collector->apart, options, receiving->upload.fd,
				      finishing->written.fd, &finishing->found, refusal);
	if (!code && options->form == LODE_UPLOAD_SYMBOLS)
		return store_symbols(finishing, list, refusal);
	if (!code)
		code = check_room(receiving->collector, CATALOGUE_FACTOR * finishing->found.told, refusal);
	if (!code)
		code = store(finishing, options->source, refusal);
	if (!code && list_streams(finishing, list) < 0)
		code = lode_fail_memory(&refusal->error);
	return code;
}

static void release_finishing(struct finishing *finishing)
{
	for (size_t i = 0; finishing->copies && i < finishing->found.streams.count; i++)
		drop_draft(&finishing->copies[i]);
	drop_draft(&finishing->written);
	lode_free(finishing->copies);
	lode_free(finishing->arrivals);
	lode_import_found_release(&finishing->found);
}

int lode_receiving_finish(struct lode_receiving *receiving, const struct lode_upload_options *options,
			  struct lode_collected_list *list, struct lode_upload_refusal *refusal)
{
	struct finishing finishing = { .receiving = receiving };
	struct lode_collector *collector = receiving->collector;
	uint64_t began = lode_now();
	int code;

	memset(list, 0, sizeof(*list));
	*refusal = (struct lode_upload_refusal){ .status = OUR_FAULT };
	code = finish(&finishing, options, list, refusal);
	release_finishing(&finishing);
	if (code) {
		lode_receiving_abandon(receiving, refusal);
		return code;
	}
	pthread_mutex_lock(&collector->lock);
	collector->counts.uploads++;
	collector->counts.bytes += receiving->size;
	collector->counts.busy_ns += lode_now() - began;
	collector->counts.in_progress--;
	pthread_mutex_unlock(&collector->lock);
	drop_draft(&receiving->upload);
	lode_free(receiving);
	return 0;
}
