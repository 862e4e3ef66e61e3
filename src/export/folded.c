/*
 * Exporter `folded`: folded stacks (folded_lines.h). Times, threads and streams are lost:
 * what remains of each distinct stack is the sum of its costs in nanoseconds (of calls:
 * their number), or, with `per_event`, one line per event in the order of the streams.
 *
 * The sums are a column beside the stack tree of all streams, so memory is the
 * dictionary. An event without a stack is written as the one frame `[no stack]`.
 */
#include "export/export.h"
#include "export/folded_lines.h"

#include <string.h>

struct writer {
	struct lode_export *export;
	enum lode_event_type type;
	struct lode_folded_texts texts;
	uint64_t *sums; /* a node each */
	uint8_t *met;   /* a node each: it has events, even if their costs are 0 */
	size_t sums_capacity;
	size_t met_capacity;
	size_t nodes_done;
	uint64_t no_stack;
	uint64_t overflows;
};

/* ---- sums ---- */

static int grow_sums(struct writer *writer, struct lode_error *error)
{
	size_t count = writer->export->dictionary.tree.count;

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

static int handle_block(void *context, enum lode_event_type type, const struct lode_events *events,
			struct lode_error *error)
{
	struct writer *writer = context;
	int code = 0;

	for (size_t i = 0; i < events->count && code == 0; i++) {
		uint64_t value = type == LODE_CALL ? lode_events_weight(events, i) : lode_events_cost(events, i);

		writer->no_stack += events->stack[i] == 0;
		if (writer->export->options->per_event)
			code = lode_folded_line(&writer->texts, &writer->export->dictionary.tree, events->stack[i],
						&value, 1, writer->export->output, error);
		else
			add_to_sum(writer, events->stack[i], value);
	}
	return code;
}

static int read_stream(void *context, struct lode_export_stream *source, struct lode_error *error)
{
	struct writer *writer = context;
	unsigned columns = LODE_STACK | LODE_WEIGHT | (writer->type == LODE_CALL ? 0 : LODE_COST);
	int code = lode_folded_texts_add(&writer->texts, &writer->export->dictionary.frames, error);

	if (code == 0)
		code = grow_sums(writer, error);
	if (code == 0)
		code = lode_export_blocks(writer->export, source, 1u << writer->type, columns, handle_block,
					  writer, error);
	return code;
}

/* The empty stack has no frame to be written or sorted by: its sum moves to one that has. */
static int name_empty_stack(struct writer *writer, struct lode_error *error)
{
	uint32_t frame, node;
	int code;

	if (!writer->nodes_done || !writer->met[0])
		return 0;
	frame = lode_frames_add(&writer->export->dictionary.frames, 0, LODE_FOLDED_NO_STACK,
				strlen(LODE_FOLDED_NO_STACK));
	node = frame == LODE_NONE ? LODE_NONE : lode_stack_tree_child(&writer->export->dictionary.tree, 0, frame);
	if (node == LODE_NONE)
		return lode_fail_memory(error);
	code = lode_folded_texts_add(&writer->texts, &writer->export->dictionary.frames, error);
	if (code == 0)
		code = grow_sums(writer, error);
	if (code == 0)
		add_to_sum(writer, node, writer->sums[0]);
	return code;
}

/* ---- the whole ---- */

static void release(struct writer *writer)
{
	lode_folded_texts_release(&writer->texts);
	lode_free(writer->sums);
	lode_free(writer->met);
}

/* The one kind of events that is written: what was requested, else the first that is there. */
static int choose_type(const struct lode_export *export, enum lode_event_type *type, struct lode_error *error)
{
	unsigned kinds = export->options->kinds;

	if (kinds & (kinds - 1))
		return lode_fail(error, LODE_USAGE,
				 "folded: lines do not say what kind of event they are; choose one with '--kind "
				 "run', 'wait' or 'call'");
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

/* Where no kind was selected, the output says what was left out: runs alone may be the smaller part. */
static void note_waits(const struct writer *writer)
{
	uint64_t count = 0;

	for (size_t i = 0; i < writer->export->count; i++)
		count += writer->export->entries[i]->events[LODE_WAIT];
	if (writer->type == LODE_RUN && !writer->export->options->kinds)
		lode_notes_add(writer->export->options->notes, count,
			       "waits left out, since the file has the runs; write them with --kind wait", NULL);
}

static void write_notes(const struct writer *writer)
{
	struct lode_notes *notes = writer->export->options->notes;

	note_waits(writer);
	lode_folded_texts_report(&writer->texts, notes);
	lode_notes_add(notes, writer->no_stack, "events without a stack, written as " LODE_FOLDED_NO_STACK, NULL);
	lode_notes_add(notes, writer->overflows, "sums too large for 64 bits, cut", NULL);
}

static int write_sums(struct writer *writer, struct lode_error *error)
{
	struct lode_folded_table table = {
		.dictionary = &writer->export->dictionary,
		.columns = { writer->sums },
		.column_count = 1,
		.wanted = writer->met,
		.node_count = writer->nodes_done,
	};

	return lode_folded_write(&table, &writer->texts, writer->export->output, writer->export->options->notes,
				 error);
}

static int write_all(struct lode_export *export, struct lode_error *error)
{
	struct writer writer = { .export = export };
	int code = choose_type(export, &writer.type, error);

	if (code < 0)
		return code;
	code = lode_export_streams(export, read_stream, &writer, error);
	if (code == 0)
		code = name_empty_stack(&writer, error);
	if (code == 0 && !export->options->per_event)
		code = write_sums(&writer, error);
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
