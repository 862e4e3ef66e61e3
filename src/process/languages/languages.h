/*
 * Languages whose functions are not in symbol tables: which processes run them, what the kernel must know to walk their
 * frames, and the names of these frames.
 *
 * A frame is known by its process and its word (language_words.h). Names are read from the memory of the process when the
 * first stack with the word arrives, because objects and processes go away. One thread at a time may use it.
 */
#ifndef LODE_PROCESS_LANGUAGES_LANGUAGES_H
#define LODE_PROCESS_LANGUAGES_LANGUAGES_H

#include "base/error.h"
#include "base/notes.h"
#include "process/languages/language_words.h"
#include "process/languages/process_memory.h"
#include "process/processes.h"
#include "process/unwind_state.h"

/* Bits of a set of languages. */
#define LODE_LANGUAGE_BIT(language) (1u << (language))
#define LODE_LANGUAGES_ALL          (LODE_LANGUAGE_BIT(LODE_LANGUAGES) - 1 - LODE_LANGUAGE_BIT(LODE_LANGUAGE_NONE))

struct lode_language_name {
	uint64_t word;
	uint64_t position; /* as language_words.h has it; 0: none */
	uint32_t pid;
	uint32_t line;      /* where the function begins; 0: not known */
	const char *path;   /* of its file, "" when it could not be read */
	const char *module; /* the file's base name, or the name of the language */
	const char *function; /* with the line of a position, `step:123`; LODE_LANGUAGE_UNREADABLE: it could not be read */
	uint32_t is_coroutine;
	uint32_t inlined; /* in this many others, which follow it: the function that it is inlined in, and so on */
	uint32_t tries;   /* to read it, after the first one failed */
};

#define LODE_LANGUAGE_UNREADABLE "<unreadable>"

struct lode_languages;

/* `wanted`: bits of languages. NULL when memory has run out. */
struct lode_languages *lode_languages_create(unsigned wanted, const struct lode_process_memory *memory);
/* From now on the kernel is asked to send positions, where languages have them: of Python. */
void lode_languages_want_lines(struct lode_languages *languages);
void lode_languages_destroy(struct lode_languages *languages);
/*
 * Whether a process runs a language, by what it has mapped; then `found` is what the kernel must know, and names of its
 * frames can be read. Returns 1, 0, LODE_LANGUAGES_LATER when it has just begun and should be looked at again soon, or LODE_SYSTEM.
 */
#define LODE_LANGUAGES_LATER 2
int lode_languages_detect(struct lode_languages *languages, const struct lode_processes *processes,
			  const struct lode_process *process, struct lode_language_process *found);
/* Whether it was detected that a process runs a language. */
int lode_languages_knows(const struct lode_languages *languages, uint32_t pid);
/* A step of a walk out of code that the runtime of a process generated: as `leave` in language.h. */
int lode_languages_leave(const struct lode_languages *languages, uint32_t pid,
			 const struct lode_language_stack *stack, struct lode_unwind_state *state, uint64_t *word,
			 uint64_t *position);
/* Whether the code at an address may be what runs the language of a process: 0 where that is known, and it is not. */
int lode_languages_runs_code(const struct lode_languages *languages, uint32_t pid, uint64_t address);
/*
 * Reads the name of a frame if it is not known. `position`: with its line; 0: none. Returns 0, 1 when it cannot be read now but may be
 * later, or LODE_SYSTEM.
 */
int lode_languages_learn(struct lode_languages *languages, uint32_t pid, uint64_t word, uint64_t position);
/* NULL: it was never learnt. */
const struct lode_language_name *lode_languages_find(const struct lode_languages *languages, uint32_t pid,
						     uint64_t word, uint64_t position);
/*
 * The word of the function that a frame without an unwind table has, by its frame record and the words of the stack, as `read` has
 * them (1, or 0); 0: none.
 */
uint64_t lode_languages_frame_word(const struct lode_languages *languages, uint32_t pid, uint64_t record,
				   int (*read)(void *context, uint64_t address, uint64_t *word), void *context);
/* Adds what could not be read, and why. */
void lode_languages_note(const struct lode_languages *languages, struct lode_notes *notes);

/*
 * Reads a list of languages, such as `python` (NULL: all that are known; `none`), into bits. LODE_USAGE and a sentence when one is not
 * known.
 */
int lode_languages_parse(const char *list, unsigned *bits, struct lode_error *error);
/* "python". */
const char *lode_language_text(enum lode_language language);

#endif
