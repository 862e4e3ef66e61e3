/* Threads of a Perfetto trace: see perfetto_threads.h. */
#include "import/protobuf/perfetto_threads.h"

#include "base/memory.h"

void lode_perfetto_threads_release(struct lode_perfetto_threads *threads)
{
	lode_index_release(&threads->index);
	lode_free(threads->items);
}

uint32_t lode_perfetto_thread(struct lode_perfetto_threads *threads, uint32_t tid)
{
	struct lode_perfetto_thread thread = { .tid = tid, .pid = LODE_NO_PID, .stream_thread = LODE_NONE };
	uint64_t hash = lode_hash_u64(tid);
	uint32_t id = LODE_INDEX_FIND(i, &threads->index, hash, threads->items[i].tid == tid);

	if (id != LODE_NONE)
		return id;
	if (LODE_INDEX_PUSH(&threads->index, hash, threads, thread) < 0)
		return LODE_NONE;
	return (uint32_t)threads->count - 1;
}

uint32_t lode_perfetto_thread_named(struct lode_perfetto_threads *threads, uint32_t pid, uint32_t tid,
				    const char *name, size_t length)
{
	uint32_t id = lode_perfetto_thread(threads, tid), string = 0;

	if (id == LODE_NONE)
		return LODE_NONE;
	if (pid != LODE_NO_PID)
		threads->items[id].pid = pid;
	if (length) {
		string = lode_strings_add(threads->strings, name, length);
		if (string == LODE_NONE)
			return LODE_NONE;
		threads->items[id].name = string;
	}
	return id;
}

uint32_t lode_perfetto_stream_thread(struct lode_perfetto_threads *threads, struct lode_stream *stream,
				     uint32_t thread)
{
	struct lode_perfetto_thread *item = &threads->items[thread];

	if (item->stream_thread == LODE_NONE) {
		item->stream_thread = lode_stream_thread(stream, item->pid, item->tid);
		if (item->stream_thread != LODE_NONE && item->name)
			stream->threads[item->stream_thread].name = item->name;
	}
	return item->stream_thread;
}
