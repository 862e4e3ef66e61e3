/*
 * Several processes of one job, on one or more hosts, under a launcher of MPI (`mpirun`,
 * `srun`). This folder is the only one that knows of MPI, and only its module
 * (mpi_module.c) is linked with it: that is loaded when a launcher started the program, so
 * that a plain `lode` needs no MPI.
 *
 * What processes compute from single streams goes to the caches of the corpora (store/map_cache.h), which
 * all must see; if a process dies and the job is started again, it is still there. For merging and the
 * rest of the analysis they exchange messages. Analyses only use base/job_rank.h.
 */
#ifndef LODE_CLUSTER_CLUSTER_H
#define LODE_CLUSTER_CLUSTER_H

#include "base/buffer.h"
#include "base/error.h"

struct lode_cluster;

/* Whether a launcher started this process with others, which it has not joined. */
int lode_cluster_is_launched(void);
/*
 * Whether a launcher passes on what this process writes, alone or with others, until it joins them. Its standard output
 * may then be a terminal that the launcher made, whatever the launcher writes to.
 */
int lode_cluster_is_forwarded(void);
/*
 * Whether the launcher takes long to pass on a long line: that of Open MPI 5 (PRRTE) collects a line first, and copies
 * what it has at each piece. A line of 1 MB takes 1.4 s, of 4 MB 17 s.
 */
int lode_cluster_collects_lines(void);
/*
 * Joins the job. `folders`, NULL-terminated, is where the module is looked for. Waits for
 * all others. Returns 0 or LODE_SYSTEM.
 */
int lode_cluster_join(struct lode_cluster **cluster, const char *const *folders, struct lode_error *error);
unsigned lode_cluster_rank(const struct lode_cluster *cluster);
unsigned lode_cluster_size(const struct lode_cluster *cluster);
/*
 * The next of the numbers 0, 1, ... that all processes share, each given once, until they meet;
 * then they begin again. From any thread. UINT64_MAX where MPI fails.
 */
uint64_t lode_cluster_take(struct lode_cluster *cluster);
/* In the first process: until they meet, all others that are taken are UINT64_MAX. */
void lode_cluster_close(struct lode_cluster *cluster);
/* Whether numbers can be taken: not every MPI lets threads call it. */
int lode_cluster_takes(const struct lode_cluster *cluster);
/* Waits until all have come here. Returns 0 or LODE_SYSTEM. */
int lode_cluster_meet(struct lode_cluster *cluster, struct lode_error *error);
/*
 * Messages between two processes, of the main thread alone. Sending returns when the message is received; receiving waits for
 * it and makes it the content of the buffer. Return 0 or LODE_SYSTEM.
 */
int lode_cluster_send(struct lode_cluster *cluster, unsigned to, const void *bytes, size_t size,
		      struct lode_error *error);
int lode_cluster_receive(struct lode_cluster *cluster, unsigned from, struct lode_buffer *message,
			 struct lode_error *error);
/* Leaves the job cleanly; every rank calls it. */
void lode_cluster_leave(struct lode_cluster *cluster);
/* Ends the whole job, all processes of it, with this exit status. */
void lode_cluster_abort(struct lode_cluster *cluster, int status);

#endif
