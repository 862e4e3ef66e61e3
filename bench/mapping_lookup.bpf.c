/*
 * Two ways to find the mapping that an address of a thread lies in, where the recorder needs it: at a context switch and at a
 * sample. For bench/mapping_lookup.c.
 *
 * The kernel is asked (bpf_find_vma), and a sorted array is searched, as the recorder does with what the side-band reported.
 */
#include "record/bpf/kernel_types.h"

#include "mapping_lookup.h"

#include <bpf/bpf_helpers.h>

char programs_license[] SEC("license") = "GPL";

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
} __attribute__((preserve_access_index));

const volatile uint32_t process = 0;
const volatile uint64_t addresses[LOOKUPS] = { 0 }; /* one is looked up after the other, as frames of a walk are */
const volatile uint32_t mapping_count = 0;
struct lookup_figures figures[LOOKUP_PLACES][LOOKUP_WAYS];

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LOOKUP_MAPPINGS);
	__type(key, uint32_t);
	__type(value, struct lookup_mapping);
} mappings SEC(".maps");

static long keep_mapping(struct task_struct *task, struct vm_area_struct *area, void *found)
{
	struct lookup_mapping *mapping = found;

	mapping->start = area->vm_start;
	mapping->end = area->vm_end;
	mapping->offset = area->vm_pgoff << 12;
	return 0;
}

static __always_inline int ask(struct task_struct *task, uint64_t address, struct lookup_mapping *found)
{
	return (int)bpf_find_vma(task, address, keep_mapping, found, 0);
}

static __always_inline int search(uint64_t address, struct lookup_mapping *found)
{
	uint32_t low = 0, high = mapping_count, middle;
	struct lookup_mapping *mapping;

	for (int i = 0; i < 12 && low < high; i++) {
		middle = (low + high) / 2;
		mapping = bpf_map_lookup_elem(&mappings, &middle);
		if (!mapping)
			return -1;
		if (mapping->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	low--;
	mapping = bpf_map_lookup_elem(&mappings, &low);
	if (!mapping || address >= mapping->end)
		return -1;
	*found = *mapping;
	return 0;
}

static __always_inline void count(struct lookup_figures *sums, uint32_t i, int code, uint64_t ns,
				  const struct lookup_mapping *found, uint64_t address)
{
	if (code == 0 && found->start <= address && address < found->end)
		__sync_fetch_and_add(&sums->found[i], 1);
	else if (code == -16)
		__sync_fetch_and_add(&sums->busy[i], 1);
	else
		__sync_fetch_and_add(&sums->failed[i], 1);
	__sync_fetch_and_add(&sums->ns[i], ns);
}

static __always_inline void look_up(struct task_struct *task, enum lookup_place place)
{
	struct lookup_mapping found = { 0 };
	uint64_t before, after;
	int code;

	for (uint32_t i = 0; i < LOOKUPS; i++) {
		before = bpf_ktime_get_ns();
		code = ask(task, addresses[i], &found);
		after = bpf_ktime_get_ns();
		count(&figures[place][LOOKUP_ASKED], i, code, after - before, &found, addresses[i]);
	}
	for (uint32_t i = 0; i < LOOKUPS; i++) {
		before = bpf_ktime_get_ns();
		code = search(addresses[i], &found);
		after = bpf_ktime_get_ns();
		count(&figures[place][LOOKUP_SEARCHED], i, code, after - before, &found, addresses[i]);
	}
	for (uint32_t i = 0; i < LOOKUPS; i++) {
		before = bpf_ktime_get_ns();
		after = bpf_ktime_get_ns();
		count(&figures[place][LOOKUP_NOTHING], i, 1, after - before, &found, addresses[i]);
	}
}

SEC("tp_btf/sched_switch")
int lookup_switch(uint64_t *context)
{
	struct task_struct *previous = (void *)context[1];

	if ((uint32_t)previous->tgid == process)
		look_up(previous, LOOKUP_SWITCH);
	return 0;
}

SEC("perf_event")
int lookup_sample(void *context)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if ((uint32_t)task->tgid == process)
		look_up(task, LOOKUP_SAMPLE);
	return 0;
}
