/*
 * Limits of the control groups of recorded processes: how long the kernel kept a group off the processors because it had
 * used up its quota (cpu.max, cpu.cfs_quota_us), and how often it had to reclaim memory because the group wanted more than
 * it may have (memory.high, memory.max, memory.limit_in_bytes). Threads are ready in the first case, and wait for nobody;
 * in the second they reclaim it themselves, or wait until pages are free. Both are counted for groups, not for threads,
 * so they are stored with the stream: attributes LODE_THROTTLED and LODE_MEMORY_LIMITED with the group's path, for each
 * group that ran into its limit while it was recorded (trace/throttled.h).
 */
#ifndef LODE_TASKS_LIVE_GROUP_LIMITS_H
#define LODE_TASKS_LIVE_GROUP_LIMITS_H

#include "trace/stream.h"

struct lode_limited_group;

/* A zeroed struct holds no groups. */
struct lode_group_limits {
	struct lode_limited_group *items;
	size_t count;
	size_t capacity;
};

/* Begins with the group of a process and those above it; a process that is gone has none. Returns 0 or LODE_SYSTEM. */
int lode_group_limits_add(struct lode_group_limits *limits, uint32_t pid);
/* The same for all processes there are. */
int lode_group_limits_add_all(struct lode_group_limits *limits);
/* Ends: sets the attributes of those that ran into a limit since. Returns 0 or LODE_SYSTEM. */
int lode_group_limits_store(const struct lode_group_limits *limits, struct lode_stream *stream);
void lode_group_limits_release(struct lode_group_limits *limits);

#endif
