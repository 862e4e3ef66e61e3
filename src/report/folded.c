/*
 * Exporter `folded`: folded stacks, `frame;frame;frame value`, the input of flame
 * graphs. Times, threads and streams are lost: what remains of each distinct
 * stack is the sum of its costs in nanoseconds (of calls: their number), or, with
 * `per_event`, one line an event in the order of the streams.
 *
 * The sums are a column beside the stack tree of all streams, so memory is the
 * dictionary. Lines are sorted by the bytes of their stacks.
 *
 * A frame may hold anything, a line may not: `;` in a frame becomes `:`, line
 * ends become spaces, no name at all becomes `[unknown]`, all counted. Two stacks that then read the same are
 * one line; that is why the sums move to a second tree, over the written texts, as soon as one frame had to
 * be changed. An event without a stack is written as the one frame `[no stack]`.
 */
#include "report/export.h"

#include <stdlib.h>
#include <string.h>

#define NO_STACK "[no stack]"
#define NO_NAME	 "[unknown]"

struct writer {
	struct lode_export *export;
	enum lode_event_type type;
	struct lode_dictionary dictionary;
	struct lode_buffer texts; /* all frames as they are written, one behind the other */
	size_t *starts;		  /* of frame i; one more than frames */
	size_t starts_capacity;
	size_t frames_done;
	uint64_t *sums; /* a node each */
	uint8_t *met;	/* a node each: it has events, even if their costs are 0 */
	size_t sums_capacity;
	size_t met_capacity;
	size_t nodes_done;
	uint32_t *path; /* frames of one stack */
	size_t path_capacity;
	uint64_t changed; /* frames that could not be written as they are */
	uint64_t no_stack;
	uint64_t overflows;
};

/* ---- frames as they are written ---- */

static void clean_frame(struct writer *writer, size_t start)
{
	int changed = 0;

	for (size_t i = start; i < writer->texts.size; i++) {
		char *byte = &writer->texts.bytes[i];

		if (*byte == ';')
			*byte = ':', changed = 1;
		else if (*byte == '\n' || *byte == '\r')
			*byte = ' ', changed = 1;
	}
	writer->changed += (uint64_t)changed;
}

static int write_frames(struct writer *writer, struct lode_error *error)
{
	const struct lode_frames *frames = &writer->dictionary.frames;

	if (lode_grow(&writer->starts, &writer->starts_capacity, frames->count + 1, sizeof(*writer->starts)) <
	    0)
		return lode_fail_memory(error);
	for (; writer->frames_done < frames->count; writer->frames_done++) {
		size_t start = writer->texts.size;

		writer->starts[writer->frames_done] = start;
		lode_frames_text(frames, (uint32_t)writer->frames_done, &writer->texts);
		if (writer->texts.size == start) {
			lode_buffer_text(&writer->texts, NO_NAME);
			writer->changed++;
		}
		if (writer->texts.failed)
			return lode_fail_memory(error);
		clean_frame(writer, start);
	}
	writer->starts[frames->count] = writer->texts.size;
	return 0;
}

static size_t frame_length(const struct writer *writer, uint32_t frame)
{
	return writer->starts[frame + 1] - writer->starts[frame];
}

static const char *frame_text(const struct writer *writer, uint32_t frame)
{
	return writer->texts.bytes ? writer->texts.bytes + writer->starts[frame] : "";
}

/* ---- lines ---- */

static int write_line(struct writer *writer, uint32_t node, uint64_t value, struct lode_error *error)
{
	const struct lode_stack_tree *tree = &writer->dictionary.tree;
	struct lode_buffer *buffer = &writer->export->output->buffer;
	uint32_t depth = lode_stack_tree_depth(tree, node);

	if (lode_grow(&writer->path, &writer->path_capacity, depth, sizeof(*writer->path)) < 0)
		return lode_fail_memory(error);
	lode_stack_tree_frames(tree, node, writer->path, depth);
	for (uint32_t i = 0; i < depth; i++) {
		if (i)
			lode_buffer_byte(buffer, ';');
		lode_buffer_add(buffer, frame_text(writer, writer->path[i]),
				frame_length(writer, writer->path[i]));
	}
	if (!depth)
		lode_buffer_text(buffer, NO_STACK);
	lode_buffer_byte(buffer, ' ');
	lode_buffer_number(buffer, value);
	lode_buffer_byte(buffer, '\n');
	return lode_output_flow(writer->export->output, error);
}

/* ---- sums ---- */

static int grow_sums(struct writer *writer, struct lode_error *error)
{
	size_t count = writer->dictionary.tree.count;

	if (lode_grow(&writer->sums, &writer->sums_capacity, count, sizeof(*writer->sums)) < 0 ||
	    lode_grow(&writer->met, &writer->met_capacity, count, sizeof(*writer->met)) < 0)
		return lode_fail_memory(error);
	memset(writer->sums + writer->nodes_done, 0, (count - writer->nodes_done) * sizeof(*writer->sums));
	memset(writer->met + writer->nodes_done, 0, (count - writer->nodes_done) * sizeof(*writer->met));
	writer->nodes_done = count;
	return 0;
}

static void add_to_sum(struct writer *writer, uint32_t node, uint64_t value)
{
	if (writer->sums[node] > UINT64_MAX - value)
		writer->overflows++;
	writer->sums[node] = lode_add_saturating(writer->sums[node], value);
	writer->met[node] = 1;
}

static int take_block(void *context, enum lode_event_type type, const struct lode_events *events,
		      struct lode_error *error)
{
	struct writer *writer = context;
	int code = 0;

	for (size_t i = 0; i < events->count && code == 0; i++) {
		uint64_t value = type == LODE_CALL ? 1 : events->cost[i];

		writer->no_stack += events->stack[i] == 0;
		if (writer->export->options->per_event)
			code = write_line(writer, events->stack[i], value, error);
		else
			add_to_sum(writer, events->stack[i], value);
	}
	return code;
}

static int read_stream(struct writer *writer, size_t i, struct lode_error *error)
{
	unsigned columns = LODE_STACK | (writer->type == LODE_CALL ? 0 : LODE_COST);
	struct lode_export_stream source;
	int code = lode_export_open(writer->export, i, &writer->dictionary, &source, error);

	if (code < 0)
		return code;
	code = write_frames(writer, error);
	if (code == 0)
		code = grow_sums(writer, error);
	if (code == 0)
		code = lode_export_blocks(writer->export, &source, 1u << writer->type, columns, take_block,
					  writer, error);
	lode_export_close(&source);
	return code;
}

/* The empty stack has no frame to be written or sorted by: its sum moves to one that has. */
static int name_empty_stack(struct writer *writer, struct lode_error *error)
{
	uint32_t frame, node;
	int code;

	if (!writer->nodes_done || !writer->met[0])
		return 0;
	frame = lode_frames_add(&writer->dictionary.frames, 0, NO_STACK, strlen(NO_STACK));
	node = frame == LODE_NONE ? LODE_NONE : lode_stack_tree_child(&writer->dictionary.tree, 0, frame);
	if (node == LODE_NONE)
		return lode_fail_memory(error);
	code = write_frames(writer, error);
	if (code == 0)
		code = grow_sums(writer, error);
	if (code == 0)
		add_to_sum(writer, node, writer->sums[0]);
	return code;
}

/* ---- stacks that read the same ---- */

/* Each old frame's number in `to`, where frames are the written texts. */
static int map_frames(const struct writer *from, struct lode_dictionary *to, uint32_t *map)
{
	for (uint32_t i = 0; i < from->dictionary.frames.count; i++) {
		map[i] = lode_frames_add(&to->frames, 0, frame_text(from, i), frame_length(from, i));
		if (map[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

static int map_nodes(const struct writer *from, struct lode_dictionary *to, const uint32_t *frames,
		     uint32_t *nodes)
{
	const struct lode_stack_tree *tree = &from->dictionary.tree;

	nodes[0] = 0;
	for (uint32_t i = 1; i < tree->count; i++) {
		nodes[i] = lode_stack_tree_child(&to->tree, nodes[tree->nodes[i].parent],
						 frames[tree->nodes[i].frame]);
		if (nodes[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

/* The frames of the new dictionary are written texts already: taking them as they are. */
static int take_texts(struct writer *writer, const struct writer *from, const uint32_t *map,
		      struct lode_error *error)
{
	const struct lode_frames *frames = &writer->dictionary.frames;

	if (lode_grow(&writer->starts, &writer->starts_capacity, frames->count + 1, sizeof(*writer->starts)) <
	    0)
		return lode_fail_memory(error);
	for (uint32_t i = 0; i < from->dictionary.frames.count; i++) {
		if (map[i] != writer->frames_done)
			continue;
		writer->starts[writer->frames_done++] = writer->texts.size;
		lode_buffer_add(&writer->texts, frame_text(from, i), frame_length(from, i));
	}
	writer->starts[frames->count] = writer->texts.size;
	return writer->texts.failed ? lode_fail_memory(error) : 0;
}

static int move_sums(struct writer *writer, const struct writer *from, struct lode_error *error)
{
	uint32_t *frames = lode_calloc(from->dictionary.frames.count, sizeof(*frames));
	uint32_t *nodes = lode_calloc(from->dictionary.tree.count, sizeof(*nodes));
	int code = 0;

	if (!frames || !nodes || map_frames(from, &writer->dictionary, frames) < 0 ||
	    map_nodes(from, &writer->dictionary, frames, nodes) < 0)
		code = lode_fail_memory(error);
	if (code == 0)
		code = take_texts(writer, from, frames, error);
	if (code == 0)
		code = grow_sums(writer, error);
	for (size_t i = 1; i < from->dictionary.tree.count && code == 0; i++)
		if (from->met[i])
			add_to_sum(writer, nodes[i], from->sums[i]);
	lode_free(frames);
	lode_free(nodes);
	return code;
}

/* ---- the sorted lines ---- */

static int compare_frames(const struct writer *writer, uint32_t a, int a_is_leaf, uint32_t b, int b_is_leaf)
{
	size_t length_a = frame_length(writer, a), length_b = frame_length(writer, b);
	size_t shorter = length_a < length_b ? length_a : length_b;
	int order = memcmp(frame_text(writer, a), frame_text(writer, b), shorter);
	int next_a, next_b;

	if (order)
		return order;
	/* Behind a frame comes a `;`, or the end, which stands before all. */
	next_a = shorter < length_a ? (unsigned char)frame_text(writer, a)[shorter] : a_is_leaf ? -1 : ';';
	next_b = shorter < length_b ? (unsigned char)frame_text(writer, b)[shorter] : b_is_leaf ? -1 : ';';
	return next_a - next_b;
}

static int compare_stacks(const void *left, const void *right, void *context)
{
	uint32_t a, b, leaf_a, leaf_b, depth_a, depth_b;
	const struct writer *writer = context;
	const struct lode_stack_tree *tree = &writer->dictionary.tree;

	memcpy(&leaf_a, left, sizeof(leaf_a));
	memcpy(&leaf_b, right, sizeof(leaf_b));
	if (leaf_a == leaf_b)
		return 0;
	depth_a = lode_stack_tree_depth(tree, leaf_a);
	depth_b = lode_stack_tree_depth(tree, leaf_b);
	for (a = leaf_a; depth_a > depth_b; depth_a--)
		a = tree->nodes[a].parent;
	for (b = leaf_b; depth_b > depth_a; depth_b--)
		b = tree->nodes[b].parent;
	if (a == b)
		return a == leaf_a ? -1 : 1; /* one is the start of the other */
	while (tree->nodes[a].parent != tree->nodes[b].parent) {
		a = tree->nodes[a].parent;
		b = tree->nodes[b].parent;
	}
	return compare_frames(writer, tree->nodes[a].frame, a == leaf_a, tree->nodes[b].frame, b == leaf_b);
}

static int write_sorted(struct writer *writer, struct lode_error *error)
{
	uint32_t *nodes = lode_calloc(writer->nodes_done, sizeof(*nodes));
	size_t count = 0;
	int code = 0;

	if (!nodes)
		return lode_fail_memory(error);
	for (size_t i = 1; i < writer->nodes_done; i++)
		if (writer->met[i])
			nodes[count++] = (uint32_t)i;
	if (count)
		qsort_r(nodes, count, sizeof(*nodes), compare_stacks, writer);
	for (size_t i = 0; i < count && code == 0; i++)
		code = write_line(writer, nodes[i], writer->sums[nodes[i]], error);
	lode_free(nodes);
	return code;
}

/* ---- the whole ---- */

static void release(struct writer *writer)
{
	lode_dictionary_release(&writer->dictionary);
	lode_buffer_release(&writer->texts);
	lode_free(writer->starts);
	lode_free(writer->sums);
	lode_free(writer->met);
	lode_free(writer->path);
}

static int write_merged(const struct writer *from, struct lode_error *error)
{
	struct writer writer = {.export = from->export, .type = from->type};
	int code;

	if (lode_dictionary_init(&writer.dictionary) < 0)
		return lode_fail_memory(error);
	code = move_sums(&writer, from, error);
	if (code == 0)
		code = write_sorted(&writer, error);
	release(&writer);
	return code;
}

/* The one kind of events that is written: what was asked for, else the first that is there. */
static int choose_type(const struct lode_export *export, enum lode_event_type *type, struct lode_error *error)
{
	unsigned kinds = export->options->kinds;

	if (kinds & (kinds - 1))
		return lode_fail(error, LODE_USAGE,
				 "folded: a line cannot say of which kind it is; "
				 "ask for one kind, run, wait or call");
	*type = LODE_RUN;
	for (int i = LODE_EVENT_TYPES - 1; i >= 0; i--) {
		uint64_t count = 0;

		for (size_t at = 0; at < export->count; at++)
			count += export->entries[at]->events[i];
		if (kinds ? kinds & 1u << i : count > 0)
			*type = (enum lode_event_type)i;
	}
	return 0;
}

static void write_notes(const struct writer *writer)
{
	struct lode_notes *notes = writer->export->options->notes;

	lode_notes_add(notes, writer->changed, "frames changed because they hold a ;, a line end or nothing",
		       NULL);
	lode_notes_add(notes, writer->no_stack, "events without a stack, written as " NO_STACK, NULL);
	lode_notes_add(notes, writer->overflows, "sums too large for 64 bits, cut", NULL);
}

static int write_all(struct lode_export *export, struct lode_error *error)
{
	struct writer writer = {.export = export};
	int code = choose_type(export, &writer.type, error);

	if (code < 0)
		return code;
	if (lode_dictionary_init(&writer.dictionary) < 0)
		return lode_fail_memory(error);
	for (size_t i = 0; i < export->count && code == 0; i++)
		code = read_stream(&writer, i, error);
	if (code == 0)
		code = name_empty_stack(&writer, error);
	if (code == 0 && !export->options->per_event)
		code = writer.changed ? write_merged(&writer, error) : write_sorted(&writer, error);
	write_notes(&writer);
	release(&writer);
	return code;
}

const struct lode_exporter lode_exporter_folded = {
	.name = "folded",
	.description = "folded stacks with their costs in nanoseconds, for flame graphs",
	.extension = ".folded",
	.passes = 1,
	.write = write_all,
};
