/*
 * CPython in binaries: see python_image.h.
 *
 * From 3.13 on CPython describes itself: _PyRuntime begins with a table of offsets for debuggers. The layouts of 3.11
 * and 3.12 are in a table here; releases of one version do not change them. All this is in the file's initial data, so
 * no process has to be read for it.
 */
#include "process/languages/python_image.h"

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
	.outermost = 3,   /* the C stack */
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
	.state_shift = 2,
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
	.state_shift = 2,
};

/* ---- 3.13 and later ---- */

/* The table of offsets, in words of 64 bits: what is used of it. */
enum debug_offset {
	DEBUG_COOKIE,
	DEBUG_VERSION,
	DEBUG_FREE_THREADED,
	DEBUG_INTERPRETERS_HEAD = 5,
	DEBUG_INTERPRETER_NEXT = 8,
	DEBUG_INTERPRETER_THREADS = 9,
	DEBUG_THREAD_NEXT = 21,
	DEBUG_THREAD_FRAME = 23,
	DEBUG_THREAD_NATIVE_ID = 25,
	DEBUG_FRAME_PREVIOUS = 29,
	DEBUG_FRAME_CODE = 30,
	DEBUG_FRAME_OWNER = 33,
	DEBUG_CODE_FILENAME = 35,
	DEBUG_CODE_NAME = 37,
	DEBUG_CODE_LINE = 39,
	DEBUG_OBJECT_TYPE = 45,
	DEBUG_TEXT_STATE = 68,
	DEBUG_TEXT_LENGTH = 69,
	DEBUG_TEXT_ASCII = 70,
	DEBUG_OFFSETS,
};

/* No struct of CPython is larger; what is beyond is no offset. */
#define OFFSET_LIMIT (1u << 20)

static int are_offsets(const uint64_t *table)
{
	for (int i = DEBUG_FREE_THREADED + 1; i < DEBUG_OFFSETS; i++)
		if (table[i] >= OFFSET_LIMIT)
			return 0;
	return table[DEBUG_FRAME_PREVIOUS] <= LODE_PYTHON_FRAME_BYTES - 8 &&
	       table[DEBUG_FRAME_CODE] <= LODE_PYTHON_FRAME_BYTES - 8 &&
	       table[DEBUG_FRAME_OWNER] < LODE_PYTHON_FRAME_BYTES;
}

static int read_debug_offsets(struct lode_python_image *image, const uint64_t *table)
{
	if (memcmp(table, "xdebugpy", 8) != 0 || table[DEBUG_FREE_THREADED] || !are_offsets(table))
		return 0;
	image->interpreters += table[DEBUG_INTERPRETERS_HEAD];
	image->layout = (struct lode_python_layout){
		.interpreter_next = (uint32_t)table[DEBUG_INTERPRETER_NEXT],
		.interpreter_threads = (uint32_t)table[DEBUG_INTERPRETER_THREADS],
		.thread_next = (uint32_t)table[DEBUG_THREAD_NEXT],
		.thread_native_id = (uint32_t)table[DEBUG_THREAD_NATIVE_ID],
		.thread_frame = (uint32_t)table[DEBUG_THREAD_FRAME],
		.frame_code = (uint32_t)table[DEBUG_FRAME_CODE],
		.frame_previous = (uint32_t)table[DEBUG_FRAME_PREVIOUS],
		.frame_mark = (uint32_t)table[DEBUG_FRAME_OWNER],
		.outermost = 3, /* the C stack; in 3.14 the interpreter or the C stack */
		.is_shim = 1,
	};
	image->objects = (struct lode_python_objects){
		.object_type = (uint32_t)table[DEBUG_OBJECT_TYPE],
		.code_filename = (uint32_t)table[DEBUG_CODE_FILENAME],
		.code_name = (uint32_t)table[DEBUG_CODE_NAME],
		.code_line = (uint32_t)table[DEBUG_CODE_LINE],
		.text_length = (uint32_t)table[DEBUG_TEXT_LENGTH],
		.text_state = (uint32_t)table[DEBUG_TEXT_STATE],
		.text_ascii = (uint32_t)table[DEBUG_TEXT_ASCII],
		.text_other =
			(uint32_t)table[DEBUG_TEXT_ASCII] + 16, /* a length and a pointer to UTF-8 are between */
		.state_shift = image->version < VERSION_3_14 ? 2 : 16,
	};
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
	uint64_t table[DEBUG_OFFSETS];

	image->interpreters = runtime + INTERPRETERS_HEAD;
	if (image->version < VERSION_3_11 || image->version >= VERSION_3_15)
		return 0;
	if (image->version < VERSION_3_13) {
		image->layout = image->version < VERSION_3_12 ? layout_3_11 : layout_3_12;
		image->objects = image->version < VERSION_3_12 ? objects_3_11 : objects_3_12;
		return 1;
	}
	image->interpreters = runtime;
	return lode_elf_initial_bytes(elf, runtime, table, sizeof(table)) && read_debug_offsets(image, table);
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
	return LODE_PYTHON_SUPPORTED;
}
