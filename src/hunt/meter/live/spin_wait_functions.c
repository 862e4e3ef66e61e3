/*
 * Spin-wait functions: see spin_wait_functions.h.
 *
 * MPI libraries wait by polling, so the scheduler sees a running thread. The list has the functions of the
 * MPI standard that return only when someone else has done something; those that only begin or test something
 * are not on it.
 */
#include "hunt/meter/live/spin_wait_functions.h"

#include "base/memory.h"
#include "hunt/meter/wait_objects.h"
#include "symbols/elf.h"

#include <stdio.h>

/* Collective calls have no tag. Functions that wait for requests or windows do not have the communicator as
 * an argument. */
#define NO_TAG (-1)

static const struct {
	const char *name;
	uint32_t message; /* where the communicator and the tag are among the arguments, from 0 */
} waiting[] = {
	{ "Recv", LODE_MESSAGE_PLACES(5, 4) },
	{ "Send", LODE_MESSAGE_PLACES(5, 4) },
	{ "Ssend", LODE_MESSAGE_PLACES(5, 4) },
	{ "Rsend", LODE_MESSAGE_PLACES(5, 4) },
	{ "Bsend", LODE_MESSAGE_PLACES(5, 4) },
	{ "Sendrecv", LODE_MESSAGE_PLACES(10, 4) },
	{ "Sendrecv_replace", LODE_MESSAGE_PLACES(7, 4) },
	{ "Mrecv", 0 },
	{ "Probe", LODE_MESSAGE_PLACES(2, 1) },
	{ "Mprobe", LODE_MESSAGE_PLACES(2, 1) },
	{ "Wait", 0 },
	{ "Waitall", 0 },
	{ "Waitany", 0 },
	{ "Waitsome", 0 },
	{ "Barrier", LODE_MESSAGE_PLACES(0, NO_TAG) },
	{ "Bcast", LODE_MESSAGE_PLACES(4, NO_TAG) },
	{ "Reduce", LODE_MESSAGE_PLACES(6, NO_TAG) },
	{ "Allreduce", LODE_MESSAGE_PLACES(5, NO_TAG) },
	{ "Gather", LODE_MESSAGE_PLACES(7, NO_TAG) },
	{ "Gatherv", LODE_MESSAGE_PLACES(8, NO_TAG) },
	{ "Allgather", LODE_MESSAGE_PLACES(6, NO_TAG) },
	{ "Allgatherv", LODE_MESSAGE_PLACES(7, NO_TAG) },
	{ "Scatter", LODE_MESSAGE_PLACES(7, NO_TAG) },
	{ "Scatterv", LODE_MESSAGE_PLACES(8, NO_TAG) },
	{ "Alltoall", LODE_MESSAGE_PLACES(6, NO_TAG) },
	{ "Alltoallv", LODE_MESSAGE_PLACES(8, NO_TAG) },
	{ "Alltoallw", LODE_MESSAGE_PLACES(8, NO_TAG) },
	{ "Reduce_scatter", LODE_MESSAGE_PLACES(5, NO_TAG) },
	{ "Reduce_scatter_block", LODE_MESSAGE_PLACES(5, NO_TAG) },
	{ "Scan", LODE_MESSAGE_PLACES(5, NO_TAG) },
	{ "Exscan", LODE_MESSAGE_PLACES(5, NO_TAG) },
	{ "Neighbor_allgather", LODE_MESSAGE_PLACES(6, NO_TAG) },
	{ "Neighbor_allgatherv", LODE_MESSAGE_PLACES(7, NO_TAG) },
	{ "Neighbor_alltoall", LODE_MESSAGE_PLACES(6, NO_TAG) },
	{ "Neighbor_alltoallv", LODE_MESSAGE_PLACES(8, NO_TAG) },
	{ "Neighbor_alltoallw", LODE_MESSAGE_PLACES(8, NO_TAG) },
	{ "Win_fence", 0 },
	{ "Win_wait", 0 },
	{ "Win_complete", 0 },
	{ "Win_lock", 0 },
	{ "Win_unlock", 0 },
	{ "Win_flush", 0 },
	{ "Win_flush_all", 0 },
	{ "Win_unlock_all", 0 },
	{ "Comm_dup", LODE_MESSAGE_PLACES(0, NO_TAG) },
	{ "Comm_split", LODE_MESSAGE_PLACES(0, NO_TAG) },
	{ "Comm_create", LODE_MESSAGE_PLACES(0, NO_TAG) },
	{ "Init", 0 },
	{ "Init_thread", 0 },
	{ "Finalize", 0 },
};

int lode_spin_wait_functions(const struct lode_code *code,
			     int (*each)(void *context, uint32_t function, uint32_t message), void *context)
{
	/* In Open MPI handles are pointers, elsewhere numbers. */
	uint32_t by_pointer = lode_code_named(code, "ompi_comm_init") != LODE_NONE ? LODE_MESSAGE_BY_POINTER : 0;
	uint32_t last = LODE_NONE;
	int result = 0;

	if (lode_code_named(code, "MPI_Barrier") == LODE_NONE && lode_code_named(code, "PMPI_Barrier") == LODE_NONE)
		return 0;
	for (size_t i = 0; !result && i < sizeof(waiting) / sizeof(waiting[0]); i++) {
		for (int both = 0; !result && both < 2; both++) {
			char name[64];
			uint32_t function;

			snprintf(name, sizeof(name), "%sMPI_%s", both ? "P" : "", waiting[i].name);
			function = lode_code_named(code, name);
			/* Both names are often one function. */
			if (function != LODE_NONE && function != last)
				result = each(context, function,
					      waiting[i].message ? waiting[i].message | by_pointer : 0);
			last = function;
		}
	}
	return result;
}

int lode_spin_wait_is_in(const char *path)
{
	static const char *const names[] = { "MPI_Barrier", "PMPI_Barrier", "__cxa_begin_catch" };
	struct lode_elf elf;
	int found = 0;

	if (lode_elf_open(&elf, path) < 0)
		return 0;
	for (size_t i = 0; !found && i < sizeof(names) / sizeof(names[0]); i++)
		found = lode_elf_exports(&elf, names[i]);
	lode_elf_close(&elf);
	return found;
}
