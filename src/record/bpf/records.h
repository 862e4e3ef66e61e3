/*
 * What the kernel side of the recorder (recorder.bpf.c) and the program share:
 * the records that pass between them, and the settings and counters.
 *
 * Two ways lead out of the kernel. *Records* of fixed size, the many, go through
 * one ring per CPU in memory that the program maps. *Stacks*, the few, because each
 * distinct one is sent once, go through a BPF ring buffer; a record names stacks
 * by their ids. A stack is always sent before the first record that names it, so
 * a reader that reads records first and stacks afterwards knows all stacks of
 * those records, except lost ones.
 */
#ifndef LODE_RECORD_BPF_RECORDS_H
#define LODE_RECORD_BPF_RECORDS_H

#include <stdint.h>

/* Frames of one stack; what is deeper is cut at the root and counted. A power of two less one. */
#define LODE_RECORD_FRAMES 511
/* Of the kernel's: more it does not give by itself (perf_event_max_stack). */
#define LODE_RECORD_KERNEL_FRAMES 127

/* Words of languages that were seen lately (names_seen): what is noted of a word of a process, and at which place. */
#define LODE_RECORD_NAMES_BITS 12

static inline uint64_t lode_record_name_key(uint64_t word, uint32_t pid)
{
	return word + pid * 0x9e3779b97f4a7c15ull;
}

static inline uint64_t lode_record_name_place(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull >> (64 - LODE_RECORD_NAMES_BITS);
}

/* How a user's stack ends, at its root. */
enum lode_stack_end {
	LODE_STACK_UNKNOWN,  /* by frame pointers: whether callers are missing is unknown */
	LODE_STACK_WHOLE,    /* where its thread began */
	LODE_STACK_DEEP,     /* at LODE_RECORD_FRAMES */
	LODE_STACK_SHORT,    /* behind the bytes that were copied */
	LODE_STACK_BROKEN,   /* in a function that no rule leads out of */
	LODE_STACK_UNMAPPED, /* at an address where no code is known, which is left out */
	LODE_STACK_PENDING,  /* in a binary whose unwind table is not loaded yet */
	LODE_STACK_COMPAT,   /* of 32-bit code: only the innermost function is kept */
	LODE_STACK_ENDS,
};

enum lode_record_type {
	LODE_RECORD_WAIT = 1, /* blocked from `t` for `cost`, then `delay` in the run queue */
	LODE_RECORD_PREEMPT,  /* from `t` for `delay` in the run queue, though it could have run */
	LODE_RECORD_RUN,      /* a CPU sample */
	LODE_RECORD_CALL,     /* system call number `value` */
	LODE_RECORD_FIRED, /* no event: from `t` for `cost` and `delay` was longer than limits, a bit of `value` each */
	LODE_RECORD_SLOT, /* from `t` for `delay` context switches were seen: `value`: slots of the cycle, 16 bits, and how many were chosen, 16 bits (time_slots.h), `flags`: even or odd one */
	/*
	 * No events: what the kernel counted of a thread since it was born: nanoseconds that it ran (`user`) and was in the
	 * run queue (`kernel`), how often it blocked (`waker_user`) and was preempted (`waker_kernel`). When the recording begins
	 * (at `t`), and when it or the thread ends (born at `t`, `cost` ago).
	 */
	LODE_RECORD_TOTALS_FIRST,
	LODE_RECORD_TOTALS_LAST,
	LODE_RECORD_TOTALS_SEEN, /* when its first switch-out is seen (at `t`): only waits from there on are recorded */
};

/* Numbers of system calls of 32-bit code, which are others, have this bit. */
#define LODE_RECORD_COMPAT_CALL (1u << 30)
/* A call that is none: the stack of a launch into a GPU (record/gpu/gpu_recording.h). */
#define LODE_RECORD_LAUNCH_CALL (1u << 29)

enum lode_record_flag {
	LODE_RECORD_WOKEN =
		1, /* a wait: what woke it is known, a thread or, with `waker_tid` 0, an interrupt; `cost` ends at the waking */
	LODE_RECORD_OPEN = 2, /* was not over when the recording ended */
	LODE_RECORD_LATE =
		4, /* chosen after it proved long: its user stack is the only one seen in this thread, system call and place, or none */
};

/* In the value of a wait: the kernel says that it is for input or output. */
#define LODE_RECORD_IOWAIT 0x80000000u

/* What a thread waits for, as far as the kernel side knows (objects.bpf.h); the system call says how to read it. */
enum lode_waited_kind {
	LODE_WAITED_NONE,  /* only the arguments are known */
	LODE_WAITED_FUTEX, /* at `argument`; `detail`: 0, or for the next ones, a thread id of its PID namespace: */
	LODE_WAITED_FUTEX_OWNER,    /* where a mutex has its owner, */
	LODE_WAITED_FUTEX_WRITER12, /* where a reader-writer lock has its writer, from the word for writers, */
	LODE_WAITED_FUTEX_WRITER16, /* or from that for readers, */
	LODE_WAITED_FUTEX_ROBUST,   /* in the word and as the owner of a mutex: a robust one, */
	LODE_WAITED_FUTEX_PI,       /* in the word, as the kernel wants it of locks with priority inheritance */
	LODE_WAITED_FILE,           /* descriptor `argument`; `detail`: inode, `family`: type of inode */
	LODE_WAITED_SOCKET, /* the same; bits 32 to 47 of `argument`: type of socket; `family`, `peer`, `port`: its peer; of the Internet bits 48 to 63: its own port, `detail`: its own IPv4 address in place of the inode */
	LODE_WAITED_LISTENER, /* the same without a peer; `port` is its own */
	LODE_WAITED_POLL,     /* `detail` descriptors, of which none is known */
	LODE_WAITED_PAGE, /* at `argument`; `family`: not 0 where a file is mapped there, with the inode `detail` */
	LODE_WAITED_KERNEL_LOCK, /* of the kernel, at `argument`; `detail`: its flags, `family`: not 0 where it is the process's mmap_lock */
};

/* Flags of locks of the kernel, as its tracepoints have them. */
#define LODE_KERNEL_LOCK_SPINS 1u
#define LODE_KERNEL_LOCK_READ  2u
#define LODE_KERNEL_LOCK_WRITE 4u
#define LODE_KERNEL_LOCK_MUTEX 32u

struct lode_record_object {
	uint64_t argument; /* first argument of the system call; of poll() for one descriptor: that */
	uint32_t detail;   /* lower half where it is an inode; of waitid() the second argument */
	uint16_t port;
	uint8_t kind; /* enum lode_waited_kind */
	uint8_t family; /* AF_…, or of a file: S_IF… >> 12, of a futex: its process is in a PID namespace of its own */
	uint32_t peer[4]; /* of a futex: its word; of a file: address of the function that polls it, lower half first, and the number of its device, as the kernel has it */
};

/* Names of a recorded thread that was ready, and of the program, or the thread of its own one, that had the processor before it (neighbours.bpf.h). */
#define LODE_RECORD_NAME 16
struct lode_record_neighbours {
	char waits[LODE_RECORD_NAME];
	char behind[LODE_RECORD_NAME];
};
#define LODE_RECORD_NEIGHBOURS 2048
/* Ready for less than this is no wait for a processor, but the time that a switch takes. */
#define LODE_RECORD_NEIGHBOUR_NS 50000

/* Stack ids are hashes; 0: no stack. Times are CLOCK_MONOTONIC. */
struct lode_record {
	uint64_t sequence; /* position in its ring plus one, written last */
	uint64_t t;
	uint64_t cost;
	uint64_t delay;
	uint64_t user;
	uint64_t kernel;
	uint64_t waker_user;
	uint64_t waker_kernel;
	uint32_t pid;
	uint32_t tid;
	uint32_t waker_pid;
	uint32_t waker_tid;
	uint32_t value; /* call: its number; wait: that of the system call it is in plus one, or 0; fired: limits;
			   run: nanoseconds that the sample represents, 0: as always */
	uint16_t cpu;
	uint8_t type;
	uint8_t flags;
	uint32_t weight;  /* how many such events it represents; 0: 1 */
	uint32_t context; /* number of the request that it belongs to (struct lode_record_context); 0: unknown */
	struct lode_record_object object; /* of a wait */
};

/* When it was written: records come in this order, or nearly so. */
static inline uint64_t lode_record_end(const struct lode_record *record)
{
	return record->t + record->cost + record->delay;
}

/* Limits that the kernel checks. A record of its own says that some were exceeded. */
#define LODE_RECORD_LIMITS 32

enum lode_record_limit_type {
	LODE_LIMIT_NONE,
	LODE_LIMIT_WAIT,  /* a wait, without its time in the run queue */
	LODE_LIMIT_QUEUE, /* time in the run queue, after a wait or a preemption */
	LODE_LIMIT_SPAN,  /* between two probes: a function, or a mark */
	LODE_LIMIT_REQUEST, /* between two waits of the outer loop (requests.bpf.h); `name` may be that of the process, too */
};

struct lode_record_limit {
	uint32_t type;
	uint32_t any;     /* a thread of any name; then waits for something to do pass no limit */
	uint64_t limit;   /* nanoseconds; what is longer passes it */
	uint64_t name[2]; /* of the thread, padded with NUL */
};

/*
 * What the probes at both ends of a span are given: the number of its limit, and
 * whether it is a mark's. A function's two ends belong together when the stack
 * pointer is the same, and only its outermost call counts.
 */
#define LODE_RECORD_SPAN_MARK 0x100

/* System calls that may be reported as waits for something to do; a bit each. */
#define LODE_RECORD_IDLE_CALLS 512

/* So many slots of a ring stay free for what interrupts a writer. */
#define LODE_RECORD_SPARE 64

/* The ends of a CPU's ring: `head` is the kernel's, `tail` the program's; each in cache lines of its own. */
struct lode_record_ends {
	uint64_t head;
	uint64_t unused[15];
	uint64_t tail;
	uint64_t unused_too[15];
};

/* A distinct stack, leaf first, in the BPF ring buffer. Something shorter only wakes the reader. */
struct lode_record_stack {
	uint64_t id;
	uint32_t count;
	uint8_t user; /* else the kernel's */
	uint8_t has_link; /* user: addresses[1], from the link register or the top of the stack, may be the leaf's caller */
	uint8_t sampled; /* kernel: addresses[0] is where the CPU was; all others are return addresses */
	uint8_t end;     /* enum lode_stack_end */
	uint8_t guessed; /* user: some function has no unwind table, and its caller was found by frame pointer */
	uint8_t languages; /* user: LODE_STACK_HAS_WORDS, …: among the addresses are words of process/languages/language_words.h */
	uint8_t unused[2];
	uint32_t pid; /* user, with words: whose they are */
	uint64_t addresses[LODE_RECORD_FRAMES + 1];
};

/* Most bytes of a user's stack that are copied, and a page more that a reading may touch. */
#define LODE_RECORD_COPY_BYTES 16384
#define LODE_RECORD_COPY_MARK  UINT32_MAX
/* In the id of a copy; ids of stacks are even. */
#define LODE_RECORD_COPY_ID 1ull
/* Bytes below the stack pointer that a function may use, and where just restored registers still are. */
#define LODE_RECORD_RED_ZONE 128

enum lode_record_copy_kind {
	LODE_COPY_OWN,   /* where `tid` stopped running */
	LODE_COPY_WAKER, /* of who woke `tid` */
	LODE_COPY_CALL,  /* where it made a system call */
	LODE_COPY_SAMPLE,
};

/* The innermost bytes of a user's stack, and registers, for unwinding in the program; through the same ring. */
struct lode_record_copy {
	uint64_t id;
	uint32_t mark; /* LODE_RECORD_COPY_MARK, where a stack has its count */
	uint32_t size; /* of `bytes` */
	uint32_t pid;  /* whose stack it is */
	uint32_t tid;  /* for which thread it is kept: of a waker, who was woken */
	uint16_t kind;
	uint16_t is_unmapped; /* the walk in the kernel ended where, by what it knows, nothing is mapped */
	uint32_t code_pages;  /* of the process, as the kernel counts them */
	uint64_t number;      /* of copies so far, on this CPU */
	uint64_t t;           /* when it was taken */
	uint64_t pc;
	uint64_t sp; /* `bytes` begin LODE_RECORD_RED_ZONE below it */
	uint64_t fp;
	uint64_t link;    /* x86-64: rdi */
	uint64_t scratch; /* x86-64: r10 */
	uint8_t bytes[LODE_RECORD_COPY_BYTES + 4096];
};

/* In place of a stack's count: a context. */
#define LODE_RECORD_CONTEXT_MARK (UINT32_MAX - 1)
/* Bytes of a query's text, with its NUL; a multiple of 8. */
#define LODE_RECORD_CONTEXT_BYTES 256
/* Numbers of contexts that the program gives, those of marks, have this bit; the others come from the kernel. */
#define LODE_RECORD_CONTEXT_OWN (1u << 31)

enum lode_record_context_kind {
	LODE_CONTEXT_TRACE, /* 16 bytes of trace id and 8 of span id */
	LODE_CONTEXT_TEXT,  /* of a query */
	LODE_CONTEXT_NAME,  /* of a mark; from the program */
};

/* The request, or query, that a thread works on from now on: sent once, then records name it; through the ring of stacks. */
struct lode_record_context {
	uint32_t number;
	uint32_t size; /* of `bytes` */
	uint32_t mark; /* LODE_RECORD_CONTEXT_MARK, where a stack has its count */
	uint32_t kind; /* enum lode_record_context_kind */
	uint8_t bytes[LODE_RECORD_CONTEXT_BYTES];
};

/* Where a process keeps the pointer to its threads' OpenTelemetry context. */
struct lode_context_process {
	int64_t offset;  /* from the thread pointer, or in the part of module `module` */
	uint64_t module; /* 0: static */
};

/* What the cookies of probes for contexts say. */
enum lode_context_action {
	LODE_CONTEXT_SET,            /* the text is argument LODE_CONTEXT_ARGUMENT; NULL ends the one before */
	LODE_CONTEXT_CLEAR,          /* no query runs any more */
	LODE_CONTEXT_SET_OF_COMMAND, /* the same, but argument 0 must be one of two commands (mariadb) */
	LODE_CONTEXT_BEGIN_MARK,     /* upper half: the number */
	LODE_CONTEXT_END_MARK,
};

#define LODE_CONTEXT_COOKIE(action, argument) ((uint64_t)(action) | (uint64_t)(argument) << 8)
#define LODE_CONTEXT_ACTION(cookie)           ((cookie)&0xff)
#define LODE_CONTEXT_ARGUMENT(cookie)         ((cookie) >> 8 & 0xff)
#define LODE_CONTEXT_NUMBER(cookie)           ((uint32_t)((cookie) >> 32))

/* Counted in the kernel, a set for each CPU; only numbers of 64 bits. */
struct lode_record_counts {
	uint64_t lost;          /* records without room in their ring */
	uint64_t lost_stacks;   /* stacks without room, sent again when they are next seen */
	uint64_t copies;        /* user stacks that were copied */
	uint64_t lost_copies;   /* copies of stacks without room */
	uint64_t lost_contexts; /* contexts without room: the events have none */
	uint64_t lost_threads;  /* switch-outs of threads that got no memory for their state */
	uint64_t short_waits;   /* waits and preemptions shorter than requested */
	uint64_t unseen;        /* switches of recorded threads that the kernel did not show */
	uint64_t asked_stacks;  /* kernel stacks of waits and wakings that were taken by the kernel's own way */
	uint64_t checked_walks; /* kernel stacks that were also taken by the kernel's own way */
	uint64_t wrong_walks;   /* and differed */
	/* With a budget (thinning.bpf.h): */
	uint64_t waits;          /* and preemptions, all of them */
	uint64_t recorded_waits; /* of them */
	uint64_t waited_ns;      /* in all of them, LODE_THIN_LONG at most in each */
	uint64_t samples;
	uint64_t samples_ns; /* spent in the programs of samples */
	uint64_t calls;      /* of the system that were recorded */
	uint64_t runs; /* of the programs at switches, wakings and system calls, also for threads that are not wanted */
	uint64_t stack_runs;  /* those of them that took stacks, */
	uint64_t stacks_ns;   /* spent in these, */
	uint64_t other_ns;    /* and in the others, as far as the programs see it */
	uint64_t waking_runs; /* of the program for long waits (long_waits.bpf.h), and spent in it, */
	uint64_t waking_ns;
	uint64_t long_ns;  /* except runs that record a wait */
	uint64_t map_runs; /* of the program that follows what processes map, and spent in it */
	uint64_t map_ns;
	uint64_t rests;   /* runs of programs that were attached but off (scheduler_programs.h) */
	uint64_t random;  /* no count: the state of this CPU's random numbers */
	uint64_t arrived; /* nor these: when `arrived_tid` got this CPU; 0: not known (sweep.bpf.h) */
	uint64_t arrived_tid;
	uint64_t runs_now;     /* one more than the tid of the thread that got this CPU last; 0: not known */
	uint64_t seen_in_slot; /* when the slot began in which that was */
};

/* Processes that may be requested, by the remainder of their number: a first look before the table of those that are. */
#define LODE_RECORD_PID_HINTS 65536

/* Places for threads by tid, a power of two. */
#define LODE_RECORD_THREADS 32768

/* A waking so long before the switch-out, in nanoseconds, may still be the one that ends the wait. */
#define LODE_RECORD_EARLY 1000000

enum lode_thread_state {
	LODE_THREAD_RUNNING, /* or not known */
	LODE_THREAD_BLOCKED,
	LODE_THREAD_WOKEN,
	LODE_THREAD_PREEMPTED,
	LODE_THREAD_QUEUED, /* woken, by whom was not seen */
};

/* Nanoseconds; a power of two, so that limits fit. */
#define LODE_RECORD_LIMIT_UNIT 256

/* Registers of a thread as it entered the kernel, and the user's stack that it had there. */
struct lode_record_entry {
	uint64_t pc; /* 0: none */
	uint64_t sp;
	uint64_t frame; /* frame pointer and link register, mixed */
	uint64_t user;
};

/* A stack that was sent. */
struct lode_record_sent {
	uint64_t check;
	uint64_t epoch;
};

/* What is known of a thread between its records: three cache lines, of which a switch that takes no stacks needs the first. */
struct lode_record_thread {
	uint32_t tid; /* 0: the place is free */
	uint32_t pid;
	uint32_t waker_pid;
	uint32_t waker_tid;
	uint16_t state;
	uint16_t span;       /* bytes of its user stack that were needed last time */
	uint16_t waker_span; /* and of its waker's */
	uint16_t limit;  /* with a budget: from which length on its length decides, in LODE_RECORD_LIMIT_UNIT; */
	uint16_t weight; /* of the wait; 0: it was not chosen; */
	uint16_t factor; /* of the slot in which it stopped running (time_slots.h); 0: it was between slots; */
	uint8_t seen;    /* with totals: a switch-out of it was seen */
	uint8_t has_waker_stacks; /* with a budget: waker_user and waker_kernel were taken for this wait */
	uint32_t random;          /* with a budget: decides whether the wait is recorded; */
	uint32_t key;             /* where it stopped (thinning.h); */
	uint32_t switches;        /* and how often it had stopped running by then, modulo 2^32 */
	uint32_t call;            /* what it was doing when it stopped running, as in a record's value */
	uint64_t out;             /* when it stopped running */
	uint64_t woken;           /* when it was woken; 0: not yet */
	uint64_t user;
	uint64_t kernel;
	uint64_t waker_user;
	uint64_t waker_kernel;
	struct lode_record_entry entry;   /* its last system call, when these are recorded */
	struct lode_record_object object; /* of a wait that was chosen */
	/* Limits on requests (requests.bpf.h): */
	uint64_t request;    /* when the one that it works on began; 0: not known */
	uint64_t outer_sp;   /* of its outer loop's wait, */
	uint32_t outer_rank; /* what that is, */
	uint32_t deeper;     /* how many others there were since; */
	uint32_t context;    /* with contexts: of the wait that it is in (contexts.bpf.h) */
	uint16_t in_outer;   /* it is in the outer loop's wait */
	uint16_t has_own_stack; /* with a budget, and has_waker_stacks, of a wait that was not chosen: `user` is of this wait */
};

/* Threads that are visited in one run of a program; it is not interrupted meanwhile, for a quarter of a millisecond. */
#define LODE_SWEEP_THREADS 1000

/* How often a thread was visited in its wait (sweep.bpf.h). */
enum lode_swept_state {
	LODE_SWEPT_NOT, /* it was on its processor */
	LODE_SWEPT_ONCE,
	LODE_SWEPT_TWICE, /* or more often: the wait is recorded, */
	LODE_SWEPT_LEFT,  /* unless others do it, or it began before the recording */
};

/* A thread that was visited. What is below `preempted` is known from the second visit on. */
struct lode_record_swept {
	uint64_t start_time; /* of the thread: its tid may become another's */
	uint32_t switches;
	uint8_t state;
	uint8_t preempted;
	uint64_t begun;    /* its wait, */
	uint64_t queued;   /* its time in the run queue until then, */
	uint64_t arrivals; /* and how often it got a processor */
	uint64_t user;
	uint64_t kernel;
	uint32_t call;
	uint32_t context;
	struct lode_record_object object;
};

/* What is learnt about walking the kernel's stack in one program. */
struct lode_record_walking {
	int64_t offset; /* from its context to the first frame record, x86-64: return address; 0: not known */
	uint32_t tries; /* to find it */
	uint32_t wrong; /* walks that were not what the kernel's own way gives */
};

#endif
