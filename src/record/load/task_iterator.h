/* Iterators over all threads of the machine: BPF programs that run once for each of them, whenever the recorder asks. */
#ifndef LODE_RECORD_LOAD_TASK_ITERATOR_H
#define LODE_RECORD_LOAD_TASK_ITERATOR_H

struct bpf_link;

/* Runs the program of an attached iterator for each thread; NULL: nothing. */
void lode_task_iterator_run(const struct bpf_link *link);

#endif
