/*
 * Unwind tables in the kernel: what the program (unwind_loader.c) puts into BPF maps
 * and the walk (unwind.bpf.h) looks up.
 *
 *	pid ─ spaces ─→ a run of mappings ─→ table ─→ chunk of rows ─→ rule
 *
 * A *space* is one version of an address space; processes that were forked share it. Its
 * mappings are side by side in one array, in order of address. Tables are arrays of
 * chunks in a map of maps, one per binary, for all processes that map it. Rules are shared by all
 * tables. The walk remembers the rule of each exact address in a small cache, so that
 * nearly every frame is one look-up.
 */
#ifndef LODE_RECORD_BPF_UNWIND_MAPS_H
#define LODE_RECORD_BPF_UNWIND_MAPS_H

#include "symbols/unwind_rule.h"

/* Rows of a table, searched by their first one: 6 bytes per row. Unused rows have the start UINT32_MAX. */
#define LODE_UNWIND_CHUNK 64

struct lode_unwind_chunk {
	uint32_t starts[LODE_UNWIND_CHUNK];
	uint16_t rules[LODE_UNWIND_CHUNK];
};

/* Most binaries that have a table in the kernel, and most mappings of all spaces together. */
#define LODE_UNWIND_TABLES   4096
#define LODE_UNWIND_MAPPINGS 65536
#define LODE_UNWIND_SPACES   65536 /* a power of two */

/* In place of a mapping's table. */
#define LODE_UNWIND_NO_TABLE 0u         /* the code has none: follow the frame pointer */
#define LODE_UNWIND_PENDING  UINT32_MAX /* it is loaded when a stack needs it */

struct lode_unwind_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t bias;  /* an address minus this is what rows count */
	uint32_t space; /* whose it is: a walk that finds another's was overtaken by a change */
	uint32_t table;
};

/* Of each table number. */
struct lode_unwind_size {
	uint32_t chunks;
};

/*
 * What is known of a process, at the place that the lower bits of its pid say. Of two
 * processes with one place, the later one takes it; that costs copies, no frames.
 */
struct lode_unwind_space {
	uint32_t pid;
	uint32_t id;    /* 0: the program has not sent it yet */
	uint32_t first; /* mapping */
	uint32_t count;
	uint32_t strays; /* copies of stacks that end where nothing is mapped, since it was entered */
	uint32_t window; /* of time, in which `copies` of other stacks were sent */
	uint32_t copies;
	uint32_t stale_id;   /* with this id, or with any if it is 0, it is out of date ... */
	uint64_t stale;      /* ... until the program knows what happened until then (`mapped_known`) */
	uint64_t grown;      /* until then, too, it may have code where nothing was mapped */
	uint64_t quiet;      /* until then its mappings are not read again */
	uint32_t code_pages; /* that it had when they were read; 0: not known */
	uint32_t language;   /* its place among LODE_LANGUAGE_PROCESSES; 0: it runs none */
};

/*
 * So many stacks of a process are copied in a window of time, while the program learns
 * what it has mapped and loads tables for it. Of stacks that end where nothing is mapped
 * only so many since it was entered, and a few in each window: they are probably broken,
 * but may be the first through a new library, unless the process took memory for one.
 */
#define LODE_UNWIND_WINDOW      27 /* 2^27 nanoseconds, a tenth of a second */
#define LODE_UNWIND_COPIES      512
#define LODE_UNWIND_STRAYS      128
#define LODE_UNWIND_LATE_STRAYS 16

/*
 * Memory that processes took lately, except memory to write to. Where a process had code
 * before, its mappings are out of date: the kernel looks at those that it has, the program
 * at those that it adds later.
 */
#define LODE_UNWIND_TAKEN 1024 /* a power of two */

struct lode_unwind_taken {
	uint64_t start;
	uint64_t end;
	uint64_t t; /* CLOCK_MONOTONIC; written last */
	uint32_t pid;
	uint32_t unused;
};

/*
 * If code is mapped there, the program hears of it within so many nanoseconds, and tells
 * of the new mapping. If not, and memory there is taken again and again, that does not
 * count for a while.
 */
#define LODE_UNWIND_REPORT_NS 100000000
#define LODE_UNWIND_NO_MATTER 1000000000

/*
 * A remembered rule, as one word that a walk can take apart quickly. Both words are
 * written separately and by any CPU; `word` has some bits of the key's hash, by which a
 * mixture of two rules is recognized.
 */
#define LODE_UNWIND_CACHE_BITS 12

struct lode_unwind_cached {
	uint64_t key; /* address and space */
	uint64_t word;
};

/* Walks that each CPU remembers whole, and as many of system calls if these are recorded. */
#define LODE_RECENT_WALKS_BITS 8

/* In the lowest bits of a word: the CFA's offset from the stack or frame pointer, in words, or one of these. */
#define LODE_CACHED_OFFSET       0xffffu
#define LODE_CACHED_FRAME_RECORD 0xfffdu /* no table: follow the frame pointer */
#define LODE_CACHED_ROOT         0xfffeu
#define LODE_CACHED_OTHER        0xffffu /* any other rule: look it up in the table */
/* Words from the return address and from the saved frame pointer (0: it is not saved) up to the CFA. */
#define LODE_CACHED_RETURN_SHIFT 16
#define LODE_CACHED_FRAME_SHIFT  30
#define LODE_CACHED_DISTANCE     0x3fffu
#define LODE_CACHED_LANGUAGE     (1ull << 45) /* the function runs code of a language, whose frames follow */
#define LODE_CACHED_FROM_FP      (1ull << 46)
#define LODE_CACHED_IN_LINK      (1ull << 47) /* the return address is in the link register */
#define LODE_CACHED_HASH_SHIFT   48

#endif
