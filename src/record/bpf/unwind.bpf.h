/*
 * User stacks by unwind tables, in the kernel.
 *
 * The step from a function to its caller is process/unwind_step.h, the same code that
 * unwinds copies in the program. Here its memory is the thread's own, fetched in blocks,
 * and its rules come from the maps of unwind_maps.h. Where these do not know the code at
 * an address (a program that was just started, a library that was just opened) the walk
 * ends, and the stack is copied for the program to unwind; from that the program learns
 * what to load. Where a library may have been mapped in place of another one, stacks are
 * copied too, until the program knows about it: the tables would be wrong.
 *
 * The verifier looks at each global function once, by itself. So a step is such a
 * function, finding a rule is another, and a third walks the many frames that need no
 * more than a remembered rule and memory that was fetched.
 */
#ifndef LODE_RECORD_BPF_UNWIND_BPF_H
#define LODE_RECORD_BPF_UNWIND_BPF_H

#include "record/bpf/stacks.bpf.h"
#include "record/bpf/unwind_maps.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LODE_UNWIND_SPACES);
	__type(key, uint32_t);
	__type(value, struct lode_unwind_space);
} unwind_spaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LODE_UNWIND_MAPPINGS);
	__type(key, uint32_t);
	__type(value, struct lode_unwind_mapping);
} unwind_mappings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LODE_UNWIND_TABLES);
	__type(key, uint32_t);
	__type(value, struct lode_unwind_size);
} unwind_sizes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LODE_UNWIND_RULES);
	__type(key, uint32_t);
	__type(value, struct lode_unwind_rule);
} unwind_rules SEC(".maps");

struct unwind_rows {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(struct lode_unwind_chunk));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, LODE_UNWIND_TABLES);
	__type(key, uint32_t);
	__array(values, struct unwind_rows);
} unwind_tables SEC(".maps");

/* A variable, because that takes less to look up than a map. */
struct lode_unwind_cached unwind_cache[1 << LODE_UNWIND_CACHE_BITS];

/* Memory that processes took, for the program to look at. */
struct lode_unwind_taken taken[LODE_UNWIND_TAKEN];
uint64_t taken_count = 0;

/* What lode_find_rule returns where there is no rule. */
#define RULE_MISSING (-1) /* no mapping is known there */
#define RULE_PENDING (-2) /* its table is not loaded */

/*
 * Frames that lode_walk_on walks at a time, how often lode_walk_further goes on, and how often that is called: a
 * large frame needs its own step. Few each time: the verifier follows every one of them.
 */
#define WALK_FRAMES   8
#define WALK_STEPS    16
#define WALK_FURTHERS (LODE_RECORD_FRAMES / WALK_STEPS + 1)

/* Bytes that are fetched at a time where a stack is larger than was expected. */
#define FURTHER_SPAN 1024

/* ---- memory ---- */

/* Loads the bytes at `address` into the block; 0 when that cannot be read. */
__noinline int lode_fetch_block(struct scratch *scratch, uint64_t address)
{
	if (!scratch)
		return 0;
	if ((int64_t)(scratch->span_end - address) < MIN_SPAN)
		scratch->span_end = address + FURTHER_SPAN;
	scratch->block_start = address;
	scratch->block_size = read_block(scratch, address, scratch->span_end - address);
	return scratch->block_size != 0;
}

static __always_inline int fetch_word(struct scratch *scratch, uint64_t address, uint64_t *word)
{
	uint64_t at = address - scratch->block_start;

	if (at + 8 > scratch->block_size || at > BLOCK_BYTES || at & 7) {
		if (!lode_fetch_block(scratch, address))
			return 0;
		at = 0;
	}
	asm volatile("" : "+r"(at));
	at &= BLOCK_BYTES - 8;
	*word = *(uint64_t *)(scratch->block + at);
	return 1;
}

#include "record/bpf/recent_walks.bpf.h"

static __always_inline int read_user_word(struct scratch *scratch, uint64_t address, uint64_t *word)
{
	if (!fetch_word(scratch, address, word)) {
		lose_trail(scratch);
		return 0;
	}
	if (KEEPS_WALKS)
		lode_note_word(scratch, address, *word);
	return 1;
}

#define LODE_UNWIND_READ(context, address, word) read_user_word(context, address, &(word))
#include "process/unwind_step.h"

static __always_inline void add_address(struct scratch *scratch, uint64_t address)
{
	if (KEEPS_WALKS)
		scratch->trail.return_at[scratch->stack.count & LODE_RECORD_FRAMES] = NOT_IN_MEMORY;
	scratch->stack.addresses[scratch->stack.count & LODE_RECORD_FRAMES] = address;
	scratch->stack.count++;
	scratch->hash = scratch->hash * MULTIPLIER + address;
	scratch->sum = scratch->sum * 3 + address;
}

#include "record/bpf/languages.bpf.h"
#include "record/bpf/python.bpf.h"
#include "record/bpf/v8.bpf.h"

/* ---- rules ---- */

/* The last mapping of a space that begins at an address or before it, or NULL. */
static __always_inline struct lode_unwind_mapping *last_mapping(const struct lode_unwind_space *space,
								uint64_t address)
{
	uint32_t low = space->first, high = low + space->count, place;
	struct lode_unwind_mapping *mapping;

	for (uint32_t i = 0; i < 17; i++) {
		if (low >= high)
			break;
		place = low + (high - low) / 2;
		mapping = bpf_map_lookup_elem(&unwind_mappings, &place);
		if (!mapping)
			return 0;
		if (mapping->start <= address)
			low = place + 1;
		else
			high = place;
	}
	place = low - 1;
	mapping = low > space->first ? bpf_map_lookup_elem(&unwind_mappings, &place) : 0;
	return mapping && mapping->space == space->id ? mapping : 0;
}

/* The mapping of the scratch's space at an address, or NULL. */
static __always_inline struct lode_unwind_mapping *find_mapping(struct scratch *scratch, uint64_t address)
{
	struct lode_unwind_mapping *mapping = last_mapping(&scratch->space, address);

	return mapping && address < mapping->end ? mapping : 0;
}

/* The chunk of table `number`, `table`, that holds `key`, or NULL. */
static __always_inline struct lode_unwind_chunk *find_chunk(uint32_t number, void *table, uint32_t key)
{
	struct lode_unwind_size *size = bpf_map_lookup_elem(&unwind_sizes, &number);
	uint32_t low = 0, high = size ? size->chunks : 0, place;
	struct lode_unwind_chunk *chunk;

	for (uint32_t i = 0; i < 21; i++) {
		if (low >= high)
			break;
		place = low + (high - low) / 2;
		chunk = bpf_map_lookup_elem(table, &place);
		if (!chunk)
			return 0;
		if (chunk->starts[0] <= key)
			low = place + 1;
		else
			high = place;
	}
	if (!low)
		return 0;
	place = low - 1;
	return bpf_map_lookup_elem(table, &place);
}

/*
 * Addresses have 48 bits; of the space, which counts up, the lower bits are enough beside the hash. Whether a language is known
 * of the process makes a difference to a rule.
 */
static __always_inline uint64_t cache_key(const struct lode_unwind_space *space, uint64_t address)
{
	return address ^ (uint64_t)space->id << 40 ^ (uint64_t)(space->language != 0) << 63;
}

/* The upper bits of the key's hash are its place, the next ones are kept with the word. */
static __always_inline struct lode_unwind_cached *cache_place(uint64_t hash)
{
	return &unwind_cache[hash >> (64 - LODE_UNWIND_CACHE_BITS)];
}

static __always_inline uint64_t cache_hash(uint64_t hash)
{
	return hash >> (48 - LODE_UNWIND_CACHE_BITS) & 0xffff;
}

/* Bytes as words, at most `most` of them; `most` + 1 when they are not whole words or too many. */
static __always_inline uint64_t in_words(int64_t bytes, uint64_t most)
{
	return bytes & 7 || (uint64_t)bytes >> 3 > most ? most + 1 : (uint64_t)bytes >> 3;
}

/* The rule as a word of the cache, without the hash. */
static __always_inline uint64_t pack_rule(const struct lode_unwind_rule *rule)
{
	uint64_t cfa = in_words(rule->cfa_offset, LODE_CACHED_FRAME_RECORD - 1), word = 0;
	uint64_t back = in_words(-(int64_t)rule->return_offset, LODE_CACHED_DISTANCE);
	uint64_t frame = in_words(-(int64_t)rule->frame_offset, LODE_CACHED_DISTANCE);

	if (rule->return_at == LODE_PLACE_NONE)
		return LODE_CACHED_ROOT;
	if (rule->cfa == LODE_CFA_NONE)
		return LODE_CACHED_FRAME_RECORD;
	if (rule->cfa == LODE_CFA_FP)
		word = LODE_CACHED_FROM_FP;
	else if (rule->cfa != LODE_CFA_SP)
		return LODE_CACHED_OTHER;
	if (HAS_LINK && rule->return_at == LODE_PLACE_KEPT)
		word |= LODE_CACHED_IN_LINK;
	else if (rule->return_at == LODE_PLACE_CFA && back && back <= LODE_CACHED_DISTANCE)
		word |= back << LODE_CACHED_RETURN_SHIFT;
	else
		return LODE_CACHED_OTHER;
	if (rule->frame_at == LODE_PLACE_CFA && frame && frame <= LODE_CACHED_DISTANCE)
		word |= frame << LODE_CACHED_FRAME_SHIFT;
	else if (rule->frame_at != LODE_PLACE_KEPT)
		return LODE_CACHED_OTHER;
	return cfa < LODE_CACHED_FRAME_RECORD ? word | cfa : LODE_CACHED_OTHER;
}

/* Copies the rule at an address to the scratch, by the tables, and remembers it. Returns 0, RULE_MISSING or RULE_PENDING. */
__noinline int lode_find_rule(struct scratch *scratch, uint64_t address)
{
	struct lode_unwind_mapping *mapping;
	struct lode_unwind_cached *cached;
	struct lode_unwind_chunk *chunk;
	struct lode_unwind_rule *rule;
	uint32_t at = 0, number = 0, table_number;
	void *table;
	uint64_t key, hash;

	if (!scratch)
		return RULE_MISSING;
	mapping = find_mapping(scratch, address);
	if (!mapping)
		return lode_v8_guess_rule(scratch) ? 0 : RULE_MISSING;
	table_number = mapping->table;
	table = bpf_map_lookup_elem(&unwind_tables, &table_number);
	if (!table && table_number != LODE_UNWIND_NO_TABLE)
		return RULE_PENDING;
	key = address - mapping->bias;
	if (table && key < UINT32_MAX) {
		chunk = find_chunk(table_number, table, key);
		for (uint32_t step = LODE_UNWIND_CHUNK / 2; chunk && step; step /= 2)
			if (chunk->starts[(at + step) & (LODE_UNWIND_CHUNK - 1)] <= key)
				at += step;
		if (chunk)
			number = chunk->rules[at & (LODE_UNWIND_CHUNK - 1)];
	}
	rule = bpf_map_lookup_elem(&unwind_rules, &number);
	if (!rule)
		return RULE_MISSING;
	scratch->rule = *rule;
	key = cache_key(&scratch->space, address);
	hash = key * MULTIPLIER;
	cached = cache_place(hash);
	cached->key = key;
	cached->word = pack_rule(&scratch->rule) | cache_hash(hash) << LODE_CACHED_HASH_SHIFT;
	if ((scratch->rule.cfa != LODE_CFA_NONE && is_at_python(scratch, address)) || is_at_v8(scratch))
		cached->word |= LODE_CACHED_LANGUAGE;
	return 0;
}

/* ---- walking ---- */

/* x86-64: where the caller of a leaf without a table is if the leaf has no frame: on top of the stack. 0: nowhere. */
__noinline uint64_t lode_leaf_caller(struct scratch *scratch)
{
	uint64_t word;

	if (!scratch || !read_user_word(scratch, scratch->state.sp, &word))
		return 0;
	return find_mapping(scratch, word - 1) ? word : 0;
}

/* Adds to the latest address, which then is not the word in memory. */
static __always_inline void correct_address(struct scratch *scratch, uint64_t number)
{
	lose_trail(scratch);
	scratch->stack.addresses[(scratch->stack.count - 1) & LODE_RECORD_FRAMES] += number;
	scratch->hash += number;
	scratch->sum += number;
}

/* What a part of a walk came to. */
enum walked {
	WALKED_SOME, /* it can go on */
	WALKED_TO_STEP,
	WALKED_TO_ROOT,       /* or to where it ends for another reason */
	WALKED_OUT_OF_PYTHON, /* the caller's address is not added yet: Python frames come first, */
	WALKED_OUT_OF_V8,     /* or a JavaScript frame */
};

/* Whether a rule leads from a function with a frame of its own to its caller. */
static __always_inline bool has_frame(const struct lode_unwind_rule *rule)
{
	return rule->cfa != LODE_CFA_NONE && rule->cfa < LODE_CFA_SIGNAL;
}

/* Notes where the C frame begins that a step is about to leave. Returns whether it runs Python code. */
static __always_inline bool begin_python(struct scratch *scratch, uint64_t address)
{
	scratch->python.start = scratch->state.sp;
	scratch->python.slot = NOT_IN_MEMORY;
	return is_at_python(scratch, address);
}

/* What a step by the rule in the scratch left. */
static __always_inline enum walked left_language(const struct scratch *scratch, bool at_python)
{
	if (at_python && has_frame(&scratch->rule))
		return WALKED_OUT_OF_PYTHON;
	return is_at_v8(scratch) ? WALKED_OUT_OF_V8 : WALKED_SOME;
}

/* One step of any kind. Returns as lode_walk_on does; when the walk is over, scratch->stack.end says how. */
__noinline int lode_walk_step(struct scratch *scratch)
{
	struct lode_unwind_state *state;
	bool at_python;
	int result, walked;

	if (!scratch)
		return WALKED_TO_ROOT;
	state = &scratch->state;
	at_python = begin_python(scratch, lode_unwind_address(state));
	if (scratch->stack.count >= LODE_RECORD_FRAMES - 1) {
		scratch->stack.end = LODE_STACK_DEEP;
		return WALKED_TO_ROOT;
	}
	if (KEEPS_WALKS)
		lode_note_frame_pointer(scratch, state->fp);
	result = lode_find_rule(scratch, lode_unwind_address(state));
	if (result) {
		/* A return address where nothing is mapped may be none: it is not kept. */
		if (result == RULE_MISSING && scratch->stack.count > 1)
			scratch->stack.count--;
		/* Behind a guess it is most likely the guess that was wrong: a copy would not show more. */
		scratch->stack.end = result == RULE_PENDING   ? LODE_STACK_PENDING
				     : scratch->stack.guessed ? LODE_STACK_BROKEN
							      : LODE_STACK_UNMAPPED;
		return WALKED_TO_ROOT;
	}
	/* A signal handler returns to where nothing was called: the address itself is in the function. */
	if (scratch->rule.cfa >= LODE_CFA_SIGNAL && !state->is_exact)
		correct_address(scratch, 1);
	if (!scratch->rule.cfa && scratch->rule.return_at != LODE_PLACE_NONE) {
		uint64_t caller = !HAS_LINK && scratch->stack.count == 1 ? lode_leaf_caller(scratch) : 0;

		scratch->stack.guessed = 1;
		if (caller) {
			scratch->stack.has_link = 1;
			add_address(scratch, caller);
		}
		if (HAS_LINK && lode_unwind_lacks_record(state, scratch) &&
		    find_mapping(scratch, lode_unwind_plain(state, state->link) - 1)) {
			if (scratch->stack.count == 1)
				scratch->stack.has_link = 1;
			lode_unwind_by_link(state);
			add_address(scratch, state->pc);
			return WALKED_SOME;
		}
	}
	if (scratch->rule.cfa == LODE_CFA_SCRATCH || (!HAS_LINK && scratch->rule.return_at == LODE_PLACE_KEPT))
		lose_trail(scratch); /* by a register that kept walks do not have */
	result = lode_unwind_step(state, &scratch->rule, scratch);
	if (result != LODE_UNWIND_CALLER) {
		scratch->stack.end = result == LODE_UNWIND_ROOT ? LODE_STACK_WHOLE : LODE_STACK_BROKEN;
		return WALKED_TO_ROOT;
	}
	walked = left_language(scratch, at_python);
	/* All but the leaf are taken for return addresses. */
	if (walked == WALKED_SOME)
		add_address(scratch, state->pc + state->is_exact);
	return walked;
}

/* What lode_walk_on holds of a scratch while it walks. */
struct walk {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t hash;
	uint64_t sum;
	uint64_t space;      /* as cache_key has it */
	uint64_t start;      /* of the block */
	uint64_t last;       /* word of the block, as a distance from its start */
	uint64_t from_start; /* from the trail's start to the block's */
	uint32_t count;
	uint32_t is_exact;
};

static __always_inline void begin_walk(struct walk *walk, struct scratch *scratch)
{
	walk->pc = scratch->state.pc;
	walk->sp = scratch->state.sp;
	walk->fp = scratch->state.fp;
	walk->is_exact = scratch->state.is_exact;
	walk->hash = scratch->hash;
	walk->sum = scratch->sum;
	walk->count = scratch->stack.count;
	walk->space = cache_key(&scratch->space, 0);
	walk->start = scratch->block_start;
	walk->last = scratch->block_size - 8;
	walk->from_start = walk->start - scratch->trail.start;
	if (KEEPS_WALKS && walk->from_start >> 3 >= NOT_IN_MEMORY - BLOCK_BYTES / 8)
		lose_trail(scratch);
}

/* Stack and frame pointer are in the scratch already. */
static __always_inline void end_walk(const struct walk *walk, struct scratch *scratch)
{
	scratch->state.pc = walk->pc;
	if (!walk->is_exact)
		scratch->state.is_exact = scratch->state.is_first = scratch->state.has_link = 0;
	scratch->hash = walk->hash;
	scratch->sum = walk->sum;
	scratch->stack.count = walk->count;
}

/* The remembered rule, as a word of the cache. */
static __always_inline bool recall_rule(const struct walk *walk, uint64_t *word)
{
	uint64_t key = (walk->pc - 1 + walk->is_exact) ^ walk->space, mixed = key * MULTIPLIER;
	const struct lode_unwind_cached *cached = cache_place(mixed);

	if (cached->key != key)
		return false;
	*word = cached->word;
	return *word >> LODE_CACHED_HASH_SHIFT == cache_hash(mixed);
}

/* The caller's stack pointer, by a rule of the cache, which is corrected where another one is surer. */
static __always_inline uint64_t find_cfa(struct scratch *scratch, const struct walk *walk, uint64_t *word)
{
	uint64_t cfa = *word & LODE_CACHED_OFFSET, at = *word >> LODE_CACHED_FRAME_SHIFT & LODE_CACHED_DISTANCE;

	/* See unwind_step.h: the frame pointer is surer than a stack pointer that was guessed. */
	if (HAS_LINK && *(volatile uint32_t *)&scratch->state.sp_is_guess && walk->fp >= walk->sp &&
	    at == (*word >> LODE_CACHED_RETURN_SHIFT & LODE_CACHED_DISTANCE) + 1) {
		*word |= LODE_CACHED_FROM_FP;
		cfa = at;
	}
	if (KEEPS_WALKS && *word & LODE_CACHED_FROM_FP)
		lode_note_frame_pointer(scratch, walk->fp);
	return (*word & LODE_CACHED_FROM_FP ? walk->fp : walk->sp) + cfa * 8;
}

/* A word of the block, `at` bytes from its start, of which the verifier must see the bound. */
static __always_inline uint64_t block_word(const struct scratch *scratch, uint64_t at)
{
	asm volatile("" : "+r"(at));
	return *(const uint64_t *)(scratch->block + (at & (BLOCK_BYTES - 8)));
}

/* The caller's frame pointer, into `fp`; false: it is not in the block. */
static __always_inline bool restore_frame_pointer(struct scratch *scratch, const struct walk *walk, uint64_t word,
						  uint64_t cfa, uint64_t *fp)
{
	uint64_t at = word >> LODE_CACHED_FRAME_SHIFT & LODE_CACHED_DISTANCE;

	*fp = walk->fp;
	if (!at)
		return true;
	at = cfa - at * 8 - walk->start;
	if (at > walk->last)
		return false;
	*fp = block_word(scratch, at);
	if (KEEPS_WALKS)
		*(volatile uint16_t *)&scratch->trail.frame_at = (at + walk->from_start) >> 3;
	return true;
}

/* The return address, and where it is for the trail; 0: it is not in the block. */
static __always_inline uint64_t find_return(const struct scratch *scratch, const struct walk *walk, uint64_t word,
					    uint64_t cfa, uint32_t *slot)
{
	uint64_t at;

	*slot = NOT_IN_MEMORY;
	if (HAS_LINK && word & LODE_CACHED_IN_LINK)
		return walk->is_exact ? scratch->state.link & RETURN_BITS : 0;
	at = cfa - (word >> LODE_CACHED_RETURN_SHIFT & LODE_CACHED_DISTANCE) * 8 - walk->start;
	if (at > walk->last || cfa == walk->sp)
		return 0;
	*slot = (at + walk->from_start) >> 3;
	return block_word(scratch, at) & RETURN_BITS;
}

/* To the caller. Stack and frame pointer go through memory, or the verifier would follow too many paths. */
static __always_inline void enter_caller(struct scratch *scratch, struct walk *walk, uint64_t pc, uint64_t sp,
					 uint64_t fp, uint32_t slot)
{
	uint64_t at = walk->count++ & LODE_RECORD_FRAMES;

	walk->pc = pc;
	walk->is_exact = 0;
	*(volatile uint64_t *)&scratch->state.sp = sp;
	walk->sp = *(volatile uint64_t *)&scratch->state.sp;
	*(volatile uint64_t *)&scratch->state.fp = fp;
	walk->fp = *(volatile uint64_t *)&scratch->state.fp;
	scratch->stack.addresses[at] = pc;
	if (KEEPS_WALKS)
		scratch->trail.return_at[at] = slot;
	walk->hash = walk->hash * MULTIPLIER + pc;
	walk->sum = walk->sum * 3 + pc;
}

/* To the caller of a function that runs code of a language, whose address comes later. */
static __always_inline void leave_language(struct scratch *scratch, struct walk *walk, uint64_t pc, uint64_t sp,
					   uint64_t fp, uint32_t slot)
{
	scratch->python.start = walk->sp;
	scratch->python.slot = slot;
	scratch->state.sp = sp;
	scratch->state.fp = fp;
	walk->pc = pc;
	walk->is_exact = 0;
}

/* A step by a remembered rule of the common kinds, through the block of memory that is there. */
static __always_inline enum walked walk_one(struct scratch *scratch, struct walk *walk)
{
	uint64_t word, cfa, fp, pc;
	uint32_t is_record = 0, slot;

	if (!recall_rule(walk, &word))
		return WALKED_TO_STEP;
	cfa = word & LODE_CACHED_OFFSET;
	if (cfa >= LODE_CACHED_FRAME_RECORD) {
		if (cfa == LODE_CACHED_ROOT)
			return WALKED_TO_ROOT;
		if (cfa != LODE_CACHED_FRAME_RECORD || walk->is_exact || !walk->fp)
			return WALKED_TO_STEP;
		scratch->stack.guessed = is_record = 1;
		word &= LODE_CACHED_LANGUAGE;
		word |= LODE_CACHED_FROM_FP | 1ull << LODE_CACHED_RETURN_SHIFT | 2ull << LODE_CACHED_FRAME_SHIFT |
			2;
	}
	cfa = find_cfa(scratch, walk, &word);
	if (cfa < walk->sp || cfa & 7 || !restore_frame_pointer(scratch, walk, word, cfa, &fp))
		return WALKED_TO_STEP;
	pc = find_return(scratch, walk, word, cfa, &slot);
	if (!pc)
		return WALKED_TO_STEP;
	*(volatile uint32_t *)&scratch->state.sp_is_guess = HAS_LINK && is_record;
	if (word & LODE_CACHED_LANGUAGE) {
		leave_language(scratch, walk, pc, cfa, fp, slot);
		return is_record ? WALKED_OUT_OF_V8 : WALKED_OUT_OF_PYTHON;
	}
	enter_caller(scratch, walk, pc, cfa, fp, slot);
	return WALKED_SOME;
}

/*
 * Several simple steps. Nothing is called here, so that little has to be saved: this is where most frames are
 * walked. Where it stops, lode_walk_step continues, even if that was wrong.
 */
__noinline int lode_walk_on(struct scratch *scratch)
{
	enum walked walked = WALKED_SOME;
	struct walk walk;

	if (!scratch || scratch->block_size < 8 || scratch->block_start & 7 ||
	    scratch->stack.count >= LODE_RECORD_FRAMES - WALK_FRAMES)
		return WALKED_TO_STEP;
	begin_walk(&walk, scratch);
	for (uint32_t i = 0; i < WALK_FRAMES && walked == WALKED_SOME; i++)
		walked = walk_one(scratch, &walk);
	end_walk(&walk, scratch);
	if (walked == WALKED_TO_ROOT)
		scratch->stack.end = LODE_STACK_WHOLE;
	return walked;
}

#include "record/bpf/hotspot.bpf.h"

/* Returns whether there may be more. */
__noinline int lode_walk_further(struct scratch *scratch)
{
	bool in_java = false;

	for (uint32_t i = 0; i < WALK_STEPS; i++) {
		int walked = in_java ? WALKED_TO_STEP : lode_walk_on(scratch);

		in_java = false;
		if (walked == WALKED_TO_STEP) {
			walked = lode_hotspot_walk_step(scratch);
			in_java = walked == WALKED_SOME;
		}
		if (walked == WALKED_TO_STEP)
			walked = lode_walk_step(scratch);
		if (walked == WALKED_TO_ROOT)
			return 0;
		if (walked == WALKED_OUT_OF_PYTHON) {
			lode_python_collect(scratch);
			lode_python_add(scratch);
		}
		if (walked == WALKED_OUT_OF_V8)
			lode_v8_add(scratch);
	}
	return 1;
}

/* From the state in the scratch to the root, or as far as it goes. */
__noinline int lode_walk_all(struct scratch *scratch)
{
	if (!scratch)
		return 0;
	lode_fetch_block(scratch, scratch->state.sp);
	for (uint32_t i = 0; i < WALK_FURTHERS; i++)
		if (!lode_walk_further(scratch))
			break;
	return 0;
}

static __always_inline struct lode_unwind_space *space_place(uint32_t pid)
{
	uint32_t place = pid % LODE_UNWIND_SPACES;

	return bpf_map_lookup_elem(&unwind_spaces, &place);
}

/* Nothing is known of a process. */
static __always_inline void clear_space(struct lode_unwind_space *space, uint32_t pid)
{
	space->id = 0;
	space->strays = 0;
	space->code_pages = 0;
	space->quiet = 0;
	space->language = 0;
	space->pid = pid;
}

/* What is known of a process; an entry that says nothing where that is nothing. */
static __always_inline struct lode_unwind_space *find_space(uint32_t pid)
{
	struct lode_unwind_space *space = space_place(pid);

	if (space && space->pid != pid)
		clear_space(space, pid);
	return space;
}

/* Counts a copy of a stack that needs what the program has not sent yet; `most`: in a window of time. */
static __always_inline bool may_copy(struct lode_unwind_space *space, uint32_t most)
{
	uint32_t window = bpf_ktime_get_ns() >> LODE_UNWIND_WINDOW;

	if (space->window != window) {
		space->window = window;
		space->copies = 0;
	}
	if (space->copies >= most)
		return false;
	space->copies++;
	return true;
}

/* Counts a copy of a stack that ends where nothing is mapped. */
static __always_inline bool may_copy_stray(struct lode_unwind_space *space)
{
	if (space->grown > *(volatile uint64_t *)&mapped_known)
		return may_copy(space, LODE_UNWIND_COPIES);
	if (space->strays >= LODE_UNWIND_STRAYS)
		return may_copy(space, LODE_UNWIND_LATE_STRAYS);
	space->strays++;
	return true;
}

/* Keeps for the program that a process takes memory. */
static __always_inline void note_taken(uint32_t pid, uint64_t start, uint64_t size, uint64_t now)
{
	uint64_t number = __sync_fetch_and_add(&taken_count, 1);
	struct lode_unwind_taken *place = &taken[number & (LODE_UNWIND_TAKEN - 1)];

	place->start = start;
	place->end = start + size;
	place->pid = pid;
	__sync_lock_test_and_set(&place->t, now);
}

/* A process takes memory for something new: if there was code, what is known of the process is out of date. */
static __always_inline void forget_replaced_code(uint32_t pid, uint64_t start, uint64_t size)
{
	struct lode_unwind_space *space = space_place(pid);
	uint64_t now = bpf_ktime_get_ns();
	struct lode_unwind_mapping *mapping;

	if (!space || space->pid != pid)
		return;
	note_taken(pid, start, size, now);
	if (!space->id || (space->stale_id == space->id && now < space->stale + LODE_UNWIND_NO_MATTER))
		return;
	mapping = last_mapping(space, start + size - 1);
	if (!mapping || mapping->end <= start || mapping->table == LODE_UNWIND_NO_TABLE) {
		space->grown = now + LODE_UNWIND_REPORT_NS;
		return;
	}
	space->stale_id = space->id;
	space->stale = now + LODE_UNWIND_REPORT_NS;
}

static __always_inline bool is_stale(const struct lode_unwind_space *space)
{
	return space->stale > *(volatile uint64_t *)&mapped_known &&
	       (!space->stale_id || space->stale_id == space->id);
}

/* Where mappings are not reported: whether the process has mapped or unmapped code since they were read. */
static __always_inline bool has_changed(const struct lode_unwind_space *space, struct task_struct *task)
{
	return *(volatile uint32_t *)&reads_maps && space->code_pages != (uint32_t)task->mm->exec_vm &&
	       bpf_ktime_get_ns() >= space->quiet;
}

/* Whether the current thread, whose stack is that of a kept walk, has the walk's functions of languages. */
static __always_inline bool has_same_functions(struct scratch *scratch, const struct recent_walk *recent)
{
	if (hotspot_process(scratch))
		return hotspot_is_same(scratch, recent);
	if (!has_python(scratch))
		return lode_v8_is_same(scratch, recent);
	return python_is_same(scratch, recent);
}

/* Where a walk begins: at the registers of a thread. */
static __always_inline void begin_state(struct scratch *scratch, struct pt_regs *regs)
{
	scratch->state = (struct lode_unwind_state){
		.pc = REGS_PC(regs),
		.sp = REGS_SP(regs),
		.fp = REGS_FP(regs),
		.link = REGS_LINK(regs),
		.scratch = REGS_SCRATCH(regs),
		.has_link = 1,
		.is_first = 1,
		.is_exact = 1,
		.signed_returns = HAS_LINK,
	};
}

/*
 * The user's stack of the current thread. Returns whether copying it would show more.
 * `id`: of the stack if it was walked before; else 0, and the stack is in the scratch.
 */
static __always_inline bool walk_by_tables(struct scratch *scratch, struct task_struct *task, struct pt_regs *regs,
					   uint32_t kind, uint64_t *id)
{
	struct lode_unwind_space *space = find_space(task->tgid);
	struct recent_walk *recent = 0;
	uint64_t came;
	bool stale;

	begin_stack(scratch, true, false);
	scratch->stack.addresses[0] = REGS_PC(regs);
	scratch->hash = scratch->stack.addresses[0];
	scratch->stack.count = 1;
	scratch->stack.end = LODE_STACK_UNMAPPED;
	scratch->space.id = 0;
	scratch->python.search = 0;
	scratch->v8.map = 0;
	if (!space)
		return false;
	if (!space->id)
		return may_copy(space, LODE_UNWIND_COPIES);
	scratch->space = *space;
	begin_state(scratch, regs);
	stale = is_stale(space) || has_changed(space, task);
	if (KEEPS_WALKS) {
		begin_trail(scratch);
		recent = stale ? 0 : recent_place(scratch, kind);
		*id = lode_recall_walk(scratch, recent);
		if (*id && recent && recent->has_words && !has_same_functions(scratch, recent))
			*id = 0;
		if (*id) {
			scratch->stack.end = LODE_STACK_WHOLE;
			return false;
		}
		scratch->hash = scratch->stack.addresses[0];
		scratch->sum = 0;
	}
	scratch->span_end = scratch->state.sp + scratch->span;
	scratch->stack.end = LODE_STACK_DEEP;
	lode_walk_all(scratch);
	if (KEEPS_WALKS)
		lode_keep_walk(scratch, recent);
	came = scratch->state.sp - REGS_SP(regs) + 16;
	scratch->span = came < UINT16_MAX ? came : UINT16_MAX;
	if (scratch->stack.end == LODE_STACK_PENDING || stale)
		return may_copy(space, LODE_UNWIND_COPIES);
	return scratch->stack.end == LODE_STACK_UNMAPPED && may_copy_stray(space);
}

#endif
