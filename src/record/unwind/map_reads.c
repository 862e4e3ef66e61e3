/* Mappings that are read from /proc: see map_reads.h. */
#include "record/unwind/map_reads.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hex.h"
#include "process/file_view.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Nanoseconds until a process is read again, and the most: twice as long each time that no file was new. Programs that make code as they
 * run change the number of pages all the time, and broken stacks lead anywhere.
 */
#define AGAIN_NS     2000000u
#define MAX_AGAIN_NS 10000000000u
/* And this multiple of the time that reading it took. */
#define AGAIN_TIMES 50u

/* Nanoseconds after which build-ids are forgotten. */
#define FORGET_NS 60000000000u

/* Shortest and longest round, and in between the share of a CPU that reading may take, as one in this many. */
#define ROUND_NS     2000000000u
#define MAX_ROUND_NS 60000000000u
#define ROUND_PART   4000u

static void free_changes(struct lode_map_reads *reads)
{
	for (size_t i = 0; i < reads->count; i++)
		lode_free(reads->changes[i].text);
	reads->count = 0;
}

void lode_map_reads_release(struct lode_map_reads *reads)
{
	free_changes(reads);
	lode_free(reads->changes);
	lode_free(reads->doubts);
	lode_mapped_build_ids_release(&reads->build_ids);
	memset(reads, 0, sizeof(*reads));
}

uint64_t lode_map_reads_quiet(const struct lode_process *process)
{
	uint64_t again = AGAIN_NS, least = (uint64_t)AGAIN_TIMES * process->read_ns;

	for (uint32_t i = 0; i < process->nothing_new && again < MAX_AGAIN_NS; i++)
		again *= 2;
	again = again > least ? again : least;
	return process->read_at ? process->read_at + (again < MAX_AGAIN_NS ? again : MAX_AGAIN_NS) : 0;
}

/* ---- processes in doubt ---- */

int lode_map_reads_doubt(struct lode_map_reads *reads, const struct lode_record_copy *copy)
{
	struct lode_map_doubt *last = reads->doubt_count ? &reads->doubts[reads->doubt_count - 1] : NULL;
	struct lode_map_doubt doubt = { .pid = copy->pid,
					.is_unmapped = copy->is_unmapped,
					.t = copy->t,
					.code_bytes = copy->code_pages * (uint64_t)sysconf(_SC_PAGESIZE) };

	if (last && last->pid == doubt.pid) {
		last->code_bytes = doubt.code_bytes;
		last->is_unmapped |= doubt.is_unmapped;
		last->t = doubt.t > last->t ? doubt.t : last->t;
		return 0;
	}
	return LODE_APPEND(reads->doubts, reads->doubt_count, reads->doubt_capacity, doubt);
}

static int compare_pids(const void *left, const void *right)
{
	const struct lode_map_doubt *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* Each process once, by number. */
static void merge_doubts(struct lode_map_reads *reads)
{
	size_t kept = 0;

	if (reads->doubt_count)
		qsort(reads->doubts, reads->doubt_count, sizeof(*reads->doubts), compare_pids);
	for (size_t i = 0; i < reads->doubt_count; i++) {
		struct lode_map_doubt *last = kept ? &reads->doubts[kept - 1] : NULL;

		if (!last || last->pid != reads->doubts[i].pid) {
			reads->doubts[kept++] = reads->doubts[i];
			continue;
		}
		/* Which of two is the later one is not known any more: what they disagree on is. */
		if (last->code_bytes != reads->doubts[i].code_bytes)
			last->code_bytes = 0;
		last->is_unmapped |= reads->doubts[i].is_unmapped;
		last->t = reads->doubts[i].t > last->t ? reads->doubts[i].t : last->t;
	}
	reads->doubt_count = kept;
}

/* What the sideband says of them. */
static void note_changes(struct lode_map_reads *reads, const struct lode_change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct lode_change *change = &changes[i];
		int forks = change->type == LODE_CHANGE_FORK && change->pid != change->parent_pid;
		int maps = change->type == LODE_CHANGE_MAP;
		struct lode_map_doubt wanted = { .pid = change->pid }, *doubt;

		if (!maps && !forks && !(change->type == LODE_CHANGE_NAME && change->executed))
			continue;
		doubt = bsearch(&wanted, reads->doubts, reads->doubt_count, sizeof(*doubt), compare_pids);
		if (!doubt)
			continue;
		doubt->is_reported |= maps;
		if (maps)
			continue;
		doubt->changed_at = change->t;
		doubt->parent = forks ? change->parent_pid : 0;
	}
}

/* What is known of a process: what its parent has where it was just forked, NULL where it was not or runs another program. */
static const struct lode_process *known_of(const struct lode_map_doubt *doubt,
					   const struct lode_processes *processes)
{
	if (doubt->changed_at && !doubt->parent)
		return NULL;
	return lode_processes_find(processes, doubt->changed_at ? doubt->parent : doubt->pid);
}

/* Whether a process is to be read. */
static int is_due(struct lode_map_doubt *doubt, const struct lode_processes *processes, uint64_t now)
{
	const struct lode_process *process = known_of(doubt, processes);

	if (doubt->changed_at)
		now = UINT64_MAX;
	if (!process || (!process->complete && !process->code_bytes))
		return doubt->changed_at != 0; /* else all of it is read when its stack is unwound */
	doubt->is_alarm = doubt->is_unmapped || (process->code_bytes && process->code_bytes != doubt->code_bytes);
	return (doubt->is_alarm || !process->code_bytes) && now >= lode_map_reads_quiet(process);
}

/* ---- reading ---- */

struct reading {
	struct lode_map_reads *reads;
	const struct lode_processes *processes;
	const struct lode_process *known; /* NULL: nothing of it counts any more */
	struct lode_map_doubt *doubt;
	uint64_t t; /* of its changes */
};

/* Whether the same is mapped there already. */
static int is_known(const struct reading *reading, const struct lode_proc_mapping *line, const char *build_id)
{
	const struct lode_mapping *mapping =
		reading->known ? lode_space_find(&reading->processes->spaces, &reading->known->space, line->start)
			       : NULL;
	enum lode_mapped kind = lode_mapped_kind(line->path);
	const struct lode_process_image *image;
	size_t length;

	if (!mapping || mapping->end < line->end)
		return 0;
	image = &reading->processes->images->items[mapping->image];
	if (kind != LODE_MAPPED_FILE)
		return image->kind == kind;
	if (build_id[0] && image->build_id[0] && strcmp(build_id, image->build_id))
		return 0;                        /* a new version at the old path */
	length = lode_mapped_length(line->path); /* it may have been deleted since */
	return mapping->offset + (line->start - mapping->start) == line->offset &&
	       lode_mapped_length(image->path) == length && !strncmp(image->path, line->path, length);
}

/* Whether it is a file that a program maps to run it, not one that exists only for code that it makes itself. */
static int is_file(const char *path)
{
	return lode_mapped_kind(path) == LODE_MAPPED_FILE && strncmp(path, "/memfd:", strlen("/memfd:"));
}

static int handle_line(void *context, const struct lode_proc_mapping *line)
{
	struct reading *reading = context;
	struct lode_map_reads *reads = reading->reads;
	struct lode_file_number file = { line->major, line->minor, line->inode, 0 };
	struct lode_change change = {
		.type = LODE_CHANGE_MAP,
		.t = reading->t,
		.pid = reading->doubt->pid,
		.tid = reading->doubt->pid,
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.text = (char *)(uintptr_t)line->path,
	};
	char build_id[2 * LODE_CHANGE_BUILD_ID + 1];

	if (lode_process_counts_code(line))
		reading->doubt->read_bytes += line->end - line->start;
	if (line->rights[2] != 'x')
		return 0;
	if (lode_mapped_build_ids_set(&reads->build_ids, &file, &change) < 0)
		return LODE_SYSTEM;
	lode_hex(build_id, change.build_id, change.build_id_size);
	if (is_known(reading, line, build_id))
		return 0;
	if (lode_process_line_is_own(line))
		change.mounts = LODE_MOUNTS_OWN;
	reading->doubt->is_new |= is_file(line->path);
	change.text = NULL;
	if (LODE_APPEND(reads->changes, reads->count, reads->capacity, change) < 0)
		return LODE_SYSTEM;
	reads->changes[reads->count - 1].text = lode_strdup(line->path);
	return reads->changes[reads->count - 1].text ? 0 : LODE_SYSTEM;
}

static int read_process(struct lode_map_reads *reads, const struct lode_processes *processes,
			struct lode_map_doubt *doubt, uint64_t known)
{
	struct reading reading = {
		.reads = reads,
		.processes = processes,
		.known = known_of(doubt, processes),
		.doubt = doubt,
		.t = doubt->changed_at ? doubt->changed_at : known,
	};
	int code;

	doubt->read_at = lode_now();
	code = lode_proc_mappings(doubt->pid, handle_line, &reading);
	doubt->read_ns = (uint32_t)(lode_now() - doubt->read_at);
	reads->gone += !doubt->read_bytes && !reading.known;
	return code;
}

/* Of this thread. */
static uint64_t cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int compare_times(const void *left, const void *right)
{
	const struct lode_change *a = left, *b = right;

	return a->t < b->t ? -1 : a->t > b->t;
}

int lode_map_reads_read(struct lode_map_reads *reads, const struct lode_processes *processes,
			const struct lode_change *changes, size_t count, uint64_t known)
{
	uint64_t now = lode_now(), began = cpu_time();
	int code = 0;

	free_changes(reads);
	if (now - reads->forgot_at >= FORGET_NS) {
		lode_mapped_build_ids_release(&reads->build_ids);
		reads->forgot_at = now;
	}
	merge_doubts(reads);
	note_changes(reads, changes, count);
	for (size_t i = 0; !code && i < reads->doubt_count; i++) {
		struct lode_map_doubt *doubt = &reads->doubts[i];

		if (is_due(doubt, processes, now))
			code = read_process(reads, processes, doubt, known);
	}
	if (reads->count)
		qsort(reads->changes, reads->count, sizeof(*reads->changes), compare_times);
	reads->spent += cpu_time() - began;
	return code;
}

int lode_map_reads_next_round(struct lode_map_reads *reads, unsigned cpus, uint64_t now)
{
	uint64_t time = now - reads->began;

	if (time < ROUND_NS || (time < MAX_ROUND_NS && time / ROUND_PART * cpus < reads->spent))
		return 0;
	reads->began = now;
	reads->spent = 0;
	return 1;
}

/* What was read of a process, or that it could not be: then the kernel's number counts, or it would ask again and again. */
static void remember(const struct lode_map_doubt *doubt, struct lode_process *process)
{
	process->code_bytes = doubt->is_reported ? 0 : doubt->read_bytes ? doubt->read_bytes : doubt->code_bytes;
	process->read_at = doubt->read_at;
	process->read_ns = doubt->read_ns;
	if (doubt->is_new)
		process->nothing_new = 0;
	else
		process->nothing_new += doubt->is_alarm || !doubt->read_bytes;
}

void lode_map_reads_settle(struct lode_map_reads *reads, struct lode_processes *processes, uint64_t until)
{
	size_t kept = 0;

	for (size_t i = 0; i < reads->doubt_count; i++) {
		const struct lode_map_doubt *doubt = &reads->doubts[i];
		struct lode_process *process = doubt->read_at ? lode_processes_find(processes, doubt->pid) : NULL;

		if (process)
			remember(doubt, process);
		if (doubt->t > until)
			reads->doubts[kept++] = (struct lode_map_doubt){ .pid = doubt->pid,
									 .is_unmapped = doubt->is_unmapped,
									 .code_bytes = doubt->code_bytes,
									 .t = doubt->t };
	}
	reads->doubt_count = kept;
}
