/* What the module of MPI offers to cluster.c: one symbol, `lode_cluster_module`. Private to cluster. */
#ifndef LODE_CLUSTER_CLUSTER_MODULE_H
#define LODE_CLUSTER_CLUSTER_MODULE_H

#include <stdint.h>

#define LODE_CLUSTER_MODULE_VERSION 2
#define LODE_CLUSTER_MODULE_FILE    "lode-mpi.so"
#define LODE_CLUSTER_MODULE_SYMBOL  "lode_cluster_module"

/* All return 0 or not. */
struct lode_cluster_module {
	unsigned version;
	/* `takes`: numbers can be taken, since MPI lets all threads call it. */
	int (*start)(unsigned *rank, unsigned *size, int *takes);
	/* The next number of this round of the shared queue, from any thread. */
	int (*take)(uint64_t round, uint64_t *number);
	int (*meet)(void);
	int (*stop)(void);
	int (*abort)(int status);
};

#endif
