/*
 * Reads what processes have mapped from /proc, where the kernel does not report it because that takes too much (sideband.h):
 * of processes that no stack goes through nothing has to be known. The kernel counts the pages of code of each process,
 * and copies of stacks have that number. Where it is not the one that was read, or where a stack goes through
 * code that is not known, the process is read again, and what is new becomes changes like those of the sideband.
 */
#ifndef LODE_RECORD_UNWIND_MAP_READS_H
#define LODE_RECORD_UNWIND_MAP_READS_H

#include "process/processes.h"
#include "record/unwind/mapped_build_ids.h"
#include "record/bpf/records.h"

/* A process that copies of stacks came from. */
struct lode_map_doubt {
	uint32_t pid;
	int is_unmapped;     /* at least one of them ends where nothing is known */
	uint64_t code_bytes; /* that it had, by the last of them; 0: they do not agree */
	uint64_t t;          /* when the last of them was taken */
	/* By what the sideband says: it was forked, by whom, or runs another program; and when that was. 0: neither. */
	uint64_t changed_at;
	uint32_t parent;     /* 0: it runs another program */
	int is_reported;     /* the sideband has mappings of it */
	int is_alarm;        /* it is read because something changed, not only to make sure */
	uint64_t read_at;    /* 0: it was not */
	uint64_t read_bytes; /* of code that it has; 0: it is gone, or cannot be read */
	uint32_t read_ns;
	int is_new; /* some of its files were not known */
};

/* A zeroed struct is ready. */
struct lode_map_reads {
	struct lode_map_doubt *doubts;
	size_t doubt_count;
	size_t doubt_capacity;
	struct lode_change *changes; /* by time */
	size_t count;
	size_t capacity;
	struct lode_mapped_build_ids build_ids;
	uint64_t gone;      /* programs that had ended before anything was known of what they mapped */
	uint64_t began;     /* the round in which each process is read once more, to make sure */
	uint64_t spent;     /* nanoseconds of CPU time on reading since then */
	uint64_t forgot_at; /* build-ids: the number of a file may come again for another one */
};

void lode_map_reads_release(struct lode_map_reads *reads);
/* A copy of a stack came. Returns 0 or LODE_SYSTEM. */
int lode_map_reads_doubt(struct lode_map_reads *reads, const struct lode_record_copy *copy);
/*
 * Reads the processes that copies came from since the last call, where that is called for and not too soon again. `changes`: of the
 * sideband since the time `known`, not applied to `processes` yet, and neither are those that this makes. Returns 0 or LODE_SYSTEM.
 */
int lode_map_reads_read(struct lode_map_reads *reads, const struct lode_processes *processes,
			const struct lode_change *changes, size_t count, uint64_t known);
/*
 * All changes until then are applied: remembers what was read in the processes. What was copied later is looked at again, together with the
 * changes of that time.
 */
void lode_map_reads_settle(struct lode_map_reads *reads, struct lode_processes *processes, uint64_t until);
/*
 * Whether it is time to make sure of all processes, each when a stack next goes through it: a library may have come in the place of another
 * one of the same size. That is so every few seconds, or less often where it takes more than a small part of the time of so many CPUs.
 */
int lode_map_reads_next_round(struct lode_map_reads *reads, unsigned cpus, uint64_t now);
/* When a process is read again at the earliest. */
uint64_t lode_map_reads_quiet(const struct lode_process *process);

#endif
