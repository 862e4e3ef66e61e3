/*
 * Programs that do nothing, at the places where the recorder has its own: what any
 * recorder of these events costs before its first instruction. For bench/record.
 */
#include "record/kernel_types.h"

#include <bpf/bpf_helpers.h>

char programs_license[] SEC("license") = "GPL";

SEC("tp_btf/sched_switch")
int floor_switch(uint64_t *context)
{
	return 0;
}

SEC("tp_btf/sched_waking")
int floor_waking(uint64_t *context)
{
	return 0;
}

SEC("perf_event")
int floor_sample(void *context)
{
	return 0;
}
