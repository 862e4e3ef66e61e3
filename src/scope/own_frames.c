/* A program's own functions: see own_frames.h. */
#include "scope/own_frames.h"

#include "scope/plumbing.h"

#include <string.h>

/* Libraries whose functions say what a program does, not where: their names up to the version. */
static const char *const system_libraries[] = {
	"libc",      "libm",   "libpthread", "librt",       "libdl",       "ld",     "libgcc_s",
	"libstdc++", "libc++", "libc++abi",  "libjemalloc", "libtcmalloc", "[vdso]", "linux-vdso",
};

static int is_systems(const struct lode_frames *frames, uint32_t frame)
{
	const struct lode_module *module = &frames->modules[frames->items[frame].module];
	const char *name = lode_strings_get(&frames->strings, module->name);

	if (module->kind == LODE_KIND_KERNEL || lode_module_is_interpreter(name))
		return 1;
	for (size_t i = 0; i < sizeof(system_libraries) / sizeof(system_libraries[0]); i++) {
		size_t length = strlen(system_libraries[i]);

		if (!strncmp(name, system_libraries[i], length) && strchr(".-_", name[length]))
			return 1; /* the NUL, too, is one of these */
	}
	return 0;
}

uint32_t *lode_own_nodes(const struct lode_dictionary *dictionary, const struct lode_idle_stacks *idle)
{
	const struct lode_stack_tree *tree = &dictionary->tree;
	size_t frames = dictionary->frames.count;
	uint8_t *is_own = lode_calloc(frames + 1, 1);
	uint32_t *own = is_own ? lode_calloc(tree->count + 1, sizeof(*own)) : NULL;

	for (uint32_t frame = 0; own && frame < frames; frame++)
		is_own[frame] = !is_systems(&dictionary->frames, frame) && !lode_idle_ignores(idle, frame) &&
				!lode_idle_is_way_of_waiting(idle, frame);
	for (size_t node = 1; own && node < tree->count; node++)
		own[node] = is_own[tree->nodes[node].frame] ? (uint32_t)node : own[tree->nodes[node].parent];
	lode_free(is_own);
	return own;
}
