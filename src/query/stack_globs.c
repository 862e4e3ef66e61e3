/*
 * Stacks by globs: see stack_globs.h. A parent has a smaller number than its children, so one pass over
 * the new nodes is enough.
 */
#include "query/stack_globs.h"

#include "scope/frame_filter.h"

#include <string.h>

/* Globs that are kept: a statement that makes up new ones for each row must not fill the memory. */
#define MAX_GLOBS 64

static void free_glob(struct lode_stack_glob *glob)
{
	if (!glob)
		return;
	lode_free(glob->text);
	lode_free(glob->frames);
	lode_free(glob->nodes);
	lode_free(glob);
}

void lode_stack_globs_release(struct lode_stack_globs *globs)
{
	for (size_t i = 0; i < globs->all.count; i++)
		free_glob(globs->all.items[i]);
	lode_free(globs->all.items);
	memset(globs, 0, sizeof(*globs));
}

struct lode_stack_glob *lode_stack_globs_get(struct lode_stack_globs *globs, const char *text)
{
	struct lode_stack_glob *glob;

	for (size_t i = 0; i < globs->all.count; i++)
		if (!strcmp(globs->all.items[i]->text, text))
			return globs->all.items[i];
	glob = lode_calloc(1, sizeof(*glob));
	if (!glob || !(glob->text = lode_strdup(text)) ||
	    (globs->all.count < MAX_GLOBS && LODE_PUSH(&globs->all, NULL) < 0)) {
		free_glob(glob);
		return NULL;
	}
	globs->next = (globs->next + 1) % globs->all.count;
	if (globs->all.items[globs->all.count - 1] == NULL)
		globs->next = globs->all.count - 1;
	free_glob(globs->all.items[globs->next]);
	return globs->all.items[globs->next] = glob;
}

int lode_stack_glob_extend(struct lode_stack_glob *glob, const struct lode_dictionary *dictionary)
{
	const struct lode_frames *frames = &dictionary->frames;
	const struct lode_stack_tree *tree = &dictionary->tree;

	if (LODE_GROW(glob->frames, glob->frame_capacity, frames->count + 1) < 0 ||
	    LODE_GROW(glob->nodes, glob->node_capacity, tree->count + 1) < 0)
		return LODE_SYSTEM;
	for (; glob->frame_count < frames->count; glob->frame_count++)
		glob->frames[glob->frame_count] =
			(uint8_t)lode_frame_matches(frames, (uint32_t)glob->frame_count, glob->text);
	for (; glob->node_count < tree->count; glob->node_count++) {
		const struct lode_stack_node *node = &tree->nodes[glob->node_count];

		glob->nodes[glob->node_count] =
			glob->node_count ? glob->nodes[node->parent] | glob->frames[node->frame] : 0;
	}
	return 0;
}
