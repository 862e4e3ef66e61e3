/*
 * Columns: see page_columns.h.
 */
#include "page/page_columns.h"

#include <string.h>

#define ALIGNMENT 8

void lode_page_columns_init(struct lode_page_columns *columns)
{
	memset(columns, 0, sizeof(*columns));
	lode_json_init(&columns->json, &columns->list);
	lode_json_array(&columns->json);
}

void lode_page_columns_release(struct lode_page_columns *columns)
{
	lode_buffer_release(&columns->data);
	lode_buffer_release(&columns->list);
}

static void *add(struct lode_page_columns *columns, const char *name, const char *type, size_t count, size_t width)
{
	static const char zeros[ALIGNMENT];
	size_t size = count * width;
	void *room;

	lode_json_object(&columns->json);
	lode_json_key_text(&columns->json, "name", name);
	lode_json_key_text(&columns->json, "type", type);
	lode_json_key_u64(&columns->json, "offset", columns->data.size);
	lode_json_key_u64(&columns->json, "count", count);
	lode_json_object_end(&columns->json);
	room = lode_buffer_room(&columns->data, size + ALIGNMENT);
	if (!room)
		return NULL;
	columns->data.size += size;
	lode_buffer_add(&columns->data, zeros, -size % ALIGNMENT);
	return room;
}

double *lode_page_columns_f64(struct lode_page_columns *columns, const char *name, size_t count)
{
	return add(columns, name, "f64", count, sizeof(double));
}

uint32_t *lode_page_columns_u32(struct lode_page_columns *columns, const char *name, size_t count)
{
	return add(columns, name, "u32", count, sizeof(uint32_t));
}

uint8_t *lode_page_columns_u8(struct lode_page_columns *columns, const char *name, size_t count)
{
	return add(columns, name, "u8", count, sizeof(uint8_t));
}

void lode_page_columns_json(struct lode_page_columns *columns, struct lode_json *head)
{
	lode_json_array_end(&columns->json);
	lode_json_key(head, "columns");
	lode_json_raw(head, columns->list.bytes, columns->list.size);
	head->buffer->failed |= columns->list.failed;
}

void lode_page_columns_pack(const struct lode_page_columns *columns, const struct lode_buffer *head, struct lode_buffer *out)
{
	static const char zeros[ALIGNMENT];
	size_t start = out->size;

	lode_buffer_u32(out, (uint32_t)head->size);
	lode_buffer_add(out, head->bytes, head->size);
	lode_buffer_add(out, zeros, -(out->size - start) % ALIGNMENT);
	lode_buffer_add(out, columns->data.bytes, columns->data.size);
	out->failed |= head->failed | columns->data.failed | (head->size > UINT32_MAX);
}
