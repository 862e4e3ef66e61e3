/*
 * Reading CTF by our own decoder: see ctf_native.h.
 *
 * All files of the folder besides `metadata` are mapped, and their events merged by time. Files of one instance of a
 * stream, which LTTng restarts at a certain size, follow each other.
 */
#include "import/kernel/ctf/ctf_native.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/ordered_merge.h"
#include "import/kernel/ctf/ctf_metadata.h"
#include "import/kernel/ctf/ctf_packets.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct data_file {
	char *path;
	struct lode_map map;
	struct lode_ctf_packets packets;
	uint32_t next; /* the file that continues this one; LODE_NONE: none */
	int continues; /* another one */
};

struct reader {
	const char *folder;
	const struct lode_ctf_taker *taker;
	struct lode_error *error;
	struct lode_ctf_description description;
	struct lode_ctf_values values;
	uint64_t *slots;
	LODE_ARRAY(struct data_file) files;
	struct lode_ordered_merge merge;
	struct lode_ctf_event event;
};

/* ---- the folder ---- */

static int describe(struct reader *reader)
{
	struct lode_buffer text = { 0 };
	struct lode_map map = { 0 };
	char *path = lode_format("%s/metadata", reader->folder);
	int code = path ? lode_map_open(&map, path, reader->error) : lode_fail_memory(reader->error);

	if (code == 0 && (code = lode_ctf_metadata_text(map.bytes, map.size, &text)) < 0)
		lode_fail_memory(reader->error);
	if (code == 1)
		lode_fail(reader->error, LODE_BAD_INPUT, "its packets are damaged or packed");
	else if (code == 0)
		code = lode_ctf_describe(&reader->description, text.bytes, text.size, reader->error);
	if (code == 0) {
		reader->slots = lode_calloc((size_t)reader->description.slots + 1, sizeof(*reader->slots));
		code = reader->slots ? 0 : lode_fail_memory(reader->error);
	}
	lode_map_close(&map);
	lode_buffer_release(&text);
	lode_free(path);
	return code;
}

static int add_file(struct reader *reader, const char *name)
{
	struct data_file *file;
	struct stat status;
	char *path = lode_format("%s/%s", reader->folder, name);

	if (!path)
		return lode_fail_memory(reader->error);
	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode) || !status.st_size) {
		lode_free(path);
		return 0;
	}
	if (LODE_RESERVE(&reader->files, 1) < 0) {
		lode_free(path);
		return lode_fail_memory(reader->error);
	}
	file = &reader->files.items[reader->files.count++];
	*file = (struct data_file){ .path = path, .next = LODE_NONE };
	return lode_map_open(&file->map, path, reader->error);
}

static int list_files(struct reader *reader)
{
	DIR *folder = opendir(reader->folder);
	struct dirent *entry;
	int code = 0;

	if (!folder)
		return lode_fail(reader->error, LODE_SYSTEM, "%s: cannot be read: %s", reader->folder,
				 strerror(errno));
	while (code == 0 && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "metadata") != 0)
			code = add_file(reader, entry->d_name);
	closedir(folder);
	return code;
}

/* ---- streams ---- */

/* By stream and instance, then time; without an instance, by name. */
static int compare_files(const void *a, const void *b)
{
	const struct data_file *left = a, *right = b;
	const uint64_t keys[][2] = {
		{ left->packets.stream->id, right->packets.stream->id },
		{ left->packets.instance, right->packets.instance },
		{ left->packets.begin, right->packets.begin },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return strcmp(left->path, right->path);
}

static int is_continued(const struct lode_ctf_packets *one, const struct lode_ctf_packets *next)
{
	return one->stream == next->stream && one->instance == next->instance && one->instance != UINT64_MAX &&
	       one->begin != UINT64_MAX && next->begin != UINT64_MAX;
}

static int open_files(struct reader *reader)
{
	for (size_t i = 0; i < reader->files.count; i++) {
		struct data_file *file = &reader->files.items[i];
		int code;

		file->packets.name = file->path;
		file->packets.bytes = file->map.bytes;
		file->packets.size = file->map.size;
		code = lode_ctf_packets_open(&file->packets, &reader->description, reader->slots, &reader->values,
					     reader->error);
		if (code < 0)
			return code;
	}
	if (reader->files.count)
		qsort(reader->files.items, reader->files.count, sizeof(*reader->files.items), compare_files);
	for (size_t i = 1; i < reader->files.count; i++)
		if (is_continued(&reader->files.items[i - 1].packets, &reader->files.items[i].packets)) {
			reader->files.items[i - 1].next = (uint32_t)i;
			reader->files.items[i].continues = 1;
		}
	return 0;
}

/* Adds the discarded events of a file, and those between it and the one that continues it, if any. */
static void decode_discarded(struct reader *reader, const struct lode_ctf_packets *packets,
			     const struct lode_ctf_packets *next)
{
	uint64_t count = packets->discarded_sum, before = packets->discarded;

	if (next && before != UINT64_MAX && next->discarded != UINT64_MAX && next->discarded > before)
		count += next->discarded - before;
	if (count)
		reader->taker->discarded(reader->taker->context, count);
}

/* The file with the next event: `at` itself, or one that continues it. Returns 1, 0 for none, or a negative code. */
static int find_next(struct reader *reader, uint32_t *at)
{
	for (;;) {
		struct data_file *file = &reader->files.items[*at], *next;
		int got = lode_ctf_packets_next(&file->packets, reader->error);

		if (got)
			return got;
		next = file->next == LODE_NONE ? NULL : &reader->files.items[file->next];
		decode_discarded(reader, &file->packets, next ? &next->packets : NULL);
		if (!next)
			return 0;
		*at = file->next;
	}
}

static int start_streams(struct reader *reader)
{
	for (uint32_t i = 0; i < reader->files.count; i++) {
		uint32_t at = i;
		int got = reader->files.items[i].continues ? 0 : find_next(reader, &at);

		if (got < 0)
			return got;
		if (got && lode_ordered_merge_add(&reader->merge, at, reader->files.items[at].packets.t) < 0)
			return lode_fail_memory(reader->error);
	}
	return 0;
}

/* ---- events ---- */

static int decode_event(struct reader *reader, struct lode_ctf_packets *packets)
{
	int code = lode_ctf_packets_event(packets, &reader->event, reader->error);

	return code < 0 ? code : reader->taker->event(reader->taker->context, &reader->event, reader->error);
}

/* Moves the first source on to its next event. */
static int advance(struct reader *reader)
{
	uint32_t at = reader->merge.sources[0].number;
	uint64_t before = reader->merge.sources[0].key;
	int got = find_next(reader, &at);

	if (got <= 0) {
		lode_ordered_merge_remove(&reader->merge);
		return got;
	}
	if (reader->files.items[at].packets.t < before)
		return lode_fail(reader->error, LODE_BAD_INPUT, "%s: its times go backwards",
				 reader->files.items[at].path);
	reader->merge.sources[0].number = at; /* a stream goes on in its next file */
	lode_ordered_merge_advance(&reader->merge, reader->files.items[at].packets.t);
	return 0;
}

static int read_events(struct reader *reader)
{
	int code = start_streams(reader);

	if (code == 0 && reader->merge.count)
		reader->taker->environment(reader->taker->context, reader->description.host,
					   reader->description.kernel);
	while (code == 0 && reader->merge.count) {
		code = decode_event(reader, &reader->files.items[reader->merge.sources[0].number].packets);
		if (code == 0)
			code = advance(reader);
	}
	return code;
}

static void release(struct reader *reader)
{
	for (size_t i = 0; i < reader->files.count; i++) {
		lode_map_close(&reader->files.items[i].map);
		lode_free(reader->files.items[i].path);
	}
	lode_free(reader->files.items);
	lode_free(reader->slots);
	lode_ordered_merge_release(&reader->merge);
	lode_ctf_values_release(&reader->values);
	lode_ctf_description_release(&reader->description);
	lode_free(reader);
}

int lode_ctf_read_native(const char *folder, const struct lode_ctf_taker *taker, struct lode_error *error)
{
	struct reader *reader = lode_calloc(1, sizeof(*reader));
	int code;

	if (!reader)
		return lode_fail_memory(error);
	reader->folder = folder;
	reader->taker = taker;
	reader->error = error;
	code = describe(reader);
	if (code == 0)
		code = list_files(reader);
	if (code == 0)
		code = open_files(reader);
	if (code == 0)
		code = read_events(reader);
	release(reader);
	return code;
}
