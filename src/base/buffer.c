/* Buffer: see buffer.h. */
#include "base/buffer.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lode_buffer_release(struct lode_buffer *buffer)
{
	lode_free(buffer->bytes);
	memset(buffer, 0, sizeof(*buffer));
}

void lode_buffer_clear(struct lode_buffer *buffer)
{
	buffer->size = 0;
	buffer->failed = 0;
}

char *lode_buffer_room(struct lode_buffer *buffer, size_t more)
{
	if (buffer->failed)
		return NULL;
	if (more > SIZE_MAX - buffer->size || LODE_GROW(buffer->bytes, buffer->capacity, buffer->size + more) < 0) {
		buffer->failed = 1;
		return NULL;
	}
	return buffer->bytes + buffer->size;
}

void lode_buffer_add(struct lode_buffer *buffer, const void *bytes, size_t size)
{
	char *room = size ? lode_buffer_room(buffer, size) : NULL;

	if (!room)
		return;
	memcpy(room, bytes, size);
	buffer->size += size;
}

void lode_buffer_text(struct lode_buffer *buffer, const char *text)
{
	lode_buffer_add(buffer, text, strlen(text));
}

void lode_buffer_byte(struct lode_buffer *buffer, char byte)
{
	lode_buffer_add(buffer, &byte, 1);
}

void lode_buffer_print(struct lode_buffer *buffer, const char *format, ...)
{
	va_list arguments;
	int length;
	char *room;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0 || !(room = lode_buffer_room(buffer, (size_t)length + 1)))
		return;
	va_start(arguments, format);
	vsnprintf(room, (size_t)length + 1, format, arguments);
	va_end(arguments);
	buffer->size += (size_t)length;
}

void lode_buffer_number(struct lode_buffer *buffer, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	lode_buffer_add(buffer, digits + at, sizeof(digits) - at);
}

static void add_little_endian(struct lode_buffer *buffer, uint64_t number, size_t width)
{
	unsigned char bytes[8];

	for (size_t i = 0; i < width; i++)
		bytes[i] = (unsigned char)(number >> (8 * i));
	lode_buffer_add(buffer, bytes, width);
}

void lode_buffer_u32(struct lode_buffer *buffer, uint32_t number)
{
	add_little_endian(buffer, number, 4);
}

void lode_buffer_u64(struct lode_buffer *buffer, uint64_t number)
{
	add_little_endian(buffer, number, 8);
}

void lode_buffer_varint(struct lode_buffer *buffer, uint64_t number)
{
	unsigned char bytes[10];
	size_t size = 0;

	do {
		bytes[size] = (unsigned char)((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
		number >>= 7;
		size++;
	} while (number);
	lode_buffer_add(buffer, bytes, size);
}
