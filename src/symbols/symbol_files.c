/*
 * Candidates: see symbol_files.h. The places are those that gdb, perf and the
 * distributions agree on:
 *
 *	debug files  FOLDER/.build-id/xx/yyyy.debug, FOLDER/PATH.debug, FOLDER/PATH,
 *	             FOLDER being each of the user's and /usr/lib/debug;
 *	             KEPT/.build-id/xx/yyyy.debug, KEPT/.build-id/xx/yyyy, KEPT being a corpus's folder of symbols
 *	             ~/.debug/.build-id/xx/yyyy/debug (perf's cache)
 *	debug links  beside the binary, in .debug/ beside it, in FOLDER and FOLDER/PATH
 *	binaries     the path as recorded (under the root that was requested), in
 *	             each of the user's folders by path and by name,
 *	             ~/.debug/.build-id/xx/yyyy/elf (or /vdso), /usr/lib/.build-id/xx/yyyy
 */
#include "symbols/symbol_files.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SYSTEM_DEBUG_FOLDER "/usr/lib/debug"

void lode_candidates_release(struct lode_candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		lode_free(candidates->items[i].path);
	lode_free(candidates->items);
	memset(candidates, 0, sizeof(*candidates));
}

static int describe(struct lode_candidate *candidate, const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	candidate->size = (uint64_t)status.st_size;
	candidate->changed = (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
	return 1;
}

static int is_listed(const struct lode_candidates *candidates, enum lode_candidate_role role, const char *path)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (candidates->items[i].role == role && strcmp(candidates->items[i].path, path) == 0)
			return 1;
	return 0;
}

/* Appends one place if there is a plain file. */
static void add_candidate(struct lode_candidates *candidates, enum lode_candidate_role role, const char *path)
{
	struct lode_candidate candidate = { .role = role };

	if (candidates->failed || !describe(&candidate, path) || is_listed(candidates, role, path))
		return;
	candidate.path = lode_strdup(path);
	if (!candidate.path || LODE_PUSH(candidates, candidate) < 0) {
		lode_free(candidate.path);
		candidates->failed = 1;
	}
}

__attribute__((format(printf, 3, 4))) static void add_format(struct lode_candidates *candidates,
							     enum lode_candidate_role role, const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	if (length > 0 && (size_t)length < sizeof(path))
		add_candidate(candidates, role, path);
}

/* A build-id is part of a path only when it is what it should be: digits, two of them and more. */
static int is_build_id(const char *build_id)
{
	size_t length = strspn(build_id, "0123456789abcdef");

	return length > 4 && !build_id[length];
}

/* `(deleted)` is the kernel's word, not part of the name. */
static size_t path_length(const char *path)
{
	static const char mark[] = " (deleted)";
	size_t length = strlen(path), tail = sizeof(mark) - 1;

	return length > tail && strcmp(path + length - tail, mark) == 0 ? length - tail : length;
}

static void find_debug_in(struct lode_candidates *candidates, const struct lode_image *image, const char *id,
			  const char *folder)
{
	if (is_build_id(id))
		add_format(candidates, LODE_CANDIDATE_DEBUG, "%s/.build-id/%.2s/%s.debug", folder, id, id + 2);
	for (size_t i = 0; i < image->paths.count; i++) {
		const char *path = image->paths.items[i];
		int length = (int)path_length(path);

		if (path[0] != '/')
			continue;
		add_format(candidates, LODE_CANDIDATE_DEBUG, "%s%.*s.debug", folder, length, path);
		add_format(candidates, LODE_CANDIDATE_DEBUG, "%s%.*s", folder, length, path);
	}
}

static void find_kept(struct lode_candidates *candidates, const struct lode_image *image, const char *id)
{
	const char *folder = image->options->kept;

	if (!folder || !is_build_id(id))
		return;
	add_format(candidates, LODE_CANDIDATE_DEBUG, "%s/.build-id/%.2s/%s.debug", folder, id, id + 2);
	add_format(candidates, LODE_CANDIDATE_DEBUG, "%s/.build-id/%.2s/%s", folder, id, id + 2);
}

static void find_in_perf_cache(struct lode_candidates *candidates, const char *id)
{
	const char *home = getenv("HOME");

	if (!home || home[0] != '/' || !is_build_id(id))
		return;
	add_format(candidates, LODE_CANDIDATE_DEBUG, "%s/.debug/.build-id/%.2s/%s/debug", home, id, id + 2);
	add_format(candidates, LODE_CANDIDATE_BINARY, "%s/.debug/.build-id/%.2s/%s/elf", home, id, id + 2);
	add_format(candidates, LODE_CANDIDATE_BINARY, "%s/.debug/.build-id/%.2s/%s/vdso", home, id, id + 2);
}

static void find_binary(struct lode_candidates *candidates, const struct lode_image *image, const char *path)
{
	const char *const *folder = image->options->paths;
	const char *root = image->options->root;
	int length = (int)path_length(path);
	const char *slash = memrchr(path, '/', (size_t)length);
	const char *name = slash ? slash + 1 : path;

	if (root)
		add_format(candidates, LODE_CANDIDATE_BINARY, "%s%s%.*s", root, path[0] == '/' ? "" : "/", length,
			   path);
	/* Without a build-id to compare, a file outside the root could be anything. */
	if (!root || image->build_id[0])
		add_format(candidates, LODE_CANDIDATE_BINARY, "%.*s", length, path);
	for (; folder && *folder; folder++) {
		if (path[0] == '/')
			add_format(candidates, LODE_CANDIDATE_BINARY, "%s%.*s", *folder, length, path);
		add_format(candidates, LODE_CANDIDATE_BINARY, "%s/%.*s", *folder, length - (int)(name - path),
			   name);
	}
}

void lode_candidates_find(struct lode_candidates *candidates, const struct lode_image *image, const char *id)
{
	const char *const *folder = image->options->paths;
	const char *root = image->options->root;

	for (; folder && *folder; folder++)
		find_debug_in(candidates, image, id, *folder);
	find_kept(candidates, image, id);
	if (root) {
		char *inside = lode_format("%s%s", root, SYSTEM_DEBUG_FOLDER);

		if (inside)
			find_debug_in(candidates, image, id, inside);
		else
			candidates->failed = 1;
		lode_free(inside);
	}
	find_debug_in(candidates, image, id, SYSTEM_DEBUG_FOLDER);
	for (size_t i = 0; i < image->paths.count; i++)
		find_binary(candidates, image, image->paths.items[i]);
	find_in_perf_cache(candidates, id);
	if (is_build_id(id))
		add_format(candidates, LODE_CANDIDATE_BINARY, "/usr/lib/.build-id/%.2s/%s", id, id + 2);
}

/* A link is a bare file name; one with a slash in it would lead elsewhere. */
static int is_bare_name(const char *link)
{
	return *link && !strchr(link, '/') && strcmp(link, ".") && strcmp(link, "..");
}

void lode_candidates_find_link(struct lode_candidates *candidates, const struct lode_image *image, const char *link)
{
	const char *root = image->options->root ? image->options->root : "";
	const char *const *folder = image->options->paths;

	if (!is_bare_name(link))
		return;
	for (; folder && *folder; folder++)
		add_format(candidates, LODE_CANDIDATE_DEBUGLINK, "%s/%s", *folder, link);
	for (size_t i = 0; i < image->paths.count; i++) {
		const char *path = image->paths.items[i];
		const char *slash = strrchr(path, '/');
		int length = slash ? (int)(slash - path) : 0;

		if (!slash)
			continue;
		add_format(candidates, LODE_CANDIDATE_DEBUGLINK, "%s%.*s/%s", root, length, path, link);
		add_format(candidates, LODE_CANDIDATE_DEBUGLINK, "%s%.*s/.debug/%s", root, length, path, link);
		add_format(candidates, LODE_CANDIDATE_DEBUGLINK, "%s" SYSTEM_DEBUG_FOLDER "%.*s/%s", root, length,
			   path, link);
	}
}

static void add_identity(struct lode_buffer *buffer, const struct lode_candidate *candidate)
{
	lode_buffer_number(buffer, (uint64_t)candidate->role);
	lode_buffer_byte(buffer, ' ');
	lode_buffer_number(buffer, candidate->size);
	lode_buffer_byte(buffer, ' ');
	lode_buffer_number(buffer, candidate->changed);
	lode_buffer_byte(buffer, ' ');
	lode_buffer_text(buffer, candidate->path);
	lode_buffer_byte(buffer, '\n');
}

static char *as_text(struct lode_buffer *buffer)
{
	lode_buffer_byte(buffer, '\0');
	if (buffer->failed)
		lode_buffer_release(buffer);
	return buffer->bytes;
}

char *lode_candidates_identity(const struct lode_candidates *candidates, uint32_t machine)
{
	struct lode_buffer buffer = { 0 };

	if (machine) {
		lode_buffer_text(&buffer, "machine ");
		lode_buffer_number(&buffer, machine);
		lode_buffer_byte(&buffer, '\n');
	}
	for (size_t i = 0; i < candidates->count; i++)
		add_identity(&buffer, &candidates->items[i]);
	return as_text(&buffer);
}

char *lode_candidate_identity(const char *path)
{
	struct lode_candidate candidate = { .role = LODE_CANDIDATE_DEBUG };
	struct lode_buffer buffer = { 0 };

	if (describe(&candidate, path)) {
		candidate.path = lode_strdup(path);
		if (!candidate.path)
			return NULL;
		add_identity(&buffer, &candidate);
		lode_free(candidate.path);
	}
	return as_text(&buffer);
}
