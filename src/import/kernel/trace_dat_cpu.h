/*
 * The events of one CPU of a trace.dat, in order of time, from the pages of the kernel's ring buffer.
 */
#ifndef LODE_IMPORT_TRACE_DAT_CPU_H
#define LODE_IMPORT_TRACE_DAT_CPU_H

#include "import/kernel/trace_dat_file.h"

/* An event, with the stacks that were recorded right behind it. */
struct lode_trace_dat_event {
	uint64_t t;
	uint32_t type; /* id of its format */
	uint32_t tid;  /* of the thread that was running */
	struct lode_cursor data;
	struct lode_cursor stack; /* addresses of the kernel, leaf first; next is NULL where there is none */
};

struct lode_trace_dat_cpu {
	const struct lode_trace_dat *file;
	struct lode_cursor rest; /* pages or chunks that are not read yet */
	uint32_t chunks;         /* that are left, where they are packed */
	int packed;
	unsigned char *rooms[2]; /* the chunk that is unpacked, and the one before it */
	size_t room_capacities[2];
	int room;
	struct lode_cursor chunk; /* what is left of it */
	struct lode_cursor page;  /* what is left of the page */
	uint64_t t;
	uint32_t stack_type;              /* id of the format of kernel stacks; 0: none */
	uint32_t stack_offset;            /* where its addresses begin */
	uint32_t user_type;               /* id of the format of user stacks; 0: none */
	struct lode_trace_dat_event next; /* read ahead */
	int has_next;
	uint64_t lost;        /* pages before which events were lost */
	uint64_t user_stacks; /* left out */
	int damaged;
};

/* Begins with the first event. `file` must outlive it. */
void lode_trace_dat_cpu_init(struct lode_trace_dat_cpu *cpu, const struct lode_trace_dat *file,
			     const struct lode_trace_dat_row *row);
void lode_trace_dat_cpu_release(struct lode_trace_dat_cpu *cpu);
/* The next event, valid until the one after the next. Returns 1, 0 at the end, or LODE_SYSTEM. */
int lode_trace_dat_cpu_next(struct lode_trace_dat_cpu *cpu, struct lode_trace_dat_event *event);

#endif
