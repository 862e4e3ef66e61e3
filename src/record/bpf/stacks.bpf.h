/*
 * Stacks, in the kernel: naming and sending them, and the user's stack by frame pointers or copied. The first comment
 * of recorder.bpf.c explains the ideas.
 */
#ifndef LODE_RECORD_BPF_STACKS_BPF_H
#define LODE_RECORD_BPF_STACKS_BPF_H

#include "record/bpf/output.bpf.h"
#include "record/bpf/scratch.bpf.h"

/* ---- ids ---- */

/* Ids that were sent. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, uint64_t);
	__type(value, struct lode_record_sent);
} sent SEC(".maps");

/*
 * Stacks that a CPU met lately and that were sent, at the place that the upper
 * bits of their hashes say. Only those whose id is their hash. A writer that is
 * interrupted by another leaves a pair of two stacks, which fits neither.
 */
#define KNOWN_BITS 12

struct known {
	uint64_t hash;
	uint64_t check; /* with the epoch added: what was sent in another one does not count */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1 << KNOWN_BITS);
	__type(key, uint32_t);
	__type(value, struct known);
} known_stacks SEC(".maps");

/*
 * The functions that loop are global: the verifier then looks at each once, by
 * itself, instead of at every way through all of them. They are given a scratch
 * with the addresses so far and leave the stack and its sums there.
 */

#define MULTIPLIER 0x9e3779b97f4a7c15ull

static __always_inline void begin_stack(struct scratch *scratch, bool user, bool sampled)
{
	scratch->hash = user;
	scratch->sum = 0;
	scratch->stack.count = 0;
	scratch->stack.user = user;
	scratch->stack.has_link = 0;
	scratch->stack.sampled = sampled;
	scratch->stack.end = LODE_STACK_UNKNOWN;
	scratch->stack.guessed = 0;
	scratch->stack.languages = 0;
	scratch->stack.pid = 0;
}

/* Words of languages that were seen lately, with their processes, at the places that their hashes say. */
uint64_t names_seen[1 << LODE_RECORD_NAMES_BITS];
/* When the reader was last woken to read names: what they are read from may be gone soon. */
uint64_t names_woken = 0;
#define NAMES_NS 1000000

/* Notes whether the name of a word, which the stack of the process is about to get, is likely to be known. */
static __always_inline void note_name(struct scratch *scratch, uint64_t word)
{
	uint64_t key = lode_record_name_key(word, scratch->stack.pid);
	uint64_t *seen = &names_seen[lode_record_name_place(key)];

	if (*seen == key)
		return;
	*seen = key;
	scratch->stack.languages |= LODE_STACK_NEW_WORDS;
}

static __always_inline uint64_t wake_for_names(const struct scratch *scratch)
{
	uint64_t now = scratch->stack.languages & LODE_STACK_NEW_WORDS ? bpf_ktime_get_ns() : 0;

	if (!now || now - names_woken < NAMES_NS)
		return BPF_RB_NO_WAKEUP;
	names_woken = now;
	return BPF_RB_FORCE_WAKEUP;
}

static __noinline int send_stack(struct scratch *scratch, uint64_t id)
{
	uint64_t count = scratch->stack.count;
	uint64_t size = __builtin_offsetof(struct lode_record_stack, addresses) + count * sizeof(uint64_t);

	if (count > LODE_RECORD_FRAMES)
		return -1;
	scratch->stack.id = id;
	if (bpf_ringbuf_output(&stacks, &scratch->stack, size, wake_for_names(scratch))) {
		COUNT(lost_stacks);
		return -1;
	}
	return 0;
}

static __always_inline struct known *known_place(const struct scratch *scratch)
{
	/* The hash of a single address is the address. */
	uint32_t place = scratch->hash * MULTIPLIER >> (64 - KNOWN_BITS);

	return bpf_map_lookup_elem(&known_stacks, &place);
}

/* The id of the stack in the scratch, which is sent if it was not before. */
__noinline uint64_t lode_intern(struct scratch *scratch)
{
	struct lode_record_sent now, *before;
	struct known *known;
	uint64_t id;

	if (!scratch)
		return 0;
	id = scratch->hash;
	now.check = scratch->sum;
	now.epoch = epoch;
	before = bpf_map_lookup_elem(&sent, &id);
	if (before && before->check != now.check) {
		id = (id * MULTIPLIER + now.check) & ~1ull;
		before = bpf_map_lookup_elem(&sent, &id);
	}
	if (!before || before->epoch != now.epoch) {
		if (send_stack(scratch, id))
			return id;
		bpf_map_update_elem(&sent, &id, &now, BPF_ANY);
	}
	known = known_place(scratch);
	if (known && id == scratch->hash) {
		known->hash = id;
		known->check = now.check + now.epoch;
	}
	return id;
}

/* Whether this CPU knows that a stack with the hash and sum of the scratch was sent. */
static __always_inline bool is_known(const struct scratch *scratch)
{
	const struct known *known = known_place(scratch);

	return known && known->hash == scratch->hash && known->check == scratch->sum + epoch;
}

/* The id of the stack in the scratch. Ids of stacks are even, those of copies odd. */
static __always_inline uint64_t identify(struct scratch *scratch)
{
	scratch->hash &= ~1ull;
	if (!scratch->stack.count)
		return 0;
	return is_known(scratch) ? scratch->hash : lode_intern(scratch);
}

/* ---- the user's stack ---- */

#if defined(__TARGET_ARCH_arm64)
#define HAS_LINK 1
#else
#define HAS_LINK 0
#endif

/* The number as one that the verifier knows nothing of: it then follows one way on, not one for each value. */
static __always_inline uint64_t forget(struct scratch *scratch, uint64_t number)
{
	*(volatile uint64_t *)&scratch->number = number;
	return *(volatile uint64_t *)&scratch->number;
}

/*
 * Reads the next piece of the user's stack, from `from` on: `span` bytes, or, at the
 * end of the memory there, what the last page has. Returns how many.
 */
static __always_inline uint64_t read_block(struct scratch *scratch, uint64_t from, uint64_t span)
{
	if ((int64_t)span < MIN_SPAN)
		span = MIN_SPAN;
	if (span > BLOCK_BYTES - 8)
		span = BLOCK_BYTES - 8;
	span = forget(scratch, span) & (BLOCK_BYTES - 1);
	if (!bpf_probe_read_user(scratch->block, span, (void *)from))
		return span;
	if (4096 - (from & 4095) >= span)
		return 0;
	span = forget(scratch, 4096 - (from & 4095)) & (BLOCK_BYTES - 1);
	return bpf_probe_read_user(scratch->block, span, (void *)from) ? 0 : span;
}

/* Frame records that lode_walk_records follows at a time, and how often lode_walk_blocks calls it. */
#define RECORDS_AT_A_TIME 16
#define BLOCKS_AT_A_TIME  16

/* Whether the block holds the frame record at `fp`; if not, it is fetched. */
static __always_inline bool has_record(struct scratch *scratch, uint64_t fp)
{
	if (scratch->block_size >= 16 && fp - scratch->block_start <= scratch->block_size - 16)
		return true;
	if (fp & 7 || !fp)
		return false;
	scratch->block_start = fp;
	scratch->block_size = read_block(scratch, fp, scratch->span_end - fp);
	return scratch->block_size >= 16;
}

/*
 * Walks on from the frame record at state.fp, through the block: each holds the next one's
 * address, which is higher, and a return address. Returns whether there may be more.
 */
__noinline int lode_walk_records(struct scratch *scratch)
{
	uint64_t fp, start, last, hash, sum, is_over = 0;
	uint32_t count;

	if (!scratch)
		return 0;
	fp = scratch->state.fp;
	if (!has_record(scratch, fp))
		return 0;
	start = scratch->block_start;
	last = scratch->block_size - 16;
	hash = scratch->hash;
	sum = scratch->sum;
	count = scratch->stack.count;
	for (uint32_t i = 0; i < RECORDS_AT_A_TIME; i++) {
		uint64_t at = fp - start, next, address;

		if (at > last)
			break;
		/* The compiler may not reason about it, for the verifier must see the bound. */
		asm volatile("" : "+r"(at));
		at &= BLOCK_BYTES - 8;
		next = *(uint64_t *)(scratch->block + at);
		address = *(uint64_t *)(scratch->block + at + 8);
		is_over = !address || count >= LODE_RECORD_FRAMES;
		if (is_over)
			break;
		at = count++;
		asm volatile("" : "+r"(at));
		scratch->stack.addresses[at & LODE_RECORD_FRAMES] = address;
		hash = hash * MULTIPLIER + address;
		sum = sum * 3 + address;
		is_over = (int64_t)(next - fp) <= 0;
		if (is_over)
			break;
		fp = next;
	}
	scratch->state.fp = fp;
	scratch->hash = hash;
	scratch->sum = sum;
	scratch->stack.count = count;
	return !is_over;
}

/* The same, some blocks of memory on. */
__noinline int lode_walk_blocks(struct scratch *scratch)
{
	for (uint32_t i = 0; i < BLOCKS_AT_A_TIME; i++)
		if (!lode_walk_records(scratch))
			return 0;
	return 1;
}

/* Walks by frame records from `fp` on. `span`: how many bytes it is expected to come. Returns how many it came. */
__noinline int lode_walk_user(struct scratch *scratch, uint64_t fp, uint32_t span)
{
	if (!scratch)
		return 0;
	scratch->state.fp = fp;
	scratch->span_end = fp + span;
	scratch->block_size = 0;
	scratch->stack.count = 1 + HAS_LINK;
	for (uint32_t i = 0; i < LODE_RECORD_FRAMES / BLOCKS_AT_A_TIME + 1; i++)
		if (!lode_walk_blocks(scratch))
			break;
	scratch->stack.end = scratch->stack.count == LODE_RECORD_FRAMES ? LODE_STACK_DEEP : LODE_STACK_UNKNOWN;
	return (int)(scratch->state.fp - fp + 16);
}

/* ---- copies of the user's stack ---- */

/*
 * Page by page, because memory behind the stack cannot be read, nor what no function
 * has touched yet of a large frame. Returns the id of the copy that was sent, 0 when there
 * was no room.
 */
__noinline uint64_t lode_copy_user(struct lode_record_copy *copy)
{
	uint64_t from, size = 0, end = 0, flags = BPF_RB_NO_WAKEUP;
	uint64_t waiting = bpf_ringbuf_query(&stacks, BPF_RB_AVAIL_DATA);

	if (!copy)
		return 0;
	/* With tables the ring is first of all for stacks: copies may have half of it. */
	if (use_tables && waiting > stacks_half) {
		COUNT(lost_copies);
		return 0;
	}
	from = copy->sp - LODE_RECORD_RED_ZONE;
	for (uint32_t i = 0; i < LODE_RECORD_COPY_BYTES / 4096 + 1; i++) {
		uint64_t piece = 4096 - (from & 4095);

		if (piece > copy_bytes - size)
			piece = copy_bytes - size;
		if (size >= copy_bytes || size >= LODE_RECORD_COPY_BYTES || piece > 4096)
			break;
		if (!bpf_probe_read_user(copy->bytes + size, piece, (void *)from))
			end = size + piece;
		size += piece;
		from += piece;
	}
	size = end;
	if (size > LODE_RECORD_COPY_BYTES)
		return 0;
	copy->size = size;
	copy->mark = LODE_RECORD_COPY_MARK;
	copy->id = (uint64_t)(bpf_get_smp_processor_id() + 1) << 48 | (uint64_t)copy->kind << 44 |
		   ++copy->number << 1 | LODE_RECORD_COPY_ID;
	if (waiting > stacks_half || (use_tables && !copies_wait)) {
		/* With tables a copy is the exception, and shows the program what to load. */
		copies_wait = 1;
		flags = BPF_RB_FORCE_WAKEUP;
	}
	size += __builtin_offsetof(struct lode_record_copy, bytes);
	if (bpf_ringbuf_output(&stacks, copy, size, flags)) {
		COUNT(lost_copies);
		return 0;
	}
	COUNT(copies);
	return copy->id;
}

static __always_inline uint64_t copy_user_stack(struct task_struct *task, struct pt_regs *regs, uint32_t tid,
						uint32_t kind, bool is_unmapped)
{
	uint32_t number = kind == LODE_COPY_CALL     ? SCRATCH_CALL
			  : kind == LODE_COPY_SAMPLE ? SCRATCH_SAMPLE
						     : SCRATCH_SCHEDULER;
	struct lode_record_copy *copy = bpf_map_lookup_elem(&copies, &number);

	if (!copy)
		return 0;
	copy->t = bpf_ktime_get_ns();
	copy->pid = task->tgid;
	copy->tid = tid;
	copy->kind = kind;
	copy->is_unmapped = is_unmapped;
	copy->code_pages = task->mm->exec_vm;
	copy->pc = REGS_PC(regs);
	copy->sp = REGS_SP(regs);
	copy->fp = REGS_FP(regs);
	copy->link = REGS_LINK(regs);
	copy->scratch = REGS_SCRATCH(regs);
	return lode_copy_user(copy);
}

/* The user's stack of the current thread. */
static __always_inline uint64_t walk_user_stack(struct scratch *scratch, struct pt_regs *regs)
{
	uint32_t came;

	begin_stack(scratch, true, false);
	scratch->stack.has_link = HAS_LINK;
	scratch->stack.addresses[0] = REGS_PC(regs);
	scratch->hash = scratch->stack.addresses[0];
	if (HAS_LINK) {
		scratch->stack.addresses[1] = REGS_LINK(regs);
		scratch->hash = scratch->hash * MULTIPLIER + scratch->stack.addresses[1];
	}
	came = lode_walk_user(scratch, REGS_FP(regs), scratch->span);
	scratch->span = came < UINT16_MAX ? came : UINT16_MAX;
	return identify(scratch);
}

#endif
