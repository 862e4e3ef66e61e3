/* Threads of one process: see process_leaders.h. */
#include "export/process_leaders.h"

#include "base/error.h"

int lode_process_leaders(const struct lode_stream *stream, uint32_t *first, uint32_t *leaders)
{
	struct lode_index index = { 0 }; /* of the first thread of each process */
	int code = 0;

	for (uint32_t i = 0; i < stream->thread_count && code == 0; i++) {
		const struct lode_thread *thread = &stream->threads[i];
		uint64_t hash = lode_hash_pair(thread->pid, 0);

		leaders[i] = LODE_NONE;
		first[i] = LODE_INDEX_FIND(k, &index, hash, stream->threads[k].pid == thread->pid);
		if (first[i] == LODE_NONE) {
			first[i] = i;
			code = lode_index_insert(&index, hash, i);
		}
		if (first[i] == i || thread->pid == thread->tid)
			leaders[first[i]] = i;
	}
	lode_index_release(&index);
	return code < 0 ? LODE_SYSTEM : 0;
}
