/* Functions without a name: see unnamed_functions.h. */
#include "mine/unnamed_functions.h"

#include "base/starts_with.h"

#include <string.h>

static int is_unnamed(const struct lode_frames *frames, uint32_t frame)
{
	return frame != LODE_NONE && lode_starts_with(lode_frames_function(frames, frame), "0x") &&
	       frames->items[frame].module;
}

/* The function without a name that a finding shows; LODE_NONE: there is none. */
static uint32_t shown_in(const struct lode_frames *frames, const struct lode_finding *finding)
{
	if (is_unnamed(frames, finding->frame))
		return finding->frame;
	if (is_unnamed(frames, finding->caller))
		return finding->caller;
	for (uint32_t i = 0; i < finding->callee_count; i++)
		if (finding->callees[i].cost > finding->cost / 10 && is_unnamed(frames, finding->callees[i].frame))
			return finding->callees[i].frame;
	return LODE_NONE;
}

/* The costliest stack that the function is in, up to it; 0: there is none. */
static uint32_t costliest_call(const struct lode_area *area, uint32_t frame)
{
	const struct lode_stack_tree *tree = &area->dictionary.tree;
	uint64_t most = 0;
	uint32_t found = 0;

	for (size_t i = 0; i < area->chains.row_count; i++) {
		const struct lode_chain_row *row = &area->chains.rows[i];
		uint32_t node = row->cost > most ? row->stack : 0;

		while (node && tree->nodes[node].frame != frame)
			node = tree->nodes[node].parent;
		if (!node)
			continue;
		found = node;
		most = row->cost;
	}
	return found;
}

/* Who made the code, by the modules of the callers. */
static enum lode_unnamed_runtime runtime_of(const struct lode_area *area, uint32_t node)
{
	const struct lode_stack_tree *tree = &area->dictionary.tree;
	const struct lode_frames *frames = &area->dictionary.frames;

	if (frames->modules[frames->items[tree->nodes[node].frame].module].kind != LODE_KIND_JIT)
		return LODE_UNNAMED_NATIVE;
	for (; node; node = tree->nodes[node].parent) {
		const char *module = lode_frames_module_name(frames, tree->nodes[node].frame);

		if (!strcmp(module, "libjvm.so"))
			return LODE_UNNAMED_JAVA;
		if (!strcmp(module, "node") || lode_starts_with(module, "libnode.so"))
			return LODE_UNNAMED_NODE;
	}
	return LODE_UNNAMED_JIT;
}

static void look_at_callers(struct lode_unnamed_function *unnamed, const struct lode_area *area)
{
	const struct lode_stack_tree *tree = &area->dictionary.tree;
	uint32_t node = costliest_call(area, unnamed->frame);

	unnamed->runtime = node ? runtime_of(area, node) : LODE_UNNAMED_NATIVE;
	while (node && is_unnamed(&area->dictionary.frames, tree->nodes[node].frame))
		node = tree->nodes[node].parent;
	unnamed->after = node ? tree->nodes[node].frame : LODE_NONE;
}

int lode_unnamed_function_find(struct lode_unnamed_function *unnamed, const struct lode_findings *findings,
			       const struct lode_area *area)
{
	const struct lode_frames *frames = &area->dictionary.frames;
	uint64_t *costs = lode_calloc(frames->module_count + 1, sizeof(*costs));

	*unnamed = (struct lode_unnamed_function){ .frame = LODE_NONE, .after = LODE_NONE };
	if (!costs)
		return LODE_SYSTEM;
	for (size_t i = 0; i < findings->count; i++) {
		uint32_t frame = shown_in(frames, &findings->items[i]), module;

		if (frame == LODE_NONE)
			continue;
		module = frames->items[frame].module;
		costs[module] = lode_add_saturating(costs[module], findings->items[i].cost);
		unnamed->cost = costs[module] > unnamed->cost ? costs[module] : unnamed->cost;
	}
	/* The first of the module that has most: findings are sorted by cost. */
	for (size_t i = 0; unnamed->cost && i < findings->count && unnamed->frame == LODE_NONE; i++) {
		uint32_t frame = shown_in(frames, &findings->items[i]);

		if (frame != LODE_NONE && costs[frames->items[frame].module] == unnamed->cost)
			unnamed->frame = frame;
	}
	lode_free(costs);
	if (unnamed->frame != LODE_NONE)
		look_at_callers(unnamed, area);
	return 0;
}
