/* Batches of streams: see area_batch.h. */
#include "scope/area_batch.h"

#include <string.h>

/* Of fewer streams the merged one is hardly smaller than all of them. */
#define MIN_KEPT 16

/* ---- the cache ---- */

/* Returns 1, or 0 where the batch is not kept. */
static int make_key(const struct lode_area_plan *plan, const struct lode_corpus_entry *entries, size_t count,
		    struct lode_map_key *key)
{
	struct lode_buffer description = { 0 };
	struct lode_map_key stream;
	int kept = count >= MIN_KEPT;

	for (size_t i = 0; i < count && kept; i++) {
		kept = entries[i].cache == entries[0].cache && lode_area_stream_key(plan, &entries[i], &stream) > 0;
		if (!kept)
			break;
		lode_buffer_add(&description, stream.text, sizeof(stream.text));
		lode_buffer_add(&description, entries[i].id, sizeof(entries[i].id));
		lode_buffer_u64(&description, entries[i].first_t);
	}
	if (kept && lode_map_key_make(key, "area batch 1", &description) < 0)
		kept = 0;
	lode_buffer_release(&description);
	return kept;
}

/* Returns 1, 0 where nothing is kept, or LODE_SYSTEM. */
static int find(struct lode_area_batch *batch, struct lode_map_cache *cache, const struct lode_map_key *key)
{
	int code;

	if (!lode_map_cache_find(cache, key, &batch->found))
		return 0;
	batch->kept = 1;
	code = lode_area_message_read(&batch->received, batch->found.payload);
	if (!code)
		return 1;
	lode_area_batch_release(batch);
	if (code == LODE_BAD_INPUT)
		lode_map_cache_drop(cache, key);
	return code == LODE_BAD_INPUT ? 0 : code;
}

static void put(const struct lode_area_batch *batch, struct lode_map_cache *cache, const struct lode_map_key *key)
{
	struct lode_buffer message = { 0 };

	/* What is wrong with a file may be mended. */
	if (batch->merge.area.unread.count)
		return;
	lode_area_message_write(&batch->merge, &message);
	lode_map_cache_put(cache, key, &message);
	lode_buffer_release(&message);
}

/* ---- the interface ---- */

static int merge_streams(struct lode_area_batch *batch, const struct lode_area_plan *plan,
			 const struct lode_corpus_entry *entries, size_t count, struct lode_error *error)
{
	int code = lode_area_merge_init(&batch->merge) < 0 ? lode_fail_memory(error) : 0;

	for (size_t i = 0; i < count && !code; i++) {
		struct lode_area_partial partial = { 0 };

		code = lode_area_stream_if_readable(plan, &entries[i], &partial, error);
		if (!code &&
		    lode_area_merge_stream(&batch->merge, &partial, &entries[i], plan->options->by_symptom) < 0)
			code = lode_fail_memory(error);
		lode_area_partial_release(&partial);
	}
	return code;
}

int lode_area_batch_make(struct lode_area_batch *batch, const struct lode_area_plan *plan,
			 const struct lode_corpus_entry *entries, size_t count, struct lode_error *error)
{
	struct lode_map_key key;
	int keeps = make_key(plan, entries, count, &key), code = 0;

	if (keeps)
		code = find(batch, entries[0].cache, &key);
	if (code)
		return code < 0 ? lode_fail_memory(error) : 0;
	code = merge_streams(batch, plan, entries, count, error);
	if (!code && keeps)
		put(batch, entries[0].cache, &key);
	return code;
}

int lode_area_batch_join(struct lode_area_merge *merge, const struct lode_area_batch *batch)
{
	return lode_area_merge_join(merge, batch->kept ? &batch->received.merge : &batch->merge);
}

void lode_area_batch_release(struct lode_area_batch *batch)
{
	if (batch->kept) {
		lode_area_message_release(&batch->received);
		lode_cached_map_release(&batch->found);
	} else {
		lode_area_merge_release(&batch->merge);
	}
	memset(batch, 0, sizeof(*batch));
}
