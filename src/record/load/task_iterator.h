/* Iterators over all threads of the machine: BPF programs that run once for each of them, whenever the recorder asks. */
#ifndef LODE_RECORD_LOAD_TASK_ITERATOR_H
#define LODE_RECORD_LOAD_TASK_ITERATOR_H

#include <stdint.h>

struct bpf_link;
struct bpf_program;

/* Runs the program of an attached iterator for each thread; NULL: nothing. */
void lode_task_iterator_run(const struct bpf_link *link);

/* A visit of all threads: in a single run of a program where the kernel has that, else one at a time. For one user thread. */
struct lode_task_visit {
	struct bpf_program *at_once;
	struct bpf_program *one;
	const volatile uint32_t *count; /* threads that the first one visited, LODE_SWEEP_THREADS at most */
	struct bpf_link *iterator;      /* of the second one, once it is used: */
	int has_many_threads;           /* too many to visit them at once */
};

/* Returns whether the kernel lets it. */
int lode_task_visit_run(struct lode_task_visit *visit);
void lode_task_visit_release(struct lode_task_visit *visit);

#endif
