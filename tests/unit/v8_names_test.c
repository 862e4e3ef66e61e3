/*
 * JavaScript functions in images of processes of several versions (tests/data/v8), which Node.js wrote, and in a heap that is made
 * by hand: names are those that the program has. And in images that were damaged, at random and on purpose: nothing is read without end.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "process/languages/v8_strings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS 512
#define FRAMES 32
#define LINE   16384
/* Readings for one name, at most. */
#define MAX_READS 1600

struct chunk {
	uint64_t address;
	size_t size;
	unsigned char bytes[4096];
};

struct image {
	struct lode_v8_image v8;
	struct lode_v8_process process;
	struct chunk chunks[CHUNKS];
	size_t count;
	uint64_t frames[FRAMES][2];
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

static struct image *create(void)
{
	struct image *image = calloc(1, sizeof(*image));

	assert_non_null(image);
	image->process = (struct lode_v8_process){ &image->v8, 1 };
	return image;
}

static struct chunk *add_chunk(struct image *image, uint64_t address)
{
	struct chunk *chunk = &image->chunks[image->count++];

	assert_true(image->count <= CHUNKS);
	chunk->address = address;
	return chunk;
}

static void load_memory(struct image *image, const char *text)
{
	char *at;
	struct chunk *chunk = add_chunk(image, strtoull(text, &at, 16));

	for (at++; at[0] && at[1]; at += 2) {
		unsigned byte;

		assert_int_equal(sscanf(at, "%2x", &byte), 1);
		assert_true(chunk->size < sizeof(chunk->bytes));
		chunk->bytes[chunk->size++] = (unsigned char)byte;
	}
}

static void set_layout(struct lode_v8_image *v8)
{
	v8->layout = (struct lode_v8_layout){
		.frame_slots = v8->values[LODE_V8_FRAME_FUNCTION],
		.function_shared = (uint32_t)v8->values[LODE_V8_FUNCTION_SHARED],
		.shared_scope = (uint32_t)v8->values[LODE_V8_SHARED_SCOPE],
		.shared_script = (uint32_t)v8->values[LODE_V8_SHARED_SCRIPT],
		.map_type = (uint32_t)v8->values[LODE_V8_MAP_TYPE],
		.shared_type = (uint32_t)v8->values[LODE_V8_SHARED_TYPE],
	};
}

static void load_line(struct image *image, const char *line)
{
	char *at = (char *)(uintptr_t)line + strlen("values");

	if (!strncmp(line, "memory ", 7)) {
		load_memory(image, line + 7);
	} else if (!strncmp(line, "values ", 7)) {
		for (int i = 0; i < LODE_V8_VALUES; i++)
			image->v8.values[i] = (int32_t)strtol(at, &at, 10);
		set_layout(&image->v8);
	} else if (image->frame_count < FRAMES) {
		uint64_t *frame = image->frames[image->frame_count++];

		assert_int_equal(sscanf(line, "frame %" SCNx64 " %" SCNx64, &frame[0], &frame[1]), 2);
	}
}

static struct image *load(const char *name)
{
	struct image *image = create();
	char path[512], *line = malloc(LINE);
	FILE *file;

	assert_non_null(line);
	snprintf(path, sizeof(path), TEST_DATA "/v8/%s.image", name);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, LINE, file)) {
		line[strcspn(line, "\n")] = '\0';
		load_line(image, line);
	}
	fclose(file);
	free(line);
	return image;
}

static const char *const names[] = { "10.2", "11.3" };
#define NAMES (sizeof(names) / sizeof(*names))

/* "PATH!FUNCTION", "" when there is none. */
static void name_of(struct image *image, uint64_t word, char *text, size_t room)
{
	struct lode_process_memory memory = memory_of(image);
	struct lode_buffer path = { 0 }, function = { 0 };
	uint32_t line = 0;

	*text = '\0';
	image->reads = 0;
	if (lode_v8_name(&memory, &image->process, word, &path, &function, &line))
		snprintf(text, room, "%s!%s", path.bytes, function.bytes);
	assert_true(image->reads <= MAX_READS);
	lode_buffer_release(&path);
	lode_buffer_release(&function);
}

static uint64_t word_of(struct image *image, const uint64_t *frame)
{
	struct lode_process_memory memory = memory_of(image);

	return lode_v8_word(&memory, &image->process, frame[0], frame[1]);
}

/* ---- as they are ---- */

static void functions_of_several_versions_have_their_names(void **unused)
{
	/* What tests/data/v8/sleeper.js does, innermost first. */
	static const char *const expected[] = {
		"/tmp/sleeper.js!sleep",
		"/tmp/sleeper.js!balance",
		"/tmp/sleeper.js!open",
		"/tmp/sleeper.js!größe_数",
		"/tmp/sleeper.js!exports.inferred",
		"!many",
		"/tmp/sleeper.js!steps",
		"!next",
		"/tmp/sleeper.js!(anonymous):38",
		"!map",
		"/tmp/sleeper.js!later",
		"!(anonymous)",
		"node:internal/process/task_queues!processTicksAndRejections",
	};

	(void)unused;
	for (size_t n = 0; n < NAMES; n++) {
		struct image *image = load(names[n]);
		char text[512];

		assert_int_equal(image->frame_count, sizeof(expected) / sizeof(*expected));
		for (size_t i = 0; i < image->frame_count; i++) {
			uint64_t word = word_of(image, image->frames[i]);

			assert_int_equal(lode_language_of(word), LODE_LANGUAGE_JAVASCRIPT);
			name_of(image, word, text, sizeof(text));
			assert_string_equal(text, expected[i]);
			/* Another function at that address. */
			name_of(image, word ^ 1ull << LODE_LANGUAGE_CHECK, text, sizeof(text));
			assert_string_equal(text, "");
		}
		free(image);
	}
}

static void frames_of_other_kinds_have_no_function(void **unused)
{
	struct image *image = load("11.3");
	uint64_t frame[2] = { image->frames[0][0], image->frames[0][1] };

	(void)unused;
	frame[1] = 22 << 1; /* the mark of an internal frame */
	assert_true(word_of(image, frame) == 0);
	frame[1] = image->frames[0][1];
	frame[0]++;
	assert_true(word_of(image, frame) == 0);
	frame[0] = frame[1]; /* a context is none */
	assert_true(word_of(image, frame) == 0);
	free(image);
}

/* ---- strings of all forms, in a heap that is made by hand ---- */

#define MAPS   0x10000ull
#define MAP(n) (MAPS + (uint64_t)(n)*64 + LODE_V8_TAG)

/* An object with the map of a type, which is added, and these words behind it. Returns the pointer to it. */
static uint64_t add_object(struct image *image, int32_t type, const void *words, size_t size)
{
	static uint64_t next = 0x100000;
	struct chunk *chunk = add_chunk(image, next), *map = add_chunk(image, MAP(image->count) - LODE_V8_TAG);
	uint64_t pointer = map->address + LODE_V8_TAG;
	uint16_t number = (uint16_t)type;

	map->size = 32;
	memcpy(map->bytes + image->v8.layout.map_type, &number, sizeof(number));
	memcpy(chunk->bytes, &pointer, 8);
	assert_true(size <= sizeof(chunk->bytes) - 8);
	memcpy(chunk->bytes + 8, words, size);
	chunk->size = 8 + size;
	next += 0x2000;
	return chunk->address + LODE_V8_TAG;
}

#define ONE_BYTE 8

static uint64_t add_text(struct image *image, const char *text, uint64_t length)
{
	unsigned char words[512] = { 0 };

	length <<= 32;
	memcpy(words, &length, 8);
	memcpy(words + 8, text, strlen(text));
	return add_object(image, ONE_BYTE, words, 8 + (strlen(text) | 7) + 1);
}

static uint64_t add_pair(struct image *image, int32_t type, uint64_t length, uint64_t first, uint64_t second)
{
	uint64_t words[] = { length << 32, first, second };

	return add_object(image, type, words, sizeof(words));
}

static void assert_string(struct image *image, uint64_t string, size_t limit, const char *expected)
{
	struct lode_process_memory memory = memory_of(image);
	struct lode_v8_reader reader = { &memory, &image->process, 200 };
	struct lode_buffer buffer = { 0 };
	int is_read = lode_v8_add_string(&reader, string, limit, &buffer);

	lode_buffer_add(&buffer, "", 1);
	assert_int_equal(is_read, expected != NULL);
	if (expected)
		assert_string_equal(buffer.bytes, expected);
	lode_buffer_release(&buffer);
}

static void strings_of_all_forms_are_read(void **unused)
{
	struct image *image = load("11.3");
	const int32_t *values = image->v8.values;
	static const uint16_t wide[] = { 0, 0, 0x4e00, 'x', 0xd800, 7, 0, 0, 0, 0 };
	uint64_t wide_words[3] = { 4ull << 32 }, hello, world, both, sliced, outside[3];

	(void)unused;
	memcpy(wide_words + 1, wide + 2, 16);
	hello = add_text(image, "hello ", 6);
	world = add_text(image, "world", 5);
	assert_string(image, hello, 100, "hello ");
	assert_string(image, hello, 3, "hel");
	assert_string(image, add_object(image, 0, wide_words, sizeof(wide_words)), 100, "\xe4\xb8\x80x??");
	both = add_pair(image, values[LODE_V8_STRING_CONS] | ONE_BYTE, 11, hello, world);
	assert_string(image, both, 100, "hello world");
	assert_string(image, both, 8, "hello wo");
	sliced = add_pair(image, values[LODE_V8_STRING_SLICED] | ONE_BYTE, 4, both, 4ull << 32);
	assert_string(image, sliced, 100, "o wo");
	assert_string(image, add_pair(image, values[LODE_V8_STRING_THIN] | ONE_BYTE, 4, sliced, 0), 100, "o wo");
	outside[0] = 5ull << 32;
	outside[1] = 0;
	outside[2] = world - LODE_V8_TAG + 16;
	assert_string(image,
		      add_object(image, values[LODE_V8_STRING_EXTERNAL] | ONE_BYTE, outside, sizeof(outside)), 100,
		      "world");
	assert_string(image, add_object(image, values[LODE_V8_SCRIPT_TYPE], outside, sizeof(outside)), 100, NULL);
	/* Longer than what is there, by far. */
	assert_string(image, add_text(image, "short", 1ull << 31), 1000, NULL);
	free(image);
}

/* What the collector is moving has its new address in place of its map. */
static void moved_objects_are_found(void **unused)
{
	struct image *image = load("11.3");
	struct lode_process_memory memory = memory_of(image);
	struct lode_v8_reader reader = { &memory, &image->process, 100 };
	uint64_t text = add_text(image, "moved", 5), old = add_text(image, "?????", 5),
		 address = text - LODE_V8_TAG;
	uint64_t owner = add_pair(image, 1, 0, old, 0);

	(void)unused;
	for (size_t i = 0; i < image->count; i++)
		if (image->chunks[i].address == old - LODE_V8_TAG)
			memcpy(image->chunks[i].bytes, &address, sizeof(address));
	assert_true(lode_v8_object(&reader, owner, 16) == text);
	assert_true(lode_v8_field(&reader, owner, 16) == old);
	free(image);
}

/* ---- damaged ones ---- */

static void strings_that_contain_themselves_end(void **unused)
{
	struct image *image = load("11.3");
	static const enum lode_v8_value forms[] = { LODE_V8_STRING_CONS, LODE_V8_STRING_SLICED,
						    LODE_V8_STRING_THIN };

	(void)unused;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		uint64_t string = add_pair(image, image->v8.values[forms[i]] | ONE_BYTE, 1u << 30, 0, 0);
		struct chunk *chunk = &image->chunks[image->count - 2];

		assert_true(chunk->address == string - LODE_V8_TAG);
		memcpy(chunk->bytes + 16, &string, 8);
		memcpy(chunk->bytes + 24, &string, 8);
		image->reads = 0;
		assert_string(image, string, 1000, NULL);
		assert_true(image->reads <= 200);
	}
	free(image);
}

/* A word of the image becomes a pointer into the image, a huge number, or noise. */
static void damage(struct image *image, uint64_t *random)
{
	struct chunk *chunk = &image->chunks[random_below(random, image->count)];
	const struct chunk *other = &image->chunks[random_below(random, image->count)];
	uint64_t word = other->address + LODE_V8_TAG;

	if (chunk->size < sizeof(word))
		return;
	if (random_below(random, 3) == 0)
		word = 1ull << 60 | 1ull << 31;
	else if (random_below(random, 3) == 0)
		word = random_next(random);
	memcpy(chunk->bytes + random_below(random, chunk->size / 8) * 8, &word, sizeof(word));
}

static void damaged_images_are_read_in_bounded_time(void **unused)
{
	uint64_t random = 1;

	(void)unused;
	for (size_t n = 0; n < NAMES; n++) {
		struct image *image = load(names[n]), *copy = malloc(sizeof(*copy));
		char text[4096];

		assert_non_null(copy);
		for (int round = 0; round < 300; round++) {
			*copy = *image;
			copy->process.image = &copy->v8;
			for (uint64_t i = random_below(&random, 8) + 1; i; i--)
				damage(copy, &random);
			for (size_t i = 0; i < image->frame_count; i++) {
				/* Words of before, too: what they lead to has changed since. */
				name_of(copy, word_of(image, image->frames[i]), text, sizeof(text));
				name_of(copy, word_of(copy, image->frames[i]), text, sizeof(text));
			}
		}
		free(copy);
		free(image);
	}
}

/* Memory in which every word is a pointer to some other place, of any type. */
static size_t read_cycle(void *context, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
	struct image *image = context;

	(void)pid;
	(void)address;
	image->reads++;
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = 0x10001 + (image->reads & 0xff) * 8;

		memcpy((char *)bytes + i, &word, size - i < 8 ? size - i : 8);
	}
	return size;
}

static void cyclic_pointers_end(void **unused)
{
	(void)unused;
	for (int32_t type = 0; type < 300; type++) {
		struct image *image = load("11.3");
		struct lode_process_memory memory = { image, read_cycle };
		struct lode_buffer path = { 0 }, function = { 0 };
		uint32_t line;

		image->v8.layout.shared_type = image->v8.values[LODE_V8_SHARED_TYPE] = type;
		lode_v8_name(&memory, &image->process, lode_v8_word(&memory, &image->process, 0x10001, 0x10001),
			     &path, &function, &line);
		assert_true(image->reads <= MAX_READS);
		lode_buffer_release(&path);
		lode_buffer_release(&function);
		free(image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_several_versions_have_their_names),
		cmocka_unit_test(frames_of_other_kinds_have_no_function),
		cmocka_unit_test(strings_of_all_forms_are_read),
		cmocka_unit_test(moved_objects_are_found),
		cmocka_unit_test(strings_that_contain_themselves_end),
		cmocka_unit_test(damaged_images_are_read_in_bounded_time),
		cmocka_unit_test(cyclic_pointers_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
