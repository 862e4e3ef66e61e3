/*
 * The page that a thread waits for. No saved register has the address that it touched, but the kernel describes a fault
 * in a struct vm_fault, which lies in the frame of one of the first functions on its stack, just below the user's
 * registers. So that part of the stack is searched for what can only be one: the address of a mapping of this very
 * process that contains the page, the page, and the touched address in it.
 *
 * It may be left from an earlier fault, if the thread blocks on its way into the next one or out of the kernel. User
 * space drops it where the functions on the stack handle no fault (object_names.c).
 */
#ifndef LODE_RECORD_BPF_PAGE_FAULTS_BPF_H
#define LODE_RECORD_BPF_PAGE_FAULTS_BPF_H

#include "record/bpf/kernel_stack.bpf.h"

/* Of the stack that is searched, below the registers. Frames of these functions take a third of it. */
#define FAULT_WORDS 192
/* Most words of a struct vm_fault that are looked at. */
#define FAULT_SPAN 8
#define MAX_PAGE   65536
#define MIN_PAGE   4096
/* What looks like a struct vm_fault and is looked at. */
#define MAX_FAULTS 2

/* Where a struct vm_fault has its fields, in words; 0: it has no such field. */
#define FAULT_PAGE    (bpf_core_field_offset(struct vm_fault, address) / 8)
#define FAULT_TOUCHED (bpf_core_field_offset(struct vm_fault, real_address) / 8)

static __always_inline uint32_t device_of(uint64_t inode)
{
	uint64_t file_system = (uint64_t)FIELD(inode, inode, i_sb);

	return FIELD(super_block, file_system, s_dev);
}

static __always_inline uint64_t stack_word(const struct scratch *scratch, uint32_t i)
{
	uint64_t at = i;

	/* The verifier must see the bound, even where the compiler knows it. */
	asm volatile("" : "+r"(at));
	return *(const uint64_t *)&scratch->block[(at & 255) * 8];
}

/* Notes the mapping `vma` as the object; false: it is none of the process whose memory is `mm`, or not where the page is. */
static __always_inline bool note_mapping(struct lode_record_object *object, uint64_t vma, uint64_t page,
					 uint64_t mm)
{
	uint64_t file, inode;

	if ((uint64_t)FIELD(vm_area_struct, vma, vm_mm) != mm || FIELD(vm_area_struct, vma, vm_start) > page ||
	    FIELD(vm_area_struct, vma, vm_end) <= page)
		return false;
	object->kind = LODE_WAITED_PAGE;
	object->argument = page;
	file = (uint64_t)FIELD(vm_area_struct, vma, vm_file);
	if (!file)
		return true;
	inode = (uint64_t)FIELD(file, file, f_inode);
	object->detail = FIELD(inode, inode, i_ino);
	object->peer[2] = device_of(inode);
	object->family = 1;
	return true;
}

/* What contradicts that a struct vm_fault begins at the word `at`. One number, so that the verifier has few ways to follow. */
static __always_inline uint64_t contradictions(const struct scratch *scratch, uint32_t at)
{
	uint64_t vma = stack_word(scratch, at), page = stack_word(scratch, at + FAULT_PAGE),
		 touched = stack_word(scratch, at + FAULT_TOUCHED);

	return ~vma >> 48 | (page - 1) >> 48 | page % MIN_PAGE | (touched - page) / MAX_PAGE;
}

#ifdef LODE_PLAIN_READS /* bpf_loop is of Linux 5.17 */

/* Where the next struct vm_fault may be, below the word `from` of the part of the stack in the scratch; 0: nowhere. */
__noinline int lode_find_fault(struct scratch *scratch, uint32_t from)
{
	uint32_t i;

	if (!scratch)
		return 0;
	for (i = FAULT_WORDS - FAULT_SPAN - 1; i > 0; i--)
		if (!(contradictions(scratch, i) | (from - 1 - i) >> 31))
			break;
	return forget(scratch, i);
}

#else

struct fault_search {
	struct scratch *scratch;
	uint32_t at; /* below which word it goes on; then where it stopped, 0: nowhere */
};

/* Called for one word after the other: by the kernel, so that the verifier looks at one of them alone. */
static long visit_word(uint32_t i, struct fault_search *search)
{
	search->at = (search->at - 1) & 255;
	return !search->at || !contradictions(search->scratch, search->at);
}

__noinline int lode_find_fault(struct scratch *scratch, uint32_t from)
{
	struct fault_search search;

	if (!scratch || !from)
		return 0;
	search = (struct fault_search){ scratch, from };
	bpf_loop(FAULT_WORDS, visit_word, &search, 0);
	return search.at & 255;
}

#endif

/* The page that `task` waits for, which entered the kernel with `regs`. */
static __always_inline void describe_page(struct task_struct *task, struct pt_regs *regs, struct scratch *scratch,
					  struct lode_record_object *object)
{
	uint32_t at = FAULT_WORDS - FAULT_SPAN;

	if (!scratch || !bpf_core_field_exists(((struct vm_fault *)0)->real_address) ||
	    FAULT_TOUCHED >= FAULT_SPAN ||
	    bpf_probe_read_kernel(scratch->block, FAULT_WORDS * 8, (char *)regs - FAULT_WORDS * 8))
		return;
	for (uint32_t i = 0; i < MAX_FAULTS; i++) {
		at = lode_find_fault(scratch, at);
		if (!at || note_mapping(object, stack_word(scratch, at), stack_word(scratch, at + FAULT_PAGE),
					(uint64_t)task->mm))
			return;
	}
}

#endif
