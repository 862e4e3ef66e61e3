/*
 * Measures the time between two probes: a call of
 * a function, or the stretch between two marks. Only what is longer than its limit
 * leaves the kernel.
 */
#ifndef LODE_RECORD_BPF_SPANS_BPF_H
#define LODE_RECORD_BPF_SPANS_BPF_H

#include "record/bpf/filters.bpf.h"
#include "record/bpf/limits.bpf.h"

struct span_key {
	uint32_t tid;
	uint32_t limit;
};

struct span {
	uint64_t t;
	uint64_t sp; /* 0: a mark's */
};

/* Those that have begun. A thread that dies in one leaves it behind, until there are too many. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct span_key);
	__type(value, struct span);
} spans SEC(".maps");

static __always_inline uint64_t span_pointer(struct pt_regs *context, uint64_t cookie)
{
	return cookie & LODE_RECORD_SPAN_MARK ? 0 : REGS_SP(context);
}

/*
 * A call below one that has begun belongs to it. One at the same place, or above,
 * says that the other was left without its end: by an exception, or a jump.
 */
SEC("uprobe")
int lode_span_begin(struct pt_regs *context)
{
	uint64_t cookie = bpf_get_attach_cookie(context);
	struct span_key key = { .tid = (uint32_t)bpf_get_current_pid_tgid(),
				.limit = (uint32_t)cookie % LODE_RECORD_LIMITS };
	struct span span = { .t = bpf_ktime_get_ns(), .sp = span_pointer(context, cookie) };
	struct span *begun = bpf_map_lookup_elem(&spans, &key);

	if (begun && begun->sp > span.sp)
		return 0;
	bpf_map_update_elem(&spans, &key, &span, BPF_ANY);
	return 0;
}

SEC("uprobe")
int lode_span_end(struct pt_regs *context)
{
	uint64_t cookie = bpf_get_attach_cookie(context), now = bpf_ktime_get_ns(), t;
	struct span_key key = { .tid = (uint32_t)bpf_get_current_pid_tgid(),
				.limit = (uint32_t)cookie % LODE_RECORD_LIMITS };
	struct span *begun = bpf_map_lookup_elem(&spans, &key);
	uint32_t limit = (uint32_t)cookie % LODE_RECORD_LIMITS;
	struct task_struct *task;

	if (!begun || begun->sp != span_pointer(context, cookie))
		return 0;
	t = begun->t;
	bpf_map_delete_elem(&spans, &key);
	task = bpf_get_current_task_btf();
	/* The compiler may not think that it knows better what the verifier must see. */
	asm volatile("" : "+r"(limit));
	limit %= LODE_RECORD_LIMITS;
	if (now - t > limits[limit].limit && is_wanted(task))
		write_fired(task, 1u << limit, t, now - t, 0);
	return 0;
}

#endif
