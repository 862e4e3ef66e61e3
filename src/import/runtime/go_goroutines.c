/* Goroutines of a Go execution trace: see go_goroutines.h. */
#include "import/runtime/go_goroutines.h"

#include "import/sched.h"

#include <stdlib.h>
#include <string.h>

/* What a CPU sample represents: Go takes a hundred a second. */
#define SAMPLE_NS 10000000u

int lode_goroutines_init(struct lode_goroutines *goroutines, const struct lode_import_options *options)
{
	*goroutines = (struct lode_goroutines){ .options = options };
	if (lode_dictionary_init(&goroutines->dictionary) < 0)
		return LODE_SYSTEM;
	lode_stream_init(&goroutines->stream, &goroutines->dictionary);
	goroutines->syscall_name = lode_strings_add(&goroutines->dictionary.frames.strings, "syscall", 7);
	return goroutines->syscall_name == LODE_NONE ? LODE_SYSTEM : 0;
}

static void release_table(struct lode_go_table *table)
{
	lode_free(table->items);
	lode_index_release(&table->index);
	*table = (struct lode_go_table){ 0 };
}

void lode_goroutines_release(struct lode_goroutines *goroutines)
{
	release_table(&goroutines->strings);
	release_table(&goroutines->stacks);
	lode_free(goroutines->steps.items);
	lode_free(goroutines->calls.items);
	lode_stream_release(&goroutines->stream);
	lode_dictionary_release(&goroutines->dictionary);
}

/* ---- tables ---- */

void lode_go_table_clear(struct lode_go_table *table)
{
	table->count = 0;
	lode_index_release(&table->index);
}

static struct lode_go_item *find_item(const struct lode_go_table *table, uint64_t id)
{
	uint32_t number = LODE_INDEX_FIND(i, &table->index, lode_hash_u64(id), table->items[i].id == id);

	return number == LODE_NONE ? NULL : &table->items[number];
}

int lode_go_table_add(struct lode_go_table *table, uint64_t id, struct lode_cursor at, uint64_t count)
{
	if (find_item(table, id))
		return 0;
	return LODE_INDEX_PUSH(&table->index, lode_hash_u64(id), table,
			       (struct lode_go_item){ id, at, count, LODE_NONE });
}

/* ---- stacks ---- */

/* The frame of the function that the string `id` names. */
static uint32_t frame_of(struct lode_goroutines *goroutines, uint64_t id)
{
	struct lode_frames *frames = &goroutines->dictionary.frames;
	struct lode_go_item *item = find_item(&goroutines->strings, id);

	if (!item)
		return lode_frames_add(frames, 0, "[unknown]", 9);
	if (item->memo == LODE_NONE)
		item->memo = lode_frames_add(frames, 0, (const char *)item->at.next, item->count);
	return item->memo;
}

/* Skips `count` frames, each a program counter, function, file and line. */
static void skip_frames(struct lode_cursor *cursor, uint64_t count)
{
	for (uint64_t i = 0; i < 4 * count && !cursor->failed; i++)
		lode_cursor_varint(cursor);
}

static uint64_t next_function(struct lode_cursor *cursor)
{
	uint64_t function;

	lode_cursor_varint(cursor);
	function = lode_cursor_varint(cursor);
	lode_cursor_varint(cursor);
	lode_cursor_varint(cursor);
	return function;
}

/* Frames are leaf first, and go no deeper than 128 (or 1000 in old traces): below that they are read again and again. */
#define DEPTH_LIMIT 1000
/* A stack of this many frames may have more, which Go left out at the root. */
#define CUT_BY_GO 128

static uint32_t make_stack(struct lode_goroutines *goroutines, const struct lode_go_item *item)
{
	uint32_t functions[DEPTH_LIMIT], stack = 0;
	uint64_t count = item->count < DEPTH_LIMIT ? item->count : DEPTH_LIMIT;
	struct lode_cursor cursor = item->at;

	goroutines->cut += count < item->count;
	for (uint64_t i = 0; i < count; i++)
		functions[i] = frame_of(goroutines, next_function(&cursor));
	while (count-- && stack != LODE_NONE)
		stack = lode_stack_tree_child(&goroutines->dictionary.tree, stack, functions[count]);
	return stack;
}

/* The node of a stack of the table; 0 where there is none, LODE_NONE: memory. */
static uint32_t find_stack(struct lode_goroutines *goroutines, uint64_t id)
{
	struct lode_go_item *item = id ? find_item(&goroutines->stacks, id) : NULL;

	if (!item)
		return 0;
	if (item->memo == LODE_NONE)
		item->memo = make_stack(goroutines, item);
	return item->memo;
}

/* ---- goroutines ---- */

static uint64_t to_nanoseconds(const struct lode_goroutines *goroutines, uint64_t ticks)
{
	uint64_t frequency = goroutines->frequency ? goroutines->frequency : 1000000000u, ns;

	if (__builtin_mul_overflow(ticks / frequency, 1000000000u, &ns))
		return UINT64_MAX / 2;
	return ns + (uint64_t)((double)(ticks % frequency) * 1e9 / (double)frequency + 0.5);
}

int lode_go_thread(struct lode_goroutines *goroutines, uint64_t goroutine, uint32_t *thread)
{
	*thread = LODE_NONE;
	if (!goroutine || goroutine >= UINT32_MAX)
		return 0;
	*thread = lode_stream_tid(&goroutines->stream, (uint32_t)goroutine);
	return *thread == LODE_NONE ? LODE_SYSTEM : 0;
}

int lode_go_name(struct lode_goroutines *goroutines, uint32_t thread, uint64_t id)
{
	const struct lode_go_item *item = find_item(&goroutines->stacks, id);
	struct lode_cursor cursor;
	uint32_t frame;

	if (thread == LODE_NONE || !item || !item->count || item->count >= CUT_BY_GO)
		return 0;
	cursor = item->at;
	skip_frames(&cursor, item->count - 1);
	frame = frame_of(goroutines, next_function(&cursor));
	if (frame == LODE_NONE)
		return LODE_SYSTEM;
	goroutines->stream.threads[thread].name = goroutines->dictionary.frames.items[frame].function;
	return 0;
}

/* One that was there before the trace is named by its own stack, when it is first seen. */
static int name_unnamed(struct lode_goroutines *goroutines, enum lode_go_step_kind kind, uint32_t thread,
			uint64_t stack)
{
	int is_own = kind == LODE_GO_BLOCKS || kind == LODE_GO_YIELDS || kind == LODE_GO_ENTERS_SYSCALL;

	return is_own && !goroutines->stream.threads[thread].name ? lode_go_name(goroutines, thread, stack) : 0;
}

int lode_go_step(struct lode_goroutines *goroutines, enum lode_go_step_kind kind, uint64_t ticks, uint32_t thread,
		 uint32_t waker, uint64_t stack)
{
	struct lode_go_step step = { .t = to_nanoseconds(goroutines, ticks),
				     .order = (uint32_t)goroutines->steps.count,
				     .thread = thread,
				     .waker = waker,
				     .kind = kind };

	if (thread == LODE_NONE)
		return 0;
	step.stack = find_stack(goroutines, stack);
	if (step.stack == LODE_NONE || name_unnamed(goroutines, kind, thread, stack) < 0 ||
	    goroutines->steps.count >= LODE_NONE - 1 || LODE_PUSH(&goroutines->steps, step) < 0)
		return LODE_SYSTEM;
	return 0;
}

/* ---- system calls ---- */

static struct lode_go_call *call_of(struct lode_goroutines *goroutines, uint32_t thread)
{
	return LODE_PLACE(&goroutines->calls, thread, (struct lode_go_call){ 0 });
}

static int enter_syscall(struct lode_goroutines *goroutines, const struct lode_go_step *step)
{
	struct lode_go_call *call = call_of(goroutines, step->thread);

	if (!call)
		return LODE_SYSTEM;
	*call = (struct lode_go_call){ step->t, step->stack, 1 };
	return 0;
}

static int leave_syscall(struct lode_goroutines *goroutines, const struct lode_go_step *step)
{
	struct lode_go_call *call = call_of(goroutines, step->thread);
	struct lode_event event = { .thread = step->thread, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	int blocked = step->kind == LODE_GO_LEAVES_BLOCKED;

	if (!call)
		return LODE_SYSTEM;
	if (!call->open)
		return 0;
	call->open = 0;
	event.t = call->t;
	event.stack = call->stack;
	if (blocked)
		event.cost = step->t - call->t;
	else
		event.name = goroutines->syscall_name;
	return lode_stream_add_event(&goroutines->stream, blocked ? LODE_WAIT : LODE_CALL, &event);
}

/* ---- the end ---- */

static int compare_steps(const void *left, const void *right)
{
	const struct lode_go_step *a = left, *b = right;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static int handle_step(struct lode_goroutines *goroutines, struct lode_sched *sched,
		       const struct lode_go_step *step)
{
	static const enum lode_switch_state states[] = {
		[LODE_GO_BLOCKS] = LODE_SWITCH_BLOCKED,
		[LODE_GO_YIELDS] = LODE_SWITCH_PREEMPTED,
		[LODE_GO_ENDS] = LODE_SWITCH_DEAD,
	};
	struct lode_event sample = { .t = step->t,
				     .cost = SAMPLE_NS,
				     .thread = step->thread,
				     .stack = step->stack,
				     .waker = LODE_NONE,
				     .cpu = LODE_NO_CPU };

	switch (step->kind) {
	case LODE_GO_STARTS:
		lode_sched_switch(sched, step->t, LODE_NO_CPU, LODE_NONE, LODE_SWITCH_BLOCKED, 0, step->thread);
		return 0;
	case LODE_GO_IS_UNBLOCKED:
		lode_sched_waking(sched, step->t, step->waker, step->stack, step->thread);
		return 0;
	case LODE_GO_IS_SAMPLED:
		goroutines->samples++;
		return lode_stream_add_event(&goroutines->stream, LODE_RUN, &sample);
	case LODE_GO_ENTERS_SYSCALL:
		return enter_syscall(goroutines, step);
	case LODE_GO_LEAVES_SYSCALL:
	case LODE_GO_LEAVES_BLOCKED:
		return leave_syscall(goroutines, step);
	default:
		lode_sched_switch(sched, step->t, LODE_NO_CPU, step->thread, states[step->kind], step->stack,
				  LODE_NONE);
		return 0;
	}
}

int lode_goroutines_finish(struct lode_goroutines *goroutines)
{
	struct lode_sched *sched = lode_sched_create(&goroutines->stream, goroutines->options->notes);
	uint64_t last = 0;
	int code = sched ? 0 : LODE_SYSTEM;

	if (goroutines->steps.count)
		qsort(goroutines->steps.items, goroutines->steps.count, sizeof(*goroutines->steps.items),
		      compare_steps);
	for (size_t i = 0; i < goroutines->steps.count && code == 0; i++) {
		last = goroutines->steps.items[i].t;
		code = handle_step(goroutines, sched, &goroutines->steps.items[i]);
	}
	if (code == 0)
		code = lode_sched_finish(sched, last);
	lode_sched_destroy(sched);
	return code;
}
