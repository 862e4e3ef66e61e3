/*
 * Frames of CPython, in the kernel. A part of unwind.bpf.h.
 *
 * Where the walk leaves a C frame of _PyEval_EvalFrameDefault, the Python frames that it runs follow: from
 * the innermost one to the outermost, which is marked. That they belong to this C frame is certain, because
 * something of theirs is in its part of the C stack: the entry of the chain of C frames (up to 3.12), or the
 * frame below the outermost one. A C frame that has just begun or is about to return has none yet, or no more.
 *
 * The thread's state is found by its number, in the lists that begin at _PyRuntime. Thread-local storage would
 * not do: since 3.13 a thread that gives up the global lock, as all do that wait, clears its own. The state is
 * remembered for each thread, and checked by that number whenever it is used.
 */
#ifndef LODE_RECORD_BPF_PYTHON_BPF_H
#define LODE_RECORD_BPF_PYTHON_BPF_H

#include "process/languages/language_words.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LODE_LANGUAGE_PROCESSES);
	__type(key, uint32_t);
	__type(value, struct lode_language_process);
} language_processes SEC(".maps");

/* The state of a thread, and the number that it has there. */
struct python_thread {
	uint64_t state;
	uint64_t number;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, uint64_t);
	__type(value, struct python_thread);
} python_threads SEC(".maps");

/* Thread states and interpreters that are looked at: each round of a loop is a state, or the next interpreter. */
#define PYTHON_STATES       8
#define PYTHON_STATE_ROUNDS 128
/* Frames that lode_python_some adds at a time. The rounds reach LODE_RECORD_FRAMES. */
#define PYTHON_FRAMES 4
#define PYTHON_ROUNDS ((LODE_RECORD_FRAMES + 1) / PYTHON_FRAMES)

enum python_search {
	PYTHON_NOT_SOUGHT, /* the thread's state, for this stack */
	PYTHON_FOUND,
	PYTHON_UNKNOWN,
};

/* What is known of the process if it runs this language, or NULL. */
static __always_inline const struct lode_language_process *process_running(const struct scratch *scratch,
									   enum lode_language language)
{
	uint32_t place = scratch->space.language;
	const struct lode_language_process *process = place ? bpf_map_lookup_elem(&language_processes, &place) : 0;

	return process && process->language == language ? process : 0;
}

static __always_inline const struct lode_language_process *language_process(const struct scratch *scratch)
{
	return process_running(scratch, LODE_LANGUAGE_PYTHON);
}

static __always_inline bool has_python(const struct scratch *scratch)
{
	return language_process(scratch) != 0;
}

/* Whether the code at an address is what runs Python code. */
static __always_inline bool is_at_python(const struct scratch *scratch, uint64_t address)
{
	const struct lode_language_process *process = language_process(scratch);

	return process && (address - process->starts[0] < process->ends[0] - process->starts[0] ||
			   address - process->starts[1] < process->ends[1] - process->starts[1]);
}

static __always_inline uint64_t read_word_at(uint64_t address)
{
	uint64_t word;

	return bpf_probe_read_user(&word, sizeof(word), (void *)address) ? 0 : word;
}

/* ---- the thread's state ---- */

/* The number of the current thread in its innermost namespace: the one it has for itself. */
static __always_inline uint64_t own_number(struct task_struct *task)
{
	struct pid *pid = task->thread_pid;
	uint32_t number = 0;
	uint64_t at;

	if (!pid)
		return 0;
	at = bpf_core_field_offset(struct pid, numbers) + pid->level * bpf_core_type_size(struct upid) +
	     bpf_core_field_offset(struct upid, nr);
	bpf_probe_read_kernel(&number, sizeof(number), (void *)pid + at);
	return number;
}

/* No state is larger. */
#define PYTHON_STATE_BYTES 4096

/*
 * Where the frames of the thread with this number begin, by a state; 0: it is another thread's, or runs nothing, as the states that a
 * thread has in other interpreters. Of these the entry of the chain of C frames is in the state itself.
 */
static __always_inline uint64_t frames_of(const struct lode_python_layout *layout, uint64_t state, uint64_t number)
{
	uint64_t frame;

	if (!state || read_word_at(state + layout->thread_native_id) != number)
		return 0;
	frame = read_word_at(state + layout->thread_frame);
	return layout->has_chain && frame - state < PYTHON_STATE_BYTES ? 0 : frame;
}

/*
 * Looks at some more states of threads for the one of walk->number. Returns whether the search goes on; walk->frame is not 0 once it
 * is found, in walk->state.
 */
__noinline int lode_python_search(struct scratch *scratch)
{
	const struct lode_language_process *process;
	struct python_walk *walk;

	if (!scratch)
		return 0;
	process = language_process(scratch);
	if (!process)
		return 0;
	walk = &scratch->python;
	for (uint32_t i = 0; i < PYTHON_STATES; i++) {
		if (!walk->at) {
			if (!walk->interpreter)
				return 0;
			walk->at = read_word_at(walk->interpreter + process->layout.interpreter_threads);
			walk->interpreter = read_word_at(walk->interpreter + process->layout.interpreter_next);
			continue;
		}
		walk->seen++;
		walk->state = walk->at;
		walk->frame = frames_of(&process->layout, walk->state, walk->number);
		if (walk->frame)
			return 0;
		walk->at = read_word_at(walk->state + process->layout.thread_next);
	}
	return 1;
}

/* Finds the state of the current thread among all, and where its frames begin. */
static __always_inline void find_state(struct scratch *scratch, const struct lode_language_process *process,
				       bool is_main)
{
	struct python_walk *walk = &scratch->python;

	walk->interpreter = read_word_at(process->interpreters);
	walk->at = walk->state = walk->frame = walk->seen = 0;
	for (uint32_t i = 0; i < PYTHON_STATE_ROUNDS; i++)
		if (!lode_python_search(scratch))
			break;
	if (walk->frame || !is_main || walk->seen != 1)
		return;
	/* The only state of a process that was forked may have the number of the thread that forked it. */
	walk->number = read_word_at(walk->state + process->layout.thread_native_id);
	walk->frame = frames_of(&process->layout, walk->state, walk->number);
}

/* Finds where the Python frames of the current thread begin, once for each stack. */
__noinline int lode_python_begin(struct scratch *scratch)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint64_t key = (uint64_t)task->tgid << 32 | (uint32_t)task->pid;
	const struct lode_language_process *process;
	struct python_thread *known, found;

	if (!scratch || scratch->python.search != PYTHON_NOT_SOUGHT)
		return 0;
	process = language_process(scratch);
	if (!process)
		return 0;
	known = bpf_map_lookup_elem(&python_threads, &key);
	scratch->python.frame = known ? frames_of(&process->layout, known->state, known->number) : 0;
	if (!scratch->python.frame) {
		scratch->python.number = own_number(task);
		find_state(scratch, process, task->pid == task->tgid);
		found.state = scratch->python.state;
		found.number = scratch->python.number;
		if (scratch->python.frame)
			bpf_map_update_elem(&python_threads, &key, &found, BPF_ANY);
	}
	scratch->python.search = scratch->python.frame ? PYTHON_FOUND : PYTHON_UNKNOWN;
	return 0;
}

/* ---- frames ---- */

/* A word of the frame or the code object that was read; the verifier must see the bound. */
static __always_inline uint64_t word_of(const uint8_t *bytes, uint32_t offset)
{
	uint64_t at = offset;

	asm volatile("" : "+r"(at));
	at &= 127;
	if (at > LODE_PYTHON_FRAME_BYTES - 8)
		return 0;
	return *(const uint64_t *)(bytes + at);
}

static __always_inline uint32_t frame_byte(const struct scratch *scratch, uint32_t offset)
{
	uint64_t at = offset;

	asm volatile("" : "+r"(at));
	at &= 127;
	return at < LODE_PYTHON_FRAME_BYTES ? scratch->python.bytes[at] : 0;
}

/* The word of the function that the frame in the scratch runs. */
static __always_inline uint64_t function_word(struct scratch *scratch, const struct lode_python_layout *layout)
{
	uint64_t code = word_of(scratch->python.bytes, layout->frame_code) & ~7ull, check = 0;
	const uint8_t *bytes = scratch->python.code;

	if (!bpf_probe_read_user(scratch->python.code, sizeof(scratch->python.code), (void *)(code + layout->code)))
		check = lode_python_check(word_of(bytes, layout->code_filename), word_of(bytes, layout->code_name),
					  (uint32_t)word_of(bytes, layout->code_line));
	code = lode_language_word(LODE_LANGUAGE_PYTHON, check, code);
	note_name(scratch, code);
	return code;
}

/*
 * Adds some frames from scratch->python.frame on, up to the outermost one of this C frame. Returns whether there are
 * more; 0 is the end, which scratch->python.end has the address of (0: it was not found).
 */
__noinline int lode_python_some(struct scratch *scratch)
{
	const struct lode_language_process *process;
	uint64_t frame;

	if (!scratch)
		return 0;
	process = language_process(scratch);
	if (!process)
		return 0;
	frame = scratch->python.frame;
	for (uint32_t i = 0; i < PYTHON_FRAMES; i++) {
		uint32_t mark;

		if (!frame || scratch->stack.count >= LODE_RECORD_FRAMES - 1 ||
		    bpf_probe_read_user(scratch->python.bytes, LODE_PYTHON_FRAME_BYTES, (void *)frame))
			return 0;
		mark = frame_byte(scratch, process->layout.frame_mark);
		if (mark < process->layout.outermost || !process->layout.is_shim)
			add_address(scratch, function_word(scratch, &process->layout));
		scratch->python.end = frame;
		frame = word_of(scratch->python.bytes, process->layout.frame_previous);
		scratch->python.frame = frame;
		if (mark >= process->layout.outermost)
			return 0;
		scratch->python.end = 0;
	}
	return 1;
}

static __always_inline void add_all(struct scratch *scratch)
{
	scratch->python.end = 0;
	for (uint32_t i = 0; i < PYTHON_ROUNDS; i++)
		if (!lode_python_some(scratch))
			break;
}

/* Stacks of different processes differ: what is at an address does. */
static __always_inline void mark_words(struct scratch *scratch)
{
	uint64_t pid = (uint32_t)bpf_get_current_task_btf()->tgid;

	if (scratch->stack.languages & LODE_STACK_HAS_WORDS)
		return;
	scratch->stack.languages |= LODE_STACK_HAS_WORDS;
	scratch->stack.pid = pid;
	scratch->hash += pid * MULTIPLIER;
	scratch->sum += pid;
}

/*
 * Where there is a chain: the entry of this C frame, whose part of the stack is from `start` to `end`, has the innermost
 * frame. The chain may have entries below it, of C frames that the walk has not seen.
 */
static __always_inline void add_by_chain(struct scratch *scratch, const struct lode_python_layout *layout,
					 uint64_t start, uint64_t end)
{
	uint64_t entry = scratch->python.frame, previous;

	if (entry - start >= end - start)
		return;
	previous = read_word_at(entry + layout->chain_previous);
	scratch->python.frame = read_word_at(entry + layout->chain_frame);
	add_all(scratch);
	scratch->python.frame = previous;
}

/* Where there is none, frames count once the one below the outermost proves to be in this part of the stack. */
static __always_inline void add_by_shim(struct scratch *scratch, uint64_t start, uint64_t end)
{
	uint64_t frame = scratch->python.frame, hash = scratch->hash, sum = scratch->sum;
	uint32_t count = scratch->stack.count;

	add_all(scratch);
	if (scratch->python.end - start < end - start)
		return;
	scratch->python.frame = frame;
	scratch->hash = hash;
	scratch->sum = sum;
	scratch->stack.count = count;
}

/* ---- chains ---- */

/* C frames of the interpreter whose frames a chain has. */
#define PYTHON_CHAIN 64

/* Adds the frames of one more C frame to the chain, and its place. Returns whether there may be more. */
__noinline int lode_python_chain_some(struct scratch *scratch)
{
	const struct lode_language_process *process;
	uint64_t place, previous = 0;

	if (!scratch)
		return 0;
	process = language_process(scratch);
	place = scratch->python.frame;
	if (!process || !place)
		return 0;
	if (process->layout.has_chain) {
		previous = read_word_at(place + process->layout.chain_previous);
		scratch->python.frame = read_word_at(place + process->layout.chain_frame);
	}
	add_all(scratch);
	if (process->layout.has_chain)
		scratch->python.frame = previous;
	else
		place = scratch->python.end;
	if (!place || scratch->stack.count >= LODE_RECORD_FRAMES - 1)
		return 0;
	add_address(scratch, lode_language_word(LODE_LANGUAGE_PLACE, 0, place));
	return 1;
}

/* Sends the chain of the current thread, whose stack was copied as `id`. */
__noinline int lode_python_send_chain(struct scratch *scratch, uint64_t id)
{
	if (!scratch)
		return 0;
	begin_stack(scratch, true, false);
	scratch->stack.pid = (uint32_t)bpf_get_current_task_btf()->tgid;
	scratch->python.search = PYTHON_NOT_SOUGHT;
	lode_python_begin(scratch);
	if (scratch->python.search != PYTHON_FOUND)
		return 0;
	for (uint32_t i = 0; i < PYTHON_CHAIN; i++)
		if (!lode_python_chain_some(scratch))
			break;
	if (!scratch->stack.count)
		return 0;
	scratch->stack.languages |= LODE_STACK_HAS_WORDS | LODE_STACK_IS_CHAIN;
	send_stack(scratch, id);
	return 0;
}

/* ---- in the walk ---- */

static __always_inline void add_frames(struct scratch *scratch)
{
	const struct lode_language_process *process = language_process(scratch);
	uint64_t start = scratch->python.start, end = scratch->state.sp;

	if (!process || scratch->python.search != PYTHON_FOUND) {
		scratch->stack.languages |= LODE_STACK_LACKS_WORDS;
		return;
	}
	mark_words(scratch);
	if (process->layout.has_chain)
		add_by_chain(scratch, &process->layout, start, end);
	else
		add_by_shim(scratch, start, end);
}

/* Adds the caller that the walk came to before it added frames of a language. */
static __always_inline void add_caller(struct scratch *scratch)
{
	if (scratch->stack.count >= LODE_RECORD_FRAMES)
		return;
	add_address(scratch, scratch->state.pc + scratch->state.is_exact);
	if (KEEPS_WALKS)
		scratch->trail.return_at[(scratch->stack.count - 1) & LODE_RECORD_FRAMES] = scratch->python.slot;
}

/* The walk left a C frame that runs Python code: adds what it runs, and then its caller. */
__noinline int lode_python_add(struct scratch *scratch)
{
	if (!scratch)
		return 0;
	add_frames(scratch);
	if (scratch->python.search != PYTHON_FOUND)
		lose_trail(scratch);
	add_caller(scratch);
	return 0;
}

#endif
