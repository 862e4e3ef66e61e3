/* What the module of MPI offers to cluster.c: one symbol, `lode_cluster_module`. Private to cluster. */
#ifndef LODE_CLUSTER_CLUSTER_MODULE_H
#define LODE_CLUSTER_CLUSTER_MODULE_H

#define LODE_CLUSTER_MODULE_VERSION 1
#define LODE_CLUSTER_MODULE_FILE    "lode-mpi.so"
#define LODE_CLUSTER_MODULE_SYMBOL  "lode_cluster_module"

/* All return 0 or not. */
struct lode_cluster_module {
	unsigned version;
	int (*start)(unsigned *rank, unsigned *size);
	int (*meet)(void);
	int (*stop)(void);
	int (*abort)(int status);
};

#endif
