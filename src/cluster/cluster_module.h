/* What the module of MPI offers to cluster.c: one symbol, `lode_cluster_module`. Private to cluster. */
#ifndef LODE_CLUSTER_CLUSTER_MODULE_H
#define LODE_CLUSTER_CLUSTER_MODULE_H

#include <stddef.h>
#include <stdint.h>

#define LODE_CLUSTER_MODULE_VERSION 4
#define LODE_CLUSTER_MODULE_FILE    "lode-mpi.so"
#define LODE_CLUSTER_MODULE_SYMBOL  "lode_cluster_module"

/* All return 0 or not. */
struct lode_cluster_module {
	unsigned version;
	/* `takes`: numbers can be taken, since MPI lets all threads call it. */
	int (*start)(unsigned *rank, unsigned *size, int *takes);
	/* The next number of this round of the shared queue, from any thread. */
	int (*take)(uint64_t round, uint64_t *number);
	/* In the first process: this round has no more numbers but UINT64_MAX. */
	void (*close)(uint64_t round);
	int (*meet)(void);
	/* Offers a message of `size` bytes, and waits until the other wants it; then send_bytes. */
	int (*offer)(unsigned to, uint64_t size);
	int (*send_bytes)(unsigned to, const void *bytes, uint64_t size);
	/* Waits for an offer and learns its size; then receive_bytes, which asks for it. */
	int (*await_offer)(unsigned from, uint64_t *size);
	int (*receive_bytes)(unsigned from, void *bytes, uint64_t size);
	int (*stop)(void);
	int (*abort)(int status);
};

#endif
