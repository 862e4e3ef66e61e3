/* The longest symptoms for a page: see scope_longest.h. */
#include "result/scope_longest.h"

#include "base/memory.h"
#include "result/frame_facts.h"

#include <stdlib.h>

/* A symptom as JSON, kept until it is known whether it is among the longest. */
struct lode_scope_kept {
	uint64_t length;
	uint64_t number; /* in the order of the catalogue */
	struct lode_buffer json;
	uint32_t *stacks; /* in the shared dictionary */
	size_t stack_count;
};

static void release_kept(struct lode_scope_kept *kept)
{
	lode_buffer_release(&kept->json);
	lode_free(kept->stacks);
	kept->stacks = NULL;
}

/* Longest first, then in the order of the catalogue. */
static int compare(const void *left, const void *right)
{
	const struct lode_scope_kept *a = left, *b = right;

	if (a->length != b->length)
		return a->length > b->length ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* Where a symptom is to be kept; NULL: it is too short. -1 when memory has run out. */
static int find_place(struct lode_scope_longest *page, const struct lode_scope_kept *candidate,
		      struct lode_scope_kept **place)
{
	if (page->count < page->most) {
		if (LODE_GROW(page->kept, page->capacity, page->count + 1) < 0)
			return LODE_SYSTEM;
		*place = &page->kept[page->count++];
		**place = *candidate;
		return 0;
	}
	*place = &page->kept[0];
	for (size_t i = 1; i < page->count; i++)
		if (compare(&page->kept[i], *place) > 0)
			*place = &page->kept[i];
	if (compare(candidate, *place) > 0) {
		*place = NULL;
		return 0;
	}
	release_kept(*place);
	**place = *candidate;
	return 0;
}

/* The stream's stacks join those of the others. */
static int share(struct lode_scope_longest *page, const struct lode_scope_report *report,
		 struct lode_dictionary_map *map, struct lode_error *error)
{
	if (!page->has_shared && lode_dictionary_init(&page->shared) < 0)
		return lode_fail_memory(error);
	page->has_shared = 1;
	page->idle = report->options->idle;
	return lode_dictionary_merge(&page->shared, &report->dictionary, map) < 0 ? lode_fail_memory(error) : 0;
}

static void note_parts(struct lode_scope_kept *kept, const struct lode_scope_report *report,
		       const struct lode_parts *parts, const uint32_t *shared)
{
	for (size_t i = 0; i < parts->count; i++) {
		const struct lode_events *events = &report->stream.events[parts->items[i].type];
		uint32_t event = parts->items[i].event;

		kept->stacks[kept->stack_count++] = shared[events->stack[event]];
		if (parts->items[i].type == LODE_WAIT)
			kept->stacks[kept->stack_count++] = shared[events->waker_stack[event]];
	}
}

static int note_stacks(struct lode_scope_kept *kept, const struct lode_scope_report *report, size_t i,
		       const uint32_t *shared, struct lode_error *error)
{
	const struct lode_scope_found *found = &report->items[i];

	kept->stacks = lode_calloc(2 * (found->parts.count + found->stepped.count) + 1, sizeof(*kept->stacks));
	if (!kept->stacks)
		return lode_fail_memory(error);
	note_parts(kept, report, &found->parts, shared);
	note_parts(kept, report, &found->stepped, shared);
	return 0;
}

static int add_symptom(struct lode_scope_longest *page, struct lode_scope_report *report, size_t i,
		       struct lode_dictionary_map *map, struct lode_error *error)
{
	const struct lode_symptom *symptom = &report->items[i].symptom;
	struct lode_scope_kept candidate = { .length = symptom->t1 - symptom->t0, .number = page->symptoms + i };
	struct lode_scope_kept *place;
	struct lode_output output;
	int code;

	if (find_place(page, &candidate, &place) < 0)
		return lode_fail_memory(error);
	if (!place)
		return 0;
	code = map->nodes ? 0 : share(page, report, map, error);
	if (code)
		return code;
	lode_output_memory(&output);
	code = lode_scope_page_symptom(report, i, map->nodes, &output, error);
	place->json = output.buffer;
	if (!code && place->json.failed)
		code = lode_fail_memory(error);
	return code ? code : note_stacks(place, report, i, map->nodes, error);
}

int lode_scope_longest_add(void *to, struct lode_scope_report *report, struct lode_error *error)
{
	struct lode_scope_longest *page = to;
	struct lode_dictionary_map map = { 0 };
	int code = 0;

	for (size_t i = 0; i < report->count && !code; i++) {
		code = add_symptom(page, report, i, &map, error);
		lode_scope_report_forget(report, i);
	}
	lode_dictionary_map_release(&map);
	page->symptoms += report->count;
	return code;
}

/* Marks the nodes of stacks that are shown, up to their roots, and the frames of these. */
static void mark(const struct lode_scope_longest *page, uint8_t *nodes, uint8_t *frames)
{
	const struct lode_stack_node *tree = page->shared.tree.nodes;

	for (size_t i = 0; i < page->count; i++)
		for (size_t k = 0; k < page->kept[i].stack_count; k++)
			for (uint32_t node = page->kept[i].stacks[k]; node && !nodes[node];
			     node = tree[node].parent) {
				nodes[node] = 1;
				frames[tree[node].frame] = 1;
			}
}

/* `numbers` gets the place of each frame that is marked. */
static void write_names(const struct lode_frames *frames, const uint8_t *marks, uint32_t *numbers,
			struct lode_json *json)
{
	uint32_t count = 0;

	lode_json_key_array(json, "names");
	for (uint32_t i = 0; i < frames->count; i++) {
		if (!marks[i])
			continue;
		numbers[i] = count++;
		lode_frames_json(frames, i, json);
	}
	lode_json_array_end(json);
}

static void write_nodes(const struct lode_stack_tree *tree, const uint8_t *marks, const uint32_t *numbers,
			struct lode_json *json)
{
	uint32_t before = 0;

	lode_json_key_array(json, "nodes");
	for (uint32_t node = 1; node < tree->count; node++) {
		if (!marks[node])
			continue;
		lode_json_u64(json, node - before);
		lode_json_u64(json, node - tree->nodes[node].parent);
		lode_json_u64(json, numbers[tree->nodes[node].frame]);
		before = node;
	}
	lode_json_array_end(json);
}

/* The table of stacks; nothing without symptoms. */
static void write_table(const struct lode_scope_longest *page, struct lode_buffer *buffer)
{
	const struct lode_dictionary *shared = &page->shared;
	uint8_t *nodes = lode_calloc(shared->tree.count + 1, 1);
	uint8_t *frames = lode_calloc(shared->frames.count + 1, 1);
	uint32_t *numbers = lode_calloc(shared->frames.count + 1, sizeof(*numbers));
	struct lode_idle_stacks *idle = NULL;
	struct lode_error error;
	struct lode_json json = { .buffer = buffer };

	if (nodes && frames && numbers &&
	    (!page->has_shared || !lode_idle_stacks_make(&idle, page->idle, shared, &error))) {
		mark(page, nodes, frames);
		lode_json_object(&json);
		write_names(&shared->frames, frames, numbers, &json);
		write_nodes(&shared->tree, nodes, numbers, &json);
		lode_frame_facts_json(&json, &shared->frames, frames, idle);
		lode_json_object_end(&json);
	} else {
		buffer->failed = 1;
	}
	lode_idle_stacks_free(idle);
	lode_free(nodes);
	lode_free(frames);
	lode_free(numbers);
}

void lode_scope_longest_json(struct lode_scope_longest *page, struct lode_buffer *buffer)
{
	qsort(page->kept, page->count, sizeof(*page->kept), compare);
	lode_buffer_print(buffer, "{\"symptoms_total\":%llu,\"symptoms\":[", (unsigned long long)page->symptoms);
	for (size_t i = 0; i < page->count; i++) {
		lode_buffer_text(buffer, i ? "," : "");
		lode_buffer_add(buffer, page->kept[i].json.bytes, page->kept[i].json.size);
	}
	lode_buffer_text(buffer, "],\"stacks\":");
	write_table(page, buffer);
	lode_buffer_text(buffer, "}\n");
}

void lode_scope_longest_release(struct lode_scope_longest *page)
{
	for (size_t i = 0; i < page->count; i++)
		release_kept(&page->kept[i]);
	lode_free(page->kept);
	if (page->has_shared)
		lode_dictionary_release(&page->shared);
}
