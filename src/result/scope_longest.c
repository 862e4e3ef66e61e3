/* The longest symptoms for a page: see scope_longest.h. */
#include "result/scope_longest.h"

#include "base/memory.h"
#include "result/scope_result.h"

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

/* What the table of stacks is made from; nothing without symptoms. */
struct shared_stacks {
	const struct lode_dictionary *dictionary;
	uint8_t *nodes;    /* marks */
	uint8_t *frames;   /* marks */
	uint32_t *numbers; /* by frame: its place in `names`, once these are written */
	struct lode_idle_stacks *idle;
};

static int write_names(const struct lode_written *self, struct lode_json *json)
{
	const struct shared_stacks *stacks = self->from;
	uint32_t count = 0;

	lode_json_array(json);
	for (uint32_t i = 0; i < stacks->dictionary->frames.count; i++) {
		if (!stacks->frames[i])
			continue;
		stacks->numbers[i] = count++;
		lode_frames_json(&stacks->dictionary->frames, i, json);
	}
	lode_json_array_end(json);
	return 0;
}

static int write_nodes(const struct lode_written *self, struct lode_json *json)
{
	const struct shared_stacks *stacks = self->from;
	const struct lode_stack_tree *tree = &stacks->dictionary->tree;
	uint32_t before = 0;

	lode_json_array(json);
	for (uint32_t node = 1; node < tree->count; node++) {
		if (!stacks->nodes[node])
			continue;
		lode_json_u64(json, node - before);
		lode_json_u64(json, node - tree->nodes[node].parent);
		lode_json_u64(json, stacks->numbers[tree->nodes[node].frame]);
		before = node;
	}
	lode_json_array_end(json);
	return 0;
}

static int make_stacks(struct shared_stacks *stacks, const struct lode_scope_longest *page)
{
	struct lode_error error;

	*stacks = (struct shared_stacks){
		.dictionary = &page->shared,
		.nodes = lode_calloc(page->shared.tree.count + 1, 1),
		.frames = lode_calloc(page->shared.frames.count + 1, 1),
		.numbers = lode_calloc(page->shared.frames.count + 1, sizeof(*stacks->numbers)),
	};
	if (!stacks->nodes || !stacks->frames || !stacks->numbers)
		return LODE_SYSTEM;
	if (page->has_shared && lode_idle_stacks_make(&stacks->idle, page->idle, &page->shared, &error))
		return LODE_SYSTEM;
	mark(page, stacks->nodes, stacks->frames);
	return 0;
}

static void release_stacks(struct shared_stacks *stacks)
{
	lode_idle_stacks_free(stacks->idle);
	lode_free(stacks->nodes);
	lode_free(stacks->frames);
	lode_free(stacks->numbers);
}

static int write_symptoms(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_scope_longest *page = self->from;

	lode_json_array(json);
	for (size_t i = 0; i < page->count; i++)
		lode_json_raw(json, page->kept[i].json.bytes, page->kept[i].json.size);
	lode_json_array_end(json);
	return 0;
}

void lode_scope_longest_json(struct lode_scope_longest *page, struct lode_buffer *buffer)
{
	struct shared_stacks stacks;
	struct lode_scope_page_result result = {
		.symptoms_total = page->symptoms,
		.symptoms = { .write = write_symptoms, .from = page },
		.stacks.names = { .write = write_names, .from = &stacks },
		.stacks.nodes = { .write = write_nodes, .from = &stacks },
	};

	qsort(page->kept, page->count, sizeof(*page->kept), compare);
	if (make_stacks(&stacks, page) < 0 ||
	    lode_frame_facts_make(&result.stacks.facts, &page->shared.frames, stacks.frames, stacks.idle) < 0)
		buffer->failed = 1;
	else
		lode_fields_line(&lode_scope_page_fields, &result, buffer);
	lode_frame_facts_release(&result.stacks.facts);
	release_stacks(&stacks);
}

void lode_scope_longest_release(struct lode_scope_longest *page)
{
	for (size_t i = 0; i < page->count; i++)
		release_kept(&page->kept[i]);
	lode_free(page->kept);
	if (page->has_shared)
		lode_dictionary_release(&page->shared);
}
