/*
 * User stacks by unwind tables, in the kernel. A part of recorder.bpf.c, included behind
 * the maps, settings and counters that it uses.
 *
 * The step from a function to its caller is process/unwind_step.h, the same code that
 * unwinds copies in the program. Here its memory is the thread's own, fetched in blocks,
 * and its rules come from the maps of unwind_maps.h. Where these do not know the code at
 * an address (a program that was just started, a library that was just opened) the walk
 * ends, and the stack is copied for the program to unwind; from that the program learns
 * what to load.
 *
 * The verifier looks at each global function once, by itself. So the walk is done in
 * pieces of WALK_FRAMES frames by one such function, and finding a rule is another.
 */
#ifndef LODE_RECORD_UNWIND_BPF_H
#define LODE_RECORD_UNWIND_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
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

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << LODE_UNWIND_CACHE_BITS);
	__type(key, uint32_t);
	__type(value, struct lode_unwind_cached);
} unwind_cache SEC(".maps");

/* What lode_find_rule returns where there is no number of a rule. */
#define RULE_MISSING (-1) /* no mapping is known there */
#define RULE_PENDING (-2) /* its table is not loaded */

#define WALK_FRAMES 32

/* ---- memory ---- */

/* Has the block hold what lies at `address`; 0 when that cannot be read. */
__noinline int lode_fetch_block(struct scratch *scratch, uint64_t address)
{
	if (!scratch)
		return 0;
	scratch->block_start = address;
	scratch->block_size = read_block(scratch, address, scratch->span_end - address);
	return scratch->block_size != 0;
}

static __always_inline int read_user_word(struct scratch *scratch, uint64_t address, uint64_t *word)
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

#define LODE_UNWIND_READ(context, address, word) read_user_word(context, address, &(word))
#include "process/unwind_step.h"

/* ---- rules ---- */

/* The mapping of the scratch's space at an address, or NULL. */
static __always_inline struct lode_unwind_mapping *find_mapping(struct scratch *scratch, uint64_t address)
{
	uint32_t low = scratch->space.first, high = low + scratch->space.count, place;
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
	mapping = low > scratch->space.first ? bpf_map_lookup_elem(&unwind_mappings, &place) : 0;
	return mapping && mapping->space == scratch->space.id && address < mapping->end ? mapping : 0;
}

/* The chunk of table `number` that holds `key`, or NULL. */
static __always_inline struct lode_unwind_chunk *find_chunk(uint32_t number, uint32_t key)
{
	struct lode_unwind_size *size = bpf_map_lookup_elem(&unwind_sizes, &number);
	void *table = bpf_map_lookup_elem(&unwind_tables, &number);
	uint32_t low = 0, high = size ? size->chunks : 0, place;
	struct lode_unwind_chunk *chunk;

	if (!table)
		return 0;
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

static __always_inline uint32_t cache_place(const struct scratch *scratch, uint64_t address)
{
	return (address ^ (uint64_t)scratch->space.id << 20) * MULTIPLIER >> (64 - LODE_UNWIND_CACHE_BITS);
}

static __always_inline uint64_t cache_check(const struct scratch *scratch, uint64_t word)
{
	return word * 3 ^ (uint64_t)scratch->space.id * MULTIPLIER;
}

/* The number of the rule at an address, by the tables; remembered. */
__noinline int lode_find_rule(struct scratch *scratch, uint64_t address)
{
	struct lode_unwind_mapping *mapping;
	struct lode_unwind_cached *cached;
	struct lode_unwind_chunk *chunk;
	uint64_t key;
	uint32_t at = 0, place, rule = 0;

	if (!scratch)
		return RULE_MISSING;
	mapping = find_mapping(scratch, address);
	if (!mapping)
		return RULE_MISSING;
	if (mapping->table == LODE_UNWIND_PENDING)
		return RULE_PENDING;
	key = address - mapping->bias;
	if (mapping->table != LODE_UNWIND_NO_TABLE && key < UINT32_MAX) {
		chunk = find_chunk(mapping->table, key);
		for (uint32_t step = LODE_UNWIND_CHUNK / 2; chunk && step; step /= 2)
			if (chunk->starts[(at + step) & (LODE_UNWIND_CHUNK - 1)] <= key)
				at += step;
		if (chunk)
			rule = chunk->rules[at & (LODE_UNWIND_CHUNK - 1)];
	}
	place = cache_place(scratch, address);
	cached = bpf_map_lookup_elem(&unwind_cache, &place);
	if (cached) {
		uint64_t word = address << 16 | rule;

		cached->word = word;
		cached->check = cache_check(scratch, word);
	}
	return (int)rule;
}

static __always_inline int rule_number(struct scratch *scratch, uint64_t address)
{
	uint32_t place = cache_place(scratch, address);
	struct lode_unwind_cached *cached = bpf_map_lookup_elem(&unwind_cache, &place);
	uint64_t word = cached ? cached->word : 0;

	if (cached && word >> 16 == (address & (UINT64_MAX >> 16)) && cached->check == cache_check(scratch, word))
		return (int)(word & 0xffff);
	return lode_find_rule(scratch, address);
}

/* ---- walking ---- */

/*
 * Walks on by WALK_FRAMES frames at most, from the state in the scratch. Returns 0 when
 * there are more; else the walk is over, and scratch->stack.end says how.
 */
__noinline int lode_walk_tables(struct scratch *scratch)
{
	struct lode_unwind_state state;
	uint64_t hash, sum;
	uint32_t count;
	int result = LODE_UNWIND_CALLER;

	if (!scratch)
		return 1;
	state = scratch->state;
	hash = scratch->hash;
	sum = scratch->sum;
	count = scratch->stack.count;
	for (uint32_t i = 0; i < WALK_FRAMES; i++) {
		struct lode_unwind_rule *rule;
		uint32_t number;
		uint64_t address = lode_unwind_address(&state);
		int found = rule_number(scratch, address);

		if (found < 0) {
			/* A return address where nothing is mapped may be none: it is not kept. */
			if (count > 1 && found == RULE_MISSING)
				count--;
			scratch->stack.end = found == RULE_PENDING ? LODE_STACK_PENDING : LODE_STACK_UNMAPPED;
			result = LODE_UNWIND_LOST;
			break;
		}
		number = (uint32_t)found;
		rule = bpf_map_lookup_elem(&unwind_rules, &number);
		if (!rule) {
			result = LODE_UNWIND_LOST;
			break;
		}
		if (!rule->cfa && rule->return_at != LODE_PLACE_NONE) {
			scratch->stack.guessed = 1;
			if (HAS_LINK && state.has_link && count == 1) {
				/* The leaf has no table: the link register may hold its caller. */
				scratch->stack.has_link = 1;
				scratch->stack.addresses[1] = state.link;
				hash = hash * MULTIPLIER + state.link;
				count = 2;
			}
		}
		result = lode_unwind_step(&state, rule, scratch);
		if (result != LODE_UNWIND_CALLER) {
			scratch->stack.end = result == LODE_UNWIND_ROOT ? LODE_STACK_WHOLE : LODE_STACK_BROKEN;
			break;
		}
		/* All but the leaf are taken for return addresses. */
		address = state.pc + state.is_exact;
		scratch->stack.addresses[count & LODE_RECORD_FRAMES] = address;
		count++;
		hash = hash * MULTIPLIER + address;
		sum = sum * 3 + address;
	}
	scratch->state = state;
	scratch->hash = hash;
	scratch->sum = sum;
	scratch->stack.count = count;
	return result != LODE_UNWIND_CALLER;
}

/* What is known of a process; an entry that says nothing where that is nothing. */
static __always_inline struct lode_unwind_space *find_space(uint32_t pid)
{
	struct lode_unwind_space *space = bpf_map_lookup_elem(&unwind_spaces, &pid), none = {};

	if (space)
		return space;
	bpf_map_update_elem(&unwind_spaces, &pid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&unwind_spaces, &pid);
}

static __always_inline bool may_copy(struct lode_unwind_space *space)
{
	if (space->copies >= LODE_UNWIND_COPIES)
		return false;
	space->copies++;
	return true;
}

/* The user's stack of the current thread. Returns whether copying it would tell more. */
static __always_inline bool walk_by_tables(struct scratch *scratch, struct task_struct *task, struct pt_regs *regs,
					   uint16_t *span)
{
	struct lode_unwind_space *space = find_space(task->tgid);

	begin_stack(scratch, true, false);
	scratch->stack.addresses[0] = REGS_PC(regs);
	scratch->hash = scratch->stack.addresses[0];
	scratch->stack.count = 1;
	scratch->stack.end = LODE_STACK_UNMAPPED;
	if (!space)
		return false;
	if (!space->id)
		return may_copy(space);
	scratch->space = *space;
	scratch->state = (struct lode_unwind_state){
		.pc = REGS_PC(regs),
		.sp = REGS_SP(regs),
		.fp = REGS_FP(regs),
		.link = REGS_LINK(regs),
		.scratch = REGS_SCRATCH(regs),
		.has_link = HAS_LINK,
		.is_first = 1,
		.is_exact = 1,
		.signed_returns = HAS_LINK,
	};
	scratch->block_size = 0;
	scratch->span_end = scratch->state.sp + (span ? *span : 512);
	scratch->stack.end = LODE_STACK_DEEP;
	for (uint32_t i = 0; i < LODE_RECORD_FRAMES / WALK_FRAMES; i++)
		if (lode_walk_tables(scratch))
			break;
	if (span) {
		uint64_t came = scratch->state.sp - REGS_SP(regs) + 16;

		*span = came < UINT16_MAX ? came : UINT16_MAX;
	}
	return (scratch->stack.end == LODE_STACK_PENDING || scratch->stack.end == LODE_STACK_UNMAPPED) &&
	       may_copy(space);
}

#endif
