/*
 * Tables on disk: see symbol_cache.h. A file is what a table is in memory, so that it
 * is mapped and used as it is.
 *
 *	offset  size  what
 *	0       8     "LODESYMS", read as a number: another byte order is another magic
 *	8       4     version
 *	12      4     0
 *	16      8     checksum: XXH3 of all bytes from 24 on
 *	24      8     size of the file
 *	32      8     number of segments   S
 *	40      8     number of records    R
 *	48      8     number of loads      L
 *	56      8     bytes of strings     T
 *	64      8     bytes of the origin  O
 *	72      8     flags (enum lode_cache_flag)
 *	80      16    two addresses (kernel: _text, _stext)
 *	96      8*S   starts of segments
 *	        24*R  records: start, end, name, link
 *	        32*L  loads: offset, size, address, executable
 *	        4*S   owners of segments
 *	        T     strings, the last byte 0
 *	        O     origin: six texts, each with a NUL: identity, build-id, binary, debug,
 *	              debuglink, fetched
 *
 * The checksum finds damage; a hostile file can have a correct one, so the sizes must add
 * up exactly and every number in the arrays is checked where it is used (symbol_table.c,
 * image.c, inlines.c). Files are written under a temporary name and renamed, so readers see
 * a complete file or none.
 *
 * The names and rules in such a file cannot be checked, so root uses only folders that nobody but root and the user who
 * called sudo can write to, and only their files. The owner of a file counts more than that of the folder, which can be
 * exchanged at any moment.
 */
#include "symbols/symbol_cache.h"

#include "base/cursor.h"
#include "base/error.h"
#include "base/file_owner.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_VERSION 1u
#define CACHE_MAGIC   0x534d595345444f4cull /* "LODESYMS" where the low byte comes first */

struct header {
	uint64_t magic;
	uint32_t version;
	uint32_t zero;
	uint64_t checksum;
	uint64_t size;
	uint64_t segments;
	uint64_t records;
	uint64_t loads;
	uint64_t string_size;
	uint64_t origin_size;
	uint64_t flags;
	uint64_t extra[2];
};

#define CHECKED_FROM 24

_Static_assert(sizeof(struct header) == 96, "the header has no holes");
_Static_assert(sizeof(struct lode_table_record) == 24, "a record has no holes");
_Static_assert(sizeof(struct lode_load) == 32, "a load has no holes");

static char *choose_folder(const char *wanted)
{
	const char *base = getenv("XDG_CACHE_HOME");

	if (wanted)
		return lode_strdup(wanted);
	if (base && base[0] == '/')
		return lode_format("%s/lode/symbols", base);
	base = getenv("HOME");
	if (base && base[0] == '/')
		return lode_format("%s/.cache/lode/symbols", base);
	return lode_strdup("");
}

/* Whether root may use it. One that is not there yet will be root's. */
static int is_trusted(const char *folder, struct lode_error *why)
{
	struct stat status;

	if (geteuid() != 0 || !*folder || stat(folder, &status) < 0)
		return 1;
	if (!lode_owner_is_trusted(status.st_uid))
		return lode_fail(why, 0,
				 "%s: belongs to user %ld, so root does not use it; name another folder with "
				 "'--symbol-cache'",
				 folder, (long)status.st_uid);
	if (lode_writable_by_others(&status))
		return lode_fail(why, 0,
				 "%s: can be written by other users, so root does not use it; change its "
				 "permissions, or name another folder with '--symbol-cache'",
				 folder);
	return 1;
}

char *lode_cache_folder(const char *wanted, struct lode_error *why)
{
	char *folder = choose_folder(wanted);

	if (folder && !is_trusted(folder, why))
		*folder = '\0';
	return folder;
}

/* A build-id comes from a recording: only hexadecimal digits may get into a file's name. */
static size_t plain_length(const char *build_id)
{
	size_t length = strspn(build_id, "0123456789abcdef");

	return length < 64 ? length : 64;
}

char *lode_cache_path(const char *folder, const char *build_id, const char *path, const char *kind)
{
	uint64_t hash = lode_digest_bytes(path, strlen(path)) ^ lode_digest_bytes(build_id, strlen(build_id));
	size_t length = plain_length(build_id);

	return lode_format("%s/%.*s-%016llx.%s", folder, length ? (int)length : 4, length ? build_id : "path",
			   (unsigned long long)hash, kind);
}

void lode_cached_release(struct lode_cached *cached)
{
	lode_table_release(&cached->table);
	lode_origin_release(&cached->origin);
	memset(cached, 0, sizeof(*cached));
}

/* ---- reading ---- */

/* `count` things of `size` bytes, in place. */
static const void *take(struct lode_cursor *cursor, uint64_t count, uint64_t size)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		cursor->failed = 1;
		return NULL;
	}
	return lode_cursor_bytes(cursor, bytes);
}

static char *decode_text(struct lode_cursor *cursor)
{
	const char *text = (const char *)cursor->next;
	size_t length = strnlen(text, lode_cursor_left(cursor));

	if (!lode_cursor_bytes(cursor, (uint64_t)length + 1))
		return NULL;
	return lode_strndup(text, length);
}

static int decode_origin(struct lode_cursor *cursor, struct lode_origin *origin)
{
	origin->identity = decode_text(cursor);
	origin->build_id = decode_text(cursor);
	origin->binary = decode_text(cursor);
	origin->debug = decode_text(cursor);
	origin->debuglink = decode_text(cursor);
	origin->fetched = decode_text(cursor);
	if (cursor->failed || lode_cursor_left(cursor))
		return LODE_BAD_INPUT;
	if (!origin->identity || !origin->build_id || !origin->binary || !origin->debug || !origin->debuglink ||
	    !origin->fetched)
		return LODE_SYSTEM;
	return 0;
}

static int header_is_good(const struct header *header, const void *bytes, size_t size)
{
	return header->magic == CACHE_MAGIC && header->version == CACHE_VERSION && !header->zero &&
	       header->size == size && header->segments < LODE_NONE && header->records <= LODE_TABLE_LIMIT &&
	       header->string_size && header->string_size <= LODE_TABLE_STRING_LIMIT + 1ull &&
	       header->checksum == lode_digest_bytes((const char *)bytes + CHECKED_FROM, size - CHECKED_FROM);
}

int lode_cache_parse(const void *bytes, size_t size, struct lode_cached *cached)
{
	struct lode_cursor cursor = lode_cursor(bytes, size);
	const struct header *header = lode_cursor_bytes(&cursor, sizeof(*header));
	struct lode_table *table = &cached->table;
	int code = LODE_BAD_INPUT;

	memset(cached, 0, sizeof(*cached));
	if (!header || !header_is_good(header, bytes, size))
		return LODE_BAD_INPUT;
	table->segments = header->segments;
	table->count = header->records;
	table->load_count = header->loads;
	table->string_size = header->string_size;
	table->starts = take(&cursor, header->segments, sizeof(*table->starts));
	table->records = take(&cursor, header->records, sizeof(*table->records));
	table->loads = take(&cursor, header->loads, sizeof(*table->loads));
	table->owners = take(&cursor, header->segments, sizeof(*table->owners));
	table->strings = take(&cursor, header->string_size, 1);
	cached->flags = (uint32_t)header->flags;
	memcpy(cached->extra, header->extra, sizeof(cached->extra));
	if (!cursor.failed && lode_cursor_left(&cursor) == header->origin_size &&
	    !table->strings[table->string_size - 1])
		code = decode_origin(&cursor, &cached->origin);
	if (code < 0)
		lode_cached_release(cached);
	return code;
}

int lode_cache_map(const char *path, struct lode_map *map)
{
	int fd = lode_file_open_plain(path, O_RDONLY | O_NOFOLLOW, NULL), code = LODE_BAD_INPUT;
	struct stat status;

	memset(map, 0, sizeof(*map));
	if (fd < 0)
		return fd;
	if (fstat(fd, &status) == 0 && lode_owner_is_trusted(status.st_uid))
		code = lode_map_descriptor(map, fd, path, NULL);
	close(fd);
	return code;
}

int lode_cache_read(const char *path, struct lode_cached *cached)
{
	struct lode_map map;
	int code;

	memset(cached, 0, sizeof(*cached));
	code = lode_cache_map(path, &map);
	if (code < 0)
		return code;
	code = lode_cache_parse(map.bytes, map.size, cached);
	if (code < 0)
		lode_map_close(&map);
	else
		cached->table.map = map;
	return code;
}

/* ---- writing ---- */

static int make_folders(const char *path, struct lode_error *error)
{
	char *copy = lode_strdup(path);
	int code = 0;

	if (!copy)
		return lode_fail_memory(error);
	for (char *slash = strchr(copy + 1, '/'); slash && code == 0; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (access(copy, F_OK) < 0)
			code = lode_file_make_folder(copy, 0777, error);
		*slash = '/';
	}
	lode_free(copy);
	return code;
}

static void add_text(struct lode_buffer *buffer, const char *text)
{
	lode_buffer_text(buffer, text ? text : "");
	lode_buffer_byte(buffer, '\0');
}

static void add_content(struct lode_buffer *buffer, const struct lode_cached *cached)
{
	const struct lode_table *table = &cached->table;
	struct header header = {
		.magic = CACHE_MAGIC,
		.version = CACHE_VERSION,
		.flags = cached->flags,
		.segments = table->segments,
		.records = table->count,
		.loads = table->load_count,
		.string_size = table->string_size,
		.extra = { cached->extra[0], cached->extra[1] },
	};
	size_t origin;

	lode_buffer_add(buffer, &header, sizeof(header));
	lode_buffer_add(buffer, table->starts, table->segments * sizeof(*table->starts));
	lode_buffer_add(buffer, table->records, table->count * sizeof(*table->records));
	lode_buffer_add(buffer, table->loads, table->load_count * sizeof(*table->loads));
	lode_buffer_add(buffer, table->owners, table->segments * sizeof(*table->owners));
	lode_buffer_add(buffer, table->strings, table->string_size);
	origin = buffer->size;
	add_text(buffer, cached->origin.identity);
	add_text(buffer, cached->origin.build_id);
	add_text(buffer, cached->origin.binary);
	add_text(buffer, cached->origin.debug);
	add_text(buffer, cached->origin.debuglink);
	add_text(buffer, cached->origin.fetched);
	if (buffer->failed)
		return;
	header.size = buffer->size;
	header.origin_size = buffer->size - origin;
	memcpy(buffer->bytes, &header, sizeof(header));
	header.checksum = lode_digest_bytes(buffer->bytes + CHECKED_FROM, buffer->size - CHECKED_FROM);
	memcpy(buffer->bytes, &header, sizeof(header));
}

/* Writes `buffer` to a new file beside `path`, then renames. */
static int put_in_place(const char *path, const struct lode_buffer *buffer, struct lode_error *error)
{
	char *own;
	int fd = lode_output_unique(path, 0666, &own, error), code;

	if (fd < 0)
		return fd;
	code = lode_file_write(fd, buffer->bytes, buffer->size, own, error);
	if (lode_file_close(fd, own, code == 0 ? error : NULL) < 0)
		code = LODE_SYSTEM;
	if (code == 0)
		code = lode_file_rename(own, path, error);
	if (code < 0)
		lode_file_remove(own, NULL);
	lode_free(own);
	return code;
}

int lode_cache_write_bytes(const char *path, const struct lode_buffer *bytes, struct lode_error *error)
{
	int code = bytes->failed ? lode_fail_memory(error) : make_folders(path, error);

	return code ? code : put_in_place(path, bytes, error);
}

int lode_cache_write(const char *path, const struct lode_cached *cached, struct lode_error *error)
{
	struct lode_buffer buffer = { 0 };
	int code;

	add_content(&buffer, cached);
	code = lode_cache_write_bytes(path, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

int lode_cache_through(struct lode_image *image, const char *kind, const char *file, char *identity,
		       int (*make)(void *image, struct lode_table *table), struct lode_table *table)
{
	struct lode_cached cached = { 0 };
	struct lode_error error = { "" };
	char *path = NULL;
	int code = LODE_BAD_INPUT;

	if (image->cache[0] && *identity)
		path = lode_cache_path(image->cache, image->build_id, file, kind);
	if (path && lode_cache_read(path, &cached) == 0 && strcmp(cached.origin.identity, identity) == 0)
		code = 0;
	if (code < 0) {
		lode_cached_release(&cached);
		code = make(image, &cached.table);
		cached.origin.identity = identity;
		if (code == 0 && path && cached.table.count && lode_cache_write(path, &cached, &error) < 0)
			lode_notes_add(image->options->notes, 1, "symbol tables that could not be cached",
				       error.text);
		cached.origin.identity = NULL;
	}
	*table = cached.table;
	memset(&cached.table, 0, sizeof(cached.table));
	lode_cached_release(&cached);
	lode_free(path);
	return code;
}
