/*
 * What the kernel knows of processes that run a language (process/languages/language_words.h): entries that equal processes
 * share. A process whose runtime has just begun is looked at again until it says what is needed.
 */
#ifndef LODE_RECORD_UNWIND_LANGUAGE_ENTRIES_H
#define LODE_RECORD_UNWIND_LANGUAGE_ENTRIES_H

#include "process/process_unwinder.h"
#include "record/bpf/unwind_maps.h"

/* A process whose runtime has just begun. */
struct lode_language_beginner {
	uint32_t pid;
	uint64_t next; /* time to look at it again, */
	uint64_t wait; /* and then after so long */
};

struct lode_language_entries {
	struct lode_process_unwinder *unwinder;
	struct lode_unwind_space *spaces;    /* of the kernel */
	struct lode_language_process *items; /* of the kernel; not owned */
	uint32_t count;                      /* with number 0, which is not used */
	struct lode_language_beginner *beginners;
	size_t beginner_count;
	size_t beginner_capacity;
};

void lode_language_entries_init(struct lode_language_entries *entries, struct lode_process_unwinder *unwinder,
				struct lode_unwind_space *spaces, struct lode_language_process *items);
void lode_language_entries_release(struct lode_language_entries *entries);
/* The number of the entry of a process at time `now`; 0: it runs no language. Returns 0 or LODE_SYSTEM. */
int lode_language_entries_find(struct lode_language_entries *entries, const struct lode_process *process,
			       uint64_t now, uint32_t *number);
/* Looks again at processes that had just begun, and enters what is found into their spaces. Returns 0 or LODE_SYSTEM. */
int lode_language_entries_retry(struct lode_language_entries *entries, uint64_t now);

#endif
