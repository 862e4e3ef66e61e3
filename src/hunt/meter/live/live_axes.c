/* What there is on the axes of a live program: processes, threads, objects, and the roots of its calls. */
#include "hunt/meter/live/live_internal.h"

#include "base/memory.h"
#include "hunt/meter/live/lock_names.h"
#include "hunt/meter/wait_objects.h"
#include "hunt/meter/live/clock_updates.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- objects ---- */

struct object_sum {
	struct lode_live *live;
	const struct lode_focus *focus;
	uint32_t slot; /* as in the key of the kernel's table */
	struct object {
		uint64_t object;
		int64_t time;
	} * objects;
	size_t count;
	size_t capacity;
	int64_t time; /* of the focus's object */
};

static int is_in_focus(const struct lode_focus *focus, uint32_t pid, uint32_t tid)
{
	return (focus->process == LODE_NONE || focus->process == pid) &&
	       (focus->thread == LODE_NONE || focus->thread == tid);
}

static int add_time(void *context, const struct lode_hunt_object_key *key, const struct lode_hunt_object *object)
{
	struct object_sum *sum = context;

	if (key->object == sum->focus->object && key->slot == sum->slot &&
	    is_in_focus(sum->focus, object->pid, key->tid))
		sum->time += object->time;
	return 0;
}

/* The wait that a thread is in at the moment. */
static int64_t open_wait(struct lode_live *live, uint32_t place, uint64_t object, uint32_t slot, uint64_t now)
{
	struct lode_thread_clocks_sum sum = { 0 };
	struct lode_hunt_thread thread;

	lode_thread_clocks_thread(&live->clocks, place, &thread);
	if ((thread.object != object && !lode_object_is_in(thread.message, object)) ||
	    (slot != LODE_NONE && !live->clocks.cells[(size_t)place * live->clocks.slot_count + slot].sp))
		return 0;
	lode_thread_clocks_add(&live->clocks, place, LODE_NONE, now, &sum);
	return sum.time[LODE_CLOCK_SYNC] - (thread.object == object ? thread.object_since : thread.message_since);
}

int64_t lode_live_object_time(struct lode_live *live, const struct lode_focus *focus, uint32_t slot, uint64_t now)
{
	struct object_sum sum = { .live = live, .focus = focus, .slot = slot == LODE_NONE ? 0 : slot + 1 };

	lode_thread_clocks_each_object(&live->clocks, add_time, &sum);
	for (uint32_t i = 0; i < live->clocks.thread_count; i++)
		if (live->clocks.threads[i].tid &&
		    (lode_thread_object(&live->clocks.threads[i]) || live->clocks.threads[i].message) &&
		    is_in_focus(focus, live->clocks.threads[i].pid, live->clocks.threads[i].tid))
			sum.time += open_wait(live, i, focus->object, slot, now);
	return sum.time;
}

/* Below all objects are locks and communicators, below a communicator its tags. */
static int is_directly_below(uint64_t object, uint64_t above)
{
	if (!above)
		return lode_object_whole(object) == object;
	return object != above && lode_object_is_in(object, above);
}

static int collect(void *context, const struct lode_hunt_object_key *key, const struct lode_hunt_object *object)
{
	struct object_sum *sum = context;

	if (key->slot || !is_in_focus(sum->focus, object->pid, key->tid) ||
	    !is_directly_below(key->object, sum->focus->object))
		return 0;
	for (size_t i = 0; i < sum->count; i++)
		if (sum->objects[i].object == key->object) {
			sum->objects[i].time += object->time;
			return 0;
		}
	return LODE_APPEND(sum->objects, sum->count, sum->capacity, (struct object){ key->object, object->time });
}

static int compare_objects(const void *left, const void *right)
{
	const struct object *a = left, *b = right;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

/* Those that threads waited for longest first. */
static int each_object(struct lode_live *live, const struct lode_focus *focus,
		       int (*each)(void *context, uint32_t number, uint64_t object), void *context)
{
	struct object_sum sum = { .live = live, .focus = focus };
	int code = lode_thread_clocks_each_object(&live->clocks, collect, &sum);

	if (!code && sum.count)
		qsort(sum.objects, sum.count, sizeof(*sum.objects), compare_objects);
	for (size_t i = 0; !code && i < sum.count; i++)
		code = each(context, LODE_NONE, sum.objects[i].object);
	lode_free(sum.objects);
	return code;
}

/* ---- processes and threads ---- */

static int each_process(struct lode_live *live, int (*each)(void *context, uint32_t number, uint64_t object),
			void *context)
{
	int code = 0;

	for (size_t i = 0; !code && i < live->target.count; i++)
		if (!live->target.items[i].ended && !live->target.items[i].launches)
			code = each(context, live->target.items[i].pid, 0);
	return code;
}

static int each_thread(struct lode_live *live, uint32_t pid,
		       int (*each)(void *context, uint32_t number, uint64_t object), void *context)
{
	int code = 0;

	for (uint32_t i = 0; !code && i < live->clocks.thread_count; i++) {
		const struct lode_hunt_thread *thread = &live->clocks.threads[i];

		if (thread->tid && !thread->died && (pid == LODE_NONE || thread->pid == pid))
			code = each(context, thread->tid, 0);
	}
	return code;
}

int lode_live_below(struct lode_meter *meter, const struct lode_focus *focus, enum lode_focus_axis axis,
		    int (*each)(void *context, uint32_t number, uint64_t object), void *context)
{
	struct lode_live *live = lode_live_of(meter);

	switch (axis) {
	case LODE_AXIS_HOST:
		return focus->host == LODE_NONE ? each(context, 0, 0) : 0;
	case LODE_AXIS_PROCESS:
		return focus->process == LODE_NONE ? each_process(live, each, context) : 0;
	case LODE_AXIS_THREAD:
		return focus->thread == LODE_NONE ? each_thread(live, focus->process, each, context) : 0;
	case LODE_AXIS_OBJECT:
		return each_object(live, focus, each, context);
	default:
		return 0;
	}
}

/* ---- roots ---- */

/* The function that the C library starts in a binary; LODE_NONE: not known. */
static uint32_t main_of(struct lode_live *live, uint32_t binary)
{
	const struct lode_code *code = binary == LODE_NONE ? NULL : lode_program_code(live->meter.program, binary);
	const struct lode_code_function *function;

	if (!code || code->main == LODE_NONE)
		return LODE_NONE;
	function = &code->functions[code->main];
	return function->entry_count
		       ? lode_program_at(live->meter.program, binary, code->offsets[function->first_entry])
		       : LODE_NONE;
}

/* Whether a root was already passed on for an earlier process. */
static int is_listed(const uint32_t *listed, size_t count, uint32_t function)
{
	for (size_t i = 0; i < count; i++)
		if (listed[i] == function)
			return 1;
	return function == LODE_NONE;
}

int lode_live_roots(struct lode_meter *meter, const struct lode_focus *focus,
		    int (*each)(void *context, uint32_t function), void *context)
{
	struct lode_live *live = lode_live_of(meter);
	size_t limit = live->target.count + live->samples.root_count, count = 0;
	uint32_t *listed = lode_calloc(limit + 1, sizeof(*listed));
	int code = listed ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < limit; i++) {
		size_t root = i - live->target.count;
		int is_main = i < live->target.count;
		uint32_t pid = is_main ? live->target.items[i].pid : live->samples.roots[root].pid;
		uint32_t function;

		if (focus->process != LODE_NONE && focus->process != pid)
			continue;
		function = is_main ? main_of(live, live->target.items[i].binary)
				   : live->samples.roots[root].function;
		if (is_listed(listed, count, function))
			continue;
		listed[count++] = function;
		code = each(context, function);
	}
	lode_free(listed);
	return code;
}

/* ---- names ---- */

static void thread_name(struct lode_live *live, uint32_t tid)
{
	const struct lode_thread_lifetime *life = NULL;

	for (uint32_t i = 0; !life && i < live->clocks.thread_count; i++)
		if (live->clocks.threads[i].tid == tid)
			life = lode_processes_life(&live->target.spaces, live->clocks.threads[i].pid, tid);
	snprintf(live->text, sizeof(live->text), life && life->name[0] ? "%" PRIu32 " %s" : "%" PRIu32, tid,
		 life ? life->name : "");
}

/* Who waited for an object longest. */
struct waiter {
	uint64_t object;
	uint32_t pid; /* LODE_NONE: none */
	int64_t time;
};

static int find_waiter(void *context, const struct lode_hunt_object_key *key, const struct lode_hunt_object *object)
{
	struct waiter *waiter = context;

	if (key->object == waiter->object && !key->slot &&
	    (waiter->pid == LODE_NONE || object->time > waiter->time)) {
		waiter->pid = object->pid;
		waiter->time = object->time;
	}
	return 0;
}

struct stack_search {
	const struct lode_thread_clocks *clocks;
	uint32_t pid;
};

/* The thread of a process whose stack is in a range. */
static uint32_t thread_in(void *context, uint64_t start, uint64_t end)
{
	const struct stack_search *search = context;

	for (uint32_t i = 0; i < search->clocks->thread_count; i++) {
		const struct lode_hunt_thread *thread = &search->clocks->threads[i];

		if (thread->tid && thread->pid == search->pid && thread->sp >= start && thread->sp < end)
			return thread->tid;
	}
	return 0;
}

/* A process that waits or waited for an object; LODE_NONE: none. */
static uint32_t process_waiting(struct lode_live *live, uint64_t object)
{
	struct waiter waiter = { object, LODE_NONE, 0 };

	lode_thread_clocks_each_object(&live->clocks, find_waiter, &waiter);
	for (uint32_t i = 0; waiter.pid == LODE_NONE && i < live->clocks.thread_count; i++) {
		const struct lode_hunt_thread *thread = &live->clocks.threads[i];

		if (thread->tid && lode_object_is_in(lode_thread_object(thread), object))
			waiter.pid = thread->pid;
	}
	return waiter.pid;
}

/* Handles of MPICH and its kin that are the same in every program. */
static const char *known_handle(uint64_t number)
{
	return number == 0x44000000 ? " (MPI_COMM_WORLD)" : number == 0x44000001 ? " (MPI_COMM_SELF)" : "";
}

/* In Open MPI communicators are structs, and those that every program has are variables. */
static void name_by_pointer(struct lode_live *live, uint64_t object, uint64_t low, char *text, size_t size)
{
	struct stack_search search = { &live->clocks, process_waiting(live, object) };
	uint64_t address = lode_lock_address(search.pid, low, LODE_MESSAGE_ADDRESS_BITS);
	const char *known = "";
	char name[256];

	if (!address) {
		snprintf(text, size, "0x…%09" PRIx64, low);
		return;
	}
	lode_lock_name(search.pid, address, thread_in, &search, name, sizeof(name));
	if (strstr(name, "!ompi_mpi_comm_world "))
		known = " (MPI_COMM_WORLD)";
	else if (strstr(name, "!ompi_mpi_comm_self "))
		known = " (MPI_COMM_SELF)";
	snprintf(text, size, "0x%" PRIx64 "%s", address, known);
}

/* `communicator 0x44000000 (MPI_COMM_WORLD)`, `tag 7 of communicator …`. */
static void message_name(struct lode_live *live, uint64_t object)
{
	uint64_t number = (object & ~LODE_OBJECT_MESSAGE) >> LODE_MESSAGE_SHIFT, tag = object & LODE_MESSAGE_TAGS;
	uint32_t handle = (uint32_t)number;
	char part[48] = "", communicator[64];

	if (tag == LODE_MESSAGE_TAGS)
		snprintf(part, sizeof(part), "collective calls of ");
	else if (tag == LODE_MESSAGE_ANY_TAG)
		snprintf(part, sizeof(part), "any tag of ");
	else if (tag)
		snprintf(part, sizeof(part), "tag %" PRIu64 " of ", tag - LODE_MESSAGE_FIRST_TAG);
	if (number & LODE_MESSAGE_POINTERS)
		name_by_pointer(live, object, (uint64_t)handle << 3, communicator, sizeof(communicator));
	else
		snprintf(communicator, sizeof(communicator), "0x%" PRIx32 "%s", handle, known_handle(handle));
	snprintf(live->text, sizeof(live->text), "%scommunicator %s", part, communicator);
}

static void object_name(struct lode_live *live, uint64_t object)
{
	struct stack_search search = { &live->clocks, LODE_NONE };

	if (object & LODE_OBJECT_MESSAGE) {
		message_name(live, object);
		return;
	}
	search.pid = process_waiting(live, object);
	lode_lock_name(search.pid, object, thread_in, &search, live->text, sizeof(live->text));
}

const char *lode_live_name(struct lode_meter *meter, enum lode_focus_axis axis, uint64_t number)
{
	struct lode_live *live = lode_live_of(meter);
	const struct lode_hunted_process *process;

	switch (axis) {
	case LODE_AXIS_HOST:
		return live->host;
	case LODE_AXIS_PROCESS:
		process = lode_hunted_find(&live->target, (uint32_t)number);
		snprintf(live->text, sizeof(live->text),
			 process && process->name[0] ? "%" PRIu32 " %s" : "%" PRIu32, (uint32_t)number,
			 process ? process->name : "");
		return live->text;
	case LODE_AXIS_THREAD:
		thread_name(live, (uint32_t)number);
		return live->text;
	case LODE_AXIS_CODE:
		return number < lode_program_count(meter->program)
			       ? lode_program_function(meter->program, (uint32_t)number)->name
			       : "?";
	default:
		object_name(live, number);
		return live->text;
	}
}
