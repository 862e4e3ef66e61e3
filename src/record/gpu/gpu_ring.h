/*
 * The ring through which liblode-gpu.so (inject/lode_gpu.c), in the processes that are recorded, hands what CUPTI tells to the
 * recorder: a file that both map. Slots are of one size. A writer takes the next number, unless the reader is a whole round
 * behind, fills that slot and stores the number plus one as its last word, so the reader knows which are whole; it reads in
 * order, and stops at one that is not.
 */
#ifndef LODE_RECORD_GPU_RING_H
#define LODE_RECORD_GPU_RING_H

#include <stdatomic.h>
#include <stdint.h>

/* In the environment of the recorded command: the file, and where libcupti is if it is nowhere else. */
#define LODE_GPU_RING_VARIABLE  "LODE_GPU_RING"
#define LODE_GPU_CUPTI_VARIABLE "LODE_CUPTI"
/* What libcuda loads when it is initialized. */
#define LODE_GPU_INJECTION_VARIABLE "CUDA_INJECTION64_PATH"
/* The function of the library that the recorder probes: it is called where the stack of a launch is wanted. */
#define LODE_GPU_PROBE "lode_gpu_stack_is_wanted"

#define LODE_GPU_RING_MAGIC   0x65646f6cu
#define LODE_GPU_RING_VERSION 1
#define LODE_GPU_RING_SLOTS   (1u << 17)
#define LODE_GPU_RING_MESSAGE 400
#define LODE_GPU_NAME_BYTES   32

enum lode_gpu_slot_type {
	LODE_GPU_SLOT_CALL = 1,
	LODE_GPU_SLOT_ACTIVITY,
	LODE_GPU_SLOT_CLOCK,
	LODE_GPU_SLOT_NAME, /* a part of one */
};

/* A call of a thread; times of CLOCK_MONOTONIC. */
struct lode_gpu_ring_call {
	uint64_t t0, t1;
	uint32_t name;
	uint32_t stream; /* UINT32_MAX: unknown */
	uint64_t event;  /* of calls about one; 0: none */
};

/* Times of CUPTI's clock. */
struct lode_gpu_ring_activity {
	uint64_t start, end;
	uint32_t name;
	uint32_t device;
	uint32_t stream;
	uint32_t is_pageable;
};

/* CUPTI's clock between two readings of CLOCK_MONOTONIC. */
struct lode_gpu_ring_clock {
	uint64_t before, cupti, after;
};

/* Bytes of a name from `at` on; the last part is shorter than the room, or empty. */
struct lode_gpu_ring_name {
	uint32_t id;
	uint16_t at;
	uint16_t length;
	char text[LODE_GPU_NAME_BYTES];
};

struct lode_gpu_slot {
	_Atomic uint64_t number; /* plus one, once it is whole */
	uint32_t pid, tid;
	uint16_t type;
	uint16_t kind; /* of a call: enum lode_gpu_call_kind */
	uint32_t correlation;
	union {
		struct lode_gpu_ring_call call;
		struct lode_gpu_ring_activity activity;
		struct lode_gpu_ring_clock clock;
		struct lode_gpu_ring_name name;
	};
};

_Static_assert(sizeof(struct lode_gpu_slot) == 64, "a line of the cache");

struct lode_gpu_ring {
	uint32_t magic, version;
	uint32_t slot_count;
	uint32_t stacks_per_second; /* that are probed at most, of all threads of a process */
	_Atomic uint64_t next;      /* number of the slot that is taken next */
	_Atomic uint64_t done;      /* slots before it were read */
	_Atomic uint64_t lost;
	_Atomic uint32_t processes; /* in which the library runs */
	_Atomic uint32_t failed;    /* why it does not run in one is in `message` */
	char message[LODE_GPU_RING_MESSAGE];
	_Alignas(4096) struct lode_gpu_slot slots[];
};

#endif
