/*
 * Python frames in images of processes of several versions (tests/data/python), which other programs wrote: what is found is what the
 * program had. And in images that were damaged, at random and on purpose: nothing is read without end.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "process/languages/languages.h"
#include "process/languages/python_lines.h"
#include "process/languages/python_threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS 256
#define FRAMES 64
#define LINE   8192
#define CHAIN  511
/* Readings of one walk, at most: a state takes two, a frame takes two, a C frame two. */
#define MAX_READS (3 * (LODE_PYTHON_STATES + CHAIN + 256))

struct chunk {
	uint64_t address;
	size_t size;
	unsigned char bytes[2048];
};

struct image {
	struct lode_python_image python;
	struct lode_python_process process;
	uint64_t number;
	struct chunk chunks[CHUNKS];
	size_t count;
	char *frames[FRAMES]; /* "frame FUNCTION LINE FILE", "at LINE" or "place" */
	size_t frame_count;
	size_t reads;
};

/* ---- images ---- */

static size_t read_image(void *context, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
	struct image *image = context;
	size_t best = 0;

	(void)pid;
	image->reads++;
	for (size_t i = 0; i < image->count; i++) {
		const struct chunk *chunk = &image->chunks[i];
		uint64_t at = address - chunk->address;
		size_t got = at < chunk->size ? chunk->size - at : 0;

		if (got > size)
			got = size;
		if (got <= best)
			continue;
		memcpy(bytes, chunk->bytes + at, got);
		best = got;
	}
	return best;
}

static struct lode_process_memory memory_of(struct image *image)
{
	return (struct lode_process_memory){ image, read_image };
}

static void take_memory(struct image *image, const char *text)
{
	struct chunk *chunk = &image->chunks[image->count++];
	char *at;

	assert_true(image->count <= CHUNKS);
	chunk->address = strtoull(text, &at, 16);
	for (at++; at[0] && at[1]; at += 2) {
		unsigned byte;

		assert_int_equal(sscanf(at, "%2x", &byte), 1);
		assert_true(chunk->size < sizeof(chunk->bytes));
		chunk->bytes[chunk->size++] = (unsigned char)byte;
	}
}

static void take_numbers(void *numbers, size_t size, const char *text)
{
	char *at = (char *)(uintptr_t)text;

	for (size_t i = 0; i < size / sizeof(uint32_t); i++)
		((uint32_t *)numbers)[i] = (uint32_t)strtoul(at, &at, 10);
}

static void take_line(struct image *image, const char *line)
{
	struct lode_python_image *python = &image->python;

	if (!strncmp(line, "memory ", 7))
		take_memory(image, line + 7);
	else if (!strncmp(line, "layout ", 7))
		take_numbers(&python->layout, sizeof(python->layout), line + 7);
	else if (!strncmp(line, "objects ", 8))
		take_numbers(&python->objects, sizeof(python->objects), line + 8);
	else if (!strncmp(line, "lines ", 6))
		take_numbers(&python->lines, sizeof(python->lines), line + 6);
	else if (!strncmp(line, "python ", 7))
		assert_int_equal(sscanf(line, "python %" SCNx32 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNu64,
					&python->version, &image->process.bias, &python->interpreters,
					&python->code_type, &image->number),
				 5);
	else if (image->frame_count < FRAMES)
		image->frames[image->frame_count++] = strdup(line);
}

static struct image *load(const char *name)
{
	struct image *image = calloc(1, sizeof(*image));
	char path[512], *line = malloc(LINE);
	FILE *file;

	assert_non_null(image);
	assert_non_null(line);
	snprintf(path, sizeof(path), TEST_DATA "/python/%s.image", name);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, LINE, file)) {
		line[strcspn(line, "\n")] = '\0';
		take_line(image, line);
	}
	fclose(file);
	free(line);
	image->process.image = &image->python;
	image->process.pid = 1;
	return image;
}

static void unload(struct image *image)
{
	for (size_t i = 0; i < image->frame_count; i++)
		free(image->frames[i]);
	free(image);
}

static const char *const names[] = { "3.11", "3.13", "3.14" };
#define NAMES (sizeof(names) / sizeof(*names))

/* ---- as they are ---- */

static void assert_frame(struct image *image, uint64_t word, const char *expected)
{
	struct lode_process_memory memory = memory_of(image);
	struct lode_buffer path = { 0 }, function = { 0 };
	struct lode_language_facts facts = { 0 };
	char text[1024];

	assert_int_equal(lode_language_of(word), LODE_LANGUAGE_PYTHON);
	assert_int_equal(lode_python_name(&memory, &image->process, word, &path, &function, &facts), 1);
	snprintf(text, sizeof(text), "frame %s %" PRIu32 " %s", function.bytes, facts.line, path.bytes);
	assert_string_equal(text, expected);
	lode_buffer_release(&path);
	lode_buffer_release(&function);
}

static void assert_line(struct image *image, const uint64_t *word, const char *expected)
{
	struct lode_process_memory memory = memory_of(image);
	char text[32];

	assert_int_equal(word[1] >> LODE_LANGUAGE_SHIFT, LODE_LANGUAGE_POSITION);
	snprintf(text, sizeof(text), "at %" PRIu32, lode_python_line(&memory, &image->process, word[0], word[1]));
	assert_string_equal(text, expected);
}

static void assert_word(struct image *image, const uint64_t *chain, uint32_t i)
{
	if (!strcmp(image->frames[i], "place"))
		assert_int_equal(chain[i] >> LODE_LANGUAGE_SHIFT, LODE_LANGUAGE_PLACE);
	else if (image->frames[i][0] == 'a')
		assert_line(image, &chain[i - 1], image->frames[i]);
	else
		assert_frame(image, chain[i], image->frames[i]);
}

static void frames_of_several_versions_are_found(void **unused)
{
	(void)unused;
	for (size_t n = 0; n < NAMES; n++) {
		struct image *image = load(names[n]);
		struct lode_process_memory memory = memory_of(image);
		uint64_t chain[CHAIN], state = lode_python_thread(&memory, &image->process, image->number);
		uint32_t count = lode_python_chain(&memory, &image->process, state, chain, CHAIN);

		assert_true(state != 0);
		assert_int_equal(count, image->frame_count);
		assert_true(count > 10);
		for (uint32_t i = 0; i < count; i++)
			assert_word(image, chain, i);
		unload(image);
	}
}

static void the_threads_of_an_interpreter_are_compared_with_those_of_its_process(void **unused)
{
	(void)unused;
	for (size_t n = 0; n < NAMES; n++) {
		struct image *image = load(names[n]);
		struct lode_process_memory memory = memory_of(image);
		uint64_t right[] = { 7, image->number }, wrong[] = { 7, 8 };
		struct lode_python_process early = image->process;

		assert_int_equal(lode_python_fits(&memory, &image->process, right, 2), 1);
		assert_int_equal(lode_python_fits(&memory, &image->process, wrong, 2), 0);
		early.bias = 1ull << 40; /* nothing is there */
		assert_int_equal(lode_python_fits(&memory, &early, right, 2), -1);
		assert_true(lode_python_thread(&memory, &image->process, 7) == 0);
		unload(image);
	}
}

static void an_object_that_took_the_place_of_another_has_no_name(void **unused)
{
	struct image *image = load("3.11");
	struct lode_process_memory memory = memory_of(image);
	struct lode_buffer path = { 0 }, function = { 0 };
	uint64_t chain[CHAIN];
	struct lode_language_facts facts;

	(void)unused;
	lode_python_chain(&memory, &image->process, lode_python_thread(&memory, &image->process, image->number),
			  chain, CHAIN);
	assert_int_equal(lode_python_name(&memory, &image->process, chain[0] ^ 1ull << LODE_LANGUAGE_CHECK, &path,
					  &function, &facts),
			 0);
	/* Something else than a code object. */
	image->python.code_type += 8;
	assert_int_equal(lode_python_name(&memory, &image->process, chain[0], &path, &function, &facts), 0);
	lode_buffer_release(&path);
	lode_buffer_release(&function);
	unload(image);
}

/* ---- damaged ones ---- */

/* Everything that can be asked; only that it ends, soon, is checked. */
static void walk_all(struct image *image)
{
	struct lode_process_memory memory = memory_of(image);
	uint64_t chain[CHAIN], state;
	uint32_t count;

	image->reads = 0;
	state = lode_python_thread(&memory, &image->process, image->number);
	count = lode_python_chain(&memory, &image->process, state, chain, CHAIN);
	assert_true(count <= CHAIN);
	assert_true(image->reads <= MAX_READS);
	for (uint32_t i = 0; i < count; i++) {
		struct lode_buffer path = { 0 }, function = { 0 };
		struct lode_language_facts facts;

		lode_python_name(&memory, &image->process, chain[i], &path, &function, &facts);
		if (i)
			lode_python_line(&memory, &image->process, chain[i - 1], chain[i]);
		lode_buffer_release(&path);
		lode_buffer_release(&function);
	}
}

/* A word of the image becomes an address of the image, a huge number, or noise. */
static void damage(struct image *image, uint64_t *random)
{
	struct chunk *chunk = &image->chunks[random_below(random, image->count)];
	const struct chunk *other = &image->chunks[random_below(random, image->count)];
	uint64_t word = other->address;

	if (chunk->size < sizeof(word))
		return;
	if (random_below(random, 3) == 0)
		word = 1ull << 60;
	else if (random_below(random, 3) == 0)
		word = random_next(random);
	memcpy(chunk->bytes + random_below(random, chunk->size / 8) * 8, &word, sizeof(word));
}

static void damaged_images_are_walked_in_bounded_time(void **unused)
{
	uint64_t random = 1;

	(void)unused;
	for (size_t n = 0; n < NAMES; n++) {
		struct image *image = load(names[n]), *copy = malloc(sizeof(*copy));

		assert_non_null(copy);
		for (int round = 0; round < 2000; round++) {
			*copy = *image;
			copy->process.image = &copy->python;
			for (uint64_t i = random_below(&random, 8) + 1; i; i--)
				damage(copy, &random);
			walk_all(copy);
		}
		free(copy);
		unload(image);
	}
}

/* Memory in which every word is the address of itself, or of another place: all lists are cycles. */
static size_t read_cycle(void *context, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
	struct image *image = context;

	(void)pid;
	(void)address;
	image->reads++;
	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t word = 0x10000 + (image->reads & 0xff) * 8;

		memcpy((char *)bytes + i, &word, sizeof(word));
	}
	return size;
}

static void cyclic_lists_end(void **unused)
{
	(void)unused;
	for (size_t n = 0; n < NAMES; n++) {
		struct image *image = load(names[n]);
		struct lode_process_memory memory = { image, read_cycle };
		uint64_t chain[CHAIN];

		assert_true(lode_python_thread(&memory, &image->process, 3) == 0);
		assert_true(image->reads <= MAX_READS);
		image->reads = 0;
		assert_true(lode_python_chain(&memory, &image->process, 0x10000, chain, CHAIN) <= CHAIN);
		assert_true(image->reads <= MAX_READS);
		unload(image);
	}
}

/* ---- chains ---- */

/* The frames that a C frame runs. */
struct group {
	uint32_t first;
	uint32_t count;
	uint64_t place;
};

/* A chain of up to eight groups, and the groups. */
static uint32_t make_chain(uint64_t *random, uint64_t *chain, struct group *groups)
{
	uint64_t place = 100;
	uint32_t count = 0;

	for (int i = 0; i < 8; i++) {
		place += 1 + random_below(random, 30);
		groups[i] = (struct group){ count, (uint32_t)random_below(random, 4), place };
		for (uint32_t word = 0; word < groups[i].count; word++)
			chain[count++] = lode_language_word(LODE_LANGUAGE_PYTHON, 0, random_below(random, 500));
		chain[count++] = lode_language_word(LODE_LANGUAGE_PLACE, 0, place);
	}
	return count;
}

static void chains_are_divided_by_places(void **unused)
{
	uint64_t random = 2;

	(void)unused;
	for (int round = 0; round < 5000; round++) {
		struct group groups[8];
		uint64_t chain[64], start = 100, end;
		uint32_t count = make_chain(&random, chain, groups), at = 0;
		size_t next = 0;

		for (; start < 400; start = end) {
			uint32_t found;

			end = start + 1 + random_below(&random, 40);
			found = lode_language_chain_find(chain, count, &at, start, end);
			while (next < 8 && groups[next].place < start)
				next++;
			if (next < 8 && groups[next].place < end) {
				assert_int_equal(found, groups[next].count);
				assert_int_equal(at, groups[next].first);
				at += found + 1;
				next++;
			} else {
				assert_int_equal(found, 0);
			}
		}
	}
}

/* ---- names ---- */

static void languages_are_chosen_by_name(void **unused)
{
	struct lode_error error = { "" };
	unsigned bits;

	(void)unused;
	assert_int_equal(lode_languages_parse(NULL, &bits, &error), 0);
	assert_int_equal(bits, LODE_LANGUAGES_ALL);
	assert_int_equal(lode_languages_parse("javascript,python", &bits, &error), 0);
	assert_int_equal(bits,
			 LODE_LANGUAGE_BIT(LODE_LANGUAGE_PYTHON) | LODE_LANGUAGE_BIT(LODE_LANGUAGE_JAVASCRIPT));
	assert_int_equal(lode_languages_parse("java", &bits, &error), 0);
	assert_int_equal(bits, LODE_LANGUAGE_BIT(LODE_LANGUAGE_JAVA));
	assert_int_equal(lode_languages_parse("php", &bits, &error), 0);
	assert_int_equal(bits, LODE_LANGUAGE_BIT(LODE_LANGUAGE_PHP));
	assert_int_equal(lode_languages_parse("none", &bits, &error), 0);
	assert_int_equal(bits, 0);
	assert_int_equal(lode_languages_parse("python,python", &bits, &error), 0);
	assert_int_equal(bits, LODE_LANGUAGE_BIT(LODE_LANGUAGE_PYTHON));
	assert_int_equal(lode_languages_parse("python,cobol", &bits, &error), LODE_USAGE);
	assert_non_null(strstr(error.text, "'cobol'"));
	assert_int_equal(lode_languages_parse("", &bits, &error), LODE_USAGE);
}

static void what_cannot_be_read_is_called_that(void **unused)
{
	struct image *image = load("3.11");
	struct lode_process_memory memory = memory_of(image);
	struct lode_languages *languages = lode_languages_create(LODE_LANGUAGES_ALL, &memory);
	uint64_t word = lode_language_word(LODE_LANGUAGE_PYTHON, 0, 0x1000);

	(void)unused;
	assert_non_null(languages);
	assert_null(lode_languages_find(languages, 5, word, 0));
	/* It may be read later, so it is tried again, but not forever. */
	for (int i = 0; i < 100 && lode_languages_learn(languages, 5, word, 0) == 1; i++)
		assert_true(i < 20);
	assert_int_equal(lode_languages_learn(languages, 5, word, 0), 0);
	assert_string_equal(lode_languages_find(languages, 5, word, 0)->function, LODE_LANGUAGE_UNREADABLE);
	assert_string_equal(lode_languages_find(languages, 5, word, 0)->module, "python");
	assert_null(lode_languages_find(languages, 6, word, 0));
	lode_languages_destroy(languages);
	unload(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_several_versions_are_found),
		cmocka_unit_test(the_threads_of_an_interpreter_are_compared_with_those_of_its_process),
		cmocka_unit_test(an_object_that_took_the_place_of_another_has_no_name),
		cmocka_unit_test(damaged_images_are_walked_in_bounded_time),
		cmocka_unit_test(cyclic_lists_end),
		cmocka_unit_test(chains_are_divided_by_places),
		cmocka_unit_test(languages_are_chosen_by_name),
		cmocka_unit_test(what_cannot_be_read_is_called_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
