/*
 * Parts: see events_part.h.
 *
 * Reading a file line by line assigns ids to strings, frames, stacks and
 * threads in the order of their first appearance. So does a piece; and since pieces
 * are merged in the order of the file, and the lines between them read in between,
 * the whole gets the same ids.
 *
 * A line that is not plain ends a piece. Where they alternate all the time, many
 * small pieces would cost more than they save: then the rest of the chunk is read
 * one by one.
 */
#include "import/text/events_part.h"

#include "import/import.h"

#include <string.h>

#define MAX_PIECES 64

/* ---- pieces ---- */

static void free_piece(struct lode_events_piece *piece)
{
	lode_stream_release(&piece->stream);
	lode_dictionary_release(&piece->dictionary);
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		lode_free(piece->wakers[type].tids);
		lode_free(piece->holders[type].tids);
	}
	lode_free(piece);
}

/* Frames and stacks are known by their numbers in one piece. */
static void forget_texts(struct lode_events_part *part)
{
	lode_frame_memo_release(&part->memo);
	lode_index_release(&part->stacks.index);
	part->stacks.count = 0;
}

static struct lode_events_piece *begin_piece(struct lode_events_part *part)
{
	struct lode_events_piece *piece;

	forget_texts(part);
	if (lode_grow(&part->pieces, &part->capacity, part->count + 1, sizeof(struct lode_events_piece *)) < 0)
		return NULL;
	piece = lode_calloc(1, sizeof(*piece));
	if (!piece || lode_dictionary_init(&piece->dictionary) < 0) {
		lode_free(piece);
		return NULL;
	}
	lode_stream_init(&piece->stream, &piece->dictionary);
	part->pieces[part->count++] = piece;
	return piece;
}

void lode_events_part_clear(struct lode_events_part *part)
{
	for (size_t i = 0; i < part->count; i++)
		free_piece(part->pieces[i]);
	forget_texts(part);
	part->count = 0;
	part->lines = 0;
	part->code = 0;
}

void lode_events_part_release(struct lode_events_part *part)
{
	lode_events_part_clear(part);
	lode_plain_event_release(&part->event);
	lode_free(part->pieces);
	lode_free(part->stacks.items);
	lode_free(part->frames);
	memset(part, 0, sizeof(*part));
}

/* ---- stacks ---- */

static uint32_t find_stack(const struct lode_written_stacks *stacks, struct lode_span written, uint64_t hash)
{
	uint32_t id =
		LODE_INDEX_FIND(i, &stacks->index, hash,
				stacks->items[i].written.length == written.length &&
					memcmp(stacks->items[i].written.text, written.text, written.length) == 0);

	return id == LODE_NONE ? LODE_NONE : stacks->items[id].node;
}

static int keep_stack(struct lode_written_stacks *stacks, struct lode_span written, uint64_t hash, uint32_t node)
{
	return LODE_INDEX_PUSH(&stacks->index, hash, stacks, (struct lode_written_stack){ written, node });
}

static uint32_t frame_of(struct lode_events_part *part, struct lode_frames *frames, struct lode_span text)
{
	uint64_t hash = lode_hash_bytes(text.text, text.length);
	uint32_t frame = lode_frame_memo_find(&part->memo, text.text, text.length, hash);

	if (frame != LODE_NONE)
		return frame;
	frame = lode_frames_parse(frames, text.text, text.length);
	if (frame == LODE_NONE || lode_frame_memo_add(&part->memo, text.text, text.length, hash, frame) < 0)
		return LODE_NONE;
	return frame;
}

/* A stack of the line on its way to a node. */
struct stack {
	const struct lode_plain_stack *plain;
	uint64_t hash;
	uint32_t node; /* LODE_NONE: new to the piece */
};

static struct stack look_up(const struct lode_events_part *part, const struct lode_plain_stack *plain)
{
	struct stack stack = { .plain = plain };

	if (!plain->count)
		return stack;
	stack.hash = lode_hash_bytes(plain->written.text, plain->written.length);
	stack.node = find_stack(&part->stacks, plain->written, stack.hash);
	return stack;
}

static int read_frames(struct lode_events_part *part, struct lode_events_piece *piece, const struct stack *stack)
{
	size_t first = stack->plain->first, end = first + stack->plain->count;

	if (stack->node != LODE_NONE)
		return 0;
	if (lode_grow(&part->frames, &part->frame_capacity, end, sizeof(*part->frames)) < 0)
		return LODE_SYSTEM;
	for (size_t i = first; i < end; i++)
		if ((part->frames[i] = frame_of(part, &piece->dictionary.frames, part->event.frames.items[i])) ==
		    LODE_NONE)
			return LODE_SYSTEM;
	return 0;
}

static int make_node(struct lode_events_part *part, struct lode_events_piece *piece, struct stack *stack)
{
	size_t first = stack->plain->first, end = first + stack->plain->count;
	uint32_t node = 0;

	if (stack->node != LODE_NONE)
		return 0;
	for (size_t i = first; i < end; i++) {
		node = lode_stack_tree_child(&piece->dictionary.tree, node, part->frames[i]);
		if (node == LODE_NONE)
			return LODE_SYSTEM;
	}
	stack->node = node;
	return keep_stack(&part->stacks, stack->plain->written, stack->hash, node);
}

/* Frames get their ids in the order of the line, then the stack's nodes come first, as in events.c. */
static int read_stacks(struct lode_events_part *part, struct lode_events_piece *piece, struct stack *stack,
		       struct stack *waker_stack)
{
	const struct lode_plain_event *event = &part->event;
	int waker_first = event->waker_stack.first < event->stack.first;

	*stack = look_up(part, &event->stack);
	*waker_stack = look_up(part, &event->waker_stack);
	if (read_frames(part, piece, waker_first ? waker_stack : stack) < 0 ||
	    read_frames(part, piece, waker_first ? stack : waker_stack) < 0 || make_node(part, piece, stack) < 0)
		return LODE_SYSTEM;
	return make_node(part, piece, waker_stack);
}

/* ---- lines ---- */

static int keep_tid(struct lode_event_tids *list, size_t at, uint32_t tid)
{
	if (lode_grow(&list->tids, &list->capacity, at + 1, sizeof(tid)) < 0)
		return LODE_SYSTEM;
	list->tids[at] = tid;
	return 0;
}

/* A holder is nothing without an object. */
static int keep_tids(struct lode_events_piece *piece, const struct lode_plain_event *plain, uint32_t object)
{
	size_t at = piece->stream.events[plain->type].count;

	if (keep_tid(&piece->wakers[plain->type], at, plain->waker) < 0)
		return LODE_SYSTEM;
	return keep_tid(&piece->holders[plain->type], at, object ? plain->holder : LODE_NONE);
}

/* The string; 0 where the field is not there. */
static uint32_t add_text(struct lode_events_piece *piece, struct lode_span text)
{
	return text.text ? lode_strings_add(&piece->dictionary.frames.strings, text.text, text.length) : 0;
}

static int add_event(struct lode_events_part *part, struct lode_events_piece *piece)
{
	const struct lode_plain_event *plain = &part->event;
	struct stack stack, waker_stack;
	struct lode_event event = {
		.t = plain->t,
		.cost = plain->cost,
		.delay = plain->delay,
		.waker = LODE_NONE,
		.holder = LODE_NONE,
		.cpu = plain->cpu,
		.weight = plain->weight,
	};

	event.thread = lode_stream_thread(&piece->stream, plain->pid, plain->tid);
	if (event.thread == LODE_NONE || read_stacks(part, piece, &stack, &waker_stack) < 0)
		return LODE_SYSTEM;
	event.stack = stack.node;
	event.waker_stack = waker_stack.node;
	event.name = add_text(piece, plain->name);
	event.object = add_text(piece, plain->object);
	event.context = add_text(piece, plain->context);
	if (event.name == LODE_NONE || event.object == LODE_NONE || event.context == LODE_NONE ||
	    keep_tids(piece, plain, event.object) < 0)
		return LODE_SYSTEM;
	return lode_stream_add_event(&piece->stream, plain->type, &event);
}

static int is_blank(const char *line, size_t length)
{
	while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		length--;
	return length == 0;
}

/* The lines from `line` up to `end` are read one by one. */
static void leave(struct lode_events_part *part, struct lode_events_piece *piece, const char *line, const char *end)
{
	if (!piece->rest) {
		piece->rest = line;
		piece->rest_line = part->lines;
	}
	piece->rest_size = (size_t)(end - piece->rest);
}

/* One line; `end` is behind its line end. Returns 1 when the rest of the chunk is to be left. */
static int read_line(struct lode_events_part *part, const char *line, size_t length, const char *end)
{
	struct lode_events_piece *piece = part->pieces[part->count - 1];
	int plain = length > LODE_LINE_LIMIT ? 0 : lode_plain_event_read(&part->event, line, length);

	if (plain < 0)
		return plain;
	if (!plain) {
		if (length > LODE_LINE_LIMIT || !is_blank(line, length))
			leave(part, piece, line, end);
		return 0;
	}
	if (piece->rest) {
		if (part->count == MAX_PIECES)
			return 1;
		piece = begin_piece(part);
		if (!piece)
			return LODE_SYSTEM;
	}
	return add_event(part, piece);
}

static int read_lines(struct lode_events_part *part, const char *text, size_t size)
{
	const char *at = text, *end = text + size;

	while (at != end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);
		const char *next = newline ? newline + 1 : end;
		int code = read_line(part, at, length - (newline && length && at[length - 1] == '\r'), next);

		if (code < 0)
			return code;
		if (code > 0) {
			leave(part, part->pieces[part->count - 1], at, end);
			break;
		}
		part->lines++;
		at = next;
	}
	for (; at != end; part->lines++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		at = newline ? newline + 1 : end;
	}
	return 0;
}

void lode_events_part_read(struct lode_events_part *part, const char *text, size_t size)
{
	part->code = begin_piece(part) && read_lines(part, text, size) == 0 ? 0 : LODE_SYSTEM;
}

/* Puts the tids of a piece behind `before` events into a column of the stream. */
static void put_tids(uint32_t *column, size_t before, const struct lode_event_tids *list, size_t count)
{
	if (column && count)
		memcpy(column + before, list->tids, count * sizeof(uint32_t));
}

static int has_tids(const struct lode_event_tids *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list->tids[i] != LODE_NONE)
			return 1;
	return 0;
}

int lode_events_piece_merge(struct lode_stream *stream, const struct lode_events_piece *piece)
{
	size_t before[LODE_EVENT_TYPES];

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		before[type] = stream->events[type].count;
	if (lode_stream_merge(stream, &piece->stream) < 0)
		return LODE_SYSTEM;
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		struct lode_events *events = &stream->events[type];
		size_t count = piece->stream.events[type].count;

		if (has_tids(&piece->holders[type], count) &&
		    lode_events_reserve(events, events->capacity, LODE_HOLDER) < 0)
			return LODE_SYSTEM;
		put_tids(events->waker, before[type], &piece->wakers[type], count);
		put_tids(events->holder, before[type], &piece->holders[type], count);
	}
	return 0;
}
