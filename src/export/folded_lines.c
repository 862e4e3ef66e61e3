/* Folded lines: see folded_lines.h. */
#include "export/folded_lines.h"

#include "base/folded_frame.h"
#include "base/memory.h"
#include "trace/events.h"

#include <stdlib.h>
#include <string.h>

/* ---- frames as they are written ---- */

int lode_folded_texts_add(struct lode_folded_texts *texts, const struct lode_frames *frames,
			  struct lode_error *error)
{
	if (lode_grow(&texts->starts, &texts->capacity, frames->count + 1, sizeof(*texts->starts)) < 0)
		return lode_fail_memory(error);
	for (; texts->count < frames->count; texts->count++) {
		size_t start = texts->texts.size;

		texts->starts[texts->count] = start;
		lode_frames_text(frames, (uint32_t)texts->count, &texts->texts);
		if (texts->texts.size == start) {
			lode_buffer_text(&texts->texts, LODE_FOLDED_NO_NAME);
			texts->changed++;
		}
		if (texts->texts.failed)
			return lode_fail_memory(error);
		texts->changed +=
			(uint64_t)lode_folded_clean(texts->texts.bytes + start, texts->texts.size - start);
	}
	texts->starts[frames->count] = texts->texts.size;
	return 0;
}

void lode_folded_texts_report(const struct lode_folded_texts *texts, struct lode_notes *notes)
{
	lode_notes_add(notes, texts->changed, "frames changed because they contain a ;, a line end or nothing",
		       NULL);
}

void lode_folded_texts_release(struct lode_folded_texts *texts)
{
	lode_buffer_release(&texts->texts);
	lode_free(texts->starts);
	memset(texts, 0, sizeof(*texts));
}

static size_t frame_length(const struct lode_folded_texts *texts, uint32_t frame)
{
	return texts->starts[frame + 1] - texts->starts[frame];
}

static const char *frame_text(const struct lode_folded_texts *texts, uint32_t frame)
{
	return texts->texts.bytes ? texts->texts.bytes + texts->starts[frame] : "";
}

/* ---- lines ---- */

/* Frames are root first, the tree is walked from the leaf: from the end of the text to its start. */
static int put_stack(const struct lode_folded_texts *texts, const struct lode_stack_tree *tree, uint32_t leaf,
		     struct lode_buffer *buffer)
{
	size_t length = 0;
	char *end;

	for (uint32_t node = leaf; node; node = tree->nodes[node].parent)
		length += frame_length(texts, tree->nodes[node].frame) + 1;
	end = lode_buffer_room(buffer, length);
	if (!end)
		return LODE_SYSTEM;
	buffer->size += length - 1;
	end += length - 1;
	for (uint32_t node = leaf; node; node = tree->nodes[node].parent) {
		uint32_t frame = tree->nodes[node].frame;

		end -= frame_length(texts, frame);
		memcpy(end, frame_text(texts, frame), frame_length(texts, frame));
		if (tree->nodes[node].parent)
			*--end = ';';
	}
	return 0;
}

int lode_folded_line(const struct lode_folded_texts *texts, const struct lode_stack_tree *tree, uint32_t node,
		     const uint64_t *values, unsigned value_count, struct lode_output *output,
		     struct lode_error *error)
{
	if (!node)
		lode_buffer_text(&output->buffer, LODE_FOLDED_NO_STACK);
	else if (put_stack(texts, tree, node, &output->buffer) < 0)
		return lode_fail_memory(error);
	for (unsigned i = 0; i < value_count; i++) {
		lode_buffer_byte(&output->buffer, ' ');
		lode_buffer_number(&output->buffer, values[i]);
	}
	lode_buffer_byte(&output->buffer, '\n');
	return lode_output_flow(output, error);
}

/* ---- the sorted lines ---- */

struct order {
	const struct lode_folded_texts *texts;
	const struct lode_stack_tree *tree;
};

static int compare_frames(const struct lode_folded_texts *texts, uint32_t a, int a_is_leaf, uint32_t b,
			  int b_is_leaf)
{
	size_t length_a = frame_length(texts, a), length_b = frame_length(texts, b);
	size_t shorter = length_a < length_b ? length_a : length_b;
	int order = memcmp(frame_text(texts, a), frame_text(texts, b), shorter);
	int next_a, next_b;

	if (order)
		return order;
	/* After a frame comes a `;`, or the end, which sorts before all. */
	next_a = shorter < length_a ? (unsigned char)frame_text(texts, a)[shorter] : a_is_leaf ? -1 : ';';
	next_b = shorter < length_b ? (unsigned char)frame_text(texts, b)[shorter] : b_is_leaf ? -1 : ';';
	return next_a - next_b;
}

static int compare_stacks(const void *left, const void *right, void *context)
{
	uint32_t a, b, leaf_a, leaf_b, depth_a, depth_b;
	const struct order *order = context;
	const struct lode_stack_tree *tree = order->tree;

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
	return compare_frames(order->texts, tree->nodes[a].frame, a == leaf_a, tree->nodes[b].frame, b == leaf_b);
}

static int write_sorted(const struct lode_folded_table *table, const struct lode_folded_texts *texts,
			struct lode_output *output, struct lode_error *error)
{
	struct order order = { texts, &table->dictionary->tree };
	uint32_t *nodes = lode_calloc(table->node_count + 1, sizeof(*nodes));
	uint64_t values[LODE_FOLDED_COLUMNS];
	size_t count = 0;
	int code = 0;

	if (!nodes)
		return lode_fail_memory(error);
	for (size_t i = 1; i < table->node_count; i++)
		if (table->wanted[i])
			nodes[count++] = (uint32_t)i;
	if (count)
		qsort_r(nodes, count, sizeof(*nodes), compare_stacks, &order);
	for (size_t i = 0; i < count && code == 0; i++) {
		for (unsigned k = 0; k < table->column_count; k++)
			values[k] = table->columns[k][nodes[i]];
		code = lode_folded_line(texts, order.tree, nodes[i], values, table->column_count, output, error);
	}
	lode_free(nodes);
	return code;
}

/* ---- stacks that read the same ---- */

/* The table over the texts as they are written. */
struct merged {
	struct lode_dictionary dictionary;
	struct lode_folded_texts texts;
	uint64_t *columns[LODE_FOLDED_COLUMNS];
	uint8_t *wanted;
	uint32_t *frames; /* by old frame and node: the new one */
	uint32_t *nodes;
	uint64_t overflows;
};

/* The frames of the new dictionary are written texts already: they are taken as they are. */
static int merge_frames(struct merged *merged, const struct lode_folded_texts *texts)
{
	struct lode_frames *frames = &merged->dictionary.frames;

	for (uint32_t i = 0; i < texts->count; i++) {
		merged->frames[i] = lode_frames_add(frames, 0, frame_text(texts, i), frame_length(texts, i));
		if (merged->frames[i] == LODE_NONE ||
		    lode_grow(&merged->texts.starts, &merged->texts.capacity, frames->count + 1,
			      sizeof(*merged->texts.starts)) < 0)
			return LODE_SYSTEM;
		if (merged->frames[i] < merged->texts.count)
			continue;
		merged->texts.starts[merged->texts.count++] = merged->texts.texts.size;
		lode_buffer_add(&merged->texts.texts, frame_text(texts, i), frame_length(texts, i));
		merged->texts.starts[merged->texts.count] = merged->texts.texts.size;
	}
	return merged->texts.texts.failed ? LODE_SYSTEM : 0;
}

static int merge_nodes(struct merged *merged, const struct lode_stack_tree *tree)
{
	for (uint32_t i = 1; i < tree->count; i++) {
		merged->nodes[i] = lode_stack_tree_child(&merged->dictionary.tree,
							 merged->nodes[tree->nodes[i].parent],
							 merged->frames[tree->nodes[i].frame]);
		if (merged->nodes[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

static int merge_sums(struct merged *merged, const struct lode_folded_table *table)
{
	size_t count = merged->dictionary.tree.count;

	merged->wanted = lode_calloc(count, 1);
	for (unsigned k = 0; k < table->column_count; k++) {
		merged->columns[k] = lode_calloc(count, sizeof(**merged->columns));
		if (!merged->columns[k])
			return LODE_SYSTEM;
	}
	if (!merged->wanted)
		return LODE_SYSTEM;
	for (size_t i = 1; i < table->node_count; i++) {
		if (!table->wanted[i])
			continue;
		merged->wanted[merged->nodes[i]] = 1;
		for (unsigned k = 0; k < table->column_count; k++) {
			uint64_t *sum = &merged->columns[k][merged->nodes[i]];

			merged->overflows += *sum > UINT64_MAX - table->columns[k][i];
			*sum = lode_add_saturating(*sum, table->columns[k][i]);
		}
	}
	return 0;
}

static int merge(struct merged *merged, const struct lode_folded_table *table,
		 const struct lode_folded_texts *texts)
{
	merged->frames = lode_calloc(texts->count + 1, sizeof(*merged->frames));
	merged->nodes = lode_calloc(table->dictionary->tree.count, sizeof(*merged->nodes));
	if (!merged->frames || !merged->nodes || merge_frames(merged, texts) < 0 ||
	    merge_nodes(merged, &table->dictionary->tree) < 0)
		return LODE_SYSTEM;
	return merge_sums(merged, table);
}

static void merged_release(struct merged *merged)
{
	lode_dictionary_release(&merged->dictionary);
	lode_folded_texts_release(&merged->texts);
	for (unsigned k = 0; k < LODE_FOLDED_COLUMNS; k++)
		lode_free(merged->columns[k]);
	lode_free(merged->wanted);
	lode_free(merged->frames);
	lode_free(merged->nodes);
}

static int write_merged(const struct lode_folded_table *table, const struct lode_folded_texts *texts,
			struct lode_output *output, struct lode_notes *notes, struct lode_error *error)
{
	struct merged merged = { .overflows = 0 };
	struct lode_folded_table other = { .dictionary = &merged.dictionary, .column_count = table->column_count };
	int code = 0;

	if (lode_dictionary_init(&merged.dictionary) < 0)
		return lode_fail_memory(error);
	if (merge(&merged, table, texts) < 0)
		code = lode_fail_memory(error);
	for (unsigned k = 0; k < LODE_FOLDED_COLUMNS; k++)
		other.columns[k] = merged.columns[k];
	other.wanted = merged.wanted;
	other.node_count = merged.dictionary.tree.count;
	if (code == 0)
		code = write_sorted(&other, &merged.texts, output, error);
	lode_notes_add(notes, merged.overflows, "sums too large for 64 bits, cut", NULL);
	merged_release(&merged);
	return code;
}

int lode_folded_write(const struct lode_folded_table *table, const struct lode_folded_texts *texts,
		      struct lode_output *output, struct lode_notes *notes, struct lode_error *error)
{
	return texts->changed ? write_merged(table, texts, output, notes, error)
			      : write_sorted(table, texts, output, error);
}
