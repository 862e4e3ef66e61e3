/* Memory for the stack that a program walks: BPF programs have 512 bytes of their own. */
#ifndef LODE_RECORD_BPF_SCRATCH_BPF_H
#define LODE_RECORD_BPF_SCRATCH_BPF_H

#include "record/bpf/settings.bpf.h"
#include "process/languages/hotspot_walk.h"
#include "process/languages/language_words.h"
#include "process/unwind_state.h"
#include "record/bpf/unwind_maps.h"

/* Bytes of a user's stack fetched at a time. */
#define BLOCK_BYTES 4096
#define MIN_SPAN    64

/*
 * Programs that may interrupt another have their own. A switch and a waking never
 * meet on a CPU: both happen while it takes no interrupts, or no switch.
 */
enum scratch_user {
	SCRATCH_SCHEDULER,
	SCRATCH_SAMPLE,
	SCRATCH_CALL,
	SCRATCH_LAUNCH,
	SCRATCH_SWEEP,
	SCRATCHES,
};

/* Walks of user stacks that are kept (recent_walks.bpf.h): their frames without Python's, and other words that they read. */
#define RECENT_FRAMES 128
#define RECENT_WORDS  128
#define NOT_IN_MEMORY UINT16_MAX

/* What a walk read of the stack; positions are in words above `start`, the stack pointer. */
struct trail {
	uint64_t pc; /* where it began */
	uint64_t start;
	uint64_t fp;
	uint64_t link; /* aarch64 */
	uint64_t words[RECENT_WORDS];
	uint16_t word_at[RECENT_WORDS];
	uint32_t word_count;
	uint32_t pid; /* of a process that runs a language: another one that has its space has other functions there; else 0 */
	uint16_t frame_at; /* where the frame pointer was saved; NOT_IN_MEMORY: it is accounted for */
	uint16_t return_at[LODE_RECORD_FRAMES + 1]; /* of the address with the same number; NOT_IN_MEMORY: among the words */
};

/* Bytes below a Python frame that are read with it at most. */
#define PYTHON_BLOCK_BYTES 4096

/* What is known of a chain of Python functions so far. */
struct python_chain {
	uint64_t hash;
	uint64_t sum;
	uint32_t count;
};

/* The Python frames of a thread (python.bpf.h). */
struct python_walk {
	uint8_t block[PYTHON_BLOCK_BYTES + 136]; /* of frames: what was read, and more than a word at any offset */
	uint64_t block_start;                    /* what `block` holds, */
	uint64_t block_places;                  /* at how many of its bytes from the first on a frame may begin, */
	uint64_t block_count;                   /* and how many frames were found in it */
	uint8_t code[136];                      /* the same of a code object */
	uint64_t chain[LODE_RECORD_FRAMES + 1]; /* words of functions, and behind those of each C frame its place */
	struct python_chain so_far;
	uint32_t next;        /* which of its words the walk has not come to */
	uint32_t runs_in_c;   /* PHP: no C frame of the interpreter runs the latest function */
	uint64_t tick;        /* of the kernel's clock */
	uint64_t start;       /* of the part of the C stack that belongs to the C frame that the walk leaves */
	uint64_t frame;       /* the next one */
	uint64_t end;         /* the frame that was the end of a group, or its place; else 0 */
	uint32_t slot;        /* where the return address of that C frame is, as in a trail */
	uint32_t search;      /* enum python_search */
	uint64_t number;      /* the search for the thread's state: the number of the thread, */
	uint64_t interpreter; /* the interpreter and the state to look at next, */
	uint64_t at;          /* (later: the entry of a C frame in their list) */
	uint64_t state;       /* the last one that was looked at, */
	uint64_t seen;        /* and how many there were */
};

/* The JavaScript frames of a thread (v8.bpf.h). */
struct v8_walk {
	uint8_t shared[LODE_V8_SHARED_BYTES]; /* of a function */
	uint64_t slots[2];                    /* of its frame */
	uint64_t map;                         /* of all that describe functions; 0: not known yet in this stack */
	uint32_t frame;                       /* of a kept walk, and a word that it noted: what is compared next */
	uint32_t noted;
};

struct scratch {
	uint8_t block[BLOCK_BYTES + 16];
	struct lode_record_stack stack;
	uint64_t check[LODE_RECORD_KERNEL_FRAMES + 1];
	uint64_t places[LODE_RECORD_KERNEL_FRAMES + 1]; /* of what is in `check` (kernel_stack_x86.bpf.h) */
	uint64_t hash;                                  /* of the stack so far */
	uint64_t sum;
	uint64_t number; /* on its way from what the verifier knows to what it does not */
	uint64_t at;     /* where the walk of the kernel's stack came to */
	uint64_t span;   /* bytes that the user's stack took */
	uint64_t walks;
	uint64_t chances; /* stacks that something could be learnt from */
	/* The walk of a user's stack by tables (unwind.bpf.h). */
	struct lode_unwind_state state;
	struct lode_unwind_space space;
	struct lode_unwind_rule rule; /* of the step in progress */
	uint64_t block_start;         /* what `block` holds */
	uint64_t block_size;
	uint64_t span_end; /* how far the stack is expected to be needed */
	struct trail trail;
	struct python_walk python;
	struct v8_walk v8;
	struct lode_hotspot_walk hotspot;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCHES);
	__type(key, uint32_t);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* As the scratches; one entry where nothing is copied. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SWEEP); /* which copies none */
	__type(key, uint32_t);
	__type(value, struct lode_record_copy);
} copies SEC(".maps");

static __always_inline struct scratch *own_scratch(uint32_t user)
{
	return bpf_map_lookup_elem(&scratches, &user);
}

#endif
