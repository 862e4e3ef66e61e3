/*
 * Strings of V8: see v8_strings.h.
 *
 * A string has its characters in itself, of one or two bytes, or outside of the heap (external: the source of a script, often), or is
 * made of others: a part of one (sliced), another one (thin), or two (cons). Parts are visited one after the other, those that are
 * still to come in a short list.
 */
#include "process/languages/v8_strings.h"

#include "base/utf8.h"

#include <string.h>

/* Parts of a string that are to come: of a cons, whose left one is usually long, and its right one short. */
#define PARTS 32
/* Characters at a time. */
#define PIECE 2048

/* Characters of a part, one after the other. */
typedef void visit_characters(void *context, const unsigned char *bytes, uint32_t width, size_t count);

struct part {
	uint64_t string;
	size_t first;
	size_t count;
};

struct parts {
	struct part items[PARTS];
	size_t count;
};

static int32_t value(const struct lode_v8_reader *reader, enum lode_v8_value number)
{
	return reader->process->image->values[number];
}

static int read_bytes(struct lode_v8_reader *reader, uint64_t address, void *bytes, size_t size)
{
	if (!reader->readings)
		return 0;
	reader->readings--;
	return lode_process_memory_read(reader->memory, reader->process->pid, address, bytes, size);
}

uint64_t lode_v8_field(struct lode_v8_reader *reader, uint64_t object, int32_t offset)
{
	uint64_t word;

	return lode_v8_is_object(object) && read_bytes(reader, object - LODE_V8_TAG + (uint64_t)(int64_t)offset,
						       &word, sizeof(word))
		       ? word
		       : 0;
}

/*
 * While the collector works, which takes milliseconds, what it has moved has its new address, without a tag, in place of its
 * map; the rest is still there.
 */
uint64_t lode_v8_moved(struct lode_v8_reader *reader, uint64_t object)
{
	uint64_t map = lode_v8_field(reader, object, 0);

	return map && !(map & 7) ? map + LODE_V8_TAG : object;
}

uint64_t lode_v8_object(struct lode_v8_reader *reader, uint64_t object, int32_t offset)
{
	return lode_v8_moved(reader, lode_v8_field(reader, object, offset));
}

int32_t lode_v8_type(struct lode_v8_reader *reader, uint64_t object)
{
	uint64_t map = lode_v8_field(reader, object, 0);
	uint16_t type;

	if (!lode_v8_is_object(map) ||
	    !read_bytes(reader, map - LODE_V8_TAG + (uint64_t)value(reader, LODE_V8_MAP_TYPE), &type, sizeof(type)))
		return -1;
	return type;
}

int lode_v8_is_string(const struct lode_v8_reader *reader, int32_t type)
{
	return type >= 0 && !(type & value(reader, LODE_V8_NOT_STRING));
}

/* ---- parts ---- */

static void add_part(struct parts *parts, uint64_t string, size_t first, size_t count)
{
	if (count && parts->count < PARTS)
		parts->items[parts->count++] = (struct part){ string, first, count };
}

static int visit_flat(struct lode_v8_reader *reader, const struct part *part, uint64_t start, uint32_t width,
		      visit_characters *visit, void *context)
{
	unsigned char bytes[2 * PIECE];

	for (size_t done = 0; done < part->count;) {
		size_t count = part->count - done < PIECE ? part->count - done : PIECE;

		if (!read_bytes(reader, start + (part->first + done) * width, bytes, count * width))
			return 0;
		visit(context, bytes, width, count);
		done += count;
	}
	return 1;
}

/* Those of the first string of a cons, and of the second, which comes later. */
static int enter_cons(struct lode_v8_reader *reader, struct parts *parts, const struct part *part)
{
	uint64_t left = lode_v8_object(reader, part->string, value(reader, LODE_V8_CONS_FIRST)),
		 right = lode_v8_object(reader, part->string, value(reader, LODE_V8_CONS_SECOND));
	/* The length is the upper half of the word that ends with it. */
	uint64_t length = lode_v8_field(reader, left, value(reader, LODE_V8_STRING_LENGTH) - 4) >> 32;
	size_t of_left = part->first >= length                ? 0
			 : part->count < length - part->first ? part->count
							      : length - part->first;

	add_part(parts, right, part->first > length ? part->first - length : 0, part->count - of_left);
	add_part(parts, left, part->first, of_left);
	return 1;
}

/* Visits a part that is flat, or replaces it by those that it is made of. Returns 0 when it cannot be read. */
static int visit_part(struct lode_v8_reader *reader, struct parts *parts, visit_characters *visit, void *context)
{
	struct part part = parts->items[--parts->count];
	int32_t type = lode_v8_type(reader, part.string), form = type & value(reader, LODE_V8_STRING_FORM);
	int is_wide = (type & value(reader, LODE_V8_STRING_WIDTH)) != value(reader, LODE_V8_STRING_ONE_BYTE);
	uint64_t start = part.string - LODE_V8_TAG;

	if (!lode_v8_is_string(reader, type))
		return 0;
	if (form == value(reader, LODE_V8_STRING_CONS))
		return enter_cons(reader, parts, &part);
	if (form == value(reader, LODE_V8_STRING_THIN)) {
		add_part(parts, lode_v8_object(reader, part.string, value(reader, LODE_V8_THIN_ACTUAL)),
			 part.first, part.count);
		return 1;
	}
	if (form == value(reader, LODE_V8_STRING_SLICED)) {
		add_part(parts, lode_v8_object(reader, part.string, value(reader, LODE_V8_SLICED_PARENT)),
			 part.first +
				 (lode_v8_field(reader, part.string, value(reader, LODE_V8_SLICED_OFFSET)) >> 32),
			 part.count);
		return 1;
	}
	/* Where the characters are comes behind what owns them. */
	if (form == value(reader, LODE_V8_STRING_EXTERNAL))
		start = lode_v8_field(reader, part.string, value(reader, LODE_V8_EXTERNAL_TEXT) + 8);
	else if (form)
		return 0;
	else
		start += (uint64_t)value(reader, is_wide ? LODE_V8_TWO_BYTE_TEXT : LODE_V8_ONE_BYTE_TEXT);
	return start && visit_flat(reader, &part, start, is_wide ? 2 : 1, visit, context);
}

static int visit_string(struct lode_v8_reader *reader, uint64_t string, size_t limit, visit_characters *visit,
			void *context)
{
	uint64_t length = lode_v8_field(reader, string, value(reader, LODE_V8_STRING_LENGTH) - 4) >> 32;
	struct parts parts = { .count = 0 };

	add_part(&parts, string, 0, length < limit ? length : limit);
	while (parts.count)
		if (!visit_part(reader, &parts, visit, context))
			return 0;
	return 1;
}

/* ---- what is made of them ---- */

static uint32_t character(const unsigned char *bytes, uint32_t width, size_t i)
{
	return width == 1 ? bytes[i] : bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;
}

/* What would change how a line reads is left out; so are halves of pairs, which names rarely have. */
static void append_characters(void *context, const unsigned char *bytes, uint32_t width, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t code = character(bytes, width, i);

		if (code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0xd800 && code < 0xe000))
			lode_buffer_text(context, "?");
		else
			lode_utf8_append(context, code);
	}
}

int lode_v8_add_string(struct lode_v8_reader *reader, uint64_t string, size_t limit, struct lode_buffer *buffer)
{
	return lode_v8_is_string(reader, lode_v8_type(reader, string)) &&
	       visit_string(reader, string, limit, append_characters, buffer) && !buffer->failed;
}

static void count_ends(void *context, const unsigned char *bytes, uint32_t width, size_t count)
{
	int64_t *lines = context;

	for (size_t i = 0; i < count; i++)
		*lines += character(bytes, width, i) == '\n';
}

int64_t lode_v8_count_lines(struct lode_v8_reader *reader, uint64_t string, size_t characters)
{
	int64_t lines = 0;

	return lode_v8_is_string(reader, lode_v8_type(reader, string)) &&
			       visit_string(reader, string, characters, count_ends, &lines)
		       ? lines
		       : -1;
}
