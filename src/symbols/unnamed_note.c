/* The note on functions without a name: see unnamed_note.h. Such frames are written as their address. */
#include "symbols/unnamed_note.h"

#include "base/memory.h"
#include "base/starts_with.h"
#include "symbols/mapping_kind.h"

#include <stdlib.h>
#include <string.h>

/* What else is in brackets is no file: [vdso], [anon]. */
static int has_remedy(const char *module)
{
	return (*module && *module != '[') || !strcmp(module, LODE_JIT_MODULE);
}

/* The file with the most unnamed frames; NULL: there is none, or memory has run out. */
static const char *worst_module(const struct lode_frames *frames)
{
	uint32_t *counts = lode_calloc(frames->module_count + 1, sizeof(*counts));
	uint32_t worst = 0;
	const char *name = NULL;

	for (uint32_t i = 0; counts && i < frames->count; i++) {
		uint32_t module = frames->items[i].module;

		if (!lode_starts_with(lode_frames_function(frames, i), "0x") ||
		    !has_remedy(lode_frames_module_name(frames, i)) || ++counts[module] <= worst)
			continue;
		worst = counts[module];
		name = lode_frames_module_name(frames, i);
	}
	lode_free(counts);
	return name;
}

/* For the caller to free. */
static char *advise(const char *module)
{
	if (!strcmp(module, LODE_JIT_MODULE))
		return lode_strdup("addresses without a symbol, most in code generated at run time "
				   "(it has names if the program writes /tmp/perf-PID.map)");
	return lode_format("addresses without a symbol, most in %s (install its debug symbols, in Debian "
			   "a -dbgsym package, or use '--debuginfod')",
			   module);
}

void lode_note_unnamed(struct lode_notes *notes, uint64_t count, const struct lode_frames *frames)
{
	const char *module = count ? worst_module(frames) : NULL;
	char *what = module ? advise(module) : NULL;

	lode_notes_add(notes, count, what ? what : "addresses without a symbol", NULL);
	lode_free(what);
}
