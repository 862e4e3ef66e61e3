/*
 * The page: what goes in comes out again, and nothing of it is taken for markup.
 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "page/page.h"
#include "page/page_columns.h"

#include <string.h>
#include <zlib.h>

/* What is between two texts, as a copy; NULL when they are not there. */
static char *between(const struct lode_buffer *page, const char *before, const char *after)
{
	const char *end = page->bytes + page->size;
	const char *start = memmem(page->bytes, page->size, before, strlen(before));
	const char *stop;

	if (!start)
		return NULL;
	start += strlen(before);
	stop = memmem(start, (size_t)(end - start), after, strlen(after));
	return stop ? lode_strndup(start, (size_t)(stop - start)) : NULL;
}

/* An independent reading of base64: bit by bit. */
static size_t decode(const char *text, unsigned char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = 0;
	int count = 0;
	size_t size = 0;

	for (; *text && *text != '='; text++) {
		const char *digit = strchr(digits, *text);

		assert_non_null(digit);
		bits = bits << 6 | (unsigned)(digit - digits);
		count += 6;
		if (count >= 8) {
			count -= 8;
			out[size++] = (unsigned char)(bits >> count);
		}
	}
	return size;
}

static void check_block(const void *bytes, size_t size)
{
	struct lode_buffer page = { 0 };
	unsigned char *packed, *unpacked = lode_alloc(size + 1);
	uLongf length = size + 1;
	char *text;

	lode_page_block(&page, "some/name", bytes, size);
	assert_false(page.failed);
	text = between(&page, "data-block=\"some/name\">", "</script>");
	assert_non_null(text);
	packed = lode_alloc(strlen(text) + 1);
	assert_int_equal(uncompress(unpacked, &length, packed, decode(text, packed)), Z_OK);
	assert_int_equal(length, size);
	assert_memory_equal(unpacked, bytes, size);
	lode_free(text);
	lode_free(packed);
	lode_free(unpacked);
	lode_buffer_release(&page);
}

static void blocks_come_out_as_they_went_in(void **state)
{
	char bytes[300];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * i * 31 + i);
	for (size_t size = 0; size < sizeof(bytes); size++)
		check_block(bytes, size);
}

static void a_title_is_never_markup(void **state)
{
	struct lode_buffer page = { 0 };
	char *title, *index;

	(void)state;
	if (lode_page_is_there(NULL))
		skip();
	lode_page_begin(&page, "</title></script><b>\"&'");
	title = between(&page, "<title>", "</title>");
	assert_string_equal(title, "&lt;/title&gt;&lt;/script&gt;&lt;b&gt;&quot;&amp;&#39;");
	index = between(&page, "id=\"lode-page\">", "</script>");
	assert_non_null(index);
	assert_null(strchr(index, '<'));
	assert_non_null(strstr(index, "\"title\":\"\\u003c/title"));
	lode_free(title);
	lode_free(index);
	lode_buffer_release(&page);
}

static void columns_are_where_the_head_says(void **state)
{
	struct lode_page_columns columns = { 0 };
	struct lode_buffer head = { 0 }, out = { 0 };
	struct lode_json json;
	uint32_t size;
	double *f64, value;

	(void)state;
	memcpy(lode_page_columns_u8(&columns, "bytes", 3), "abc", 3);
	f64 = lode_page_columns_f64(&columns, "numbers", 2);
	f64[0] = 1.5;
	f64[1] = -2;
	assert_non_null(lode_page_columns_u32(&columns, "none", 0));
	json = (struct lode_json){ .buffer = &head };
	lode_json_object(&json);
	lode_page_columns_json(&columns, &json);
	lode_json_object_end(&json);
	lode_page_columns_pack(&columns, &head, &out);
	assert_false(out.failed);
	memcpy(&size, out.bytes, sizeof(size));
	assert_int_equal(size, head.size);
	assert_non_null(
		memmem(out.bytes, out.size, "\"name\":\"numbers\",\"type\":\"f64\",\"offset\":8,\"count\":2", 50));
	memcpy(&value, out.bytes + (4 + size + 7) / 8 * 8 + 16, sizeof(value));
	assert_true(value == -2);
	assert_memory_equal(out.bytes + (4 + size + 7) / 8 * 8, "abc", 3);
	lode_page_columns_release(&columns);
	lode_buffer_release(&head);
	lode_buffer_release(&out);
}

/* The page's tests read random ones back; here is one by hand. */
static void columns_are_coded_by_what_came_before(void **state)
{
	static const double starts[] = { 10, 40, 70, 1000 }, lengths[] = { 29, 30, 930, 1 };
	struct lode_page_columns columns = { 0 };

	(void)state;
	memcpy(lode_page_columns_f64(&columns, "t", 4), starts, sizeof(starts));
	memcpy(lode_page_columns_f64(&columns, "cost", 4), lengths, sizeof(lengths));
	*lode_page_columns_f64(&columns, "half", 1) = 0.5;
	lode_page_columns_predict(&columns, "t", "cost", "nothing");
	lode_page_columns_code(&columns);
	assert_false(columns.failed | columns.data.failed);
	assert_true(columns.items[0].predicted);
	assert_int_equal(columns.items[0].size, 4);
	assert_memory_equal(columns.data.bytes, "\x14\x02\0\0", 4);
	assert_false(columns.items[2].coded);
	assert_int_equal(columns.items[2].offset, 16);
	assert_int_equal(columns.items[2].size, sizeof(double));
	lode_page_columns_release(&columns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_coded_by_what_came_before),
		cmocka_unit_test(blocks_come_out_as_they_went_in),
		cmocka_unit_test(a_title_is_never_markup),
		cmocka_unit_test(columns_are_where_the_head_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
