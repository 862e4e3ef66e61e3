/*
 * Frames of languages (Python, JavaScript, Java, PHP) among the addresses of a user stack, and what
 * the kernel must know of a process to find them.
 *
 * Where the native walk comes to the function that runs a language's code (for Python:
 * _PyEval_EvalFrameDefault), the frames of that language follow the function's address as *words*: the
 * language in the top four bits, which no user address has, twelve bits of check, and the address of what describes the
 * function (Python: the code object) below. The program reads names from there. The check is made of what the
 * object says: another object may take its address when it is gone.
 *
 * Shared by the program and the BPF programs.
 */
#ifndef LODE_PROCESS_LANGUAGES_LANGUAGE_WORDS_H
#define LODE_PROCESS_LANGUAGES_LANGUAGE_WORDS_H

#include "process/languages/hotspot_words.h"

#include <stdint.h>

enum lode_language {
	LODE_LANGUAGE_NONE, /* a native function */
	LODE_LANGUAGE_PYTHON,
	LODE_LANGUAGE_JAVASCRIPT, /* of V8 */
	LODE_LANGUAGE_JAVA,
	LODE_LANGUAGE_PHP,
	LODE_LANGUAGES,
	/* Where lines are asked for: behind the word of a frame, the address of the instruction that it is at. */
	LODE_LANGUAGE_POSITION = 6,
	/*
	 * Only in a chain, the frames of a thread without native ones: behind the frames that one C frame runs, an address in
	 * that C frame's part of the stack.
	 */
	LODE_LANGUAGE_PLACE = 7,
};

#define LODE_LANGUAGE_SHIFT      60
#define LODE_LANGUAGE_CHECK      48
#define LODE_LANGUAGE_CHECK_BITS (LODE_LANGUAGE_SHIFT - LODE_LANGUAGE_CHECK)
#define LODE_LANGUAGE_ADDRESS    ((1ull << LODE_LANGUAGE_CHECK) - 1)

/* The place of frames of which only the order is known: the next C frame that runs such code runs them. */
#define LODE_LANGUAGE_NEXT_PLACE 1

/* The language of a word; LODE_LANGUAGE_NONE: an address, or a language that is not known. */
static inline enum lode_language lode_language_of(uint64_t word)
{
	uint64_t language = word >> LODE_LANGUAGE_SHIFT;

	return language < LODE_LANGUAGES ? (enum lode_language)language : LODE_LANGUAGE_NONE;
}

/* The position behind the word `words[i]` of `count`; 0: it has none. */
static inline uint64_t lode_language_position(const uint64_t *words, uint32_t count, uint32_t i)
{
	int has_position = i + 1 < count && words[i + 1] >> LODE_LANGUAGE_SHIFT == LODE_LANGUAGE_POSITION;

	return has_position ? words[i + 1] : 0;
}

static inline uint64_t lode_language_word(enum lode_language language, uint64_t check, uint64_t address)
{
	check &= (1ull << LODE_LANGUAGE_CHECK_BITS) - 1;
	return (uint64_t)language << LODE_LANGUAGE_SHIFT | check << LODE_LANGUAGE_CHECK |
	       (address & LODE_LANGUAGE_ADDRESS);
}

/* The check that a word has. */
static inline uint64_t lode_language_check_of(uint64_t word)
{
	return word >> LODE_LANGUAGE_CHECK & ((1ull << LODE_LANGUAGE_CHECK_BITS) - 1);
}

/* A check of numbers that were added up. */
static inline uint64_t lode_language_mix(uint64_t sum)
{
	return sum * 0x9e3779b97f4a7c15ull >> (64 - LODE_LANGUAGE_CHECK_BITS);
}

/* The check of a code object: the addresses of its texts and its first line, mixed. */
static inline uint64_t lode_python_check(uint64_t filename, uint64_t name, uint32_t line)
{
	return lode_language_mix(filename * 3 + name + line);
}

/*
 * Whether a code object is the one that CPython (3.12 and later) runs around the __init__ of a new object, to check what that
 * returns. Nobody wrote it, and tracebacks leave it out. Its file and its name are the same text.
 */
static inline int lode_python_is_init_check(uint64_t filename, uint64_t name)
{
	return filename == name;
}

/*
 * The frames of a chain (`count` words) from *at on that the C frame from `start` to `end` of the stack runs: sets *at to the
 * first of them, and returns how many they are; behind them is the place. Frames below it, of C frames that the walk did
 * not see, are passed over. Frames with LODE_LANGUAGE_NEXT_PLACE match any C frame: ask only for those that run code.
 */
static inline uint32_t lode_language_chain_find(const uint64_t *chain, uint32_t count, uint32_t *at,
						uint64_t start, uint64_t end)
{
	for (uint32_t i = *at; i < count; i++) {
		uint64_t place = chain[i] & LODE_LANGUAGE_ADDRESS;

		if (chain[i] >> LODE_LANGUAGE_SHIFT != LODE_LANGUAGE_PLACE)
			continue;
		if (place == LODE_LANGUAGE_NEXT_PLACE)
			return i - *at;
		if (place >= end)
			break;
		if (place >= start)
			return i - *at;
		*at = i + 1;
	}
	return 0;
}

/* What a stack says of languages, as bits: it has words; a function that runs a language's code had none. */
#define LODE_STACK_HAS_WORDS   1
#define LODE_STACK_LACKS_WORDS 2
#define LODE_STACK_IS_CHAIN    4 /* it is no stack, but the chain of the copy with its id */
#define LODE_STACK_NEW_WORDS   8 /* some were not seen lately: their names should be read soon */

/* Parts of the function that runs Python code: its own, and what the compiler moved out of it (`.cold`). */
#define LODE_PYTHON_PARTS 2
/* Bytes of a frame, and of a code object, that are read; offsets in them are smaller. */
#define LODE_PYTHON_FRAME_BYTES 80

/* Where CPython, or PHP, keeps what a walk needs; offsets in bytes. */
struct lode_python_layout {
	uint32_t interpreter_next;
	uint32_t interpreter_threads; /* first thread state */
	uint32_t thread_next;
	uint32_t thread_native_id; /* as the thread's innermost PID namespace has it */
	uint32_t thread_frame;     /* the current frame, or where the chain of C frames begins */
	/*
	 * Up to 3.12: each C frame of the interpreter has an entry in a chain, in its own part of the C
	 * stack; later: the frame below the outermost one that it runs is there.
	 */
	uint32_t has_chain;
	uint32_t chain_frame; /* of an entry: the current frame */
	uint32_t chain_previous;
	uint32_t frame_code;
	uint32_t frame_previous;
	uint32_t frame_mark; /* a byte: */
	uint32_t outermost; /* from this value on (of `mark_bits`) the frame is the last one that its C frame runs, */
	uint32_t is_shim; /* and is no function */
	uint32_t code;    /* where the bytes of a code object begin that are read; in them: */
	uint32_t code_filename;
	uint32_t code_name;
	uint32_t code_line;
	uint32_t frame_position; /* of a frame: the address of the instruction that it is at; 0: not asked for */
	uint32_t mark_bits;      /* bits of `frame_mark` that count */
	/*
	 * PHP: the pointer to the first interpreter is one to the current frame of the process's only thread. Frames are not on
	 * the C stack, so C frames get theirs in order.
	 */
	uint32_t is_ordered;
	uint32_t code_file; /* PHP: of a function that is written in PHP, from its first byte: the file */
};

/* The kind of a PHP function that is written in C, the lowest byte of its first word: no C frame of the interpreter runs it. */
#define LODE_PHP_INTERNAL 1

/* The check of a PHP function: its first word, and the addresses of its name, its class and, if it is written in PHP, its file. */
static inline uint64_t lode_php_check(uint32_t first, uint64_t name, uint64_t holder, uint64_t file)
{
	return lode_python_check(name, holder, first) ^ lode_language_mix(file);
}

/*
 * The check of a function of V8: what describes its scope, and its script. Both stay where they are but for a collection
 * that compacts old objects.
 */
static inline uint64_t lode_v8_check(uint64_t scope, uint64_t script)
{
	return lode_language_mix(scope * 3 + script);
}

/* Bytes of a SharedFunctionInfo that are read; offsets in it are smaller. */
#define LODE_V8_SHARED_BYTES 64
/* Pointers to objects of V8's heap have these lowest bits; small numbers have a zero in the last. */
#define LODE_V8_TAG_MASK 3
#define LODE_V8_TAG      1

/* Where V8 keeps what a walk needs; offsets in bytes, of objects from their first byte. */
struct lode_v8_layout {
	int32_t frame_slots; /* from the frame pointer down to two words: the function, and its context or a mark */
	uint32_t function_shared; /* of a JSFunction: its SharedFunctionInfo */
	uint32_t shared_scope;    /* of that: its name or ScopeInfo, */
	uint32_t shared_script;
	uint32_t map_type;    /* of the map that an object begins with: the type of the object, 16 bits */
	uint32_t shared_type; /* that of a SharedFunctionInfo */
};

/* What the kernel knows of processes that run a language; those with equal entries share one. Number 0 is not used. */
#define LODE_LANGUAGE_PROCESSES 4096

struct lode_language_process {
	uint32_t language;
	uint32_t unused;
	union {
		struct {                                    /* Python, PHP */
			uint64_t starts[LODE_PYTHON_PARTS]; /* of the function that runs its code */
			uint64_t ends[LODE_PYTHON_PARTS];
			uint64_t interpreters; /* address of the pointer to the first interpreter */
			struct lode_python_layout layout;
		};
		struct lode_v8_layout v8;            /* JavaScript */
		struct lode_hotspot_process hotspot; /* Java */
	};
};

#endif
