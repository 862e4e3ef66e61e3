/* Names of PHP functions: from a forged memory, whose structs are as the versions have them. */
#include "cmocka_all.h"

#include "process/languages/php_names.h"

#include <stdio.h>
#include <string.h>

#define BASE 0x7f0000000000ull

/* Where the forged memory has what; texts and structs do not overlap. */
enum {
	FUNCTION = 0,
	CLASS = 512,
	MODULE = 640,
	NAME = 1024,
	CLASS_NAME = 1280,
	FILE_NAME = 1536,
	EXTENSION = 2048,
	SIZE = 4096,
};

struct memory {
	unsigned char bytes[SIZE];
};

static size_t read_memory(void *context, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
	struct memory *memory = context;
	uint64_t at = address - BASE;

	(void)pid;
	if (at >= SIZE)
		return 0;
	if (size > SIZE - at)
		size = SIZE - at;
	memcpy(bytes, memory->bytes + at, size);
	return size;
}

static void put_word(struct memory *memory, size_t at, uint64_t word)
{
	memcpy(memory->bytes + at, &word, sizeof(word));
}

static void put_text(struct memory *memory, size_t at, const char *text, size_t length)
{
	put_word(memory, at + 16, length);
	memcpy(memory->bytes + at + 24, text, length);
	memory->bytes[at + 24 + length] = 0;
}

static const struct lode_php_image image = { .major = 8, .minor = 2, .file = 152, .line = 160, .module = 80 };

static struct lode_process_memory source_of(struct memory *memory)
{
	return (struct lode_process_memory){ memory, read_memory };
}

/* A method `Cart::total` of /srv/shop/cart.php, line 12. */
static void forge_method(struct memory *memory)
{
	memset(memory, 0, sizeof(*memory));
	put_word(memory, FUNCTION, 2);
	put_word(memory, FUNCTION + 8, BASE + NAME);
	put_word(memory, FUNCTION + 16, BASE + CLASS);
	put_word(memory, FUNCTION + 152, BASE + FILE_NAME);
	put_word(memory, FUNCTION + 160, 12);
	put_word(memory, CLASS + 8, BASE + CLASS_NAME);
	put_text(memory, NAME, "total", 5);
	put_text(memory, CLASS_NAME, "Cart", 4);
	put_text(memory, FILE_NAME, "/srv/shop/cart.php", 18);
}

static uint64_t word_of(const struct memory *memory)
{
	uint64_t words[3], file;

	memcpy(words, memory->bytes + FUNCTION, sizeof(words));
	memcpy(&file, memory->bytes + FUNCTION + 152, sizeof(file));
	if ((words[0] & 0xff) == LODE_PHP_INTERNAL)
		file = 0;
	return lode_language_word(LODE_LANGUAGE_PHP, lode_php_check((uint32_t)words[0], words[1], words[2], file),
				  BASE + FUNCTION);
}

/* Whether the function has this path and name; NULL: none. */
static int is_named(struct memory *memory, uint64_t word, const char *path, const char *function)
{
	struct lode_process_memory source = source_of(memory);
	struct lode_buffer paths = { 0 }, functions = { 0 };
	struct lode_language_facts facts = { 0 };
	int found = lode_php_name(&source, &image, 7, word, &paths, &functions, &facts);
	int same = found ? path && !strcmp(paths.bytes, path) && !strcmp(functions.bytes, function) : !path;

	if (!same)
		print_message("%s!%s\n", found ? paths.bytes : "none", found ? functions.bytes : "");
	lode_buffer_release(&paths);
	lode_buffer_release(&functions);
	return same;
}

static void functions_have_their_file_and_class(void **unused)
{
	struct memory memory;

	(void)unused;
	forge_method(&memory);
	assert_true(is_named(&memory, word_of(&memory), "/srv/shop/cart.php", "Cart::total"));
	put_word(&memory, FUNCTION + 16, 0);
	assert_true(is_named(&memory, word_of(&memory), "/srv/shop/cart.php", "total"));
	put_word(&memory, FUNCTION + 8, 0);
	assert_true(is_named(&memory, word_of(&memory), "/srv/shop/cart.php", "{main}"));
}

static void code_of_an_eval_is_in_the_file_that_has_it(void **unused)
{
	static const char file[] = "/srv/a(1)/page.php(12) : eval()'d code";
	struct memory memory;

	(void)unused;
	forge_method(&memory);
	put_word(&memory, FUNCTION, 4);
	put_word(&memory, FUNCTION + 8, 0);
	put_word(&memory, FUNCTION + 16, 0);
	put_text(&memory, FILE_NAME, file, strlen(file));
	assert_true(is_named(&memory, word_of(&memory), "/srv/a(1)/page.php", "{eval}"));
}

static void functions_written_in_c_have_their_extension(void **unused)
{
	struct memory memory;

	(void)unused;
	forge_method(&memory);
	put_word(&memory, FUNCTION, 1 | 0x200);
	put_word(&memory, FUNCTION + 16, 0);
	put_text(&memory, NAME, "in_array", 8);
	assert_true(is_named(&memory, word_of(&memory), "php:Core", "in_array"));
	put_word(&memory, FUNCTION + 80, BASE + MODULE);
	put_word(&memory, MODULE + 32, BASE + EXTENSION);
	memcpy(memory.bytes + EXTENSION, "standard", 9);
	assert_true(is_named(&memory, word_of(&memory), "php:standard", "in_array"));
}

static void names_of_anonymous_classes_end_before_their_file(void **unused)
{
	struct memory memory;

	(void)unused;
	forge_method(&memory);
	put_text(&memory, CLASS_NAME, "class@anonymous\0/srv/a.php:3$0", 30);
	assert_true(is_named(&memory, word_of(&memory), "/srv/shop/cart.php", "class@anonymous::total"));
	put_text(&memory, NAME, "a\nb\xff", 4);
	assert_true(is_named(&memory, word_of(&memory), "/srv/shop/cart.php", "class@anonymous::a?b?"));
}

static void what_took_the_place_of_a_function_has_no_name(void **unused)
{
	struct memory memory;
	uint64_t word;

	(void)unused;
	forge_method(&memory);
	word = word_of(&memory);
	put_word(&memory, FUNCTION + 152, BASE + FILE_NAME + 8);
	assert_true(is_named(&memory, word, NULL, NULL));
	forge_method(&memory);
	put_word(&memory, NAME + 16, 4); /* the text does not end where it says */
	assert_true(is_named(&memory, word, NULL, NULL));
	put_word(&memory, NAME + 16, 1ull << 60);
	assert_true(is_named(&memory, word, NULL, NULL));
	memset(&memory, 0, sizeof(memory));
	assert_true(is_named(&memory, word_of(&memory), NULL, NULL));
	assert_true(is_named(&memory, lode_language_word(LODE_LANGUAGE_PHP, 0, BASE - 4096), NULL, NULL));
}

/* Groups of frames of which only the order is known go to the C frames in order. */
static void chains_without_places_are_divided_in_order(void **unused)
{
	uint64_t next = lode_language_word(LODE_LANGUAGE_PLACE, 0, LODE_LANGUAGE_NEXT_PLACE);
	uint64_t chain[] = { 10, 11, next, 12, next };
	uint32_t at = 0;

	(void)unused;
	assert_int_equal(lode_language_chain_find(chain, 5, &at, 0x1000, 0x1100), 2);
	assert_int_equal(at, 0);
	at += 3;
	assert_int_equal(lode_language_chain_find(chain, 5, &at, 0x1100, 0x1200), 1);
	assert_int_equal(at, 3);
	at += 2;
	assert_int_equal(lode_language_chain_find(chain, 5, &at, 0x1200, 0x1300), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_their_file_and_class),
		cmocka_unit_test(code_of_an_eval_is_in_the_file_that_has_it),
		cmocka_unit_test(functions_written_in_c_have_their_extension),
		cmocka_unit_test(names_of_anonymous_classes_end_before_their_file),
		cmocka_unit_test(what_took_the_place_of_a_function_has_no_name),
		cmocka_unit_test(chains_without_places_are_divided_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
