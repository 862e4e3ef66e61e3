/*
 * Tracepoint formats: see tracepoint_formats.h.
 *
 *	magic	10 bytes "\x17\x08\x44tracing"
 *	text	version, NUL-terminated ("0.6")
 *	u8	1 when big-endian
 *	u8	bytes of a long
 *	u32	bytes of a page
 *	text	"header_page", u64 size, as many bytes
 *	text	"header_event", u64 size, as many bytes
 *	u32	number of ftrace's own formats, each: u64 size, text
 *	u32	number of systems, each: name, u32 number of formats, each: u64 size, text
 *	…	symbols and printk formats, of no use here
 *
 * A format is the text of /sys/kernel/tracing/events/SYSTEM/NAME/format:
 *
 *	name: sched_switch
 *	ID: 208
 *	format:
 *		field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
 */
#include "import/kernel/perf_data/tracepoint_formats.h"

#include "base/cursor.h"
#include "base/memory.h"
#include "import/sched.h"

#include <string.h>

static const char *const field_names[FIELD_NAMES] = {
	[FIELD_PREV_COMM] = "prev_comm",
	[FIELD_PREV_PID] = "prev_pid",
	[FIELD_PREV_STATE] = "prev_state",
	[FIELD_NEXT_COMM] = "next_comm",
	[FIELD_NEXT_PID] = "next_pid",
	[FIELD_COMM] = "comm",
	[FIELD_PID] = "pid",
	[FIELD_ID] = "id",
	[FIELD_CALLER] = "caller",
};

void lode_perf_tracepoints_release(struct lode_perf_tracepoints *tracepoints)
{
	lode_free(tracepoints->items);
	lode_index_release(&tracepoints->index);
	memset(tracepoints, 0, sizeof(*tracepoints));
}

const struct lode_perf_tracepoint *lode_perf_tracepoints_find(const struct lode_perf_tracepoints *tracepoints,
							      uint64_t id)
{
	uint32_t at = LODE_INDEX_FIND(i, &tracepoints->index, lode_hash_u64(id), tracepoints->items[i].id == id);

	return at == LODE_NONE ? NULL : &tracepoints->items[at];
}

/* A piece of text that is not NUL-terminated. */
struct piece {
	const char *text;
	size_t length;
};

/* Steps to the next line of `rest`; 0 when there is none. */
static int next_line(struct piece *rest, struct piece *line)
{
	const char *end;

	if (!rest->length)
		return 0;
	end = memchr(rest->text, '\n', rest->length);
	line->text = rest->text;
	line->length = end ? (size_t)(end - rest->text) : rest->length;
	rest->text += line->length + (end != NULL);
	rest->length -= line->length + (end != NULL);
	return 1;
}

/* What follows `key` in `line`, up to its end; empty when the key is not there. */
static struct piece behind(struct piece line, const char *key)
{
	size_t length = strlen(key);
	const char *at = memmem(line.text, line.length, key, length);

	if (!at)
		return (struct piece){ line.text, 0 };
	at += length;
	return (struct piece){ at, (size_t)(line.text + line.length - at) };
}

static uint64_t number(struct piece text)
{
	uint64_t value = 0;

	while (text.length && *text.text == ' ')
		text.text++, text.length--;
	for (size_t i = 0; i < text.length && text.text[i] >= '0' && text.text[i] <= '9' && i < 18; i++)
		value = value * 10 + (uint64_t)(text.text[i] - '0');
	return value;
}

/* The field's name: the last word of `type name[N]`. */
static struct piece declared_name(struct piece line)
{
	struct piece declaration = behind(line, "field:");
	const char *end = memchr(declaration.text, ';', declaration.length);
	const char *bracket;
	size_t start;

	if (!end)
		return (struct piece){ line.text, 0 };
	declaration.length = (size_t)(end - declaration.text);
	bracket = memchr(declaration.text, '[', declaration.length);
	if (bracket)
		declaration.length = (size_t)(bracket - declaration.text);
	start = declaration.length;
	while (start && declaration.text[start - 1] != ' ' && declaration.text[start - 1] != '*')
		start--;
	return (struct piece){ declaration.text + start, declaration.length - start };
}

static void read_field(struct lode_perf_tracepoint *tracepoint, struct piece line)
{
	struct piece name = declared_name(line);
	uint64_t offset = number(behind(line, "offset:"));
	uint64_t size = number(behind(line, "size:"));

	if (!name.length || offset > UINT16_MAX || size > UINT16_MAX)
		return;
	for (int i = 0; i < FIELD_NAMES; i++) {
		if (strlen(field_names[i]) == name.length && !memcmp(field_names[i], name.text, name.length))
			tracepoint->fields[i] = (struct lode_perf_field){ (uint32_t)offset, (uint32_t)size };
	}
}

static int read_format(struct lode_perf_tracepoints *tracepoints, const char *system, struct piece text,
		       struct lode_arena *arena)
{
	struct lode_perf_tracepoint tracepoint = { .system = system, .dead = LODE_SWITCH_DEAD_BITS };
	struct piece line, name = { "", 0 };

	while (next_line(&text, &line)) {
		if (line.length > 6 && !memcmp(line.text, "name: ", 6))
			name = (struct piece){ line.text + 6, line.length - 6 };
		else if (line.length > 4 && !memcmp(line.text, "ID: ", 4))
			tracepoint.id = number((struct piece){ line.text + 4, line.length - 4 });
		else if (line.length > 7 && !memcmp(line.text, "\tfield:", 7))
			read_field(&tracepoint, line);
		else if (line.length > 9 && !memcmp(line.text, "print fmt", 9)) {
			if (behind(line, "{ 64, \"x\" }").length || behind(line, "{ 0x40, \"x\" }").length)
				tracepoint.dead = LODE_SWITCH_DEAD_BITS_OLD;
			break;
		}
	}
	if (!name.length || lode_perf_tracepoints_find(tracepoints, tracepoint.id))
		return 0;
	tracepoint.name = lode_arena_text(arena, name.text, name.length);
	if (!tracepoint.name ||
	    LODE_INDEX_PUSH(&tracepoints->index, lode_hash_u64(tracepoint.id), tracepoints, tracepoint) < 0)
		return LODE_SYSTEM;
	return 0;
}

int lode_perf_tracepoints_add(struct lode_perf_tracepoints *tracepoints, const char *system, const char *text,
			      size_t length, struct lode_arena *arena)
{
	return read_format(tracepoints, system, (struct piece){ text, length }, arena);
}

/* A NUL-terminated text in place; "" (and the cursor's mark) when it has no end. */
static struct piece read_text(struct lode_cursor *cursor)
{
	const unsigned char *start = cursor->next;
	const unsigned char *end = memchr(start, '\0', lode_cursor_left(cursor));

	if (!end) {
		cursor->failed = 1;
		return (struct piece){ "", 0 };
	}
	cursor->next = end + 1;
	return (struct piece){ (const char *)start, (size_t)(end - start) };
}

/* A size and as many bytes of text. */
static struct piece read_sized(struct lode_cursor *cursor)
{
	uint64_t size = lode_cursor_u64(cursor);
	const char *text = lode_cursor_bytes(cursor, size);

	return text ? (struct piece){ text, (size_t)size } : (struct piece){ "", 0 };
}

static void skip_head(struct lode_cursor *cursor)
{
	uint32_t count;

	read_text(cursor); /* header_page */
	read_sized(cursor);
	read_text(cursor); /* header_event */
	read_sized(cursor);
	count = lode_cursor_u32(cursor);
	for (uint32_t i = 0; i < count && !cursor->failed; i++)
		read_sized(cursor);
}

static int read_system(struct lode_perf_tracepoints *tracepoints, struct lode_cursor *cursor,
		       struct lode_arena *arena)
{
	struct piece name = read_text(cursor);
	const char *system = lode_arena_text(arena, name.text, name.length);
	uint32_t count = lode_cursor_u32(cursor);

	if (!system)
		return LODE_SYSTEM;
	for (uint32_t i = 0; i < count && !cursor->failed; i++) {
		struct piece text = read_sized(cursor);

		if (!cursor->failed && read_format(tracepoints, system, text, arena) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

int lode_perf_tracepoints_read(struct lode_perf_tracepoints *tracepoints, const unsigned char *bytes, size_t size,
			       struct lode_arena *arena, struct lode_notes *notes)
{
	struct lode_cursor cursor = lode_cursor(bytes, size);
	const void *magic = lode_cursor_bytes(&cursor, 10);
	uint32_t systems;

	if (!magic || memcmp(magic, "\x17\x08\x44tracing", 10) != 0) {
		lode_notes_add(notes, 1, "tracepoint formats that could not be read", NULL);
		return 0;
	}
	read_text(&cursor); /* version */
	lode_cursor_bytes(&cursor, 6);
	skip_head(&cursor);
	systems = lode_cursor_u32(&cursor);
	for (uint32_t i = 0; i < systems && !cursor.failed; i++) {
		if (read_system(tracepoints, &cursor, arena) < 0)
			return LODE_SYSTEM;
	}
	if (cursor.failed)
		lode_notes_add(notes, 1, "tracepoint formats that could not be read", NULL);
	return 0;
}

int lode_perf_is_switch(const struct lode_perf_tracepoint *tracepoint)
{
	return !strcmp(tracepoint->name, "sched_switch") && lode_perf_has_field(tracepoint, FIELD_PREV_PID) &&
	       lode_perf_has_field(tracepoint, FIELD_PREV_STATE) && lode_perf_has_field(tracepoint, FIELD_NEXT_PID);
}

int lode_perf_is_waking(const struct lode_perf_tracepoint *tracepoint)
{
	const char *name = tracepoint->name;

	return lode_perf_has_field(tracepoint, FIELD_PID) &&
	       (!strcmp(name, "sched_waking") || !strcmp(name, "sched_wakeup") ||
		!strcmp(name, "sched_wakeup_new"));
}
