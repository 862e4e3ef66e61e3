/*
 * Programs at the places where the recorder has its own. For bench/record.
 *
 * floor_*: do nothing: what any recorder of these events costs before its first instruction.
 * uniform_switch: takes the stacks of waits with one chance for all of them, decided when a thread stops running, and the
 * wait's length when it runs again: how other profilers thin out.
 */
#include "record/bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>

char programs_license[] SEC("license") = "GPL";

const volatile uint32_t one_in = 1; /* waits is recorded */

struct wait {
	uint64_t began;
	int32_t user;
	int32_t kernel;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, uint32_t);
	__type(value, struct wait);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, 127 * sizeof(uint64_t));
} traces SEC(".maps");

/* Nanoseconds by user and kernel stack. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, uint64_t);
	__type(value, uint64_t);
} sums SEC(".maps");

SEC("tp_btf/sched_switch")
int floor_switch(uint64_t *context)
{
	return 0;
}

#define USER_STACK (1ULL << 8)

static __always_inline void end_wait(uint32_t tid)
{
	struct wait *wait = bpf_map_lookup_elem(&waits, &tid);
	uint64_t key, length, *sum;

	if (!wait)
		return;
	key = (uint64_t)(uint32_t)wait->user << 32 | (uint32_t)wait->kernel;
	length = (bpf_ktime_get_ns() - wait->began) * one_in;
	sum = bpf_map_lookup_elem(&sums, &key);
	if (sum)
		__sync_fetch_and_add(sum, length);
	else
		bpf_map_update_elem(&sums, &key, &length, BPF_ANY);
	bpf_map_delete_elem(&waits, &tid);
}

SEC("tp_btf/sched_switch")
int uniform_switch(uint64_t *context)
{
	struct task_struct *previous = (void *)context[1], *next = (void *)context[2];
	uint32_t tid = previous->pid;
	struct wait wait;

	if (tid && bpf_get_prandom_u32() % one_in == 0) {
		wait.began = bpf_ktime_get_ns();
		wait.user = bpf_get_stackid(context, &traces, USER_STACK);
		wait.kernel = bpf_get_stackid(context, &traces, 0);
		bpf_map_update_elem(&waits, &tid, &wait, BPF_ANY);
	}
	if (next->pid)
		end_wait(next->pid);
	return 0;
}

SEC("tp_btf/sched_waking")
int floor_waking(uint64_t *context)
{
	return 0;
}

SEC("tp_btf/vm_unmapped_area")
int floor_mapping(uint64_t *context)
{
	return 0;
}

SEC("perf_event")
int floor_sample(void *context)
{
	return 0;
}
