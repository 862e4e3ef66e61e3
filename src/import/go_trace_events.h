/*
 * The events of a Go execution trace: numbers of their types, as `internal/trace` of Go has them, for traces up
 * to Go 1.21 (one file of batches of processors) and from 1.22 on (generations of batches of threads).
 */
#ifndef LODE_IMPORT_GO_TRACE_EVENTS_H
#define LODE_IMPORT_GO_TRACE_EVENTS_H

enum lode_go_old_event {
	GO_OLD_BATCH = 1,
	GO_OLD_FREQUENCY = 2,
	GO_OLD_STACK = 3,
	GO_OLD_CREATE = 13,
	GO_OLD_START = 14,
	GO_OLD_END = 15,
	GO_OLD_STOP = 16, /* blocks for good */
	GO_OLD_SCHED = 17,
	GO_OLD_PREEMPT = 18,
	GO_OLD_SLEEP = 19,
	GO_OLD_BLOCK = 20,
	GO_OLD_UNBLOCK = 21,
	GO_OLD_BLOCK_SEND = 22, /* and five more kinds up to 27 */
	GO_OLD_BLOCK_NET = 27,
	GO_OLD_SYSCALL = 28,
	GO_OLD_SYSCALL_EXIT = 29,
	GO_OLD_SYSCALL_BLOCK = 30,
	GO_OLD_STRING = 37,
	GO_OLD_START_LOCAL = 38,
	GO_OLD_UNBLOCK_LOCAL = 39,
	GO_OLD_SYSCALL_EXIT_LOCAL = 40,
	GO_OLD_START_LABEL = 41,
	GO_OLD_BLOCK_GC = 42,
	GO_OLD_USER_LOG = 48,
	GO_OLD_CPU_SAMPLE = 49,
	GO_OLD_EVENTS,
};

enum lode_go_event {
	GO_BATCH = 1,
	GO_STACKS = 2,
	GO_STACK = 3,
	GO_STRINGS = 4,
	GO_STRING = 5,
	GO_CPU_SAMPLES = 6,
	GO_CPU_SAMPLE = 7,
	GO_FREQUENCY = 8,
	GO_CREATE = 14,
	GO_CREATE_SYSCALL = 15,
	GO_START = 16,
	GO_DESTROY = 17,
	GO_DESTROY_SYSCALL = 18,
	GO_STOP = 19,
	GO_BLOCK = 20,
	GO_UNBLOCK = 21,
	GO_SYSCALL_BEGIN = 22,
	GO_SYSCALL_END = 23,
	GO_SYSCALL_END_BLOCKED = 24,
	GO_STATUS = 25,
	GO_SWITCH = 45,
	GO_SWITCH_DESTROY = 46,
	GO_CREATE_BLOCKED = 47,
	GO_STATUS_STACK = 48,
	GO_EXPERIMENTAL_BATCH = 49,
	GO_SYNC = 50,
	GO_CLOCK_SNAPSHOT = 51,
};

/* How many numbers follow each type in a batch of a thread, the time included; 0: no such event. */
static const unsigned char lode_go_arguments[256] = {
	[9] = 3,  [10] = 3, [11] = 1, [12] = 4, [13] = 3, [14] = 4, [15] = 2, [16] = 3, [17] = 1, [18] = 1, [19] = 3, [20] = 3,
	[21] = 4, [22] = 3, [23] = 1, [24] = 1, [25] = 4, [26] = 3, [27] = 1, [28] = 2, [29] = 3, [30] = 2, [31] = 2, [32] = 2,
	[33] = 3, [34] = 2, [35] = 2, [36] = 1, [37] = 2, [38] = 2, [39] = 2, [40] = 5, [41] = 3, [42] = 4, [43] = 4, [44] = 5,
	[45] = 3, [46] = 3, [47] = 4, [48] = 5, [51] = 4,
	/* of experiments */
	[128] = 4, [129] = 4, [130] = 2, [131] = 3, [132] = 3, [133] = 2, [134] = 3, [135] = 3, [136] = 2,
};
#define LODE_GO_ARGUMENTS 5

#endif
