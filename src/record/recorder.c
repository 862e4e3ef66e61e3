/*
 * Recorder: see recorder.h.
 *
 * A read goes in steps whose order matters. First it is noted how far the rings of
 * records are filled; then the stacks are taken, then the changes of processes: a
 * stack is sent before the first record that names it gets its place in a ring, and
 * a mapping is told before the first stack through it, so whatever a record needs
 * is there. Then records (by their ends, when they were written) and changes are
 * handed over merged by time, the records from where they lie.
 */
#include "record/recorder.h"

#include "base/memory.h"
#include "base/random.h"
#include "record/kernel_features.h"
#include "record/permissions.h"
#include "record/plain_programs.h"
#include "record/recorder_settings.h"
#include "record/rings.h"
#include "record/scheduler_programs.h"
#include "record/time_slots.h"
#include "record/stack_copies.h"
#include "record/table_maker.h"
#include "record/task_iterator.h"
#include "record/thinning.h"
#include "record/uprobes.h"

/* What bpftool writes is not held to the rules of the house. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "record/recorder.skel.h"
#pragma GCC diagnostic pop

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Stacks that are held while a table is made, where memory is not counted. */
#define HELD_BYTES (64u << 20)

struct lode_recorder {
	struct recorder *programs; /* the skeleton */
	struct lode_sideband *sideband;
	struct ring_buffer *stacks;
	struct lode_record_ends *ends; /* mapped, one a CPU */
	struct lode_record *slots;     /* mapped, `slot_count` a CPU */
	size_t ends_bytes;
	size_t slots_bytes;
	uint32_t slot_count;
	uint32_t cpu_count;
	unsigned frequency;
	uint64_t period;
	struct lode_process_unwinder unwinder; /* processes as of what was handed over last */
	struct lode_unwind_loader *loader;     /* of tables into the kernel; NULL where they are not used */
	struct lode_table_maker *maker;        /* of the unwinder's tables */
	struct lode_buffer held; /* stacks that came while a table was made: their size, then they, to 8 bytes */
	size_t held_limit;       /* the others wait in their ring */
	int holds;               /* they come to `held` */
	size_t ring_left;        /* bytes of their ring that this reading may still take */
	struct lode_stack_copies copies;
	int started;
	struct lode_scheduler_programs *scheduler; /* with a budget */
	int unwinds;                               /* stacks by tables, in the kernel or here */
	int cgroup;                                /* descriptor, or -1 */
	struct bpf_link *sweep;    /* the iterator that finds long waits between slots, once it is used */
	struct bpf_link **samples; /* one a CPU, or NULL */
	int *sample_events;        /* their descriptors, which the links own; -1: none */
	struct lode_rings rings;   /* over `ends` and `slots` */
	struct lode_record *seen;  /* slots that ended, to be handed over */
	size_t seen_count;
	size_t seen_capacity;
	struct lode_record *open; /* what was not over when the recording ended */
	size_t open_count;
	size_t open_capacity;
	const struct lode_recorder_sink *sink; /* of the read in progress */
	int failed;                            /* its stack() failed */
};

uint64_t lode_recorder_period(const struct lode_recorder_options *options)
{
	return options->frequency ? 1000000000u / options->frequency : 0;
}

int lode_recorder_sees_all_waits(const struct lode_recorder_options *options)
{
	for (size_t i = 0; i < options->limit_count; i++)
		if (options->limits[i].type == LODE_LIMIT_WAIT || options->limits[i].type == LODE_LIMIT_QUEUE)
			return 1;
	return 0;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- loading ---- */

static int explain(int number, struct lode_error *error)
{
	struct utsname system;
	int code = lode_permissions_fail(LODE_NEEDS_PROGRAMS, number, error);

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
			 "this is a container with process numbers of its own; record from outside it, "
			 "with --cgroup, or start it with the machine's (such as 'docker run --pid=host')");
}

static int load(struct lode_recorder *recorder, const struct lode_recorder_options *options,
		struct lode_error *error)
{
	int code;

	lode_kernel_quiet();
	recorder->programs = lode_kernel_can_cast() ? recorder__open() : lode_recorder_open_plain();
	if (!recorder->programs)
		return explain(errno, error);
	lode_recorder_set_up(recorder->programs, options, recorder->cpu_count, recorder->slot_count);
	code = recorder__load(recorder->programs);
	if (code && bpf_program__autoload(recorder->programs->progs.lode_span_begin) &&
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
	return lode_fail(error, LODE_SYSTEM, "the rings of the kernel cannot be mapped: %s", strerror(errno));
}

static int take_stack(void *context, void *bytes, size_t size);

/*
 * While a table is made: takes what has come out of the ring of stacks, so that the kernel
 * has room for more. No record that is handed over by now can name any of it.
 */
static void hold_stacks(void *context)
{
	struct lode_recorder *recorder = context;

	if (recorder->held.size >= recorder->held_limit)
		return;
	recorder->holds = 1;
	ring_buffer__consume(recorder->stacks);
	recorder->holds = 0;
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
		.taken = programs->bss->taken,
	};

	if (options->unwind == LODE_RECORDER_FRAME_POINTER)
		return 0;
	recorder->unwinds = 1;
	lode_stack_copies_init(&recorder->copies, &recorder->unwinder);
	recorder->held_limit = options->ring_bytes ? lode_recorder_stacks_bytes(options) : HELD_BYTES;
	recorder->maker = lode_table_maker_create(hold_stacks, recorder);
	if (lode_process_unwinder_init(&recorder->unwinder, options->cache) < 0 || !recorder->maker)
		return lode_fail_memory(error);
	recorder->unwinder.open_table = lode_table_maker_open;
	recorder->unwinder.open_context = recorder->maker;
	if (options->unwind == LODE_RECORDER_AUTO) {
		recorder->loader = lode_unwind_loader_create(&maps, &recorder->unwinder);
		if (!recorder->loader)
			return lode_fail_memory(error);
	}
	return 0;
}

static int open_stacks(struct lode_recorder *recorder, struct lode_error *error)
{
	recorder->stacks =
		ring_buffer__new(bpf_map__fd(recorder->programs->maps.stacks), take_stack, recorder, NULL);
	if (recorder->stacks)
		return 0;
	return lode_fail(error, LODE_SYSTEM, "the ring of stacks cannot be opened: %s", strerror(errno));
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
		code = open_stacks(recorder, error);
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

static void stop_samples(struct lode_recorder *recorder)
{
	for (uint32_t i = 0; recorder->samples && i < recorder->cpu_count; i++)
		bpf_link__destroy(recorder->samples[i]);
	lode_free(recorder->samples);
	lode_free(recorder->sample_events);
	recorder->samples = NULL;
	recorder->sample_events = NULL;
}

void lode_recorder_destroy(struct lode_recorder *recorder)
{
	if (!recorder)
		return;
	stop_samples(recorder);
	bpf_link__destroy(recorder->sweep);
	lode_scheduler_programs_destroy(recorder->scheduler);
	ring_buffer__free(recorder->stacks);
	lode_unwind_loader_destroy(recorder->loader);
	lode_stack_copies_release(&recorder->copies);
	lode_table_maker_destroy(recorder->maker);
	lode_process_unwinder_release(&recorder->unwinder);
	lode_buffer_release(&recorder->held);
	lode_rings_release(&recorder->rings);
	if (recorder->ends)
		munmap(recorder->ends, recorder->ends_bytes);
	if (recorder->slots)
		munmap(recorder->slots, recorder->slots_bytes);
	recorder__destroy(recorder->programs);
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
		return lode_fail(error, LODE_SYSTEM, "process %u cannot be asked for: %s", pid, strerror(errno));
	/* What it has mapped is read now: when its first stack is unwound it may run another program. */
	if (recorder->unwinds && !lode_processes_get(&recorder->unwinder.processes, pid))
		return lode_fail_memory(error);
	return 0;
}

/* ---- starting ---- */

static int sample_cpu(struct lode_recorder *recorder, uint32_t cpu, struct lode_error *error)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = recorder->period,
		.exclude_idle = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int code, number;

	if (fd < 0 && errno == ENODEV)
		return 0;
	if (fd >= 0)
		recorder->samples[cpu] = bpf_program__attach_perf_event(recorder->programs->progs.lode_sample, fd);
	recorder->sample_events[cpu] = recorder->samples[cpu] ? fd : -1;
	if (recorder->samples[cpu])
		return 0;
	number = errno;
	if (fd >= 0)
		close(fd);
	code = lode_permissions_fail(LODE_NEEDS_PROGRAMS, number, error);
	if (code)
		return code;
	return lode_fail(error, LODE_SYSTEM, "CPU %u cannot be sampled: %s", cpu, strerror(number));
}

static int start_samples(struct lode_recorder *recorder, struct lode_error *error)
{
	int code = 0;

	if (!recorder->frequency)
		return 0;
	recorder->samples = lode_calloc(recorder->cpu_count, sizeof(*recorder->samples));
	recorder->sample_events = lode_calloc(recorder->cpu_count, sizeof(*recorder->sample_events));
	if (!recorder->samples || !recorder->sample_events)
		return lode_fail_memory(error);
	memset(recorder->sample_events, -1, recorder->cpu_count * sizeof(*recorder->sample_events));
	for (uint32_t i = 0; !code && i < recorder->cpu_count; i++)
		code = sample_cpu(recorder, i, error);
	return code;
}

/* Has the kernel tell what threads did in all; where it does not, nothing is told. */
static void take_totals(struct lode_recorder *recorder, enum lode_record_type type)
{
	struct bpf_link *link;

	if (!recorder->programs->rodata->with_totals)
		return;
	recorder->programs->bss->totals_type = type;
	link = bpf_program__attach_iter(recorder->programs->progs.lode_totals, NULL);
	lode_task_iterator_run(link);
	bpf_link__destroy(link);
}

int lode_recorder_sweep(struct lode_recorder *recorder)
{
	if (!recorder->programs->rodata->with_sweeps)
		return 0;
	if (!recorder->sweep)
		recorder->sweep = bpf_program__attach_iter(recorder->programs->progs.lode_sweep, NULL);
	lode_task_iterator_run(recorder->sweep);
	recorder->programs->bss->sweep_ended = now();
	return recorder->sweep != NULL;
}

/* Waits of sweeps that are not over. */
static void end_sweeps(struct lode_recorder *recorder)
{
	if (!recorder->sweep)
		return;
	recorder->programs->bss->sweep_is_last = 1;
	lode_recorder_sweep(recorder);
	bpf_link__destroy(recorder->sweep);
	recorder->sweep = NULL;
}

int lode_recorder_start(struct lode_recorder *recorder, struct lode_error *error)
{
	int code = recorder__attach(recorder->programs);

	if (code)
		return explain(-code, error);
	if (recorder->programs->rodata->thin) {
		recorder->scheduler = lode_scheduler_programs_create(recorder->programs);
		if (!recorder->scheduler)
			return lode_fail_memory(error);
	}
	recorder->started = 1;
	recorder->programs->bss->sweep_from = now();
	take_totals(recorder, LODE_RECORD_TOTALS_FIRST);
	return start_samples(recorder, error);
}

/* ---- reading ---- */

void lode_recorder_wait(struct lode_recorder *recorder, int milliseconds, int descriptor)
{
	struct pollfd waited[2] = {
		{ ring_buffer__epoll_fd(recorder->stacks), POLLIN, 0 },
		{ descriptor, POLLIN, 0 },
	};

	if (!lode_rings_half_full(&recorder->rings))
		poll(waited, 2, milliseconds);
}

static void take_copy(struct lode_recorder *recorder, const struct lode_record_copy *copy, size_t size)
{
	size_t head = offsetof(struct lode_record_copy, bytes);

	if (size < head || copy->size > size - head || !recorder->unwinds)
		return;
	if (lode_stack_copies_add(&recorder->copies, copy) < 0 ||
	    (recorder->loader && lode_unwind_loader_changed(recorder->loader, copy->pid) < 0))
		recorder->failed = 1;
}

/* Negative, which ends the reading of the ring, when enough is held. */
static int hold_stack(struct lode_recorder *recorder, const void *bytes, uint64_t size)
{
	static const char padding[8];

	lode_buffer_add(&recorder->held, &size, sizeof(size));
	lode_buffer_add(&recorder->held, bytes, size);
	lode_buffer_add(&recorder->held, padding, -size & 7);
	return recorder->held.size < recorder->held_limit ? 0 : -1;
}

static void take_one(struct lode_recorder *recorder, const void *bytes, size_t size)
{
	const struct lode_record_stack *stack = bytes;
	size_t head = offsetof(struct lode_record_stack, addresses);

	if (size >= head && stack->count == LODE_RECORD_COPY_MARK) {
		take_copy(recorder, bytes, size);
		return;
	}
	if (size < head || size < head + stack->count * sizeof(*stack->addresses))
		return; /* only a bell */
	if (recorder->sink->stack(recorder->sink->context, stack) < 0)
		recorder->failed = 1;
}

/*
 * Negative, which ends the reading, when as much was taken as the ring can hold: what was in
 * it when the reading began. Others may write as fast as this reads.
 */
static int take_stack(void *context, void *bytes, size_t size)
{
	struct lode_recorder *recorder = context;

	if (recorder->holds)
		return hold_stack(recorder, bytes, size);
	take_one(recorder, bytes, size);
	size += BPF_RINGBUF_HDR_SZ;
	recorder->ring_left -= size < recorder->ring_left ? size : recorder->ring_left;
	return recorder->ring_left ? 0 : -1;
}

static void read_stacks(struct lode_recorder *recorder)
{
	recorder->ring_left = bpf_map__max_entries(recorder->programs->maps.stacks);
	ring_buffer__consume(recorder->stacks);
}

/* What was held comes first, in its order. */
static int take_held(struct lode_recorder *recorder)
{
	struct lode_buffer *held = &recorder->held;
	uint64_t size;

	if (held->failed)
		return LODE_SYSTEM;
	for (size_t at = 0; at < held->size; at += sizeof(size) + ((size + 7) & ~(uint64_t)7)) {
		memcpy(&size, held->bytes + at, sizeof(size));
		take_one(recorder, held->bytes + at + sizeof(size), size);
	}
	lode_buffer_release(held);
	return 0;
}

/* Changes of processes, of which `given` have been handed over. */
struct changes {
	const struct lode_change *items;
	size_t count;
	size_t given;
};

/* What the unwinder has to know of a change. */
static int follow_change(struct lode_recorder *recorder, const struct lode_change *change)
{
	if (!recorder->unwinds)
		return 0;
	if (lode_process_unwinder_apply(&recorder->unwinder, change) < 0)
		return LODE_SYSTEM;
	if (!recorder->loader || change->type != LODE_CHANGE_MAP)
		return 0;
	return lode_unwind_loader_changed(recorder->loader, change->pid);
}

static int hand_over_changes(struct lode_recorder *recorder, struct changes *changes, uint64_t until)
{
	const struct lode_recorder_sink *sink = recorder->sink;
	int code = 0;

	while (!code && changes->given < changes->count && changes->items[changes->given].t <= until) {
		const struct lode_change *change = &changes->items[changes->given++];

		code = follow_change(recorder, change);
		if (!code)
			code = sink->change(sink->context, change);
	}
	return code;
}

/* In place of a copy the stack that it became, which is handed over first. */
static int resolve_copy(struct lode_recorder *recorder, uint64_t *id)
{
	const struct lode_recorder_sink *sink = recorder->sink;
	const struct lode_record_stack *stack;

	if (!(*id & LODE_RECORD_COPY_ID))
		return 0;
	if (lode_stack_copies_find(&recorder->copies, *id, &stack) < 0)
		return LODE_SYSTEM;
	if (!stack)
		return 0;
	*id = stack->id;
	return sink->stack(sink->context, stack);
}

static int hand_over_record(struct lode_recorder *recorder, const struct lode_record *record)
{
	const struct lode_recorder_sink *sink = recorder->sink;
	struct lode_record resolved;

	if (!((record->user | record->waker_user) & LODE_RECORD_COPY_ID) ||
	    record->type >= LODE_RECORD_TOTALS_FIRST)
		return sink->record(sink->context, record);
	resolved = *record;
	if (resolve_copy(recorder, &resolved.user) < 0 || resolve_copy(recorder, &resolved.waker_user) < 0)
		return LODE_SYSTEM;
	return sink->record(sink->context, &resolved);
}

/* Hands over records and changes, merged by time. */
static int hand_over(struct lode_recorder *recorder, struct changes *changes)
{
	const struct lode_record *record;
	uint64_t written;
	int code = 0;

	while (!code && (record = lode_rings_next(&recorder->rings, &written))) {
		code = hand_over_changes(recorder, changes, written);
		if (!code)
			code = hand_over_record(recorder, record);
		lode_rings_pass(&recorder->rings);
	}
	for (size_t i = 0; !code && i < recorder->seen_count; i++)
		code = hand_over_record(recorder, &recorder->seen[i]);
	recorder->seen_count = 0;
	for (size_t i = 0; !code && i < recorder->open_count; i++) {
		code = hand_over_changes(recorder, changes, lode_record_end(&recorder->open[i]));
		if (!code)
			code = hand_over_record(recorder, &recorder->open[i]);
	}
	return code ? code : hand_over_changes(recorder, changes, UINT64_MAX);
}

/* Has the kernel know what changed, and what copies asked for. */
static int keep_tables(struct lode_recorder *recorder, uint64_t t)
{
	int tidied = lode_process_unwinder_tidy(&recorder->unwinder, t);

	if (tidied < 0 || (tidied && lode_unwind_loader_renumbered(recorder->loader, t) < 0))
		return LODE_SYSTEM;
	return lode_unwind_loader_flush(recorder->loader, t);
}

int lode_recorder_read(struct lode_recorder *recorder, const struct lode_recorder_sink *sink)
{
	struct changes changes = { 0 };
	uint64_t until;

	/* Before anything is read: it may take a table, while which is made the ring of stacks is read, too. */
	if (recorder->unwinds && lode_stack_copies_begin(&recorder->copies) < 0)
		return LODE_SYSTEM;
	lode_rings_begin(&recorder->rings);
	until = now(); /* all records that this reading finds were written by then */
	recorder->sink = sink;
	recorder->failed = 0;
	if (take_held(recorder) < 0)
		return LODE_SYSTEM;
	read_stacks(recorder);
	/* The next copy wakes the reader; what came before is taken now. */
	__atomic_store_n(&recorder->programs->bss->copies_wait, 0, __ATOMIC_SEQ_CST);
	read_stacks(recorder);
	if (recorder->failed)
		return LODE_SYSTEM;
	if (lode_sideband_read(recorder->sideband, until, &changes.items, &changes.count) < 0)
		return LODE_SYSTEM;
	if (hand_over(recorder, &changes) < 0)
		return LODE_SYSTEM;
	recorder->copies.known = until;
	if (!recorder->loader)
		return 0;
	if (keep_tables(recorder, until) < 0)
		return LODE_SYSTEM;
	recorder->programs->bss->mapped_known = until;
	return 0;
}

/* ---- stopping ---- */

/* The slot that is set now is over; where it is one of several, analyses must know of it. */
static int keep_slot(struct lode_recorder *recorder)
{
	const volatile struct lode_slot *slot = (const volatile struct lode_slot *)&recorder->programs->bss->slot;
	unsigned single = slot->single;
	struct lode_record record = {
		.t = slot->began,
		.delay = now() - slot->began,
		.pid = recorder->programs->rodata->own_pid,
		.tid = recorder->programs->rodata->own_pid,
		.type = LODE_RECORD_SLOT,
		.flags = (uint8_t)(slot->cycle / LODE_SLOTS & 1),
		.cpu = UINT16_MAX,
		.weight = 1,
	};

	if (!recorder->started || !slot->on || single <= LODE_SLOT_UNIT)
		return 0;
	record.value = (LODE_SLOTS * LODE_SLOT_UNIT + single / 2) / single;
	if (lode_grow(&recorder->seen, &recorder->seen_capacity, recorder->seen_count + 1, sizeof(record)) < 0)
		return LODE_SYSTEM;
	recorder->seen[recorder->seen_count++] = record;
	return 0;
}

/* With which weight a wait counts that is not over, as if it were; 0: it was not chosen, and is not long. */
static int thin_open(const struct lode_recorder *recorder, const struct lode_record_thread *thread,
		     struct lode_record *record)
{
	uint64_t random = thread->out;

	/* What threads did while the programs were detached only the iterator knows, which has looked. */
	if (thread->out < recorder->programs->bss->slot.began && !recorder->programs->rodata->with_totals)
		return 0;
	record->weight = lode_thin_settle(thread->weight, (uint32_t)thread->limit * LODE_RECORD_LIMIT_UNIT,
					  record->cost + record->delay, recorder->programs->bss->thin_scale,
					  thread->random);
	record->weight =
		lode_slot_weight(record->weight, thread->single, (uint32_t)(lode_splitmix64(&random) >> 32));
	if (!thread->weight) { /* the stacks are those of another wait */
		record->user = record->kernel = 0;
		record->flags |= LODE_RECORD_LATE;
	}
	return record->weight != 0;
}

/* What a thread was doing off its CPU when the recording ended. */
static int add_open(struct lode_recorder *recorder, const struct lode_record_thread *thread, uint64_t end)
{
	struct lode_record record = {
		.t = thread->out,
		.delay = end > thread->out ? end - thread->out : 0,
		.user = thread->user,
		.kernel = thread->kernel,
		.pid = thread->pid,
		.tid = thread->tid,
		.type = LODE_RECORD_PREEMPT,
		.flags = LODE_RECORD_OPEN,
		.cpu = UINT16_MAX,
	};

	if (!thread->tid || thread->state == LODE_THREAD_RUNNING)
		return 0;
	if (thread->state != LODE_THREAD_PREEMPTED) {
		record.type = LODE_RECORD_WAIT;
		record.cost = record.delay;
		record.delay = 0;
	}
	if (recorder->programs->rodata->thin && !thin_open(recorder, thread, &record))
		return 0;
	if (thread->state == LODE_THREAD_WOKEN) {
		record.flags |= LODE_RECORD_WOKEN;
		record.cost = thread->woken > thread->out ? thread->woken - thread->out : 0;
		record.delay = end > thread->out + record.cost ? end - thread->out - record.cost : 0;
		record.waker_pid = thread->waker_pid;
		record.waker_tid = thread->waker_tid;
		if (!recorder->programs->rodata->thin || thread->random & LODE_RECORD_WAKER_TAKEN) {
			record.waker_user = thread->waker_user;
			record.waker_kernel = thread->waker_kernel;
		}
	}
	if (lode_grow(&recorder->open, &recorder->open_capacity, recorder->open_count + 1, sizeof(record)) < 0)
		return LODE_SYSTEM;
	recorder->open[recorder->open_count++] = record;
	return 0;
}

static int take_open(struct lode_recorder *recorder, uint64_t end)
{
	int threads = bpf_map__fd(recorder->programs->maps.threads);
	int others = bpf_map__fd(recorder->programs->maps.others);
	size_t size = LODE_RECORD_THREADS * sizeof(struct lode_record_thread);
	struct lode_record_thread *table, other;
	uint32_t key, *last = NULL;
	int code = 0;

	table = mmap(NULL, size, PROT_READ, MAP_SHARED, threads, 0); /* from the kernel */
	if (table == MAP_FAILED)
		return LODE_SYSTEM;
	for (size_t i = 0; !code && i < LODE_RECORD_THREADS; i++)
		code = add_open(recorder, &table[i], end);
	munmap(table, size);
	while (!code && !bpf_map_get_next_key(others, last, &key)) {
		if (!bpf_map_lookup_elem(others, &key, &other))
			code = add_open(recorder, &other, end);
		last = &key;
	}
	return code;
}

int lode_recorder_stop(struct lode_recorder *recorder, const struct lode_recorder_sink *sink)
{
	uint64_t end = now();

	if (keep_slot(recorder) < 0)
		return LODE_SYSTEM;
	end_sweeps(recorder);
	take_totals(recorder, LODE_RECORD_TOTALS_LAST);
	stop_samples(recorder);
	lode_scheduler_programs_destroy(recorder->scheduler);
	recorder->scheduler = NULL;
	recorder__detach(recorder->programs);
	return take_open(recorder, end) < 0 ? LODE_SYSTEM : lode_recorder_read(recorder, sink);
}

int lode_recorder_span_program(const struct lode_recorder *recorder, int end)
{
	return bpf_program__fd(end ? recorder->programs->progs.lode_span_end
				   : recorder->programs->progs.lode_span_begin);
}

/* ---- epochs ---- */

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

/*
 * What a running thread had is told, and what it is about to have is sent anew,
 * but for the stack of its system call, which stays what it is.
 */
static int add_held(struct lode_recorder_held *held, const struct lode_record_thread *thread)
{
	int off = thread->tid && thread->state != LODE_THREAD_RUNNING;
	const uint64_t ids[] = { off ? thread->user : 0, off ? thread->kernel : 0, off ? thread->waker_user : 0,
				 off ? thread->waker_kernel : 0,
				 thread->tid && thread->entry.pc ? thread->entry.user : 0 };
	size_t count = sizeof(ids) / sizeof(*ids);

	if (lode_grow(&held->ids, &held->capacity, held->count + count, sizeof(*held->ids)) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++)
		if (ids[i] && !(ids[i] & LODE_RECORD_COPY_ID)) /* what copies became is handed over anew each time */
			held->ids[held->count++] = ids[i];
	return 0;
}

#define THREADS_AT_A_TIME 512

/* Copied piece by piece, because to map the table of all threads would take much memory. */
static int hold_threads(struct lode_recorder *recorder, struct lode_record_thread *some,
			struct lode_recorder_held *held)
{
	int threads = bpf_map__fd(recorder->programs->maps.threads);
	uint32_t keys[THREADS_AT_A_TIME], at, next, *from = NULL;
	int code = 0, end = 0;

	while (!code && !end) {
		uint32_t count = THREADS_AT_A_TIME;

		end = bpf_map_lookup_batch(threads, from, &next, keys, some, &count, NULL) < 0;
		if (end && errno != ENOENT)
			return LODE_SYSTEM;
		for (uint32_t i = 0; !code && i < count; i++)
			code = add_held(held, &some[i]);
		at = next;
		from = &at;
	}
	return code;
}

int lode_recorder_held(struct lode_recorder *recorder, struct lode_recorder_held *held)
{
	struct lode_record_thread *some = lode_calloc(THREADS_AT_A_TIME, sizeof(*some));
	int others = bpf_map__fd(recorder->programs->maps.others);
	uint32_t key, *last = NULL;
	int code = some ? hold_threads(recorder, some, held) : LODE_SYSTEM;

	while (!code && recorder->programs->bss->has_others && !bpf_map_get_next_key(others, last, &key)) {
		if (!bpf_map_lookup_elem(others, &key, some))
			code = add_held(held, some);
		last = &key;
	}
	lode_free(some);
	return code;
}

/* ---- budgets ---- */

void lode_recorder_set_scale(struct lode_recorder *recorder, uint64_t scale, uint32_t call_weight)
{
	recorder->programs->bss->thin_scale = scale;
	recorder->programs->bss->call_weight = call_weight;
}

void lode_recorder_set_frequency(struct lode_recorder *recorder, unsigned frequency)
{
	uint64_t period = 1000000000u / frequency;

	if (!recorder->sample_events || recorder->programs->bss->sample_ns == period)
		return;
	for (uint32_t i = 0; i < recorder->cpu_count; i++)
		ioctl(recorder->sample_events[i], PERF_EVENT_IOC_PERIOD, &period); /* none: fails */
	recorder->programs->bss->sample_ns = (uint32_t)period;
}

int lode_recorder_set_slot(struct lode_recorder *recorder, const struct lode_slot *slot)
{
	struct lode_slot *own = (struct lode_slot *)(uintptr_t)&recorder->programs->bss->slot;
	int done = 1;

	if (keep_slot(recorder) < 0) {
		errno = ENOMEM;
		return -1;
	}
	/* Nothing counts as recorded while this changes. */
	__atomic_store_n(&own->on, 0, __ATOMIC_SEQ_CST);
	own->began = slot->began;
	own->number = slot->number;
	own->cycle = slot->cycle;
	own->single = slot->single;
	own->pair = slot->pair;
	if (recorder->started && slot->on)
		done = lode_scheduler_programs_attach(recorder->scheduler);
	else if (recorder->started)
		lode_scheduler_programs_detach(recorder->scheduler);
	__atomic_store_n(&own->on, slot->on && done > 0, __ATOMIC_SEQ_CST);
	return done;
}

/* ---- counts ---- */

struct lode_unwind_totals lode_recorder_unwind_totals(const struct lode_recorder *recorder)
{
	return recorder->loader ? lode_unwind_loader_totals(recorder->loader) : (struct lode_unwind_totals){ 0 };
}

/* All counts are numbers of 64 bits. */
static void add_counts(uint64_t *sums, const uint64_t *more)
{
	for (size_t i = 0; i < sizeof(struct lode_record_counts) / sizeof(*sums); i++)
		sums[i] += more[i];
}

void lode_recorder_counts(struct lode_recorder *recorder, struct lode_record_counts *counts)
{
	struct lode_record_counts *each = lode_calloc(recorder->cpu_count, sizeof(*each));
	uint32_t zero = 0;

	memset(counts, 0, sizeof(*counts));
	if (each && !bpf_map_lookup_elem(bpf_map__fd(recorder->programs->maps.counts), &zero, each))
		for (uint32_t i = 0; i < recorder->cpu_count; i++)
			add_counts(&counts->lost, &each[i].lost);
	lode_free(each);
}

/* Events during which a program was interrupted by the same program are not seen by it. */
static uint64_t missed(struct lode_recorder *recorder)
{
	struct bpf_program *program;
	uint64_t sum = 0;

	bpf_object__for_each_program(program, recorder->programs->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (bpf_program__fd(program) >= 0 && !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			sum += info.recursion_misses;
	}
	return sum;
}

/* What did not fit into the kernel. */
static void note_tables(const struct lode_recorder *recorder, struct lode_notes *notes)
{
	struct lode_unwind_totals totals = lode_recorder_unwind_totals(recorder);

	lode_notes_add(notes, totals.refused,
		       "unwind tables that the kernel did not take: stacks through these binaries are guessed",
		       NULL);
	lode_notes_add(notes, totals.crowded,
		       "processes with too many mappings for the kernel: their stacks are copied or cut", NULL);
}

void lode_recorder_note(struct lode_recorder *recorder, struct lode_notes *notes)
{
	struct lode_record_counts counts;

	lode_recorder_counts(recorder, &counts);
	lode_notes_add(notes, counts.lost, "records lost: they came faster than they could be read", NULL);
	lode_notes_add(notes, counts.lost_stacks, "stacks sent late: their ring was full", NULL);
	lode_notes_add(notes, counts.lost_copies + recorder->copies.dropped,
		       "user stacks cut or lost: copies of them came faster than they could be unwound", NULL);
	lode_notes_add(notes, counts.lost_threads, "waits lost: too many threads", NULL);
	note_tables(recorder, notes);
	lode_notes_add(notes, missed(recorder), "events missed while another of their kind was recorded", NULL);
	lode_notes_add(notes, counts.short_waits, "waits left out because they were short", NULL);
	lode_notes_add(notes, counts.wrong_walks, "kernel stacks that had to be taken again", NULL);
	lode_notes_add(notes, lode_sideband_lost(recorder->sideband), "changes of processes lost", NULL);
}
