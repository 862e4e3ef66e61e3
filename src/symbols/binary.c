/*
 * The symbols of a binary: which files they come from, and whether the cache is
 * still valid for those files.
 *
 * The cache is checked first. Its entry has the build-id and debug link of the
 * binary; with them the candidates are listed, at the cost of a stat each, and
 * if their identity is the one in the entry, no relevant file was added,
 * removed or changed. So a debug package that is installed later is noticed,
 * and a hit opens no ELF file at all.
 *
 * Otherwise the candidates are opened, best first. A file counts only if it has
 * the right build-id; a debug link without one must have the right checksum.
 */
#include "symbols/debuginfod_library.h"
#include "symbols/symbol_cache.h"
#include "symbols/symbol_files.h"
#include "symbols/elf.h"

#include "base/error.h"
#include "base/starts_with.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* The files that were found. */
struct found {
	struct lode_elf binary;
	struct lode_elf debug;
	int has_binary;
	int has_debug;
	int other_build; /* there was a file at the path, but not this build */
	int debug_guess; /* there is only a debug file */
	uint32_t link_checksum;
};

static int set_text(char **text, const char *value)
{
	lode_free(*text);
	*text = lode_strdup(value);
	return *text ? 0 : LODE_SYSTEM;
}

/* ---- is it the right file? ---- */

static uint32_t file_checksum(const char *path)
{
	struct lode_map map;
	uint32_t checksum;

	if (lode_map_open(&map, path, NULL) < 0)
		return 0;
	checksum = (uint32_t)crc32_z(0, map.bytes, map.size);
	lode_map_close(&map);
	return checksum;
}

static int is_right(const struct lode_elf *elf, const struct lode_candidate *candidate,
		    const struct lode_image *image, const char *build_id, uint32_t link_checksum)
{
	char own[LODE_BUILD_ID_TEXT];

	if (image->options->machine && elf->header.e_machine != image->options->machine)
		return 0;
	lode_elf_build_id(elf, own);
	if (build_id[0] && own[0])
		return strcmp(build_id, own) == 0;
	if (candidate->role == LODE_CANDIDATE_DEBUGLINK)
		return file_checksum(candidate->path) == link_checksum;
	return !build_id[0];
}

static void open_binary(struct found *found, const struct lode_candidates *candidates,
			const struct lode_image *image, struct lode_origin *origin)
{
	for (size_t i = 0; i < candidates->count && !found->has_binary; i++) {
		const struct lode_candidate *candidate = &candidates->items[i];

		if (candidate->role != LODE_CANDIDATE_BINARY || lode_elf_open(&found->binary, candidate->path) < 0)
			continue;
		if (is_right(&found->binary, candidate, image, image->build_id, 0)) {
			found->has_binary = 1;
			set_text(&origin->binary, candidate->path);
		} else {
			found->other_build = 1;
			lode_elf_close(&found->binary);
		}
	}
}

/* For a binary that has symbols itself DWARF is enough. */
static int has_symbols_or_dwarf(const struct lode_elf *elf)
{
	return lode_elf_has_symtab(elf) || lode_elf_has_dwarf(elf);
}

/* The first debug file that is good for something. */
static void open_debug(struct found *found, const struct lode_candidates *candidates,
		       enum lode_candidate_role role, int (*is_good)(const struct lode_elf *elf),
		       const struct lode_image *image, struct lode_origin *origin)
{
	for (size_t i = 0; i < candidates->count && !found->has_debug; i++) {
		const struct lode_candidate *candidate = &candidates->items[i];

		if (candidate->role != role || lode_elf_open(&found->debug, candidate->path) < 0)
			continue;
		if (is_good(&found->debug) &&
		    is_right(&found->debug, candidate, image, origin->build_id, found->link_checksum)) {
			found->has_debug = 1;
			set_text(&origin->debug, candidate->path);
		} else {
			lode_elf_close(&found->debug);
		}
	}
}

/* ---- debuginfod ---- */

static int may_fetch(const struct lode_image *image, const char *build_id)
{
	return image->options->debuginfod && build_id[0] && lode_debuginfod_has_servers();
}

/* Fetches the debug file, or the binary. The library keeps it in its own cache. */
static void fetch(struct found *found, int executable, const char *build_id, struct lode_origin *origin)
{
	struct lode_debuginfod_library library;
	debuginfod_client *client = lode_debuginfod_load(&library, NULL) == 0 ? library.begin() : NULL;
	struct lode_elf *elf = executable ? &found->binary : &found->debug;
	const unsigned char *id = (const unsigned char *)build_id; /* length 0: as text */
	char *path = NULL;
	int fd;

	if (!client)
		return;
	fd = executable ? library.find_executable(client, id, 0, &path)
			: library.find_debuginfo(client, id, 0, &path);
	if (fd >= 0) {
		close(fd);
		if (lode_elf_open(elf, path) == 0) {
			*(executable ? &found->has_binary : &found->has_debug) = 1;
			set_text(executable ? &origin->binary : &origin->debug, path);
		}
	}
	free(path); /* from libdebuginfod */
	library.end(client);
}

static int has_symbols(const struct found *found)
{
	return (found->has_debug && lode_elf_has_symtab(&found->debug)) ||
	       (found->has_binary && lode_elf_has_symtab(&found->binary));
}

static int fetch_missing(struct found *found, const struct lode_image *image, const char *build_id,
			 struct lode_origin *origin)
{
	int had_debug = found->has_debug, had_binary = found->has_binary;
	char *debug, *binary;

	if (!may_fetch(image, build_id) || has_symbols(found))
		return 0;
	if (!found->has_binary)
		fetch(found, 1, build_id, origin);
	if (!found->has_debug && !has_symbols(found))
		fetch(found, 0, build_id, origin);
	if (!origin->binary || !origin->debug)
		return LODE_SYSTEM;
	debug = lode_candidate_identity(found->has_debug && !had_debug ? origin->debug : "");
	binary = lode_candidate_identity(found->has_binary && !had_binary ? origin->binary : "");
	lode_free(origin->fetched);
	origin->fetched = debug && binary ? lode_format("%s%s", debug, binary) : NULL;
	lode_free(debug);
	lode_free(binary);
	return origin->fetched ? 0 : LODE_SYSTEM;
}

/* ---- finding ---- */

static int init_origin(struct lode_origin *origin)
{
	memset(origin, 0, sizeof(*origin));
	if (set_text(&origin->identity, "") < 0 || set_text(&origin->build_id, "") < 0 ||
	    set_text(&origin->binary, "") < 0 || set_text(&origin->debug, "") < 0 ||
	    set_text(&origin->debuglink, "") < 0 || set_text(&origin->fetched, "") < 0)
		return LODE_SYSTEM;
	return 0;
}

/* What the binary says of itself: its build-id when the recording has none, and its debug link. */
static int read_hints(struct found *found, const struct lode_image *image, struct lode_origin *origin)
{
	char own[LODE_BUILD_ID_TEXT] = "";
	const char *link = NULL;
	GElf_Word checksum = 0;

	if (found->has_binary) {
		lode_elf_build_id(&found->binary, own);
		link = dwelf_elf_gnu_debuglink(found->binary.elf, &checksum);
	}
	found->link_checksum = checksum;
	if (set_text(&origin->build_id, image->build_id[0] ? image->build_id : own) < 0)
		return LODE_SYSTEM;
	return set_text(&origin->debuglink, link ? link : "");
}

/* All candidates, now that the build-id and the debug link are known, and their identity. */
static int list_all(struct lode_candidates *candidates, const struct lode_image *image, struct lode_origin *origin)
{
	lode_candidates_release(candidates);
	lode_candidates_find(candidates, image, origin->build_id);
	lode_candidates_find_link(candidates, image, origin->debuglink);
	lode_free(origin->identity);
	origin->identity = lode_candidates_identity(candidates, image->options->machine);
	return candidates->failed || !origin->identity ? LODE_SYSTEM : 0;
}

static int is_enough(const struct found *found)
{
	return found->has_binary && lode_elf_has_symtab(&found->binary) && lode_elf_has_dwarf(&found->binary);
}

static int find_files(struct found *found, const struct lode_image *image, struct lode_origin *origin)
{
	struct lode_candidates candidates = { 0 };
	int code = LODE_SYSTEM;

	lode_candidates_find(&candidates, image, image->build_id);
	if (candidates.failed)
		goto out;
	open_binary(found, &candidates, image, origin);
	if (read_hints(found, image, origin) < 0 || list_all(&candidates, image, origin) < 0)
		goto out;
	if (!is_enough(found)) {
		open_debug(found, &candidates, LODE_CANDIDATE_DEBUG, has_symbols_or_dwarf, image, origin);
		open_debug(found, &candidates, LODE_CANDIDATE_DEBUGLINK, has_symbols_or_dwarf, image, origin);
	}
	code = fetch_missing(found, image, origin->build_id, origin);
	/* What a file exports is better than nothing. */
	if (!found->has_binary)
		open_debug(found, &candidates, LODE_CANDIDATE_DEBUG, lode_elf_has_dynsym, image, origin);
	found->debug_guess = !found->has_binary;
	if (!origin->binary || !origin->debug)
		code = LODE_SYSTEM;
out:
	lode_candidates_release(&candidates);
	return code;
}

static void close_files(struct found *found)
{
	if (found->has_binary)
		lode_elf_close(&found->binary);
	if (found->has_debug)
		lode_elf_close(&found->debug);
}

/* ---- making the table ---- */

/* `debug`: the only file that was found, "" for none. An extract says where code is in the binary (symbol_extract.h). */
static int is_guess(const char *debug)
{
	struct lode_elf elf;
	int guess;

	if (lode_elf_open(&elf, debug) < 0)
		return 1;
	guess = lode_elf_lacks_code(&elf);
	lode_elf_close(&elf);
	return guess;
}

static void note_missing(const struct lode_image *image, const struct found *found, const char *debug)
{
	const char *what = "binaries not found: their functions have no names";

	if (found->other_build)
		what = "binaries that have changed since: their functions have no names";
	if (!found->has_binary && found->has_debug && !is_guess(debug))
		return;
	if (!found->has_binary && found->has_debug)
		what = "binaries not found, only their debug files: file offsets are guessed";
	if (!found->has_binary)
		lode_notes_add(image->options->notes, 1, what,
			       image->kind == LODE_IMAGE_KERNEL ? "vmlinux" : image->paths.items[0]);
}

static int make_table(const struct found *found, struct lode_table *table)
{
	const struct lode_elf *binary = found->has_binary ? &found->binary : NULL;
	const struct lode_elf *debug = found->has_debug ? &found->debug : NULL;
	const struct lode_elf *layout = binary ? binary : debug, *symbols = binary;
	struct lode_table_builder builder = { 0 };

	if (debug && (!binary || lode_elf_has_symtab(debug)))
		symbols = debug;
	if (layout)
		lode_elf_read_frames(layout, &builder);
	if (symbols && lode_elf_read_symbols(symbols, binary, &builder) < 0)
		builder.failed = 1;
	if (layout)
		lode_elf_read_loads(layout, found->debug_guess, &builder);
	return lode_table_finish(&builder, table);
}

/* Whether what debuginfod fetched (debug file, binary, or both) still is what it was. */
static int fetched_is_there(const struct lode_origin *origin)
{
	char *debug = lode_candidate_identity(origin->debug);
	char *binary = lode_candidate_identity(origin->binary);
	const char *left = origin->fetched;
	int good = debug && binary;

	if (good && *debug && lode_starts_with(left, debug))
		left += strlen(debug);
	if (good && *binary && strcmp(left, binary) == 0)
		left += strlen(binary);
	lode_free(debug);
	lode_free(binary);
	return good && !*left;
}

/* Takes the cache's entry if it is still valid. */
static int use_cached(struct lode_image *image, const char *path)
{
	struct lode_candidates candidates = { 0 };
	struct lode_origin now = { 0 };
	struct lode_cached cached;
	int good = 0;

	if (lode_cache_read(path, &cached) < 0)
		return 0;
	if (set_text(&now.build_id, cached.origin.build_id) == 0 &&
	    set_text(&now.debuglink, cached.origin.debuglink) == 0 && list_all(&candidates, image, &now) == 0)
		good = strcmp(now.identity, cached.origin.identity) == 0 &&
		       (!image->build_id[0] || strcmp(image->build_id, cached.origin.build_id) == 0);
	if (good && cached.origin.fetched[0])
		good = fetched_is_there(&cached.origin);
	if (good && !(cached.flags & LODE_CACHE_COMPLETE) && may_fetch(image, cached.origin.build_id))
		good = 0;
	lode_candidates_release(&candidates);
	lode_origin_release(&now);
	if (!good) {
		lode_cached_release(&cached);
		return 0;
	}
	if (!cached.origin.binary[0])
		note_missing(image, &(struct found){ .has_debug = cached.origin.debug[0] != '\0' },
			     cached.origin.debug);
	image->table = cached.table;
	image->origin = cached.origin;
	return 1;
}

/* Named symbols: bounds alone are a negative result, which is not kept. */
static int has_names(const struct lode_table *table)
{
	for (size_t i = table->count; i > 0; i--)
		if (table->records[i - 1].name != LODE_NONE)
			return 1;
	return 0;
}

static void store_cached(const struct lode_image *image, const char *path, int complete)
{
	struct lode_cached cached = {
		.table = image->table,
		.origin = image->origin,
		.flags = complete ? LODE_CACHE_COMPLETE : 0,
	};
	struct lode_error error = { "" };

	if (has_names(&image->table) && lode_cache_write(path, &cached, &error) < 0)
		lode_notes_add(image->options->notes, 1, "symbol tables that could not be cached", error.text);
}

static int load_from_files(struct lode_image *image, const char *path)
{
	struct found found = { 0 };
	int code = init_origin(&image->origin);

	if (code == 0)
		code = find_files(&found, image, &image->origin);
	if (code == 0)
		code = make_table(&found, &image->table);
	if (code == 0) {
		note_missing(image, &found, image->origin.debug);
		if (path)
			store_cached(image, path, has_symbols(&found));
	}
	close_files(&found);
	return code;
}

int lode_image_load_binary(struct lode_image *image)
{
	char *path = NULL;
	int code;

	if (image->cache[0]) {
		path = lode_cache_path(image->cache, image->build_id, image->paths.items[0], "symbols");
		if (!path)
			return LODE_SYSTEM;
	}
	code = path && use_cached(image, path) ? 0 : load_from_files(image, path);
	lode_free(path);
	return code;
}
