/* Memory of other processes, read as it is now. Tests put images of processes in its place. */
#ifndef LODE_PROCESS_LANGUAGES_PROCESS_MEMORY_H
#define LODE_PROCESS_LANGUAGES_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct lode_process_memory {
	void *context;
	/* Reads up to `size` bytes from `address` on. Returns how many were there; 0: none. */
	size_t (*read)(void *context, uint32_t pid, uint64_t address, void *bytes, size_t size);
};

/* Words of a thread's stack, which may be a copy. */
struct lode_language_stack {
	void *context;
	/* The word at an address: 1, or 0 when it is not there. */
	int (*read)(void *context, uint64_t address, uint64_t *word);
};

/* Of the processes of this machine. */
extern const struct lode_process_memory lode_live_memory;

/* Reads all of it. Returns 1 or 0. */
static inline int lode_process_memory_read(const struct lode_process_memory *memory, uint32_t pid,
					   uint64_t address, void *bytes, size_t size)
{
	return memory->read(memory->context, pid, address, bytes, size) == size;
}

#endif
