/* What a step through code that HotSpot generated (hotspot_step.h) reads, and what it finds. Shared with the BPF programs. */
#ifndef LODE_PROCESS_LANGUAGES_HOTSPOT_WALK_H
#define LODE_PROCESS_LANGUAGES_HOTSPOT_WALK_H

#include "process/languages/hotspot_words.h"

/* Bytes of code around an address that are looked at. */
#define LODE_HOTSPOT_CODE_BYTES 32

struct lode_hotspot_walk {
	uint8_t blob[LODE_HOTSPOT_BLOB_BYTES]; /* the CodeBlob, */
	uint64_t at;                           /* its address, */
	uint64_t name;                         /* and the first bytes of its name */
	uint64_t word;                         /* of the frame that was left; 0: its address says all */
	uint64_t record; /* where its caller's frame pointer and, behind it, its return address were; 0: in registers */
	uint64_t caller; /* of an interpreted method: the caller's stack pointer, as its frame says */
	/* Registers of the innermost frame, or 0. In code that begins a call: */
	uint64_t method;    /* the Method (and in any interpreted frame that was left), */
	uint64_t returns;   /* x86-64: the return address, while it is not on the stack, */
	uint64_t sender[2]; /* and, in one of these, the caller's stack pointer */
	uint64_t slots[2];  /* the caller's frame pointer, and the return address */
	int64_t size;       /* bytes of the frame that was left, */
	uint32_t kind;      /* and of which kind it was: enum lode_hotspot_leaf_kind */
	uint32_t unused;
	uint64_t epoch; /* of the kernel: when the walk came to Java (hotspot.bpf.h) */
	union {         /* around the innermost address */
		uint32_t instructions[LODE_HOTSPOT_CODE_BYTES / 4]; /* aarch64: from the one before on */
		uint8_t code[LODE_HOTSPOT_CODE_BYTES];              /* x86-64: the address is at half */
	};
};

#endif
