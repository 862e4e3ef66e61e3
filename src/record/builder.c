/*
 * Builder: see builder.h.
 *
 * An interrupt that wakes a thread runs on top of whatever the CPU was doing; the
 * thread that it interrupted is not to blame. So such a wait has no waker thread,
 * and the stack of its waker is that of the interrupt alone.
 */
#include "record/builder.h"

#include "symbols/syscalls.h"

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
	lode_record_copies_init(&builder->copies, &builder->stacks);
	builder->period = period;
	if (lode_dictionary_init(&builder->dictionary) < 0)
		return LODE_SYSTEM;
	lode_stream_init(&builder->stream, &builder->dictionary);
	if (lode_record_images_init(&builder->images) < 0 ||
	    lode_processes_init(&builder->processes, &builder->images) < 0 ||
	    lode_record_stacks_init(&builder->stacks, &builder->dictionary, &builder->processes, symbolizer,
				    kallsyms) < 0)
		return LODE_SYSTEM;
	builder->preempt = add_string(builder, "preempt");
	return builder->preempt == LODE_NONE ? LODE_SYSTEM : 0;
}

void lode_builder_release(struct lode_builder *builder)
{
	lode_record_copies_release(&builder->copies);
	lode_record_stacks_release(&builder->stacks);
	lode_processes_release(&builder->processes);
	lode_record_images_release(&builder->images);
	lode_stream_release(&builder->stream);
	lode_dictionary_release(&builder->dictionary);
	lode_free(builder->calls);
	lode_free(builder->fired);
}

void lode_builder_adopt(struct lode_builder *builder, struct lode_processes *processes)
{
	lode_processes_release(&builder->processes);
	lode_record_images_release(&builder->images);
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

	/* Asked for at once, while the thread is there. */
	if (thread != LODE_NONE && builder->stream.thread_count > before &&
	    !lode_processes_life(&builder->processes, pid, tid))
		return LODE_NONE;
	return thread;
}

static uint32_t call_name(struct lode_builder *builder, uint32_t number)
{
	struct utsname system;
	const char *name;
	char text[32];

	if (number >= CALLS_LIMIT) {
		snprintf(text, sizeof(text), "syscall_%d", (int)number);
		return add_string(builder, text);
	}
	if (number >= builder->call_count) {
		if (lode_grow(&builder->calls, &builder->call_capacity, (size_t)number + 1,
			      sizeof(uint32_t)) < 0)
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

static int add_waker(struct lode_builder *builder, const struct lode_record *record, struct lode_event *event)
{
	int interrupt = lode_record_stacks_interrupt(&builder->stacks, record->waker_kernel);

	event->waker_stack =
		lode_record_stacks_node(&builder->stacks, record->waker_pid,
					interrupt ? 0 : record->waker_user, record->waker_kernel, interrupt);
	if (event->waker_stack == LODE_NONE)
		return LODE_SYSTEM;
	if (interrupt || !record->waker_tid)
		return 0;
	event->waker = thread_of(builder, record->waker_pid, record->waker_tid);
	return event->waker == LODE_NONE ? LODE_SYSTEM : 0;
}

static int fill(struct lode_builder *builder, const struct lode_record *record, struct lode_event *event,
		enum lode_event_type *type)
{
	switch (record->type) {
	case LODE_RECORD_WAIT:
		*type = LODE_WAIT;
		builder->open += record->flags & LODE_RECORD_OPEN && !(record->flags & LODE_RECORD_WOKEN);
		builder->unexplained += !(record->flags & (LODE_RECORD_OPEN | LODE_RECORD_WOKEN));
		return record->flags & LODE_RECORD_WOKEN ? add_waker(builder, record, event) : 0;
	case LODE_RECORD_PREEMPT:
		*type = LODE_CALL;
		event->name = builder->preempt;
		return 0;
	case LODE_RECORD_RUN:
		*type = LODE_RUN;
		event->cost = builder->period;
		return 0;
	default:
		*type = LODE_CALL;
		event->name = call_name(builder, record->value);
		return event->name == LODE_NONE ? LODE_SYSTEM : 0;
	}
}

int lode_record_fired(const struct lode_record *record, struct lode_fired *fired)
{
	if (record->type != LODE_RECORD_FIRED)
		return 0;
	*fired = (struct lode_fired){ .t0 = record->t,
				      .t1 = record->t + record->cost + record->delay,
				      .limits = record->value,
				      .pid = record->pid,
				      .tid = record->tid };
	return 1;
}

static int take_fired(struct lode_builder *builder, const struct lode_record *record)
{
	struct lode_fired fired;

	if (!lode_record_fired(record, &fired))
		return 0;
	if (lode_grow(&builder->fired, &builder->fired_capacity, builder->fired_count + 1, sizeof(fired)) < 0)
		return LODE_SYSTEM;
	builder->fired[builder->fired_count++] = fired;
	return 0;
}

static int add_record(struct lode_builder *builder, const struct lode_record *record)
{
	enum lode_event_type type;
	struct lode_event event = {
		.t = record->t,
		.cost = record->cost,
		.delay = record->delay,
		.waker = LODE_NONE,
		.cpu = record->cpu,
	};

	if (take_fired(builder, record) < 0)
		return LODE_SYSTEM;
	if (record->type == LODE_RECORD_FIRED)
		return 0;
	event.thread = thread_of(builder, record->pid, record->tid);
	event.stack = lode_record_stacks_node(&builder->stacks, record->pid, record->user, record->kernel, 0);
	if (event.thread == LODE_NONE || event.stack == LODE_NONE || fill(builder, record, &event, &type) < 0)
		return LODE_SYSTEM;
	builder->events++;
	return lode_stream_add_event(&builder->stream, type, &event);
}

static int take_record(void *context, const struct lode_record *record)
{
	struct lode_builder *builder = context;
	struct lode_record resolved;

	if (!builder->copies.count)
		return add_record(builder, record);
	resolved = *record;
	if (lode_record_copies_resolve(&builder->copies, &resolved.user) < 0 ||
	    lode_record_copies_resolve(&builder->copies, &resolved.waker_user) < 0)
		return LODE_SYSTEM;
	return add_record(builder, &resolved);
}

static int take_copy(void *context, const struct lode_record_copy *copy)
{
	struct lode_builder *builder = context;

	return lode_record_copies_add(&builder->copies, copy);
}

static int take_stack(void *context, const struct lode_record_stack *stack)
{
	struct lode_builder *builder = context;

	return lode_record_stacks_add(&builder->stacks, stack);
}

static int take_change(void *context, const struct lode_change *change)
{
	struct lode_builder *builder = context;

	return lode_processes_apply(&builder->processes, change);
}

struct lode_recorder_sink lode_builder_sink(struct lode_builder *builder)
{
	return (struct lode_recorder_sink){
		.context = builder,
		.stack = take_stack,
		.change = take_change,
		.record = take_record,
		.copy = take_copy,
	};
}

/* ---- names and notes ---- */

int lode_builder_refresh(struct lode_builder *builder)
{
	for (size_t i = 0; i < builder->stream.thread_count; i++) {
		struct lode_thread *thread = &builder->stream.threads[i];
		const struct lode_record_life *life =
			lode_processes_life(&builder->processes, thread->pid, thread->tid);
		uint32_t name = life ? add_string(builder, life->name) : LODE_NONE;

		if (name == LODE_NONE)
			return LODE_SYSTEM;
		if (name)
			thread->name = name;
	}
	return 0;
}

void lode_builder_note(const struct lode_builder *builder, struct lode_notes *notes)
{
	lode_notes_add(notes, builder->stacks.missing, "stacks that were lost", NULL);
	lode_notes_add(notes, builder->stacks.cut, "stacks deeper than could be recorded, cut at the root",
		       NULL);
	lode_record_copies_note(&builder->copies, notes);
	lode_notes_add(notes, builder->unexplained, "waits whose waker was not recorded", NULL);
	lode_notes_add(notes, builder->open, "waits that were not over when the recording ended", NULL);
	lode_notes_add(notes, builder->processes.spaces.dropped,
		       "mappings beyond the limit, whose addresses have no symbols", NULL);
}
