/* Iterators over threads: see task_iterator.h. The kernel runs the program while the iterator is read, which gives no bytes. */
#include "record/load/task_iterator.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

void lode_task_iterator_run(const struct bpf_link *link)
{
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	char byte;

	while (fd >= 0 && (read(fd, &byte, 1) > 0 || errno == EAGAIN || errno == EINTR))
		errno = 0;
	if (fd >= 0)
		close(fd);
}
