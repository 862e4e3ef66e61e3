/* A call tree as a part of results: see call_tree_fields.h. */
#include "result/call_tree_fields.h"

#include "base/memory.h"
#include "result/field_rows.h"

struct item {
	uint32_t depth;
	struct lode_written frames;
	uint64_t whole_ns;
	uint64_t base_whole_ns;
	uint64_t own_ns;
	uint64_t base_own_ns;
	int new;
	int has_hidden;
	uint32_t hidden;
	uint64_t hidden_ns;
	uint64_t base_hidden_ns;
};

/* ---- one side ---- */

#define DEPTH        "How deep in the tree; a root has 0."
#define FRAMES       "Frames from the caller shown above to this one."
#define WHOLE        "Time with all callees."
#define OWN          "Time without callees."
#define HIDDEN       "Callees that are left out."
#define HIDDEN_TIME  "Their time."
#define ON_BASE_SIDE "The same on the base side."

#define TABLE_OF struct item
static const struct lode_field item_rows[] = {
	FIELD_U32(depth, DEPTH),
	FIELD_WRITTEN_TEXTS(frames, FRAMES),
	FIELD_U64(whole_ns, WHOLE),
	FIELD_U64(own_ns, OWN),
	FIELD_U32(hidden, HIDDEN, FIELD_OPTIONAL),
	FIELD_U64(hidden_ns, HIDDEN_TIME, FIELD_OPTIONAL_IF(has_hidden)),
};
static const struct lode_fields item = FIELD_TABLE("CallTreeItem", item_rows);

static const struct lode_field item_of_two_rows[] = {
	FIELD_U32(depth, DEPTH),
	FIELD_WRITTEN_TEXTS(frames, FRAMES),
	FIELD_U64(whole_ns, WHOLE),
	FIELD_U64(base_whole_ns, ON_BASE_SIDE),
	FIELD_U64(own_ns, OWN),
	FIELD_U64(base_own_ns, ON_BASE_SIDE),
	FIELD_BOOL(new, "Only the slow side has it.", FIELD_OPTIONAL),
	FIELD_U32(hidden, HIDDEN, FIELD_OPTIONAL),
	FIELD_U64(hidden_ns, HIDDEN_TIME, FIELD_OPTIONAL_IF(has_hidden)),
	FIELD_U64(base_hidden_ns, ON_BASE_SIDE, FIELD_OPTIONAL_IF(has_hidden)),
};
static const struct lode_fields item_of_two = FIELD_TABLE("CallTreeItemOfTwo", item_of_two_rows);
#undef TABLE_OF

#define LEAST    "Calls of less than this are left out."
#define CONTEXTS "Calling contexts there are."
#define SHOWN    "Calling contexts that are in the tree."
#define LEFT_OUT "Time of the calls that are left out."
#define ITEMS    "Calls in the order of the tree, callers first."

#define TABLE_OF struct lode_call_tree_values
static const struct lode_field tree_rows[] = {
	FIELD_U64(least_ns, LEAST),     FIELD_U64(contexts, CONTEXTS),
	FIELD_U64(shown, SHOWN),        FIELD_U64(whole_ns, "Time of all calls."),
	FIELD_U64(hidden_ns, LEFT_OUT), FIELD_OBJECTS(items, item, ITEMS),
};
static const struct lode_fields tree = FIELD_TABLE("CallTree", tree_rows);

static const struct lode_field tree_of_two_rows[] = {
	FIELD_U64(least_ns, LEAST),
	FIELD_U64(contexts, CONTEXTS),
	FIELD_U64(shown, SHOWN),
	FIELD_U64(whole_ns, "Time of all calls on the slow side."),
	FIELD_U64(base_whole_ns, ON_BASE_SIDE),
	FIELD_U64(hidden_ns, LEFT_OUT),
	FIELD_U64(base_hidden_ns, ON_BASE_SIDE),
	FIELD_OBJECTS(items, item_of_two, ITEMS),
};
static const struct lode_fields tree_of_two = FIELD_TABLE("CallTreeOfTwo", tree_of_two_rows);
#undef TABLE_OF

#define TREE "The tree of costly calls; of least_ns, tree-min decides. With page-data it is in page."
#define PAGE "With page-data: what the page needs, the tree of calls and facts of frames."

#define TABLE_OF struct lode_call_tree_page
static const struct lode_field page_rows[] = {
	FIELD_OBJECT(tree, tree, TREE),
	FIELD_PART(facts, lode_frame_facts_fields),
};
static const struct lode_fields page = FIELD_TABLE("CallTreePage", page_rows);

static const struct lode_field page_of_two_rows[] = {
	FIELD_OBJECT(tree, tree_of_two, TREE),
	FIELD_PART(facts, lode_frame_facts_fields),
};
static const struct lode_fields page_of_two = FIELD_TABLE("CallTreePageOfTwo", page_of_two_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_call_tree_part
static const struct lode_field part_rows[] = {
	FIELD_OBJECT(tree, tree, TREE, FIELD_OPTIONAL_IF(not_for_page)),
	FIELD_OBJECT(page, page, PAGE, FIELD_OPTIONAL_IF(for_page)),
};
const struct lode_fields lode_call_tree_part_fields = FIELD_TABLE("CallTreePart", part_rows);

static const struct lode_field part_of_two_rows[] = {
	FIELD_OBJECT(tree, tree_of_two, TREE, FIELD_OPTIONAL_IF(not_for_page)),
	FIELD_OBJECT(page, page_of_two, PAGE, FIELD_OPTIONAL_IF(for_page)),
};
const struct lode_fields lode_call_trees_part_fields = FIELD_TABLE("CallTreePartOfTwo", part_of_two_rows);
#undef TABLE_OF

/* ---- making them ---- */

static int write_frames(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_dictionary *dictionary = self->from;
	const struct lode_call_tree_item *folded = self->with;

	lode_json_array(json);
	for (uint32_t i = folded->length; i-- > 0;) {
		uint32_t node = folded->last;

		for (uint32_t k = 0; k < i; k++)
			node = dictionary->tree.nodes[node].parent;
		lode_frames_json(&dictionary->frames, dictionary->tree.nodes[node].frame, json);
	}
	lode_json_array_end(json);
	return 0;
}

static int make_item(const struct lode_list *list, size_t i, void *to)
{
	const struct lode_call_tree *made = list->from;
	const struct lode_call_tree_item *from = &made->items[i];
	const uint8_t *known = made->input.known;

	*(struct item *)to = (struct item){
		.depth = from->depth,
		.frames = { .write = write_frames, .from = made->input.dictionary, .with = from },
		.whole_ns = from->whole[LODE_SIDE_SLOW],
		.base_whole_ns = from->whole[LODE_SIDE_BASE],
		.own_ns = from->own[LODE_SIDE_SLOW],
		.base_own_ns = from->own[LODE_SIDE_BASE],
		.new = known && !known[from->last],
		.has_hidden = from->hidden != 0,
		.hidden = from->hidden,
		.hidden_ns = from->rest[LODE_SIDE_SLOW],
		.base_hidden_ns = from->rest[LODE_SIDE_BASE],
	};
	return 1;
}

static int make_facts(struct lode_call_tree_part *part, const struct lode_idle_rules *rules)
{
	const struct lode_dictionary *dictionary = part->made.input.dictionary;

	if (!part->marks || lode_idle_stacks_make(&part->idle, rules, dictionary, NULL) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < part->made.count; i++)
		lode_frame_facts_mark(&dictionary->tree, part->made.items[i].last, part->marks);
	return lode_frame_facts_make(&part->page.facts, &dictionary->frames, part->marks, part->idle);
}

int lode_call_tree_part_make(struct lode_call_tree_part *part, struct lode_call_tree *made,
			     const struct lode_idle_rules *rules, uint8_t *marks)
{
	*part = (struct lode_call_tree_part){
		.for_page = rules != NULL,
		.not_for_page = !rules,
		.made = *made,
		.marks = marks,
		.tree = {
			.least_ns = made->input.least,
			.contexts = made->contexts,
			.shown = made->shown,
			.whole_ns = made->whole[LODE_SIDE_SLOW],
			.base_whole_ns = made->whole[LODE_SIDE_BASE],
			.hidden_ns = made->rest[LODE_SIDE_SLOW],
			.base_hidden_ns = made->rest[LODE_SIDE_BASE],
			.items = { made->count, &part->made, 0, make_item },
		},
	};
	part->page.tree = part->tree;
	return rules ? make_facts(part, rules) : 0;
}

int lode_call_tree_part_fail(struct lode_call_tree_part *part, struct lode_call_tree *made, uint8_t *marks)
{
	*part = (struct lode_call_tree_part){ 0 };
	lode_call_tree_release(made);
	lode_free(marks);
	return LODE_SYSTEM;
}

void lode_call_tree_part_release(struct lode_call_tree_part *part)
{
	lode_frame_facts_release(&part->page.facts);
	lode_idle_stacks_free(part->idle);
	lode_call_tree_release(&part->made);
	lode_free(part->marks);
}
