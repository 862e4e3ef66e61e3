/*
 * A trace.dat of trace-cmd: see trace_dat_file.h. The manual pages trace-cmd.dat.v6(5) and .v7(5)
 * describe it. Both begin with
 *
 *	magic	10 bytes "\x17\x08\x44tracing"
 *	text	version, NUL-terminated ("6", "7")
 *	u8	1 when big-endian
 *	u8	bytes of a long
 *	u32	bytes of a page
 *
 * Version 6 goes on with all parts in a row: page and event header, formats, symbols, printk
 * formats, names, number of CPUs, options, and for each CPU the place of its events. Version 7 has
 * the name of the packing and the place of a first list of options; an option names the place
 * of a part, each of which may be packed, and the last one the place of the next list.
 */
#include "import/kernel/trace_dat_file.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* Lists of options that are followed, and CPUs. */
#define LIST_LIMIT 4096
#define CPU_LIMIT  65536
/* A part unpacks to so much more at most. */
#define UNPACK_RATIO 512

enum option {
	OPTION_DONE = 0,
	OPTION_BUFFER = 3,
	OPTION_CLOCK = 4,
	OPTION_HEADER = 16,
	OPTION_FTRACE = 17,
	OPTION_FORMATS = 18,
	OPTION_KALLSYMS = 19,
	OPTION_NAMES = 21,
	OPTION_TEXT = 22,
};

static int fail(struct lode_error *error, const char *what)
{
	return lode_fail(error, LODE_BAD_INPUT, "%s", what);
}

static struct lode_cursor cursor_at(const struct lode_trace_dat *file, uint64_t at)
{
	struct lode_cursor cursor = lode_cursor(file->bytes + (at < file->size ? at : file->size),
						at < file->size ? file->size - at : 0);

	cursor.swap = file->swap;
	return cursor;
}

/* A NUL-terminated text in place; "" (and the cursor's mark) when it has no end. */
static const char *read_text(struct lode_cursor *cursor)
{
	const unsigned char *start = cursor->next, *end = memchr(start, '\0', lode_cursor_left(cursor));

	if (!end) {
		cursor->failed = 1;
		return "";
	}
	cursor->next = end + 1;
	return (const char *)start;
}

/* ---- packed parts ---- */

int lode_trace_dat_unpack(const struct lode_trace_dat *file, const void *bytes, size_t size, void *to,
			  size_t wanted)
{
	uLongf length = wanted;

	if (file->packing == LODE_TRACE_DAT_ZSTD)
		return ZSTD_decompress(to, wanted, bytes, size) == wanted ? 0 : LODE_BAD_INPUT;
	if (file->packing != LODE_TRACE_DAT_ZLIB || uncompress(to, &length, bytes, size) != Z_OK)
		return LODE_BAD_INPUT;
	return length == wanted ? 0 : LODE_BAD_INPUT;
}

/* Unpacks a whole part into the arena. */
static int unpack_part(struct lode_trace_dat *file, struct lode_cursor *part, struct lode_error *error)
{
	uint32_t packed = lode_cursor_u32(part), plain = lode_cursor_u32(part);
	const void *bytes = lode_cursor_bytes(part, packed);
	char *room;

	if (!bytes || plain > file->left || plain > (uint64_t)packed * UNPACK_RATIO + 65536)
		return fail(error, "a packed part of it is damaged");
	file->left -= plain;
	room = lode_arena_bytes(&file->arena, plain + 1);
	if (!room)
		return lode_fail_memory(error);
	if (lode_trace_dat_unpack(file, bytes, packed, room, plain) < 0)
		return fail(error, "a packed part of it is damaged");
	*part = lode_cursor(room, plain);
	part->swap = file->swap;
	return 0;
}

/* ---- the parts ---- */

/* The size that a format's text gives the field `name;`, or 0. */
static unsigned field_size(const char *text, size_t length, const char *name)
{
	const char *at = memmem(text, length, name, strlen(name)), *end = text + length;

	at = at ? memmem(at, (size_t)(end - at), "size:", 5) : NULL;
	return at && at + 5 < end && at[5] >= '0' && at[5] <= '9' ? (unsigned)(at[5] - '0') : 0;
}

static void read_header(struct lode_trace_dat *file, struct lode_cursor *cursor)
{
	uint64_t size;
	const char *page;

	read_text(cursor); /* header_page */
	size = lode_cursor_u64(cursor);
	page = lode_cursor_bytes(cursor, size);
	if (page)
		file->commit_size = field_size(page, size, "commit;");
	read_text(cursor); /* header_event */
	lode_cursor_bytes(cursor, lode_cursor_u64(cursor));
}

static int read_formats(struct lode_trace_dat *file, struct lode_cursor *cursor, const char *system)
{
	uint32_t count = lode_cursor_u32(cursor);

	for (uint32_t i = 0; i < count && !cursor->failed; i++) {
		uint64_t size = lode_cursor_u64(cursor);
		const char *text = lode_cursor_bytes(cursor, size);

		if (text && lode_perf_tracepoints_add(&file->tracepoints, system, text, size, &file->arena) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int read_systems(struct lode_trace_dat *file, struct lode_cursor *cursor)
{
	uint32_t count = lode_cursor_u32(cursor);

	for (uint32_t i = 0; i < count && !cursor->failed; i++) {
		const char *name = read_text(cursor);
		const char *system = lode_arena_text(&file->arena, name, strlen(name));

		if (!system || read_formats(file, cursor, system) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static void read_kallsyms(struct lode_trace_dat *file, struct lode_cursor *cursor)
{
	uint32_t size = lode_cursor_u32(cursor);
	const char *text = lode_cursor_bytes(cursor, size);

	file->kallsyms = text;
	file->kallsyms_size = text ? size : 0;
}

static void read_names(struct lode_trace_dat *file, struct lode_cursor *cursor)
{
	uint64_t size = lode_cursor_u64(cursor);
	const char *text = lode_cursor_bytes(cursor, size);

	file->names = text;
	file->names_size = text ? size : 0;
}

static int add_row(struct lode_trace_dat *file, uint32_t cpu, uint64_t at, uint64_t size, int packed)
{
	struct lode_trace_dat_row row = { .cpu = cpu, .packed = packed, .bytes = cursor_at(file, at) };

	/* The number of chunks in front does not count. */
	if (packed && size < UINT64_MAX - 4)
		size += 4;
	if (lode_cursor_left(&row.bytes) > size)
		row.bytes.end = row.bytes.next + size;
	return LODE_PUSH(&file->rows, row);
}

/* ---- version 6 ---- */

static void read_options_6(struct lode_trace_dat *file, struct lode_cursor *cursor)
{
	while (!cursor->failed) {
		uint16_t option = lode_cursor_u16(cursor);
		uint32_t size;
		struct lode_cursor data;

		if (option == OPTION_DONE)
			return;
		size = lode_cursor_u32(cursor);
		data = *cursor;
		if (!lode_cursor_bytes(cursor, size))
			return;
		data.end = cursor->next;
		if (option == OPTION_CLOCK)
			file->clock = read_text(&data);
		file->instances += option == OPTION_BUFFER;
	}
}

static int read_rows_6(struct lode_trace_dat *file, struct lode_cursor *cursor, uint32_t cpus)
{
	for (uint32_t i = 0; i < cpus && !cursor->failed; i++) {
		uint64_t at = lode_cursor_u64(cursor), size = lode_cursor_u64(cursor);

		if (!cursor->failed && add_row(file, i, at, size, 0) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int read_version_6(struct lode_trace_dat *file, struct lode_cursor *cursor, struct lode_error *error)
{
	const char *what;
	uint32_t cpus;

	read_header(file, cursor);
	if (read_formats(file, cursor, "ftrace") < 0 || read_systems(file, cursor) < 0)
		return lode_fail_memory(error);
	read_kallsyms(file, cursor);
	lode_cursor_bytes(cursor, lode_cursor_u32(cursor)); /* printk formats */
	read_names(file, cursor);
	cpus = lode_cursor_u32(cursor);
	what = lode_cursor_bytes(cursor, 10);
	if (what && !memcmp(what, "options  ", 10)) {
		read_options_6(file, cursor);
		what = lode_cursor_bytes(cursor, 10);
	}
	if (what && !memcmp(what, "latency  ", 10))
		return fail(
			error,
			"is a latency trace, which is text without events; import what `trace-cmd report` prints");
	if (!what || memcmp(what, "flyrecord", 10) != 0 || cpus > CPU_LIMIT)
		return fail(error, "is cut off or damaged before its events");
	return read_rows_6(file, cursor, cpus) < 0 ? lode_fail_memory(error) : 0;
}

/* ---- version 7 ---- */

/* The part at `at`, unpacked. */
static int open_part(struct lode_trace_dat *file, uint64_t at, struct lode_cursor *part, int *packed,
		     struct lode_error *error)
{
	uint64_t size;

	*part = cursor_at(file, at);
	lode_cursor_u16(part); /* what it is */
	*packed = lode_cursor_u16(part) & 1;
	lode_cursor_u32(part); /* description */
	size = lode_cursor_u64(part);
	if (part->failed)
		return fail(error, "is cut off: a part of it is missing at the end");
	if (lode_cursor_left(part) > size)
		part->end = part->next + size;
	return 0;
}

static int read_part(struct lode_trace_dat *file, uint16_t option, uint64_t at, struct lode_error *error)
{
	struct lode_cursor part;
	int packed, code = open_part(file, at, &part, &packed, error);

	if (code == 0 && packed)
		code = unpack_part(file, &part, error);
	if (code < 0)
		return code;
	if (option == OPTION_HEADER)
		read_header(file, &part);
	else if (option == OPTION_FTRACE)
		code = read_formats(file, &part, "ftrace");
	else if (option == OPTION_FORMATS)
		code = read_systems(file, &part);
	else if (option == OPTION_KALLSYMS)
		read_kallsyms(file, &part);
	else
		read_names(file, &part);
	return code < 0 ? lode_fail_memory(error) : 0;
}

/* The rows of the main buffer; other instances are counted. */
static int read_buffer(struct lode_trace_dat *file, struct lode_cursor *data, struct lode_error *error)
{
	uint64_t at = lode_cursor_u64(data);
	const char *name = read_text(data), *clock = read_text(data);
	struct lode_cursor part;
	int packed, code = open_part(file, at, &part, &packed, error);
	uint32_t page_size, count;

	if (code < 0)
		return code;
	if (*name) {
		file->instances++;
		return 0;
	}
	file->clock = clock;
	page_size = lode_cursor_u32(data);
	count = lode_cursor_u32(data);
	if (page_size)
		file->page_size = page_size;
	for (uint32_t i = 0; i < count && i < CPU_LIMIT && !data->failed; i++) {
		uint32_t cpu = lode_cursor_u32(data);
		uint64_t place = lode_cursor_u64(data), size = lode_cursor_u64(data);

		if (!data->failed && add_row(file, cpu, place, size, packed) < 0)
			return lode_fail_memory(error);
	}
	return 0;
}

static int read_option(struct lode_trace_dat *file, uint16_t option, struct lode_cursor *data, uint64_t *next,
		       struct lode_error *error)
{
	switch (option) {
	case OPTION_DONE:
		*next = lode_cursor_u64(data);
		return 0;
	case OPTION_BUFFER:
		return read_buffer(file, data, error);
	case OPTION_HEADER:
	case OPTION_FTRACE:
	case OPTION_FORMATS:
	case OPTION_KALLSYMS:
	case OPTION_NAMES:
		return read_part(file, option, lode_cursor_u64(data), error);
	default:
		return 0;
	}
}

/* Reads the list of options at `*at` and finds the next one. */
static int read_options_7(struct lode_trace_dat *file, uint64_t *at, struct lode_error *error)
{
	struct lode_cursor list;
	int packed, code = open_part(file, *at, &list, &packed, error);
	uint16_t option = 1;

	*at = 0;
	if (code == 0 && packed)
		code = unpack_part(file, &list, error);
	while (code == 0 && !list.failed && option != OPTION_DONE && lode_cursor_left(&list)) {
		uint32_t size;
		struct lode_cursor data;

		option = lode_cursor_u16(&list);
		size = lode_cursor_u32(&list);
		data = list;
		if (!lode_cursor_bytes(&list, size))
			break;
		data.end = list.next;
		code = read_option(file, option, &data, at, error);
	}
	return code;
}

static int read_version_7(struct lode_trace_dat *file, struct lode_cursor *cursor, struct lode_error *error)
{
	const char *packing = read_text(cursor);
	uint64_t at;
	int code = 0;

	read_text(cursor); /* its version */
	at = lode_cursor_u64(cursor);
	file->packing = !strcmp(packing, "none")   ? LODE_TRACE_DAT_PLAIN
			: !strcmp(packing, "zstd") ? LODE_TRACE_DAT_ZSTD
			: !strcmp(packing, "zlib") ? LODE_TRACE_DAT_ZLIB
						   : LODE_TRACE_DAT_UNKNOWN;
	if (cursor->failed || file->packing == LODE_TRACE_DAT_UNKNOWN)
		return lode_fail(
			error, LODE_BAD_INPUT,
			"is packed with %.20s, which is not known; write it again with `trace-cmd convert "
			"--compression none`",
			packing);
	for (int lists = 0; at && code == 0; lists++) {
		if (lists == LIST_LIMIT)
			return fail(error, "its lists of options have no end");
		code = read_options_7(file, &at, error);
	}
	return code;
}

/* ---- the file ---- */

static int check(struct lode_trace_dat *file, struct lode_error *error)
{
	if (!file->rows.count)
		return fail(error, "has no events: it is cut off, or the recording was not ended");
	if (file->commit_size != 4 && file->commit_size != 8)
		file->commit_size = file->long_size;
	if ((file->commit_size != 4 && file->commit_size != 8) || file->page_size < 64 || file->page_size > 1 << 24)
		return fail(error, "the sizes in its header are impossible");
	if (!file->tracepoints.count)
		return fail(error, "its formats of events are missing or damaged");
	return 0;
}

int lode_trace_dat_open(struct lode_trace_dat *file, const unsigned char *bytes, size_t size,
			struct lode_error *error)
{
	struct lode_cursor cursor = lode_cursor(bytes, size);
	const void *magic = lode_cursor_bytes(&cursor, 10);
	const char *version;
	int code;

	*file = (struct lode_trace_dat){ .bytes = bytes, .size = size, .clock = "", .left = 1u << 30 };
	if (!magic || memcmp(magic, "\x17\x08\x44tracing", 10) != 0)
		return fail(error, "is not a trace.dat of trace-cmd: it begins with other bytes");
	version = read_text(&cursor);
	file->version = !strcmp(version, "6") ? 6 : !strcmp(version, "7") ? 7 : 0;
	if (!file->version)
		return lode_fail(error, LODE_BAD_INPUT, "version %.20s of trace.dat is not known; 6 and 7 are",
				 version);
	file->swap = cursor.swap = lode_cursor_u8(&cursor) == 1;
	file->long_size = lode_cursor_u8(&cursor);
	file->page_size = lode_cursor_u32(&cursor);
	code = file->version == 6 ? read_version_6(file, &cursor, error) : read_version_7(file, &cursor, error);
	return code < 0 ? code : check(file, error);
}

void lode_trace_dat_release(struct lode_trace_dat *file)
{
	lode_perf_tracepoints_release(&file->tracepoints);
	lode_arena_release(&file->arena);
	lode_free(file->rows.items);
	*file = (struct lode_trace_dat){ 0 };
}
