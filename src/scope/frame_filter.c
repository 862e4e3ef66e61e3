/*
 * Frame filter: see frame_filter.h.
 *
 * Matching a glob goes along pattern and text side by side. At a `*` it
 * remembers both positions; if the rest does not match, that star takes one
 * more character. Only the last star can ever need that: the text before it is
 * already matched as early as possible, which is never worse. So the time is at
 * most the product of the lengths.
 */
#include "scope/frame_filter.h"

#include "base/error.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* `module!function`, or `function` alone, without being put together. */
struct text {
	const char *module; /* NULL: the function alone */
	const char *function;
	size_t module_length;
	size_t length;
};

static struct text text_of(const char *module, const char *function)
{
	struct text text = { .module = module, .function = function };

	text.module_length = module ? strlen(module) : 0;
	text.length = text.module_length + (module ? 1 : 0) + strlen(function);
	return text;
}

static char character(const struct text *text, size_t i)
{
	if (!text->module)
		return text->function[i];
	if (i < text->module_length)
		return text->module[i];
	return i == text->module_length ? '!' : text->function[i - text->module_length - 1];
}

/* The place behind the character at `i`: one in UTF-8 may have several bytes. */
static size_t behind(const struct text *text, size_t i)
{
	do
		i++;
	while (i < text->length && ((unsigned char)character(text, i) & 0xc0) == 0x80);
	return i;
}

static int fits(const char *glob, const struct text *text)
{
	const char *star = NULL; /* behind the last one */
	size_t star_at = 0, i = 0;

	while (i < text->length) {
		if (*glob == '*') {
			star = ++glob;
			star_at = i;
		} else if (*glob == '?') {
			glob++;
			i = behind(text, i);
		} else if (*glob && *glob == character(text, i)) {
			glob++;
			i++;
		} else if (star) {
			glob = star;
			i = star_at = behind(text, star_at);
		} else {
			return 0;
		}
	}
	return glob[strspn(glob, "*")] == '\0';
}

static int is_inside_character(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* The next place, from `text` on, where what follows a `*` may begin. NULL: none. */
static const char *next_start(const char *glob, const char *text)
{
	if (!*glob || strchr("*?", *glob) || is_inside_character(*glob))
		return text;
	return strchr(text, *glob);
}

static const char *next_character(const char *text)
{
	do
		text++;
	while (is_inside_character(*text));
	return text;
}

/* As fits(), of a text in one piece. */
int lode_glob_match(const char *glob, const char *text)
{
	const char *star = NULL, *star_at = NULL;

	while (*text) {
		if (*glob == '*') {
			star = ++glob;
			star_at = text;
		} else if (*glob == '?') {
			glob++;
			text = next_character(text);
			continue;
		} else if (*glob && *glob == *text) {
			glob++;
			text++;
			continue;
		} else if (star) {
			glob = star;
			star_at = next_character(star_at);
		} else {
			return 0;
		}
		star_at = next_start(star, star_at);
		if (!star_at)
			return 0;
		text = star_at;
	}
	return glob[strspn(glob, "*")] == '\0';
}

static int matches(const char *glob, const char *module, const char *function)
{
	struct text text = text_of(module, function);

	if (!strchr(glob, '!'))
		return lode_glob_match(glob, function);
	/* A function's name may hold a `!` itself: `operator!=`. */
	return fits(glob, &text) || (strchr(function, '!') && lode_glob_match(glob, function));
}

/* Who asks for a function means all of its lines. */
int lode_frame_matches(const struct lode_frames *frames, uint32_t frame, const char *glob)
{
	const char *function = lode_frames_function(frames, frame),
		   *module = lode_frames_module_name(frames, frame);
	char text[LODE_PLAIN_FUNCTION];
	const char *plain;

	if (matches(glob, module, function))
		return 1;
	plain = lode_function_plain(function, text);
	return plain != function && matches(glob, module, plain);
}

/* Whether a word ends and another begins between text[i - 1] and text[i]. */
static int is_border(const char *text, size_t i)
{
	unsigned char before = i ? (unsigned char)text[i - 1] : 0, after = (unsigned char)text[i];

	if (!isalpha(before) || !isalpha(after))
		return isdigit(before) == 0 || isdigit(after) == 0;
	/* fileLock; HTTPLock. */
	return isupper(after) && (!isupper(before) || islower((unsigned char)text[i + 1]));
}

int lode_words_match(const char *name, const char *function)
{
	size_t length = strlen(name), size = strlen(function);

	for (size_t i = 0; length && i + length <= size; i++)
		if (is_border(function, i) && is_border(function, i + length) &&
		    !strncasecmp(function + i, name, length))
			return 1;
	return 0;
}

uint8_t *lode_frames_named(const struct lode_frames *frames, const char *name)
{
	const char *const globs[] = { name, NULL };
	uint8_t *fit;

	if (strpbrk(name, "*?!"))
		return lode_frame_filter(frames, globs);
	fit = lode_calloc(frames->count + 1, 1);
	for (uint32_t i = 0; fit && i < frames->count; i++)
		fit[i] = lode_words_match(name, lode_frames_function(frames, i)) != 0;
	return fit;
}

uint8_t *lode_frame_filter(const struct lode_frames *frames, const char *const *globs)
{
	uint8_t *fit = lode_calloc(frames->count + 1, sizeof(*fit));

	if (!fit)
		return NULL;
	for (size_t i = 0; i < frames->count; i++)
		for (size_t glob = 0; globs[glob] && !fit[i]; glob++)
			fit[i] = (uint8_t)lode_frame_matches(frames, (uint32_t)i, globs[glob]);
	return fit;
}

uint8_t *lode_stack_filter(const struct lode_stack_tree *tree, const uint8_t *frames_fit)
{
	uint8_t *fit = lode_calloc(tree->count + 1, sizeof(*fit));

	if (!fit)
		return NULL;
	/* A parent comes before its children; node 0 has no frame. */
	for (size_t i = 1; i < tree->count; i++)
		fit[i] = fit[tree->nodes[i].parent] | frames_fit[tree->nodes[i].frame];
	return fit;
}

int lode_stacks_match(const struct lode_dictionary *dictionary, const char *const *globs, uint8_t **fits)
{
	uint8_t *frames;

	*fits = NULL;
	if (!globs || !*globs)
		return 0;
	frames = lode_frame_filter(&dictionary->frames, globs);
	*fits = frames ? lode_stack_filter(&dictionary->tree, frames) : NULL;
	lode_free(frames);
	return *fits ? 0 : LODE_SYSTEM;
}
