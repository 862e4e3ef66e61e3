/*
 * How the recorder learns what processes map: tracked at once by a program in the kernel, reported by the kernel, or
 * read from /proc (map_reads.h). A budget chooses.
 */
#include "base/clock.h"
#include "record/load/permissions.h"
#include "record/recorder_state.h"

void lode_recorder_set_mmap_tracking(struct lode_recorder *recorder, int on)
{
	struct recorder *programs = recorder->programs;

	if (!bpf_program__autoload(programs->progs.lode_map) || !recorder->started ||
	    on == !!programs->links.lode_map)
		return;
	if (on) {
		programs->links.lode_map = bpf_program__attach(programs->progs.lode_map); /* later if it fails */
		return;
	}
	bpf_link__destroy(programs->links.lode_map);
	programs->links.lode_map = NULL;
}

/* Nanoseconds for which mappings are read when the kernel reports them again: what it did not report is known then, of processes that run. */
#define READ_ON_NS 30000000000u

int lode_recorder_set_map_reads(struct lode_recorder *recorder, int on)
{
	uint32_t *own = (uint32_t *)(uintptr_t)&recorder->programs->bss->reads_maps;
	int before = recorder->reads_until == UINT64_MAX;

	if (!recorder->loader || on == before || (on && !lode_permissions_read_maps()))
		return before;
	if (lode_sideband_report_maps(recorder->sideband, !on) < 0) {
		lode_sideband_report_maps(recorder->sideband, !before);
		return before;
	}
	recorder->has_read_maps = 1;
	recorder->reads_until = on ? UINT64_MAX : lode_now() + READ_ON_NS;
	lode_unwind_loader_doubt(recorder->loader);
	__atomic_store_n(own, 1, __ATOMIC_SEQ_CST);
	return on;
}
