/*
 * User stacks that a CPU walked lately. A part of unwind.bpf.h.
 *
 * Threads tend to wait where they waited before, called from the same places. A walk is
 * determined by the registers it begins with, by the rules of the code, and by the words of
 * the stack that it reads: return addresses, and saved frame pointers where a rule goes by
 * them. So the walk notes these words (its trail). When a thread of the same address space
 * has the same registers, and all of the words are still there, the stack is the same.
 * Comparing takes a fraction of walking: no word depends on the one before.
 *
 * Only stacks that reach their root are kept, and only when they are walked for the second
 * time: the first time their place is reserved.
 *
 * Each CPU has its own, and system calls, which a waking may interrupt, have others than the
 * scheduler's programs. Samples have none: a thread that runs is rarely twice at one place.
 * Nor have kernels before Linux 6.2 (plain_programs.h): their verifier gives up on it.
 */
#ifndef LODE_RECORD_RECENT_WALKS_BPF_H
#define LODE_RECORD_RECENT_WALKS_BPF_H

struct recent_walk {
	/* Where it began. */
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t link; /* aarch64 */
	uint32_t space;
	uint32_t count; /* of frames; 0: only the place is reserved */
	uint32_t span;  /* bytes of the stack */
	uint32_t word_count;
	uint64_t hash;
	uint64_t sum;
	uint64_t returns[RECENT_FRAMES];
	uint64_t words[RECENT_WORDS];      /* other words that it read */
	uint16_t return_at[RECENT_FRAMES]; /* words above the first stack pointer, or NOT_IN_MEMORY */
	uint16_t word_at[RECENT_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2 << LODE_RECENT_WALKS_BITS); /* half of them for system calls */
	__type(key, uint32_t);
	__type(value, struct recent_walk);
} recent_walks SEC(".maps");

#ifdef LODE_PLAIN_READS
#define KEEPS_WALKS 0
#else
#define KEEPS_WALKS 1
#endif

#define RETURN_BITS (HAS_LINK ? LODE_UNWIND_SIGNED_ADDRESS : LODE_UNWIND_ADDRESS)

/* ---- the trail of a walk ---- */

static __always_inline void begin_trail(struct scratch *scratch)
{
	scratch->trail.pc = scratch->state.pc;
	scratch->trail.start = scratch->state.sp;
	scratch->trail.fp = scratch->state.fp;
	scratch->trail.link = HAS_LINK ? scratch->state.link : 0;
	scratch->trail.word_count = 0;
	scratch->trail.frame_at = NOT_IN_MEMORY;
}

/* The walk depends on something else: it is not kept. */
static __always_inline void lose_trail(struct scratch *scratch)
{
	if (KEEPS_WALKS)
		scratch->trail.word_count = RECENT_WORDS + 1;
}

/* The walk read a word, which is neither a return address that it noted by itself nor a register. */
__noinline int lode_note_word(struct scratch *scratch, uint64_t address, uint64_t word)
{
	uint64_t at, count;

	if (!scratch)
		return 0;
	at = address - scratch->trail.start;
	count = scratch->trail.word_count;
	if (at & 7 || at >> 3 >= NOT_IN_MEMORY || count >= RECENT_WORDS) {
		lose_trail(scratch);
		return 0;
	}
	scratch->trail.words[count & (RECENT_WORDS - 1)] = word;
	scratch->trail.word_at[count & (RECENT_WORDS - 1)] = at >> 3;
	scratch->trail.word_count = count + 1;
	return 0;
}

/* From here on the walk goes by the frame pointer that it has. */
__noinline int lode_note_frame_pointer(struct scratch *scratch, uint64_t fp)
{
	if (!scratch || scratch->trail.frame_at == NOT_IN_MEMORY)
		return 0;
	lode_note_word(scratch, scratch->trail.start + scratch->trail.frame_at * 8ull, fp);
	scratch->trail.frame_at = NOT_IN_MEMORY;
	return 0;
}

/* ---- kept walks ---- */

/* The place for walks that begin like the one in the scratch, or NULL. */
static __always_inline struct recent_walk *recent_place(const struct scratch *scratch, uint32_t kind)
{
	uint64_t key = scratch->trail.pc ^ scratch->trail.start << 16 ^ (uint64_t)scratch->space.id << 40;
	uint32_t place = key * MULTIPLIER >> (64 - LODE_RECENT_WALKS_BITS);

	if (kind == LODE_COPY_CALL)
		place |= 1 << LODE_RECENT_WALKS_BITS;
	return kind == LODE_COPY_SAMPLE ? 0 : bpf_map_lookup_elem(&recent_walks, &place);
}

static __always_inline bool begins_alike(const struct recent_walk *walk, const struct scratch *scratch)
{
	const struct trail *trail = &scratch->trail;

	return ((walk->pc ^ trail->pc) | (walk->sp ^ trail->start) | (walk->fp ^ trail->fp) |
		(walk->link ^ trail->link) | (walk->space ^ scratch->space.id)) == 0;
}

/* Return addresses that are compared at a time: the verifier follows each of them. */
#define COMPARED_FRAMES 16

/*
 * Compares some return addresses from frame `i` on, those that the block of memory holds. Returns the frame it came to, or
 * -1 when one differs. Nothing is called here: this is where most of the time goes.
 */
__noinline int lode_compare_returns(struct scratch *scratch, const struct recent_walk *walk, uint32_t i)
{
	uint64_t start, last;
	uint32_t count;

	if (!scratch || !walk || scratch->block_size < 8)
		return -1;
	start = scratch->block_start - walk->sp;
	last = scratch->block_size - 8;
	count = walk->count;
	for (uint32_t n = 0; n < COMPARED_FRAMES; n++) {
		uint64_t at, slot;

		if (i >= count)
			break;
		slot = walk->return_at[i & (RECENT_FRAMES - 1)];
		if (slot != NOT_IN_MEMORY) {
			at = slot * 8 - start;
			if (at > last)
				break;
			asm volatile("" : "+r"(at));
			at = *(uint64_t *)(scratch->block + (at & (BLOCK_BYTES - 8)));
			if ((at & RETURN_BITS) != walk->returns[i & (RECENT_FRAMES - 1)])
				return -1;
		}
		i++;
	}
	return (int)i;
}

/* Whether the current thread's stack has the return addresses of the walk. */
__noinline int lode_has_returns(struct scratch *scratch, const struct recent_walk *walk)
{
	int i = 1;

	if (!scratch || !walk)
		return 0;
	for (uint32_t n = 0; n < RECENT_FRAMES; n++) {
		int from = i;

		i = lode_compare_returns(scratch, walk, (uint32_t)i);
		if (i < 0 || (uint32_t)i >= walk->count)
			break;
		if (i - from < COMPARED_FRAMES &&
		    !lode_fetch_block(scratch, walk->sp + walk->return_at[i & (RECENT_FRAMES - 1)] * 8ull))
			return 0;
	}
	return i >= 0 && (uint32_t)i >= walk->count;
}

__noinline int lode_has_word(struct scratch *scratch, uint64_t address, uint64_t word)
{
	uint64_t there;

	return scratch && fetch_word(scratch, address, &there) && there == word;
}

/* Whether the current thread's stack has the words of the walk that are no return addresses. */
__noinline int lode_has_others(struct scratch *scratch, const struct recent_walk *walk)
{
	if (!walk)
		return 0;
	for (uint32_t i = 0; i < RECENT_WORDS; i++) {
		if (i >= walk->word_count)
			break;
		if (!lode_has_word(scratch, walk->sp + walk->word_at[i] * 8ull, walk->words[i]))
			return 0;
	}
	return 1;
}

/* Whether the current thread's stack has all words of the walk. */
static __always_inline bool has_words(struct scratch *scratch, const struct recent_walk *walk)
{
	scratch->span_end = walk->sp + walk->span;
	if (!lode_fetch_block(scratch, walk->sp) || !lode_has_returns(scratch, walk))
		return false;
	return !walk->word_count || lode_has_others(scratch, walk);
}

/* The id of the current thread's stack if it is that of the walk and was sent; else 0. */
__noinline uint64_t lode_recall_walk(struct scratch *scratch, const struct recent_walk *walk)
{
	if (!scratch || !walk || !walk->count || !begins_alike(walk, scratch))
		return 0;
	scratch->hash = walk->hash;
	scratch->sum = walk->sum;
	return is_known(scratch) && has_words(scratch, walk) ? walk->hash : 0;
}

static __always_inline void copy_walk(struct recent_walk *walk, const struct scratch *scratch)
{
	const struct trail *trail = &scratch->trail;

	for (uint32_t i = 1; i < RECENT_FRAMES; i++) {
		if (i >= scratch->stack.count)
			break;
		walk->returns[i] = scratch->stack.addresses[i];
		walk->return_at[i] = trail->return_at[i];
	}
	for (uint32_t i = 0; i < RECENT_WORDS; i++) {
		if (i >= trail->word_count)
			break;
		walk->words[i] = trail->words[i];
		walk->word_at[i] = trail->word_at[i];
	}
	walk->hash = scratch->hash & ~1ull;
	walk->sum = scratch->sum;
	walk->span = scratch->state.sp - walk->sp + 16;
	walk->word_count = trail->word_count;
	walk->count = scratch->stack.count;
}

/* Keeps the walk in the scratch if it came to the root and began like the one before it. */
__noinline int lode_keep_walk(struct scratch *scratch, struct recent_walk *walk)
{
	if (!scratch || !walk)
		return 0;
	walk->count = 0;
	if (!begins_alike(walk, scratch)) {
		walk->pc = scratch->trail.pc;
		walk->sp = scratch->trail.start;
		walk->fp = scratch->trail.fp;
		walk->link = scratch->trail.link;
		walk->space = scratch->space.id;
	} else if (scratch->stack.end == LODE_STACK_WHOLE && scratch->stack.count <= RECENT_FRAMES &&
		   scratch->trail.word_count <= RECENT_WORDS) {
		copy_walk(walk, scratch);
	}
	return 0;
}

#endif
