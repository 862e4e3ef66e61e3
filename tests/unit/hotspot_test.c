/*
 * Java frames in the image of a process that is made here: what a HotSpot says of itself, names, inlined methods, and steps from each
 * place of a function on both architectures. And images that lie, on purpose and at random: nothing is read without end.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "process/languages/hotspot_lines.h"
#include "process/languages/hotspot_process.h"
#include "process/languages/hotspot_scopes.h"
#include "process/languages/language_words.h"

#include <stdlib.h>
#include <string.h>

#define BASE  0x7f0000000000ull
#define BYTES (1u << 20)

/* Where things are in the image. */
enum place {
	TABLE = 0x100,      /* offsets */
	VARIABLES = 0x800,  /* pointers to the code heaps and to the interpreter */
	ARRAY = 0x900,      /* of heaps */
	HEAPS = 0x940,      /* two of them */
	QUEUE = 0xb00,      /* of the interpreter's codelets */
	TEXTS = 0xc00,      /* names of CodeBlobs and codelets */
	SEGMENTS = 0x1000,  /* maps */
	METHOD = 0x3000,    /* a Method, */
	CONST = 0x3100,     /* its ConstMethod, */
	CONSTANTS = 0x3200, /* the constants of its class, */
	KLASS = 0x3400,     /* the class, */
	SYMBOLS = 0x3500,   /* and texts */
	OTHER = 0x3800,     /* another Method of that class */
	OTHER_CONST = 0x3900,
	STACK = 0x8000,
	CODE = 0x10000,  /* heap 0: compiled code */
	STUBS = 0x40000, /* heap 1: the interpreter */
	HEAP_BYTES = 0x10000,
	LINED = 0x60000,       /* a Method with lines, */
	LINED_CONST = 0x60100, /* and its ConstMethod */
};

#define CODE_AT   56 /* where bytecodes begin, from the ConstMethod on */
#define CODE_SIZE 40 /* where their number is, */
#define FLAGS_AT  44 /* and whether there are lines */

#define SHIFT       7
#define BLOB        (CODE + 16)
#define CODE_START  (BLOB + 0x400)
#define CODE_BYTES  0x400
#define COMPLETE    16
#define FRAME       96 /* bytes */
#define INTERPRETER (STUBS + 0x800)
#define SCOPES      (BLOB + 0x900)
#define METADATA    (BLOB + 0xa00)
#define PLACES      (BLOB + 0xb00)

/* Any will do, as long as they fit. */
static const uint32_t offsets[LODE_HOTSPOT_OFFSETS] = {
	[LODE_HOTSPOT_ARRAY_LENGTH] = 0,
	[LODE_HOTSPOT_ARRAY_DATA] = 8,
	[LODE_HOTSPOT_HEAP_MEMORY] = 8,
	[LODE_HOTSPOT_HEAP_SEGMAP] = 48,
	[LODE_HOTSPOT_HEAP_SHIFT] = 88,
	[LODE_HOTSPOT_SPACE_START] = 0,
	[LODE_HOTSPOT_SPACE_END] = 8,
	[LODE_HOTSPOT_SPACE_LOW] = 16,
	[LODE_HOTSPOT_QUEUE_BUFFER] = 8,
	[LODE_HOTSPOT_QUEUE_LIMIT] = 20,
	[LODE_HOTSPOT_QUEUE_COUNT] = 32,
	[LODE_HOTSPOT_CODELET_SIZE] = 8,
	[LODE_HOTSPOT_CODELET_DESCRIPTION] = 0,
	[LODE_HOTSPOT_BLOB_NAME] = 96,
	[LODE_HOTSPOT_BLOB_SIZE] = 12,
	[LODE_HOTSPOT_BLOB_COMPLETE] = 20,
	[LODE_HOTSPOT_BLOB_FRAME] = 28,
	[LODE_HOTSPOT_BLOB_START] = 32,
	[LODE_HOTSPOT_BLOB_END] = 40,
	[LODE_HOTSPOT_BLOB_METHOD] = 112,
	[LODE_HOTSPOT_BLOB_SCOPES] = 120,
	[LODE_HOTSPOT_BLOB_DEOPT] = 128,
	[LODE_HOTSPOT_BLOB_DEOPT_MH] = 136,
	[LODE_HOTSPOT_BLOB_ORIGINAL] = 300,
	[LODE_HOTSPOT_BLOB_PCS] = 268,
	[LODE_HOTSPOT_BLOB_PCS_END] = 272,
	[LODE_HOTSPOT_BLOB_METADATA] = 260,
	[LODE_HOTSPOT_METHOD_CONST] = 8,
	[LODE_HOTSPOT_CONST_CONSTANTS] = 8,
	[LODE_HOTSPOT_CONST_NAME] = 34,
	[LODE_HOTSPOT_CONST_CODE_SIZE] = CODE_SIZE,
	[LODE_HOTSPOT_CONST_FLAGS] = FLAGS_AT,
	[LODE_HOTSPOT_CONSTANTS_HOLDER] = 24,
	[LODE_HOTSPOT_CONSTANTS_SOURCE] = 54,
	[LODE_HOTSPOT_CONSTANTS_LENGTH] = 60,
	[LODE_HOTSPOT_KLASS_NAME] = 24,
	[LODE_HOTSPOT_SYMBOL_LENGTH] = 4,
	[LODE_HOTSPOT_SYMBOL_BODY] = 6,
};

struct image {
	unsigned char bytes[BYTES];
	size_t reads;
	int lines; /* whether names have them */
	struct lode_hotspot_image file;
	struct lode_hotspot hotspot;
};

static size_t read_image(void *context, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
	struct image *image = context;
	uint64_t at = address - BASE;

	(void)pid;
	image->reads++;
	if (at >= BYTES)
		return 0;
	if (size > BYTES - at)
		size = BYTES - at;
	memcpy(bytes, image->bytes + at, size);
	return size;
}

static struct lode_process_memory memory_of(struct image *image)
{
	return (struct lode_process_memory){ image, read_image };
}

/* ---- making an image ---- */

static void put64(struct image *image, uint32_t at, uint64_t word)
{
	memcpy(image->bytes + at, &word, sizeof(word));
}

static void put32(struct image *image, uint32_t at, uint32_t number)
{
	memcpy(image->bytes + at, &number, sizeof(number));
}

static void put16(struct image *image, uint32_t at, uint16_t number)
{
	memcpy(image->bytes + at, &number, sizeof(number));
}

static void put_address(struct image *image, uint32_t at, uint32_t place)
{
	put64(image, at, BASE + place);
}

static void put_text(struct image *image, uint32_t at, const char *text)
{
	memcpy(image->bytes + at, text, strlen(text) + 1);
}

static void put_symbol(struct image *image, uint32_t at, const char *text)
{
	put16(image, at + 4, (uint16_t)strlen(text));
	put_text(image, at + 6, text);
}

static void make_heap(struct image *image, uint32_t number, uint32_t start)
{
	uint32_t heap = HEAPS + number * 96, map = SEGMENTS + number * 0x400;

	put_address(image, ARRAY + 32 + number * 8, heap);
	put_address(image, heap + 8, start);
	put_address(image, heap + 16, start + HEAP_BYTES);
	put_address(image, heap + 48 + 16, map);
	put32(image, heap + 88, SHIFT);
	/* One block, from the start to the end: two hops from most segments. */
	for (uint32_t i = 0; i < HEAP_BYTES >> SHIFT; i++)
		image->bytes[map + i] = (unsigned char)(i % 254 ? i % 254 : i ? 254 : 0);
}

static void make_blob(struct image *image, uint32_t blob, const char *name, uint32_t name_at, uint32_t start,
		      uint32_t size)
{
	put_text(image, name_at, name);
	put_address(image, blob + 96, name_at);
	put32(image, blob + 12, 4096);
	put32(image, blob + 20, COMPLETE);
	put32(image, blob + 28, FRAME / 8);
	put_address(image, blob + 32, start);
	put_address(image, blob + 40, start + size);
}

static void make_method(struct image *image, uint32_t method, uint32_t const_method, uint16_t name)
{
	put_address(image, method + 8, const_method);
	put_address(image, const_method + 8, CONSTANTS);
	put16(image, const_method + 34, name);
}

/* Constants 1 to 3: the names of two methods, and of the source file. */
static void make_class(struct image *image)
{
	make_method(image, METHOD, CONST, 1);
	make_method(image, OTHER, OTHER_CONST, 2);
	put_address(image, CONSTANTS + 24, KLASS);
	put16(image, CONSTANTS + 54, 3);
	put32(image, CONSTANTS + 60, 4);
	for (uint32_t i = 1; i < 4; i++)
		put_address(image, CONSTANTS + 72 + i * 8, SYMBOLS + i * 64);
	put_symbol(image, SYMBOLS + 64, "handle");
	put_symbol(image, SYMBOLS + 128, "parse");
	put_symbol(image, SYMBOLS + 192, "Server.java");
	put_address(image, KLASS + 24, SYMBOLS + 256);
	put_symbol(image, SYMBOLS + 256, "org/example/Server$Worker");
}

/* Two codelets; the second one is where calls begin, and sets the frame pointer with its third instruction. */
static void make_interpreter(struct image *image)
{
	put_address(image, QUEUE + 8, INTERPRETER);
	put32(image, QUEUE + 20, 0x400);
	put32(image, QUEUE + 32, 2);
	put_text(image, TEXTS + 128, "return entry points");
	put_text(image, TEXTS + 192, "method entry point (kind = zerolocals)");
	put_address(image, INTERPRETER, TEXTS + 128);
	put32(image, INTERPRETER + 8, 0x100);
	put_address(image, INTERPRETER + 0x100, TEXTS + 192);
	put32(image, INTERPRETER + 0x108, 0x300);
#ifdef __aarch64__
	put32(image, INTERPRETER + 0x118, 0x910143fd); /* add x29, sp, #0x50 */
#else
	put32(image, INTERPRETER + 0x119, 0x90ec8b48); /* mov %rsp, %rbp */
#endif
}

/* At 0x40 of the code the other method is inlined in the first one. */
static void make_scopes(struct image *image, unsigned add)
{
	static const int32_t places[][4] = { { -1, 0, 0, 0 },
					     { 0x20, 1, 0, 0 },
					     { 0x40, 4, 0, 0 },
					     { INT32_MAX, 0, 0, 0 } };
	const unsigned char scopes[] = { 0, 0, 1, 2, 1, 2, 5 };

	put_address(image, BLOB + 120, SCOPES);
	put32(image, BLOB + 260, METADATA - BLOB);
	put32(image, BLOB + 268, PLACES - BLOB);
	put32(image, BLOB + 272, PLACES - BLOB + sizeof(places));
	memcpy(image->bytes + PLACES, places, sizeof(places));
	for (size_t i = 0; i < sizeof(scopes); i++)
		image->bytes[SCOPES + i] = (unsigned char)(scopes[i] + add);
	put_address(image, METADATA, METHOD);
	put_address(image, METADATA + 8, OTHER);
}

static void make_image(struct image *image)
{
	memset(image, 0, sizeof(*image));
	for (int i = 0; i < LODE_HOTSPOT_OFFSETS; i++) {
		put64(image, TABLE + (uint32_t)i * 8, offsets[i]);
		image->file.rows[i] = TABLE + (uint64_t)i * 8;
	}
	image->file.variables[LODE_HOTSPOT_CODE_HEAPS] = VARIABLES;
	image->file.variables[LODE_HOTSPOT_INTERPRETER] = VARIABLES + 8;
	image->file.sizes[LODE_HOTSPOT_BLOCK_SIZE] = 16;
	image->file.sizes[LODE_HOTSPOT_CODELET_HEADER] = 16;
	image->file.sizes[LODE_HOTSPOT_CONSTANTS_SIZE] = 72;
	image->file.sizes[LODE_HOTSPOT_PC_SIZE] = 16;
	image->file.sizes[LODE_HOTSPOT_CONST_METHOD_SIZE] = CODE_AT;
	put_address(image, VARIABLES, ARRAY);
	put_address(image, VARIABLES + 8, QUEUE);
	put32(image, ARRAY, 2);
	put_address(image, ARRAY + 8, ARRAY + 32);
	make_heap(image, 0, CODE);
	make_heap(image, 1, STUBS);
	make_interpreter(image);
	make_class(image);
	make_blob(image, BLOB, "nmethod", TEXTS, CODE_START, CODE_BYTES);
	make_blob(image, STUBS + 16, "StubRoutines (1)", TEXTS + 64, STUBS + 0x200, 0x8000);
	put_address(image, BLOB + 112, METHOD);
	make_scopes(image, 0);
}

static enum lode_hotspot_state read_it(struct image *image)
{
	struct lode_process_memory memory = memory_of(image);

	image->reads = 0;
	return lode_hotspot_read(&image->hotspot, &memory, &image->file, BASE, 1);
}

static struct image *ready_image(void)
{
	struct image *image = malloc(sizeof(*image));

	assert_non_null(image);
	make_image(image);
	assert_int_equal(read_it(image), LODE_HOTSPOT_READY);
	return image;
}

/* ---- what a process says ---- */

static void code_and_interpreter_are_found(void **state)
{
	struct image *image = ready_image();
	const struct lode_hotspot_process *code = &image->hotspot.code;

	(void)state;
	assert_int_equal(code->start, BASE + CODE);
	assert_int_equal(code->end, BASE + STUBS + HEAP_BYTES);
	assert_int_equal(code->heaps[1].segments, BASE + SEGMENTS + 0x400);
	assert_int_equal(code->segment_shift, SHIFT);
	assert_int_equal(code->interpreter_start, BASE + INTERPRETER);
	assert_int_equal(code->entries[0].start, BASE + INTERPRETER + 0x100);
	assert_int_equal(code->entries[0].framed, BASE + INTERPRETER + 0x11c);
	assert_int_equal(code->entries[1].start, 0);
	free(image);
}

static void a_process_that_has_just_begun_is_early(void **state)
{
	struct image *image = ready_image();

	(void)state;
	put64(image, VARIABLES + 8, 0);
	assert_int_equal(read_it(image), LODE_HOTSPOT_EARLY);
	put64(image, VARIABLES, 0);
	assert_int_equal(read_it(image), LODE_HOTSPOT_EARLY);
	memset(image->bytes + TABLE, 0, LODE_HOTSPOT_OFFSETS * 8);
	assert_int_equal(read_it(image), LODE_HOTSPOT_EARLY);
	free(image);
}

static void what_makes_no_sense_is_not_used(void **state)
{
	static const struct {
		uint32_t at;
		uint64_t word;
	} lies[] = {
		{ TABLE, 1ull << 60 },                          /* an offset */
		{ TABLE + LODE_HOTSPOT_BLOB_METHOD * 8, 4000 }, /* outside of what is read of a CodeBlob */
		{ TABLE + LODE_HOTSPOT_BLOB_NAME * 8, 97 },     /* not aligned */
		{ HEAPS + 16, BASE + (1ull << 40) },            /* a heap of 2^40 bytes, */
		{ HEAPS + 16, 8 },                              /* one that ends before it begins, */
		{ HEAPS + 88, 60 },                             /* segments of 2^60 bytes, */
		{ ARRAY, 1u << 30 },                            /* and 2^30 heaps */
		{ QUEUE + 20, 1u << 30 },                       /* an interpreter of 2^30 bytes, */
		{ QUEUE + 32, 1u << 30 },                       /* of as many codelets, */
		{ QUEUE + 8, 0x1234 },                          /* and one outside of all heaps */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct image *image = ready_image();

		put64(image, lies[i].at, lies[i].word);
		assert_int_equal(read_it(image), LODE_HOTSPOT_WRONG);
		free(image);
	}
}

/* ---- names ---- */

static int name_is(struct image *image, uint64_t word, const char *path, const char *function)
{
	struct lode_process_memory memory = memory_of(image);
	struct lode_buffer paths = { 0 }, functions = { 0 };
	int found;

	image->reads = 0;
	found = lode_hotspot_name(&image->hotspot, &memory, word, image->lines, &paths, &functions);
	assert_true(image->reads < 2000);
	if (found && path)
		assert_string_equal(paths.bytes, path);
	if (found && function) {
		size_t size = strlen(function) + 1;

		assert_true(functions.size >= size);
		for (size_t i = 0; i < size; i++) /* names are apart by a NUL, here by a blank */
			assert_int_equal(function[i] == ' ' ? '\0' : function[i], functions.bytes[i]);
		assert_int_equal(functions.size, size);
	}
	lode_buffer_release(&paths);
	lode_buffer_release(&functions);
	return found;
}

static uint64_t method_word(const struct image *image, uint32_t method, uint32_t const_method)
{
	uint64_t name;

	memcpy(&name, image->bytes + const_method + 34, sizeof(name));
	return lode_language_word(LODE_LANGUAGE_JAVA, lode_hotspot_method_check(BASE + const_method, name),
				  BASE + method);
}

static uint64_t code_word(uint32_t pc)
{
	return lode_language_word(LODE_LANGUAGE_JAVA, lode_hotspot_code_check(BASE + BLOB, BASE + METHOD, 4096),
				  BASE + CODE_START + pc);
}

#define PATH   "org/example/Server.java"
#define HANDLE "Server$Worker.handle"
#define PARSE  "Server$Worker.parse"

static void methods_have_names(void **state)
{
	struct image *image = ready_image();

	(void)state;
	assert_true(name_is(image, method_word(image, METHOD, CONST), PATH, HANDLE));
	assert_true(name_is(image, method_word(image, OTHER, OTHER_CONST), PATH, PARSE));
	/* Another one took its place. */
	assert_false(name_is(image, method_word(image, METHOD, CONST) ^ 1ull << LODE_LANGUAGE_CHECK, NULL, NULL));
	put_symbol(image, SYMBOLS + 256, "org/example/Main$$Lambda$14/0x0000000800c03000");
	put16(image, CONSTANTS + 54, 0);
	assert_true(
		name_is(image, method_word(image, METHOD, CONST), "org/example/Main.java", "Main$$Lambda.handle"));
	put_symbol(image, SYMBOLS + 64, "a\nb\xff");
	assert_true(name_is(image, method_word(image, METHOD, CONST), NULL, "Main$$Lambda.a?b?"));
	free(image);
}

static void compiled_code_has_the_names_of_inlined_methods(void **state)
{
	struct image *image = ready_image();

	(void)state;
	for (unsigned add = 0; add < 2; add++) {
		make_scopes(image, add);
		assert_true(name_is(image, code_word(0x20), PATH, HANDLE));
		assert_true(name_is(image, code_word(0x40), PATH, PARSE " " HANDLE));
		assert_true(name_is(image, code_word(0x24), PATH, PARSE " " HANDLE)); /* the next place */
		assert_true(name_is(image, code_word(0x44), PATH, HANDLE));           /* there is none */
	}
	assert_false(name_is(image, code_word(0x20) ^ 1ull << LODE_LANGUAGE_CHECK, NULL, NULL));
	assert_true(name_is(image, lode_language_word(LODE_LANGUAGE_JAVA, 0, BASE + STUBS + 0x300), "libjvm.so",
			    "<StubRoutines>"));
	free(image);
}

static void names_that_lie_end(void **state)
{
	struct image *image = ready_image();

	(void)state;
	image->bytes[SCOPES + 4] = 4; /* a scope that is its own caller */
	assert_true(name_is(image, code_word(0x40), PATH, HANDLE));
	put32(image, BLOB + 272, 0x7fffffff); /* 2^27 places */
	assert_true(name_is(image, code_word(0x40), PATH, HANDLE));
	put32(image, CONSTANTS + 60, 0xffffffff);
	assert_false(name_is(image, code_word(0x40), NULL, NULL));
	put32(image, CONSTANTS + 60, 4);
	put64(image, CONSTANTS + 72 + 8, 1ull << 60);
	assert_false(name_is(image, method_word(image, METHOD, CONST), NULL, NULL));
	/* Segments that lead back for ever, and before the first one. */
	memset(image->bytes + SEGMENTS, 1, 0x200);
	assert_false(name_is(image, code_word(0x40), NULL, NULL));
	free(image);
}

/* ---- steps ---- */

static int read_exactly(void *context, uint64_t address, void *bytes, size_t size)
{
	return read_image(context, 1, address, bytes, size) == size;
}

static int read_word(void *context, uint64_t address, uint64_t *word)
{
	return read_exactly(context, address, word, sizeof(*word));
}

#define LODE_UNWIND_READ(context, address, word)         read_word(context, address, &(word))
#define LODE_HOTSPOT_READ(context, address, bytes, size) read_exactly(context, address, bytes, size)
#define LODE_HOTSPOT_READ_STACK(context, address, word)  read_word(context, address, word)
#define LODE_HOTSPOT_METHOD_WORD                         lode_hotspot_method_word
#define LODE_HOTSPOT_HAS_LINK(state)                     ((state)->signed_returns)
#include "process/unwind_step.h"

#include "process/languages/hotspot_step.h"

#define CALLER    0x7f0000012345ull
#define CALLER_FP 0x7f00000f0000ull
#define SP        (BASE + STACK)

static enum lode_unwind_result step(struct image *image, struct lode_unwind_state *state,
				    struct lode_hotspot_walk *walk)
{
	assert_true(lode_hotspot_read_blob(&image->hotspot.code, walk, state->pc, image));
	lode_hotspot_find_frame(&image->hotspot.code, state, walk, image);
	return lode_hotspot_leave_frame(state, walk, image);
}

struct leaf_case {
	uint32_t pc;   /* in the code, */
	uint32_t left; /* bytes of the frame that are there, */
	int in_link;   /* aarch64: the return address is in the link register */
	int keeps_fp;  /* the caller's frame pointer is in the register */
};

/* Checks a step from a place of the function: the caller's stack pointer is always the same. */
static void assert_leaf(struct image *image, const struct leaf_case *leaf, int is_a64)
{
	uint64_t caller_sp = SP + FRAME;
	struct lode_unwind_state state = {
		.pc = BASE + CODE_START + leaf->pc,
		.sp = caller_sp - leaf->left,
		.fp = leaf->keeps_fp ? CALLER_FP : 17,
		.link = leaf->in_link ? CALLER : BASE + CODE_START + 0x100,
		.has_link = 1,
		.is_first = 1,
		.is_exact = 1,
		.signed_returns = (uint32_t)is_a64,
	};
	struct lode_hotspot_walk walk = { 0 };

	put64(image, STACK + FRAME - 16, leaf->keeps_fp && is_a64 ? 99 : CALLER_FP);
	put64(image, STACK + FRAME - 8, leaf->in_link ? 98 : CALLER);
	assert_int_equal(step(image, &state, &walk), LODE_UNWIND_CALLER);
	assert_int_equal(state.pc, CALLER);
	assert_int_equal(state.sp, caller_sp);
	assert_int_equal(state.fp, CALLER_FP);
	assert_int_equal(state.is_exact, 0);
}

static void put_code(struct image *image, uint32_t at, const uint32_t *code, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put32(image, CODE_START + at + (uint32_t)i * 4, code[i]);
}

static void leaves_of_aarch64_lead_to_their_callers(void **state)
{
	static const uint32_t begin[] = { 0xd503201f, 0xd10183ff, 0xa9057bfd, 0xd503201f },
			      end[] = { 0xa9457bfd, 0x910183ff, 0xf9402388, 0xeb2863ff, 0x54000008, 0xd65f03c0 },
			      large_begin[] = { 0xd503201f, 0xa9bf7bfd, 0xd10143ff, 0xd503201f },
			      large_end[] = { 0x910143ff, 0xa8c17bfd, 0xd65f03c0 };
	static const struct leaf_case cases[] = {
		{ 0, 0, 1, 1 },        { 4, 0, 1, 1 },         { 8, FRAME, 1, 1 },     { 16, FRAME, 0, 0 },
		{ 0x80, FRAME, 0, 0 }, { 0x200, FRAME, 0, 0 }, { 0x204, FRAME, 1, 1 }, { 0x208, 0, 1, 1 },
		{ 0x20c, 0, 1, 1 },    { 0x214, 0, 1, 1 },
	};
	static const struct leaf_case large_cases[] = {
		{ 0, 0, 1, 1 },         { 4, 0, 1, 1 },      { 8, 16, 0, 0 },
		{ 0x200, FRAME, 0, 0 }, { 0x204, 16, 0, 0 }, { 0x208, 0, 1, 1 },
	};
	struct image *image = ready_image();

	(void)state;
	put_code(image, 0, begin, sizeof(begin) / 4);
	put_code(image, 0x200, end, sizeof(end) / 4);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_leaf(image, &cases[i], 1);
	memset(image->bytes + CODE_START, 0, CODE_BYTES);
	put_code(image, 0, large_begin, sizeof(large_begin) / 4);
	put_code(image, 0x200, large_end, sizeof(large_end) / 4);
	for (size_t i = 0; i < sizeof(large_cases) / sizeof(*large_cases); i++)
		assert_leaf(image, &large_cases[i], 1);
	free(image);
}

/* On x86-64 what is left of a frame includes the return address. */
static void leaves_of_x86_64_lead_to_their_callers(void **state)
{
	/* mov %eax, -0x14000(%rsp); push %rbp; sub $80, %rsp; nop */
	static const unsigned char begin[] = { 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,
					       0x55, 0x48, 0x83, 0xec, 0x50, 0x90 },
				   /* add $80, %rsp; pop %rbp; cmp 0x338(%r15), %rsp; ja; ret */
		end[] = { 0x48, 0x83, 0xc4, 0x50, 0x5d, 0x49, 0x3b, 0xa7, 0x38, 0x03,
			  0,    0,    0x0f, 0x87, 0,    0,    0,    0,    0xc3 };
	static const struct leaf_case cases[] = {
		{ 0, 8, 0, 1 },        { 7, 8, 0, 1 },         { 8, 16, 0, 1 },     { 16, FRAME, 0, 0 },
		{ 0x80, FRAME, 0, 0 }, { 0x200, FRAME, 0, 0 }, { 0x204, 16, 0, 1 }, { 0x205, 8, 0, 1 },
		{ 0x20c, 8, 0, 1 },    { 0x212, 8, 0, 1 },
	};
	struct image *image = ready_image();

	(void)state;
	memcpy(image->bytes + CODE_START, begin, sizeof(begin));
	memcpy(image->bytes + CODE_START + 0x200, end, sizeof(end));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_leaf(image, &cases[i], 0);
	free(image);
}

/* Since JDK 21 a barrier is behind the frame's making, which is complete only behind that. */
static void barriers_of_x86_64_have_the_frame(void **state)
{
	/* As before; then cmpl $0, 0x20(%r15), with a jump out of the way, or over a call. */
	static const unsigned char jump[] = { 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48,
					      0x83, 0xec, 0x50, 0x41, 0x81, 0x7f, 0x20, 0,    0,
					      0,    0,    0x0f, 0x85, 0xeb, 0,    0,    0 },
				   call[] = { 0x55, 0x48, 0x83, 0xec, 0x50, 0x90, 0x41, 0x81, 0xbf, 0x20, 0x04, 0,
					      0,    0,    0,    0,    0,    0x74, 0x05, 0xe8, 0,    0,    0,    0 };
	static const struct leaf_case jumps[] = { { 0, 8, 0, 1 },      { 7, 8, 0, 1 },      { 8, 16, 0, 1 },
						  { 12, FRAME, 0, 0 }, { 20, FRAME, 0, 0 }, { 26, FRAME, 0, 0 } },
				      calls[] = { { 0, 8, 0, 1 },     { 1, 16, 0, 1 },     { 5, FRAME, 0, 0 },
						  { 6, FRAME, 0, 0 }, { 17, FRAME, 0, 0 }, { 19, FRAME, 0, 0 },
						  { 24, FRAME, 0, 0 } };
	struct image *image = ready_image();

	(void)state;
	memcpy(image->bytes + CODE_START, jump, sizeof(jump));
	put32(image, BLOB + image->hotspot.code.blob_frame_complete, sizeof(jump));
	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++)
		assert_leaf(image, &jumps[i], 0);
	memcpy(image->bytes + CODE_START, call, sizeof(call));
	put32(image, BLOB + image->hotspot.code.blob_frame_complete, sizeof(call));
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		assert_leaf(image, &calls[i], 0);
	free(image);
}

/* In a stub without a frame size: a frame that the frame pointer leads to, or none. */
static void stubs_lead_to_their_callers(void **state)
{
	struct image *image = ready_image();

	(void)state;
	put32(image, STUBS + 16 + 28, 0);
	for (int is_a64 = 0; is_a64 < 2; is_a64++) {
		for (int has_frame = 0; has_frame < 2; has_frame++) {
			struct lode_unwind_state leaf = { .pc = BASE + STUBS + 0x300,
							  .sp = SP,
							  .fp = has_frame ? SP + 32 : CALLER_FP,
							  .link = CALLER,
							  .has_link = 1,
							  .is_first = 1,
							  .is_exact = 1,
							  .signed_returns = (uint32_t)is_a64 };
			struct lode_hotspot_walk walk = { 0 };

			put64(image, STACK, has_frame ? 17 : CALLER);
			put64(image, STACK + 32, CALLER_FP);
			put64(image, STACK + 40, has_frame ? CALLER : 18);
			assert_int_equal(step(image, &leaf, &walk), LODE_UNWIND_CALLER);
			assert_int_equal(leaf.pc, CALLER);
			assert_int_equal(leaf.fp, CALLER_FP);
			assert_int_equal(leaf.sp, has_frame ? SP + 48 : is_a64 ? SP : SP + 8);
		}
	}
	free(image);
}

static void deoptimized_frames_know_where_they_were(void **state)
{
	struct image *image = ready_image();
	struct lode_unwind_state frame = { .pc = BASE + CODE_START + 0x300, .sp = SP };
	struct lode_hotspot_walk walk = { 0 };

	(void)state;
	put_address(image, BLOB + 128, CODE_START + 0x300);
	put32(image, BLOB + 300, 24);
	put_address(image, STACK + 24, CODE_START + 0x40);
	assert_true(lode_hotspot_read_blob(&image->hotspot.code, &walk, frame.pc - 1, image));
	assert_int_equal(lode_hotspot_place(&image->hotspot.code, &frame, &walk, image), BASE + CODE_START + 0x40);
	put64(image, STACK + 24, 1ull << 60);
	assert_int_equal(lode_hotspot_place(&image->hotspot.code, &frame, &walk, image), frame.pc);
	put_address(image, BLOB + 128, CODE_START + 0x304);
	assert_int_equal(lode_hotspot_place(&image->hotspot.code, &frame, &walk, image), frame.pc);
	free(image);
}

static void interpreted_frames_lead_to_their_callers(void **state)
{
	struct image *image = ready_image();
	struct lode_unwind_state before = { .pc = BASE + INTERPRETER + 0x40, .sp = SP, .fp = SP + 0x60 },
				 after = before;
	struct lode_hotspot_walk walk = { 0 };

	(void)state;
	put_address(image, STACK + 0x60 - 24, METHOD);
	put64(image, STACK + 0x60 - 8, SP + 0x90); /* the caller's stack pointer: it has passed arguments */
	put64(image, STACK + 0x60, CALLER_FP);
	put64(image, STACK + 0x68, CALLER);
	assert_int_equal(lode_hotspot_from_interpreter(&image->hotspot.code, &after, &walk, image),
			 LODE_UNWIND_CALLER);
	assert_int_equal(after.pc, CALLER);
	assert_int_equal(after.sp, SP + 0x90);
	assert_int_equal(after.fp, CALLER_FP);
	assert_int_equal(walk.word, method_word(image, METHOD, CONST));
	/* One that makes no sense, and a frame pointer that does not. */
	put64(image, STACK + 0x60 - 8, 1ull << 60);
	after = before;
	assert_int_equal(lode_hotspot_from_interpreter(&image->hotspot.code, &after, &walk, image),
			 LODE_UNWIND_CALLER);
	assert_int_equal(after.sp, SP + 0x70);
	after = before;
	after.fp = SP - 8;
	assert_int_equal(lode_hotspot_from_interpreter(&image->hotspot.code, &after, &walk, image),
			 LODE_UNWIND_LOST);
	/* A call that has just begun: no frame yet. */
	after = (struct lode_unwind_state){ .pc = BASE + INTERPRETER + 0x110,
					    .sp = SP,
					    .fp = CALLER_FP,
					    .link = CALLER,
					    .has_link = 1,
					    .is_first = 1,
					    .is_exact = 1,
					    .signed_returns = 1 };
	walk.method = BASE + OTHER;
	walk.sender[1] = SP + 32;
	assert_int_equal(lode_hotspot_from_interpreter(&image->hotspot.code, &after, &walk, image),
			 LODE_UNWIND_CALLER);
	assert_int_equal(after.pc, CALLER);
	assert_int_equal(after.fp, CALLER_FP);
	assert_int_equal(after.sp, SP + 32);
	assert_int_equal(walk.word, method_word(image, OTHER, OTHER_CONST));
	free(image);
}

/* ---- lines ---- */

/* As HotSpot packs it; `add`: what bytes are larger by. */
static size_t pack_number(unsigned char *bytes, int32_t number, unsigned add)
{
	uint32_t rest = (uint32_t)number << 1 ^ (number < 0 ? UINT32_MAX : 0), low = 192 - add;
	size_t size = 0;

	for (; rest >= low && size < 4; rest = (rest - low) >> 6)
		bytes[size++] = (unsigned char)(low + (rest - low) % 64 + add);
	bytes[size++] = (unsigned char)(rest + add);
	return size;
}

#define PAIRS 40
struct pair {
	int32_t bytecode;
	int32_t line;
};

/* A table of lines in which some go back, each pair packed as shortly as it can be, or not. */
static void make_lines(struct image *image, struct pair pairs[PAIRS], uint64_t *random, unsigned add)
{
	unsigned char *bytes = image->bytes + LINED_CONST + CODE_AT;
	int32_t at = 0, line = 0;
	size_t size = 4000;

	put_address(image, LINED + 8, LINED_CONST);
	put16(image, LINED_CONST + CODE_SIZE, (uint16_t)size);
	put16(image, LINED_CONST + FLAGS_AT, 0x8001);
	image->hotspot.packed_add = add;
	for (int i = 0; i < PAIRS; i++) {
		int32_t further = (int32_t)(random_next(random) % 24) + (i > 0),
			lines = (int32_t)(random_next(random) % 8);

		if (random_next(random) % 4 == 0)
			further = (int32_t)(random_next(random) % 90) + 1;
		if (random_next(random) % 3 == 0)
			lines = (int32_t)(random_next(random) % 60000) - (line > 30000 ? 30000 : 0);
		at += further;
		line += lines;
		pairs[i] = (struct pair){ at, line };
		if (further < 31 && lines >= 0 && lines < 8 && (further || lines)) {
			bytes[size++] = (unsigned char)(further << 3 | lines);
			continue;
		}
		bytes[size++] = 0xff;
		size += pack_number(bytes + size, further, add);
		size += pack_number(bytes + size, lines, add);
	}
	bytes[size] = 0;
}

static uint32_t expected_line(const struct pair pairs[PAIRS], int32_t bytecode)
{
	int32_t line = 0;

	for (int i = 0; i < PAIRS && pairs[i].bytecode <= bytecode; i++)
		line = pairs[i].line;
	return line > 0 ? (uint32_t)line : 0;
}

static void lines_are_those_of_the_table(void **state)
{
	struct image *image = ready_image();
	struct lode_process_memory memory = memory_of(image);
	uint64_t random = 5, word = lode_language_word(LODE_LANGUAGE_JAVA, 0, BASE + LINED);
	struct pair pairs[PAIRS];

	(void)state;
	for (int round = 0; round < 300; round++) {
		make_lines(image, pairs, &random, round & 1);
		for (int32_t at = 0; at < 4000; at += 1 + round % 7) {
			uint64_t position = BASE + LINED_CONST + CODE_AT + (uint32_t)at;

			assert_int_equal(lode_hotspot_line(&image->hotspot, &memory, BASE + LINED_CONST, at),
					 expected_line(pairs, at));
			assert_int_equal(lode_hotspot_position_line(&image->hotspot, &memory, word, position),
					 expected_line(pairs, at));
		}
		/* Positions outside of the bytecodes are none. */
		assert_int_equal(lode_hotspot_position_line(&image->hotspot, &memory, word, BASE + LINED_CONST), 0);
		assert_int_equal(lode_hotspot_position_line(&image->hotspot, &memory, word,
							    BASE + LINED_CONST + CODE_AT + 4000),
				 0);
	}
	put16(image, LINED_CONST + FLAGS_AT, 0x8000); /* it has no lines */
	assert_int_equal(lode_hotspot_line(&image->hotspot, &memory, BASE + LINED_CONST, 100), 0);
	free(image);
}

static void a_table_without_an_end_is_read_to_a_limit(void **state)
{
	struct image *image = ready_image();
	struct lode_process_memory memory = memory_of(image);

	(void)state;
	put16(image, LINED_CONST + FLAGS_AT, 1);
	memset(image->bytes + LINED_CONST + CODE_AT, 0xff, BYTES - LINED_CONST - CODE_AT);
	image->reads = 0;
	lode_hotspot_line(&image->hotspot, &memory, BASE + LINED_CONST, 100);
	assert_true(image->reads < 1000);
	free(image);
}

/* Bytecodes of scopes are one more than they are: the method that was compiled is at 3, the one inlined in it at 7. */
static void compiled_functions_have_the_lines_of_their_bytecodes(void **state)
{
	static const unsigned char handle[] = { 3 << 3 | 5, 0 }, parse[] = { 7 << 3 | 4, 0 };
	struct image *image = ready_image();

	(void)state;
	image->lines = 1;
	image->bytes[SCOPES + 3] = 4;
	image->bytes[SCOPES + 6] = 8;
	for (unsigned i = 0; i < 2; i++) {
		uint32_t at = i ? OTHER_CONST : CONST;

		put16(image, at + CODE_SIZE, 20);
		put16(image, at + FLAGS_AT, 1);
		memcpy(image->bytes + at + CODE_AT + 20, i ? parse : handle, 2);
	}
	assert_true(name_is(image, code_word(0x20), PATH, HANDLE ":5"));
	assert_true(name_is(image, code_word(0x40), PATH, PARSE ":4 " HANDLE ":5"));
	image->lines = 0;
	assert_true(name_is(image, code_word(0x40), PATH, PARSE " " HANDLE));
	free(image);
}

/* ---- damage ---- */

static void damaged_images_are_read_to_an_end(void **state)
{
	struct image *image = malloc(sizeof(*image));
	uint64_t random = 20;

	(void)state;
	assert_non_null(image);
	for (int round = 0; round < 3000; round++) {
		make_image(image);
		image->lines = 1;
		for (int i = 0; i < 1 + round % 16; i++) {
			uint32_t at = (uint32_t)(random_next(&random) % 0x4000) & ~7u;

			put64(image, round & 1 ? at : TABLE + at % 0x300,
			      random_next(&random) >> random_next(&random) % 64);
		}
		if (read_it(image) != LODE_HOTSPOT_READY)
			continue;
		assert_true(image->reads < 10000);
		name_is(image, method_word(image, METHOD, CONST), NULL, NULL);
		name_is(image, code_word((uint32_t)(random_next(&random) % CODE_BYTES)), NULL, NULL);
	}
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_and_interpreter_are_found),
		cmocka_unit_test(a_process_that_has_just_begun_is_early),
		cmocka_unit_test(what_makes_no_sense_is_not_used),
		cmocka_unit_test(methods_have_names),
		cmocka_unit_test(compiled_code_has_the_names_of_inlined_methods),
		cmocka_unit_test(names_that_lie_end),
		cmocka_unit_test(leaves_of_aarch64_lead_to_their_callers),
		cmocka_unit_test(leaves_of_x86_64_lead_to_their_callers),
		cmocka_unit_test(barriers_of_x86_64_have_the_frame),
		cmocka_unit_test(stubs_lead_to_their_callers),
		cmocka_unit_test(deoptimized_frames_know_where_they_were),
		cmocka_unit_test(interpreted_frames_lead_to_their_callers),
		cmocka_unit_test(lines_are_those_of_the_table),
		cmocka_unit_test(a_table_without_an_end_is_read_to_a_limit),
		cmocka_unit_test(compiled_functions_have_the_lines_of_their_bytecodes),
		cmocka_unit_test(damaged_images_are_read_to_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
