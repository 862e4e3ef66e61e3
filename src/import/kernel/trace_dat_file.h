/*
 * A trace.dat of trace-cmd, versions 6 and 7: where its parts are. Formats of events, symbols and
 * names of threads are read; the events themselves (trace_dat_cpu.h) stay where they are, as
 * pages of the kernel's ring buffer, one row for each CPU.
 */
#ifndef LODE_IMPORT_TRACE_DAT_FILE_H
#define LODE_IMPORT_TRACE_DAT_FILE_H

#include "base/array.h"
#include "base/cursor.h"
#include "import/kernel/perf_data/tracepoint_formats.h"

enum lode_trace_dat_packing {
	LODE_TRACE_DAT_PLAIN,
	LODE_TRACE_DAT_ZSTD,
	LODE_TRACE_DAT_ZLIB,
	LODE_TRACE_DAT_UNKNOWN,
};

/* The events of one CPU. */
struct lode_trace_dat_row {
	uint32_t cpu;
	int packed; /* in chunks */
	struct lode_cursor bytes;
};

struct lode_trace_dat {
	const unsigned char *bytes;
	size_t size;
	int version;
	int swap;
	unsigned long_size;   /* of user space */
	unsigned commit_size; /* of a page's `commit`: the kernel's long */
	uint32_t page_size;
	enum lode_trace_dat_packing packing;
	struct lode_perf_tracepoints tracepoints;
	struct lode_arena arena;
	const char *kallsyms;
	size_t kallsyms_size;
	const char *names; /* lines of `TID NAME` */
	size_t names_size;
	const char *clock; /* as the kernel lists clocks, `[local] global …`, or a name; "" */
	LODE_ARRAY(struct lode_trace_dat_row) rows;
	uint64_t instances; /* buffers besides the main one, left out */
	uint64_t left;      /* bytes that may still be unpacked */
};

/*
 * Reads all but the events. `bytes` must outlive it. Returns 0 or a negative code with a sentence without the
 * file's name; release it in either case.
 */
int lode_trace_dat_open(struct lode_trace_dat *file, const unsigned char *bytes, size_t size,
			struct lode_error *error);
void lode_trace_dat_release(struct lode_trace_dat *file);
/*
 * Unpacks `size` bytes into `to`, which must become exactly `wanted`. Returns 0, or LODE_BAD_INPUT for what is
 * damaged.
 */
int lode_trace_dat_unpack(const struct lode_trace_dat *file, const void *bytes, size_t size, void *to,
			  size_t wanted);

#endif
