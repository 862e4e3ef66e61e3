/* What the program sets for the programs in the kernel, before they are loaded and while they run. */
#ifndef LODE_RECORD_BPF_SETTINGS_BPF_H
#define LODE_RECORD_BPF_SETTINGS_BPF_H

#include "record/bpf/kernel_types.h"
#include "record/bpf/records.h"
#include "record/budget/time_slots.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* Settings; constants once the programs are loaded, so that what is not used costs nothing. */
const volatile uint32_t ring_slots = 1; /* of each CPU; a power of two */
const volatile uint32_t own_pid = 0;    /* the recorder itself is left out */
const volatile bool only_pids = false;
const volatile bool only_comm = false;
const volatile bool only_cgroup = false;
const volatile bool with_calls = false;
const volatile bool use_tables = false; /* walk user stacks by unwind tables, else by frame pointers */
const volatile uint32_t languages = 0;  /* whose functions stacks may have: 1 << enum lode_language */
const volatile uint32_t copy_bytes =
	0; /* of user stacks that are not walked, or with tables could not be; 0: none */
const volatile uint64_t stacks_half = 2 << 20; /* bytes of the ring of stacks, halved */
const volatile bool switch_has_state = true;   /* sched_switch has the state (Linux 5.18 and later) */
const volatile bool walk_kernel = false;
const volatile bool only_own = false;       /* neither the kernel's stacks nor those of wakers */
const volatile uint32_t check_every = 1024; /* walks; a power of two */
const volatile uint64_t min_wait = 0;
const volatile uint64_t long_wait_ns =
	INT64_MAX; /* longer waits of user-space threads are always recorded (--long-waits) */
const volatile uint64_t wanted_comm[2] = { 0, 0 };
const volatile bool thin = false;          /* there is a budget */
const volatile bool with_totals = false;   /* totals of threads are reported (thread_totals.bpf.h) */
const volatile bool with_contexts = false; /* events say which request they belong to (contexts.bpf.h) */
const volatile bool has_writer = false;    /* `writer_pid` may be set: a child of the recorder, left out too */
const volatile bool has_command = false;   /* `command_pid` may be set: a child that is left out until its exec */
const volatile uint64_t least_limit = UINT64_MAX; /* of the limits on waits and run queues */
const volatile struct lode_record_limit limits[LODE_RECORD_LIMITS] = {};
const volatile uint64_t idle_calls[LODE_RECORD_IDLE_CALLS / 64] = {};

volatile uint64_t epoch = 0;
volatile uint64_t thin_scale = 0;    /* nanoseconds that a recorded wait represents (thinning.h) */
volatile uint32_t call_weight = 0;   /* one in so many system calls is recorded; 0: all */
volatile uint32_t sample_ns = 0;     /* that a CPU sample represents; 0: as it was requested */
volatile struct lode_slot slot = {}; /* with a budget; nothing is recorded while it is not on */
volatile uint32_t writer_pid = 0;
volatile uint32_t command_pid = 0;
volatile uint32_t copies_wait = 0;  /* the reader was woken for them */
volatile uint64_t mapped_known = 0; /* the program knows what processes mapped until then */
volatile uint32_t reads_maps =
	0; /* the kernel does not report that; the program reads it when a copy of a stack asks for it */

#endif
