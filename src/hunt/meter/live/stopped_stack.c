/*
 * Stacks of stopped threads: see stopped_stack.h.
 *
 * The stack pointer that a caller has is the one that its callee's frame ends at,
 * so the entry of a frame follows from the next one. Of the last frame it is not
 * known; any number above the entries of all that it calls does, for a function
 * is over when the stack pointer is at its entry or beyond.
 */
#include "hunt/meter/live/stopped_stack.h"

#include "base/memory.h"
#include "process/process_unwinder.h"

#include <sys/uio.h>

/* Bytes of the process's memory that are read at a time. */
#define PIECE 1024u

struct lode_stopped_stack {
	struct lode_process_unwinder inner;
	struct lode_languages *languages; /* of which code has no unwind tables: the walk leads through it */
	uint32_t pid;
	uint64_t piece_start; /* 0: none */
	uint64_t piece[PIECE / 8];
	struct lode_unwind_frame frames[LODE_STOP_FRAMES];
};

static int fetch(uint32_t pid, void *to, uint64_t address, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)(uintptr_t)address, size };

	return process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static int read_word(void *context, uint64_t address, uint64_t *word)
{
	struct lode_stopped_stack *unwinder = context;
	uint64_t start = address & ~(uint64_t)(PIECE - 1);

	if (address & 7 || address < PIECE)
		return fetch(unwinder->pid, word, address, sizeof(*word));
	if (start != unwinder->piece_start) {
		unwinder->piece_start = 0;
		if (!fetch(unwinder->pid, unwinder->piece, start, PIECE))
			return 0;
		unwinder->piece_start = start;
	}
	*word = unwinder->piece[(address - start) / 8];
	return 1;
}

/* What a process says of the code that its runtime generated is read now, too. */
static int load_languages(struct lode_stopped_stack *unwinder)
{
	struct lode_process_unwinder *inner = &unwinder->inner;
	const struct lode_process *process = lode_processes_get(&inner->processes, unwinder->pid);
	struct lode_language_process found;

	unwinder->languages = lode_languages_create(LODE_LANGUAGES_ALL, &lode_live_memory);
	if (!process || !unwinder->languages)
		return LODE_SYSTEM;
	inner->languages = unwinder->languages;
	return lode_languages_detect(unwinder->languages, &inner->processes, process, &found);
}

struct lode_stopped_stack *lode_stopped_stack_create(uint32_t pid)
{
	struct lode_stopped_stack *unwinder = lode_calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->pid = pid;
	/* Tables are read now, not while a thread is stopped. */
	if (lode_process_unwinder_init(&unwinder->inner, NULL) < 0 ||
	    lode_process_unwinder_load(&unwinder->inner, pid) < 0 || load_languages(unwinder) < 0) {
		lode_stopped_stack_destroy(unwinder);
		return NULL;
	}
	return unwinder;
}

void lode_stopped_stack_destroy(struct lode_stopped_stack *unwinder)
{
	if (!unwinder)
		return;
	lode_process_unwinder_release(&unwinder->inner);
	lode_languages_destroy(unwinder->languages);
	lode_free(unwinder);
}

/* From the stack pointers of frames to those at their entries. */
static void set_frames(const struct lode_unwind_frame *from, struct lode_stop_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		frames[i] = (struct lode_stop_frame){ from[i].address, i + 1 < count
									       ? from[i + 1].sp - LODE_RETURN_SIZE
									       : from[i].sp + 1 };
}

size_t lode_stopped_stack_walk(struct lode_stopped_stack *unwinder, const struct lode_registers *registers,
			       struct lode_stop_frame *frames, size_t limit)
{
	struct lode_unwind_registers start = {
		.pc = registers->pc,
		.sp = registers->values[LODE_REGISTER_SP],
		.fp = registers->values[LODE_REGISTER_FP],
		.link = registers->values[LODE_REGISTER_LINK],
		.scratch = registers->values[LODE_REGISTER_SCRATCH],
		.machine = LODE_UNWIND_MACHINE,
	};
	struct lode_unwind_memory memory = { unwinder, read_word };
	struct lode_unwound unwound;
	int count;

	unwinder->piece_start = 0;
	if (limit > LODE_STOP_FRAMES)
		limit = LODE_STOP_FRAMES;
	count = lode_process_unwinder_walk(&unwinder->inner, unwinder->pid, &start, &memory, unwinder->frames,
					   limit, &unwound);
	if (count < 0)
		return 0;
	set_frames(unwinder->frames, frames, (size_t)count);
	return (size_t)count;
}
