/* Iterators over threads: see task_iterator.h. The kernel runs the program while the iterator is read, which gives no bytes. */
#include "record/load/task_iterator.h"

#include "record/bpf/records.h"

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

/* In one run of a program; not where there are too many threads for that. */
static int visit_at_once(struct lode_task_visit *visit)
{
	struct bpf_test_run_opts run = { .sz = sizeof(run) };
	int fd = visit->has_many_threads ? -1 : bpf_program__fd(visit->at_once);

	if (fd < 0 || bpf_prog_test_run_opts(fd, &run) < 0)
		return 0;
	visit->has_many_threads = *visit->count >= LODE_SWEEP_THREADS;
	return 1;
}

int lode_task_visit_run(struct lode_task_visit *visit)
{
	if (visit_at_once(visit))
		return 1;
	if (!visit->iterator)
		visit->iterator = bpf_program__attach_iter(visit->one, NULL);
	lode_task_iterator_run(visit->iterator);
	return visit->iterator != NULL;
}

void lode_task_visit_release(struct lode_task_visit *visit)
{
	bpf_link__destroy(visit->iterator);
	visit->iterator = NULL;
}
