/*
 * The module of MPI: the only file that includes mpi.h. Threads of the program work
 * between the calls, but only the main thread calls.
 */
#include "cluster/cluster_module.h"

#include <mpi.h>
#include <time.h>

static int start(unsigned *rank, unsigned *size)
{
	int given, number = 0, count = 0;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS ||
	    MPI_Comm_rank(MPI_COMM_WORLD, &number) != MPI_SUCCESS ||
	    MPI_Comm_size(MPI_COMM_WORLD, &count) != MPI_SUCCESS)
		return -1;
	*rank = (unsigned)number;
	*size = (unsigned)count;
	return 0;
}

/* Waits without a processor's time, which others on this host may need. */
static int meet(void)
{
	const struct timespec pause = { 0, 2000000 };
	MPI_Request request;
	int done = 0;

	if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS)
		return -1;
	while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
		if (done)
			return 0;
		nanosleep(&pause, NULL);
	}
	return -1;
}

static int stop(void)
{
	return MPI_Finalize() == MPI_SUCCESS ? 0 : -1;
}

static int end_job(int status)
{
	return MPI_Abort(MPI_COMM_WORLD, status) == MPI_SUCCESS ? 0 : -1;
}

extern const struct lode_cluster_module lode_cluster_module;
const struct lode_cluster_module lode_cluster_module = {
	.version = LODE_CLUSTER_MODULE_VERSION,
	.start = start,
	.meet = meet,
	.stop = stop,
	.abort = end_job,
};
