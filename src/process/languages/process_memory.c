/* Memory of other processes: see process_memory.h. */
#include "process/languages/process_memory.h"

#include <sys/uio.h>

#define PAGE 4096u
/* Pages of one reading; the caller reads less. */
#define PAGES 8

/* Page by page: the kernel reads a piece whole or not at all. */
static size_t read_live(void *context, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
	struct iovec local = { bytes, size }, remote[PAGES + 1];
	unsigned long count = 0;
	size_t at = 0;
	ssize_t got;

	(void)context;
	for (; at < size && count <= PAGES; count++) {
		size_t piece = PAGE - ((address + at) & (PAGE - 1));

		if (piece > size - at)
			piece = size - at;
		remote[count].iov_base = (void *)(uintptr_t)(address + at);
		remote[count].iov_len = piece;
		at += piece;
	}
	local.iov_len = at;
	got = process_vm_readv((pid_t)pid, &local, 1, remote, count, 0);
	return got < 0 ? 0 : (size_t)got;
}

const struct lode_process_memory lode_live_memory = { NULL, read_live };
