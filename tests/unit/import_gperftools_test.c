/* CPU profiles of gperftools: words of both sizes and byte orders, the memory map, the signal handler's frames. */
#include "import_fixture.h"

extern const struct lode_importer lode_importer_gperftools;

/* A profile under construction. */
struct profile {
	struct lode_buffer bytes;
	int wide;
	int swap;
};

static void put(struct profile *profile, uint64_t word)
{
	size_t size = profile->wide ? 8 : 4;
	char text[8];

	for (size_t i = 0; i < size; i++)
		text[profile->swap ? size - 1 - i : i] = (char)(word >> 8 * i);
	lode_buffer_add(&profile->bytes, text, size);
}

static void put_all(struct profile *profile, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(profile, words[i]);
}

#define PUT(profile, ...)                                                                                         \
	put_all(profile, (const uint64_t[]){ __VA_ARGS__ },                                                       \
		sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

#define MAP                                                                                                       \
	"1000-2000 r-xp 00000400 08:01 17 /opt/none/app\n2000-3000 rw-p 00001000 08:01 17 /opt/none/app\n"        \
	"7000-8000 r-xp 00000000 08:01 18 /opt/none/libx.so.1 (deleted)\nbuild=1\n"

static struct profile make(int wide, int swap)
{
	struct profile profile = { .wide = wide, .swap = swap };

	PUT(&profile, 0, 3, 0, 10000, 0);
	PUT(&profile, 2, 3, 0x1010, 0x7101, 0x1201);
	PUT(&profile, 1, 2, 0x9000, 0x1201);
	PUT(&profile, 5, 1, 0x1010);
	PUT(&profile, 0, 1, 0);
	lode_buffer_text(&profile.bytes, MAP);
	return profile;
}

static const struct lode_import_options bare = { .jobs = 1, .no_symbols = 1 };

static void assert_profile(struct profile *profile, const char *expected)
{
	struct imported imported;

	import_bytes(&imported, &lode_importer_gperftools, profile->bytes.bytes, profile->bytes.size, &bare);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	assert_string_equal(imported.text.bytes, expected);
	release_imported(&imported);
}

static void stacks_are_runs_one_behind_another(void **state)
{
	(void)state;
	for (int form = 0; form < 4; form++) {
		struct profile profile = make(form & 1, form >> 1);
		const unsigned char *bytes = (const unsigned char *)profile.bytes.bytes;

		assert_profile(&profile,
			       "stream x \n"
			       "attribute addresses=file offsets 0\n"
			       "module app user /opt/none/app \nmodule libx.so.1 library /opt/none/libx.so.1 \n"
			       "run 0+20000000 0 app!0x600|libx.so.1!0x100|app!0x410\n"
			       "run 20000000+10000000 0 app!0x600|0x9000\n"
			       "run 30000000+50000000 0 app!0x410\n");
		assert_int_equal(lode_importer_gperftools.sniff(bytes, profile.bytes.size, "x"), 90);
		lode_buffer_release(&profile.bytes);
	}
}

/* 0x5001 and then 0x5002 follow every leaf but one; the leaf 0x100 comes twice in the first stack. */
static void frames_of_the_signal_handler_are_left_out(void **state)
{
	struct profile profile = { .wide = 1 };
	struct lode_buffer expected = { 0 };

	(void)state;
	PUT(&profile, 0, 3, 0, 1, 0);
	PUT(&profile, 1, 5, 0x100, 0x5001, 0x5002, 0x100, 0x201);
	lode_buffer_text(&expected, "stream x \nrun 0+1000 0 0x200|0x100\n");
	for (unsigned i = 1; i < 40; i++) {
		PUT(&profile, 1, 4, 0x100 + i, 0x5001, 0x5002, 0x201 + i);
		lode_buffer_print(&expected, "run %u+1000 0 0x%x|0x%x\n", i * 1000, 0x200 + i, 0x100 + i);
	}
	PUT(&profile, 1, 2, 0x900, 0x901);
	lode_buffer_text(&expected, "run 40000+1000 0 0x900|0x900\n");
	PUT(&profile, 0, 1, 0);
	lode_buffer_byte(&expected, '\0');
	assert_profile(&profile, expected.bytes);
	lode_buffer_release(&expected);
	lode_buffer_release(&profile.bytes);
}

static void assert_refused(struct profile *profile, const char *part)
{
	struct imported imported;

	import_bytes(&imported, &lode_importer_gperftools, profile->bytes.bytes, profile->bytes.size, &bare);
	assert_int_equal(imported.code, LODE_BAD_INPUT);
	assert_non_null(strstr(imported.error.text, part));
	release_imported(&imported);
	lode_buffer_release(&profile->bytes);
}

static void what_profiles_may_not_be(void **state)
{
	struct profile header = { .wide = 1 }, empty = header, wrong = header, often = header;

	(void)state;
	PUT(&header, 0, 3, 1, 10000, 0);
	assert_refused(&header, "its header is wrong");
	PUT(&empty, 0, 3, 0, 10000, 0, 0, 1, 0);
	assert_refused(&empty, "no samples");
	PUT(&wrong, 0, 3, 0, 10000, 0, 1, UINT64_MAX, 7);
	assert_refused(&wrong, "cut off");
	PUT(&often, 0, 3, 0, 10000, 0, UINT64_MAX / 2, 1, 7, 0, 1, 0);
	assert_refused(&often, "impossible");
}

static void a_profile_that_is_cut_off_is_noted(void **state)
{
	struct profile profile = { .wide = 1 };
	struct imported imported;

	(void)state;
	PUT(&profile, 0, 3, 0, 10000, 0, 1, 1, 7, 1, 3, 8);
	import_bytes(&imported, &lode_importer_gperftools, profile.bytes.bytes, profile.bytes.size, &bare);
	assert_int_equal(imported.code, 0);
	assert_int_equal(note_count(&imported, "cut off"), 1);
	assert_non_null(strstr(imported.text.bytes, "run 0+10000000 0 0x7\n"));
	release_imported(&imported);
	lode_buffer_release(&profile.bytes);
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	struct profile profile = make(1, 0);

	(void)state;
	try_damaged(&lode_importer_gperftools, profile.bytes.bytes, profile.bytes.size, 3000);
	try_without_memory(&lode_importer_gperftools, profile.bytes.bytes, profile.bytes.size);
	lode_buffer_release(&profile.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_runs_one_behind_another),
		cmocka_unit_test(frames_of_the_signal_handler_are_left_out),
		cmocka_unit_test(what_profiles_may_not_be),
		cmocka_unit_test(a_profile_that_is_cut_off_is_noted),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
