/*
 * Frames: one function in one module, interned. The text form is
 * `module!function`, or `function` when the module is unknown; a function
 * without a symbol is `0xOFFSET` in its module.
 *
 * Modules are keyed by name (the file's base name; `kernel` for the kernel, a
 * kernel module's own name), because the same function of two builds of a
 * library is the same frame. Module 0 is the unknown module, with an empty name.
 */
#ifndef LODE_TRACE_FRAMES_H
#define LODE_TRACE_FRAMES_H

#include "base/buffer.h"
#include "base/json.h"
#include "base/strings.h"

enum lode_kind {
	LODE_KIND_USER,    /* the program itself, or unknown */
	LODE_KIND_LIBRARY, /* a shared library */
	LODE_KIND_KERNEL,  /* the kernel and its modules */
	LODE_KIND_JIT,     /* code generated at run time */
	LODE_KINDS,
};

/* "user", "library", "kernel", "jit". */
const char *lode_kind_name(enum lode_kind kind);
/* The kind a module's name suggests: `kernel` and `[…]` names, `.so`, `perf-PID.map`. */
enum lode_kind lode_kind_guess(const char *module, size_t length);

struct lode_module {
	uint32_t name;     /* string */
	uint32_t path;     /* string: full path of the file where it is known, else "" */
	uint32_t build_id; /* string: hexadecimal, else "" */
	uint8_t kind;      /* enum lode_kind */
	uint8_t language;  /* enum lode_code_language (script_modules.h) */
	uint8_t unused[2]; /* 0, so that whole structs can be compared */
};

struct lode_frame {
	uint32_t module;
	uint32_t function; /* string */
};

struct lode_frames {
	struct lode_strings strings; /* all text of a dictionary: functions, modules, thread and event names */
	struct lode_module *modules;
	size_t module_count;
	size_t module_capacity;
	struct lode_frame *items;
	size_t count;
	size_t capacity;
	struct lode_index module_index;
	struct lode_index index;
};

/* Returns 0 or LODE_SYSTEM. */
int lode_frames_init(struct lode_frames *frames);
void lode_frames_release(struct lode_frames *frames);

/*
 * The module called `name`, added with the kind and the language its name suggests if it is new. A
 * name that could not be before a `!` (see lode_frames_parse) is made
 * readable: without ` (deleted)`, with braces for brackets and `_` for the rest.
 * LODE_NONE when memory has run out, as in all functions here that return an id. All take LODE_NONE for an id and then
 * fail as well, so that code can make a frame, a stack and an event of it and check once, at the end.
 */
uint32_t lode_frames_module(struct lode_frames *frames, const char *name, size_t length);
/* Sets the language of a module, unless it is only what the name of the module suggests. */
void lode_frames_set_language(struct lode_frames *frames, uint32_t module, uint8_t language);
/* The same of the kernel, or of a part of it. */
uint32_t lode_frames_kernel_module(struct lode_frames *frames, const char *name, size_t length);
/* Sets the build-id of a module that has none; the unknown module stays without one. Returns 0 or LODE_SYSTEM. */
int lode_frames_set_build_id(struct lode_frames *frames, uint32_t module, const char *text, size_t length);
/* The same with the path of its file. */
int lode_frames_set_path(struct lode_frames *frames, uint32_t module, const char *text, size_t length);
/* The frame for a function of a module, added if new. */
uint32_t lode_frames_add(struct lode_frames *frames, uint32_t module, const char *function, size_t length);
/* The same with the function's string id. */
uint32_t lode_frames_pair(struct lode_frames *frames, uint32_t module, uint32_t function);
/*
 * Reads the text form. The first `!` ends the module, unless the text before
 * it cannot be a file's name (it ends in `operator`, or holds `(`, `<`, `::`).
 * A leading `!` says: no module, all the rest is the function.
 */
uint32_t lode_frames_parse(struct lode_frames *frames, const char *text, size_t length);
/* The frame for a function of a module, by their names; LODE_NONE when it was never added. */
uint32_t lode_frames_find(const struct lode_frames *frames, const char *module, const char *function);
/* Appends the text form, which lode_frames_parse reads back as the same frame. */
void lode_frames_text(const struct lode_frames *frames, uint32_t frame, struct lode_buffer *buffer);
/* Writes the text form as a string. */
void lode_frames_json(const struct lode_frames *frames, uint32_t frame, struct lode_json *json);
/* Several as an array. */
void lode_frames_list_json(const struct lode_frames *frames, const uint32_t *list, uint32_t count,
			   struct lode_json *json);

/*
 * Of a function with a line, `parse:123` (lode record --lines), the length of what comes before the line; `line`: 123. Of others all of
 * it, and 0.
 */
size_t lode_function_line(const char *function, uint32_t *line);
#define LODE_PLAIN_FUNCTION 512
/* The function without a line: itself, or a copy in `text`. Longer names are left as they are. */
const char *lode_function_plain(const char *function, char text[LODE_PLAIN_FUNCTION]);

static inline const char *lode_frames_function(const struct lode_frames *frames, uint32_t frame)
{
	return lode_strings_get(&frames->strings, frames->items[frame].function);
}

static inline const char *lode_frames_module_name(const struct lode_frames *frames, uint32_t frame)
{
	return lode_strings_get(&frames->strings, frames->modules[frames->items[frame].module].name);
}

#endif
