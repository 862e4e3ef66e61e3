/*
 * Processes: which ones exist at the current time of a recording, what each has
 * mapped, and the names and lifetimes of their threads. Read from /proc at
 * first, and then updated by the side-band's changes, in order of time.
 */
#ifndef LODE_PROCESS_PROCESSES_H
#define LODE_PROCESS_PROCESSES_H

#include "base/notes.h"
#include "base/proc_files.h"
#include "process/process_command.h"
#include "process/process_images.h"
#include "process/process_change.h"
#include "process/address_spaces.h"

#define LODE_THREAD_NAME 16 /* bytes of a thread's name, with its NUL */

struct lode_process {
	uint32_t pid;
	struct lode_space space;
	uint64_t mounts; /* as in images.h */
	int complete;    /* all that is mapped is known */
	/* When its mappings were last read: bytes of code that is not to be written to (0: not known, or not any more), when that was, and how often in a row nothing was new. */
	uint64_t code_bytes;
	uint64_t read_at;
	uint32_t nothing_new;
	uint32_t read_ns; /* and what that took */
};

struct lode_thread_lifetime {
	uint32_t pid;
	uint32_t tid;
	char name[LODE_THREAD_NAME]; /* "": unknown */
	char command[LODE_COMMAND_NAME]; /* of a process's first thread, where its program or script is called otherwise; "": it is not */
	uint64_t born;  /* 0: before the recording */
	uint8_t forked; /* of a process's first thread: it has executed nothing */
	uint64_t died;  /* 0: it lives */
};

/* A process that is gone, and since when. */
struct lode_process_exit {
	uint64_t t;
	uint32_t pid;
};

struct lode_processes {
	struct lode_process_images *images;
	struct lode_spaces spaces;
	struct lode_process *items;
	size_t count;
	size_t capacity;
	struct lode_index index; /* by pid */
	struct lode_thread_lifetime *lives;
	size_t life_count;
	size_t life_capacity;
	struct lode_index life_index;   /* by pid and tid; the newest is the one that counts */
	size_t remembered;              /* lives that lode_processes_forget left the last time, */
	uint64_t forgot_at;             /* and when that was */
	struct lode_process_exit *gone; /* oldest first, from `gone_first` on */
	size_t gone_first;
	size_t gone_count;
	size_t gone_capacity;
	uint64_t own_mounts;
	size_t unread; /* processes whose mappings the snapshot left to be read when they are requested */
};

/* `images` must outlive it. Returns 0 or LODE_SYSTEM. */
int lode_processes_init(struct lode_processes *processes, struct lode_process_images *images);
void lode_processes_release(struct lode_processes *processes);
/*
 * Reads what all processes have mapped, for as many nanoseconds as `patience` says; the others are read when they are asked
 * for, and counted (`unread`). Returns 0 or LODE_SYSTEM.
 */
int lode_processes_snapshot(struct lode_processes *processes, uint64_t patience);
/* Adds what was left out. */
void lode_processes_note(const struct lode_processes *processes, struct lode_notes *notes);
int lode_processes_apply(struct lode_processes *processes, const struct lode_change *change);
/* What is known of a process; NULL: nothing. */
struct lode_process *lode_processes_find(const struct lode_processes *processes, uint32_t pid);
/* Whether a mapping counts for `code_bytes`, as it does for the kernel (`exec_vm`). */
int lode_process_counts_code(const struct lode_proc_mapping *mapping);
/* Whether it is known that a process, or at least its first thread, has ended. */
int lode_processes_has_ended(const struct lode_processes *processes, uint32_t pid);
/* Whether a thread of a process is known, or was. */
int lode_processes_has_thread(const struct lode_processes *processes, uint32_t pid, uint32_t tid);
/* The process, whose mappings are read now if they are not known; NULL when memory has run out. */
struct lode_process *lode_processes_get(struct lode_processes *processes, uint32_t pid);
/* The thread, whose name is requested now if it is not known; NULL when memory has run out. */
struct lode_thread_lifetime *lode_processes_life(struct lode_processes *processes, uint32_t pid, uint32_t tid);

/* Learns the names of all threads that are there. Returns 0 or LODE_SYSTEM. */
int lode_processes_name_all(struct lode_processes *processes);
/* Bytes that processes and images take, about; those in use. */
size_t lode_processes_bytes(const struct lode_processes *processes);
/*
 * Forgets processes and threads that were gone some seconds before `t`, once there are many of them. Images and their numbers
 * stay. Returns 0, or LODE_SYSTEM with everything as it was.
 */
int lode_processes_forget(struct lode_processes *processes, uint64_t t);
/*
 * Forgets processes and threads that were gone some seconds before `t`, and images
 * that nothing maps any more: all is copied into fresh tables. `images` are those
 * it was made with. Returns 0, or LODE_SYSTEM with everything as it was.
 */
int lode_processes_compact(struct lode_processes *processes, uint64_t t);

#endif
