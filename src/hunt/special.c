/*
 * Special functions: see special.h.
 *
 * MPI libraries wait by looking again and again, so that the scheduler sees a
 * thread at work. The list has the functions of the MPI standard that return only
 * when someone else has done something; those that only begin or test something
 * are not on it.
 */
#include "hunt/special.h"

#include "base/memory.h"
#include "symbols/elf.h"

#include <stdio.h>

static const char *const waiting[] = {
	"Recv",
	"Send",
	"Ssend",
	"Rsend",
	"Bsend",
	"Sendrecv",
	"Sendrecv_replace",
	"Mrecv",
	"Probe",
	"Mprobe",
	"Wait",
	"Waitall",
	"Waitany",
	"Waitsome",
	"Barrier",
	"Bcast",
	"Reduce",
	"Allreduce",
	"Gather",
	"Gatherv",
	"Allgather",
	"Allgatherv",
	"Scatter",
	"Scatterv",
	"Alltoall",
	"Alltoallv",
	"Alltoallw",
	"Reduce_scatter",
	"Reduce_scatter_block",
	"Scan",
	"Exscan",
	"Neighbor_allgather",
	"Neighbor_allgatherv",
	"Neighbor_alltoall",
	"Neighbor_alltoallv",
	"Neighbor_alltoallw",
	"Win_fence",
	"Win_wait",
	"Win_complete",
	"Win_lock",
	"Win_unlock",
	"Win_flush",
	"Win_flush_all",
	"Win_unlock_all",
	"Comm_dup",
	"Comm_split",
	"Comm_create",
	"Init",
	"Init_thread",
	"Finalize",
};

int lode_special_waiting(const struct lode_code *code, int (*each)(void *context, uint32_t function),
			 void *context)
{
	uint32_t last = LODE_NONE;
	int result = 0;

	if (lode_code_named(code, "MPI_Barrier") == LODE_NONE &&
	    lode_code_named(code, "PMPI_Barrier") == LODE_NONE)
		return 0;
	for (size_t i = 0; !result && i < sizeof(waiting) / sizeof(waiting[0]); i++) {
		for (int both = 0; !result && both < 2; both++) {
			char name[64];
			uint32_t function;

			snprintf(name, sizeof(name), "%sMPI_%s", both ? "P" : "", waiting[i]);
			function = lode_code_named(code, name);
			/* Both names are often one function. */
			if (function != LODE_NONE && function != last)
				result = each(context, function);
			last = function;
		}
	}
	return result;
}

uint32_t lode_special_catch(const struct lode_code *code)
{
	return lode_code_named(code, "__cxa_begin_catch");
}

int lode_special_is_in(const char *path)
{
	static const char *const names[] = {"MPI_Barrier", "PMPI_Barrier", "__cxa_begin_catch"};
	struct lode_elf elf;
	int found = 0;

	if (lode_elf_open(&elf, path) < 0)
		return 0;
	for (size_t i = 0; !found && i < sizeof(names) / sizeof(names[0]); i++)
		found = lode_elf_exports(&elf, names[i]);
	lode_elf_close(&elf);
	return found;
}
