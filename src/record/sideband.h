/*
 * Sideband: what happens to processes while a recording runs, from the kernel's
 * perf interface: files mapped for execution with their build-ids, names, forks
 * and exits, of all processes, however short they live.
 */
#ifndef LODE_RECORD_SIDEBAND_H
#define LODE_RECORD_SIDEBAND_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum lode_change_type {
	LODE_CHANGE_MAP,
	LODE_CHANGE_NAME,
	LODE_CHANGE_FORK,
	LODE_CHANGE_EXIT,
};

#define LODE_CHANGE_BUILD_ID 20

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
	uint64_t mounts;       /* a new program: the mount namespace it was seen in; 0: to be asked for */
	char *text;            /* path or name; NULL for forks and exits */
};

struct lode_sideband;

/* Begins to listen on all CPUs. */
int lode_sideband_open(struct lode_sideband **sideband, struct lode_error *error);
void lode_sideband_close(struct lode_sideband *sideband);
/*
 * The changes since the last call up to the time `until`, in order of time; later
 * ones are kept for the next call. The array is the sideband's and valid until
 * then. Returns 0 or LODE_SYSTEM.
 */
int lode_sideband_read(struct lode_sideband *sideband, uint64_t until, const struct lode_change **changes,
		       size_t *count);
/* Bytes of its rings. */
size_t lode_sideband_bytes(const struct lode_sideband *sideband);
/* Changes that the kernel had no room for, so far. */
uint64_t lode_sideband_lost(const struct lode_sideband *sideband);

#endif
