/*
 * Layers: which part of a running program a function belongs to (see diff.h).
 */
#include "latency/diff.h"

#include <string.h>

const char *lode_layer_name(enum lode_layer layer)
{
	static const char *const names[] = { "program", "jit", "library", "plug-in", "kernel", "unknown" };

	return names[layer];
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
	if (!strncmp(name, "ld", 2) && (name[2] == '-' || name[2] == '.'))
		return 0; /* the dynamic loader */
	return strncmp(name, "lib", 3) || has_any(path, folders);
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
