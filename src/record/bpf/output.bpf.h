/*
 * Counters, records and the rings that lead out of the kernel.
 *
 * A record is written into the ring of its CPU in three steps that anything may
 * interrupt: a position is taken, the slot is filled, its sequence number is
 * stored. The reader takes a slot when its sequence is the one that is due.
 */
#ifndef LODE_RECORD_BPF_OUTPUT_BPF_H
#define LODE_RECORD_BPF_OUTPUT_BPF_H

#include "record/bpf/settings.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct lode_record_ends);
} ends SEC(".maps");

/* Of all CPUs, one after the other. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct lode_record);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct lode_record_counts);
} counts SEC(".maps");

static __always_inline struct lode_record_counts *own_counts(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

#define COUNT(what)                                                                                               \
	do {                                                                                                      \
		struct lode_record_counts *counts_ = own_counts();                                                \
		if (counts_)                                                                                      \
			counts_->what++;                                                                          \
	} while (0)

/* The reader sleeps; it is woken when a ring is half full. */
__noinline int lode_wake_reader(void)
{
	uint64_t bell[2] = { 0, 0 };

	return bpf_ringbuf_output(&stacks, bell, sizeof(bell), BPF_RB_FORCE_WAKEUP);
}

/* The next slot of this CPU's ring, or NULL; the caller fills it and calls finish_record. */
static __always_inline struct lode_record *begin_record(uint64_t *position)
{
	uint32_t cpu = bpf_get_smp_processor_id();
	struct lode_record_ends *end = bpf_map_lookup_elem(&ends, &cpu);
	struct lode_record *record;
	uint64_t used;
	uint32_t index;

	if (!end)
		return 0;
	used = end->head - *(volatile uint64_t *)&end->tail;
	if (used + LODE_RECORD_SPARE > ring_slots) {
		COUNT(lost);
		return 0;
	}
	*position = __sync_fetch_and_add(&end->head, 1);
	index = cpu * ring_slots + ((uint32_t)*position & (ring_slots - 1));
	record = bpf_map_lookup_elem(&slots, &index);
	if (!record)
		return 0;
	if (used == ring_slots / 2)
		lode_wake_reader();
	record->cpu = cpu;
	if (with_contexts)
		record->context = 0;
	record->object.kind = LODE_WAITED_NONE;
	record->object.argument = 0;
	return record;
}

/* What it is about: `task`, whose waker is not known or does not matter. */
static __always_inline void set_thread(struct lode_record *record, struct task_struct *task)
{
	record->waker_user = 0;
	record->waker_kernel = 0;
	record->pid = task->tgid;
	record->tid = task->pid;
	record->waker_pid = 0;
	record->waker_tid = 0;
}

static __always_inline void finish_record(struct lode_record *record, uint64_t position)
{
	__sync_lock_test_and_set(&record->sequence, position + 1);
}

#endif
