/*
 * Settings of the recorder's BPF programs before they are loaded, from
 * its options: which threads and events are wanted, limits, how stacks are unwound,
 * and how large the maps are. Private to the recorder.
 */
#ifndef LODE_RECORD_RECORDER_SETTINGS_H
#define LODE_RECORD_RECORDER_SETTINGS_H

#include "record/load/kernel_features.h"
#include "record/recorder.h"

struct recorder; /* the skeleton */

/* Entries of the ring of each CPU, where all rings together take at most this many bytes (0: a default). */
uint32_t lode_recorder_slots(uint32_t cpus, size_t bytes);
/* Bytes of the ring of stacks. */
uint32_t lode_recorder_stacks_bytes(const struct lode_recorder_options *options);
/* Between opening and loading; `slots` are those of lode_recorder_slots. */
void lode_recorder_set_up(struct recorder *programs, const struct lode_recorder_options *options,
			  const struct lode_kernel_features *kernel, uint32_t cpus, uint32_t slots);

/*
 * Whether limits on waits are decided at wakings (long_waits.bpf.h), too, so that the
 * programs of the scheduler need not be attached for them.
 */
int lode_recorder_limits_at_waking(const struct lode_recorder_options *options);
/* Whether every long wait can be recorded, by a separate program, at wakings (long_waits.bpf.h). */
int lode_recorder_can_track_long_waits(const struct lode_recorder_options *options);

#endif
