/*
 * Protobuf wire format, read in place: one field at a time, nothing is built.
 */
#ifndef LODE_IMPORT_PROTOBUF_H
#define LODE_IMPORT_PROTOBUF_H

#include "base/cursor.h"

#include <string.h>

enum lode_protobuf_wire {
	LODE_WIRE_VARINT = 0,
	LODE_WIRE_FIXED64 = 1,
	LODE_WIRE_BYTES = 2,
	LODE_WIRE_FIXED32 = 5,
};

/*
 * The first and the last field stay apart: compilers join two comparisons of neighbours to one of 64 bits, and
 * the processor waits until both have left its store buffer.
 */
struct lode_protobuf_field {
	uint32_t number;
	uint64_t value;           /* all but LODE_WIRE_BYTES */
	struct lode_cursor bytes; /* LODE_WIRE_BYTES: text, a message or packed numbers */
	enum lode_protobuf_wire wire;
};

/*
 * The next field of a message. Returns 0 at its end, and also where the bytes
 * are wrong: then `message->failed` is set.
 */
static inline int lode_protobuf_next(struct lode_cursor *message, struct lode_protobuf_field *field)
{
	uint64_t tag, size;
	const void *bytes;

	field->value = 0;
	field->bytes = lode_cursor(message->next, 0);
	if (message->failed || !lode_cursor_left(message))
		return 0;
	tag = lode_cursor_varint(message);
	field->number = (uint32_t)(tag >> 3);
	field->wire = (enum lode_protobuf_wire)(tag & 7);
	switch (field->wire) {
	case LODE_WIRE_VARINT:
		field->value = lode_cursor_varint(message);
		break;
	case LODE_WIRE_FIXED64:
		field->value = lode_cursor_u64(message);
		break;
	case LODE_WIRE_FIXED32:
		field->value = lode_cursor_u32(message);
		break;
	case LODE_WIRE_BYTES:
		size = lode_cursor_varint(message);
		bytes = lode_cursor_bytes(message, size);
		if (bytes)
			field->bytes = lode_cursor(bytes, (size_t)size);
		break;
	default: /* groups are long gone */
		message->failed = 1;
	}
	if (!field->number || tag >> 35)
		message->failed = 1;
	return !message->failed;
}

/* The numbers of a message by the numbers of their fields, which are below `count`; others stay as they are. */
static inline void lode_protobuf_numbers(struct lode_cursor message, uint64_t numbers[], uint32_t count)
{
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&message, &field))
		if (field.number < count && field.wire == LODE_WIRE_VARINT)
			numbers[field.number] = field.value;
}

/* Whether the text of a field is `word`. */
static inline int lode_protobuf_is(struct lode_cursor text, const char *word)
{
	return lode_cursor_left(&text) == strlen(word) && memcmp(text.next, word, strlen(word)) == 0;
}

/*
 * The numbers of a repeated field, which may come one per field or packed. Call it
 * until it returns 0; `more` keeps the place and starts as 1.
 */
static inline int lode_protobuf_number(struct lode_protobuf_field *field, int *more, uint64_t *number)
{
	if (field->wire != LODE_WIRE_BYTES) {
		*number = field->value;
		return (*more)-- > 0;
	}
	if (!lode_cursor_left(&field->bytes))
		return 0;
	*number = lode_cursor_varint(&field->bytes);
	return !field->bytes.failed;
}

#endif
