/* Threads of one process: see process_leaders.h. */
#include "export/process_leaders.h"

#include "base/error.h"

/* The first thread of the same process, or LODE_NONE. */
static uint32_t find_process(const struct lode_stream *stream, const struct lode_index *index, uint64_t hash,
			     uint32_t pid)
{
	size_t probe = 0;
	uint32_t thread;

	while ((thread = lode_index_next(index, hash, &probe)) != LODE_NONE)
		if (stream->threads[thread].pid == pid)
			break;
	return thread;
}

int lode_process_leaders(const struct lode_stream *stream, uint32_t *first, uint32_t *leaders)
{
	struct lode_index index = { 0 };
	int code = 0;

	for (uint32_t i = 0; i < stream->thread_count && code == 0; i++) {
		const struct lode_thread *thread = &stream->threads[i];
		uint64_t hash = lode_hash_pair(thread->pid, 0);

		leaders[i] = LODE_NONE;
		first[i] = find_process(stream, &index, hash, thread->pid);
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
