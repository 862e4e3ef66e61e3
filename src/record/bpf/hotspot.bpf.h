/*
 * Frames of HotSpot, in the kernel. A part of unwind.bpf.h.
 *
 * Where the walk comes to code that HotSpot generated, a step of process/languages/hotspot_step.h leads to its
 * caller. The word of the frame takes the place of its address, which says nothing.
 *
 * Walks are kept (recent_walks.bpf.h) by what they read of the stack: return addresses, and of interpreted frames the Method and the
 * caller's stack pointer.
 */
#ifndef LODE_RECORD_BPF_HOTSPOT_BPF_H
#define LODE_RECORD_BPF_HOTSPOT_BPF_H

#define LODE_HOTSPOT_READ(context, address, bytes, size) (!bpf_probe_read_user(bytes, size, (void *)(address)))
#define LODE_HOTSPOT_READ_STACK(context, address, word)  fetch_word(context, address, word)
#define LODE_HOTSPOT_METHOD_WORD                         remembered_method_word
#define LODE_HOTSPOT_HAS_LINK(state)                     HAS_LINK

static __always_inline uint64_t remembered_method_word(const struct lode_hotspot_process *process, uint64_t method,
						       struct scratch *scratch);
#include "process/languages/hotspot_step.h"

static __always_inline const struct lode_hotspot_process *hotspot_process(const struct scratch *scratch)
{
	const struct lode_language_process *process = process_running(scratch, LODE_LANGUAGE_JAVA);

	return process ? &process->hotspot : 0;
}

/* ---- what was read lately ---- */

/*
 * The frame size and the check of code, by return address, and the check of methods, each packed into a word. They count for a tenth
 * of a second, since code and methods may be replaced. Both words of an entry are written separately and by any CPU; the packed one has
 * some bits of the key's hash, by which a mixture of two entries is recognized.
 */
#define HOTSPOT_CACHE_BITS  12
#define HOTSPOT_EPOCH_SHIFT 27 /* of nanoseconds */
#define HOTSPOT_EPOCH       0xfffffu
#define HOTSPOT_SIZE_SHIFT  20
#define HOTSPOT_SIZE        0xfffffu /* in words */
#define HOTSPOT_METHOD      HOTSPOT_SIZE
#define HOTSPOT_CHECK_SHIFT 40
#define HOTSPOT_HASH_SHIFT  48

struct lode_unwind_cached hotspot_cache[1 << HOTSPOT_CACHE_BITS];

/* Gets what is remembered of an address. */
static __always_inline bool recall_address(const struct scratch *scratch, uint64_t address, uint64_t *packed)
{
	uint64_t key = cache_key(&scratch->space, address), mixed = key * MULTIPLIER;
	const struct lode_unwind_cached *cached = &hotspot_cache[mixed >> (64 - HOTSPOT_CACHE_BITS)];

	if (cached->key != key)
		return false;
	*packed = cached->word;
	return *packed >> HOTSPOT_HASH_SHIFT == (mixed >> 32 & 0xffff) &&
	       (*packed & HOTSPOT_EPOCH) == scratch->hotspot.epoch;
}

static __always_inline void remember_address(const struct scratch *scratch, uint64_t address, uint64_t word,
					     uint64_t size)
{
	uint64_t key = cache_key(&scratch->space, address), mixed = key * MULTIPLIER;
	struct lode_unwind_cached *cached = &hotspot_cache[mixed >> (64 - HOTSPOT_CACHE_BITS)];

	cached->key = key;
	cached->word = (mixed >> 32 & 0xffff) << HOTSPOT_HASH_SHIFT |
		       lode_language_check_of(word) << HOTSPOT_CHECK_SHIFT | size << HOTSPOT_SIZE_SHIFT |
		       scratch->hotspot.epoch;
}

/* The word of an address with what is remembered of it. */
static __always_inline uint64_t remembered_word(uint64_t address, uint64_t packed)
{
	return lode_language_word(LODE_LANGUAGE_JAVA, packed >> HOTSPOT_CHECK_SHIFT & 0xff, address);
}

static __always_inline uint64_t remembered_method_word(const struct lode_hotspot_process *process, uint64_t method,
						       struct scratch *scratch)
{
	uint64_t packed, word;

	if (recall_address(scratch, method, &packed) &&
	    (packed >> HOTSPOT_SIZE_SHIFT & HOTSPOT_SIZE) == HOTSPOT_METHOD)
		return remembered_word(method, packed);
	word = lode_hotspot_method_word(process, method, scratch);
	if (word)
		remember_address(scratch, method, word, HOTSPOT_METHOD);
	return word;
}

/* ---- code ---- */

/* What the innermost frame has in registers. */
static __always_inline void load_registers(struct lode_hotspot_walk *walk, bool is_first)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	walk->method = is_first ? REGS_HOTSPOT_METHOD(regs) : 0;
	walk->returns = is_first ? REGS_HOTSPOT_RETURN(regs) : 0;
	walk->sender[0] = is_first ? REGS_HOTSPOT_SENDER(regs) : 0;
	walk->sender[1] = is_first ? REGS_HOTSPOT_SENDER2(regs) : 0;
}

/* ---- kept walks ---- */

/*
 * How long a walk is kept: compiled code may be replaced by other code that is called from the same places. HotSpot drops code only when
 * no thread is in it, and not at once.
 */
#define HOTSPOT_KEPT_NS 100000000

/* Whether a kept walk of a Java stack, whose words are those of the current thread, is still good. */
static __always_inline bool hotspot_is_same(const struct scratch *scratch, const struct recent_walk *walk)
{
	return hotspot_process(scratch) && bpf_ktime_get_ns() - walk->kept < HOTSPOT_KEPT_NS;
}

/* Where a word of the stack is, for the trail; NOT_IN_MEMORY: too far up. */
static __always_inline uint32_t trail_slot(struct scratch *scratch, uint64_t address)
{
	uint64_t slot = (address - scratch->trail.start) >> 3;

	if (slot < NOT_IN_MEMORY)
		return slot;
	lose_trail(scratch);
	return NOT_IN_MEMORY;
}

/* The return address to an interpreted frame gives way to the Method: it is kept among the other words. */
static __always_inline void note_return(struct scratch *scratch, uint64_t pc)
{
	uint64_t at = (scratch->stack.count - 1) & LODE_RECORD_FRAMES, slot = scratch->trail.return_at[at];

	if (slot == NOT_IN_MEMORY)
		return;
	lode_note_word(scratch, scratch->trail.start + slot * 8, pc);
	scratch->trail.return_at[at] = NOT_IN_MEMORY;
}

static __always_inline bool is_interpreted(const struct scratch *scratch, uint64_t pc)
{
	const struct lode_hotspot_process *process = hotspot_process(scratch);

	return process && pc - process->interpreter_start < process->interpreter_end - process->interpreter_start;
}

/* Notes what the step read: `fp` and `pc` are those before it. */
static __always_inline void note_step(struct scratch *scratch, uint64_t fp, uint64_t pc, bool is_first)
{
	const struct lode_hotspot_walk *walk = &scratch->hotspot;

	if (is_first || !walk->record) {
		lose_trail(scratch);
		return;
	}
	if (walk->record == fp)
		lode_note_frame_pointer(scratch, fp);
	if (walk->caller) {
		note_return(scratch, pc);
		lode_note_word(scratch, fp - 24, walk->method);
		/* Where the caller's frame is found by the frame pointer its stack pointer does not matter. */
		if (!is_interpreted(scratch, scratch->state.pc))
			lode_note_word(scratch, fp - 8, walk->caller);
	}
	scratch->trail.frame_at = trail_slot(scratch, walk->record);
}

/* ---- steps ---- */

/* The word takes the place of the address that was added last. */
static __always_inline void replace_address(struct scratch *scratch, uint64_t word)
{
	uint64_t *address = &scratch->stack.addresses[(scratch->stack.count - 1) & LODE_RECORD_FRAMES];

	note_name(scratch, word);
	scratch->hash += word - *address;
	scratch->sum += word - *address;
	*address = word;
}

/* Finds where the frame is of the code whose CodeBlob was read. */
__noinline int lode_hotspot_find_it(struct scratch *scratch)
{
	const struct lode_hotspot_process *process;

	if (!scratch)
		return 0;
	process = hotspot_process(scratch);
	if (process)
		lode_hotspot_find_frame(process, &scratch->state, &scratch->hotspot, scratch);
	return 0;
}

/* The step out of compiled code, or of a stub, that is not remembered. Returns an enum lode_unwind_result. */
__noinline int lode_hotspot_leave_blob(struct scratch *scratch, uint64_t address)
{
	const struct lode_hotspot_process *process;
	struct lode_hotspot_walk *walk;
	uint64_t place, pc;
	bool is_exact;
	int result;

	if (!scratch)
		return LODE_UNWIND_LOST;
	process = hotspot_process(scratch);
	walk = &scratch->hotspot;
	if (!process || !lode_hotspot_read_blob(process, walk, address, scratch))
		return LODE_UNWIND_LOST;
	pc = scratch->state.pc;
	is_exact = scratch->state.is_exact;
	place = lode_hotspot_place(process, &scratch->state, walk, scratch);
	walk->word = lode_hotspot_code_word(process, place, walk);
	lode_hotspot_find_it(scratch);
	result = lode_hotspot_leave_frame(&scratch->state, walk, scratch);
	if (result == LODE_UNWIND_CALLER && !is_exact && place == pc && walk->kind != LODE_HOTSPOT_CALLED)
		remember_address(scratch, address, walk->word,
				 walk->kind == LODE_HOTSPOT_RECORD ? 0 : walk->size >> 3);
	return result;
}

/* The step out of the interpreter. */
__noinline int lode_hotspot_leave_interpreter(struct scratch *scratch)
{
	const struct lode_hotspot_process *process;

	if (!scratch)
		return LODE_UNWIND_LOST;
	process = hotspot_process(scratch);
	if (!process)
		return LODE_UNWIND_LOST;
	return lode_hotspot_from_interpreter(process, &scratch->state, &scratch->hotspot, scratch);
}

/* The step itself. Returns an enum lode_unwind_result. */
static __always_inline int hotspot_leave(struct scratch *scratch, const struct lode_hotspot_process *process,
					 uint64_t pc)
{
	struct lode_hotspot_walk *walk = &scratch->hotspot;
	uint64_t packed;

	if (pc - process->interpreter_start < process->interpreter_end - process->interpreter_start)
		return lode_hotspot_leave_interpreter(scratch);
	if (!scratch->state.is_exact && recall_address(scratch, pc, &packed)) {
		int64_t size = (packed >> HOTSPOT_SIZE_SHIFT & HOTSPOT_SIZE) * 8;

		walk->word = remembered_word(pc + 1, packed);
		return size ? lode_hotspot_by_size(&scratch->state, walk, size, scratch)
			    : lode_hotspot_by_record(&scratch->state, walk, scratch);
	}
	return lode_hotspot_leave_blob(scratch, pc);
}

/* Adds the position of the interpreted frame that was left, whose frame pointer was `fp`, behind its word. */
static __always_inline void add_bytecode(struct scratch *scratch, uint64_t fp, bool has_registers)
{
	uint64_t bytecode = 0;

	if (has_registers) {
		struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

		bytecode = REGS_HOTSPOT_CODE(regs);
		/* Up to Linux 6.1 no instruction may read now from registers, now from the stack. */
		asm volatile("" : "+r"(bytecode));
	} else if (!fetch_word(scratch, fp - LODE_HOTSPOT_BYTECODE, &bytecode)) {
		return;
	}
	if (KEEPS_WALKS && !has_registers)
		lode_note_word(scratch, fp - LODE_HOTSPOT_BYTECODE, bytecode);
	add_address(scratch, lode_language_word(LODE_LANGUAGE_POSITION, 0, bytecode));
}

/* A step out of code that HotSpot generated; WALKED_TO_STEP where there is none. Else returns as lode_walk_step does. */
__noinline int lode_hotspot_walk_step(struct scratch *scratch)
{
	const struct lode_hotspot_process *process;
	uint64_t address, fp, pc;
	bool is_first, has_registers;
	int result;

	if (!scratch || !scratch->space.language)
		return WALKED_TO_STEP;
	process = hotspot_process(scratch);
	address = lode_unwind_address(&scratch->state);
	if (!process || !lode_hotspot_is_code(process, address) || scratch->stack.count >= LODE_RECORD_FRAMES - 1)
		return WALKED_TO_STEP;
	fp = scratch->state.fp;
	pc = scratch->state.pc;
	is_first = scratch->state.is_exact;
	if (!(scratch->stack.languages & LODE_STACK_HAS_WORDS))
		scratch->hotspot.epoch = bpf_ktime_get_ns() >> HOTSPOT_EPOCH_SHIFT & HOTSPOT_EPOCH;
	mark_words(scratch);
	has_registers = scratch->state.is_first;
	load_registers(&scratch->hotspot, has_registers);
	scratch->hotspot.record = scratch->hotspot.caller = 0;
	scratch->hotspot.word = lode_language_word(LODE_LANGUAGE_JAVA, 0, scratch->state.pc);
	result = hotspot_leave(scratch, process, address);
	if (KEEPS_WALKS)
		note_step(scratch, fp, pc, is_first);
	if (scratch->hotspot.word)
		replace_address(scratch, scratch->hotspot.word);
	if (process->sends_bytecodes && scratch->hotspot.caller)
		add_bytecode(scratch, fp, has_registers);
	if (result != LODE_UNWIND_CALLER) {
		scratch->stack.end = result == LODE_UNWIND_ROOT ? LODE_STACK_WHOLE : LODE_STACK_BROKEN;
		return WALKED_TO_ROOT;
	}
	add_address(scratch, scratch->state.pc);
	if (KEEPS_WALKS)
		scratch->trail.return_at[(scratch->stack.count - 1) & LODE_RECORD_FRAMES] =
			trail_slot(scratch, scratch->hotspot.record + 8);
	return WALKED_SOME;
}

#endif
