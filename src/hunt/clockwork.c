/*
 * Clockwork: see clockwork.h.
 *
 * A state is read like this: the sequence number, the state, the number again; an
 * odd or a changed number means that the kernel was at work. After some tries
 * what was read last is taken: a reading that is a microsecond wrong harms nobody.
 */
#include "hunt/clockwork.h"

#include "base/memory.h"
#include "hunt/calls.h"
#include "hunt/thread_clocks.h"
#include "record/kernel.h"
#include "record/permissions.h"
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

uint64_t lode_clockwork_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- loading ---- */

static int explain(int number, struct lode_error *error)
{
	int code = lode_permissions_fail(LODE_NEEDS_PROGRAMS | LODE_NEEDS_STACKS, number, error);

	if (code)
		return code;
	return lode_fail(
		error, LODE_SYSTEM,
		"hunt: the programs for the kernel cannot be loaded: %s; Linux 6.6 or newer is needed",
		strerror(number));
}

static int load(struct lode_clockwork *clockwork, struct lode_error *error)
{
	struct hunt *programs;
	int code;

	lode_kernel_quiet();
	programs = clockwork->programs = hunt__open();
	if (!programs)
		return explain(errno, error);
	programs->rodata->thread_mask = clockwork->thread_count - 1;
	programs->rodata->slot_count = clockwork->slot_count;
	bpf_map__set_max_entries(programs->maps.threads, clockwork->thread_count);
	bpf_map__set_max_entries(programs->maps.cells, clockwork->thread_count * clockwork->slot_count);
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

static size_t threads_bytes(const struct lode_clockwork *clockwork)
{
	return clockwork->thread_count * sizeof(*clockwork->threads);
}

static size_t cells_bytes(const struct lode_clockwork *clockwork)
{
	return (size_t)clockwork->thread_count * clockwork->slot_count * sizeof(*clockwork->cells);
}

static int map_tables(struct lode_clockwork *clockwork, struct lode_error *error)
{
	clockwork->threads = map_table(clockwork->programs->maps.threads, threads_bytes(clockwork));
	clockwork->cells = map_table(clockwork->programs->maps.cells, cells_bytes(clockwork));
	clockwork->slots =
		map_table(clockwork->programs->maps.slots, LODE_HUNT_SLOTS * sizeof(*clockwork->slots));
	clockwork->settings = map_table(clockwork->programs->maps.settings, sizeof(*clockwork->settings));
	if (clockwork->threads && clockwork->cells && clockwork->slots && clockwork->settings)
		return 0;
	return lode_fail(error, LODE_SYSTEM, "hunt: the tables of the kernel cannot be mapped: %s",
			 strerror(errno));
}

int lode_clockwork_open(struct lode_clockwork *clockwork, uint32_t threads, struct lode_error *error)
{
	int code;

	memset(clockwork, 0, sizeof(*clockwork));
	clockwork->thread_count = LEAST_PLACES;
	while (clockwork->thread_count < MOST_PLACES && clockwork->thread_count < 4 * threads)
		clockwork->thread_count *= 2;
	clockwork->slot_count = MOST_CELLS / clockwork->thread_count;
	if (clockwork->slot_count > LODE_HUNT_SLOTS)
		clockwork->slot_count = LODE_HUNT_SLOTS;
	code = lode_uprobes_possible(error);
	if (!code)
		code = load(clockwork, error);
	if (!code)
		code = map_tables(clockwork, error);
	if (!code) {
		lode_hunt_calls(clockwork->settings->calls);
		clockwork->settings->window = 100000000;
		clockwork->settings->window_limit = UINT64_MAX / 4;
		code = hunt__attach(clockwork->programs);
		code = code ? explain(-code, error) : 0;
	}
	if (code)
		lode_clockwork_close(clockwork);
	return code;
}

static void unmap(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

void lode_clockwork_close(struct lode_clockwork *clockwork)
{
	unmap(clockwork->threads, threads_bytes(clockwork));
	unmap(clockwork->cells, cells_bytes(clockwork));
	unmap(clockwork->slots, LODE_HUNT_SLOTS * sizeof(*clockwork->slots));
	unmap(clockwork->settings, sizeof(*clockwork->settings));
	if (clockwork->programs)
		hunt__destroy(clockwork->programs);
	lode_free(clockwork->object_keys);
	lode_free(clockwork->objects);
	memset(clockwork, 0, sizeof(*clockwork));
}

int lode_clockwork_program(const struct lode_clockwork *clockwork)
{
	return bpf_program__fd(clockwork->programs->progs.lode_probe);
}

int lode_clockwork_messages(const struct lode_clockwork *clockwork)
{
	return bpf_map__fd(clockwork->programs->maps.messages);
}

/* ---- threads ---- */

static int is_known(const struct lode_clockwork *clockwork, uint32_t tid)
{
	for (uint32_t i = 0; i < PLACES_TRIED; i++)
		if (clockwork->threads[(tid + i) & (clockwork->thread_count - 1)].tid == tid)
			return 1;
	return 0;
}

uint32_t lode_clockwork_add_thread(struct lode_clockwork *clockwork, uint32_t pid, uint32_t tid)
{
	for (uint32_t i = 0; i < PLACES_TRIED; i++) {
		uint32_t place = (tid + i) & (clockwork->thread_count - 1);

		if (lode_thread_claim(&clockwork->threads[place])) {
			lode_thread_show(&clockwork->threads[place], pid, tid, lode_clockwork_now());
			return place;
		}
	}
	return LODE_NONE;
}

char lode_clockwork_state(uint32_t pid, uint32_t tid, uint32_t *parent)
{
	char path[64], text[512], state = 0, *end;
	unsigned number = 0;
	size_t size;
	FILE *file;

	*parent = 0;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, tid);
	file = fopen(path, "re"); /* from the kernel */
	if (!file)
		return 0;
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	end = strrchr(text, ')'); /* a name may hold one, too */
	if (!end || sscanf(end + 1, " %c %u", &state, &number) != 2)
		return 0;
	*parent = number;
	return state;
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
static void add_found(struct lode_clockwork *clockwork, uint32_t pid, uint32_t tid)
{
	uint32_t place =
		is_known(clockwork, tid) ? LODE_NONE : lode_clockwork_add_thread(clockwork, pid, tid);
	struct lode_hunt_thread *thread = place == LODE_NONE ? NULL : &clockwork->threads[place];
	uint64_t object = 0;
	uint32_t parent, found = 0;
	char state;
	long call;

	if (!thread)
		return;
	state = lode_clockwork_state(pid, tid, &parent);
	call = call_of(pid, tid, &object);
	if (state == 'R') {
		found = LODE_CLOCK_CPU + 1;
	} else if (call >= 0 && call < LODE_HUNT_CALLS) {
		found = (clockwork->settings->calls[call] & LODE_CALL_CLASS) + 1u;
		thread->found_object = clockwork->settings->calls[call] & LODE_CALL_FUTEX ? object : 0;
	}
	/* Is overlooked where the kernel's side knows better by now. */
	__atomic_store_n(&thread->found, found, __ATOMIC_RELEASE);
}

static int add_pid(struct lode_clockwork *clockwork, uint32_t pid, struct lode_error *error)
{
	uint8_t one = 1;

	if (bpf_map_update_elem(bpf_map__fd(clockwork->programs->maps.pids), &pid, &one, BPF_ANY) < 0)
		return lode_fail(error, LODE_SYSTEM, "hunt: process %u cannot be watched: %s", pid,
				 strerror(errno));
	return 0;
}

int lode_clockwork_add_process(struct lode_clockwork *clockwork, uint32_t pid, struct lode_error *error)
{
	struct dirent *entry;
	char path[32];
	DIR *folder;
	int code = add_pid(clockwork, pid, error);

	if (code)
		return code;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	folder = opendir(path);
	if (!folder) {
		bpf_map_delete_elem(bpf_map__fd(clockwork->programs->maps.pids), &pid);
		return 1;
	}
	while ((entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0]))
			add_found(clockwork, pid, (uint32_t)strtoul(entry->d_name, NULL, 10));
	closedir(folder);
	return 0;
}

int lode_clockwork_children_only(struct lode_clockwork *clockwork, uint32_t pid, struct lode_error *error)
{
	for (uint32_t i = 0; i < clockwork->thread_count; i++)
		if (clockwork->threads[i].tid && clockwork->threads[i].pid == pid)
			lode_clockwork_forget(clockwork, i);
	return add_pid(clockwork, pid, error);
}

/* Word by word: whoever looks for a place reads in this moment. `claimed` and the sequence number stay. */
static void clear_thread(struct lode_hunt_thread *thread)
{
	typedef uint32_t __attribute__((may_alias)) word;
	word *words = (word *)thread;

	for (size_t i = 0; i < sizeof(*thread) / sizeof(*words); i++)
		if (i != offsetof(struct lode_hunt_thread, sequence) / sizeof(*words) &&
		    i != offsetof(struct lode_hunt_thread, claimed) / sizeof(*words))
			LODE_CLOCKS_STORE(&words[i], 0);
}

/*
 * First nobody finds the place any more, last it is free to be claimed. The sequence
 * number stays: whoever writes in this moment makes it even again.
 */
void lode_clockwork_forget(struct lode_clockwork *clockwork, uint32_t place)
{
	struct lode_hunt_thread *thread = &clockwork->threads[place];

	__atomic_store_n(&thread->tid, 0, __ATOMIC_SEQ_CST);
	memset(&clockwork->cells[(size_t)place * clockwork->slot_count], 0,
	       clockwork->slot_count * sizeof(*clockwork->cells));
	clear_thread(thread);
	__atomic_store_n(&thread->claimed, 0, __ATOMIC_RELEASE);
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

static void copy_state(const struct lode_clockwork *clockwork, uint32_t place, uint32_t slot,
		       struct lode_hunt_thread *thread, struct lode_hunt_cell *cell)
{
	const struct lode_hunt_thread *shared = &clockwork->threads[place];
	const struct lode_hunt_cell *shared_cell =
		&clockwork->cells[(size_t)place * clockwork->slot_count + slot];

	for (int i = 0; i < TRIES; i++) {
		uint32_t sequence = begin_read(shared);

		memcpy(thread, shared, sizeof(*thread));
		if (cell)
			memcpy(cell, shared_cell, sizeof(*cell));
		if (is_whole(shared, sequence))
			break;
	}
	lode_thread_take_found(thread);
}

void lode_clockwork_thread(const struct lode_clockwork *clockwork, uint32_t place,
			   struct lode_hunt_thread *thread)
{
	copy_state(clockwork, place, 0, thread, NULL);
}

/* Winds the copy of a thread's clocks. */
static void wind(struct lode_hunt_thread *thread, uint64_t now)
{
	if (!thread->died)
		lode_thread_pass(thread, now, &thread->clocks);
}

static void add_clocks(struct lode_clockwork_sum *sum, const struct lode_hunt_clocks *clocks, int sign)
{
	for (int i = 0; i < LODE_CLOCKS; i++)
		sum->time[i] += sign * clocks->time[i];
	sum->operations += (uint64_t)sign * clocks->operations;
	sum->bytes += (uint64_t)sign * clocks->bytes;
}

void lode_clockwork_add(const struct lode_clockwork *clockwork, uint32_t place, uint32_t slot, uint64_t now,
			struct lode_clockwork_sum *sum)
{
	struct lode_hunt_thread thread;
	struct lode_hunt_cell cell;

	if (slot == LODE_NONE) {
		copy_state(clockwork, place, 0, &thread, NULL);
		wind(&thread, now);
		add_clocks(sum, &thread.clocks, 1);
		return;
	}
	copy_state(clockwork, place, slot, &thread, &cell);
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
static size_t open_frames(const struct lode_clockwork *clockwork, uint32_t place,
			  struct lode_clockwork_frame *frames)
{
	const struct lode_hunt_cell *cells = &clockwork->cells[(size_t)place * clockwork->slot_count];
	uint32_t slot = clockwork->threads[place].top;
	size_t count = 0;

	while (slot && slot <= clockwork->slot_count && count < clockwork->slot_count) {
		frames[count++] = (struct lode_clockwork_frame){slot - 1, cells[slot - 1].sp};
		slot = cells[slot - 1].below;
	}
	return count;
}

static int compare_frames(const void *left, const void *right)
{
	const struct lode_clockwork_frame *a = left, *b = right;

	return a->sp < b->sp ? -1 : a->sp > b->sp;
}

static void open_cell(struct lode_clockwork *clockwork, struct lode_hunt_thread *thread,
		      struct lode_hunt_cell *cell, const struct lode_clockwork_frame *frame, uint64_t now)
{
	cell->at = thread->clocks;
	lode_thread_pass(thread, now, &cell->at);
	cell->sp = frame->sp;
	if (clockwork->slots[frame->slot].flags & LODE_SLOT_WAITING)
		thread->waiting++;
}

static void set_entry(struct lode_clockwork_frame *chain, size_t count,
		      const struct lode_clockwork_frame *frame, struct lode_hunt_cell *cell)
{
	if (frame->sp <= cell->sp)
		return;
	cell->sp = frame->sp;
	for (size_t i = 0; i < count; i++)
		if (chain[i].slot == frame->slot)
			chain[i].sp = frame->sp;
}

void lode_clockwork_seed(struct lode_clockwork *clockwork, uint32_t place,
			 const struct lode_clockwork_frame *frames, size_t count)
{
	struct lode_hunt_cell *cells = &clockwork->cells[(size_t)place * clockwork->slot_count];
	struct lode_hunt_thread *thread = &clockwork->threads[place];
	struct lode_clockwork_frame chain[LODE_HUNT_SLOTS];
	size_t open = open_frames(clockwork, place, chain);
	uint64_t now = lode_clockwork_now();
	uint32_t below = 0;

	for (size_t i = 0; i < count && open < clockwork->slot_count; i++) {
		struct lode_hunt_cell *cell = &cells[frames[i].slot];

		if (cell->sp) {
			/* Entered again since its probes are in; the outermost entry counts. */
			set_entry(chain, open, &frames[i], cell);
			continue;
		}
		open_cell(clockwork, thread, cell, &frames[i], now);
		chain[open++] = frames[i];
	}
	qsort(chain, open, sizeof(*chain), compare_frames);
	for (size_t i = open; i-- > 0;) {
		cells[chain[i].slot].below = below;
		below = chain[i].slot + 1;
	}
	thread->top = below;
}

int lode_clockwork_is_open(const struct lode_clockwork *clockwork, uint32_t slot)
{
	for (size_t i = 0; i < clockwork->thread_count; i++)
		if (clockwork->threads[i].tid && !clockwork->threads[i].died &&
		    clockwork->cells[i * clockwork->slot_count + slot].sp)
			return 1;
	return 0;
}

void lode_clockwork_clear_slot(struct lode_clockwork *clockwork, uint32_t slot)
{
	for (size_t i = 0; i < clockwork->thread_count; i++)
		memset(&clockwork->cells[i * clockwork->slot_count + slot], 0, sizeof(*clockwork->cells));
	memset(&clockwork->slots[slot], 0, sizeof(*clockwork->slots));
}

/* ---- objects ---- */

int lode_clockwork_object(struct lode_clockwork *clockwork, uint64_t object)
{
	uint8_t one = 1;

	clockwork->programs->bss->any_watched = 1;
	return bpf_map_update_elem(bpf_map__fd(clockwork->programs->maps.watched), &object, &one, BPF_ANY) < 0
		       ? LODE_SYSTEM
		       : 0;
}

/* Appends the next part of the kernel's table. Returns 1 when that was the last, 0, or LODE_SYSTEM. */
static int take_objects(struct lode_clockwork *clockwork, uint32_t *token, int is_first)
{
	int map = bpf_map__fd(clockwork->programs->maps.objects), code;
	size_t room = clockwork->object_count + OBJECTS_AT_A_TIME;
	uint32_t count = OBJECTS_AT_A_TIME;

	if (lode_grow(&clockwork->object_keys, &clockwork->object_keys_capacity, room,
		      sizeof(*clockwork->object_keys)) < 0 ||
	    lode_grow(&clockwork->objects, &clockwork->objects_capacity, room, sizeof(*clockwork->objects)) <
		    0)
		return LODE_SYSTEM;
	code = bpf_map_lookup_batch(map, is_first ? NULL : token, token,
				    clockwork->object_keys + clockwork->object_count,
				    clockwork->objects + clockwork->object_count, &count, NULL);
	if (code && errno != ENOENT)
		return 1; /* the table is as good as it gets */
	clockwork->object_count += count;
	return code != 0;
}

/* Who asks for many objects one after another has the table read once. */
static int refresh_objects(struct lode_clockwork *clockwork)
{
	uint64_t now = lode_clockwork_now();
	uint32_t token = 0;
	int code = 0;

	if (clockwork->objects_taken && now - clockwork->objects_taken < OBJECTS_FRESH)
		return 0;
	clockwork->object_count = 0;
	clockwork->objects_taken = 0;
	for (int i = 0; !code; i++)
		code = take_objects(clockwork, &token, !i);
	if (code < 0)
		return code;
	clockwork->objects_taken = now;
	return 0;
}

int lode_clockwork_each_object(struct lode_clockwork *clockwork,
			       int (*each)(void *context, const struct lode_hunt_object_key *key,
					   const struct lode_hunt_object *object),
			       void *context)
{
	int code = refresh_objects(clockwork);

	for (size_t i = 0; !code && i < clockwork->object_count; i++)
		code = each(context, &clockwork->object_keys[i], &clockwork->objects[i]);
	return code;
}

void lode_clockwork_counts(struct lode_clockwork *clockwork, struct lode_hunt_counts *counts)
{
	uint32_t zero = 0;

	memset(counts, 0, sizeof(*counts));
	bpf_map_lookup_elem(bpf_map__fd(clockwork->programs->maps.counts), &zero, counts);
}
