/* Arrays and failures in messages: see message.h. */
#include "base/message.h"

#include <limits.h>

void lode_message_fill_up(struct lode_buffer *message, size_t bytes)
{
	static const char zeros[8];

	lode_buffer_add(message, zeros, -bytes % 8);
}

void lode_message_add_array(struct lode_buffer *message, const void *items, size_t count, size_t size)
{
	lode_buffer_u64(message, count);
	if (count)
		lode_buffer_add(message, items, count * size);
	lode_message_fill_up(message, count * size);
}

void *lode_message_items(struct lode_cursor *cursor, uint64_t count, size_t size)
{
	uint64_t bytes, filled;

	if (__builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(bytes, -bytes % 8, &filled)) {
		cursor->failed = 1;
		return NULL;
	}
	return (void *)(uintptr_t)lode_cursor_bytes(cursor, filled);
}

void *lode_message_array(struct lode_cursor *cursor, size_t *count, size_t size)
{
	void *items;

	*count = lode_cursor_u64(cursor);
	items = lode_message_items(cursor, *count, size);
	if (cursor->failed)
		*count = 0;
	return items;
}

void lode_message_add_failure(struct lode_buffer *message, int code, const struct lode_error *error)
{
	lode_buffer_u64(message, (uint64_t)(int64_t)code);
	lode_buffer_text(message, error->text);
}

int lode_message_failure(struct lode_cursor *message, struct lode_error *error)
{
	int64_t code = (int64_t)lode_cursor_u64(message);
	size_t length = lode_cursor_left(message);

	if (!code)
		return 0;
	return lode_fail(error, code < 0 && code > INT_MIN ? (int)code : LODE_SYSTEM, "%.*s",
			 length < INT_MAX ? (int)length : INT_MAX, (const char *)message->next);
}
