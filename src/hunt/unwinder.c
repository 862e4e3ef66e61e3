/*
 * Unwinder: see unwinder.h.
 *
 * The stack pointer that a caller has is the one that its callee's frame ends at,
 * so the entry of a frame is told by the next one. Of the last frame it is not
 * known; any number above the entries of all that it calls does, for a function
 * is over when the stack pointer is at its entry or beyond.
 */
#include "hunt/unwinder.h"

#include "base/memory.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

/* Memory of the process is fetched in pieces of so many bytes. */
#define PIECE 1024u

struct mapping {
	uint64_t start;
	uint64_t end;
};

struct lode_unwinder {
	Dwfl *dwfl;
	uint32_t pid;
	int attached;
	struct mapping *mappings; /* in order, as they were when it was made */
	size_t mapping_count;
	size_t mapping_capacity;
	uint64_t piece_start; /* 0: none */
	uint64_t piece[PIECE / 8];
	/* the walk in progress */
	const struct lode_registers *registers;
	struct lode_stop_frame *frames;
	size_t count;
	size_t limit;
};

/* ---- memory ---- */

static int fetch(uint32_t pid, void *to, uint64_t address, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};

	return process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : LODE_SYSTEM;
}

static int read_word(struct lode_unwinder *unwinder, uint64_t address, uint64_t *word)
{
	uint64_t start = address & ~(uint64_t)(PIECE - 1);

	if (address & 7 || address < PIECE)
		return fetch(unwinder->pid, word, address, sizeof(*word));
	if (start != unwinder->piece_start) {
		unwinder->piece_start = 0;
		if (fetch(unwinder->pid, unwinder->piece, start, PIECE) < 0)
			return LODE_SYSTEM;
		unwinder->piece_start = start;
	}
	*word = unwinder->piece[(address - start) / 8];
	return 0;
}

/* ---- libdwfl ---- */

static bool take_thread(Dwfl *dwfl, pid_t tid, void *argument, void **thread_argument)
{
	(void)dwfl;
	(void)tid;
	*thread_argument = argument;
	return true;
}

static pid_t no_thread(Dwfl *dwfl, void *argument, void **thread_argument)
{
	(void)dwfl;
	(void)argument;
	(void)thread_argument;
	return 0;
}

static bool take_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *argument)
{
	uint64_t word;

	(void)dwfl;
	if (read_word(argument, address, &word) < 0)
		return false;
	*result = word;
	return true;
}

static bool take_registers(Dwfl_Thread *thread, void *argument)
{
	const struct lode_unwinder *unwinder = argument;
	Dwarf_Word values[LODE_REGISTERS];

	for (int i = 0; i < LODE_REGISTERS; i++)
		values[i] = unwinder->registers->values[i];
	dwfl_thread_state_register_pc(thread, unwinder->registers->pc);
	return dwfl_thread_state_registers(thread, 0, LODE_REGISTERS, values);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = no_thread,
	.get_thread = take_thread,
	.memory_read = take_memory,
	.set_initial_registers = take_registers,
};

/* Tables for unwinding are in the binaries themselves; files with debugging information are not looked for.
 */
static int find_nothing(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
			const char *link, GElf_Word crc, char **found)
{
	(void)module;
	(void)data;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	(void)found;
	return -1;
}

/* Where each mapping of the process begins and ends, in order. */
static void read_mappings(struct lode_unwinder *unwinder)
{
	char path[32], *line = NULL;
	size_t capacity = 0;
	unsigned long long start, end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/maps", unwinder->pid);
	file = fopen(path, "re"); /* from the kernel */
	while (file && getline(&line, &capacity, file) > 0) {
		if (sscanf(line, "%llx-%llx", &start, &end) != 2)
			continue;
		if (lode_grow(&unwinder->mappings, &unwinder->mapping_capacity, unwinder->mapping_count + 1,
			      sizeof(*unwinder->mappings)) < 0)
			break;
		unwinder->mappings[unwinder->mapping_count++] = (struct mapping){start, end};
	}
	free(line); /* from getline */
	if (file)
		fclose(file);
}

/* The end of the mapping that begins at an address of the process; 0: none does. */
static uint64_t mapping_end(const struct lode_unwinder *unwinder, uint64_t address)
{
	size_t low = 0, high = unwinder->mapping_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (unwinder->mappings[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < unwinder->mapping_count && unwinder->mappings[low].start == address
		       ? unwinder->mappings[low].end
		       : 0;
}

/*
 * The file that is mapped, not the one that has its path by now: by the tables of
 * another the frames would be wrong.
 */
static int find_mapped(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **file,
		       Elf **elf)
{
	const struct lode_unwinder *unwinder = *data;
	uint64_t end = name[0] == '/' && unwinder ? mapping_end(unwinder, base) : 0;
	char path[96];
	int fd = -1;

	if (end) {
		snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", unwinder->pid,
			 (unsigned long long)base, (unsigned long long)end);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	return fd >= 0 ? fd : dwfl_linux_proc_find_elf(module, data, name, base, file, elf);
}

static int tell_module(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr start, void *argument)
{
	(void)module;
	(void)name;
	(void)start;
	*data = argument;
	return DWARF_CB_OK;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_mapped,
	.find_debuginfo = find_nothing,
};

/* Has the tables read before a thread is stopped. */
static int warm_module(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr start, void *argument)
{
	Dwarf_Addr bias;

	(void)data;
	(void)name;
	(void)start;
	(void)argument;
	if (dwfl_module_getelf(module, &bias))
		dwfl_module_eh_cfi(module, &bias);
	return DWARF_CB_OK;
}

struct lode_unwinder *lode_unwinder_create(uint32_t pid)
{
	struct lode_unwinder *unwinder = lode_calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->pid = pid;
	unwinder->dwfl = dwfl_begin(&callbacks);
	if (!unwinder->dwfl)
		return unwinder;
	dwfl_report_begin(unwinder->dwfl);
	if (dwfl_linux_proc_report(unwinder->dwfl, (pid_t)pid) != 0 ||
	    dwfl_report_end(unwinder->dwfl, NULL, NULL) != 0)
		return unwinder;
	dwfl_getmodules(unwinder->dwfl, tell_module, unwinder, 0);
	read_mappings(unwinder);
	dwfl_getmodules(unwinder->dwfl, warm_module, NULL, 0);
	unwinder->attached = dwfl_attach_state(unwinder->dwfl, NULL, (pid_t)pid, &thread_callbacks, unwinder);
	return unwinder;
}

void lode_unwinder_destroy(struct lode_unwinder *unwinder)
{
	if (!unwinder)
		return;
	if (unwinder->dwfl)
		dwfl_end(unwinder->dwfl);
	lode_free(unwinder->mappings);
	lode_free(unwinder);
}

/* ---- walking ---- */

static int take_frame(Dwfl_Frame *state, void *argument)
{
	struct lode_unwinder *unwinder = argument;
	struct lode_stop_frame *frame = &unwinder->frames[unwinder->count];
	bool is_leaf = true;
	Dwarf_Addr pc;
	Dwarf_Word sp;

	if (unwinder->count == unwinder->limit || !dwfl_frame_pc(state, &pc, &is_leaf) ||
	    dwfl_frame_reg(state, LODE_REGISTER_SP, &sp) != 0)
		return DWARF_CB_ABORT;
	if (unwinder->count && sp < unwinder->frames[unwinder->count - 1].sp)
		return DWARF_CB_ABORT; /* stacks grow down; this one leads nowhere */
	*frame = (struct lode_stop_frame){is_leaf ? pc : pc - 1, sp};
	unwinder->count++;
	return DWARF_CB_OK;
}

/* From the stack pointers of frames to those at their entries. */
static void shift_entries(struct lode_stop_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		frames[i].sp = i + 1 < count ? frames[i + 1].sp - LODE_RETURN_SIZE : frames[i].sp + 1;
}

/*
 * By frame pointers. A frame record is two words that lie above the entries of all
 * that the function calls, and below its own.
 */
static size_t walk_frame_pointers(struct lode_unwinder *unwinder)
{
	uint64_t fp = unwinder->registers->values[LODE_REGISTER_FP], address = unwinder->registers->pc, next,
		 caller;
	size_t count = 0;

	while (count < unwinder->limit) {
		unwinder->frames[count] = (struct lode_stop_frame){count ? address - 1 : address, fp + 8};
		count++;
		if (read_word(unwinder, fp, &next) < 0 || read_word(unwinder, fp + 8, &caller) < 0 ||
		    !caller || next <= fp)
			break;
		fp = next;
		address = caller;
	}
	return count;
}

size_t lode_unwinder_walk(struct lode_unwinder *unwinder, uint32_t tid,
			  const struct lode_registers *registers, struct lode_stop_frame *frames,
			  size_t limit)
{
	unwinder->registers = registers;
	unwinder->frames = frames;
	unwinder->count = 0;
	unwinder->limit = limit;
	unwinder->piece_start = 0;
	if (unwinder->attached)
		dwfl_getthread_frames(unwinder->dwfl, (pid_t)tid, take_frame, unwinder);
	if (unwinder->count > 1)
		shift_entries(frames, unwinder->count);
	else
		unwinder->count = walk_frame_pointers(unwinder);
	return unwinder->count;
}
