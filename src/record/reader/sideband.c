/*
 * Sideband: see sideband.h.
 *
 * One dummy event per CPU, system-wide, whose ring holds only the records that
 * accompany samples. A second one reports mappings, too, in the place of the first and
 * into the same ring; the kernel has no work with mappings once it is closed, not when
 * it is only disabled. Each record ends with pid, tid and time, by which the rings are
 * put in order. Records are copied out of a ring before they are looked at, because they
 * may wrap around its end.
 */
#include "record/reader/sideband.h"

#include "base/cursor.h"
#include "base/memory.h"
#include "process/file_view.h"
#include "record/unwind/mapped_build_ids.h"
#include "record/load/permissions.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES 128 /* of data, a power of two */

/* Protection bits in mmap2 records. */
#define EXECUTABLE 4u

struct ring {
	int fd;                            /* its event, which does not report mappings, */
	int maps_fd;                       /* and the one that does; -1: none, the first is enabled */
	struct perf_event_mmap_page *page; /* and the data behind it; NULL: none */
};

struct lode_sideband {
	struct ring *rings;
	size_t ring_count;
	size_t page_size;
	unsigned char *record; /* room for one, 64 KiB */
	struct lode_change *changes;
	size_t count;
	size_t capacity;
	size_t given; /* changes that the last read gave out */
	uint64_t lost;
	struct lode_mapped_build_ids build_ids;
};

#define RECORD_LIMIT 65536u

static int open_event(int cpu, int maps)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.disabled = 1,
		.mmap = maps != 0,
		.mmap2 = maps != 0,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int fail_event(int number, struct lode_error *error)
{
	int code = lode_permissions_fail(LODE_NEEDS_PROGRAMS, number, error);

	return code ? code
		    : lode_fail(error, LODE_SYSTEM,
				"perf_event_open() for process events (mmap, comm, fork) failed: %s",
				strerror(number));
}

/* Adds the event that reports mappings. Returns 0, or -1 with errno set. */
static int report_maps(struct ring *ring, int cpu)
{
	if (ring->maps_fd >= 0)
		return 0;
	ring->maps_fd = open_event(cpu, 1);
	if (ring->maps_fd < 0)
		return errno == ENODEV ? 0 /* the CPU is switched off by now */ : -1;
	if (ioctl(ring->maps_fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0 &&
	    ioctl(ring->maps_fd, PERF_EVENT_IOC_ENABLE, 0) == 0 && ioctl(ring->fd, PERF_EVENT_IOC_DISABLE, 0) == 0)
		return 0;
	close(ring->maps_fd);
	ring->maps_fd = -1;
	return -1;
}

/* For a moment both are enabled, so that nothing is missed; that a process was forked or ended may be said twice. */
static int end_report(struct ring *ring)
{
	if (ring->maps_fd < 0)
		return 0;
	if (ioctl(ring->fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return -1;
	close(ring->maps_fd);
	ring->maps_fd = -1;
	return 0;
}

int lode_sideband_report_maps(struct lode_sideband *sideband, int reports)
{
	int code = 0;

	for (size_t i = 0; i < sideband->ring_count; i++)
		if (sideband->rings[i].page &&
		    (reports ? report_maps(&sideband->rings[i], (int)i) : end_report(&sideband->rings[i])) < 0)
			code = -1;
	if (code && reports)
		lode_sideband_report_maps(sideband, 0);
	return code;
}

static int open_ring(struct lode_sideband *sideband, struct ring *ring, int cpu, struct lode_error *error)
{
	size_t size = (RING_PAGES + 1) * sideband->page_size;
	void *page;

	ring->fd = open_event(cpu, 0);
	if (ring->fd < 0)
		return errno == ENODEV ? 0 /* the CPU is switched off */ : fail_event(errno, error);
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0); /* from the kernel */
	if (page == MAP_FAILED)
		return lode_fail(error, LODE_SYSTEM,
				 "the ring buffer for process events cannot be mapped: %s; raise "
				 "kernel.perf_event_mlock_kb or run as root",
				 strerror(errno));
	ring->page = page;
	if (report_maps(ring, cpu) < 0)
		return lode_fail(error, LODE_SYSTEM, "process events cannot be enabled: %s", strerror(errno));
	return 0;
}

int lode_sideband_open(struct lode_sideband **result, struct lode_error *error)
{
	struct lode_sideband *sideband = lode_calloc(1, sizeof(*sideband));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int code = 0;

	*result = NULL;
	if (!sideband)
		return lode_fail_memory(error);
	sideband->page_size = (size_t)sysconf(_SC_PAGESIZE);
	sideband->ring_count = cpus > 0 ? (size_t)cpus : 1;
	sideband->rings = lode_calloc(sideband->ring_count, sizeof(*sideband->rings));
	sideband->record = lode_alloc(RECORD_LIMIT);
	if (!sideband->rings || !sideband->record) {
		sideband->ring_count = 0;
		code = lode_fail_memory(error);
	}
	for (size_t i = 0; i < sideband->ring_count; i++)
		sideband->rings[i].fd = sideband->rings[i].maps_fd = -1;
	for (size_t i = 0; !code && i < sideband->ring_count; i++)
		code = open_ring(sideband, &sideband->rings[i], (int)i, error);
	if (code) {
		lode_sideband_close(sideband);
		return code;
	}
	*result = sideband;
	return 0;
}

void lode_sideband_close(struct lode_sideband *sideband)
{
	if (!sideband)
		return;
	for (size_t i = 0; i < sideband->ring_count; i++) {
		if (sideband->rings[i].page)
			munmap(sideband->rings[i].page, (RING_PAGES + 1) * sideband->page_size);
		if (sideband->rings[i].maps_fd >= 0)
			close(sideband->rings[i].maps_fd);
		if (sideband->rings[i].fd >= 0)
			close(sideband->rings[i].fd);
	}
	lode_free(sideband->rings);
	lode_free(sideband->record);
	for (size_t i = 0; i < sideband->count; i++)
		lode_free(sideband->changes[i].text);
	lode_free(sideband->changes);
	lode_mapped_build_ids_release(&sideband->build_ids);
	lode_free(sideband);
}

/* ---- one record ---- */

/* The text that fills the record up to its trailer; a NUL ends it. */
static char *read_text(struct lode_cursor *body)
{
	size_t left = lode_cursor_left(body);
	const char *text = lode_cursor_bytes(body, left);

	return lode_strndup(text, strnlen(text, left));
}

static int read_map(struct lode_sideband *sideband, struct lode_cursor *body, struct lode_change *change)
{
	struct lode_file_number file;
	uint32_t protection;

	change->type = LODE_CHANGE_MAP;
	change->pid = lode_cursor_u32(body);
	change->tid = lode_cursor_u32(body);
	change->start = lode_cursor_u64(body);
	change->end = change->start + lode_cursor_u64(body);
	change->offset = lode_cursor_u64(body);
	file.major = lode_cursor_u32(body);
	file.minor = lode_cursor_u32(body);
	file.inode = lode_cursor_u64(body);
	file.generation = lode_cursor_u64(body);
	protection = lode_cursor_u32(body);
	lode_cursor_u32(body);
	if (body->failed || !(protection & EXECUTABLE))
		return 0;
	change->text = read_text(body);
	if (!change->text)
		return LODE_SYSTEM;
	if (lode_mapped_build_ids_set(&sideband->build_ids, &file, change) < 0) {
		lode_free(change->text);
		return LODE_SYSTEM;
	}
	return 1;
}

static int read_name(uint16_t misc, struct lode_cursor *body, struct lode_change *change)
{
	change->type = LODE_CHANGE_NAME;
	change->executed = !!(misc & PERF_RECORD_MISC_COMM_EXEC);
	change->pid = lode_cursor_u32(body);
	change->tid = lode_cursor_u32(body);
	if (body->failed)
		return 0;
	if (change->executed)
		change->mounts = lode_process_mounts(change->pid);
	change->text = read_text(body);
	return change->text ? 1 : LODE_SYSTEM;
}

static int read_task(enum lode_change_type type, struct lode_cursor *body, struct lode_change *change)
{
	change->type = type;
	change->pid = lode_cursor_u32(body);
	change->parent_pid = lode_cursor_u32(body);
	change->tid = lode_cursor_u32(body);
	change->parent_tid = lode_cursor_u32(body);
	return !body->failed;
}

/* Fills `change`: 1, 0 when the record is of no interest, or LODE_SYSTEM. */
static int read_record(struct lode_sideband *sideband, const struct perf_event_header *header,
		       struct lode_cursor *body, struct lode_change *change)
{
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		return read_map(sideband, body, change);
	case PERF_RECORD_COMM:
		return read_name(header->misc, body, change);
	case PERF_RECORD_FORK:
		return read_task(LODE_CHANGE_FORK, body, change);
	case PERF_RECORD_EXIT:
		return read_task(LODE_CHANGE_EXIT, body, change);
	case PERF_RECORD_LOST:
		lode_cursor_u64(body);
		sideband->lost += lode_cursor_u64(body);
		return 0;
	default:
		return 0;
	}
}

#define TRAILER 16 /* pid, tid, time */

static int handle_record(struct lode_sideband *sideband, const struct perf_event_header *header)
{
	const unsigned char *bytes = sideband->record;
	size_t size = header->size - sizeof(*header);
	struct lode_change change = { 0 };
	struct lode_cursor body, trailer;
	int wanted;

	if (size < TRAILER)
		return 0;
	body = lode_cursor(bytes, size - TRAILER);
	trailer = lode_cursor(bytes + size - TRAILER + 8, 8);
	change.t = lode_cursor_u64(&trailer);
	wanted = read_record(sideband, header, &body, &change);
	if (wanted <= 0)
		return wanted;
	if (lode_grow(&sideband->changes, &sideband->capacity, sideband->count + 1, sizeof(change)) < 0) {
		lode_free(change.text);
		return LODE_SYSTEM;
	}
	sideband->changes[sideband->count++] = change;
	return 0;
}

/* ---- rings ---- */

static void copy_out(const struct lode_sideband *sideband, const struct ring *ring, uint64_t at, void *to,
		     size_t size)
{
	const unsigned char *data = (const unsigned char *)ring->page + sideband->page_size;
	size_t whole = RING_PAGES * sideband->page_size, from = at % whole;
	size_t first = size < whole - from ? size : whole - from;

	memcpy(to, data + from, first);
	memcpy((unsigned char *)to + first, data, size - first);
}

static int read_ring(struct lode_sideband *sideband, struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	int code = 0;

	while (!code && head - tail >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;

		copy_out(sideband, ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		copy_out(sideband, ring, tail + sizeof(header), sideband->record, header.size - sizeof(header));
		code = handle_record(sideband, &header);
		tail += header.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	return code;
}

static int compare_times(const void *left, const void *right)
{
	const struct lode_change *a = left, *b = right;

	return a->t < b->t ? -1 : a->t > b->t;
}

/* Forgets the changes that the last read gave out. */
static void drop_given(struct lode_sideband *sideband)
{
	for (size_t i = 0; i < sideband->given; i++)
		lode_free(sideband->changes[i].text);
	sideband->count -= sideband->given;
	if (sideband->given)
		memmove(sideband->changes, sideband->changes + sideband->given,
			sideband->count * sizeof(*sideband->changes));
	sideband->given = 0;
}

int lode_sideband_read(struct lode_sideband *sideband, uint64_t until, const struct lode_change **changes,
		       size_t *count)
{
	int code = 0;

	drop_given(sideband);
	for (size_t i = 0; !code && i < sideband->ring_count; i++)
		if (sideband->rings[i].page)
			code = read_ring(sideband, &sideband->rings[i]);
	if (sideband->count)
		qsort(sideband->changes, sideband->count, sizeof(*sideband->changes), compare_times);
	while (sideband->given < sideband->count && sideband->changes[sideband->given].t <= until)
		sideband->given++;
	*changes = sideband->changes;
	*count = sideband->given;
	return code;
}

uint64_t lode_sideband_lost(const struct lode_sideband *sideband)
{
	return sideband->lost;
}

size_t lode_sideband_bytes(const struct lode_sideband *sideband)
{
	return sideband->ring_count * (RING_PAGES + 1) * sideband->page_size + RECORD_LIMIT;
}
