/*
 * What a language provides, so that its functions are frames of stacks: how it is recognized by a mapped binary, what the
 * kernel must know of a process that runs it, and how the name of a function is read. languages.c does the rest.
 */
#ifndef LODE_PROCESS_LANGUAGES_LANGUAGE_H
#define LODE_PROCESS_LANGUAGES_LANGUAGE_H

#include "base/buffer.h"
#include "process/languages/language_words.h"
#include "process/languages/process_memory.h"
#include "process/unwind_state.h"
#include "symbols/elf.h"

/* In place of an enum lode_unwind_result. */
#define LODE_LANGUAGE_NOT_ITS_CODE (-1)

/* A binary with a language's runtime in it. */
struct lode_language_binary {
	const struct lode_language_kind *kind; /* NULL: it has none */
	int is_supported;                      /* else only `version` is set */
	char version[32];                      /* as people write it; "": not known */
	uint64_t code; /* address in the file of code that every process with the runtime has mapped */
	void *data;    /* the language's own; freed with lode_free */
};

/* A process that runs it. */
struct lode_language_runtime {
	const struct lode_language_binary *binary;
	uint64_t bias; /* from addresses in the file to those of the process */
	uint32_t pid;
	int wants_lines;
	void *data; /* the language's own, if it set it when it checked the process; freed with lode_free */
};

enum lode_language_fit {
	LODE_LANGUAGE_FITS,    /* or nothing speaks against it */
	LODE_LANGUAGE_UNFIT,   /* the process cannot be what the binary says */
	LODE_LANGUAGE_REFUSED, /* its memory may not be read */
	LODE_LANGUAGE_EARLY,   /* it has just begun: it is checked again soon */
};

/* What else is read with the name of a function. */
struct lode_language_facts {
	uint32_t line;    /* where it begins; 0: not known */
	int is_coroutine; /* it runs while others await it */
};

struct lode_language_kind {
	enum lode_language language;
	const char *name;  /* as in --languages */
	const char *title; /* of what runs it, for messages: "CPython" */
	/* What the names of its binaries contain, and what they do not: all others are not opened. */
	const char *file;
	const char *not_file;
	const char *known; /* versions, for messages */
	const char *unfit; /* what is wrong with a process that cannot be what its binary says */
	/* Whether a binary has the runtime; fills `binary`, whose `kind` is set. 1, 0, or LODE_SYSTEM. */
	int (*read)(struct lode_language_binary *binary, const struct lode_elf *elf);
	/* Compares a process of this machine with what the binary says. */
	enum lode_language_fit (*check)(const struct lode_process_memory *memory,
					struct lode_language_runtime *runtime);
	/* Fills in what the kernel must know, all zero but for the language. */
	void (*describe)(const struct lode_language_runtime *runtime, struct lode_language_process *process);
	/* Adds what the kernel must know to send positions (language_words.h). NULL: the language has none. */
	void (*describe_positions)(const struct lode_language_runtime *runtime,
				   struct lode_language_process *process);
	/* The line at the position of a word; 0: not known. Words without one may have their lines in the names. */
	uint32_t (*read_line)(const struct lode_process_memory *memory,
			      const struct lode_language_runtime *runtime, uint64_t word, uint64_t position);
	/*
	 * Appends the path of the file and the name of the function of a word, each with a NUL behind it; then, of code that has
	 * inlined functions, those of the function that it is inlined in, and so on. Returns 1, or 0 when what the
	 * word refers to is not there (any more), or memory has run out (the buffers know).
	 */
	int (*read_name)(const struct lode_process_memory *memory, const struct lode_language_runtime *runtime,
			 uint64_t word, struct lode_buffer *path, struct lode_buffer *function,
			 struct lode_language_facts *facts);
	/*
	 * Of languages whose frames say nothing of C frames (LODE_LANGUAGE_NEXT_PLACE): whether the code at an address is what
	 * runs the language's. NULL: they do.
	 */
	int (*runs_code)(const struct lode_language_runtime *runtime, uint64_t address);
	/*
	 * Of languages whose functions are in frames of the native stack: the word of the one that the frame with this record has, by what
	 * `stack` has there; 0: none. NULL: they are not.
	 */
	uint64_t (*frame_word)(const struct lode_process_memory *memory,
			       const struct lode_language_runtime *runtime, uint64_t record,
			       const struct lode_language_stack *stack);
	/*
	 * A step of a walk out of code that the runtime generated, to its caller; `word`: of the function that was left; `position`: behind it,
	 * where that is asked for; else it stays. Returns an
	 * enum lode_unwind_result, or LODE_LANGUAGE_NOT_ITS_CODE. NULL: tables lead through all its code.
	 */
	int (*leave)(const struct lode_process_memory *memory, const struct lode_language_runtime *runtime,
		     const struct lode_language_stack *stack, struct lode_unwind_state *state, uint64_t *word,
		     uint64_t *position);
};

extern const struct lode_language_kind lode_language_python;
extern const struct lode_language_kind lode_language_javascript;
extern const struct lode_language_kind lode_language_java;
extern const struct lode_language_kind lode_language_php;

/* By enum lode_language. */
extern const struct lode_language_kind *const lode_language_kinds[LODE_LANGUAGES];

#endif
