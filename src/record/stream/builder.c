/*
 * Builder: see builder.h.
 *
 * An interrupt that wakes a thread runs on top of what the CPU was doing; the
 * thread that it interrupted has nothing to do with it. So such a wait has no
 * waker thread, and the stack of its waker is that of the interrupt alone. The kernel
 * side recognizes interrupts (interrupts.bpf.h); softirqs, where they have names, are
 * recognized here by their frames (stack_nodes.c).
 *
 * Threads repeat the same things. A small direct-mapped table remembers what the
 * stacks of a thread became, so that most records need two look-ups instead of
 * many. Its entries are valid until a process changes, or a stack arrives that was
 * missing before: only then can the same ids mean something else.
 */
#include "record/stream/builder.h"

#include "record/budget/time_slots.h"
#include "record/gpu/gpu_recording.h"
#include "symbols/syscalls.h"
#include "trace/slot_sampling.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* Numbers of system calls whose names are kept. */
#define CALLS_LIMIT 4096

static uint32_t add_string(struct lode_builder *builder, const char *text)
{
	return lode_strings_add(&builder->dictionary.frames.strings, text, strlen(text));
}

int lode_builder_init(struct lode_builder *builder, struct lode_symbolizer *symbolizer, const char *kallsyms,
		      uint64_t period)
{
	memset(builder, 0, sizeof(*builder));
	builder->period = period;
	builder->age = 1;
	builder->known = lode_calloc(LODE_BUILDER_KNOWN, sizeof(*builder->known));
	if (!builder->known || lode_dictionary_init(&builder->dictionary) < 0)
		return LODE_SYSTEM;
	lode_stream_init(&builder->stream, &builder->dictionary);
	if (lode_process_images_init(&builder->images) < 0 ||
	    lode_processes_init(&builder->processes, &builder->images) < 0 ||
	    lode_record_stacks_init(&builder->stacks, &builder->dictionary, &builder->processes, symbolizer,
				    kallsyms) < 0 ||
	    lode_record_objects_init(&builder->objects, &builder->processes, &builder->dictionary,
				     builder->stacks.kernel) < 0)
		return LODE_SYSTEM;
	builder->preempt = add_string(builder, LODE_PREEMPTION);
	return builder->preempt == LODE_NONE ? LODE_SYSTEM : 0;
}

void lode_builder_release(struct lode_builder *builder)
{
	lode_record_stacks_release(&builder->stacks);
	lode_record_objects_release(&builder->objects);
	lode_record_contexts_release(&builder->contexts);
	lode_process_groups_release(&builder->groups);
	lode_processes_release(&builder->processes);
	lode_process_images_release(&builder->images);
	lode_stream_release(&builder->stream);
	lode_record_totals_release(&builder->totals);
	lode_dictionary_release(&builder->dictionary);
	lode_free(builder->known);
	lode_free(builder->calls);
	lode_free(builder->fired);
	lode_free(builder->broken);
	lode_free(builder->named);
}

/* Invalidates everything that was memoized. */
static void invalidate_memo(struct lode_builder *builder)
{
	if (++builder->age)
		return;
	memset(builder->known, 0, LODE_BUILDER_KNOWN * sizeof(*builder->known));
	builder->age = 1;
}

void lode_builder_adopt(struct lode_builder *builder, struct lode_processes *processes)
{
	invalidate_memo(builder);
	lode_processes_release(&builder->processes);
	lode_process_images_release(&builder->images);
	builder->images = *processes->images;
	builder->processes = *processes;
	builder->processes.images = &builder->images;
	memset(processes->images, 0, sizeof(*processes->images));
	memset(processes, 0, sizeof(*processes));
}

/* ---- records ---- */

static uint32_t thread_of(struct lode_builder *builder, uint32_t pid, uint32_t tid)
{
	size_t before = builder->stream.thread_count;
	uint32_t thread = lode_stream_thread(&builder->stream, pid, tid);

	/* Requested at once, while the thread is there; and what its process is called. */
	if (thread != LODE_NONE && builder->stream.thread_count > before &&
	    (!lode_processes_life(&builder->processes, pid, pid) ||
	     !lode_processes_life(&builder->processes, pid, tid) ||
	     lode_process_groups_see(&builder->groups, pid) < 0))
		return LODE_NONE;
	if (thread != LODE_NONE && thread < builder->named_count)
		builder->named[thread] = 0; /* its number may have come again */
	return thread;
}

static uint32_t call_name(struct lode_builder *builder, uint32_t number)
{
	struct utsname system;
	const char *name;
	char text[32];

	if (number == LODE_RECORD_LAUNCH_CALL)
		return add_string(builder, LODE_GPU_STACK_CALL);
	if (number >= CALLS_LIMIT) {
		if (number & LODE_RECORD_COMPAT_CALL && !(number >> 31))
			snprintf(text, sizeof(text), "compat_syscall_%u", number & ~LODE_RECORD_COMPAT_CALL);
		else
			snprintf(text, sizeof(text), "syscall_%d", (int)number);
		return add_string(builder, text);
	}
	if (number >= builder->call_count) {
		if (lode_grow(&builder->calls, &builder->call_capacity, (size_t)number + 1, sizeof(uint32_t)) < 0)
			return LODE_NONE;
		memset(builder->calls + builder->call_count, 0,
		       (number + 1 - builder->call_count) * sizeof(uint32_t));
		builder->call_count = (size_t)number + 1;
	}
	if (builder->calls[number])
		return builder->calls[number];
	name = uname(&system) < 0 ? NULL : lode_syscall_name(system.machine, number);
	snprintf(text, sizeof(text), "syscall_%u", number);
	return builder->calls[number] = add_string(builder, name ? name : text);
}

/* The module of the outermost frame of a stack. */
static uint32_t root_module(const struct lode_builder *builder, uint32_t node)
{
	const struct lode_stack_tree *tree = &builder->dictionary.tree;

	while (node && tree->nodes[node].parent)
		node = tree->nodes[node].parent;
	return node ? builder->dictionary.frames.items[tree->nodes[node].frame].module : 0;
}

/* Finds the thread and the stack of `wanted`. */
static int find_own(struct lode_builder *builder, struct lode_builder_known *wanted)
{
	wanted->thread = thread_of(builder, wanted->pid, wanted->tid);
	wanted->stack = lode_record_stacks_node(&builder->stacks, wanted->pid, wanted->user, wanted->kernel, 0);
	if (wanted->thread == LODE_NONE || wanted->stack == LODE_NONE)
		return LODE_SYSTEM;
	wanted->end = lode_record_stacks_end(&builder->stacks, wanted->user, &wanted->guessed);
	wanted->lacks_words = lode_record_stacks_lack_words(&builder->stacks, wanted->user);
	wanted->module = wanted->end == LODE_STACK_WHOLE ? 0 : root_module(builder, wanted->stack);
	return 0;
}

/* The same for a waker. An interrupt is not a thread: it has only a stack. The idle task wakes nobody by itself. */
static int find_waker(struct lode_builder *builder, struct lode_builder_known *wanted)
{
	int interrupt = !wanted->tid || lode_record_stacks_interrupt(&builder->stacks, wanted->kernel);

	wanted->stack = lode_record_stacks_node(&builder->stacks, wanted->pid, interrupt ? 0 : wanted->user,
						wanted->kernel, interrupt);
	if (wanted->stack == LODE_NONE)
		return LODE_SYSTEM;
	wanted->thread = LODE_NONE;
	if (interrupt)
		return 0;
	wanted->thread = thread_of(builder, wanted->pid, wanted->tid);
	return wanted->thread == LODE_NONE ? LODE_SYSTEM : 0;
}

/* Fills in the thread and the stack of `wanted`. Ids of stacks are hashes already. */
static int look_up(struct lode_builder *builder, struct lode_builder_known *wanted)
{
	uint64_t hash = wanted->user ^ wanted->kernel >> 1 ^ wanted->tid * 0x9e3779b97f4a7c15u ^ wanted->waker;
	struct lode_builder_known *known = &builder->known[(hash ^ hash >> 32) % LODE_BUILDER_KNOWN];

	if (known->age == builder->age && known->user == wanted->user && known->kernel == wanted->kernel &&
	    known->pid == wanted->pid && known->tid == wanted->tid && known->waker == wanted->waker) {
		wanted->thread = known->thread;
		wanted->stack = known->stack;
		wanted->end = known->end;
		wanted->module = known->module;
		wanted->guessed = known->guessed;
		wanted->lacks_words = known->lacks_words;
		return 0;
	}
	if ((wanted->waker ? find_waker(builder, wanted) : find_own(builder, wanted)) < 0)
		return LODE_SYSTEM;
	wanted->age = builder->age;
	*known = *wanted;
	return 0;
}

/* Counts how the user's stack of an event ends. */
static int count_end(struct lode_builder *builder, const struct lode_builder_known *own)
{
	builder->ends[own->end]++;
	builder->guessed += own->guessed != 0;
	builder->lack_words += own->lacks_words != 0;
	if (own->end == LODE_STACK_WHOLE || own->end == LODE_STACK_DEEP || own->end == LODE_STACK_COMPAT)
		return 0;
	if (lode_grow(&builder->broken, &builder->broken_capacity, (size_t)own->module + 1,
		      sizeof(*builder->broken)) < 0)
		return LODE_SYSTEM;
	while (builder->broken_count <= own->module)
		builder->broken[builder->broken_count++] = 0;
	builder->broken[own->module]++;
	return 0;
}

static int add_own(struct lode_builder *builder, const struct lode_record *record, struct lode_event *event)
{
	struct lode_builder_known own = { .user = record->user,
					  .kernel = record->kernel,
					  .pid = record->pid,
					  .tid = record->tid };

	if (look_up(builder, &own) < 0)
		return LODE_SYSTEM;
	event->thread = own.thread;
	event->stack = own.stack;
	return record->user ? count_end(builder, &own) : 0;
}

static int add_waker(struct lode_builder *builder, const struct lode_record *record, struct lode_event *event)
{
	struct lode_builder_known waker = { .user = record->waker_user,
					    .kernel = record->waker_kernel,
					    .pid = record->waker_pid,
					    .tid = record->waker_tid,
					    .waker = 1 };

	if (look_up(builder, &waker) < 0)
		return LODE_SYSTEM;
	event->waker = waker.thread;
	event->waker_stack = waker.stack;
	return 0;
}

/* As trace/slot_sampling.h reads it. */
static uint32_t slot_name(struct lode_builder *builder, const struct lode_record *record)
{
	char name[40];

	snprintf(name, sizeof(name), LODE_SLOT_NAME "%u/%u %c", record->value & 0xffff, record->value >> 16,
		 record->flags ? 'b' : 'a');
	return add_string(builder, name);
}

static int add_object(struct lode_builder *builder, const struct lode_record *record, struct lode_event *event)
{
	uint32_t holder;

	event->holder = LODE_NONE;
	if (lode_record_objects_find(&builder->objects, record, &event->object, &holder) < 0)
		return LODE_SYSTEM;
	if (event->object && lode_record_connection(&builder->objects, record, event->object, &event->name) < 0)
		return LODE_SYSTEM;
	if (!holder || !event->object)
		return 0;
	event->holder = thread_of(builder, record->pid, holder);
	return event->holder == LODE_NONE ? LODE_SYSTEM : 0;
}

static int fill(struct lode_builder *builder, const struct lode_record *record, struct lode_event *event,
		enum lode_event_type *type)
{
	switch (record->type) {
	case LODE_RECORD_WAIT:
		*type = LODE_WAIT;
		builder->open += record->flags & LODE_RECORD_OPEN && !(record->flags & LODE_RECORD_WOKEN);
		builder->unexplained += !(record->flags & (LODE_RECORD_OPEN | LODE_RECORD_WOKEN));
		if (add_object(builder, record, event) < 0)
			return LODE_SYSTEM;
		return record->flags & LODE_RECORD_WOKEN ? add_waker(builder, record, event) : 0;
	case LODE_RECORD_PREEMPT:
		*type = LODE_CALL;
		event->name = builder->preempt;
		builder->preemptions++;
		return 0;
	case LODE_RECORD_SLOT:
		*type = LODE_CALL;
		event->name = slot_name(builder, record);
		return event->name == LODE_NONE ? LODE_SYSTEM : 0;
	case LODE_RECORD_RUN:
		*type = LODE_RUN;
		event->cost = record->value ? record->value : builder->period;
		return 0;
	default:
		*type = LODE_CALL;
		builder->system_calls += record->value != LODE_RECORD_LAUNCH_CALL;
		event->name = call_name(builder, record->value);
		return event->name == LODE_NONE ? LODE_SYSTEM : 0;
	}
}

int lode_record_fired(const struct lode_record *record, struct lode_limit_exceeded *fired)
{
	if (record->type != LODE_RECORD_FIRED)
		return 0;
	*fired = (struct lode_limit_exceeded){ .t0 = record->t,
					       .t1 = record->t + record->cost + record->delay,
					       .limits = record->value,
					       .pid = record->pid,
					       .tid = record->tid };
	return 1;
}

static int handle_fired(struct lode_builder *builder, const struct lode_record *record)
{
	struct lode_limit_exceeded fired;

	if (!lode_record_fired(record, &fired))
		return 0;
	return LODE_APPEND(builder->fired, builder->fired_count, builder->fired_capacity, fired);
}

void lode_builder_forget_fired(struct lode_builder *builder, uint64_t t)
{
	size_t kept = 0;

	for (size_t i = 0; i < builder->fired_count; i++)
		if (builder->fired[i].t1 > t)
			builder->fired[kept++] = builder->fired[i];
	builder->fired_count = kept;
}

static int handle_record(void *context, const struct lode_record *record)
{
	struct lode_builder *builder = context;
	enum lode_event_type type;
	struct lode_event event = {
		.t = record->t,
		.cost = record->cost,
		.delay = record->delay,
		.waker = LODE_NONE,
		.cpu = record->cpu,
		.weight = record->weight,
	};

	if (handle_fired(builder, record) < 0)
		return LODE_SYSTEM;
	if (record->type == LODE_RECORD_FIRED)
		return 0;
	if (record->type >= LODE_RECORD_TOTALS_FIRST)
		return lode_record_totals_take(&builder->totals, record, &builder->stream);
	if (add_own(builder, record, &event) < 0 || fill(builder, record, &event, &type) < 0)
		return LODE_SYSTEM;
	event.context = lode_record_contexts_find(&builder->contexts, record->context);
	builder->events++;
	builder->late += (record->flags & LODE_RECORD_LATE) != 0;
	builder->late_bare += record->flags & LODE_RECORD_LATE && !record->user;
	return lode_stream_add_event(&builder->stream, type, &event);
}

static int handle_stack(void *context, const struct lode_record_stack *stack)
{
	struct lode_builder *builder = context;

	if (builder->stacks.missing)
		invalidate_memo(builder);
	return lode_record_stacks_add(&builder->stacks, stack);
}

static int handle_context(void *context, const struct lode_record_context *named)
{
	struct lode_builder *builder = context;

	return lode_record_contexts_add(&builder->contexts, &builder->dictionary.frames.strings, named);
}

/* ---- names ---- */

/* Threads that are new have no name for good. */
static int grow_named(struct lode_builder *builder)
{
	size_t count = builder->stream.thread_count;

	if (lode_grow(&builder->named, &builder->named_capacity, count, sizeof(*builder->named)) < 0)
		return LODE_SYSTEM;
	if (count > builder->named_count)
		memset(builder->named + builder->named_count, 0, count - builder->named_count);
	builder->named_count = count;
	return 0;
}

/* As it is called now; for good if it has ended. */
static int name_thread(struct lode_builder *builder, size_t i)
{
	struct lode_thread *thread = &builder->stream.threads[i];
	const struct lode_thread_lifetime *life =
		lode_processes_life(&builder->processes, thread->pid, thread->tid);
	uint32_t name = life ? add_string(builder, life->name) : LODE_NONE;

	if (name == LODE_NONE)
		return LODE_SYSTEM;
	if (name)
		thread->name = name;
	builder->named[i] = life->died != 0;
	return 0;
}

/* Where processes come and go quickly numbers come again soon: whoever had this one keeps its name. */
static int name_predecessor(struct lode_builder *builder, const struct lode_change *change)
{
	uint32_t thread = change->type == LODE_CHANGE_FORK
				  ? lode_stream_find_thread(&builder->stream, change->pid, change->tid)
				  : LODE_NONE;

	if (thread == LODE_NONE)
		return 0;
	if (grow_named(builder) < 0)
		return LODE_SYSTEM;
	return builder->named[thread] ? 0 : name_thread(builder, thread);
}

/* ---- changes ---- */

static int handle_change(void *context, const struct lode_change *change)
{
	struct lode_builder *builder = context;

	invalidate_memo(builder);
	if (name_predecessor(builder, change) < 0)
		return LODE_SYSTEM;
	if (lode_process_groups_apply(&builder->groups, change) < 0)
		return LODE_SYSTEM;
	return lode_processes_apply(&builder->processes, change);
}

struct lode_recorder_sink lode_builder_sink(struct lode_builder *builder)
{
	return (struct lode_recorder_sink){
		.context = builder,
		.stack = handle_stack,
		.change = handle_change,
		.record = handle_record,
		.named_context = handle_context,
	};
}

/* ---- names and notes ---- */

int lode_builder_refresh(struct lode_builder *builder, uint64_t t)
{
	if (grow_named(builder) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < builder->stream.thread_count; i++)
		if (!builder->named[i] && name_thread(builder, i) < 0)
			return LODE_SYSTEM;
	return lode_processes_forget(&builder->processes, t);
}

/* The module where most user stacks end that are not whole. */
static uint32_t worst_module(const struct lode_builder *builder)
{
	uint32_t worst = 0;

	for (uint32_t i = 0; i < builder->broken_count; i++)
		if (builder->broken[i] > builder->broken[worst])
			worst = i;
	return worst;
}

/* Why callers are missing, and what to do about it. */
static const char *broken_advice(const struct lode_builder *builder, uint32_t module)
{
	const uint64_t *ends = builder->ends;
	uint64_t waiting = ends[LODE_STACK_UNMAPPED] + ends[LODE_STACK_PENDING];

	if (ends[LODE_STACK_SHORT] > ends[LODE_STACK_BROKEN] && ends[LODE_STACK_SHORT] > waiting)
		return "they are larger than what was copied; raise --unwind-size";
	if (waiting > ends[LODE_STACK_BROKEN])
		return "their programs had just started or mapped something";
	if (builder->dictionary.frames.modules[module].kind == LODE_KIND_JIT)
		return "code generated at run time, of a language that is not known; have it keep frame pointers";
	return "no unwind table leads on from there";
}

/* How many user stacks do not reach the start of their thread, where most of them end, and why. */
static void note_broken(const struct lode_builder *builder, struct lode_notes *notes)
{
	const struct lode_frames *frames = &builder->dictionary.frames;
	uint32_t worst = worst_module(builder);
	uint64_t count = 0, sum = 0;
	char text[512];

	for (int i = 0; i < LODE_STACK_ENDS; i++) {
		sum += builder->ends[i];
		if (i != LODE_STACK_WHOLE && i != LODE_STACK_DEEP && i != LODE_STACK_UNKNOWN &&
		    i != LODE_STACK_COMPAT)
			count += builder->ends[i];
	}
	if (!count)
		return;
	snprintf(text, sizeof(text),
		 "user stacks that do not reach the start of their thread (%.1f %%, most in %.100s: %s)",
		 100.0 * (double)count / (double)sum,
		 worst ? lode_strings_get(&frames->strings, frames->modules[worst].name) : "unknown code",
		 broken_advice(builder, worst));
	lode_notes_add(notes, count, text, NULL);
}

void lode_builder_note(const struct lode_builder *builder, struct lode_notes *notes)
{
	lode_notes_add(notes, builder->stacks.missing, "stacks that were lost", NULL);
	lode_notes_add(notes, builder->ends[LODE_STACK_DEEP],
		       "stacks deeper than could be recorded, cut at the root", NULL);
	lode_notes_add(
		notes, builder->ends[LODE_STACK_COMPAT],
		"stacks of 32-bit programs, of which only the innermost function is known; build them for 64 bits",
		NULL);
	note_broken(builder, notes);
	lode_notes_add(
		notes, builder->lack_words,
		"stacks of Python programs without their Python functions: the state of the thread was not found",
		NULL);
	lode_notes_add(notes, builder->unexplained, "waits whose waker was not recorded", NULL);
	lode_notes_add(notes, builder->late,
		       "waits recorded because they were long: their user stacks are those of other waits at "
		       "their call sites",
		       NULL);
	lode_notes_add(notes, builder->late_bare,
		       "of these, waits without a user stack: none was seen at their call sites, or several", NULL);
	lode_notes_add(notes, builder->open, "waits that were not over when the recording ended", NULL);
	lode_record_objects_note(&builder->objects, notes);
	lode_record_contexts_note(&builder->contexts, notes);
	lode_processes_note(&builder->processes, notes);
}
