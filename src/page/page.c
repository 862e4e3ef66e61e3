/*
 * The page: see page.h. The template (web/build.mjs) has three places to fill in. A block
 * is compressed by zlib and written as base64, which no browser takes for markup, in a
 * script element of a type that is never run.
 */
#include "page/page.h"

#include "base/markup.h"

#include <string.h>
#include <zlib.h>

#define TITLE_MARK "<!--title-->"
#define INDEX_MARK "<!--index-->"
#define DATA_MARK  "<!--data-->"
#define POLICY     "http-equiv=\"Content-Security-Policy\" content=\""

extern const char lode_page_template[];

int lode_page_is_there(struct lode_error *error)
{
	if (*lode_page_template)
		return 0;
	return lode_fail(error, LODE_USAGE,
			 "this lode was built without its page, since Node.js or its packages were missing; "
			 "use --json, or build it again with them (see README.md)");
}

void lode_page_policy(struct lode_buffer *policy)
{
	const char *start = strstr(lode_page_template, POLICY);

	if (start)
		start += strlen(POLICY);
	lode_buffer_add(policy, start ? start : "", start ? strcspn(start, "\"") : 0);
}

void lode_page_index_begin(struct lode_page_index *index, const char *title, const char *api, const char *symptom)
{
	memset(index, 0, sizeof(*index));
	index->json = (struct lode_json){ .buffer = &index->text };
	lode_json_object(&index->json);
	lode_json_key_text(&index->json, "title", title);
	lode_json_key_text(&index->json, "version", "lode " LODE_VERSION);
	if (api)
		lode_json_key_text(&index->json, "api", api);
	if (symptom)
		lode_json_key_text(&index->json, "symptom", symptom);
	lode_json_key_array(&index->json, "blocks");
}

void lode_page_index_block(struct lode_page_index *index, const char *name)
{
	lode_json_text(&index->json, name);
}

void lode_page_index_end(struct lode_page_index *index)
{
	lode_json_array_end(&index->json);
	lode_json_object_end(&index->json);
}

void lode_page_index_release(struct lode_page_index *index)
{
	lode_buffer_release(&index->text);
}

/* Only `<` can end the element; JSON has it in strings alone. */
static void write_index(struct lode_buffer *page, const struct lode_buffer *text)
{
	lode_buffer_text(page, "<script type=\"application/json\" id=\"lode-page\">");
	for (size_t i = 0; i < text->size; i++) {
		if (text->bytes[i] == '<')
			lode_buffer_text(page, "\\u003c");
		else
			lode_buffer_byte(page, text->bytes[i]);
	}
	lode_buffer_text(page, "</script>\n");
	page->failed |= text->failed;
}

void lode_page_begin_with(struct lode_buffer *page, const char *title, const struct lode_page_index *index)
{
	const char *title_mark = strstr(lode_page_template, TITLE_MARK);
	const char *after_title = title_mark + strlen(TITLE_MARK);
	const char *index_mark = strstr(after_title, INDEX_MARK);
	const char *after_index = index_mark + strlen(INDEX_MARK);

	lode_buffer_add(page, lode_page_template, (size_t)(title_mark - lode_page_template));
	lode_markup_text(page, title, strlen(title));
	lode_buffer_add(page, after_title, (size_t)(index_mark - after_title));
	write_index(page, &index->text);
	lode_buffer_add(page, after_index, (size_t)(strstr(after_index, DATA_MARK) - after_index));
}

void lode_page_begin(struct lode_buffer *page, const char *title)
{
	struct lode_page_index index;

	lode_page_index_begin(&index, title, NULL, NULL);
	lode_page_index_end(&index);
	lode_page_begin_with(page, title, &index);
	lode_page_index_release(&index);
}

void lode_page_end(struct lode_buffer *page)
{
	lode_buffer_text(page, strstr(lode_page_template, DATA_MARK) + strlen(DATA_MARK));
}

static void write_base64(struct lode_buffer *page, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *out = lode_buffer_room(page, (size + 2) / 3 * 4);

	if (!out)
		return;
	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		unsigned group = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
				 (left > 2 ? bytes[i + 2] : 0);

		*out++ = digits[group >> 18];
		*out++ = digits[group >> 12 & 63];
		*out++ = left > 1 ? digits[group >> 6 & 63] : '=';
		*out++ = left > 2 ? digits[group & 63] : '=';
	}
	page->size += (size + 2) / 3 * 4;
}

void lode_page_block(struct lode_buffer *page, const char *name, const void *bytes, size_t size)
{
	struct lode_buffer packed = { 0 };
	uLongf length = compressBound(size);
	char *room = lode_buffer_room(&packed, length);

	if (!room || compress2((Bytef *)room, &length, bytes, size, Z_DEFAULT_COMPRESSION) != Z_OK) {
		page->failed = 1;
	} else {
		lode_buffer_print(page, "<script type=\"text/plain\" data-block=\"%s\">", name);
		write_base64(page, (const unsigned char *)room, length);
		lode_buffer_text(page, "</script>\n");
	}
	lode_buffer_release(&packed);
}

void lode_page_write(struct lode_buffer *page, const char *title, const char *name, const struct lode_buffer *json)
{
	lode_page_begin(page, title);
	lode_page_block(page, name, json->bytes, json->size);
	lode_page_end(page);
	page->failed |= json->failed;
}
