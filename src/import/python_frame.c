/* Frames of Python profilers: see python_frame.h. */
#include "import/python_frame.h"

#include "base/ends_with.h"
#include "base/starts_with.h"
#include "trace/script_modules.h"
#include "trace/stream.h"

#include <ctype.h>
#include <string.h>

struct piece {
	const char *text;
	size_t length;
};

/* Length of the text without the `:12` at its end; 0: there is none. */
static size_t before_line(const char *text, size_t length)
{
	size_t end = length;

	while (end && isdigit((unsigned char)text[end - 1]))
		end--;
	return end < length && end > 1 && text[end - 1] == ':' ? end - 1 : 0;
}

/* A file of Python, or what stands for one: <string>, <frozen importlib._bootstrap>. */
static int is_file(struct piece file)
{
	return lode_bytes_end_with(file.text, file.length, ".py") ||
	       (file.length > 2 && file.text[0] == '<' && file.text[file.length - 1] == '>');
}

/* What stands behind the last slash. */
static struct piece base_name(struct piece file)
{
	const char *slash = memrchr(file.text, '/', file.length);

	if (!slash || slash + 1 == file.text + file.length)
		return file;
	return (struct piece){ slash + 1, file.length - (size_t)(slash + 1 - file.text) };
}

/* A script without an end, as programs are called: gunicorn. */
static int is_plain_name(struct piece file)
{
	struct piece name = base_name(file);

	for (size_t i = 0; i < name.length; i++)
		if (!isalnum((unsigned char)name.text[i]) && !strchr("_-", name.text[i]))
			return 0;
	return name.length && !isdigit((unsigned char)name.text[0]);
}

static int is_library(struct piece file)
{
	return lode_bytes_end_with(file.text, file.length, ".so") || memmem(file.text, file.length, ".so.", 4) ||
	       (lode_bytes_start_with(file.text, file.length, "python3") && !memchr(file.text, ' ', file.length));
}

/* `function (file.py:12)` */
static int split_by_brackets(const char *text, size_t length, struct piece *function, struct piece *file)
{
	const char *bracket = length && text[length - 1] == ')' ? memrchr(text, '(', length) : NULL;
	size_t before = bracket ? (size_t)(bracket - text) : 0;
	struct piece whole;

	if (before < 2 || text[before - 1] != ' ' || before + 2 >= length)
		return 0;
	whole = (struct piece){ bracket + 1, length - before - 2 };
	*function = (struct piece){ text, before - 1 };
	*file = (struct piece){ whole.text, before_line(whole.text, whole.length) };
	if (file->length)
		return is_file(*file) || is_plain_name(*file);
	*file = whole;
	return is_file(whole) || is_library(whole);
}

/* `file.py:function:12` */
static int split_by_colons(const char *text, size_t length, struct piece *function, struct piece *file)
{
	size_t end = before_line(text, length);
	const char *colon = end ? memrchr(text, ':', end) : NULL;

	if (!colon || colon == text || colon + 1 == text + end)
		return 0;
	*file = (struct piece){ text, (size_t)(colon - text) };
	*function = (struct piece){ colon + 1, end - file->length - 1 };
	return is_file(*file) || (*text == '/' && is_plain_name(*file));
}

/* The module of a file, with its path where that is whole. */
static uint32_t module_of(struct lode_frames *frames, struct piece file)
{
	struct piece name = base_name(file);
	size_t known = frames->module_count;
	uint32_t module = lode_frames_module(frames, name.text, name.length);

	if (module == LODE_NONE)
		return LODE_NONE;
	if (!is_library(file))
		lode_frames_set_language(frames, module, LODE_CODE_PYTHON);
	if (frames->module_count == known || *file.text != '/')
		return module;
	frames->modules[module].path = lode_strings_add(&frames->strings, file.text, file.length);
	return frames->modules[module].path == LODE_NONE ? LODE_NONE : module;
}

uint32_t lode_python_frame(struct lode_frames *frames, const char *text, size_t length, int *is_python)
{
	struct piece function, file;
	uint32_t module;

	*is_python = split_by_brackets(text, length, &function, &file) ||
		     split_by_colons(text, length, &function, &file);
	if (!*is_python)
		return LODE_NONE;
	module = module_of(frames, file);
	return lode_frames_add(frames, module, function.text, function.length);
}

/* ---- threads ---- */

/* What is left of a line. */
struct rest {
	const char *at;
	const char *end;
};

static int skip_text(struct rest *rest, const char *text)
{
	size_t length = strlen(text);

	if (!lode_bytes_start_with(rest->at, (size_t)(rest->end - rest->at), text))
		return 0;
	rest->at += length;
	return 1;
}

/* A number, of which 32 bits are kept; hexadecimal behind 0x. */
static int read_number(struct rest *rest, uint32_t *number)
{
	unsigned base = skip_text(rest, "0x") ? 16 : 10;
	const char *start = rest->at;

	*number = 0;
	for (; rest->at < rest->end && isxdigit((unsigned char)*rest->at); rest->at++) {
		unsigned char digit = (unsigned char)*rest->at;

		if (base == 10 && !isdigit(digit))
			break;
		*number = *number * base + (uint32_t)(isdigit(digit) ? digit - '0' : tolower(digit) - 'a' + 10);
	}
	return rest->at > start;
}

/* `P12;T13;` */
static int read_austin(struct rest *rest, struct lode_profiled_thread *thread)
{
	if (!skip_text(rest, "P") || !read_number(rest, &thread->pid) || !skip_text(rest, ";T") ||
	    !read_number(rest, &thread->tid))
		return 0;
	if (skip_text(rest, ":") && !read_number(rest, &thread->tid))
		return 0;
	return skip_text(rest, ";");
}

/* `process 12:"command";`, once for each process that the others are children of. */
static int read_processes(struct rest *rest, struct lode_profiled_thread *thread)
{
	int found = 0;

	while (skip_text(rest, "process ")) {
		const char *end;

		if (!read_number(rest, &thread->pid) || !skip_text(rest, ":\""))
			return 0;
		end = memmem(rest->at, (size_t)(rest->end - rest->at), "\";", 2);
		if (!end)
			return 0;
		rest->at = end + 2;
		thread->tid = thread->pid;
		found = 1;
	}
	return found;
}

/* `thread (13): name;` */
static int read_thread(struct rest *rest, struct lode_profiled_thread *thread)
{
	const char *end;

	if (!skip_text(rest, "thread (") || !read_number(rest, &thread->tid) || !skip_text(rest, ")"))
		return 0;
	if (skip_text(rest, ": ")) {
		end = memchr(rest->at, ';', (size_t)(rest->end - rest->at));
		thread->name = rest->at;
		thread->name_length = end ? (size_t)(end - rest->at) : 0;
		rest->at = end ? end : rest->at;
	}
	return skip_text(rest, ";");
}

size_t lode_profiled_thread(const char *text, size_t length, struct lode_profiled_thread *thread)
{
	struct rest rest = { text, text + length }, next;

	*thread = (struct lode_profiled_thread){ .pid = LODE_NO_PID };
	if (!length || !strchr("Ppt", *text))
		return 0;
	if (read_austin(&rest, thread))
		return (size_t)(rest.at - text);
	*thread = (struct lode_profiled_thread){ .pid = LODE_NO_PID };
	rest.at = text;
	if (!read_processes(&rest, thread))
		rest.at = text;
	next = rest;
	if (read_thread(&next, thread))
		rest = next;
	return (size_t)(rest.at - text);
}
