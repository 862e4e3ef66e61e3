/*
 * Thread clocks: see thread_clocks.h.
 *
 * A state is read like this: the sequence number, the state, the number again; an
 * odd or a changed number means that the kernel was at work. After some tries
 * what was read last is taken: a reading that is a microsecond off does no harm.
 */
#include "hunt/meter/live/thread_clocks.h"

#include "base/memory.h"
#include "base/proc_files.h"
#include "hunt/meter/live/syscall_waits.h"
#include "hunt/meter/live/clock_updates.h"
#include "record/load/bpf_loading.h"
#include "record/load/kernel_features.h"
#include "record/load/permissions.h"
#include "record/load/program_time.h"
#include "record/load/uprobes.h"

/* What bpftool writes is not held to the rules of the house. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "hunt/meter/live/hunt.skel.h"
#pragma GCC diagnostic pop

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TRIES        64
#define PLACES_TRIED 8 /* as in hunt.bpf.c */

/* Places for threads: what is requested with room to grow, between these. */
#define MIN_PLACES 128u
#define MAX_PLACES 4096u
/* And for functions in threads, 64 MiB: with very many threads fewer functions can be probed at a time. */
#define MAX_CELLS (512u << 10)

/* Objects that are read from the kernel by one call, and nanoseconds for which they are not read again. */
#define OBJECTS_AT_A_TIME 4096u
#define OBJECTS_FRESH     1000000u

/* ---- loading ---- */

static int explain(int number, struct lode_error *error)
{
	int code = lode_bpf_loading_fail(LODE_NEEDS_PROGRAMS | LODE_NEEDS_STACKS, number, error);

	if (code)
		return code;
	return lode_fail(error, LODE_SYSTEM,
			 "hunt: the BPF programs cannot be loaded: %s; Linux 6.6 or newer is needed",
			 strerror(number));
}

static int load(struct lode_thread_clocks *clocks, struct lode_error *error)
{
	struct lode_kernel_features kernel;
	struct hunt *programs;
	int code;

	lode_bpf_loading_begin();
	kernel = lode_kernel_features();
	programs = clocks->programs = hunt__open();
	if (!programs) {
		code = explain(errno, error);
		lode_bpf_loading_end();
		return code;
	}
	programs->rodata->thread_mask = clocks->thread_count - 1;
	programs->rodata->slot_count = clocks->slot_count;
	programs->rodata->own_pid = (uint32_t)getpid();
	programs->rodata->finds_preempt_count = kernel.finds_preempt_count != 0;
	programs->rodata->preempt_count_from_queue = kernel.preempt_count_from_queue;
	bpf_map__set_max_entries(programs->maps.threads, clocks->thread_count);
	bpf_map__set_max_entries(programs->maps.cells, clocks->thread_count * clocks->slot_count);
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

static size_t threads_bytes(const struct lode_thread_clocks *clocks)
{
	return clocks->thread_count * sizeof(*clocks->threads);
}

static size_t cells_bytes(const struct lode_thread_clocks *clocks)
{
	return (size_t)clocks->thread_count * clocks->slot_count * sizeof(*clocks->cells);
}

static int map_tables(struct lode_thread_clocks *clocks, struct lode_error *error)
{
	clocks->threads = map_table(clocks->programs->maps.threads, threads_bytes(clocks));
	clocks->cells = map_table(clocks->programs->maps.cells, cells_bytes(clocks));
	clocks->slots = map_table(clocks->programs->maps.slots, LODE_HUNT_SLOTS * sizeof(*clocks->slots));
	clocks->settings = map_table(clocks->programs->maps.settings, sizeof(*clocks->settings));
	if (clocks->threads && clocks->cells && clocks->slots && clocks->settings)
		return 0;
	return lode_fail(error, LODE_SYSTEM, "hunt: the BPF maps cannot be mapped into memory: %s",
			 strerror(errno));
}

int lode_thread_clocks_open(struct lode_thread_clocks *clocks, uint32_t threads, struct lode_error *error)
{
	int code;

	memset(clocks, 0, sizeof(*clocks));
	clocks->thread_count = MIN_PLACES;
	while (clocks->thread_count < MAX_PLACES && clocks->thread_count < 4 * threads)
		clocks->thread_count *= 2;
	clocks->slot_count = MAX_CELLS / clocks->thread_count;
	if (clocks->slot_count > LODE_HUNT_SLOTS)
		clocks->slot_count = LODE_HUNT_SLOTS;
	code = lode_uprobes_possible(error);
	if (!code)
		code = load(clocks, error);
	if (!code)
		code = map_tables(clocks, error);
	if (!code) {
		lode_hunt_calls(clocks->settings->calls);
		clocks->settings->window = 100000000;
		clocks->settings->window_limit = UINT64_MAX / 4;
		code = hunt__attach(clocks->programs);
		code = code ? explain(-code, error) : 0;
	}
	if (code)
		lode_thread_clocks_close(clocks);
	return code;
}

static void unmap(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

void lode_thread_clocks_close(struct lode_thread_clocks *clocks)
{
	unmap(clocks->threads, threads_bytes(clocks));
	unmap(clocks->cells, cells_bytes(clocks));
	unmap(clocks->slots, LODE_HUNT_SLOTS * sizeof(*clocks->slots));
	unmap(clocks->settings, sizeof(*clocks->settings));
	if (clocks->programs) {
		hunt__destroy(clocks->programs);
		lode_bpf_loading_end();
	}
	lode_free(clocks->object_keys);
	lode_free(clocks->objects);
	memset(clocks, 0, sizeof(*clocks));
}

int lode_thread_clocks_program(const struct lode_thread_clocks *clocks)
{
	return bpf_program__fd(clocks->programs->progs.lode_probe);
}

void lode_thread_clocks_program_time(const struct lode_thread_clocks *clocks,
				     void (*each)(void *context, uint64_t runs, uint64_t nanoseconds),
				     void *context)
{
	lode_program_time(clocks->programs->obj, clocks->programs->progs.lode_probe, each, context);
}

int lode_thread_clocks_messages(const struct lode_thread_clocks *clocks)
{
	return bpf_map__fd(clocks->programs->maps.messages);
}

/* ---- threads ---- */

const struct lode_hunt_thread *lode_thread_clocks_find(const struct lode_thread_clocks *clocks, uint32_t tid)
{
	for (uint32_t i = 0; i < PLACES_TRIED; i++) {
		const struct lode_hunt_thread *thread = &clocks->threads[(tid + i) & (clocks->thread_count - 1)];

		if (thread->tid == tid)
			return thread;
	}
	return NULL;
}

uint32_t lode_thread_clocks_add_thread(struct lode_thread_clocks *clocks, uint32_t pid, uint32_t tid)
{
	for (uint32_t i = 0; i < PLACES_TRIED; i++) {
		uint32_t place = (tid + i) & (clocks->thread_count - 1);

		if (lode_thread_claim(&clocks->threads[place])) {
			lode_thread_show(&clocks->threads[place], pid, tid, lode_now());
			return place;
		}
	}
	return LODE_NONE;
}

char lode_thread_proc_state(uint32_t pid, uint32_t tid, uint32_t *parent)
{
	char text[512], state = 0, *end;
	unsigned number = 0;

	*parent = 0;
	lode_proc_text(text, sizeof(text), "/proc/%u/task/%u/stat", pid, tid);
	end = strrchr(text, ')'); /* a name may hold one, too */
	if (!end || sscanf(end + 1, " %c %u", &state, &number) != 2)
		return 0;
	*parent = number;
	return state;
}

/* The system call that a thread is blocked in, with its first argument and its third; below 0: none. */
static long call_of(uint32_t pid, uint32_t tid, uint64_t *argument, uint64_t *third)
{
	unsigned long long first = 0, skipped = 0, value = 0;
	long number = -1;
	char text[256];

	lode_proc_text(text, sizeof(text), "/proc/%u/task/%u/syscall", pid, tid);
	if (sscanf(text, "%ld %llx %llx %llx", &number, &first, &skipped, &value) < 1)
		return -1;
	*argument = first;
	*third = value;
	return number;
}

struct found_process {
	struct lode_thread_clocks *clocks;
	uint32_t pid;
};

/* A thread that is there already: its clock is found from its state in /proc. */
static int add_found(void *context, uint32_t tid)
{
	struct found_process *process = context;
	struct lode_thread_clocks *clocks = process->clocks;
	uint32_t pid = process->pid;
	uint32_t place = lode_thread_clocks_find(clocks, tid) ? LODE_NONE
							      : lode_thread_clocks_add_thread(clocks, pid, tid);
	struct lode_hunt_thread *thread = place == LODE_NONE ? NULL : &clocks->threads[place];
	uint64_t object = 0, value = 0;
	uint32_t parent, found;
	char state;
	long call;

	if (!thread)
		return 0;
	found = LODE_CLOCK_OTHER + 1; /* it waits for something else */
	state = lode_thread_proc_state(pid, tid, &parent);
	call = call_of(pid, tid, &object, &value);
	if (state == 'R') {
		found = LODE_CLOCK_CPU + 1;
	} else if (call >= 0 && call < LODE_HUNT_CALLS) {
		found = (clocks->settings->calls[call] & LODE_CALL_CLASS) + 1u;
		thread->found_object = clocks->settings->calls[call] & LODE_CALL_FUTEX ? object : 0;
		thread->found_bound = thread->found_object && value == LODE_FUTEX_CONTENDED;
	}
	/* Is overlooked where the BPF side knows better by now. */
	__atomic_store_n(&thread->found, found, __ATOMIC_RELEASE);
	return 0;
}

static int add_pid(struct lode_thread_clocks *clocks, uint32_t pid, struct lode_error *error)
{
	uint8_t one = 1;

	if (bpf_map_update_elem(bpf_map__fd(clocks->programs->maps.pids), &pid, &one, BPF_ANY) < 0)
		return lode_fail(error, LODE_SYSTEM, "hunt: process %u cannot be watched: %s", pid,
				 strerror(errno));
	return 0;
}

int lode_thread_clocks_add_process(struct lode_thread_clocks *clocks, uint32_t pid, struct lode_error *error)
{
	struct found_process process = { clocks, pid };
	int code = add_pid(clocks, pid, error);

	if (code)
		return code;
	code = lode_proc_threads(pid, add_found, &process);
	if (code)
		bpf_map_delete_elem(bpf_map__fd(clocks->programs->maps.pids), &pid);
	return code;
}

int lode_thread_clocks_children_only(struct lode_thread_clocks *clocks, uint32_t pid, struct lode_error *error)
{
	for (uint32_t i = 0; i < clocks->thread_count; i++)
		if (clocks->threads[i].tid && clocks->threads[i].pid == pid)
			lode_thread_clocks_forget(clocks, i);
	return add_pid(clocks, pid, error);
}

/* Word by word: another CPU may be looking for a place right now. `claimed` and the sequence number stay. */
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
 * First the place can no longer be found, last it is free to be claimed. The sequence
 * number stays: a writer that is at it right now makes it even again.
 */
void lode_thread_clocks_forget(struct lode_thread_clocks *clocks, uint32_t place)
{
	struct lode_hunt_thread *thread = &clocks->threads[place];

	__atomic_store_n(&thread->tid, 0, __ATOMIC_SEQ_CST);
	memset(&clocks->cells[(size_t)place * clocks->slot_count], 0, clocks->slot_count * sizeof(*clocks->cells));
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

static void copy_state(const struct lode_thread_clocks *clocks, uint32_t place, uint32_t slot,
		       struct lode_hunt_thread *thread, struct lode_hunt_cell *cell)
{
	const struct lode_hunt_thread *shared = &clocks->threads[place];
	const struct lode_hunt_cell *shared_cell = &clocks->cells[(size_t)place * clocks->slot_count + slot];

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

void lode_thread_clocks_thread(const struct lode_thread_clocks *clocks, uint32_t place,
			       struct lode_hunt_thread *thread)
{
	copy_state(clocks, place, 0, thread, NULL);
}

/* Winds the copy of a thread's clocks. */
static void wind(struct lode_hunt_thread *thread, uint64_t now)
{
	if (thread->died)
		return;
	thread->held += lode_thread_held(thread, now);
	thread->ready += lode_thread_pass(thread, now, &thread->clocks);
}

static void add_clocks(struct lode_thread_clocks_sum *sum, const struct lode_hunt_clocks *clocks, int sign)
{
	for (int i = 0; i < LODE_CLOCKS; i++)
		sum->time[i] += sign * clocks->time[i];
	sum->operations += (uint64_t)sign * clocks->operations;
	sum->bytes += (uint64_t)sign * clocks->bytes;
}

void lode_thread_clocks_add(const struct lode_thread_clocks *clocks, uint32_t place, uint32_t slot, uint64_t now,
			    struct lode_thread_clocks_sum *sum)
{
	struct lode_hunt_thread thread;
	struct lode_hunt_cell cell;

	if (slot == LODE_NONE) {
		copy_state(clocks, place, 0, &thread, NULL);
		wind(&thread, now);
		add_clocks(sum, &thread.clocks, 1);
		sum->ready += thread.ready;
		sum->held += thread.held;
		return;
	}
	copy_state(clocks, place, slot, &thread, &cell);
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
static size_t open_frames(const struct lode_thread_clocks *clocks, uint32_t place,
			  struct lode_thread_clocks_frame *frames)
{
	const struct lode_hunt_cell *cells = &clocks->cells[(size_t)place * clocks->slot_count];
	uint32_t slot = clocks->threads[place].top;
	size_t count = 0;

	while (slot && slot <= clocks->slot_count && count < clocks->slot_count) {
		frames[count++] = (struct lode_thread_clocks_frame){ slot - 1, cells[slot - 1].sp };
		slot = cells[slot - 1].below;
	}
	return count;
}

static int compare_frames(const void *left, const void *right)
{
	const struct lode_thread_clocks_frame *a = left, *b = right;

	return a->sp < b->sp ? -1 : a->sp > b->sp;
}

static void open_cell(struct lode_thread_clocks *clocks, struct lode_hunt_thread *thread,
		      struct lode_hunt_cell *cell, const struct lode_thread_clocks_frame *frame, uint64_t now)
{
	cell->at = thread->clocks;
	lode_thread_pass(thread, now, &cell->at);
	cell->sp = frame->sp;
	if (clocks->slots[frame->slot].flags & LODE_SLOT_WAITING)
		thread->waiting++;
}

static void set_entry(struct lode_thread_clocks_frame *chain, size_t count,
		      const struct lode_thread_clocks_frame *frame, struct lode_hunt_cell *cell)
{
	if (frame->sp <= cell->sp)
		return;
	cell->sp = frame->sp;
	for (size_t i = 0; i < count; i++)
		if (chain[i].slot == frame->slot)
			chain[i].sp = frame->sp;
}

void lode_thread_clocks_seed(struct lode_thread_clocks *clocks, uint32_t place,
			     const struct lode_thread_clocks_frame *frames, size_t count)
{
	struct lode_hunt_cell *cells = &clocks->cells[(size_t)place * clocks->slot_count];
	struct lode_hunt_thread *thread = &clocks->threads[place];
	struct lode_thread_clocks_frame chain[LODE_HUNT_SLOTS];
	size_t open = open_frames(clocks, place, chain);
	uint64_t now = lode_now();
	uint32_t below = 0;

	for (size_t i = 0; i < count && open < clocks->slot_count; i++) {
		struct lode_hunt_cell *cell = &cells[frames[i].slot];

		if (cell->sp) {
			/* Entered again since its probes are in; the outermost entry counts. */
			set_entry(chain, open, &frames[i], cell);
			continue;
		}
		open_cell(clocks, thread, cell, &frames[i], now);
		chain[open++] = frames[i];
	}
	qsort(chain, open, sizeof(*chain), compare_frames);
	for (size_t i = open; i-- > 0;) {
		cells[chain[i].slot].below = below;
		below = chain[i].slot + 1;
	}
	thread->top = below;
}

int lode_thread_clocks_is_open(const struct lode_thread_clocks *clocks, uint32_t slot)
{
	for (size_t i = 0; i < clocks->thread_count; i++)
		if (clocks->threads[i].tid && !clocks->threads[i].died &&
		    clocks->cells[i * clocks->slot_count + slot].sp)
			return 1;
	return 0;
}

void lode_thread_clocks_clear_slot(struct lode_thread_clocks *clocks, uint32_t slot)
{
	for (size_t i = 0; i < clocks->thread_count; i++)
		memset(&clocks->cells[i * clocks->slot_count + slot], 0, sizeof(*clocks->cells));
	memset(&clocks->slots[slot], 0, sizeof(*clocks->slots));
}

/* ---- objects ---- */

int lode_thread_clocks_object(struct lode_thread_clocks *clocks, uint64_t object)
{
	uint8_t one = 1;

	clocks->programs->bss->any_watched = 1;
	return bpf_map_update_elem(bpf_map__fd(clocks->programs->maps.watched), &object, &one, BPF_ANY) < 0
		       ? LODE_SYSTEM
		       : 0;
}

/* Appends the next part of the kernel's table. Returns 1 when that was the last, 0, or LODE_SYSTEM. */
static int load_objects(struct lode_thread_clocks *clocks, uint32_t *token, int is_first)
{
	int map = bpf_map__fd(clocks->programs->maps.objects), code;
	size_t room = clocks->object_count + OBJECTS_AT_A_TIME;
	uint32_t count = OBJECTS_AT_A_TIME;

	if (LODE_GROW(clocks->object_keys, clocks->object_keys_capacity, room) < 0 ||
	    LODE_GROW(clocks->objects, clocks->objects_capacity, room) < 0)
		return LODE_SYSTEM;
	code = bpf_map_lookup_batch(map, is_first ? NULL : token, token, clocks->object_keys + clocks->object_count,
				    clocks->objects + clocks->object_count, &count, NULL);
	if (code && errno != ENOENT)
		return 1; /* the table is as good as it gets */
	clocks->object_count += count;
	return code != 0;
}

/* The table is read once for many lookups in a row. */
static int refresh_objects(struct lode_thread_clocks *clocks)
{
	uint64_t now = lode_now();
	uint32_t token = 0;
	int code = 0;

	if (clocks->objects_taken && now - clocks->objects_taken < OBJECTS_FRESH)
		return 0;
	clocks->object_count = 0;
	clocks->objects_taken = 0;
	for (int i = 0; !code; i++)
		code = load_objects(clocks, &token, !i);
	if (code < 0)
		return code;
	clocks->objects_taken = now;
	return 0;
}

int lode_thread_clocks_each_object(struct lode_thread_clocks *clocks,
				   int (*each)(void *context, const struct lode_hunt_object_key *key,
					       const struct lode_hunt_object *object),
				   void *context)
{
	int code = refresh_objects(clocks);

	for (size_t i = 0; !code && i < clocks->object_count; i++)
		code = each(context, &clocks->object_keys[i], &clocks->objects[i]);
	return code;
}

void lode_thread_clocks_counts(struct lode_thread_clocks *clocks, struct lode_hunt_counts *counts)
{
	uint32_t zero = 0;

	memset(counts, 0, sizeof(*counts));
	bpf_map_lookup_elem(bpf_map__fd(clocks->programs->maps.counts), &zero, counts);
}
