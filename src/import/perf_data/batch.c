/* Batch: see batch.h. */
#include "import/perf_data/batch.h"

void lode_perf_batch_release(struct lode_perf_batch *batch)
{
	lode_free(batch->entries);
	lode_free(batch->tasks);
	lode_free(batch->chains);
	lode_buffer_release(&batch->texts);
	memset(batch, 0, sizeof(*batch));
}

void lode_perf_batch_clear(struct lode_perf_batch *batch)
{
	batch->entry_count = batch->task_count = batch->chain_count = 0;
	batch->round = batch->last = 0;
	lode_buffer_clear(&batch->texts);
}
