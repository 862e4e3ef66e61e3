/*
 * Reading what the BPF programs and the sideband reported.
 *
 * The order of the steps matters. First it is noted how far the rings of records are filled; then the stacks are taken,
 * then the changes of processes: a stack is sent before the first record that names it gets its place in a ring, and
 * a mapping is reported before the first stack through it, or read now where a stack asks for it (map_reads.h), so everything that a
 * record needs is there. Then records (by their ends, when they were written) and changes are handed over merged by time, the records in place (zero-copy).
 */
#include "base/clock.h"
#include "record/recorder_state.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

int lode_recorder_wait(struct lode_recorder *recorder, int milliseconds, int descriptor)
{
	struct pollfd waited[2] = {
		{ ring_buffer__epoll_fd(recorder->stacks), POLLIN, 0 },
		{ descriptor, POLLIN, 0 },
	};

	if (lode_rings_half_full(&recorder->rings))
		return 1;
	return poll(waited, 2, milliseconds) < 0 || waited[1].revents;
}

/* Whether the process may have mapped something that was not reported. */
static int is_in_doubt(const struct lode_recorder *recorder, const struct lode_record_copy *copy)
{
	return recorder->programs->bss->reads_maps || (recorder->has_read_maps && copy->is_unmapped);
}

static void handle_copy(struct lode_recorder *recorder, const struct lode_record_copy *copy, size_t size)
{
	size_t head = offsetof(struct lode_record_copy, bytes);

	if (size < head || copy->size > size - head || !recorder->unwinds)
		return;
	if (lode_stack_copies_add(&recorder->copies, copy) < 0 ||
	    (is_in_doubt(recorder, copy) && lode_map_reads_doubt(&recorder->map_reads, copy) < 0) ||
	    (recorder->loader && lode_unwind_loader_changed(recorder->loader, copy->pid) < 0))
		recorder->failed = 1;
}

/* Negative, which ends the reading of the ring, when enough is held. */
static int hold_stack(struct lode_recorder *recorder, const void *bytes, uint64_t size)
{
	static const char padding[8];

	lode_buffer_add(&recorder->held, &size, sizeof(size));
	lode_buffer_add(&recorder->held, bytes, size);
	lode_buffer_add(&recorder->held, padding, -size & 7);
	return recorder->held.size < recorder->held_limit ? 0 : -1;
}

/* The kernel knows of a process that was forked what it knew of its parent, before the program does. */
static int know_process(struct lode_recorder *recorder, uint32_t pid)
{
	const struct lode_process *process;
	struct lode_language_process found;

	if (lode_languages_knows(recorder->languages, pid))
		return 0;
	process = lode_processes_get(&recorder->unwinder.processes, pid);
	if (!process)
		return LODE_SYSTEM;
	return lode_languages_detect(recorder->languages, &recorder->unwinder.processes, process, &found);
}

/*
 * Reads the name of a frame. If what describes it is gone already, and it may come back, the kernel is to wake the reader at once for
 * the next stack with it, as for one that is new.
 */
static int learn_name(struct lode_recorder *recorder, uint32_t pid, uint64_t word, uint64_t position)
{
	int code = lode_languages_learn(recorder->languages, pid, word, position);

	if (code > 0)
		recorder->programs->bss->names_seen[lode_record_name_place(lode_record_name_key(word, pid))] = 0;
	return code < 0 ? code : 0;
}

/* Reads the names of the frames of languages now: what they describe may be gone soon. */
static int learn_names(struct lode_recorder *recorder, const struct lode_record_stack *stack)
{
	if (!recorder->languages || !(stack->languages & LODE_STACK_HAS_WORDS))
		return 0;
	if (know_process(recorder, stack->pid) < 0)
		return LODE_SYSTEM;
	for (uint32_t i = 0; i < stack->count; i++)
		if (lode_language_of(stack->addresses[i]) != LODE_LANGUAGE_NONE &&
		    learn_name(recorder, stack->pid, stack->addresses[i],
			       lode_language_position(stack->addresses, stack->count, i)) < 0)
			return LODE_SYSTEM;
	return 0;
}

static void handle_context(struct lode_recorder *recorder, const struct lode_record_context *named, size_t size)
{
	const struct lode_recorder_sink *sink = recorder->sink;
	size_t head = offsetof(struct lode_record_context, bytes);

	if (size < head || named->size > size - head || named->size > sizeof(named->bytes) || !sink->named_context)
		return;
	if (sink->named_context(sink->context, named) < 0)
		recorder->failed = 1;
}

static void handle_one(struct lode_recorder *recorder, const void *bytes, size_t size)
{
	const struct lode_record_stack *stack = bytes;
	size_t head = offsetof(struct lode_record_stack, addresses);

	if (size >= head && stack->count == LODE_RECORD_COPY_MARK) {
		handle_copy(recorder, bytes, size);
		return;
	}
	if (size >= head && stack->count == LODE_RECORD_CONTEXT_MARK) {
		handle_context(recorder, bytes, size);
		return;
	}
	if (size < head || size < head + stack->count * sizeof(*stack->addresses))
		return; /* only a bell */
	if (stack->languages & LODE_STACK_IS_CHAIN) {
		if (learn_names(recorder, stack) < 0 || lode_stack_copies_add_chain(&recorder->copies, stack) < 0)
			recorder->failed = 1;
		return;
	}
	if (learn_names(recorder, stack) < 0 || recorder->sink->stack(recorder->sink->context, stack) < 0)
		recorder->failed = 1;
}

/*
 * Negative, which ends the reading, when all was taken that was in the ring when the reading began. Others may write as fast
 * as this reads, until they are known.
 */
static int handle_stack(void *context, void *bytes, size_t size)
{
	struct lode_recorder *recorder = context;

	if (recorder->holds)
		return hold_stack(recorder, bytes, size);
	handle_one(recorder, bytes, size);
	size = lode_ring_fill_of(size);
	recorder->ring_left -= size < recorder->ring_left ? size : recorder->ring_left;
	return recorder->ring_left ? 0 : -1;
}

void lode_recorder_hold_stacks(void *context)
{
	struct lode_recorder *recorder = context;

	if (recorder->held.size >= recorder->held_limit)
		return;
	recorder->holds = 1;
	ring_buffer__consume(recorder->stacks);
	recorder->holds = 0;
}

static void read_stacks(struct lode_recorder *recorder)
{
	recorder->ring_left = lode_ring_fill(&recorder->stacks_fill);
	if (recorder->ring_left)
		ring_buffer__consume(recorder->stacks);
}

/* What was held comes first, in its order. */
static int handle_held(struct lode_recorder *recorder)
{
	struct lode_buffer *held = &recorder->held;
	uint64_t size;

	if (held->failed)
		return LODE_SYSTEM;
	for (size_t at = 0; at < held->size; at += sizeof(size) + ((size + 7) & ~(uint64_t)7)) {
		memcpy(&size, held->bytes + at, sizeof(size));
		handle_one(recorder, held->bytes + at + sizeof(size), size);
	}
	lode_buffer_release(held);
	return 0;
}

int lode_recorder_open_stacks(struct lode_recorder *recorder, struct lode_error *error)
{
	int map = bpf_map__fd(recorder->programs->maps.stacks);

	recorder->stacks = ring_buffer__new(map, handle_stack, recorder, NULL);
	if (recorder->stacks && lode_ring_fill_open(&recorder->stacks_fill, map) == 0)
		return 0;
	return lode_fail(error, LODE_SYSTEM, "the ring of stacks cannot be opened: %s", strerror(errno));
}

/* Changes of processes, of which `given` have been handed over. */
struct changes {
	const struct lode_change *items;
	size_t count;
	size_t given;
	size_t reads_given; /* of those of the recorder's map_reads */
};

/* What the unwinder has to know of a change. */
static int follow_change(struct lode_recorder *recorder, const struct lode_change *change)
{
	if (!recorder->unwinds)
		return 0;
	if (lode_process_unwinder_apply(&recorder->unwinder, change) < 0)
		return LODE_SYSTEM;
	if (!recorder->loader || change->type != LODE_CHANGE_MAP)
		return 0;
	return lode_unwind_loader_changed(recorder->loader, change->pid);
}

/* The next one up to `until`; NULL: none. Of the same time first what the kernel reported: then mappings were read. */
static const struct lode_change *next_change(const struct lode_recorder *recorder, struct changes *changes,
					     uint64_t until)
{
	const struct lode_change *reported = &changes->items[changes->given],
				 *read = &recorder->map_reads.changes[changes->reads_given];
	int has_reported = changes->given < changes->count && reported->t <= until,
	    has_read = changes->reads_given < recorder->map_reads.count && read->t <= until;

	if (has_read && (!has_reported || read->t < reported->t)) {
		changes->reads_given++;
		return read;
	}
	changes->given += (size_t)has_reported;
	return has_reported ? reported : NULL;
}

static int hand_over_changes(struct lode_recorder *recorder, struct changes *changes, uint64_t until)
{
	const struct lode_recorder_sink *sink = recorder->sink;
	const struct lode_change *change;
	int code = 0;

	while (!code && (change = next_change(recorder, changes, until))) {
		recorder->execs += change->type == LODE_CHANGE_NAME && change->executed;
		code = follow_change(recorder, change);
		if (!code)
			code = sink->change(sink->context, change);
	}
	return code;
}

/* Replaces a copy's id with that of the unwound stack, which is handed over first. */
static int resolve_copy(struct lode_recorder *recorder, uint64_t *id)
{
	const struct lode_recorder_sink *sink = recorder->sink;
	const struct lode_record_stack *stack;

	if (!(*id & LODE_RECORD_COPY_ID))
		return 0;
	if (lode_stack_copies_find(&recorder->copies, *id, &stack) < 0)
		return LODE_SYSTEM;
	if (!stack)
		return 0;
	*id = stack->id;
	if (learn_names(recorder, stack) < 0)
		return LODE_SYSTEM;
	return sink->stack(sink->context, stack);
}

static int hand_over_record(struct lode_recorder *recorder, const struct lode_record *record)
{
	const struct lode_recorder_sink *sink = recorder->sink;
	struct lode_record resolved;

	if (!((record->user | record->waker_user) & LODE_RECORD_COPY_ID) ||
	    record->type >= LODE_RECORD_TOTALS_FIRST)
		return sink->record(sink->context, record);
	resolved = *record;
	if (resolve_copy(recorder, &resolved.user) < 0 || resolve_copy(recorder, &resolved.waker_user) < 0)
		return LODE_SYSTEM;
	return sink->record(sink->context, &resolved);
}

/* Hands over records and changes, merged by time. */
static int hand_over(struct lode_recorder *recorder, struct changes *changes)
{
	const struct lode_record *record;
	uint64_t written;
	int code = 0;

	while (!code && (record = lode_rings_next(&recorder->rings, &written))) {
		code = hand_over_changes(recorder, changes, written);
		if (!code)
			code = hand_over_record(recorder, record);
		lode_rings_pass(&recorder->rings);
	}
	for (size_t i = 0; !code && i < recorder->seen_count; i++)
		code = hand_over_record(recorder, &recorder->seen[i]);
	recorder->seen_count = 0;
	for (size_t i = 0; !code && i < recorder->open_count; i++) {
		code = hand_over_changes(recorder, changes, lode_record_end(&recorder->open[i]));
		if (!code)
			code = hand_over_record(recorder, &recorder->open[i]);
	}
	return code ? code : hand_over_changes(recorder, changes, UINT64_MAX);
}

/* Has the kernel know what changed, and what copies requested. */
static int keep_tables(struct lode_recorder *recorder, uint64_t t)
{
	int tidied = lode_process_unwinder_tidy(&recorder->unwinder, t);

	if (tidied < 0 || (tidied && lode_unwind_loader_renumbered(recorder->loader, t) < 0))
		return LODE_SYSTEM;
	return lode_unwind_loader_flush(recorder->loader, t);
}

/* Reads the mappings of processes that changed them, where the kernel does not report that. */
static int read_maps(struct lode_recorder *recorder, const struct changes *changes)
{
	if (!recorder->has_read_maps)
		return 0;
	if (recorder->programs->bss->reads_maps && recorder->reads_until < lode_now())
		recorder->programs->bss->reads_maps = 0;
	if (recorder->programs->bss->reads_maps &&
	    lode_map_reads_next_round(&recorder->map_reads, recorder->cpu_count, lode_now()))
		lode_unwind_loader_doubt(recorder->loader);
	return lode_map_reads_read(&recorder->map_reads, &recorder->unwinder.processes, changes->items,
				   changes->count, recorder->copies.known);
}

int lode_recorder_read(struct lode_recorder *recorder, const struct lode_recorder_sink *sink)
{
	struct changes changes = { 0 };
	uint64_t until;

	/* Before anything is read: it may take a table, while which is made the ring of stacks is read, too. */
	if (recorder->unwinds && lode_stack_copies_begin(&recorder->copies) < 0)
		return LODE_SYSTEM;
	lode_rings_begin(&recorder->rings);
	until = lode_now(); /* all records that this reading finds were written by then */
	recorder->sink = sink;
	recorder->failed = 0;
	if (handle_held(recorder) < 0)
		return LODE_SYSTEM;
	read_stacks(recorder);
	/* The next copy wakes the reader; what came before is taken now. */
	__atomic_store_n(&recorder->programs->bss->copies_wait, 0, __ATOMIC_SEQ_CST);
	read_stacks(recorder);
	if (recorder->failed)
		return LODE_SYSTEM;
	if (lode_sideband_read(recorder->sideband, until, &changes.items, &changes.count) < 0)
		return LODE_SYSTEM;
	if (read_maps(recorder, &changes) < 0 || hand_over(recorder, &changes) < 0)
		return LODE_SYSTEM;
	lode_map_reads_settle(&recorder->map_reads, &recorder->unwinder.processes, until);
	recorder->copies.known = until;
	if (!recorder->loader)
		return 0;
	if (keep_tables(recorder, until) < 0)
		return LODE_SYSTEM;
	recorder->programs->bss->mapped_known = until;
	return 0;
}
