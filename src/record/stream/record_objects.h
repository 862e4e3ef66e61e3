/*
 * Objects of waits: from what the kernel side noted (struct lode_record_object) to the object of an event, and who may
 * hold it. Descriptors get their names here, while their processes are there. Locks are known by address: what an address
 * is called, and what kind of lock it is, depends on the names of functions and variables, which are looked up at the end
 * (object_names.h). Until then such an object is a text that only object_names.h reads.
 */
#ifndef LODE_RECORD_STREAM_RECORD_OBJECTS_H
#define LODE_RECORD_STREAM_RECORD_OBJECTS_H

#include "base/notes.h"
#include "process/descriptor_names.h"
#include "process/device_names.h"
#include "process/epoll_sets.h"
#include "process/inner_tids.h"
#include "process/mapped_files.h"
#include "process/processes.h"
#include "record/bpf/records.h"
#include "trace/dictionary.h"

/* Where the id of a futex's holder was found, as the text of an unnamed futex has it. */
#define LODE_FUTEX_UNKNOWN 'n'
#define LODE_FUTEX_OWNER   'o'
#define LODE_FUTEX_WRITER  'w'
#define LODE_FUTEX_SURE    's' /* robust, or with priority inheritance: no other futex looks like this */
#define LODE_FUTEX_WORD    't' /* the word itself: a thread that is joined has its id there */

/* `futex:KIND:ADDRESS:IMAGE:OFFSET:DISTANCE`, numbers in hexadecimal: DISTANCE behind what is mapped from OFFSET of IMAGE. */
#define LODE_FUTEX_TEXT "futex:"

/* `kernel-lock:WHAT`, to which object_names.h adds the function that takes it. */
#define LODE_KERNEL_LOCK_TEXT "kernel-lock:"

#define LODE_WAIT_CALLS 512

struct lode_futex_memo {
	uint64_t address;
	uint32_t pid;
	uint32_t version; /* of the address space */
	uint32_t found;   /* LODE_FUTEX_… */
	uint32_t text;    /* string */
};

/* The functions that poll files which were met, and what those files are; NULL: nothing special. */
#define LODE_POLLED_FILES 64

struct lode_polled_file {
	uint64_t address;
	const char *text;
};

struct lode_record_objects {
	struct lode_processes *processes;
	struct lode_dictionary *dictionary;
	struct lode_image *kernel;
	struct lode_polled_file polled[LODE_POLLED_FILES]; /* direct-mapped */
	struct lode_descriptor_names descriptors;
	struct lode_mapped_files mapped;
	struct lode_device_names devices;
	struct lode_epoll_sets epoll_sets;
	struct lode_inner_tids tids;
	struct lode_futex_memo *memo;   /* direct-mapped */
	uint8_t calls[LODE_WAIT_CALLS]; /* by number: what its first argument is, plus one; 0: not looked up yet */
	size_t futexes;                 /* distinct texts so far, about */
	size_t connections;             /* distinct ones so far */
	uint64_t left_out;              /* waits for futexes without a text: there were too many */
};

/* `processes`, `dictionary` and `kernel`, the symbols of the kernel, must outlive it. Returns 0 or LODE_SYSTEM. */
int lode_record_objects_init(struct lode_record_objects *objects, struct lode_processes *processes,
			     struct lode_dictionary *dictionary, struct lode_image *kernel);
void lode_record_objects_release(struct lode_record_objects *objects);
/*
 * The object of a wait, a string of the dictionary, 0: unknown; and the tid of the thread of its process that may hold it, 0: unknown. Returns
 * 0 or LODE_SYSTEM.
 */
int lode_record_objects_find(struct lode_record_objects *objects, const struct lode_record *record,
			     uint32_t *object, uint32_t *holder);
/*
 * Which connection to another host a wait with this object was for (LODE_CONNECTION), a string, 0: none. Returns 0 or
 * LODE_SYSTEM.
 */
int lode_record_connection(struct lode_record_objects *objects, const struct lode_record *record, uint32_t object,
			   uint32_t *name);
void lode_record_objects_note(const struct lode_record_objects *objects, struct lode_notes *notes);

#endif
