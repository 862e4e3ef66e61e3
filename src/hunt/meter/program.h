/*
 * Program: the functions of all binaries that the hunted processes have mapped,
 * numbered across binaries, and who calls whom. Direct calls come from the code
 * (symbols/code.h), across binaries by the imports' names; calls through pointers
 * are added as stack samples show them. Functions are only ever added, so that
 * numbers stay. For one thread at a time. After memory has run out, a program can
 * only be destroyed.
 */
#ifndef LODE_HUNT_METER_PROGRAM_H
#define LODE_HUNT_METER_PROGRAM_H

#include "base/error.h"
#include "symbols/code.h"

#include <stddef.h>
#include <stdint.h>

struct lode_program_function {
	const char *name;   /* `module!function`; that of a module alone when it represents one */
	const char *module; /* base name of the file */
	uint32_t binary;    /* LODE_NONE: known by name only (another host's, the kernel's, a JIT's) */
	uint32_t code;      /* number in the binary's struct lode_code */
	int is_module;      /* no function: it represents a module */
	int is_scripted;    /* of a language whose functions are no code of a binary: Python, JavaScript, Java */
};

struct lode_program;

int lode_program_create(struct lode_program **program, struct lode_error *error);
void lode_program_destroy(struct lode_program *program);
/*
 * Adds the binary at `path` (opened there), called `name` where it is mapped. Its number; asking again is
 * cheap: the same file, by any path, is the same binary.
 */
int lode_program_add_binary(struct lode_program *program, const char *path, const char *name, uint32_t *binary,
			    struct lode_error *error);
/* The code of a binary, NULL when there is no such binary; valid as long as the program. */
const struct lode_code *lode_program_code(const struct lode_program *program, uint32_t binary);
/* The function at a file offset of a binary; LODE_NONE: none. */
uint32_t lode_program_at(const struct lode_program *program, uint32_t binary, uint64_t offset);
/* The function of this name (the first that has it), added if new; LODE_NONE when memory has run out. */
uint32_t lode_program_named(struct lode_program *program, const char *name);
/*
 * The number that represents the module of a function, among the functions' numbers, added if new; it calls
 * nothing. LODE_NONE: the module is not known. Returns 0 or LODE_SYSTEM.
 */
int lode_program_module(struct lode_program *program, uint32_t function, uint32_t *module);
/* Marks a function as one of such a language. */
void lode_program_set_scripted(struct lode_program *program, uint32_t function);
/* Whether a number represents a module. */
int lode_program_is_module(const struct lode_program *program, uint32_t function);
size_t lode_program_count(const struct lode_program *program);
/* `function` must be below the count. Valid as long as the program. */
const struct lode_program_function *lode_program_function(const struct lode_program *program, uint32_t function);
/* A call was seen. Returns 1 if it is new, 0 if not, or LODE_SYSTEM. */
int lode_program_add_call(struct lode_program *program, uint32_t caller, uint32_t callee);
/* The callees of a function, each once, in the order they became known; valid until the next change. */
const uint32_t *lode_program_callees(const struct lode_program *program, uint32_t function, size_t *count);

#endif
