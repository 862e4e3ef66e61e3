/*
 * CPython in binaries: see python_image.h.
 *
 * From 3.13 on CPython describes itself: _PyRuntime begins with a table of offsets for debuggers. The layouts of 3.11
 * and 3.12 are in a table here; releases of one version do not change them. All this is in the file's initial data, so
 * no process has to be read for it.
 */
#include "process/languages/python_image.h"

#include "symbols/cold_part.h"

#include <string.h>

/* The oldest version whose interpreter runs calls from Python to Python in one C frame. */
#define VERSION_3_11 0x030b0000u
#define VERSION_3_12 0x030c0000u
#define VERSION_3_13 0x030d0000u
#define VERSION_3_14 0x030e0000u
#define VERSION_3_15 0x030f0000u

/* ---- 3.11 and 3.12 ---- */

static const struct lode_python_layout layout_3_11 = {
	.interpreter_next = 0,
	.interpreter_threads = 16,
	.thread_next = 8,
	.thread_native_id = 160,
	.thread_frame = 56,
	.has_chain = 1,
	.chain_frame = 8,
	.chain_previous = 16,
	.frame_code = 32,
	.frame_previous = 48,
	.frame_mark = 68, /* is_entry */
	.mark_bits = 0xff,
	.outermost = 1,
};

static const struct lode_python_layout layout_3_12 = {
	.interpreter_next = 0,
	.interpreter_threads = 72,
	.thread_next = 8,
	.thread_native_id = 144,
	.thread_frame = 56,
	.has_chain = 1,
	.chain_frame = 0,
	.chain_previous = 8,
	.frame_code = 0,
	.frame_previous = 8,
	.frame_mark = 70, /* owner */
	.mark_bits = 0xff,
	.outermost = 3, /* the C stack */
	.is_shim = 1,
};

/* In _PyRuntime. */
#define INTERPRETERS_HEAD 40

static const struct lode_python_objects objects_3_11 = {
	.object_type = 8,
	.code_filename = 112,
	.code_name = 128,
	.code_line = 72,
	.text_length = 16,
	.text_state = 32,
	.text_ascii = 48,
	.text_other = 72,
};

static const struct lode_python_objects objects_3_12 = {
	.object_type = 8,
	.code_filename = 112,
	.code_name = 128,
	.code_line = 68,
	.text_length = 16,
	.text_state = 32,
	.text_ascii = 40,
	.text_other = 56,
};

static const struct lode_python_lines lines_3_11 = {
	.frame_position = 56,
	.code_table = 136,
	.code_instructions = 184,
};

static const struct lode_python_lines lines_3_12 = {
	.frame_position = 56,
	.code_table = 136,
	.code_instructions = 192,
};

/* ---- 3.13 and later ---- */

/* What is used of the table of offsets; its words of 64 bits differ between versions. */
enum debug_offset {
	INTERPRETERS,
	INTERPRETER_NEXT,
	INTERPRETER_THREADS,
	THREAD_NEXT,
	THREAD_FRAME,
	THREAD_NATIVE_ID,
	FRAME_PREVIOUS,
	FRAME_CODE,
	FRAME_POSITION,
	FRAME_OWNER,
	CODE_FILENAME,
	CODE_NAME,
	CODE_TABLE,
	CODE_LINE,
	CODE_INSTRUCTIONS,
	OBJECT_TYPE,
	TEXT_STATE,
	TEXT_LENGTH,
	TEXT_ASCII,
	DEBUG_OFFSETS,
};

static const uint8_t words_3_13[DEBUG_OFFSETS] = { 5,  8,  9,  21, 23, 25, 29, 30, 31, 33,
						   35, 37, 38, 39, 43, 45, 68, 69, 70 };
static const uint8_t words_3_14[DEBUG_OFFSETS] = { 5,  8,  9,  24, 26, 28, 32, 33, 34, 36,
						   40, 42, 43, 44, 48, 51, 78, 79, 80 };
/* Words that are read, and the first of them: a cookie, the version, and whether there is no global lock. */
#define DEBUG_WORDS         96
#define DEBUG_FREE_THREADED 2

/* No struct of CPython is larger; what is beyond is no offset. */
#define OFFSET_LIMIT (1u << 20)

static int are_offsets(const uint64_t *offsets)
{
	for (int i = 0; i < DEBUG_OFFSETS; i++)
		if (offsets[i] >= OFFSET_LIMIT)
			return 0;
	return offsets[FRAME_PREVIOUS] <= LODE_PYTHON_FRAME_BYTES - 8 &&
	       offsets[FRAME_CODE] <= LODE_PYTHON_FRAME_BYTES - 8 &&
	       offsets[FRAME_POSITION] <= LODE_PYTHON_FRAME_BYTES - 8 &&
	       offsets[FRAME_OWNER] < LODE_PYTHON_FRAME_BYTES;
}

static void set_layout(struct lode_python_image *image, const uint64_t *offsets)
{
	image->interpreters += offsets[INTERPRETERS];
	image->layout = (struct lode_python_layout){
		.interpreter_next = (uint32_t)offsets[INTERPRETER_NEXT],
		.interpreter_threads = (uint32_t)offsets[INTERPRETER_THREADS],
		.thread_next = (uint32_t)offsets[THREAD_NEXT],
		.thread_native_id = (uint32_t)offsets[THREAD_NATIVE_ID],
		.thread_frame = (uint32_t)offsets[THREAD_FRAME],
		.frame_code = (uint32_t)offsets[FRAME_CODE],
		.frame_previous = (uint32_t)offsets[FRAME_PREVIOUS],
		.frame_mark = (uint32_t)offsets[FRAME_OWNER],
		.mark_bits = 0xff,
		.outermost = 3, /* the C stack; in 3.14 the interpreter or the C stack */
		.is_shim = 1,
	};
	image->objects = (struct lode_python_objects){
		.object_type = (uint32_t)offsets[OBJECT_TYPE],
		.code_filename = (uint32_t)offsets[CODE_FILENAME],
		.code_name = (uint32_t)offsets[CODE_NAME],
		.code_line = (uint32_t)offsets[CODE_LINE],
		.text_length = (uint32_t)offsets[TEXT_LENGTH],
		.text_state = (uint32_t)offsets[TEXT_STATE],
		.text_ascii = (uint32_t)offsets[TEXT_ASCII],
		.text_other = (uint32_t)offsets[TEXT_ASCII] + 16, /* a length and a pointer to UTF-8 are between */
	};
	image->lines = (struct lode_python_lines){
		.frame_position = (uint32_t)offsets[FRAME_POSITION],
		.code_table = (uint32_t)offsets[CODE_TABLE],
		.code_instructions = (uint32_t)offsets[CODE_INSTRUCTIONS],
	};
}

static int read_debug_offsets(struct lode_python_image *image, const struct lode_elf *elf, uint64_t runtime)
{
	const uint8_t *words = image->version < VERSION_3_14 ? words_3_13 : words_3_14;
	uint64_t table[DEBUG_WORDS], offsets[DEBUG_OFFSETS];

	image->interpreters = runtime;
	if (!lode_elf_initial_bytes(elf, runtime, table, sizeof(table)) || memcmp(table, "xdebugpy", 8) != 0 ||
	    table[DEBUG_FREE_THREADED])
		return 0;
	for (int i = 0; i < DEBUG_OFFSETS; i++)
		offsets[i] = table[words[i]];
	if (!are_offsets(offsets))
		return 0;
	set_layout(image, offsets);
	return 1;
}

/* ---- all of it ---- */

/* What the kernel reads of a code object, for the check in a word. */
static int choose_code_bytes(struct lode_python_image *image)
{
	const struct lode_python_objects *objects = &image->objects;
	struct lode_python_layout *layout = &image->layout;

	layout->code = objects->code_line;
	if (objects->code_filename < layout->code)
		layout->code = objects->code_filename;
	if (objects->code_name < layout->code)
		layout->code = objects->code_name;
	layout->code_line = objects->code_line - layout->code;
	layout->code_filename = objects->code_filename - layout->code;
	layout->code_name = objects->code_name - layout->code;
	return layout->code_line <= LODE_PYTHON_FRAME_BYTES - 8 &&
	       layout->code_filename <= LODE_PYTHON_FRAME_BYTES - 8 &&
	       layout->code_name <= LODE_PYTHON_FRAME_BYTES - 8;
}

static int read_layout(struct lode_python_image *image, const struct lode_elf *elf, uint64_t runtime)
{
	image->interpreters = runtime + INTERPRETERS_HEAD;
	if (image->version < VERSION_3_11 || image->version >= VERSION_3_15)
		return 0;
	if (image->version < VERSION_3_13) {
		image->layout = image->version < VERSION_3_12 ? layout_3_11 : layout_3_12;
		image->objects = image->version < VERSION_3_12 ? objects_3_11 : objects_3_12;
		image->lines = image->version < VERSION_3_12 ? lines_3_11 : lines_3_12;
		return 1;
	}
	return read_debug_offsets(image, elf, runtime);
}

enum lode_python_support lode_python_image_read(struct lode_python_image *image, const struct lode_elf *elf)
{
	GElf_Sym runtime, code_type, version, runs;

	memset(image, 0, sizeof(*image));
	if (!lode_elf_exported(elf, "_PyRuntime", &runtime) ||
	    !lode_elf_exported(elf, "_PyEval_EvalFrameDefault", &runs) ||
	    !lode_elf_exported(elf, "PyCode_Type", &code_type))
		return LODE_PYTHON_NONE;
	if (!lode_elf_exported(elf, "Py_Version", &version) ||
	    !lode_elf_initial_bytes(elf, version.st_value, &image->version, sizeof(image->version)) ||
	    !read_layout(image, elf, runtime.st_value) || !choose_code_bytes(image))
		return LODE_PYTHON_UNSUPPORTED;
	image->starts[0] = runs.st_value;
	image->ends[0] = runs.st_value + runs.st_size;
	image->code_type = code_type.st_value;
	if (lode_elf_cold_part(elf, image->starts[0], image->ends[0], &image->starts[1], &image->ends[1]) < 0)
		image->starts[1] = image->ends[1] = 0;
	return LODE_PYTHON_SUPPORTED;
}
