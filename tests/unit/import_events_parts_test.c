/*
 * Plain events read in parts by several threads against the same lines read one
 * by one: written with an escape in the key `type`, no line is plain, and yajl reads
 * them all, in one chunk. Streams, ids, notes and errors must be the same.
 */
#include "import_fixture.h"

static const char *pick(uint64_t *seed, const char *const *items, size_t count)
{
	return items[random_below(seed, count)];
}

#define PICK(seed, ...)                                                                                           \
	pick(seed, (const char *const[]){ __VA_ARGS__ },                                                          \
	     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

static void add_blanks(struct lode_buffer *text, uint64_t *seed)
{
	if (!random_below(seed, 12))
		lode_buffer_text(text, PICK(seed, " ", "  ", "\t", "    \t", "\v"));
}

/* ---- one line ---- */

static void add_frames(struct lode_buffer *text, uint64_t *seed)
{
	uint64_t count = random_below(seed, 6);

	lode_buffer_text(text, "[");
	for (uint64_t i = 0; i < count; i++) {
		add_blanks(text, seed);
		lode_buffer_text(text, i ? "," : "");
		add_blanks(text, seed);
		if (random_below(seed, 40))
			lode_buffer_print(text, "\"%s!f%u\"", PICK(seed, "app", "libc.so.6", "kernel", "[jit]"),
					  (unsigned)random_below(seed, 9));
		else
			lode_buffer_text(text,
					 PICK(seed, "\"\"", "\"a\\\"b\"", "\"\\u00e4\"", "\"\xc3\xa4!x\"", "7",
					      "\"\\u0000z\"", "null", "\"long name without any end at all\"",
					      "\"]\"", "\"a\x01\"", "\"\xff\""));
	}
	add_blanks(text, seed);
	lode_buffer_text(text, "]");
}

static void add_number(struct lode_buffer *text, uint64_t *seed)
{
	if (random_below(seed, 30))
		lode_buffer_print(text, "%u", (unsigned)random_below(seed, 9));
	else
		lode_buffer_text(text, PICK(seed, "18446744073709551615", "18446744073709551616", "4294967295",
					    "4294967294", "65535", "65534", "1e3", "2.0", "-1", "007", "null",
					    "2.5", "\"3\"", "-0", "99999999999999999999999"));
}

static void add_field(struct lode_buffer *text, uint64_t *seed, const char *name)
{
	lode_buffer_print(text, "\"%s\"", name);
	add_blanks(text, seed);
	lode_buffer_text(text, ":");
	add_blanks(text, seed);
	if (!strcmp(name, "stack") || !strcmp(name, "waker_stack"))
		add_frames(text, seed);
	else if (!strcmp(name, "name") || !strcmp(name, "object") || !strcmp(name, "context") ||
		 !strcmp(name, "extra"))
		lode_buffer_print(text, "\"%s\"", PICK(seed, "", "openat", "f1", "re\\tad", "kernel"));
	else
		add_number(text, seed);
}

/* An event with its fields in some order, some of them missing, twice or unknown. */
static void add_event(struct lode_buffer *text, uint64_t *seed)
{
	const char *fields[19] = { "t", "tid" };
	size_t count = 2;
	const char *type = PICK(seed, "run", "wait", "wait", "call");
	static const char *const may[] = { "pid",   "cpu",   "weight",      "stack",  "stack",  "name",
					   "delay", "waker", "waker_stack", "object", "holder", "context" };

	if (strcmp(type, "call") != 0)
		fields[count++] = "cost";
	for (size_t i = 0; i < sizeof(may) / sizeof(may[0]); i++)
		if (random_below(seed, 2))
			fields[count++] = may[i];
	if (!random_below(seed, 60))
		fields[count++] = PICK(seed, "extra", "cost", "t0", "tid");
	if (!random_below(seed, 200))
		count = random_below(seed, count + 1);
	lode_buffer_print(text, "%s{\"type\":\"%s\"", random_below(seed, 30) ? "" : " ", type);
	while (count) {
		size_t at = random_below(seed, count);

		lode_buffer_text(text, ",");
		add_blanks(text, seed);
		add_field(text, seed, fields[at]);
		fields[at] = fields[--count];
	}
	lode_buffer_text(text, "}");
	add_blanks(text, seed);
}

static void add_other(struct lode_buffer *text, uint64_t *seed)
{
	unsigned n = (unsigned)random_below(seed, 5);

	switch (random_below(seed, 8)) {
	case 0:
		lode_buffer_print(text, "{\"stream\":\"s%u\",\"host\":\"h\",\"attrs\":{\"a\":%u}}", n, n);
		break;
	case 1:
		lode_buffer_print(text, "{\"type\":\"thread\",\"tid\":%u,\"name\":\"%s\"}", n, n ? "worker" : "");
		break;
	case 2:
		lode_buffer_print(text, "{\"type\":\"module\",\"name\":\"app\",\"kind\":\"%s\",\"path\":\"/%u\"}",
				  PICK(seed, "user", "library"), n);
		break;
	case 3:
		lode_buffer_print(text, "{\"type\":\"symptom\",\"tid\":%u,\"t0\":1,\"t1\":2,\"name\":\"slow\"}", n);
		break;
	case 4:
		lode_buffer_text(text, "{\"type\":\"later\",\"tid\":1}");
		break;
	case 5:
		if (!random_below(seed, 60))
			lode_buffer_text(text, PICK(seed, "{\"type\":\"run\"", "[]", "nothing", "{} {}",
						    "\x1f\x8b", "{}"));
		break;
	default:
		lode_buffer_text(text, PICK(seed, "", "", " ", "\t"));
	}
}

static void add_lines(struct lode_buffer *text, uint64_t *seed, size_t lines)
{
	uint64_t others = 1 + random_below(seed, 30);

	lode_buffer_clear(text);
	if (!random_below(seed, 20))
		lode_buffer_text(text, "\xef\xbb\xbf");
	while (lines--) {
		if (random_below(seed, others))
			add_event(text, seed);
		else
			add_other(text, seed);
		if (lines || random_below(seed, 3))
			lode_buffer_text(text, random_below(seed, 20) ? "\n" : "\r\n");
	}
	if (text->size && !random_below(seed, 10))
		text->size -= random_below(seed, text->size < 30 ? text->size : 30);
}

/* ---- comparing ---- */

/* The same lines, none of them plain. */
static void escape_types(struct lode_buffer *escaped, const struct lode_buffer *text)
{
	lode_buffer_clear(escaped);
	for (size_t i = 0; i < text->size; i++) {
		if (text->size - i >= 6 && memcmp(text->bytes + i, "\"type\"", 6) == 0) {
			lode_buffer_text(escaped, "\"\\u0074ype\"");
			i += 5;
		} else {
			lode_buffer_byte(escaped, text->bytes[i]);
		}
	}
}

static void assert_same(const struct imported *one, const struct imported *other)
{
	assert_string_equal(one->error.text, other->error.text);
	assert_int_equal(one->code, other->code);
	assert_string_equal(one->text.bytes, other->text.bytes);
	assert_string_equal(one->ids.bytes, other->ids.bytes);
	assert_int_equal(one->notes.count, other->notes.count);
	for (size_t i = 0; i < one->notes.count; i++) {
		assert_string_equal(one->notes.items[i].what, other->notes.items[i].what);
		assert_int_equal(one->notes.items[i].count, other->notes.items[i].count);
		if (!strstr(one->notes.items[i].what, "cut off")) /* shows the line, as it is written */
			assert_string_equal(one->notes.items[i].example, other->notes.items[i].example);
	}
}

static void compare_once(uint64_t *seed, size_t lines, size_t chunk, int *succeeded)
{
	struct lode_import_options alone = { .jobs = 1 };
	struct lode_import_options several = { .jobs = 1 + (unsigned)random_below(seed, 4),
					       .chunk_bytes = 1 + random_below(seed, chunk) };
	struct lode_buffer text = { 0 }, escaped = { 0 };
	struct imported expected, got;

	add_lines(&text, seed, lines);
	escape_types(&escaped, &text);
	import_once(&expected, &lode_importer_events, escaped.bytes ? escaped.bytes : "", escaped.size, alone);
	import_once(&got, &lode_importer_events, text.bytes ? text.bytes : "", text.size, several);
	assert_same(&got, &expected);
	*succeeded += got.code == 0;
	release_imported(&expected);
	release_imported(&got);
	lode_buffer_release(&text);
	lode_buffer_release(&escaped);
}

static void parts_give_what_lines_one_by_one_give(void **state)
{
	uint64_t seed = 71;
	int succeeded = 0;

	(void)state;
	for (int round = 0; round < 6000; round++)
		compare_once(&seed, random_below(&seed, 12), 200, &succeeded);
	for (int round = 0; round < 500; round++)
		compare_once(&seed, random_below(&seed, 120), 3000, &succeeded);
	assert_in_range(succeeded, 2000, 6400);
}

/* Lines that are not plain, one behind each event: more pieces than a part may have. */
static void lines_that_alternate_are_all_read(void **state)
{
	struct lode_import_options several = { .jobs = 2, .chunk_bytes = 20000 }, alone = { .jobs = 1 };
	struct lode_buffer text = { 0 }, escaped = { 0 };
	struct imported expected, got;

	(void)state;
	for (int i = 0; i < 2000; i++)
		lode_buffer_print(&text,
				  "{\"type\":\"run\",\"t\":%d,\"cost\":1,\"tid\":%d,\"stack\":[\"a!f%d\",\"g\"]}\n"
				  "{\"type\":\"thread\",\"tid\":%d,\"name\":\"n%d\"}\n",
				  i, i % 7, i % 50, i % 5, i);
	lode_buffer_text(&text, "wrong\n");
	escape_types(&escaped, &text);
	import_once(&expected, &lode_importer_events, escaped.bytes, escaped.size, alone);
	import_once(&got, &lode_importer_events, text.bytes, text.size, several);
	assert_same(&got, &expected);
	assert_non_null(strstr(got.error.text, "x.y.gz:4001: "));
	release_imported(&expected);
	release_imported(&got);
	lode_buffer_release(&text);
	lode_buffer_release(&escaped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_give_what_lines_one_by_one_give),
		cmocka_unit_test(lines_that_alternate_are_all_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
