/*
 * Unwinds user stacks of the machine's current processes: knows which processes
 * exist, what they have mapped, and the unwind table of each binary, which is loaded
 * when a stack first needs it and shared by all processes.
 */
#ifndef LODE_PROCESS_PROCESS_UNWINDER_H
#define LODE_PROCESS_PROCESS_UNWINDER_H

#include "process/languages/languages.h"
#include "process/processes.h"
#include "process/unwinder.h"

/* In place of the number of a table. */
#define LODE_TABLE_NOT_ASKED LODE_NONE
#define LODE_TABLE_ABSENT    (LODE_NONE - 1) /* the code has none */

struct lode_binary_table {
	char *key; /* build-id, or path and mount namespace of a file without one; NULL: the number is free */
	struct lode_unwind_table table;
};

struct lode_process_unwinder {
	struct lode_process_images images;
	struct lode_processes processes;
	char *cache; /* folder of cached tables, "" for none */
	/* How the table of a file is read; NULL: by lode_unwind_table_open. The owner may have another thread do it. */
	int (*open_table)(void *context, struct lode_unwind_table *table, const char *path, const char *build_id,
			  const char *cache);
	void *open_context;
	struct lode_languages *languages; /* that processes may run; NULL: none is looked for. Not owned */
	struct lode_binary_table *tables;
	size_t table_count;
	size_t table_capacity;
	size_t free_count;       /* of these numbers */
	struct lode_index index; /* of tables, by key */
	uint32_t *image_tables;  /* by image: number of its table, or one of the above */
	size_t image_count;      /* images that have an entry there */
	size_t image_capacity;
	uint64_t asked;      /* tables requested so far, also those that are absent */
	size_t compacted;    /* bytes of the processes when they were last compacted */
	size_t table_bytes;  /* of all rows, */
	size_t kept_bytes;   /* after tables were last dropped, */
	size_t tables_limit; /* and by how much they may grow before some are again */
};

/* `cache`: folder of cached tables, NULL for the user's own, "" for none. Returns 0 or LODE_SYSTEM; release it either way. */
int lode_process_unwinder_init(struct lode_process_unwinder *unwinder, const char *cache);
void lode_process_unwinder_release(struct lode_process_unwinder *unwinder);
/* Something happened to a process. Returns 0 or LODE_SYSTEM. */
int lode_process_unwinder_apply(struct lode_process_unwinder *unwinder, const struct lode_change *change);
/*
 * Forgets processes that are gone when they, or tables, take much memory; then images have other
 * numbers (tables keep theirs). `t`: as in lode_processes_compact. Returns 1 when it did, 0, or LODE_SYSTEM.
 */
int lode_process_unwinder_tidy(struct lode_process_unwinder *unwinder, uint64_t t);

/* Takes over a table that no process needs any more. Returns 0, or LODE_SYSTEM when it could not. */
typedef int lode_drop_table(void *context, uint32_t number, struct lode_unwind_table *table);
/*
 * Drops tables of binaries that no process has mapped any more; their numbers become those of others. To be called when
 * lode_process_unwinder_tidy has forgotten processes. Returns 0 or LODE_SYSTEM.
 */
int lode_process_unwinder_drop_tables(struct lode_process_unwinder *unwinder, lode_drop_table *drop, void *context);

/* The table of an image as far as it is known; LODE_TABLE_NOT_ASKED: not loaded. */
uint32_t lode_process_unwinder_known_table(const struct lode_process_unwinder *unwinder, uint32_t image);
/* Loads the table of an image. Its number goes to *table, or LODE_TABLE_ABSENT. Returns 0 or LODE_SYSTEM. */
int lode_process_unwinder_load_table(struct lode_process_unwinder *unwinder, uint32_t image, uint32_t *table);

/* Memory of a process. */
struct lode_unwind_memory {
	void *context;
	/* The word at an address: 1, or 0 when it is not there. */
	int (*read)(void *context, uint64_t address, uint64_t *word);
};

/* The user stack of a thread of `pid`, as lode_unwind. */
int lode_process_unwinder_walk(struct lode_process_unwinder *unwinder, uint32_t pid,
			       const struct lode_unwind_registers *registers,
			       const struct lode_unwind_memory *memory, struct lode_unwind_frame *frames,
			       size_t limit, struct lode_unwound *unwound);
/* Loads the tables of all that a process has mapped now. Returns 0 or LODE_SYSTEM. */
int lode_process_unwinder_load(struct lode_process_unwinder *unwinder, uint32_t pid);

#endif
