/*
 * Plain programs: see plain_programs.h. They are recorder.bpf.c as well, compiled without
 * bpf_rdonly_cast: before Linux 5.16 the kernel refuses a call of a function that it does
 * not have even where the call is never reached.
 */
#include "record/load/plain_programs.h"

#include "record/bpf/records.h"
#include "record/budget/time_slots.h"
#include "record/bpf/unwind_maps.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "record/bpf/recorder_plain.skel.h"
#pragma GCC diagnostic pop

struct recorder *lode_recorder_open_plain(void)
{
	return recorder__open();
}
