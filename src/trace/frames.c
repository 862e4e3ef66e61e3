/*
 * Frames: see frames.h.
 *
 * Frame ids are given in order of first appearance. Two indexes find a module by
 * its name's string id and a frame by its (module, function) pair.
 */
#include "trace/frames.h"

#include "base/ends_with.h"
#include "base/error.h"
#include "base/starts_with.h"
#include "trace/script_modules.h"

#include <stdlib.h>
#include <string.h>

const char *lode_kind_name(enum lode_kind kind)
{
	static const char *const names[LODE_KINDS] = { "user", "library", "kernel", "jit" };

	return names[kind];
}

enum lode_kind lode_kind_guess(const char *module, size_t length)
{
	if ((length == 6 && memcmp(module, "kernel", 6) == 0) || lode_bytes_start_with(module, length, "[kernel") ||
	    lode_bytes_start_with(module, length, "[guest.kernel") || lode_bytes_end_with(module, length, ".ko"))
		return LODE_KIND_KERNEL;
	if ((lode_bytes_start_with(module, length, "perf-") && lode_bytes_end_with(module, length, ".map")) ||
	    (length == 5 && memcmp(module, "[jit]", 5) == 0))
		return LODE_KIND_JIT;
	if (lode_bytes_end_with(module, length, ".so") || memmem(module, length, ".so.", 4) ||
	    (length == 6 && memcmp(module, "[vdso]", 6) == 0))
		return LODE_KIND_LIBRARY;
	return LODE_KIND_USER;
}

int lode_frames_init(struct lode_frames *frames)
{
	memset(frames, 0, sizeof(*frames));
	if (lode_strings_init(&frames->strings) < 0 || lode_frames_module(frames, "", 0) == LODE_NONE) {
		lode_frames_release(frames);
		return LODE_SYSTEM;
	}
	return 0;
}

void lode_frames_release(struct lode_frames *frames)
{
	lode_strings_release(&frames->strings);
	lode_index_release(&frames->module_index);
	lode_index_release(&frames->index);
	lode_free(frames->modules);
	lode_free(frames->items);
	memset(frames, 0, sizeof(*frames));
}

/* Whether a text can be a module's name, before the `!`. */
static int fits_as_module(const char *text, size_t length)
{
	return length && !memchr(text, '!', length) && !memchr(text, '(', length) && !memchr(text, '<', length) &&
	       !memmem(text, length, "::", 2) && !lode_bytes_end_with(text, length, "operator");
}

/* Length of the module in front of the first `!`; SIZE_MAX when the text has no module. */
static size_t module_length(const char *text, size_t length)
{
	const char *mark = memchr(text, '!', length);
	size_t before = mark ? (size_t)(mark - text) : 0;

	return mark && fits_as_module(text, before) ? before : SIZE_MAX;
}

static uint32_t find_module(const struct lode_frames *frames, uint32_t string)
{
	uint64_t hash = lode_hash_pair(string, 0);

	return LODE_INDEX_FIND(i, &frames->module_index, hash, frames->modules[i].name == string);
}

/*
 * A name that could not be read back in front of a `!` (the kernel says `x (deleted)`)
 * gets one that can. Returns fresh memory, or NULL.
 */
static char *readable_module(const char *name, size_t length)
{
	static const char gone[] = " (deleted)";
	char *copy;

	if (lode_bytes_end_with(name, length, gone))
		length -= sizeof(gone) - 1;
	copy = lode_strndup(name, length);
	for (char *at = copy; at && *at; at++) {
		if (*at == '(' || *at == '<')
			*at = '{';
		else if (*at == ')' || *at == '>')
			*at = '}';
		else if (*at == '!' || (at[0] == ':' && at[1] == ':'))
			*at = '_';
	}
	if (copy && lode_ends_with(copy, "operator"))
		copy[strlen(copy) - 1] = '_';
	return copy;
}

static uint32_t module_string(struct lode_frames *frames, const char *name, size_t length)
{
	uint32_t string;
	char *copy;

	if (!length || fits_as_module(name, length))
		return lode_strings_add(&frames->strings, name, length);
	copy = readable_module(name, length);
	string = copy ? lode_strings_add(&frames->strings, copy, strlen(copy)) : LODE_NONE;
	lode_free(copy);
	return string;
}

uint32_t lode_frames_module(struct lode_frames *frames, const char *name, size_t length)
{
	uint32_t string = module_string(frames, name, length);
	uint64_t hash = lode_hash_pair(string, 0);
	const struct lode_string *text;
	struct lode_module module;
	uint32_t id;

	if (string == LODE_NONE)
		return LODE_NONE;
	id = find_module(frames, string);
	if (id != LODE_NONE)
		return id;
	text = &frames->strings.items[string];
	module = (struct lode_module){ .name = string,
				       .kind = (uint8_t)lode_kind_guess(name, length),
				       .language = (uint8_t)lode_code_language_guess(text->text, text->length) };
	if (LODE_INDEX_APPEND(&frames->module_index, hash, frames->modules, frames->module_count,
			      frames->module_capacity, module) < 0)
		return LODE_NONE;
	return (uint32_t)frames->module_count - 1;
}

void lode_frames_set_language(struct lode_frames *frames, uint32_t module, uint8_t language)
{
	const struct lode_string *name;

	if (module == LODE_NONE)
		return;
	name = &frames->strings.items[frames->modules[module].name];
	if (language != lode_code_language_guess(name->text, name->length))
		frames->modules[module].language = language;
}

uint32_t lode_frames_kernel_module(struct lode_frames *frames, const char *name, size_t length)
{
	uint32_t module = lode_frames_module(frames, name, length);

	if (module != LODE_NONE)
		frames->modules[module].kind = LODE_KIND_KERNEL;
	return module;
}

/* Sets a string of a module, at `*place`, if that has none. */
static int set_string(struct lode_frames *frames, uint32_t *place, const char *text, size_t length)
{
	uint32_t string = *place ? *place : lode_strings_add(&frames->strings, text, length);

	if (string == LODE_NONE)
		return LODE_SYSTEM;
	*place = string;
	return 0;
}

int lode_frames_set_build_id(struct lode_frames *frames, uint32_t module, const char *text, size_t length)
{
	if (!module || module == LODE_NONE)
		return module ? LODE_SYSTEM : 0;
	return set_string(frames, &frames->modules[module].build_id, text, length);
}

int lode_frames_set_path(struct lode_frames *frames, uint32_t module, const char *text, size_t length)
{
	if (!module || module == LODE_NONE)
		return module ? LODE_SYSTEM : 0;
	return set_string(frames, &frames->modules[module].path, text, length);
}

static uint32_t find_pair(const struct lode_frames *frames, uint32_t module, uint32_t function)
{
	uint64_t hash = lode_hash_pair(module, function);

	return LODE_INDEX_FIND(i, &frames->index, hash,
			       frames->items[i].module == module && frames->items[i].function == function);
}

uint32_t lode_frames_find(const struct lode_frames *frames, const char *module, const char *function)
{
	uint32_t module_name = lode_strings_find(&frames->strings, module, strlen(module));
	uint32_t function_string = lode_strings_find(&frames->strings, function, strlen(function));
	uint32_t id = module_name == LODE_NONE ? LODE_NONE : find_module(frames, module_name);

	return id == LODE_NONE || function_string == LODE_NONE ? LODE_NONE : find_pair(frames, id, function_string);
}

uint32_t lode_frames_pair(struct lode_frames *frames, uint32_t module, uint32_t function)
{
	uint64_t hash = lode_hash_pair(module, function);
	uint32_t id;

	if (module == LODE_NONE || function == LODE_NONE)
		return LODE_NONE;
	id = find_pair(frames, module, function);
	if (id != LODE_NONE)
		return id;
	if (LODE_INDEX_APPEND(&frames->index, hash, frames->items, frames->count, frames->capacity,
			      (struct lode_frame){ module, function }) < 0)
		return LODE_NONE;
	return (uint32_t)frames->count - 1;
}

uint32_t lode_frames_add(struct lode_frames *frames, uint32_t module, const char *function, size_t length)
{
	return lode_frames_pair(frames, module, lode_strings_add(&frames->strings, function, length));
}

uint32_t lode_frames_parse(struct lode_frames *frames, const char *text, size_t length)
{
	size_t before = module_length(text, length);

	if (length && text[0] == '!')
		return lode_frames_add(frames, 0, text + 1, length - 1);
	if (before == SIZE_MAX)
		return lode_frames_add(frames, 0, text, length);
	return lode_frames_add(frames, lode_frames_module(frames, text, before), text + before + 1,
			       length - before - 1);
}

void lode_frames_text(const struct lode_frames *frames, uint32_t frame, struct lode_buffer *buffer)
{
	const struct lode_frame *item = &frames->items[frame];
	const struct lode_string *function = &frames->strings.items[item->function];
	const struct lode_string *module = &frames->strings.items[frames->modules[item->module].name];

	lode_buffer_add(buffer, module->text, module->length);
	if (module->length || function->text[0] == '!' ||
	    module_length(function->text, function->length) != SIZE_MAX)
		lode_buffer_byte(buffer, '!');
	lode_buffer_add(buffer, function->text, function->length);
}

void lode_frames_json(const struct lode_frames *frames, uint32_t frame, struct lode_json *json)
{
	struct lode_buffer text = { 0 };

	lode_frames_text(frames, frame, &text);
	lode_json_take(json, &text);
	lode_buffer_release(&text);
}

void lode_frames_list_json(const struct lode_frames *frames, const uint32_t *list, uint32_t count,
			   struct lode_json *json)
{
	lode_json_array(json);
	for (uint32_t i = 0; i < count; i++)
		lode_frames_json(frames, list[i], json);
	lode_json_array_end(json);
}

/* ---- lines ---- */

size_t lode_function_line(const char *function, uint32_t *line)
{
	size_t length = strlen(function), end = length;

	*line = 0;
	while (end && function[end - 1] >= '0' && function[end - 1] <= '9')
		end--;
	/* `(anonymous):12` of JavaScript has no other name, and `a::1` is none of a function. */
	if (end < 2 || end == length || length - end > 9 || function[end - 1] != ':' || function[end - 2] == ':' ||
	    function[0] == '(')
		return length;
	*line = (uint32_t)strtoul(function + end, NULL, 10);
	return end - 1;
}

const char *lode_function_plain(const char *function, char text[LODE_PLAIN_FUNCTION])
{
	uint32_t line;
	size_t length = lode_function_line(function, &line);

	if (!line || length >= LODE_PLAIN_FUNCTION)
		return function;
	memcpy(text, function, length);
	text[length] = '\0';
	return text;
}
