/*
 * A program of two ranks for the hunt: the second waits for messages of the first,
 * most of the time for those of tag 7 in a separate communicator. Compiled by
 * mpicc, where there is one.
 *
 *	mpiexec -n 2 messages SECONDS
 */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void rest(long milliseconds)
{
	struct timespec time = { 0, milliseconds * 1000000 };

	nanosleep(&time, NULL);
}

static void lead(MPI_Comm own, int go)
{
	rest(30);
	MPI_Send(&go, 1, MPI_INT, 1, 7, own);
	rest(10);
	MPI_Send(&go, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
}

static void follow(MPI_Comm own, int *go)
{
	MPI_Recv(go, 1, MPI_INT, 0, 7, own, MPI_STATUS_IGNORE);
	MPI_Recv(go, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int count, char **words)
{
	double end = now() + (count > 1 ? atof(words[1]) : 1);
	MPI_Comm own;
	int rank, go = 1;

	MPI_Init(&count, &words);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &own);
	while (go) {
		if (rank)
			follow(own, &go);
		else
			lead(own, go = now() < end);
	}
	MPI_Finalize();
	return 0;
}
