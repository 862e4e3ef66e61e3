/* Constants of the recorder's programs, set before they are loaded: see recorder_settings.h. */
#include "record/recorder_settings.h"

#include "record/load/kernel_features.h"
#include "record/load/recorder_skeleton.h"
#include "record/budget/thinning.h"
#include "record/bpf/unwind_maps.h"
#include "record/load/uprobes.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bytes of all rings together, and of one: bounds for many CPUs and for few. */
#define RINGS_BYTES (64u << 20)
#define MAX_SLOTS   65536u
/* Of the ring of stacks, where they are copied. */
#define COPIES_BYTES (64u << 20)
#define MIN_SLOTS    1024u
#define STACKS_BYTES (4u << 20)

uint32_t lode_recorder_slots(uint32_t cpus, size_t bytes)
{
	uint32_t slots = MAX_SLOTS;

	if (!bytes)
		bytes = RINGS_BYTES;
	while (slots > MIN_SLOTS && (uint64_t)slots * cpus * sizeof(struct lode_record) > bytes)
		slots /= 2;
	return slots;
}

static void set_filters(struct recorder *programs, const struct lode_recorder_options *options)
{
	programs->rodata->own_pid = (uint32_t)getpid();
	programs->rodata->only_pids = options->only_pids != 0;
	programs->rodata->only_comm = options->comm != NULL;
	programs->rodata->only_cgroup = options->cgroup != NULL;
	programs->rodata->min_wait = options->min_wait;
	if (options->comm) {
		char comm[16] = "";

		memcpy(comm, options->comm, strnlen(options->comm, sizeof(comm) - 1));
		memcpy((void *)(uintptr_t)programs->rodata->wanted_comm, comm, sizeof(comm));
	}
}

static void set_calls(uint64_t *bits, const unsigned *calls, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bits[calls[i] / 64] |= 1ull << (calls[i] % 64);
}

/*
 * System calls by which programs wait for the next event, or for a point in time;
 * idle.rules has their functions in the kernel. poll and select are not among them:
 * clients of servers wait so for an answer.
 */
static void set_idle_calls(struct recorder *programs)
{
	static const unsigned calls[] = {
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
#endif
#ifdef SYS_pause
		SYS_pause,
#endif
#ifdef SYS_epoll_pwait2
		SYS_epoll_pwait2,
#endif
#ifdef SYS_io_pgetevents
		SYS_io_pgetevents,
#endif
		SYS_epoll_pwait,     SYS_accept,          SYS_accept4,       SYS_nanosleep,
		SYS_clock_nanosleep, SYS_rt_sigtimedwait, SYS_rt_sigsuspend, SYS_io_getevents,
	};
	uint64_t *bits = (void *)(uintptr_t)programs->rodata->idle_calls;

	set_calls(bits, calls, sizeof(calls) / sizeof(*calls));
}

/* System calls that outer loops of servers wait in, the surest first (requests.bpf.h). */
static void set_request_calls(struct recorder *programs)
{
	static const unsigned events[] = {
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
#endif
#ifdef SYS_epoll_pwait2
		SYS_epoll_pwait2,
#endif
		SYS_epoll_pwait,  SYS_accept, SYS_accept4, SYS_io_getevents,
	};
	static const unsigned polling[] = {
#ifdef SYS_poll
		SYS_poll,
		SYS_select,
#endif
		SYS_ppoll,
		SYS_pselect6,
	};
	static const unsigned receiving[] = { SYS_read, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg };

	set_calls((void *)(uintptr_t)programs->rodata->event_calls, events, sizeof(events) / sizeof(*events));
	set_calls((void *)(uintptr_t)programs->rodata->poll_calls, polling, sizeof(polling) / sizeof(*polling));
	set_calls((void *)(uintptr_t)programs->rodata->receive_calls, receiving,
		  sizeof(receiving) / sizeof(*receiving));
}

int lode_recorder_can_track_long_waits(const struct lode_recorder_options *options)
{
	return options->thin && !options->cgroup && lode_kernel_counts_arrivals();
}

int lode_recorder_limits_at_waking(const struct lode_recorder_options *options)
{
	int waits = 0;

	for (size_t i = 0; i < options->limit_count; i++) {
		if (options->limits[i].type == LODE_LIMIT_QUEUE || options->limits[i].type == LODE_LIMIT_REQUEST)
			return 0;
		waits |= options->limits[i].type == LODE_LIMIT_WAIT;
	}
	return waits && lode_recorder_can_track_long_waits(options);
}

/* Nanoseconds; 0: none. Shorter waits than those that are requested are not recorded at all. */
static uint64_t long_wait_limit(const struct lode_recorder_options *options)
{
	uint64_t limit = options->long_waits ? options->long_waits : LODE_THIN_LONG;

	if (!lode_recorder_can_track_long_waits(options))
		return 0;
	return options->min_wait > limit ? options->min_wait : limit;
}

static void set_limits(struct recorder *programs, const struct lode_recorder_options *options)
{
	struct lode_record_limit *limits = (void *)(uintptr_t)programs->rodata->limits;

	for (size_t i = 0; i < options->limit_count && i < LODE_RECORD_LIMITS; i++) {
		limits[i] = options->limits[i];
		if (limits[i].type == LODE_LIMIT_REQUEST) {
			programs->rodata->with_requests = true;
			if (limits[i].limit < programs->rodata->least_request)
				programs->rodata->least_request = limits[i].limit;
		}
		if (limits[i].type != LODE_LIMIT_WAIT && limits[i].type != LODE_LIMIT_QUEUE)
			continue;
		if (limits[i].limit < programs->rodata->least_limit)
			programs->rodata->least_limit = limits[i].limit;
	}
}

/* Only where there are spans to measure: kernels before Linux 6.6 do not know such programs. */
static void set_spans(struct recorder *programs, const struct lode_recorder_options *options)
{
	struct bpf_program *const both[] = { programs->progs.lode_span_begin, programs->progs.lode_span_end };
	int wanted = 0;

	for (size_t i = 0; i < options->limit_count; i++)
		wanted |= options->limits[i].type == LODE_LIMIT_SPAN;
	for (size_t i = 0; i < 2; i++) {
		bpf_program__set_autoload(both[i], wanted);
		bpf_program__set_autoattach(both[i], false);
		bpf_program__set_expected_attach_type(both[i], (enum bpf_attach_type)LODE_UPROBES_ATTACH_TYPE);
	}
	if (!wanted)
		bpf_map__set_max_entries(programs->maps.spans, 1);
}

static void set_kernel_locks(struct recorder *programs, const struct lode_recorder_options *options)
{
	programs->rodata->with_kernel_locks = options->kernel_locks != 0;
	bpf_program__set_autoload(programs->progs.lode_contention_begin, options->kernel_locks != 0);
	bpf_program__set_autoload(programs->progs.lode_contention_end, options->kernel_locks != 0);
	if (!options->kernel_locks)
		bpf_map__set_max_entries(programs->maps.kernel_locks, 1);
}

/* Only where they are requested: the program is one of those that kernels before Linux 6.6 do not know. */
static void set_contexts(struct recorder *programs, const struct lode_recorder_options *options)
{
	programs->rodata->with_contexts = options->contexts || options->traces;
	programs->rodata->with_traces = options->traces != 0;
	bpf_program__set_autoload(programs->progs.lode_context, options->contexts != 0);
	bpf_program__set_autoattach(programs->progs.lode_context, false);
	bpf_program__set_expected_attach_type(programs->progs.lode_context,
					      (enum bpf_attach_type)LODE_UPROBES_ATTACH_TYPE);
	if (!options->contexts && !options->traces)
		bpf_map__set_max_entries(programs->maps.thread_contexts, 1);
	if (!options->traces)
		bpf_map__set_max_entries(programs->maps.context_processes, 1);
}

static void set_launches(struct recorder *programs, const struct lode_recorder_options *options)
{
	bpf_program__set_autoload(programs->progs.lode_launch, options->launches != 0);
	bpf_program__set_autoattach(programs->progs.lode_launch, false);
	bpf_program__set_expected_attach_type(programs->progs.lode_launch,
					      (enum bpf_attach_type)LODE_UPROBES_ATTACH_TYPE);
}

uint32_t lode_recorder_stacks_bytes(const struct lode_recorder_options *options)
{
	int is_small = options->ring_bytes && options->ring_bytes < 4 * STACKS_BYTES;

	if (options->unwind == LODE_RECORDER_DWARF)
		return is_small ? STACKS_BYTES : COPIES_BYTES;
	if (is_small)
		return STACKS_BYTES / 4;
	return options->unwind == LODE_RECORDER_AUTO ? 4 * STACKS_BYTES : STACKS_BYTES;
}

static void set_unwinding(struct recorder *programs, const struct lode_recorder_options *options,
			  const struct lode_kernel_features *kernel)
{
	int by_tables = options->unwind == LODE_RECORDER_AUTO;
	struct bpf_map *const tables[] = { programs->maps.unwind_spaces,      programs->maps.unwind_mappings,
					   programs->maps.unwind_sizes,       programs->maps.unwind_rules,
					   programs->maps.unwind_tables,      programs->maps.recent_walks,
					   programs->maps.language_processes, programs->maps.python_threads };

	bpf_map__set_max_entries(programs->maps.stacks, lode_recorder_stacks_bytes(options));
	programs->rodata->stacks_half = lode_recorder_stacks_bytes(options) / 2;
	programs->rodata->use_tables = by_tables;
	programs->rodata->languages = by_tables ? options->languages : 0;
	if (options->unwind == LODE_RECORDER_FRAME_POINTER)
		bpf_map__set_max_entries(programs->maps.copies, 1);
	else
		programs->rodata->copy_bytes = options->copy_bytes ? options->copy_bytes : LODE_RECORD_COPY_BYTES;
	for (size_t i = 0; !by_tables && i < sizeof(tables) / sizeof(*tables); i++)
		bpf_map__set_max_entries(tables[i], 1);
	if (by_tables && !options->calls)
		bpf_map__set_max_entries(programs->maps.recent_walks, 1 << LODE_RECENT_WALKS_BITS);
	bpf_program__set_autoload(programs->progs.lode_fork, options->only_pids || by_tables || options->traces);
	bpf_program__set_autoload(programs->progs.lode_exit, options->only_pids || by_tables || options->totals ||
								     options->thin || options->traces);
	bpf_program__set_autoload(programs->progs.lode_exec,
				  by_tables || options->has_command || options->traces || options->contexts);
	/* A kernel that does not report it has tables that are out of date for a moment when a library takes another's place. */
	bpf_program__set_autoload(programs->progs.lode_map, by_tables && kernel->reports_areas);
}

void lode_recorder_set_up(struct recorder *programs, const struct lode_recorder_options *options,
			  const struct lode_kernel_features *kernel, uint32_t cpus, uint32_t slots)
{
	set_filters(programs, options);
	set_limits(programs, options);
	set_idle_calls(programs);
	set_request_calls(programs);
	set_spans(programs, options);
	set_contexts(programs, options);
	set_launches(programs, options);
	set_kernel_locks(programs, options);
	programs->rodata->has_writer = options->has_writer != 0;
	programs->rodata->has_command = options->has_command != 0;
	programs->rodata->ring_slots = slots;
	programs->rodata->switch_has_state = kernel->switch_has_state;
	programs->rodata->has_kernel_names = kernel->shows_names;
	programs->rodata->finds_preempt_count = kernel->finds_preempt_count != 0;
	programs->rodata->preempt_count_from_queue = kernel->preempt_count_from_queue;
	programs->rodata->walk_kernel = !options->no_own_walk;
	programs->rodata->only_own = options->only_own != 0;
	programs->rodata->thin = options->thin != 0;
	programs->rodata->with_totals = options->totals && !options->cgroup;
	bpf_program__set_autoload(programs->progs.lode_totals, programs->rodata->with_totals);
	bpf_program__set_autoattach(programs->progs.lode_totals, false);
	programs->rodata->with_sweeps = options->thin && !options->cgroup;
	bpf_program__set_autoload(programs->progs.lode_sweep, programs->rodata->with_sweeps);
	bpf_program__set_autoattach(programs->progs.lode_sweep, false);
	bpf_program__set_autoload(programs->progs.lode_sweep_at_once,
				  programs->rodata->with_sweeps && kernel->iterates_threads);
	bpf_program__set_autoattach(programs->progs.lode_sweep_at_once, false);
	bpf_program__set_autoload(programs->progs.lode_begin_slot, options->thin);
	bpf_program__set_autoattach(programs->progs.lode_begin_slot, false);
	bpf_program__set_autoload(programs->progs.lode_begin_slot_at_once,
				  options->thin && kernel->iterates_threads);
	bpf_program__set_autoattach(programs->progs.lode_begin_slot_at_once, false);
	programs->rodata->limits_at_waking = lode_recorder_limits_at_waking(options);
	programs->rodata->certain_limit = long_wait_limit(options);
	if (options->long_waits && options->long_waits < INT64_MAX)
		programs->rodata->long_wait_ns = options->long_waits;
	bpf_program__set_autoload(programs->progs.lode_long_wait,
				  programs->rodata->limits_at_waking || programs->rodata->certain_limit);
	bpf_program__set_autoattach(programs->progs.lode_long_wait, false);
	if (!options->thin) {
		bpf_map__set_max_entries(programs->maps.wait_sites, 1);
		bpf_map__set_max_entries(programs->maps.sweeps, 1);
	}
	programs->rodata->with_calls = options->calls && !options->comm && !options->cgroup;
	set_unwinding(programs, options, kernel);
	bpf_map__set_max_entries(programs->maps.ends, cpus);
	bpf_map__set_max_entries(programs->maps.slots, cpus * slots);
	bpf_program__set_autoload(programs->progs.lode_call, options->calls);
	bpf_program__set_autoload(programs->progs.lode_sample, options->frequency > 0);
	bpf_program__set_autoattach(programs->progs.lode_sample, false);
}
