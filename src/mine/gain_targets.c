/*
 * What can be taken away: see gain_targets.h. Whether a stack has the frames of a pattern in their order follows from its parent:
 * how many of them it has from the first on, and whether its own is the next.
 */
#include "mine/gain_targets.h"

#include "mine/pattern_id.h"
#include "scope/frame_filter.h"
#include "trace/gpu_threads.h"

#include <stdlib.h>
#include <string.h>

/*
 * Whether a stack with all of a pattern, `reached` of it in its caller, is taken away with it. The gap of a GPU has the stack of what
 * its launcher did then, but its own end is the launch, which is still to come: it goes only where the pattern names it.
 */
static int is_taken(const struct lode_dictionary *dictionary, size_t node, uint32_t reached, uint32_t length)
{
	return reached < length ||
	       lode_gpu_frame_of(&dictionary->frames, dictionary->tree.nodes[node].frame) != LODE_GPU_GAP;
}

/* ---- clusters, and patterns by their ids ---- */

/* Marks the stacks that contain a pattern; `reached` has room for all nodes. */
static void mark_sequence(const struct lode_dictionary *dictionary, const uint32_t *sequence, uint32_t length,
			  uint32_t *reached, uint8_t *marks)
{
	const struct lode_stack_tree *tree = &dictionary->tree;

	reached[0] = 0;
	for (size_t node = 1; node < tree->count; node++) {
		uint32_t before = reached[tree->nodes[node].parent];

		reached[node] = before + (before < length && sequence[before] == tree->nodes[node].frame);
		marks[node] |= reached[node] == length && is_taken(dictionary, node, before, length);
	}
}

/* The pattern in frames of another dictionary. Returns whether it has all of them. */
static int translate(const struct lode_frames *from, const uint32_t *frames, uint32_t length,
		     const struct lode_frames *to, uint32_t *translated)
{
	for (uint32_t i = 0; i < length; i++) {
		translated[i] = lode_frames_find(to, lode_frames_module_name(from, frames[i]),
						 lode_frames_function(from, frames[i]));
		if (translated[i] == LODE_NONE)
			return 0;
	}
	return 1;
}

/* Marks the stacks of each of `count` patterns whose numbers `members` has, or from `first` on where it is NULL. */
static int mark_patterns(const struct lode_patterns *patterns, const struct lode_frames *frames,
			 const uint32_t *members, size_t first, size_t count,
			 const struct lode_dictionary *dictionary, uint8_t *marks)
{
	uint32_t *reached = lode_calloc(dictionary->tree.count + 1, sizeof(*reached)), *translated;
	uint32_t longest = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t length = patterns->items[members ? members[i] : first + i].length;

		longest = length > longest ? length : longest;
	}
	translated = lode_calloc((size_t)longest + 1, sizeof(*translated));
	for (size_t i = 0; reached && translated && i < count; i++) {
		size_t number = members ? members[i] : first + i;
		uint32_t length = patterns->items[number].length;

		if (length && translate(frames, lode_pattern_frames(patterns, number), length, &dictionary->frames,
					translated))
			mark_sequence(dictionary, translated, length, reached, marks);
	}
	lode_free(reached);
	lode_free(translated);
	return reached && translated ? 0 : LODE_SYSTEM;
}

int lode_gain_mark_cluster(void *context, size_t i, const struct lode_dictionary *dictionary, uint8_t *marks)
{
	const struct lode_gain_clusters *clusters = context;
	const struct lode_clusters *all = &clusters->mined->clusters;

	return mark_patterns(&clusters->mined->patterns, clusters->frames, all->members + all->items[i].first, 0,
			     all->items[i].count, dictionary, marks);
}

/* ---- as a user wrote them ---- */

/* Cuts `=50%` off the end. */
static int parse_percent(struct lode_gain_pattern *pattern, struct lode_error *error)
{
	char *equals = strrchr(pattern->text, '='), *rest;
	size_t length = strlen(pattern->text);
	unsigned long percent;

	pattern->percent = 100;
	if (!equals || !length || pattern->text[length - 1] != '%')
		return 0;
	percent = strtoul(equals + 1, &rest, 10);
	if (rest == equals + 1 || strcmp(rest, "%") || percent < 1 || percent > 100)
		return lode_fail(
			error, LODE_USAGE,
			"'--without %s' needs a share from 1%% to 100%% behind the '='; 'PATTERN=50%%' halves "
			"its events",
			pattern->text);
	pattern->percent = (unsigned)percent;
	*equals = '\0';
	return 0;
}

/* Whether it may be an id: six hexadecimal digits or more, and nothing else. */
static int looks_like_id(const char *text)
{
	size_t digits = strspn(text, "0123456789abcdef");

	return digits >= 6 && digits < LODE_ID && !text[digits];
}

static int parse_id(struct lode_gain_pattern *pattern, const char *corpus, struct lode_error *error)
{
	struct lode_pattern_choice choice;
	int code;

	if (lode_frames_init(&pattern->frames) < 0)
		return lode_fail_memory(error);
	pattern->has_frames = 1;
	code = lode_mined_file_read(&pattern->file, corpus, &pattern->frames, error);
	if (!code)
		code = lode_pattern_choose(&pattern->file, &pattern->frames, corpus, pattern->text, &choice, error);
	if (code)
		return code;
	pattern->first = choice.first;
	pattern->count = choice.count;
	pattern->kind = choice.group->kind;
	return 0;
}

static int parse_globs(struct lode_gain_pattern *pattern, struct lode_error *error)
{
	const char *text = pattern->text;
	size_t most = 1;

	for (const char *at = text; *at; at++)
		most += *at == ';';
	pattern->globs = lode_calloc(most + 1, sizeof(*pattern->globs));
	if (!pattern->globs)
		return lode_fail_memory(error);
	while (*text) {
		size_t length = strcspn(text, ";");

		if (length && !(pattern->globs[pattern->glob_count++] = lode_strndup(text, length)))
			return lode_fail_memory(error);
		text += length + (text[length] == ';');
	}
	if (!pattern->glob_count)
		return lode_fail(
			error, LODE_USAGE,
			"'--without' needs what to take away: a function, 'caller;callee' with * and ?, or the "
			"id of a cluster of the last 'lode mine'");
	return 0;
}

int lode_gain_pattern_parse(struct lode_gain_pattern *pattern, const char *text, const char *corpus,
			    struct lode_error *error)
{
	int code;

	pattern->text = lode_strdup(text);
	if (!pattern->text)
		return lode_fail_memory(error);
	code = parse_percent(pattern, error);
	if (code)
		return code;
	return looks_like_id(pattern->text) ? parse_id(pattern, corpus, error) : parse_globs(pattern, error);
}

void lode_gain_pattern_release(struct lode_gain_pattern *pattern)
{
	for (size_t i = 0; i < pattern->glob_count; i++)
		lode_free(pattern->globs[i]);
	lode_free(pattern->globs);
	lode_free(pattern->text);
	lode_pattern_file_release(&pattern->file);
	if (pattern->has_frames)
		lode_frames_release(&pattern->frames);
	memset(pattern, 0, sizeof(*pattern));
}

/* By frame, then by glob: it fits. NULL when memory has run out. */
static uint8_t *fitting_frames(const struct lode_gain_pattern *pattern, const struct lode_frames *frames)
{
	uint8_t *fits = lode_calloc(frames->count * pattern->glob_count + 1, 1);

	for (uint32_t i = 0; fits && i < frames->count; i++)
		for (size_t k = 0; k < pattern->glob_count; k++)
			fits[i * pattern->glob_count + k] =
				(uint8_t)lode_frame_matches(frames, i, pattern->globs[k]);
	return fits;
}

int lode_gain_mark_pattern(void *context, size_t i, const struct lode_dictionary *dictionary, uint8_t *marks)
{
	const struct lode_gain_pattern *pattern = context;
	const struct lode_stack_tree *tree = &dictionary->tree;
	uint8_t *fits;
	uint32_t *reached;

	(void)i;
	if (!pattern->globs)
		return mark_patterns(&pattern->file.patterns, &pattern->frames, NULL, pattern->first,
				     pattern->count, dictionary, marks);
	fits = fitting_frames(pattern, &dictionary->frames);
	reached = lode_calloc(tree->count + 1, sizeof(*reached));
	for (size_t node = 1; fits && reached && node < tree->count; node++) {
		uint32_t before = reached[tree->nodes[node].parent], length = (uint32_t)pattern->glob_count;

		reached[node] = before + (before < length && fits[tree->nodes[node].frame * length + before]);
		marks[node] |= reached[node] == length && is_taken(dictionary, node, before, length);
	}
	lode_free(reached);
	lode_free(fits);
	return fits && reached ? 0 : LODE_SYSTEM;
}
