/* Batch: see batch.h. */
#include "import/kernel/perf_data/batch.h"

/* What the replay has not taken over. */
static void free_copies(struct lode_perf_batch *batch)
{
	for (size_t i = 0; i < batch->copies.count; i++)
		lode_free(batch->copies.items[i].owned);
	batch->copies.count = batch->copy_bytes = 0;
}

void lode_perf_batch_release(struct lode_perf_batch *batch)
{
	free_copies(batch);
	lode_free(batch->copies.items);
	lode_free(batch->entries.items);
	lode_free(batch->tasks.items);
	lode_free(batch->chains.items);
	lode_buffer_release(&batch->texts);
	memset(batch, 0, sizeof(*batch));
}

void lode_perf_batch_clear(struct lode_perf_batch *batch)
{
	batch->entries.count = batch->tasks.count = batch->chains.count = 0;
	batch->round = batch->last = 0;
	free_copies(batch);
	lode_buffer_clear(&batch->texts);
}
