/*
 * The kernel's stack on x86-64, where there are no frame pointers. A part of stacks.bpf.h.
 *
 * The kernel's own unwinder uses tables (ORC) and takes most of the time of a switch. But
 * frames of the kernel's functions have fixed sizes, so how far it is from one return address
 * on the stack to the next depends on the first address alone. Such a *step* is learnt once,
 * from a stack that the kernel unwound: its addresses are looked for in the stack's memory, and
 * the distances between them are kept in a table by address. From then on a walk follows steps:
 * a load and a look-up per frame.
 *
 * Some frames hold the stack pointer to go on with: the last one on an interrupt's stack,
 * and the registers that an interrupt saved (the stack is aligned before they are pushed,
 * so their distance varies). Then the distance counts from where that points to, and the
 * step says how many words above the return address it is held. An interrupt may come just
 * where a call returns to, so interrupted addresses have steps of their own; the step
 * that leads to one says so.
 *
 * One frame varies in every stack of a system call: the outermost function leaves a gap of
 * random size (CONFIG_RANDOMIZE_KSTACK_OFFSET). But behind it comes the last address, whose
 * place is known. So a step may also say that it leads to the end of the stack.
 *
 * What makes it safe:
 *
 * - Nothing is learnt that could be a mistake. An address may be found more than once, for
 *   stacks are full of old return addresses. The lowest places that all addresses can have
 *   in order, and the highest ones, are both looked for: where they agree there is no
 *   other. The ends are known: the first is in the frame of the program's caller, the last just
 *   below the registers with which the thread entered the kernel.
 * - A step that is learnt again and differs is not used any more, except those that lead
 *   to the end: frames of variable size.
 * - Every word that a walk lands on must be an address with a step, and the last must be
 *   just below the registers. Otherwise the kernel is asked, and more is learnt.
 * - One walk in `check_every` is compared with the kernel's own way.
 *
 * Return addresses that are not on the stack, because a return probe or a tracer of
 * functions has replaced them, are never learnt, and never walked over.
 */
#ifndef LODE_RECORD_BPF_KERNEL_STACK_X86_BPF_H
#define LODE_RECORD_BPF_KERNEL_STACK_X86_BPF_H

/*
 * A step is one word, so that it is always consistent, even with concurrent writers: a key
 * made of the address, how many words above the address a stack pointer is held (0: none),
 * and the distance in words. Without these the address was only seen as the last one.
 * Steps whose keys share a place are side by side.
 */
#define STEP_KEY_SHIFT    32
#define STEP_HOLDER_SHIFT 16
#define STEP_HOLDER       0xffu
#define STEP_ENDS         (1u << 24) /* it led to the last address, each time it was learnt */
#define STEP_INTERRUPTED  (1u << 25) /* it leads to an address that was interrupted */
#define STEP_DISTANCE     0xffffu
/* As distances: */
#define STEP_TO_END 0xfffeu /* it leads to the last address, by any distance */
#define STEP_VARIES 0xffffu /* of no use */

#define STEP_BITS 11
#define STEP_WAYS 4

uint64_t steps[1 << STEP_BITS][STEP_WAYS];

/* Words of the largest frame that is learnt; the kernel is built with a warning of larger ones. */
#define FRAME_WORDS 256
#define NEAR_WORDS  16
/* So many stacks of a CPU are learnt from, then one in some: what is still not known mostly cannot be. */
#define LEARN_ALWAYS    1024
#define LEARN_SOMETIMES 16
/* Addresses of the kernel's own way among which the first of a walk is, and words above the context where it is. */
#define FIRST_ADDRESSES 8
#define FIRST_WORDS     32

#define STACK_BYTES 16384 /* of a thread's stack */
#define PAGE_BYTES  4096

/* What an interrupt saves: words above the instruction pointer, and their values. */
#define SAVED_CS    1
#define SAVED_FLAGS 2
#define SAVED_SP    3
#define SAVED_SS    4
#define KERNEL_CS   0x10
#define KERNEL_SS   0x18 /* or 0, when the kernel was entered by an interrupt */
#define FLAGS_BITS  22
#define FLAGS_SET   2 /* always */

/* ---- memory ---- */

/* The word at an address; 0 when it cannot be read. Without a cast that takes a call. */
static __always_inline uint64_t word_at(uint64_t address)
{
#ifdef LODE_PLAIN_READS
	uint64_t word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (void *)address);
	return word;
#else
	/* The type serves to say that it is a word. */
	return CAST(pt_regs, address - bpf_core_field_offset(struct pt_regs, ip))->ip;
#endif
}

/* `top`: the registers with which the thread entered the kernel, at the end of its stack. */
static __always_inline bool is_on_own_stack(uint64_t at, uint64_t top)
{
	return top - at <= STACK_BYTES;
}

/* Whether `at` is the place of an instruction pointer that an interrupt in the kernel has saved. */
static __always_inline bool is_saved_by_interrupt(uint64_t at)
{
	uint64_t cs = word_at(at + 8 * SAVED_CS) & 0xffff, ss = word_at(at + 8 * SAVED_SS) & 0xffff;
	uint64_t flags = word_at(at + 8 * SAVED_FLAGS), sp = word_at(at + 8 * SAVED_SP);

	return cs == KERNEL_CS && (!ss || ss == KERNEL_SS) && !(flags >> FLAGS_BITS) && flags & FLAGS_SET &&
	       sp - at <= STACK_BYTES;
}

/* How many words above an address on the stack a stack pointer to go on with is; 0: none. */
static __always_inline uint64_t find_holder(uint64_t at, uint64_t top)
{
	if (!is_on_own_stack(at, top) && (at + 16) % PAGE_BYTES == 0)
		return is_on_own_stack(word_at(at + 8), top);
	return is_saved_by_interrupt(at) ? SAVED_SP : 0;
}

/* Where distances from `at` count from. */
static __always_inline uint64_t held_or_own(uint64_t at, uint64_t holder)
{
	return holder ? word_at(at + 8 * holder) : at;
}

/* ---- steps ---- */

/*
 * The lower half of an address. Code is in the last 2 GiB, so its highest bit is set, but
 * in the keys of interrupted addresses. 0: no address of code.
 */
#define KEY_RETURNED (1u << 31)

static __always_inline uint32_t step_key(uint64_t address, bool interrupted)
{
	return address >= -2ull << 30 ? (uint32_t)address ^ (interrupted ? KEY_RETURNED : 0) : 0;
}

static __always_inline uint64_t *step_places(uint32_t key)
{
	return steps[key * MULTIPLIER >> (64 - STEP_BITS)];
}

/* The step with a key, or 0. */
static __always_inline uint64_t find_step(uint32_t key)
{
	const uint64_t *places = step_places(key);

	for (uint32_t i = 0; i < STEP_WAYS; i++)
		if (places[i] >> STEP_KEY_SHIFT == key)
			return places[i];
	return 0;
}

/* What is known of an address after it was learnt twice; all without keys. */
static __always_inline uint32_t join_steps(uint32_t before, uint32_t now)
{
	if (!before || !now)
		return before | now;
	if (!((before ^ now) & ~STEP_ENDS))
		return before & now;
	if (before & now & STEP_ENDS)
		return STEP_ENDS | STEP_TO_END;
	return STEP_VARIES;
}

/*
 * Enters a step. `rest`: all but its key. Where there is no room another one has to go; but
 * not for interrupted addresses, for there are as many as instructions.
 */
__noinline int lode_enter_step(uint32_t key, uint32_t rest, uint32_t victim)
{
	uint64_t *places = step_places(key), new = (uint64_t)key << STEP_KEY_SHIFT;

	for (uint32_t i = 0; i < STEP_WAYS; i++) {
		uint64_t before = places[i];

		if (before && before >> STEP_KEY_SHIFT != key)
			continue;
		places[i] = new | join_steps((uint32_t)before, rest);
		return 0;
	}
	if (key & KEY_RETURNED)
		places[victim % STEP_WAYS] = new | rest;
	return 0;
}

/* ---- learning ---- */

/* Which of the addresses in `check` a walk from `at` begins with; FIRST_ADDRESSES: none. */
static __always_inline uint32_t find_first(const struct scratch *scratch, uint64_t address)
{
	uint32_t first = 0;

	while (first < FIRST_ADDRESSES && scratch->check[first] != address)
		first++;
	return first;
}

/* Looks for the first return address above `base`, the context, in the frame of who calls the program. Returns its offset, or 0. */
__noinline int lode_calibrate(struct scratch *scratch, uint64_t base)
{
	if (!scratch)
		return 0;
	for (int i = 1; i < FIRST_WORDS; i++)
		if (find_first(scratch, word_at(base + i * 8)) < FIRST_ADDRESSES)
			return i * 8;
	return 0;
}

/* The first place of a word from `at` up or down (`step`), before `end`; 0: none, or it is not among the next few words. */
__noinline uint64_t lode_find_near(uint64_t word, uint64_t at, int64_t step, uint64_t end)
{
	for (uint32_t i = 0; i < NEAR_WORDS; i++) {
		if (at == end)
			return 0;
		if (word_at(at) == word)
			return at;
		at += step;
	}
	return 0;
}

/* The same; 0: none, or too far away. */
__noinline uint64_t lode_find_word(uint64_t word, uint64_t at, int64_t step, uint64_t end)
{
	for (uint32_t i = 0; i < FRAME_WORDS / NEAR_WORDS; i++) {
		uint64_t place = lode_find_near(word, at, step, end);

		/* Behind the end nothing is looked for. */
		if (place || (end - at) * (step < 0 ? -1 : 1) < NEAR_WORDS * 8)
			return place;
		at += step * NEAR_WORDS;
	}
	return 0;
}

/* Up to where memory can be read, from `at`; of an interrupt's stack only the page is certain. */
static __always_inline uint64_t readable_end(uint64_t at, uint64_t top)
{
	return is_on_own_stack(at, top) ? top : (at | (PAGE_BYTES - 1)) + 1;
}

/* Notes the lowest place of address `number`, from `at` on. Returns where the next one may be; 0: it was not found. */
__noinline uint64_t lode_find_lowest(struct scratch *scratch, uint32_t number, uint64_t at, uint64_t top)
{
	uint64_t holder;

	if (!scratch)
		return 0;
	number &= LODE_RECORD_KERNEL_FRAMES;
	at = lode_find_word(scratch->check[number], at, 8, readable_end(at, top));
	if (!at)
		return 0;
	scratch->places[number] = at;
	holder = find_holder(at, top);
	return holder ? word_at(at + 8 * holder) : at + 8;
}

/*
 * The lowest places of the addresses in `check`, from number `first` at `at` on, into
 * `places`. Returns whether all were found.
 */
__noinline int lode_find_all_lowest(struct scratch *scratch, uint64_t at, uint64_t top, uint32_t first,
				    uint32_t count)
{
	for (uint32_t i = 0; i < LODE_RECORD_KERNEL_FRAMES; i++) {
		if (first + i >= count)
			return 1;
		at = lode_find_lowest(scratch, first + i, at, top);
		if (!at)
			return 0;
	}
	return 0;
}

/* Learns the step from `address` at `at` to the next address at `next`; 0: it is the last one. */
__noinline int lode_learn_step(uint64_t address, uint64_t at, uint64_t next, uint64_t top)
{
	uint64_t holder = find_holder(at, top), distance = (next - held_or_own(at, holder)) / 8;
	uint32_t key = step_key(address, holder == SAVED_SP), rest = 0;

	if (!key || (next && distance >= STEP_TO_END))
		return 0;
	if (next) {
		rest = holder << STEP_HOLDER_SHIFT | distance;
		if (next + 8 == top)
			rest |= STEP_ENDS;
		if (is_saved_by_interrupt(next))
			rest |= STEP_INTERRUPTED;
	}
	return lode_enter_step(key, rest, (uint32_t)at / 8);
}

/*
 * Looks for the highest place of address `number`, from `at` down, and learns the step to the next address if both are
 * at their lowest places, too; if not, clears its place. Returns where the address before may be; 0: it was not found.
 */
__noinline uint64_t lode_find_highest(struct scratch *scratch, uint32_t number, uint64_t at, uint64_t top,
				      uint32_t is_last)
{
	uint64_t lowest, next;

	if (!scratch)
		return 0;
	number &= LODE_RECORD_KERNEL_FRAMES;
	lowest = scratch->places[number];
	next = is_last ? 0 : scratch->places[(number + 1) & LODE_RECORD_KERNEL_FRAMES];
	/* On to the end of an interrupt's stack. */
	if (is_on_own_stack(at, top) && !is_on_own_stack(lowest, top))
		at = lowest;
	at = lode_find_word(scratch->check[number], at, -8, is_last ? top - 16 : lowest - 8);
	if (!at)
		return 0;
	if (at != lowest)
		scratch->places[number] = 0;
	else if (next || is_last)
		lode_learn_step(scratch->check[number], at, next, top);
	return at - 8;
}

/* The highest places of the same addresses, from the last one at the end of the stack on, and the steps between them. */
__noinline int lode_learn_steps(struct scratch *scratch, uint64_t top, uint32_t first, uint32_t count)
{
	uint64_t at = top - 8;

	for (uint32_t i = 0; i < LODE_RECORD_KERNEL_FRAMES; i++) {
		if (first + i >= count)
			return 0;
		at = lode_find_highest(scratch, count - 1 - i, at, top, !i);
		if (!at)
			return 0;
	}
	return 0;
}

/* The walk in the scratch is not what the kernel gave: the step where they part is not used any more. */
__noinline int lode_drop_step(struct scratch *scratch, uint32_t count)
{
	uint64_t address;
	uint32_t first, i;

	if (!scratch)
		return 0;
	address = scratch->stack.addresses[0];
	first = forget(scratch, find_first(scratch, address)) & 15;
	for (i = 1; i < LODE_RECORD_KERNEL_FRAMES - 16; i++) {
		if (i >= scratch->stack.count || first + i >= count ||
		    scratch->check[first + i] != scratch->stack.addresses[i])
			break;
		address = scratch->stack.addresses[i];
	}
	lode_enter_step(step_key(address, false), STEP_VARIES, i);
	return lode_enter_step(step_key(address, true), STEP_VARIES, i);
}

/* ---- walking ---- */

enum walk_result {
	WALK_DONE,
	WALK_UNKNOWN, /* there is an address without a step */
	WALK_VARIES,  /* or one whose step is not always the same */
	/* Of a part of a walk: */
	WALK_GOES_ON,
	WALK_INTERRUPTED, /* at an address that was interrupted */
};

/* Follows some steps from the return address at scratch->at. `interrupted`: it was interrupted there. */
__noinline int lode_walk_kernel_on(struct scratch *scratch, uint64_t top, uint32_t interrupted)
{
	uint64_t at, hash, sum, step = interrupted ? STEP_INTERRUPTED : 0;
	uint32_t count;
	int result = WALK_GOES_ON;

	if (!scratch)
		return WALK_VARIES;
	at = scratch->at;
	hash = scratch->hash;
	sum = scratch->sum;
	count = scratch->stack.count;
	for (uint32_t i = 0; i < KERNEL_FRAMES; i++) {
		uint64_t address = word_at(at), distance;
		uint32_t key = step_key(address, step & STEP_INTERRUPTED);

		step = find_step(key);
		distance = step & STEP_DISTANCE;
		if (!key || !step)
			return WALK_UNKNOWN;
		scratch->stack.addresses[count++ & LODE_RECORD_KERNEL_FRAMES] = address;
		hash = hash * MULTIPLIER + address;
		sum = sum * 3 + address;
		if (at + 8 == top) {
			result = WALK_DONE;
			break;
		}
		if (!(uint32_t)step)
			return WALK_UNKNOWN;
		if (distance == STEP_VARIES)
			return WALK_VARIES;
		if (distance == STEP_TO_END)
			at = top - 8;
		else
			at = held_or_own(at, step >> STEP_HOLDER_SHIFT & STEP_HOLDER) + distance * 8;
	}
	scratch->at = at;
	scratch->hash = hash;
	scratch->sum = sum;
	scratch->stack.count = count;
	return result == WALK_GOES_ON && step & STEP_INTERRUPTED ? WALK_INTERRUPTED : result;
}

/* Follows steps from the return address at `at` to the end of the stack. */
__noinline int lode_walk_kernel(struct scratch *scratch, uint64_t at, uint64_t top)
{
	int result = WALK_GOES_ON;

	if (!scratch)
		return WALK_VARIES;
	scratch->at = at;
	scratch->hash = 2;
	scratch->sum = 0;
	scratch->stack.count = 0;
	for (uint32_t i = 0; i < KERNEL_TIMES; i++) {
		result = lode_walk_kernel_on(scratch, top, result == WALK_INTERRUPTED);
		if (result != WALK_GOES_ON && result != WALK_INTERRUPTED)
			break;
	}
	scratch->stack.end = LODE_STACK_WHOLE;
	return result <= WALK_VARIES ? result : WALK_VARIES;
}

static __always_inline bool may_learn(struct scratch *scratch)
{
	uint64_t chances = scratch->chances++;

	return chances < LEARN_ALWAYS || !(chances % LEARN_SOMETIMES);
}

/* Learns from the stack that the kernel gave, `count` addresses in `check`, for walks that begin above `base`. */
__noinline int lode_learn(struct scratch *scratch, struct lode_record_walking *walking, uint64_t base,
			  uint64_t top, uint32_t count)
{
	uint64_t at;
	uint32_t first;

	if (!scratch || !walking)
		return 0;
	if (!walking->offset) {
		walking->tries++;
		walking->offset = lode_calibrate(scratch, base);
	}
	if (!walking->offset || !may_learn(scratch))
		return 0;
	at = base + walking->offset;
	first = forget(scratch, find_first(scratch, word_at(at)));
	if (first >= FIRST_ADDRESSES || first >= count || count >= LODE_RECORD_KERNEL_FRAMES)
		walking->offset = 0;
	else if (lode_find_all_lowest(scratch, at, top, first, count))
		lode_learn_steps(scratch, top, first, count);
	return 0;
}

/* Walks, or asks the kernel and learns from that; false: ask the kernel. */
static __always_inline bool walk(void *context, struct scratch *scratch, struct lode_record_walking *walking)
{
	int result = WALK_UNKNOWN;
	uint64_t base, top;
	uint32_t count;

	if (!walk_kernel || walking->wrong > WRONG_WALKS_LIMIT || walking->tries > CALIBRATIONS_LIMIT)
		return false;
	/* Pointers are no numbers to the verifier. */
	base = forget(scratch, (uint64_t)context);
	top = forget(scratch, (uint64_t)bpf_task_pt_regs(bpf_get_current_task_btf()));
	if (walking->offset)
		result = lode_walk_kernel(scratch, base + walking->offset, top);
	if (result == WALK_DONE && scratch->walks++ & (check_every - 1))
		return true;
	count = ask_kernel_stack(context, scratch);
	if (result == WALK_DONE) {
		if (!lode_differs(scratch, count))
			return true;
		COUNT(wrong_walks);
		walking->wrong++;
		lode_drop_step(scratch, count);
	} else if (result == WALK_UNKNOWN) {
		lode_learn(scratch, walking, base, top, count);
	}
	COUNT(asked_stacks);
	lode_take_asked(scratch, count);
	return true;
}

#endif
