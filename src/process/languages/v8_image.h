/*
 * What a binary with V8 in it (node, libnode.so) says for debuggers: the layout of its frames and objects, in variables
 * whose names begin with `v8dbg_`.
 */
#ifndef LODE_PROCESS_LANGUAGES_V8_IMAGE_H
#define LODE_PROCESS_LANGUAGES_V8_IMAGE_H

#include "process/languages/language_words.h"
#include "symbols/elf.h"

/* Each is a variable of V8: offsets in bytes, types of objects, and bits of the types of strings. */
enum lode_v8_value {
	LODE_V8_FRAME_CONTEXT,
	LODE_V8_FRAME_FUNCTION,
	LODE_V8_TAG_VALUE,
	LODE_V8_TAG_BITS,
	LODE_V8_SMALL_SHIFT, /* of small numbers: bits below, in two parts */
	LODE_V8_SMALL_TAG_SHIFT,
	LODE_V8_POINTER_BYTES,
	LODE_V8_FUNCTION_SHARED,
	LODE_V8_SHARED_TYPE,
	LODE_V8_SHARED_SCOPE,
	LODE_V8_SHARED_SCRIPT,
	LODE_V8_MAP_TYPE,
	LODE_V8_SCRIPT_TYPE,
	LODE_V8_SCRIPT_NAME,
	LODE_V8_SCRIPT_SOURCE,
	LODE_V8_SCOPE_TYPE,
	LODE_V8_SCOPE_LOCALS,
	LODE_V8_SCOPE_FIRST,
	LODE_V8_ODDBALL_TYPE,
	LODE_V8_NOT_STRING,
	LODE_V8_STRING_LENGTH,
	LODE_V8_STRING_FORM, /* mask, and its values: */
	LODE_V8_STRING_CONS,
	LODE_V8_STRING_EXTERNAL,
	LODE_V8_STRING_SLICED,
	LODE_V8_STRING_THIN,
	LODE_V8_STRING_WIDTH, /* mask, and its value: */
	LODE_V8_STRING_ONE_BYTE,
	LODE_V8_ONE_BYTE_TEXT,
	LODE_V8_TWO_BYTE_TEXT,
	LODE_V8_CONS_FIRST,
	LODE_V8_CONS_SECOND,
	LODE_V8_SLICED_PARENT,
	LODE_V8_SLICED_OFFSET,
	LODE_V8_THIN_ACTUAL,
	LODE_V8_EXTERNAL_TEXT,
	LODE_V8_VALUES,
};

struct lode_v8_image {
	uint32_t major; /* version */
	uint32_t minor;
	uint64_t code;                  /* address in the file of a function of V8 */
	int32_t values[LODE_V8_VALUES]; /* by enum lode_v8_value */
	struct lode_v8_layout layout;
};

enum lode_v8_support {
	LODE_V8_NONE, /* the file has no V8 */
	LODE_V8_SUPPORTED,
	LODE_V8_UNSUPPORTED, /* it hides its layout, or that is not known */
};

enum lode_v8_support lode_v8_image_read(struct lode_v8_image *image, const struct lode_elf *elf);

#endif
