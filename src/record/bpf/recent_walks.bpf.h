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
#ifndef LODE_RECORD_BPF_RECENT_WALKS_BPF_H
#define LODE_RECORD_BPF_RECENT_WALKS_BPF_H

struct recent_walk {
	/* Where it began. */
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t link; /* aarch64 */
	uint32_t space;
	uint32_t count; /* of frames without Python's; 0: only the place is reserved */
	uint32_t span;  /* bytes of the stack */
	uint32_t word_count;
	uint32_t has_words; /* of languages */
	uint32_t pid;       /* as in a trail */
	uint64_t kept;      /* when */
	/* The chain of Python functions (python.bpf.h). */
	uint64_t chain_hash;
	uint64_t chain_sum;
	uint64_t tick; /* of the kernel's clock */
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
	scratch->trail.pid = scratch->space.language ? (uint32_t)bpf_get_current_task_btf()->tgid : 0;
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
	uint64_t key = scratch->trail.pc ^ scratch->trail.start << 16 ^
		       (uint64_t)(scratch->space.id ^ scratch->trail.pid) << 40;
	uint32_t place = key * MULTIPLIER >> (64 - LODE_RECENT_WALKS_BITS);

	if (kind == LODE_COPY_CALL)
		place |= 1 << LODE_RECENT_WALKS_BITS;
	return kind == LODE_COPY_SAMPLE ? 0 : bpf_map_lookup_elem(&recent_walks, &place);
}

static __always_inline bool begins_alike(const struct recent_walk *walk, const struct scratch *scratch)
{
	const struct trail *trail = &scratch->trail;

	return ((walk->pc ^ trail->pc) | (walk->sp ^ trail->start) | (walk->fp ^ trail->fp) |
		(walk->link ^ trail->link) | (walk->space ^ scratch->space.id) | (walk->pid ^ trail->pid)) == 0;
}

/* Words that are compared at a time: the verifier follows each of them. */
#define COMPARED 16
/* Blocks of a stack, and batches of words, that are compared at most; a larger stack is walked. */
#define COMPARED_BLOCKS 16

enum compared {
	COMPARED_EQUAL,
	COMPARED_OTHER,
	COMPARED_OUTSIDE, /* of the block */
};

/* Compares the word `slot` words above where the walk began with `word`, as far as the block of memory holds it. */
static __always_inline enum compared compare_word(const struct scratch *scratch, const struct recent_walk *walk,
						  uint64_t slot, uint64_t word, uint64_t bits)
{
	uint64_t at = slot * 8 - (scratch->block_start - walk->sp);

	if (at > scratch->block_size - 8)
		return COMPARED_OUTSIDE;
	asm volatile("" : "+r"(at));
	at = *(const uint64_t *)(scratch->block + (at & (BLOCK_BYTES - 8)));
	return (at & bits) == word ? COMPARED_EQUAL : COMPARED_OTHER;
}

/*
 * Compares some return addresses from frame `i` on, those that the block of memory holds. Returns the frame it came to, or
 * -1 when one differs. Nothing is called here: this is where most of the time goes.
 */
__noinline int lode_compare_returns(struct scratch *scratch, const struct recent_walk *walk, uint32_t i)
{
	if (!scratch || !walk || scratch->block_size < 8)
		return -1;
	for (uint32_t n = 0; n < COMPARED && i < walk->count; n++, i++) {
		uint64_t slot = walk->return_at[i & (RECENT_FRAMES - 1)];
		enum compared compared;

		if (slot == NOT_IN_MEMORY)
			continue;
		compared = compare_word(scratch, walk, slot, walk->returns[i & (RECENT_FRAMES - 1)], RETURN_BITS);
		if (compared == COMPARED_OTHER)
			return -1;
		if (compared == COMPARED_OUTSIDE)
			break;
	}
	return (int)i;
}

/* The same for the words that are no return addresses. */
__noinline int lode_compare_others(struct scratch *scratch, const struct recent_walk *walk, uint32_t i)
{
	if (!scratch || !walk || scratch->block_size < 8)
		return -1;
	for (uint32_t n = 0; n < COMPARED && i < walk->word_count; n++, i++) {
		enum compared compared = compare_word(scratch, walk, walk->word_at[i & (RECENT_WORDS - 1)],
						      walk->words[i & (RECENT_WORDS - 1)], ~0ull);

		if (compared == COMPARED_OTHER)
			return -1;
		if (compared == COMPARED_OUTSIDE)
			break;
	}
	return (int)i;
}

/* The lowest word that is not compared yet, from frame `i` and other word `j` on. */
static __always_inline uint64_t next_slot(const struct recent_walk *walk, uint32_t i, uint32_t j)
{
	uint64_t slot = i < walk->count ? walk->return_at[i & (RECENT_FRAMES - 1)] : NOT_IN_MEMORY;
	uint64_t other = j < walk->word_count ? walk->word_at[j & (RECENT_WORDS - 1)] : NOT_IN_MEMORY;

	return other < slot ? other : slot;
}

/* Whether the current thread's stack has all words of the walk. Each block of memory is fetched once. */
__noinline int lode_has_words(struct scratch *scratch, const struct recent_walk *walk)
{
	int i = 1, j = 0;

	if (!scratch || !walk || !lode_fetch_block(scratch, walk->sp))
		return 0;
	for (uint32_t n = 0; n < COMPARED_BLOCKS; n++) {
		int from = i, other = j;

		i = lode_compare_returns(scratch, walk, (uint32_t)i);
		j = lode_compare_others(scratch, walk, (uint32_t)j);
		if (i < 0 || j < 0)
			return 0;
		if ((uint32_t)i >= walk->count && (uint32_t)j >= walk->word_count)
			return 1;
		if (i - from < COMPARED && j - other < COMPARED &&
		    !lode_fetch_block(scratch, walk->sp + next_slot(walk, i, j) * 8))
			return 0;
	}
	return 0;
}

/* The id of the current thread's stack if it is that of the walk and was sent; else 0. */
__noinline uint64_t lode_recall_walk(struct scratch *scratch, const struct recent_walk *walk)
{
	if (!scratch || !walk || !walk->count || !begins_alike(walk, scratch))
		return 0;
	scratch->hash = walk->hash;
	scratch->sum = walk->sum;
	scratch->span_end = walk->sp + walk->span;
	return is_known(scratch) && lode_has_words(scratch, walk) ? walk->hash : 0;
}

/* The return address that a word took the place of, or what is not compared: of Java, the address in the code. */
static __always_inline uint64_t compared_address(uint64_t word)
{
	return word >> LODE_LANGUAGE_SHIFT == LODE_LANGUAGE_JAVA ? word & LODE_LANGUAGE_ADDRESS : word;
}

/* Whether a word is that of a function with a frame outside the C stack: its chain is compared (python.bpf.h). */
static __always_inline bool is_in_chain(uint64_t word)
{
	uint64_t language = word >> LODE_LANGUAGE_SHIFT;

	return language == LODE_LANGUAGE_PYTHON || language == LODE_LANGUAGE_PHP;
}

/* Addresses that are copied at a time. */
#define COPIED 16

/* Copies some addresses of the stack, from number `i` on, without Python functions. */
__noinline int lode_copy_frames(const struct scratch *scratch, struct recent_walk *walk, uint32_t i)
{
	if (!scratch || !walk)
		return 0;
	for (uint32_t n = 0; n < COPIED && i < scratch->stack.count; n++, i++) {
		uint64_t address = scratch->stack.addresses[i & LODE_RECORD_FRAMES];
		uint32_t at = *(volatile uint32_t *)&walk->count;

		if (is_in_chain(address))
			continue;
		walk->returns[at & (RECENT_FRAMES - 1)] = compared_address(address);
		walk->return_at[at & (RECENT_FRAMES - 1)] = scratch->trail.return_at[i & LODE_RECORD_FRAMES];
		walk->count = at + 1;
	}
	return (int)i;
}

static __always_inline void copy_walk(struct recent_walk *walk, const struct scratch *scratch)
{
	const struct trail *trail = &scratch->trail;
	uint32_t copied = 0;

	for (uint32_t i = 0; i < (LODE_RECORD_FRAMES + 1) / COPIED && copied < scratch->stack.count; i++)
		copied = (uint32_t)lode_copy_frames(scratch, walk, copied);
	if (walk->count > RECENT_FRAMES) {
		walk->count = 0;
		return;
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
	walk->has_words = scratch->stack.languages;
	walk->kept = walk->has_words ? bpf_ktime_get_ns() : 0;
	walk->chain_hash = scratch->python.so_far.hash;
	walk->chain_sum = scratch->python.so_far.sum;
	walk->tick = scratch->python.tick;
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
		walk->pid = scratch->trail.pid;
	} else if (scratch->stack.end == LODE_STACK_WHOLE && scratch->trail.word_count <= RECENT_WORDS) {
		copy_walk(walk, scratch);
	}
	return 0;
}

#endif
