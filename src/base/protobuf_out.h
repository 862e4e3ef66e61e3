/* Fields of protobuf messages, appended to a buffer. A message inside another is built in a separate buffer
 * first. */
#ifndef LODE_BASE_PROTOBUF_OUT_H
#define LODE_BASE_PROTOBUF_OUT_H

#include "base/buffer.h"

#include <string.h>

static inline void lode_protobuf_put_number(struct lode_buffer *message, unsigned field, uint64_t number)
{
	lode_buffer_varint(message, (uint64_t)field << 3);
	lode_buffer_varint(message, number);
}

static inline void lode_protobuf_put_fixed64(struct lode_buffer *message, unsigned field, uint64_t number)
{
	lode_buffer_varint(message, (uint64_t)field << 3 | 1);
	lode_buffer_u64(message, number);
}

static inline void lode_protobuf_put_bytes(struct lode_buffer *message, unsigned field, const void *bytes,
					   size_t size)
{
	lode_buffer_varint(message, (uint64_t)field << 3 | 2);
	lode_buffer_varint(message, size);
	lode_buffer_add(message, bytes, size);
}

static inline void lode_protobuf_put_text(struct lode_buffer *message, unsigned field, const char *text)
{
	lode_protobuf_put_bytes(message, field, text, strlen(text));
}

/* Adds `inner` as a field, and empties it. */
static inline void lode_protobuf_put_message(struct lode_buffer *message, unsigned field, struct lode_buffer *inner)
{
	message->failed |= inner->failed;
	lode_protobuf_put_bytes(message, field, inner->bytes ? inner->bytes : "", inner->size);
	lode_buffer_clear(inner);
}

#endif
