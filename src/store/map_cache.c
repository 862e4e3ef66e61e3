/*
 * Map results on disk: see map_cache.h.
 *
 * An entry
 *	 0  8  magic "LODEMAP1"
 *	 8  32 key, in hexadecimal
 *	40  8  size of the payload
 *	48  8  XXH3-64 of the payload, seeded with XXH3-64 of bytes 0 to 47
 *	56     payload
 *
 * Entries are written under a temporary name and renamed, so readers see a
 * complete one or none. They are not made durable: what a crash leaves
 * half-written has a wrong checksum. An entry's time is when it was used last, to
 * the hour, so that reading rarely writes.
 */
#include "store/map_cache.h"

#include "base/ends_with.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/program_id.h"
#include "store/corpus_files.h"
#include "store/store_format.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define MAGIC   "LODEMAP1"
#define CHECKED 48 /* bytes of the header that the checksum covers */
#define SUFFIX  ".map"

#define MIN_LIMIT (256ull << 20)
#define HOUR      3600

struct lode_map_cache {
	char *folder;
	char *streams;
	struct lode_map_cache_options options;
	atomic_int broken; /* the folder cannot be written; not tried again */
	atomic_uint names; /* of files being written */
	atomic_uint mode;  /* of entries; 0: not known yet */
	_Atomic uint64_t found;
	_Atomic uint64_t put;
};

/* ---- keys ---- */

int lode_map_key_make(struct lode_map_key *key, const char *analysis, const struct lode_buffer *description)
{
	struct lode_buffer all = { 0 };
	XXH128_hash_t digest;
	int failed;

	lode_program_id(&all);
	lode_buffer_add(&all, analysis, strlen(analysis) + 1);
	lode_buffer_add(&all, description->bytes, description->size);
	failed = all.failed || description->failed;
	if (!failed) {
		digest = XXH3_128bits(all.bytes, all.size);
		snprintf(key->text, sizeof(key->text), "%016llx%016llx", (unsigned long long)digest.high64,
			 (unsigned long long)digest.low64);
	}
	lode_buffer_release(&all);
	return failed ? LODE_SYSTEM : 0;
}

/* ---- opening ---- */

struct lode_map_cache *lode_map_cache_open(const char *corpus_path, const struct lode_map_cache_options *options)
{
	struct lode_map_cache *cache = lode_calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->options = *options;
	cache->folder = lode_format("%s/%s", corpus_path, LODE_CACHE_FOLDER);
	cache->streams = lode_format("%s/%s", corpus_path, LODE_STREAMS_FOLDER);
	if (cache->folder && cache->streams)
		return cache;
	lode_map_cache_close(cache);
	return NULL;
}

int lode_map_cache_wants(const struct lode_map_cache *cache, uint64_t events)
{
	return cache && events >= cache->options.least_events;
}

struct lode_map_cache_counts lode_map_cache_counts(const struct lode_map_cache *cache)
{
	return (struct lode_map_cache_counts){ atomic_load(&cache->found), atomic_load(&cache->put) };
}

static char *path_of(const struct lode_map_cache *cache, const struct lode_map_key *key)
{
	return lode_format("%s/%s" SUFFIX, cache->folder, key->text);
}

/* ---- finding ---- */

static uint64_t checksum_of(const unsigned char *header, const void *payload, uint64_t size)
{
	return lode_checksum(payload, (size_t)size, lode_checksum(header, CHECKED, 0));
}

int lode_cached_map_parse(const void *bytes, size_t size, const struct lode_map_key *key,
			  struct lode_cursor *payload)
{
	struct lode_cursor cursor = lode_cursor(bytes, size);
	const char *magic = lode_cursor_bytes(&cursor, 8), *text = lode_cursor_bytes(&cursor, 32);
	uint64_t payload_size = lode_cursor_u64(&cursor), checksum = lode_cursor_u64(&cursor);

	if (cursor.failed || memcmp(magic, MAGIC, 8) != 0 || memcmp(text, key->text, 32) != 0 ||
	    payload_size != lode_cursor_left(&cursor) || checksum != checksum_of(bytes, cursor.next, payload_size))
		return LODE_BAD_INPUT;
	*payload = cursor;
	return 0;
}

/* Says that the entry was used, where it was not known to have been within the hour. */
static void touch(int fd)
{
	struct stat status;

	if (fstat(fd, &status) == 0 && status.st_mtime < time(NULL) - HOUR)
		futimens(fd, NULL);
}

static int map_entry(const struct lode_map_cache *cache, const char *path, struct lode_map *map)
{
	int fd = lode_file_open_plain(path, O_RDONLY | O_NOFOLLOW, NULL), code;

	if (fd < 0)
		return fd;
	if (!cache->options.read_only)
		touch(fd);
	code = lode_map_descriptor(map, fd, path, NULL);
	lode_file_close(fd, path, NULL);
	return code;
}

static void remove_entry(const struct lode_map_cache *cache, const char *path)
{
	if (!cache->options.read_only)
		unlink(path);
}

int lode_map_cache_find(struct lode_map_cache *cache, const struct lode_map_key *key, struct lode_cached_map *found)
{
	char *path = path_of(cache, key);
	int is_there = 0;

	memset(found, 0, sizeof(*found));
	if (path && map_entry(cache, path, &found->map) == 0) {
		is_there = lode_cached_map_parse(found->map.bytes, found->map.size, key, &found->payload) == 0;
		if (!is_there) {
			lode_cached_map_release(found);
			remove_entry(cache, path);
		}
	}
	lode_free(path);
	if (is_there)
		atomic_fetch_add(&cache->found, 1);
	return is_there;
}

void lode_cached_map_release(struct lode_cached_map *found)
{
	lode_map_close(&found->map);
	memset(found, 0, sizeof(*found));
}

void lode_map_cache_drop(struct lode_map_cache *cache, const struct lode_map_key *key)
{
	char *path = path_of(cache, key);

	if (path)
		remove_entry(cache, path);
	lode_free(path);
	atomic_fetch_sub(&cache->found, 1);
}

int lode_map_cache_read(struct lode_map_cache *cache, const struct lode_map_key *key,
			int (*read)(struct lode_cursor payload, void *result), void *result)
{
	struct lode_cached_map found;
	int code;

	if (!lode_map_cache_find(cache, key, &found))
		return 0;
	code = read(found.payload, result);
	lode_cached_map_release(&found);
	if (code == LODE_BAD_INPUT)
		lode_map_cache_drop(cache, key);
	return code ? code : 1;
}

/* ---- putting ---- */

static int write_entry(int fd, const char *path, const struct lode_map_key *key, const struct lode_buffer *payload)
{
	struct lode_buffer header = { 0 };
	int code;

	lode_buffer_add(&header, MAGIC, 8);
	lode_buffer_add(&header, key->text, 32);
	lode_buffer_u64(&header, payload->size);
	if (!header.failed)
		lode_buffer_u64(&header, checksum_of((unsigned char *)header.bytes, payload->bytes, payload->size));
	code = header.failed ? LODE_SYSTEM : lode_file_write(fd, header.bytes, header.size, path, NULL);
	if (!code)
		code = lode_file_write(fd, payload->bytes, payload->size, path, NULL);
	lode_buffer_release(&header);
	return code;
}

/* Entries may be read by those who may read every stream. */
static mode_t mode_of_entries(struct lode_map_cache *cache)
{
	mode_t mode = atomic_load(&cache->mode);
	DIR *folder = mode ? NULL : opendir(cache->streams);
	struct dirent *found;
	struct stat status;

	if (mode)
		return mode;
	mode = 0666;
	while (folder && (found = readdir(folder)))
		if (fstatat(dirfd(folder), found->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode))
			mode &= status.st_mode | 0600;
	if (folder)
		closedir(folder);
	atomic_store(&cache->mode, mode);
	return mode;
}

static int write_file(const char *path, const char *temporary, mode_t mode, const struct lode_map_key *key,
		      const struct lode_buffer *payload)
{
	int fd = lode_file_open(temporary, O_WRONLY | O_CREAT, mode, NULL), code;

	if (fd < 0)
		return fd;
	code = write_entry(fd, temporary, key, payload);
	if (lode_file_close(fd, temporary, NULL) < 0)
		code = LODE_SYSTEM;
	if (!code)
		code = lode_file_rename(temporary, path, NULL);
	if (code)
		lode_file_remove(temporary, NULL);
	return code;
}

void lode_map_cache_put(struct lode_map_cache *cache, const struct lode_map_key *key,
			const struct lode_buffer *payload)
{
	char *path, *temporary;

	if (cache->options.read_only || atomic_load(&cache->broken) || payload->failed)
		return;
	path = path_of(cache, key);
	temporary = lode_format("%s/.%s.%ld.%u.tmp", cache->folder, key->text, (long)getpid(),
				atomic_fetch_add(&cache->names, 1));
	if (path && temporary && lode_file_make_folder(cache->folder, 0777, NULL) == 0 &&
	    write_file(path, temporary, mode_of_entries(cache), key, payload) == 0)
		atomic_fetch_add(&cache->put, 1);
	else
		atomic_store(&cache->broken, 1);
	lode_free(path);
	lode_free(temporary);
}

/* ---- keeping to the limit ---- */

struct entry {
	char *path;
	uint64_t size;
	struct timespec used;
};

struct entries {
	struct entry *items;
	size_t count;
	size_t capacity;
	uint64_t size;
};

/* An entry, or what a process that was killed left behind. */
static int is_ours(const char *name, const struct stat *status)
{
	if (lode_ends_with(name, SUFFIX))
		return 1;
	return name[0] == '.' && lode_ends_with(name, ".tmp") && status->st_mtime < time(NULL) - HOUR;
}

static void add_entry(struct entries *entries, const char *folder, const char *name)
{
	struct entry entry = { .path = lode_format("%s/%s", folder, name) };
	struct stat status;

	if (!entry.path || lstat(entry.path, &status) < 0 || !S_ISREG(status.st_mode) || !is_ours(name, &status) ||
	    LODE_GROW(entries->items, entries->capacity, entries->count + 1) < 0) {
		lode_free(entry.path);
		return;
	}
	entry.size = (uint64_t)status.st_size;
	entry.used = status.st_mtim;
	entries->size += entry.size;
	entries->items[entries->count++] = entry;
}

static void list_entries(const char *path, struct entries *entries)
{
	DIR *folder = opendir(path);
	struct dirent *found;

	while (folder && (found = readdir(folder)))
		add_entry(entries, path, found->d_name);
	if (folder)
		closedir(folder);
}

static int compare_use(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	if (a->used.tv_nsec != b->used.tv_nsec)
		return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
	return strcmp(a->path, b->path);
}

static uint64_t size_of_streams(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *found;
	struct stat status;
	uint64_t size = 0;

	while (folder && (found = readdir(folder)))
		if (fstatat(dirfd(folder), found->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode))
			size += (uint64_t)status.st_size;
	if (folder)
		closedir(folder);
	return size;
}

static uint64_t limit_of(const struct lode_map_cache *cache)
{
	uint64_t half;

	if (cache->options.limit)
		return cache->options.limit;
	half = size_of_streams(cache->streams) / 2;
	return half > MIN_LIMIT ? half : MIN_LIMIT;
}

/* A little more goes than must, so that not every run has to look for something to drop. */
static void evict(const struct lode_map_cache *cache)
{
	struct entries entries = { 0 };
	uint64_t limit = limit_of(cache);

	list_entries(cache->folder, &entries);
	if (entries.size > limit) {
		qsort(entries.items, entries.count, sizeof(*entries.items), compare_use);
		for (size_t i = 0; i < entries.count && entries.size > limit - limit / 8; i++) {
			unlink(entries.items[i].path);
			entries.size -= entries.items[i].size;
		}
	}
	for (size_t i = 0; i < entries.count; i++)
		lode_free(entries.items[i].path);
	lode_free(entries.items);
}

void lode_map_cache_close(struct lode_map_cache *cache)
{
	if (!cache)
		return;
	if (atomic_load(&cache->put))
		evict(cache);
	lode_free(cache->folder);
	lode_free(cache->streams);
	lode_free(cache);
}
