/*
 * What a walk must know of a process that runs HotSpot, the Java virtual machine of OpenJDK.
 *
 * All code that HotSpot generates is in a few code heaps. A heap is divided into segments, and a map with a byte for
 * each of them leads to the block that an address is in: the byte says how many segments to go back, 0 at the block's
 * first one. In the block is a CodeBlob, which says what the code is and how large its frames are.
 *
 * Shared by the program and the BPF programs.
 */
#ifndef LODE_PROCESS_LANGUAGES_HOTSPOT_WORDS_H
#define LODE_PROCESS_LANGUAGES_HOTSPOT_WORDS_H

#include <stdint.h>

/* Code heaps of a process: one, or one each for methods with and without profiling and for everything else. */
#define LODE_HOTSPOT_HEAPS 4
/* Where the interpreter's code for calls of a method begins: with and without synchronization, native methods, others. */
#define LODE_HOTSPOT_ENTRIES 6
/* Bytes of a CodeBlob that are read; offsets in them are smaller. */
#define LODE_HOTSPOT_BLOB_BYTES 256

struct lode_hotspot_heap {
	uint64_t start;
	uint64_t end;
	uint64_t segments; /* address of the map */
};

/* Code of the interpreter that a call begins with: it has no frame of its own before `framed`. */
struct lode_hotspot_entry {
	uint64_t start;
	uint64_t framed;
	uint64_t end;
};

struct lode_hotspot_process {
	struct lode_hotspot_heap heaps[LODE_HOTSPOT_HEAPS];
	struct lode_hotspot_entry entries[LODE_HOTSPOT_ENTRIES];
	uint64_t start; /* all heaps are from here on, */
	uint64_t end;   /* up to here */
	uint64_t interpreter_start;
	uint64_t interpreter_end;
	uint32_t segment_shift; /* a segment has 1 << segment_shift bytes */
	uint32_t block_header;  /* bytes before the CodeBlob of a block */
	/* Offsets in a CodeBlob: */
	uint32_t blob_name;
	uint32_t blob_size;           /* 32 bits */
	uint32_t blob_frame_complete; /* 32 bits: from the start of the code, where the frame is there */
	uint32_t blob_frame_size;     /* 32 bits, in words; 0 or less: there is none */
	uint32_t blob_code_start;
	uint32_t blob_code_end;
	/* Of compiled code: its Method, where frames return to that were deoptimized, and where these keep the address before that. */
	uint32_t blob_method;
	uint32_t blob_deopt;
	uint32_t blob_deopt_mh;
	uint32_t blob_original;
	/* In a Method, its ConstMethod; in that, the numbers of its name and signature, and others. */
	uint32_t method_const;
	uint32_t const_name;
	uint32_t sends_bytecodes; /* positions of interpreted frames are asked for */
};

/* Below the frame pointer of an interpreted frame: the address of the bytecode that it is at, while it calls. */
#define LODE_HOTSPOT_BYTECODE 64

/* The check of compiled code: which method it is of, and how large it is. Of eight bits, since that is what is remembered of it. */
static inline uint64_t lode_hotspot_code_check(uint64_t blob, uint64_t method, uint32_t size)
{
	return (blob * 3 + method + size) * 0x9e3779b97f4a7c15ull >> 56;
}

/* The check of a Method: where its ConstMethod is, and the word there that begins with the number of its name. */
static inline uint64_t lode_hotspot_method_check(uint64_t const_method, uint64_t name)
{
	return (const_method * 3 + name) * 0x9e3779b97f4a7c15ull >> 56;
}

#endif
