/*
 * lode mine --show ID: from a pattern or a cluster to its streams and the times of
 * its events. What an id means is looked up in the last result of the corpus
 * (CORPUS/mined.txt); a unique beginning of an id will do.
 */
#include "base/json.h"
#include "base/units.h"
#include "cmd/mine.h"
#include "mine/marks.h"
#include "mine/pattern_id.h"

#include <string.h>

/* Events of one stream that are shown as text; the rest is counted. */
#define SHOWN 20

/* A stack is marked when its folded one is. */
static int unfold(struct lode_stack_tree *tree, uint8_t *marks)
{
	uint32_t *folded = lode_stacks_fold(tree);

	for (size_t i = tree->count; folded && i-- > 0;)
		marks[i] = marks[folded[i]];
	lode_free(folded);
	return folded ? 0 : LODE_SYSTEM;
}

/* Marks the nodes whose stacks contain one of the patterns. NULL when memory has run out. */
static uint8_t *mark_stacks(struct lode_area *area, const struct lode_patterns *patterns, size_t first,
			    size_t count, int folded)
{
	struct lode_stack_tree *tree = &area->dictionary.tree;
	uint8_t *marks = lode_calloc(tree->count, 1);
	struct lode_matcher matcher = { 0 };
	int code = marks ? lode_matcher_init(&matcher, tree, area->dictionary.frames.count) : LODE_SYSTEM;

	if (!code)
		code = lode_marks_add(&matcher, patterns, first, count, marks);
	if (!code && folded)
		code = unfold(tree, marks);
	lode_matcher_release(&matcher);
	if (!code)
		return marks;
	lode_free(marks);
	return NULL;
}

struct listing {
	const struct lode_area *area;
	const struct lode_terminal *terminal;
	struct lode_buffer *buffer;
	struct lode_json *json; /* NULL: text */
	uint32_t stream;        /* the one that is being listed, or LODE_NONE */
	uint64_t events;        /* of it */
	uint64_t cost;
	struct lode_buffer text;
};

static void stack_json(struct listing *listing, uint32_t node)
{
	const struct lode_stack_tree *tree = &listing->area->dictionary.tree;
	uint32_t depth = lode_stack_tree_depth(tree, node);
	uint32_t *frames = lode_calloc(depth + 1, sizeof(*frames));

	lode_json_key(listing->json, "stack");
	lode_json_array(listing->json);
	if (frames)
		lode_stack_tree_frames(tree, node, frames, depth);
	for (uint32_t i = 0; frames && i < depth; i++) {
		lode_buffer_clear(&listing->text);
		lode_frames_text(&listing->area->dictionary.frames, frames[i], &listing->text);
		lode_json_text_n(listing->json, listing->text.bytes, listing->text.size);
	}
	lode_json_array_end(listing->json);
	listing->buffer->failed |= !frames || listing->text.failed;
	lode_free(frames);
}

static int event_json(void *context, const struct lode_area_event *event)
{
	struct listing *listing = context;
	const struct lode_area_stream *stream = &listing->area->streams[event->stream];
	struct lode_json *json = listing->json;

	lode_json_object(json);
	lode_json_key_text(json, "stream", lode_strings_get(&listing->area->dictionary.frames.strings, stream->name));
	lode_json_key_text(json, "stream_id", stream->id);
	lode_json_key_u64(json, "t", event->t);
	lode_json_key_u64(json, "cost_ns", event->cost);
	if (event->pid != LODE_NO_PID)
		lode_json_key_u64(json, "pid", event->pid);
	lode_json_key_u64(json, "tid", event->tid);
	if (*event->thread)
		lode_json_key_text(json, "thread", event->thread);
	stack_json(listing, event->stack);
	lode_json_object_end(json);
	lode_json_line(json);
	return 0;
}

/* What there is of the stream beside the events that were shown. */
static void end_stream(struct listing *listing)
{
	char cost[LODE_UNITS_TEXT];

	if (listing->stream == LODE_NONE)
		return;
	if (listing->events > SHOWN)
		lode_buffer_print(listing->buffer, "  and %llu more\n", (unsigned long long)(listing->events - SHOWN));
	lode_buffer_print(listing->buffer, "  %s%llu in all, %s%s\n", lode_style(listing->terminal, LODE_DIM),
			  (unsigned long long)listing->events, lode_duration_text(listing->cost, cost),
			  lode_style(listing->terminal, LODE_PLAIN));
}

static void begin_stream(struct listing *listing, uint32_t stream)
{
	const struct lode_strings *strings = &listing->area->dictionary.frames.strings;

	end_stream(listing);
	listing->stream = stream;
	listing->events = listing->cost = 0;
	lode_buffer_print(listing->buffer, "%s", lode_style(listing->terminal, LODE_BOLD));
	lode_text_safe(listing->buffer, lode_strings_get(strings, listing->area->streams[stream].name));
	lode_buffer_print(listing->buffer, "%s\n", lode_style(listing->terminal, LODE_PLAIN));
}

static int event_text(void *context, const struct lode_area_event *event)
{
	struct listing *listing = context;
	uint64_t first = listing->area->streams[event->stream].first_t;
	char cost[LODE_UNITS_TEXT];

	if (listing->stream != event->stream)
		begin_stream(listing, event->stream);
	listing->cost = lode_add_saturating(listing->cost, event->cost);
	if (listing->events++ >= SHOWN)
		return 0;
	lode_buffer_print(listing->buffer, "  t %llu  +%.6f s  %8s  thread %u ", (unsigned long long)event->t,
			  (double)(event->t > first ? event->t - first : 0) / 1e9,
			  lode_duration_text(event->cost, cost), event->tid);
	lode_text_safe(listing->buffer, event->thread);
	lode_buffer_byte(listing->buffer, '\n');
	return 0;
}

static int list_events(const struct lode_call *call, struct lode_mining *mining, const uint8_t *marks,
		       struct lode_error *error)
{
	const struct lode_mine_settings *settings = call->settings;
	struct lode_buffer buffer = { 0 };
	struct lode_json json;
	struct listing listing = {
		.area = &mining->reading.area,
		.terminal = &call->out,
		.buffer = &buffer,
		.json = settings->json ? &json : NULL,
		.stream = LODE_NONE,
	};
	int code = 0;

	lode_json_init(&json, &buffer);
	for (int kind = 0; !code && kind < LODE_AREA_KINDS; kind++)
		if (mining->how.both || kind == (int)mining->how.kind)
			code = lode_area_events(mining->corpus, &mining->reading.options, &mining->reading.area,
						(enum lode_event_type)kind, marks,
						settings->json ? event_json : event_text, &listing, error);
	if (!settings->json && !code)
		end_stream(&listing);
	if (!code)
		code = lode_results_write(call, settings->output, &buffer, error);
	lode_buffer_release(&listing.text);
	lode_buffer_release(&buffer);
	return code;
}

int lode_mine_show(const struct lode_call *call, struct lode_mining *mining, struct lode_error *error)
{
	const struct lode_mine_settings *settings = call->settings;
	struct lode_area *area = &mining->reading.area;
	struct lode_pattern_file file = { 0 };
	struct lode_pattern_choice choice;
	uint8_t *marks = NULL;
	int code;

	code = lode_mined_file_read(&file, call->operands[0], &area->dictionary.frames, error);
	if (!code)
		code = lode_pattern_choose(&file, &area->dictionary.frames, call->operands[0], settings->show, &choice,
					   error);
	if (!code) {
		marks = mark_stacks(area, &file.patterns, choice.first, choice.count,
				    settings->fold_recursion);
		code = marks ? list_events(call, mining, marks, error) : lode_fail_memory(error);
	}
	lode_free(marks);
	lode_pattern_file_release(&file);
	return code;
}
