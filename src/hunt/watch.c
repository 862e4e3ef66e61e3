/*
 * Watch: see watch.h.
 *
 * A state is read like this: the sequence number, the state, the number again; an
 * odd or a changed number means that the kernel was at work. After some tries
 * what was read last is taken: a reading that is a microsecond wrong harms nobody.
 */
#include "hunt/watch.h"

#include "base/memory.h"
#include "hunt/calls.h"
#include "record/kernel.h"
#include "record/uprobes.h"

/* What bpftool writes is not held to the rules of the house. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "hunt/hunt.skel.h"
#pragma GCC diagnostic pop

#include <bpf/bpf.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TRIES	     64
#define PLACES_TRIED 8 /* as in hunt.bpf.c */

/* Places for threads: what is asked for with room to grow, between these. */
#define LEAST_PLACES 128u
#define MOST_PLACES  4096u
/* And for functions in threads, 64 MiB: with very many threads fewer functions can be probed at a time. */
#define MOST_CELLS (512u << 10)

/* Objects that are read from the kernel by one call, and nanoseconds for which they are not read again. */
#define OBJECTS_AT_A_TIME 4096u
#define OBJECTS_FRESH	  1000000u

uint64_t lode_watch_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- loading ---- */

static int explain(int number, struct lode_error *error)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return lode_fail(
			error, LODE_SYSTEM,
			"hunt: /sys/kernel/btf/vmlinux is missing: this kernel was built without its "
			"types; use a kernel with CONFIG_DEBUG_INFO_BTF");
	if (number == EPERM || number == EACCES)
		return lode_fail(error, LODE_SYSTEM,
				 "hunt: the kernel does not permit measuring other programs; run as root, or "
				 "with the capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE");
	return lode_fail(
		error, LODE_SYSTEM,
		"hunt: the programs for the kernel cannot be loaded: %s; Linux 6.6 or newer is needed",
		strerror(number));
}

static int load(struct lode_watch *watch, struct lode_error *error)
{
	struct hunt *programs;
	int code;

	lode_kernel_quiet();
	programs = watch->programs = hunt__open();
	if (!programs)
		return explain(errno, error);
	programs->rodata->thread_mask = watch->thread_count - 1;
	programs->rodata->slot_count = watch->slot_count;
	bpf_map__set_max_entries(programs->maps.threads, watch->thread_count);
	bpf_map__set_max_entries(programs->maps.cells, watch->thread_count * watch->slot_count);
	bpf_program__set_expected_attach_type(programs->progs.lode_probe,
					      (enum bpf_attach_type)LODE_UPROBES_ATTACH_TYPE);
	bpf_program__set_autoattach(programs->progs.lode_probe, false);
	code = hunt__load(programs);
	return code ? explain(-code, error) : 0;
}

static void *map_table(struct bpf_map *map, size_t size)
{
	int rights = PROT_READ | PROT_WRITE, fd = bpf_map__fd(map);
	void *memory = mmap(NULL, size, rights, MAP_SHARED, fd, 0); /* from the kernel */

	return memory == MAP_FAILED ? NULL : memory;
}

static size_t threads_bytes(const struct lode_watch *watch)
{
	return watch->thread_count * sizeof(*watch->threads);
}

static size_t cells_bytes(const struct lode_watch *watch)
{
	return (size_t)watch->thread_count * watch->slot_count * sizeof(*watch->cells);
}

static int map_tables(struct lode_watch *watch, struct lode_error *error)
{
	watch->threads = map_table(watch->programs->maps.threads, threads_bytes(watch));
	watch->cells = map_table(watch->programs->maps.cells, cells_bytes(watch));
	watch->slots = map_table(watch->programs->maps.slots, LODE_HUNT_SLOTS * sizeof(*watch->slots));
	watch->settings = map_table(watch->programs->maps.settings, sizeof(*watch->settings));
	if (watch->threads && watch->cells && watch->slots && watch->settings)
		return 0;
	return lode_fail(error, LODE_SYSTEM, "hunt: the tables of the kernel cannot be mapped: %s",
			 strerror(errno));
}

int lode_watch_open(struct lode_watch *watch, uint32_t threads, struct lode_error *error)
{
	int code;

	memset(watch, 0, sizeof(*watch));
	watch->thread_count = LEAST_PLACES;
	while (watch->thread_count < MOST_PLACES && watch->thread_count < 4 * threads)
		watch->thread_count *= 2;
	watch->slot_count = MOST_CELLS / watch->thread_count;
	if (watch->slot_count > LODE_HUNT_SLOTS)
		watch->slot_count = LODE_HUNT_SLOTS;
	code = lode_uprobes_possible(error);
	if (!code)
		code = load(watch, error);
	if (!code)
		code = map_tables(watch, error);
	if (!code) {
		lode_hunt_calls(watch->settings->calls);
		watch->settings->window = 100000000;
		watch->settings->window_limit = UINT64_MAX / 4;
		code = hunt__attach(watch->programs);
		code = code ? explain(-code, error) : 0;
	}
	if (code)
		lode_watch_close(watch);
	return code;
}

static void unmap(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

void lode_watch_close(struct lode_watch *watch)
{
	unmap(watch->threads, threads_bytes(watch));
	unmap(watch->cells, cells_bytes(watch));
	unmap(watch->slots, LODE_HUNT_SLOTS * sizeof(*watch->slots));
	unmap(watch->settings, sizeof(*watch->settings));
	if (watch->programs)
		hunt__destroy(watch->programs);
	lode_free(watch->object_keys);
	lode_free(watch->objects);
	memset(watch, 0, sizeof(*watch));
}

int lode_watch_program(const struct lode_watch *watch)
{
	return bpf_program__fd(watch->programs->progs.lode_probe);
}

int lode_watch_messages(const struct lode_watch *watch)
{
	return bpf_map__fd(watch->programs->maps.messages);
}

/* ---- threads ---- */

static int is_known(const struct lode_watch *watch, uint32_t tid)
{
	for (uint32_t i = 0; i < PLACES_TRIED; i++)
		if (watch->threads[(tid + i) & (watch->thread_count - 1)].tid == tid)
			return 1;
	return 0;
}

uint32_t lode_watch_add_thread(struct lode_watch *watch, uint32_t pid, uint32_t tid)
{
	for (uint32_t i = 0; i < PLACES_TRIED; i++) {
		uint32_t place = (tid + i) & (watch->thread_count - 1), free_tid = 0;
		struct lode_hunt_thread *thread = &watch->threads[place];

		if (thread->tid)
			continue;
		thread->pid = pid;
		thread->clock = LODE_CLOCK_OTHER;
		thread->born = thread->last = lode_watch_now();
		if (__atomic_compare_exchange_n(&thread->tid, &free_tid, tid, 0, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			return place;
	}
	return LODE_NONE;
}

/* The state of a thread as /proc tells it; 0: it is gone. */
static char state_of(uint32_t pid, uint32_t tid)
{
	char path[64], text[256], *end;
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, tid);
	file = fopen(path, "re"); /* from the kernel */
	if (!file)
		return 0;
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

/* The system call that a thread is blocked in, with its first argument; below 0: none. */
static long call_of(uint32_t pid, uint32_t tid, uint64_t *argument)
{
	char path[64], text[256];
	unsigned long long first = 0;
	long number = -1;
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", pid, tid);
	file = fopen(path, "re"); /* from the kernel */
	if (!file)
		return -1;
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	if (sscanf(text, "%ld %llx", &number, &first) < 1)
		return -1;
	*argument = first;
	return number;
}

/* A thread that is there already: its clock is found from what /proc tells of it. */
static void add_found(struct lode_watch *watch, uint32_t pid, uint32_t tid)
{
	uint32_t place = is_known(watch, tid) ? LODE_NONE : lode_watch_add_thread(watch, pid, tid);
	struct lode_hunt_thread *thread = place == LODE_NONE ? NULL : &watch->threads[place];
	uint64_t object = 0;
	char state;
	long call;

	if (!thread)
		return;
	state = state_of(pid, tid);
	call = call_of(pid, tid, &object);
	if (thread->switches)
		return; /* the kernel's side knows better by now */
	if (state == 'R') {
		thread->clock = LODE_CLOCK_CPU;
	} else if (call >= 0 && call < LODE_HUNT_CALLS) {
		thread->clock = watch->settings->calls[call] & LODE_CALL_CLASS;
		thread->object = watch->settings->calls[call] & LODE_CALL_FUTEX ? object : 0;
		thread->blocked = 1;
	}
}

static int add_pid(struct lode_watch *watch, uint32_t pid, struct lode_error *error)
{
	uint8_t one = 1;

	if (bpf_map_update_elem(bpf_map__fd(watch->programs->maps.pids), &pid, &one, BPF_ANY) < 0)
		return lode_fail(error, LODE_SYSTEM, "hunt: process %u cannot be watched: %s", pid,
				 strerror(errno));
	return 0;
}

int lode_watch_add_process(struct lode_watch *watch, uint32_t pid, struct lode_error *error)
{
	struct dirent *entry;
	char path[32];
	DIR *folder;
	int code = add_pid(watch, pid, error);

	if (code)
		return code;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	folder = opendir(path);
	if (!folder) {
		bpf_map_delete_elem(bpf_map__fd(watch->programs->maps.pids), &pid);
		return 1;
	}
	while ((entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0]))
			add_found(watch, pid, (uint32_t)strtoul(entry->d_name, NULL, 10));
	closedir(folder);
	return 0;
}

int lode_watch_children_only(struct lode_watch *watch, uint32_t pid, struct lode_error *error)
{
	for (uint32_t i = 0; i < watch->thread_count; i++)
		if (watch->threads[i].tid && watch->threads[i].pid == pid)
			lode_watch_forget(watch, i);
	return add_pid(watch, pid, error);
}

void lode_watch_forget(struct lode_watch *watch, uint32_t place)
{
	struct lode_hunt_thread *thread = &watch->threads[place];
	uint32_t tid = thread->tid;

	memset(&watch->cells[(size_t)place * watch->slot_count], 0,
	       watch->slot_count * sizeof(*watch->cells));
	memset(thread, 0, sizeof(*thread));
	thread->tid = tid;
	__atomic_store_n(&thread->tid, 0, __ATOMIC_RELEASE);
}

/* ---- reading ---- */

static uint32_t begin_read(const struct lode_hunt_thread *thread)
{
	return __atomic_load_n(&thread->sequence, __ATOMIC_ACQUIRE);
}

static int is_whole(const struct lode_hunt_thread *thread, uint32_t sequence)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(sequence & 1) && __atomic_load_n(&thread->sequence, __ATOMIC_RELAXED) == sequence;
}

static void copy_state(const struct lode_watch *watch, uint32_t place, uint32_t slot,
		       struct lode_hunt_thread *thread, struct lode_hunt_cell *cell)
{
	const struct lode_hunt_thread *shared = &watch->threads[place];
	const struct lode_hunt_cell *shared_cell = &watch->cells[(size_t)place * watch->slot_count + slot];

	for (int i = 0; i < TRIES; i++) {
		uint32_t sequence = begin_read(shared);

		memcpy(thread, shared, sizeof(*thread));
		if (cell)
			memcpy(cell, shared_cell, sizeof(*cell));
		if (is_whole(shared, sequence))
			return;
	}
}

void lode_watch_thread(const struct lode_watch *watch, uint32_t place, struct lode_hunt_thread *thread)
{
	copy_state(watch, place, 0, thread, NULL);
}

/* Winds the copy of a thread's clocks. */
static void wind(struct lode_hunt_thread *thread, uint64_t now)
{
	uint32_t clock = thread->waiting ? LODE_CLOCK_SYNC : thread->clock;

	if (!thread->died)
		thread->clocks.time[clock & 3] += (int64_t)(now - thread->last);
}

static void add_clocks(struct lode_watch_sum *sum, const struct lode_hunt_clocks *clocks, int sign)
{
	for (int i = 0; i < LODE_CLOCKS; i++)
		sum->time[i] += sign * clocks->time[i];
	sum->operations += (uint64_t)sign * clocks->operations;
	sum->bytes += (uint64_t)sign * clocks->bytes;
}

void lode_watch_add(const struct lode_watch *watch, uint32_t place, uint32_t slot, uint64_t now,
		    struct lode_watch_sum *sum)
{
	struct lode_hunt_thread thread;
	struct lode_hunt_cell cell;

	if (slot == LODE_NONE) {
		copy_state(watch, place, 0, &thread, NULL);
		wind(&thread, now);
		add_clocks(sum, &thread.clocks, 1);
		return;
	}
	copy_state(watch, place, slot, &thread, &cell);
	sum->calls += cell.calls;
	add_clocks(sum, &cell.over, 1);
	if (!cell.sp)
		return;
	wind(&thread, now);
	add_clocks(sum, &thread.clocks, 1);
	add_clocks(sum, &cell.at, -1);
}

/* ---- functions already in progress ---- */

/* The open functions of a thread, innermost first. */
static size_t open_frames(const struct lode_watch *watch, uint32_t place, struct lode_watch_frame *frames)
{
	const struct lode_hunt_cell *cells = &watch->cells[(size_t)place * watch->slot_count];
	uint32_t slot = watch->threads[place].top;
	size_t count = 0;

	while (slot && slot <= watch->slot_count && count < watch->slot_count) {
		frames[count++] = (struct lode_watch_frame){slot - 1, cells[slot - 1].sp};
		slot = cells[slot - 1].below;
	}
	return count;
}

static int compare_frames(const void *left, const void *right)
{
	const struct lode_watch_frame *a = left, *b = right;

	return a->sp < b->sp ? -1 : a->sp > b->sp;
}

static void open_cell(struct lode_watch *watch, struct lode_hunt_thread *thread, struct lode_hunt_cell *cell,
		      const struct lode_watch_frame *frame, uint64_t now)
{
	cell->at = thread->clocks;
	cell->at.time[(thread->waiting ? LODE_CLOCK_SYNC : thread->clock) & 3] +=
		(int64_t)(now - thread->last);
	cell->sp = frame->sp;
	if (watch->slots[frame->slot].flags & LODE_SLOT_WAITING)
		thread->waiting++;
}

static void set_entry(struct lode_watch_frame *chain, size_t count, const struct lode_watch_frame *frame,
		      struct lode_hunt_cell *cell)
{
	if (frame->sp <= cell->sp)
		return;
	cell->sp = frame->sp;
	for (size_t i = 0; i < count; i++)
		if (chain[i].slot == frame->slot)
			chain[i].sp = frame->sp;
}

void lode_watch_seed(struct lode_watch *watch, uint32_t place, const struct lode_watch_frame *frames,
		     size_t count)
{
	struct lode_hunt_cell *cells = &watch->cells[(size_t)place * watch->slot_count];
	struct lode_hunt_thread *thread = &watch->threads[place];
	struct lode_watch_frame chain[LODE_HUNT_SLOTS];
	size_t open = open_frames(watch, place, chain);
	uint64_t now = lode_watch_now();
	uint32_t below = 0;

	for (size_t i = 0; i < count && open < watch->slot_count; i++) {
		struct lode_hunt_cell *cell = &cells[frames[i].slot];

		if (cell->sp) {
			/* Entered again since its probes are in; the outermost entry counts. */
			set_entry(chain, open, &frames[i], cell);
			continue;
		}
		open_cell(watch, thread, cell, &frames[i], now);
		chain[open++] = frames[i];
	}
	qsort(chain, open, sizeof(*chain), compare_frames);
	for (size_t i = open; i-- > 0;) {
		cells[chain[i].slot].below = below;
		below = chain[i].slot + 1;
	}
	thread->top = below;
}

int lode_watch_is_open(const struct lode_watch *watch, uint32_t slot)
{
	for (size_t i = 0; i < watch->thread_count; i++)
		if (watch->threads[i].tid && !watch->threads[i].died &&
		    watch->cells[i * watch->slot_count + slot].sp)
			return 1;
	return 0;
}

void lode_watch_clear_slot(struct lode_watch *watch, uint32_t slot)
{
	for (size_t i = 0; i < watch->thread_count; i++)
		memset(&watch->cells[i * watch->slot_count + slot], 0, sizeof(*watch->cells));
	memset(&watch->slots[slot], 0, sizeof(*watch->slots));
}

/* ---- objects ---- */

int lode_watch_object(struct lode_watch *watch, uint64_t object)
{
	uint8_t one = 1;

	watch->programs->bss->any_watched = 1;
	return bpf_map_update_elem(bpf_map__fd(watch->programs->maps.watched), &object, &one, BPF_ANY) < 0
		       ? LODE_SYSTEM
		       : 0;
}

/* Appends the next part of the kernel's table. Returns 1 when that was the last, 0, or LODE_SYSTEM. */
static int take_objects(struct lode_watch *watch, uint32_t *token, int is_first)
{
	int map = bpf_map__fd(watch->programs->maps.objects), code;
	size_t room = watch->object_count + OBJECTS_AT_A_TIME;
	uint32_t count = OBJECTS_AT_A_TIME;

	if (lode_grow(&watch->object_keys, &watch->object_keys_capacity, room, sizeof(*watch->object_keys)) <
		    0 ||
	    lode_grow(&watch->objects, &watch->objects_capacity, room, sizeof(*watch->objects)) < 0)
		return LODE_SYSTEM;
	code = bpf_map_lookup_batch(map, is_first ? NULL : token, token,
				    watch->object_keys + watch->object_count,
				    watch->objects + watch->object_count, &count, NULL);
	if (code && errno != ENOENT)
		return 1; /* the table is as good as it gets */
	watch->object_count += count;
	return code != 0;
}

/* Who asks for many objects one after another has the table read once. */
static int refresh_objects(struct lode_watch *watch)
{
	uint64_t now = lode_watch_now();
	uint32_t token = 0;
	int code = 0;

	if (watch->objects_taken && now - watch->objects_taken < OBJECTS_FRESH)
		return 0;
	watch->object_count = 0;
	watch->objects_taken = 0;
	for (int i = 0; !code; i++)
		code = take_objects(watch, &token, !i);
	if (code < 0)
		return code;
	watch->objects_taken = now;
	return 0;
}

int lode_watch_each_object(struct lode_watch *watch,
			   int (*each)(void *context, const struct lode_hunt_object_key *key,
				       const struct lode_hunt_object *object),
			   void *context)
{
	int code = refresh_objects(watch);

	for (size_t i = 0; !code && i < watch->object_count; i++)
		code = each(context, &watch->object_keys[i], &watch->objects[i]);
	return code;
}

void lode_watch_counts(struct lode_watch *watch, struct lode_hunt_counts *counts)
{
	uint32_t zero = 0;

	memset(counts, 0, sizeof(*counts));
	bpf_map_lookup_elem(bpf_map__fd(watch->programs->maps.counts), &zero, counts);
}
