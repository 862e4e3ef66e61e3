/*
 * Frames of CPython and PHP, in the kernel. A part of unwind.bpf.h.
 *
 * The code objects of a thread's Python frames are collected first: the chain, a group for each C frame of
 * _PyEval_EvalFrameDefault, from the innermost frame that this runs to the outermost, which is marked. Behind each group is its
 * place, an address in the C frame's part of the stack: the C frame's entry in a list (up to 3.12), or the frame below the
 * outermost one. Where the walk leaves such a C frame, the group whose place is there follows, named, so that it is certain that it
 * belongs to this C frame. One that has just begun or is about to return has no group yet, or no more. The chain is also what
 * is sent with copies of stacks.
 *
 * Calls from Python to Python leave the words of the C stack as they are, so a kept walk (recent_walks.bpf.h) is that of the current
 * thread only if its chain is, too: all of it, since functions return, and others are called that have their frames at the same
 * addresses. Chains are told apart as stacks are, by a hash and a sum. Another code object may take the address of one that is
 * gone, so a walk counts until the next tick of the kernel's clock.
 *
 * Frames of functions that call one another lie in a row, callers below, so they are read by blocks: reading 4096 bytes
 * takes as long as six times a single frame.
 *
 * The thread's state is found by its number, in the lists that begin at _PyRuntime. Thread-local storage would
 * not do: since 3.13 a thread that gives up the global lock, as all do that wait, clears its own. The state is
 * remembered for each thread, and checked by that number whenever it is used.
 *
 * PHP keeps its frames (zend_execute_data) in the same way, on a stack of its own, and marks the outermost one that a C frame of
 * execute_ex runs. Its only thread has one chain, which begins at executor_globals. Nothing says where a C frame is, so the groups
 * belong to the C frames in their order. Functions that are written in C have a frame, too, but no C frame of execute_ex: where
 * one is marked as outermost, because C code called it, the group goes on.
 */
#ifndef LODE_RECORD_BPF_PYTHON_BPF_H
#define LODE_RECORD_BPF_PYTHON_BPF_H

/* The state of a thread, the number that it has there, and how many frames it had last. */
struct python_thread {
	uint64_t state;
	uint64_t number;
	uint64_t count;
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
/* Frames of a block that are followed at a time. */
#define PYTHON_FRAMES 32
/* Words that these take in the chain, at most: with positions, and a place. */
#define PYTHON_WORDS (2 * (PYTHON_FRAMES + 1) + 1)
/* Rounds of lode_python_collect_some, and how often it is called: a frame that lies apart takes two. */
#define PYTHON_ROUNDS   32
#define PYTHON_COLLECTS (2 * (LODE_RECORD_FRAMES + 1) / PYTHON_ROUNDS)
/* Code objects that are read at a time. The rounds reach LODE_RECORD_FRAMES. */
#define PYTHON_NAMED        4
#define PYTHON_NAMED_ROUNDS ((LODE_RECORD_FRAMES + 1) / PYTHON_NAMED)
/* Groups that belong to C frames that the walk did not see, between two that it saw; and groups of a chain that is sent. */
#define PYTHON_UNSEEN 8
#define PYTHON_GROUPS 64

enum python_search {
	PYTHON_NOT_SOUGHT, /* the thread's state, for this stack */
	PYTHON_FOUND,
	PYTHON_UNKNOWN,
};

static __always_inline const struct lode_language_process *python_process(const struct scratch *scratch)
{
	return process_running_any(scratch, 1u << LODE_LANGUAGE_PYTHON | 1u << LODE_LANGUAGE_PHP);
}

static __always_inline bool has_python(const struct scratch *scratch)
{
	return python_process(scratch) != 0;
}

/* Whether the code at an address is what runs the language's code. */
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

/* What is known of the current thread. Finds where its Python frames begin; 0: nowhere. */
static __always_inline struct python_thread *find_python_thread(struct scratch *scratch,
								const struct lode_language_process *process)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint64_t key = (uint64_t)task->tgid << 32 | (uint32_t)task->pid;
	struct python_thread *known, found = { 0 };

	if (process->layout.is_ordered) {
		scratch->python.frame = read_word_at(process->interpreters);
		return 0;
	}
	known = bpf_map_lookup_elem(&python_threads, &key);
	scratch->python.frame = known ? frames_of(&process->layout, known->state, known->number) : 0;
	if (scratch->python.frame)
		return known;
	scratch->python.number = own_number(task);
	find_state(scratch, process, task->pid == task->tgid);
	found.state = scratch->python.state;
	found.number = scratch->python.number;
	if (scratch->python.frame)
		bpf_map_update_elem(&python_threads, &key, &found, BPF_ANY);
	return 0;
}

/* ---- frames ---- */

/* Frames of a block, or of the last stack, from which on it pays to read more. */
#define PYTHON_TOGETHER 6

/* Bytes below a frame that are read with it where they lie apart, as those of generators do, and where there are few. */
#define PYTHON_APART_BYTES 512

/* An offset in a frame or a code object, of which the verifier must see the bound: behind what is read there are some more bytes. */
static __always_inline uint64_t bounded(uint32_t offset)
{
	uint64_t at = offset;

	asm volatile("" : "+r"(at));
	return at & 127;
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
	return layout->is_shim && (c_stack_word(scratch, frame + layout->frame_mark) & 0xff) >= layout->outermost;
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
	size = walk->block_count >= PYTHON_TOGETHER ? PYTHON_BLOCK_BYTES : PYTHON_APART_BYTES;
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

/* ---- the chain ---- */

static __always_inline void add_to_chain(struct scratch *scratch, struct python_chain *chain,
					 enum lode_language language, uint64_t address)
{
	uint64_t number = chain->count++, word = lode_language_word(language, 0, address);

	asm volatile("" : "+r"(number)); /* the verifier must see the bound */
	scratch->python.chain[number & LODE_RECORD_FRAMES] = word;
	chain->hash = chain->hash * MULTIPLIER + word;
	chain->sum = chain->sum * 3 + word;
}

/*
 * Adds the code objects of some frames in the block, from scratch->python.frame on, up to the outermost one of this C frame.
 * Nothing is called here. Returns whether the next one is outside the block, or there is none.
 */
__noinline int lode_python_some(struct scratch *scratch)
{
	uint64_t frame, start, places, at, code, position, previous, mark, mark_bits, outermost, end = 0;
	enum lode_language language;
	const struct lode_language_process *process;
	struct python_chain chain;
	const uint8_t *bytes;
	uint32_t i;

	if (!scratch)
		return 1;
	process = python_process(scratch);
	if (!process)
		return 1;
	code = bounded(process->layout.frame_code);
	position = bounded(process->layout.frame_position);
	previous = bounded(process->layout.frame_previous);
	mark = bounded(process->layout.frame_mark);
	mark_bits = process->layout.mark_bits;
	outermost = process->layout.outermost;
	language = process->language;
	start = scratch->python.block_start;
	places = scratch->python.block_places;
	frame = scratch->python.frame;
	chain = scratch->python.so_far;
	for (i = 0; i < PYTHON_FRAMES && !end; i++) {
		at = frame - start;
		if (at >= places)
			break;
		asm volatile("" : "+r"(at)); /* the verifier must see the bound */
		if (at > PYTHON_BLOCK_BYTES)
			break;
		bytes = scratch->python.block + at;
		if ((bytes[mark] & mark_bits) >= outermost) {
			if (process->layout.is_shim)
				break;
			end = frame;
		}
		/* The lowest bits of the address may be tags. */
		add_to_chain(scratch, &chain, language, *(const uint64_t *)(bytes + code) & ~7ull);
		if (position)
			add_to_chain(scratch, &chain, LODE_LANGUAGE_POSITION,
				     *(const uint64_t *)(bytes + position));
		frame = *(const uint64_t *)(bytes + previous);
	}
	scratch->python.block_count += i;
	scratch->python.frame = frame;
	scratch->python.end = end;
	scratch->python.so_far = chain;
	return i < PYTHON_FRAMES;
}

/* The innermost frame of the C frame whose entry in the list of C frames is scratch->python.at. */
static __always_inline void enter_c_frame(struct scratch *scratch, const struct lode_python_layout *layout)
{
	scratch->python.frame =
		scratch->python.at ? c_stack_word(scratch, scratch->python.at + layout->chain_frame) : 0;
}

/* Ends a group by its place, and goes on to the next C frame. Returns whether there is one. */
__noinline int lode_python_end_group(struct scratch *scratch)
{
	const struct lode_language_process *process;
	uint64_t place;

	if (!scratch)
		return 0;
	process = python_process(scratch);
	if (!process)
		return 0;
	place = process->layout.has_chain ? scratch->python.at : scratch->python.end;
	if (!place)
		return 0;
	if (process->layout.is_ordered)
		place = LODE_LANGUAGE_NEXT_PLACE;
	add_to_chain(scratch, &scratch->python.so_far, LODE_LANGUAGE_PLACE, place);
	if (process->layout.has_chain) {
		scratch->python.at = c_stack_word(scratch, place + process->layout.chain_previous);
		enter_c_frame(scratch, &process->layout);
	}
	return scratch->python.frame != 0;
}

/* Adds some more to the chain. Returns whether there may be more. */
__noinline int lode_python_collect_some(struct scratch *scratch)
{
	if (!scratch)
		return 0;
	for (uint32_t i = 0; i < PYTHON_ROUNDS; i++) {
		int stopped = lode_python_some(scratch);
		bool is_full = scratch->python.so_far.count >= LODE_RECORD_FRAMES - PYTHON_WORDS;

		if (!is_full && !scratch->python.end && (!stopped || lode_python_fetch(scratch)))
			continue;
		if (!lode_python_end_group(scratch) || is_full)
			return 0;
	}
	return 1;
}

/* Collects the chain of the current thread, once for each stack. */
__noinline int lode_python_collect(struct scratch *scratch)
{
	const struct lode_language_process *process;
	struct python_thread *thread;
	struct python_walk *walk;

	if (!scratch || scratch->python.search != PYTHON_NOT_SOUGHT)
		return 0;
	process = python_process(scratch);
	if (!process)
		return 0;
	walk = &scratch->python;
	walk->tick = bpf_jiffies64();
	walk->block_places = walk->next = walk->end = 0;
	walk->so_far = (struct python_chain){ 0 };
	thread = find_python_thread(scratch, process);
	walk->block_count = thread ? thread->count : 0;
	walk->search = walk->frame ? PYTHON_FOUND : PYTHON_UNKNOWN;
	walk->at = walk->frame;
	if (process->layout.has_chain)
		enter_c_frame(scratch, &process->layout);
	for (uint32_t i = 0; i < PYTHON_COLLECTS && walk->frame; i++)
		if (!lode_python_collect_some(scratch))
			break;
	if (thread)
		thread->count = walk->so_far.count;
	return 0;
}

/* ---- functions ---- */

/* A word of the code object that was read. */
static __always_inline uint64_t code_word(const struct scratch *scratch, uint32_t offset)
{
	return *(const uint64_t *)(scratch->python.code + bounded(offset));
}

/*
 * The word of the function with a code object; 0: a frame without a function of its own, of PHP where it stands for another one,
 * of Python around __init__. Notes whether no C frame runs it. By itself, so that the verifier looks at it
 * once.
 */
__noinline uint64_t lode_function_word(struct scratch *scratch, uint64_t code)
{
	const struct lode_language_process *process;
	const struct lode_python_layout *layout;
	uint64_t check = 0, filename, name;
	uint32_t first;

	if (!scratch)
		return 0;
	process = python_process(scratch);
	if (!process)
		return 0;
	layout = &process->layout;
	scratch->python.runs_in_c = layout->is_ordered && !code;
	if (scratch->python.runs_in_c)
		return 0;
	if (!bpf_probe_read_user(scratch->python.code, LODE_PYTHON_FRAME_BYTES, (void *)(code + layout->code))) {
		filename = code_word(scratch, layout->code_filename);
		name = code_word(scratch, layout->code_name);
		if (!layout->is_ordered && lode_python_is_init_check(filename, name))
			return 0;
		check = lode_python_check(filename, name, (uint32_t)code_word(scratch, layout->code_line));
	}
	if (layout->is_ordered) {
		first = code_word(scratch, layout->code_line);
		scratch->python.runs_in_c = (first & 0xff) == LODE_PHP_INTERNAL;
		check = lode_php_check(first, code_word(scratch, layout->code_filename),
				       code_word(scratch, layout->code_name),
				       scratch->python.runs_in_c ? 0 : read_word_at(code + layout->code_file));
	}
	return lode_language_word(process->language, check, code);
}

/* Whether the word there is the position of the frame before it. */
static __always_inline bool has_position(const struct python_walk *walk, uint64_t at)
{
	return walk->chain[at & LODE_RECORD_FRAMES] >> LODE_LANGUAGE_SHIFT == LODE_LANGUAGE_POSITION;
}

/* Adds some functions of the chain to the stack. Returns whether there may be more in the group; scratch->python.end: its place. */
__noinline int lode_python_name_some(struct scratch *scratch)
{
	const struct lode_language_process *process;
	struct python_walk *walk;

	if (!scratch)
		return 0;
	process = python_process(scratch);
	if (!process)
		return 0;
	walk = &scratch->python;
	for (uint32_t n = 0; n < PYTHON_NAMED; n++) {
		uint64_t at = *(volatile uint32_t *)&walk->next, word = walk->chain[at & LODE_RECORD_FRAMES];

		if (at >= walk->so_far.count || scratch->stack.count >= LODE_RECORD_FRAMES - 1)
			return 0;
		walk->next = at + 1;
		if (word >> LODE_LANGUAGE_SHIFT == LODE_LANGUAGE_PLACE && walk->runs_in_c)
			continue;
		if (word >> LODE_LANGUAGE_SHIFT == LODE_LANGUAGE_PLACE) {
			walk->end = word & LODE_LANGUAGE_ADDRESS;
			return 0;
		}
		if (word >> LODE_LANGUAGE_SHIFT == process->language)
			word = lode_function_word(scratch, word & LODE_LANGUAGE_ADDRESS);
		if (!word) {
			walk->next += has_position(walk, at + 1);
			continue;
		}
		note_name(scratch, word); /* of a position the line is read, as long as the code is there */
		add_address(scratch, word);
	}
	return 1;
}

/* Adds the next group. Returns its place; 0: there is none. */
__noinline uint64_t lode_python_add_group(struct scratch *scratch)
{
	if (!scratch)
		return 0;
	scratch->python.end = 0;
	scratch->python.runs_in_c = 0;
	for (uint32_t i = 0; i < PYTHON_NAMED_ROUNDS; i++)
		if (!lode_python_name_some(scratch))
			break;
	return scratch->python.end;
}

/* Sends the chain of the current thread, whose stack was copied as `id`. */
__noinline int lode_python_send_chain(struct scratch *scratch, uint64_t id)
{
	if (!scratch)
		return 0;
	begin_stack(scratch, true, false);
	scratch->stack.pid = (uint32_t)bpf_get_current_task_btf()->tgid;
	lode_python_collect(scratch);
	if (scratch->python.search != PYTHON_FOUND)
		return 0;
	scratch->python.next = 0;
	for (uint32_t i = 0; i < PYTHON_GROUPS; i++) {
		uint64_t place = lode_python_add_group(scratch);

		if (!place)
			break;
		add_address(scratch, lode_language_word(LODE_LANGUAGE_PLACE, 0, place));
	}
	if (!scratch->stack.count)
		return 0;
	scratch->stack.languages |= LODE_STACK_HAS_WORDS | LODE_STACK_IS_CHAIN;
	send_stack(scratch, id);
	return 0;
}

/* ---- in the walk ---- */

/* Adds the group of the C frame that the walk left, whose part of the stack is from `start` to `end`. */
static __always_inline void add_frames(struct scratch *scratch, uint64_t start, uint64_t end)
{
	uint64_t hash = scratch->hash, sum = scratch->sum;
	uint32_t count = scratch->stack.count;

	for (uint32_t i = 0; i < PYTHON_UNSEEN; i++) {
		uint32_t next = scratch->python.next;
		uint64_t place = lode_python_add_group(scratch);

		if (place == LODE_LANGUAGE_NEXT_PLACE || place - start < end - start)
			break;
		scratch->hash = hash;
		scratch->sum = sum;
		scratch->stack.count = count;
		if (!place || place >= end) {
			scratch->python.next = next;
			break;
		}
	}
}

/*
 * The walk left a C frame that runs Python or PHP code: adds what it runs, and then its caller. Walks of PHP functions are not kept: the code of
 * a file or an eval takes the place of another's at once, often within a tick.
 */
__noinline int lode_python_add(struct scratch *scratch)
{
	const struct lode_language_process *process;

	if (!scratch)
		return 0;
	process = python_process(scratch);
	if (process && process->layout.is_ordered)
		lose_trail(scratch);
	if (scratch->python.search == PYTHON_FOUND) {
		mark_words(scratch);
		add_frames(scratch, scratch->python.start, scratch->state.sp);
	} else {
		scratch->stack.languages |= LODE_STACK_LACKS_WORDS;
		lose_trail(scratch);
	}
	add_caller(scratch);
	return 0;
}

/* Whether the current thread, whose C stack is that of the walk, has its Python frames. */
static __always_inline bool python_is_same(struct scratch *scratch, const struct recent_walk *walk)
{
	const struct python_chain *chain = &scratch->python.so_far;

	lode_python_collect(scratch);
	return scratch->python.search == PYTHON_FOUND && chain->hash == walk->chain_hash &&
	       chain->sum == walk->chain_sum && walk->tick == scratch->python.tick;
}

#endif
