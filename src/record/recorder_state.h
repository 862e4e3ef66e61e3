/* What the files of the recorder share: its struct, and the functions that one has for another. Private to them. */
#ifndef LODE_RECORD_RECORDER_STATE_H
#define LODE_RECORD_RECORDER_STATE_H

#include "base/memory.h"
#include "record/unwind/map_reads.h"
#include "record/recorder.h"
#include "record/load/recorder_skeleton.h"
#include "record/reader/ring_fill.h"
#include "record/reader/rings.h"
#include "record/load/scheduler_programs.h"
#include "record/load/task_iterator.h"
#include "record/unwind/stack_copies.h"
#include "record/sweeper.h"
#include "record/unwind/table_maker.h"

struct lode_recorder {
	struct recorder *programs; /* the skeleton */
	struct lode_sideband *sideband;
	struct ring_buffer *stacks;
	struct lode_ring_fill stacks_fill;
	struct lode_record_ends *ends; /* mapped, one per CPU */
	struct lode_record *slots;     /* mapped, `slot_count` a CPU */
	size_t ends_bytes;
	size_t slots_bytes;
	uint32_t slot_count;
	uint32_t cpu_count;
	unsigned frequency;
	uint64_t period;
	struct lode_process_unwinder unwinder; /* processes as of what was handed over last */
	struct lode_languages *languages;      /* of its processes; NULL: none is looked for */
	struct lode_unwind_loader *loader;     /* of tables into the kernel; NULL where they are not used */
	struct lode_table_maker *maker;        /* of the unwinder's tables */
	uint64_t left_out;                     /* processes that were too many to look at before the start */
	struct lode_buffer held; /* stacks that came while a table was made: their size, then they, to 8 bytes */
	size_t held_limit;       /* the others wait in their ring */
	int holds;               /* they come to `held` */
	size_t ring_left;        /* bytes of their ring that this reading may still take */
	struct lode_stack_copies copies;
	struct lode_map_reads map_reads;
	int has_read_maps; /* at some time the kernel did not report mappings: what was missed is read when it is needed */
	uint64_t reads_until; /* mappings are read until then; UINT64_MAX: as long as the kernel does not report them */
	uint64_t execs;       /* processes that began to run a program, so far */
	int started;
	int wants_long_waits; /* every long wait is to be recorded, from the next slot on that is one of several, */
	int tracks_long_waits;                     /* and is */
	int stays_attached;                        /* scheduler programs stay attached between slots */
	struct lode_scheduler_programs *scheduler; /* with a budget; */
	struct lode_task_visit slot_visit;         /* when a slot begins */
	int unwinds;                               /* stacks by tables, in the kernel or here */
	int cgroup;                                /* descriptor, or -1 */
	struct lode_sweeper *sweeper;              /* with a budget, once it is started */
	struct bpf_link **samples;                 /* one per CPU, or NULL */
	int *sample_events;                        /* their descriptors, which the links own; -1: none */
	struct lode_rings rings;                   /* over `ends` and `slots` */
	struct lode_record *seen;                  /* slots that ended, to be handed over */
	size_t seen_count;
	size_t seen_capacity;
	struct lode_record *open; /* what was not over when the recording ended */
	size_t open_count;
	size_t open_capacity;
	const struct lode_recorder_sink *sink; /* of the read in progress */
	int failed;                            /* its stack() failed */
};

/* recorder_samples.c. Stopping is allowed where nothing was started. */
int lode_recorder_start_samples(struct lode_recorder *recorder, struct lode_error *error);
void lode_recorder_stop_samples(struct lode_recorder *recorder);

/* recorder_reader.c */
int lode_recorder_open_stacks(struct lode_recorder *recorder, struct lode_error *error);
/*
 * While a table is made: takes what has come out of the ring of stacks, so that the kernel
 * has room for more. No record that is handed over by now can name any of it.
 */
void lode_recorder_hold_stacks(void *recorder);

/* recorder_threads.c: adds the waits that are not over at the time `end` to `open`. Returns 0 or LODE_SYSTEM. */
int lode_recorder_add_open_waits(struct lode_recorder *recorder, uint64_t end);

/* recorder_slots.c. Has the kernel send what threads did in total, as records of `type`; does nothing where it cannot. */
void lode_recorder_take_totals(struct lode_recorder *recorder, enum lode_record_type type);
/* The current slot is over: keeps it, where it is one of several, as a record. Returns 0 or LODE_SYSTEM. */
int lode_recorder_keep_slot(struct lode_recorder *recorder);

#endif
