/*
 * Sums of streams: see sums.h.
 *
 * Each stream is read over a dictionary of its own, so several can be read at a time, and what is kept
 * does not depend on other streams. Where the stacks then have the numbers of the file, as they nearly
 * always do, the sums are kept; the query's dictionary translates these numbers when stacks are asked for.
 */
#include "query/sums.h"

#include "base/parallel.h"
#include "query/query_data.h"
#include "store/map_cache.h"
#include "store/map_columns.h"

#include <stdlib.h>
#include <string.h>

struct sum {
	uint64_t n;
	uint64_t cost;
	uint32_t thread;
	uint32_t stack;
	uint8_t kind;
};

struct adding {
	LODE_ARRAY(struct sum) sums;
	struct lode_index index;
};

static const struct lode_map_field fields[] = {
	LODE_MAP_FIELD(struct sum, kind), LODE_MAP_FIELD(struct sum, thread), LODE_MAP_FIELD(struct sum, stack),
	LODE_MAP_FIELD(struct sum, n),    LODE_MAP_FIELD(struct sum, cost),
};
static const struct lode_map_layout layout = { sizeof(struct sum), fields, sizeof(fields) / sizeof(fields[0]) };

void lode_query_sums_free(struct lode_query_sums *sums)
{
	if (!sums)
		return;
	lode_free(sums->kind);
	lode_free(sums->thread);
	lode_free(sums->stack);
	lode_free(sums->n);
	lode_free(sums->cost);
	lode_free(sums);
}

/* ---- adding up ---- */

static int add_event(struct adding *adding, uint8_t kind, const struct lode_events *events, size_t i)
{
	uint32_t thread = events->thread[i], stack = events->stack[i];
	uint64_t hash = lode_hash_more(lode_hash_pair(thread, stack), kind), weight = lode_events_weight(events, i);
	struct sum *sums = adding->sums.items;
	uint32_t found =
		LODE_INDEX_FIND(at, &adding->index, hash,
				sums[at].thread == thread && sums[at].stack == stack && sums[at].kind == kind);

	if (found == LODE_NONE)
		return LODE_INDEX_PUSH(&adding->index, hash, &adding->sums,
				       (struct sum){ weight, lode_events_cost(events, i), thread, stack, kind });
	sums[found].n = lode_add_saturating(sums[found].n, weight);
	sums[found].cost = lode_add_saturating(sums[found].cost, lode_events_cost(events, i));
	return 0;
}

static int add_block(struct adding *adding, const struct lode_store *store, size_t block,
		     struct lode_events *events, struct lode_error *error)
{
	uint8_t kind = (uint8_t)lode_store_block(store, block)->type;
	int code =
		lode_store_events(store, block, LODE_COST | LODE_THREAD | LODE_STACK | LODE_WEIGHT, events, error);

	for (size_t i = 0; !code && i < events->count; i++)
		if (add_event(adding, kind, events, i) < 0)
			code = lode_fail_memory(error);
	return code;
}

static int compare_sums(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

/* ---- one stream ---- */

struct job {
	struct lode_query_data *data;
	size_t stream;
	int code;
	struct lode_error error;
	struct lode_query_sums *sums;
	int renumbered; /* its stacks have other numbers than in the file: it is left to the query's dictionary */
};

static void release_adding(struct adding *adding)
{
	lode_free(adding->sums.items);
	lode_index_release(&adding->index);
}

static struct lode_query_sums *columns_of(const struct sum *rows, size_t count)
{
	struct lode_query_sums *sums = lode_calloc(1, sizeof(*sums));

	if (!sums)
		return NULL;
	sums->count = count;
	sums->kind = lode_calloc(count + 1, sizeof(*sums->kind));
	sums->thread = lode_calloc(count + 1, sizeof(*sums->thread));
	sums->stack = lode_calloc(count + 1, sizeof(*sums->stack));
	sums->n = lode_calloc(count + 1, sizeof(*sums->n));
	sums->cost = lode_calloc(count + 1, sizeof(*sums->cost));
	if (!sums->kind || !sums->thread || !sums->stack || !sums->n || !sums->cost) {
		lode_query_sums_free(sums);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		sums->kind[i] = rows[i].kind;
		sums->thread[i] = rows[i].thread;
		sums->stack[i] = rows[i].stack;
		sums->n[i] = rows[i].n;
		sums->cost[i] = rows[i].cost;
	}
	sums->in_file_ids = 1;
	return sums;
}

/* Returns 1 where results of this stream are kept, with their key; 0 or LODE_SYSTEM. */
static int make_key(const struct lode_corpus_entry *entry, const struct lode_store *store, struct lode_map_key *key)
{
	struct lode_buffer description = { 0 };
	uint64_t events = 0;
	int code;

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		events += entry->events[type];
	if (!lode_map_cache_wants(entry->cache, events))
		return 0;
	lode_store_digest(store, &description);
	code = lode_map_key_make(key, "sums 1", &description);
	lode_buffer_release(&description);
	return code ? code : 1;
}

static void keep(const struct lode_corpus_entry *entry, const struct lode_map_key *key, const struct sum *rows,
		 size_t count)
{
	struct lode_map_writer writer = { 0 };

	lode_map_write_number(&writer, count);
	lode_map_write_rows(&writer, rows, count, &layout);
	if (!writer.buffer.failed)
		lode_map_cache_put(entry->cache, key, &writer.buffer);
	lode_map_writer_release(&writer);
}

static int are_right(const struct lode_corpus_entry *entry, const struct sum *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].kind >= LODE_EVENT_TYPES || rows[i].thread >= entry->threads)
			return 0;
	return 1;
}

/* Kept sums of a job. */
static int read_sums(struct lode_cursor payload, void *context)
{
	struct job *job = context;
	struct lode_map_reader reader = lode_map_reader(payload);
	size_t count = lode_map_read_count(&reader, LODE_NONE);
	struct sum *rows = lode_map_read_new_rows(&reader, count, &layout);
	int code = lode_map_reader_finish(&reader) || !rows ||
				   !are_right(job->data->streams[job->stream].entry, rows, count)
			   ? LODE_BAD_INPUT
			   : 0;

	if (!code && !(job->sums = columns_of(rows, count)))
		code = LODE_SYSTEM;
	lode_free(rows);
	lode_map_reader_release(&reader);
	return code;
}

static int read_blocks(struct job *job, struct lode_store *store, struct adding *adding)
{
	struct lode_events events = { 0 };
	int code = 0;

	for (size_t i = 0; !code && i < lode_store_blocks(store); i++)
		code = add_block(adding, store, i, &events, &job->error);
	lode_events_release(&events);
	if (!code && adding->sums.count)
		qsort(adding->sums.items, adding->sums.count, sizeof(*adding->sums.items), compare_sums);
	return code;
}

static int add_up(struct job *job, struct lode_store *store, const struct lode_corpus_entry *entry,
		  const struct lode_map_key *key)
{
	struct lode_dictionary dictionary;
	struct lode_stream head;
	struct adding adding = { 0 };
	int code = lode_dictionary_init(&dictionary) < 0 ? lode_fail_memory(&job->error) : 0;

	lode_stream_init(&head, &dictionary);
	if (!code)
		code = lode_store_head(store, &head, &job->error);
	if (!code && head.thread_count > entry->threads)
		code = lode_fail(&job->error, LODE_BAD_INPUT,
				 "%s: has more threads than the catalogue says; 'lode fsck --repair' mends it",
				 entry->path);
	job->renumbered = !code && !lode_store_keeps_stacks(store);
	if (!code && !job->renumbered)
		code = read_blocks(job, store, &adding);
	if (!code && !job->renumbered && !(job->sums = columns_of(adding.sums.items, adding.sums.count)))
		code = lode_fail_memory(&job->error);
	if (!code && !job->renumbered && key)
		keep(entry, key, adding.sums.items, adding.sums.count);
	release_adding(&adding);
	lode_stream_release(&head);
	lode_dictionary_release(&dictionary);
	return code;
}

static void make_one(void *context, size_t i)
{
	struct job *job = (struct job *)context + i;
	const struct lode_corpus_entry *entry = job->data->streams[job->stream].entry;
	struct lode_store *store;
	struct lode_map_key key;
	int kept = 0;

	job->code = lode_store_open(&store, entry->path, &job->error);
	if (job->code)
		return;
	kept = make_key(entry, store, &key);
	if (kept > 0)
		lode_map_cache_read(entry->cache, &key, read_sums, job); /* or they are made anew */
	if (!job->sums)
		job->code = add_up(job, store, entry, kept > 0 ? &key : NULL);
	lode_store_close(store);
}

/* ---- all streams ---- */

/* Stacks in numbers of the query's dictionary, and in their order again. */
static int translate(struct lode_query_data *data, size_t stream)
{
	struct lode_query_sums *sums = data->streams[stream].sums;
	int code;

	if (!sums || !sums->in_file_ids)
		return 0;
	code = lode_query_load(data, stream, LODE_QUERY_STACKS);
	if (code || data->streams[stream].unread)
		return code;
	if (lode_store_translate_stacks(data->streams[stream].store, sums->stack, sums->count) < 0)
		return data->code = lode_fail(&data->error, LODE_BAD_INPUT,
					      "%s: changed while it was read; try again",
					      data->streams[stream].entry->path);
	sums->in_file_ids = 0;
	return 0;
}

/* The same over the query's dictionary. */
static int add_up_here(struct lode_query_data *data, struct job *job)
{
	struct lode_query_stream *stream = &data->streams[job->stream];
	struct adding adding = { 0 };
	int code = lode_query_load(data, job->stream, LODE_QUERY_STACKS);

	if (code || stream->unread)
		return code;
	job->code = read_blocks(job, stream->store, &adding);
	if (!job->code && !(job->sums = columns_of(adding.sums.items, adding.sums.count)))
		job->code = lode_fail_memory(&job->error);
	if (job->sums)
		job->sums->in_file_ids = 0;
	release_adding(&adding);
	return 0;
}

static int hand_over(struct lode_query_data *data, struct job *job)
{
	int code = job->renumbered ? add_up_here(data, job) : 0;

	data->streams[job->stream].sums = job->sums;
	return !code && job->code ? lode_query_leave_out(data, job->stream, job->code, &job->error) : code;
}

/* Streams that are read at a time; a request to stop is seen between them. */
#define BATCH 32

static int make_batch(struct lode_query_data *data, const size_t *streams, size_t count)
{
	struct job jobs[BATCH];
	int code = lode_query_must_stop(data) ? LODE_USAGE : 0;

	if (code)
		return code;
	memset(jobs, 0, sizeof(jobs));
	for (size_t i = 0; i < count; i++) {
		jobs[i].data = data;
		jobs[i].stream = streams[i];
	}
	lode_parallel(data->options.jobs, count, make_one, jobs);
	for (size_t i = 0; i < count; i++) {
		int one = hand_over(data, &jobs[i]);

		code = code ? code : one;
	}
	return code;
}

int lode_query_make_sums(struct lode_query_data *data, size_t first, size_t last, int stacks)
{
	size_t batch[BATCH], count = 0;
	int code = 0;

	for (size_t i = first; !code && i < last; i++) {
		if (!data->streams[i].sums && !data->streams[i].unread)
			batch[count++] = i;
		if (count == BATCH || (count && i + 1 == last)) {
			code = make_batch(data, batch, count);
			count = 0;
		}
	}
	for (size_t i = first; !code && stacks && i < last; i++)
		code = translate(data, i);
	return code;
}
