/* Files of /proc and /sys: what the kernel says of processes and of itself. */
#ifndef LODE_BASE_PROC_FILES_H
#define LODE_BASE_PROC_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Reads a small file as text of at most `room` - 1 bytes. Returns 0, or -1 where it cannot be read; `text` is "" then. */
int lode_proc_text(char *text, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The number behind a word of a text such as that of /proc/self/status; `otherwise` where it does not occur. */
uint64_t lode_proc_field(const char *text, const char *word, int base, uint64_t otherwise);

/*
 * The path, of `length` bytes, as a process sees it, which may be in a container; for the caller to free. NULL when
 * memory has run out.
 */
char *lode_proc_root_path(uint32_t pid, const char *path, size_t length);

/* A line of /proc/PID/maps. */
struct lode_proc_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	char rights[8]; /* such as "r-xp" */
	uint32_t major; /* of the file's device */
	uint32_t minor;
	uint64_t inode;   /* 0: no file */
	const char *path; /* "": none; valid as long as the line */
};

/* Reads such a line, into which it writes where the path ends. Returns whether it is one. */
int lode_proc_mapping_parse(char *line, struct lode_proc_mapping *mapping);

/*
 * Calls `visit` for each mapping of a process (0: this one), in order of addresses, until it returns something other than
 * 0. Returns that, or 0; nothing is visited where the process is gone.
 */
int lode_proc_mappings(uint32_t pid, int (*visit)(void *context, const struct lode_proc_mapping *mapping),
		       void *context);
/* The same for the numbers that a folder lists: the processes of /proc, the threads of /proc/PID/task. 1: it cannot be opened. */
int lode_proc_numbers(const char *folder, int (*visit)(void *context, uint32_t number), void *context);
/* The threads of a process. */
int lode_proc_threads(uint32_t pid, int (*visit)(void *context, uint32_t tid), void *context);

#endif
