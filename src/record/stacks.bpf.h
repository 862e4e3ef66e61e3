/*
 * Stacks, in the kernel: walking, naming and sending them. A part of
 * recorder.bpf.c, whose first comment explains the ideas; included there, behind the
 * maps, settings and counters that it uses.
 */
#ifndef LODE_RECORD_STACKS_BPF_H
#define LODE_RECORD_STACKS_BPF_H

/* ---- ids ---- */

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
}

static __noinline int send_stack(struct scratch *scratch, uint64_t id)
{
	uint64_t count = scratch->stack.count;
	uint64_t size = __builtin_offsetof(struct lode_record_stack, addresses) + count * sizeof(uint64_t);

	if (count > LODE_RECORD_FRAMES)
		return -1;
	scratch->stack.id = id;
	if (bpf_ringbuf_output(&stacks, &scratch->stack, size, BPF_RB_NO_WAKEUP)) {
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
	if ((int64_t)span < LEAST_SPAN)
		span = LEAST_SPAN;
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

/* ---- the kernel's stack ---- */

/* Frames that are walked at a time, and how often: the verifier follows every one of them. Together no more than there may be. */
#define KERNEL_FRAMES 14
#define KERNEL_TIMES  (LODE_RECORD_KERNEL_FRAMES / KERNEL_FRAMES)

/* The kernel's own way to its stack: into `check`; returns how many addresses. */
static __always_inline uint32_t ask_kernel_stack(void *context, struct scratch *scratch)
{
	long size = bpf_get_stack(context, scratch->check, LODE_RECORD_KERNEL_FRAMES * sizeof(uint64_t), 0);

	return size > 0 ? (uint32_t)size >> 3 : 0;
}

/* Adds some of the `count` addresses in `check` to the stack. Returns whether there are more. */
__noinline int lode_take_some_asked(struct scratch *scratch, uint32_t count)
{
	uint64_t hash, sum;
	uint32_t taken, i;

	if (!scratch)
		return 0;
	hash = scratch->hash;
	sum = scratch->sum;
	taken = scratch->stack.count;
	for (i = 0; i < KERNEL_FRAMES && taken + i < count; i++) {
		uint32_t at = taken + i;
		uint64_t address;

		asm volatile("" : "+r"(at));
		at &= LODE_RECORD_KERNEL_FRAMES;
		address = scratch->check[at];
		scratch->stack.addresses[at] = address;
		hash = hash * MULTIPLIER + address;
		sum = sum * 3 + address;
	}
	scratch->hash = hash;
	scratch->sum = sum;
	scratch->stack.count = taken + i;
	return taken + i < count;
}

/* The `count` addresses in `check` become the stack. */
__noinline int lode_take_asked(struct scratch *scratch, uint32_t count)
{
	if (!scratch)
		return 0;
	scratch->hash = 2;
	scratch->sum = 0;
	scratch->stack.count = 0;
	for (uint32_t i = 0; i <= KERNEL_TIMES; i++)
		if (!lode_take_some_asked(scratch, count))
			break;
	scratch->stack.end = count >= LODE_RECORD_KERNEL_FRAMES ? LODE_STACK_DEEP : LODE_STACK_WHOLE;
	return 0;
}

/*
 * Reading the kernel's memory as if it were a struct takes bpf_rdonly_cast, of Linux 6.2.
 * LODE_PLAIN_READS: without it (plain_programs.h).
 */
#ifndef LODE_PLAIN_READS
extern void *bpf_rdonly_cast(const void *object, uint32_t type) __ksym;

#define CAST(type, address)                                                                                       \
	((struct type *)bpf_rdonly_cast((void *)(address), bpf_core_type_id_kernel(struct type)))
#endif

/*
 * Whether the walk in the scratch is not what the kernel's own way gave, which
 * begins some frames deeper, in the program itself.
 */
__noinline int lode_differs(struct scratch *scratch, uint32_t count)
{
	uint64_t hash = 2;
	uint32_t first = 0;

	if (!scratch || count >= LODE_RECORD_KERNEL_FRAMES - 16)
		return 0;
	COUNT(checked_walks);
	while (first < 8 && scratch->check[first] != scratch->stack.addresses[0])
		first++;
	first = forget(scratch, first) & 15;
	for (uint32_t i = 0; i < LODE_RECORD_KERNEL_FRAMES - 16; i++) {
		if (first + i >= count)
			break;
		hash = hash * MULTIPLIER + scratch->check[first + i];
	}
	return hash != scratch->hash;
}

#if defined(__TARGET_ARCH_arm64) && defined(LODE_PLAIN_READS)

/* The kernel's own way is by frame records too: it may be asked. */
static __always_inline bool walk(void *context, struct scratch *scratch, struct lode_record_walking *walking)
{
	return false;
}

#elif defined(__TARGET_ARCH_arm64)

/* Return addresses may be signed in their upper bits; all of the kernel's code has them set. */
#define KERNEL_BITS 0xffff000000000000ull

/* Steps over a record; false at the last one. Where an exception was taken, goes on with its registers. */
static __always_inline bool next_record(uint64_t *fp, uint64_t *address)
{
	struct frame_record *record = CAST(frame_record, *fp);
	uint64_t next = record->fp;

	*address = record->lr;
	if (!*address) {
		struct pt_regs *regs;

		if (next || !bpf_core_type_exists(struct frame_record_meta))
			return false;
		if (CAST(frame_record_meta, *fp)->type != FRAME_META_PT_REGS)
			return false;
		regs = CAST(pt_regs, *fp - bpf_core_field_offset(struct pt_regs, stackframe));
		*address = regs->pc;
		next = regs->regs[29];
	}
	*address |= KERNEL_BITS;
	*fp = next;
	return true;
}

/* Walks some frames on, from the record at scratch->at. Returns whether there may be more. */
__noinline int lode_walk_kernel_on(struct scratch *scratch)
{
	uint64_t fp, hash, sum, address;
	uint32_t count, i;

	if (!scratch)
		return 0;
	fp = scratch->at;
	hash = scratch->hash;
	sum = scratch->sum;
	count = scratch->stack.count;
	for (i = 0; i < KERNEL_FRAMES; i++) {
		if (!next_record(&fp, &address))
			break;
		scratch->stack.addresses[(count + i) & LODE_RECORD_KERNEL_FRAMES] = address;
		hash = hash * MULTIPLIER + address;
		sum = sum * 3 + address;
	}
	scratch->at = fp;
	scratch->hash = hash;
	scratch->sum = sum;
	scratch->stack.count = count + i;
	return i == KERNEL_FRAMES;
}

__noinline int lode_walk_kernel(struct scratch *scratch, uint64_t fp)
{
	if (!scratch)
		return 0;
	scratch->at = fp;
	scratch->hash = 2;
	scratch->sum = 0;
	scratch->stack.count = 0;
	scratch->stack.end = LODE_STACK_DEEP;
	for (uint32_t i = 0; i < KERNEL_TIMES; i++)
		if (!lode_walk_kernel_on(scratch)) {
			scratch->stack.end = LODE_STACK_WHOLE;
			break;
		}
	return 0;
}

/* Whether `address` is one of the first in the kernel's own stack, and the record at `fp` has the next one. */
__noinline int lode_is_followed(struct scratch *scratch, uint64_t address, uint64_t fp, uint32_t count)
{
	uint64_t next;

	if (!scratch)
		return 0;
	next = CAST(frame_record, fp)->lr | KERNEL_BITS;
	for (uint32_t i = 0; i < 6; i++)
		if (i + 1 < count && scratch->check[i] == address && scratch->check[i + 1] == next)
			return 1;
	return 0;
}

/*
 * Looks for the first frame record near `base`, the context, which is in the
 * frame of who calls the program: its return address and that of the record above
 * it must be two that follow each other in the kernel's own stack. Returns the
 * offset, 0 when there is none.
 */
__noinline int lode_calibrate(struct scratch *scratch, uint64_t base, uint32_t count)
{
	if (!scratch)
		return 0;
	for (int i = -16; i < 16; i++) {
		struct frame_record *record = CAST(frame_record, base + i * 8);

		if (record->fp > base && lode_is_followed(scratch, record->lr | KERNEL_BITS, record->fp, count))
			return i * 8;
	}
	return 0;
}

/* Walks if that can be done; false: ask the kernel. */
static __always_inline bool walk(void *context, struct scratch *scratch, struct lode_record_walking *walking)
{
	uint64_t base;

	if (!walk_kernel || walking->wrong > WRONG_WALKS_LIMIT || walking->tries > CALIBRATIONS_LIMIT)
		return false;
	/* A pointer to the context is no number to the verifier. */
	base = forget(scratch, (uint64_t)context);
	if (!walking->offset) {
		walking->tries++;
		walking->offset = lode_calibrate(scratch, base, ask_kernel_stack(context, scratch));
		if (!walking->offset)
			return false;
	}
	lode_walk_kernel(scratch, base + walking->offset);
	if (scratch->walks++ & (check_every - 1))
		return true;
	if (!lode_differs(scratch, ask_kernel_stack(context, scratch)))
		return true;
	COUNT(wrong_walks);
	walking->wrong++;
	return false;
}

#else
#include "record/kernel_stack_x86.bpf.h"
#endif

static __always_inline uint64_t kernel_stack(void *context, struct scratch *scratch,
					     struct lode_record_walking *walking)
{
	if (only_own)
		return 0;
	begin_stack(scratch, false, false);
	if (!walk(context, scratch, walking)) {
		COUNT(asked_stacks);
		lode_take_asked(scratch, ask_kernel_stack(context, scratch));
	}
	return identify(scratch);
}

#endif
