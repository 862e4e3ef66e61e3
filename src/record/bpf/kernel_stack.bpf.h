/* The kernel's stack of a thread, walked here or by the kernel's own way; the first comment of recorder.bpf.c explains both. */
#ifndef LODE_RECORD_BPF_KERNEL_STACK_BPF_H
#define LODE_RECORD_BPF_KERNEL_STACK_BPF_H

#include "record/bpf/stacks.bpf.h"

#define WRONG_WALKS_LIMIT  16
#define CALIBRATIONS_LIMIT 64

/* Of the switch and of the waking program, and of that for limits. */
struct lode_record_walking walkings[3];

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

/* A field of a struct of the kernel at an address that is only a number for the verifier. */
#ifdef LODE_PLAIN_READS
#define FIELD(type, address, field) BPF_CORE_READ((struct type *)(address), field)
#else
#define FIELD(type, address, field) (CAST(type, address)->field)
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
#include "record/bpf/kernel_stack_x86.bpf.h"
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
