/*
 * Hunted processes: see hunted_processes.h.
 *
 * Sums of a thread are kept in the kernel's tables while it lives. Of a dead
 * thread they go to `past`, added up by process, and by thread only where an
 * experiment asks for that thread: a program may start any number of threads.
 */
#include "hunt/meter/live/hunted_processes.h"

#include "base/memory.h"
#include "base/proc_files.h"
#include "base/starts_with.h"
#include "hunt/meter/live/spin_wait_functions.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOT_ASKED (LODE_NONE - 1)

int lode_hunted_init(struct lode_hunted_processes *target, struct lode_thread_clocks *clocks,
		     struct lode_program *program, struct lode_error *error)
{
	memset(target, 0, sizeof(*target));
	target->clocks = clocks;
	target->program = program;
	target->seen = lode_calloc(clocks->thread_count, sizeof(*target->seen));
	target->histories = lode_calloc(clocks->thread_count, sizeof(*target->histories));
	if (!target->seen || !target->histories || lode_frames_init(&target->frames) < 0 ||
	    lode_process_images_init(&target->images) < 0 ||
	    lode_processes_init(&target->spaces, &target->images) < 0)
		return lode_fail_memory(error);
	return 0;
}

void lode_hunted_release(struct lode_hunted_processes *target)
{
	for (size_t i = 0; i < target->binary_count; i++)
		lode_free(target->binaries[i].path);
	lode_free(target->binaries);
	lode_free(target->of_image);
	lode_free(target->past);
	lode_free(target->seen);
	lode_free(target->waits);
	lode_free(target->histories);
	lode_free(target->items);
	lode_processes_release(&target->spaces);
	lode_process_images_release(&target->images);
	lode_frames_release(&target->frames);
	memset(target, 0, sizeof(*target));
}

/* ---- binaries ---- */

static int keep_binary(struct lode_hunted_processes *target, uint32_t binary, uint32_t image, const char *path)
{
	if (LODE_GROW(target->binaries, target->binary_capacity, (size_t)binary + 1) < 0)
		return LODE_SYSTEM;
	while (target->binary_count <= binary)
		target->binaries[target->binary_count++] = (struct lode_hunted_binary){ NULL, LODE_NONE };
	if (target->binaries[binary].path)
		return 0;
	target->binaries[binary] = (struct lode_hunted_binary){ lode_strdup(path), image };
	return target->binaries[binary].path ? 0 : LODE_SYSTEM;
}

/* The path by which the file of an image can be opened. Returns 0, or LODE_SYSTEM when it has none. */
static int open_image(struct lode_hunted_processes *target, uint32_t number, char *path, size_t size)
{
	const struct lode_process_image *image;

	if (target->failed || lode_process_image_use(&target->images, number, &target->frames) < 0)
		return LODE_SYSTEM;
	image = &target->images.items[number];
	if (image->kind != LODE_MAPPED_FILE || image->fd < 0)
		return LODE_SYSTEM;
	snprintf(path, size, "/proc/self/fd/%d", image->fd);
	return 0;
}

/* Reads the code of an image. LODE_NONE when it has none that can be read. */
static uint32_t read_binary(struct lode_hunted_processes *target, uint32_t number)
{
	struct lode_error ignored;
	uint32_t binary;
	char path[40];
	int code;

	if (open_image(target, number, path, sizeof(path)) < 0)
		return LODE_NONE;
	if (access(path, R_OK) < 0) {
		target->unreadable++;
		return LODE_NONE;
	}
	code = lode_program_add_binary(target->program, path, target->images.items[number].path, &binary, &ignored);
	if (!code)
		code = keep_binary(target, binary, number, path);
	target->failed |= code == LODE_SYSTEM;
	target->unreadable += code != 0;
	return code ? LODE_NONE : binary;
}

static uint32_t binary_of(struct lode_hunted_processes *target, uint32_t image)
{
	size_t before = target->image_capacity;

	if (image == LODE_PROCESS_IMAGE_UNKNOWN || image == LODE_NONE)
		return LODE_NONE;
	if (LODE_GROW(target->of_image, target->image_capacity, (size_t)image + 1) < 0)
		return LODE_NONE;
	for (size_t i = before; i < target->image_capacity; i++)
		target->of_image[i] = NOT_ASKED;
	if (target->of_image[image] == NOT_ASKED) {
		if (target->defers_code)
			return LODE_NONE;
		target->of_image[image] = read_binary(target, image);
	}
	return target->of_image[image];
}

static uint32_t binary_at(struct lode_hunted_processes *target, uint32_t pid, uint64_t address, uint64_t *offset)
{
	struct lode_process *process = lode_processes_get(&target->spaces, pid);
	const struct lode_mapping *mapping =
		process ? lode_space_find(&target->spaces.spaces, &process->space, address) : NULL;

	if (!mapping)
		return LODE_NONE;
	*offset = address - mapping->start + mapping->offset;
	return binary_of(target, mapping->image);
}

uint32_t lode_hunted_at(struct lode_hunted_processes *target, uint32_t pid, uint64_t address)
{
	uint64_t offset;
	uint32_t binary = binary_at(target, pid, address, &offset);

	return binary == LODE_NONE ? LODE_NONE : lode_program_at(target->program, binary, offset);
}

/* Whether an image has functions that get their probes before anyone asks for them. */
static int is_special(struct lode_hunted_processes *target, uint32_t number)
{
	char path[40];

	return open_image(target, number, path, sizeof(path)) == 0 && lode_spin_wait_is_in(path);
}

int lode_hunted_learn_images(struct lode_hunted_processes *target, struct lode_error *error)
{
	for (; target->images_known < target->images.count && !target->failed; target->images_known++)
		if (is_special(target, (uint32_t)target->images_known))
			binary_of(target, (uint32_t)target->images_known);
	return target->failed ? lode_fail_memory(error) : 0;
}

/* ---- processes ---- */

struct lode_hunted_process *lode_hunted_find(struct lode_hunted_processes *target, uint32_t pid)
{
	for (size_t i = target->count; i-- > 0;)
		if (target->items[i].pid == pid)
			return &target->items[i];
	return NULL;
}

/* Programs that start the processes of a parallel program and wait for them. */
static const char *const launchers[] = { "mpirun", "mpiexec", "hydra_", "orterun",   "orted",
					 "prte",   "prun",    "srun",   "slurmstepd" };

static int launches_only(const char *name)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (lode_starts_with(name, launchers[i]))
			return 1;
	return 0;
}

static void learn_name(struct lode_hunted_processes *target, struct lode_hunted_process *process)
{
	const struct lode_thread_lifetime *life = lode_processes_life(&target->spaces, process->pid, process->pid);

	if (life && life->name[0])
		memcpy(process->name, life->name, sizeof(process->name));
}

/* The path of the program that a process runs. */
static void program_path(uint32_t pid, char *path, size_t size)
{
	char link[32];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	length = readlink(link, path, size - 1);
	path[length < 0 ? 0 : length] = '\0';
}

uint32_t lode_hunted_version(struct lode_hunted_processes *target, uint32_t pid)
{
	struct lode_process *process = lode_processes_get(&target->spaces, pid);

	return process ? process->space.version : 0;
}

struct learned {
	struct lode_hunted_processes *target;
	struct lode_hunted_process *process;
	char program[4096];
};

/* The code of the program itself is read at once; that of others when a stack leads into it. */
static int learn_mapping(void *context, const struct lode_proc_mapping *mapping)
{
	struct learned *learned = context;
	uint64_t offset;
	uint32_t binary;

	if (mapping->rights[2] != 'x' || !learned->program[0] || !lode_starts_with(mapping->path, learned->program))
		return 0;
	binary = binary_at(learned->target, learned->process->pid, mapping->start, &offset);
	if (binary != LODE_NONE)
		learned->process->binary = binary;
	return learned->target->failed;
}

/* Begins or ends to measure the process itself, as it has become or is no more one that only starts others.
 */
static int learn_role(struct lode_hunted_processes *target, struct lode_hunted_process *process,
		      struct lode_error *error)
{
	int before = process->launches, code;

	learn_name(target, process);
	process->launches = launches_only(process->name);
	if (process->launches == before)
		return 0;
	process->since = lode_now();
	if (process->launches)
		return lode_thread_clocks_children_only(target->clocks, process->pid, error);
	code = lode_thread_clocks_add_process(target->clocks, process->pid, error);
	return code < 0 ? code : 0;
}

int lode_hunted_learn(struct lode_hunted_processes *target, uint32_t pid, struct lode_error *error)
{
	struct lode_hunted_process *process = lode_hunted_find(target, pid);
	struct learned learned = { .target = target, .process = process };
	int code = 0;

	if (!process)
		return 0;
	code = learn_role(target, process, error);
	if (code || process->launches)
		return code;
	program_path(pid, learned.program, sizeof(learned.program));
	lode_proc_mappings(pid, learn_mapping, &learned);
	return lode_hunted_learn_images(target, error);
}

int lode_hunted_settle_roles(struct lode_hunted_processes *target, struct lode_error *error)
{
	int code = 0;

	/* The name comes by another way than the message of a new program, and may be later. */
	for (size_t i = 0; !code && i < target->count; i++)
		if (!target->items[i].ended && launches_only(target->items[i].name) != target->items[i].launches)
			code = lode_hunted_learn(target, target->items[i].pid, error);
	return code;
}

int lode_hunted_add(struct lode_hunted_processes *target, uint32_t pid, struct lode_error *error)
{
	struct lode_hunted_process *process = lode_hunted_find(target, pid);
	int code;

	if (process && !process->ended)
		return 0;
	code = lode_thread_clocks_add_process(target->clocks, pid, error);
	if (code)
		return code;
	if (LODE_APPEND(target->items, target->count, target->capacity,
			(struct lode_hunted_process){ .pid = pid, .binary = LODE_NONE, .since = lode_now() }) < 0)
		return lode_fail_memory(error);
	return lode_hunted_learn(target, pid, error);
}

void lode_hunted_end(struct lode_hunted_processes *target, uint32_t pid)
{
	struct lode_hunted_process *process = lode_hunted_find(target, pid);

	if (!process || process->ended)
		return;
	lode_hunted_settle_now(target);
	process->ended = lode_now();
}

size_t lode_hunted_alive(const struct lode_hunted_processes *target)
{
	size_t alive = 0;

	for (size_t i = 0; i < target->count; i++)
		alive += !target->items[i].ended;
	return alive;
}

int lode_hunted_apply(struct lode_hunted_processes *target, const struct lode_change *change)
{
	uint32_t of = change->type == LODE_CHANGE_FORK ? change->parent_pid : change->pid;
	struct lode_hunted_process *process = lode_hunted_find(target, of);
	int code;

	/*
	 * A child may have run its program before the message of its birth was read: what it mapped and how
	 * it is called comes only once.
	 */
	if (!process && !lode_processes_find(&target->spaces, of))
		return 0;
	code = lode_processes_apply(&target->spaces, change);
	if (!code && process && change->type == LODE_CHANGE_NAME && change->tid == change->pid)
		learn_name(target, process);
	return code;
}

/* ---- sums ---- */

static void add_sum(struct lode_thread_clocks_sum *sum, const struct lode_thread_clocks_sum *more)
{
	for (int i = 0; i < LODE_CLOCKS; i++)
		sum->time[i] += more->time[i];
	sum->ready += more->ready;
	sum->held += more->held;
	sum->operations += more->operations;
	sum->bytes += more->bytes;
	sum->calls += more->calls;
}

static int is_nothing(const struct lode_thread_clocks_sum *sum)
{
	return !sum->time[0] && !sum->time[1] && !sum->time[2] && !sum->calls && !sum->operations;
}

static int keep_past(struct lode_hunted_processes *target, uint32_t pid, uint32_t tid, uint32_t slot,
		     const struct lode_thread_clocks_sum *sum)
{
	for (size_t i = 0; i < target->past_count; i++) {
		struct lode_hunted_past *past = &target->past[i];

		if (past->pid == pid && past->tid == tid && past->slot == slot) {
			add_sum(&past->sum, sum);
			return 0;
		}
	}
	return LODE_APPEND(target->past, target->past_count, target->past_capacity,
			   (struct lode_hunted_past){ pid, tid, slot, *sum });
}

static int keep_slot(struct lode_hunted_processes *target, uint32_t place, uint32_t slot, int is_asked)
{
	const struct lode_hunt_thread *thread = &target->clocks->threads[place];
	struct lode_thread_clocks_sum sum = { 0 };
	int code;

	lode_thread_clocks_add(target->clocks, place, slot, thread->died, &sum);
	if (is_nothing(&sum))
		return 0;
	code = keep_past(target, thread->pid, 0, slot, &sum);
	if (!code && is_asked)
		code = keep_past(target, thread->pid, thread->tid, slot, &sum);
	return code;
}

static int reap(struct lode_hunted_processes *target, uint32_t place, int is_asked)
{
	const struct lode_hunt_thread *thread = &target->clocks->threads[place];
	struct lode_hunted_process *process = lode_hunted_find(target, thread->pid);
	int code = keep_slot(target, place, LODE_NONE, is_asked);

	for (uint32_t slot = 0; !code && slot < target->clocks->slot_count; slot++)
		code = keep_slot(target, place, slot, is_asked);
	if (process)
		process->took += thread->took;
	lode_thread_clocks_forget(target->clocks, place);
	return code;
}

int lode_hunted_reap(struct lode_hunted_processes *target, int (*is_asked)(void *context, uint32_t tid),
		     void *context)
{
	int code = 0, is_settled = 0;

	for (uint32_t i = 0; !code && i < target->clocks->thread_count; i++) {
		const struct lode_hunt_thread *thread = &target->clocks->threads[i];

		if (!thread->tid || !thread->died)
			continue;
		if (!is_settled++)
			lode_hunted_settle_now(target); /* with all that they used */
		code = reap(target, i, is_asked(context, thread->tid));
	}
	return code;
}

void lode_hunted_forget_slot(struct lode_hunted_processes *target, uint32_t slot)
{
	size_t kept = 0;

	for (size_t i = 0; i < target->past_count; i++)
		if (target->past[i].slot != slot)
			target->past[kept++] = target->past[i];
	target->past_count = kept;
}

void lode_hunted_sum(const struct lode_hunted_processes *target, uint32_t pid, uint32_t tid, uint32_t slot,
		     uint64_t now, struct lode_thread_clocks_sum *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (uint32_t i = 0; i < target->clocks->thread_count; i++) {
		const struct lode_hunt_thread *thread = &target->clocks->threads[i];

		if (!thread->tid || (pid != LODE_NONE && thread->pid != pid) ||
		    (tid != LODE_NONE && thread->tid != tid))
			continue;
		lode_thread_clocks_add(target->clocks, i, slot, now, sum);
	}
	for (size_t i = 0; i < target->past_count; i++) {
		const struct lode_hunted_past *past = &target->past[i];

		if (past->slot == slot && (pid == LODE_NONE || past->pid == pid) &&
		    past->tid == (tid == LODE_NONE ? 0 : tid))
			add_sum(sum, &past->sum);
	}
}
