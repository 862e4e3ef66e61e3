/*
 * Names of JavaScript functions: see v8_names.h.
 *
 * What describes a function (SharedFunctionInfo) has its script and its scope (ScopeInfo). Behind the names of the scope's
 * variables is the function's own name, the name that the parser inferred from what the function is assigned to, and where
 * in the script it begins. The collector may have moved or dropped any of these since the kernel saw the function:
 * the type of each is checked, and the check in the word.
 */
#include "process/languages/v8_names.h"

#include "base/starts_with.h"
#include "process/languages/v8_strings.h"

#include <stdlib.h>
#include <string.h>

/* Reads of memory for a name, and characters of a script for its line, at most. */
#define READINGS         1500
#define PATH_CHARACTERS  1024
#define NAME_CHARACTERS  256
#define LINES_CHARACTERS (1u << 20)
/* Variables of a scope whose names are in it; more have a table of their own. */
#define INLINE_LOCALS 75
#define LOCALS_LIMIT  65536

#define ANONYMOUS "(anonymous)"

/* What a scope says of its function. */
struct scope {
	uint64_t name;     /* a string, or something else: it has none */
	uint64_t inferred; /* the same */
	int64_t position;  /* in the script; -1: not known */
};

static int32_t value(const struct lode_v8_reader *reader, enum lode_v8_value number)
{
	return reader->process->image->values[number];
}

static int is_string(struct lode_v8_reader *reader, uint64_t object)
{
	return lode_v8_is_string(reader, lode_v8_type(reader, object));
}

/* The offset of what is behind the names and the properties of a scope's variables; 0: it is no scope. */
static int32_t behind_locals(struct lode_v8_reader *reader, uint64_t scope)
{
	uint64_t locals = lode_v8_field(reader, scope, 8 * (1 + value(reader, LODE_V8_SCOPE_LOCALS)));
	uint64_t count = locals >> 32;

	if (!lode_v8_is_small(locals) || count > LOCALS_LIMIT)
		return 0;
	return 8 * (int32_t)(1 + (uint64_t)value(reader, LODE_V8_SCOPE_FIRST) + count +
			     (count < INLINE_LOCALS ? count : 1));
}

/*
 * Of a function: its name or 0, a number, the inferred name or undefined, and where it begins and ends. A module has no inferred name,
 * and a script only where it begins and ends.
 */
static void read_scope(struct lode_v8_reader *reader, uint64_t object, struct scope *scope)
{
	int32_t at = behind_locals(reader, object);
	uint64_t words[4];

	if (!at)
		return;
	for (int i = 0; i < 4; i++)
		words[i] = lode_v8_object(reader, object, at + 8 * i);
	if (lode_v8_is_object(words[0]) || lode_v8_is_object(words[2])) {
		scope->name = words[0];
		scope->inferred = words[2];
	}
	if (!lode_v8_is_small(words[1]))
		return;
	if (lode_v8_is_object(words[2]) && lode_v8_is_small(words[3]) &&
	    (is_string(reader, words[2]) || lode_v8_type(reader, words[2]) == value(reader, LODE_V8_ODDBALL_TYPE)))
		scope->position = (int64_t)(words[3] >> 32);
	else if (lode_v8_is_object(words[0]) && lode_v8_is_small(words[2]) && words[2] <= words[3])
		scope->position = (int64_t)(words[2] >> 32);
	else if (lode_v8_is_small(words[0]) && words[0] <= words[1])
		scope->position = (int64_t)(words[0] >> 32);
}

/* Appends a name if there is one that is not empty. */
static int add_name(struct lode_v8_reader *reader, uint64_t name, struct lode_buffer *function)
{
	size_t before = function->size;

	return is_string(reader, name) && lode_v8_add_string(reader, name, NAME_CHARACTERS, function) &&
	       function->size > before;
}

/* The number of the line where the function begins; 0: not known. */
static uint32_t line_of(struct lode_v8_reader *reader, uint64_t script, const struct scope *scope)
{
	int64_t lines;

	if (scope->position < 0 || scope->position > LINES_CHARACTERS)
		return 0;
	lines = lode_v8_count_lines(reader, lode_v8_object(reader, script, value(reader, LODE_V8_SCRIPT_SOURCE)),
				    (size_t)scope->position);
	return lines < 0 ? 0 : (uint32_t)lines + 1;
}

/* A module's URL as a path: `file:///app/server.mjs`. */
static void add_path(struct lode_v8_reader *reader, uint64_t script, struct lode_buffer *path)
{
	static const char scheme[] = "file://";
	struct lode_buffer text = { 0 };

	if (lode_v8_add_string(reader, lode_v8_object(reader, script, value(reader, LODE_V8_SCRIPT_NAME)),
			       PATH_CHARACTERS, &text)) {
		lode_buffer_add(&text, "", 1);
		lode_buffer_text(path, text.failed                            ? ""
				       : lode_starts_with(text.bytes, scheme) ? text.bytes + strlen(scheme)
									      : text.bytes);
	}
	path->failed |= text.failed;
	lode_buffer_release(&text);
}

static void add_function(struct lode_v8_reader *reader, uint64_t object, uint64_t script,
			 struct lode_buffer *function, uint32_t *line)
{
	struct scope scope = { 0, 0, -1 };
	int32_t type = lode_v8_type(reader, object);

	/* Functions without a scope, which are V8's own, have only a name. */
	if (lode_v8_is_string(reader, type))
		scope.name = object;
	else if (type == value(reader, LODE_V8_SCOPE_TYPE))
		read_scope(reader, object, &scope);
	if (add_name(reader, scope.name, function) || add_name(reader, scope.inferred, function))
		return;
	*line = script ? line_of(reader, script, &scope) : 0;
	lode_buffer_text(function, ANONYMOUS);
	if (*line)
		lode_buffer_print(function, ":%u", *line);
}

int lode_v8_name(const struct lode_process_memory *memory, const struct lode_v8_process *process, uint64_t word,
		 struct lode_buffer *path, struct lode_buffer *function, uint32_t *line)
{
	struct lode_v8_reader reader = { memory, process, READINGS };
	const struct lode_v8_layout *layout = &process->image->layout;
	uint64_t shared = (word & LODE_LANGUAGE_ADDRESS) + LODE_V8_TAG;
	uint64_t scope = lode_v8_field(&reader, shared, (int32_t)layout->shared_scope),
		 script = lode_v8_field(&reader, shared, (int32_t)layout->shared_script);

	if (lode_v8_type(&reader, lode_v8_moved(&reader, shared)) != (int32_t)layout->shared_type ||
	    lode_v8_check(scope, script) != lode_language_check_of(word))
		return 0;
	scope = lode_v8_moved(&reader, scope);
	script = lode_v8_moved(&reader, script);
	if (lode_v8_type(&reader, script) != value(&reader, LODE_V8_SCRIPT_TYPE))
		script = 0;
	if (script)
		add_path(&reader, script, path);
	add_function(&reader, scope, script, function, line);
	lode_buffer_add(path, "", 1);
	lode_buffer_add(function, "", 1);
	return !path->failed && !function->failed;
}

uint64_t lode_v8_word(const struct lode_process_memory *memory, const struct lode_v8_process *process,
		      uint64_t function, uint64_t context)
{
	struct lode_v8_reader reader = { memory, process, 8 };
	const struct lode_v8_layout *layout = &process->image->layout;
	uint64_t shared;

	if (!lode_v8_is_object(function) || !lode_v8_is_object(context))
		return 0;
	shared = lode_v8_field(&reader, function, (int32_t)layout->function_shared);
	if (lode_v8_type(&reader, shared) != (int32_t)layout->shared_type)
		return 0;
	return lode_language_word(LODE_LANGUAGE_JAVASCRIPT,
				  lode_v8_check(lode_v8_field(&reader, shared, (int32_t)layout->shared_scope),
						lode_v8_field(&reader, shared, (int32_t)layout->shared_script)),
				  shared - LODE_V8_TAG);
}
