/*
 * Layers: see code_layer.h.
 */
#include "latency/code_layer.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/starts_with.h"
#include "trace/events.h"

#include <string.h>

const char *lode_layer_name(enum lode_layer layer)
{
	static const char *const names[] = { "program", "jit", "library", "plug-in", "kernel", "unknown" };

	return names[layer];
}

const char *lode_layer_words(enum lode_layer layer)
{
	switch (layer) {
	case LODE_LAYER_PROGRAM:
		return "internal, in the program itself";
	case LODE_LAYER_JIT:
		return "internal, code generated at run time";
	case LODE_LAYER_LIBRARY:
		return "external, in a library";
	case LODE_LAYER_PLUGIN:
		return "external, in a plug-in";
	case LODE_LAYER_KERNEL:
		return "external, in the kernel";
	default:
		return "of an unknown module";
	}
}

static int has_any(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strstr(text, *words))
			return 1;
	return 0;
}

static int is_plugin(const char *name, const char *path)
{
	static const char *const folders[] = { "plugin", "plug-in", "module", "extension", "addon", NULL };
	size_t length = strlen(name);

	if (length < 3 || strcmp(name + length - 3, ".so"))
		return 0; /* it has a version, or is no library at all */
	if (lode_starts_with(name, "ld") && (name[2] == '-' || name[2] == '.'))
		return 0; /* the dynamic loader */
	return !lode_starts_with(name, "lib") || has_any(path, folders);
}

enum lode_layer lode_layer_of(const struct lode_frames *frames, uint32_t module)
{
	const struct lode_module *item = &frames->modules[module];
	const char *name = lode_strings_get(&frames->strings, item->name);
	const char *path = lode_strings_get(&frames->strings, item->path);

	if (!*name)
		return LODE_LAYER_UNKNOWN;
	switch (item->kind) {
	case LODE_KIND_KERNEL:
		return LODE_LAYER_KERNEL;
	case LODE_KIND_JIT:
		return LODE_LAYER_JIT;
	case LODE_KIND_LIBRARY:
		return is_plugin(name, path) ? LODE_LAYER_PLUGIN : LODE_LAYER_LIBRARY;
	default:
		return LODE_LAYER_PROGRAM;
	}
}

enum lode_layer lode_layer_of_node(const struct lode_dictionary *dictionary, uint32_t node)
{
	uint32_t frame = dictionary->tree.nodes[node].frame;

	return lode_layer_of(&dictionary->frames, dictionary->frames.items[frame].module);
}

int lode_layer_is_machinery(const struct lode_dictionary *dictionary, uint32_t node)
{
	const char *module = lode_frames_module_name(&dictionary->frames, dictionary->tree.nodes[node].frame);

	return lode_layer_of_node(dictionary, node) == LODE_LAYER_KERNEL || lode_starts_with(module, "libc.") ||
	       lode_starts_with(module, "libc-") || lode_starts_with(module, "libpthread") ||
	       lode_starts_with(module, "ld-") || lode_starts_with(module, "ld.");
}

uint32_t lode_stack_who(const struct lode_dictionary *dictionary, uint32_t node)
{
	uint32_t own = node;

	while (own && lode_layer_is_machinery(dictionary, own))
		own = dictionary->tree.nodes[own].parent;
	return own ? own : node;
}

int lode_layer_sums(const struct lode_dictionary *dictionary, const uint64_t *own, size_t node_count,
		    uint64_t sums[LODE_LAYERS])
{
	const struct lode_stack_node *nodes = dictionary->tree.nodes;
	uint8_t *layers = lode_calloc(node_count + 1, 1); /* by node, plus one; 0: machinery for none */

	if (!layers)
		return LODE_SYSTEM;
	memset(sums, 0, LODE_LAYERS * sizeof(*sums));
	for (uint32_t i = 1; i < node_count; i++) {
		enum lode_layer layer = lode_layer_of_node(dictionary, i);

		layers[i] = lode_layer_is_machinery(dictionary, i) ? layers[nodes[i].parent] : (uint8_t)(layer + 1);
		if (layers[i])
			layer = (enum lode_layer)(layers[i] - 1);
		sums[layer] = lode_add_saturating(sums[layer], own[i]);
	}
	lode_free(layers);
	return 0;
}
