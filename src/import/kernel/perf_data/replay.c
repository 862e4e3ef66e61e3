/*
 * Replay: see replay.h.
 *
 * In the stream's events, threads are numbers of `threads` and stacks are numbers
 * of `stacks` until the end, when both are translated (finish_stream.c).
 */
#include "import/kernel/perf_data/replay.h"

#include "import/kernel/perf_data/finish_stream.h"
#include "symbols/syscalls.h"

#include <stdio.h>

int lode_perf_replay_init(struct lode_perf_replay *replay, const struct lode_perf_facts *facts,
			  const struct lode_import_options *options, struct lode_stream *stream,
			  struct lode_error *error)
{
	memset(replay, 0, sizeof(*replay));
	replay->facts = facts;
	replay->options = options;
	replay->stream = stream;
	lode_perf_threads_init(&replay->threads, &replay->spaces);
	lode_perf_user_stacks_init(&replay->user_stacks, &replay->images, &replay->spaces);
	replay->sched = lode_sched_create(stream, options->notes);
	if (!replay->sched || lode_perf_images_init(&replay->images, facts, options) < 0 ||
	    lode_spaces_init(&replay->spaces) < 0 ||
	    lode_perf_stacks_init(&replay->stacks, &replay->images, &replay->spaces, &replay->user_stacks.chains) <
		    0 ||
	    lode_strings_init(&replay->texts) < 0)
		return lode_fail_memory(error);
	return 0;
}

void lode_perf_replay_release(struct lode_perf_replay *replay)
{
	lode_sched_destroy(replay->sched);
	lode_perf_stacks_release(&replay->stacks);
	lode_perf_user_stacks_release(&replay->user_stacks);
	lode_perf_copies_release(&replay->copies);
	lode_perf_deferred_release(&replay->deferred);
	lode_perf_threads_release(&replay->threads);
	lode_spaces_release(&replay->spaces);
	lode_perf_images_release(&replay->images);
	lode_perf_order_release(&replay->order);
	lode_strings_release(&replay->texts);
	lode_free(replay->changes.items);
	lode_free(replay->event_names);
}

/* ---- taking a batch ---- */

/* The image of a mapping; what has none is LODE_PROCESS_IMAGE_UNKNOWN. LODE_NONE: memory has run out. */
static uint32_t image_of(struct lode_perf_replay *replay, const struct lode_perf_task *task, const char *text)
{
	char build_id[2 * PERF_BUILD_ID_BYTES + 1];

	lode_perf_build_id_text(build_id, task->build_id, task->build_id_size);
	switch (task->type) {
	case LODE_PERF_MAP:
		return lode_perf_images_user(&replay->images, text, build_id, task->pid);
	case LODE_PERF_KERNEL_MAP:
		return lode_perf_images_kernel(&replay->images, text, build_id, task->start, task->offset);
	case LODE_PERF_KSYMBOL:
		return lode_perf_images_kernel_code(&replay->images, text, task->start);
	default:
		return LODE_PROCESS_IMAGE_UNKNOWN;
	}
}

static uint32_t text_of(struct lode_perf_replay *replay, const struct lode_perf_task *task, const char *text)
{
	if (task->type != LODE_PERF_COMM && task->type != LODE_PERF_NAME)
		return 0;
	return lode_strings_add(&replay->texts, text, strlen(text));
}

static int handle_task(struct lode_perf_replay *replay, const struct lode_perf_task *task, const char *text)
{
	struct lode_perf_change change = {
		.type = task->type,
		.pid = task->pid,
		.tid = task->tid,
		.parent_pid = task->parent_pid,
		.parent_tid = task->parent_tid,
		.share_space = task->share_space,
		.start = task->start,
		.offset = task->offset,
	};

	if (__builtin_add_overflow(task->start, task->length, &change.end))
		change.end = UINT64_MAX;
	change.image = image_of(replay, task, text);
	change.text = text_of(replay, task, text);
	if (task->is_data && change.image != LODE_NONE)
		change.image |= LODE_PERF_IMAGE_DATA;
	if (change.image == LODE_NONE || change.text == LODE_NONE || LODE_PUSH(&replay->changes, change) < 0)
		return LODE_SYSTEM;
	return 0;
}

static int handle_tasks(struct lode_perf_replay *replay, struct lode_perf_batch *batch)
{
	size_t before = replay->changes.count;

	if (!batch->tasks.count)
		return 0;
	for (size_t i = 0; i < batch->tasks.count; i++)
		if (handle_task(replay, &batch->tasks.items[i], batch->texts.bytes + batch->tasks.items[i].text) < 0)
			return LODE_SYSTEM;
	for (size_t i = 0; i < batch->entries.count; i++)
		if (batch->entries.items[i].event == LODE_PERF_TASK)
			batch->entries.items[i].value += before;
	return 0;
}

static int handle_copies(struct lode_perf_replay *replay, struct lode_perf_batch *batch)
{
	if (!batch->copies.count)
		return 0;
	for (size_t i = 0; i < batch->entries.count; i++) {
		struct lode_perf_entry *entry = &batch->entries.items[i];
		uint32_t number;

		if (!lode_perf_has_copy(entry))
			continue;
		number = lode_perf_copies_add(&replay->copies,
					      &batch->copies.items[entry->chain & ~LODE_PERF_COPIED]);
		if (number == LODE_NONE)
			return LODE_SYSTEM;
		entry->chain = LODE_PERF_COPIED | number;
	}
	return 0;
}

/* Forgets the changes that went; those that still wait get new numbers, in their order of waiting. */
static int pack_changes(struct lode_perf_replay *replay)
{
	struct lode_perf_order *order = &replay->order;
	struct lode_perf_change *kept = NULL;
	size_t count = 0, capacity = 0;

	if (replay->changes.count < 1024 || replay->changes.count < 2 * order->count)
		return 0;
	if (lode_grow(&kept, &capacity, order->count + 1, sizeof(*kept)) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < order->count; i++) {
		if (order->entries[i].event != LODE_PERF_TASK)
			continue;
		kept[count] = replay->changes.items[order->entries[i].value];
		order->entries[i].value = count++;
	}
	lode_free(replay->changes.items);
	replay->changes.items = kept;
	replay->changes.count = count;
	replay->changes.capacity = capacity;
	return 0;
}

/* ---- threads and mappings ---- */

static int map_user(struct lode_perf_replay *replay, const struct lode_perf_change *change)
{
	uint32_t process = lode_perf_threads_process(&replay->threads, change->pid);
	struct lode_mapping mapping = { change->start, change->end, change->offset, change->image };

	if (process == LODE_NONE)
		return LODE_SYSTEM;
	return lode_space_map(&replay->spaces, &replay->threads.processes.items[process].space, &mapping);
}

/*
 * The kernel's own mapping may be said to reach over its modules: theirs, which come later, replace that
 * part.
 */
static int map_kernel(struct lode_perf_replay *replay, const struct lode_perf_change *change)
{
	struct lode_mapping mapping = { change->start, change->end, change->offset, change->image };

	return lode_space_map(&replay->spaces, &replay->stacks.kernel, &mapping);
}

/*
 * A new program (exec) has a new name and maps its files, which replaces what was
 * there. The mappings of the old one stay: while exec is at work in the kernel,
 * the user's stack still is that of the old program.
 */
static int name_thread(struct lode_perf_replay *replay, const struct lode_perf_change *change)
{
	uint32_t thread;

	if (change->type == LODE_PERF_NAME)
		thread = lode_perf_threads_tid(&replay->threads, change->tid);
	else
		thread = lode_perf_threads_get(&replay->threads, change->pid, change->tid);
	if (thread == LODE_NONE)
		return LODE_SYSTEM;
	if (change->type != LODE_PERF_NAME || !replay->threads.items[thread].name)
		replay->threads.items[thread].name = change->text;
	return 0;
}

/* The child has its parent's name and, where it is a separate process, a copy of its mappings. */
static int fork_thread(struct lode_perf_replay *replay, const struct lode_perf_change *change)
{
	struct lode_perf_threads *threads = &replay->threads;
	uint32_t parent = lode_perf_threads_get(threads, change->parent_pid, change->parent_tid);
	uint32_t child = lode_perf_threads_get(threads, change->pid, change->tid);
	struct lode_space *space;

	if (parent == LODE_NONE || child == LODE_NONE)
		return LODE_SYSTEM;
	threads->items[child].name = threads->items[parent].name;
	if (change->pid == change->parent_pid || !change->share_space ||
	    threads->items[child].process == LODE_NONE || threads->items[parent].process == LODE_NONE)
		return 0;
	space = &threads->processes.items[threads->items[child].process].space;
	lode_space_clear(&replay->spaces, space);
	*space = lode_space_fork(&replay->spaces, &threads->processes.items[threads->items[parent].process].space);
	return 0;
}

static const struct lode_perf_chain *recorded_chain(const struct lode_perf_replay *replay, uint32_t chain)
{
	return chain == LODE_NONE ? NULL : &replay->stacks.chains.items[chain];
}

static const struct lode_space *space_of(const struct lode_perf_replay *replay, uint32_t thread)
{
	static const struct lode_space nowhere;
	uint32_t process = replay->threads.items[thread].process;

	return process == LODE_NONE ? &nowhere : &replay->threads.processes.items[process].space;
}

/* The user's part has come: the stacks of the thread that wait for it are whole. */
static int join_stacks(struct lode_perf_replay *replay, const struct lode_perf_change *change)
{
	const struct lode_perf_chain *below = recorded_chain(replay, (uint32_t)change->offset);
	uint32_t thread = lode_perf_threads_get(&replay->threads, change->pid, change->tid);
	struct lode_perf_waiting_stack waiting;

	if (thread == LODE_NONE)
		return LODE_SYSTEM;
	while (lode_perf_deferred_take(&replay->deferred, thread, change->start, &waiting)) {
		uint32_t chain = lode_perf_user_stacks_join(&replay->user_stacks,
							    recorded_chain(replay, waiting.chain), below);
		uint32_t stack;

		if (chain == LODE_NONE)
			return LODE_SYSTEM;
		stack = lode_perf_stacks_get(&replay->stacks, space_of(replay, thread), thread,
					     chain | LODE_PERF_UNWOUND);
		if (stack == LODE_NONE)
			return LODE_SYSTEM;
		lode_perf_stacks_set(&replay->stacks, waiting.stack, stack);
	}
	return 0;
}

static int apply_change(struct lode_perf_replay *replay, const struct lode_perf_change *change)
{
	switch (change->type) {
	case LODE_PERF_MAP:
		return map_user(replay, change);
	case LODE_PERF_KERNEL_MAP:
	case LODE_PERF_KSYMBOL:
		return map_kernel(replay, change);
	case LODE_PERF_KSYMBOL_GONE:
		return lode_space_unmap(&replay->spaces, &replay->stacks.kernel, change->start, change->end);
	case LODE_PERF_FORK:
		return fork_thread(replay, change);
	case LODE_PERF_USER_STACK:
		return join_stacks(replay, change);
	default:
		return name_thread(replay, change);
	}
}

/* ---- samples ---- */

static uint32_t add_name(struct lode_perf_replay *replay, const char *name)
{
	return lode_strings_add(&replay->stream->dictionary->frames.strings, name, strlen(name));
}

static uint32_t event_name(struct lode_perf_replay *replay, uint16_t event)
{
	uint32_t *place = &replay->event_names[event];

	if (!*place)
		*place = add_name(replay, replay->facts->events.items[event].name);
	return *place;
}

static uint32_t syscall_name(struct lode_perf_replay *replay, uint64_t number)
{
	const char *name;
	char text[32];
	uint32_t id;

	if (number < LODE_PERF_SYSCALLS && replay->syscall_names[number])
		return replay->syscall_names[number];
	name = lode_syscall_name(replay->facts->arch, number);
	if (!name) {
		snprintf(text, sizeof(text), "syscall_%lld", (long long)number);
		name = text;
	}
	id = add_name(replay, name);
	if (number < LODE_PERF_SYSCALLS && id != LODE_NONE)
		replay->syscall_names[number] = id;
	return id;
}

/* A thread of the scheduler's tracepoints; the idle thread is none. */
static int scheduled_thread(struct lode_perf_replay *replay, uint32_t tid, uint32_t *thread)
{
	*thread = LODE_NONE;
	if (tid == 0)
		return 0;
	*thread = lode_perf_threads_tid(&replay->threads, tid);
	if (*thread == LODE_NONE)
		return LODE_SYSTEM;
	replay->threads.items[*thread].used = 1;
	return 0;
}

static int add_switch(struct lode_perf_replay *replay, const struct lode_perf_entry *entry, uint32_t thread,
		      uint32_t stack)
{
	uint32_t next;

	if (scheduled_thread(replay, (uint32_t)entry->value, &next) < 0)
		return LODE_SYSTEM;
	lode_sched_switch(replay->sched, entry->time, entry->cpu, entry->tid ? thread : LODE_NONE,
			  (enum lode_switch_state)(entry->value >> 32), stack, next);
	return replay->stream->failed ? LODE_SYSTEM : 0;
}

static int add_waking(struct lode_perf_replay *replay, const struct lode_perf_entry *entry, uint32_t thread,
		      uint32_t stack)
{
	uint32_t target;

	if (scheduled_thread(replay, (uint32_t)entry->value, &target) < 0)
		return LODE_SYSTEM;
	lode_sched_waking(replay->sched, entry->time, entry->tid ? thread : LODE_NONE, stack, target);
	return replay->stream->failed ? LODE_SYSTEM : 0;
}

/*
 * The cost of a run. What counts has its count until the end, when the rate is known; which event
 * it is of is kept meanwhile where calls have their name.
 */
static void set_cost(struct lode_perf_replay *replay, const struct lode_perf_entry *entry, struct lode_event *run)
{
	const struct lode_perf_event *event = &replay->facts->events.items[entry->event];

	run->cost = event->layout.period ? entry->value : event->cost;
	switch (event->costing) {
	case LODE_PERF_COST_PERIOD:
		return;
	case LODE_PERF_COST_FREQUENCY:
		run->cost = event->cost;
		return;
	default:
		replay->has_counts = 1;
		run->name = entry->event + 1u;
	}
}

/* The chain that the copy of a user's stack comes to, for `stacks`. */
static uint32_t unwind_copy(struct lode_perf_replay *replay, const struct lode_space *space, uint32_t number)
{
	const struct lode_perf_copy *copy = &replay->copies.items[number];
	const struct lode_perf_chain *above = recorded_chain(replay, copy->chain);
	uint32_t chain = lode_perf_user_stacks_unwind(&replay->user_stacks, space, copy, above);

	lode_perf_copies_remove(&replay->copies, number);
	return chain == LODE_NONE ? LODE_NONE : chain | LODE_PERF_UNWOUND;
}

/* The number of a stack whose user's part comes later, which is the kernel's part until then. */
static uint32_t reserve_stack(struct lode_perf_replay *replay, uint32_t thread, uint32_t number)
{
	const struct lode_perf_copy *copy = &replay->copies.items[number];
	struct lode_perf_waiting_stack waiting = { .cookie = copy->cookie, .chain = copy->chain };
	uint32_t stack = 0;

	lode_perf_copies_remove(&replay->copies, number);
	if (waiting.chain != LODE_NONE)
		stack = lode_perf_stacks_get(&replay->stacks, space_of(replay, thread), thread, waiting.chain);
	if (stack != LODE_NONE)
		stack = lode_perf_stacks_reserve(&replay->stacks, stack);
	waiting.stack = stack;
	return stack == LODE_NONE || lode_perf_deferred_add(&replay->deferred, thread, &waiting) < 0 ? LODE_NONE
												     : stack;
}

/* The number of a sample's stack; 0: it has none. LODE_NONE: memory has run out. */
static uint32_t stack_of(struct lode_perf_replay *replay, const struct lode_perf_entry *entry, uint32_t thread)
{
	const struct lode_space *space = space_of(replay, thread);
	uint32_t chain = entry->chain;

	if (chain == LODE_NONE)
		return 0;
	if (lode_perf_has_copy(entry)) {
		chain &= ~LODE_PERF_COPIED;
		if (replay->copies.items[chain].is_deferred)
			return reserve_stack(replay, thread, chain);
		chain = unwind_copy(replay, space, chain);
	}
	return chain == LODE_NONE ? LODE_NONE : lode_perf_stacks_get(&replay->stacks, space, thread, chain);
}

/* The sample is taken when the thread runs again. */
static int add_off_cpu(struct lode_perf_replay *replay, const struct lode_perf_entry *entry,
		       struct lode_event *wait)
{
	wait->cost = entry->value;
	wait->t = entry->time > entry->value ? entry->time - entry->value : 0;
	return lode_stream_add_event(replay->stream, LODE_WAIT, wait);
}

static int add_sample(struct lode_perf_replay *replay, const struct lode_perf_entry *entry)
{
	const struct lode_perf_event *event = &replay->facts->events.items[entry->event];
	uint32_t thread = lode_perf_threads_get(&replay->threads, entry->pid, entry->tid);
	struct lode_event result = { .t = entry->time, .thread = thread, .waker = LODE_NONE, .cpu = entry->cpu };

	if (thread == LODE_NONE)
		return LODE_SYSTEM;
	replay->threads.items[thread].used = 1;
	result.stack = stack_of(replay, entry, thread);
	if (event->use == LODE_PERF_SWITCH)
		return add_switch(replay, entry, thread, result.stack);
	if (event->use == LODE_PERF_OFF_CPU)
		return add_off_cpu(replay, entry, &result);
	lode_sched_running(replay->sched, entry->time, thread);
	switch (event->use) {
	case LODE_PERF_WAKING:
		return add_waking(replay, entry, thread, result.stack);
	case LODE_PERF_RUN:
		set_cost(replay, entry, &result);
		return lode_stream_add_event(replay->stream, LODE_RUN, &result);
	case LODE_PERF_SYSCALL:
		result.name = syscall_name(replay, entry->value);
		break;
	default:
		result.name = event_name(replay, entry->event);
	}
	return lode_stream_add_event(replay->stream, LODE_CALL, &result);
}

/* ---- in order of time ---- */

/* The first sample: everything from before the recording has been seen, so symbols can be fetched. */
static int start(struct lode_perf_replay *replay)
{
	replay->started = 1;
	replay->event_names = lode_calloc(replay->facts->events.count, sizeof(*replay->event_names));
	return replay->event_names ? lode_perf_images_start(&replay->images) : LODE_SYSTEM;
}

static int play(struct lode_perf_replay *replay, size_t count)
{
	const struct lode_perf_entry *entries = replay->order.entries;
	int code = 0;

	for (size_t i = 0; i < count && code == 0; i++) {
		if (entries[i].event == LODE_PERF_TASK) {
			code = apply_change(replay, &replay->changes.items[entries[i].value]);
			continue;
		}
		if (!replay->started && start(replay) < 0)
			return LODE_SYSTEM;
		code = add_sample(replay, &entries[i]);
	}
	return code;
}

int lode_perf_replay_batch(struct lode_perf_replay *replay, struct lode_perf_batch *batch)
{
	size_t ready;

	if (lode_perf_stacks_add_chains(&replay->stacks, batch->chains.items, batch->chains.count) < 0 ||
	    handle_tasks(replay, batch) < 0 || handle_copies(replay, batch) < 0 ||
	    lode_perf_order_add(&replay->order, batch->entries.items, batch->entries.count) < 0)
		return LODE_SYSTEM;
	if (!batch->round && !batch->last)
		return 0;
	if (lode_perf_order_ready(&replay->order, batch->last, &ready) < 0 || play(replay, ready) < 0)
		return LODE_SYSTEM;
	lode_perf_order_remove(&replay->order, ready);
	return pack_changes(replay);
}

int lode_perf_replay_finish(struct lode_perf_replay *replay)
{
	struct lode_notes *notes = replay->options->notes;

	if (lode_sched_finish(replay->sched, replay->order.newest) < 0)
		return LODE_SYSTEM;
	lode_notes_add(notes, replay->order.late, "records that came too late to be sorted by time", NULL);
	lode_notes_add(notes, replay->spaces.dropped, "mappings beyond the limit, whose addresses have no symbols",
		       NULL);
	lode_perf_user_stacks_note(&replay->user_stacks, notes);
	lode_notes_add(notes, lode_perf_deferred_missed(&replay->deferred),
		       "stacks without their user part, which was recorded separately and is missing", NULL);
	if (replay->has_counts && lode_perf_finish_costs(replay) < 0)
		return LODE_SYSTEM;
	return lode_perf_finish_events(replay);
}
