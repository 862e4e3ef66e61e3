/*
 * The module of MPI: the only file that includes <mpi.h>.
 *
 * A thread of the first process hands out the numbers of the shared queue. It polls, and so
 * do all that wait: MPI's own waiting spins, and other programs on the host need the processor.
 * All messages use a separate communicator, so that they do not mix with others.
 *
 * A message is offered first, by its size. The sender polls until the receiver is ready; then
 * neither of them sleeps, since MPI moves large messages in small pieces, one or a few at each poll.
 */
#include "cluster/cluster_module.h"

#include "base/quiet_thread.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>

#define TAG_ASK    1
#define TAG_ANSWER 2
#define TAG_OFFER  3
#define TAG_WANT   4
#define TAG_BYTES  5

/* Counts of MPI are ints. */
#define LARGEST_PIECE (1u << 30)

static struct {
	MPI_Comm comm;
	int rank;
	pthread_t thread;
	int is_serving;
	int stops;
	uint64_t round; /* of the queue, and what it gives next; in the first process */
	uint64_t next;
	pthread_mutex_t lock;   /* of the three above */
	pthread_mutex_t asking; /* one question of a process at a time */
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .asking = PTHREAD_MUTEX_INITIALIZER };

static void wait_a_moment(void)
{
	const struct timespec pause = { 0, 500000 };

	nanosleep(&pause, NULL);
}

/* Waits without a processor's time, which others on this host may need. */
static int wait_for(MPI_Request *request)
{
	int done = 0;

	while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
		if (done)
			return 0;
		wait_a_moment();
	}
	return -1;
}

/* ---- the queue ---- */

/* A new round begins with the first question for it: all processes have met in between. */
static uint64_t give(uint64_t round)
{
	uint64_t number;

	pthread_mutex_lock(&queue.lock);
	if (round != queue.round) {
		queue.round = round;
		queue.next = 0;
	}
	number = queue.next;
	queue.next += number < UINT64_MAX;
	pthread_mutex_unlock(&queue.lock);
	return number;
}

static void close_round(uint64_t round)
{
	pthread_mutex_lock(&queue.lock);
	queue.round = round;
	queue.next = UINT64_MAX;
	pthread_mutex_unlock(&queue.lock);
}

static int is_stopped(void)
{
	int stops;

	pthread_mutex_lock(&queue.lock);
	stops = queue.stops;
	pthread_mutex_unlock(&queue.lock);
	return stops;
}

static int answer(const MPI_Status *status)
{
	MPI_Request request;
	uint64_t number;

	if (MPI_Recv(&number, 1, MPI_UINT64_T, status->MPI_SOURCE, TAG_ASK, queue.comm, MPI_STATUS_IGNORE) !=
	    MPI_SUCCESS)
		return -1;
	number = give(number);
	if (MPI_Isend(&number, 1, MPI_UINT64_T, status->MPI_SOURCE, TAG_ANSWER, queue.comm, &request) != MPI_SUCCESS)
		return -1;
	return wait_for(&request);
}

static void *serve(void *unused)
{
	MPI_Status status;
	int is_asked;

	while (!is_stopped()) {
		if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_ASK, queue.comm, &is_asked, &status) != MPI_SUCCESS)
			break;
		if (!is_asked)
			wait_a_moment();
		else if (answer(&status))
			break;
	}
	return unused;
}

static int ask(uint64_t *number)
{
	MPI_Request requests[2];

	if (MPI_Irecv(number, 1, MPI_UINT64_T, 0, TAG_ANSWER, queue.comm, &requests[1]) != MPI_SUCCESS)
		return -1;
	if (MPI_Isend(number + 1, 1, MPI_UINT64_T, 0, TAG_ASK, queue.comm, &requests[0]) != MPI_SUCCESS)
		return -1;
	return wait_for(&requests[0]) || wait_for(&requests[1]) ? -1 : 0;
}

static int take(uint64_t round, uint64_t *number)
{
	uint64_t message[2] = { 0, round };
	int code = 0;

	if (!queue.rank) {
		*number = give(round);
		return 0;
	}
	pthread_mutex_lock(&queue.asking);
	code = ask(message);
	pthread_mutex_unlock(&queue.asking);
	*number = message[0];
	return code;
}

/* ---- messages ---- */

/* Not on the queue's communicator: its thread receives from any process. */
static MPI_Comm messages;

/* The other is at it, too. */
static int wait_busily(MPI_Request *request)
{
	int done = 0;

	while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
		if (done)
			return 0;
		sched_yield();
	}
	return -1;
}

static int send_number(unsigned to, int tag, uint64_t number)
{
	MPI_Request request;

	if (MPI_Isend(&number, 1, MPI_UINT64_T, (int)to, tag, messages, &request) != MPI_SUCCESS)
		return -1;
	return wait_for(&request);
}

static int receive_number(unsigned from, int tag, uint64_t *number)
{
	MPI_Request request;

	if (MPI_Irecv(number, 1, MPI_UINT64_T, (int)from, tag, messages, &request) != MPI_SUCCESS)
		return -1;
	return wait_for(&request);
}

static int offer(unsigned to, uint64_t size)
{
	uint64_t wanted;

	return send_number(to, TAG_OFFER, size) || receive_number(to, TAG_WANT, &wanted) ? -1 : 0;
}

static int await_offer(unsigned from, uint64_t *size)
{
	return receive_number(from, TAG_OFFER, size);
}

static int piece_size(uint64_t left)
{
	return left < LARGEST_PIECE ? (int)left : (int)LARGEST_PIECE;
}

static int send_bytes(unsigned to, const void *bytes, uint64_t size)
{
	const char *next = bytes;

	while (size) {
		int piece = piece_size(size);
		MPI_Request request;

		if (MPI_Isend(next, piece, MPI_BYTE, (int)to, TAG_BYTES, messages, &request) != MPI_SUCCESS ||
		    wait_busily(&request))
			return -1;
		next += piece;
		size -= (unsigned)piece;
	}
	return 0;
}

static int receive_bytes(unsigned from, void *bytes, uint64_t size)
{
	char *next = bytes;

	if (send_number(from, TAG_WANT, size))
		return -1;
	while (size) {
		int piece = piece_size(size);
		MPI_Request request;

		if (MPI_Irecv(next, piece, MPI_BYTE, (int)from, TAG_BYTES, messages, &request) != MPI_SUCCESS ||
		    wait_busily(&request))
			return -1;
		next += piece;
		size -= (unsigned)piece;
	}
	return 0;
}

/* ---- the job ---- */

static int start(unsigned *rank, unsigned *size, int *takes)
{
	int given, count = 0;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &given) != MPI_SUCCESS ||
	    MPI_Comm_rank(MPI_COMM_WORLD, &queue.rank) != MPI_SUCCESS ||
	    MPI_Comm_size(MPI_COMM_WORLD, &count) != MPI_SUCCESS ||
	    MPI_Comm_dup(MPI_COMM_WORLD, &queue.comm) != MPI_SUCCESS ||
	    MPI_Comm_dup(MPI_COMM_WORLD, &messages) != MPI_SUCCESS)
		return -1;
	*takes = given == MPI_THREAD_MULTIPLE;
	if (*takes && !queue.rank && count > 1) {
		if (lode_quiet_thread(&queue.thread, serve, NULL))
			return -1;
		queue.is_serving = 1;
	}
	*rank = (unsigned)queue.rank;
	*size = (unsigned)count;
	return 0;
}

static int meet(void)
{
	MPI_Request request;

	return MPI_Ibarrier(MPI_COMM_WORLD, &request) == MPI_SUCCESS ? wait_for(&request) : -1;
}

static int stop(void)
{
	pthread_mutex_lock(&queue.lock);
	queue.stops = 1;
	pthread_mutex_unlock(&queue.lock);
	if (queue.is_serving)
		pthread_join(queue.thread, NULL);
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
	.take = take,
	.close = close_round,
	.meet = meet,
	.offer = offer,
	.send_bytes = send_bytes,
	.await_offer = await_offer,
	.receive_bytes = receive_bytes,
	.stop = stop,
	.abort = end_job,
};
