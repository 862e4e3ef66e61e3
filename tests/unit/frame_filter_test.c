/* Globs over frames and stacks, against a matcher that tries everything. */
#include "small_stream.h"

#include "scope/frame_filter.h"

static void globs_fit_whole_texts(void **state)
{
	(void)state;
	assert_true(lode_glob_match("", ""));
	assert_true(lode_glob_match("*", ""));
	assert_true(lode_glob_match("**", ""));
	assert_false(lode_glob_match("?", ""));
	assert_true(lode_glob_match("futex_*", "futex_wait"));
	assert_false(lode_glob_match("futex_*", "do_futex_wait"));
	assert_true(lode_glob_match("*futex*", "do_futex_wait"));
	assert_false(lode_glob_match("futex", "futex_wait"));
	assert_true(lode_glob_match("f?tex*wait", "futex_do_wait"));
	assert_false(lode_glob_match("Futex*", "futex_wait"));
}

static void a_question_mark_is_one_character_however_many_bytes_it_has(void **state)
{
	(void)state;
	assert_true(lode_glob_match("?", "\xc3\xa4"));
	assert_false(lode_glob_match("??", "\xc3\xa4"));
	assert_false(lode_glob_match("*??", "\xc3\xa4"));
	assert_true(lode_glob_match("a?c", "a\xe2\x82\xac"
					   "c"));
	assert_true(lode_glob_match("*?", "\x80\x80")); /* no UTF-8, but no harm either */
}

/* The definition, without a thought for time. */
static const char *behind_character(const char *text)
{
	for (text++; ((unsigned char)*text & 0xc0) == 0x80;)
		text++;
	return text;
}

static int slow_match(const char *glob, const char *text)
{
	if (!*glob)
		return !*text;
	if (*glob == '*')
		return slow_match(glob + 1, text) || (*text && slow_match(glob, behind_character(text)));
	if (*glob == '?')
		return *text && slow_match(glob + 1, behind_character(text));
	return *glob == *text && slow_match(glob + 1, text + 1);
}

static void any_glob_fits_what_its_definition_says(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		static const char *const parts[] = { "a", "b", "\u00e9", "*", "?" };
		char glob[16] = "", text[24] = "";

		for (size_t left = random_below(&seed, 8); left--;)
			strcat(glob, parts[random_below(&seed, 5)]);
		for (size_t left = random_below(&seed, 12); left--;)
			strcat(text, parts[random_below(&seed, 3)]);
		assert_int_equal(lode_glob_match(glob, text), slow_match(glob, text));
	}
}

/* One way of trying needs the number of ways to place 20 stars in 2000 letters. */
static void many_stars_take_no_longer(void **state)
{
	char text[2001];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_false(lode_glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
	assert_true(lode_glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*", text));
}

static int frame_fits(struct small_stream *small, const char *frame, const char *glob)
{
	return lode_frame_matches(&small->dictionary.frames,
				  lode_frames_parse(&small->dictionary.frames, frame, strlen(frame)), glob);
}

static void a_glob_with_a_module_looks_at_the_module(void **state)
{
	struct small_stream small;

	(void)state;
	small_begin(&small);
	assert_true(frame_fits(&small, "libc.so.6!read", "read"));
	assert_true(frame_fits(&small, "libc.so.6!read", "libc.so.6!read"));
	assert_true(frame_fits(&small, "libc.so.6!read", "libc*!*"));
	assert_true(frame_fits(&small, "libc.so.6!read", "*!read"));
	assert_false(frame_fits(&small, "libc.so.6!read", "libc.so.6"));
	assert_false(frame_fits(&small, "libc.so.6!read", "kernel!read"));
	assert_false(frame_fits(&small, "libc.so.6!read", "libc.so.6!"));
	assert_true(frame_fits(&small, "read", "read"));
	assert_true(frame_fits(&small, "read", "*!read"));
	assert_true(frame_fits(&small, "read", "!read"));
	assert_false(frame_fits(&small, "libc.so.6!read", "!read"));
	assert_true(frame_fits(&small, "app!operator!=", "operator!="));
	assert_true(frame_fits(&small, "app!operator!=", "app!operator!=*"));
	small_end(&small);
}

static void a_name_fits_whole_words(void **state)
{
	static const struct {
		const char *name, *function;
		int fits;
	} cases[] = {
		{ "lock", "lock", 1 },
		{ "lock", "mutex_lock", 1 },
		{ "lock", "pthread_mutex_lock", 1 },
		{ "lock", "__lock_page.isra.0", 1 },
		{ "lock", "std::mutex::lock()", 1 },
		{ "lock", "FileLock", 1 },
		{ "lock", "HTTPLock", 1 },
		{ "lock", "lock64", 1 },
		{ "Lock", "mutex_lock", 1 },
		{ "lock", "clock_nanosleep", 0 },
		{ "lock", "unlock", 0 },
		{ "lock", "block_read", 0 },
		{ "lock", "locked", 0 },
		{ "lock", "Locker", 0 },
		{ "lock", "", 0 },
		{ "mutex_lock", "pthread_mutex_lock_full", 1 },
		{ "mutex_lock", "mutex_unlock", 0 },
		{ "x lock", "lock", 0 },
		{ "read6", "read64", 0 },
		{ "operator new(unsigned long)", "operator new(unsigned long)", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (lode_words_match(cases[i].name, cases[i].function) != cases[i].fits)
			fail_msg("'%s' in '%s'", cases[i].name, cases[i].function);
}

static void a_name_is_words_a_glob_or_a_whole_frame(void **state)
{
	static const struct {
		const char *name;
		const char *fit;
	} cases[] = {
		{ "lock", "110" },      { "*lock*", "111" }, { "app!lock", "100" },
		{ "app!*lock", "110" }, { "l?ck", "100" },
	};
	static const char *const names[] = { "app!lock", "app!mutex_lock", "kernel!clock_nanosleep" };
	struct lode_dictionary dictionary;
	uint32_t frames[3];

	(void)state;
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	for (int i = 0; i < 3; i++)
		frames[i] = lode_frames_parse(&dictionary.frames, names[i], strlen(names[i]));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t *fit = lode_frames_named(&dictionary.frames, cases[i].name);

		assert_non_null(fit);
		for (int frame = 0; frame < 3; frame++)
			assert_int_equal(fit[frames[frame]], cases[i].fit[frame] - '0');
		lode_free(fit);
	}
	lode_dictionary_release(&dictionary);
}

static void a_stack_fits_when_one_of_its_frames_does(void **state)
{
	static const char *const globs[] = { "lock", "kernel!*", NULL };
	struct small_stream small;
	uint8_t *frames, *stacks;
	uint32_t plain, locked, deep, kernel;

	(void)state;
	small_begin(&small);
	plain = small_stack(&small, "app!main;app!load");
	locked = small_stack(&small, "app!main;app!lock");
	deep = small_stack(&small, "app!main;app!lock;app!wait;app!sleep");
	kernel = small_stack(&small, "app!main;kernel!schedule");
	frames = lode_frame_filter(&small.dictionary.frames, globs);
	stacks = lode_stack_filter(&small.dictionary.tree, frames);
	assert_int_equal(stacks[0], 0);
	assert_int_equal(stacks[plain], 0);
	assert_int_equal(stacks[locked], 1);
	assert_int_equal(stacks[deep], 1);
	assert_int_equal(stacks[kernel], 1);
	lode_free(frames);
	lode_free(stacks);
	small_end(&small);
}

static void without_memory_there_is_no_filter(void **state)
{
	static const char *const globs[] = { "*", NULL };
	static const uint8_t none[1] = { 0 };
	struct small_stream small;

	(void)state;
	small_begin(&small);
	lode_memory_fail_at(1, 1);
	assert_null(lode_frame_filter(&small.dictionary.frames, globs));
	assert_null(lode_stack_filter(&small.dictionary.tree, none));
	lode_memory_fail_at(0, 0);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(globs_fit_whole_texts),
		cmocka_unit_test(a_question_mark_is_one_character_however_many_bytes_it_has),
		cmocka_unit_test(any_glob_fits_what_its_definition_says),
		cmocka_unit_test(many_stars_take_no_longer),
		cmocka_unit_test(a_glob_with_a_module_looks_at_the_module),
		cmocka_unit_test(a_name_fits_whole_words),
		cmocka_unit_test(a_name_is_words_a_glob_or_a_whole_frame),
		cmocka_unit_test(a_stack_fits_when_one_of_its_frames_does),
		cmocka_unit_test(without_memory_there_is_no_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
