/* Counts how often each place was passed: the program of uprobes_test.c. */
#include "record/bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>

char programs_license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024);
	__type(key, uint32_t);
	__type(value, uint64_t);
} counts SEC(".maps");

SEC("uprobe")
int count_call(void *context)
{
	uint32_t place = (uint32_t)bpf_get_attach_cookie(context);
	uint64_t *count = bpf_map_lookup_elem(&counts, &place);

	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}
