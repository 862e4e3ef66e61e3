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
/* Frames that are added at a time. */
#define PYTHON_FRAMES 16
/* Code objects that are read at a time. The rounds reach LODE_RECORD_FRAMES. */
#define PYTHON_READ        4
#define PYTHON_READ_ROUNDS ((LODE_RECORD_FRAMES + 1) / PYTHON_READ)

enum python_search {
	PYTHON_NOT_SOUGHT, /* the thread's state, for this stack */
	PYTHON_FOUND,
	PYTHON_UNKNOWN,
};

static __always_inline const struct lode_language_process *python_process(const struct scratch *scratch)
{
	return process_running(scratch, LODE_LANGUAGE_PYTHON);
}

static __always_inline bool has_python(const struct scratch *scratch)
{
	return python_process(scratch) != 0;
}

/* Whether the code at an address is what runs Python code. */
static __always_inline bool is_at_python(const struct scratch *scratch, uint64_t address)
{
	const struct lode_language_process *process = python_process(scratch);

	return process && (address - process->starts[0] < process->ends[0] - process->starts[0] ||
			   address - process->starts[1] < process->ends[1] - process->starts[1]);
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
	process = python_process(scratch);
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
	process = python_process(scratch);
	if (!process)
		return 0;
	scratch->epoch = bpf_jiffies64() & REMEMBERED_EPOCH;
	scratch->python.block_places = scratch->python.block_count = 0;
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
	scratch->python.first = scratch->python.frame;
	return 0;
}

/* ---- frames ---- */

/* Frames from which on more are expected below those in the block: Python functions that call one another have theirs in a row. */
#define PYTHON_TOGETHER 4

/* Bytes of a frame and of what is below it that are read at first, and where frames lie apart, as those of generators do. */
#define PYTHON_FIRST_BYTES 1024
#define PYTHON_APART_BYTES 256

/* An offset in a frame or a code object, of which the verifier must see the bound. */
static __always_inline uint64_t bounded(uint32_t offset)
{
	uint64_t at = offset;

	asm volatile("" : "+r"(at));
	return at & 127 & ~7ull;
}

/* What loops over the frames in the block hold. */
struct python_view {
	uint64_t start;
	uint64_t places;
	uint64_t code; /* offsets */
	uint64_t previous;
	uint64_t mark;
	uint32_t mark_shift; /* in a word */
	uint32_t outermost;
	uint32_t is_shim;
};

static __always_inline void view_block(struct python_view *view, const struct scratch *scratch,
				       const struct lode_python_layout *layout)
{
	view->start = scratch->python.block_start;
	view->places = scratch->python.block_places;
	view->code = bounded(layout->frame_code);
	view->previous = bounded(layout->frame_previous);
	view->mark = bounded(layout->frame_mark);
	view->mark_shift = layout->frame_mark % 8 * 8;
	view->outermost = layout->outermost;
	view->is_shim = layout->is_shim;
}

/* Gets where the frame at an address is in the block; false: it is elsewhere. */
static __always_inline bool find_frame(const struct python_view *view, uint64_t frame, uint64_t *at)
{
	*at = frame - view->start;
	if (*at >= view->places)
		return false;
	asm volatile("" : "+r"(*at));
	return *at <= PYTHON_BLOCK_BYTES;
}

static __always_inline uint64_t frame_word(const struct scratch *scratch, uint64_t at, uint64_t offset)
{
	return *(const uint64_t *)(scratch->python.block + at + offset);
}

static __always_inline bool is_outermost(const struct scratch *scratch, const struct python_view *view, uint64_t at)
{
	return (frame_word(scratch, at, view->mark) >> view->mark_shift & 0xff) >= view->outermost;
}

/* A word of the C stack, which the scratch has in most cases. */
static __always_inline uint64_t c_stack_word(const struct scratch *scratch, uint64_t address)
{
	uint64_t at = address - scratch->block_start;

	if (at >= BLOCK_BYTES || at + 8 > scratch->block_size)
		return read_word_at(address);
	asm volatile("" : "+r"(at));
	return *(const uint64_t *)(scratch->block + (at & (BLOCK_BYTES - 1)));
}

/* Whether the frame at an address is none of a function. Those are on the C stack. */
static __always_inline bool is_shim(const struct scratch *scratch, const struct lode_python_layout *layout,
				    uint64_t frame)
{
	uint64_t word;

	if (!layout->is_shim)
		return false;
	word = c_stack_word(scratch, frame + (layout->frame_mark & ~7u));
	return (word >> layout->frame_mark % 8 * 8 & 0xff) >= layout->outermost;
}

/*
 * Reads the frame at scratch->python.frame into the block, with what is below it in the same page: that can be read, too. Returns 1;
 * 0 if it cannot be read, or is the end of what the C frame runs, of which scratch->python.end then has the address.
 */
__noinline int lode_python_fetch(struct scratch *scratch)
{
	const struct lode_language_process *process;
	struct python_walk *walk;
	uint64_t size, below, start;

	if (!scratch)
		return 0;
	process = python_process(scratch);
	walk = &scratch->python;
	if (!process || !walk->frame)
		return 0;
	if (is_shim(scratch, &process->layout, walk->frame)) {
		walk->end = walk->frame;
		walk->frame = c_stack_word(scratch, walk->frame + process->layout.frame_previous);
		return 0;
	}
	size = walk->block_count >= PYTHON_TOGETHER ? PYTHON_BLOCK_BYTES
	       : walk->block_count                  ? PYTHON_APART_BYTES
						    : PYTHON_FIRST_BYTES;
	below = walk->frame & 4095;
	size = forget(scratch, below < size ? below : size);
	if (size > PYTHON_BLOCK_BYTES)
		return 0;
	start = walk->frame - size;
	walk->block_places = walk->block_count = 0;
	if (bpf_probe_read_user(walk->block, size + LODE_PYTHON_FRAME_BYTES, (void *)start))
		return 0;
	walk->block_start = start;
	walk->block_places = size + 1;
	return 1;
}

static __always_inline void add_code(struct scratch *scratch, uint64_t number, uint64_t code)
{
	asm volatile("" : "+r"(number)); /* the verifier must see the bound */
	number &= LODE_RECORD_FRAMES;
	scratch->stack.addresses[number] = code;
	if (KEEPS_WALKS)
		scratch->trail.return_at[number] = NOT_IN_MEMORY;
}

/* What lode_python_some came to. */
enum python_added {
	PYTHON_SOME,
	PYTHON_OUTSIDE, /* of the block */
	PYTHON_ALL,     /* of the C frame; scratch->python.end has the last frame's address */
};

/*
 * Adds the code objects of some frames in the block, from scratch->python.frame on, up to the outermost one of this C frame.
 * Nothing is called here. Returns an enum python_added.
 */
__noinline int lode_python_some(struct scratch *scratch)
{
	const struct lode_language_process *process;
	enum python_added added = PYTHON_SOME;
	struct python_view view;
	uint64_t frame, at;
	uint32_t count, i;

	if (!scratch)
		return PYTHON_ALL;
	process = python_process(scratch);
	if (!process)
		return PYTHON_ALL;
	view_block(&view, scratch, &process->layout);
	frame = scratch->python.frame;
	count = scratch->stack.count;
	for (i = 0; i < PYTHON_FRAMES && added == PYTHON_SOME; i++) {
		if (!find_frame(&view, frame, &at) || count >= LODE_RECORD_FRAMES - 1) {
			added = PYTHON_OUTSIDE;
			break;
		}
		if (is_outermost(scratch, &view, at)) {
			added = view.is_shim ? PYTHON_OUTSIDE : PYTHON_ALL;
			if (view.is_shim)
				break;
			scratch->python.end = frame;
		}
		frame = frame_word(scratch, at, view.previous);
		add_code(scratch, count++, frame_word(scratch, at, view.code));
	}
	scratch->python.block_count += i;
	scratch->python.frame = frame;
	scratch->stack.count = count;
	return added;
}

/* Rounds of lode_python_codes, and how often it is called: a frame that lies apart takes a round. */
#define PYTHON_CODES_ROUNDS 32
#define PYTHON_CODES        (LODE_RECORD_FRAMES / PYTHON_CODES_ROUNDS + 1)

/* Adds some more, wherever they are. Returns whether there may be more. */
__noinline int lode_python_codes(struct scratch *scratch)
{
	if (!scratch)
		return 0;
	for (uint32_t i = 0; i < PYTHON_CODES_ROUNDS; i++) {
		int added = lode_python_some(scratch);

		if (added == PYTHON_ALL || scratch->stack.count >= LODE_RECORD_FRAMES - 1)
			return 0;
		if (added == PYTHON_OUTSIDE && !lode_python_fetch(scratch))
			return 0;
	}
	return 1;
}

/* Adds the code objects of all frames that the C frame runs. */
static __always_inline void add_codes(struct scratch *scratch)
{
	scratch->python.end = 0;
	for (uint32_t i = 0; i < PYTHON_CODES; i++)
		if (!lode_python_codes(scratch))
			break;
}

/* ---- functions ---- */

/* A word of the code object that was read. */
static __always_inline uint64_t code_word(const struct scratch *scratch, uint32_t offset)
{
	return *(const uint64_t *)(scratch->python.code + bounded(offset));
}

/* The word of the function with a code object; its lowest bits may be tags. It is read unless it was a moment ago. */
static __always_inline uint64_t function_word(struct scratch *scratch, const struct lode_python_layout *layout,
					      uint64_t code)
{
	uint64_t packed, word, check = 0;

	code &= ~7ull;
	if (recall_address(scratch, code, &packed))
		return remembered_word(LODE_LANGUAGE_PYTHON, code, packed);
	if (!bpf_probe_read_user(scratch->python.code, LODE_PYTHON_FRAME_BYTES, (void *)(code + layout->code)))
		check = lode_python_check(code_word(scratch, layout->code_filename),
					  code_word(scratch, layout->code_name),
					  (uint32_t)code_word(scratch, layout->code_line));
	word = lode_language_word(LODE_LANGUAGE_PYTHON, check, code);
	remember_address(scratch, code, word, 0);
	return word;
}

/* Makes words of some code objects, from address `i` of the stack on. Returns the address that it came to. */
__noinline int lode_python_name(struct scratch *scratch, uint32_t i)
{
	const struct lode_language_process *process;

	if (!scratch)
		return LODE_RECORD_FRAMES;
	process = python_process(scratch);
	if (!process)
		return LODE_RECORD_FRAMES;
	for (uint32_t n = 0; n < PYTHON_READ && i < scratch->stack.count; n++, i++) {
		uint64_t *address = &scratch->stack.addresses[i & LODE_RECORD_FRAMES];
		uint64_t word = function_word(scratch, &process->layout, *address);

		note_name(scratch, word);
		*address = word;
		scratch->hash = scratch->hash * MULTIPLIER + word;
		scratch->sum = scratch->sum * 3 + word;
	}
	return (int)i;
}

/* Makes words of all of them, from address `first` on. */
static __always_inline void add_words(struct scratch *scratch, uint32_t first)
{
	for (uint32_t i = 0; i < PYTHON_READ_ROUNDS && first < scratch->stack.count; i++)
		first = (uint32_t)lode_python_name(scratch, first);
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
	previous = c_stack_word(scratch, entry + layout->chain_previous);
	scratch->python.frame = c_stack_word(scratch, entry + layout->chain_frame);
	add_codes(scratch);
	scratch->python.frame = previous;
}

/* Where there is none, frames count once the one below the outermost proves to be in this part of the stack. */
static __always_inline void add_by_shim(struct scratch *scratch, uint64_t start, uint64_t end)
{
	uint64_t frame = scratch->python.frame;
	uint32_t count = scratch->stack.count;

	add_codes(scratch);
	if (scratch->python.end - start < end - start)
		return;
	scratch->python.frame = frame;
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
	uint32_t first;

	if (!scratch)
		return 0;
	process = python_process(scratch);
	place = scratch->python.frame;
	first = scratch->stack.count;
	if (!process || !place)
		return 0;
	if (process->layout.has_chain) {
		previous = c_stack_word(scratch, place + process->layout.chain_previous);
		scratch->python.frame = c_stack_word(scratch, place + process->layout.chain_frame);
	}
	add_codes(scratch);
	add_words(scratch, first);
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
	const struct lode_language_process *process = python_process(scratch);
	uint64_t start = scratch->python.start, end = scratch->state.sp;
	uint32_t first = scratch->stack.count;

	if (!process || scratch->python.search != PYTHON_FOUND) {
		scratch->stack.languages |= LODE_STACK_LACKS_WORDS;
		return;
	}
	mark_words(scratch);
	if (process->layout.has_chain)
		add_by_chain(scratch, &process->layout, start, end);
	else
		add_by_shim(scratch, start, end);
	add_words(scratch, first);
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
