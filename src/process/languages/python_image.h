/*
 * What a binary with CPython in it (python3.11, libpython3.11.so) says: its version, where the interpreter's
 * function and data are, and the layout of its structs.
 */
#ifndef LODE_PROCESS_LANGUAGES_PYTHON_IMAGE_H
#define LODE_PROCESS_LANGUAGES_PYTHON_IMAGE_H

#include "process/languages/language_words.h"
#include "symbols/elf.h"

/* Where objects have what names are made of; offsets in bytes. */
struct lode_python_objects {
	uint32_t object_type; /* address of its type */
	uint32_t code_filename;
	uint32_t code_name;   /* with the names of what it is defined in (co_qualname) */
	uint32_t code_line;   /* first one, 32 bits */
	uint32_t text_length; /* characters */
	uint32_t text_state; /* 32 bits: two that do not matter, three for the kind, one each for compact and ASCII */
	uint32_t text_ascii; /* bytes of a text that is all ASCII */
	uint32_t text_other; /* characters of another one */
};

/* What the line of a frame is found with; offsets in bytes. */
struct lode_python_lines {
	uint32_t frame_position;    /* of a frame: the address of the instruction that it is at */
	uint32_t code_table;        /* of a code object: its table of lines, bytes */
	uint32_t code_instructions; /* and its first instruction */
};

struct lode_python_image {
	uint32_t version;                   /* 0x030b02f0 for 3.11.2 */
	uint64_t starts[LODE_PYTHON_PARTS]; /* of the function that runs code; addresses are those of the file */
	uint64_t ends[LODE_PYTHON_PARTS];
	uint64_t interpreters; /* the pointer to the first interpreter */
	uint64_t code_type;    /* of code objects */
	struct lode_python_layout layout;
	struct lode_python_objects objects;
	struct lode_python_lines lines;
};

enum lode_python_support {
	LODE_PYTHON_NONE,      /* the file has no CPython */
	LODE_PYTHON_SUPPORTED, /* and `image` says how to read it */
	LODE_PYTHON_UNSUPPORTED, /* a version whose layout is not known; only `version` is set, 0 if it does not even say that */
};

enum lode_python_support lode_python_image_read(struct lode_python_image *image, const struct lode_elf *elf);

#endif
