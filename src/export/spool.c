/*
 * Spool: see spool.h.
 *
 * All chunks have the same size: the number (plus one) of the list's chunk before
 * it, then the records. Chunks are written one after the other, so the file is
 * only ever appended to; a list is read by walking its chain back to the start
 * once and then going forward. The more lists there are the smaller the chunks,
 * so that all the chunks being filled together stay within FILLING_BYTES, or, with
 * very many threads, at a few records each.
 */
#include "export/spool.h"

#include "base/scratch.h"

#include <string.h>
#include <sys/mman.h>

#define FILLING_BYTES  ((size_t)8 << 20)
#define FEWEST_RECORDS 4
#define MAX_RECORDS    512

/* What a touched chunk may bring into memory with it, and how much of that may stay. */
#define TOUCH_BYTES   ((size_t)64 << 10)
#define TOUCHED_LIMIT ((size_t)16 << 20)

struct filler {
	struct lode_spool *spool;
	unsigned columns;
};

static int init(struct lode_spool *spool, size_t lists, struct lode_error *error)
{
	memset(spool, 0, sizeof(*spool));
	spool->fd = -1;
	spool->list_count = lists;
	spool->chunk_records = FILLING_BYTES / sizeof(struct lode_spool_record) / (spool->list_count + 1);
	if (spool->chunk_records < FEWEST_RECORDS)
		spool->chunk_records = FEWEST_RECORDS;
	if (spool->chunk_records > MAX_RECORDS)
		spool->chunk_records = MAX_RECORDS;
	spool->chunk_size = sizeof(uint64_t) + spool->chunk_records * sizeof(struct lode_spool_record);
	spool->lists = lode_calloc(spool->list_count, sizeof(*spool->lists));
	spool->filling = lode_calloc(spool->list_count, spool->chunk_size);
	if (!spool->lists || !spool->filling)
		return lode_fail_memory(error);
	spool->fd = lode_scratch_open(error);
	return spool->fd < 0 ? spool->fd : 0;
}

int lode_spool_open(struct lode_spool *spool, size_t lists, struct lode_error *error)
{
	int code = init(spool, lists, error);

	if (code < 0)
		lode_spool_release(spool);
	return code;
}

void lode_spool_release(struct lode_spool *spool)
{
	lode_map_close(&spool->map);
	if (spool->fd >= 0)
		lode_file_close(spool->fd, lode_scratch_folder(), NULL);
	lode_free(spool->lists);
	lode_free(spool->filling);
	lode_free(spool->chain);
	memset(spool, 0, sizeof(*spool));
	spool->fd = -1;
}

static int write_chunk(struct lode_spool *spool, size_t list, struct lode_error *error)
{
	unsigned char *chunk = spool->filling + list * spool->chunk_size;
	int code;

	memcpy(chunk, &spool->lists[list].last, sizeof(uint64_t));
	code = lode_file_write(spool->fd, chunk, spool->chunk_size, lode_scratch_folder(), error);
	spool->lists[list].last = ++spool->chunk_count;
	spool->lists[list].used = 0;
	return code;
}

int lode_spool_add(struct lode_spool *spool, size_t list, const struct lode_spool_record *record,
		   struct lode_error *error)
{
	unsigned char *chunk = spool->filling + list * spool->chunk_size;
	struct lode_spool_list *item = &spool->lists[list];

	memcpy(chunk + sizeof(uint64_t) + item->used * sizeof(*record), record, sizeof(*record));
	item->used++;
	item->count++;
	item->cost = lode_add_saturating(item->cost, lode_spool_cost(record));
	return item->used == spool->chunk_records ? write_chunk(spool, list, error) : 0;
}

static int handle_block(void *context, enum lode_event_type type, const struct lode_events *events,
			struct lode_error *error)
{
	const struct filler *filler = context;
	int code = 0;

	for (size_t i = 0; i < events->count && code == 0; i++) {
		struct lode_spool_record record = {
			.t = filler->columns & LODE_T ? events->t[i] : 0,
			.cost = events->cost[i],
			.delay = filler->columns & LODE_DELAY ? events->delay[i] : 0,
			.stack = events->stack[i],
			.waker = filler->columns & LODE_WAKER ? events->waker[i] : LODE_NONE,
			.waker_stack = filler->columns & LODE_WAKER_STACK ? events->waker_stack[i] : 0,
			.name = filler->columns & LODE_NAME ? events->name[i] : 0,
			.weight = (uint32_t)lode_events_weight(events, i),
		};

		code = lode_spool_add(filler->spool, (size_t)events->thread[i] * LODE_EVENT_TYPES + type, &record,
				      error);
	}
	return code;
}

int lode_spool_seal(struct lode_spool *spool, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; i < spool->list_count && code == 0; i++)
		if (spool->lists[i].used)
			code = write_chunk(spool, i, error);
	if (code == 0)
		code = lode_map_descriptor(&spool->map, spool->fd, lode_scratch_folder(), error);
	lode_free(spool->filling);
	spool->filling = NULL;
	return code;
}

int lode_spool_fill(struct lode_spool *spool, struct lode_export *export, struct lode_export_stream *source,
		    unsigned types, unsigned columns, struct lode_error *error)
{
	struct filler filler = { spool, columns };
	int code = lode_spool_open(spool, source->stream.thread_count * LODE_EVENT_TYPES, error);

	if (code < 0)
		return code;
	code = lode_export_blocks(export, source, types,
				  columns | LODE_COST | LODE_STACK | LODE_THREAD | LODE_WEIGHT, handle_block,
				  &filler, error);
	if (code == 0)
		code = lode_spool_seal(spool, error);
	if (code < 0)
		lode_spool_release(spool);
	return code;
}

/* Pages of a map count as this process's memory until they are given up; the file keeps them. */
static const unsigned char *chunk_at(struct lode_spool *spool, uint64_t number)
{
	spool->touched += spool->chunk_size + TOUCH_BYTES;
	if (spool->touched > TOUCHED_LIMIT) {
		madvise((void *)(uintptr_t)spool->map.bytes, spool->map.size, MADV_DONTNEED);
		spool->touched = 0;
	}
	return spool->map.bytes + number * spool->chunk_size;
}

int lode_spool_start(struct lode_spool *spool, uint32_t thread, enum lode_event_type type,
		     struct lode_spool_cursor *cursor, struct lode_error *error)
{
	const struct lode_spool_list *list = lode_spool_list(spool, thread, type);
	size_t chunks = (size_t)((list->count + spool->chunk_records - 1) / spool->chunk_records);
	uint64_t number = list->last;

	*cursor = (struct lode_spool_cursor){ .spool = spool, .left = list->count };
	if (lode_grow(&spool->chain, &spool->chain_capacity, chunks, sizeof(*spool->chain)) < 0)
		return lode_fail_memory(error);
	for (size_t i = chunks; i-- > 0;) {
		spool->chain[i] = number - 1;
		memcpy(&number, chunk_at(spool, number - 1), sizeof(number));
	}
	return 0;
}

int lode_spool_next(struct lode_spool_cursor *cursor, struct lode_spool_record *record)
{
	struct lode_spool *spool = cursor->spool;

	if (!cursor->left)
		return 0;
	if (cursor->at == 0)
		cursor->records = chunk_at(spool, spool->chain[cursor->chunk++]) + sizeof(uint64_t);
	memcpy(record, cursor->records + cursor->at * sizeof(*record), sizeof(*record));
	cursor->left--;
	if (++cursor->at == spool->chunk_records)
		cursor->at = 0;
	return 1;
}

void lode_spool_start_last(struct lode_spool *spool, size_t list, struct lode_spool_cursor *cursor)
{
	const struct lode_spool_list *item = &spool->lists[list];
	uint64_t rest = item->count % spool->chunk_records;

	*cursor = (struct lode_spool_cursor){
		.spool = spool,
		.left = item->count,
		.next = item->last,
		.at = (size_t)(rest || !item->count ? rest : spool->chunk_records),
	};
}

int lode_spool_previous(struct lode_spool_cursor *cursor, struct lode_spool_record *record)
{
	struct lode_spool *spool = cursor->spool;

	if (!cursor->left)
		return 0;
	if (!cursor->at)
		cursor->at = spool->chunk_records;
	if (cursor->at == spool->chunk_records || !cursor->records) {
		const unsigned char *chunk = chunk_at(spool, cursor->next - 1);

		memcpy(&cursor->next, chunk, sizeof(cursor->next));
		cursor->records = chunk + sizeof(uint64_t);
	}
	cursor->at--;
	memcpy(record, cursor->records + cursor->at * sizeof(*record), sizeof(*record));
	cursor->left--;
	return 1;
}
