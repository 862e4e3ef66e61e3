/*
 * Recorder: see recorder.h. This file loads the BPF programs, starts and stops them. Beside it: recorder_settings.c (before
 * loading), recorder_samples.c (CPU samples), recorder_reader.c (reading), recorder_threads.c (threads off their CPU),
 * recorder_slots.c (slots, sweeps, totals), recorder_maps.c (what processes map) and recorder_counts.c; they share recorder_state.h.
 */
#include "record/recorder.h"

#include "base/clock.h"
#include "record/load/bpf_loading.h"
#include "record/load/kernel_features.h"
#include "record/load/permissions.h"
#include "record/load/plain_programs.h"
#include "record/recorder_settings.h"
#include "record/recorder_state.h"
#include "record/unwind/table_preload.h"
#include "record/load/uprobes.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Nanoseconds for which mappings are read and tables loaded before a recording starts. */
#define PRELOAD_NS 150000000u

/* Stacks that are held while a table is made, where memory is not counted. */
#define HELD_BYTES (64u << 20)

uint64_t lode_recorder_period(const struct lode_recorder_options *options)
{
	return options->frequency ? 1000000000u / options->frequency : 0;
}

int lode_recorder_sees_all_waits(const struct lode_recorder_options *options)
{
	int waits = 0;

	for (size_t i = 0; i < options->limit_count; i++) {
		if (options->limits[i].type == LODE_LIMIT_QUEUE || options->limits[i].type == LODE_LIMIT_REQUEST)
			return 1;
		waits |= options->limits[i].type == LODE_LIMIT_WAIT;
	}
	if (options->thin && options->long_waits && !lode_recorder_can_track_long_waits(options))
		return 1;
	return waits && !lode_recorder_limits_at_waking(options);
}

static int explain(int number, struct lode_error *error)
{
	struct utsname system;
	int code = lode_bpf_loading_fail(LODE_NEEDS_PROGRAMS, number, error);

	if (code)
		return code;
	return lode_fail(error, LODE_SYSTEM,
			 "Linux %s cannot run the recorder: %s; Linux 5.15 or newer is needed, else use "
			 "'perf record' and 'lode import'",
			 uname(&system) < 0 ? "?" : system.release, strerror(number));
}

/*
 * Process numbers are those of the machine. In a container that numbers its own
 * they would be mistaken for others.
 */
static int check_namespace(struct lode_error *error)
{
	char link[64];
	ssize_t size = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

	if (size < 0)
		return 0;
	link[size] = '\0';
	if (!strcmp(link, "pid:[4026531836]"))
		return 0;
	return lode_fail(error, LODE_SYSTEM,
			 "this container has a PID namespace of its own; record from outside it with --cgroup, or "
			 "start it in the host's ('docker run --pid=host')");
}

static int load(struct lode_recorder *recorder, const struct lode_recorder_options *options,
		struct lode_error *error)
{
	struct lode_kernel_features kernel;
	int code;

	lode_bpf_loading_begin();
	if (options->kernel_locks && libbpf_find_vmlinux_btf_id("contention_begin", BPF_TRACE_RAW_TP) < 0) {
		lode_bpf_loading_end();
		return lode_fail(
			error, LODE_SYSTEM,
			"--kernel-locks: this kernel does not report contention; Linux 5.19 or newer is needed");
	}
	kernel = lode_kernel_features();
	recorder->programs = kernel.can_cast ? recorder__open() : lode_recorder_open_plain();
	if (!recorder->programs) {
		code = explain(errno, error);
		lode_bpf_loading_end();
		return code;
	}
	lode_recorder_set_up(recorder->programs, options, &kernel, recorder->cpu_count, recorder->slot_count);
	code = recorder__load(recorder->programs);
	if (code &&
	    (bpf_program__autoload(recorder->programs->progs.lode_span_begin) || options->contexts ||
	     options->launches) &&
	    lode_uprobes_possible(error) < 0)
		return LODE_SYSTEM;
	return code ? explain(-code, error) : 0;
}

static int map_rings(struct lode_recorder *recorder, struct lode_error *error)
{
	int protection = PROT_READ | PROT_WRITE;
	void *ends, *slots;

	recorder->ends_bytes = recorder->cpu_count * sizeof(*recorder->ends);
	recorder->slots_bytes = (size_t)recorder->cpu_count * recorder->slot_count * sizeof(*recorder->slots);
	ends = mmap(NULL, recorder->ends_bytes, protection, MAP_SHARED, /* from the kernel */
		    bpf_map__fd(recorder->programs->maps.ends), 0);
	if (ends != MAP_FAILED)
		recorder->ends = ends;
	slots = mmap(NULL, recorder->slots_bytes, PROT_READ, MAP_SHARED, /* from the kernel */
		     bpf_map__fd(recorder->programs->maps.slots), 0);
	if (slots != MAP_FAILED)
		recorder->slots = slots;
	if (recorder->ends && recorder->slots)
		return lode_rings_init(&recorder->rings, recorder->ends, recorder->slots, recorder->cpu_count,
				       recorder->slot_count) < 0
			       ? lode_fail_memory(error)
			       : 0;
	return lode_fail(error, LODE_SYSTEM, "the recorder's ring buffers cannot be mapped: %s", strerror(errno));
}

static int open_unwinding(struct lode_recorder *recorder, const struct lode_recorder_options *options,
			  struct lode_error *error)
{
	const struct recorder *programs = recorder->programs;
	struct lode_unwind_maps maps = {
		.spaces = bpf_map__fd(programs->maps.unwind_spaces),
		.mappings = bpf_map__fd(programs->maps.unwind_mappings),
		.sizes = bpf_map__fd(programs->maps.unwind_sizes),
		.rules = bpf_map__fd(programs->maps.unwind_rules),
		.tables = bpf_map__fd(programs->maps.unwind_tables),
		.languages = bpf_map__fd(programs->maps.language_processes),
		.taken = programs->bss->taken,
	};

	if (options->unwind == LODE_RECORDER_FRAME_POINTER)
		return 0;
	recorder->unwinds = 1;
	lode_stack_copies_init(&recorder->copies, &recorder->unwinder);
	recorder->held_limit = options->ring_bytes ? lode_recorder_stacks_bytes(options) : HELD_BYTES;
	recorder->maker = lode_table_maker_create(lode_recorder_hold_stacks, recorder);
	if (lode_process_unwinder_init(&recorder->unwinder, options->cache) < 0 || !recorder->maker)
		return lode_fail_memory(error);
	recorder->unwinder.open_table = lode_table_maker_open;
	recorder->unwinder.open_context = recorder->maker;
	if (options->unwind == LODE_RECORDER_AUTO) {
		if (options->languages)
			recorder->languages = lode_languages_create(options->languages, &lode_live_memory);
		if (options->languages && !recorder->languages)
			return lode_fail_memory(error);
		if (options->languages && options->lines)
			lode_languages_want_lines(recorder->languages);
		recorder->unwinder.languages = recorder->languages;
		recorder->loader = lode_unwind_loader_create(&maps, &recorder->unwinder);
		if (!recorder->loader)
			return lode_fail_memory(error);
	}
	return 0;
}

static int set_cgroup(struct lode_recorder *recorder, const char *path, struct lode_error *error)
{
	uint32_t zero = 0;

	if (!path)
		return 0;
	recorder->cgroup = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (recorder->cgroup < 0)
		return lode_fail(error, LODE_USAGE, "%s: %s; name the folder of a control group", path,
				 strerror(errno));
	if (bpf_map_update_elem(bpf_map__fd(recorder->programs->maps.cgroups), &zero, &recorder->cgroup, BPF_ANY) <
	    0)
		return lode_fail(error, LODE_USAGE,
				 "%s: is not a control group (of version 2); name a folder below /sys/fs/cgroup",
				 path);
	return 0;
}

int lode_recorder_create(struct lode_recorder **result, const struct lode_recorder_options *options,
			 struct lode_error *error)
{
	struct lode_recorder *recorder = lode_calloc(1, sizeof(*recorder));
	int cpus = libbpf_num_possible_cpus();
	int code;

	*result = NULL;
	if (!recorder)
		return lode_fail_memory(error);
	recorder->cgroup = -1;
	recorder->cpu_count = cpus > 0 ? (uint32_t)cpus : 1;
	recorder->slot_count = lode_recorder_slots(recorder->cpu_count, options->ring_bytes);
	recorder->frequency = options->frequency;
	recorder->period = lode_recorder_period(options);
	code = check_namespace(error);
	if (!code)
		code = load(recorder, options, error);
	if (!code)
		code = map_rings(recorder, error);
	if (!code)
		code = lode_recorder_open_stacks(recorder, error);
	if (!code)
		code = open_unwinding(recorder, options, error);
	if (!code)
		code = set_cgroup(recorder, options->cgroup, error);
	if (!code)
		code = lode_sideband_open(&recorder->sideband, error);
	if (code) {
		lode_recorder_destroy(recorder);
		return code;
	}
	*result = recorder;
	return 0;
}

void lode_recorder_destroy(struct lode_recorder *recorder)
{
	if (!recorder)
		return;
	lode_recorder_stop_samples(recorder);
	lode_sweeper_destroy(recorder->sweeper, 0);
	lode_scheduler_programs_destroy(recorder->scheduler);
	ring_buffer__free(recorder->stacks);
	lode_ring_fill_close(&recorder->stacks_fill);
	lode_unwind_loader_destroy(recorder->loader);
	lode_stack_copies_release(&recorder->copies);
	lode_map_reads_release(&recorder->map_reads);
	lode_table_maker_destroy(recorder->maker);
	lode_process_unwinder_release(&recorder->unwinder);
	lode_languages_destroy(recorder->languages);
	lode_buffer_release(&recorder->held);
	lode_rings_release(&recorder->rings);
	if (recorder->ends)
		munmap(recorder->ends, recorder->ends_bytes);
	if (recorder->slots)
		munmap(recorder->slots, recorder->slots_bytes);
	lode_task_visit_release(&recorder->slot_visit);
	if (recorder->programs) {
		recorder__destroy(recorder->programs);
		lode_bpf_loading_end();
	}
	lode_sideband_close(recorder->sideband);
	if (recorder->cgroup >= 0)
		close(recorder->cgroup);
	lode_free(recorder->seen);
	lode_free(recorder->open);
	lode_free(recorder);
}

int lode_recorder_add_pid(struct lode_recorder *recorder, uint32_t pid, struct lode_error *error)
{
	uint8_t one = 1;

	recorder->programs->bss->pid_hints[pid % LODE_RECORD_PID_HINTS] = 1;
	if (bpf_map_update_elem(bpf_map__fd(recorder->programs->maps.pids), &pid, &one, BPF_ANY) < 0)
		return lode_fail(error, LODE_SYSTEM, "process %u cannot be added to the BPF programs' filter: %s",
				 pid, strerror(errno));
	/* What it has mapped is read now: when its first stack is unwound it may run another program. */
	if (recorder->unwinds && !lode_processes_get(&recorder->unwinder.processes, pid))
		return lode_fail_memory(error);
	return 0;
}

int lode_recorder_start(struct lode_recorder *recorder, struct lode_error *error)
{
	int code;

	if (recorder->loader &&
	    lode_tables_preload(recorder->loader, &recorder->unwinder, recorder->programs->rodata->only_pids,
				PRELOAD_NS, &recorder->left_out) < 0)
		return lode_fail_memory(error);
	code = recorder__attach(recorder->programs);
	if (code)
		return explain(-code, error);
	if (recorder->programs->rodata->thin) {
		recorder->scheduler = lode_scheduler_programs_create(recorder->programs);
		if (!recorder->scheduler)
			return lode_fail_memory(error);
	}
	if (recorder->programs->rodata->with_sweeps) {
		recorder->sweeper = lode_sweeper_create(recorder->programs);
		if (!recorder->sweeper)
			return lode_fail_memory(error);
	}
	recorder->started = 1;
	recorder->programs->bss->sweep_from = lode_now();
	lode_recorder_take_totals(recorder, LODE_RECORD_TOTALS_FIRST);
	return lode_recorder_start_samples(recorder, error);
}

int lode_recorder_stop(struct lode_recorder *recorder, const struct lode_recorder_sink *sink)
{
	uint64_t end = lode_now();

	if (lode_recorder_keep_slot(recorder) < 0)
		return LODE_SYSTEM;
	lode_sweeper_destroy(recorder->sweeper, 1);
	recorder->sweeper = NULL;
	lode_recorder_take_totals(recorder, LODE_RECORD_TOTALS_LAST);
	lode_recorder_stop_samples(recorder);
	lode_scheduler_programs_destroy(recorder->scheduler);
	recorder->scheduler = NULL;
	recorder__detach(recorder->programs);
	return lode_recorder_add_open_waits(recorder, end) < 0 ? LODE_SYSTEM : lode_recorder_read(recorder, sink);
}

int lode_recorder_span_program(const struct lode_recorder *recorder, int end)
{
	return bpf_program__fd(end ? recorder->programs->progs.lode_span_end
				   : recorder->programs->progs.lode_span_begin);
}

int lode_recorder_context_program(const struct lode_recorder *recorder)
{
	return bpf_program__fd(recorder->programs->progs.lode_context);
}

int lode_recorder_launch_program(const struct lode_recorder *recorder)
{
	return bpf_program__fd(recorder->programs->progs.lode_launch);
}

/* One process too many has no context. */
void lode_recorder_set_context_process(struct lode_recorder *recorder, uint32_t pid,
				       const struct lode_context_process *process)
{
	bpf_map_update_elem(bpf_map__fd(recorder->programs->maps.context_processes), &pid, process, BPF_ANY);
}

const struct lode_languages *lode_recorder_languages(const struct lode_recorder *recorder)
{
	return recorder->languages;
}

size_t lode_recorder_bytes(const struct lode_recorder *recorder)
{
	/* The ring of stacks is mapped twice in a row; copies are taken out of it before they are unwound. */
	return recorder->ends_bytes + recorder->slots_bytes +
	       (recorder->unwinds ? 3 : 2) * bpf_map__max_entries(recorder->programs->maps.stacks) +
	       recorder->held_limit + lode_sideband_bytes(recorder->sideband);
}

void lode_recorder_leave_out(struct lode_recorder *recorder, uint32_t pid)
{
	recorder->programs->bss->writer_pid = pid;
}

void lode_recorder_await_exec(struct lode_recorder *recorder, uint32_t pid)
{
	recorder->programs->bss->command_pid = pid;
}

void lode_recorder_renew(struct lode_recorder *recorder)
{
	/* Far apart, because the programs add it to sums of addresses. */
	recorder->programs->bss->epoch += 0x9e3779b97f4a7c15u;
}

void lode_recorder_set_scale(struct lode_recorder *recorder, uint64_t scale, uint32_t call_weight)
{
	recorder->programs->bss->thin_scale = scale;
	recorder->programs->bss->call_weight = call_weight;
}
