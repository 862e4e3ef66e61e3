/*
 * Quotas: how long the kernel kept the control groups of recorded processes off the processors because they had used up
 * their quota (cpu.max, cpu.cfs_quota_us). Threads of such a group are ready meanwhile, and wait for nobody. It is
 * counted for groups, not for threads, so it is stored with the stream: an attribute LODE_THROTTLED and the group's path, with
 * nanoseconds, for each group that was throttled while it was recorded (trace/throttled.h).
 */
#ifndef LODE_TASKS_LIVE_THROTTLING_H
#define LODE_TASKS_LIVE_THROTTLING_H

#include "trace/stream.h"

struct lode_throttled_group;

/* A zeroed struct holds no groups. */
struct lode_throttling {
	struct lode_throttled_group *items;
	size_t count;
	size_t capacity;
};

/* Begins with the group of a process and those above it; a process that is gone has none. Returns 0 or LODE_SYSTEM. */
int lode_throttling_add(struct lode_throttling *throttling, uint32_t pid);
/* The same for all processes there are. */
int lode_throttling_add_all(struct lode_throttling *throttling);
/* Ends: sets the attributes of those that were throttled since. Returns 0 or LODE_SYSTEM. */
int lode_throttling_store(const struct lode_throttling *throttling, struct lode_stream *stream);
void lode_throttling_release(struct lode_throttling *throttling);

#endif
