/*
 * What a libjvm.so says: its version, and where HotSpot's description of its own structs is (gHotSpotVMStructs, which debuggers
 * read). Which row of that table is about which field is in the file; the offsets themselves are filled in when
 * the library is loaded, so they are read from each process (hotspot_process.h).
 */
#ifndef LODE_PROCESS_LANGUAGES_HOTSPOT_IMAGE_H
#define LODE_PROCESS_LANGUAGES_HOTSPOT_IMAGE_H

#include "symbols/elf.h"

/* Fields whose offsets are used. */
enum lode_hotspot_offset {
	LODE_HOTSPOT_ARRAY_LENGTH, /* GrowableArray: 32 bits */
	LODE_HOTSPOT_ARRAY_DATA,
	LODE_HOTSPOT_HEAP_MEMORY, /* CodeHeap: a VirtualSpace, */
	LODE_HOTSPOT_HEAP_SEGMAP, /* another one, */
	LODE_HOTSPOT_HEAP_SHIFT,  /* 32 bits */
	LODE_HOTSPOT_SPACE_START, /* VirtualSpace */
	LODE_HOTSPOT_SPACE_END,
	LODE_HOTSPOT_SPACE_LOW,
	LODE_HOTSPOT_QUEUE_BUFFER, /* StubQueue */
	LODE_HOTSPOT_QUEUE_LIMIT,  /* 32 bits: bytes, */
	LODE_HOTSPOT_QUEUE_COUNT,  /* of codelets */
	LODE_HOTSPOT_CODELET_SIZE, /* InterpreterCodelet */
	LODE_HOTSPOT_CODELET_DESCRIPTION,
	LODE_HOTSPOT_BLOB_NAME, /* CodeBlob */
	LODE_HOTSPOT_BLOB_SIZE,
	LODE_HOTSPOT_BLOB_COMPLETE,
	LODE_HOTSPOT_BLOB_FRAME,
	LODE_HOTSPOT_BLOB_START,
	LODE_HOTSPOT_BLOB_END,
	LODE_HOTSPOT_BLOB_METHOD,   /* CompiledMethod, */
	LODE_HOTSPOT_BLOB_DEOPT,    /* where a frame returns to that was deoptimized, */
	LODE_HOTSPOT_BLOB_DEOPT_MH, /* one that called a method handle, */
	LODE_HOTSPOT_BLOB_ORIGINAL, /* nmethod: where the frame has the address before that, 32 bits, */
	LODE_HOTSPOT_BLOB_SCOPES,   /* where its scopes are, */
	LODE_HOTSPOT_BLOB_PCS,      /* nmethod: and the list of addresses in it, a distance from the CodeBlob, */
	LODE_HOTSPOT_BLOB_PCS_END,  /* up to here, */
	LODE_HOTSPOT_BLOB_METADATA, /* and the Methods that they name: distances */
	LODE_HOTSPOT_METHOD_CONST,
	LODE_HOTSPOT_CONST_CONSTANTS,
	LODE_HOTSPOT_CONST_NAME,      /* 16 bits */
	LODE_HOTSPOT_CONST_CODE_SIZE, /* 16 bits: bytes of bytecodes, which follow the ConstMethod */
	LODE_HOTSPOT_CONST_FLAGS,     /* 16 bits of them */
	LODE_HOTSPOT_CONSTANTS_HOLDER,
	LODE_HOTSPOT_CONSTANTS_SOURCE, /* 16 bits */
	LODE_HOTSPOT_CONSTANTS_LENGTH, /* 32 bits */
	LODE_HOTSPOT_KLASS_NAME,
	LODE_HOTSPOT_SYMBOL_LENGTH, /* 16 bits */
	LODE_HOTSPOT_SYMBOL_BODY,
	LODE_HOTSPOT_OFFSETS,
};

/* Variables. */
enum lode_hotspot_variable {
	LODE_HOTSPOT_CODE_HEAPS,
	LODE_HOTSPOT_INTERPRETER,
	LODE_HOTSPOT_VERSION,
	LODE_HOTSPOT_VARIABLES,
};

/* Types whose sizes are used. */
enum lode_hotspot_size {
	LODE_HOTSPOT_BLOCK_SIZE,
	LODE_HOTSPOT_CODELET_HEADER,
	LODE_HOTSPOT_CONSTANTS_SIZE, /* the constants follow */
	LODE_HOTSPOT_PC_SIZE,
	LODE_HOTSPOT_CONST_METHOD_SIZE,
	LODE_HOTSPOT_SIZES,
};

struct lode_hotspot_image {
	uint32_t version;                           /* 17 */
	uint64_t code;                              /* address of a function; addresses are those of the file */
	uint64_t rows[LODE_HOTSPOT_OFFSETS];        /* address of the offset of each field */
	uint64_t variables[LODE_HOTSPOT_VARIABLES]; /* their addresses */
	uint32_t sizes[LODE_HOTSPOT_SIZES];
};

enum lode_hotspot_support {
	LODE_HOTSPOT_NONE,        /* the file has no HotSpot */
	LODE_HOTSPOT_SUPPORTED,   /* and `image` says how to read it */
	LODE_HOTSPOT_UNSUPPORTED, /* it lacks something; only `version` is set, 0 if it does not even say that */
};

/* Returns an enum lode_hotspot_support, or LODE_SYSTEM when memory has run out. */
int lode_hotspot_image_read(struct lode_hotspot_image *image, const struct lode_elf *elf);

#endif
