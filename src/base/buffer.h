/*
 * Buffer: bytes that grow at the end. A failed append marks the buffer and all
 * later appends do nothing, so a writer checks once, at the end.
 */
#ifndef LODE_BASE_BUFFER_H
#define LODE_BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct lode_buffer {
	char *bytes;
	size_t size;
	size_t capacity;
	int failed; /* memory ran out somewhere on the way */
};

/* A zeroed struct is an empty buffer. */
void lode_buffer_release(struct lode_buffer *buffer);
/* Empties it, keeps its memory. */
void lode_buffer_clear(struct lode_buffer *buffer);
/* Makes room for `more` bytes behind the end; NULL when memory ran out. The size does not change. */
char *lode_buffer_room(struct lode_buffer *buffer, size_t more);
void lode_buffer_add(struct lode_buffer *buffer, const void *bytes, size_t size);
void lode_buffer_text(struct lode_buffer *buffer, const char *text);
void lode_buffer_byte(struct lode_buffer *buffer, char byte);
void lode_buffer_print(struct lode_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A decimal number, much faster than print. */
void lode_buffer_number(struct lode_buffer *buffer, uint64_t number);
/* Little-endian fixed width, and LEB128 (the varint of protobuf). */
void lode_buffer_u32(struct lode_buffer *buffer, uint32_t number);
void lode_buffer_u64(struct lode_buffer *buffer, uint64_t number);
void lode_buffer_varint(struct lode_buffer *buffer, uint64_t number);

#endif
