/* A program's own functions: see own_frames.h. */
#include "scope/own_frames.h"

#include "base/starts_with.h"
#include "scope/javascript_plumbing.h"
#include "scope/plumbing.h"
#include "trace/gpu_threads.h"
#include "trace/script_modules.h"

#include <string.h>

/* Libraries whose functions say what a program does, not where: their names up to the version. */
static const char *const system_libraries[] = {
	"libc",      "libm",   "libpthread", "librt",       "libdl",       "ld",     "libgcc_s",
	"libstdc++", "libc++", "libc++abi",  "libjemalloc", "libtcmalloc", "[vdso]", "linux-vdso",
};

static int is_systems(const struct lode_module *module, const char *name, int has_javascript)
{
	/* Functions of a language that have no file, or no name, are in a module that is called like it. */
	if (module->kind == LODE_KIND_KERNEL ||
	    (module->language && !strcmp(name, lode_code_language_name((enum lode_code_language)module->language))) ||
	    (has_javascript &&
	     (lode_module_is_node(name) || lode_starts_with(name, "node:") || !strcmp(name, "javascript"))))
		return 1;
	for (size_t i = 0; i < sizeof(system_libraries) / sizeof(system_libraries[0]); i++) {
		size_t length = strlen(system_libraries[i]);

		if (!strncmp(name, system_libraries[i], length) && strchr(".-_", name[length]))
			return 1; /* the NUL, too, is one of these */
	}
	return 0;
}

/* ---- shared libraries and packages ---- */

/* Folders that libraries of a system are in, not below. */
static int is_library_folder(const char *path, size_t length)
{
	static const char *const folders[] = { "/lib",       "/usr/lib",       "/lib64",
					       "/usr/lib64", "/usr/local/lib", "/usr/local/lib64" };
	const char *multiarch = memmem(path, length, "-linux-gnu", strlen("-linux-gnu"));

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (strlen(folders[i]) == length && !memcmp(folders[i], path, length))
			return 1;
	return multiarch && !memchr(multiarch, '/', length - (size_t)(multiarch - path));
}

/* A library with a version is there for many programs, unless it is in a folder of its own. */
static int is_shared_library(const char *name, const char *path)
{
	const char *version = strstr(name, ".so."), *base = strrchr(path, '/');

	return version && strchr("0123456789", version[4]) && version[4] &&
	       (!base || is_library_folder(path, (size_t)(base - path)));
}

int lode_function_starts_program(const char *function)
{
	char text[LODE_PLAIN_FUNCTION];

	function = lode_function_plain(function, text);
	return !strcmp(function, "main") || !strcmp(function, "_start") || !strcmp(function, "<module>") ||
	       !strcmp(function, "{main}");
}

/* ---- levels ---- */

const char *lode_own_name(enum lode_own own)
{
	static const char *const names[] = { "system", "runtime", "library", "program", "script", "gpu" };

	return names[own];
}

enum lode_own lode_own_of_module(const struct lode_frames *frames, uint32_t module, int has_javascript)
{
	const struct lode_module *item = &frames->modules[module];
	const char *name = lode_strings_get(&frames->strings, item->name);
	const char *path = lode_strings_get(&frames->strings, item->path);

	if (lode_module_is_interpreter(name))
		return LODE_OWN_RUNTIME;
	if (is_systems(item, name, has_javascript))
		return LODE_OWN_SYSTEM;
	if (is_shared_library(name, path) || lode_path_is_package(path))
		return LODE_OWN_LIBRARY;
	return item->language || lode_module_is_script(name) ? LODE_OWN_SCRIPT : LODE_OWN_PROGRAM;
}

static enum lode_own own_of_frame(const struct lode_frames *frames, const struct lode_idle_stacks *idle,
				  uint32_t frame, int has_javascript)
{
	const char *function = lode_frames_function(frames, frame);
	enum lode_gpu_frame gpu = lode_gpu_frame_of(frames, frame);
	enum lode_own own;

	if (gpu != LODE_GPU_NO_FRAME)
		return gpu == LODE_GPU_WORK ? LODE_OWN_GPU : LODE_OWN_SYSTEM;
	if (lode_idle_ignores(idle, frame) || lode_idle_is_way_of_waiting(idle, frame))
		return LODE_OWN_SYSTEM;
	own = lode_own_of_module(frames, frames->items[frame].module, has_javascript);
	if (own == LODE_OWN_RUNTIME && lode_function_only_calls(lode_frames_module_name(frames, frame), function))
		return LODE_OWN_SYSTEM;
	return own > LODE_OWN_LIBRARY && lode_function_starts_program(function) ? LODE_OWN_LIBRARY : own;
}

/* ---- nodes ---- */

/* The innermost functions on the way to a node, by how much they say. */
struct innermost {
	uint32_t nodes[LODE_OWNS];
};

static uint32_t best_of(const struct innermost *innermost)
{
	for (int own = LODE_OWNS - 1; own > LODE_OWN_SYSTEM; own--)
		if (innermost->nodes[own])
			return innermost->nodes[own];
	return 0;
}

uint32_t *lode_own_nodes(const struct lode_dictionary *dictionary, const struct lode_idle_stacks *idle)
{
	const struct lode_stack_tree *tree = &dictionary->tree;
	size_t frames = dictionary->frames.count;
	int has_javascript = lode_frames_have_javascript(&dictionary->frames);
	uint8_t *levels = lode_calloc(frames + 1, 1);
	struct innermost *innermost = lode_calloc(tree->count + 1, sizeof(*innermost));
	uint32_t *own = levels && innermost ? lode_calloc(tree->count + 1, sizeof(*own)) : NULL;

	for (uint32_t frame = 0; own && frame < frames; frame++)
		levels[frame] = (uint8_t)own_of_frame(&dictionary->frames, idle, frame, has_javascript);
	for (size_t node = 1; own && node < tree->count; node++) {
		uint8_t level = levels[tree->nodes[node].frame];

		innermost[node] = innermost[tree->nodes[node].parent];
		if (level != LODE_OWN_SYSTEM)
			innermost[node].nodes[level] = (uint32_t)node;
		own[node] = best_of(&innermost[node]);
	}
	lode_free(levels);
	lode_free(innermost);
	return own;
}
