/*
 * Feature sections of a perf.data file, and the records in place of them in
 * pipe mode: the machine, event names, build-ids, tracepoint formats.
 *
 *	text	u32 room, then as many bytes with a NUL somewhere
 *	HOSTNAME, OSRELEASE, ARCH	one text
 *	NRCPUS	u32 present, u32 online
 *	CMDLINE	u32 number of words, each a text
 *	EVENT_DESC	u32 events, u32 attribute size, each: attribute, u32 ids, text, ids
 *	BUILD_ID	entries: record header, u32 pid, 20 bytes, u8 size, 3 unused, path
 */
#include "import/kernel/perf_data/recording_facts.h"

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/memory.h"

#include <string.h>

/* The command line kept as an attribute is no longer than this. */
#define COMMAND_LIMIT 4096

static const char *read_text(struct lode_cursor *cursor, struct lode_arena *arena)
{
	uint32_t room = lode_cursor_u32(cursor);
	const char *text = lode_cursor_bytes(cursor, room);

	return text ? lode_arena_text(arena, text, strnlen(text, room)) : "";
}

static int read_command(struct lode_perf_facts *facts, struct lode_cursor *cursor)
{
	struct lode_buffer command = { 0 };
	uint32_t words = lode_cursor_u32(cursor);

	for (uint32_t i = 0; i < words && !cursor->failed && command.size < COMMAND_LIMIT; i++) {
		uint32_t room = lode_cursor_u32(cursor);
		const char *word = lode_cursor_bytes(cursor, room);

		if (!word)
			break;
		if (i)
			lode_buffer_byte(&command, ' ');
		lode_buffer_add(&command, word, strnlen(word, room));
	}
	if (command.size > COMMAND_LIMIT)
		command.size = COMMAND_LIMIT;
	if (!command.failed)
		facts->command = lode_arena_text(&facts->arena, command.bytes ? command.bytes : "", command.size);
	lode_buffer_release(&command);
	return facts->command ? 0 : LODE_SYSTEM;
}

/* Descriptions are in the order of the events; ids show where they are not. */
static struct lode_perf_event *described_event(struct lode_perf_facts *facts, uint32_t i, const unsigned char *ids,
					       uint32_t id_count)
{
	if (id_count) {
		const struct lode_perf_event *event = lode_perf_facts_event(facts, perf_u64(ids));

		if (event)
			return &facts->events.items[event - facts->events.items];
	}
	return i < facts->events.count ? &facts->events.items[i] : NULL;
}

static int read_descriptions(struct lode_perf_facts *facts, struct lode_cursor *cursor)
{
	uint32_t count = lode_cursor_u32(cursor);
	uint32_t attr_size = lode_cursor_u32(cursor);

	for (uint32_t i = 0; i < count && !cursor->failed; i++) {
		struct lode_perf_event *event;
		const unsigned char *ids;
		const char *name;
		uint32_t id_count;

		lode_cursor_bytes(cursor, attr_size);
		id_count = lode_cursor_u32(cursor);
		name = read_text(cursor, &facts->arena);
		ids = lode_cursor_bytes(cursor, 8ull * id_count);
		if (!name)
			return LODE_SYSTEM;
		if (!ids)
			break;
		event = described_event(facts, i, ids, id_count);
		if (event)
			event->name = name;
	}
	return 0;
}

void lode_perf_build_id_text(char text[2 * PERF_BUILD_ID_BYTES + 1], const unsigned char *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < size && i < PERF_BUILD_ID_BYTES; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * i] = '\0';
}

/* Ids of before the size was recorded are padded with zeros: those of 16 bytes (MD5, UUID) are recognised. */
static size_t build_id_size(const unsigned char *bytes, uint16_t misc)
{
	static const unsigned char zeros[4];

	if (misc & PERF_MISC_BUILD_ID_SIZE)
		return bytes[PERF_BUILD_ID_BYTES] < PERF_BUILD_ID_BYTES ? bytes[PERF_BUILD_ID_BYTES]
									: PERF_BUILD_ID_BYTES;
	return memcmp(bytes + 16, zeros, sizeof(zeros)) ? PERF_BUILD_ID_BYTES : 16;
}

static int add_build_id(struct lode_perf_build_ids *build_ids, struct lode_arena *arena, const char *path,
			size_t length, const char *build_id, int kernel)
{
	struct lode_perf_build_id entry = { 0 };

	entry.path = lode_arena_text(arena, path, length);
	entry.build_id = lode_arena_text(arena, build_id, strlen(build_id));
	entry.kernel = kernel;
	if (!entry.path || !entry.build_id ||
	    LODE_INDEX_PUSH(&build_ids->index, lode_hash_bytes(path, length), build_ids, entry) < 0)
		return LODE_SYSTEM;
	return 0;
}

const char *lode_perf_build_ids_find(const struct lode_perf_build_ids *build_ids, const char *path)
{
	uint64_t hash = lode_hash_bytes(path, strlen(path));
	uint32_t id = LODE_INDEX_FIND(i, &build_ids->index, hash, !strcmp(build_ids->items[i].path, path));

	return id == LODE_NONE ? "" : build_ids->items[id].build_id;
}

int lode_perf_facts_build_id(struct lode_perf_facts *facts, const unsigned char *record, size_t size)
{
	struct lode_perf_build_ids *build_ids = facts->frozen ? &facts->late_build_ids : &facts->build_ids;
	const size_t head = sizeof(struct perf_event_header) + 4 + 24;
	char text[2 * PERF_BUILD_ID_BYTES + 1];
	const unsigned char *bytes = record + sizeof(struct perf_event_header) + 4;
	uint16_t misc;
	size_t length;
	char *path;
	int code;

	if (size <= head)
		return 0;
	misc = perf_u16(record + 4);
	length = strnlen((const char *)record + head, size - head);
	lode_perf_build_id_text(text, bytes, build_id_size(bytes, misc));
	path = lode_strndup((const char *)record + head, length);
	if (!path)
		return LODE_SYSTEM;
	code = *lode_perf_build_ids_find(build_ids, path)
		       ? 0
		       : add_build_id(build_ids, &facts->arena, path, length, text,
				      (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL);
	lode_free(path);
	return code;
}

static int read_build_ids(struct lode_perf_facts *facts, struct lode_cursor *cursor)
{
	while (lode_cursor_left(cursor) >= sizeof(struct perf_event_header)) {
		uint16_t size = perf_u16(cursor->next + 6);
		const unsigned char *record;

		if (size < sizeof(struct perf_event_header) || !(record = lode_cursor_bytes(cursor, size))) {
			cursor->failed = 1;
			break;
		}
		if (lode_perf_facts_build_id(facts, record, size) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int keep_text(struct lode_cursor *cursor, struct lode_arena *arena, const char **place)
{
	*place = read_text(cursor, arena);
	return *place ? 0 : LODE_SYSTEM;
}

/* Features that the replay reads while it runs. */
static int is_of_the_replay(unsigned feature)
{
	return feature == PERF_FEATURE_TRACING_DATA || feature == PERF_FEATURE_OSRELEASE ||
	       feature == PERF_FEATURE_ARCH || feature == PERF_FEATURE_EVENT_DESC;
}

int lode_perf_facts_feature(struct lode_perf_facts *facts, unsigned feature, const unsigned char *bytes,
			    size_t size)
{
	struct lode_cursor cursor = lode_cursor(bytes, size);
	int code = 0;

	if (is_of_the_replay(feature) && lode_perf_facts_is_late(facts))
		return 0;
	switch (feature) {
	case PERF_FEATURE_TRACING_DATA:
		return lode_perf_tracepoints_read(&facts->tracepoints, bytes, size, &facts->arena, facts->notes);
	case PERF_FEATURE_BUILD_ID:
		code = read_build_ids(facts, &cursor);
		break;
	case PERF_FEATURE_HOSTNAME:
		code = keep_text(&cursor, &facts->arena, &facts->host);
		break;
	case PERF_FEATURE_OSRELEASE:
		code = keep_text(&cursor, &facts->arena, &facts->kernel);
		break;
	case PERF_FEATURE_ARCH:
		code = keep_text(&cursor, &facts->arena, &facts->arch);
		break;
	case PERF_FEATURE_NRCPUS:
		lode_cursor_u32(&cursor);
		facts->cpus = lode_cursor_u32(&cursor);
		break;
	case PERF_FEATURE_CMDLINE:
		code = read_command(facts, &cursor);
		break;
	case PERF_FEATURE_EVENT_DESC:
		code = read_descriptions(facts, &cursor);
		break;
	case PERF_FEATURE_DIR_FORMAT:
		facts->is_folder = 1;
		break;
	default:
		return 0;
	}
	if (cursor.failed)
		lode_notes_add(facts->notes, 1, "damaged sections of the header", NULL);
	return code;
}
