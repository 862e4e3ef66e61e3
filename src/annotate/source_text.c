/* Source text: see source_text.h. */
#include "annotate/source_text.h"

#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A larger file is no source that anybody wrote. */
#define MAX_BYTES (16u << 20)

int lode_source_is_named(const char *path)
{
	static const char *const ends[] = { "c",     "h",    "cc",  "hh",    "cpp", "hpp", "cxx", "hxx", "c++",
					    "h++",   "ipp",  "inl", "tcc",   "m",   "mm",  "S",   "s",   "asm",
					    "rs",    "go",   "py",  "pyx",   "js",  "mjs", "cjs", "ts",  "tsx",
					    "jsx",   "java", "kt",  "scala", "php", "rb",  "pl",  "pm",  "lua",
					    "swift", "d",    "zig", "f",     "f90", "cs",  "hs",  "ml",  "vala",
					    "y",     "l",    "cu",  "cuh" };
	const char *slash = strrchr(path, '/'), *end = strrchr(slash ? slash : path, '.');

	for (size_t i = 0; end && i < sizeof(ends) / sizeof(*ends); i++)
		if (!strcmp(end + 1, ends[i]))
			return 1;
	return 0;
}

/* Reads a plain file; returns 1, 0 where it is not there, is too large or binary, or LODE_SYSTEM. */
static int read_file(const char *path, struct lode_buffer *bytes)
{
	struct lode_error ignored;
	int fd = lode_file_open_plain(path, O_RDONLY, &ignored);
	ssize_t got = 1;

	lode_buffer_clear(bytes);
	if (fd < 0)
		return 0;
	while (got > 0 && bytes->size <= MAX_BYTES) {
		char *room = lode_buffer_room(bytes, 64u << 10);

		got = room ? lode_file_read(fd, room, 64u << 10, path, &ignored) : -1;
		bytes->size += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	if (bytes->failed)
		return LODE_SYSTEM;
	return got == 0 && bytes->size && !memchr(bytes->bytes, '\0', bytes->size);
}

static int take(struct lode_source_text *text, char *path)
{
	int code = path ? read_file(path, &text->bytes) : LODE_SYSTEM;

	if (code == 1)
		text->path = path;
	else
		lode_free(path);
	return code;
}

/* In one folder: `a/src/b.c`, then `src/b.c`, then `b.c`. No path leads out of it. */
static int find_in(struct lode_source_text *text, const char *folder, const char *path)
{
	int code = 0;

	for (const char *rest = path + strspn(path, "/"); *rest && !code; rest += strspn(rest, "/")) {
		if (!strstr(rest, ".."))
			code = take(text, lode_format("%s/%s", folder, rest));
		rest += strcspn(rest, "/");
	}
	return code;
}

static int find_itself(struct lode_source_text *text, const char *path)
{
	int code = *path == '/' ? take(text, lode_strdup(path)) : 0;

	if (code != 1 || lode_source_is_named(path) ||
	    (text->bytes.size > 2 && !memcmp(text->bytes.bytes, "#!", 2)))
		return code;
	lode_free(text->path);
	text->path = NULL;
	return 0;
}

static int split(struct lode_source_text *text)
{
	const char *at = text->bytes.bytes, *end = at + text->bytes.size;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((stop ? stop : end) - at);

		if (LODE_PUSH(&text->lines,
			      (struct lode_source_line){ at, length - (length && at[length - 1] == '\r') }) < 0)
			return LODE_SYSTEM;
		at += length + 1;
	}
	return 0;
}

int lode_source_text_find(struct lode_source_text *text, const char *path, const struct lode_source_places *places,
			  struct lode_error *error)
{
	int code = 0;

	memset(text, 0, sizeof(*text));
	for (size_t i = 0; !code && places->folders && places->folders[i]; i++)
		code = find_in(text, places->folders[i], path);
	if (!code && !places->folders_only)
		code = find_itself(text, path);
	if (code == 1)
		code = split(text);
	return code < 0 ? lode_fail_memory(error) : 0;
}

void lode_source_text_release(struct lode_source_text *text)
{
	lode_free(text->path);
	lode_buffer_release(&text->bytes);
	lode_free(text->lines.items);
	memset(text, 0, sizeof(*text));
}
