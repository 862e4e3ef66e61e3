/*
 * The events of one CPU of a trace.dat: see trace_dat_cpu.h.
 *
 * A page is a time (u64), the number of bytes in use (a long of the kernel, with flags above bit 20)
 * and records. A record begins with 32 bits: 5 for its type, 27 for the time since the record before.
 *
 *	0	data, whose length with itself is the next u32
 *	1…28	this many u32 of data
 *	29	padding: nothing more in the page, or as many bytes as the next u32 says
 *	30	the next u32 is the upper part of the time since the record before
 *	31	the same of an absolute time
 *
 * Data begins with the id of its format (u16), flags (2 bytes) and the thread (u32).
 */
#include "import/kernel/trace_dat_cpu.h"

#include <string.h>

#define COMMIT_BYTES 0xfffffu
#define COMMIT_LOST  (1u << 31)
/* A chunk has a few pages; one that says more is damaged. */
#define CHUNK_LIMIT (64u << 20)

enum { TYPE_LONG = 0, TYPE_PADDING = 29, TYPE_EXTEND = 30, TYPE_STAMP = 31 };

static uint32_t find_format(const struct lode_trace_dat *file, const char *name, uint32_t *offset)
{
	for (size_t i = 0; i < file->tracepoints.count; i++) {
		const struct lode_perf_tracepoint *tracepoint = &file->tracepoints.items[i];

		if (strcmp(tracepoint->system, "ftrace") == 0 && strcmp(tracepoint->name, name) == 0) {
			*offset = tracepoint->fields[FIELD_CALLER].offset;
			return *offset ? (uint32_t)tracepoint->id : 0;
		}
	}
	return 0;
}

void lode_trace_dat_cpu_init(struct lode_trace_dat_cpu *cpu, const struct lode_trace_dat *file,
			     const struct lode_trace_dat_row *row)
{
	uint32_t unused;

	*cpu = (struct lode_trace_dat_cpu){ .file = file, .rest = row->bytes, .packed = row->packed };
	cpu->stack_type = find_format(file, "kernel_stack", &cpu->stack_offset);
	cpu->user_type = find_format(file, "user_stack", &unused);
	if (cpu->packed && lode_cursor_left(&cpu->rest))
		cpu->chunks = lode_cursor_u32(&cpu->rest);
	cpu->chunk = cpu->page = lode_cursor(file->bytes, 0);
}

void lode_trace_dat_cpu_release(struct lode_trace_dat_cpu *cpu)
{
	lode_free(cpu->rooms[0]);
	lode_free(cpu->rooms[1]);
	*cpu = (struct lode_trace_dat_cpu){ 0 };
}

/* ---- pages ---- */

/* Unpacks the next chunk. Returns 1, 0 when there is none, or LODE_SYSTEM. */
static int next_chunk(struct lode_trace_dat_cpu *cpu)
{
	uint32_t packed, plain;
	const void *bytes;
	int room = cpu->room ^= 1;

	if (!cpu->packed) {
		cpu->chunk = cpu->rest;
		cpu->rest.next = cpu->rest.end;
		return lode_cursor_left(&cpu->chunk) > 0;
	}
	if (!cpu->chunks)
		return 0;
	cpu->chunks--;
	packed = lode_cursor_u32(&cpu->rest);
	plain = lode_cursor_u32(&cpu->rest);
	bytes = lode_cursor_bytes(&cpu->rest, packed);
	if (!bytes || !plain || plain > CHUNK_LIMIT) {
		cpu->damaged = 1;
		return 0;
	}
	if (lode_grow(&cpu->rooms[room], &cpu->room_capacities[room], plain, 1) < 0)
		return LODE_SYSTEM;
	if (lode_trace_dat_unpack(cpu->file, bytes, packed, cpu->rooms[room], plain) < 0) {
		cpu->damaged = 1;
		return 0;
	}
	cpu->chunk = lode_cursor(cpu->rooms[room], plain);
	cpu->chunk.swap = cpu->file->swap;
	return 1;
}

/* Opens the next page. Returns 1, 0 at the end, or LODE_SYSTEM. */
static int next_page(struct lode_trace_dat_cpu *cpu)
{
	uint64_t commit, used;
	struct lode_cursor page;
	int got;

	while (!lode_cursor_left(&cpu->chunk)) {
		got = next_chunk(cpu);
		if (got <= 0)
			return got;
	}
	page = cpu->chunk;
	if (lode_cursor_left(&page) > cpu->file->page_size)
		page.end = page.next + cpu->file->page_size;
	cpu->chunk.next = page.end;
	cpu->t = lode_cursor_u64(&page);
	commit = cpu->file->commit_size == 8 ? lode_cursor_u64(&page) : lode_cursor_u32(&page);
	used = commit & COMMIT_BYTES;
	cpu->lost += (commit & COMMIT_LOST) != 0;
	if (page.failed || used > lode_cursor_left(&page)) {
		cpu->damaged = 1;
		used = lode_cursor_left(&page);
	}
	page.end = page.next + used;
	cpu->page = page;
	return 1;
}

/* ---- records ---- */

/* Where the data of a record is, and the time; a record without any has no bytes. */
static struct lode_cursor read_record(struct lode_trace_dat_cpu *cpu)
{
	uint32_t head = lode_cursor_u32(&cpu->page), length = 0;
	uint32_t type = cpu->file->swap ? head >> 27 : head & 31,
		 delta = cpu->file->swap ? head & 0x7ffffff : head >> 5;
	struct lode_cursor data = cpu->page;

	if (type == TYPE_PADDING && !delta) {
		cpu->page.next = cpu->page.end;
	} else if (type == TYPE_PADDING || type == TYPE_LONG) {
		length = lode_cursor_u32(&cpu->page);
		length = length > 4 ? length - 4 : 0;
		data = cpu->page;
		lode_cursor_bytes(&cpu->page, length);
		length = type == TYPE_LONG ? length : 0;
	} else if (type == TYPE_EXTEND) {
		cpu->t += (uint64_t)lode_cursor_u32(&cpu->page) << 27;
	} else if (type == TYPE_STAMP) {
		cpu->t = (cpu->t & ~(UINT64_MAX >> 5)) | (uint64_t)lode_cursor_u32(&cpu->page) << 27;
	} else {
		length = type * 4;
		lode_cursor_bytes(&cpu->page, length);
	}
	cpu->t += delta;
	if (cpu->page.failed) {
		cpu->damaged = 1;
		length = 0;
	}
	data.end = data.next + length;
	return data;
}

/* The next event of any type. */
static int read_event(struct lode_trace_dat_cpu *cpu, struct lode_trace_dat_event *event)
{
	for (;;) {
		struct lode_cursor data;
		int got = lode_cursor_left(&cpu->page) < 4 ? next_page(cpu) : 1;

		if (got <= 0)
			return got;
		if (lode_cursor_left(&cpu->page) < 4)
			continue;
		data = read_record(cpu);
		if (lode_cursor_left(&data) < 8)
			continue;
		*event = (struct lode_trace_dat_event){ .t = cpu->t, .data = data };
		event->type = lode_cursor_u16(&data);
		lode_cursor_u16(&data);
		event->tid = lode_cursor_u32(&data);
		return 1;
	}
}

static void decode_stack(const struct lode_trace_dat_cpu *cpu, struct lode_trace_dat_event *event,
			 const struct lode_trace_dat_event *stack)
{
	struct lode_cursor addresses = stack->data;

	if (lode_cursor_bytes(&addresses, cpu->stack_offset) && !event->stack.next)
		event->stack = addresses;
}

int lode_trace_dat_cpu_next(struct lode_trace_dat_cpu *cpu, struct lode_trace_dat_event *event)
{
	int got;

	if (!cpu->has_next) {
		got = read_event(cpu, &cpu->next);
		if (got <= 0)
			return got;
	}
	*event = cpu->next;
	while ((got = read_event(cpu, &cpu->next)) > 0) {
		if (cpu->stack_type && cpu->next.type == cpu->stack_type)
			decode_stack(cpu, event, &cpu->next);
		else if (cpu->user_type && cpu->next.type == cpu->user_type)
			cpu->user_stacks++;
		else
			break;
	}
	cpu->has_next = got > 0;
	return got < 0 ? got : 1;
}
