/* Parts of the kernel's stacks: see kernel_stacks.h. */
#include "record/stream/kernel_stacks.h"

#include "base/starts_with.h"

/* Frames at the leaf of a traced kernel stack among which the tracing's own are. */
#define TRACING_FRAMES 8

static int starts_with_one_of(const char *name, const char *const *starts)
{
	for (; *starts; starts++)
		if (lode_starts_with(name, *starts))
			return 1;
	return 0;
}

/* The way from a tracepoint to the recorder's program. */
static int is_tracing(const struct lode_frames *frames, uint32_t frame)
{
	static const char *const starts[] = {
		"bpf_prog_", "bpf_trace_run", "__bpf_trace_", "__traceiter_", "__bpf_prog_", "bpf_trampoline_",
		NULL
	};

	return starts_with_one_of(lode_frames_function(frames, frame), starts);
}

/* Where the kernel is entered for an interrupt, or a thread of its own does the rest of one. */
static int is_interrupt(const struct lode_frames *frames, uint32_t frame)
{
	static const char *const starts[] = { "el1h_64_irq",          "el0t_64_irq",   "el0t_32_irq",
					      "el1h_64_fiq",          "el0t_64_fiq",   "asm_sysvec_",
					      "asm_common_interrupt", "run_ksoftirqd", NULL };

	return starts_with_one_of(lode_frames_function(frames, frame), starts);
}

/* Where softirqs are served. */
static int is_softirq(const struct lode_frames *frames, uint32_t frame)
{
	static const char *const starts[] = { "handle_softirqs", "__do_softirq", "__softirqentry_text_start",
					      NULL };

	return starts_with_one_of(lode_frames_function(frames, frame), starts);
}

/* Where a softirq receives what was sent on the same machine: inside a thread's system call, that thread is the sender. */
static int is_local_delivery(const struct lode_frames *frames, uint32_t frame)
{
	static const char *const starts[] = { "process_backlog", "veth_poll", NULL };

	return starts_with_one_of(lode_frames_function(frames, frame), starts);
}

uint32_t lode_kernel_first_untraced(const struct lode_frames *frames, const uint32_t *list, uint32_t count)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < count && i < TRACING_FRAMES; i++)
		if (is_tracing(frames, list[i]))
			first = i + 1;
	return first;
}

uint32_t lode_kernel_count_interrupt(const struct lode_frames *frames, const uint32_t *list, uint32_t count)
{
	uint32_t i = 0, softirq = 0;
	int delivers = 0;

	for (; i < count && !is_interrupt(frames, list[i]); i++) {
		delivers |= is_local_delivery(frames, list[i]);
		if (!delivers && !softirq && is_softirq(frames, list[i]))
			softirq = i + 1;
	}
	while (i < count && is_interrupt(frames, list[i]))
		i++;
	return i && is_interrupt(frames, list[i - 1]) ? i : softirq;
}
