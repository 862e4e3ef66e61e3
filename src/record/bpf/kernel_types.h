/*
 * The few types of the kernel that the recorder's BPF programs look into, each
 * with only the fields that are used. Their offsets in the running kernel are
 * found when the programs are loaded (BPF CO-RE), so none of the kernel's own
 * headers, and no dump of its types, is needed to build.
 */
#ifndef LODE_RECORD_BPF_KERNEL_TYPES_H
#define LODE_RECORD_BPF_KERNEL_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/* What bpf_helpers.h expects to be there. */
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int8_t __s8;
typedef int16_t __s16;
typedef int32_t __s32;
typedef int64_t __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

/* Numbers of the kernel's interface. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1 << 0,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_F_INNER_MAP = 1 << 12,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1 << 0,
	BPF_RB_NO_WAKEUP = 1 << 0,
	BPF_RB_FORCE_WAKEUP = 1 << 1,
	BPF_RB_AVAIL_DATA = 0,
};

#define TASK_DEAD  0x80u
#define PF_KTHREAD 0x00200000u
#define PROT_WRITE 0x2u
#define PROT_EXEC  0x4u

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rw_semaphore {
	char unused; /* only where it is matters */
};

struct mm_struct {
	struct rw_semaphore mmap_lock;
	unsigned long exec_vm; /* pages of code that is not to be written to */
};

typedef struct {
	int counter;
} atomic_t;

struct super_block {
	uint32_t s_dev;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct in6_addr {
	uint32_t words[4]; /* the kernel calls them otherwise */
};

struct sock_common {
	uint32_t skc_daddr;
	uint32_t skc_rcv_saddr;
	uint16_t skc_dport; /* in the order of the network */
	uint16_t skc_num;   /* its own port */
	unsigned short skc_family;
	unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
};

struct sock {
	struct sock_common __sk_common;
};

struct socket {
	short type;
	struct sock *sk;
};

struct file_operations {
	void *poll;
};

struct file {
	struct inode *f_inode;
	struct file_operations *f_op;
	void *private_data;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	struct file *vm_file; /* NULL: none, it is anonymous memory */
};

/* A page fault that is being handled. */
struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long address;      /* of the page, */
	unsigned long real_address; /* and what was touched */
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct signal_struct {
	atomic_t live;
};

struct rq;

struct cfs_rq {
	struct rq *rq; /* of the CPU */
};

struct sched_entity {
	uint64_t sum_exec_runtime;
	uint64_t prev_sum_exec_runtime; /* when it got its processor last */
	struct cfs_rq *cfs_rq;          /* with groups of threads (CONFIG_FAIR_GROUP_SCHED), as nearly all have */
};

/* Only where the kernel was built to count this, as nearly all are. */
struct sched_info {
	unsigned long pcount; /* how often it got a processor */
	unsigned long long run_delay;
	unsigned long long last_arrival; /* when it got one last, by the scheduler's clock, */
	unsigned long long last_queued;  /* and since when it is in a run queue; 0: it is not */
};

#if defined(__TARGET_ARCH_arm64)
struct thread_info {
	uint64_t preempt_count;
};

struct cpu_context {
	unsigned long fp;
};

struct thread_struct {
	struct cpu_context cpu_context; /* of a thread that does not run */
	struct {
		unsigned long tp_value; /* as it was when the thread stopped running last */
	} uw;
};
#elif defined(__TARGET_ARCH_x86)
struct thread_struct {
	unsigned long fsbase; /* the same */
};
#endif

struct upid {
	int nr;
};

/* A thread has a number in each PID namespace that it is in; `level` is that of the innermost one. */
struct pid {
	unsigned int level;
	struct upid numbers[];
};

struct task_struct {
#if defined(__TARGET_ARCH_arm64)
	struct thread_info thread_info;
#endif
	unsigned int __state;
	unsigned int on_cpu; /* unsigned, so that it may have another size: one byte in Linux 7 */
	int prio;
	unsigned int flags;
	int pid;
	int tgid;
	char comm[16];
	unsigned in_iowait : 1;
	struct sched_entity se;
	struct sched_info sched_info;
	unsigned long nvcsw;
	unsigned long nivcsw;
	uint64_t start_time; /* CLOCK_MONOTONIC */
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct files_struct *files;
	struct signal_struct *signal;
	struct thread_struct thread;
};

struct vm_unmapped_area_info {
	unsigned long length;
};

struct bpf_iter__task {
	struct task_struct *task;
};

#if defined(__TARGET_ARCH_arm64)

/* A frame record; where an exception was taken it is zero and a meta record. */
struct frame_record {
	uint64_t fp;
	uint64_t lr;
};

struct frame_record_meta {
	struct frame_record record;
	uint64_t type;
};

#define FRAME_META_PT_REGS 2

struct pt_regs {
	uint64_t regs[31];
	uint64_t sp;
	uint64_t pc;
	uint64_t orig_x0; /* first argument of the system call */
	int32_t syscallno;
	uint64_t pstate;
	struct frame_record_meta stackframe;
};

#elif defined(__TARGET_ARCH_x86)

struct pt_regs {
	unsigned long r13;
	unsigned long bp;
	unsigned long bx;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx; /* third argument of the system call */
	unsigned long si;
	unsigned long di; /* first argument of the system call */
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
};

#endif

#pragma clang attribute pop

/*
 * What the programs ask of registers. REGS_LINK: where a return address may be that is not in
 * memory; on x86-64 that is so in vfork() only. REGS_CALL: the system call in progress, below 0: none.
 * REGS_COMPAT: whether the thread runs 32-bit code, which has other registers, frames and numbers of calls.
 * REGS_HOTSPOT_…: what HotSpot has in registers where a call begins (hotspot_step.h), which versions do in different ones;
 * REGS_HOTSPOT_CODE: where its interpreter has the address of the bytecode that it is at.
 */
#if defined(__TARGET_ARCH_arm64)
#define REGS_PC(regs)              ((regs)->pc)
#define REGS_SP(regs)              ((regs)->sp)
#define REGS_FP(regs)              ((regs)->regs[29])
#define REGS_LINK(regs)            ((regs)->regs[30])
#define REGS_SCRATCH(regs)         0
#define REGS_HOTSPOT_METHOD(regs)  ((regs)->regs[12])
#define REGS_HOTSPOT_RETURN(regs)  0
#define REGS_HOTSPOT_SENDER(regs)  ((regs)->regs[13])
#define REGS_HOTSPOT_SENDER2(regs) ((regs)->regs[19])
#define REGS_HOTSPOT_CODE(regs)    ((regs)->regs[22])
#define REGS_CALL(regs)            ((regs)->syscallno)
#define REGS_ARGUMENT(regs)        ((regs)->orig_x0)
#define REGS_SECOND(regs)          ((regs)->regs[1])
#define REGS_THIRD(regs)           ((regs)->regs[2])
/* Arguments of functions at their entry: those in registers, and where the others are, from the stack pointer. */
#define REGS_ARGUMENTS          8
#define REGS_ARGUMENT_OFFSET(i) (bpf_core_field_offset(struct pt_regs, regs) + 8 * (i))
#define STACK_ARGUMENT(i)       (8 * (i))
#define REGS_COMPAT(regs)       (((regs)->pstate & 0x10) != 0)
/* Where thread-local storage is, and, from there, the table of its dynamic parts (glibc). */
#define THREAD_POINTER(task) ((task)->thread.uw.tp_value)
#define THREAD_TABLE_OFFSET  0
#define CALL_MMAP            222
#define CALL_EXECVE          221
#define CALL_EXECVEAT        281
#define CALL_FUTEX           98
#define CALL_POLL            -1 /* there is none */
#define CALL_PPOLL           73
#define CALL_WAITID          95
#else
#define REGS_PC(regs)              ((regs)->ip)
#define REGS_SP(regs)              ((regs)->sp)
#define REGS_FP(regs)              ((regs)->bp)
#define REGS_LINK(regs)            ((regs)->di)
#define REGS_SCRATCH(regs)         ((regs)->r10)
#define REGS_HOTSPOT_METHOD(regs)  ((regs)->bx)
#define REGS_HOTSPOT_RETURN(regs)  ((regs)->ax)
#define REGS_HOTSPOT_SENDER(regs)  ((regs)->r13)
#define REGS_HOTSPOT_SENDER2(regs) 0
#define REGS_HOTSPOT_CODE(regs)    ((regs)->r13)
#define REGS_CALL(regs)            ((int32_t)(regs)->orig_ax)
#define REGS_ARGUMENT(regs)        ((regs)->di)
#define REGS_SECOND(regs)          ((regs)->si)
#define REGS_THIRD(regs)           ((regs)->dx)
#define REGS_ARGUMENTS             6
#define REGS_ARGUMENT_OFFSET(i)                                                                                   \
	((i) == 0   ? bpf_core_field_offset(struct pt_regs, di)                                                   \
	 : (i) == 1 ? bpf_core_field_offset(struct pt_regs, si)                                                   \
	 : (i) == 2 ? bpf_core_field_offset(struct pt_regs, dx)                                                   \
	 : (i) == 3 ? bpf_core_field_offset(struct pt_regs, cx)                                                   \
	 : (i) == 4 ? bpf_core_field_offset(struct pt_regs, r8)                                                   \
		    : bpf_core_field_offset(struct pt_regs, r9))
#define STACK_ARGUMENT(i)    (8 * ((i) + 1)) /* above the return address */
#define REGS_COMPAT(regs)    (((regs)->cs & 0xffff) == 0x23)
#define THREAD_POINTER(task) ((task)->thread.fsbase)
#define THREAD_TABLE_OFFSET  8
#define CALL_MMAP            9
#define CALL_EXECVE          59
#define CALL_EXECVEAT        322
#define CALL_FUTEX           202
#define CALL_POLL            7
#define CALL_PPOLL           271
#define CALL_WAITID          247
#endif

#endif
