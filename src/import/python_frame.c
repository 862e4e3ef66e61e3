/* Frames of Python profilers: see python_frame.h. */
#include "import/python_frame.h"

#include "base/ends_with.h"

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

/* `function (file.py:12)` */
static int split_by_brackets(const char *text, size_t length, struct piece *function, struct piece *file)
{
	const char *bracket = length && text[length - 1] == ')' ? memrchr(text, '(', length) : NULL;
	size_t before = bracket ? (size_t)(bracket - text) : 0;

	if (before < 2 || text[before - 1] != ' ')
		return 0;
	*function = (struct piece){ text, before - 1 };
	*file = (struct piece){ bracket + 1, before_line(bracket + 1, length - before - 2) };
	return file->length && is_file(*file);
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
	return is_file(*file);
}

uint32_t lode_python_frame(struct lode_frames *frames, const char *text, size_t length, int *is_python)
{
	struct piece function, file;
	const char *slash;
	uint32_t module;

	*is_python = split_by_brackets(text, length, &function, &file) ||
		     split_by_colons(text, length, &function, &file);
	if (!*is_python)
		return LODE_NONE;
	slash = memrchr(file.text, '/', file.length);
	if (slash && slash + 1 < file.text + file.length)
		file = (struct piece){ slash + 1, file.length - (size_t)(slash + 1 - file.text) };
	module = lode_frames_module(frames, file.text, file.length);
	return module == LODE_NONE ? LODE_NONE : lode_frames_add(frames, module, function.text, function.length);
}
