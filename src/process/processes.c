/*
 * Processes: see processes.h.
 *
 * A process that is gone is forgotten some seconds later: records that name it
 * may come a little after its end.
 */
#include "process/processes.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/proc_files.h"
#include "process/file_view.h"
#include "process/process_command.h"
#include "process/process_rows.h"
#include "trace/script_modules.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Nanoseconds that the mappings of a process outlive it. */
#define REMEMBERED 5000000000u
/* Threads more than twice those that were left the last time, before a search for those that are gone pays. */
#define FORGET_LEAST 1024
/* Nanoseconds after which there is one in any case: a burst of processes must not stay because there are fewer from then on. */
#define FORGET_AFTER 30000000000u

/* ---- the whole ---- */

int lode_processes_has_thread(const struct lode_processes *processes, uint32_t pid, uint32_t tid)
{
	return lode_life_row(processes, pid, tid) != LODE_NONE;
}

int lode_processes_init(struct lode_processes *processes, struct lode_process_images *images)
{
	memset(processes, 0, sizeof(*processes));
	processes->images = images;
	processes->own_mounts = lode_process_mounts((uint32_t)getpid());
	return lode_spaces_init(&processes->spaces);
}

void lode_processes_release(struct lode_processes *processes)
{
	lode_spaces_release(&processes->spaces);
	lode_free(processes->items);
	lode_index_release(&processes->index);
	lode_free(processes->lives);
	lode_index_release(&processes->life_index);
	lode_free(processes->gone);
	memset(processes, 0, sizeof(*processes));
}

/* ---- /proc ---- */

struct mapped {
	struct lode_processes *processes;
	struct lode_process *process;
};

/* Maps an image, of which its path, build-id and addresses are known, from `offset` of its file on. `own`: the path is the recorder's. */
static int map_image(struct lode_processes *processes, struct lode_process *process,
		     struct lode_process_image image, uint64_t offset, int own)
{
	struct lode_mapping mapping = { image.start, image.end, offset, LODE_NONE };

	image.mounts = own ? 0 : process->mounts;
	image.pid = process->pid;
	mapping.image = lode_process_images_get(processes->images, &image);
	if (mapping.image == LODE_NONE)
		return LODE_SYSTEM;
	return lode_space_map(&processes->spaces, &process->space, &mapping);
}

int lode_process_counts_code(const struct lode_proc_mapping *mapping)
{
	return mapping->rights[1] != 'w' && mapping->rights[2] == 'x' && strcmp(mapping->path, "[vsyscall]");
}

static int add_mapping(void *context, const struct lode_proc_mapping *line)
{
	struct mapped *mapped = context;
	struct lode_process_image image = { .path = line->path,
					    .build_id = "",
					    .start = line->start,
					    .end = line->end };

	if (lode_process_counts_code(line))
		mapped->process->code_bytes += line->end - line->start;
	if (line->rights[2] != 'x')
		return 0;
	return map_image(mapped->processes, mapped->process, image, line->offset,
			 mapped->process->mounts && lode_process_line_is_own(line));
}

static void set_mounts(struct lode_processes *processes, struct lode_process *process, uint64_t mounts)
{
	if (mounts) /* else it is gone; what its parent had stays the best guess */
		process->mounts = mounts == processes->own_mounts ? 0 : mounts;
}

static int read_maps(struct lode_processes *processes, struct lode_process *process)
{
	struct mapped mapped = { processes, process };

	process->complete = 1;
	process->code_bytes = 0;
	process->read_at = lode_now();
	set_mounts(processes, process, lode_process_mounts(process->pid));
	return lode_proc_mappings(process->pid, add_mapping, &mapped);
}

struct snapshot {
	struct lode_processes *processes;
	uint64_t until;
};

static int enter_found(void *context, uint32_t pid)
{
	struct snapshot *snapshot = context;
	struct lode_process *process;

	if (lode_now() >= snapshot->until) {
		snapshot->processes->unread++;
		return 0;
	}
	process = lode_process_enter(snapshot->processes, pid);
	return process ? read_maps(snapshot->processes, process) : LODE_SYSTEM;
}

int lode_processes_snapshot(struct lode_processes *processes, uint64_t patience)
{
	uint64_t now = lode_now();
	struct snapshot snapshot = { processes, patience < UINT64_MAX - now ? now + patience : UINT64_MAX };
	int code = lode_proc_numbers("/proc", enter_found, &snapshot);

	return code < 0 ? code : 0;
}

void lode_processes_note(const struct lode_processes *processes, struct lode_notes *notes)
{
	lode_notes_add(notes, processes->unread,
		       "processes that ran already and were too many to read before the start: the addresses of "
		       "those that ended at once have no symbols",
		       NULL);
	lode_notes_add(notes, processes->spaces.dropped,
		       "mappings beyond the limit, whose addresses have no symbols", NULL);
}

static void ask_name(struct lode_thread_lifetime *life)
{
	if (!life->tid) {
		strcpy(life->name, "swapper");
		return;
	}
	lode_proc_text(life->name, sizeof(life->name), "/proc/%u/task/%u/comm", life->pid, life->tid);
	life->name[strcspn(life->name, "\n")] = '\0';
	if (life->pid == life->tid && !life->command[0])
		lode_process_command(life->pid, life->name, life->command, sizeof(life->command));
}

struct lode_process *lode_processes_find(const struct lode_processes *processes, uint32_t pid)
{
	uint32_t id = lode_process_row(processes, pid);

	return id == LODE_NONE ? NULL : &processes->items[id];
}

struct lode_process *lode_processes_get(struct lode_processes *processes, uint32_t pid)
{
	struct lode_process *process = lode_process_enter(processes, pid);

	if (process && !process->complete && read_maps(processes, process) < 0)
		return NULL;
	return process;
}

struct lode_thread_lifetime *lode_processes_life(struct lode_processes *processes, uint32_t pid, uint32_t tid)
{
	uint32_t id = lode_life_row(processes, pid, tid);
	struct lode_thread_lifetime *life = id == LODE_NONE ? lode_life_add(processes, pid, tid)
							    : &processes->lives[id];

	if (life && !life->name[0] && !life->died)
		ask_name(life);
	return life;
}

struct named {
	struct lode_processes *processes;
	uint32_t pid;
};

static int name_thread(void *context, uint32_t tid)
{
	struct named *named = context;

	return lode_processes_life(named->processes, named->pid, tid) ? 0 : LODE_SYSTEM;
}

int lode_processes_name_all(struct lode_processes *processes)
{
	int code = 0;

	for (size_t i = 0; code >= 0 && i < processes->count; i++)
		code = lode_proc_threads(processes->items[i].pid, name_thread,
					 &(struct named){ processes, processes->items[i].pid });
	return code < 0 ? code : 0;
}

/* ---- changes ---- */

static int apply_map(struct lode_processes *processes, const struct lode_change *change)
{
	struct lode_process *process = lode_process_enter(processes, change->pid);
	char build_id[2 * LODE_CHANGE_BUILD_ID + 1];
	struct lode_process_image image = { .path = change->text,
					    .build_id = build_id,
					    .start = change->start,
					    .end = change->end };

	lode_hex(build_id, change->build_id, change->build_id_size);
	if (process)
		process->code_bytes = 0;
	if (!process)
		return LODE_SYSTEM;
	if (change->mounts != LODE_MOUNTS_OWN)
		set_mounts(processes, process, change->mounts);
	return map_image(processes, process, image, change->offset, change->mounts == LODE_MOUNTS_OWN);
}

/*
 * The mappings of the program before an exec stay: while exec is at work in the
 * kernel, the user's stack still is that of the old program.
 */
static int apply_name(struct lode_processes *processes, const struct lode_change *change)
{
	uint32_t id = lode_life_row(processes, change->pid, change->tid);
	struct lode_thread_lifetime *life = id == LODE_NONE ? lode_life_add(processes, change->pid, change->tid)
							    : &processes->lives[id];
	struct lode_process *process;

	if (!life)
		return LODE_SYSTEM;
	if (change->executed || life->forked)
		life->command[0] = '\0';
	else if (change->pid == change->tid && !life->command[0])
		snprintf(life->command, sizeof(life->command), "%s", life->name);
	life->forked &= !change->executed;
	snprintf(life->name, sizeof(life->name), "%s", change->text);
	if (!change->executed)
		return 0;
	if (lode_program_runs_scripts(life->name))
		lode_process_command(life->pid, life->name, life->command, sizeof(life->command));
	life->died = 0; /* exec by another thread ends the first one, and takes its number */
	process = lode_process_enter(processes, change->pid);
	if (!process)
		return LODE_SYSTEM;
	process->complete = 1;
	process->code_bytes = process->read_at = process->nothing_new = 0;
	set_mounts(processes, process, change->mounts);
	return 0;
}

static int apply_fork(struct lode_processes *processes, const struct lode_change *change)
{
	uint32_t parent = lode_life_row(processes, change->parent_pid, change->parent_tid), from, to;
	struct lode_thread_lifetime *life = lode_life_add(processes, change->pid, change->tid);

	if (!life)
		return LODE_SYSTEM;
	life->born = change->t;
	if (parent != LODE_NONE)
		memcpy(life->name, processes->lives[parent].name, sizeof(life->name));
	if (change->pid == change->parent_pid)
		return 0;
	life->forked = 1;
	parent = lode_life_row(processes, change->parent_pid, change->parent_pid);
	if (parent != LODE_NONE)
		lode_command_inherit(life->command, processes->lives[parent].command,
				     processes->lives[parent].name, life->name);
	if (!lode_process_enter(processes, change->parent_pid) || !lode_process_enter(processes, change->pid))
		return LODE_SYSTEM;
	from = lode_process_row(processes, change->parent_pid);
	to = lode_process_row(processes, change->pid);
	lode_space_clear(&processes->spaces, &processes->items[to].space);
	processes->items[to].space = lode_space_fork(&processes->spaces, &processes->items[from].space);
	processes->items[to].mounts = processes->items[from].mounts;
	processes->items[to].complete = processes->items[from].complete;
	processes->items[to].code_bytes = processes->items[from].code_bytes;
	processes->items[to].read_at = processes->items[from].read_at;
	processes->items[to].nothing_new = 0;
	return 0;
}

/* Forgets the mappings of processes that have been gone for a while, and have not come again. */
static void forget_gone(struct lode_processes *processes, uint64_t t)
{
	while (processes->gone_first < processes->gone_count &&
	       processes->gone[processes->gone_first].t + REMEMBERED < t) {
		uint32_t pid = processes->gone[processes->gone_first].pid;
		uint32_t id = lode_process_row(processes, pid), life = lode_life_row(processes, pid, pid);

		if (id != LODE_NONE && (life == LODE_NONE || processes->lives[life].died)) {
			lode_space_clear(&processes->spaces, &processes->items[id].space);
			processes->items[id].complete = 0;
			processes->items[id].code_bytes = 0;
		}
		processes->gone_first++;
	}
	if (processes->gone_first < 4096 || processes->gone_first * 2 < processes->gone_count)
		return;
	processes->gone_count -= processes->gone_first;
	memmove(processes->gone, processes->gone + processes->gone_first,
		processes->gone_count * sizeof(*processes->gone));
	processes->gone_first = 0;
}

int lode_processes_has_ended(const struct lode_processes *processes, uint32_t pid)
{
	uint32_t life = lode_life_row(processes, pid, pid);

	return life != LODE_NONE && processes->lives[life].died;
}

static int apply_exit(struct lode_processes *processes, const struct lode_change *change)
{
	uint32_t id = lode_life_row(processes, change->pid, change->tid);

	if (id != LODE_NONE)
		processes->lives[id].died = change->t;
	if (change->pid != change->tid)
		return 0;
	if (LODE_APPEND(processes->gone, processes->gone_count, processes->gone_capacity,
			(struct lode_process_exit){ change->t, change->pid }) < 0)
		return LODE_SYSTEM;
	forget_gone(processes, change->t);
	return 0;
}

int lode_processes_apply(struct lode_processes *processes, const struct lode_change *change)
{
	switch (change->type) {
	case LODE_CHANGE_MAP:
		return apply_map(processes, change);
	case LODE_CHANGE_NAME:
		return apply_name(processes, change);
	case LODE_CHANGE_FORK:
		return apply_fork(processes, change);
	default:
		return apply_exit(processes, change);
	}
}

/* ---- forgetting ---- */

size_t lode_processes_bytes(const struct lode_processes *processes)
{
	return processes->capacity * sizeof(*processes->items) + lode_index_bytes(&processes->index) +
	       processes->life_capacity * sizeof(*processes->lives) + lode_index_bytes(&processes->life_index) +
	       processes->gone_capacity * sizeof(*processes->gone) + lode_spaces_bytes(&processes->spaces) +
	       lode_process_images_bytes(processes->images);
}

struct copying {
	const struct lode_processes *from;
	struct lode_processes *to;
	struct lode_space *space;
};

static int copy_mapping(void *context, const struct lode_mapping *mapping)
{
	struct copying *copying = context;
	struct lode_mapping copy = *mapping;

	copy.image = lode_process_images_copy(copying->to->images, copying->from->images, mapping->image);
	if (copy.image == LODE_NONE)
		return LODE_SYSTEM;
	return lode_space_map(&copying->to->spaces, copying->space, &copy);
}

/* What is mapped; processes that shared all of it, as after a fork, go on doing so. */
static int copy_space(struct copying *copying, struct lode_index *roots, const struct lode_space *space,
		      uint32_t number)
{
	uint64_t hash = lode_hash_pair(1, space->root);
	size_t probe = 0;
	uint32_t other;

	if (!space->root)
		return 0;
	while ((other = lode_index_next(roots, hash, &probe)) != LODE_NONE) {
		struct lode_space *known = &copying->to->items[other].space;

		if (known->root &&
		    copying->from->items[lode_process_row(copying->from, copying->to->items[other].pid)].space.root ==
			    space->root) {
			copying->to->items[number].space = lode_space_fork(&copying->to->spaces, known);
			return 0;
		}
	}
	copying->space = &copying->to->items[number].space;
	if (lode_space_walk(&copying->from->spaces, space, copy_mapping, copying) < 0)
		return LODE_SYSTEM;
	return lode_index_insert(roots, hash, number);
}

static int is_gone(const struct lode_thread_lifetime *life, uint64_t t)
{
	return life->died && life->died + REMEMBERED < t;
}

static int copy_processes(struct copying *copying, uint64_t t)
{
	struct lode_index roots = { 0 };
	int code = 0;

	for (size_t i = 0; !code && i < copying->from->count; i++) {
		const struct lode_process *process = &copying->from->items[i];
		uint32_t life = lode_life_row(copying->from, process->pid, process->pid);
		struct lode_process *copy;

		if (life == LODE_NONE ? !process->space.root : is_gone(&copying->from->lives[life], t))
			continue;
		copy = lode_process_enter(copying->to, process->pid);
		if (!copy) {
			code = LODE_SYSTEM;
			break;
		}
		copy->mounts = process->mounts;
		copy->complete = process->complete;
		copy->code_bytes = process->code_bytes;
		copy->read_at = process->read_at;
		copy->nothing_new = process->nothing_new;
		copy->read_ns = process->read_ns;
		code = copy_space(copying, &roots, &process->space, (uint32_t)copying->to->count - 1);
	}
	lode_index_release(&roots);
	return code;
}

static int copy_lives(struct copying *copying, uint64_t t)
{
	for (size_t i = 0; i < copying->from->life_count; i++) {
		const struct lode_thread_lifetime *life = &copying->from->lives[i];
		struct lode_thread_lifetime *copy;

		/* Of a number that came again only the youngest counts. */
		if (is_gone(life, t) || lode_life_row(copying->from, life->pid, life->tid) != i)
			continue;
		copy = lode_life_add(copying->to, life->pid, life->tid);
		if (!copy)
			return LODE_SYSTEM;
		*copy = *life;
	}
	return 0;
}

static int copy_gone(struct copying *copying)
{
	size_t count = copying->from->gone_count - copying->from->gone_first;

	if (!count)
		return 0;
	if (LODE_GROW(copying->to->gone, copying->to->gone_capacity, count) < 0)
		return LODE_SYSTEM;
	memcpy(copying->to->gone, copying->from->gone + copying->from->gone_first,
	       count * sizeof(*copying->to->gone));
	copying->to->gone_count = count;
	return 0;
}

/* Processes whose mappings stay what they are. */
static int keep_processes(struct copying *copying, uint64_t t)
{
	struct lode_processes *to = copying->to;

	for (size_t i = 0; i < copying->from->count; i++) {
		const struct lode_process *process = &copying->from->items[i];
		uint32_t life = lode_life_row(copying->from, process->pid, process->pid);

		if (!process->space.root && (life == LODE_NONE || is_gone(&copying->from->lives[life], t)))
			continue;
		if (LODE_INDEX_APPEND(&to->index, lode_hash_pair(0, process->pid), to->items, to->count,
				      to->capacity, *process) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* Frees what of `processes` refers to threads and processes by number. */
static void release_tables(struct lode_processes *processes)
{
	lode_free(processes->items);
	lode_index_release(&processes->index);
	lode_free(processes->lives);
	lode_index_release(&processes->life_index);
}

/* Frees mappings that only processes had that are forgotten now. */
static int free_mappings(struct lode_processes *processes)
{
	struct lode_space_marks marks;

	if (lode_space_marks_begin(&processes->spaces, &marks) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < processes->count; i++)
		lode_space_marks_add(&processes->spaces, &marks, &processes->items[i].space);
	lode_space_marks_end(&processes->spaces, &marks);
	return 0;
}

int lode_processes_forget(struct lode_processes *processes, uint64_t t)
{
	struct lode_processes fresh = { 0 };
	struct copying copying = { processes, &fresh, NULL };

	if (!processes->forgot_at)
		processes->forgot_at = t;
	if (processes->life_count < 2 * processes->remembered + FORGET_LEAST &&
	    (processes->remembered < FORGET_LEAST || t < processes->forgot_at + FORGET_AFTER))
		return 0;
	processes->forgot_at = t;
	forget_gone(processes, t);
	if (copy_lives(&copying, t) < 0 || keep_processes(&copying, t) < 0) {
		release_tables(&fresh);
		return LODE_SYSTEM;
	}
	release_tables(processes);
	processes->items = fresh.items;
	processes->count = fresh.count;
	processes->capacity = fresh.capacity;
	processes->index = fresh.index;
	processes->lives = fresh.lives;
	processes->life_count = processes->remembered = fresh.life_count;
	processes->life_capacity = fresh.life_capacity;
	processes->life_index = fresh.life_index;
	return free_mappings(processes);
}

int lode_processes_compact(struct lode_processes *processes, uint64_t t)
{
	struct lode_process_images images;
	struct lode_processes fresh;
	struct copying copying = { processes, &fresh, NULL };

	memset(&fresh, 0, sizeof(fresh));
	if (lode_process_images_init(&images) < 0 || lode_processes_init(&fresh, &images) < 0 ||
	    copy_processes(&copying, t) < 0 || copy_lives(&copying, t) < 0 || copy_gone(&copying) < 0) {
		lode_processes_release(&fresh);
		lode_process_images_release(&images);
		return LODE_SYSTEM;
	}
	fresh.spaces.dropped += processes->spaces.dropped;
	fresh.unread = processes->unread;
	fresh.images = processes->images;
	images.files = processes->images->files;
	lode_process_images_release(processes->images);
	*processes->images = images;
	lode_processes_release(processes);
	*processes = fresh;
	return 0;
}
