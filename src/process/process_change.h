/*
 * Process changes: files mapped for execution, names, forks and exits. Reported
 * by the recorder's side-band in order of time.
 */
#ifndef LODE_PROCESS_PROCESS_CHANGE_H
#define LODE_PROCESS_PROCESS_CHANGE_H

#include <stddef.h>
#include <stdint.h>

enum lode_change_type {
	LODE_CHANGE_MAP,
	LODE_CHANGE_NAME,
	LODE_CHANGE_FORK,
	LODE_CHANGE_EXIT,
};

#define LODE_CHANGE_BUILD_ID 20
/* In place of the mounts of a mapping: its path is as the recorder sees files, not as the process does. */
#define LODE_MOUNTS_OWN 1

struct lode_change {
	enum lode_change_type type;
	uint64_t t; /* CLOCK_MONOTONIC */
	uint32_t pid;
	uint32_t tid;
	uint32_t parent_pid; /* fork */
	uint32_t parent_tid;
	uint64_t start; /* map */
	uint64_t end;
	uint64_t offset;
	uint8_t build_id[LODE_CHANGE_BUILD_ID];
	uint8_t build_id_size; /* 0: not known */
	int executed;          /* a name: it is the name of a new program */
	uint64_t mounts; /* a new program or a map: how the process sees files (lode_process_mounts), 0: not known; LODE_MOUNTS_OWN */
	char *text; /* path or name; NULL for forks and exits */
};

#endif
