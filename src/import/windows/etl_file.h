/*
 * The file that ETW, the tracing of Windows, writes: buffers of events.
 *
 * A file is a sequence of buffers, each of one processor; the first holds the event that describes the file.
 *
 *	offset	size	of a buffer's head (72 bytes)
 *	0	4	bytes of the buffer in the file
 *	4	4	bytes of it that are used, unpacked, the head included
 *	40	2	processor
 *	44	4	state; in the first buffer of a compressed file: the compression
 *	52	2	flags; 0x40: compressed (the head is not)
 *	54	2	kind; 4: the first buffer
 *
 * Events start at multiples of 8. Byte 2 of an event says which head it has:
 *
 *	1, 2	system (32 bytes) and 3, 4 compact (24): version (2 bytes), head (2), size (2), type (1), group (1),
 *		tid (4), pid (4), time (8)
 *	16, 17	performance (16): version (2), head (2), size (2), type (1), group (1), time (8)
 *	18, 19	events of manifests (80): size (2), head (2), flags (2), property (2), tid (4), pid (4), time (8),
 *		provider (16), id (2), version (1)
 *	others	size (2), head (2); skipped
 *
 * The even ones of each pair, 17 and 19 are of 64-bit machines or processes.
 */
#ifndef LODE_IMPORT_ETL_FILE_H
#define LODE_IMPORT_ETL_FILE_H

#include "base/cursor.h"
#include "base/error.h"

struct lode_etl_file {
	const unsigned char *bytes;
	size_t size;
	unsigned pointer_size; /* of the machine: 4 or 8 */
	unsigned processors;
	unsigned compression; /* enum lode_windows_compression; 0: none */
	uint64_t frequency;   /* ticks of time stamps in a second */
	uint64_t first_tick;  /* when it began */
	uint64_t start_ns;    /* the same since 1970 */
	uint32_t events_lost;
	uint32_t buffers_lost;
	/* found while reading */
	uint64_t damaged;  /* buffers that could not be read to their end */
	uint64_t unpacked; /* bytes of compressed buffers */
	int is_cut;        /* the last buffer is not whole */
};

enum lode_etl_head { LODE_ETL_KERNEL, LODE_ETL_MANIFEST, LODE_ETL_OTHER };

struct lode_etl_event {
	enum lode_etl_head head;
	uint16_t version;
	uint16_t hook; /* of the kernel: group << 8 | type; of a manifest: its id */
	uint16_t cpu;
	uint64_t t;                    /* ticks */
	const unsigned char *provider; /* GUID, of a manifest only */
	struct lode_cursor data;
	uint32_t pid;          /* of a manifest only */
	unsigned pointer_size; /* of the process that wrote it */
};

/* Reads the first buffer. Returns 0 or LODE_BAD_INPUT with what is wrong, without the file's name. */
int lode_etl_open(struct lode_etl_file *file, const unsigned char *bytes, size_t size, struct lode_error *error);
/*
 * Gives `take` the events, buffer by buffer, so not in order of time; their data stay only for the call. A negative
 * code of `take` ends it. `done` (bytes of the file) is called between buffers, to report progress.
 */
int lode_etl_read(struct lode_etl_file *file, int (*take)(void *context, const struct lode_etl_event *event),
		  int (*done)(void *context, size_t bytes), void *context, struct lode_error *error);
/* A time stamp in nanoseconds since 1970. */
uint64_t lode_etl_time(const struct lode_etl_file *file, uint64_t tick);
/* Whether a file starts like this. */
int lode_etl_is(const unsigned char *bytes, size_t size);

#endif
